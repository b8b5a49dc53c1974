//! The counters of a worker since it started.
//!
//! One lock for all counters: it is taken once a run and once a survey, and a reader sees consistent numbers.

use crate::domain::units::Timestamp;
use crate::jobs::JobName;
use crate::store::{GuardedRecall, Tally};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The end of a run, as a metric label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    Done,
    Failed,
    /// A guard stopped it before it wrote.
    Guarded,
    Panicked,
    /// Another worker took it over meanwhile.
    Lost,
    /// This worker stopped.
    Released,
}

impl Ending {
    /// All outcomes.
    pub const ALL: [Self; 6] =
        [Self::Done, Self::Failed, Self::Guarded, Self::Panicked, Self::Lost, Self::Released];

    /// Metric label.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Guarded => "guarded",
            Self::Panicked => "panicked",
            Self::Lost => "lost",
            Self::Released => "released",
        }
    }
}

/// Counters of one job.
#[derive(Debug, Clone, Default)]
pub struct JobCounts {
    /// Runs by outcome.
    pub runs: BTreeMap<Ending, u64>,
    /// Total duration of runs.
    pub took: Duration,
    /// Rows by what was done to them.
    pub rows: BTreeMap<&'static str, i64>,
    /// Occurrences that never ran.
    pub missed: u64,
    /// Occurrences that started although their timer had not fired.
    pub unfired: u64,
    /// Occurrences that became due during the previous run.
    pub overlaps: u64,
    /// Runs of dead holders that this worker finished.
    pub adopted: u64,
    /// How long a run has been due.
    pub lag: Duration,
    /// Time since the lease of its open run expired.
    pub stranded: Duration,
    /// When the last completed run ended.
    pub last_done: Option<Timestamp>,
}

/// Counters of the worker.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    pub jobs: BTreeMap<JobName, JobCounts>,
    /// Attempts with an expired lease that this worker ended.
    pub reaped: u64,
    /// Failed reads of the ledger.
    pub failed_looks: u64,
    /// Why no job can start, if none can.
    pub stopped: Option<String>,
    /// Configuration changes that were rejected for faults.
    pub failed_reloads: u64,
    /// Quarantined rows, at the last survey.
    pub quarantined: i64,
    /// Attempts still open long after their lease expired, at the last survey.
    pub stuck: i64,
    /// This machine's clock minus the server's, milliseconds, at the last survey.
    pub skew_ms: i64,
    /// The last result of the recall guard, if there is one.
    pub recall_guard: Option<GuardedRecall>,
    /// Times its questions could not be asked.
    pub recall_guard_failures: u64,
}

/// The counters of one worker.
#[derive(Debug, Default)]
pub struct Meter(Mutex<Counts>);

impl Meter {
    /// The counters, locked.
    pub fn counts(&self) -> MutexGuard<'_, Counts> {
        // Counters stay usable after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the counters of a job.
    pub fn job(&self, job: JobName, change: impl FnOnce(&mut JobCounts)) {
        change(self.counts().jobs.entry(job).or_default());
    }
}

impl JobCounts {
    /// Counts a run.
    pub fn ended(&mut self, ending: Ending, took: Duration) {
        *self.runs.entry(ending).or_default() += 1;
        self.took += took;
    }

    /// Adds the counts of a run.
    pub fn worked(&mut self, tally: Tally) {
        for (what, rows) in tally.counts() {
            *self.rows.entry(what).or_default() += rows;
        }
    }
}
