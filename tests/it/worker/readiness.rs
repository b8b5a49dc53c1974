//! `/readyz` tells the truth about a database that is not initialised, goes away and comes back, or takes no writes; so do
//! requests and the doctor.

#[path = "../../shared/java.rs"]
mod java;

use super::process::{LIMIT, Worker, eventually, free_port};
use crate::harness::neo4j::{at, fresh};
use ebb::settings::{Environment, Flags, Settings};
use ebb_core::domain::tunables::ConsolidationConfig;
use ebb_core::store::{Config, Store};
use ebb_provision::Keeper;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};
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
    db.store.initialise(&ConsolidationConfig::DOCUMENTED, at(0.0)).await.unwrap();
    worker.ready().await;
    eventually("it works", async || worker.metric("ebb_runs_total", "done") >= 2).await;
}

/// A server of a test's own, which may be killed.
struct Own {
    folder: tempfile::TempDir,
    ports: (u16, u16),
    /// Settings of Neo4j from its next start on.
    set: &'static [&'static str],
    server: Option<ebb_provision::Server>,
}

impl Own {
    async fn start() -> Self {
        let [bolt, http] = [free_port(), free_port()];
        let mut own =
            Self { folder: tempfile::tempdir().unwrap(), ports: (bolt, http), set: &[], server: None };
        own.again().await;
        own
    }

    /// Starts the server, again on the ports it had.
    async fn again(&mut self) {
        let settings = Settings::load(&Flags::default(), &Environment::of_process());
        let settings = settings.unwrap_or_else(|faults| panic!("{faults}")).neo4j;
        let java = match self.set {
            [] => settings.java.clone(),
            set => Some(java::with_settings(self.folder.path(), settings.java.as_deref(), set).unwrap()),
        };
        let config = ebb_provision::Config {
            java,
            uri: None,
            home: self.folder.path().join("home"),
            way: Some(ebb_provision::Way::Maven),
            bolt_port: self.ports.0,
            http_port: self.ports.1,
            heap_mb: 512,
            pagecache_mb: 64,
            is_brief: false,
            keep: Duration::ZERO,
            start_timeout: Duration::from_secs(240),
            ..settings
        };
        let keeper = Keeper::of(Path::new(env!("CARGO_BIN_EXE_ebb")));
        let before = self.server.take();
        let server = ebb_provision::acquire(&config, &keeper).await.unwrap_or_else(|why| panic!("{why}"));
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
            similarity: ebb_core::domain::similarity::Similarity {
                dimensions: None,
                text_threshold: 0.5,
                model: None,
            },
            fading: ebb_core::domain::relation::Fading::new(90.0, 0.10).unwrap(),
            pins: ebb_core::domain::relation::Pins::default(),
            regime: crate::harness::ebb::regime(),
            retention: crate::harness::ebb::retention(),
            mappings: Vec::new(),

            trails: crate::harness::neo4j::trails(),
        }
    }

    fn kill(&self) {
        self.on_process("kill", &["-KILL"]);
    }

    /// Runs a program of the system on the server's process, whose id is its last word.
    fn on_process(&self, program: &str, words: &[&str]) {
        let record = std::fs::read_to_string(self.folder.path().join("home/server.json")).unwrap();
        let record: Value = serde_json::from_str(&record).unwrap();
        let done = Command::new(program).args(words).arg(record["pid"].to_string()).status();
        assert!(done.unwrap().success(), "{program} {words:?}");
    }
}

/// Runs the program on a server.
fn ebb(config: &Config, folder: &Path, args: &[&str]) -> Output {
    let mut ebb = Command::new(env!("CARGO_BIN_EXE_ebb"));
    ebb.args(args).current_dir(folder);
    ebb.env("NEO4J_URI", &config.uri).env("NEO4J_PASSWORD", config.password.expose_secret());
    ebb.output().unwrap()
}

