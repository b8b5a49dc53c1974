//! Attempts that other writers made, with their own Cypher: respected, given a lease, parted from others, ended.

use crate::harness::ebb::by_hand;
use crate::harness::graph::{everything, same};
use crate::harness::neo4j::{Fresh, fresh};
use crate::harness::rows::ripe;
use ebb_core::domain::attempt::Right;
use ebb_core::jobs::{JobName, reap};
use ebb_core::store::{OpenedRun, ReapReport};

/// As the document says it: an attempt without state, holder or lease, and a mark without a look.
async fn theirs(db: &Fresh, attempt: &str, started: &str, memories: &[&str]) {
    let text = format!(
        "CREATE (a:ConsolidationAttempt {{id: '{attempt}', instanceId: 'agent-7', started: datetime('{started}'), \
         phase: 'promotion'}}) WITH a UNWIND {memories:?} AS id MATCH (m:Memory {{id: id}}) \
         CREATE (m)-[:CONSOLIDATING {{since: datetime()}}]->(a)"
    );
    db.client.run(&text, &[]).await;
}

async fn over(db: &Fresh, attempt: &str) {
    let text = format!("MATCH (a:ConsolidationAttempt {{id: '{attempt}'}}) SET a.leaseUntil = 0");
    db.client.run(&text, &[]).await;
}

