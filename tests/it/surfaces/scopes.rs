//! `ebb scope`: all of a scope is exported and deleted, and nothing of another.

use super::http::{HttpAnswer, HttpRequest, TestServer};
use super::{CliOutput, command, ebb};
use crate::harness::graph;
use crate::harness::neo4j::{Fresh, fresh};
use ebb_core::domain::ids::Scope;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// Rows that jobs write, of each kind that no command below leaves, in the scope $SCOPE.
const OF_JOBS: &str = "
    MATCH (m:Memory {scope: '$SCOPE', id: 'tabs'}) MATCH (o:Memory {scope: '$SCOPE', id: 'tea'}) MATCH (s:Session {scope: '$SCOPE', id: 's'})
    CREATE (m)-[:COACTIVATED {weight: 2}]->(o), (m)-[:REINFORCES {strength: 0.5}]->(o),
      (m)-[:BELONGS_TO]->(:SemanticCluster {scope: '$SCOPE', id: 'c', key: 'c', strength: 4.0, size: 1}),
      (:Memory:EbbMemory {scope: '$SCOPE', id: 'stub', promotionKey: 'p', tier: 'archivedWorking', energy: 2.5})-[:PROMOTED_TO]->(m),
      (m)-[:CONSOLIDATING]->(:ConsolidationAttempt {id: '$SCOPE', state: 'done'}),
      (:EbbSynapse {scope: '$SCOPE', key: '$SCOPE', source: 'tabs', relation: 'MENTIONS', target: 'Ann', tick: 1}),
      (:EbbCounter {scope: '$SCOPE', name: 'tick:$SCOPE', tick: 1}), (:EbbSweepJob {scope: '$SCOPE', id: 'j$SCOPE', state: 'done'}),
      (:File {scope: '$SCOPE', id: 'src/lib.rs', repository: 'r'})-[:ACCESSED_IN {count: 1}]->(s),
      (:EbbState {scope: '$SCOPE', kind: 'node', key: 'ann', hidden: true}),
      (:EbbRequest {id: 'w$SCOPE', waits: '$SCOPE', at: datetime('2026-01-01T00:00:00Z'), active: ['tabs'], reward: 1.0}),
      (:EbbPolicy {id: 'p$SCOPE', relation: 'old:*', scope: '$SCOPE', mode: 'retract', ttlS: 60.0, place: 1})";

/// Rows of other libraries beside those of Ebb, some with the name of the scope.
const FOREIGN: &str = "
    CREATE (:Memory {id: 'theirs', memory: 'x', scope: 'team'}), (:Session {session_id: 's'})-[:HAS]->(:Message {id: 'm'}),
      (:Fact {id: 'f', subject: 'Bob', scope: 'team'}), (:Note {id: 'n', scope: 'team'}),
      (:File {id: 'doc.md', scope: 'team', title: 'of an indexer'})";
/// Entities of another library: Ebb creates none beside them.
const FOREIGN_ENTITIES: &str = "
    CREATE (:Entity:Person {uuid: 'ann', name: 'Ann', group_id: 'team', scope: 'team', created_at: datetime('2026-01-01T00:00:00Z')})
      -[:RELATES_TO {uuid: 'works', fact: 'Ann works at Acme', group_id: 'team'}]->(:Entity {uuid: 'acme', name: 'Acme', scope: 'team'})";

fn on(db: &Fresh, folder: &Path, args: &[&str]) -> CliOutput {
    command(db, folder, args).output().unwrap().into()
}

/// Writes a row of each kind into a scope.
async fn fill(db: &Fresh, scope: &str) {
    let ask = |args: &[&str]| ebb(db, &[args, &["--scope", scope]].concat()).json();
    ask(&[
        "memory",
        "add",
        "prefers tabs",
        "--id",
        "tabs",
        "--session",
        "s",
        "--mention",
        "Ann",
        "--metadata",
        "topic=style",
    ]);
    ask(&["memory", "add", "drinks tea", "--id", "tea", "--session", "s"]);
    ask(&["memory", "add", "to be forgotten", "--id", "gone"]);
    ask(&["memory", "update", "tabs", "--content", "prefers spaces"]);
    ask(&["memory", "forget", "gone", "--yes"]);
    ask(&["relation", "observe", "Ann", "knows", "Bob"]);
    ask(&["fact", "assert", "Ann", "lives_in", "Oslo", "--source", "me"]);
    ask(&["trail", "node", "add", "Wing", "w1"]);
    ask(&["trail", "node", "add", "Room", "r1"]);
    ask(&["trail", "edge", "add", "w1", "HAS_ROOM", "r1"]);
    ask(&["trail", "deposit", "w1", "r1"]);
    db.client.run(&OF_JOBS.replace("$SCOPE", scope), &[]).await;
}

