//! Decay policies, with the documented fields.

use crate::domain::policy::{Measure, Policy};
use schemars::JsonSchema;
use serde::Serialize;

/// A policy.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DecayPolicy")]
pub struct Shown {
    /// Its id.
    pub id: String,
    /// Which relations; * is any run of characters.
    pub relation: String,
    /// Which scope, or * for every one.
    pub scope: &'static str,
    /// What it does: retract, confidence or dry_run.
    pub mode: &'static str,
    /// Retract what is older, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_s: Option<f64>,
    /// Halve confidence each, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_life_s: Option<f64>,
    /// No confidence below this.
    pub min_confidence: f64,
    /// Relations that it does not match.
    pub exempt_relations: Vec<String>,
}

impl From<&Policy> for Shown {
    fn from(policy: &Policy) -> Self {
        let (ttl_s, half_life_s) = match policy.measure {
            Measure::TtlS(seconds) => (Some(seconds), None),
            Measure::HalfLifeS(seconds) => (None, Some(seconds)),
        };
        Self {
            id: policy.id.to_string(),
            relation: policy.relation.as_str().to_owned(),
            scope: policy.scope.map_or("*", |scope| scope.name()),
            mode: policy.mode.name(),
            ttl_s,
            half_life_s,
            min_confidence: policy.min_confidence.value(),
            exempt_relations: policy.exempt_relations.iter().map(|glob| glob.as_str().to_owned()).collect(),
        }
    }
}

/// The policies in force.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DecayPolicies")]
pub struct Listed {
    /// In their order.
    pub policies: Vec<Shown>,
    /// Where they are: in the configuration, or in the graph.
    pub from: &'static str,
}

/// A policy that was set.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChangedPolicy")]
pub struct Changed {
    /// As it is now.
    #[serde(flatten)]
    pub policy: Shown,
    /// Whether there was none of its id.
    pub new: bool,
    /// Whether nothing was written.
    pub dry_run: bool,
}

/// A policy that was removed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RemovedPolicy")]
pub struct Removed {
    /// Its id.
    pub id: String,
    /// Whether nothing was written.
    pub dry_run: bool,
}
