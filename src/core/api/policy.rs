//! Decay policies, with the documented fields.

use crate::domain::fact::FactScope;
use crate::domain::ids::NAME_BYTES_MAX;
use crate::domain::policy::{Draft, Measure, Mode, Policy};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

/// A policy.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DecayPolicy {
    /// Its id.
    pub id: String,
    /// Which relations; * is any run of characters.
    pub relation: String,
    /// Which scope, or * for every one.
    pub scope: &'static str,
    /// What it does: retract, confidence or dry_run.
    pub mode: &'static str,
    /// Retract what is older, seconds.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "seconds")]
    pub ttl_s: Option<f64>,
    /// Halve confidence each, seconds.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "seconds")]
    pub half_life_s: Option<f64>,
    /// No confidence below this.
    pub min_confidence: f64,
    /// Relations that it does not match.
    pub exempt_relations: Vec<String>,
}

/// A whole number as the document writes it, without a point.
#[expect(clippy::ref_option, reason = "serde hands over a reference to the field")]
#[expect(clippy::cast_possible_truncation, reason = "exact: it is whole and below 2^53")]
fn seconds<S: Serializer>(seconds: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match *seconds {
        Some(seconds) if seconds.fract() == 0.0 && seconds.abs() < EXACT => to.serialize_i64(seconds as i64),
        Some(seconds) => to.serialize_f64(seconds),
        None => to.serialize_none(),
    }
}

impl From<&Policy> for DecayPolicy {
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
pub struct DecayPolicies {
    /// In their order.
    pub policies: Vec<DecayPolicy>,
    /// Where they are: in the configuration, or in the graph.
    pub from: &'static str,
}

/// A policy that was set.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangedPolicy {
    /// As it is now.
    #[serde(flatten)]
    pub policy: DecayPolicy,
    /// Whether there was none of its id.
    pub new: bool,
    /// Whether nothing was written.
    pub dry_run: bool,
}

/// A policy that was removed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RemovedPolicy {
    /// Its id.
    pub id: String,
    /// Whether nothing was written.
    pub dry_run: bool,
}

/// A policy as it is given, whatever its fields hold: all that is wrong with it is told at once.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct PolicyRequest(#[schemars(with = "PolicyFields")] pub Draft);

/// For schemas: the documented fields of a policy.
struct PolicyFields;

impl JsonSchema for PolicyFields {
    fn schema_name() -> Cow<'static, str> {
        "DecayPolicyFields".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mode = generator.subschema_for::<Mode>();
        json_schema!({
            "type": "object",
            "description": "A decay policy: ttl_s goes with mode retract, half_life_s with confidence, one of them with dry_run.",
            "additionalProperties": false,
            "required": ["relation", "scope", "mode"],
            "properties": {
                "id": {"type": "string", "maxLength": NAME_BYTES_MAX, "description": "If given, that of the path."},
                "relation": {"type": "string", "maxLength": NAME_BYTES_MAX, "description": "Which relations; * is any run of characters."},
                "scope": {
                    "enum": FactScope::ALL.map(FactScope::name).into_iter().chain(["*"]).collect::<Vec<_>>(),
                    "description": "Which scope, or * for every one.",
                },
                "mode": mode,
                "ttl_s": {"type": ["number", "null"], "exclusiveMinimum": 0},
                "half_life_s": {"type": ["number", "null"], "exclusiveMinimum": 0},
                "min_confidence": {"type": ["number", "null"], "minimum": 0, "maximum": 1, "default": 0},
                "exempt_relations": {"type": ["array", "null"], "items": {"type": "string", "maxLength": NAME_BYTES_MAX}, "default": []},
            },
        })
    }
}

/// The policy to set or to remove.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct PolicyPath {
    /// Its id.
    #[schemars(length(min = 1))]
    pub id: String,
}