/// The labels of [`fill`], as receipts count them.
const LABELS: [&str; 16] = [
    "EbbCounter",
    "EbbEntity",
    "EbbFact",
    "EbbLineage",
    "EbbMemory",
    "EbbPolicy",
    "EbbRequest",
    "EbbState",
    "EbbSweepJob",
    "EbbSynapse",
    "EbbTombstone",
    "EbbVersion",
    "File",
    "Room",
    "SemanticCluster",
    "Session",
];

/// Rows without bookkeeping, which names no row of a scope, and without receipts.
async fn rows(db: &Fresh) -> Vec<String> {
    let mut rows = graph::remembered(&db.client).await;
    rows.retain(|row| !row.starts_with("(EbbErasure"));
    rows
}

/// Nodes that have the name of a scope and a label that Ebb gave them, without receipts.
async fn left(db: &Fresh, scope: &str) -> i64 {
    let text = format!(
        "MATCH (n) WHERE (n.scope = '{scope}' OR n.waits = '{scope}') AND NOT n:EbbErasure AND (n.process IS NULL) AND \
           any(label IN labels(n) WHERE label STARTS WITH 'Ebb' OR label IN ['SemanticCluster', 'Wing', 'Room'] OR \
             label = 'File' AND n.repository IS NOT NULL OR label = 'Session' AND n.id IS NOT NULL) \
         RETURN count(n)"
    );
    db.client.value(&text).await
}

/// What the doctor finds about deletions.
fn deletions_found(db: &Fresh) -> Value {
    let told = ebb(db, &["doctor"]).json();
    let found = told["findings"].as_array().unwrap().iter().find(|one| one["what"] == "deletions");
    found.unwrap().clone()
}

