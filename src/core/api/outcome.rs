//! What was made of an outcome.

use crate::domain::outcome;
use crate::domain::units::Timestamp;
use crate::store::OutcomeReceipt;
use schemars::JsonSchema;
use serde::Serialize;

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
