//! A graph, and what is asked of it, as the textbook reads them.

use crate::reference::{Plain, Rule};
use ebb_engine::graph::Graph;
use ebb_engine::graph::index::NodeId;

/// How signals spread in a recall.
pub(crate) const RECALL: Rule =
    Rule { strongest: false, fan: 2, threshold: 0.0001, decay: 0.85, depth: 10, cap: 4.0 };

/// The graph as plain rows.
pub(crate) fn plain(graph: &Graph) -> Plain {
    let mut plain = Plain {
        offsets: vec![0],
        targets: Vec::with_capacity(graph.slot_count()),
        weights: Vec::with_capacity(graph.slot_count()),
        inhibitory: Vec::with_capacity(graph.slot_count()),
        out_strength: graph.nodes().map(|node| graph.out_strength(node)).collect(),
    };
    for node in graph.nodes() {
        for slot in graph.slots(node) {
            plain.targets.push(graph.target(slot).0);
            plain.weights.push(graph.weight(slot));
            plain.inhibitory.push(!graph.is_excitatory(node, slot));
        }
        plain.offsets.push(u32::try_from(plain.targets.len()).expect("slots of a graph"));
    }
    plain
}

/// What nodes are known by outside, in the order of their ids.
pub(crate) fn names(graph: &Graph) -> Vec<String> {
    graph.nodes().map(|node| graph.external_id(node).to_owned()).collect()
}

/// Seeds of one score, each once.
pub(crate) fn once(seeds: &[(NodeId, f32)]) -> Vec<(u32, f32)> {
    let mut once: Vec<(u32, f32)> = seeds.iter().map(|(node, score)| (node.0, *score)).collect();
    once.sort_unstable_by_key(|(node, _)| *node);
    once.dedup_by_key(|(node, _)| *node);
    once
}
