//! Tunables in the graph that no law can use: no job runs and no memory is written, everything says so, and reads go on.

use super::process::{Worker, eventually, free_port};
use crate::harness::neo4j::{Fresh, fresh};
use crate::surfaces::ebb;
use serde_json::{Value, json};

const WRONG: &str = "workingDecay is -3; it must be a finite number above 0";

async fn set(db: &Fresh, rate: f64) {
    let set = format!("MATCH (c:ConsolidationConfig {{name: 'default'}}) SET c.workingDecay = {rate:?}");
    db.client.run(&set, &[]).await;
}

fn says(worker: &Worker, status: u16, why: &str) -> bool {
    worker.page("/readyz").is_some_and(|(found, text)| found == status && text.contains(why))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_can_run_no_job_is_not_ready_until_they_are_corrected() {
    let db = fresh().await;
    let worker = Worker::begin(&db.config, "[jobs.decay]\nevery = \"1s\"\n", &[]);
    let runs = || worker.metric("ebb_runs_total", "decay\",outcome=\"done");
    eventually("jobs run", async || runs() > 0).await;
    set(&db, -3.0).await;
    eventually("it says what is wrong", async || says(&worker, 503, WRONG)).await;
    assert_eq!(worker.page("/healthz"), Some((200, "ok\n".to_owned())), "a restart would not help");
    let stopped = || (worker.metric("ebb_jobs_stopped", ""), worker.metric("ebb_ready", ""));
    assert_eq!(stopped(), (1, 0));
    let lag = || worker.metric("ebb_schedule_lag_seconds", "decay");
    eventually("what is due waits", async || lag() >= 2).await;
    let stranded = "CREATE (:EbbRun {job: 'promote', occurrence: 'left', id: 'left', trigger: 'schedule', state: 'open', fence: 1,
        batch: 0, holder: 'gone', now: datetime(), started: datetime(), leaseUntil: datetime.realtime().epochMillis - 60000})";
    db.client.run(stranded, &[]).await;
    let stranded = || worker.metric("ebb_stranded_run_seconds", "promote");
    eventually("an open run without a holder is counted", async || stranded() >= 60).await;
    let first = stranded();
    eventually("the count goes on", async || stranded() > first).await;
    let before = runs();
    set(&db, 0.5).await;
    worker.ready().await;
    eventually("jobs run again", async || runs() > before).await;
    eventually("the open run is over", async || stranded() == 0).await;
    assert_eq!(stopped(), (0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_listed_without_the_node_and_the_list_says_so() {
    let db = fresh().await;
    db.client.run("MATCH (c:ConsolidationConfig) DELETE c", &[]).await;
    for verb in [["job", "list"], ["job", "history"]] {
        let told = ebb(&db, &verb).json();
        assert_eq!(told["fallback_tunables"], "configuration", "{told}");
        assert!(told["stopped"].as_str().unwrap().contains("Write it with: ebb init"), "{told}");
        let text = ebb(&db, &[verb[0], verb[1], "--output", "table"]);
        let words = text.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("Write it with: ebb init"), "{}{}", text.out, text.err);
    }
    let status = ebb(&db, &["status"]);
    assert_eq!(status.code, Some(7), "{}", status.err);
    let status = status.any_json();
    assert_eq!(status["jobs"].as_array().unwrap().len(), 11, "{status}");
    ebb(&db, &["memory", "list"]).fails(1, "try: ebb init");
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_go_on_with_the_last_valid_ones_and_say_so() {
    let db = fresh().await;
    ebb(&db, &["memory", "add", "one", "--id", "a"]).json();
    let port = free_port();
    let server = Worker::serve(&db.config, &[("EBB__HTTP__LISTEN", &format!("127.0.0.1:{port}"))]);
    server.ready().await;
    let agent = ureq::Agent::config_builder().http_status_as_error(false).max_idle_connections(0);
    let agent = agent.build().new_agent();
    let url = |path: &str| format!("http://127.0.0.1:{port}{path}");
    let get = |path: &str| -> Value {
        let mut answer = agent.get(url(path)).call().unwrap();
        assert_eq!(answer.status().as_u16(), 200, "{path}");
        answer.body_mut().read_json().unwrap()
    };
    assert_eq!(get("/v1/memories/a").get("fallback_tunables"), None);
    set(&db, -3.0).await;
    eventually("it names the failing part", async || says(&server, 200, WRONG)).await;
    for path in ["/v1/memories/a", "/v1/memories/a/explain", "/v1/health", "/v1/jobs", "/v1/status"] {
        assert_eq!(get(path)["fallback_tunables"], "last_valid", "{path}");
    }
    let status = get("/v1/status");
    assert!(status["stopped"].as_str().unwrap().contains("SET c.workingDecay = 0.5"), "{status}");
    assert_eq!(get("/v1/memories")["memories"][0]["fallback_tunables"], "last_valid");
    let mut refused = agent.post(url("/v1/memories")).send_json(json!({ "content": "two" })).unwrap();
    let told: Value = refused.body_mut().read_json().unwrap();
    assert_eq!(refused.status().as_u16(), 503, "{told}");
    assert!(told["detail"].as_str().unwrap().contains(WRONG), "{told}");

    // A process that has read no valid ones follows its configuration.
    let shown = ebb(&db, &["memory", "show", "a"]).json();
    assert_eq!(shown["fallback_tunables"], "configuration");
    let status = ebb(&db, &["status"]);
    assert_eq!(status.code, Some(7), "{}", status.err);
    let status = status.any_json();
    assert_eq!(status["fallback_tunables"], "configuration");
    assert_eq!(status["jobs"].as_array().unwrap().len(), 11, "{status}");
    ebb(&db, &["recall", "one"]).json();
    ebb(&db, &["memory", "add", "two"])
        .fails(6, "defaults, not your former values): MATCH (c:ConsolidationConfig");

    set(&db, 0.5).await;
    eventually("no part fails", async || says(&server, 200, "ready\n")).await;
    assert_eq!(get("/v1/memories/a").get("fallback_tunables"), None);
}
