//! Reusable buffers of XLR: one small cell and one bit for each node, and lists of the nodes reached.
//!
//! Cells and bits are zero between queries and are reset through the lists of written ones. Each thread keeps one
//! scratch.

use super::anti_seeds::Buffers;
use super::channel::{Channel, Sums};
use super::near::Near;
use crate::graph::Graph;
use crate::graph::index::NodeId;

/// Reusable buffers of one thread.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Initial values of seeds, by id.
    pub(super) seeds: Vec<(NodeId, f32)>,
    /// Surroundings of the seeds.
    pub(super) near: Near,
    pub(super) buffers: Buffers,
    pub(super) channel: Channel,
    /// Hot field of each place, up to the last that the wave reached.
    pub(super) hot: Vec<Sums>,
    /// Cold field.
    pub(super) cold: Vec<Sums>,
    /// Nodes with a hot field and their places, by id.
    pub(super) order: Vec<(u32, u32)>,
}

impl Scratch {
    /// Makes room for this many nodes.
    pub(super) fn fit(&mut self, nodes: usize) {
        self.near.fit(nodes);
        self.channel.fit(nodes);
    }

    /// Clears everything that was written.
    pub(super) fn reset(&mut self, graph: &Graph) {
        self.near.clear(graph, &self.seeds);
        self.channel.reset();
        self.hot.clear();
        self.cold.clear();
        self.seeds.clear();
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.near.bytes()
            + self.buffers.bytes()
            + self.channel.bytes()
            + size_of::<Sums>() * (self.hot.capacity() + self.cold.capacity())
            + 8 * (self.seeds.capacity() + self.order.capacity())
    }
}
