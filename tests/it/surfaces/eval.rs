//! `ebb eval`: files of events without a database, the graph of a database before and after maintenance, and the recall guard.

use super::http::TestServer;
use super::{CliOutput, command, ebb};
use crate::harness::neo4j::{Fresh, empty, fresh};
use crate::worker::process::eventually;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const EVENTS: &str = r#"{"at":"2026-01-01T10:00:00Z","kind":"memory","id":"tea","content":"Ann likes green tea","mentions":["Ann"],"embedding":[1,0]}
{"at":"2026-01-01T10:01:00Z","kind":"memory","id":"boat","content":"the boat is painted red","mentions":["Bob"],"embedding":[0,1]}
{"at":"2026-01-01T10:02:00Z","kind":"memory","id":"key","content":"the spare one hangs behind the door","mentions":["Ann"],"embedding":[0.6,0.8]}
{"at":"2026-01-01T10:03:00Z","kind":"access","id":"tea"}
{"at":"2026-01-01T10:04:00Z","kind":"access","id":"tea"}
{"at":"2026-01-02T10:00:00Z","kind":"memory","id":"far","content":"the harbour is far","scope":"team","embedding":[1,1]}
"#;
const QUESTIONS: &str = r#"{"question":"what does Ann drink, green tea","gold":["tea"],"class":"one","embedding":[1,0]}
{"question":"where does Ann keep it","gold":["key","nowhere"],"class":"two"}
{"question":"red boat","gold":["boat"],"class":"one"}
{"question":"harbour","gold":["far"],"scope":"team"}
"#;
/// No database answers there.
const NOWHERE: (&str, &str) = ("NEO4J_URI", "bolt://127.0.0.1:1");
const DIMENSIONS: (&str, &str) = ("EBB__EMBEDDING__DIMENSIONS", "2");

/// Expired memories are no hits.
const LIVE_ONLY: (&str, &str) = ("EBB__MIRROR__EXPIRED", "false");

fn on(db: &Fresh, folder: &Path, variables: &[(&str, &str)], args: &[&str]) -> CliOutput {
    command(db, folder, args).envs(variables.iter().copied()).output().unwrap().into()
}

fn written(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    folder
}

