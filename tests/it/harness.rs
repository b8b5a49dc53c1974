//! What tests share: a real server, a clean database, and a second client that looks at what Ebb left.

pub(crate) mod clocks;
pub(crate) mod ebb;
pub(crate) mod embedder;
pub(crate) mod fake_bolt;
pub(crate) mod graph;
pub(crate) mod neo4j;
pub(crate) mod plan;
pub(crate) mod proxy;
pub(crate) mod random;
pub(crate) mod random_row;
pub(crate) mod rows;
pub(crate) mod server;

use std::io::Write;

/// An outcome without its value, and with its error as text.
pub(crate) fn error_text<T, E: std::fmt::Display>(outcome: Result<T, E>) -> Result<(), String> {
    outcome.map(drop).map_err(|why| why.to_string())
}

/// Counts a test that cannot run here: seen at once, and again at the end of a run of all checks.
#[expect(clippy::disallowed_methods, reason = "a run of the checks says where it counts")]
pub(crate) fn skipped(test: &str, why: &str) {
    let line = format!("skipped: {test}: {why}\n");
    // Not by a macro, whose output is kept back for a test that passes.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Ok(notes) = std::env::var("EBB_CI_NOTES") {
        let notes = std::fs::File::options().create(true).append(true).open(notes);
        notes.unwrap().write_all(line.as_bytes()).unwrap();
    }
}
