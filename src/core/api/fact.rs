//! Facts and sweeps, in the words of the decay document.

use super::instant;
use crate::domain::fact::{FactScope, Value};
use crate::domain::ids::Term;
use crate::domain::policy::Mode;
use crate::domain::units::Timestamp;
use crate::store::{self, SweepState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
