//! The timers of the schedules: each job of ours is one job of the cron crate, which fires at its occurrences.
//!
//! A firing says up to which occurrence a job may start; whether one is due, and how many were missed, is decided by
//! [`due`](super::due). A cron pattern is given to the crate with a seconds field before its five fields, and its time
//! zone. An interval that divides a minute, an hour or a day is a pattern of UTC, since days begin at whole multiples
//! since 1970. Any other interval is the pattern of one instant, its next occurrence, and added anew when that has
//! passed. A schedule that is added or changed fires at once, for occurrences missed before.
//!
//! # Design notes
//! The crate's repeated jobs begin when they are added, and one that is late may never fire again (its issue 113), so
//! none is used. Its cron jobs differ from the rules of [`calendar`](super::calendar): they keep the offset that a zone
//! had when they were added (issue 87), need both day fields to match where cron needs one of them, and know no rule for
//! local times that do not exist. So each second the instant at which a job will fire is compared with the next
//! occurrence by our rules. A job that differs, for one of these reasons or because the clock was set back, is added
//! again; and if it still differs, as the pattern of that one instant. After a clock is set forward the crate fires by
//! itself.
//!
//! The crate's channels may lose a firing under load: see [`wake`](super::wake).

use super::calendar::Zone;
use super::due::Rhythm;
use super::wake::Wake;
use crate::clock::Clock;
use crate::domain::units::Timestamp;
use crate::jobs::JobName;
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};
use tokio_util::sync::CancellationToken;
use tracing::warn;
use uuid::Uuid;

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;

/// Interval of comparisons of the crate's jobs with the schedules.
const COMPARE_EVERY: Duration = Duration::from_secs(1);

/// The rhythms of the jobs that a schedule runs.
pub type Rhythms = BTreeMap<JobName, Rhythm>;

/// Why timers cannot start.
#[derive(Debug, thiserror::Error)]
#[error("the worker's timers cannot start: {0}")]
pub struct Error(#[from] JobSchedulerError);

/// The timers of a worker.
pub struct Timers {
    scheduler: JobScheduler,
    clock: Clock,
    wake: Wake,
    added: BTreeMap<JobName, Timer>,
}

/// A job as the crate has it.
struct Timer {
    rhythm: Rhythm,
    id: Uuid,
}

/// A pattern as the crate takes it, seconds first.
#[derive(Debug, Clone, PartialEq)]
struct TimerPattern {
    text: String,
    zone: Zone,
}

impl Timers {
    /// Starts the crate's scheduler, without jobs.
    pub async fn start(clock: Clock, wake: Wake) -> Result<Self, Error> {
        let scheduler = JobScheduler::new().await?;
        scheduler.start().await?;
        Ok(Self { scheduler, clock, wake, added: BTreeMap::new() })
    }

    /// Keeps one timer for each rhythm until the stop.
    pub async fn follow(mut self, mut rhythms: watch::Receiver<Arc<Rhythms>>, stop: CancellationToken) {
        loop {
            let wanted = Arc::clone(&rhythms.borrow_and_update());
            for job in JobName::ALL {
                if let Err(why) = self.keep(job, wanted.get(&job)).await {
                    warn!(job = job.name(), %why, "the timer of a job could not be set, and is set again");
                }
            }
            tokio::select! {
                () = stop.cancelled() => break,
                changed = rhythms.changed() => if changed.is_err() { break },
                () = tokio::time::sleep(COMPARE_EVERY) => {}
            }
        }
        // A timer that does not stop ends with the process.
        let _ = self.scheduler.shutdown().await;
    }

    /// Adds, replaces or removes the timer of a job; a timer that will fire at the right instant stays.
    async fn keep(&mut self, job: JobName, rhythm: Option<&Rhythm>) -> Result<(), JobSchedulerError> {
        let now = self.clock.now();
        let next = rhythm.and_then(|rhythm| rhythm.next(now));
        if let Some(timer) = self.added.get(&job) {
            let fires = self.scheduler.next_tick_for_job(timer.id).await?;
            // One that should have fired is about to.
            let is_right = fires.is_some_and(|at| at.timestamp_millis() <= now.millis() || is_at(at, next));
            if is_right && Some(&timer.rhythm) == rhythm {
                return Ok(());
            }
            self.scheduler.remove(&timer.id).await?;
            self.added.remove(&job);
        }
        let (Some(rhythm), Some(next)) = (rhythm, next) else { return Ok(()) };
        let id = match repeating(rhythm) {
            Some(pattern) => {
                let id = self.add(job, rhythm, pattern).await?;
                if self.scheduler.next_tick_for_job(id).await?.is_some_and(|at| is_at(at, Some(next))) {
                    id
                } else {
                    self.scheduler.remove(&id).await?;
                    self.add(job, rhythm, once(next)).await?
                }
            }
            None => self.add(job, rhythm, once(next)).await?,
        };
        self.added.insert(job, Timer { rhythm: rhythm.clone(), id });
        if let Some(latest) = rhythm.latest(now) {
            self.wake.fire(job, latest);
        }
        Ok(())
    }

    async fn add(
        &self,
        job: JobName,
        rhythm: &Rhythm,
        pattern: TimerPattern,
    ) -> Result<Uuid, JobSchedulerError> {
        let (clock, wake, rhythm) = (self.clock.clone(), self.wake.clone(), rhythm.clone());
        let fire = move |_, _| {
            if let Some(occurrence) = rhythm.latest(clock.now()) {
                wake.fire(job, occurrence);
            }
        };
        self.scheduler.add(Job::new_tz(pattern.text, pattern.zone.tz(), fire)?).await
    }
}

/// Whether the crate fires at an occurrence. It counts in seconds.
fn is_at(fires: DateTime<Utc>, occurrence: Option<Timestamp>) -> bool {
    occurrence.is_some_and(|at| fires.timestamp() == whole_second(at))
}

/// The first whole second from an instant on.
fn whole_second(at: Timestamp) -> i64 {
    at.millis().div_euclid(1_000) + i64::from(at.millis().rem_euclid(1_000) > 0)
}

/// The pattern of all occurrences of a rhythm, if there is one.
fn repeating(rhythm: &Rhythm) -> Option<TimerPattern> {
    let every_ms = match rhythm {
        Rhythm::Cron(pattern, zone) => {
            return Some(TimerPattern { text: format!("0 {}", pattern.text()), zone: *zone });
        }
        Rhythm::Every(every_ms) => *every_ms,
    };
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    let seconds = (every_ms > 0 && every_ms % 1_000 == 0).then_some(every_ms / 1_000)?;
    let text = match seconds {
        1..MINUTE if MINUTE % seconds == 0 => format!("*/{seconds} * * * * *"),
        MINUTE..HOUR if HOUR % seconds == 0 && seconds % MINUTE == 0 => {
            format!("0 */{} * * * *", seconds / MINUTE)
        }
        HOUR..DAY if DAY % seconds == 0 && seconds % HOUR == 0 => format!("0 0 */{} * * *", seconds / HOUR),
        DAY => "0 0 0 * * *".to_owned(),
        _ => return None,
    };
    Some(TimerPattern { text, zone: Zone::UTC })
}

/// The pattern of one instant.
fn once(at: Timestamp) -> TimerPattern {
    let at = DateTime::from_timestamp(whole_second(at), 0).unwrap_or(DateTime::UNIX_EPOCH);
    TimerPattern { text: at.format("%-S %-M %-H %-d %-m * %Y").to_string(), zone: Zone::UTC }
}

#[cfg(test)]
mod tests;
