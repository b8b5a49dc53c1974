//! `/readyz` tells the truth about a database that is not initialised, goes away and comes back.

use super::process::{LIMIT, Worker, eventually, free_port};
use crate::harness::neo4j::{at, documented, fresh};
use ebb::provision::{self, Keeper};
use ebb::settings::{Environment, Flags, Settings};
use ebb::store::{Config, Store};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_waits_for_a_database_to_be_initialised() {
    let db = fresh().await;
    db.client.run("MATCH (m:EbbMigration) DELETE m", &[]).await;
    let worker = Worker::on(&db, &[]);
    eventually("it says what is missing", async || {
        worker.page("/readyz").is_some_and(|(status, text)| status == 503 && text.contains("ebb init"))
    })
    .await;
    assert_eq!(worker.page("/healthz"), Some((200, "ok\n".to_owned())));
    assert!(worker.page("/metrics").unwrap().1.contains("\nebb_ready 0\n"));
    assert_eq!(worker.page("/elsewhere").unwrap().0, 404);
    db.store.initialise(&documented(), at(0.0)).await.unwrap();
    worker.ready().await;
    eventually("it works", async || worker.metric("ebb_runs_total", "done") >= 2).await;
}

/// A server of a test's own, which may be killed.
struct Own {
    folder: tempfile::TempDir,
    ports: (u16, u16),
    server: Option<provision::Server>,
}

impl Own {
    async fn start() -> Self {
        let [bolt, http] = [free_port(), free_port()];
        let mut own = Self { folder: tempfile::tempdir().unwrap(), ports: (bolt, http), server: None };
        own.again().await;
        own
    }

    /// Starts the server, again on the ports it had.
    async fn again(&mut self) {
        let settings = Settings::load(&Flags::default(), &Environment::of_process());
        let config = provision::Config {
            uri: None,
            home: self.folder.path().join("home"),
            way: Some(provision::Way::Maven),
            bolt_port: self.ports.0,
            http_port: self.ports.1,
            heap_mb: 512,
            pagecache_mb: 64,
            start_timeout: Duration::from_secs(240),
            ..settings.unwrap_or_else(|faults| panic!("{faults}")).neo4j
        };
        let keeper = Keeper::of(Path::new(env!("CARGO_BIN_EXE_ebb")));
        let before = self.server.take();
        let server = provision::acquire(&config, &keeper).await.unwrap_or_else(|why| panic!("{why}"));
        drop(before);
        self.server = Some(server);
    }

    fn config(&self) -> Config {
        let endpoint = &self.server.as_ref().unwrap().endpoint;
        Config {
            uri: endpoint.uri.clone(),
            username: endpoint.username.clone(),
            password: endpoint.password.clone(),
            database: endpoint.database.clone(),
            connections: 2,
            acquire_timeout: Duration::from_secs(5),
            lease: Duration::from_secs(15),
            similarity: ebb::domain::similarity::Similarity { dimensions: None, text_threshold: 0.5 },
            fading: ebb::domain::relation::Fading::new(90.0, 0.10).unwrap(),
            pins: ebb::domain::relation::Pins::default(),
            regime: crate::harness::ebb::regime(),
            trails: crate::harness::neo4j::trails(),
        }
    }

    fn kill(&self) {
        let record = std::fs::read_to_string(self.folder.path().join("home/server.json")).unwrap();
        let record: Value = serde_json::from_str(&record).unwrap();
        let killed = Command::new("kill").args(["-KILL", &record["pid"].to_string()]).status();
        assert!(killed.unwrap().success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn readiness_follows_a_server_that_is_killed_and_started_again() {
    let mut own = Own::start().await;
    let config = own.config();
    let store = Store::connect(&config).unwrap();
    store.initialise(&documented(), at(0.0)).await.unwrap();
    let worker = Worker::begin(&config, "[jobs.decay]\nevery = \"1s\"\n", &[]);
    eventually("jobs run", async || worker.metric("ebb_runs_total", "decay\",outcome=\"done") >= 2).await;

    own.kill();
    let killed = Instant::now();
    eventually("it says that the server is gone", async || !worker.is_ready()).await;
    let noticed = killed.elapsed();
    let (_, why) = worker.page("/readyz").unwrap();
    assert!(why.contains(&config.uri), "{why}");

    own.again().await;
    assert_eq!(own.config().uri, config.uri, "the same address");
    let there = Instant::now();
    let runs = || worker.metric("ebb_runs_total", "decay\",outcome=\"done");
    let before = runs();
    worker.ready().await;
    let ready = there.elapsed();
    eventually("jobs run again", async || runs() > before).await;
    let resumed = there.elapsed();
    eprintln!("gone noticed after {noticed:?}, back after {ready:?}, at work after {resumed:?}");
    // The figures are printed; what a test may say without depending on time is that none of them is without bound.
    assert!(noticed < LIMIT && ready < LIMIT && resumed < LIMIT);
    drop(worker);
    own.server.take().unwrap().release().await.unwrap();
}
