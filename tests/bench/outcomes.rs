//! What questions teach: outcomes to learn from, the same on every machine.

use crate::random::SplitMix64;
use crate::sets::Set;
use ebb_engine::activation::scratch::Scratch;
use ebb_engine::activation::{ActivationConfig, wavefront};
use ebb_engine::graph::Graph;
use ebb_engine::graph::index::NodeId;
use ebb_engine::plasticity::PlasticityConfig;

/// Nodes that were used together, with what they were worth.
pub(crate) type Outcome = Vec<(NodeId, f32)>;

/// Of each query of a set's mix the so many strongest nodes that it lights, as somebody names them who used all of it; worth
/// what a draw says.
pub(crate) fn outcomes(set: &Set, graph: &Graph, most: usize) -> Vec<Outcome> {
    let (mut scratch, mut random) = (Scratch::default(), SplitMix64(17));
    let mut outcomes = Vec::new();
    for query in set.queries(graph) {
        let reward = 0.25 + 0.75 * random.unit();
        let found = wavefront::activate(graph, &query, &ActivationConfig::RECALL, most, &mut scratch);
        outcomes.push(found.nodes.into_iter().map(|lit| (lit.node, reward)).collect());
    }
    outcomes
}

/// The documented rates.
pub(crate) fn rules() -> PlasticityConfig {
    PlasticityConfig::new(0.08, 0.005).expect("the documented rates")
}
