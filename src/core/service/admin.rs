//! What a person who runs Ebb asks for: jobs, their history, status, initialising, questions.

use super::Service;
use super::memories::RequestId;
use crate::api::job::Job;
use crate::api::server::{Health, OpenAttempt, Server, Status, Waiting};
use crate::domain::attempt::Right;
use crate::domain::tier::Tier;
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use crate::jobs::{JobName, Request};
use crate::scheduler::JobConfig;
use crate::scheduler::driver::{self, JobReport, Outcome, Wanted};
use crate::scheduler::due::Rhythm;
use crate::store::{self, Answer, BY_HAND, Error, InitReport, Past, Store, Tally, TierCount};
use tokio_util::sync::CancellationToken;

/// Runs of a job among which a repeated request looks for its own.
const REPEATS: u32 = 100;

/// What happened in an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hour {
    /// Its beginning.
    pub at: Timestamp,
    /// Memories made.
    pub made: i64,
    /// Memories that rose to short-term.
    pub rose: i64,
    /// Memories that rose to long-term.
    pub crystallised: i64,
    /// Memories that expired and stayed so.
    pub expired: i64,
}

impl Service {
    /// Constraints, indexes and the tunables.
    ///
    /// # Errors
    /// [`Error::Conflict`] with the rows that would break a constraint; nothing is written then.
    pub async fn initialise(&self) -> Result<InitReport, Error> {
        let about = self.store.about().await?;
        self.store.initialise(&self.config.consolidation, self.counted(about.server_now)).await
    }

    /// What [`Service::initialise`] would do, nothing written.
    ///
    /// # Errors
    /// As [`Service::initialise`].
    pub async fn dry_run_initialise(&self) -> Result<InitReport, Error> {
        self.store.about().await?;
        self.store.dry_run_initialise(&self.config.consolidation).await
    }

    /// Memories by tier, stubs of promotions included.
    pub async fn tiers(&self) -> Result<Vec<TierCount>, Error> {
        self.store.tiers().await
    }

    /// Runs a job by hand, at `now`.
    pub async fn run_job(
        &self,
        job: JobName,
        now: Timestamp,
        limit: Option<u64>,
    ) -> Result<JobReport, Error> {
        let once = RequestId::or_new("worker", None);
        self.run_job_once(&once, job, now, limit, CancellationToken::new()).await
    }

    /// As [`Service::run_job`], once under a request id, for a process that may be told to stop: the run is then left to
    /// another. A repeat answers what the ledger says of the run.
    pub async fn run_job_once(
        &self,
        request: &RequestId,
        job: JobName,
        now: Timestamp,
        limit: Option<u64>,
        stop: CancellationToken,
    ) -> Result<JobReport, Error> {
        self.run_once(request, job, now, Request { limit, stop, ..Request::default() }).await
    }

