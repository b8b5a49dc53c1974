//! The sections `[jobs.<name>]`.

use super::kind::{duration, optional_duration};
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
    #[serde(deserialize_with = "duration")]
    pub time_limit: Duration,
}
