//! What outcomes taught, as people and programs meet it: in answers, in numbers, as a file, and as a list.

use super::recall::told;
use super::{CliOutput, command, ebb};
use crate::harness::neo4j::fresh;
use crate::jobs::learn::file;
use serde_json::{Value, json};
use std::fs;

/// What the way to a memory weighs in an answer with reasons.
fn weight(answer: &Value) -> f64 {
    let hits = answer["hits"].as_array().unwrap();
    let hit = hits.iter().find(|hit| hit["id"] == "m1").unwrap_or_else(|| panic!("{answer:#}"));
    assert_eq!(hit["path"], json!(["Parser", "m1"]));
    hit["steps"][0]["weight"].as_f64().unwrap()
}

/// The outcomes before an answer and after it.
fn ticks(answer: &Value) -> (u64, u64) {
    (answer["tick_start"].as_u64().unwrap(), answer["tick_end"].as_u64().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_learned_is_in_answers_in_files_and_in_a_list() {
    let db = fresh().await;
    told(&db);
    let question = ["recall", "who maintains the Parser", "--why"];
    let before = ebb(&db, &question).json();
    assert_eq!(ticks(&before), (0, 0));
    assert!((weight(&before) - 0.5).abs() < 1e-6, "{before:#}");
    file(&db, "local", &[(vec!["Parser".to_owned(), "m1".to_owned()], 1.0)]).await;
    assert_eq!(ebb(&db, &["health"]).json()["outcomes"], 1);
    let ran = ebb(&db, &["job", "run", "learn"]).json();
    assert_eq!((&ran["outcomes"], &ran["synapses"], &ran["unknown"]), (&json!(1), &json!(2), &json!(0)));

    let after = ebb(&db, &question).json();
    assert_eq!(ticks(&after), (1, 1));
    assert!((weight(&after) - 0.8).abs() < 1e-6, "{after:#}");
    let ranked = ebb(&db, &["engine", "pagerank"]).json();
    assert_eq!(ticks(&ranked), (1, 1));
    let mirror = ebb(&db, &["graph", "stats"]).json();
    assert_eq!((&mirror["tick"], &mirror["learned"]), (&json!(1), &json!(2)));
    assert_eq!(ebb(&db, &["graph", "verify"]).json()["same"], true);

    let folder = tempfile::tempdir().unwrap();
    let saved =
        CliOutput::from(command(&db, folder.path(), &["graph", "save", "memory.json"]).output().unwrap());
    let kept = json!({"file": "memory.learned.json", "tick": 1, "slots": 2, "unmatched": 0});
    assert_eq!(saved.json()["learned"], kept);
    let alone = |args: &[&str]| -> CliOutput {
        let args = [args, &["--graph", "memory.json"]].concat();
        let mut command = command(&db, folder.path(), &args);
        command.env("NEO4J_URI", "bolt://127.0.0.1:1").output().unwrap().into()
    };
    let said = alone(&question);
    assert!(said.err.contains("With learned weights from memory.learned.json"), "{}", said.err);
    let answer = said.json();
    assert_eq!((ticks(&answer), weight(&answer).to_bits()), ((1, 1), weight(&after).to_bits()));
    assert_eq!(ticks(&alone(&["engine", "activate", "--seed", "Parser"]).json()), (1, 1));
    let load = || -> CliOutput {
        command(&db, folder.path(), &["graph", "load", "memory.json"]).output().unwrap().into()
    };
    assert_eq!(load().json()["learned"], kept);
    // A file that is no such file is told; without one the graph is what it was before anything was learned.
    let learned = folder.path().join("memory.learned.json");
    fs::write(&learned, "{}").unwrap();
    alone(&question).fails(2, "memory.learned.json cannot be used");
    load().fails(2, "memory.learned.json cannot be used");
    fs::remove_file(&learned).unwrap();
    let said = alone(&question);
    assert!(!said.err.contains("learned"), "{}", said.err);
    assert_eq!((ticks(&said.json()), weight(&said.json()).to_bits()), ((0, 0), weight(&before).to_bits()));
    assert_eq!(load().json()["learned"], Value::Null);

    let rows = ebb(&db, &["inspect", "learned"]).json()["rows"].clone();
    assert_eq!(rows.as_array().unwrap().len(), 2);
    let first = &rows[0];
    assert_eq!((&first["from"], &first["relation"]), (&json!("Parser"), &json!("MENTIONS")));
    assert_eq!(first["to"], "The parser was rewritten in spring");
    assert_eq!((&first["strengthened"], &first["outcomes_ago"]), (&json!(1), &json!(0)));
    assert!((first["weight"].as_f64().unwrap() - 0.8).abs() < 1e-6, "{first}");
}
