//! The audit: what no other job would find, found once.

use super::coactivate::triangle;
use crate::harness::graph::{everything, remembered, same};
use crate::harness::neo4j::{at, fresh};
use crate::harness::rows::{Row, ripe, row};
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::dry_run_job;

#[tokio::test(flavor = "multi_thread")]
async fn twice_is_once() {
    let db = fresh().await;
    triangle(&db, 5).await;
    db.put(&[
        Row { due: None, ..row("lost", "working", 1.0) },
        Row { due: None, ..row("faint", "shortTerm", 0.0001) },
        Row { pinned: true, ..row("pinned", "working", 1.0) },
        Row { ripe: Some(0.0), ..row("rests", "expiredWorking", 0.05) },
        ripe("ripe"),
    ])
    .await;
    db.client.run("CREATE (:Memory {id: 'foreign', content: 'x', energy: 1.0, sessionId: 's0'})", &[]).await;
    let before = everything(&db.client).await;
    let said = dry_run_job(&db.store, JobName::Audit, at(6.0), Default::default()).await.unwrap().tally;
    same(&before, &everything(&db.client).await, "a dry run");
    let asked = Request { limit: Some(100), ..Request::default() };
    let all = dry_run_job(&db.store, JobName::Audit, at(6.0), asked).await.unwrap();
    assert_eq!((all.tally, all.truncated), (said, false));
    let did = db.run(JobName::Audit, 6.0).await.tally;
    assert_eq!((said.changed, said.adopted), (did.changed, did.adopted));
    assert_eq!((did.adopted, did.changed), (1, 3));
    let due: Vec<String> =
        db.client.column("MATCH (m:Memory) WHERE m.dueAt IS NULL RETURN m.id AS id ORDER BY id").await;
    assert_eq!(due, ["faint", "pinned", "rests"]);
    for job in JobName::ALL {
        db.run(job, 6.0).await;
    }
    let before = remembered(&db.client).await;
    for job in JobName::ALL {
        let again = db.run(job, 6.0).await.tally;
        assert_eq!((again.changed, again.adopted, again.released), (0, 0, 0), "{job}");
    }
    same(&before, &remembered(&db.client).await, "everything run twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_was_mended_comes_back_and_one_that_lost_its_value_does_not() {
    let db = fresh().await;
    db.put(&["mended", "removed", "bad", "good"].map(|name| row(name, "working", 1.0))).await;
    db.client.run("MATCH (m:Memory) WHERE m.id <> 'good' SET m.energy = 'much'", &[]).await;
    db.run(JobName::Decay, 1.0).await;
    db.client.run("MATCH (m {id: 'mended'}) SET m.energy = 2.0", &[]).await;
    db.client.run("MATCH (m {id: 'removed'}) REMOVE m.energy", &[]).await;
    assert_eq!(db.run(JobName::Audit, 2.0).await.tally.released, 1);
    let aside: Vec<String> = db.client.column("MATCH (m:EbbQuarantined) RETURN m.id AS id ORDER BY id").await;
    assert_eq!(aside, ["bad", "removed"]);
    assert_eq!(db.run(JobName::Audit, 3.0).await.tally.released, 0);
}

/// What another writer did between two looks, in a way that no count shows.
#[tokio::test(flavor = "multi_thread")]
async fn members_that_no_longer_live_and_accesses_that_were_swapped_are_found() {
    let db = fresh().await;
    triangle(&db, 5).await;
    for job in JobName::ALL {
        db.run(job, 5.0).await;
    }
    db.client.run("MATCH (m {id: 'c'}) SET m.tier = 'expiredWorking'", &[]).await;
    db.client
        .run(
            "MATCH (m {id: 'a'})-[r:ACCESSED_IN]->(s:Session {id: 's4'}) DELETE r \
             WITH s CREATE (s)<-[:ACCESSED_IN]-(:Memory {id: 'd', content: 'x', energy: 1.0})",
            &[],
        )
        .await;
    for job in JobName::ALL {
        db.run(job, 6.0).await;
    }
    let size: i64 = db.client.value("MATCH (c:SemanticCluster) RETURN c.size").await;
    assert_eq!(size, 2);
    let session: i64 =
        db.client.value("MATCH (:Memory {id: 'd'})-[c:COACTIVATED]-() RETURN count(c) AS n").await;
    assert_eq!(session, 2, "whoever joins with a memory of its own is met when that is adopted");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_needs_any_more_is_removed() {
    let db = fresh().await;
    let texts = [
        "UNWIND [23, 25] AS h CREATE (:EbbRequest {id: 'q' + h, hash: 'x', at: datetime() - duration({hours: h})})",
        "UNWIND [29, 31] AS d UNWIND ['open', 'done'] AS state \
         CREATE (:EbbRun {job: 'old', occurrence: state + d, id: state + d, state: state, fence: 1, batch: 0, \
           holder: 'h', leaseUntil: datetime().epochMillis + 3600000, now: datetime(), started: datetime(), \
           finished: CASE state WHEN 'done' THEN datetime() - duration({days: d}) END})",
        "UNWIND [29, 31] AS d CREATE (:ConsolidationAttempt {id: 'a' + d, state: 'done', \
           leaseUntil: (datetime() - duration({days: d})).epochMillis})",
        "CREATE (:ConsolidationAttempt {id: 'theirs', state: 'done', started: '2014'})",
        "UNWIND [23, 25] AS h CREATE (:EbbCounter {name: 'mirror:local:p' + h, id: 'p' + h, seen: datetime() - duration({hours: h})})",
        "CREATE (:ConsolidationAttempt {id: 'noted', state: 'done', leaseUntil: 0})<-[:ABOUT]-(:Note)",
    ];
    for text in texts {
        db.client.run(text, &[]).await;
    }
    let before = everything(&db.client).await;
    assert_eq!(
        dry_run_job(&db.store, JobName::Audit, at(1.0), Default::default()).await.unwrap().tally.changed,
        4
    );
    same(&before, &everything(&db.client).await, "a dry run");
    assert_eq!(db.run(JobName::Audit, 1.0).await.tally.changed, 4);
    let left: Vec<String> = db
        .client
        .column(
            "MATCH (n) WHERE n:EbbRequest OR n:ConsolidationAttempt OR n.job = 'old' OR n.name STARTS WITH 'mirror:' RETURN n.id AS id ORDER BY id",
        )
        .await;
    assert_eq!(left, ["a29", "done29", "noted", "open29", "open31", "p23", "q23", "theirs"]);
    assert_eq!(db.run(JobName::Audit, 1.0).await.tally.changed, 0);
}

/// A tier that no law knows is a fault to be named, with or without a date, and not one more way out of all laws.
#[tokio::test(flavor = "multi_thread")]
async fn a_memory_of_an_unknown_tier_is_quarantined_after_an_audit() {
    let db = fresh().await;
    db.put(&[
        row("dated", "longTerm", 6.0),
        row("undated", "longTerm", 6.0),
        row("none", "longTerm", 6.0),
        row("sound", "longTerm", 6.0),
    ])
    .await;
    db.run(JobName::Decay, 1.0).await;
    let spoil = "MATCH (m:Memory) WHERE m.id <> 'sound'
        SET m.tier = CASE m.id WHEN 'none' THEN null ELSE 'archived' END, m.dueAt = CASE m.id WHEN 'dated' THEN m.dueAt END";
    db.client.run(spoil, &[]).await;
    assert_eq!(db.run(JobName::Audit, 2.0).await.tally.changed, 2);
    assert_eq!(db.run(JobName::Audit, 2.0).await.tally.changed, 0, "the second changes nothing");
    db.run(JobName::Decay, 100.0).await;
    let named = "MATCH (m:EbbQuarantined) RETURN m.id + ': ' + m.ebbReason AS named ORDER BY named";
    let reasons = ["dated: tier is unknown", "none: tier is unknown", "undated: tier is unknown"];
    assert_eq!(db.client.column::<String>(named).await, reasons);
}
