//! Reusable buffers of an activation: one small cell for each node, and lists of the touched cells.
//!
//! Cells are zero between queries and are reset through the list of written cells, so that a query costs what it touches
//! and not the size of the graph. Each thread keeps one scratch.

use super::ActivatedNode;
use crate::graph::index::NodeId;
use crate::graph::raw::in_large_pages;

/// The bit of a cell that marks its node as listed for the next level. Values are never negative, so the sign bit is free.
pub(super) const LISTED: u32 = 1 << 31;

/// Reusable buffers of one thread.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Initial values of seeds.
    pub(super) seeds: Vec<(NodeId, f32)>,
    /// Bits of values.
    pub(super) cells: Vec<u32>,
    /// Sums of one level, for sum aggregation.
    pub(super) sums: Vec<f64>,
    /// Inhibition of one level, in units of 2^-40.
    pub(super) inhibition: Vec<u64>,
    pub(super) inhibited: Vec<u32>,
    /// Nodes whose cell was written; a node that fell to 0 and rose again is listed twice.
    pub(super) touched: Vec<u32>,
    /// Nodes that send in the next level, with their values.
    pub(super) frontier: Vec<(NodeId, f32)>,
    /// Nodes that rise in this level, with the value before.
    pub(super) rising: Vec<(u32, f32)>,
    /// Nodes that receive and send nothing, ascending; set by the caller for one activation.
    pub(crate) blocked: Vec<NodeId>,
    /// For the search of paths: by node with a cell, the greatest bits of a signal that was sent after each number of hops.
    pub(super) sent: Vec<u32>,
    /// All activated nodes at the end, from which the strongest are taken.
    pub(super) activated: Vec<ActivatedNode>,
}

impl Scratch {
    /// Makes room for this many nodes. All cells are zero between queries, so none has to be copied.
    pub(super) fn fit(&mut self, nodes: usize, convergent: bool, inhibition: bool) {
        if self.cells.len() < nodes {
            self.cells = in_large_pages(vec![0; nodes]);
        }
        if convergent && self.sums.len() < nodes {
            self.sums = in_large_pages(vec![0.0; nodes]);
        }
        if inhibition && self.inhibition.len() < nodes {
            self.inhibition = in_large_pages(vec![0; nodes]);
        }
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        4 * (self.cells.capacity() + self.touched.capacity() + self.inhibited.capacity())
            + 4 * (self.blocked.capacity() + self.sent.capacity())
            + 8 * (self.sums.capacity()
                + self.inhibition.capacity()
                + self.seeds.capacity()
                + self.frontier.capacity()
                + self.rising.capacity()
                + self.activated.capacity())
    }
}
