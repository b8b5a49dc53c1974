//! Sympathetic resonance: nodes that respond far from every seed.
//!
//! A node is sympathetic if it is more than two pairs away from every seed, and its amplitude is at least a twentieth of the
//! largest outside the seeds: it is coupled by structure alone. Waves cross pairs, so nodes of other components cannot
//! respond; the result only counts the nodes that were not reached.

use super::waves::Resonance;
use crate::graph::Graph;
use crate::graph::index::{CommunityId, NodeId};
use crate::graph::number::PosF32;
use crate::graph::pairs::Surroundings;

/// Least amplitude, as a share of the largest outside the seeds.
pub const SYMPATHETIC_MIN: f32 = 0.05;

/// A node that resonates far from every seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SympatheticNode {
    /// The node.
    pub node: NodeId,
    /// Amplitude.
    pub amplitude: f32,
    /// Whether its community is that of no seed; `None` without communities.
    pub cross_region: Option<bool>,
}

/// Result of [`sympathetic_resonance`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SympatheticResult {
    /// Nodes by amplitude descending, then by external id.
    pub nodes: Vec<SympatheticNode>,
    /// Number of nodes that no wave reached, such as those of other components.
    pub unreached: usize,
}

/// Finds the nodes that resonate at a frequency far from every seed. `communities` gives the community of each node, if
/// known.
#[must_use]
pub fn sympathetic_resonance(
    graph: &Graph,
    resonance: &Resonance,
    frequency: PosF32,
    communities: Option<&[CommunityId]>,
) -> SympatheticResult {
    let seeds = &resonance.seeds;
    let mut outside = resonance.report(graph, frequency).nodes;
    outside.retain(|of| seeds.binary_search(&of.node).is_err());
    // The first has the largest amplitude.
    let least = outside.first().map_or(0.0, |of| SYMPATHETIC_MIN * of.amplitude);
    let near = Surroundings::of(graph, seeds);
    let nodes = outside
        .into_iter()
        .take_while(|of| of.amplitude > 0.0 && of.amplitude >= least)
        .filter(|of| !near.is_within_two_hops(graph, of.node))
        .map(|of| SympatheticNode {
            node: of.node,
            amplitude: of.amplitude,
            cross_region: communities.map(|communities| {
                let community = |node: &NodeId| communities.get(node.at());
                seeds.iter().all(|seed| community(seed) != community(&of.node))
            }),
        })
        .collect();
    SympatheticResult { nodes, unreached: graph.node_count().saturating_sub(resonance.waves.len()) }
}