fn labels(nodes: &Value) -> BTreeSet<&str> {
    nodes.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn all_of_a_scope_is_exported_and_can_be_restored() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    fill(&db, "team").await;
    let before = rows(&db).await;
    let counted = ebb(&db, &["scope", "delete", "team", "--dry-run"]).json();
    let expected: BTreeSet<&str> = LABELS.into_iter().chain(["Wing"]).collect();
    assert_eq!(labels(&counted["nodes"]), expected, "{counted:#}");
    graph::same(&before, &rows(&db).await, "after a dry run");

    let told = on(&db, folder.path(), &["scope", "export", "team", "team.ndjson"]).json();
    assert_eq!(told["nodes"], counted["total"], "{told:#}");
    on(&db, folder.path(), &["scope", "export", "team", "team.ndjson"]).fails(3, "team.ndjson exists");
    on(&db, folder.path(), &["scope", "export", "nobody", "n.ndjson"]).fails(1, "try: ebb scope list");
    let text = std::fs::read_to_string(folder.path().join("team.ndjson")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["backup"]["scope"], "team");
    let kinds = |of: &str, field: &str| -> BTreeSet<String> {
        let rows = lines.iter().filter(|line| line.get(of).is_some());
        rows.flat_map(|line| match &line[of][field] {
            Value::Array(names) => names.clone(),
            name => vec![name.clone()],
        })
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
    };
    assert!(expected.iter().all(|label| kinds("node", "labels").contains(*label)), "{text}");
    let types = kinds("relationship", "type");
    let wanted = [
        "ABOUT",
        "ACCESSED_IN",
        "BELONGS_TO",
        "COACTIVATED",
        "HAS_ROOM",
        "HEAD",
        "MENTIONS",
        "PREVIOUS_VERSION",
        "PROMOTED_TO",
        "REINFORCES",
        "RELATES_TO",
    ];
    assert_eq!(types.iter().map(String::as_str).collect::<BTreeSet<_>>(), BTreeSet::from(wanted));

    // The same rows on stdout and over HTTP; the order is the database's.
    let rows_of = |text: &str| -> BTreeSet<String> {
        text.lines()
            .filter(|line| !line.starts_with("{\"backup\"") && !line.starts_with("{\"end\""))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(rows_of(&ebb(&db, &["scope", "export", "team"]).out), rows_of(&text));
    let api = TestServer::on(&db, &[]);
    let got = api.get("/v1/scopes/team/export");
    assert_eq!((got.status, got.header("content-type")), (200, Some("application/x-ndjson")));
    assert_eq!(rows_of(&got.body), rows_of(&text));
    assert!(got.body.lines().last().unwrap().starts_with("{\"end\""), "{}", got.body);
    api.get("/v1/scopes/nobody/export").fails(404, "not_found", "nobody");
    drop(api);

    db.client.run("MATCH (n) DETACH DELETE n", &[]).await;
    on(&db, folder.path(), &["restore", "team.ndjson", "--yes"]).json();
    graph::same(&before, &rows(&db).await, "restored");
}

/// Tunables and counters are of the database, and none of them is in the export.
#[tokio::test(flavor = "multi_thread")]
async fn a_restored_export_leaves_the_tunables_and_the_counters_of_others_as_they_are() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    ebb(&db, &["memory", "add", "prefers tabs", "--id", "tabs", "--scope", "team"]).json();
    db.client.run("CREATE (:EbbCounter {name: 'of:team', scope: 'team', rows: 7})", &[]).await;
    on(&db, folder.path(), &["scope", "export", "team", "team.ndjson"]).json();
    db.client
        .run(
            "MATCH (n) WHERE NOT n:EbbMigration AND NOT n:EbbSettings AND NOT n:ConsolidationConfig AND NOT n:EbbCounter
             DETACH DELETE n",
            &[],
        )
        .await;
    db.client
        .run(
            "MATCH (c:ConsolidationConfig) SET c.workingDecay = 0.25
             WITH c MATCH (t:EbbCounter {name: 'of:team'}) SET t.rows = 1
             CREATE (:EbbCounter {name: 'of:other', scope: 'other', rows: 2})",
            &[],
        )
        .await;
    on(&db, folder.path(), &["restore", "team.ndjson", "--yes"]).json();
    let kept: i64 = db
        .client
        .value("MATCH (c:ConsolidationConfig {workingDecay: 0.25}), (:EbbSettings), (:EbbCounter {name: 'cycle'}) RETURN count(c)")
        .await;
    assert_eq!(kept, 1);
    let rows =
        "MATCH (c:EbbCounter) WHERE c.name STARTS WITH 'of:' RETURN c.name + ' ' + c.rows ORDER BY c.name";
    assert_eq!(db.client.column::<String>(rows).await, ["of:other 2", "of:team 7"]);
    assert_eq!(ebb(&db, &["memory", "show", "tabs", "--scope", "team"]).json()["content"], "prefers tabs");
}

