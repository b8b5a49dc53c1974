//! Memories by the facts that they mention: those most similar to the vector of a query.
//!
//! A fact says of a memory that mentions both of its ends what the vector of the memory would say, where that has none or is about
//! more than the fact. Which memories a fact was learned from is not known here.

use super::Error;
use crate::View;
use crate::graph::index::NodeId;
use crate::text::ranking::RANKED_MAX;
use std::collections::BTreeMap;

/// Most relationships of the end of a fact that has fewer of them. Two hubs are mentioned together for many reasons.
const SLOTS_MAX: usize = 1_000;

/// What facts say about memories.
#[derive(Debug, Default)]
pub(super) struct FactMemories {
    /// Similarities of the most similar facts, the greatest first.
    pub(super) similarities: Vec<f32>,
    /// The greatest similarity of the facts that a memory mentions, by node.
    pub(super) memories: Vec<(NodeId, f32)>,
    /// Relationships read.
    pub(super) slots_read: u64,
}

impl FactMemories {
    /// Finds the memories that mention both ends of the facts most similar to a vector.
    pub(super) fn of(view: &View, vector: &[f32]) -> Result<Self, Error> {
        let graph = view.graph();
        let (mut similarities, mut memories, mut slots_read) = (Vec::new(), BTreeMap::new(), 0);
        for fact in view.rank_facts(vector, RANKED_MAX)? {
            similarities.push(fact.similarity);
            let [from, to] = fact.ends;
            let (near, far) =
                if graph.out_slots(from) <= graph.out_slots(to) { (from, to) } else { (to, from) };
            if graph.out_slots(near) > SLOTS_MAX {
                continue;
            }
            slots_read += graph.out_slots(near) as u64;
            let mentioning = graph.targets(near).map(NodeId).filter(|node| view.has_text(*node));
            for memory in mentioning.filter(|node| graph.between(far, *node).next().is_some()) {
                // Facts come in descending order of similarity.
                memories.entry(memory).or_insert(fact.similarity);
            }
        }
        Ok(Self { similarities, memories: memories.into_iter().collect(), slots_read })
    }
}

#[cfg(test)]
mod tests;
