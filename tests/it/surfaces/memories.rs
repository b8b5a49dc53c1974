//! `ebb memory` and `ebb session`: golden answers, requests that are repeated, and dry runs.

use super::{contents, ebb};
use crate::harness::neo4j::fresh;
use crate::harness::rows::{Row, row};
use insta::assert_json_snapshot;

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_from_its_birth_to_its_end() {
    let db = fresh().await;
    let add =
        ["memory", "add", "the build needs JAVA_HOME", "--id", "m1", "--session", "s1", "--mention", "build"];
    let at = |args: &[&str], at: &str| ebb(&db, &[args, &["--at", at]].concat());
    assert_json_snapshot!("add", at(&add, "2026-01-01T10:00Z").golden());
    assert_json_snapshot!(
        "access",
        at(&["memory", "access", "m1", "--session", "s1"], "2026-01-01T10:30Z").golden()
    );
    assert_json_snapshot!("show", at(&["memory", "show", "m1"], "2026-01-01T11:00Z").golden());
    at(&["memory", "access", "m1", "--session", "s2"], "2026-01-01T11:00Z").json();
    assert_json_snapshot!("pin", at(&["memory", "pin", "m1"], "2026-01-01T11:10Z").golden());
    assert_json_snapshot!("unpin", at(&["memory", "unpin", "m1"], "2026-01-01T12:10Z").golden());
    ebb(&db, &["job", "run", "promote", "--at", "2026-01-01T12:20Z"]).json();
    assert_json_snapshot!("explain", at(&["memory", "explain", "m1"], "2026-01-01T13:00Z").golden());
    at(&["memory", "add", "prefers tabs", "--id", "m2"], "2026-01-01T12:00Z").json();
    assert_json_snapshot!("list", at(&["memory", "list"], "2026-01-01T13:00Z").golden());
    let working = ["memory", "list", "--tier", "working", "--tier", "longTerm", "-o", "ndjson"];
    let lines = at(&working, "2026-01-01T13:00Z").out;
    assert!(lines.starts_with(r#"{"schema":"ebb.memory.list/1","id":"m2","#) && lines.lines().count() == 1);

    ebb(&db, &["memory", "forget", "m1"]).fails(3, "--yes");
    assert_json_snapshot!("forget", ebb(&db, &["memory", "forget", "m1", "--yes"]).golden());
    ebb(&db, &["memory", "show", "m1"]).fails(1, "there is no memory m1");
    at(&add, "2026-01-02T10:00Z").fails(1, "was forgotten on request");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_content_that_is_no_text_fails_no_search_by_text() {
    let db = fresh().await;
    ebb(&db, &["memory", "add", "Prefers Tabs", "--id", "m1"]).json();
    let others = "UNWIND range(1, 3) AS i
        CREATE (m:Memory {scope: 'local', id: 'other' + i, tier: 'working', energy: 1.0, created: datetime()})
        SET m.content = CASE i WHEN 1 THEN 42 WHEN 2 THEN true END";
    db.client.run(others, &[]).await;
    for order in [&[] as &[&str], &["--newest"]] {
        let found = ebb(&db, &[&["memory", "list", "--text", "tabs"], order].concat()).json();
        let ids: Vec<_> = found["memories"].as_array().unwrap().iter().map(|row| &row["id"]).collect();
        assert_eq!(ids, ["m1"], "{order:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promotion_is_explained_however_many_sessions_came_after_it() {
    let db = fresh().await;
    // Accesses at no instant take no place of others, either.
    let used = "CREATE (m:Memory:EbbMemory {scope: 'local', id: 'm', content: 'c', tier: 'shortTerm', energy: 3.0, accessCount: 900, pinned: false,
          created: datetime('2026-01-01T00:00Z'), energyAt: datetime('2026-01-03T00:00Z'), lastAccessed: datetime('2026-01-03T00:00Z'), dueAt: datetime('2026-01-20T00:00Z')})
        CREATE (:Memory {scope: 'local', id: 'stub', tier: 'archivedWorking'})-[:PROMOTED_TO {at: datetime('2026-01-01T10:00Z'), energy: 5.5}]->(m)
        WITH m UNWIND range(1, 900) AS i
        CREATE (m)-[:ACCESSED_IN {count: 1, at: CASE WHEN i <= 450 THEN datetime('2026-01-02T00:00Z') + duration({minutes: i}) ELSE 'then' END}]->
          (:Session {scope: 'local', id: 's' + i})";
    db.client.run(used, &[]).await;
    let explain = ["memory", "explain", "m", "--at", "2026-01-03T01:00Z"];
    let explained = ebb(&db, &explain).json();
    let history = explained["history"].as_array().unwrap();
    let accesses = history.iter().filter(|event| !event["session"].is_null()).count();
    assert_eq!(accesses, 400, "the latest");
    assert!(history.iter().any(|event| event["what"] == "promoted to shortTerm"), "{explained}");
    assert!(explained["because"].as_str().unwrap().contains("promoted at 2026-01-01T10:00"), "{explained}");
    let text = ebb(&db, &[&explain[..], &["-o", "table"]].concat()).out;
    assert!(text.contains("-o json has all promotions"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_without_a_scope_has_a_history() {
    let db = fresh().await;
    let bare = "CREATE (:Memory {id: 'bare', content: 'c', tier: 'working', energy: 1.0, energyAt: datetime('2026-01-01T00:00Z'),
          lastAccessed: datetime('2026-01-01T10:00Z'), created: datetime('2026-01-01T00:00Z')})
        -[:ACCESSED_IN {at: datetime('2026-01-01T10:00Z'), count: 3}]->(:Session {scope: 'local', id: 's'})";
    db.client.run(bare, &[]).await;
    let of = |scope: &str| ebb_core::domain::ids::MemoryKey::of_row(scope, "bare");
    let history = db.store.history(&of("local")).await.unwrap();
    let found: Vec<_> = history.iter().map(|event| (event.detail.as_deref(), event.count)).collect();
    assert_eq!(found, [(Some("s"), 3)]);
    assert!(db.store.history(&of("team")).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn several_memories_are_answered_as_a_list_and_touched_all_or_none() {
    let db = fresh().await;
    for id in ["a", "b"] {
        ebb(&db, &["memory", "add", id, "--id", id, "--at", "2026-01-01T10:00Z"]).json();
    }
    let both = ebb(&db, &["memory", "access", "b", "a", "--at", "2026-01-01T10:00Z"]).json();
    assert_eq!((&both["memories"][0]["id"], &both["memories"][1]["energy"]), (&"b".into(), &2.0.into()));
    let before = contents(&db).await;
    for verb in ["access", "pin", "forget"] {
        ebb(&db, &["memory", verb, "a", "nobody", "--yes"]).fails(1, "there is no memory nobody");
    }
    assert_eq!(contents(&db).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_crosses_scopes() {
    let db = fresh().await;
    ebb(&db, &["--scope", "team", "memory", "add", "ours", "--id", "a"]).json();
    for args in [
        ["memory", "show", "a"].as_slice(),
        &["memory", "explain", "a"],
        &["memory", "access", "a"],
        &["memory", "pin", "a"],
        &["memory", "forget", "a", "--yes"],
        &["plot", "energy", "a"],
    ] {
        ebb(&db, args).fails(1, "there is no memory a");
    }
    assert_eq!(ebb(&db, &["memory", "list"]).json()["memories"], serde_json::json!([]));
    ebb(&db, &["memory", "add", "mine", "--id", "a"]).json();
    ebb(&db, &["memory", "access", "a"]).json();
    let content = |args: &[&str]| ebb(&db, args).json()["content"].clone();
    assert_eq!(content(&["memory", "show", "a"]), "mine", "the same id is another memory here");
    assert_eq!(content(&["memory", "show", "a", "--scope", "team"]), "ours");
    assert_eq!(ebb(&db, &["memory", "show", "a", "--scope", "team"]).json()["accessCount"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_that_are_printed_quote_ids() {
    let db = fresh().await;
    let content = "Ann prefers green tea in the morning, with honey";
    for id in ["tea (1)", "tea; 2"] {
        ebb(&db, &["memory", "add", content, "--id", id]).json();
    }
    ebb(&db, &["memory", "access", "tea (1)"]).json();
    let duplicates = ebb(&db, &["memory", "duplicates", "-o", "table"]).out;
    assert!(duplicates.contains("  ebb memory merge 'tea (1)' 'tea; 2'\n"), "{duplicates}");
    let versions = ebb(&db, &["memory", "versions", "tea; 2", "-o", "table"]).out;
    assert!(versions.contains("`ebb memory update 'tea; 2' --content TEXT`"), "{versions}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_repeated_counts_once() {
    let db = fresh().await;
    let once =
        |args: &[&str]| ebb(&db, &[args, &["--request-id", "r1", "--at", "2026-01-01T10:00Z"]].concat());
    let add = ["memory", "add", "x", "--id", "a", "--session", "s"];
    assert_eq!(once(&add).json()["did"], "created");
    assert_eq!(once(&add).json()["did"], "created");
    assert_eq!(once(&add).json()["accessCount"], 1);
    once(&["memory", "add", "y", "--id", "b"]).fails(1, "was used for another request");
    once(&["memory", "pin", "a"]).fails(1, "was used for another request");

    ebb(&db, &["memory", "access", "a", "--at", "2026-01-01T10:00Z"]).json();
    let end = ["session", "end", "s", "--request-id", "r2", "--at", "2026-01-01T10:10Z"];
    assert_json_snapshot!("session_end", ebb(&db, &end).golden());
    assert_eq!(ebb(&db, &end).json()["promoted"], serde_json::json!(["a"]), "the same answer");
    let forget = ["memory", "forget", "a", "--yes", "--request-id", "r3"];
    assert_eq!(ebb(&db, &forget).json()["nodes"], 2);
    assert_eq!(ebb(&db, &forget).json()["nodes"], 2, "the same answer");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_by_conditions_that_is_repeated_leaves_none() {
    let db = fresh().await;
    let forget = ["memory", "forget", "--session", "s", "--yes", "--accept-affected", "1010"];
    let forget =
        || ebb(&db, &[&forget[..], &["--request-id", "r1", "--at", "2026-03-02T00:00Z"]].concat()).json();
    let put = async |name: &str| {
        let rows: Vec<Row> = (0..1_010)
            .map(|n| Row { session: Some("s"), ..row(&format!("{name}{n}"), "working", 1.0) })
            .collect();
        db.put(&rows).await;
    };
    put("a").await;
    let first = forget();
    assert_eq!((&first["memories"], &first["left"]), (&1_010.into(), &0.into()));
    // The recorded answer of the first portion says that 10 are left.
    put("b").await;
    let second = forget();
    assert_eq!((&second["memories"], &second["left"]), (&1_010.into(), &0.into()));
    assert_eq!(db.client.value::<i64>("MATCH (m:Memory) RETURN count(m) AS n").await, 0);
    let none = ebb(&db, &["memory", "forget", "--session", "s", "--yes"]).json();
    assert_eq!((&none["memories"], &none["dry_run"]), (&0.into(), &false.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_says_what_would_be_and_writes_nothing() {
    let db = fresh().await;
    for (id, session) in [("a", "s"), ("b", "t")] {
        ebb(&db, &["memory", "add", id, "--id", id, "--session", session, "--at", "2026-01-01T10:00Z"])
            .json();
    }
    ebb(&db, &["memory", "access", "a", "--at", "2026-01-01T10:00Z"]).json();
    ebb(&db, &["memory", "access", "a", "--at", "2026-01-01T10:30Z"]).json();
    let before = contents(&db).await;
    let dry = |args: &[&str]| ebb(&db, &[args, &["--dry-run", "--at", "2026-01-01T20:00Z"]].concat()).json();
    let added = dry(&["memory", "add", "c", "--id", "c"]);
    assert_eq!((&added["did"], &added["dry_run"]), (&"created".into(), &true.into()));
    assert_eq!(dry(&["memory", "access", "b"])["accessCount"], 2);
    assert_eq!(dry(&["memory", "pin", "b"])["pinned"], true);
    assert_eq!(dry(&["memory", "unpin", "b"])["pinned"], false);
    assert_eq!(dry(&["memory", "forget", "b"])["nodes"], 1);
    let ended = ebb(&db, &["session", "end", "s", "--dry-run", "--at", "2026-01-01T10:40Z"]).json();
    assert_eq!(ended["promoted"], serde_json::json!(["a"]));
    assert_eq!(dry(&["job", "run", "decay"])["expired"], 1);
    assert_eq!(dry(&["job", "run", "decay", "--limit", "1"])["scanned"], 1);
    assert_eq!(dry(&["job", "run", "promote"])["promoted"], 1);
    let all = dry(&["job", "run", "--all"]);
    let promote = all["runs"].as_array().unwrap().iter().find(|run| run["job"] == "promote").unwrap();
    assert_eq!(promote["affected"], 1);
    assert_eq!(contents(&db).await, before);
    assert_eq!(
        ebb(&db, &["job", "run", "decay", "--at", "2026-01-01T20:00Z"]).json()["expired"],
        1,
        "as was said"
    );
}
