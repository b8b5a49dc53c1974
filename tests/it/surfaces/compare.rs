//! `ebb policy compare`: the same events under two configurations, and a database that is empty before and after.

use super::{CliOutput, command, contents};
use crate::harness::neo4j::{Fresh, empty, fresh};
use crate::harness::rows::row;
use ebb_core::domain::ids::Scope;
use serde_json::{Value, json};
use std::path::Path;

/// A memory that is used a day later, one that is not, and two facts of one entity and relation, of which the last is too late
/// for the policy.
const EVENTS: &str = r#"{"at":"2026-01-01T10:00:00Z","kind":"memory","id":"parser","content":"Alex owns the parser"}
{"at":"2026-01-01T10:00:00Z","kind":"memory","id":"lexer","content":"Bea owns the lexer"}
{"at":"2026-01-01T10:00:00Z","kind":"fact","entity":"Alex","relation":"owns:part","value":"parser","source":"agent","scope":"team"}
{"at":"2026-01-02T10:00:00Z","kind":"access","id":"parser"}
{"at":"2026-01-02T10:00:00Z","kind":"memory","id":"late","content":"Cleo owns the formatter"}
{"at":"2026-01-02T15:30:00Z","kind":"fact","entity":"Alex","relation":"owns:part","value":"linker","source":"agent","scope":"team"}
"#;
const QUESTIONS: &str = r#"{"question":"who owns the lexer","gold":["lexer"]}
{"question":"who owns the formatter","gold":["late"]}
"#;
/// Expired memories are not searched, so that what expires is lost.
const A: &str = "[mirror]\nexpired = false\n";
const B: &str = "policies = [{ id = \"old\", relation = \"owns:*\", scope = \"team\", mode = \"retract\", ttl_s = 3600 }]\n\
    [mirror]\nexpired = false\n[memory]\nworkingDecay = 0.01\n";

fn on(db: &Fresh, folder: &Path, args: &[&str]) -> CliOutput {
    command(db, folder, args).output().unwrap().into()
}

fn files() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("a.toml", A), ("b.toml", B), ("e.ndjson", EVENTS), ("q.ndjson", QUESTIONS)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn two_configurations_are_compared_by_what_the_same_events_leave() {
    let (db, folder) = (empty().await, files());
    let args =
        ["policy", "compare", "a.toml", "b.toml", "--events", "e.ndjson", "--until", "2026-01-02T16:00:00Z"];
    let with = |rest: &[&str]| on(&db, folder.path(), &[&args[..], rest].concat());
    let said = with(&["--questions", "q.ndjson"]);
    let found = said.json();
    assert_eq!(found["schema"], "ebb.policy.compare/1");
    let settings: Vec<&Value> =
        found["settings"].as_array().unwrap().iter().map(|one| &one["setting"]).collect();
    assert!(settings.contains(&&json!("memory.workingDecay")) && settings.len() == 2, "{found:#}");

    // Half is gone in 1.4 hours under A, and in 69 under B.
    let only_a = &found["expired_only_a"];
    let ids: Vec<&Value> = only_a["examples"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(
        (&only_a["count"], ids),
        (&json!(3), vec![&json!("lexer"), &json!("late"), &json!("parser")]),
        "{found:#}"
    );
    let lexer = &only_a["examples"][0];
    assert_eq!(lexer["last_accessed"], "2026-01-01T10:00:00.000Z");
    assert!(lexer["energy"].as_f64().unwrap() < 0.1 && lexer["other_tier"] == "working", "{found:#}");
    assert_eq!(
        (&found["expired_only_b"]["count"], &found["expired_only_b"]["examples"]),
        (&json!(0), &json!([]))
    );
    let tiers = found["tiers"].as_array().unwrap();
    let tier = |name: &str| tiers.iter().find(|one| one["tier"] == name).unwrap().clone();
    assert_eq!(tier("expiredWorking"), json!({"tier": "expiredWorking", "a": 3, "b": 0}));

    let facts = &found["facts"];
    assert_eq!((&facts["count"], &facts["retracted_only_b"]), (&json!(1), &json!(1)), "{found:#}");
    let example = &facts["examples"][0];
    assert_eq!((&example["entity"], &example["value"]), (&json!("Alex"), &json!("parser")), "{found:#}");
    let questions = &found["questions"];
    assert_eq!(questions["recall"][0], json!({"first": 5, "a": 0.0, "b": 1.0}));
    assert_eq!(questions["lost_under_a"].as_array().unwrap().len(), 2, "{found:#}");
    assert_eq!(questions["lost_under_b"], json!([]));

    // Nothing is left, and again it is the same.
    assert_eq!(contents(&db).await, Vec::<String>::new());
    assert_eq!(with(&["--questions", "q.ndjson"]).out, said.out);
    let table = with(&["-o", "table"]).out;
    assert!(table.contains("Expired under A only: 3") && table.contains("memory.workingDecay"), "{table}");
}

/// Others may have written there since an interrupted comparison, and nothing tells their rows from its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_an_interrupted_comparison_left_is_refused() {
    let (db, folder) = (empty().await, files());
    let args = ["policy", "compare", "a.toml", "b.toml", "--events", "e.ndjson"];
    on(&db, folder.path(), &["replay", "e.ndjson"]).json();
    let replayed = contents(&db).await;
    on(&db, folder.path(), &args).fails(1, "is marked for another replay");
    assert_eq!(contents(&db).await, replayed);
    db.client.run("MATCH (s:EbbScratch) SET s.work = 'comparison'", &[]).await;
    let left = contents(&db).await;
    on(&db, folder.path(), &args).fails(1, "cypher-shell");
    assert_eq!(contents(&db).await, left);
}

/// They write while the events are replayed, in the documented shape or in their own.
#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_takes_out_of_its_database_no_rows_of_others() {
    let db = empty().await;
    let scope = Scope::new("mine").unwrap();
    db.store.claim_scratch("comparison").await.unwrap();
    db.put(&[row("m", "working", 1.0)]).await;
    for others in [
        "(:Entity {uuid: 'e', group_id: 'g'})",
        "(:Memory {scope: 'theirs', id: 'm', content: 'c', tier: 'working'})",
        "()",
    ] {
        db.client.run(&format!("CREATE {others}"), &[]).await;
    }
    db.store.empty_scratch([&Scope::local(), &scope]).await.unwrap();
    assert_eq!(contents(&db).await.len(), 3, "{:?}", contents(&db).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_of_nothing_or_on_a_database_in_use_is_refused() {
    let (db, folder) = (fresh().await, files());
    let compare =
        |a: &str, b: &str| on(&db, folder.path(), &["policy", "compare", a, b, "--events", "e.ndjson"]);
    compare("a.toml", "a.toml").fails(2, "give the same settings: there is nothing to compare");
    compare("a.toml", "none.toml").fails(6, "none.toml");
    std::fs::write(folder.path().join("bad.toml"), "[memory]\nworkingDecay = -1\n").unwrap();
    compare("a.toml", "bad.toml").fails(6, "workingDecay");
    on(&db, folder.path(), &["memory", "add", "mine", "--id", "m"]).json();
    let before = contents(&db).await;
    compare("a.toml", "b.toml").fails(1, "simulated time must not touch real memories");
    assert_eq!(contents(&db).await, before);
}
