//! The loop of a worker: at each wake-up it reads the ledger and starts jobs that are due or were abandoned.
//!
//! It knows no job. From schedule, last run and now it computes the due occurrence and, once the timer of the job has
//! fired, has the driver run it; the ledger ensures that only one of several workers does. An open run whose lease has expired, or that this very program
//! holds and does not work on, is finished at once, whatever the schedule. A job never runs twice at a time: an
//! occurrence that becomes due during the last run waits for its end; of several, only the latest runs.
//!
//! Schedules, tunables and the clock are read again at each survey, and rhythms that changed are passed to the timers;
//! so an edit in the graph or in the configuration takes effect within a second or two.
//!
//! # Design notes
//! A job runs on a thread of its own. Planning between two transactions may take a processor for a second, while the
//! loop, the probes and other jobs continue. A panic ends the thread's task and nothing else: the run is recorded as
//! failed, and the next occurrence runs as usual. Three within a minute end the worker, so that its supervisor sees
//! them.

use super::Config;
use super::cron::Rhythms;
use super::driver::{JobReport, Outcome, Wanted, finish_open, run_job};
use super::due::{Due, Rhythm};
use super::meter::{Ending, Meter};
use super::panics::{Panics, TooManyPanics};
use super::recovery::Recovery;
use super::wake::{FIRING_MAX, Firing, Unfired, Wake};
use crate::clock::{Clock, too_far_off};
use crate::domain::attempt::Right;
use crate::domain::units::Timestamp;
use crate::jobs::{JobName, Request};
use crate::store::{Error, JobStatus, LedgerSurvey, RunRelease, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

/// Why no job runs by its schedule on a scratch database: by the real clock all its memories would have faded.
pub const UNSCHEDULED: &str =
    "the time of this database is simulated, so no job runs by its schedule unless worker.on_scratch is true";

/// Greatest number of jobs at a time: each takes one or two connections to the one server.
const AT_ONCE: usize = 4;
/// The same until a job has finished since the database was last away. A server that has just come back plans each
/// statement when it first receives it, and again for every concurrent request: twelve jobs of four workers kept two
/// cores busy for six seconds with the plan of one statement.
const AT_ONCE_AT_FIRST: usize = 1;
/// Greatest duration of that limit: a first job may work for minutes.
const FIRST_LIMIT: Duration = Duration::from_secs(10);
/// Time limit of a survey: longer than a server that was just started needs for its first responses.
const SURVEY_LIMIT: Duration = Duration::from_secs(15);
/// Interval at which lags and stranded runs are measured again while a survey lasts.
const MEASURE_EVERY: Duration = Duration::from_secs(1);
/// Pause of a job that failed.
const PAUSE: Duration = Duration::from_secs(2);
/// Time that runs have to finish their transaction when the worker stops.
const GRACE: Duration = Duration::from_secs(6);
/// Time limit of releasing them, all together, after that.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// The dependencies of the worker loop.
#[derive(Clone)]
pub struct Dispatcher {
    pub store: Arc<Store>,
    /// Source of `now`.
    pub clock: Clock,
    /// The schedules in force.
    pub config: watch::Receiver<Arc<Config>>,
    /// The rhythms in force, for the timers and the record of schedules.
    pub rhythms: watch::Sender<Arc<Rhythms>>,
    /// Starts a survey of the ledger.
    pub wake: Wake,
    /// Stops the loop.
    pub stop: CancellationToken,
    pub meter: Arc<Meter>,
    /// Panics of the last minute.
    pub panics: Arc<Panics>,
    /// State of the recovery after the database was away.
    pub recovery: Arc<Recovery>,
    /// Options of every run.
    pub request: Request,
    /// Whether schedules also apply to a scratch database.
    pub on_scratch: bool,
}

/// The result of the survey under way; pending forever if there is none.
async fn result_of<T>(survey: &mut Option<impl Future<Output = T> + Unpin>) -> T {
    match survey {
        Some(survey) => survey.await,
        None => std::future::pending().await,
    }
}

/// The instant since which a job has another rhythm than this loop first saw.
fn changed_since(
    state: &mut DispatcherState,
    job: JobName,
    rhythm: &Rhythm,
    now: Timestamp,
) -> Option<Timestamp> {
    let known = state.rhythms.entry(job).or_insert_with(|| (rhythm.clone(), None));
    if known.0 != *rhythm {
        *known = (rhythm.clone(), Some(now));
    }
    known.1
}

/// The reason for which a job is started.
#[derive(Debug, Clone)]
enum Start {
    /// A run that was left open.
    OpenRun,
    /// An occurrence, and the number of missed ones before it.
    Occurrence(Timestamp, u64),
    /// A requested sweep: its id and its instant.
    RequestedSweep(String, Timestamp),
    /// Record the run in which the job panicked as failed.
    Panicked,
}

/// A running job.
struct Running {
    job: JobName,
    start: Start,
    begun: Instant,
}

/// The result of a job: `None` if another worker had taken it.
type JobResult = Result<Option<JobReport>, Error>;

/// State of the loop in memory; the ledger is in the graph.
struct DispatcherState {
    tasks: JoinSet<JobResult>,
    running: Vec<(Id, Running)>,
    /// Aborts tasks that do not end by themselves.
    cut: CancellationToken,
    /// End of the pause of a job that failed, and its error.
    paused: BTreeMap<JobName, (Instant, String)>,
    overlapped: BTreeMap<JobName, Timestamp>,
    /// Jobs whose run is still to be recorded as failed.
    panicked: BTreeSet<JobName>,
    /// The rhythm of each job at the last survey, and the instant since which it differs from before.
    rhythms: BTreeMap<JobName, (Rhythm, Option<Timestamp>)>,
    unfired: Unfired,
    /// The last ledger that was read, and when.
    ledger: Option<(LedgerSurvey, Instant)>,
    /// Why no job could start at the last survey.
    stopped: Option<String>,
    /// Whether it was logged that schedules do not apply to a scratch database.
    is_scratch_logged: bool,
    /// The first survey at which the database answered, while no job has finished since.
    cold_since: Option<Instant>,
}

impl Dispatcher {
    /// Works until the stop; then finishes or releases its runs.
    pub async fn work(self) -> Result<(), TooManyPanics> {
        let mut state = DispatcherState {
            tasks: JoinSet::new(),
            running: Vec::new(),
            cut: CancellationToken::new(),
            paused: BTreeMap::new(),
            overlapped: BTreeMap::new(),
            panicked: BTreeSet::new(),
            rhythms: BTreeMap::new(),
            unfired: Unfired::default(),
            ledger: None,
            stopped: None,
            is_scratch_logged: false,
            cold_since: None,
        };
        // A slow survey does not block the stop or the end of a job.
        let mut survey = None;
        let ended = loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => break Ok(()),
                Some(ended) = state.tasks.join_next_with_id() => {
                    if let Err(why) = self.settle(&mut state, ended).await {
                        break Err(why);
                    }
                    self.wake.look();
                }
                result = result_of(&mut survey), if survey.is_some() => {
                    survey = None;
                    self.act(&mut state, result);
                }
                () = self.wake.wait(), if survey.is_none() => survey = Some(Box::pin(self.survey())),
                // A survey waits for a database that is away.
                () = tokio::time::sleep(MEASURE_EVERY) => self.measure(&state),
            }
        };
        drop(survey);
        self.stop.cancel();
        self.release_all(state).await;
        ended
    }

    /// Reads the ledger; and, once the recovery is complete, requested sweeps and counts of rows that need attention.
    async fn survey(&self) -> Result<(Timestamp, LedgerSurvey), String> {
        self.recovery.returned().await;
        let sent = self.clock.now();
        let names = JobName::ALL.map(JobName::name);
        let survey = async {
            let mut facts = self.store.survey(&names).await?;
            if self.recovery.is_complete() {
                facts.requested_sweep = self.store.next_requested_sweep().await?;
                let concerns = self.store.concerns().await?;
                let mut counts = self.meter.counts();
                (counts.quarantined, counts.stuck) = (concerns.quarantined, concerns.stuck);
            }
            Ok::<_, Error>(facts)
        };
        match tokio::time::timeout(SURVEY_LIMIT, survey).await {
            Ok(Ok(facts)) => Ok((sent, facts)),
            Ok(Err(why)) => Err(why.to_string()),
            Err(_) => Err(format!("no answer within {} s", SURVEY_LIMIT.as_secs())),
        }
    }

    fn act(&self, state: &mut DispatcherState, result: Result<(Timestamp, LedgerSurvey), String>) {
        let usable = result.and_then(|(sent, facts)| match self.skewed(sent, &facts) {
            None => Ok(facts),
            Some(why) => Err(why),
        });
        let stopped = match usable {
            Ok(facts) => {
                if self.recovery.is_complete() {
                    state.cold_since = None;
                } else if state.cold_since.get_or_insert_with(Instant::now).elapsed() > FIRST_LIMIT {
                    self.recovery.mark_progress();
                }
                let stopped = facts.stopped.clone();
                match &stopped {
                    None => self.start_due_jobs(state, &facts),
                    // No job will finish, and all else need not wait for one.
                    Some(_) => self.recovery.mark_progress(),
                }
                state.ledger = Some((facts, Instant::now()));
                stopped
            }
            Err(wrong) => {
                self.meter.counts().failed_looks += 1;
                self.recovery.failed();
                state.cold_since = None;
                Some(wrong)
            }
        };
        self.measure(state);
        if let Some(why) = stopped.as_ref().filter(|_| state.stopped != stopped) {
            warn!(why, "no job can start");
        }
        self.meter.counts().stopped.clone_from(&stopped);
        state.stopped = stopped;
    }

    /// Measures how long a run of each job has been due, or open without a holder, by the last ledger that could be read:
    /// both grow where no job can start.
    fn measure(&self, state: &DispatcherState) {
        let Some((facts, read)) = &state.ledger else { return };
        let now = self.clock.now();
        let config = Arc::clone(&self.config.borrow());
        for (job, ledger) in JobName::ALL.into_iter().zip(&facts.jobs) {
            let settings = config.of(job);
            let schedule = settings.schedule(job, &facts.tunables);
            let since = facts.applies_since(ledger, &schedule.rhythm.to_string());
            let lag = schedule.lag(job.name(), ledger.last, since, now);
            let applies = settings.enabled && self.applies_to(facts);
            let stranded = ledger.open.as_ref().map_or(Duration::ZERO, |open| open.stranded(read.elapsed()));
            self.meter.job(job, |counts| {
                counts.lag = if applies { lag } else { Duration::ZERO };
                counts.stranded = stranded;
            });
        }
    }

    /// Whether jobs run by their schedules on the database.
    fn applies_to(&self, facts: &LedgerSurvey) -> bool {
        !facts.scratch || self.on_scratch
    }

    /// Why this machine's clock forbids opening runs.
    fn skewed(&self, sent: Timestamp, facts: &LedgerSurvey) -> Option<String> {
        let skew_ms = self.clock.skew_ms(sent, facts.server_now, self.clock.now());
        too_far_off(skew_ms)
    }

    fn start_due_jobs(&self, state: &mut DispatcherState, facts: &LedgerSurvey) {
        let now = self.clock.now();
        let config = Arc::clone(&self.config.borrow());
        let applies = self.applies_to(facts);
        if !applies && !std::mem::replace(&mut state.is_scratch_logged, true) {
            warn!("{}", UNSCHEDULED);
        }
        let mut idle = true;
        // The first is sent even if no job is enabled: others record it.
        let is_first = state.rhythms.is_empty();
        let mut rhythms = Rhythms::new();
        for (job, ledger) in JobName::ALL.into_iter().zip(&facts.jobs) {
            let settings = config.of(job);
            let schedule = settings.schedule(job, &facts.tunables);
            let since = changed_since(state, job, &schedule.rhythm, now);
            if settings.enabled {
                rhythms.insert(job, schedule.rhythm.clone());
            }
            let due =
                (settings.enabled && applies).then(|| schedule.due(job.name(), ledger.last, now)).flatten();
            let due = due.map(|due| match since {
                // Occurrences before the change of the schedule were not missed.
                Some(since) => Due { missed: due.missed.min(schedule.rhythm.between(since, due.at)), ..due },
                None => due,
            });
            idle &= due.is_none() && ledger.open.is_none();
            if due.is_none() {
                state.unfired.clear(job);
            }
            let due = due.filter(|due| self.has_fired(state, job, due.at));
            let start = due.map(|due| Start::Occurrence(due.at, due.missed));
            let requested = facts.requested_sweep.as_ref().filter(|_| job == JobName::Sweep);
            let start = start.or_else(|| requested.map(|(id, at)| Start::RequestedSweep(id.clone(), *at)));
            let Some(start) = self.start_of(state, job, ledger, start) else { continue };
            if state.tasks.len() >= if self.recovery.is_complete() { AT_ONCE } else { AT_ONCE_AT_FIRST } {
                continue;
            }
            let request = Request {
                time_limit: Some(settings.time_limit),
                stop: self.stop.clone(),
                ..self.request.clone()
            };
            self.begin(state, job, start, request);
        }
        self.rhythms.send_if_modified(|known| {
            let is_changed = is_first || **known != rhythms;
            if is_changed {
                *known = Arc::new(rhythms);
            }
            is_changed
        });
        if idle {
            self.recovery.mark_progress();
        }
    }

    /// Whether the timer of a job has reached an occurrence, or can no longer be waited for.
    fn has_fired(&self, state: &mut DispatcherState, job: JobName, occurrence: Timestamp) -> bool {
        match state.unfired.check(job, occurrence, self.wake.fired(job), Instant::now()) {
            Firing::Fired => true,
            Firing::Awaited => false,
            Firing::Lost => {
                warn!(
                    job = job.name(),
                    waited_s = FIRING_MAX.as_secs(),
                    "the timer of a due job did not fire"
                );
                self.meter.job(job, |counts| counts.unfired += 1);
                self.wake.fire(job, occurrence);
                true
            }
        }
    }

    /// The reason to start a job: none while it runs here or elsewhere, or has just failed.
    fn start_of(
        &self,
        state: &mut DispatcherState,
        job: JobName,
        ledger: &JobStatus,
        due: Option<Start>,
    ) -> Option<Start> {
        let here = state
            .running
            .iter()
            .find(|(_, running)| running.job == job)
            .map(|(_, running)| running.start.clone());
        let elsewhere = ledger.open.as_ref().is_some_and(|open| !open.ours && !open.free);
        if here.is_some() || elsewhere {
            if let Some(Start::Occurrence(at, _)) = due.as_ref()
                // The ledger may not yet contain a run that was started here.
                && !matches!(here, Some(Start::Occurrence(begun, _)) if begun == *at)
                && state.overlapped.insert(job, *at) != Some(*at)
            {
                self.meter.job(job, |counts| counts.overlaps += 1);
            }
            return None;
        }
        if state.paused.get(&job).is_some_and(|(until, _)| Instant::now() < *until) {
            return None;
        }
        match ledger.open {
            _ if state.panicked.contains(&job) => Some(Start::Panicked),
            Some(_) => Some(Start::OpenRun),
            None => due,
        }
    }

    fn begin(&self, state: &mut DispatcherState, job: JobName, start: Start, request: Request) {
        let begun_for = start.clone();
        let (store, cut, runtime) = (Arc::clone(&self.store), state.cut.clone(), Handle::current());
        let task = state.tasks.spawn_blocking(move || {
            let work = async {
                match start {
                    Start::OpenRun => finish_open(&store, job, Right::Lease, request).await,
                    Start::Occurrence(at, _) => {
                        run_job(&store, job, &Wanted::scheduled(at, Right::Lease), request).await.map(Some)
                    }
                    Start::RequestedSweep(id, at) => {
                        let wanted = Wanted::requested(&id, at);
                        run_job(&store, job, &wanted, request).await.map(Some)
                    }
                    Start::Panicked => {
                        let why = "the job panicked; see the log of its worker".to_owned();
                        store.release_run(job.name(), RunRelease::Failed(why)).await.map(|()| None)
                    }
                }
            };
            runtime.block_on(async {
                tokio::select! {
                    biased;
                    () = cut.cancelled() => Ok(None),
                    ended = work => ended,
                }
            })
        });
        state.running.push((task.id(), Running { job, start: begun_for, begun: Instant::now() }));
    }

    async fn settle(
        &self,
        state: &mut DispatcherState,
        ended: Result<(Id, JobResult), JoinError>,
    ) -> Result<(), TooManyPanics> {
        let id = match &ended {
            Ok((id, _)) => *id,
            Err(why) => why.id(),
        };
        let Some(place) = state.running.iter().position(|(running, _)| *running == id) else { return Ok(()) };
        let (_, Running { job, start, begun }) = state.running.swap_remove(place);
        let took = begun.elapsed();
        match ended {
            Ok((_, Ok(report))) => {
                // A run held by another worker ends quickly and is not logged.
                if report.as_ref().is_some_and(|report| report.outcome != Outcome::Skipped) {
                    self.recovery.mark_progress();
                }
                state.paused.remove(&job);
                if matches!(start, Start::Panicked) {
                    state.panicked.remove(&job);
                }
                self.count(job, &start, took, report.as_ref());
            }
            Ok((_, Err(why))) => {
                let ending = match why {
                    Error::Fenced(_) => Ending::Lost,
                    Error::Guarded(_) => Ending::Guarded,
                    _ => Ending::Failed,
                };
                self.meter.job(job, |counts| counts.ended(ending, took));
                let last_error = why.to_string();
                if state.paused.get(&job).is_none_or(|(_, before)| *before != last_error) {
                    warn!(job = job.name(), why = last_error, "a run failed");
                }
                state.paused.insert(job, (Instant::now() + PAUSE, last_error));
            }
            Err(_) => {
                self.meter.job(job, |counts| counts.ended(Ending::Panicked, took));
                state.panicked.insert(job);
                self.panics.count()?;
                self.begin(state, job, Start::Panicked, Request::default());
            }
        }
        Ok(())
    }

    fn count(&self, job: JobName, start: &Start, took: Duration, report: Option<&JobReport>) {
        let Some(report) = report else { return };
        self.meter.job(job, |counts| match report.outcome {
            Outcome::Skipped => {}
            Outcome::Released => counts.ended(Ending::Released, took),
            Outcome::Done => {
                counts.ended(Ending::Done, took);
                counts.last_done = Some(self.clock.now());
                counts.worked(report.tally);
                match start {
                    Start::OpenRun => counts.adopted += 1,
                    Start::Occurrence(_, missed) => counts.missed += missed,
                    Start::RequestedSweep(..) | Start::Panicked => {}
                }
            }
        });
        if let (Start::Occurrence(_, missed @ 1..), Outcome::Done) = (start, report.outcome) {
            warn!(job = job.name(), missed, "one run replaced missed occurrences");
        }
    }

    async fn release_run(&self, job: JobName, how: RunRelease) {
        match tokio::time::timeout(SHUTDOWN_TIMEOUT, self.store.release_run(job.name(), how)).await {
            Ok(Ok(())) => {}
            Ok(Err(why)) => {
                warn!(job = job.name(), %why, "the lease of a run could not be released; it will expire")
            }
            Err(_) => {
                warn!(job = job.name(), "the lease of a run could not be released in time; it will expire")
            }
        }
    }

    /// Waits until runs have finished their transaction, and releases those that did not in time.
    async fn release_all(&self, mut state: DispatcherState) {
        let all = async {
            while let Some(ended) = state.tasks.join_next_with_id().await {
                // Another panic does not matter to a stopping worker.
                let _ = self.settle(&mut state, ended).await;
            }
        };
        if tokio::time::timeout(GRACE, all).await.is_ok() {
            return;
        }
        let left: Vec<JobName> = state.running.iter().map(|(_, running)| running.job).collect();
        error!(?left, "released runs whose transaction did not end in time");
        state.cut.cancel();
        together(left.into_iter().map(|job| {
            let this = self.clone();
            async move || this.release_run(job, RunRelease::Handover).await
        }))
        .await;
    }
}

/// Runs tasks at the same time, each on a thread of its own, and waits for all of them.
async fn together<F: AsyncFnOnce() + Send + 'static>(tasks: impl Iterator<Item = F>) {
    let mut running = JoinSet::new();
    for task in tasks {
        let runtime = Handle::current();
        running.spawn_blocking(move || runtime.block_on(task()));
    }
    while running.join_next().await.is_some() {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::Barrier;

    #[tokio::test]
    async fn runs_are_released_together() {
        let all = Arc::new(Barrier::new(AT_ONCE));
        // One after another, the first would wait for the others in vain.
        let released = together((0..AT_ONCE).map(|_| {
            let all = Arc::clone(&all);
            async move || {
                all.wait().await;
            }
        }));
        tokio::time::timeout(SHUTDOWN_TIMEOUT, released).await.unwrap();
    }
}
