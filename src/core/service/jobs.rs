//! Jobs: run manually or as a dry run, listed with their schedules and their history.

use super::Service;
use super::memories::RequestId;
use super::request_hash::request_hash;
use crate::api::job::{Job, JobHistory, JobRunRequest, Jobs, LastRun, PastRun, WaitCause, WaitingJob};
use crate::domain::attempt::{Right, RunState};
use crate::domain::units::Timestamp;
use crate::jobs::{JobName, Request};
use crate::scheduler::JobConfig;
use crate::scheduler::dispatcher::UNSCHEDULED;
use crate::scheduler::driver::{self, JobReport, Outcome, Wanted};
use crate::scheduler::due::Rhythm;
use crate::store::{BY_HAND, Error, JobStatus, LedgerSurvey, Past};
use serde_json::json;
use std::num::NonZeroU64;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A job that has been due for as long waits for a worker.
const LATE_S: u64 = 60;

impl Service {
    /// Runs a job manually, at `now`.
    pub async fn run_job(
        &self,
        job: JobName,
        now: Timestamp,
        request: &JobRunRequest,
    ) -> Result<JobReport, Error> {
        let once = RequestId::or_new("worker", None);
        self.run_job_once(&once, job, now, request, CancellationToken::new()).await
    }

    /// The same, once under a request id: a repeat returns the recorded run. At `stop` the run is left to another
    /// process.
    ///
    /// # Errors
    /// [`Error::Guarded`] of a sweep; [`Error::Invalid`] if a number is to be accepted for another job;
    /// [`Error::Conflict`] if the id was used for another request, or its run failed or was stopped by the guard.
    pub async fn run_job_once(
        &self,
        id: &RequestId,
        job: JobName,
        now: Timestamp,
        request: &JobRunRequest,
        stop: CancellationToken,
    ) -> Result<JobReport, Error> {
        let work = Request { stop, ..self.asked(job, request)? };
        self.run_once(id, job, now, work).await
    }

    /// Options of a run that somebody asks for.
    fn asked(&self, job: JobName, request: &JobRunRequest) -> Result<Request, Error> {
        let accept_affected = request.accept_affected;
        if accept_affected.is_some() && job != JobName::Sweep {
            return Err(Error::Invalid(format!(
                "accept_affected is for the job sweep: no guard stops {job}"
            )));
        }
        let limit = request.limit.map(NonZeroU64::get);
        Ok(Request { limit, accept_affected, ..self.job_request() })
    }

    /// Runs a job as [`Service::run_job_once`].
    pub(super) async fn run_once(
        &self,
        request: &RequestId,
        job: JobName,
        now: Timestamp,
        work: Request,
    ) -> Result<JobReport, Error> {
        let mut seed = None;
        if request.is_own() {
            let document = json!({
                "job": job.name(),
                "limit": work.limit,
                "accept_affected": work.accept_affected,
                "force": work.force,
            });
            let hash = request_hash("run_job", &document);
            seed = self.store.open_request(request.once(&hash), request.seed()).await?;
        }
        let time_limit = Some(self.job_config(job).time_limit);
        let work = Request { time_limit, ..work };
        let wanted = Wanted {
            occurrence: format!("{BY_HAND}{}", request.occurrence(seed.as_deref())),
            ..Wanted::by_hand(now, Right::Lease)
        };
        let report = driver::run_job(&self.store, job, &wanted, work).await?;
        if report.outcome != Outcome::Skipped || !request.is_own() {
            return Ok(report);
        }
        match self.store.run_of(job.name(), &wanted.occurrence).await? {
            Some(past) => self.repeated(past, report).await,
            None => Ok(report),
        }
    }

    /// The report of a repeated request, by its run; `skipped` while that is in progress.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the run was stopped.
    async fn repeated(&self, past: Past, skipped: JobReport) -> Result<JobReport, Error> {
        match RunState::named(&past.state) {
            Some(RunState::Done) => {
                let now = past.now.and_then(|ms| Timestamp::from_millis(ms).ok()).unwrap_or(skipped.now);
                let due_left =
                    if past.truncated { skipped.job.remaining(&self.store.waiting(now).await?) } else { 0 };
                Ok(JobReport {
                    run_id: Some(past.run_id),
                    now,
                    outcome: Outcome::Done,
                    tally: past.tally,
                    due_left,
                    truncated: past.truncated,
                    reason: past.reason,
                    ..skipped
                })
            }
            Some(state @ (RunState::Failed | RunState::Guarded)) => Err(Error::Conflict(format!(
                "the run of this request is {}: {}. To run the job again, choose a new request id (Idempotency-Key)",
                state.name(),
                past.reason.as_deref().unwrap_or("no reason is recorded")
            ))),
            Some(RunState::Open) | None => Ok(skipped),
        }
    }

