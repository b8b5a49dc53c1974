//! The five published vectors of decay, on a real server, through the same service that every surface speaks to.

use crate::harness::neo4j::{Fresh, fresh};
use crate::jobs::sweep::{done, fact, once, request};
use ebb_core::api::fact::SweepAnswer;
use ebb_core::domain::fact::{DECAY_SOURCE, FactScope};
use ebb_core::domain::policy::Mode;
use ebb_core::store::{Fact, FactFilter};

const RETRACT: &str = r#"[{"id": "p", "relation": "*", "scope": "*", "mode": "retract", "ttl_s": 3600}]"#;

/// Asserts a fact of `relation` in `asserted` two hours before a sweep of company; answers what that says, and all facts of
/// the scope the fact is in.
async fn swept(
    db: &Fresh,
    policy: &str,
    relation: &str,
    asserted: FactScope,
    mode: Option<Mode>,
) -> (SweepAnswer, Vec<Fact>) {
    let mut one = fact(relation, "v", 0.0);
    one.tuple.scope = asserted;
    db.assert(&[one]).await;
    let service = db.service(policy);
    let answer = done(service.sweep(&once(), &request(FactScope::Company, mode, 2.0), None).await.unwrap());
    let filter = FactFilter { scope: asserted, entity: None, relation: None, history: true };
    (answer, service.facts(&filter, "", None).await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn decay_confidence_reduction() {
    let db = fresh().await;
    let policy = r#"[{"id": "p", "relation": "*", "scope": "*", "mode": "confidence", "half_life_s": 3600}]"#;
    let (answer, facts) = swept(&db, policy, "memory:x", FactScope::Company, None).await;
    assert_eq!((answer.facts_reduced, answer.facts_retracted), (1, 0));
    let head = facts.iter().find(|fact| fact.is_head).unwrap();
    assert_eq!((facts.len(), head.confidence, head.source.as_deref()), (2, Some(0.25), Some(DECAY_SOURCE)));
}

#[tokio::test(flavor = "multi_thread")]
async fn decay_retraction() {
    let db = fresh().await;
    let (answer, facts) = swept(&db, RETRACT, "memory:x", FactScope::Company, None).await;
    assert_eq!((answer.mode, answer.facts_retracted, answer.facts_reduced), (Mode::Retract, 1, 0));
    let head = facts.iter().find(|fact| fact.is_head).unwrap();
    assert_eq!((facts.len(), head.confidence, head.source.as_deref()), (2, Some(0.0), Some(DECAY_SOURCE)));
}

#[tokio::test(flavor = "multi_thread")]
async fn decay_scope_filter() {
    let db = fresh().await;
    let (answer, facts) = swept(&db, RETRACT, "memory:x", FactScope::Public, None).await;
    assert_eq!((answer.facts_evaluated, answer.facts_retracted, facts.len()), (0, 0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn decay_dry_run() {
    let db = fresh().await;
    let (answer, facts) = swept(&db, RETRACT, "memory:x", FactScope::Company, Some(Mode::DryRun)).await;
    assert_eq!((answer.mode, answer.dry_run_would_retract, answer.facts_retracted), (Mode::DryRun, 1, 0));
    assert_eq!(facts.len(), 1, "nothing is written");
}

#[tokio::test(flavor = "multi_thread")]
async fn decay_exempt() {
    let db = fresh().await;
    let (answer, facts) = swept(&db, RETRACT, "stigmem:received_from", FactScope::Company, None).await;
    assert_eq!((answer.facts_evaluated, answer.facts_retracted, facts.len()), (0, 0, 1));
}
