//! A configuration that changes under a worker, and a port that is taken.

use super::process::{Worker, eventually, free_port};
use crate::harness::neo4j::{Fresh, fresh};
use ebb_core::jobs::JobName;
use std::net::TcpListener;

async fn runs(db: &Fresh) -> usize {
    db.store.runs(Some("decay"), 100).await.unwrap().len()
}

fn write(worker: &Worker, toml: &str) {
    std::fs::write(worker.folder.path().join("ebb.toml"), toml).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_faulty_configuration_changes_nothing_and_a_sound_one_counts_at_once() {
    let db = fresh().await;
    let others =
        ["audit", "coactivate", "cluster", "reinforce", "promote", "evaporate", "fade", "sweep", "learn"]
            .map(|job| format!("[jobs.{job}]\nenabled = false\n"))
            .concat();
    let weekly = format!("[jobs.decay]\nevery = \"7d\"\n{others}");
    let worker = Worker::begin(&db.config, &weekly, &[]);
    eventually("the job has run", async || worker.metric("ebb_runs_total", "done") == 1).await;

    write(&worker, "[jobs.decay]\nevery = \"1s\"\ncron = \"* * * * *\"\ntimezone = \"Atlantis\"\n");
    eventually("the faults are counted", async || worker.metric("ebb_failed_reloads_total", "") >= 1).await;
    let log = worker.log();
    for fault in [
        "ebb.toml:3:1: `jobs.decay.cron` and `jobs.decay.every` are both given",
        "ebb.toml:4:1: `jobs.decay.timezone`",
    ] {
        assert!(log.contains(fault), "{log}");
    }
    let looked = worker.metric("ebb_ready", "");
    assert_eq!((looked, runs(&db).await), (1, 1), "it goes on as before");

    write(&worker, &format!("[jobs.decay]\nevery = \"1s\"\n{others}[worker]\ntick = \"2s\"\n"));
    eventually("the new schedule counts", async || runs(&db).await >= 3).await;
    assert!(worker.log().contains("worker.tick"), "what counts from the next start is named");
    assert_eq!(
        worker.metric("ebb_missed_occurrences_total", "decay"),
        0,
        "no schedule had these at their time"
    );
    assert_eq!(worker.metric("ebb_unfired_occurrences_total", ""), 0, "its timers fired each of them");
}

/// Editors and `git stash` take a file away for a moment, and the defaults enable every job.
#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_that_is_missing_or_empty_changes_nothing() {
    let db = fresh().await;
    let off = JobName::ALL.map(|job| format!("[jobs.{job}]\nenabled = false\n")).concat();
    let worker = Worker::begin(&db.config, &off, &[]);
    worker.ready().await;
    let failed = || worker.metric("ebb_failed_reloads_total", "");
    let file = worker.folder.path().join("ebb.toml");
    std::fs::rename(&file, worker.folder.path().join("away.toml")).unwrap();
    eventually("it is missed", async || failed() == 1).await;
    std::fs::write(&file, "").unwrap();
    eventually("an empty one is none", async || failed() == 2).await;
    assert!(worker.log().contains("missing or empty"), "{}", worker.log());
    write(&worker, &off);
    eventually("it is read", async || worker.log().contains("the configuration was reloaded")).await;
    let all: i64 = db.client.value("MATCH (r:EbbRun) RETURN count(r)").await;
    assert_eq!((all, failed()), (0, 2), "no job ran");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_counts_for_answers_of_the_same_process() {
    let db = fresh().await;
    let api = format!("127.0.0.1:{}", free_port());
    let worker = Worker::serve(&db.config, &[("EBB__HTTP__LISTEN", &api)]);
    worker.ready().await;
    let audit = || {
        let mut answer = ureq::get(format!("http://{api}/v1/jobs")).call().unwrap();
        let jobs: serde_json::Value = answer.body_mut().read_json().unwrap();
        jobs["jobs"].as_array().unwrap().iter().find(|job| job["job"] == "audit").unwrap().clone()
    };
    assert_eq!(audit()["enabled"], true);
    write(&worker, "[jobs.audit]\nenabled = false\nevery = \"3h\"\n");
    eventually("it is disabled", async || audit()["enabled"] == false).await;
    assert_eq!(audit()["every_seconds"], 10_800);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hangup_reads_the_configuration_again() {
    let db = fresh().await;
    let worker = Worker::begin(&db.config, "[jobs.decay]\nenabled = false\n", &[]);
    worker.ready().await;
    worker.signal("HUP");
    eventually("it was read", async || worker.log().contains("the configuration was reloaded")).await;
    assert!(worker.is_ready());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stated_port_that_is_taken_ends_the_worker() {
    let db = fresh().await;
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut worker = Worker::on(&db, &[("EBB__WORKER__LISTEN", &address)]);
    assert_eq!(worker.end().await.code(), Some(1));
    assert!(worker.log().contains(&format!("{address} cannot be listened on")), "{}", worker.log());
}
