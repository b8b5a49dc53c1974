//! Four dimensions made one score.
//!
//! A dimension is active in a question if it found anything. What the others weigh is shared among the active ones in
//! proportion, and a node scores the weighted sum of what they say of it: times 1.5 if all four say more than a hundredth,
//! times 1.3 if three do. Evidence of several kinds is worth more than as much of one.
//!
//! # Design notes
//! Weights are shared once for each question and not for each node, though the source document says both. For each node,
//! a node of which one dimension speaks would score as if that dimension were all there is: what is missing would count
//! for it.
//!
//! Invariants: the shares of the active dimensions make 1, whichever they are (held by `merge_16_subsets`); who has more
//! of one dimension does not score less (held by `more_of_a_dimension_is_not_less`).

use crate::graph::builder::within;
use crate::graph::index::NodeId;
use crate::graph::{Error, Graph};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What the dimensions weigh where nothing else is configured, in the order of
/// [`Dimension::ALL`](crate::graph::kinds::Dimension::ALL).
pub const DIMENSION_WEIGHTS: [f32; 4] = [0.35, 0.25, 0.15, 0.25];
/// For a node of which all four dimensions speak.
pub const RESONANCE_BONUS_4: f32 = 1.5;
/// For a node of which three do.
pub const RESONANCE_BONUS_3: f32 = 1.3;
/// A dimension speaks of a node if its score is above this.
pub const CONTRIBUTION_MIN: f32 = 0.01;

/// What dimensions weigh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights([f32; 4]);

impl Default for Weights {
    fn default() -> Self {
        Self(DIMENSION_WEIGHTS)
    }
}

impl Weights {
    /// Checked: each at least 0, and one above it. They need not make 1.
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

    /// What each dimension counts if these are active: together 1, or nothing where none of them weighs anything.
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

/// A node, and what speaks for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merged {
    /// Which.
    pub node: NodeId,
    /// What each dimension says of it, `0 ..= 1`.
    pub dimensions: [f32; 4],
    /// All of it, in `(0, 1.5]`.
    pub score: f32,
    /// By what the weighted sum was multiplied to make the score: 1, 1.3 or 1.5.
    pub bonus: f32,
}

/// What the dimensions say together, by node; [`ranked`] puts it in order. `active` are those that found anything, which is
/// not for the lists to say: they may have been filtered. `lists` are in the order of the dimensions, scores in `0 ..= 1`; of
/// a node that stands twice in one the greater counts. Who scores 0 is left out.
#[must_use]
pub fn merge(weights: Weights, active: [bool; 4], lists: [&[(NodeId, f32)]; 4]) -> Vec<Merged> {
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
        Merged { node, dimensions, score, bonus }
    };
    found.into_iter().map(one).filter(|merged| merged.score > 0.0).collect()
}

/// By score descending, then by external id.
#[must_use]
pub fn ranked(graph: &Graph, mut merged: Vec<Merged>) -> Vec<Merged> {
    merged.sort_unstable_by_key(|merged| (Reverse(merged.score.to_bits()), graph.rank(merged.node)));
    merged
}

/// Each node once, by id, with the greatest of its scores; what is not above 0 is left out.
pub(super) fn greatest(mut scores: Vec<(NodeId, f32)>) -> Vec<(NodeId, f32)> {
    scores.retain(|(_, score)| *score > 0.0);
    scores.sort_unstable_by_key(|(node, score)| (*node, Reverse(score.to_bits())));
    scores.dedup_by_key(|(node, _)| *node);
    scores
}

#[cfg(test)]
mod tests;
