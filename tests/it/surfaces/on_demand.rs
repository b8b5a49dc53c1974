//! Scopes that no setting names: each is loaded by its first recall, kept up to date while it is in use, and dropped when memory is
//! needed.

use super::ebb;
use super::http::TestServer;
use crate::harness::neo4j::fresh;
use crate::worker::process::eventually;
use serde_json::{Value, json};
use std::thread;

/// Remembers a text in a scope; returns the answer.
fn remember(api: &TestServer, scope: &str, id: &str, text: &str) -> Value {
    let body = json!({"id": id, "content": text, "scope": scope}).to_string();
    api.post("/v1/memories", &body).json(201)
}

/// The ids of the hits for words in a scope.
fn found(api: &TestServer, scope: &str, text: &str) -> Vec<String> {
    let body = json!({"text": text, "scope": scope}).to_string();
    hits(&api.post("/v1/recall", &body).json(200))
}

fn hits(answer: &Value) -> Vec<String> {
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
}

fn metric(api: &TestServer, name: &str) -> f64 {
    let page = api.get("/metrics").body;
    let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name} is in {page}")).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_user_has_a_scope_that_nobody_lists() {
    let db = fresh().await;
    let rarely = [("EBB__MIRROR__REFRESH", "1h"), ("EBB__MIRROR__STALENESS", "2h")];
    let (api, other) = (TestServer::on(&db, &rarely), TestServer::on(&db, &rarely));
    // The ids of users are their own.
    for user in ["ann", "bob"] {
        remember(&api, user, "tea", &format!("{user} drinks tea at noon"));
    }
    for (user, text) in [("ann", "ann drinks"), ("bob", "bob drinks")] {
        assert_eq!(found(&api, user, text), ["tea"]);
        let told = api.post("/v1/recall", &json!({"text": "tea", "scope": user}).to_string()).json(200);
        assert!(told["hits"][0]["content"].as_str().unwrap().starts_with(user), "{told}");
        assert_eq!((&told["whole"], &told["stale"]), (&json!(true), &json!(false)), "{told}");
    }
    assert_eq!(found(&api, "nobody", "tea"), [""; 0], "an empty scope is no error");

    // A reader of another process finds what was just written, changed and deleted.
    let reads = |change: &Value| {
        let body =
            json!({"text": "coffee", "scope": "ann", "at_least": change, "wait_ms": 5_000}).to_string();
        let answer = other.post("/v1/recall", &body).json(200);
        assert_eq!(answer["flags"], json!([]), "{answer}");
        hits(&answer)
    };
    assert_eq!(found(&other, "ann", "tea"), ["tea"]);
    let made = remember(&api, "ann", "coffee", "ann drinks coffee at dawn");
    assert_eq!(reads(&made["change"]), ["coffee"]);
    let gone = api.delete("/v1/memories/coffee?scope=ann").json(200);
    assert_eq!(reads(&gone["change"]), [""; 0]);
    assert_eq!(found(&api, "bob", "coffee"), [""; 0]);

    // Asking for the state of one loads nothing.
    let state = |scope: &str| api.get(&format!("/v1/mirror?scope={scope}")).json(200);
    assert_eq!((&state("ann")["loaded"], &state("carl")["loaded"]), (&json!(true), &json!(false)));
    assert_eq!(state("carl")["loaded"], false);
    assert!((metric(&api, "ebb_mirror_on_demand_scopes") - 3.0).abs() < 0.5);
    assert!(metric(&api, "ebb_mirror_on_demand_bytes") > 0.0);
    // A change by another program, told of to all processes.
    db.client.run("MATCH (m:Memory {scope: 'bob'}) SET m.content = 'bob keeps bees'", &[]).await;
    ebb(&db, &["graph", "refresh"]).json();
    eventually("it is read", async || found(&api, "bob", "bees") == ["tea"]).await;
    // What is learned there, and the last questions.
    let recalled = api.post("/v1/recall", r#"{"text":"bees","scope":"bob"}"#).json(200);
    let used = json!([{"id": recalled["hits"][0]["id"], "path": []}]);
    let outcome =
        json!({"scope": "bob", "recall_id": recalled["recall_id"], "reward": 1, "used": used}).to_string();
    let reported = api.post("/v1/outcomes", &outcome);
    assert!(reported.status < 300, "{reported:?}");
    let asked = api.get("/v1/engine/queries?scope=bob").json(200);
    assert_eq!(asked["queries"][0]["text"], "bees", "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn scopes_that_do_not_fit_beside_each_other_take_turns() {
    const SCOPES: usize = 40;
    let db = fresh().await;
    let api = TestServer::on(&db, &[("EBB__MIRROR__MAX_BYTES", "1 MiB")]);
    let scope = |n: usize| format!("user-{n}");
    for n in 0..SCOPES {
        let text = format!("the kettle of floor x{n} leaks");
        remember(&api, &scope(n), "kettle", &text);
    }
    for _ in 0..2 {
        for n in 0..SCOPES {
            assert_eq!(found(&api, &scope(n), &format!("x{n}")), ["kettle"]);
        }
    }
    let (scopes, bytes) =
        (metric(&api, "ebb_mirror_on_demand_scopes"), metric(&api, "ebb_mirror_on_demand_bytes"));
    assert!(scopes > 1.0 && scopes < 40.0 - 1.0, "{scopes} are held");
    assert!(bytes <= f64::from(1 << 19), "{bytes} of 1 MiB at rest");
    let is_loaded = |n: usize| api.get(&format!("/v1/mirror?scope={}", scope(n))).json(200)["loaded"] == true;
    assert!(is_loaded(SCOPES - 1) && !is_loaded(0), "the least recently queried go");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scope_that_many_ask_for_at_once_is_loaded_once() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    for n in 0..50 {
        remember(&api, "team", &format!("m{n}"), &format!("the kettle of floor x{n} leaks"));
    }
    thread::scope(|threads| {
        let askers: Vec<_> = (0..12)
            .map(|n| {
                threads.spawn({
                    let api = &api;
                    move || found(api, "team", &format!("x{n}")).into_iter().next()
                })
            })
            .collect();
        for (n, asker) in askers.into_iter().enumerate() {
            assert_eq!(asker.join().unwrap(), Some(format!("m{n}")));
        }
    });
    assert_eq!(api.get("/v1/mirror?scope=team").json(200)["generation"], 1);
}