    /// As [`Service::run_job_once`].
    pub(super) async fn run_once(
        &self,
        request: &RequestId,
        job: JobName,
        now: Timestamp,
        work: Request,
    ) -> Result<JobReport, Error> {
        let time_limit = Some(self.job_config(job).time_limit);
        let work = Request { time_limit, learning: self.learning(), ..work };
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

    /// What a run at `now` would do, up to about `limit` rows: the run, rolled back. `force` as for [`Service::evaporate`].
    pub async fn dry_run_job(
        &self,
        job: JobName,
        now: Timestamp,
        limit: Option<u64>,
        force: bool,
    ) -> Result<Tally, Error> {
        let request = Request { limit, force, learning: self.learning(), ..Request::default() };
        driver::dry_run_job(&self.store, job, now, request).await
    }

    /// The jobs with their schedules.
    pub async fn jobs(&self, at: Timestamp) -> Result<Vec<Job>, Error> {
        let tunables = self.store.tunables().await?;
        let last = self.store.last_runs(JobName::ALL.map(JobName::name)).await?;
        Ok(JobName::ALL
            .into_iter()
            .zip(last)
            .map(|(job, last)| status(job, self.job_config(job), last, &tunables, at))
            .collect())
    }

    /// The last runs, newest first.
    pub async fn history(&self, job: Option<JobName>, limit: u32) -> Result<Vec<Past>, Error> {
        self.store.runs(job.map(JobName::name), limit).await
    }

    /// How things stand at an instant.
    pub async fn status(&self, at: Timestamp) -> Result<Status, Error> {
        let about = self.store.about().await?;
        let ready = match self.store.check_schema().await {
            Ok(()) => self.jobs(at).await,
            Err(why) => Err(why),
        };
        let (jobs, stopped) = match ready {
            Ok(jobs) => (jobs, None),
            Err(why @ (Error::Schema(_) | Error::Tunables(_) | Error::TunableMissing(_))) => {
                (Vec::new(), Some(why.to_string()))
            }
            Err(why) => return Err(why),
        };
        let mut tiers = self.store.tiers().await?;
        tiers.sort_by_key(|row| Tier::named(&row.tier));
        let scratch = self.store.scratch().await?;
        let for_jobs = self.store.waiting(at).await?;
        Ok(Status {
            at,
            server: Server {
                uri: self.store.uri().to_owned(),
                name: about.name,
                version: about.version,
                edition: about.edition,
            },
            scratch: scratch.is_some(),
            simulated_now: scratch.flatten(),
            stopped,
            jobs,
            tiers,
            waiting: Waiting { for_jobs, unstamped: self.store.unstamped().await? },
            attempts: self.store.attempts(true, 20).await?.into_iter().map(OpenAttempt::from).collect(),
            runs: self.store.open_runs().await?,
            mirrors: self.store.mirrors_status().await?,
        })
    }

    /// How healthy the memories are at an instant.
    pub async fn health(&self, at: Timestamp) -> Result<Health, Error> {
        let tunables = self.store.tunables().await?;
        let mut tiers = self.store.health(at, &tunables).await?;
        tiers.sort_by_key(|row| Tier::named(&row.tier));
        let stuck_attempts = self.store.stuck_attempts().await?;
        let store::Waiting { due, ripe, sessions, clusters, reinforce, outcomes, quarantined } =
            self.store.waiting(at).await?;
        Ok(Health {
            at,
            tiers,
            stuck_attempts,
            quarantined,
            due,
            ripe,
            sessions,
            clusters,
            reinforce,
            outcomes,
        })
    }

    /// Answers one of the questions of `cypher/inspect/`.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a name that is no question.
    pub async fn inspect(&self, name: &str) -> Result<Answer, Error> {
        self.store.inspect(name).await
    }

    /// The questions there are: name, title, text.
    pub fn questions() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        Store::questions()
    }

    /// What happened, hour by hour.
    pub async fn timeline(&self) -> Result<Vec<Hour>, Error> {
        self.store.timeline().await.map(|rows| {
            let mut hours: Vec<Hour> = Vec::new();
            for (at, what, count) in rows {
                if hours.last().is_none_or(|hour| hour.at != at) {
                    hours.push(Hour { at, made: 0, rose: 0, crystallised: 0, expired: 0 });
                }
                let Some(hour) = hours.last_mut() else { continue };
                match what.as_str() {
                    "made" => hour.made = count,
                    "rose" => hour.rose = count,
                    "crystallised" => hour.crystallised = count,
                    _ => hour.expired = count,
                }
            }
            hours
        })
    }
}

fn status(
    job: JobName,
    config: &JobConfig,
    last: Option<Timestamp>,
    tunables: &Tunables,
    at: Timestamp,
) -> Job {
    let schedule = config.schedule(job, tunables);
    let due = schedule.due(job.name(), last, at).map(|due| due.at);
    let next = due.or_else(|| schedule.rhythm.next(at)).unwrap_or(at);
    let late = config.enabled && next < at;
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
        next,
        lag_seconds: if late { next.millis().abs_diff(at.millis()) / 1_000 } else { 0 },
    }
}
