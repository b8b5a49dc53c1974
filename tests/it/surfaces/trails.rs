//! `ebb trail`, and trails in files of events.

use super::{command, contents, ebb};
use crate::harness::neo4j::fresh;
use insta::assert_json_snapshot;

#[tokio::test(flavor = "multi_thread")]
async fn a_palace_from_its_first_room_to_its_silence() {
    let db = fresh().await;
    let at = |args: &[&str], at: &str| ebb(&db, &[args, &["--at", at]].concat());
    let day = |args: &[&str]| at(args, "2026-01-01T00:00Z");
    let wing = ["trail", "node", "add", "Wing", "w1", "--name", "Projects"];
    assert_json_snapshot!("trail_node", day(&wing).golden());
    assert_eq!(day(&wing).json()["created"], false);
    for (label, id) in [("Room", "r1"), ("Room", "r2"), ("Drawer", "d1")] {
        day(&["trail", "node", "add", label, id]).json();
    }
    assert_json_snapshot!("trail_edge", day(&["trail", "edge", "add", "w1", "HAS_ROOM", "r1"]).golden());
    day(&["trail", "edge", "add", "Wing:w1", "HAS_ROOM", "Room:r2"]).json();
    day(&["trail", "edge", "add", "r1", "HALL", "d1", "--base-cost", "0.4"]).json();
    day(&["trail", "edge", "add", "r2", "HALL", "d1"]).json();
    let before = contents(&db).await;
    let walk = ["trail", "deposit", "w1", "r1", "d1"];
    assert_json_snapshot!("trail_deposit_dry_run", day(&[&walk[..], &["--dry-run"]].concat()).golden());
    assert_eq!(contents(&db).await, before, "a dry run writes nothing");
    let once = [&walk[..], &["--request-id", "w"]].concat();
    let done = day(&once).json();
    assert_eq!(
        day(&once).json()["edges"][0]["success"],
        done["edges"][0]["success"],
        "a request counts once"
    );
    assert_json_snapshot!("trail_explore", day(&["trail", "explore", "r2"]).golden());
    assert_json_snapshot!("trail_status", at(&["trail", "status", "w1", "r1"], "2026-01-01T10:00Z").golden());
    assert_json_snapshot!("trail_hot", at(&["trail", "hot"], "2026-01-01T10:00Z").golden());
    assert_json_snapshot!("trail_cold", day(&["trail", "cold", "--limit", "2"]).golden());
    assert_json_snapshot!("trail_next", day(&["trail", "next", "w1"]).golden());
    assert_json_snapshot!("trail_path", day(&["trail", "path", "w1", "d1"]).golden());
    let not_yet = at(&["trail", "evaporate"], "2026-01-01T05:00Z").json();
    assert_eq!(not_yet["changed"], 0);
    let forced = at(&["trail", "evaporate", "--force"], "2026-01-01T05:00Z");
    assert_json_snapshot!("trail_evaporate", forced.golden());
    let far = |more: &[&str]| at(&[&["trail", "cycle", "--advance"], more].concat(), "2026-01-01T05:00Z");
    far(&["101"]).fails(8, "the same command with --accept-cycles 101");
    far(&["10001", "--accept-cycles", "10001"]).fails(2, "more than can be added at once");
    let cycle = at(&["trail", "cycle", "--advance", "10"], "2026-01-01T05:00Z");
    assert_json_snapshot!("trail_cycle", cycle.golden());
    assert_eq!(at(&["trail", "evaporate"], "2026-01-01T05:00Z").json()["changed"], forced.json()["changed"]);
    let hot = ebb(&db, &["inspect", "trails_hot"]).json();
    assert_eq!(hot["rows"][0]["from"], "w1", "the key that `ebb trail` takes, not the name");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_is_said_and_nothing_is_written() {
    let db = fresh().await;
    ebb(&db, &["trail", "node", "add", "Room", "r1"]).json();
    ebb(&db, &["trail", "node", "add", "Room", "r2"]).json();
    let before = contents(&db).await.len();
    let says = |args: &[&str], code: i32, says: &str| ebb(&db, args).fails(code, says);
    says(&["trail", "node", "add", "Roo`m", "x"], 2, "label \"Roo`m\" is not in the list");
    says(&["trail", "node", "add", "EbbRun", "x"], 2, "is not in the list of those that carry pheromones");
    says(&["trail", "edge", "add", "r1", "KNOWS", "r2"], 2, "HAS_ROOM, HAS_CLOSET");
    says(&["trail", "edge", "add", "r1", "HALL", "r9"], 1, "there is no place r9");
    says(&["trail", "edge", "add", "r1", "HALL", "r2", "--base-cost", "11"], 2, "it must be 0 to 10");
    says(&["trail", "deposit", "r1", "r2"], 1, "there is no edge between Room:r1 and Room:r2");
    says(&["trail", "deposit", "r1", "r2", "--reward", "0"], 2, "it must be above 0");
    says(&["--scope", "team", "trail", "explore", "r1"], 1, "there is no place r1");
    assert_eq!(contents(&db).await.len(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_events_lays_trails_once() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let events = r#"{"at":"2026-01-01T10:00:00Z","kind":"node","label":"Room","id":"a","name":"Kitchen"}
{"at":"2026-01-01T10:00:00Z","kind":"node","label":"Room","id":"b"}
{"at":"2026-01-01T10:00:00Z","kind":"edge","from":"a","to":"Room:b","type":"HALL"}
{"at":"2026-01-01T10:00:00Z","kind":"observe","from":"Alex","type":"works_on","to":"Alpha"}
{"at":"2026-01-01T10:00:00Z","kind":"edge","from":"b","to":"Entity:Alex","type":"REFERENCES"}
{"at":"2026-01-01T11:00:00Z","kind":"deposit","path":["a",{"id":"b","via":"HALL"},{"label":"Entity","id":"Alex"}],"reward":2}
{"at":"2026-01-01T12:00:00Z","kind":"explore","node":"a"}
"#;
    let file = folder.path().join("e.ndjson");
    std::fs::write(&file, events).unwrap();
    let run = |args: &[&str]| super::CliOutput::from(command(&db, folder.path(), args).output().unwrap());
    let once = run(&["import", "e.ndjson"]).json();
    assert_eq!((&once["events"], &once["by_kind"]["deposit"]), (&7.into(), &1.into()));
    assert_eq!(run(&["import", "e.ndjson"]).json()["events"], 0);
    let seen = ebb(&db, &["trail", "status", "a", "b", "--at", "2026-01-01T11:00Z"]).json();
    assert_eq!(seen["edges"][0]["success"], 2.0);
    let bad = [events, r#"{"at":"2026-01-01T12:00:00Z","kind":"explore","node":"nowhere"}"#, "\n"].concat();
    std::fs::write(&file, bad).unwrap();
    run(&["import", "e.ndjson"]).fails(1, "e.ndjson:8: there is no place nowhere");
    let aside = run(&["import", "e.ndjson", "--skip-bad"]).json();
    assert_eq!((&aside["events"], &aside["skipped_bad"]), (&0.into(), &1.into()));
}