/// A transaction reads a page of the rows: a server may end one that reads all of a large scope.
#[tokio::test(flavor = "multi_thread")]
async fn a_scope_of_several_pages_is_exported_whole() {
    let db = fresh().await;
    db.client
        .run(
            "UNWIND range(0, 24999) AS i CREATE (s:Session {scope: 'large', id: toString(i)})
             WITH collect(s) AS every UNWIND range(1, 24999) AS i
             WITH every[0] AS first, every[i] AS s, every[i - 1] AS before CREATE (before)-[:NEXT]->(s), (s)-[:SINCE]->(first)",
            &[],
        )
        .await;
    let counted = ebb(&db, &["scope", "delete", "large", "--dry-run"]).json();
    assert_eq!(counted["total"], 25_000, "{counted:#}");
    let text = ebb(&db, &["scope", "export", "large"]).out;
    let lines: BTreeSet<&str> = text.lines().collect();
    let of = |kind: &str| lines.iter().filter(|line| line.starts_with(kind)).count();
    assert_eq!([of("{\"node\""), of("{\"relationship\"")], [25_000, 49_998]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_scope_leaves_nothing_and_others_as_they_were() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    fill(&db, "company").await;
    db.client.run(FOREIGN, &[]).await;
    db.client.run(FOREIGN_ENTITIES, &[]).await;
    let journal = r#"CREATE (:EbbJournal {run: 'r', job: 'decay', at: datetime(), recorded: datetime(), by: 'run', part: 0, changes: 2, entries: [
        '{"rule":"expiry","reason":"","rows":[{"row":{"label":"Memory","scope":"company","key":"tabs"},"before":null,"after":null}]}']})"#;
    db.client.run(journal, &[]).await;
    let (before, kept) = (rows(&db).await, journal_of(&db).await);
    db.client.run("MATCH (e:Entity) WHERE e.uuid IS NOT NULL DETACH DELETE e", &[]).await;
    fill(&db, "team").await;
    db.client.run(FOREIGN_ENTITIES, &[]).await;
    db.client
        .run(
            "MATCH (j:EbbJournal) SET j.entries = j.entries + [replace(j.entries[0], 'company', 'team')]",
            &[],
        )
        .await;
    db.client.run(&journal.replace("company", "team"), &[]).await;

    let scopes = ebb(&db, &["scope", "list"]).json();
    assert_eq!(
        scopes["scopes"],
        json!([{"scope": "company", "memories": 2}, {"scope": "team", "memories": 2}])
    );
    let counted = ebb(&db, &["scope", "delete", "team", "--dry-run"]).json();
    assert_eq!(
        (&counted["receipt"], &counted["relationships_to_others"]),
        (&Value::Null, &json!(0)),
        "{counted:#}"
    );
    ebb(&db, &["scope", "delete", "team"]).fails(3, "for good?");
    let done = ebb(&db, &["scope", "delete", "team", "--yes"]).json();
    assert_eq!((&done["nodes"], &done["total"]), (&counted["nodes"], &counted["total"]));
    assert_eq!(done["receipt"]["emptied"], 0, "{done:#}");
    assert_eq!(left(&db, "team").await, 0);
    graph::same(&before, &rows(&db).await, "other scopes and other libraries");
    assert_eq!(journal_of(&db).await, kept, "entries of others stay");
    let named = "MATCH (c:EbbChange) UNWIND range(0, size(c.scopes) - 1) AS i
        WITH c, i WHERE c.scopes[i] = 'team' AND c.labels[i] + c.keys[i] <> '' RETURN count(c)";
    let named: i64 = db.client.value(named).await;
    assert_eq!(named, 0, "changes name no row of it");
    assert!(left(&db, "company").await > 0);

    // A second deletion changes nothing, and answers the receipt of the first.
    let everything = graph::everything(&db.client).await;
    let again = ebb(&db, &["scope", "delete", "team", "--yes"]).json();
    assert_eq!(again, done);
    graph::same(&everything, &graph::everything(&db.client).await, "deleted twice");
    assert_eq!(ebb(&db, &["scope", "receipts", "team"]).json()["receipts"], json!([done["receipt"]]));
    let receipt = everything.iter().find(|row| row.starts_with("(EbbErasure")).unwrap();
    assert!(!["tabs", "Ann", "Oslo"].into_iter().any(|word| receipt.contains(word)), "{receipt}");
    ebb(&db, &["scope", "delete", "nobody", "--yes"]).fails(1, "nobody");

    // The scope can be used again, for a memory that was forgotten in it, too.
    let events =
        r#"{"at":"2026-01-01T10:00:00Z","kind":"memory","id":"gone","content":"again","scope":"team"}"#;
    std::fs::write(folder.path().join("events.ndjson"), format!("{events}\n")).unwrap();
    on(&db, folder.path(), &["import", "events.ndjson"]).json();
    assert_eq!(ebb(&db, &["memory", "show", "gone", "--scope", "team"]).json()["content"], "again");
    let next = ebb(&db, &["scope", "delete", "team", "--yes"]).json();
    assert_ne!(next["receipt"]["id"], done["receipt"]["id"]);
    assert_eq!(ebb(&db, &["scope", "receipts", "team"]).json()["receipts"].as_array().unwrap().len(), 2);
}

