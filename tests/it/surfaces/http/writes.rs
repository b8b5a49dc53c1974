//! A write under an `Idempotency-Key` counts once, however often and from how many connections it is sent.

use super::{HttpRequest, TestServer};
use crate::harness::neo4j::fresh;
use crate::surfaces::ebb;
use crate::worker::process::eventually;

#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_counts_once() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let made = api.once("k1", "/v1/memories", r#"{"content":"tabs"}"#).json(201);
    let again = api.once("k1", "/v1/memories", r#"{"content":"tabs"}"#).json(201);
    assert_eq!(made["id"], again["id"], "a memory without an id gets the same one");
    assert_eq!(again["accessCount"], 1);
    api.once("k1", "/v1/memories", r#"{"content":"spaces"}"#).fails(
        409,
        "conflict",
        "used for another request",
    );
    let id = made["id"].as_str().unwrap();
    let path = format!("/v1/memories/{id}/access");
    api.once("k2", &path, "{}").json(200);
    api.once("k2", &path, "{}").json(200);
    assert_eq!(api.get(&format!("/v1/memories/{id}")).json(200)["accessCount"], 2);
    let seen = r#"{"from":"a","to":"b","type":"t"}"#;
    api.once("k3", "/memory/graph/edges", seen).json(201);
    api.once("k3", "/memory/graph/edges", seen).json(201);
    api.once("k3", "/memory/graph/edges", r#"{"from":"a","to":"c","type":"t"}"#).fails(409, "conflict", "k3");
    api.once("k2", "/memory/graph/edges", seen).fails(409, "conflict", "k2");
    api.once(&"x".repeat(256), &path, "{}").fails(400, "validation", "Idempotency-Key");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_race_count_once() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    api.post("/v1/memories", r#"{"id":"m","content":"x"}"#).json(201);
    std::thread::scope(|scope| {
        for n in 0..24 {
            let api = &api;
            scope.spawn(move || {
                let key = format!("race-{}", n % 3);
                api.once(&key, "/v1/memories/m/access", "{}").json(200);
            });
        }
    });
    assert_eq!(api.get("/v1/memories/m").json(200)["accessCount"], 4, "one and three");
    assert_eq!(db.state("m").await.access_count, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_yesterday_is_another_request_and_names_nothing_of_it() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let one = |content: &str| api.once("k", "/v1/memories", &format!(r#"{{"content":"{content}"}}"#));
    let ids = |content: &str| {
        let all =
            format!(r#"[{{"content":"{content} 1"}},{{"content":"{content} 2","id":"own-{content}"}}]"#);
        let done = api.once("b", "/v1/memories:batch", &all).json(200);
        [0, 1].map(|n| done["memories"][n]["id"].as_str().unwrap().to_owned())
    };
    let first = one("tabs").json(201);
    assert_eq!(one("tabs").json(201)["id"], first["id"]);
    let batch = ids("a");
    assert_eq!(ids("a"), batch);
    assert_eq!(batch[1], "own-a", "a name that was chosen stays");
    // A day later nothing is known of the requests; the memories stay.
    assert_eq!(db.client.value::<i64>("MATCH (r:EbbRequest) DELETE r RETURN count(*)").await, 2);
    let other = one("spaces").json(201);
    assert_ne!(other["id"], first["id"], "the id of a memory that nobody chose");
    assert_eq!(other["content"], "spaces");
    let later = ids("b");
    assert_ne!(later[0], batch[0]);
    db.client.run("MATCH (r:EbbRequest) DELETE r", &[]).await;
    let same = one("tabs").json(201);
    assert!(same["id"] != first["id"] && same["accessCount"] == 1, "{same} is none of {first}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_run_of_a_job_succeeds_only_if_the_first_did_and_is_the_same() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let run = |key: &str, body: &str| api.once(key, "/v1/jobs/decay/run", body);
    let first = run("k1", r#"{"limit":1}"#).json(200);
    assert_eq!(run("k1", r#"{"limit":1}"#).json(200)["run_id"], first["run_id"]);
    run("k1", "{}").fails(409, "conflict", "used for another request");
    let memory = r#"{"id":"m","content":"tabs"}"#;
    api.once("k1", "/v1/memories", memory).fails(409, "conflict", "used for another request");
    api.get("/v1/memories/m").fails(404, "not_found", "m");
    let repeated = run("k1", r#"{"limit":1}"#).json(200);
    assert_eq!((&repeated["run_id"], &repeated["outcome"]), (&first["run_id"], &first["outcome"]));
    // A request that was opened by Ebb 0.1, whose hashes cannot be compared.
    let open =
        format!("CREATE (:EbbRequest {{id: 'k0', hash: '{}', by: 'x', at: datetime()}})", "0f".repeat(32));
    db.client.run(&open, &[]).await;
    api.once("k0", "/v1/memories", memory).json(201);
    api.once("k1", "/v1/jobs/promote/run", r#"{"limit":1}"#).fails(409, "conflict", "k1");
    run("k2", "{}").json(200);
    let failed = "MATCH (r:EbbRun {job: 'decay'}) WHERE r.id <> '_' SET r.state = 'failed', r.reason = 'the disk is full'";
    db.client.run(&failed.replace('_', first["run_id"].as_str().unwrap()), &[]).await;
    run("k2", "{}").fails(409, "conflict", "is failed: the disk is full. To run the job again, choose a new");
    assert_eq!(run("k1", r#"{"limit":1}"#).json(200)["outcome"], "done", "another run failed");
    assert_eq!(run("k3", "{}").json(200)["outcome"], "done");

    for (path, other) in [("/v1/trails/evaporate", r#"{"force":true}"#), ("/memory/graph/decay", "")] {
        let key = format!("of {path}").replace(' ', "-");
        api.once(&key, path, "{}").json(200);
        db.client.run("MATCH (r:EbbRun) SET r.state = 'failed', r.reason = 'the disk is full'", &[]).await;
        api.once(&key, path, "{}").fails(409, "conflict", "is failed: the disk is full");
        if !other.is_empty() {
            api.once(&key, path, other).fails(409, "conflict", "used for another request");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_write_leaves_says_who_asked_for_it() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    api.once("k", "/v1/memories", r#"{"id":"m1","content":"x"}"#).json(201);
    let key = ebb(&db, &["key", "create", "--name", "a", "--right", "write", "--scope", "*"]).json();
    let bearer = format!("Bearer {}", key["secret"].as_str().unwrap());
    eventually("the key counts", async || api.get("/v1/memories").status == 401).await;
    let by_key = api.ask(&HttpRequest {
        method: "POST",
        path: "/v1/memories",
        headers: vec![("authorization", &bearer)],
        body: Some(r#"{"id":"m2","content":"y"}"#),
    });
    by_key.json(201);
    ebb(&db, &["memory", "add", "z", "--id", "m3"]).json();
    ebb(&db, &["fact", "assert", "a", "b", "c"]).json();
    let key = key["id"].as_str().unwrap();
    let left: Vec<String> = db
        .client
        .column(
            "MATCH (c:EbbChange) WHERE c.labels[0] IN ['Memory', 'Entity'] WITH c ORDER BY c.at RETURN c.by",
        )
        .await;
    assert_eq!(left, ["anonymous", key, "cli", "cli"]);
    let asked: Vec<String> = db.client.column("MATCH (r:EbbRequest) WITH r ORDER BY r.at RETURN r.by").await;
    assert_eq!(asked, left);
    let shown = ebb(&db, &["inspect", "changes"]).json();
    assert_eq!((&shown["rows"][0]["by"], &shown["rows"][2]["by"]), (&"cli".into(), &key.into()), "{shown}");
}
