//! Facts and sweeps, in the words of the decay document.

use super::instant;
use crate::domain::fact::{FactScope, Value};
use crate::domain::policy::Mode;
use crate::domain::units::Timestamp;
use crate::service::facts::{self, SweepAnswer, SweepStatus};
use crate::service::{Fact, SweepState};
use schemars::JsonSchema;
use serde::Serialize;

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
#[schemars(rename = "Fact")]
pub struct Shown {
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

impl From<Fact> for Shown {
    fn from(fact: Fact) -> Self {
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

/// The documented answer of a sweep.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the fields of the documented wire format")]
pub struct Swept {
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

impl From<SweepAnswer> for Swept {
    fn from(answer: SweepAnswer) -> Self {
        Self {
            swept_at: answer.swept_at,
            scope: answer.scope,
            mode: answer.mode,
            facts_evaluated: answer.facts_evaluated,
            facts_retracted: answer.facts_retracted,
            facts_reduced: answer.facts_reduced,
            dry_run_would_retract: answer.dry_run_would_retract,
            dry_run_would_reduce: answer.dry_run_would_reduce,
            policies_applied: answer.policies_applied,
        }
    }
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

impl From<facts::Queued> for QueuedSweep {
    fn from(queued: facts::Queued) -> Self {
        Self { job_id: queued.job_id, status: queued.status, estimated_s: queued.estimated_s }
    }
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
    pub so_far: Swept,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl From<SweepStatus> for SweepJob {
    fn from(standing: SweepStatus) -> Self {
        Self {
            job_id: standing.job_id,
            status: standing.status,
            so_far: standing.so_far.into(),
            reason: standing.reason,
        }
    }
}
