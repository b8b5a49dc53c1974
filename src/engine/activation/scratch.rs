//! What an activation works in: one small cell a node, and lists of what was touched.
//!
//! Cells are zero between queries and are reset through the list of those that were written, so that a query costs what it
//! touches and never what there is. One thread has one scratch, and keeps it.

use super::Activated;
use crate::graph::index::NodeId;
use crate::graph::raw::in_large_pages;

/// The bit of a cell that says its node is listed for the next level. Values are never negative, so theirs is free.
pub(super) const LISTED: u32 = 1 << 31;

/// Reusable memory of one thread.
#[derive(Debug, Default)]
pub struct Scratch {
    /// What seeds begin with.
    pub(super) seeds: Vec<(NodeId, f32)>,
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
    /// What is lit at the end, from which the strongest are taken.
    pub(super) activated: Vec<Activated>,
}

impl Scratch {
    /// Room for so many nodes. All cells are zero between queries, so nothing has to be kept of those there are.
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

    /// Bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        4 * (self.cells.capacity() + self.touched.capacity() + self.inhibited.capacity())
            + 8 * (self.sums.capacity()
                + self.inhibition.capacity()
                + self.seeds.capacity()
                + self.frontier.capacity()
                + self.rising.capacity()
                + self.activated.capacity())
    }
}