/// As agents write them, of the documented shape, and an invalid fact that has no id.
const OF_AGENTS: &str = "
    CREATE (a:Entity {scope: 'alice', name: 'Alice Smith'})-[:RELATES_TO {type: 'lives_at', weight: 1.0}]->(:Entity {scope: 'alice', name: '12 Main St'}),
      (:Memory {scope: 'alice', id: 'm', content: 'moved', tier: 'working', energy: 1.0})-[:MENTIONS]->(a),
      (:Fact {scope: 'team', entity: 'Alice Smith', relation: 'lives_at', value: '12 Main St', confidence: 'high'})";

#[tokio::test(flavor = "multi_thread")]
async fn what_was_taken_over_is_exported_and_deleted_with_its_scope() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    db.client.run(OF_AGENTS, &[]).await;
    ebb(&db, &["job", "run", "--all"]).json();
    for (scope, nodes) in [("alice", 3), ("team", 1)] {
        let file = format!("{scope}.ndjson");
        let told = on(&db, folder.path(), &["scope", "export", scope, &file]).json();
        assert_eq!(told["nodes"], nodes, "{told:#}");
        ebb(&db, &["scope", "delete", scope, "--yes"]).json();
        let left = format!("MATCH (n {{scope: '{scope}'}}) WHERE NOT n:EbbErasure RETURN count(n)");
        assert_eq!(db.client.value::<i64>(&left).await, 0, "{scope}");
    }
    let text =
        "MATCH (n) WHERE any(key IN keys(n) WHERE toStringOrNull(n[key]) CONTAINS 'Main St') RETURN count(n)";
    assert_eq!(db.client.value::<i64>(text).await, 0);
}