    /// Runs a job at `now` as requested, and rolls it back. `force` as for [`Service::evaporate`].
    pub async fn dry_run_job(
        &self,
        job: JobName,
        now: Timestamp,
        request: &JobRunRequest,
        force: bool,
    ) -> Result<JobReport, Error> {
        let request = Request { force, ..self.asked(job, request)? };
        driver::dry_run_job(&self.store, job, now, request).await
    }

    /// Options of every run of this process.
    #[must_use]
    pub fn job_request(&self) -> Request {
        Request { learning: self.learning(), embedder: self.config.embedder.clone(), ..Request::default() }
    }

    /// The jobs with their schedules.
    pub async fn jobs(&self, at: Timestamp) -> Result<Jobs, Error> {
        let names = JobName::ALL.map(JobName::name);
        let ledger = self.store.ledger(&names).await?;
        let latest = self.store.latest_runs(names).await?;
        let jobs =
            JobName::ALL.into_iter().zip(&ledger.jobs).zip(latest).map(|((job, status), latest)| Job {
                last_run: latest.map(LastRun::from),
                ..scheduled(job, &self.job_config(job), status, &ledger, at)
            });
        Ok(Jobs {
            jobs: jobs.collect(),
            stopped: ledger.stopped.clone().or_else(|| self.refused()),
            fallback_tunables: ledger.tunables.fallback(),
            unscheduled: (ledger.scratch && !self.config.on_scratch).then(|| UNSCHEDULED.to_owned()),
        })
    }

    /// Why the database takes no writes, if it took none when this process last tried.
    fn refused(&self) -> Option<String> {
        Some(format!("{}; see: ebb doctor", self.store.write_refusal()?))
    }

    /// The last runs, newest first, with the jobs that wait for one.
    pub async fn job_history(
        &self,
        job: Option<JobName>,
        limit: u32,
        at: Timestamp,
    ) -> Result<JobHistory, Error> {
        let Jobs { jobs, stopped, fallback_tunables, unscheduled } = self.jobs(at).await?;
        let named = jobs.iter().filter(|found| job.is_none_or(|named| named == found.job));
        let waiting = named.filter_map(|found| waits(found, job.is_some(), unscheduled.is_some())).collect();
        let runs = self.history(job, limit).await?.into_iter().map(PastRun::from).collect();
        Ok(JobHistory { runs, waiting, stopped, fallback_tunables, unscheduled })
    }

    /// The last runs, newest first.
    pub async fn history(&self, job: Option<JobName>, limit: u32) -> Result<Vec<Past>, Error> {
        self.store.runs(job.map(JobName::name), limit).await
    }
}

fn scheduled(
    job: JobName,
    config: &JobConfig,
    status: &JobStatus,
    ledger: &LedgerSurvey,
    at: Timestamp,
) -> Job {
    let schedule = config.schedule(job, &ledger.tunables);
    let due = schedule.due(job.name(), status.last, at);
    let next = due.map(|due| due.at).or_else(|| schedule.rhythm.next(at)).unwrap_or(at);
    let since = ledger.applies_since(status, &schedule.rhythm.to_string());
    let lag = schedule.lag(job.name(), status.last, since, at);
    let (every_seconds, cron, timezone) = match &schedule.rhythm {
        Rhythm::Every(ms) => (Some(ms.unsigned_abs() / 1_000), None, None),
        Rhythm::Cron(pattern, zone) => (None, Some(pattern.text().to_owned()), Some(zone.name())),
    };
    let left = status.open.as_ref().filter(|open| open.free);
    Job {
        job,
        about: job.about(),
        enabled: config.enabled,
        every_seconds,
        cron,
        timezone,
        last: status.last,
        last_run: None,
        next,
        lag_seconds: if config.enabled { lag.as_secs() } else { 0 },
        stranded_seconds: left.map(|open| open.stranded(Duration::ZERO).as_secs()),
    }
}

/// Why a job waits, if it does. That it is disabled is worth a line only if it was named.
fn waits(found: &Job, is_named: bool, is_unscheduled: bool) -> Option<WaitingJob> {
    let waiting = |cause, seconds| Some(WaitingJob { job: found.job, cause, seconds });
    match found {
        Job { stranded_seconds: stranded @ Some(LATE_S..), .. } => waiting(WaitCause::Stranded, *stranded),
        Job { enabled: false, .. } if is_named => waiting(WaitCause::Disabled, None),
        Job { last_run: Some(LastRun { state, .. }), .. } if state == "open" => None,
        Job { lag_seconds: lag @ LATE_S.., .. } if !is_unscheduled => waiting(WaitCause::Due, Some(*lag)),
        _ => None,
    }
}
