//! Constants of the learning rule, decay, and a set of nodes.

use crate::graph::index::NodeId;

/// Strengthenings in a row that give the permanent bonus.
pub const LTP_THRESHOLD: u32 = 5;
/// Weakenings in a row that give the permanent penalty.
pub const LTD_THRESHOLD: u32 = 5;
/// The permanent bonus.
pub const LTP_BONUS: f32 = 0.15;
/// The permanent penalty.
pub const LTD_PENALTY: f32 = 0.15;
/// Ceiling of the sum of incoming weights of a node, unless its base weights leave less room.
pub const HOMEOSTATIC_CEILING: f64 = 5.0;
/// Least room above the incoming base weights of a node, as a share of these.
pub const HOMEOSTATIC_HEADROOM: f64 = 0.25;
/// A decaying part below this becomes 0.
pub const DELTA_MIN: f32 = 0.0001;
/// Greatest number of active nodes of one outcome.
pub const ACTIVE_MAX: usize = 256;

/// A bit set of nodes.
#[derive(Debug, Clone)]
pub(super) struct NodeSet(Vec<u64>);

impl NodeSet {
    pub(super) fn of(nodes: usize) -> Self {
        Self(vec![0; nodes.div_ceil(64)])
    }

    /// Toggles nodes.
    pub(super) fn toggle(&mut self, nodes: &[(NodeId, f32)]) {
        for (node, _) in nodes {
            if let Some(word) = self.0.get_mut(node.at() / 64) {
                *word ^= 1_u64 << (node.at() % 64);
            }
        }
    }

    /// Whether a node is in the set.
    pub(super) fn contains(&self, node: NodeId) -> bool {
        self.0.get(node.at() / 64).is_some_and(|word| (word >> (node.at() % 64)) & 1 == 1)
    }
}

/// The decaying part after one more tick.
pub(super) fn faded(delta: f32, keep: f32) -> f32 {
    let left = delta * keep;
    if left < DELTA_MIN { 0.0 } else { left }
}
