//! The execution of one occurrence of a job: opened in the ledger, run, and closed.
//!
//! The driver knows no job: it opens the occurrence in the ledger, finishes the run that a dead predecessor left open
//! (with that run's own `now`), lets the job work, and records the result. A manual run takes the same path under an
//! occurrence of its own, and never counts as the schedule's last.

use crate::domain::attempt::{Right, RunState};
use crate::domain::journal::Entry;
use crate::domain::units::Timestamp;
use crate::jobs::{Completion, JobName, Request, Work, reap};
use crate::store::{
    BY_HAND, Error, OpenedRun, RequestedSweep, Run, RunInputs, RunLease, RunRelease, Store, Tally,
};
use std::time::Instant;
use tracing::{Instrument, debug, info, info_span, warn};

/// The occurrence to run, and the right to open it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Name in the ledger.
    pub occurrence: String,
    /// The instant at which the laws are evaluated.
    pub now: Timestamp,
    pub trigger: Trigger,
    pub right: Right,
}

/// The origin of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    Schedule,
    Manual,
}

/// The outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// Another program holds the job, or the occurrence is over.
    Skipped,
    /// This program is stopping: another one continues the run.
    Released,
}

/// The report of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReport {
    pub job: JobName,
    pub occurrence: String,
    /// Id of the run, if there is one.
    pub run_id: Option<String>,
    /// The instant at which the laws were evaluated.
    pub now: Timestamp,
    pub outcome: Outcome,
    /// Counts of all its pages.
    pub tally: Tally,
    /// Memories still due at that instant.
    pub due_left: i64,
    /// Whether it ended before all due work was done.
    pub truncated: bool,
    /// Why it was skipped, or ended early for a reason outside of the database.
    pub reason: Option<String>,
}

impl JobReport {
    /// The report, of a run that is done.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the run was skipped or released, since another program works on it.
    pub fn done(self) -> Result<Self, Error> {
        match self.outcome {
            Outcome::Done => Ok(self),
            Outcome::Skipped | Outcome::Released => Err(Error::Conflict(
                self.reason.unwrap_or_else(|| "the run was released to another worker".to_owned()),
            )),
        }
    }
}

impl Wanted {
    /// The scheduled occurrence of an instant.
    #[must_use]
    pub fn scheduled(at: Timestamp, right: Right) -> Self {
        Self { occurrence: crate::clock::rfc3339(at), now: at, trigger: Trigger::Schedule, right }
    }

    /// The run of a requested sweep.
    #[must_use]
    pub fn requested(id: &str, at: Timestamp) -> Self {
        Self {
            occurrence: RequestedSweep::occurrence(id),
            now: at,
            trigger: Trigger::Manual,
            right: Right::Lease,
        }
    }

    /// A manual run.
    #[must_use]
    pub fn by_hand(now: Timestamp, right: Right) -> Self {
        let occurrence = format!("{BY_HAND}{}", crate::clock::new_id());
        Self { occurrence, now, trigger: Trigger::Manual, right }
    }
}

/// Runs a job once.
///
/// # Errors
/// Errors of the store; the run is then recorded as failed, unless it was lost or the server is gone.
pub async fn run_job(
    store: &Store,
    job: JobName,
    wanted: &Wanted,
    request: Request,
) -> Result<JobReport, Error> {
    let inputs = store.run_inputs().await?;
    run_job_after(store, inputs, job, wanted, request).await
}

/// Runs a job as [`run_job`], with inputs that the caller has just read.
pub async fn run_job_after(
    store: &Store,
    mut inputs: RunInputs,
    job: JobName,
    wanted: &Wanted,
    request: Request,
) -> Result<JobReport, Error> {
    let trigger = match wanted.trigger {
        Trigger::Schedule => "schedule",
        Trigger::Manual => "manual",
    };
    loop {
        let opened =
            store.open_run(job.name(), &wanted.occurrence, wanted.now, trigger, wanted.right).await?;
        let reason = match opened {
            OpenedRun::Ours(run) => return work(store, job, run, &inputs, wanted.right, request).await,
            OpenedRun::Predecessor(run) => {
                info!(job = job.name(), run_id = run.run_id, "resuming the open run of a former holder");
                let whole = Request { limit: None, ..request.clone() };
                match work(store, job, run, &inputs, wanted.right, whole).await {
                    Ok(left) if left.outcome == Outcome::Released => "this program is stopping".to_owned(),
                    Err(why) if why.is_cut_off() => return Err(why),
                    ended => {
                        // The failure is in its record, and the caller requested another run.
                        if let Err(why) = ended {
                            warn!(job = job.name(), %why, "the open run of a former holder failed");
                        }
                        inputs = store.run_inputs().await?;
                        continue;
                    }
                }
            }
            OpenedRun::Over(state) => format!("this occurrence is over already: {}", state.name()),
            OpenedRun::Held { occurrence, holder } => {
                format!("another program ({holder}) is working on the occurrence {occurrence} of this job")
            }
        };
        return Ok(JobReport {
            job,
            occurrence: wanted.occurrence.clone(),
            run_id: None,
            now: wanted.now,
            outcome: Outcome::Skipped,
            tally: Tally::default(),
            due_left: 0,
            truncated: false,
            reason: Some(reason),
        });
    }
}

