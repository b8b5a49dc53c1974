//! Worst-case graphs for every algorithm: a hub with a hundred thousand neighbours, a clique, and budgets of one. Bounds
//! hold, and truncation is reported.

use super::activation::{ActivationConfig, wavefront};
use super::communities::communities;
use super::plasticity::PlasticityConfig;
use super::plasticity::synapses::Synapses;
use super::resonance::{ResonanceConfig, resonate};
use super::scratch::Scratch;
use super::xlr::{XLR_PULSE_BUDGET, xlr};
use super::{Flag, Flags};
use crate::graph::Graph;
use crate::graph::builder::GraphBuilder;
use crate::graph::columns::NodeRow;
use crate::graph::index::NodeId;
use crate::graph::kinds::{EdgeDirection, NodeType};
use crate::graph::number::PosF32;

/// A graph with a number of nodes, in which these pairs are joined in both directions.
fn joined(nodes: u32, pairs: impl IntoIterator<Item = (u32, u32)>) -> Graph {
    let mut builder = GraphBuilder::default();
    let staged: Vec<_> = (0..nodes)
        .map(|n| builder.add_node(NodeRow::new(format!("n{n:06}"), "l", NodeType::Concept)).unwrap())
        .collect();
    let kind = builder.kind("JOINS", EdgeDirection::Bidirectional, false);
    for (a, b) in pairs {
        builder.connect(staged[a as usize], staged[b as usize], kind, 0.9).unwrap();
    }
    builder.finalize().unwrap()
}

fn hub() -> Graph {
    joined(100_001, (1..=100_000).map(|leaf| (0, leaf)))
}

fn clique() -> Graph {
    joined(100, (0..100).flat_map(|a| (a + 1..100).map(move |b| (a, b))))
}

fn at(graph: &Graph, n: u32) -> NodeId {
    graph.find(&format!("n{n:06}")).unwrap()
}

/// Runs all algorithms from one seed, checks their bounds, and returns their flags.
fn run_all(graph: &Graph, seed: NodeId, pulses: u32, max_slots: u64) -> Flags {
    let (mut scratch, seeds) = (Scratch::default(), [(seed, 1.0)]);
    let params = ActivationConfig { max_slots, ..ActivationConfig::REFERENCE };
    let activated = wavefront::activate(graph, &seeds, &params, usize::MAX, &mut scratch.activation);
    assert!(activated.nodes.iter().all(|activated| activated.value > 0.0 && activated.value <= params.cap));
    let contrast =
        xlr(graph, graph.mean_degree(), &seeds, &ActivationConfig::RECALL, pulses, &mut scratch.xlr);
    assert!(contrast.pulses <= u64::from(pulses) + 4, "{}", contrast.pulses);
    assert!(contrast.nodes.iter().all(|field| (0.0..1.0).contains(&field.gate)));
    let config = ResonanceConfig { pulse_budget: pulses, ..ResonanceConfig::default() };
    let waves = resonate(graph, graph.mean_degree(), &seeds, &config, &mut scratch.resonance).unwrap();
    assert!(waves.pulses <= u64::from(pulses) && waves.dropped_energy.is_finite());
    let report = waves.report(graph, PosF32::ONE);
    assert!(report.nodes.iter().all(|of| of.amplitude.is_finite() && (0.0..=1.0).contains(&of.coherence)));
    Flags::default()
        .with(Flag::ActivationTruncated, activated.truncated)
        .union(contrast.flags)
        .union(waves.flags)
}

/// Learns that these nodes were useful, `times` times; returns the greatest incoming sum of a node over its ceiling.
fn learned_share(graph: &Graph, active: &[NodeId], times: u32) -> f64 {
    let active: Vec<(NodeId, f32)> = active.iter().map(|node| (*node, 1.0)).collect();
    let mut synapses = Synapses::bind(graph, PlasticityConfig::default(), 0, []).unwrap();
    for _ in 0..times {
        synapses.tick(graph, &active).unwrap();
    }
    synapses.write_weights(graph).unwrap();
    let range = graph.range();
    let of = |node: &(NodeId, f32)| {
        let weights: Vec<f32> = graph.incoming(node.0).map(|(_, slot)| graph.weight(slot)).collect();
        assert!(weights.iter().all(|weight| (range.floor..=range.cap).contains(weight)));
        let sum: f64 = weights.into_iter().map(f64::from).sum();
        sum / f64::max(5.0, 1.25 * graph.in_strength(node.0))
    };
    active.iter().map(of).fold(0.0, f64::max)
}

#[test]
fn a_hub_of_a_hundred_thousand_edges() {
    let graph = hub();
    let (middle, leaf) = (at(&graph, 0), at(&graph, 77_777));
    // From a leaf, the hub divides a wave or a shared signal so far that nothing passes the threshold.
    let flags = run_all(&graph, leaf, XLR_PULSE_BUDGET, u64::MAX);
    assert!(!flags.contains(Flag::XlrTruncated) && !flags.contains(Flag::ResonanceTruncated), "{flags:?}");
    // A seed sends to each neighbour, which exceeds the budget.
    let flags = run_all(&graph, middle, XLR_PULSE_BUDGET, u64::MAX);
    assert!(flags.contains(Flag::ResonanceTruncated), "{flags:?}");
    assert!(run_all(&graph, leaf, 400, 10).contains(Flag::ActivationTruncated));
    let partition = communities(&graph, PosF32::ONE);
    assert!(partition.modularity.is_finite() && partition.membership.len() == graph.node_count());
    let nodes: Vec<NodeId> = [middle].into_iter().chain((1..256).map(|n| at(&graph, n))).collect();
    assert!(learned_share(&graph, &nodes, 40) <= 1.0 + 1e-6);
}

#[test]
fn a_clique_of_a_hundred() {
    let graph = clique();
    let flags = run_all(&graph, at(&graph, 0), XLR_PULSE_BUDGET, u64::MAX);
    // Every node is next to the seed, so there are no anti-seeds.
    assert!(flags.contains(Flag::XlrNoAntiSeeds), "{flags:?}");
    assert_eq!(communities(&graph, PosF32::ONE).count, 1);
    let nodes: Vec<NodeId> = graph.nodes().collect();
    assert!(learned_share(&graph, &nodes, 200) <= 1.0 + 1e-6);
}

#[test]
fn budgets_of_one() {
    for graph in [clique(), joined(9, (1..9).map(|leaf| (0, leaf)))] {
        let flags = run_all(&graph, at(&graph, 0), 1, 1);
        for flag in [Flag::ActivationTruncated, Flag::XlrTruncated, Flag::ResonanceTruncated] {
            assert!(flags.contains(flag), "{flag:?} of {flags:?}");
        }
    }
}
