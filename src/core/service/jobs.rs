//! Jobs: run manually or as a dry run, listed with their schedules and their history.

use super::Service;
use super::memories::RequestId;
use crate::api::job::{Job, JobRunRequest, Jobs, LastRun};
use crate::domain::attempt::Right;
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use crate::jobs::{JobName, Request};
use crate::scheduler::JobConfig;
use crate::scheduler::driver::{self, JobReport, Outcome, Wanted};
use crate::scheduler::due::Rhythm;
use crate::store::{BY_HAND, Error, Past, Tally};
use std::num::NonZeroU64;
use tokio_util::sync::CancellationToken;

/// Number of runs of a job searched for the run of a repeated request.
const REPEATS: u32 = 100;

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
    /// [`Error::Guarded`] of a sweep; [`Error::Invalid`] if a number is to be accepted for another job.
    pub async fn run_job_once(
        &self,
        id: &RequestId,
        job: JobName,
        now: Timestamp,
        request: &JobRunRequest,
        stop: CancellationToken,
    ) -> Result<JobReport, Error> {
        let accept_affected = request.accept_affected;
        if accept_affected.is_some() && job != JobName::Sweep {
            return Err(Error::Invalid(format!(
                "accept_affected is for the job sweep: no guard stops {job}"
            )));
        }
        let limit = request.limit.map(NonZeroU64::get);
        self.run_once(id, job, now, Request { limit, stop, accept_affected, ..self.job_request() }).await
    }

    /// Runs a job as [`Service::run_job_once`].
    pub(super) async fn run_once(
        &self,
        request: &RequestId,
        job: JobName,
        now: Timestamp,
        work: Request,
    ) -> Result<JobReport, Error> {
        let time_limit = Some(self.job_config(job).time_limit);
        let work = Request { time_limit, ..work };
        let wanted = Wanted {
            occurrence: format!("{BY_HAND}{}", request.occurrence()),
            ..Wanted::by_hand(now, Right::Lease)
        };
        let report = driver::run_job(&self.store, job, &wanted, work).await?;
        if report.outcome != Outcome::Skipped || !request.is_own() {
            return Ok(report);
        }
        let past = self.history(Some(job), REPEATS).await?;
        let same = |past: &Past| past.occurrence == wanted.occurrence && past.state == "done";
        Ok(match past.into_iter().find(same) {
            Some(past) => JobReport {
                run_id: Some(past.run_id),
                now: past.now.and_then(|ms| Timestamp::from_millis(ms).ok()).unwrap_or(now),
                outcome: Outcome::Done,
                tally: past.tally,
                truncated: past.truncated,
                reason: None,
                ..report
            },
            None => report,
        })
    }

    /// Runs a job at `now` up to about `limit` rows, and rolls it back. `force` as for [`Service::evaporate`].
    pub async fn dry_run_job(
        &self,
        job: JobName,
        now: Timestamp,
        limit: Option<u64>,
        force: bool,
    ) -> Result<Tally, Error> {
        let request = Request { limit, force, ..self.job_request() };
        driver::dry_run_job(&self.store, job, now, request).await
    }

    /// Options of every run of this process.
    #[must_use]
    pub fn job_request(&self) -> Request {
        Request { learning: self.learning(), embedder: self.config.embedder.clone(), ..Request::default() }
    }

    /// The jobs with their schedules.
    pub async fn jobs(&self, at: Timestamp) -> Result<Jobs, Error> {
        let tunables = self.store.tunables().await?;
        let names = JobName::ALL.map(JobName::name);
        let (last, latest) = (self.store.last_runs(names).await?, self.store.latest_runs(names).await?);
        let installed = self.store.installed().await?;
        let jobs = JobName::ALL.into_iter().zip(last).zip(latest);
        let jobs = jobs.map(|((job, last), latest)| {
            let scheduled = scheduled(job, self.job_config(job), last, &tunables, (at, installed));
            Job { last_run: latest.map(LastRun::from), ..scheduled }
        });
        let jobs = jobs.collect();
        let fallback_tunables = tunables.fallback();
        let stopped = fallback_tunables.and_then(|_| self.store.invalid_tunables());
        Ok(Jobs { jobs, stopped, fallback_tunables })
    }

    /// The last runs, newest first.
    pub async fn history(&self, job: Option<JobName>, limit: u32) -> Result<Vec<Past>, Error> {
        self.store.runs(job.map(JobName::name), limit).await
    }
}

fn scheduled(
    job: JobName,
    config: &JobConfig,
    last: Option<Timestamp>,
    tunables: &Tunables,
    (at, installed): (Timestamp, Option<Timestamp>),
) -> Job {
    let schedule = config.schedule(job, tunables);
    let due = schedule.due(job.name(), last, at);
    let next = due.map(|due| due.at).or_else(|| schedule.rhythm.next(at)).unwrap_or(at);
    let lag = schedule.lag(job.name(), last, installed, at);
    let (every_seconds, cron, timezone) = match &schedule.rhythm {
        Rhythm::Every(ms) => (Some(ms.unsigned_abs() / 1_000), None, None),
        Rhythm::Cron(pattern, zone) => (None, Some(pattern.text().to_owned()), Some(zone.name())),
    };
    Job {
        job,
        about: job.about(),
        enabled: config.enabled,
        every_seconds,
        cron,
        timezone,
        last,
        last_run: None,
        next,
        lag_seconds: if config.enabled { lag.as_secs() } else { 0 },
    }
}
