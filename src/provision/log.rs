//! Reads the logs of a managed server: why it exited, whether it is still replaying its transaction log, its version.
//! Neo4j's exit code is always 1, so only its log states the cause.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::Error;
use super::home::Home;

/// How much of a log's beginning or end is read, bytes: more than any start writes.
const PART: u64 = 256 * 1024;

/// File in the home with the server's own output.
pub(super) const SERVER_LOG: &str = "logs/server.log";
/// File in the home with the keeper's output.
pub(super) const KEEPER_LOG: &str = "logs/keeper.log";
/// Neo4j's own detailed log.
pub(super) const DEBUG_LOG: &str = "logs/debug.log";

/// Length of a file, bytes; 0 if there is none.
pub(super) fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |meta| meta.len())
}

/// The end of a file from `from` on, at most [`PART`] bytes. A file shorter than `from` was rotated and is
/// read from its start.
pub(super) fn tail(path: &Path, from: u64) -> String {
    let length = length(path);
    let from = if from > length { 0 } else { from }.max(length.saturating_sub(PART));
    part(path, from)
}

/// The beginning of a file, at most [`PART`] bytes: the output of the server's start.
fn head(path: &Path) -> String {
    part(path, 0)
}

/// At most [`PART`] bytes of a file; empty if it cannot be read.
fn part(path: &Path, from: u64) -> String {
    let mut bytes = Vec::new();
    let read = |bytes: &mut Vec<u8>| {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        file.take(PART).read_to_end(bytes)
    };
    match read(&mut bytes) {
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => String::new(),
    }
}

/// Whether the server that started at `from` in its detailed log is replaying transactions.
pub(super) fn recovering(home: &Home, from: u64) -> bool {
    let text = tail(&home.join(DEBUG_LOG), from);
    match (text.rfind("Recovery required"), text.rfind("Recovery completed")) {
        (Some(begun), Some(done)) => begun > done,
        (begun, _) => begun.is_some(),
    }
}

/// Whether the log of the server says that it has started: all its ports are then open, and its own.
pub(super) fn started(home: &Home) -> bool {
    head(&home.join(SERVER_LOG)).lines().any(|line| line.trim_end().ends_with("INFO  Started."))
}

/// The version in the server's output.
pub(super) fn version(home: &Home) -> Option<String> {
    let text = head(&home.join(SERVER_LOG));
    let (_, rest) = text.split_once("======== Neo4j ")?;
    Some(rest.split_whitespace().next()?.to_owned())
}

/// Why the server exited, from its log.
pub(super) fn cause(home: &Home) -> Error {
    classify(&tail(&home.join(SERVER_LOG), 0), home.path(), &home.join(SERVER_LOG))
}

/// Classifies a log by the phrases of each cause.
fn classify(text: &str, home: &Path, log: &Path) -> Error {
    let (home, log) = (home.to_path_buf(), log.to_path_buf());
    let line =
        |phrases: &[&str]| text.lines().find(|line| phrases.iter().any(|phrase| line.contains(phrase)));
    if line(&["FileLockException", "Lock file has been locked"]).is_some() {
        return Error::StoreLocked { home, log };
    }
    if let Some(line) = line(&[
        "OutOfMemoryError",
        "Could not reserve enough space",
        "insufficient memory",
        "Invalid maximum heap size",
    ]) {
        return Error::Memory { line: plain(line), log };
    }
    let store = [
        "Unknown store version",
        "Downgrade is not supported",
        "store version is not supported",
        "Store migration from",
        "UnsupportedLogVersion",
        "System graph version",
    ];
    if let Some(line) = line(&store) {
        return Error::StoreVersion { home, line: plain(line), log };
    }
    Error::Died { home, lines: meaningful(text), log }
}

