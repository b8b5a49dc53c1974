//! The neighbourhood of nodes, the course of an energy, and the history of jobs: what the status page draws.

use super::TestServer;
use crate::harness::neo4j::fresh;
use serde_json::Value;

fn ids(answer: &Value) -> Vec<&str> {
    answer["nodes"].as_array().unwrap().iter().map(|node| node["id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_nodes_around_a_node_are_the_nearest_with_their_energies() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    for (id, mentions) in [("a", r#"["Ada"]"#), ("b", r#"["Ada","Bo"]"#), ("c", r#"["Bo"]"#), ("far", "[]")] {
        let body =
            format!(r#"{{"id":"{id}","content":"x","mentions":{mentions},"at":"2026-01-01T00:00:00Z"}}"#);
        api.post("/v1/memories", &body).json(201);
    }
    api.post("/v1/mirror/refresh", "").json(200);
    let around = |body: &str| api.post("/v1/engine/around", body).json(200);

    let found = around(r#"{"ids":["a"],"depth":1,"at":"2026-01-01T00:00:00Z"}"#);
    assert_eq!(ids(&found), ["a", "Ada"]);
    assert_eq!((&found["nodes"][0]["energy"], &found["nodes"][0]["tier"]), (&1.0.into(), &"working".into()));
    assert_eq!((&found["nodes"][1]["energy"], &found["nodes"][1]["kind"]), (&Value::Null, &"Entity".into()));
    let edges = found["edges"].as_array().unwrap();
    assert_eq!(edges.len(), 1, "once, though it holds in both directions: {edges:?}");
    assert_eq!(edges[0]["type"], "MENTIONS");
    assert_eq!(found["truncated"], false);

    let later = around(r#"{"ids":["a"],"depth":1,"at":"2026-01-01T08:00:00Z"}"#);
    assert!(later["nodes"][0]["energy"].as_f64().unwrap() < 1.0, "{later}");
    let before = around(r#"{"ids":["a"],"depth":1,"at":"2025-12-31T00:00:00Z"}"#);
    assert_eq!(before["nodes"][0]["energy"], Value::Null, "nothing is known of the time before");

    let hops: Vec<(String, i64)> = around(r#"{"ids":["a"],"depth":3}"#)["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| (node["id"].as_str().unwrap().to_owned(), node["hops"].as_i64().unwrap()))
        .collect();
    let expected = [("a", 0), ("Ada", 1), ("b", 2), ("Bo", 3)].map(|(id, hops)| (id.to_owned(), hops));
    assert_eq!(hops, expected);

    let several = around(r#"{"ids":["a","far","a","none"],"depth":0}"#);
    assert_eq!((ids(&several), &several["edges"]), (vec!["a", "far"], &Value::Array(Vec::new())));
    assert_eq!(several["unknown_seeds"], serde_json::json!(["none"]));
    let cut = around(r#"{"ids":["Ada"],"limit":2}"#);
    assert_eq!((ids(&cut).len(), &cut["truncated"]), (2, &true.into()));
    assert_eq!(cut["flags"], serde_json::json!(["nodes_truncated"]));

    for (body, why) in [
        (r#"{"ids":[]}"#, "ids"),
        (r#"{"ids":["a"],"limit":201}"#, "limit"),
        (r#"{"ids":["a"],"depth":4}"#, "depth is 4; it must be 0 to 3"),
    ] {
        api.post("/v1/engine/around", body).fails(400, "validation", why);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_course_of_an_energy_falls_between_accesses_and_jumps_at_each() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let write = |path: &str, body: &str| assert!(api.post(path, body).status < 300, "{path}");
    write("/v1/memories", r#"{"id":"m","content":"x","at":"2026-01-01T00:00:00Z"}"#);
    for hour in ["02", "05"] {
        let body = format!(r#"{{"session":"s{hour}","at":"2026-01-01T{hour}:00:00Z"}}"#);
        write("/v1/memories/m/access", &body);
    }
    let explained = api.get("/v1/memories/m/explain?curve=true&at=2026-01-01T06:00:00Z").json(200);
    let names: Vec<&str> = explained["curve"]["thresholds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|level| level["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["promotion", "expiry"]);
    let past = explained["curve"]["past"].as_array().unwrap();
    let energy = |point: &Value| point["energy"].as_f64().unwrap();
    let ends = |stretch: &Value| {
        let points = stretch.as_array().unwrap();
        (energy(&points[0]), energy(&points[points.len() - 1]))
    };
    let first = ends(&past[0]);
    assert!(first.0 > first.1, "it falls: {first:?}");
    assert!((ends(&past[1]).0 - first.1 - 1.0).abs() < 1e-9, "an access adds one");
    let ahead = explained["curve"]["ahead"].as_array().unwrap();
    assert_eq!(ahead[0]["at"], "2026-01-01T05:00:00.000Z");
    assert!(energy(&ahead[0]) > energy(&ahead[ahead.len() - 1]));
    assert_eq!(api.get("/v1/memories/m/explain").json(200)["curve"], Value::Null, "on request alone");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_of_jobs_is_that_of_the_ledger() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    for job in ["decay", "promote"] {
        api.post(&format!("/v1/jobs/{job}/run"), "{}").json(200);
    }
    let history = |query: &str| api.get(&format!("/v1/jobs/history{query}")).json(200);
    let jobs = |answer: &Value| -> Vec<String> {
        let runs = answer["runs"].as_array().unwrap();
        runs.iter().map(|run| run["job"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(jobs(&history("")), ["promote", "decay"]);
    assert_eq!(jobs(&history("?job=decay")), ["decay"]);
    assert_eq!(jobs(&history("?limit=1")), ["promote"]);
    assert_eq!(history("")["runs"][0]["state"], "done");
    api.get("/v1/jobs/history?job=none").fails(
        404,
        "not_found",
        "there is no job none; there are audit, decay",
    );
    api.get("/v1/jobs/history?limit=0").fails(400, "validation", "a page has 1 to 10000 items");
}
