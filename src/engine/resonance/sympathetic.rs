//! What swings along far from every seed: more than two pairs away, and at least a twentieth as far as the node outside the
//! seeds that swings farthest. Nodes that no fact joins to a seed, nor to a neighbour of one, and that still answer, are
//! coupled by structure alone.
//!
//! Waves cross pairs, so nodes of other components cannot answer. The report tells how many nodes nothing came to, and
//! claims nothing about them.

use super::waves::Resonance;
use crate::graph::Graph;
use crate::graph::index::{CommunityId, NodeId};
use crate::graph::number::PosF32;
use crate::graph::pairs::Surroundings;

/// How far a node must swing, as a share of the farthest swing outside the seeds.
pub const SYMPATHETIC_MIN: f32 = 0.05;

/// A node that swings along.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sympathetic {
    /// Which.
    pub node: NodeId,
    /// How far it swings.
    pub amplitude: f32,
    /// Whether its community is that of no seed; `None` where communities are not known.
    pub cross_region: Option<bool>,
}

/// All that swing along.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sympathy {
    /// By amplitude descending, then by external id.
    pub nodes: Vec<Sympathetic>,
    /// How many nodes of the graph no wave came to. Those of other components are among them: no wave could.
    pub unreached: usize,
}

/// Finds what swings along.
#[derive(Debug, Clone, Copy)]
pub struct SympatheticResonanceDetector<'a> {
    /// What waves ran on.
    pub graph: &'a Graph,
    /// The community of each node, where that is known.
    pub communities: Option<&'a [CommunityId]>,
}

impl SympatheticResonanceDetector<'_> {
    /// Who swings along at a frequency.
    #[must_use]
    pub fn detect(&self, resonance: &Resonance, frequency: PosF32) -> Sympathy {
        let seeds = &resonance.seeds;
        let mut outside = resonance.report(self.graph, frequency).nodes;
        outside.retain(|of| seeds.binary_search(&of.node).is_err());
        // The first swings farthest.
        let least = outside.first().map_or(0.0, |of| SYMPATHETIC_MIN * of.amplitude);
        let near = Surroundings::of(self.graph, seeds);
        let nodes = outside
            .into_iter()
            .take_while(|of| of.amplitude > 0.0 && of.amplitude >= least)
            .filter(|of| !near.within_two(self.graph, of.node))
            .map(|of| Sympathetic {
                node: of.node,
                amplitude: of.amplitude,
                cross_region: self.communities.map(|of_node| {
                    let community = |node: &NodeId| of_node.get(node.at());
                    seeds.iter().all(|seed| community(seed) != community(&of.node))
                }),
            })
            .collect();
        Sympathy { nodes, unreached: self.graph.node_count().saturating_sub(resonance.waves.len()) }
    }
}
