//! What an activation works in: one small cell a node, and lists of what was touched.
//!
//! Cells are zero between queries and are reset through the list of those that were written, so that a query costs what it
//! touches and never what there is. One thread has one scratch, and keeps it.

use crate::graph::index::NodeId;

/// The bit of a cell that says its node is listed for the next level. Values are never negative, so theirs is free.
pub(super) const LISTED: u32 = 1 << 31;

/// Reusable memory of one thread.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Bits of values.
    pub(super) cells: Vec<u32>,
    /// Sums of one level, in Convergent mode.
    pub(super) sums: Vec<f64>,
    /// Inhibition of one level, in units of 2^-40.
    pub(super) inhibition: Vec<u64>,
    pub(super) inhibited: Vec<u32>,
    /// Nodes whose cell was written; one that sank to 0 and rose again stands here twice.
    pub(super) touched: Vec<u32>,
    /// Who fires what.
    pub(super) frontier: Vec<(NodeId, f32)>,
    /// Who rises in this level, and from what.
    pub(super) rising: Vec<(u32, f32)>,
}

impl Scratch {
    /// Room for so many nodes.
    pub(super) fn fit(&mut self, nodes: usize, convergent: bool, inhibition: bool) {
        let grow = |len: usize| if len < nodes { nodes } else { len };
        self.cells.resize(grow(self.cells.len()), 0);
        if convergent {
            self.sums.resize(grow(self.sums.len()), 0.0);
        }
        if inhibition {
            self.inhibition.resize(grow(self.inhibition.len()), 0);
        }
    }

    /// Bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        4 * (self.cells.capacity() + self.touched.capacity() + self.inhibited.capacity())
            + 8 * (self.sums.capacity()
                + self.inhibition.capacity()
                + self.frontier.capacity()
                + self.rising.capacity())
    }
}