/// All words that the program printed: its lines are filled to a width.
fn words(output: &Output) -> String {
    let printed = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(printed).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A process that answers on this server says that it takes no writes, and why: to supervisors, to those who ask for a write,
/// and to whoever runs the doctor.
async fn takes_no_writes(config: &Config, why: &str, problem: &str) {
    let api = free_port();
    let worker = Worker::serve(config, &[("EBB__HTTP__LISTEN", &format!("127.0.0.1:{api}"))]);
    eventually("it says that there are no writes", async || {
        worker.page("/readyz").is_some_and(|(status, text)| status == 503 && text.contains(why))
    })
    .await;
    // A request that is refused before its body was read ends its connection, which must not be used again.
    let agent = ureq::Agent::config_builder().http_status_as_error(false).max_idle_connections(0);
    let agent = agent.build().new_agent();
    for n in 0..3 {
        let url = format!("http://127.0.0.1:{api}/v1/memories");
        let mut answer = agent.post(url).send_json(json!({ "content": format!("note {n}") })).unwrap();
        let told: Value = answer.body_mut().read_json().unwrap();
        assert_eq!((answer.status().as_u16(), &told["code"]), (503, &json!("unavailable")), "{told}");
        assert!(told["detail"].as_str().unwrap().contains(why), "{told}");
        assert!(answer.headers().contains_key("retry-after"), "{answer:?}");
    }
    let stopped = || (worker.metric("ebb_jobs_stopped", ""), worker.metric("ebb_ready", ""));
    assert_eq!(stopped(), (1, 0));
    let page =
        agent.get(format!("http://127.0.0.1:{api}/v1/status")).call().unwrap().body_mut().read_to_string();
    assert!(page.as_ref().unwrap().contains(why), "{page:?}");
    for verb in [&["status"][..], &["job", "list"], &["job", "history"]] {
        let words = words(&ebb(config, worker.folder.path(), &[verb, &["-o", "table"]].concat()));
        assert!(words.contains(why) && words.contains("ebb doctor"), "{verb:?}: {words}");
    }
    let doctor = ebb(config, worker.folder.path(), &["doctor", "-o", "json"]);
    let said: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let findings = said["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["what"] == problem).unwrap();
    assert_eq!(found["level"], "problem", "{said}");
    assert!(found["found"].as_str().unwrap().contains(why), "{said}");
    assert!(!doctor.status.success(), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_database_is_not_ready_and_requests_say_why() {
    let mut own = Own::start().await;
    let config = own.config();
    let store = Store::connect(&config).unwrap();
    store.initialise(&ConsolidationConfig::DOCUMENTED, at(0.0)).await.unwrap();
    // In order: what was killed would have to be recovered first, which a read-only start refuses.
    drop(store);
    own.server.take().unwrap().release().await.unwrap();
    own.set = &["server.databases.default_to_read_only=true"];
    own.again().await;
    takes_no_writes(&config, "read-only", "writes").await;
    own.server.take().unwrap().release().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_whose_disk_is_full_is_not_ready_and_requests_say_why() {
    let mut own = Own::start().await;
    let config = own.config();
    let store = Store::connect(&config).unwrap();
    store.initialise(&ConsolidationConfig::DOCUMENTED, at(0.0)).await.unwrap();
    // What an idle process writes now and then is what meets it.
    let worker = Worker::begin(&config, "[jobs.decay]\nenabled = false\n", &[]);
    worker.ready().await;
    own.on_process("prlimit", &["--fsize=4096", "--pid"]);
    eventually("it says so by itself", async || {
        worker.page("/readyz").is_some_and(|(status, text)| status == 503 && text.contains("stopped itself"))
    })
    .await;
    drop(worker);
    takes_no_writes(&config, "stopped itself", "server").await;
    own.kill();
    own.again().await;
    let worker = Worker::begin(&config, "", &[]);
    worker.ready().await;
    drop(worker);
    own.server.take().unwrap().release().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn readiness_follows_a_server_that_is_killed_and_started_again() {
    let mut own = Own::start().await;
    let config = own.config();
    let store = Store::connect(&config).unwrap();
    store.initialise(&ConsolidationConfig::DOCUMENTED, at(0.0)).await.unwrap();
    let worker = Worker::begin(&config, "[jobs.decay]\nevery = \"1s\"\n", &[]);
    eventually("jobs run", async || worker.metric("ebb_runs_total", "decay\",outcome=\"done") >= 2).await;

    own.kill();
    let killed = Instant::now();
    eventually("it says that the server is gone", async || !worker.is_ready()).await;
    let noticed = killed.elapsed();
    let (_, why) = worker.page("/readyz").unwrap();
    assert!(why.contains(&config.uri), "{why}");
    assert_eq!((worker.metric("ebb_jobs_stopped", ""), worker.metric("ebb_ready", "")), (1, 0));
    let status = ebb(&config, worker.folder.path(), &["status"]);
    let said = words(&status);
    assert!(said.contains(&config.uri) && said.contains("cannot be reached"), "{said}");
    assert_eq!(status.status.code(), Some(5), "{said}");

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
