//! Leases that ran out, and the states of an attempt from first to last.

use crate::harness::ebb::by_hand;
use crate::harness::graph::{everything, remembered, same};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::rows::ripe;
use ebb_core::domain::attempt::{AttemptState, Right};
use ebb_core::jobs::{JobName, reap};
use ebb_core::store::{AttemptClaim, Error, OpenedRun, Run, Store};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(200);

async fn hold(store: &Store) -> (Run, AttemptClaim) {
    let opened = store.open_run("promote", "manual/hold", at(0.0), "manual", Right::Lease).await.unwrap();
    let OpenedRun::Ours(mut run) = opened else { panic!("{opened:?}") };
    let claimed = store.claim(&mut run, "promote", 10).await.unwrap().unwrap();
    (run, claimed)
}

async fn states(db: &Fresh) -> Vec<String> {
    db.client
        .column(
            "MATCH (a:ConsolidationAttempt) OPTIONAL MATCH ()-[c:CONSOLIDATING]->(a) \
             WITH a, count(c) AS marks ORDER BY a.id \
             RETURN a.phase + ' ' + a.state + ' ' + a.claimed + ' ' + a.applied + ' ' + marks AS line",
        )
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn twice_is_once() {
    let db = fresh().await;
    db.put(&[ripe("a"), ripe("b")]).await;
    hold(&db.leasing(SHORT)).await;
    db.leases_are_over().await;
    assert_eq!(reap::run(&db.store, Right::Lease).await.unwrap().expired, 1);
    let before = everything(&db.client).await;
    assert_eq!(reap::run(&db.store, Right::Lease).await.unwrap().expired, 0);
    same(&before, &everything(&db.client).await, "a second reap");
    assert_eq!(states(&db).await, ["promote expired 2 0 0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn marks_are_freed_when_the_lease_is_over_and_not_before() {
    let db = fresh().await;
    db.put(&[ripe("a"), ripe("b")]).await;
    let holder = db.leasing(Duration::from_secs(3_600));
    hold(&holder).await;
    let before = everything(&db.client).await;
    assert_eq!(reap::run(&db.store, Right::Lease).await.unwrap().expired, 0);
    same(&before, &everything(&db.client).await, "a lease that lasts is left alone");
    // The only program on a scratch database knows that its predecessor is dead.
    assert_eq!(reap::run(&db.store, Right::Scratch).await.unwrap().expired, 1);
    assert_eq!(states(&db).await, ["promote expired 2 0 0"]);
}

/// A worker dies with its claim: the next one takes run and memories when the leases are over. The dead one wakes up
/// and commits nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_dead_workers_memories_are_taken_again_and_it_writes_nothing_after() {
    let db = fresh().await;
    db.put(&[ripe("a"), ripe("b")]).await;
    let tunables = db.tunables().await;
    let dead = db.leasing(SHORT);
    let (mut run, claimed) = hold(&dead).await;
    db.leases_are_over().await;

    let report = by_hand(&db.store, JobName::Promote, 0.0).await;
    assert_eq!(report.tally.promoted + promoted_by_predecessor(&db).await, 2);

    let before = everything(&db.client).await;
    let late = dead.apply(&mut run, &claimed, &tunables).await.unwrap_err();
    assert!(matches!(late, Error::Fenced(_)), "{late}");
    same(&before, &everything(&db.client).await, "what a late holder left");
    assert_eq!(states(&db).await, ["promote expired 2 0 0", "promote done 2 2 0"]);
}

async fn promoted_by_predecessor(db: &Fresh) -> i64 {
    db.client
        .value("MATCH (r:EbbRun {occurrence: 'manual/hold', state: 'done'}) RETURN r.promoted AS n")
        .await
}

/// The run is still ours, the attempt is not: its own guard stops the work.
#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_that_was_reaped_is_not_applied() {
    let db = fresh().await;
    db.put(&[ripe("a")]).await;
    let tunables = db.tunables().await;
    let paused = db.leasing(SHORT);
    let (mut run, claimed) = hold(&paused).await;
    db.leases_are_over().await;
    reap::run(&db.store, Right::Lease).await.unwrap();
    let before = remembered(&db.client).await;
    let late = paused.apply(&mut run, &claimed, &tunables).await.unwrap_err();
    assert!(matches!(&late, Error::Fenced(why) if why.contains("reaped")), "{late}");
    same(&before, &remembered(&db.client).await, "what a late holder left");
    assert_eq!(states(&db).await, ["promote expired 1 0 0"]);
    // A lease that ran out and that nobody ended is still good.
    let (mut run, claimed) = {
        let store = &paused;
        let opened = store.open_run("promote", "manual/again", at(0.0), "manual", Right::Scratch).await;
        let OpenedRun::Predecessor(mut run) = opened.unwrap() else { panic!("the open run is taken first") };
        let claimed = store.claim(&mut run, "promote", 10).await.unwrap().unwrap();
        (run, claimed)
    };
    db.leases_are_over().await;
    assert_eq!(paused.apply(&mut run, &claimed, &tunables).await.unwrap().promoted, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_goes_from_planned_to_its_end_and_never_back() {
    let db = fresh().await;
    db.put(&[ripe("a")]).await;
    let tunables = db.tunables().await;
    let (mut run, claimed) = hold(&db.store).await;
    assert_eq!(states(&db).await, ["promote claimed 1 0 1"]);
    // With nothing left to claim the next attempt ends in the transaction that opened it.
    assert_eq!(db.store.claim(&mut run, "promote", 10).await.unwrap(), None);
    assert_eq!(states(&db).await, ["promote claimed 1 0 1", "promote aborted 0 0 0"]);
    let once = db.store.apply(&mut run, &claimed, &tunables).await.unwrap();
    assert_eq!(once.promoted, 1);
    assert_eq!(states(&db).await, ["promote done 1 1 0", "promote aborted 0 0 0"]);
    // Applied again it answers from its receipt.
    let before = remembered(&db.client).await;
    assert_eq!(db.store.apply(&mut run, &claimed, &tunables).await.unwrap().promoted, 0);
    same(&before, &remembered(&db.client).await, "an attempt that is done");
    assert_eq!(db.store.reap(Right::Scratch).await.unwrap().expired, 0, "nothing left to end");
    assert_eq!(states(&db).await, ["promote done 1 1 0", "promote aborted 0 0 0"]);
    assert!(AttemptState::Done.is_terminal());
}
