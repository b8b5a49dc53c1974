//! The section `[pheromones]`, whose names are those of the stigmergy document.

use super::kind::duration;
use ebb_core::domain::trail::{Allowed, Evaporation, EvaporationError, NamesError, Rates, Trails};
use serde::Deserialize;
use std::time::Duration;

/// What trails go by. Every field is described in `config/default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Config {
    pub exploitation_decay: f64,
    pub exploration_decay: f64,
    pub success_decay: f64,
    pub traversal_decay: f64,
    pub recency_decay: f64,
    pub decay_interval_cycles: u32,
    #[serde(deserialize_with = "duration")]
    pub cycle: Duration,
    pub labels: Vec<String>,
    pub relationship_types: Vec<String>,
    pub pheromone_cap: f64,
}

impl Config {
    /// The shares, each under its name.
    pub(super) const fn rates(&self) -> Rates {
        Rates {
            exploitation: self.exploitation_decay,
            exploration: self.exploration_decay,
            success: self.success_decay,
            traversal: self.traversal_decay,
            recency: self.recency_decay,
        }
    }

    /// How fast pheromones go.
    ///
    /// # Errors
    /// [`EvaporationError`] for values under which none can.
    pub fn evaporation(&self) -> Result<Evaporation, EvaporationError> {
        Evaporation::new(self.rates(), self.pheromone_cap)
    }

    /// Which labels and types carry them.
    ///
    /// # Errors
    /// [`NamesError`] for a name that can be none.
    pub fn allowed(&self) -> Result<Allowed, NamesError> {
        Allowed::new(&self.labels, &self.relationship_types)
    }

    /// What every verb goes by that works on trails.
    ///
    /// # Errors
    /// As the two above, in words.
    pub fn trails(&self) -> Result<Trails, String> {
        Ok(Trails {
            evaporation: self.evaporation().map_err(|why| why.to_string())?,
            allowed: self.allowed().map_err(|why| why.to_string())?,
            cycle_ms: i64::try_from(self.cycle.as_millis()).unwrap_or(i64::MAX),
            interval_cycles: i64::from(self.decay_interval_cycles),
        })
    }
}
