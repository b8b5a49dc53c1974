//! The scheduler of jobs, which runs each occurrence once.

pub mod calendar;
pub mod cron;
pub mod dispatcher;
pub mod driver;
pub mod due;
pub mod meter;
pub mod panics;
pub mod record;
pub mod recovery;
pub mod wake;

use crate::domain::tunables::Tunables;
use crate::jobs::JobName;
use due::{Rhythm, Schedule};
use std::time::Duration;

/// The schedule and the limits of one job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobConfig {
    /// Whether the schedule runs it; it can always be run manually.
    pub enabled: bool,
    /// Rhythm; `None` takes the interval of the ConsolidationConfig node.
    pub rhythm: Option<Rhythm>,
    /// Greatest delay of a run after its occurrence.
    pub jitter: Duration,
    /// Time limit of one run.
    pub time_limit: Duration,
}

impl JobConfig {
    /// The schedule in force, with the tunables of the graph.
    #[must_use]
    pub fn schedule(&self, job: JobName, tunables: &Tunables) -> Schedule {
        Schedule {
            rhythm: self.rhythm.clone().unwrap_or_else(|| Rhythm::Every(job.interval_ms(tunables))),
            jitter_ms: i64::try_from(self.jitter.as_millis()).unwrap_or(i64::MAX),
        }
    }
}

/// The schedule and the limits of every job, in the order of [`JobName::ALL`].
#[derive(Debug, Clone, PartialEq)]
pub struct Config(pub [JobConfig; JobName::ALL.len()]);

impl Config {
    /// The configuration of a job.
    #[must_use]
    pub fn of(&self, job: JobName) -> &JobConfig {
        let index = JobName::ALL.iter().position(|known| *known == job).unwrap_or(0);
        &self.0[index]
    }
}
