//! The section `[retention]`.

use super::kind::{duration, optional_duration};
use ebb_core::domain::retention::Retention;
use serde::Deserialize;
use std::time::Duration;

/// How long Ebb keeps what it recorded for itself. Every field is described in `config/default.toml`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Config {
    #[serde(deserialize_with = "duration")]
    pub requests: Duration,
    #[serde(deserialize_with = "duration")]
    pub runs: Duration,
    #[serde(deserialize_with = "duration")]
    pub sessions: Duration,
    #[serde(default, deserialize_with = "optional_duration")]
    pub decayed_facts: Option<Duration>,
    #[serde(default, deserialize_with = "optional_duration")]
    pub tombstones: Option<Duration>,
}

impl From<Config> for Retention {
    fn from(config: Config) -> Self {
        let Config { requests, runs, sessions, decayed_facts, tombstones } = config;
        Self { requests, runs, sessions, decayed_facts, tombstones, paced: true }
    }
}
