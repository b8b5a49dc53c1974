//! Sweeps on both sides of 100,000 facts, the size from which a worker does them: within a minute below, resumed after a
//! kill above. Minutes long, so `.ci/run release` runs it.

use super::TestServer;
use crate::harness::neo4j::{Fresh, fresh};
use crate::worker::process::eventually;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Lineages of the largest sweep that is answered when it is done.
const AT_ONCE_MAX: i64 = 100_000;
/// The document's limits for the answers of a sweep and of a dry run.
const WITHIN: Duration = Duration::from_secs(60);
const DRY_WITHIN: Duration = Duration::from_secs(30);
const VARIABLES: [(&str, &str); 2] = [
    (
        "STIGMEM_DECAY_POLICIES",
        r#"[{"id": "old", "relation": "memory:*", "scope": "*", "mode": "retract", "ttl_s": 2592000}]"#,
    ),
    ("EBB__WORKER__LEASE", "2s"),
];

/// Creates facts of a scope that the policy retracts, as assertions leave them.
async fn assert_stale(db: &Fresh, scope: &str, count: i64) {
    let page = 10_000;
    for from in (0..count).step_by(10_000) {
        let until = count.min(from + page) - 1;
        let facts = format!(
            "UNWIND range({from}, {until}) AS i
             CREATE (f:Fact:EbbFact {{id: '{scope}' + i, entity: 'e' + i, relation: 'memory:x', scope: '{scope}', value: 'v',
               valueType: 'text', confidence: 1.0, source: 'agent', assertedAt: datetime('2026-01-01T00:00:00Z')}})
             CREATE (:EbbLineage {{key: '{scope}|' + i, scope: '{scope}', relation: 'memory:x'}})-[:HEAD]->(f)
             CREATE (f)-[:ABOUT]->(:Entity {{scope: '{scope}', name: 'e' + i}})"
        );
        db.client.run(&facts, &[]).await;
    }
}

/// Lineages of a scope whose head is a retraction, and facts of sweeps: equal where each lineage was retracted once.
async fn retracted(db: &Fresh, scope: &str) -> (i64, i64) {
    let heads = format!(
        "MATCH (l:EbbLineage {{scope: '{scope}'}})-[:HEAD]->(f:Fact {{confidence: 0.0, source: 'system:stigmem:decay'}})
         RETURN count(DISTINCT l)"
    );
    let facts =
        format!("MATCH (f:Fact {{scope: '{scope}', source: 'system:stigmem:decay'}}) RETURN count(f)");
    (db.client.value(&heads).await, db.client.value(&facts).await)
}

fn timed(server: &TestServer, body: &str) -> (Value, u16, Duration) {
    let began = Instant::now();
    let answer = server.post("/v1/decay/sweep", body);
    let took = began.elapsed();
    eprintln!("{body}: {} after {:.1} s: {}", answer.status, took.as_secs_f64(), answer.body);
    (answer.json(answer.status), answer.status, took)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes: more than two hundred thousand facts"]
async fn a_hundred_thousand_facts_are_swept_within_a_minute_and_more_by_a_worker_that_may_be_killed() {
    let db = fresh().await;
    // In force before the first fact, so the guard has nothing to ask.
    let server = TestServer::with_roles(&db, "worker,http", &VARIABLES);
    // The run of the schedule is over, so the sweep does not wait for its turn.
    let over = "MATCH (r:EbbRun {job: 'sweep', state: 'done'}) RETURN count(r)";
    eventually("the scheduled sweep ends", async || db.client.value::<i64>(over).await > 0).await;
    assert_stale(&db, "company", AT_ONCE_MAX).await;
    let (swept, status, took) = timed(&server, r#"{"scope":"company"}"#);
    assert_eq!((status, &swept["facts_retracted"]), (200, &json!(AT_ONCE_MAX)));
    assert!(took < WITHIN, "{took:?}");
    assert_eq!(retracted(&db, "company").await, (AT_ONCE_MAX, AT_ONCE_MAX));

    let many = AT_ONCE_MAX + 1;
    assert_stale(&db, "team", many).await;
    let (dry, status, took) = timed(&server, r#"{"scope":"team","mode":"dry_run"}"#);
    assert_eq!((status, &dry["dry_run_would_retract"]), (200, &json!(many)));
    assert!(took < DRY_WITHIN, "{took:?}");
    let (queued, status, took) = timed(&server, r#"{"scope":"team"}"#);
    assert_eq!(status, 202, "{queued}");
    assert!(took < DRY_WITHIN, "{took:?}");
    let id = queued["job_id"].as_str().unwrap().to_owned();
    let state = |server: &TestServer| server.get(&format!("/v1/decay/jobs/{id}")).json(200);
    eventually("the worker is under way", async || state(&server)["facts_retracted"].as_i64().unwrap() > 0)
        .await;
    // As kill -9.
    drop(server);
    let (at_kill, facts) = retracted(&db, "team").await;
    assert_eq!(at_kill, facts, "each once");
    assert!((1..many).contains(&at_kill), "{at_kill}");

    let other = TestServer::with_roles(&db, "worker,http", &VARIABLES);
    let found = state(&other);
    assert_eq!(found["status"], "running", "left for a takeover: {found}");
    let began = Instant::now();
    while state(&other)["status"] == "running" {
        assert!(began.elapsed() < Duration::from_secs(300), "{}", state(&other));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let ended = state(&other);
    eprintln!("killed at {at_kill} of {many}; ended {:.1} s later: {ended}", began.elapsed().as_secs_f64());
    assert_eq!((&ended["status"], &ended["facts_retracted"]), (&json!("done"), &json!(many)));
    assert_eq!(ended["policies_applied"], json!(["old"]));
    assert_eq!(retracted(&db, "team").await, (many, many), "exactly once");
    let (again, status, _) = timed(&other, r#"{"scope":"company"}"#);
    assert_eq!((status, &again["facts_retracted"]), (200, &json!(0)), "a second sweep changes nothing");
}
