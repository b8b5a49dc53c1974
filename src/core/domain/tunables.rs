//! Tunable parameters, checked one by one and against each other.
//!
//! They are stored in the graph, on the node `(:ConsolidationConfig {name: 'default'})` and under their documented
//! names, so that people who inspect the memories in Neo4j Browser can see and edit them. `ebb init` writes the node
//! from the `[memory]` section of the configuration; every run reads it again and checks it here, and an invalid value
//! stops that run with an error that names it. Answers that write nothing go on meanwhile, with valid ones in their
//! place, and say with which.
//!
//! There is no Rust `Default`: the defaults are in `config/default.toml` only.

use super::decay::Curve;
use super::tier::Tier;
use super::units::HOUR_MS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Below this energy, with no threshold left to cross, a sweep no longer writes a memory.
pub const ENERGY_FLOOR: f64 = 0.001;
/// A long-term memory is written at most once in this time: its energy hardly changes, and its exact value is computed.
pub const LONG_TERM_REWRITE_MS: i64 = 24 * HOUR_MS;

/// The tunables as stored in the graph or the configuration, unchecked. Field names are the documented ones;
/// `config/default.toml` describes each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConsolidationConfig {
    pub working_to_short_threshold: f64,
    pub short_to_long_threshold: f64,
    pub session_end_threshold: f64,
    pub expiry_threshold: f64,
    pub reinforcement_factor: f64,
    pub working_decay: f64,
    pub short_term_decay: f64,
    pub long_term_decay: f64,
    pub coactivation_threshold: f64,
    pub semantic_similarity_threshold: f64,
    pub promotion_batch_size: f64,
    pub decay_batch_size: f64,
    pub promotion_interval_minutes: f64,
    pub clustering_interval_minutes: f64,
    pub decay_interval_minutes: f64,
}

/// An invalid tunable, with the rule that it breaks.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{name} is {value}; {rule}")]
pub struct TunableFault {
    /// The documented name.
    pub name: &'static str,
    pub value: f64,
    pub rule: String,
}

/// The statement for Neo4j Browser that gives invalid tunables their documented values.
#[must_use]
pub fn correction(faults: &[TunableFault]) -> String {
    let documented = ConsolidationConfig::DOCUMENTED.entries();
    let is_invalid = |name: &str| faults.iter().any(|fault| fault.name == name);
    let changes = documented.iter().filter(|(name, _)| is_invalid(name));
    let changes: Vec<String> = changes.map(|(name, value)| format!("c.{name} = {value}")).collect();
    format!("MATCH (c:ConsolidationConfig {{name: 'default'}}) SET {}", changes.join(", "))
}

/// The source of valid tunables in the place of invalid ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum FallbackTunables {
    /// The last valid ones of the graph that this process read.
    LastValid,
    /// The section `memory` of the configuration of this process, which has read no valid ones yet.
    Configuration,
}

impl std::fmt::Display for FallbackTunables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::LastValid => "the last valid ones of the graph",
            Self::Configuration => "those of the configuration, [memory]",
        })
    }
}

/// Checked tunables, the source of all parameters of the memory laws.
#[derive(Debug, Clone, PartialEq)]
pub struct Tunables {
    config: ConsolidationConfig,
    fallback: Option<FallbackTunables>,
    working: Curve,
    short_term: Curve,
    long_term: Curve,
}

impl ConsolidationConfig {
    /// The documented values, which are the defaults of `config/default.toml`.
    pub const DOCUMENTED: Self = Self {
        working_to_short_threshold: 2.0,
        short_to_long_threshold: 5.0,
        session_end_threshold: 1.5,
        expiry_threshold: 0.1,
        reinforcement_factor: 0.5,
        working_decay: 0.5,
        short_term_decay: 0.05,
        long_term_decay: 0.001,
        coactivation_threshold: 3.0,
        semantic_similarity_threshold: 0.7,
        promotion_batch_size: 10.0,
        decay_batch_size: 100.0,
        promotion_interval_minutes: 10.0,
        clustering_interval_minutes: 60.0,
        decay_interval_minutes: 60.0,
    };

