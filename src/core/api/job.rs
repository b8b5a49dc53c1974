//! Requests and responses about jobs, their schedules and their runs.

use super::instant;
use crate::domain::tunables::FallbackTunables;
use crate::domain::units::Timestamp;
use crate::jobs::JobName;
use crate::scheduler::driver::{JobReport, Outcome};
use crate::store::{LatestRun, Past, Tally};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU64;

/// A job and its schedule.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Job {
    /// Its name.
    pub job: JobName,
    /// Description of the job.
    pub about: &'static str,
    /// Whether the scheduler runs the job.
    pub enabled: bool,
    /// Seconds between two runs, if the schedule is an interval.
    pub every_seconds: Option<u64>,
    /// Cron pattern, if the schedule is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// Time zone of the cron pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<&'static str>,
    /// Last scheduled occurrence: the planned instant.
    pub last: Option<Timestamp>,
    /// Last run, scheduled or manual.
    pub last_run: Option<LastRun>,
    /// Occurrence that is due, otherwise the next one.
    pub next: Timestamp,
    /// Seconds since the first occurrence without a run; 0 if none is due.
    pub lag_seconds: u64,
    /// Seconds since its open run lost its holder, which no worker has taken over yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stranded_seconds: Option<u64>,
}

/// The last run of a job.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LastRun {
    /// Occurrence of the run.
    pub occurrence: String,
    /// Trigger: schedule or manual.
    pub trigger: String,
    /// State: open, done, guarded or failed.
    pub state: String,
    /// Instant of the start.
    pub started: Option<Timestamp>,
    /// Instant of the end.
    pub finished: Option<Timestamp>,
    /// Reason for a failure or an early end.
    pub reason: Option<String>,
}

impl From<LatestRun> for LastRun {
    fn from(run: LatestRun) -> Self {
        Self {
            occurrence: run.occurrence,
            trigger: run.trigger,
            state: run.state,
            started: instant(run.started),
            finished: instant(run.finished),
            reason: run.reason,
        }
    }
}

/// The counters of this job alone, by name.
fn own(job: JobName, tally: &Tally) -> BTreeMap<&'static str, i64> {
    match job {
        JobName::Coactivate => {
            [("sessions", tally.scanned), ("pairs", tally.changed), ("sessions_cut", tally.cut)].into()
        }
        JobName::Cluster => [
            ("formed", tally.formed),
            ("dissolved", tally.dissolved),
            ("joined", tally.joined),
            ("left", tally.left),
        ]
        .into(),
        JobName::Audit => [
            ("released", tally.released),
            ("mended", tally.changed - tally.released - tally.trimmed),
            ("trimmed", tally.trimmed),
        ]
        .into(),
        JobName::Embed => [("embedded", tally.changed), ("not_embedded", tally.skipped)].into(),
        JobName::Reinforce => {
            [("new", tally.scanned), ("reinforced", tally.reinforced), ("corpora_cut", tally.cut)].into()
        }
        JobName::Evaporate => [("silenced", tally.silenced)].into(),
        JobName::Fade => [("pinned", tally.pinned), ("below_minimum", tally.below)].into(),
        JobName::Sweep => {
            [("retracted", tally.retracted), ("reduced", tally.reduced), ("only_counted", tally.rehearsed)]
                .into()
        }
        JobName::Learn => [
            ("outcomes", tally.scanned),
            ("synapses", tally.changed),
            ("unknown", tally.skipped),
            ("trimmed", tally.trimmed),
        ]
        .into(),
        JobName::Decay | JobName::Promote => BTreeMap::new(),
    }
}

/// The number of state transitions in a run.
fn affected(tally: &Tally) -> i64 {
    tally.expired + tally.promoted + tally.formed + tally.dissolved + tally.reinforced + tally.retracted
}

/// A manual run, or a dry run, which has neither occurrence nor id.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JobRun {
    /// Its name.
    pub job: JobName,
    /// Occurrence of the run.
    pub occurrence: Option<String>,
    /// The id of its run.
    pub run_id: Option<String>,
    /// Outcome: done or skipped.
    pub outcome: &'static str,
    /// Rows scanned.
    pub scanned: i64,
    /// Rows written.
    pub changed: i64,
    /// Rows skipped.
    pub skipped: i64,
    /// Rows quarantined.
    pub quarantined: i64,
    /// Rows that remain due for the next run; 0 of a dry run.
    pub due_left: i64,
    /// Whether the run stopped before all due work was done; of a dry run, whether more may be due than it counted.
    pub truncated: bool,
    /// Memories expired, promoted or reinforced, clusters formed or dissolved, and facts retracted.
    pub affected: i64,
    /// Rows of other writers that were adopted.
    pub adopted: i64,
    /// Memories that expired.
    pub expired: i64,
    /// Memories promoted.
    pub promoted: i64,
    /// Memories claimed by two attempts.
    pub conflicts: i64,
    /// Counters of this job alone.
    #[serde(flatten)]
    pub own: BTreeMap<&'static str, i64>,
    /// Instant that the run used as now.
    pub at: Timestamp,
    /// Whether this was a dry run: nothing was written.
    pub dry_run: bool,
    /// Reason for a skip, a failure or an early end; of a dry run, why a run would be stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl JobRun {
    /// Response of a dry run.
    #[must_use]
    pub fn dry(report: JobReport) -> Self {
        Self { occurrence: None, dry_run: true, ..Self::reported(report) }
    }

    /// Response of a run.
    #[must_use]
    pub fn reported(report: JobReport) -> Self {
        let JobReport { job, tally, .. } = report;
        Self {
            job,
            occurrence: Some(report.occurrence),
            run_id: report.run_id,
            outcome: if report.outcome == Outcome::Done { "done" } else { "skipped" },
            scanned: tally.scanned,
            changed: tally.changed,
            skipped: tally.skipped,
            quarantined: tally.quarantined,
            due_left: report.due_left,
            truncated: report.truncated,
            affected: affected(&tally),
            adopted: tally.adopted,
            expired: tally.expired,
            promoted: tally.promoted,
            conflicts: tally.conflicts,
            own: own(job, &tally),
            at: report.now,
            dry_run: false,
            reason: report.reason,
        }
    }
}

