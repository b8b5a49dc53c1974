//! `ebb import` and `ebb replay`: golden answers, bad lines with their place, and files that are repeated.

use super::{CliOutput, command, contents, ebb};
use crate::harness::neo4j::{Fresh, empty, fresh};
use insta::assert_json_snapshot;
use std::path::Path;

const EVENTS: &str = r#"{"at":"2026-01-01T10:00:00Z","kind":"memory","id":"a","content":"the build needs JAVA_HOME","session":"s"}
{"at":"2026-01-01T10:05:00Z","kind":"access","id":"a","session":"s"}
{"at":"2026-01-01T10:06:00Z","kind":"access","id":"a","session":"s"}
{"at":"2026-01-01T10:07:00Z","kind":"memory","id":"b","content":"Dana prefers small changes","session":"s"}
{"at":"2026-01-01T12:00:00Z","kind":"session_end","session":"s"}
{"at":"2026-01-01T18:00:00Z","kind":"memory","id":"c","content":"the flaky test is a time zone"}
"#;

fn on(db: &Fresh, folder: &Path, args: &[&str]) -> CliOutput {
    command(db, folder, args).output().unwrap().into()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_imported_once_and_goes_on_where_it_stopped() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("e.ndjson");
    std::fs::write(&file, EVENTS).unwrap();
    let before = contents(&db).await;
    assert_json_snapshot!(
        "import_dry_run",
        on(&db, folder.path(), &["import", "e.ndjson", "--dry-run"]).golden()
    );
    assert_eq!(contents(&db).await, before);
    assert_json_snapshot!("import", on(&db, folder.path(), &["import", "e.ndjson"]).golden());
    let again = on(&db, folder.path(), &["import", "e.ndjson"]).json();
    assert_eq!((&again["events"], &again["lines_before"]), (&0.into(), &6.into()));
    let longer = format!("{EVENTS}{}\n", r#"{"at":"2026-01-01T18:01:00Z","kind":"access","id":"c"}"#);
    std::fs::write(&file, longer).unwrap();
    assert_eq!(on(&db, folder.path(), &["import", "e.ndjson"]).json()["events"], 1);
    std::fs::write(&file, EVENTS.replacen("10:05", "10:04", 1)).unwrap();
    on(&db, folder.path(), &["import", "e.ndjson"]).fails(1, "have changed since");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_line_stops_with_its_place_or_is_set_aside() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let bad = EVENTS.replacen("\"kind\":\"access\"", "\"kind\":\"acess\"", 1);
    std::fs::write(folder.path().join("e.ndjson"), &bad).unwrap();
    let before = contents(&db).await;
    for args in [["import", "e.ndjson"].as_slice(), &["import", "e.ndjson", "--dry-run"]] {
        let said = on(&db, folder.path(), args);
        said.fails(1, "error: e.ndjson:2: unknown variant `acess`");
        assert!(said.err.contains("--skip-bad"), "{}", said.err);
    }
    let memories = |rows: &[String]| rows.iter().filter(|row| row.contains(" Memory ")).count();
    assert_eq!(memories(&contents(&db).await), memories(&before), "nothing of its batch");
    let rehearsed = on(&db, folder.path(), &["import", "e.ndjson", "--dry-run", "--skip-bad"]).json();
    assert_eq!(rehearsed["bad"][0]["line"], 2);
    let done = on(&db, folder.path(), &["import", "e.ndjson", "--skip-bad"]).json();
    assert_eq!((&done["events"], &done["skipped_bad"]), (&5.into(), &1.into()));
    let aside = std::fs::read_to_string(folder.path().join("e.ndjson.skipped.ndjson")).unwrap();
    assert!(aside.contains(r#""line":2"#), "{aside}");
    std::fs::write(
        folder.path().join("no.ndjson"),
        EVENTS.replace("\"a\"", "\"gone\"").lines().nth(1).unwrap(),
    )
    .unwrap();
    on(&db, folder.path(), &["import", "no.ndjson"]).fails(1, "no.ndjson:1: there is no memory gone");
    on(&db, folder.path(), &["import", "nothing.ndjson"]).fails(1, "nothing.ndjson: ");
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_without_a_scope_go_on_in_the_scope_of_the_first_import_alone() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("team.ndjson"), EVENTS).unwrap();
    let import = |scope: &str| on(&db, folder.path(), &["import", "team.ndjson", "--scope", scope]);
    assert_eq!(import("alice").json()["events"], 6);
    let before = contents(&db).await;
    let rehearsed = on(&db, folder.path(), &["import", "team.ndjson", "--scope", "bob", "--dry-run"]);
    for said in [import("bob"), rehearsed] {
        said.fails(1, "6 lines of team.ndjson were imported with the default scope alice before");
        assert!(said.err.contains("try: the same command with --scope alice"), "{}", said.err);
    }
    assert_eq!(contents(&db).await, before);
    assert_eq!(import("alice").json()["lines_before"], 6);
    std::fs::write(folder.path().join("of-bob.ndjson"), EVENTS).unwrap();
    let done = on(&db, folder.path(), &["import", "of-bob.ndjson", "--scope", "bob"]).json();
    assert_eq!(done["events"], 6);

    // Begun, without a line that is done; then as an earlier version has left it.
    db.client.run("MATCH (i:EbbImport {name: 'team.ndjson'}) SET i.lines = 0, i.digest = ''", &[]).await;
    assert_eq!(import("carol").json()["events"], 6);
    import("alice").fails(1, "with the default scope carol before");
    db.client.run("MATCH (i:EbbImport {name: 'team.ndjson'}) REMOVE i.defaultScope", &[]).await;
    assert_eq!(import("alice").json()["lines_before"], 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_runs_the_jobs_and_leaves_real_memories_alone() {
    let db = empty().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("e.ndjson"), EVENTS).unwrap();
    let said = on(&db, folder.path(), &["replay", "e.ndjson"]);
    assert_json_snapshot!("replay", said.golden());
    assert!(said.err.contains("scratch database at"), "{}", said.err);
    let again = on(&db, folder.path(), &["replay", "e.ndjson", "--until", "2026-01-02"]).json();
    assert_eq!((&again["events"], &again["ended_at"]), (&0.into(), &"2026-01-02T00:00:00.000Z".into()));
    // What is asked without an instant means the simulated one, and simulated time lies ahead of nothing.
    let status = ebb(&db, &["status"]).json();
    assert_eq!((&status["scratch"], &status["at"]), (&true.into(), &"2026-01-02T00:00:00.000Z".into()));
    ebb(&db, &["memory", "access", "a", "--at", "2999-01-01"]).json();
    let before = contents(&db).await;
    std::fs::write(folder.path().join("other.ndjson"), EVENTS.replace("\"a\"", "\"d\"")).unwrap();
    on(&db, folder.path(), &["replay", "other.ndjson"]).fails(1, "marked for another replay");
    assert_eq!(contents(&db).await, before);
    on(&db, folder.path(), &["demo"]).fails(1, "marked for another replay");
    drop(db);

    let real = fresh().await;
    ebb(&real, &["memory", "add", "mine", "--id", "mine"]).json();
    on(&real, folder.path(), &["replay", "e.ndjson"]).fails(1, "simulated time must not touch real memories");
    ebb(&real, &["memory", "access", "mine", "--at", "+2h"]).fails(3, "ahead of the server's clock");
    ebb(&real, &["memory", "access", "mine", "--at", "+2h", "--yes"]).json();
}
