//! The section `[relation]`, whose names are those of the relation decay document.

use ebb_core::domain::relation::{Fading, FadingError, Pins};
use serde::Deserialize;

/// How relations fade. Every field is described in `config/default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Config {
    pub enabled: bool,
    pub half_life_days: f64,
    pub minimum_weight: f64,
    pub schedule: String,
    #[serde(default)]
    pub pinned: Pins,
}

impl Config {
    /// The law that these values make.
    ///
    /// # Errors
    /// [`FadingError`] for values under which no relation can fade.
    pub fn fading(&self) -> Result<Fading, FadingError> {
        Fading::new(self.half_life_days, self.minimum_weight)
    }
}
