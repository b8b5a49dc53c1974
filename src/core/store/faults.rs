//! Fault injection for tests: stop points, and a history of commits. Only in a build with debug assertions.
//!
//! | variable | for example | does |
//! |---|---|---|
//! | `EBB_STOP` | `after_claim:2:kill` | at the second time that the point is reached: kill, stop (until SIGCONT), exit, panic |
//! | `EBB_DOZE` | `after_claim:160` | each time that the point is reached: the thread sleeps so many milliseconds |
//! | `EBB_HISTORY` | a file | gets a line of JSON before each commit of a run, and one after it with its outcome |
//! | `EBB_CLOCK_SKEW_MS` | `-86400000` | sets the clock of the process wrong by so many milliseconds, see [`crate::clock`] |

#![cfg_attr(
    debug_assertions,
    expect(clippy::disallowed_methods, reason = "tests configure the process by its environment")
)]

use serde_json::Value;

/// Points at which a test may interrupt the process. The variant is the name of the point.
macro_rules! stop_point {
    ($name:literal) => {
        #[cfg(debug_assertions)]
        $crate::store::faults::stop::at($name);
    };
}
pub(super) use stop_point;

/// History entry of a commit.
#[derive(Default)]
pub(super) struct CommitLog {
    #[cfg(debug_assertions)]
    line: Option<(u64, Value)>,
}

/// Outcome of a commit, as far as this process knows.
#[derive(Debug, Clone, Copy)]
pub(super) enum CommitOutcome {
    Committed,
    Failed,
    Unknown,
}

impl CommitLog {
    /// Describes a commit; evaluated only if a history is written.
    pub(super) fn of(what: impl FnOnce() -> Value) -> Self {
        #[cfg(debug_assertions)]
        return Self { line: history::next().map(|op| (op, what())) };
        #[cfg(not(debug_assertions))]
        {
            drop(what);
            Self {}
        }
    }

    /// Records that the commit is about to be sent.
    pub(super) fn record_start(&self) {
        #[cfg(debug_assertions)]
        if let Some((op, what)) = &self.line {
            history::write(*op, "invoke", what);
        }
    }

    /// Records the outcome of the commit.
    pub(super) fn record_end(&self, outcome: CommitOutcome) {
        #[cfg(debug_assertions)]
        if let Some((op, what)) = &self.line {
            let known = match outcome {
                CommitOutcome::Committed => "ok",
                CommitOutcome::Failed => "fail",
                CommitOutcome::Unknown => "info",
            };
            history::write(*op, known, what);
        }
        #[cfg(not(debug_assertions))]
        let _ = outcome;
    }
}

#[cfg(debug_assertions)]
pub(super) mod stop {
    use rustix::process::{Signal, getpid, kill_process};
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    struct Plan {
        point: String,
        hit: u32,
        action: String,
    }

    static PLAN: LazyLock<Option<Plan>> = LazyLock::new(|| {
        let plan = std::env::var("EBB_STOP").ok()?;
        let mut words = plan.split(':').map(str::to_owned);
        Some(Plan { point: words.next()?, hit: words.next()?.parse().ok()?, action: words.next()? })
    });
    static HITS: AtomicU32 = AtomicU32::new(0);
    static DOZE: LazyLock<Option<(String, Duration)>> = LazyLock::new(|| {
        let doze = std::env::var("EBB_DOZE").ok()?;
        let (point, ms) = doze.split_once(':')?;
        Some((point.to_owned(), Duration::from_millis(ms.parse().ok()?)))
    });

    pub(in super::super) fn at(point: &str) {
        if let Some((_, time)) = DOZE.as_ref().filter(|(dozed, _)| dozed == point) {
            // A job has its thread to itself.
            std::thread::sleep(*time);
        }
        let Some(plan) = PLAN.as_ref().filter(|plan| plan.point == point) else { return };
        if HITS.fetch_add(1, Ordering::SeqCst) + 1 != plan.hit {
            return;
        }
        match plan.action.as_str() {
            "kill" => drop(kill_process(getpid(), Signal::KILL)),
            "stop" => drop(kill_process(getpid(), Signal::STOP)),
            "exit" => std::process::exit(9),
            _ => std::panic::panic_any(format!("the stop point {point}")),
        }
    }
}

#[cfg(debug_assertions)]
mod history {
    use serde_json::{Value, json};
    use std::fs::File;
    use std::io::Write;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{LazyLock, Mutex};

    static FILE: LazyLock<Option<Mutex<File>>> = LazyLock::new(|| {
        let path = std::env::var("EBB_HISTORY").ok()?;
        File::options().create(true).append(true).open(path).ok().map(Mutex::new)
    });
    static NEXT: AtomicU64 = AtomicU64::new(1);

    pub(super) fn next() -> Option<u64> {
        FILE.as_ref().map(|_| NEXT.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn write(op: u64, known: &str, what: &Value) {
        let Some(mut file) = FILE.as_ref().and_then(|file| file.lock().ok()) else { return };
        let mut line = json!({
            // Lines of several processes are sorted by it, also if the clock of one is wrong.
            "at": crate::clock::Clock::Skewed(0).now().millis(),
            "process": format!("worker-{}", std::process::id()),
            "op": op,
            "known": known,
        });
        if let (Some(line), Some(what)) = (line.as_object_mut(), what.as_object()) {
            line.extend(what.clone());
        }
        // One call, so that a kill leaves a whole line or none; a full disk fails the test soon enough.
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}
