//! The history of a round: what every process asked for, and what it knows of the outcome, one line of JSON each.
//!
//! A process appends to a file of its own, so that nobody waits for anybody and a killed one leaves what it wrote. A
//! line with `invoke` comes before the request or the commit, one with `ok`, `fail` or `info` after it; `info` means
//! that the outcome is unknown. What has an `invoke` and nothing after it is unknown as well: its process was killed.

use serde::{Deserialize, Serialize};
use std::path::Path;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line {
    /// Epoch milliseconds by the clock of the machine on which all processes of a round run.
    pub(crate) at: i64,
    /// Who writes.
    pub(crate) process: String,
    /// Which of its operations.
    pub(crate) op: u64,
    /// What it knows of it.
    pub(crate) known: Known,
    /// What the process was told of a failure, for whoever reads the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// What it is.
    #[serde(flatten)]
    pub(crate) what: What,
}

/// What a process knows of the outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Known {
    /// It is about to be asked for.
    Invoke,
    /// It has happened.
    Ok,
    /// It has not happened and will not.
    Fail,
    /// It may have happened.
    Info,
}

/// An operation of a client, a commit of a worker, or a look of the harness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(crate) enum What {
    /// A client makes a memory.
    Remember {
        id: String,
        content: String,
        now: i64,
        #[serde(default)]
        session: Option<String>,
    },
    /// A client uses a memory; `revived` is told on success.
    Access {
        id: String,
        now: i64,
        #[serde(default)]
        revived: bool,
    },
    /// A client pins or unpins a memory; on success with what it is from then on.
    Pin {
        id: String,
        now: i64,
        pin: bool,
        #[serde(default)]
        left: Option<Left>,
    },
    /// A client forgets a memory for good.
    Forget { id: String, now: i64 },
    /// A client accesses a row of the adopted graph, by its key.
    AccessRow { row: String },
    /// A client ends a session.
    EndSession { session: String, now: i64 },
    /// Another program writes rows, by the names that they carry as their `row`.
    Leave { rows: Vec<String> },
    /// The harness files an outcome, to be learned.
    Outcome { id: String },
    /// A worker opens a run, or takes one over: from its outcome on it holds that fence.
    Take { job: String, occurrence: String, fence: i64, holder: String },
    /// A worker commits a transaction of a run, perhaps one of an attempt.
    Commit {
        tx: String,
        job: String,
        occurrence: String,
        fence: i64,
        holder: String,
        batch: i64,
        #[serde(default)]
        attempt: Option<String>,
    },
    /// A worker ends a run.
    Close { job: String, occurrence: String, fence: i64, holder: String, state: String },
    /// The harness looks at runs, attempts and marks in the middle of a round.
    Look { runs: Vec<RunSeen>, attempts: Vec<AttemptSeen>, doubly_marked: Vec<String> },
    /// The harness has made a dry run of a job at rest, with a hash of the graph, its ledger apart, before and after.
    DryRun { job: String, before: String, after: String },
    /// The server was stopped in order, and started again: what it acknowledged in between is unknown. One that is stopped
    /// ends transactions that last too long, and Neo4j 5.26 was seen to acknowledge the commit of one that it had ended.
    Stopped { from: i64, until: i64 },
    /// The harness has hurt a process.
    Hurt { victim: String, how: String },
}

/// What a memory is after it was pinned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Left {
    pub(crate) tier: String,
    pub(crate) energy: f64,
    pub(crate) energy_at: i64,
}

/// A run as the graph shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunSeen {
    pub(crate) job: String,
    pub(crate) occurrence: String,
    pub(crate) state: String,
    pub(crate) fence: i64,
    pub(crate) batch: i64,
    /// The instant that its laws see.
    pub(crate) now: i64,
    #[serde(default)]
    pub(crate) scheduled: bool,
}

/// An attempt as the graph shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AttemptSeen {
    pub(crate) id: String,
    pub(crate) state: String,
}

/// The lines of every `*.ndjson` file in a folder, each process's in its own order, the whole in the order of time.
///
/// # Errors
/// A file that cannot be read, or a line, other than the last of a file, that is none: a killed process may leave half of
/// a line at its end.
pub(crate) fn read(folder: &Path) -> Result<Vec<Line>, String> {
    let said = |path: &Path, why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let mut lines = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .map_err(|why| said(folder, &why))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "ndjson"))
        .collect();
    files.sort();
    for path in files {
        let text = std::fs::read_to_string(&path).map_err(|why| said(&path, &why))?;
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let process = path.file_stem().unwrap_or_default().to_string_lossy();
        for (number, line) in whole.lines().enumerate() {
            let read = serde_json::from_str(line);
            let mut line: Line = read.map_err(|why| said(&path, &format!("line {}: {why}", number + 1)))?;
            // A worker knows the number of its process, which the system gives to another one hours later.
            if line.process.starts_with("worker-") {
                line.process = process.clone().into_owned();
            }
            lines.push(line);
        }
    }
    lines.sort_by_key(|line: &Line| line.at);
    Ok(lines)
}
