//! Relevance of hits, and recalls for relevant ones only: over HTTP and on the command line.

use super::http::TestServer;
use super::recall::ids;
use super::{CliOutput, command, ebb};
use crate::harness::neo4j::{Fresh, fresh};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Turns of one session: two that are about the key of the harbour office, with one between them, and others.
const TURNS: [&str; 8] = [
    "Ann: Where is the key of the harbour office?",
    "Bob: Wait a moment",
    "Bob: The key of the harbour office is under the blue pot",
    "Ann: The soup was too salty today",
    "Bob: I baked a lemon cake",
    "Ann: The parser was rewritten in spring",
    "Bob: My brother sails to Lisbon",
    "Ann: The lexer is slow on long lines",
];
const QUESTION: &str = "key of the harbour office";

fn imported(db: &Fresh, folder: &Path) {
    let turn = |(n, text): (usize, &str)| {
        let at = format!("2026-03-01T10:{n:02}:00Z");
        json!({"kind": "memory", "id": format!("t{n}"), "content": text, "at": at, "session": "talk",
            "mentions": ["Harbour"]})
        .to_string()
    };
    let lines: Vec<String> = TURNS.into_iter().enumerate().map(|(n, text)| turn((n, text))).collect();
    let file = folder.join("events.ndjson");
    fs::write(&file, lines.join("\n")).unwrap();
    ebb(db, &["import", file.to_str().unwrap()]).json();
}

/// The ids of the hits with their relevance.
fn relevances(answer: &Value) -> Vec<(String, Option<f64>)> {
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| (hit["id"].as_str().unwrap().to_owned(), hit["relevance"].as_f64())).collect()
}

