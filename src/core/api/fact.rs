//! Facts and sweeps, in the words of the decay document.

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
    /// Of which entity.
    pub entity: String,
    /// What of it.
    pub relation: String,
    /// What that is.
    pub value: Value,
    /// How far it is shared.
    pub scope: FactScope,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
    /// Who says so.
    pub source: String,
    /// When it was asserted.
    pub asserted_at: Timestamp,
    /// Until when it holds.
    pub valid_until: Option<Timestamp>,
    /// Whether it is the one that counts of its tuple.
    pub head: bool,
    /// Whether nothing was written.
    pub dry_run: bool,
}

/// A fact. What another writer left out or spoilt is null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Fact {
    /// Its id.
    pub id: String,
    /// Of which entity.
    pub entity: Option<String>,
    /// What of it.
    pub relation: Option<String>,
    /// What that is.
    pub value: Option<Value>,
    /// How far it is shared.
    pub scope: Option<String>,
    /// How sure it is, 0 to 1.
    pub confidence: Option<f64>,
    /// Who says so.
    pub source: Option<String>,
    /// When it was asserted.
    pub asserted_at: Option<Timestamp>,
    /// Until when it holds.
    pub valid_until: Option<Timestamp>,
    /// Whether it is the one that counts of its tuple.
    pub head: bool,
    /// Of what a sweep said: how sure the fact was from which it follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin_confidence: Option<f64>,
    /// And when that was asserted.
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

/// What is to be swept.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepRequest {
    /// Which scope.
    pub scope: FactScope,
    /// In this mode, instead of that of each policy.
    pub mode: Option<Mode>,
    /// By this policy alone.
    pub policy_id: Option<Term>,
    /// Go ahead although a guard stopped it: the number of facts that it named.
    pub accept_affected: Option<i64>,
    /// As of when; needs the right admin.
    pub at: Option<Timestamp>,
}

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
#[expect(missing_docs, reason = "what each holds says it")]
pub enum Sweep {
    Done(SweepAnswer),
    Queued(QueuedSweep),
}

/// The documented answer of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the fields of the documented wire format")]
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

/// A sweep that a worker does.
#[derive(Debug, Serialize, JsonSchema)]
pub struct QueuedSweep {
    /// Under which id it can be asked about.
    pub job_id: String,
    /// How it stands.
    pub status: SweepState,
    /// How long it may take, seconds.
    pub estimated_s: i64,
}

/// A sweep that a worker does, as it stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SweepJob {
    /// Its id.
    pub job_id: String,
    /// How it stands.
    pub status: SweepState,
    /// What it has done so far.
    #[serde(flatten)]
    pub so_far: SweepAnswer,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Which facts.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactQuery {
    /// About this entity alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityName>,
    /// Of this relation alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<FactRelation>,
    /// All there are, also those that later ones took the place of.
    #[serde(default)]
    pub history: bool,
    /// Of which scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<FactScope>,
    /// This many at most.
    #[schemars(range(min = 1, max = 10_000))]
    #[serde(default, deserialize_with = "super::input::page_size")]
    pub limit: Option<u32>,
    /// Where the page before ended: what its Link header says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A page of facts.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Facts {
    pub facts: Vec<Fact>,
}

/// A fact to assert.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Assertion")]
pub struct FactRequest {
    /// Of which entity.
    pub entity: EntityName,
    /// What of it, such as roadmap:status.
    pub relation: FactRelation,
    /// What that is.
    #[serde(deserialize_with = "exact_value")]
    pub value: Value,
    /// How far it is shared.
    pub scope: Option<FactScope>,
    /// How sure it is: 1 where nothing is said.
    #[schemars(with = "Option<f64>", range(min = 0.0, max = 1.0))]
    pub confidence: Option<Confidence>,
    /// Who says so.
    pub source: Source,
    /// Until when it holds.
    pub valid_until: Option<Timestamp>,
    /// When; needs the right admin.
    pub at: Option<Timestamp>,
}

/// What a batch asserted, in its order.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the name says it")]
pub struct AssertedAll {
    pub facts: Vec<AssertedFact>,
}

/// Reads the value of a fact from JSON, from a number's own text: the parser would round it. For fields that the parser
/// of JSON itself reads; what was buffered on the way has no text any more, and is an error.
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
    /// As it is stored: in a scope, at `now` where the request states no instant.
    ///
    /// # Errors
    /// [`FactError::Reserved`] for a source that is Ebb's own; else the field that is wrong.
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
    /// Of an assertion and of what came of it.
    #[must_use]
    pub fn of(assertion: Assertion, said: FactReceipt, dry_run: bool) -> Self {
        let Tuple { scope, entity, relation, value } = assertion.tuple;
        Self {
            id: said.id,
            entity: entity.to_string(),
            relation: relation.to_string(),
            value,
            scope,
            confidence: assertion.confidence.value(),
            source: assertion.source.to_string(),
            asserted_at: said.at,
            valid_until: assertion.valid_until,
            head: said.is_head,
            dry_run,
        }
    }
}

/// A sweep that was asked for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SweepPath {
    /// Its id.
    #[schemars(length(min = 1))]
    pub id: String,
}

/// The scope that a sweep is looked for in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepQuery {
    /// Of which scope it must be; that of the sweep where none is named.
    pub scope: Option<FactScope>,
}
