//! The command line as a script meets it: the built program on a real database, what it prints, and how it ends.
//!
//! Every instant is stated, so answers are the same each time; what cannot be (ids of runs, wall-clock times, the
//! server) is replaced by its name before it is compared with the golden file.

mod adopt;
mod adopted;
mod backup;
mod compare;
mod demo;
mod dimensions;
mod embedding;
mod engine;
mod eval;
mod events;
mod facts;
mod git;
mod guides;
mod http;
mod injection;
mod learned;
mod mcp;
mod memories;
mod mirrors;
mod on_demand;
mod operations;
mod outcomes;
mod recall;
mod record;
mod relations;
mod relevance;
mod scopes;
mod stories;
mod trails;
mod upgrade;
mod why_not;
mod wrong;

use crate::harness::neo4j::Fresh;
use secrecy::ExposeSecret;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// How a run of the program went.
pub(super) struct CliOutput {
    /// Its exit code.
    pub(super) code: Option<i32>,
    /// What it printed to stdout.
    pub(super) out: String,
    /// What it printed to stderr.
    pub(super) err: String,
}

impl CliOutput {
    /// The answer as JSON; the run must have ended well.
    #[track_caller]
    pub(super) fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self.any_json()
    }

    /// The answer as JSON, however the run ended.
    #[track_caller]
    pub(super) fn any_json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|why| panic!("{why}: {}{}", self.out, self.err))
    }

    /// The answer for a golden file.
    #[track_caller]
    pub(super) fn golden(&self) -> Value {
        redacted(self.json())
    }

    /// Asserts how it ended, and that stderr says this.
    #[track_caller]
    pub(super) fn fails(&self, code: i32, says: &str) {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        assert!(self.err.contains(says), "{}", self.err);
    }
}

impl From<Output> for CliOutput {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

/// The program on this database, in a folder of its own and with no environment but the server's.
pub(super) fn command(db: &Fresh, folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ebb"));
    command
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("NEO4J_URI", &db.config.uri)
        .env("NEO4J_PASSWORD", db.config.password.expose_secret())
        .stdin(Stdio::null());
    command
}

/// Runs the program on this database.
pub(super) fn ebb(db: &Fresh, args: &[&str]) -> CliOutput {
    let folder = tempfile::tempdir().unwrap();
    command(db, folder.path(), args).output().unwrap().into()
}

/// Everything that is in the database, in an order that does not depend on how it came there. Settings of a process that started, and what serving processes say of
/// their mirrors is left out: it comes and goes by itself.
pub(super) async fn contents(db: &Fresh) -> Vec<String> {
    let mut all: Vec<String> = db
        .client
        .column(
            "CALL () { \
               MATCH (n) WHERE NOT n:EbbSettings AND NOT (n:EbbCounter AND n.name STARTS WITH 'mirror:') RETURN labels(n) AS kind, properties(n) AS of, elementId(n) AS id \
               UNION ALL \
               MATCH ()-[r]->() RETURN [type(r)] AS kind, properties(r) AS of, elementId(r) AS id } \
             RETURN id + reduce(text = '', label IN kind | text + ' ' + label) + \
               reduce(text = '', key IN keys(of) | text + ' ' + key + '=' + coalesce(toStringOrNull(of[key]), \
               reduce(list = '', item IN of[key] | list + '[' + coalesce(toStringOrNull(item), '') + ']')))",
        )
        .await;
    all.sort();
    all
}

/// What differs from run to run, by the name of its field.
const VOLATILE: [&str; 14] = [
    "occurrence",
    "run_id",
    "started",
    "finished",
    "seconds",
    "events_per_second",
    "uri",
    "version",
    "edition",
    "found",
    "set_aside_in",
    "next",
    "lag_seconds",
    "svg",
];

fn redacted(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| {
                let value = if VOLATILE.contains(&name.as_str()) && !value.is_null() {
                    Value::from(format!("[{name}]"))
                } else {
                    redacted(value)
                };
                (name, value)
            })
            .collect(),
        Value::Array(values) => values.into_iter().map(redacted).collect(),
        // The last digits of an energy are the machine's.
        Value::Number(number) if number.is_f64() => {
            Value::from((number.as_f64().unwrap() * 1e9).round() / 1e9)
        }
        other => other,
    }
}
