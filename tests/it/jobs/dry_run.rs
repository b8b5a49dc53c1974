//! A dry run writes nothing, and says what the real one then does.

use crate::harness::graph::{everything, same};
use crate::harness::neo4j::{at, fresh};
use crate::harness::rows::{Row, ripe, row};
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::dry_run_job;

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_sweep_writes_nothing_and_tells_what_a_sweep_does() {
    let db = fresh().await;
    let mut rows: Vec<Row> = (0..600)
        .map(|n| Row { at: -f64::from(n) / 60.0, ..row(&format!("m{n:03}"), "working", 1.0) })
        .collect();
    rows.push(row("l", "longTerm", 6.0));
    rows.push(Row { at: 9.0, ..row("future", "shortTerm", 3.0) });
    db.put(&rows).await;
    db.client.run("MATCH (m {id: 'm000'}) SET m.energy = 0.0 / 0.0", &[]).await;
    let before = everything(&db.client).await;
    let said = dry_run_job(&db.store, JobName::Decay, at(1.0), Default::default()).await.unwrap().tally;
    same(&before, &everything(&db.client).await, "a dry sweep");
    let did = db.run(JobName::Decay, 1.0).await.tally;
    assert_eq!(said, did);
    assert!(did.expired > 100 && did.changed > 500 && did.quarantined == 1 && did.skipped == 1, "{did:?}");
    let after = dry_run_job(&db.store, JobName::Decay, at(1.0), Default::default()).await.unwrap().tally;
    assert_eq!((after.changed, after.quarantined), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_promotion_writes_nothing_and_tells_what_a_promotion_does() {
    let db = fresh().await;
    let mut rows: Vec<Row> = (0..23).map(|n| ripe(&format!("m{n:02}"))).collect();
    rows.push(Row { ripe: Some(5.0), ..row("later", "working", 3.0) });
    rows.push(row("no", "working", 1.0));
    db.put(&rows).await;
    let before = everything(&db.client).await;
    let said = dry_run_job(&db.store, JobName::Promote, at(1.0), Default::default()).await.unwrap().tally;
    same(&before, &everything(&db.client).await, "a dry promotion");
    assert_eq!(said, db.run(JobName::Promote, 1.0).await.tally);
    assert_eq!(said.promoted, 23);
    assert_eq!(
        dry_run_job(&db.store, JobName::Promote, at(1.0), Default::default()).await.unwrap().tally.promoted,
        0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_that_ends_at_its_limit_says_that_more_may_be_due() {
    let db = fresh().await;
    for job in JobName::ALL {
        let said = dry_run_job(&db.store, job, at(1.0), Default::default()).await.unwrap();
        // The first run of cluster examines every pair.
        let wanted = (0, job == JobName::Cluster, None);
        assert_eq!((said.tally.changed, said.truncated, said.reason), wanted, "{job} of an empty graph");
    }
    let due = (0..3).map(|n| row(&format!("m{n}"), "working", 1.0));
    db.put(&due.chain((0..3).map(|n| ripe(&format!("r{n}")))).collect::<Vec<Row>>()).await;
    for (job, most) in [(JobName::Decay, 6), (JobName::Promote, 3)] {
        for limit in [Some(2), Some(most + 1), None] {
            let asked = Request { limit, ..Request::default() };
            let said = dry_run_job(&db.store, job, at(1.0), asked).await.unwrap();
            let counted = limit.map_or(most, |limit| limit.min(most));
            let wanted = (i64::try_from(counted).unwrap(), counted < most);
            assert_eq!((said.tally.changed, said.truncated), wanted, "{job} up to {limit:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_shows_what_becomes_of_rows_that_a_run_adopts_first() {
    let db = fresh().await;
    db.put(&[row("ours", "working", 1.0)]).await;
    let theirs = "UNWIND range(1, 1200) AS n
        CREATE (:Memory {id: 't' + n, content: 'x', tier: 'working', energy: CASE WHEN n <= 700 THEN 1.0 ELSE 9.0 END,
            created: datetime({epochMillis: $at}) - duration({minutes: n % 7})})";
    db.client.run(theirs, &[("at", at(0.0).millis().into())]).await;
    let before = everything(&db.client).await;
    for (job, hours) in [(JobName::Decay, 5.0), (JobName::Promote, 5.0)] {
        let said = dry_run_job(&db.store, job, at(hours), Default::default()).await.unwrap().tally;
        same(&before, &everything(&db.client).await, "a dry run");
        match job {
            JobName::Decay => {
                assert_eq!((said.adopted, said.changed, said.expired), (1_200, 1_201, 701), "{said:?}");
            }
            _ => assert_eq!((said.adopted, said.promoted), (1_200, 500), "{said:?}"),
        }
    }
    let promoted = db.run(JobName::Promote, 5.0).await.tally;
    assert_eq!((promoted.adopted, promoted.promoted), (1_200, 500));
    assert_eq!(db.run(JobName::Decay, 5.0).await.tally.expired, 701);
}
