//! Reusable buffers of an activation: small cells for each node, and sets of the touched cells.
//!
//! Cells are zero between queries and are reset through the set of written cells, so that a query costs what it touches
//! and not the size of the graph. Each thread keeps one scratch.

use super::marks::Marks;
use super::{ActivatedNode, Aggregation};
use crate::graph::index::NodeId;
use crate::graph::raw::in_large_pages;

/// Reusable buffers of one thread.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Initial values of seeds.
    pub(super) seeds: Vec<(NodeId, f32)>,
    /// Bits of values.
    pub(super) cells: Vec<u32>,
    /// The strongest arrivals of one level, for maximum aggregation.
    pub(super) strongest: Vec<f32>,
    /// Sums of one level, for sum aggregation.
    pub(super) sums: Vec<f64>,
    /// Inhibition of one level, in units of 2^-40.
    pub(super) inhibition: Vec<u64>,
    /// Nodes at which something arrived in this level.
    pub(super) reached: Marks,
    /// Nodes whose cell may be written.
    pub(super) touched: Marks,
    /// Nodes that send in the next level, ascending, with the signals that they send over a slot of weight 1.
    pub(super) frontier: Vec<(NodeId, f32)>,
    /// Nodes that receive and send nothing, ascending; set by the caller for one activation and the search of its paths.
    pub(crate) blocked: Vec<NodeId>,
    /// For the search of paths: by node with a cell, the greatest bits of a signal that was sent after each number of hops.
    pub(super) sent: Vec<u32>,
    /// All activated nodes at the end, from which the strongest are taken.
    pub(super) activated: Vec<ActivatedNode>,
}

impl Scratch {
    /// Makes room for this many nodes. All cells are zero between queries, so none has to be copied.
    pub(super) fn fit(&mut self, nodes: usize, aggregation: Aggregation, inhibition: bool) {
        self.fit_cells(nodes);
        self.reached.fit(nodes);
        self.touched.fit(nodes);
        match aggregation {
            Aggregation::Max if self.strongest.len() < nodes => {
                self.strongest = in_large_pages(vec![0.0; nodes]);
            }
            Aggregation::Sum if self.sums.len() < nodes => self.sums = in_large_pages(vec![0.0; nodes]),
            _ => {}
        }
        if inhibition && self.inhibition.len() < nodes {
            self.inhibition = in_large_pages(vec![0; nodes]);
        }
    }

    /// Makes room for the cells of this many nodes.
    pub(super) fn fit_cells(&mut self, nodes: usize) {
        if self.cells.len() < nodes {
            self.cells = in_large_pages(vec![0; nodes]);
        }
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        4 * (self.cells.capacity() + self.strongest.capacity())
            + 4 * (self.blocked.capacity() + self.sent.capacity())
            + 8 * (self.sums.capacity()
                + self.inhibition.capacity()
                + self.seeds.capacity()
                + self.frontier.capacity()
                + self.activated.capacity())
            + self.reached.bytes()
            + self.touched.bytes()
    }
}