async fn promoted(db: &Fresh) -> Vec<String> {
    db.client.column("MATCH (m:Memory {tier: 'shortTerm'}) RETURN m.id AS id ORDER BY id").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_attempt_is_respected_given_a_lease_and_ended_when_it_is_over() {
    let db = fresh().await;
    db.put(&[ripe("a"), ripe("b")]).await;
    theirs(&db, "theirs", "2026-03-01T00:00:00Z", &["a"]).await;
    let report = by_hand(&db.store, JobName::Promote, 0.0).await;
    assert_eq!((report.tally.promoted, promoted(&db).await), (1, vec!["b".to_owned()]));
    let met: String = db
        .client
        .value(
            "MATCH (a:ConsolidationAttempt {id: 'theirs'}) RETURN a.state + ' ' + a.holder + ' ' + \
             (0 < a.leaseUntil - datetime.realtime().epochMillis <= 60000) AS met",
        )
        .await;
    assert_eq!(met, "claimed agent-7 true");
    assert_eq!(reap::run(&db.store, Right::Lease).await.unwrap(), ReapReport::default(), "it has a minute");

    over(&db, "theirs").await;
    let report = by_hand(&db.store, JobName::Promote, 0.0).await;
    assert_eq!((report.tally.promoted, promoted(&db).await.len()), (1, 2));
    let left: String =
        db.client.value("MATCH (a:ConsolidationAttempt {id: 'theirs'}) RETURN a.state AS state").await;
    assert_eq!(left, "expired");
    assert_eq!(db.client.value::<i64>("MATCH ()-[c:CONSOLIDATING]->() RETURN count(c) AS n").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_attempts_that_hold_a_memory_the_earlier_keeps_it() {
    let db = fresh().await;
    db.put(&[ripe("a"), ripe("b")]).await;
    theirs(&db, "late", "2026-03-02T00:00:00Z", &["a", "b"]).await;
    theirs(&db, "early", "2026-03-01T00:00:00Z", &["a"]).await;
    let reaped = reap::run(&db.store, Right::Lease).await.unwrap();
    assert_eq!(reaped, ReapReport { adopted: 2, conflicts: 1, ..ReapReport::default() });
    let held: Vec<String> = db
        .client
        .column(
            "MATCH (m)-[:CONSOLIDATING]->(a) RETURN m.id + ' ' + a.id + ' ' + coalesce(a.conflicts, 0) AS held \
             ORDER BY held",
        )
        .await;
    assert_eq!(held, ["a early 0", "b late 1"]);
    let before = everything(&db.client).await;
    assert_eq!(reap::run(&db.store, Right::Lease).await.unwrap(), ReapReport::default());
    same(&before, &everything(&db.client).await, "a second reap");
}

/// Between our claim and its work a foreign writer claims the same memories, one in an attempt earlier than ours.
#[tokio::test(flavor = "multi_thread")]
async fn our_own_attempt_yields_to_an_earlier_one_and_goes_on_with_the_rest() {
    let db = fresh().await;
    db.put(&[ripe("a"), ripe("b"), ripe("c")]).await;
    let tunables = db.tunables().await;
    let now = crate::harness::neo4j::at(0.0);
    let opened = db.store.open_run("promote", "manual/x", now, "manual", Right::Lease).await.unwrap();
    let OpenedRun::Ours(mut run) = opened else { panic!("{opened:?}") };
    let claimed = db.store.claim(&mut run, "promote", 10).await.unwrap().unwrap();
    theirs(&db, "early", "1999-03-01T00:00:00Z", &["a"]).await;
    theirs(&db, "late", "2999-03-01T00:00:00Z", &["b"]).await;
    let tally = db.store.apply(&mut run, &claimed, &tunables).await.unwrap();
    assert_eq!((tally.promoted, tally.conflicts, tally.skipped), (2, 1, 1));
    assert_eq!(promoted(&db).await, ["b", "c"]);
    let marks: Vec<String> =
        db.client.column("MATCH (m)-[:CONSOLIDATING]->(a) RETURN m.id + ' ' + a.id AS mark").await;
    assert_eq!(marks, ["a early"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mark_to_anything_else_is_no_claim() {
    let db = fresh().await;
    db.put(&[ripe("a"), ripe("b")]).await;
    let text = "MATCH (a:Memory {id: 'a'}), (b:Memory {id: 'b'}) \
                CREATE (a)-[:CONSOLIDATING]->(:Note {state: 'open'}), \
                (b)-[:CONSOLIDATING]->(:ConsolidationAttempt {id: 'x', state: 'done'})";
    db.client.run(text, &[]).await;
    let reaped = reap::run(&db.store, Right::Lease).await.unwrap();
    assert_eq!(reaped, ReapReport { strays: 2, ..ReapReport::default() });
    assert_eq!(by_hand(&db.store, JobName::Promote, 0.0).await.tally.promoted, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_can_release_what_any_attempt_holds() {
    let db = fresh().await;
    db.put(&[ripe("a")]).await;
    theirs(&db, "theirs", "2026-03-01T00:00:00Z", &["a"]).await;
    let (attempt, held) = db.store.attempt("theirs").await.unwrap();
    assert_eq!((attempt.state.as_str(), attempt.holds), ("foreign", 1));
    assert_eq!(held, [("a".to_owned(), "working".to_owned())]);
    assert!(db.store.release_attempt("theirs").await.unwrap());
    assert!(!db.store.release_attempt("theirs").await.unwrap(), "it is over");
    assert_eq!(db.store.attempts(true, 10).await.unwrap(), []);
    assert_eq!(by_hand(&db.store, JobName::Promote, 0.0).await.tally.promoted, 1);
}

/// A claim without a lease of whole milliseconds, or in a state of its own, holds its memories for a minute and no longer.
#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_attempt_of_any_state_and_lease_gets_a_lease_and_ends() {
    for (state, lease) in
        [("'claimed'", "null"), ("'claimed'", "datetime('2020-01-01T00:00Z')"), ("'running'", "'soon'")]
    {
        let db = fresh().await;
        db.put(&[ripe("a"), ripe("b")]).await;
        theirs(&db, "theirs", "2026-03-01T00:00:00Z", &["a"]).await;
        let set = format!("MATCH (a:ConsolidationAttempt) SET a.state = {state}, a.leaseUntil = {lease}");
        db.client.run(&set, &[]).await;
        let adopted = ReapReport { adopted: 1, ..ReapReport::default() };
        assert_eq!(reap::run(&db.store, Right::Lease).await.unwrap(), adopted, "{state} {lease}");
        assert_eq!(
            reap::run(&db.store, Right::Lease).await.unwrap(),
            ReapReport::default(),
            "it has a minute"
        );
        over(&db, "theirs").await;
        let report = by_hand(&db.store, JobName::Promote, 0.0).await;
        assert_eq!((report.tally.promoted, promoted(&db).await.len()), (2, 2), "{state} {lease}");
    }
}

/// Attempts that hold nothing and cannot be ended are not in the way of those that can.
#[tokio::test(flavor = "multi_thread")]
async fn attempts_without_a_lease_do_not_keep_others_from_being_ended() {
    let db = fresh().await;
    let old = "UNWIND range(1, 150) AS n CREATE (:ConsolidationAttempt {id: 'old' + n, state: 'claimed', started: datetime('2020-01-01T00:00Z')})";
    db.client.run(old, &[]).await;
    let lasting = "UNWIND range(1, 150) AS n CREATE (:ConsolidationAttempt {id: 'long' + n, state: 'claimed', leaseUntil: 9000000000000000, started: datetime('2020-01-01T00:00Z')})";
    db.client.run(lasting, &[]).await;
    let dead = "CREATE (:ConsolidationAttempt {id: 'dead', state: 'claimed', holder: 'h', leaseUntil: 0, started: datetime()})";
    db.client.run(dead, &[]).await;
    assert_eq!(reap::run(&db.store, Right::Lease).await.unwrap().expired, 1);
    assert_eq!(reap::run(&db.store, Right::Lease).await.unwrap(), ReapReport::default());
}
