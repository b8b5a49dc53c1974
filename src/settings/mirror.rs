//! The section `[mirror]`.

use super::kind::duration;
use serde::Deserialize;
use std::path::PathBuf;
use std::time::Duration;

/// What is held in memory for recall, and how current it is kept. Every field is described in `config/default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Config {
    pub scopes: Vec<String>,
    pub max_bytes: u64,
    pub expired: bool,
    #[serde(deserialize_with = "duration")]
    pub refresh: Duration,
    #[serde(deserialize_with = "duration")]
    pub staleness: Duration,
    pub connections: usize,
    #[serde(default)]
    pub folder: Option<PathBuf>,
    pub persist_every: u64,
}
