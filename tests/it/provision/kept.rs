//! A server that is kept for the next command: found hung, after the clock was set back, with other settings, and with a
//! database that is already initialised.

use super::{Place, acquire, config, cypher, eventually, keeper, kill, record, runs};
use ebb_provision::{Config, Error};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const TEN_MINUTES: Duration = Duration::from_secs(600);

fn pid(home: &Path) -> u64 {
    record(home).unwrap()["pid"].as_u64().unwrap()
}

/// Runs the program on the managed server of this place; returns its answer and what it wrote to stderr.
fn ebb(place: &Place, variables: &[(&str, &str)], args: &[&str]) -> (Value, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ebb"));
    command
        .args(args)
        .current_dir(place.folder.path())
        .env_remove("NEO4J_URI")
        .env_remove("NEO4J_PASSWORD")
        .env("EBB_NEO4J", "maven")
        .env("EBB__NEO4J__HOME", place.home())
        .env("EBB__NEO4J__CACHE", env!("CARGO_TARGET_TMPDIR"))
        .env("EBB__NEO4J__START_TIMEOUT", "120s")
        .env("EBB__NEO4J__HEAP_MB", "512")
        .env("EBB__NEO4J__PAGECACHE_MB", "64")
        .envs(variables.iter().copied());
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{args:?}: {said}");
    (serde_json::from_slice(&output.stdout).unwrap(), said)
}

#[tokio::test]
async fn a_hung_server_is_replaced_unless_others_use_it() {
    let place = Place::new().await;
    let config = Config { keep: TEN_MINUTES, ..place.config() };
    let first = acquire(&config).await;
    cypher(&first.endpoint, "CREATE (:Kept {n: 42})");
    let hung = pid(&place.home());
    kill("STOP", hung);
    let refused = ebb_provision::acquire(&config, &keeper()).await.unwrap_err();
    assert!(matches!(refused, Error::Hung { .. }), "{refused}");
    assert!(refused.to_string().contains("ebb neo4j stop --force"), "{refused}");
    if cfg!(target_os = "linux") {
        assert!(refused.to_string().contains(&format!("(process {})", std::process::id())), "{refused}");
    }
    first.release().await.unwrap();

    let second = acquire(&config).await;
    assert!(!runs(hung));
    assert_eq!(cypher(&second.endpoint, "MATCH (k:Kept) RETURN k.n"), json!(42));
    second.release().await.unwrap();
    assert!(ebb_provision::stop(&config, false).await.unwrap());
}

#[tokio::test]
async fn a_last_use_in_the_future_does_not_keep_a_server_until_then() {
    let place = Place::new().await;
    let short = Config { keep: Duration::from_secs(2), ..place.config() };
    acquire(&short).await.release().await.unwrap();
    let touched =
        Command::new("touch").args(["-d", "tomorrow"]).arg(place.home().join("in-use.lock")).status();
    assert!(touched.unwrap().success());
    eventually("the server ended", || record(&place.home()).is_none()).await;
}

#[tokio::test]
async fn settings_that_a_running_server_does_not_have_are_named() {
    let place = Place::new().await;
    ebb(&place, &[], &["init"]);
    let others = [("EBB__NEO4J__HEAP_MB", "640"), ("EBB__NEO4J__KEEP", "1h")];
    let changed = "neo4j.heap_mb = 512 (now 640), neo4j.keep = 600s (now 3600s)";
    let (_, said) = ebb(&place, &others, &["memory", "list"]);
    assert!(said.contains(&format!("{changed}; to apply yours: ebb neo4j stop")), "{said}");
    let (_, said) = ebb(&place, &others, &["init"]);
    assert!(said.contains("runs on for 10m after each use"), "{said}");
    let (status, _) = ebb(&place, &others, &["neo4j", "status"]);
    assert_eq!(status["server"]["keep_seconds"], 600);
    assert_eq!(status["server"]["changed_settings"].as_array().unwrap().len(), 2);
    let (_, said) = ebb(&place, &[], &["memory", "list"]);
    assert_eq!(said, "");

    ebb(&place, &others, &["neo4j", "stop"]);
    ebb(&place, &others, &["memory", "list"]);
    let (status, _) = ebb(&place, &others, &["neo4j", "status"]);
    assert_eq!(status["server"]["keep_seconds"], 3_600);
    assert_eq!(status["server"]["changed_settings"], json!([]));
    ebb(&place, &others, &["neo4j", "stop"]);
}

/// The graph itself says what it was initialised with, so a restored backup is initialised again.
#[tokio::test]
async fn a_database_is_initialised_by_what_the_graph_says() {
    let place = Place::new().await;
    ebb(&place, &[], &["init"]);
    let server = acquire(&Config { keep: TEN_MINUTES, ..config(&place.home()) }).await;
    let read = |statement: &str| cypher(&server.endpoint, statement);
    let digest = || read("MATCH (s:EbbSettings) RETURN s.settingsDigest");
    let plain = digest();
    assert_eq!(plain.as_str().unwrap().len(), 64);
    let written = || read("MATCH (s:EbbSettings) RETURN toString(s.at) + s.by");
    let (before, index) = (written(), "SHOW VECTOR INDEXES YIELD name RETURN collect(name)");
    ebb(&place, &[], &["memory", "list"]);
    assert_eq!((written(), digest()), (before, plain.clone()), "nothing changed, and nothing is written");

    let vectors = [("EBB__EMBEDDING__DIMENSIONS", "3")];
    ebb(&place, &vectors, &["memory", "list"]);
    let name = read(index)[0].as_str().unwrap().to_owned();
    assert_ne!(digest(), plain);

    // As a backup from before that.
    read(&format!("DROP INDEX {name}"));
    read(&format!("MATCH (s:EbbSettings) SET s.settingsDigest = {plain}"));
    ebb(&place, &vectors, &["memory", "list"]);
    assert_eq!(read(index), json!([name]));

    // What a worker with other settings stores, which is no initialisation, ends what was said of the last one.
    let half_life = [("EBB__RELATION__HALFLIFEDAYS", "30")];
    ebb(&place, &half_life, &["init"]);
    assert_eq!(digest(), json!(null));
    ebb(&place, &[], &["memory", "list"]);
    assert_eq!(digest(), plain);
    assert_eq!(read("MATCH (s:EbbSettings) RETURN s.relationHalfLifeMs / 86400000"), json!(90.0));
    server.release().await.unwrap();
    assert!(ebb_provision::stop(&config(&place.home()), false).await.unwrap());
}
