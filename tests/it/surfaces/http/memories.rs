//! Every other route, from a memory's first day to its last; jobs, status, health, attempts, the document.

use super::{HttpRequest, TestServer};
use crate::harness::neo4j::fresh;
use crate::surfaces::ebb;
use crate::worker::process::eventually;
use serde_json::Value;

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_from_its_first_day_to_its_last() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let made =
        api.post("/v1/memories", r#"{"id":"a/b ü","content":"tabs","session":"s1","mentions":["editor"]}"#);
    let made = made.json(201);
    assert_eq!(
        (&made["id"], &made["tier"], &made["did"]),
        (&"a/b ü".into(), &"working".into(), &"created".into())
    );
    let path = "/v1/memories/a%2Fb%20%C3%BC";
    assert_eq!(api.get(path).json(200)["content"], "tabs");
    assert_eq!(api.post("/v1/memories", r#"{"id":"a/b ü","content":"tabs"}"#).json(200)["did"], "accessed");
    api.post("/v1/memories", r#"{"id":"a/b ü","content":"spaces"}"#).fails(409, "conflict", "other content");
    let used = api.post(&format!("{path}/access"), "").json(200);
    assert_eq!((&used["did"], &used["accessCount"]), (&"accessed".into(), &3.into()));
    let explained = api.get(&format!("{path}/explain")).json(200);
    assert!(explained["because"].as_str().unwrap().len() > 10 && explained["crossings"].is_array());
    assert_eq!(api.post(&format!("{path}/pin"), "{}").json(200)["pinned"], true);
    assert_eq!(api.delete(&format!("{path}/pin")).json(200)["pinned"], false);
    let ended = api.post("/v1/sessions/s1/end", r#"{"threshold":1.0}"#).json(200);
    assert_eq!(ended["promoted"][0], "a/b ü", "{ended}");
    api.post("/v1/sessions/none/end", "{}").fails(404, "not_found", "there is no session none");
    assert_eq!(api.delete(path).json(200)["forgotten"][0], "a/b ü");
    api.get(path).fails(404, "not_found", "there is no memory a/b ü");
    api.post("/v1/memories", r#"{"id":"a/b ü","content":"tabs"}"#).fails(
        409,
        "conflict",
        "forgotten on request",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_repeated_after_its_memory_was_forgotten_does_not_bring_it_back() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let made = api.once("r1", "/v1/memories", r#"{"content":"x"}"#).json(201);
    api.delete(&format!("/v1/memories/{}", made["id"].as_str().unwrap())).json(200);
    api.once("r1", "/v1/memories", r#"{"content":"x"}"#).fails(409, "conflict", "forgotten on request");
    assert_eq!(db.client.value::<i64>("MATCH (m:Memory) RETURN count(m)").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_no_law_can_use_is_still_its_scopes_own() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    api.post("/v1/memories", r#"{"id":"m","content":"x","scope":"team"}"#).json(201);
    db.client.run("MATCH (m:Memory {id: 'm'}) SET m.energy = 0.0 / 0.0", &[]).await;
    api.get("/v1/memories/m").fails(404, "not_found", "there is no memory m");
    api.delete("/v1/memories/m").fails(404, "not_found", "there is no memory m");
    assert_eq!(api.get("/v1/memories/m?scope=team").json(200)["content"], "x");
    db.client.run("MATCH (m:Memory {id: 'm'}) SET m.scope = 7", &[]).await;
    let made = ebb(&db, &["key", "create", "--name", "k", "--right", "admin", "--scope", "local"]).json();
    let bearer = format!("Bearer {}", made["secret"].as_str().unwrap());
    let path = "/v1/memories/m";
    let with_key = |method| {
        api.ask(&HttpRequest { method, path, headers: vec![("Authorization", bearer.as_str())], body: None })
    };
    eventually("the key is known", async || with_key("GET").status != 401).await;
    for method in ["GET", "DELETE"] {
        with_key(method).fails(404, "not_found", "there is no memory m");
    }
    ebb(&db, &["memory", "show", "m"]).fails(1, "there is no memory m");
    ebb(&db, &["job", "run", "decay", "--at", "+1h", "--yes"]).json();
    let aside: Value = ebb(&db, &["inspect", "quarantine"]).json();
    assert!(aside.to_string().contains("scope is not text"), "in no scope it is the doctor's: {aside}");
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_and_pages_of_memories() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let many: Vec<String> =
        (0..12).map(|n| format!(r#"{{"id":"m{n:02}","content":"c{n}","session":"s"}}"#)).collect();
    let told = api.post("/v1/memories:batch", &format!("[{}]", many.join(","))).json(200);
    assert_eq!(told["memories"][11], serde_json::json!({"id": "m11", "did": "created"}));
    let used =
        api.post("/v1/accesses:batch", r#"[{"id":"m00"},{"id":"m01","session":"t"},{"id":"m00"}]"#).json(200);
    assert_eq!(used["memories"].as_array().unwrap().len(), 3);
    assert_eq!(api.get("/v1/memories/m00").json(200)["accessCount"], 3);
    api.post("/v1/accesses:batch", r#"[{"id":"m02"},{"id":"none"}]"#).fails(
        404,
        "not_found",
        "[1]: there is no memory none; nothing of the batch was written",
    );
    assert_eq!(api.get("/v1/memories/m02").json(200)["accessCount"], 1, "all or none");
    let first = api.get("/v1/memories?limit=5&tier=working&session=s");
    assert_eq!(first.json(200)["memories"].as_array().unwrap().len(), 5);
    let next = first.header("link").unwrap().trim_start_matches('<').split('>').next().unwrap().to_owned();
    assert_eq!(api.get(&next).json(200)["memories"][0]["id"], "m05");
    assert!(api.get("/v1/memories?limit=12").header("link").is_none());
    api.get("/v1/memories?tier=old").fails(400, "validation", "tier: unknown variant `old`");
    api.post("/v1/memories", r#"{"content":"  "}"#).fails(400, "validation", "is empty");
    api.post("/v1/memories", r#"{"content":"x","embedding":[1.0]}"#).fails(400, "validation", "embedding");
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_status_health_attempts_and_the_document() {
    let db = fresh().await;
    let mut api = TestServer::on(&db, &[]);
    api.post("/v1/memories", r#"{"id":"m","content":"x","at":"2026-01-01T00:00:00Z"}"#).json(201);
    let run = api.post("/v1/jobs/decay/run", r#"{"at":"2026-01-02T00:00:00Z","dry_run":true}"#).json(200);
    assert_eq!((&run["expired"], &run["dry_run"]), (&1.into(), &true.into()), "{run}");
    let run = api.once("run-1", "/v1/jobs/decay/run", r#"{"at":"2026-01-02T00:00:00Z"}"#).json(200);
    assert_eq!((&run["expired"], &run["outcome"]), (&1.into(), &"done".into()), "{run}");
    let again = api.once("run-1", "/v1/jobs/decay/run", r#"{"at":"2026-01-02T00:00:00Z"}"#).json(200);
    assert_eq!((&again["run_id"], &again["expired"]), (&run["run_id"], &1.into()), "once: {again}");
    api.post("/v1/jobs/tidy/run", "{}").fails(404, "not_found", "there is no job tidy; there are audit");
    assert!(api.get("/v1/jobs").json(200)["jobs"].as_array().unwrap().iter().any(|job| job["job"] == "fade"));
    assert_eq!(api.get("/v1/status").json(200)["tiers"][0]["tier"], "expiredWorking");
    assert_eq!(api.get("/v1/health?at=2026-01-02T00:00:00Z").json(200)["stuck_attempts"], 0);
    assert!(api.get("/v1/attempts?all=true").json(200)["attempts"].is_array());
    let document = api.get("/openapi.json").json(200);
    assert!(document["paths"]["/memory/graph/decay"]["post"].is_object());
    assert!(api.get("/metrics").body.contains("ebb_http_responses_total{status=\"2xx\"}"));
    assert_eq!(api.get("/healthz").body, "ok\n");
    assert!(api.stop(), "{}", api.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_does_the_jobs_and_answers_on_one_port() {
    let db = fresh().await;
    let mut api = TestServer::with_roles(&db, "worker,http", &[]);
    api.post("/v1/memories", r#"{"content":"x"}"#).json(201);
    let ran = || api.get("/metrics").body.contains("ebb_runs_total{job=\"promote\",outcome=\"done\"} 1");
    eventually("a job has run", async || ran()).await;
    assert!(api.stop(), "{}", api.log());
    // What was under way is left to whoever comes next.
    assert!(db.store.open_runs().await.unwrap().iter().all(|run| run.holder.is_none()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_port_that_other_machines_reach_names_no_scope() {
    let db = fresh().await;
    let port = crate::worker::process::free_port();
    let address = format!("0.0.0.0:{port}");
    let api = TestServer::with_roles(&db, "worker,http", &[("EBB__WORKER__LISTEN", &address)]);
    let scope = "ebb_mirror_nodes{scope=\"local\"}";
    eventually("the mirror is loaded", async || api.get("/metrics").body.contains(scope)).await;
    let page = |path: &str| {
        let mut answer = ureq::get(format!("http://127.0.0.1:{port}{path}")).call().unwrap();
        answer.body_mut().read_to_string().unwrap()
    };
    assert_eq!((page("/healthz"), page("/readyz")), ("ok\n".to_owned(), "ready\n".to_owned()));
    let metrics = page("/metrics");
    assert!(metrics.contains("\nebb_ready 1\n") && !metrics.contains("scope="), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_was_not_prepared_is_written_to_by_nobody() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    db.client.run("MATCH (m:EbbMigration) DELETE m", &[]).await;
    api.post("/v1/memories", r#"{"content":"x"}"#).fails(
        503,
        "unavailable",
        "cannot use the database as it is",
    );
    assert_eq!(db.client.value::<i64>("MATCH (m:Memory) RETURN count(m)").await, 0);
}
