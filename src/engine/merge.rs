//! Combines the scores of four dimensions of evidence into one score.
//!
//! A dimension is active in a query if it found anything. The weights of inactive dimensions are redistributed among the
//! active ones in proportion. The score of a node is the weighted sum of its dimensions: times 1.5 if all four exceed a
//! hundredth, times 1.3 if three do. Evidence of several kinds is worth more than as much of one.
//!
//! # Design notes
//! Weights are redistributed once for each query and not for each node, though the source document says both. For each
//! node, a node with a single dimension would score as if that dimension were all there is: missing evidence would count
//! for it.
//!
//! Invariants: the weights of the active dimensions sum to 1, whichever they are (held by `merge_16_subsets`); more of a
//! dimension does not lower a score (held by `more_of_a_dimension_is_not_less`).

use crate::graph::builder::within;
use crate::graph::index::NodeId;
use crate::graph::{Error, Graph};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Default weights, in the order of [`Dimension::ALL`](crate::graph::kinds::Dimension::ALL).
pub const DIMENSION_WEIGHTS: [f32; 4] = [0.35, 0.25, 0.15, 0.25];
/// Factor for a node to which all four dimensions contribute.
pub const RESONANCE_BONUS_4: f32 = 1.5;
/// Factor for a node to which three dimensions contribute.
pub const RESONANCE_BONUS_3: f32 = 1.3;
/// A dimension contributes to a node if its score is above this.
pub const CONTRIBUTION_MIN: f32 = 0.01;

/// Weights of the dimensions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DimensionWeights([f32; 4]);

impl Default for DimensionWeights {
    fn default() -> Self {
        Self(DIMENSION_WEIGHTS)
    }
}

impl DimensionWeights {
    /// Checks the weights: each at least 0, and their sum above 0.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::ParameterOutOfRange`].
    pub fn new(weights: [f32; 4]) -> Result<Self, Error> {
        let most = f64::from(f32::MAX);
        for weight in weights {
            within("DIMENSION_WEIGHTS", weight, 0.0, most)?;
        }
        let value: f64 = weights.iter().map(|weight| f64::from(*weight)).sum();
        if value <= 0.0 {
            let name = "sum of DIMENSION_WEIGHTS".to_owned();
            return Err(Error::ParameterOutOfRange {
                name,
                value,
                min: f64::from(f32::from_bits(1)),
                max: most,
            });
        }
        Ok(Self(weights))
    }

    /// The normalised weights if these dimensions are active: they sum to 1, or to 0 where no active dimension has a weight.
    fn shares(self, active: [bool; 4]) -> [f64; 4] {
        let mut shares = self.0.map(f64::from);
        for (share, active) in shares.iter_mut().zip(active) {
            if !active {
                *share = 0.0;
            }
        }
        let sum: f64 = shares.iter().sum();
        if sum > 0.0 { shares.map(|share| share / sum) } else { shares }
    }
}

/// A node with its scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MergedScore {
    /// The node.
    pub node: NodeId,
    /// Score of each dimension, `0 ..= 1`.
    pub dimensions: [f32; 4],
    /// Combined score, in `(0, 1.5]`.
    pub score: f32,
    /// Factor applied to the weighted sum: 1, 1.3 or 1.5.
    pub bonus: f32,
}

/// Combines scores, by node; [`sort_by_score`] sorts them. `active` says which dimensions found anything, which the
/// lists do not show since they may have been filtered. `lists` are in the order of the dimensions, scores in
/// `0 ..= 1`; of duplicates in a list the greatest counts. Nodes with a score of 0 are left out.
#[must_use]
pub fn merge(weights: DimensionWeights, active: [bool; 4], lists: [&[(NodeId, f32)]; 4]) -> Vec<MergedScore> {
    let shares = weights.shares(active);
    let mut found: BTreeMap<NodeId, [f32; 4]> = BTreeMap::new();
    for (dimension, list) in lists.iter().enumerate() {
        for (node, value) in *list {
            let held = &mut found.entry(*node).or_default()[dimension];
            *held = f32::max(*held, value.clamp(0.0, 1.0)) + 0.0;
        }
    }
    let one = |(node, dimensions): (NodeId, [f32; 4])| {
        let sum: f64 = shares.iter().zip(dimensions).map(|(share, value)| share * f64::from(value)).sum();
        let bonus = match dimensions.iter().filter(|value| **value > CONTRIBUTION_MIN).count() {
            4 => RESONANCE_BONUS_4,
            3 => RESONANCE_BONUS_3,
            _ => 1.0,
        };
        #[expect(clippy::cast_possible_truncation, reason = "at most 1.5, rounded once")]
        let score = (sum * f64::from(bonus)) as f32;
        MergedScore { node, dimensions, score, bonus }
    };
    found.into_iter().map(one).filter(|merged| merged.score > 0.0).collect()
}

/// Sorts by score descending, then by external id.
#[must_use]
pub fn sort_by_score(graph: &Graph, mut merged: Vec<MergedScore>) -> Vec<MergedScore> {
    merged.sort_unstable_by_key(|merged| (Reverse(merged.score.to_bits()), graph.rank(merged.node)));
    merged
}

/// Each node once, by id, with the greatest of its scores; scores that are not above 0 are left out.
pub(super) fn greatest(mut scores: Vec<(NodeId, f32)>) -> Vec<(NodeId, f32)> {
    scores.retain(|(_, score)| *score > 0.0);
    scores.sort_unstable_by_key(|(node, score)| (*node, Reverse(score.to_bits())));
    scores.dedup_by_key(|(node, _)| *node);
    scores
}

#[cfg(test)]
mod tests;