/// Whether an answer says that nothing is relevant.
fn says_nothing(answer: &Value) -> bool {
    answer["flags"].as_array().unwrap().contains(&json!("nothing_relevant"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_least_relevance_leaves_out_hits_and_says_if_none_is_left() {
    let (db, folder) = (fresh().await, tempfile::tempdir().unwrap());
    imported(&db, folder.path());
    let api = TestServer::on(&db, &[]);
    let ask = |body: Value| api.post("/v1/recall", &body.to_string());
    let all = ask(json!({"text": QUESTION})).json(200);
    let found = relevances(&all);
    let of = |id: &str| found.iter().find(|(hit, _)| hit == id).unwrap().1;
    assert!(of("t0").unwrap() > 0.5 && of("t2").unwrap() > 0.5, "{all:#}");
    assert!(found.len() > 4 && of("t5").unwrap() < 0.1, "{all:#}");
    assert_eq!(of("Harbour"), None, "an entity has no text");

    // Fewer hits, in their order, each with the relevance that it has beside all others.
    let some = ask(json!({"text": QUESTION, "min_relevance": 0.3})).json(200);
    assert_eq!(some["flags"], all["flags"], "{some:#}");
    let relevant = found.iter().filter(|(_, own)| own.is_some_and(|own| own >= 0.3));
    assert_eq!(relevances(&some), relevant.cloned().collect::<Vec<_>>(), "{some:#}");
    assert_eq!(some["hits"].as_array().unwrap().len(), 2, "{some:#}");
    let one = ask(json!({"text": QUESTION, "top_k": 1, "kinds": ["Memory"]})).json(200);
    assert_eq!(relevances(&one)[0].1, of(ids(&one)[0]), "{one:#}");

    // A word of the question is in a memory that does not answer it.
    let question = "which cake does the minister of finance prefer";
    assert_eq!(ids(&ask(json!({"text": question})).json(200)).first(), Some(&"t4"));
    let none = ask(json!({"text": question, "min_relevance": 0.3})).json(200);
    assert_eq!((&none["hits"], says_nothing(&none)), (&json!([]), true), "{none:#}");
    let table = ebb(&db, &["recall", question, "--min-relevance", "0.3", "-o", "table"]).out;
    assert!(table.contains("Nothing relevant."), "{table}");
    for least in [-0.1, 1.5] {
        let says = format!("min_relevance is {least}; it must be from 0 to 1");
        ask(json!({"text": "x", "min_relevance": least})).fails(400, "validation", &says);
    }
    ebb(&db, &["recall", "x", "--min-relevance", "2"]).fails(2, "a number from 0 to 1");
    let why = ebb(&db, &["why-not", "t5", QUESTION, "--min-relevance", "0.3"]).json();
    assert_eq!(why["reason"], "not_relevant", "{why:#}");

    // A turn between two hits is left out as well.
    let context = |body: Value| api.post("/v1/context", &body.to_string()).json(200);
    let lines = |answer: &Value| answer["text"].as_str().unwrap().lines().count();
    let whole = context(json!({"text": QUESTION, "max_tokens": 500}));
    assert!(whole["text"].as_str().unwrap().contains("Wait a moment"), "{whole:#}");
    let short = context(json!({"text": QUESTION, "max_tokens": 500, "min_relevance": 0.3}));
    assert_eq!(lines(&short), 2, "{short:#}");
    assert!(short["memories"][0]["relevance"].as_f64().unwrap() >= 0.3, "{short:#}");
    let none = context(json!({"text": question, "min_relevance": 0.3}));
    assert_eq!((&none["text"], says_nothing(&none)), (&json!(""), true), "{none:#}");
    let empty = ebb(&db, &["recall", question, "--min-relevance", "0.3", "--context", "500"]);
    assert!(empty.out.is_empty() && empty.err.contains("nothing relevant"), "{}{}", empty.out, empty.err);
}

/// A mirror that followed each write, and one that was loaded at once.
#[tokio::test(flavor = "multi_thread")]
async fn relevance_is_the_same_however_a_mirror_came_to_its_state() {
    let (db, folder) = (fresh().await, tempfile::tempdir().unwrap());
    db.embeds(3).await;
    let settings = [("EBB__EMBEDDING__DIMENSIONS", "3")];
    let run = |args: &[&str]| -> CliOutput {
        command(&db, folder.path(), args).envs(settings).output().unwrap().into()
    };
    run(&["init", "--yes"]).json();
    let api = TestServer::on(&db, &settings);
    // Texts are not read, so that a mirror that has not followed shows it.
    let question = json!({"text": "harbour office", "embedding": [0.9, 0.3, 0.1], "content": false});
    fs::write(folder.path().join("q.json"), question["embedding"].to_string()).unwrap();
    let ask = || api.post("/v1/recall", &question.to_string()).json(200);
    assert_eq!(ids(&ask()), [""; 0]);
    for (n, text) in TURNS.into_iter().enumerate() {
        let turned = [1.0, 0.3 * n as f64, 0.7 - 0.2 * n as f64];
        let body = json!({"id": format!("t{n}"), "content": text, "embedding": turned}).to_string();
        api.post("/v1/memories", &body).json(201);
        ask();
    }
    // Replaced and removed ones leave rows behind, which count for nothing.
    let mut last = Value::Null;
    for n in 0..20 {
        let body = json!({"id": format!("x{n}"), "content": "harbour office", "embedding": [1, 0, 0]});
        api.post("/v1/memories", &body.to_string()).json(201);
        ask();
        last = api.delete(&format!("/v1/memories/x{n}")).json(200)["change"].clone();
    }
    let mut all = question.clone();
    (all["at_least"], all["wait_ms"]) = (last, json!(5_000));
    let all = api.post("/v1/recall", &all.to_string()).json(200);
    assert_eq!(all["flags"], json!([]), "{all:#}");
    let followed = relevances(&all);
    assert!(followed.len() > 2 && followed.iter().all(|(_, own)| own.is_some()), "{followed:?}");
    let loaded = run(&["recall", "harbour office", "--embedding", "q.json"]).json();
    assert_eq!(relevances(&loaded), followed);
    drop(api);
}
