//! What contrast works in: one small cell and one bit a node, and lists of what was reached.
//!
//! Cells and bits are zero between questions and are reset through what wrote them, as those of an activation. One thread
//! has one scratch, and keeps it.

use super::anti_seeds::Room;
use super::channel::{Channel, Sums};
use super::near::Near;
use crate::graph::Graph;
use crate::graph::index::NodeId;

/// Reusable memory of one thread.
#[derive(Debug, Default)]
pub struct Scratch {
    /// What seeds begin with, by id.
    pub(super) seeds: Vec<(NodeId, f32)>,
    /// Who is near them.
    pub(super) near: Near,
    pub(super) room: Room,
    pub(super) channel: Channel,
    /// The hot field of each place, up to the last that the wave reached.
    pub(super) hot: Vec<Sums>,
    /// The cold one.
    pub(super) cold: Vec<Sums>,
    /// Nodes with a hot field and their places, by id.
    pub(super) order: Vec<(u32, u32)>,
}

impl Scratch {
    /// Room for so many nodes.
    pub(super) fn fit(&mut self, nodes: usize) {
        self.near.fit(nodes);
        self.channel.fit(nodes);
    }

    /// Leaves it as it was found.
    pub(super) fn reset(&mut self, graph: &Graph) {
        self.near.clear(graph, &self.seeds);
        self.channel.reset();
        self.hot.clear();
        self.cold.clear();
        self.seeds.clear();
    }

    /// Bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.near.bytes()
            + self.room.bytes()
            + self.channel.bytes()
            + size_of::<Sums>() * (self.hot.capacity() + self.cold.capacity())
            + 8 * (self.seeds.capacity() + self.order.capacity())
    }
}