    /// The documented names, in documented order.
    pub const NAMES: [&'static str; 15] = [
        "workingToShortThreshold",
        "shortToLongThreshold",
        "sessionEndThreshold",
        "expiryThreshold",
        "reinforcementFactor",
        "workingDecay",
        "shortTermDecay",
        "longTermDecay",
        "coactivationThreshold",
        "semanticSimilarityThreshold",
        "promotionBatchSize",
        "decayBatchSize",
        "promotionIntervalMinutes",
        "clusteringIntervalMinutes",
        "decayIntervalMinutes",
    ];

    /// The documented names with their values, in documented order.
    #[must_use]
    pub fn entries(&self) -> [(&'static str, f64); 15] {
        let values = [
            self.working_to_short_threshold,
            self.short_to_long_threshold,
            self.session_end_threshold,
            self.expiry_threshold,
            self.reinforcement_factor,
            self.working_decay,
            self.short_term_decay,
            self.long_term_decay,
            self.coactivation_threshold,
            self.semantic_similarity_threshold,
            self.promotion_batch_size,
            self.decay_batch_size,
            self.promotion_interval_minutes,
            self.clustering_interval_minutes,
            self.decay_interval_minutes,
        ];
        std::array::from_fn(|i| (Self::NAMES[i], values[i]))
    }

    /// Checks every value, alone and against the others.
    ///
    /// # Errors
    /// All errors, not only the first.
    pub fn check(self) -> Result<Tunables, Vec<TunableFault>> {
        let mut faults = Vec::new();
        for (name, value) in self.entries() {
            let rule = match name {
                _ if !value.is_finite() => "it must be a finite number",
                "semanticSimilarityThreshold" if !(0.0..=1.0).contains(&value) => "it must be in 0 ..= 1",
                "promotionBatchSize" if !whole_in(value, 1.0, 1_000.0) => {
                    "it must be a whole number in 1 ..= 1000"
                }
                "decayBatchSize" if !whole_in(value, 1.0, 10_000.0) => {
                    "it must be a whole number in 1 ..= 10000"
                }
                _ if name.ends_with("Minutes") && !whole_in(value, 1.0, 525_600.0) => {
                    "it must be a whole number of minutes in 1 ..= 525600"
                }
                "reinforcementFactor" | "coactivationThreshold" if value < 0.0 => "it must not be negative",
                _ if name.ends_with("Threshold") && value < 0.0 => "it must not be negative",
                _ => continue,
            };
            faults.push(TunableFault { name, value, rule: rule.to_owned() });
        }
        for (name, low, high_name, high) in [
            ("expiryThreshold", self.expiry_threshold, "sessionEndThreshold", self.session_end_threshold),
            (
                "sessionEndThreshold",
                self.session_end_threshold,
                "workingToShortThreshold",
                self.working_to_short_threshold,
            ),
        ] {
            if low > high {
                let rule = format!("it must not be above {high_name}, which is {high}");
                faults.push(TunableFault { name, value: low, rule });
            }
        }
        let mut curve = |name, value| {
            Curve::Exponential(value).map_err(|fault| {
                // A NaN rate is already reported above.
                if value.is_finite() {
                    faults.push(TunableFault { name, value, rule: fault.rule() });
                }
            })
        };
        let rates = (
            curve("workingDecay", self.working_decay),
            curve("shortTermDecay", self.short_term_decay),
            curve("longTermDecay", self.long_term_decay),
        );
        match rates {
            (Ok(working), Ok(short_term), Ok(long_term)) if faults.is_empty() => {
                Ok(Tunables { config: self, fallback: None, working, short_term, long_term })
            }
            _ => Err(faults),
        }
    }
}

fn whole_in(value: f64, least: f64, greatest: f64) -> bool {
    value.fract() == 0.0 && (least..=greatest).contains(&value)
}

impl Tunables {
    /// The same values in the place of invalid ones.
    #[must_use]
    pub fn in_place_of_invalid(self, fallback: FallbackTunables) -> Self {
        Self { fallback: Some(fallback), ..self }
    }