/// A run recorded in the ledger.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PastRun {
    /// Its name.
    pub job: String,
    /// Occurrence of the run.
    pub occurrence: String,
    /// The id of its run.
    pub run_id: String,
    /// Trigger: schedule or manual.
    pub trigger: String,
    /// State: open, done, guarded or failed.
    pub state: String,
    /// Instant that the run used as now.
    pub at: Option<Timestamp>,
    /// Instant of the start.
    pub started: Option<Timestamp>,
    /// Instant of the end.
    pub finished: Option<Timestamp>,
    /// Rows scanned.
    pub scanned: i64,
    /// Rows written.
    pub changed: i64,
    /// Rows skipped.
    pub skipped: i64,
    /// Rows quarantined.
    pub quarantined: i64,
    /// Whether the run stopped before all due work was done.
    pub truncated: bool,
    /// Memories expired, promoted or reinforced, clusters formed or dissolved, and facts retracted.
    pub affected: i64,
    /// Rows of other writers that were adopted.
    pub adopted: i64,
    /// Memories that expired.
    pub expired: i64,
    /// Memories promoted.
    pub promoted: i64,
    /// Memories claimed by two attempts.
    pub conflicts: i64,
    /// Counters of this job alone.
    #[serde(flatten)]
    pub own: BTreeMap<&'static str, i64>,
    /// Reason for a skip or a failure.
    pub reason: Option<String>,
}

impl From<Past> for PastRun {
    fn from(past: Past) -> Self {
        let own = JobName::named(&past.job).map(|job| own(job, &past.tally)).unwrap_or_default();
        Self {
            own,
            job: past.job,
            occurrence: past.occurrence,
            run_id: past.run_id,
            trigger: past.trigger,
            state: past.state,
            at: instant(past.now),
            started: instant(past.started),
            finished: instant(past.finished),
            scanned: past.tally.scanned,
            changed: past.tally.changed,
            skipped: past.tally.skipped,
            quarantined: past.tally.quarantined,
            truncated: past.truncated,
            affected: affected(&past.tally),
            adopted: past.tally.adopted,
            expired: past.tally.expired,
            promoted: past.tally.promoted,
            conflicts: past.tally.conflicts,
            reason: past.reason,
        }
    }
}

/// The jobs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Jobs {
    pub jobs: Vec<Job>,
    /// Reason that no job can run and no memory can be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Tunables that are used, while those of the graph are invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_tunables: Option<FallbackTunables>,
    /// Reason that no job runs by its schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unscheduled: Option<String>,
}

/// Past runs, and the jobs that wait for one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JobHistory {
    /// The last runs, newest first.
    pub runs: Vec<PastRun>,
    /// The jobs that wait for a run.
    pub waiting: Vec<WaitingJob>,
    /// Reason that no job can run and no memory can be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Tunables that are used, while those of the graph are invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_tunables: Option<FallbackTunables>,
    /// Reason that no job runs by its schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unscheduled: Option<String>,
}

/// A job that waits for a run, or whose open run waits for a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WaitingJob {
    /// Its name.
    pub job: JobName,
    /// The cause.
    pub cause: WaitCause,
    /// How long it has waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

/// Why a job waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum WaitCause {
    /// The configuration disables it.
    Disabled,
    /// An occurrence is due, and no worker has run it.
    Due,
    /// Its open run has no holder.
    Stranded,
}

/// Query of past runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobHistoryQuery {
    /// Only runs of this job.
    #[schemars(with = "Option<JobName>")]
    pub job: Option<String>,
    /// Maximum number of runs; default 50.
    #[schemars(range(min = 1, max = 10_000))]
    #[serde(default, deserialize_with = "super::input::page_size")]
    pub limit: Option<u32>,
}

/// Path of a job.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct JobPath {
    /// Its name.
    #[schemars(with = "JobName")]
    pub name: String,
}

/// Request to run a job.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobRunRequest {
    /// Whether this is a dry run: nothing is written.
    #[serde(default)]
    pub dry_run: bool,
    /// Stop after about this many rows.
    #[schemars(range(min = 1))]
    pub limit: Option<NonZeroU64>,
    /// Number of facts that the guard named, to accept it: of the job sweep alone.
    #[schemars(range(min = 0))]
    pub accept_affected: Option<i64>,
    /// Instant to use as now; needs the right admin.
    pub at: Option<Timestamp>,
}
