//! Requests and responses about facts and sweeps, with the field names of the decay document.

use super::instant;
use crate::clock::new_id;
use crate::domain::fact::{Assertion, FactError, FactScope, Tuple, Value};
use crate::domain::ids::{EntityName, FactRelation, Source, Term};
use crate::domain::policy::Mode;
use crate::domain::units::{Confidence, Timestamp};
use crate::store::{self, FactReceipt, SweepState};
use schemars::JsonSchema;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A fact that was asserted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AssertedFact {
    /// Its id.
    pub id: String,
    /// Entity that the fact is about.
    pub entity: String,
    /// Relation of the fact, such as roadmap:status.
    pub relation: String,
    /// Value of the fact.
    pub value: Value,
    /// Scope of the fact.
    pub scope: FactScope,
    /// Confidence, 0 to 1.
    pub confidence: f64,
    /// Source of the fact.
    pub source: String,
    /// Instant of the assertion.
    pub asserted_at: Timestamp,
    /// Last instant at which the fact is valid.
    pub valid_until: Option<Timestamp>,
    /// Whether it is the head: the fact of its tuple that counts.
    pub head: bool,
    /// Whether this was a dry run: nothing was written.
    pub dry_run: bool,
}

/// A fact. A field that another writer omitted or wrote with a wrong type is null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Fact {
    /// Its id.
    pub id: String,
    /// Entity that the fact is about.
    pub entity: Option<String>,
    /// Relation of the fact, such as roadmap:status.
    pub relation: Option<String>,
    /// Value of the fact.
    pub value: Option<Value>,
    /// Scope of the fact.
    pub scope: Option<String>,
    /// Confidence, 0 to 1.
    pub confidence: Option<f64>,
    /// Source of the fact.
    pub source: Option<String>,
    /// Instant of the assertion.
    pub asserted_at: Option<Timestamp>,
    /// Last instant at which the fact is valid.
    pub valid_until: Option<Timestamp>,
    /// Whether it is the head: the fact of its tuple that counts.
    pub head: bool,
    /// Confidence of the original fact, if a sweep wrote this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin_confidence: Option<f64>,
    /// Instant of the original fact, if a sweep wrote this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin_at: Option<Timestamp>,
}

impl From<store::Fact> for Fact {
    fn from(fact: store::Fact) -> Self {
        Self {
            value: fact.value(),
            id: fact.id,
            entity: fact.entity,
            relation: fact.relation,
            scope: fact.scope,
            confidence: fact.confidence,
            source: fact.source,
            asserted_at: instant(fact.asserted_at),
            valid_until: instant(fact.valid_until),
            head: fact.is_head,
            origin_confidence: fact.origin_confidence,
            origin_at: instant(fact.origin_at),
        }
    }
}

/// Request for a sweep.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepRequest {
    /// Scope of the facts.
    pub scope: FactScope,
    /// Mode that overrides the mode of each policy.
    pub mode: Option<Mode>,
    /// Id of the only policy to apply.
    pub policy_id: Option<Term>,
    /// Number of facts that the guard named, to accept it; later sweeps by these policies do not ask again.
    pub accept_affected: Option<i64>,
    /// Instant to use as now; needs the right admin.
    pub at: Option<Timestamp>,
}

/// Response to a sweep request.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Sweep {
    Done(SweepAnswer),
    Queued(QueuedSweep),
}

/// Documented response of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SweepAnswer {
    pub swept_at: Timestamp,
    pub scope: FactScope,
    pub mode: Mode,
    pub facts_evaluated: i64,
    pub facts_retracted: i64,
    pub facts_reduced: i64,
    pub dry_run_would_retract: i64,
    pub dry_run_would_reduce: i64,
    pub policies_applied: Vec<String>,
}

/// A sweep queued for a worker.
#[derive(Debug, Serialize, JsonSchema)]
pub struct QueuedSweep {
    /// Id for queries of its state.
    pub job_id: String,
    /// State of the sweep.
    pub status: SweepState,
    /// Estimated duration, seconds.
    pub estimated_s: i64,
}

