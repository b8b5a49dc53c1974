//! The end of a worker: told to, told twice.

use super::process::{Worker, eventually};
use crate::harness::neo4j::{Fresh, fresh};
use crate::harness::rows::row;
use ebb_core::domain::attempt::Right;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::finish_open;
use ebb_core::store::OpenRun;
use std::time::{Duration, Instant};

const DECAY_ONLY: [(&str, &str); 2] =
    [("EBB__JOBS__DECAY__EVERY", "7d"), ("EBB__JOBS__PROMOTE__ENABLED", "false")];

/// More memories than a page.
async fn many(db: &Fresh) {
    db.put(&(0..500).map(|n| row(&format!("m{n:03}"), "longTerm", 8.0)).collect::<Vec<_>>()).await;
}

/// The one open run of decay.
async fn decay_run(db: &Fresh) -> OpenRun {
    let mut runs = db.store.open_runs().await.unwrap();
    runs.retain(|run| run.job == "decay");
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

/// A worker whose run waits in the middle of its first page for a lock that a test holds.
async fn held_up(db: &Fresh) -> Worker {
    let worker = Worker::on(db, &DECAY_ONLY);
    // Another job may wait for it first.
    let is_open = async || db.store.open_runs().await.unwrap().iter().any(|run| run.job == "decay");
    eventually("the run waits for the lock", async || is_open().await && db.waits().await).await;
    worker
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_told_to_stop_finishes_its_page_and_gives_its_lease_back() {
    let db = fresh().await;
    many(&db).await;
    let lock = db.client.lock("m000").await;
    let mut worker = held_up(&db).await;
    let told = Instant::now();
    worker.signal("TERM");
    eventually("it says that it stops", async || {
        worker.page("/readyz").is_some_and(|(status, text)| status == 503 && text.contains("shutting down"))
    })
    .await;
    lock.rollback().await.unwrap();
    let ended = worker.end().await;
    assert!(told.elapsed() < Duration::from_secs(10), "{:?}", told.elapsed());
    assert_eq!(ended.code(), Some(0), "{}", worker.log());

    let run = decay_run(&db).await;
    assert_eq!((run.holder, run.batch), (None, 1), "one page landed");
    // Another goes on at once, where this one stopped.
    let finished = finish_open(&db.store, JobName::Decay, Right::Lease, Request::default()).await.unwrap();
    assert_eq!(finished.unwrap().tally.changed, 500);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_a_worker_where_it_stands() {
    let db = fresh().await;
    many(&db).await;
    let lock = db.client.lock("m000").await;
    let mut worker = held_up(&db).await;
    worker.signal("INT");
    eventually("it has heard the first", async || worker.log().contains("stopping")).await;
    worker.signal("INT");
    assert_eq!(worker.end().await.code(), Some(130), "{}", worker.log());
    lock.rollback().await.unwrap();
    assert_eq!(decay_run(&db).await.batch, 0, "its lease runs out, and nothing of its page landed");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_worker_stops_and_holds_nothing() {
    let db = fresh().await;
    let mut worker = Worker::on(&db, &[]);
    worker.ready().await;
    eventually("both jobs have run", async || worker.metric("ebb_runs_total", "done") >= 2).await;
    worker.signal("TERM");
    assert_eq!(worker.end().await.code(), Some(0), "{}", worker.log());
    // One that was begun just then is left to whoever comes next.
    assert!(db.store.open_runs().await.unwrap().iter().all(|run| run.holder.is_none()));
}
