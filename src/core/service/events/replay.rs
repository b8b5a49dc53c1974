//! Replay: the events of a file with the real jobs in between, under simulated time.
//!
//! It shows the effect of a policy over a year. Only on a scratch database, since simulated time must not mix with real
//! memories. Jobs due at one instant run in their order, before the events of that instant. An occurrence for which
//! nothing is due is skipped and counted; between two writes the database is read once for the instants since when
//! memories wait, so an idle year costs nothing.
//!
//! Energies, pheromones and weights of relations are functions of time: a pass of `decay`, `evaporate` or `fade` refreshes what
//! is stored of them and changes nothing else, except that `decay` lets memories expire. So `decay` runs when the first one does,
//! and each of the three at its last occurrence before the end, which leaves what all of its passes would have left.
//!
//! Outcomes are dated by the server's clock, not by simulated time; here they wait since the events that they came
//! with.
//!
//! After a kill the same command at once takes over the work of its predecessor: the ledger records the completed
//! occurrences, the import the number of applied lines.

use super::feed::{self, FeedError};
use super::{BATCH_LINES, BadLines, Feeder, ImportError, Imported, Tick};
use crate::clock::rfc3339;
use crate::domain::attempt::Right;
use crate::domain::tier::Tier;
use crate::domain::units::{Energy, Timestamp};
use crate::jobs::{JobName, Request, reap};
use crate::scheduler::driver::{JobReport, Outcome, Trigger, Wanted, finish_open, run_job_after};
use crate::scheduler::due::{Rhythm, Schedule as JobSchedule};
use crate::service::Service;
use crate::store::{Backlog, Error, RunInputs};
use std::collections::BTreeMap;
use std::path::Path;

/// The work of the demo on its scratch database.
pub const DEMO: &str = "demo";
/// The work of a comparison of configurations on its scratch database.
pub const COMPARISON: &str = "comparison";

/// Options of a replay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Replay {
    /// Events from this instant on are skipped; the jobs run up to it. `None` ends with the last event.
    pub until: Option<Timestamp>,
    /// Jobs run only at multiples of this many milliseconds.
    pub step_ms: Option<i64>,
    /// The work that the scratch database is marked for, which no other may use. `None`: this file, as its imports are known.
    pub work: Option<&'static str>,
}

/// Jobs that refresh what is stored of functions of time.
const REFRESHING: [JobName; 3] = [JobName::Decay, JobName::Evaporate, JobName::Fade];

/// The schedule of a replay: for each job when it runs, and the last handled occurrence.
struct Schedule {
    jobs: Vec<(JobName, JobSchedule, Timestamp)>,
    step_ms: i64,
    /// The tunables at the beginning: there is no other writer.
    inputs: RunInputs,
    /// State after the last write.
    backlog: Backlog,
}

/// An instant, and the jobs that have work then.
struct Visit {
    at: Timestamp,
    jobs: Vec<JobName>,
}

impl Schedule {
    /// The next instant at which a job has work, if nothing is written before.
    fn next(&self) -> Option<Visit> {
        let visits: Vec<(Timestamp, JobName)> = self
            .jobs
            .iter()
            .filter_map(|(job, schedule, handled)| {
                let since = self.waits_since(*job)?;
                let before = Timestamp::from_millis(since.millis() - 1).unwrap_or(since);
                let occurrence = schedule.rhythm.next(before.max(*handled))?;
                Some((self.visited(occurrence), *job))
            })
            .collect();
        let at = visits.iter().map(|(at, _)| *at).min()?;
        let jobs = visits.into_iter().filter(|(visit, _)| *visit == at).map(|(_, job)| job).collect();
        Some(Visit { at, jobs })
    }

    /// The instant since which something waits for a job that is more than a refresh of what is stored.
    fn waits_since(&self, job: JobName) -> Option<Timestamp> {
        match job {
            JobName::Decay => self.backlog.expires,
            job if REFRESHING.contains(&job) => None,
            job => job.waits_since(&self.backlog),
        }
    }

