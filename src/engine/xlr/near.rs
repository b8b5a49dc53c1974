//! Who is near the seeds: at most one step away, by a bit each, or two, by a look at the neighbours.
//!
//! # Design notes
//! Bits, and not a sorted list as that of [`crate::graph::pairs`]: thousands of nodes are asked about in one question, each
//! with all of its neighbours, and a bit is found in one step where a list takes as many as its length has digits. Bits are
//! set and cleared by reading the rows of the seeds, and the neighbours of a hub are never sorted.

use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::graph::pairs::adjacent;
use crate::graph::raw::in_large_pages;

/// One bit a node.
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

    /// Marks seeds and whoever is joined to one.
    pub(super) fn mark(&mut self, graph: &Graph, seeds: &[(NodeId, f32)]) {
        self.each(graph, seeds, |word, bit| *word |= bit);
    }

    /// Takes the marks away.
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

    /// Whether a node is a seed or joined to one.
    pub(super) fn within_one(&self, node: NodeId) -> bool {
        self.bits[node.at() / 64] >> (node.0 % 64) & 1 == 1
    }

    /// Whether a node is at most two steps from a seed.
    pub(super) fn within_two(&self, graph: &Graph, node: NodeId) -> bool {
        self.within_one(node) || adjacent(graph, node).any(|other| self.within_one(other))
    }

    /// Which neighbours of a node are seeds or joined to one, each once and by id, in place of what `into` held.
    pub(super) fn common(&self, graph: &Graph, node: NodeId, into: &mut Vec<NodeId>) {
        into.clear();
        into.extend(adjacent(graph, node).filter(|other| self.within_one(*other)));
        into.sort_unstable();
        into.dedup();
    }

    pub(super) fn bytes(&self) -> usize {
        8 * self.bits.capacity()
    }
}
