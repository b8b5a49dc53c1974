//! The section `[guard]`.

use ebb_core::domain::guard::Guard;
use serde::Deserialize;

/// When a change is too large to make unasked. Every field is described in `config/default.toml`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Config {
    pub enabled: bool,
    pub max_affected_ratio: f64,
    pub first_run_dry: bool,
}

impl From<Config> for Guard {
    fn from(config: Config) -> Self {
        Self { enabled: config.enabled, max_affected_ratio: config.max_affected_ratio }
    }
}
