//! The sections `[jobs.<name>]`.

use super::kind::{duration, optional_duration};
use crate::scheduler::calendar::{Pattern, Zone};
use crate::scheduler::due::Rhythm;
use serde::Deserialize;
use std::time::Duration;

/// The names of the jobs that have a section.
pub(super) const JOBS: [&str; 6] = ["audit", "decay", "coactivate", "cluster", "reinforce", "promote"];

/// One section for each job.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "each is named after its job")]
pub struct Config {
    pub audit: JobConfig,
    pub decay: JobConfig,
    pub coactivate: JobConfig,
    pub cluster: JobConfig,
    pub reinforce: JobConfig,
    pub promote: JobConfig,
}

/// What every job has. Every field is described in `config/default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct JobConfig {
    pub enabled: bool,
    #[serde(default, deserialize_with = "optional_duration")]
    pub every: Option<Duration>,
    #[serde(default)]
    pub cron: Option<String>,
    pub timezone: String,
    #[serde(deserialize_with = "duration")]
    pub jitter: Duration,
    #[serde(deserialize_with = "duration")]
    pub time_limit: Duration,
}

impl JobConfig {
    /// When the configuration has it run; `None` where it leaves that to the graph. What was checked as text fits.
    #[must_use]
    pub fn rhythm(&self) -> Option<Rhythm> {
        let zone = Zone::named(&self.timezone).unwrap_or(Zone::UTC);
        let cron = self.cron.as_deref().and_then(|cron| Pattern::parse(cron).ok());
        let every = self.every.and_then(|every| i64::try_from(every.as_millis()).ok());
        cron.map(|cron| Rhythm::Cron(Box::new(cron), zone)).or_else(|| every.map(Rhythm::Every))
    }
}
