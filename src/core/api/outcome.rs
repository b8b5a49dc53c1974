//! What was made of an outcome.

use crate::domain::ids::{RecallId, Scope, Term};
use crate::domain::outcome::{self, OutcomeError, Used};
use crate::domain::units::Timestamp;
use crate::store::OutcomeReceipt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was made of what came of a recall.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Outcome {
    /// The recall, as it was named.
    pub recall_id: String,
    /// Nodes of the paths, which are learned to come together.
    pub active: usize,
    /// Nodes beyond these, more than one outcome can teach.
    pub left_out: usize,
    /// Steps of the paths that left success on an edge.
    pub deposits: usize,
    /// Steps of the paths over no edge of pheromones.relationship_types, which left nothing.
    pub not_in_trails: usize,
    /// Whether anything is learned from it; otherwise nothing waits.
    pub learns: bool,
    /// When it came.
    pub at: Timestamp,
    /// Whether nothing was written.
    pub dry_run: bool,
}

impl Outcome {
    /// As it is told.
    #[must_use]
    pub fn of(outcome: &outcome::Outcome, reported: &OutcomeReceipt, dry_run: bool) -> Self {
        let OutcomeReceipt { active, left_out, deposits, passed_over, learns, at } = *reported;
        Self {
            recall_id: outcome.recall().to_string(),
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

/// A hit that was of use.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsedHit {
    /// Its id.
    #[schemars(length(min = 1))]
    pub id: Term,
    /// The path to it, as the answer gave it; empty where it gave none.
    #[schemars(length(max = 6))]
    pub path: Vec<Term>,
}

/// What came of a recall.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutcomeRequest {
    /// The recall_id of the answer.
    pub recall_id: RecallId,
    /// The hits that were of use, each once.
    #[schemars(length(min = 1, max = 1_000))]
    pub used: Vec<UsedHit>,
    /// What they were worth together, above 0 and at most 10; above 1 it teaches no more, and leaves more on trails.
    #[schemars(range(max = 10.0))]
    pub reward: f64,
    /// Whose data.
    pub scope: Option<Scope>,
    /// When; needs the right admin.
    pub at: Option<Timestamp>,
}

impl From<&UsedHit> for Used {
    fn from(hit: &UsedHit) -> Self {
        Self { id: hit.id.clone().into(), path: hit.path.iter().cloned().map(Into::into).collect() }
    }
}

impl OutcomeRequest {
    /// As it is learned from.
    ///
    /// # Errors
    /// [`OutcomeError`] names the field that is wrong.
    pub fn outcome(&self) -> Result<outcome::Outcome, OutcomeError> {
        let used = self.used.iter().map(Used::from).collect();
        outcome::Outcome::new(self.recall_id.clone(), used, self.reward)
    }
}