async fn work(
    store: &Store,
    job: JobName,
    mut run: Run,
    inputs: &RunInputs,
    right: Right,
    request: Request,
) -> Result<JobReport, Error> {
    let span = info_span!("job.run", job = job.name(), run_id = run.run_id);
    async {
        let begun = Instant::now();
        let stop = request.stop.clone();
        let held = run.lease();
        let body = async {
            // Memories claimed by dead programs are not ripe for others.
            if job == JobName::Promote && inputs.attempts {
                reap::run(store, right).await?;
            }
            job.run(Work::new(store, inputs, &mut run, request)).await
        };
        let reached = beating(store, &held, Box::pin(body)).await;
        let (truncated, reason) = match reached {
            Ok(Completion::Budget) if stop.is_cancelled() => {
                store.release_run(job.name(), RunRelease::Handover).await?;
                info!("released to another worker");
                return Ok(report(job, &run, Outcome::Released, Tally::default()));
            }
            Ok(Completion::End) => (false, None),
            Ok(Completion::Budget) => (true, None),
            Ok(Completion::Stopped(why)) => (true, Some(why)),
            Err(why) if why.is_cut_off() => return Err(why),
            Err(why) => {
                let guarded = matches!(why, Error::Guarded(_));
                let state = if guarded { RunState::Guarded } else { RunState::Failed };
                store.close_run(&run, state, false, Some(&why.to_string())).await?;
                return Err(why);
            }
        };
        let tally = store.close_run(&run, RunState::Done, truncated, reason.as_deref()).await?;
        let due_left = if truncated {
            let waiting = store.waiting(run.now).await?;
            job.remaining(&waiting)
        } else {
            0
        };
        let elapsed_ms = begun.elapsed().as_millis();
        info!(
            scanned = tally.scanned,
            changed = tally.changed,
            skipped = tally.skipped,
            quarantined = tally.quarantined,
            adopted = tally.adopted,
            expired = tally.expired,
            promoted = tally.promoted,
            formed = tally.formed,
            dissolved = tally.dissolved,
            reinforced = tally.reinforced,
            due_left,
            truncated,
            reason,
            elapsed_ms,
            "done"
        );
        Ok(JobReport { due_left, truncated, reason, ..report(job, &run, Outcome::Done, tally) })
    }
    .instrument(span)
    .await
}

/// Works, and renews the lease three times within its length: a job may take longer than a lease between two
/// transactions.
///
/// Neither future is dropped before its end, since a transaction whose future is dropped keeps its locks until its
/// connection is used again. So a job whose run was lost is not stopped from here: the guard of its next transaction
/// does that.
async fn beating<T>(store: &Store, held: &RunLease, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = tokio::time::sleep(store.beat()) => {}
        }
        let mut beat = std::pin::pin!(store.renew(held));
        let mut done = None;
        let renewed = loop {
            tokio::select! {
                biased;
                renewed = &mut beat => break renewed,
                ended = &mut work, if done.is_none() => done = Some(ended),
            }
        };
        if let Err(why) = renewed {
            debug!(%why, "the lease could not be renewed");
        }
        if let Some(done) = done {
            return done;
        }
    }
}

fn report(job: JobName, run: &Run, outcome: Outcome, tally: Tally) -> JobReport {
    JobReport {
        job,
        occurrence: run.occurrence.clone(),
        run_id: Some(run.run_id.clone()),
        now: run.now,
        outcome,
        tally,
        due_left: 0,
        truncated: false,
        reason: None,
    }
}

/// Finishes the run of a job that a dead program left open, with that run's own `now`.
pub async fn finish_open(
    store: &Store,
    job: JobName,
    right: Right,
    request: Request,
) -> Result<Option<JobReport>, Error> {
    let Some(run) = store.take_open_run(job.name(), right).await? else { return Ok(None) };
    let inputs = store.run_inputs().await?;
    work(store, job, run, &inputs, right, request).await.map(Some)
}

/// The result that a run of a job at `now` would have: the run, rolled back. It leaves nothing in the ledger.
pub async fn dry_run_job(
    store: &Store,
    job: JobName,
    now: Timestamp,
    request: Request,
) -> Result<JobReport, Error> {
    let (run, reached) = rolled_back(store, job, Run::dry(job.name(), now), request).await?;
    let truncated = reached == Completion::Budget || run.is_capped();
    let reason = if let Completion::Stopped(why) = reached { Some(why) } else { None };
    let report = report(job, &run, Outcome::Done, run.estimated());
    Ok(JobReport { run_id: None, truncated, reason, ..report })
}

/// The changes that a run of a job at `now` would make, without those of fading, and whether that is all of them: rows of
/// other writers that the run would adopt first are not in it. It leaves nothing in the ledger.
pub async fn plan_job(
    store: &Store,
    job: JobName,
    now: Timestamp,
    request: Request,
) -> Result<(Vec<Entry>, bool), Error> {
    let (run, reached) = rolled_back(store, job, Run::plan(job.name(), now), request).await?;
    let complete = reached == Completion::End && !run.is_capped() && run.estimated().adopted == 0;
    Ok((run.into_plan(), complete))
}

async fn rolled_back(
    store: &Store,
    job: JobName,
    mut run: Run,
    request: Request,
) -> Result<(Run, Completion), Error> {
    let inputs = store.run_inputs().await?;
    let reached = job.run(Work::new(store, &inputs, &mut run, request)).await?;
    Ok((run, reached))
}
