//! The section `[neo4j]` as far as it says how to connect.

use super::kind::duration;
use serde::Deserialize;
use std::time::Duration;

/// Every field is described in `config/default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Config {
    pub connections: usize,
    #[serde(deserialize_with = "duration")]
    pub acquire_timeout: Duration,
}
