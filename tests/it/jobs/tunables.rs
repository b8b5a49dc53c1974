//! The tunables in the graph: read at each run, and a value that cannot be stops that run with its name.

use crate::harness::ebb::{access, remember};
use crate::harness::graph::{everything, same};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::rows::{ripe, row};
use ebb_core::domain::attempt::Right;
use ebb_core::domain::event::Event;
use ebb_core::domain::tier::Tier;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::{Wanted, run_job};

async fn edit(db: &Fresh, what: &str) {
    db.client.run(&format!("MATCH (c:ConsolidationConfig {{name: 'default'}}) {what}"), &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_cannot_be_stops_the_run_and_is_named() {
    let db = fresh().await;
    db.put(&[row("m", "working", 1.0), ripe("r")]).await;
    let cases = [
        ("SET c.workingDecay = 0.0", "SET c.workingDecay = 0.5", "workingDecay is 0"),
        ("SET c.shortTermDecay = -1", "SET c.shortTermDecay = 0.05", "shortTermDecay is -1"),
        ("SET c.expiryThreshold = 1.9", "SET c.expiryThreshold = 0.1", "expiryThreshold is 1.9"),
        ("SET c.promotionBatchSize = 0", "SET c.promotionBatchSize = 10", "promotionBatchSize is 0"),
        ("SET c.decayBatchSize = 2.5", "SET c.decayBatchSize = 100", "decayBatchSize is 2.5"),
        ("SET c.longTermDecay = 'slow'", "SET c.longTermDecay = 0.001", "no number in longTermDecay"),
        ("SET c.longTermDecay = 0.0 / 0.0", "SET c.longTermDecay = 0.001", "no number in longTermDecay"),
        (
            "SET c.shortToLongThreshold = 1.0 / 0.0",
            "SET c.shortToLongThreshold = 5",
            "no number in shortToLongThreshold",
        ),
        (
            "REMOVE c.workingToShortThreshold",
            "SET c.workingToShortThreshold = 2",
            "no number in workingToShortThreshold",
        ),
    ];
    for (damage, repair, name) in cases {
        edit(&db, damage).await;
        let before = everything(&db.client).await;
        for job in JobName::ALL {
            let wanted = Wanted::by_hand(at(1.0), Right::Lease);
            let why = run_job(&db.store, job, &wanted, Request::default()).await.unwrap_err().to_string();
            assert!(why.contains("ConsolidationConfig") && why.contains(name), "{damage}: {why}");
        }
        same(&before, &everything(&db.client).await, damage);
        edit(&db, repair).await;
    }
    // Every fault at once, not the first.
    edit(&db, "SET c.workingDecay = -1, c.coactivationThreshold = -2").await;
    let why = db.store.valid_tunables().await.unwrap_err().to_string();
    assert!(why.contains("workingDecay") && why.contains("coactivationThreshold"), "{why}");
    edit(&db, "SET c.workingDecay = 0.5, c.coactivationThreshold = 3, c.note = 'mine'").await;
    assert_eq!(db.run(JobName::Decay, 1.0).await.tally.changed, 2, "whole numbers and notes are fine");

    db.client.run("MATCH (c:ConsolidationConfig) DELETE c", &[]).await;
    let why = db.store.valid_tunables().await.unwrap_err().to_string();
    assert!(why.contains("ebb init"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_threshold_is_honoured_by_the_next_run() {
    let db = fresh().await;
    db.put(&[row("m", "working", 0.7)]).await;
    db.run(JobName::Decay, 0.1).await;
    assert_eq!(db.state("m").await.tier, Tier::Working);
    edit(&db, "SET c.expiryThreshold = 0.69").await;
    db.run(JobName::Decay, 0.2).await;
    assert_eq!(db.state("m").await.tier, Tier::ExpiredWorking);

    let lift = [
        Event::Remember(remember("a", 1.0)),
        Event::Access(access("a", 1.0)),
        Event::Access(access("a", 1.0)),
    ];
    edit(&db, "SET c.workingToShortThreshold = 3").await;
    db.apply(&lift).await;
    assert_eq!(db.state("a").await.ripe_at, None, "3.0 is not above 3");
    edit(&db, "SET c.workingToShortThreshold = 2.9").await;
    db.apply(&[Event::Access(access("a", 1.0))]).await;
    assert_eq!(db.state("a").await.ripe_at, Some(at(1.0)));

    edit(&db, "SET c.workingDecay = 5").await;
    db.run(JobName::Decay, 2.0).await;
    crate::harness::ebb::close(db.state("a").await.energy.value(), 4.0 * (-5.0_f64).exp());
    edit(&db, "SET c.promotionBatchSize = 3").await;
    db.put(&["p", "q", "r", "s"].map(ripe)).await;
    let first = db.run(JobName::Promote, 2.0).await;
    assert_eq!(first.tally.promoted, 5);
    let claims: Vec<i64> = db
        .client
        .column("MATCH (a:ConsolidationAttempt {state: 'done'}) RETURN a.claimed AS n ORDER BY a.id")
        .await;
    assert_eq!(claims, [3, 2]);
}
