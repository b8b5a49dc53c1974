//! The sections `[jobs.<name>]`.

use super::kind::{duration, optional_duration};
use ebb_core::scheduler::calendar::{Pattern, Zone};
use ebb_core::scheduler::due::Rhythm;
use serde::Deserialize;
use std::time::Duration;

/// The names of the jobs that have a section.
pub(super) const JOBS: [&str; 10] = [
    "audit",
    "decay",
    "coactivate",
    "cluster",
    "reinforce",
    "promote",
    "evaporate",
    "fade",
    "sweep",
    "learn",
];

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
    pub evaporate: JobConfig,
    pub fade: JobConfig,
    pub sweep: JobConfig,
    pub learn: JobConfig,
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
        let every = self.every.and_then(|every| i64::try_from(every.as_millis()).ok());
        self.cron.as_deref().and_then(|cron| self.rhythm_of(cron)).or_else(|| every.map(Rhythm::Every))
    }

    /// When a pattern that stands elsewhere has it run, by its own clocks.
    #[must_use]
    pub fn rhythm_of(&self, cron: &str) -> Option<Rhythm> {
        let zone = Zone::named(&self.timezone).unwrap_or(Zone::UTC);
        Pattern::parse(cron).ok().map(|pattern| Rhythm::Cron(Box::new(pattern), zone))
    }
}
