//! The numbers of the rule, how a record fades, and which nodes are active.

use crate::graph::index::NodeId;

/// Strengthenings in a row that leave a lasting bonus.
pub const LTP_THRESHOLD: u32 = 5;
/// Weakenings in a row that leave a lasting penalty.
pub const LTD_THRESHOLD: u32 = 5;
/// The bonus.
pub const LTP_BONUS: f32 = 0.15;
/// The penalty.
pub const LTD_PENALTY: f32 = 0.15;
/// What may lead to a node in all, where its bases leave room for that.
pub const HOMEOSTATIC_CEILING: f64 = 5.0;
/// What may lead to any node beside its bases, as a share of these.
pub const HOMEOSTATIC_HEADROOM: f64 = 0.25;
/// What of a delta is nothing.
pub const DELTA_MIN: f32 = 0.0001;
/// Nodes of one outcome at most.
pub const ACTIVE_MAX: usize = 256;

/// One bit a node.
#[derive(Debug, Clone)]
pub(super) struct Marks(Vec<u64>);

impl Marks {
    pub(super) fn of(nodes: usize) -> Self {
        Self(vec![0; nodes.div_ceil(64)])
    }

    /// Toggles the marks of nodes.
    pub(super) fn toggle(&mut self, nodes: &[(NodeId, f32)]) {
        for (node, _) in nodes {
            if let Some(word) = self.0.get_mut(node.at() / 64) {
                *word ^= 1_u64 << (node.at() % 64);
            }
        }
    }

    /// Whether a node is marked.
    pub(super) fn contains(&self, node: NodeId) -> bool {
        self.0.get(node.at() / 64).is_some_and(|word| (word >> (node.at() % 64)) & 1 == 1)
    }
}

/// What fades, one tick on.
pub(super) fn faded(delta: f32, keep: f32) -> f32 {
    let left = delta * keep;
    if left < DELTA_MIN { 0.0 } else { left }
}
