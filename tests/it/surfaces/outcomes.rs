//! Outcomes as agents and people report them: over HTTP, on the command line, and in files of events.

use super::http::TestServer;
use super::recall::{ids, told};
use super::{CliOutput, command, contents};
use crate::harness::neo4j::{Fresh, empty, fresh};
use serde_json::{Value, json};
use std::path::Path;

const QUESTION: &str = r#"{"text":"who maintains the Parser"}"#;

fn hit<'a>(answer: &'a Value, id: &str) -> &'a Value {
    answer["hits"].as_array().unwrap().iter().find(|hit| hit["id"] == id).unwrap()
}

fn on(db: &Fresh, folder: &Path, args: &[&str]) -> CliOutput {
    command(db, folder, args).output().unwrap().into()
}

async fn waiting(db: &Fresh) -> Vec<Vec<String>> {
    let text = "MATCH (r:EbbRequest) WHERE r.waits IS NOT NULL RETURN r.active AS active ORDER BY r.at, r.id";
    db.client.column(text).await
}

async fn accesses(db: &Fresh) -> Vec<i64> {
    db.client.column("MATCH (m:Memory) WHERE m.id IN ['m1', 'm2'] RETURN m.accessCount ORDER BY m.id").await
}

async fn related(db: &Fresh) -> Option<f64> {
    db.client.value("MATCH ()-[r:RELATES_TO]->() RETURN r.success_pheromone AS success").await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_recall_answered_is_reported_and_counts_once() {
    let db = fresh().await;
    told(&db);
    let api = TestServer::on(&db, &[]);
    let answer = api.post("/v1/recall", QUESTION).json(200);
    let m1 = hit(&answer, "m1");
    assert_eq!(m1["path"], json!(["Parser", "m1"]), "{answer:#}");
    let body = json!({
        "recall_id": answer["recall_id"],
        "used": [{"id": "m1", "path": m1["path"]}, {"id": "m2", "path": ["Parser", "Alex", "m2"]}],
        "reward": 0.5,
    });
    let done = api.once("o", "/v1/outcomes", &body.to_string()).unchanging(200);
    assert_eq!(done["recall_id"], answer["recall_id"]);
    // Of three steps one is a relation; mentions carry no pheromones.
    for (field, wanted) in
        [("accessed", 2), ("active", 4), ("left_out", 0), ("deposits", 1), ("not_in_trails", 2)]
    {
        assert_eq!(done[field], wanted, "{field}: {done}");
    }
    assert_eq!((&done["learns"], &done["dry_run"]), (&json!(true), &json!(false)));
    assert_eq!(api.once("o", "/v1/outcomes", &body.to_string()).unchanging(200), done, "its answer again");
    assert_eq!(waiting(&db).await, [["Parser", "m1", "Alex", "m2"]]);
    assert_eq!(accesses(&db).await, [2, 2], "each is accessed, once");
    assert_eq!(related(&db).await, Some(0.5), "the first step of its path earns all of the reward");

    let mut other = body.clone();
    other["reward"] = json!(1);
    api.once("o", "/v1/outcomes", &other.to_string()).fails(409, "conflict", "used for another request");
    let mut apart = body.clone();
    apart["access"] = json!(false);
    assert_eq!(api.post("/v1/outcomes", &apart.to_string()).json(200)["accessed"], 0);
    assert_eq!(accesses(&db).await, [2, 2], "they were accessed on their own");
    assert_eq!(waiting(&db).await.len(), 2, "without a key each counts");
    // A cycle may have passed.
    assert!(related(&db).await.is_some_and(|success| success > 0.9));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_an_outcome_is_said_by_its_field_and_nothing_is_written() {
    let db = fresh().await;
    told(&db);
    let api = TestServer::on(&db, &[]);
    let before = contents(&db).await;
    let one = r#"{"id":"m1","path":["Parser","m1"]}"#;
    let long = serde_json::to_string(&["m1"; 23]).unwrap();
    for (recall, used, reward, says) in [
        ("r", String::new(), "1", "used has 0 hits"),
        ("r", format!("{one},{one}"), "1", "used[1].id: m1 is in used[0] already"),
        ("r", r#"{"id":"m1","path":["Parser"]}"#.to_owned(), "1", "used[0].path ends at Parser"),
        ("r", r#"{"id":"m1","path":["","m1"]}"#.to_owned(), "1", "used[0].path[0] is empty"),
        ("r", format!(r#"{{"id":"m1","path":{long}}}"#), "1", "used[0].path has 23 nodes"),
        ("r", r#"{"id":"m1"}"#.to_owned(), "1", "used[0]: missing field `path`"),
        ("r", r#"{"id":"m1","path":[["m1"]]}"#.to_owned(), "1", "used[0].path[0]: invalid type"),
        ("r", r#"{"id":"m1","path":[],"score":1}"#.to_owned(), "1", "unknown field `score`"),
        ("r", one.to_owned(), "0", "reward is 0"),
        ("r", one.to_owned(), "-1", "reward is -1"),
        ("r", one.to_owned(), "10.5", "reward is 10.5"),
        ("r", one.to_owned(), "1e999", "reward: "),
        ("r", one.to_owned(), r#"1,"rewards":1"#, "unknown field `rewards`"),
        (" ", one.to_owned(), "1", "recall_id: the id of a recall is empty"),
    ] {
        let body = format!(r#"{{"recall_id":"{recall}","used":[{used}],"reward":{reward}}}"#);
        api.post("/v1/outcomes", &body).fails(400, "validation", says);
    }
    let unworthy = format!(r#"{{"recall_id":"r","used":[{one}]}}"#);
    api.post("/v1/outcomes", &unworthy).fails(400, "validation", "missing field `reward`");
    assert_eq!(contents(&db).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_takes_an_answer_as_it_was_printed() {
    let db = fresh().await;
    told(&db);
    let folder = tempfile::tempdir().unwrap();
    let ebb = |args: &[&str]| on(&db, folder.path(), args);
    let said = ebb(&["recall", "who maintains the Parser"]);
    let answer = said.json();
    assert!(ids(&answer).contains(&"Alex"), "{answer:#}");
    std::fs::write(folder.path().join("answer.json"), &said.out).unwrap();
    let before = contents(&db).await;
    let report = ["outcome", "answer.json", "--used", "m1", "--used", "Alex", "--reward", "2"];
    let rehearsed = ebb(&[&report[..], &["--dry-run"]].concat()).json();
    assert_eq!((&rehearsed["schema"], &rehearsed["dry_run"]), (&json!("ebb.outcome/1"), &json!(true)));
    assert_eq!(contents(&db).await, before, "a dry run writes nothing");
    let once = [&report[..], &["--request-id", "o"]].concat();
    let done = ebb(&once).json();
    assert_eq!((&done["recall_id"], &done["active"]), (&answer["recall_id"], &rehearsed["active"]));
    assert_eq!(ebb(&once).json(), done);
    let taught = waiting(&db).await;
    assert_eq!(taught.len(), 1);
    for id in ["m1", "Alex"] {
        assert!(taught[0].iter().any(|one| one == id), "{id}: {taught:?}");
    }
    let table = ebb(&[&once[..], &["-o", "table"]].concat()).out;
    assert!(table.contains("1 memory was accessed."), "{table}");
    assert!(table.contains("nodes will gain weight for each other."), "{table}");

    let left = contents(&db).await;
    ebb(&["outcome", "answer.json", "--used", "nobody"]).fails(2, "the response has no hit nobody");
    ebb(&["outcome", "answer.json", "--used", "m1", "--reward", "0"]).fails(2, "reward is 0");
    ebb(&["outcome", "nowhere.json", "--used", "m1"]).fails(2, "nowhere.json cannot be read");
    std::fs::write(folder.path().join("other.json"), "{\"hits\":[]}").unwrap();
    ebb(&["outcome", "other.json", "--used", "m1"]).fails(2, "other.json is not the response of a recall");
    assert_eq!(contents(&db).await, left);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hit_ten_hops_away_has_its_path_and_teaches() {
    let db = fresh().await;
    let chain: Vec<String> = (0..=10).map(|n| format!("Stop {}", char::from(b'A' + n))).collect();
    let folder = tempfile::tempdir().unwrap();
    let ebb = |args: &[&str]| on(&db, folder.path(), args);
    for ends in chain.windows(2) {
        ebb(&["relation", "observe", &ends[0], "leads to", &ends[1]]).json();
    }
    let said = ebb(&["recall", "--seed", "Stop A", "--top", "20"]);
    let answer = said.json();
    assert_eq!(hit(&answer, "Stop K")["path"], json!(chain), "{answer:#}");
    std::fs::write(folder.path().join("answer.json"), &said.out).unwrap();
    let done = ebb(&["outcome", "answer.json", "--used", "Stop K"]).json();
    assert_eq!((&done["active"], &done["deposits"]), (&json!(11), &json!(10)), "{done}");
    let ran = ebb(&["job", "run", "learn"]).json();
    assert_eq!(
        (&ran["outcomes"], &ran["synapses"]),
        (&json!(1), &json!(20)),
        "ten relations, both ways: {ran}"
    );
}

const EVENTS: &str = r#"{"at":"2026-01-01T10:00:00Z","kind":"memory","id":"a","content":"the build needs a home","mentions":["Build"]}
{"at":"2026-01-01T10:01:00Z","kind":"outcome","query":"what does the Build need","top_k":5,"useful":["b"]}
{"at":"2026-01-01T10:02:00Z","kind":"memory","id":"b","content":"Dana mended the build","mentions":["Build","Dana"]}
{"at":"2026-01-01T10:03:00Z","kind":"outcome","query":"what does the Build need","top_k":5,"useful":["a","b"],"reward":0.5}
{"at":"2026-01-01T10:04:00Z","kind":"session_end","session":"s"}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn an_outcome_of_a_file_is_asked_of_what_came_before_it_and_counts_once() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let four: Vec<&str> = EVENTS.lines().take(4).collect();
    std::fs::write(folder.path().join("e.ndjson"), four.join("\n")).unwrap();
    let ebb = |args: &[&str]| on(&db, folder.path(), args);
    let checked = ebb(&["import", "e.ndjson", "--dry-run"]).json();
    assert_eq!((&checked["by_kind"]["memory"], &checked["by_kind"]["outcome"]), (&json!(2), &json!(2)));
    assert!(waiting(&db).await.is_empty());
    let done = ebb(&["import", "e.ndjson"]).json();
    assert_eq!((&done["events"], &done["by_kind"]["outcome"]), (&json!(4), &json!(2)), "{done}");
    assert_eq!(done["outcomes_without_hit"], 1, "there was no b yet");
    let taught = waiting(&db).await;
    assert_eq!(taught.len(), 1);
    for id in ["a", "b", "Build"] {
        assert!(taught[0].iter().any(|one| one == id), "{id}: {taught:?}");
    }
    assert_eq!(ebb(&["import", "e.ndjson"]).json()["events"], 0);
    // Where nobody knows any more how far the file is, its requests are known still. This time there is a b.
    db.client.run("MATCH (i:EbbImport) DELETE i", &[]).await;
    let again = ebb(&["import", "e.ndjson"]).json();
    assert_eq!((&again["events"], again.get("outcomes_without_hit")), (&json!(4), None));
    let both = waiting(&db).await;
    assert_eq!((both.len(), &both[0]), (2, &taught[0]), "{both:?}");

    let elsewhere = four[3].replace(r#""top_k""#, r#""scope":"team","top_k""#);
    std::fs::write(folder.path().join("team.ndjson"), elsewhere + "\n").unwrap();
    let asked = ebb(&["import", "team.ndjson"]).json();
    assert_eq!(
        (&asked["events"], &asked["outcomes_without_hit"]),
        (&json!(1), &json!(1)),
        "nothing is there"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_is_repeated_leaves_one_outcome() {
    let db = empty().await;
    let folder = tempfile::tempdir().unwrap();
    let events = EVENTS.replace(r#""id":"a","#, r#""id":"a","session":"s","#);
    std::fs::write(folder.path().join("e.ndjson"), events).unwrap();
    let ebb = |args: &[&str]| on(&db, folder.path(), args);
    // What waited may have been learned by then; its request stays.
    let requests = async || -> Vec<String> {
        let text = "MATCH (r:EbbRequest) WHERE r.answer CONTAINS '\"learns\":true' RETURN r.id AS id";
        db.client.column(text).await
    };
    let done = ebb(&["replay", "e.ndjson"]).json();
    assert_eq!((&done["events"], &done["by_kind"]["outcome"]), (&json!(5), &json!(2)), "{done}");
    assert_eq!(done["outcomes_without_hit"], 1);
    let first = requests().await;
    assert_eq!(first.len(), 1);
    assert_eq!(ebb(&["replay", "e.ndjson"]).json()["events"], 0);
    assert_eq!(requests().await, first);
}
