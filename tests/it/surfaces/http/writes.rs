//! A write under an `Idempotency-Key` counts once, however often and from how many connections it is sent.

use super::Served;
use crate::harness::neo4j::fresh;

#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_counts_once() {
    let db = fresh().await;
    let api = Served::on(&db, &[]);
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
    let api = Served::on(&db, &[]);
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
    assert_eq!(db.vital("m").await.access_count, 4);
}
