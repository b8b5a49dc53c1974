//! Request and response of reporting the outcome of a recall.

use crate::domain::ids::{RecallId, Scope, Term};
use crate::domain::outcome::{self, OutcomeError, PATH_NODES_MAX, Used};
use crate::domain::units::Timestamp;
use crate::store::OutcomeReceipt;
use ebb_engine::recall::HOPS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const _: () =
    assert!(PATH_NODES_MAX == HOPS_MAX as usize + 1, "the longest path of a recall can be reported");

/// Response to an outcome report.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Outcome {
    /// Id of the recall.
    pub recall_id: String,
    /// Memories among the hits that were accessed.
    pub accessed: usize,
    /// Nodes of the paths whose connections are strengthened.
    pub active: usize,
    /// Nodes beyond the limit of one outcome.
    pub left_out: usize,
    /// Path steps that deposited success on an edge.
    pub deposits: usize,
    /// Path steps without an edge of pheromones.relationship_types, which deposited nothing.
    pub not_in_trails: usize,
    /// Whether the job learn will process the outcome.
    pub learns: bool,
    /// Instant of the report.
    pub at: Timestamp,
    /// Whether this was a dry run: nothing was written.
    pub dry_run: bool,
}

impl Outcome {
    /// Response to an outcome with its receipt.
    #[must_use]
    pub fn of(outcome: &outcome::Outcome, reported: &OutcomeReceipt, dry_run: bool) -> Self {
        let OutcomeReceipt { accessed, active, left_out, deposits, passed_over, learns, at } = *reported;
        Self {
            recall_id: outcome.recall().to_string(),
            accessed,
            active,
            left_out,
            deposits,
            not_in_trails: passed_over,
            learns,
            at,
            dry_run,
        }
    }
}

/// A hit that was useful.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsedHit {
    /// Its id.
    #[schemars(length(min = 1))]
    pub id: Term,
    /// Path to the hit from the recall's response; empty if it had none.
    #[schemars(length(max = PATH_NODES_MAX))]
    pub path: Vec<Term>,
}

/// Request to report the outcome of a recall.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutcomeRequest {
    /// recall_id of the response.
    pub recall_id: RecallId,
    /// Useful hits, each once.
    #[schemars(length(min = 1, max = 1_000))]
    pub used: Vec<UsedHit>,
    /// Reward for all hits together, above 0 and at most 10; above 1 it only increases deposits on trails.
    #[schemars(range(max = 10.0), extend("exclusiveMinimum" = 0))]
    pub reward: f64,
    /// Whether the memories among the hits are accessed; default true. False if they were accessed on their own.
    pub access: Option<bool>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

impl From<&UsedHit> for Used {
    fn from(hit: &UsedHit) -> Self {
        Self { id: hit.id.clone().into(), path: hit.path.iter().cloned().map(Into::into).collect() }
    }
}

impl OutcomeRequest {
    /// Converts the request to a checked outcome.
    ///
    /// # Errors
    /// [`OutcomeError`] names the invalid field.
    pub fn outcome(&self) -> Result<outcome::Outcome, OutcomeError> {
        let used = self.used.iter().map(Used::from).collect();
        outcome::Outcome::new(self.recall_id.clone(), used, self.reward)
    }
}
