//! Processes whose clocks are wrong, and what must hold of a graph that they write to.

#![expect(clippy::disallowed_methods, reason = "the harness reads where a person has libfaketime")]

use super::neo4j::Fresh;
use super::skipped;
use secrecy::ExposeSecret;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const DAY_MS: i64 = 24 * 3_600_000;
/// By how many milliseconds a clock is wrong: a day behind, two days and fifty years ahead.
pub(crate) const WRONG_MS: [i64; 3] = [-DAY_MS, 2 * DAY_MS, 50 * 365 * DAY_MS];
/// By how many milliseconds clocks may differ: docs/explanation/clocks.md.
pub(crate) const ALLOWED_MS: i64 = 60_000;

/// How a process gets a wrong clock.
pub(crate) enum ClockFault {
    /// By its own variable, which a release does not have.
    Injected,
    /// By libfaketime, as any program would.
    Faked(PathBuf),
}

impl ClockFault {
    /// With libfaketime, from `EBB_LIBFAKETIME` or the usual folders. Where it is missing, `test` counts as skipped.
    pub(crate) fn faked(test: &str) -> Option<Self> {
        let stated = std::env::var("EBB_LIBFAKETIME").ok().map(PathBuf::from);
        let usual = ["/usr/lib", "/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"]
            .map(|folder| Path::new(folder).join("faketime/libfaketime.so.1"));
        let found = stated.into_iter().chain(usual).find(|path| path.exists());
        if found.is_none() {
            skipped(test, "libfaketime is not installed; on Debian: apt-get install libfaketime");
        }
        found.map(Self::Faked)
    }

    /// What sets the clock of a process wrong by so many milliseconds.
    pub(crate) fn variables(&self, wrong_ms: i64) -> Vec<(&'static str, String)> {
        match self {
            Self::Injected => vec![("EBB_CLOCK_SKEW_MS", wrong_ms.to_string())],
            // Its timers run as before: what is wrong is the date.
            Self::Faked(library) => vec![
                ("LD_PRELOAD", library.display().to_string()),
                ("FAKETIME", format!("{:+}", wrong_ms / 1_000)),
                ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
                ("DONT_FAKE_MONOTONIC", "1".to_owned()),
            ],
        }
    }
}

/// What `/readyz` says of a clock that is wrong by so many milliseconds.
pub(crate) fn refusal(wrong_ms: i64) -> String {
    let side = if wrong_ms < 0 { "behind" } else { "ahead of" };
    format!("s {side} the server's; correct one of them")
}

/// The gauge of the skew on a page of metrics, milliseconds.
pub(crate) fn skew_ms(metrics: &str) -> f64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix("ebb_clock_skew_seconds ")).unwrap();
    line.parse::<f64>().unwrap() * 1_000.0
}

/// What `ebb doctor` says of something, with these variables, and whether all is well.
pub(crate) fn doctor(db: &Fresh, variables: &[(&str, String)], what: &str) -> (Value, bool) {
    let folder = tempfile::tempdir().unwrap();
    let said = Command::new(env!("CARGO_BIN_EXE_ebb"))
        .args(["doctor", "-o", "json"])
        .env("NEO4J_URI", &db.config.uri)
        .env("NEO4J_PASSWORD", db.config.password.expose_secret())
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&said.stdout).unwrap();
    let findings = answer["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["what"] == what).unwrap().clone();
    (found, said.status.success())
}

/// The server's clock.
pub(crate) async fn server_ms(db: &Fresh) -> i64 {
    db.store.about().await.unwrap().server_now.millis()
}

/// Every instant in the graph that lies before `began` or after now, further than clocks may differ, with where it stands.
/// What is meant to lie ahead is left out, and so is what the harness itself dated.
pub(crate) async fn misdated(db: &Fresh, began: i64) -> Vec<String> {
    let first = began - ALLOWED_MS;
    let text = format!(
        "CALL () {{
           MATCH (n) WHERE NOT n:EbbMigration RETURN labels(n)[0] AS what, properties(n) AS of
           UNION ALL
           MATCH ()-[r]->() RETURN type(r) AS what, properties(r) AS of }}
         UNWIND keys(of) AS key
         WITH what, key, of[key] AS value WHERE NOT key IN ['dueAt', 'validUntil', 'expires', 'epoch']
         WITH what, key, CASE WHEN value IS :: ZONED DATETIME NOT NULL THEN value.epochMillis
           WHEN value IS :: INTEGER NOT NULL AND value > 1000000000000 THEN value END AS ms
         WHERE ms < {first} OR ms > datetime.realtime().epochMillis + {ALLOWED_MS}
         RETURN what + '.' + key + ' ' + toString(datetime({{epochMillis: ms}}))"
    );
    db.client.column(&text).await
}