/// State and progress of a queued sweep.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SweepJob {
    /// Its id.
    pub job_id: String,
    /// State of the sweep.
    pub status: SweepState,
    /// Counters so far.
    #[serde(flatten)]
    pub so_far: SweepAnswer,
    /// Reason for the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Query of facts.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactQuery {
    /// Only facts about this entity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityName>,
    /// Only facts of this relation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<FactRelation>,
    /// Whether to include superseded facts.
    #[serde(default)]
    pub history: bool,
    /// Scope of the facts: local, team, company or public; default the only scope of the key, otherwise local.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<FactScope>,
    /// Maximum number of items in the page.
    #[schemars(range(min = 1, max = 10_000))]
    #[serde(default, deserialize_with = "super::input::page_size")]
    pub limit: Option<u32>,
    /// Cursor from the Link header of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A page of facts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Facts {
    pub facts: Vec<Fact>,
}

/// A fact to assert.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Assertion")]
pub struct FactRequest {
    /// Entity that the fact is about.
    pub entity: EntityName,
    /// Relation of the fact, such as roadmap:status.
    pub relation: FactRelation,
    /// Value of the fact.
    #[serde(deserialize_with = "exact_value")]
    pub value: Value,
    /// Scope of the fact: local, team, company or public; default the only scope of the key, otherwise local.
    pub scope: Option<FactScope>,
    /// Confidence, 0 to 1; default 1.
    #[schemars(with = "Option<f64>", range(min = 0.0, max = 1.0))]
    pub confidence: Option<Confidence>,
    /// Source of the fact.
    pub source: Source,
    /// Last instant at which the fact is valid.
    pub valid_until: Option<Timestamp>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// Facts that a batch asserted, in the order of the request.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AssertedAll {
    pub facts: Vec<AssertedFact>,
}

/// Reads the value of a fact from raw JSON, because the parser would round a number. Only for fields that the JSON
/// parser reads directly: a buffered value has no raw text and is an error.
pub(crate) fn exact_value<'de, D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
    let raw = Box::<RawValue>::deserialize(from)?;
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'"') => serde_json::from_str(text).map(Value::Text).map_err(D::Error::custom),
        Some(b't' | b'f') => Ok(Value::Truth(text == "true")),
        Some(b'-' | b'0'..=b'9') => Value::number(text).map_err(D::Error::custom),
        _ => Err(D::Error::custom("the value of a fact is text, a number, or true or false")),
    }
}

impl FactRequest {
    /// Converts the request to an assertion in a scope, at `now` unless the request states an instant.
    ///
    /// # Errors
    /// [`FactError::Reserved`] for a source reserved for Ebb; otherwise names the invalid field.
    pub fn assertion(self, scope: FactScope, now: Timestamp) -> Result<Assertion, FactError> {
        let tuple = Tuple { scope, entity: self.entity, relation: self.relation, value: self.value };
        let assertion = Assertion {
            at: self.at.unwrap_or(now),
            id: new_id(),
            tuple,
            confidence: self.confidence.unwrap_or(Confidence::ONE),
            source: self.source,
            valid_until: self.valid_until,
        };
        assertion.checked()
    }
}

impl AssertedFact {
    /// Response to an assertion with its receipt.
    #[must_use]
    pub fn of(assertion: Assertion, receipt: FactReceipt, dry_run: bool) -> Self {
        let Tuple { scope, entity, relation, value } = assertion.tuple;
        Self {
            id: receipt.id,
            entity: entity.to_string(),
            relation: relation.to_string(),
            value,
            scope,
            confidence: assertion.confidence.value(),
            source: assertion.source.to_string(),
            asserted_at: receipt.at,
            valid_until: assertion.valid_until,
            head: receipt.is_head,
            dry_run,
        }
    }
}

/// Path of a requested sweep.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SweepPath {
    /// Its id.
    #[schemars(length(min = 1))]
    pub id: String,
}

/// Query of a sweep.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepQuery {
    /// Scope that the sweep must have; default its own.
    pub scope: Option<FactScope>,
}
