//! A job that panics: its run fails, the others go on, and too many end the worker. Each panic of the process is counted.

use super::process::{Worker, eventually, free_port};
use crate::harness::neo4j::fresh;
use crate::harness::rows::ripe;

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_fails_its_run_and_other_jobs_go_on() {
    let db = fresh().await;
    db.put(&[ripe("m")]).await;
    let worker = Worker::on(
        &db,
        &[
            ("EBB_STOP", "after_claim:1:panic"),
            ("EBB__JOBS__PROMOTE__EVERY", "2s"),
            ("EBB__JOBS__DECAY__EVERY", "1s"),
        ],
    );
    eventually("it panicked", async || worker.metric("ebb_runs_total", "panicked") == 1).await;
    assert_eq!(worker.metric("ebb_panics_total", ""), 1);
    let decayed = worker.metric("ebb_runs_total", "decay\",outcome=\"done");
    eventually("decay goes on", async || worker.metric("ebb_runs_total", "decay\",outcome=\"done") > decayed)
        .await;
    // The attempt was aborted, so the next occurrence claims the memory anew without waiting for a lease.
    eventually("the memory rises", async || {
        db.client.value::<i64>("MATCH ()-[p:PROMOTED_TO]->() RETURN count(p) AS n").await == 1
    })
    .await;
    let runs = db.store.runs(Some("promote"), 100).await.unwrap();
    let failed: Vec<_> = runs.iter().filter(|run| run.state == "failed").collect();
    assert_eq!(failed.len(), 1);
    assert!(failed[0].reason.as_ref().unwrap().contains("panicked"));
    let attempts: Vec<String> =
        db.client.column("MATCH (a:ConsolidationAttempt) RETURN a.state ORDER BY a.state").await;
    assert!(
        attempts.contains(&"aborted".to_owned()) && !attempts.contains(&"claimed".to_owned()),
        "{attempts:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_of_a_request_is_counted() {
    let db = fresh().await;
    db.put(&[ripe("m")]).await;
    let api = format!("127.0.0.1:{}", free_port());
    let worker = Worker::serve(
        &db.config,
        &[
            ("EBB_STOP", "after_claim:1:panic"),
            ("EBB__JOBS__PROMOTE__ENABLED", "false"),
            ("EBB__HTTP__LISTEN", &api),
        ],
    );
    worker.ready().await;
    let agent = ureq::Agent::config_builder().http_status_as_error(false).build().new_agent();
    let run = agent.post(format!("http://{api}/v1/jobs/promote/run")).send_json(serde_json::json!({}));
    assert_eq!(run.unwrap().status().as_u16(), 500);
    assert_eq!(worker.metric("ebb_panics_total", ""), 1);
    assert_eq!(worker.metric("ebb_runs_total", "panicked"), 0, "no job of the scheduler panicked");
}
