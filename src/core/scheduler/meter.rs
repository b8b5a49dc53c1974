//! The counters of a worker since it started.
//!
//! One lock for all: it is taken once a run and once a look, and a reader sees numbers that belong together.

use crate::domain::units::Timestamp;
use crate::jobs::JobName;
use crate::store::Tally;
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
    /// This worker was told to stop.
    Released,
}

impl Ending {
    /// Every one.
    pub const ALL: [Self; 6] =
        [Self::Done, Self::Failed, Self::Guarded, Self::Panicked, Self::Lost, Self::Released];

    /// Its label.
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

/// The counters of one job.
#[derive(Debug, Clone, Default)]
pub struct JobCounts {
    /// Runs by how they ended.
    pub runs: BTreeMap<Ending, u64>,
    /// How long they took together.
    pub took: Duration,
    /// Rows by what was done to them.
    pub rows: BTreeMap<&'static str, i64>,
    /// Occurrences that never ran.
    pub missed: u64,
    /// Occurrences that came due while the run before still went.
    pub overlaps: u64,
    /// Runs that a dead holder left and this worker finished.
    pub adopted: u64,
    /// How long the occurrence that is due has waited.
    pub lag: Duration,
    /// For how long anybody might have taken its open run.
    pub stranded: Duration,
    /// When the last run that did its work ended.
    pub last_done: Option<Timestamp>,
}

/// The counters of the worker.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    pub jobs: BTreeMap<JobName, JobCounts>,
    /// Attempts whose lease was over and that this worker ended.
    pub reaped: u64,
    /// Looks at the ledger that failed.
    pub failed_looks: u64,
    pub panics: u64,
    /// Changes of the configuration that were not taken over because it had faults.
    pub failed_reloads: u64,
    /// Rows that are quarantined, as last seen.
    pub quarantined: i64,
    /// Attempts that nobody ended long after their lease, as last seen.
    pub stuck: i64,
    /// This machine's clock less the server's, milliseconds, as last seen.
    pub skew_ms: i64,
}

/// The counts of one worker.
#[derive(Debug, Default)]
pub struct Meter(Mutex<Counts>);

impl Meter {
    /// The counts, to change or to read them.
    pub fn counts(&self) -> MutexGuard<'_, Counts> {
        // Numbers that a panic left half changed are still numbers.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what was counted of a job.
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

    /// Counts what a run did.
    pub fn worked(&mut self, tally: Tally) {
        for (what, rows) in tally.counts() {
            *self.rows.entry(what).or_default() += rows;
        }
    }
}
