//! The backup that `ebb demo` restores: what a replay of the bundled month leaves at 17:00 of its last day.
//!
//! To make it anew, after a change of the laws, the schema or the month:
//!
//! ```sh
//! EBB_UPDATE=1 cargo test --test it -- --ignored the_backup_of_the_demo
//! ```

use super::stories::updates;
use super::{CliOutput, command};
use crate::harness::graph;
use crate::harness::neo4j::{Fresh, empty, fresh};
use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/config/demo");
/// The instant from which the demo replays events.
const REPLAYED_FROM: &str = "2026-03-31T17:00:00Z";
/// Largest file that is committed.
const BYTES_MAX: usize = 700_000;
/// Rows of work done, which the demo does not read: most of a backup.
const WORK: &str = "MATCH (n:EbbChange|EbbJournal|EbbRun|ConsolidationAttempt) DETACH DELETE n";

fn compress(text: &[u8], into: &Path) {
    let mut file = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    file.write_all(text).unwrap();
    fs::write(into, file.finish().unwrap()).unwrap();
}

/// All rows but the mark of a scratch database, which a replay writes and a restore does not.
async fn rows(db: &Fresh) -> Vec<String> {
    let mut rows = graph::remembered(&db.client).await;
    rows.retain(|row| !row.starts_with("(EbbScratch"));
    rows
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes: replays a month"]
async fn the_backup_of_the_demo_is_what_a_replay_leaves() {
    let db = empty().await;
    let folder = tempfile::tempdir().unwrap();
    let (policies, bundled) = (format!("{DEMO}/policies.toml"), format!("{DEMO}/before.ndjson.gz"));
    let ask = |args: &[&str]| {
        let output = command(&db, folder.path(), args).args(["--config", &policies, "--yes"]).output();
        CliOutput::from(output.unwrap()).json()
    };
    // The name of the file is part of the key of its import.
    fs::copy(format!("{DEMO}/month.ndjson"), folder.path().join("month.ndjson")).unwrap();
    ask(&["replay", "month.ndjson", "--until", REPLAYED_FROM]);
    let replayed = rows(&db).await;
    let backup = folder.path().join("before.ndjson");
    if updates() {
        db.client.run(WORK, &[]).await;
        ask(&["backup", "before.ndjson"]);
        compress(&fs::read(&backup).unwrap(), Path::new(&bundled));
    }
    let compressed = fs::read(&bundled).unwrap();
    assert!(compressed.len() <= BYTES_MAX, "{} bytes", compressed.len());
    let mut text = Vec::new();
    GzDecoder::new(compressed.as_slice()).read_to_end(&mut text).unwrap();
    fs::write(&backup, text).unwrap();
    db.client.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS", &[]).await;
    ask(&["restore", "before.ndjson"]);
    let hint = "the backup of the demo has gone stale; the docs of this file say how to make it anew";
    graph::same(&replayed, &rows(&db).await, hint);
}

/// The refusal advises a server of the demo's own, in a folder that must be its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_demo_that_is_refused_writes_no_file() {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let ask = |args: &[&str]| CliOutput::from(command(&db, folder.path(), args).output().unwrap());
    ask(&["memory", "add", "mine", "--id", "mine"]).json();
    ask(&["demo"]).fails(1, "leaving NEO4J_URI unset");
    for name in ["demo", "demo-files"] {
        assert!(!folder.path().join(".ebb").join(name).exists(), "{name}");
    }
}