    /// The last visits of the jobs that refresh what is stored, up to `end`.
    fn refreshes(&self, end: Timestamp) -> Vec<Visit> {
        let mut visits: BTreeMap<Timestamp, Vec<JobName>> = BTreeMap::new();
        for (job, schedule, handled) in self.jobs.iter().filter(|(job, ..)| REFRESHING.contains(job)) {
            let latest = Rhythm::Every(self.step_ms).latest(end).and_then(|end| schedule.rhythm.latest(end));
            let at = latest.map(|latest| self.visited(latest)).filter(|at| at > handled);
            if let Some(at) = at.filter(|at| job.waits_since(&self.backlog).is_some_and(|since| since <= *at))
            {
                visits.entry(at).or_default().push(*job);
            }
        }
        visits.into_iter().map(|(at, jobs)| Visit { at, jobs }).collect()
    }

    /// The first instant after `after` at which a job may find work made due by an event at `after`: `decay`, once a memory with
    /// the energy of one access expires. Learning is excluded: it runs each minute, and a file cut into minutes is read ten
    /// times as slowly. It is checked after these events are applied.
    fn boundary(&self, after: Timestamp) -> Timestamp {
        let nexts = self.jobs.iter().filter_map(|(job, schedule, _)| {
            let since = match job {
                JobName::Learn => return None,
                JobName::Decay => {
                    let expiry = self.inputs.tunables.config().expiry_threshold;
                    let curve = self.inputs.tunables.curve(Tier::Working)?;
                    after.after(curve.crossing(Energy::ONE.value(), expiry)?)
                }
                job if REFRESHING.contains(job) => return None,
                _ => after,
            };
            schedule.rhythm.next(since)
        });
        nexts.map(|occurrence| self.visited(occurrence)).min().unwrap_or_else(|| after.after(f64::MAX))
    }

    fn visited(&self, occurrence: Timestamp) -> Timestamp {
        let before = Timestamp::from_millis(occurrence.millis() - 1).unwrap_or(occurrence);
        Rhythm::Every(self.step_ms).next(before).unwrap_or(occurrence)
    }
}

impl Service {
    /// Replays the events of a file.
    ///
    /// # Errors
    /// [`ImportError`]; [`Error::NotScratch`] for a database with memories of its own, or of another replay.
    pub async fn replay(
        &self,
        path: &Path,
        replay: Replay,
        bad: BadLines,
        watch: &mut dyn FnMut(Tick),
    ) -> Result<Imported, ImportError> {
        let (key, _) = feed::identify(path)?;
        self.store.claim_scratch(replay.work.unwrap_or(&key)).await?;
        self.store.initialise(&self.config.consolidation, self.now().await?).await?;
        let mut feeder = Feeder::open(self, path, bad).await?;
        reap::run(&self.store, Right::Scratch).await?;
        for job in JobName::ALL {
            finish_open(&self.store, job, Right::Scratch, self.request()).await?;
        }
        let first = feeder.feed.next_at().await?;
        // Work due up to the last applied event is done, whether or not a job had a run.
        let mut schedule = self.schedule(feeder.at.or(first), replay).await?;
        feeder.tunables = Some(schedule.inputs.tunables.clone());
        // The whole file may be applied, and the jobs not yet run up to the requested end.
        let mut last = feeder.at.max(first).unwrap_or(Timestamp::FIRST);
        loop {
            let next = feeder.feed.next_at().await?.filter(|at| replay.until.is_none_or(|until| *at < until));
            let horizon = next.or(replay.until).unwrap_or(last);
            let visit = schedule.next();
            if let Some(visit) = visit.as_ref().filter(|visit| visit.at <= horizon) {
                self.visit(&mut schedule, visit, &mut feeder).await?;
                watch(Tick { at: Some(visit.at), ..feeder.tick() });
                continue;
            }
            let Some(at) = next else { break };
            if at < last {
                let path = path.display().to_string();
                return Err(FeedError::OutOfOrder { path, line: feeder.feed.line() + 1 }.into());
            }
            let boundary = schedule.boundary(at);
            let ends = [replay.until, visit.map(|visit| visit.at)];
            let until = ends.into_iter().flatten().fold(boundary, Timestamp::min);
            while let Some(step) = feeder.feed.next(BATCH_LINES, Some(until)).await? {
                last = step.latest().map_or(last, |at| at.max(last));
                let teaches = step.outcome.is_some();
                feeder.apply(step).await?;
                // Learning from it may be due before the next line.
                if teaches {
                    break;
                }
            }
            self.look(&mut schedule, last).await?;
            watch(feeder.tick());
        }
        let end = replay.until.unwrap_or(last);
        for visit in schedule.refreshes(end) {
            self.visit(&mut schedule, &visit, &mut feeder).await?;
        }
        self.ended(feeder, end).await
    }

