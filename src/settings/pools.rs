//! The section `[neo4j]` as far as it says how many connections to hold.

use super::kind::duration;
use serde::Deserialize;
use std::time::Duration;

/// Connections by purpose, and how long to wait for one. Every field is described in `config/default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Config {
    pub request_connections: u32,
    pub job_connections: u32,
    pub lease_connections: u32,
    #[serde(deserialize_with = "duration")]
    pub acquire_timeout: Duration,
}
