//! The record of a memory as callers meet it: metadata, changes with their versions, lists and recalls by conditions, deletion
//! by conditions.

use super::ebb;
use super::http::{HttpAnswer, HttpRequest, TestServer};
use super::recall::ids;
use crate::harness::graph::{remembered, same};
use crate::harness::neo4j::{at, fresh};
use crate::harness::proxy::{Proxy, RUN};
use crate::harness::rows::{Row, row};
use ebb_core::api::duplicates::DuplicatesQuery;
use ebb_core::domain::ids::Scope;
use serde_json::{Value, json};

#[track_caller]
fn patch(api: &TestServer, id: &str, body: &Value) -> HttpAnswer {
    let (path, body) = (format!("/v1/memories/{id}"), body.to_string());
    api.ask(&HttpRequest { method: "PATCH", path: &path, headers: Vec::new(), body: Some(&body) })
}

#[track_caller]
fn found(api: &TestServer, search: &Value) -> Vec<String> {
    let answer = api.post("/v1/memories:search", &search.to_string()).json(200);
    let id = |memory: &Value| memory["id"].as_str().unwrap().to_owned();
    answer["memories"].as_array().unwrap().iter().map(id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn updates() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let made = json!({"id": "m", "content": "prefers tabs", "tags": ["style"], "session": "s",
        "metadata": {"topic": "editor", "year": 2024, "draft": true, "user": {"name": "Ada", "age": 31}}});
    let made = api.post("/v1/memories", &made.to_string()).json(201);
    assert_eq!(made["metadata"]["user"]["age"], 31, "{made}");
    assert_eq!(made["updated"], Value::Null);

    // Nothing changes, so nothing is written.
    let before = remembered(&db.client).await;
    let same_again =
        json!({"content": "prefers tabs", "tags": ["style"], "metadata": {"year": 2024, "none": null}});
    let unchanged = patch(&api, "m", &same_again).json(200);
    assert_eq!((&unchanged["updated"], &unchanged["metadata"]), (&Value::Null, &made["metadata"]));
    same(&before, &remembered(&db.client).await, "an update that changes nothing");
    assert_eq!(api.get("/v1/memories/m/versions").json(200)["versions"], json!([]));

    let change = json!({"content": "prefers spaces", "tags": ["style", "code"],
        "metadata": {"draft": null, "user": {"age": 32}, "topic": "code"}});
    let changed = patch(&api, "m", &change).json(200);
    assert_eq!(changed["content"], "prefers spaces");
    assert_eq!(changed["tags"], json!(["code", "style"]));
    assert_eq!(
        changed["metadata"],
        json!({"topic": "code", "year": 2024, "user": {"name": "Ada", "age": 32}})
    );
    assert_eq!(changed["accessCount"], made["accessCount"], "a change is no access");
    assert_eq!(changed["energyAt"], made["energyAt"]);
    assert!(changed["updated"].as_str().unwrap() >= made["created"].as_str().unwrap());
    let versions = api.get("/v1/memories/m/versions").json(200)["versions"].clone();
    assert_eq!(versions[0]["content"], "prefers tabs");
    assert_eq!(versions[0]["tags"], json!(["style"]));
    assert_eq!(versions[0]["metadata"], made["metadata"]);
    assert_eq!((&versions[0]["since"], &versions[0]["until"]), (&made["created"], &changed["updated"]));

    // The mirror that the process holds follows.
    let body = json!({"text": "spaces", "at_least": changed["change"], "wait_ms": 5_000,
        "metadata": {"topic": "code"}});
    let hit = api.post("/v1/recall", &body.to_string()).json(200)["hits"][0].clone();
    assert_eq!((&hit["content"], &hit["metadata"]), (&changed["content"], &changed["metadata"]));
    let explained = api.get("/v1/memories/m/explain").json(200);
    assert!(
        explained["history"].as_array().unwrap().iter().any(|event| event["what"] == "changed"),
        "{explained}"
    );

    // Stored again under its new content, it keeps its own fields and gets the new ones.
    let again =
        json!({"id": "m", "content": "prefers spaces", "metadata": {"topic": "other", "more": [1, 2]}});
    let again = api.post("/v1/memories", &again.to_string()).json(200);
    assert_eq!((&again["metadata"]["topic"], &again["metadata"]["more"]), (&json!("code"), &json!([1, 2])));
    let other = api.post("/v1/memories", r#"{"id": "m", "content": "prefers tabs"}"#).json(409);
    assert!(
        other["detail"].as_str().unwrap().contains("ebb memory update, PATCH /v1/memories/{id}"),
        "{other}"
    );

    for (body, says) in [
        (json!({}), "nothing to change"),
        (json!({"content": " "}), "content"),
        (json!({"tags": [" "]}), "a tag is empty"),
        (json!({"metadata": {"a": "x".repeat(5_000)}}), "at most 4096"),
        (json!({"metadata": 7}), "metadata"),
        (json!({"embedding": [1.0]}), "embedding"),
    ] {
        let why = patch(&api, "m", &body).json(400);
        assert!(why["detail"].as_str().unwrap().contains(says), "{body}: {why}");
    }
    patch(&api, "nobody", &change).json(404);

    let shown =
        ebb(&db, &["memory", "update", "m", "--metadata", "year=2025", "--unset", "more", "--no-tags"])
            .json();
    assert_eq!((&shown["metadata"]["year"], &shown["tags"]), (&json!(2025), &Value::Null));
    let kept = ebb(&db, &["memory", "versions", "m"]).json()["versions"].as_array().unwrap().len();
    assert_eq!(kept, 2, "what was only added is not one");
    api.delete("/v1/memories/m").json(200);
    let left: i64 = db.client.value("MATCH (v:EbbVersion) RETURN count(v) AS n").await;
    assert_eq!(left, 0, "the versions are gone with the memory");
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_of_stored_again_memories_and_key_retries() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    api.post("/v1/memories", r#"{"id": "m", "content": "one"}"#).json(201);
    let once = |key: &str, content: &str| {
        let body = json!({"content": content}).to_string();
        let headers = vec![("Idempotency-Key", key)];
        api.ask(&HttpRequest { method: "PATCH", path: "/v1/memories/m", headers, body: Some(&body) })
    };
    for _ in 0..2 {
        assert_eq!(once("a", "two").json(200)["content"], "two");
    }
    once("b", "three").json(200);
    // A repeat of the first has no effect any more, and answers what is there.
    assert_eq!(once("a", "two").json(200)["content"], "three");
    once("a", "four").json(409);
    let versions = api.get("/v1/memories/m/versions").json(200)["versions"].clone();
    let contents: Vec<&str> =
        versions.as_array().unwrap().iter().map(|version| version["content"].as_str().unwrap()).collect();
    assert_eq!(contents, ["two", "one"]);
}

/// Eight memories, m0 to m7, each a day after the one before. Returns their change.
fn kettles(api: &TestServer) -> Value {
    let memory = |n: usize| {
        json!({"id": format!("m{n}"), "content": format!("Kettle {n} {}", if n.is_multiple_of(2) { "Leaks" } else { "works" }),
            "tags": if n < 3 { vec!["early"] } else { vec![] },
            "metadata": {"floor": n, "kind": if n.is_multiple_of(3) { "steel" } else { "glass" }, "when": format!("2024-0{}-01", n + 1)},
            "at": format!("2026-01-0{}T00:00:00Z", n + 1)})
    };
    let all: Vec<Value> = (0..8).map(memory).collect();
    api.post("/v1/memories:batch", &json!(all).to_string()).json(200)["change"].clone()
}

fn names(numbers: &[usize]) -> Vec<String> {
    numbers.iter().map(|n| format!("m{n}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_by_conditions() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    kettles(&api);
    let by = |filter: Value| found(&api, &json!({"filter": filter}));
    assert_eq!(by(json!({})).len(), 8);
    assert_eq!(by(json!({"tags": ["early"]})), names(&[0, 1, 2]));
    assert_eq!(by(json!({"text": "LEAKS"})), names(&[0, 2, 4, 6]));
    assert_eq!(by(json!({"metadata": {"kind": "steel", "floor": {"$gt": 0, "$lte": 6}}})), names(&[3, 6]));
    assert_eq!(by(json!({"metadata": {"when": {"$gte": "2024-07"}}})), names(&[6, 7]));
    assert_eq!(by(json!({"metadata": {"none": null}, "tags": ["early"], "text": "works"})), names(&[1]));
    let window = json!({"created_since": "2026-01-02T00:00:00Z", "created_before": "2026-01-04T00:00:00Z"});
    assert_eq!(by(window.clone()), names(&[1, 2]));
    assert_eq!(found(&api, &json!({"filter": window, "sort": "newest"})), names(&[2, 1]));

    // Page by page, in either order.
    for (sort, wanted) in [("id", [0, 1, 2, 3, 4, 5, 6, 7]), ("newest", [7, 6, 5, 4, 3, 2, 1, 0])] {
        let (mut paged, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let body = json!({"sort": sort, "limit": 3, "cursor": cursor, "filter": {"metadata": {"floor": {"$gte": 0}}}});
            let page = api.post("/v1/memories:search", &body.to_string()).json(200);
            paged.extend(
                page["memories"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()),
            );
            cursor = page["cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(paged, names(&wanted), "{sort}");
    }
    let typed =
        ebb(&db, &["memory", "list", "--where", "floor>=5", "--where", "kind=glass", "--newest"]).json();
    let typed: Vec<&str> =
        typed["memories"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(typed, ["m7", "m5"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn recalls_by_conditions() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let change = kettles(&api);
    // A recall under conditions finds what they let through, and nothing else.
    let recall = |mut body: Value| {
        (body["at_least"], body["wait_ms"]) = (change.clone(), json!(5_000));
        let answer = api.post("/v1/recall", &body.to_string()).json(200);
        ids(&answer).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    let steel = json!({"text": "kettle", "metadata": {"kind": "steel"}});
    assert_eq!(sorted(recall(steel)), names(&[0, 3, 6]));
    assert_eq!(
        sorted(recall(json!({"text": "kettle", "tags": ["early"], "metadata": {"floor": {"$gte": 1}}}))),
        names(&[1, 2])
    );
    for (body, says) in [
        (json!({"text": "kettle", "kinds": ["Memry"]}), "the kinds are File, "),
        (json!({"text": "kettle", "tiers": ["wroking"]}), "`working`"),
        (json!({"text": "kettle", "metadata": {"a": []}}), "the condition on a"),
    ] {
        let why = api.post("/v1/recall", &body.to_string()).json(400);
        assert!(why["detail"].as_str().unwrap().contains(says), "{body}: {why}");
    }
    for (body, says) in [
        (json!({"filter": {"metadata": {"a": []}}}), "the condition on a"),
        (json!({"filter": {"metadata": {"a": {"gte": 1}}}}), "$gte"),
        (json!({"filter": {"nothing": 1}}), "nothing"),
        (json!({"filter": {"text": " "}}), "filter.text is empty"),
        (json!({"filter": {"tags": [""]}}), "filter.tags is empty"),
        (json!({"limit": 0}), "limit"),
        (json!({"sort": "newest", "cursor": "x"}), "cursor"),
        (json!({"sort": "newest", "cursor": "1767225600.7@Nowhere/Else@m"}), "cursor"),
    ] {
        let why = api.post("/v1/memories:search", &body.to_string()).json(400);
        assert!(why["detail"].as_str().unwrap().contains(says), "{body}: {why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deletions_by_conditions() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    kettles(&api);
    let by = |filter: Value| found(&api, &json!({"filter": filter}));
    // Deletion: counted first, once per key, and never of everything.
    let forget = |body: Value| api.post("/v1/memories:forget", &body.to_string());
    let floors = json!({"metadata": {"floor": {"$lt": 2}}});
    let counted = forget(json!({"filter": floors, "dry_run": true})).json(200);
    assert_eq!(
        (&counted["memories"], &counted["left"], &counted["dry_run"]),
        (&json!(2), &json!(0), &json!(true))
    );
    assert_eq!(by(json!({})).len(), 8);
    let body = json!({"filter": floors}).to_string();
    for _ in 0..2 {
        let done = api.once("gone", "/v1/memories:forget", &body).json(200);
        assert_eq!((&done["memories"], &done["left"]), (&json!(2), &json!(0)), "{done}");
    }
    assert_eq!(by(json!({})), names(&[2, 3, 4, 5, 6, 7]));
    forget(json!({"filter": {}})).json(400);
    let more: Vec<Value> =
        (0..60).map(|n| json!({"id": format!("x{n}"), "content": "x", "tags": ["many"]})).collect();
    api.post("/v1/memories:batch", &json!(more).to_string()).json(200);
    let stopped = forget(json!({"filter": {"tags": ["many"]}})).json(409);
    assert!(stopped["detail"].as_str().unwrap().contains("60 of 66"), "{stopped}");
    let done = forget(json!({"filter": {"tags": ["many"]}, "accept_affected": 60})).json(200);
    assert_eq!((&done["memories"], &done["left"]), (&json!(60), &json!(0)));
    let typed = ebb(&db, &["memory", "forget", "--where", "kind=glass", "--yes"]).json();
    assert_eq!((&typed["memories"], by(json!({}))), (&json!(4), names(&[3, 6])));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_for_duplicates_reads_no_expired_memory() {
    let mut db = fresh().await;
    let proxy = Proxy::before(&db.config.uri).await;
    db.config.uri = proxy.uri();
    let service = db.service("[]");
    let statements = async || {
        let before = proxy.seen(RUN);
        let query = DuplicatesQuery::default();
        let found = service.duplicates(&Scope::local(), &query, at(1.0)).await.unwrap();
        assert_eq!((found.compared, found.complete), (2, true));
        proxy.seen(RUN) - before
    };
    db.put(&[row("a", "working", 1.0), row("z", "longTerm", 9.0)]).await;
    let few = statements().await;
    // Ten pages of a list, each of which takes two statements.
    let expired: Vec<Row> = (0..5_000).map(|n| row(&format!("e{n}"), "expiredWorking", 0.05)).collect();
    db.put(&expired).await;
    let now = statements().await;
    assert!(now < few + 10, "{now} statements, before {few}");
}

#[tokio::test(flavor = "multi_thread")]
async fn duplicates_are_found_and_merged_on_request() {
    let db = fresh().await;
    let api = TestServer::on(&db, &[]);
    let add = |id: &str, scope: &str, content: &str, tag: &str, mention: &str| {
        let body = json!({"id": id, "content": content, "scope": scope, "tags": [tag], "mentions": [mention],
            "metadata": {"by": id, tag: 1}});
        api.post("/v1/memories", &body.to_string()).json(201)
    };
    add("tea", "local", "Ann prefers green tea in the morning, with honey", "drinks", "Ann");
    let twin = add("tea-2", "local", "ann prefers green tea in the morning with honey", "habit", "Honey");
    add("no-tea", "local", "Ann does not prefer green tea in the morning", "drinks", "Ann");
    add("tea-3", "team", "Ann prefers green tea in the morning, with honey", "drinks", "Ann");
    api.post("/v1/memories/tea/access", "{}").json(200);
    let found = api.get("/v1/duplicates").json(200);
    assert_eq!(
        (&found["found"], &found["compared"], &found["complete"]),
        (&json!(1), &json!(3), &json!(true))
    );
    let group = &found["groups"][0];
    assert_eq!((&group["keep"], &group["duplicates"][0]["id"]), (&json!("tea"), &json!("tea-2")), "{found}");
    assert_eq!(
        (&group["duplicates"][0]["similarity"], &group["duplicates"][0]["content"]),
        (&json!(1.0), &twin["content"])
    );
    assert_eq!(
        api.get("/v1/duplicates?min_similarity=0.3").json(200)["groups"][0]["duplicates"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    for (query, says) in [("min_similarity=0.2", "min_similarity is 0.2"), ("limit=0", "limit is 0")] {
        api.get(&format!("/v1/duplicates?{query}")).fails(400, "validation", says);
    }

    let merge = |duplicates: Value, dry_run: bool| {
        api.post("/v1/memories/tea/merge", &json!({"duplicates": duplicates, "dry_run": dry_run}).to_string())
    };
    for (duplicates, status, code, says) in [
        (json!([]), 400, "validation", "0 duplicates"),
        (json!(["tea"]), 400, "validation", "memory tea is named twice"),
        (json!(["tea-2", "tea-2"]), 400, "validation", "memory tea-2 is named twice"),
        (json!(["tea-3"]), 404, "not_found", "tea-3"),
    ] {
        merge(duplicates, false).fails(status, code, says);
    }
    let before = remembered(&db.client).await;
    assert_eq!(merge(json!(["tea-2"]), true).json(200)["dry_run"], true);
    same(&before, &remembered(&db.client).await, "a dry run");

    let body = json!({"duplicates": ["tea-2"]}).to_string();
    let merged = api.once("merge", "/v1/memories/tea/merge", &body).json(200);
    assert_eq!(
        (&merged["accessCount"], &merged["tags"]),
        (&json!(3), &json!(["drinks", "habit"])),
        "{merged}"
    );
    assert_eq!(merged["metadata"], json!({"by": "tea", "drinks": 1, "habit": 1}));
    assert!((merged["energy"].as_f64().unwrap() - 3.0).abs() < 0.01, "{merged}");
    let mentions =
        "MATCH (:Memory {scope: 'local', id: 'tea'})-[:MENTIONS]->(e) RETURN e.name AS name ORDER BY name";
    assert_eq!(db.client.column::<String>(mentions).await, ["Ann", "Honey"]);
    let versions = api.get("/v1/memories/tea/versions").json(200)["versions"].clone();
    assert_eq!((&versions[0]["content"], &versions[0]["merged_from"]), (&twin["content"], &json!("tea-2")));
    // A repeated request changes nothing, and the id does not come back.
    let after = remembered(&db.client).await;
    assert_eq!(api.once("merge", "/v1/memories/tea/merge", &body).json(200)["accessCount"], 3);
    same(&after, &remembered(&db.client).await, "a repeated request");
    api.get("/v1/memories/tea-2").fails(404, "not_found", "tea-2");
    assert_eq!(api.get("/v1/duplicates").json(200)["groups"], json!([]));
    assert_eq!(api.get("/v1/memories/tea-3?scope=team").json(200)["accessCount"], 1);
    let ask = json!({"text": "honey", "at_least": merged["change"], "wait_ms": 5_000}).to_string();
    let recalled = api.post("/v1/recall", &ask).json(200);
    let hits = ids(&recalled);
    assert_eq!(hits[0], "tea");
    assert!(!hits.contains(&"tea-2"), "{hits:?}");

    let listed = ebb(&db, &["memory", "duplicates", "--min-similarity", "0.3", "-o", "table"]).out;
    assert!(
        listed.contains("ebb memory merge tea no-tea") && listed.contains("1 groups among 2 memories"),
        "{listed}"
    );
    ebb(&db, &["memory", "merge", "tea", "no-tea", "--yes"]).json();
    ebb(&db, &["memory", "show", "no-tea"]).fails(1, "no-tea");
}

/// The server orders equal instants by their zones, and memories of other writers keep the zone that they were given.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_the_newest_passes_each_memory_once_whatever_their_zones() {
    let db = fresh().await;
    let create = "UNWIND ['Z', '+02:00', '-05:00', 'Europe/Berlin'] AS zone UNWIND range(1, 3) AS n
        CREATE (:Memory {id: zone + n, content: 'x', tier: 'working', energy: 1.0,
            created: datetime({epochSeconds: 1767225600, nanosecond: 7, timezone: zone})})";
    db.client.run(create, &[]).await;
    ebb(&db, &["job", "run", "decay", "--at", "2026-01-01T01:00:00Z"]).json();
    let api = TestServer::on(&db, &[]);
    for limit in [1, 2, 5] {
        let (mut paged, mut cursor) = (Vec::new(), Value::Null);
        while paged.len() < 20 {
            let body = json!({"sort": "newest", "limit": limit, "cursor": cursor});
            let page = api.post("/v1/memories:search", &body.to_string()).json(200);
            let ids = page["memories"].as_array().unwrap().iter();
            paged.extend(ids.map(|one| one["id"].as_str().unwrap().to_owned()));
            cursor = page["cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        paged.sort();
        let count = paged.len();
        paged.dedup();
        assert_eq!((count, paged.len()), (12, 12), "limit {limit}: {paged:?}");
    }
}