    /// Where the values are from, if those of the graph are invalid.
    #[must_use]
    pub const fn fallback(&self) -> Option<FallbackTunables> {
        self.fallback
    }

    /// The values under their documented names.
    #[must_use]
    pub fn config(&self) -> &ConsolidationConfig {
        &self.config
    }

    /// The decay of energy in a tier; `None` if it does not decay.
    #[must_use]
    pub fn curve(&self, tier: Tier) -> Option<Curve> {
        match tier {
            Tier::Working => Some(self.working),
            Tier::ShortTerm => Some(self.short_term),
            Tier::LongTerm => Some(self.long_term),
            _ => None,
        }
    }

    /// The energy that must be exceeded for promotion out of a tier; `None` if there is no tier above.
    #[must_use]
    pub fn promotion_threshold(&self, tier: Tier) -> Option<f64> {
        match tier {
            Tier::Working => Some(self.config.working_to_short_threshold),
            Tier::ShortTerm => Some(self.config.short_to_long_threshold),
            _ => None,
        }
    }

    /// Memories of one claim, `1 ..= 1000`.
    #[must_use]
    pub fn promotion_batch(&self) -> usize {
        whole(self.config.promotion_batch_size)
    }

    /// Initial page size of a sweep, `1 ..= 10000`.
    #[must_use]
    pub fn decay_batch(&self) -> usize {
        whole(self.config.decay_batch_size)
    }

    /// Milliseconds between two scheduled runs of promote.
    #[must_use]
    pub fn promotion_interval_ms(&self) -> i64 {
        minutes_ms(self.config.promotion_interval_minutes)
    }

    /// Milliseconds between two scheduled runs of the jobs that form clusters.
    #[must_use]
    pub fn clustering_interval_ms(&self) -> i64 {
        minutes_ms(self.config.clustering_interval_minutes)
    }

    /// Milliseconds between two scheduled runs of decay.
    #[must_use]
    pub fn decay_interval_ms(&self) -> i64 {
        minutes_ms(self.config.decay_interval_minutes)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked: whole, 1 ..= 10000")]
fn whole(value: f64) -> usize {
    value as usize
}

#[expect(clippy::cast_possible_truncation, reason = "checked: whole minutes, at most a year")]
fn minutes_ms(value: f64) -> i64 {
    value as i64 * 60_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_values_pass_and_every_fault_is_named() {
        let tunables = ConsolidationConfig::DOCUMENTED.check().unwrap();
        assert_eq!((tunables.promotion_batch(), tunables.decay_batch()), (10, 100));
        assert_eq!((tunables.promotion_interval_ms(), tunables.decay_interval_ms()), (600_000, 3_600_000));

        let bad = ConsolidationConfig {
            working_decay: 0.0,
            long_term_decay: f64::NAN,
            expiry_threshold: 1.8,
            promotion_batch_size: 2.5,
            ..ConsolidationConfig::DOCUMENTED
        };
        let said: Vec<String> = bad.check().unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "longTermDecay is NaN; it must be a finite number",
                "promotionBatchSize is 2.5; it must be a whole number in 1 ..= 1000",
                "expiryThreshold is 1.8; it must not be above sessionEndThreshold, which is 1.5",
                "workingDecay is 0; it must be a finite number above 0",
            ]
        );
        let wrong = ConsolidationConfig {
            working_decay: -3.0,
            decay_batch_size: 0.0,
            ..ConsolidationConfig::DOCUMENTED
        };
        assert_eq!(
            correction(&wrong.check().unwrap_err()),
            "MATCH (c:ConsolidationConfig {name: 'default'}) SET c.workingDecay = 0.5, c.decayBatchSize = 100"
        );
    }

    #[test]
    fn entries_and_serde_agree_on_the_names() {
        let serde_json::Value::Object(fields) =
            serde_json::to_value(ConsolidationConfig::DOCUMENTED).unwrap()
        else {
            unreachable!()
        };
        let mut names: Vec<&str> =
            ConsolidationConfig::DOCUMENTED.entries().iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        assert_eq!(fields.keys().map(String::as_str).collect::<Vec<_>>(), names);
    }
}
