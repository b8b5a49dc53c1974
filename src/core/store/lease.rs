//! Leases of a worker: reads the ledger each second, and releases runs that the worker will not finish.
//!
//! A program that stops normally releases its run at once, so that another can take it without waiting for the lease; a
//! run whose job panicked is recorded as failed. Its attempts are aborted in both cases: an attempt is never taken
//! over, and its memories would wait for reap.

use super::Store;
use super::attempt::finish;
use super::catalogue::{
    ATTEMPT_LIST, MIGRATION_LIST, RUN_CONCERNS, RUN_OPEN, RUN_RELEASE, RUN_SCHEDULE, RUN_SURVEY,
};
use super::encode::list;
use super::error::Error;
use super::reap::Attempt;
use super::run::OpenRun;
use super::schema::{self, AppliedMigration};
use super::tunables::{self, Purpose};
use super::tx::{Mode, Tx};
use crate::domain::attempt::{AttemptState, RunState};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use serde::Deserialize;
use std::time::Duration;

/// Final state of an unfinished run that is released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunRelease {
    /// Open, for the next holder.
    Handover,
    /// Failed, for this reason.
    Failed(String),
}

/// State of the ledger.
#[derive(Debug, Clone)]
pub struct LedgerSurvey {
    /// The server's clock.
    pub server_now: Timestamp,
    /// Whether the time of the database is simulated.
    pub scratch: bool,
    /// Tunables of the graph, or [others](Tunables::fallback) for the schedules while those are invalid.
    pub tunables: Tunables,
    /// Why no run can begin, if those of the graph are invalid.
    pub stopped: Option<String>,
    /// When the database was initialised, if it was.
    pub installed: Option<Timestamp>,
    /// The requested jobs, in their order.
    pub jobs: Vec<JobStatus>,
    /// The oldest requested sweep that has not begun, if requested: its id and instant.
    pub requested_sweep: Option<(String, Timestamp)>,
}

/// Counts of rows that need attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Concerns {
    /// Quarantined rows.
    pub quarantined: i64,
    /// Attempts still open long after their lease expired.
    pub stuck: i64,
}

/// Status of a job in the ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobStatus {
    /// Last scheduled occurrence that ran or is running.
    pub last: Option<Timestamp>,
    /// The schedule that a worker recorded last, and the instant since which it applies if another one did before.
    pub schedule: Option<String>,
    pub since: Option<Timestamp>,
    pub open: Option<OpenRunStatus>,
}

/// An open run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRunStatus {
    pub occurrence: String,
    /// Whether this program holds it without a task that works on it.
    pub ours: bool,
    /// Whether it has no holder, or its lease has expired.
    pub free: bool,
    /// Milliseconds since its lease expired; negative: until it does.
    pub over_ms: i64,
}

impl OpenRunStatus {
    /// Time since its lease expired, so long after it was read.
    #[must_use]
    pub fn stranded(&self, later: Duration) -> Duration {
        let later = i64::try_from(later.as_millis()).unwrap_or(i64::MAX);
        Duration::from_millis(self.over_ms.saturating_add(later).max(0).unsigned_abs())
    }
}

impl LedgerSurvey {
    /// The instant since which occurrences of a job by this schedule were to run: that of its last one, or that of the
    /// initialisation or of a change of the schedule after it. None if the graph has another schedule: the change is
    /// not recorded yet.
    #[must_use]
    pub fn applies_since(&self, job: &JobStatus, schedule: &str) -> Option<Timestamp> {
        let is_recorded = job.schedule.as_ref().is_none_or(|recorded| recorded == schedule);
        [job.last, self.installed, job.since].into_iter().flatten().max().filter(|_| is_recorded)
    }
}

/// Time after its lease for which an open attempt is not yet reported: a worker should end it.
const STUCK_AFTER: Duration = Duration::from_secs(60);

