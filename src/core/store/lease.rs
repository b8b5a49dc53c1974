//! The leases of a worker: the survey of the ledger each second, and the release of runs that it will not finish.
//!
//! A program that stops in good order frees its run at once, so that another takes it without waiting for the lease; one
//! whose job panicked records the run as failed. Its attempts are aborted either way: nobody takes an attempt over, and
//! the memories it marked would wait for reap.

use super::Store;
use super::attempt::finish;
use super::catalogue::{ATTEMPT_LIST, RUN_CONCERNS, RUN_OPEN, RUN_RELEASE, RUN_SURVEY};
use super::encode::list;
use super::error::Error;
use super::reap::Attempt;
use super::run::OpenRun;
use super::tunables;
use super::tx::{Mode, Tx};
use crate::domain::attempt::{AttemptState, RunState};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use serde::Deserialize;
use std::time::Duration;

/// How a run is released that its holder does not finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunRelease {
    /// Open, for whoever comes first.
    Handover,
    /// Over, for this reason.
    Failed(String),
}

/// The state of the ledger at one look.
#[derive(Debug, Clone)]
pub struct LedgerSurvey {
    /// What the server's clock showed.
    pub server_now: Timestamp,
    /// The tunables as the graph has them.
    pub tunables: Tunables,
    /// The jobs asked about, in that order.
    pub jobs: Vec<JobStatus>,
    /// A sweep that somebody asked for and nobody has begun, where that was looked for: its id and instant.
    pub requested_sweep: Option<(String, Timestamp)>,
}

/// Counts of rows that need attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Concerns {
    /// Rows that are set aside.
    pub quarantined: i64,
    /// Attempts that nobody has ended long after their lease.
    pub stuck: i64,
}

/// The status of a job in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobStatus {
    /// The last occurrence that ran on schedule, or runs.
    pub last: Option<Timestamp>,
    pub open: Option<OpenRunStatus>,
}

/// An open run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRunStatus {
    pub occurrence: String,
    /// Whether this program holds it, and nobody in it works on it.
    pub ours: bool,
    /// Whether nobody holds it, or its lease is over.
    pub free: bool,
    /// For how long its lease has been over.
    pub stranded: Duration,
}

/// An attempt whose lease has been over for this long is one that no worker ended.
const STUCK_AFTER: Duration = Duration::from_secs(60);

impl Store {
    /// Looks at the ledger of these jobs and at the tunables, in one transaction.
    pub async fn survey(&self, jobs: &[&'static str]) -> Result<LedgerSurvey, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Row {
            server_now: i64,
            job: String,
            last: Option<i64>,
            open: Option<String>,
            ours: bool,
            free: bool,
            over_ms: i64,
        }
        let (rows, tunables) = self
            .transactions
            .run_once("run.survey", Mode::Read, async |tx: &mut Tx| {
                let call = RUN_SURVEY
                    .call()
                    .set("job", list(jobs.iter().copied()))
                    .set("holder", self.holder.as_str());
                Ok((tx.rows::<Row>(call).await?, tunables::read(tx).await?))
            })
            .await?;
        let facts = |job: &&str| {
            let row = rows.iter().find(|row| row.job == *job);
            let open = |row: &Row| {
                let occurrence = row.open.clone()?;
                let stranded = Duration::from_millis(row.over_ms.max(0).unsigned_abs());
                let ours = row.ours && !self.active_runs.contains(&row.job, &occurrence);
                Some(OpenRunStatus { occurrence, ours, free: row.free, stranded })
            };
            let last = row.and_then(|row| row.last).and_then(|last| Timestamp::from_millis(last).ok());
            JobStatus { last, open: row.and_then(open) }
        };
        let server_now = rows.first().and_then(|row| Timestamp::from_millis(row.server_now).ok());
        Ok(LedgerSurvey {
            server_now: server_now.unwrap_or(Timestamp::EPOCH),
            tunables,
            jobs: jobs.iter().map(facts).collect(),
            requested_sweep: None,
        })
    }

    /// Counts what somebody has to see to.
    pub async fn concerns(&self) -> Result<Concerns, Error> {
        let overdue = i64::try_from(STUCK_AFTER.as_millis()).unwrap_or(i64::MAX);
        self.read_one(RUN_CONCERNS.call().set("overdueMs", overdue)).await
    }

    /// Releases what this program holds of a job: its run, and its attempts.
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
                        // Somebody has ended it meanwhile.
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
