//! The section `[worker]`.

use super::kind::duration;
use serde::Deserialize;
use std::net::SocketAddr;
use std::time::Duration;

/// How a worker holds what it works on. Every field is described in `config/default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Config {
    #[serde(deserialize_with = "duration")]
    pub lease: Duration,
    #[serde(deserialize_with = "duration")]
    pub tick: Duration,
    #[serde(default)]
    pub listen: Option<SocketAddr>,
}
