//! The program killed with -9 while it imports and replays, then started again with the same command.
//!
//! The moments come from a seed that is printed: a number of lines that must be done, then a few milliseconds more, so
//! that a kill falls anywhere in a transaction. Where it falls does not matter to what is asserted.

use crate::harness::graph;
use crate::harness::neo4j::{Fresh, fresh};
use crate::harness::random::Random;
use secrecy::ExposeSecret;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const MONTH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/config/demo/month.ndjson");
/// The first days of the bundled month: enough for promotions, expiries and ends of sessions.
const LINES: usize = 420;
const KILLS: u64 = 5;

fn days(folder: &Path) -> PathBuf {
    let text = std::fs::read_to_string(MONTH).unwrap();
    let some: String = text.lines().take(LINES).map(|line| format!("{line}\n")).collect();
    let path = folder.join("days.ndjson");
    std::fs::write(&path, some).unwrap();
    path
}

fn ebb(db: &Fresh, verb: &str, file: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_ebb"))
        .args([verb, file.to_str().unwrap(), "-o", "json"])
        .env("NEO4J_URI", &db.config.uri)
        .env("NEO4J_USERNAME", "neo4j")
        .env("NEO4J_PASSWORD", db.config.password.expose_secret())
        .current_dir(file.parent().unwrap())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn ends_well(child: Child) -> serde_json::Value {
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    serde_json::from_slice(&ended.stdout).unwrap()
}

/// Runs a verb on a file, killed several times, and returns the graph that is left.
async fn killed(db: &Fresh, verb: &str, file: &Path, random: &mut Random) -> Vec<String> {
    let lines = "MATCH (i:EbbImport) RETURN coalesce(max(i.lines), 0) AS lines";
    for kill in 1..=KILLS {
        let mut child = ebb(db, verb, file);
        let wanted = i64::try_from(LINES as u64 * kill / (KILLS + 1)).unwrap();
        while db.client.value::<i64>(lines).await < wanted && child.try_wait().unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        tokio::time::sleep(Duration::from_millis(random.bits() % 40)).await;
        child.kill().unwrap();
        child.wait().unwrap();
    }
    ends_well(ebb(db, verb, file));
    graph::replayed(&db.client).await
}

async fn survives(verb: &str, seed: u64) {
    let db = fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let file = days(folder.path());
    let done = ends_well(ebb(&db, verb, &file));
    assert_eq!(done["events"], LINES);
    let undisturbed = graph::replayed(&db.client).await;
    db.clear().await;
    let left = killed(&db, verb, &file, &mut Random::seeded(seed)).await;
    graph::same(&undisturbed, &left, "killed and repeated");
    let again = ends_well(ebb(&db, verb, &file));
    assert_eq!(again["events"], 0, "a file that is done has nothing left to bring");
    graph::same(&undisturbed, &graph::replayed(&db.client).await, "repeated once more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_killed_five_times_leaves_the_graph_of_an_undisturbed_one() {
    survives("replay", 20_260_302).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_killed_five_times_counts_every_event_once() {
    survives("import", 20_260_303).await;
}
