//! The backup that `ebb demo` restores: what a replay of the bundled month leaves before its last days.
//!
//! To make it anew, after a change of the laws, the schema or the month:
//!
//! ```sh
//! EBB_UPDATE=1 cargo test --test it -- --ignored the_backup_of_the_demo
//! ```

use super::stories::updates;
use super::{CliOutput, command};
use crate::harness::graph;
use crate::harness::neo4j::empty;

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/config/demo");
/// The day from which the demo replays events.
const REPLAYED_FROM: &str = "2026-03-30T00:00:00Z";
/// Largest file that is committed.
const BYTES_MAX: u64 = 2_000_000;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes: replays four weeks"]
async fn the_backup_of_the_demo_is_what_a_replay_leaves() {
    let db = empty().await;
    let folder = tempfile::tempdir().unwrap();
    let (policies, backup) = (format!("{DEMO}/policies.toml"), format!("{DEMO}/before.ndjson"));
    let ask = |args: &[&str]| {
        let output = command(&db, folder.path(), args).args(["--config", &policies, "--yes"]).output();
        CliOutput::from(output.unwrap()).json()
    };
    // The name of the file is part of the key of its import.
    std::fs::copy(format!("{DEMO}/month.ndjson"), folder.path().join("month.ndjson")).unwrap();
    ask(&["replay", "month.ndjson", "--until", REPLAYED_FROM]);
    let replayed = graph::remembered(&db.client).await;
    if updates() {
        // Nothing of the demo reads them.
        let text = "MATCH (n:EbbChange|EbbJournal|ConsolidationAttempt) DETACH DELETE n";
        db.client.run(text, &[]).await;
        ask(&["backup", &backup]);
    }
    assert!(std::fs::metadata(&backup).unwrap().len() <= BYTES_MAX);
    db.client.run("MATCH (n) DETACH DELETE n", &[]).await;
    ask(&["restore", &backup]);
    let hint = "the backup of the demo has gone stale; the docs of this file say how to make it anew";
    graph::same(&replayed, &graph::remembered(&db.client).await, hint);
}