/// Whether the log says that a port was taken.
pub(super) fn port_was_taken(error: &Error) -> bool {
    let Error::Died { lines, .. } = error else { return false };
    let lines = lines.to_lowercase();
    // Of Java and Docker: "Address already in use"; of Neo4j: "Address 127.0.0.1:7474 is already in use". The name of a container
    // may be in use too.
    let is_address = |line: &str| line.contains("address ") && line.contains("already in use");
    lines.lines().any(is_address) || lines.contains("port is already allocated")
}

/// The last relevant lines of an output: errors and their causes, else simply the last ones.
pub(super) fn meaningful(text: &str) -> String {
    let says = |line: &&str| {
        ["ERROR", "Error", "error", "Caused by", "Exception", "FATAL", "Unrecognized", "denied"]
            .iter()
            .any(|word| line.contains(word))
            && !line.trim_start().starts_with("at ")
    };
    let pick = |lines: Vec<&str>| {
        let mut lines: Vec<String> = lines.into_iter().map(plain).filter(|line| !line.is_empty()).collect();
        lines.dedup();
        let last = lines.split_off(lines.len().saturating_sub(6));
        last.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
    };
    let errors = pick(text.lines().filter(says).collect());
    let chosen = if errors.is_empty() { pick(text.lines().collect()) } else { errors };
    if chosen.is_empty() { "  (no output)".to_owned() } else { chosen }
}

/// A line without time, level and colours, cut to a length that fits a terminal or two.
fn plain(line: &str) -> String {
    let line = line
        .replace("\u{1b}[1m", "")
        .replace("\u{1b}[m", "")
        .replace("\u{1b}[1;31m", "")
        .replace("\u{1b}[0m", "");
    let line = line.trim().trim_start_matches("[ERROR]").trim();
    let line = match line.split_once(" ERROR ") {
        Some((time, rest)) if time.starts_with("20") => rest,
        _ => line,
    };
    line.trim_start_matches("Caused by: ").chars().take(240).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Error {
        classify(text, Path::new("/h"), Path::new("/h/logs/server.log"))
    }

    #[test]
    fn each_cause_has_its_own_error() {
        assert!(matches!(
            said(
                "Caused by: org.neo4j.io.locker.FileLockException: Lock file has been locked by another process: /h"
            ),
            Error::StoreLocked { .. }
        ));
        assert!(matches!(
            said("# There is insufficient memory for the Java Runtime Environment to continue."),
            Error::Memory { .. }
        ));
        assert!(matches!(said("x\njava.lang.OutOfMemoryError: Java heap space\n"), Error::Memory { .. }));
        let newer = "UnsupportedLogVersionException: the log files originates from an newer version of neo4j";
        assert!(matches!(said(newer), Error::StoreVersion { .. }));
        let port = said(
            "2026-11-21 10:18:28.699+0000 ERROR Failed to start Neo4j on 127.0.0.1:17474.\n\tat a.b\nCaused by: E: Address already in use\n",
        );
        assert!(port_was_taken(&port));
        assert!(
            port.to_string()
                .contains("  Failed to start Neo4j on 127.0.0.1:17474.\n  E: Address already in use\n"),
            "{port}"
        );
        let port = said(
            "ERROR Failed to start Neo4j on 127.0.0.1:7474: Address 127.0.0.1:7474 is already in use, cannot bind to it.\n",
        );
        assert!(port_was_taken(&port), "{port}");
        assert!(!port_was_taken(&said(
            "Error: Conflict. The container name \"/ebb\" is already in use by container"
        )));
        assert!(!port_was_taken(&said("Unrecognized setting. No declared setting with name: x")));
    }

    #[test]
    fn an_output_without_errors_still_shows_its_end() {
        assert_eq!(meaningful("one\n\ntwo\n"), "  one\n  two");
        assert_eq!(meaningful(""), "  (no output)");
    }

    #[test]
    fn a_tail_begins_anew_in_a_file_that_was_rotated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "abcdef").unwrap();
        assert_eq!(tail(&path, 4), "ef");
        assert_eq!(tail(&path, 40), "abcdef");
        assert_eq!(tail(&folder.path().join("none"), 0), "");
    }
}