/// The rows of the ledger.
struct LedgerRows {
    jobs: Vec<JobRow>,
    migrations: Vec<AppliedMigration>,
    tunables: Result<Tunables, Error>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JobRow {
    server_now: i64,
    scratch: bool,
    job: String,
    last: Option<i64>,
    schedule: Option<String>,
    since: Option<i64>,
    open: Option<String>,
    ours: bool,
    free: bool,
    over_ms: i64,
}

fn known_instant(ms: Option<i64>) -> Option<Timestamp> {
    ms.and_then(|ms| Timestamp::from_millis(ms).ok())
}

impl Store {
    /// Reads the ledger of these jobs and the tunables, in one transaction, without retries: for a worker, which asks again.
    pub async fn survey(&self, jobs: &[&'static str]) -> Result<LedgerSurvey, Error> {
        let read = async |tx: &mut Tx| self.read_ledger(tx, jobs).await;
        let read = self.transactions.run_once("run.survey", Mode::Read, read).await?;
        self.surveyed(jobs, read)
    }

    /// The same with retries, for an answer.
    pub async fn ledger(&self, jobs: &[&'static str]) -> Result<LedgerSurvey, Error> {
        let read = async |tx: &mut Tx| self.read_ledger(tx, jobs).await;
        let read = self.transactions.run("run.ledger", Mode::Read, read).await?;
        self.surveyed(jobs, read)
    }

    async fn read_ledger(&self, tx: &mut Tx, jobs: &[&'static str]) -> Result<LedgerRows, Error> {
        let call =
            RUN_SURVEY.call().set("job", list(jobs.iter().copied())).set("holder", self.holder.as_str());
        let jobs = tx.rows(call).await?;
        let migrations = tx.rows(MIGRATION_LIST.call()).await?;
        Ok(LedgerRows { jobs, migrations, tunables: tunables::read_or_fault(tx).await? })
    }

    fn surveyed(&self, jobs: &[&'static str], read: LedgerRows) -> Result<LedgerSurvey, Error> {
        let LedgerRows { jobs: rows, migrations, tunables } = read;
        let status = |job: &&str| {
            let Some(row) = rows.iter().find(|row| row.job == *job) else { return JobStatus::default() };
            let open = || {
                let occurrence = row.open.clone()?;
                let ours = row.ours && !self.active_runs.contains(&row.job, &occurrence);
                Some(OpenRunStatus { occurrence, ours, free: row.free, over_ms: row.over_ms })
            };
            let (schedule, since) = (row.schedule.clone(), known_instant(row.since));
            JobStatus { last: known_instant(row.last), schedule, since, open: open() }
        };
        self.forget_present_without(&tunables);
        let tunables = self.known_tunables.record_or_replace(tunables, Purpose::Schedules)?;
        let stopped = tunables.fallback().and_then(|_| self.invalid_tunables());
        let first = rows.first();
        Ok(LedgerSurvey {
            server_now: first.and_then(|row| known_instant(Some(row.server_now))).unwrap_or(Timestamp::EPOCH),
            scratch: first.is_some_and(|row| row.scratch),
            tunables,
            stopped,
            installed: schema::installed(&migrations),
            jobs: jobs.iter().map(status).collect(),
            requested_sweep: None,
        })
    }

    /// Records the schedules of jobs, and `now` as the instant since which those that differ from the recorded ones
    /// apply. With several configurations on one database the last change wins.
    pub async fn record_schedules(
        &self,
        schedules: &[(&'static str, String)],
        now: Timestamp,
    ) -> Result<i64, Error> {
        self.transactions
            .run("run.schedule", Mode::Write, async |tx: &mut Tx| {
                let call = RUN_SCHEDULE
                    .call()
                    .set("job", list(schedules.iter().map(|(job, _)| *job)))
                    .set("schedule", list(schedules.iter().map(|(_, schedule)| schedule.as_str())))
                    .set("now", now.millis());
                tx.only(call).await
            })
            .await
    }

    /// Counts rows that need attention.
    pub async fn concerns(&self) -> Result<Concerns, Error> {
        let overdue = i64::try_from(STUCK_AFTER.as_millis()).unwrap_or(i64::MAX);
        self.read_one(RUN_CONCERNS.call().set("overdueMs", overdue)).await
    }

    /// Releases the run and the attempts of a job that this program holds.
    pub async fn release_run(&self, job: &'static str, how: RunRelease) -> Result<(), Error> {
        let (state, reason) = match &how {
            RunRelease::Handover => (RunState::Open, None),
            RunRelease::Failed(reason) => (RunState::Failed, Some(reason.as_str())),
        };
        let ours = |holder: &Option<String>| holder.as_ref() == Some(&self.holder);
        self.leases
            .run("run.release", Mode::Write, async |tx: &mut Tx| {
                let open =
                    ATTEMPT_LIST.call().set("id", None::<String>).set("open", true).set("limit", 100_i64);
                let attempts: Vec<Attempt> = tx.rows(open).await?;
                let of_the_job = |attempt: &&Attempt| attempt.phase.as_deref() == Some(job);
                for attempt in attempts.iter().filter(|a| ours(&a.holder)).filter(of_the_job) {
                    match finish(tx, &attempt.id, AttemptState::Aborted, 0).await {
                        // It has ended meanwhile.
                        Ok(()) | Err(Error::Fenced(_)) => {}
                        Err(why) => return Err(why),
                    }
                }
                let runs: Vec<OpenRun> = tx.rows(RUN_OPEN.call()).await?;
                for run in runs.iter().filter(|run| run.job == job && ours(&run.holder)) {
                    let leave = RUN_RELEASE
                        .call()
                        .set("job", job)
                        .set("occurrence", run.occurrence.as_str())
                        .set("holder", self.holder.as_str())
                        .set("state", state.name())
                        .set("reason", reason);
                    tx.run(leave).await?;
                }
                Ok(())
            })
            .await
    }
}