/// Means of a way at each number of hits.
fn means(answer: &Value, way: &str) -> Vec<f64> {
    let found = answer["ways"].as_array().unwrap().iter().find(|one| one["way"] == way);
    found.unwrap()["recall"].as_array().unwrap().iter().map(|share| share["mean"].as_f64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn events_and_questions_need_no_database() {
    let db = fresh().await;
    let folder = written(&[("e.ndjson", EVENTS), ("q.ndjson", QUESTIONS)]);
    let run = |args: &[&str]| on(&db, folder.path(), &[NOWHERE, DIMENSIONS], args);
    let answer = run(&["eval", "e.ndjson", "q.ndjson", "--top", "1,10", "--svg", "r.svg"]).json();
    assert_eq!(answer["schema"], "ebb.eval/1");
    assert_eq!((&answer["questions"], &answer["scopes"]), (&json!(4), &json!(2)));
    assert_eq!((&answer["memories_missing"], &answer["events_left_out"]), (&json!(1), &json!(2)));
    assert_eq!(means(&answer, "words alone (BM25)"), [0.75, 0.75], "no word leads to the key");
    assert_eq!(means(&answer, "Ebb")[1..], [0.875], "all but an id of no memory: {answer:#}");
    assert_eq!(means(&answer, "without links")[1..], [0.75]);
    assert_eq!(answer["answers"][0]["gold"], json!({"tea": 1}));
    assert_eq!(answer["answers"][1]["gold"]["nowhere"], Value::Null);
    let one = &answer["classes"][0];
    assert_eq!(
        (&one["class"], &one["questions"], &one["below_words"]),
        (&json!("one"), &json!(2), &json!(false))
    );
    assert!(fs::read_to_string(folder.path().join("r.svg")).unwrap().contains("without links"));

    let demo = |file: &str| format!("{}/config/demo/{file}", env!("CARGO_MANIFEST_DIR"));
    let month = run(&["eval", &demo("month.ndjson"), &demo("questions.ndjson"), "--without", "links"]).json();
    assert_eq!(month["memories_missing"], 0, "the questions of the docs are about the bundled month");

    let timeless = |mut answer: Value| {
        for way in answer["ways"].as_array_mut().unwrap() {
            way["p50_ms"] = Value::Null;
            way["p99_ms"] = Value::Null;
        }
        answer
    };
    let twice =
        [(); 2].map(|()| timeless(run(&["eval", "e.ndjson", "q.ndjson", "--without", "words"]).json()));
    assert_eq!(twice[0], twice[1], "an evaluation is the same each time");
    let page = run(&["eval", "e.ndjson", "q.ndjson", "-o", "table"]);
    assert!(page.out.contains("FIRST 5") && page.out.lines().all(|line| line.len() <= 100), "{}", page.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_is_refused_with_its_place() {
    let db = fresh().await;
    let folder = written(&[
        ("e.ndjson", EVENTS),
        ("q.ndjson", QUESTIONS),
        ("none.ndjson", "\n"),
        ("bad.ndjson", "{\"question\":\"a\",\"gold\":[\"tea\"]}\n{\"question\":\"b\"}\n"),
        (
            "twice.ndjson",
            "{\"question\":\"a\",\"gold\":[\"tea\"]}\n{\"question\":\"a\",\"gold\":[\"key\"]}\n",
        ),
        ("bad_events.ndjson", "{\"at\":\"2026-01-01T10:00:00Z\",\"kind\":\"memry\"}\n"),
        ("other.json", "{\"answers\":[{\"question\":\"else\",\"scope\":\"local\",\"gold\":{}}]}"),
    ]);
    let run = |args: &[&str]| on(&db, folder.path(), &[NOWHERE, DIMENSIONS], args);
    run(&["eval", "e.ndjson", "bad.ndjson"]).fails(1, "bad.ndjson:2: missing field `gold`");
    run(&["eval", "e.ndjson", "none.ndjson"]).fails(1, "none.ndjson:1: the file has no question");
    run(&["eval", "bad_events.ndjson", "q.ndjson"]).fails(1, "bad_events.ndjson:1: unknown variant `memry`");
    run(&["eval", "e.ndjson", "missing.ndjson"]).fails(1, "missing.ndjson: ");
    run(&["eval", "e.ndjson", "q.ndjson", "--top", "1,2,3,4,5"]).fails(2, "at most 4");
    run(&["eval", "e.ndjson", "q.ndjson", "--top", "201"]).fails(2, "1..=200");
    run(&["eval", "e.ndjson", "q.ndjson", "--max-loss", "0.1"]).fails(2, "--compare");
    run(&["eval", "q.ndjson", "--after-jobs"]).fails(2, "EVENTS");
    run(&["eval", "e.ndjson", "q.ndjson", "--compare", "e.ndjson"]).fails(2, "is no saved evaluation");
    // Before the events are read, which are missing.
    run(&["eval", "no.ndjson", "q.ndjson", "--compare", "other.json"]).fails(2, "none of the questions");
    run(&["eval", "no.ndjson", "twice.ndjson"]).fails(1, "twice.ndjson:2: the question is that of line 1");
    let few = [NOWHERE, DIMENSIONS, ("EBB__ENGINE__TOP_K_MAX", "15")];
    on(&db, folder.path(), &few, &["eval", "no.ndjson", "q.ndjson"]).fails(2, "engine.top_k_max is 15");
    let undrawn = run(&["eval", "e.ndjson", "q.ndjson", "--svg", "no/r.svg"]);
    assert_eq!(undrawn.any_json()["questions"], 4, "the figures are printed before the picture");
    undrawn.fails(1, "no/r.svg");
    let bare = on(&db, folder.path(), &[NOWHERE], &["eval", "e.ndjson", "q.ndjson"]);
    bare.fails(1, "embedding.dimensions");
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_may_run_before_the_questions() {
    let db = empty().await;
    db.embeds(2).await;
    let folder = written(&[("e.ndjson", EVENTS), ("q.ndjson", QUESTIONS)]);
    let run = |args: &[&str]| on(&db, folder.path(), &[DIMENSIONS, LIVE_ONLY], args);
    let before = run(&["eval", "e.ndjson", "q.ndjson"]);
    fs::write(folder.path().join("before.json"), &before.out).unwrap();
    // A day later, what was not accessed has expired.
    let args = ["eval", "e.ndjson", "q.ndjson", "--after-jobs", "--compare", "before.json"];
    let after = run(&args);
    after.fails(7, "recall among the first 10 hits fell");
    let after = after.any_json();
    let lost = after["comparison"]["lost"].as_array().unwrap();
    let boat = lost.iter().find(|lost| lost["question"] == "red boat").unwrap();
    assert_eq!(boat["memories"], json!([{"id": "boat", "before": 1, "now": null, "state": "expired"}]));
    assert!(lost.iter().all(|lost| lost["scope"] == "local"), "the last one is young: {after:#}");
    // The replay is not repeated.
    assert_eq!(run(&args).any_json()["comparison"], after["comparison"]);
    // A reader that has gone, such as `head`, changes neither the exit code nor the picture.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut unread = command(&db, folder.path(), &[&args[..], &["--svg", "r.svg"][..]].concat());
    let unread: CliOutput = unread.envs([DIMENSIONS, LIVE_ONLY]).stdout(writer).output().unwrap().into();
    unread.fails(7, "recall among the first 10 hits fell");
    assert!(folder.path().join("r.svg").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn maintenance_that_loses_memories_is_noticed() {
    let db = fresh().await;
    for (id, content) in [("m1", "The parser was rewritten in spring"), ("m2", "Lunch was good")] {
        ebb(&db, &["memory", "add", content, "--id", id]).json();
    }
    let folder = written(&[("q.ndjson", "{\"question\":\"who wrote the parser\",\"gold\":[\"m1\"]}\n")]);
    let questions = folder.path().join("q.ndjson");
    let baseline = folder.path().join("before.json");
    let run = |args: &[&str]| on(&db, folder.path(), &[LIVE_ONLY], args);
    fs::write(&baseline, run(&["eval", "q.ndjson"]).out).unwrap();
    let same = run(&["eval", "q.ndjson", "--compare", "before.json", "--max-loss", "0"]).json();
    assert_eq!((&same["comparison"]["before"], &same["comparison"]["lost"]), (&json!(1.0), &json!([])));

    let guard = [
        ("EBB__RECALL_GUARD__QUESTIONS", questions.to_str().unwrap()),
        ("EBB__RECALL_GUARD__BASELINE", baseline.to_str().unwrap()),
        ("EBB__RECALL_GUARD__EVERY", "1s"),
        ("EBB__MIRROR__REFRESH", "1s"),
        LIVE_ONLY,
    ];
    let served = TestServer::on(&db, &guard);
    let has = |metric: &str| served.get("/metrics").body.lines().any(|line| line == metric);
    eventually("the questions are asked", async || has("ebb_recall_guard_recall 1")).await;
    assert!(has("ebb_recall_guard_baseline 1") && has("ebb_recall_guard_lost_questions 0"));
    assert!(has("ebb_recall_guard_max_loss 0.05"));
    let recorded = || ebb(&db, &["status"]).json()["recall_guard"].clone();
    eventually("the result is recorded", async || recorded()["recall"] == 1.0).await;
    assert_eq!((&recorded()["questions"], &recorded()["lost_questions"]), (&json!(1), &json!(0)));
    ebb(&db, &["job", "run", "decay", "--at", "+2d", "--yes"]).json();
    eventually("the loss is noticed", async || has("ebb_recall_guard_lost_questions 1")).await;
    assert!(has("ebb_recall_guard_recall 0"));
    eventually("the loss is recorded", async || recorded()["recall"] == 0.0).await;
    let lost = recorded();
    assert_eq!((&lost["baseline"], &lost["lost_questions"]), (&json!(1.0), &json!(1)));
    assert!(lost["max_loss"] == 0.05 && lost["age_ms"].as_i64().unwrap() >= 0, "{lost:#}");
    let page = ebb(&db, &["status", "-o", "table"]).out;
    assert!(page.contains("lost more than recall_guard.max_loss"), "{page}");
    // A row that is no result is none.
    db.client.run("MATCH (c:EbbCounter {name: 'recall_guard'}) SET c.recall = 'all'", &[]).await;
    assert_eq!(recorded(), Value::Null);
    eventually("the loss is logged", async || served.log().contains("m1 (expired)")).await;
    assert!(served.log().contains("recall is worse than before"));

    let later = run(&["eval", "q.ndjson", "--compare", "before.json"]);
    later.fails(7, "fell from 1.000 to 0.000");
    assert_eq!(later.any_json()["comparison"]["lost"][0]["memories"][0]["state"], "expired");
    run(&["eval", "q.ndjson", "--compare", "before.json", "--max-loss", "1"]).json();

    let without_baseline = guard.map(|(name, value)| match name {
        "EBB__RECALL_GUARD__BASELINE" => ("EBB__RECALL_GUARD__MAX_LOSS", "0.1"),
        _ => (name, value),
    });
    let restarted = TestServer::on(&db, &without_baseline);
    let has = |metric: &str| restarted.get("/metrics").body.lines().any(|line| line == metric);
    eventually("the first answers are the baseline", async || has("ebb_recall_guard_baseline 0")).await;
    assert!(has("ebb_recall_guard_max_loss 0.1") && has("ebb_recall_guard_failures_total 0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recall_guard_that_cannot_be_used_stops_the_start() {
    let db = fresh().await;
    let folder = written(&[
        ("bad.ndjson", "{\"question\":\"a\"}\n"),
        ("other.ndjson", "{\"question\":\"a\",\"gold\":[\"m\"],\"scope\":\"elsewhere\"}\n"),
    ]);
    for (file, says) in [
        ("bad.ndjson", "bad.ndjson:1: missing field `gold`"),
        ("other.ndjson", "the scope elsewhere of a question is not in mirror.scopes"),
        ("few.ndjson", "the first 10 hits are compared, and engine.top_k_max is 9"),
    ] {
        let most = if file == "few.ndjson" { "9" } else { "100" };
        let variables = [
            ("EBB__RECALL_GUARD__QUESTIONS", file),
            ("EBB__HTTP__LISTEN", "127.0.0.1:0"),
            ("EBB__ENGINE__TOP_K_MAX", most),
        ];
        on(&db, folder.path(), &variables, &["serve", "--roles", "http"])
            .fails(1, &format!("the section [recall_guard] cannot be used: {says}"));
    }
}
