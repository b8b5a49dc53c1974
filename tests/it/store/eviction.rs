//! A holder that vanished with its transaction open: whoever takes its work gets past it.

use crate::harness::neo4j::{at, fresh};
use ebb_core::domain::attempt::{Right, RunState};
use ebb_core::store::OpenedRun;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Somebody's transaction holds the run and never ends, as that of a machine that lost its power does. Its lease is over.
#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_nobody_will_end_does_not_keep_a_run() {
    let db = fresh().await;
    let vanished = db.leasing(Duration::from_millis(100));
    let opened = vanished.open_run("decay", "o", at(0.0), "schedule", Right::Lease).await.unwrap();
    assert!(matches!(opened, OpenedRun::Ours(_)));
    let mut open = db.client.begin().await;
    let text = "MATCH (r:EbbRun {occurrence: 'o'}) SET r.lock = true RETURN r.id";
    crate::harness::neo4j::run(&mut open, text).await.unwrap();
    db.leases_are_over().await;

    // The server of this suite has no time-outs of its own, so without eviction this would wait for ever.
    let taken = db.store.open_run("decay", "o", at(0.0), "schedule", Right::Lease);
    let taken = tokio::time::timeout(Duration::from_secs(60), taken).await.expect("evicted").unwrap();
    let OpenedRun::Ours(run) = taken else { panic!("{taken:?}") };
    assert_eq!(db.store.counters().evicted.load(Ordering::Relaxed), 1);
    db.store.close_run(&run, RunState::Done, false, None).await.unwrap();
    let late = open.commit().await.unwrap_err();
    assert!(late.to_string().contains("terminated") || late.to_string().contains("Terminated"), "{late}");
}

/// The same where it holds the job itself, which every other program locks first.
#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_nobody_will_end_does_not_keep_a_job() {
    let db = fresh().await;
    let opened = db.store.open_run("decay", "o", at(0.0), "schedule", Right::Lease).await.unwrap();
    let OpenedRun::Ours(run) = opened else { panic!("{opened:?}") };
    db.store.close_run(&run, RunState::Done, false, None).await.unwrap();
    let mut open = db.client.begin().await;
    let text = "MATCH (c:EbbCounter {name: 'job:decay'}) SET c.lock = 'gone' RETURN c.name";
    crate::harness::neo4j::run(&mut open, text).await.unwrap();
    let next = db.store.open_run("decay", "p", at(1.0), "schedule", Right::Lease);
    let next = tokio::time::timeout(Duration::from_secs(60), next).await.expect("evicted").unwrap();
    assert!(matches!(next, OpenedRun::Ours(_)), "{next:?}");
    assert_eq!(db.store.counters().evicted.load(Ordering::Relaxed), 1);
}
