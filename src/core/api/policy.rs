//! Requests and responses about decay policies, with the documented fields.

use crate::domain::fact::FactScope;
use crate::domain::ids::NAME_BYTES_MAX;
use crate::domain::policy::{Draft, Measure, Mode, Policy};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

/// A decay policy.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DecayPolicy {
    /// Its id.
    pub id: String,
    /// Pattern of relations; * matches any characters.
    pub relation: String,
    /// Scope, or * for every scope.
    pub scope: &'static str,
    /// Mode: retract, confidence or dry_run.
    pub mode: &'static str,
    /// Age beyond which facts are retracted, seconds.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "seconds")]
    pub ttl_s: Option<f64>,
    /// Half-life of confidence, seconds.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "seconds")]
    pub half_life_s: Option<f64>,
    /// Minimum confidence.
    pub min_confidence: f64,
    /// Relations exempt from the policy.
    pub exempt_relations: Vec<String>,
}

/// Writes a whole number without a decimal point, as the document does.
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
    /// Policies in order.
    pub policies: Vec<DecayPolicy>,
    /// Origin of the policies: configuration or graph.
    pub from: &'static str,
}

/// A policy that was set.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangedPolicy {
    /// The policy after the change.
    #[serde(flatten)]
    pub policy: DecayPolicy,
    /// Whether the policy is new.
    pub new: bool,
    /// Whether this was a dry run: nothing was written.
    pub dry_run: bool,
}

/// A policy that was removed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RemovedPolicy {
    /// Its id.
    pub id: String,
    /// Whether this was a dry run: nothing was written.
    pub dry_run: bool,
}

/// A policy with unchecked fields, so that one response can report all its errors.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct PolicyRequest(#[schemars(with = "PolicyFields")] pub Draft);

/// Schema of the documented fields of a policy.
struct PolicyFields;

impl JsonSchema for PolicyFields {
    fn schema_name() -> Cow<'static, str> {
        "DecayPolicyFields".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mode = generator.subschema_for::<Mode>();
        json_schema!({
            "type": "object",
            "description": "A decay policy: ttl_s for mode retract, half_life_s for confidence, one of them for \
                            dry_run.",
            "additionalProperties": false,
            "required": ["relation", "scope", "mode"],
            "properties": {
                "id": {"type": "string", "maxLength": NAME_BYTES_MAX, "description": "Id of the path, if given."},
                "relation": {
                    "type": "string",
                    "maxLength": NAME_BYTES_MAX,
                    "description": "Pattern of relations; * matches any characters.",
                },
                "scope": {
                    "enum": FactScope::ALL.map(FactScope::name).into_iter().chain(["*"]).collect::<Vec<_>>(),
                    "description": "Scope, or * for every scope.",
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

/// Path of a policy.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct PolicyPath {
    /// Its id.
    #[schemars(length(min = 1))]
    pub id: String,
}
