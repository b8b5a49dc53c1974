//! The surroundings of seeds: a bit for each node at most one step away; two steps are checked through neighbours.
//!
//! # Design notes
//! Bits, and not a sorted list like [`crate::graph::pairs::Surroundings`]: a query checks thousands of nodes with all of
//! their neighbours, and a bit is one step where a list needs a binary search. Bits are set and cleared by reading the rows
//! of the seeds, and the neighbours of a hub are never sorted.

use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::graph::pairs::adjacent;
use crate::graph::raw::in_large_pages;

/// A bit for each node.
#[derive(Debug, Default)]
pub(super) struct Near {
    pub(super) bits: Vec<u64>,
}

impl Near {
    pub(super) fn fit(&mut self, nodes: usize) {
        let words = nodes.div_ceil(64);
        if self.bits.len() < words {
            self.bits = in_large_pages(vec![0; words]);
        }
    }

    /// Sets the bits of seeds and their neighbours.
    pub(super) fn mark(&mut self, graph: &Graph, seeds: &[(NodeId, f32)]) {
        self.each(graph, seeds, |word, bit| *word |= bit);
    }

    /// Clears the bits.
    pub(super) fn clear(&mut self, graph: &Graph, seeds: &[(NodeId, f32)]) {
        self.each(graph, seeds, |word, _| *word = 0);
    }

    fn each(&mut self, graph: &Graph, seeds: &[(NodeId, f32)], mut set: impl FnMut(&mut u64, u64)) {
        for (seed, _) in seeds {
            for node in adjacent(graph, *seed).chain([*seed]) {
                set(&mut self.bits[node.at() / 64], 1 << (node.0 % 64));
            }
        }
    }

    /// Whether a node is a seed or a neighbour of one.
    pub(super) fn is_within_one_hop(&self, node: NodeId) -> bool {
        self.bits[node.at() / 64] >> (node.0 % 64) & 1 == 1
    }

    /// Whether a node is at most two steps from a seed.
    pub(super) fn is_within_two_hops(&self, graph: &Graph, node: NodeId) -> bool {
        self.is_within_one_hop(node) || adjacent(graph, node).any(|other| self.is_within_one_hop(other))
    }

    /// The neighbours of a node that are seeds or joined to one, each once and by id, replacing the contents of `into`.
    pub(super) fn common(&self, graph: &Graph, node: NodeId, into: &mut Vec<NodeId>) {
        into.clear();
        into.extend(adjacent(graph, node).filter(|other| self.is_within_one_hop(*other)));
        into.sort_unstable();
        into.dedup();
    }

    pub(super) fn bytes(&self) -> usize {
        8 * self.bits.capacity()
    }
}