    async fn ended(&self, mut feeder: Feeder<'_>, at: Timestamp) -> Result<Imported, ImportError> {
        if at > Timestamp::FIRST {
            self.store.advance_scratch(at).await?;
            feeder.done.ended_at = Some(at);
        }
        Ok(feeder.finish())
    }

    async fn schedule(&self, from: Option<Timestamp>, replay: Replay) -> Result<Schedule, Error> {
        let inputs = self.store.run_inputs().await?;
        let last = self.store.last_runs(JobName::ALL.map(JobName::name)).await?;
        let mut jobs = Vec::new();
        for (job, last) in JobName::ALL.into_iter().zip(last) {
            let config = self.job_config(job);
            // A replay calls no embedder: its time is simulated, and that of the embedder is not.
            if config.enabled && job != JobName::Embed {
                let handled = last.or(from).unwrap_or(Timestamp::FIRST);
                jobs.push((job, config.schedule(job, &inputs.tunables), handled));
            }
        }
        let (step_ms, backlog) = (replay.step_ms.unwrap_or(1).max(1), Backlog::default());
        let mut schedule = Schedule { jobs, step_ms, inputs, backlog };
        self.look(&mut schedule, from.unwrap_or(Timestamp::FIRST)).await?;
        Ok(schedule)
    }

    async fn visit(
        &self,
        schedule: &mut Schedule,
        visit: &Visit,
        feeder: &mut Feeder<'_>,
    ) -> Result<(), ImportError> {
        for (job, own, handled) in &mut schedule.jobs {
            if !visit.jobs.contains(job) {
                continue;
            }
            let nothing_due = own.rhythm.between(*handled, visit.at);
            *handled = visit.at;
            let wanted = Wanted {
                occurrence: rfc3339(visit.at),
                now: visit.at,
                trigger: Trigger::Schedule,
                right: Right::Scratch,
            };
            let inputs = schedule.inputs.clone();
            let report = run_job_after(&self.store, inputs, *job, &wanted, self.request()).await?;
            record(feeder, &report, nothing_due);
        }
        Ok(self.look(schedule, visit.at).await?)
    }

    /// Reads for each job the instant since which something waits; outcomes wait since the latest simulated instant.
    async fn look(&self, schedule: &mut Schedule, at: Timestamp) -> Result<(), Error> {
        let backlog = self.store.backlog(&schedule.inputs.tunables).await?;
        schedule.backlog = Backlog { learn: backlog.learn.map(|_| at), ..backlog };
        Ok(())
    }

    /// A replay shows the effect of a policy: nobody is to be protected from it.
    fn request(&self) -> Request {
        Request { learning: self.learning(), accept_affected: Some(i64::MAX), ..Request::default() }
    }
}

fn record(feeder: &mut Feeder<'_>, report: &JobReport, nothing_due: u64) {
    let runs = feeder.done.runs.entry(report.job).or_default();
    runs.nothing_due += nothing_due;
    if report.outcome == Outcome::Done {
        runs.ran += 1;
        runs.changed += report.tally.changed;
        runs.expired += report.tally.expired;
        runs.promoted += report.tally.promoted;
    }
}