async fn journal_of(db: &Fresh) -> Vec<String> {
    db.client.column("MATCH (j:EbbJournal) UNWIND j.entries AS entry RETURN entry ORDER BY entry").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_that_was_broken_off_is_finished_with_its_receipt() {
    let db = fresh().await;
    fill(&db, "team").await;
    db.client
        .run("MATCH (m:Memory {id: 'tabs'}) CREATE (:Note {id: 'n'})-[:QUOTES {of: 'a page'}]->(m)", &[])
        .await;
    db.client
        .run("UNWIND range(1, 2500) AS i CREATE (:Memory:EbbMemory {scope: 'team', id: 'm' + i, content: 'c', tier: 'working'})", &[])
        .await;
    let total = ebb(&db, &["scope", "delete", "team", "--dry-run"]).json()["total"].as_i64().unwrap();
    ebb(&db, &["scope", "delete", "team", "--yes"]).fails(8, "live items would be affected");

    // As a process leaves it that is killed after its third page.
    let scope = Scope::new("team").unwrap();
    let memories = db.store.scope_rows().into_iter().find(|rows| rows.label == "EbbMemory").unwrap();
    let id = db.store.open_erasure(&scope, "operator", "q1").await.unwrap();
    for _ in 0..3 {
        assert_eq!(db.store.erase_page(&scope, &id, &memories, 100).await.unwrap(), 100);
    }
    assert_eq!(db.another().open_erasure(&scope, "another", "q2").await.unwrap(), id, "one at a time");
    let receipts = ebb(&db, &["scope", "receipts", "team"]).json();
    assert_eq!(receipts["receipts"][0]["finished"], Value::Null);
    assert_eq!(receipts["receipts"][0]["nodes"], json!({"EbbMemory": 300}));
    let found = deletions_found(&db);
    let begun = receipts["receipts"][0]["at"].as_str().unwrap();
    assert_eq!(
        (&found["level"], &found["fix"]),
        (&json!("warning"), &json!("to finish it, run: ebb scope delete team"))
    );
    assert!(
        found["found"].as_str().unwrap().contains(&format!("scope team, begun {begun} by operator")),
        "{found:#}"
    );

    // Two processes at once finish it, without being asked about the number again.
    let (one, other) = (db.another(), db.another());
    let (one, other) = tokio::join!(one.erase(&scope, "cli", "q3"), other.erase(&scope, "cli", "q3"));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!((&one.id, &other.id), (&id, &id));
    let receipt = &ebb(&db, &["scope", "delete", "team", "--yes"]).json()["receipt"];
    assert_eq!(
        (&receipt["id"], &receipt["total"], &receipt["by"]),
        (&json!(id), &json!(total), &json!("operator"))
    );
    assert!(receipt["finished"].is_string());
    assert_eq!(deletions_found(&db)["level"], "well");
    assert_eq!(db.store.erase_page(&scope, &id, &memories, 100).await.unwrap(), 0, "a page after the end");

    // The relationship of another writer stays, with nothing of the memory at its end.
    assert_eq!(receipt["emptied"], 1, "{receipt:#}");
    assert_eq!(left(&db, "team").await, 0);
    let quoted = "MATCH (:Note {id: 'n'})-[r:QUOTES {of: 'a page'}]->(m) \
                  RETURN toString(size(labels(m))) + ' ' + size(keys(m)) + ' ' + COUNT { (m)--() }";
    assert_eq!(db.client.column::<String>(quoted).await, ["0 0 1"]);

    // The command can be pasted.
    db.store.open_erasure(&Scope::new("Ann's team").unwrap(), "cli", "q4").await.unwrap();
    let found = deletions_found(&db);
    assert_eq!(found["fix"], r"to finish it, run: ebb scope delete 'Ann'\''s team'", "{found:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_repeat_of_any_request_for_a_deletion_deletes_nothing() {
    let db = fresh().await;
    let scope = Scope::new("team").unwrap();
    let add = |id: &str| ebb(&db, &["memory", "add", "drinks tea", "--id", id, "--scope", "team"]).json();
    add("before");
    let id = db.store.open_erasure(&scope, "cli", "r0").await.unwrap();
    for request in (1..40).chain([39]).map(|n| format!("r{n}")) {
        assert_eq!(db.store.open_erasure(&scope, "cli", &request).await.unwrap(), id);
    }
    assert_eq!(db.store.erase(&scope, "cli", "last").await.unwrap().nodes["EbbMemory"], 1);
    let kept = db.store.erasures(&scope).await.unwrap().remove(0).requests;
    assert_eq!(
        (kept.len(), kept.first().unwrap().as_str(), kept.last().unwrap().as_str()),
        (32, "r9", "last")
    );

    add("since");
    let api = TestServer::on(&db, &[]);
    let ask = |request: &str| {
        let headers = vec![("Idempotency-Key", request)];
        api.ask(&HttpRequest { method: "DELETE", path: "/v1/scopes/team", headers, body: None }).json(200)
    };
    for request in &kept {
        assert_eq!(ask(request)["receipt"]["id"], id.as_str(), "{request}");
    }
    assert_eq!(ebb(&db, &["memory", "show", "since", "--scope", "team"]).json()["content"], "drinks tea");
    assert_ne!(ask("another")["receipt"]["id"], id.as_str());
    ebb(&db, &["memory", "show", "since", "--scope", "team"]).fails(1, "since");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_deletes_its_own_scope_alone_and_mirrors_notice() {
    let db = fresh().await;
    fill(&db, "team").await;
    fill(&db, "company").await;
    let other = TestServer::on(&db, &[]);
    let api = TestServer::on(&db, &[]);
    let hits = |api: &TestServer, scope: &str, at_least: &Value| {
        let body = json!({"text": "tea", "scope": scope, "at_least": at_least});
        api.post("/v1/recall", &body.to_string()).json(200)["hits"].as_array().unwrap().len()
    };
    assert!(hits(&other, "team", &Value::Null) > 0 && hits(&other, "company", &Value::Null) > 0);
    let ask = |method: &str, path: &str, key: Option<&str>| -> HttpAnswer {
        let bearer = key.map(|key| format!("Bearer {key}"));
        let headers = bearer.iter().map(|bearer| ("Authorization", bearer.as_str())).collect();
        api.ask(&HttpRequest { method, path, headers, body: None })
    };
    let planned = ask("DELETE", "/v1/scopes/team?dry_run=true", None).json(200);
    assert_eq!(planned["dry_run"], true);
    let once = || {
        let headers = vec![("Idempotency-Key", "d1")];
        api.ask(&HttpRequest { method: "DELETE", path: "/v1/scopes/team", headers, body: None }).json(200)
    };
    let done = once();
    assert_eq!((&done["total"], &done["dry_run"]), (&planned["total"], &json!(false)));
    assert_eq!(hits(&other, "team", &done["change"]), 0, "the mirror of another process");
    assert!(hits(&other, "company", &done["change"]) > 0);
    assert_eq!(left(&db, "team").await, 0);
    let questions = |scope: &str| {
        let answer = other.get(&format!("/v1/engine/queries?scope={scope}")).json(200);
        answer["queries"].as_array().unwrap().len()
    };
    assert_eq!((questions("team"), questions("company")), (1, 2), "those before the deletion are gone");

    db.client.run("UNWIND range(1, 60) AS i CREATE (:Memory:EbbMemory {scope: 'public', id: 'm' + i, content: 'c'})", &[]).await;
    ask("DELETE", "/v1/scopes/public", None).fails(409, "conflict", "set accept_affected to 60");
    ask("DELETE", "/v1/scopes/public?accept_affected=59", None).fails(409, "conflict", "accept_affected");
    let saved = tempfile::tempdir().unwrap();
    for persist_every in ["0", "50"] {
        for name in ["public.json", "public.learned.json", "public.state", "company.json"] {
            std::fs::write(saved.path().join(name), "texts").unwrap();
        }
        let deleted =
            command(&db, saved.path(), &["scope", "delete", "public", "--accept-affected", "60", "--yes"])
                .env("EBB__MIRROR__FOLDER", saved.path())
                .env("EBB__MIRROR__PERSIST_EVERY", persist_every)
                .output();
        CliOutput::from(deleted.unwrap()).json();
        let files: Vec<_> =
            std::fs::read_dir(saved.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(files, ["company.json"], "saved mirrors of the scope go, at {persist_every}");
    }
    ask("DELETE", "/v1/scopes/public?accept_affected=60", None).json(200);
    ask("DELETE", "/v1/scopes/nobody", None).fails(404, "not_found", "nobody");

    let key = |right: &str, scope: &str| {
        let made = ebb(&db, &["key", "create", "--name", "k", "--right", right, "--scope", scope]).json();
        (made["id"].as_str().unwrap().to_owned(), made["secret"].as_str().unwrap().to_owned())
    };
    let ((_, reader), (id, admin)) = (key("read", "company"), key("admin", "company"));
    let seen = ask("GET", "/v1/scopes", Some(&reader)).json(200);
    assert_eq!(seen, json!({"scopes": [{"scope": "company", "memories": 2}], "next": null}));
    for path in ["/v1/scopes/company", "/v1/scopes/company?dry_run=true"] {
        ask("DELETE", path, Some(&reader)).fails(403, "authorization", "admin");
    }
    for (method, path) in [
        ("DELETE", "/v1/scopes/team"),
        ("GET", "/v1/scopes/team/export"),
        ("GET", "/v1/scopes/team/receipts"),
    ] {
        ask(method, path, Some(&admin)).fails(403, "authorization", "admin");
    }
    let done = ask("DELETE", "/v1/scopes/company", Some(&admin)).json(200);
    assert_eq!(done["receipt"]["by"], id.as_str(), "{done:#}");
    assert_eq!(left(&db, "company").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn scopes_are_listed_page_by_page() {
    let db = fresh().await;
    db.client
        .run(
            "UNWIND range(10, 29) AS i CREATE (:Memory:EbbMemory {scope: 's' + i, id: 'm', content: 'c', tier: 'working'})
             WITH count(*) AS all
             CREATE (:Session {scope: 'only a session', id: 's'}), (:Entity:EbbEntity {scope: 's10', name: 'e'}), (:Memory {scope: 'theirs', id: 'x'})",
            &[],
        )
        .await;
    let api = TestServer::on(&db, &[]);
    let (mut names, mut path) = (Vec::new(), "/v1/scopes?limit=8".to_owned());
    loop {
        let page = api.get(&path).json(200);
        names.extend(
            page["scopes"].as_array().unwrap().iter().map(|one| one["scope"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/v1/scopes?limit=8&after={}", next.replace(' ', "%20"));
    }
    let expected = ["only a session".to_owned()].into_iter().chain((10..30).map(|i| format!("s{i}")));
    assert_eq!(names, expected.collect::<Vec<_>>());
}
