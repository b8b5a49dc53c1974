//! Every implementation against a plain definition, and the worked examples.

use super::scratch::Scratch;
use super::textbook::{self, Plain, Rule};
use super::{ActivationConfig, Aggregation, FanOut, best_first, hybrid, paths, send, wavefront};
use crate::graph::Graph;
use crate::graph::builder::{EdgeRow, GraphBuilder};
use crate::graph::columns::NodeRow;
use crate::graph::csr::weight_of;
use crate::graph::index::{EdgeIdx, NodeId};
use crate::graph::kinds::{EdgeDirection, NodeType};
use crate::graph::number::DecayFactor;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn graph(nodes: u32, edges: &[(u32, u32, f32, bool)]) -> Graph {
    let mut builder = GraphBuilder::default();
    for node in 0..nodes {
        builder.add_node(NodeRow::new(format!("n{node:04}"), "l", NodeType::Concept)).unwrap();
    }
    for (source, target, weight, inhibitory) in edges {
        let relation = if *inhibitory { "INHIBITS" } else { "LEADS_TO" };
        let edge = EdgeRow {
            source: format!("n{source:04}"),
            target: format!("n{target:04}"),
            relation: relation.to_owned(),
            weight: *weight,
            direction: EdgeDirection::Forward,
            inhibitory: *inhibitory,
            causal: None,
        };
        builder.add_edge(&edge).unwrap();
    }
    builder.finalize().unwrap()
}

/// The graph without what `blocked` nodes would send.
fn plain(graph: &Graph, blocked: &[NodeId]) -> Plain {
    let mut plain = Plain {
        offsets: vec![0],
        targets: Vec::new(),
        weights: Vec::new(),
        inhibitory: Vec::new(),
        out_strength: graph.nodes().map(|node| graph.out_strength(node)).collect(),
    };
    for node in graph.nodes() {
        // Backwards, so that nothing can depend on the order of a row, except sums, which are in the order of sources.
        let slots: Vec<_> = graph.slots(node).filter(|_| !blocked.contains(&node)).collect();
        for slot in slots.into_iter().rev() {
            plain.targets.push(graph.target(slot).0);
            plain.weights.push(graph.weight(slot));
            plain.inhibitory.push(graph.kind(slot).inhibitory);
        }
        plain.offsets.push(u32::try_from(plain.targets.len()).unwrap());
    }
    plain
}

fn rule(params: &ActivationConfig) -> Rule {
    Rule {
        strongest: params.aggregation == Aggregation::Max,
        fan: match params.fan_out {
            FanOut::None => 0,
            FanOut::Sqrt => 1,
            FanOut::Linear => 2,
        },
        threshold: params.threshold,
        decay: params.decay.get(),
        depth: params.max_depth,
        cap: params.cap,
    }
}

fn named(graph: &Graph, seeds: &[(u32, f32)]) -> Vec<(NodeId, f32)> {
    seeds.iter().map(|(node, score)| (graph.find(&format!("n{node:04}")).unwrap(), *score)).collect()
}

/// Bits of all values above 0, by node, where `blocked` nodes send nothing.
fn expected(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &ActivationConfig,
    blocked: &[NodeId],
) -> BTreeMap<NodeId, u32> {
    let seeds: Vec<(u32, f32)> = super::initial_values(graph, seeds, params)
        .into_iter()
        .map(|(node, score)| (node.0, score))
        .collect();
    let values = textbook::activate(&plain(graph, blocked), &seeds, rule(params));
    (0..)
        .map(NodeId)
        .zip(values)
        .filter(|(_, value)| *value > 0.0)
        .map(|(node, value)| (node, value.to_bits()))
        .collect()
}

type Engine = fn(&Graph, &[(NodeId, f32)], &ActivationConfig, usize, &mut Scratch) -> super::ActivationResult;

fn activated(
    engine: Engine,
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &ActivationConfig,
    scratch: &mut Scratch,
) -> BTreeMap<NodeId, u32> {
    let found = engine(graph, seeds, params, usize::MAX, scratch);
    let values: BTreeMap<NodeId, u32> =
        found.nodes.iter().map(|activated| (activated.node, activated.value.to_bits())).collect();
    assert_eq!(values.len(), found.nodes.len(), "each node once");
    let place = |activated: &super::ActivatedNode| {
        (std::cmp::Reverse(activated.value.to_bits()), graph.rank(activated.node))
    };
    assert!(found.nodes.is_sorted_by_key(place));
    assert!(found.counters.useful_slots <= found.counters.slots_read);
    assert!(scratch.cells.iter().all(|cell| *cell == 0), "the scratch is reset");
    assert!(scratch.strongest.iter().all(|most| most.to_bits() == 0));
    assert!(
        scratch.inhibition.iter().all(|sum| *sum == 0) && scratch.sums.iter().all(|sum| sum.to_bits() == 0)
    );
    for marks in [&mut scratch.reached, &mut scratch.touched] {
        marks.drain(|node| panic!("node {node} is still marked"));
    }
    values
}

fn params() -> impl Strategy<Value = ActivationConfig> {
    (
        any::<bool>(),
        0..3_u8,
        1..=6_u8,
        prop_oneof![Just(0.04_f32), Just(0.0001), Just(0.3)],
        any::<bool>(),
        prop_oneof![Just(1.0_f32), Just(4.0)],
    )
        .prop_map(|(strongest, fan, max_depth, threshold, normalised, cap)| ActivationConfig {
            aggregation: if strongest { Aggregation::Max } else { Aggregation::Sum },
            fan_out: [FanOut::None, FanOut::Sqrt, FanOut::Linear][usize::from(fan)],
            threshold,
            max_depth,
            normalised,
            cap,
            ..ActivationConfig::REFERENCE
        })
}

type Edges = Vec<(u32, u32, f32, bool)>;

/// Up to 24 nodes, with none, a tenth or half of the edges inhibiting.
fn sample() -> impl Strategy<Value = (Edges, Vec<(u32, f32)>)> {
    (0..3_u8).prop_flat_map(|share| {
        let tenths = [0_u8, 1, 5][usize::from(share)];
        let edge = (0..24_u32, 0..24_u32, 1..250_u16, 0..10_u8)
            .prop_map(move |(a, b, weight, roll)| (a, b, f32::from(weight) / 80.0, roll < tenths));
        (proptest::collection::vec(edge, 0..90), proptest::collection::vec((0..24_u32, 0.01_f32..1.0), 1..5))
    })
}

/// Weights for [`learn`].
fn learned() -> impl Strategy<Value = Vec<(u16, f32)>> {
    proptest::collection::vec((any::<u16>(), 0.05_f32..3.0), 0..6)
}

/// Up to three nodes that send nothing, ascending.
fn blocked() -> impl Strategy<Value = Vec<NodeId>> {
    proptest::collection::btree_set((0..24_u32).prop_map(NodeId), 0..4)
        .prop_map(|nodes| nodes.into_iter().collect())
}

/// Gives slots other weights than their base weights.
fn learn(graph: &Graph, learned: Vec<(u16, f32)>) {
    let all: Vec<_> =
        graph.nodes().flat_map(|node| graph.slots(node).map(move |slot| (node, slot))).collect();
    for (slot, weight) in learned {
        if let Some((node, slot)) = all.get(usize::from(slot) % all.len().max(1)) {
            graph.write_weight(*node, *slot, weight).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]
    #[test]
    fn act_oracle((edges, seeds) in sample(), params in params(), learned in learned(), blocked in blocked()) {
        let graph = graph(24, &edges);
        learn(&graph, learned);
        let seeds = named(&graph, &seeds);
        let wanted = expected(&graph, &seeds, &params, &blocked);
        let mut scratch = Scratch { blocked, ..Scratch::default() };
        for engine in [wavefront::activate, best_first::activate, hybrid::activate] {
            // Twice with one scratch: data left by one query would change the next.
            prop_assert_eq!(&activated(engine, &graph, &seeds, &params, &mut scratch), &wanted);
            prop_assert_eq!(&activated(engine, &graph, &seeds, &params, &mut scratch), &wanted);
        }
    }
}

proptest! {
    #[test]
    fn more_depth_or_less_threshold_activates_more((edges, seeds) in sample(), depth in 1..5_u8) {
        let edges: Edges = edges.into_iter().map(|(a, b, weight, _)| (a, b, weight, false)).collect();
        let graph = graph(24, &edges);
        let seeds = named(&graph, &seeds);
        let mut scratch = Scratch::default();
        let mut at = |params: ActivationConfig| activated(wavefront::activate, &graph, &seeds, &params, &mut scratch);
        let base = ActivationConfig { max_depth: depth, ..ActivationConfig::REFERENCE };
        let fewer = at(base);
        for more in [ActivationConfig { max_depth: depth + 1, ..base }, ActivationConfig { threshold: 0.01, ..base }] {
            let more = at(more);
            for (node, bits) in &fewer {
                prop_assert!(more.get(node).is_some_and(|other| other >= bits));
            }
        }
        for bits in at(ActivationConfig { cap: 0.5, ..base }).values() {
            prop_assert!(f32::from_bits(*bits) <= 0.5);
        }
    }

    #[test]
    fn every_path_replays((edges, seeds) in sample(), params in params(), blocked in blocked()) {
        let edges: Edges = edges.into_iter().map(|(a, b, weight, _)| (a, b, weight, false)).collect();
        let graph = graph(24, &edges);
        let seeds = named(&graph, &seeds);
        let strongest = ActivationConfig { aggregation: Aggregation::Max, ..params };
        let values = expected(&graph, &seeds, &strongest, &blocked);
        let wanted: BTreeSet<NodeId> = graph.nodes().collect();
        let mut scratch = Scratch { blocked, ..Scratch::default() };
        let found = paths::strongest(&graph, &seeds, &params, &wanted, &mut scratch);
        prop_assert!(found.keys().eq(values.keys()), "a path to each activated node, and to no other");
        for (node, path) in found {
            prop_assert!(path.slots.len() <= usize::from(params.max_depth));
            prop_assert_eq!(path.replayed(&graph, &params).to_bits(), path.arrival.to_bits());
            prop_assert_eq!(path.slots.last().map_or(path.seed, |slot| graph.target(*slot)), node);
            prop_assert_eq!(path.arrival.to_bits(), values[&node]);
            // The path is the same when requested alone: an early end of the search changes nothing.
            prop_assert_eq!(&paths::strongest(&graph, &seeds, &params, &BTreeSet::from([node]), &mut scratch)[&node], &path);
        }
    }

    #[test]
    fn every_activated_node_has_a_path(
        (edges, seeds) in sample(),
        params in params(),
        learned in learned(),
        blocked in blocked(),
    ) {
        let graph = graph(24, &edges);
        learn(&graph, learned);
        let seeds = named(&graph, &seeds);
        let mut scratch = Scratch { blocked: blocked.clone(), ..Scratch::default() };
        let reached: Vec<NodeId> =
            activated(hybrid::activate, &graph, &seeds, &params, &mut scratch).into_keys().collect();
        let wanted: BTreeSet<NodeId> = reached.iter().copied().collect();
        let found = paths::paths(&graph, &seeds, &params, &wanted, &reached, &mut scratch);
        prop_assert!(found.keys().eq(&wanted));
        for (node, path) in found {
            prop_assert!(path.slots.len() <= usize::from(params.max_depth));
            prop_assert!(seeds.iter().any(|(seed, _)| *seed == path.seed));
            prop_assert_eq!(path.replayed(&graph, &params).to_bits(), path.arrival.to_bits());
            prop_assert_eq!(path.slots.last().map_or(path.seed, |slot| graph.target(*slot)), node);
            let mut here = path.seed;
            for slot in &path.slots {
                prop_assert!(!blocked.contains(&here), "a path leads through what sends");
                prop_assert!(graph.slots(here).take(graph.excitatory_slots(here)).any(|own| own == *slot));
                here = graph.target(*slot);
            }
            let alone = paths::paths(&graph, &seeds, &params, &BTreeSet::from([node]), &reached, &mut scratch);
            prop_assert_eq!(&alone[&node], &path, "it does not depend on the others");
        }
    }
}

#[track_caller]
fn check(graph: &Graph, seeds: &[(u32, f32)], params: &ActivationConfig, want: &[(u32, f32)]) {
    let seeds = named(graph, seeds);
    let found = activated(wavefront::activate, graph, &seeds, params, &mut Scratch::default());
    for (node, want) in want {
        let node = graph.find(&format!("n{node:04}")).unwrap();
        let got = found.get(&node).map_or(0.0, |bits| f32::from_bits(*bits));
        assert!((got - want).abs() < 1e-6, "{} is {got}, not {want}", graph.external_id(node));
    }
}

#[test]
fn example_4_1a() {
    let diamond = graph(4, &[(0, 1, 0.8, false), (0, 2, 0.6, false), (1, 3, 0.9, false), (2, 3, 1.0, false)]);
    check(&diamond, &[(0, 1.0)], &ActivationConfig::REFERENCE, &[(1, 0.44), (2, 0.33), (3, 0.2178)]);
    let convergent = ActivationConfig { aggregation: Aggregation::Sum, ..ActivationConfig::REFERENCE };
    check(&diamond, &[(0, 1.0)], &convergent, &[(3, 0.3993)]);
    let recall = ActivationConfig { decay: DecayFactor::REFERENCE, ..ActivationConfig::RECALL };
    check(&diamond, &[(0, 1.0)], &recall, &[(1, 0.314_286), (2, 0.235_714), (3, 0.285_214)]);
    // Scores are divided by their greatest.
    check(&diamond, &[(0, 0.25)], &recall, &[(0, 1.0), (1, 0.314_286)]);
}

#[test]
fn example_4_1b() {
    let mut edges = vec![(0, 2, 1.0, false), (0, 3, 0.8, false), (1, 2, 1.0, true), (3, 2, 1.0, true)];
    for _ in 0..edges.len() {
        edges.rotate_left(1);
        let held = graph(4, &edges);
        let seeds = [(0, 1.0), (1, 1.0)];
        check(
            &held,
            &seeds,
            &ActivationConfig { max_depth: 1, ..ActivationConfig::REFERENCE },
            &[(2, 0.275), (3, 0.44)],
        );
        check(&held, &seeds, &ActivationConfig::REFERENCE, &[(2, 0.154), (3, 0.44)]);
    }
}

#[test]
fn example_4_1c() {
    let again = graph(4, &[(0, 1, 0.1, false), (0, 2, 0.9, false), (2, 1, 0.9, false), (1, 3, 0.9, false)]);
    check(
        &again,
        &[(0, 1.0)],
        &ActivationConfig { max_depth: 1, ..ActivationConfig::REFERENCE },
        &[(1, 0.055)],
    );
    check(&again, &[(0, 1.0)], &ActivationConfig::REFERENCE, &[(1, 0.245_025), (3, 0.121_287)]);
    let chain: Edges = (0..6).map(|n| (n, n + 1, 3.0, false)).collect();
    let want: Vec<(u32, f32)> = (0..6).map(|n| (n, 1.0)).chain([(6, 0.0)]).collect();
    check(&graph(7, &chain), &[(0, 1.0)], &ActivationConfig::REFERENCE, &want);
}

#[test]
fn shapes_at_the_edge() {
    let mut scratch = Scratch::default();
    let empty = graph(0, &[]);
    assert!(
        wavefront::activate(&empty, &[], &ActivationConfig::REFERENCE, 10, &mut scratch).nodes.is_empty()
    );
    let star: Edges = (1..300).map(|n| (0, n, 0.5, false)).collect();
    let star = graph(300, &star);
    let hub = named(&star, &[(0, 1.0)]);
    let found = wavefront::activate(&star, &hub, &ActivationConfig::REFERENCE, 3, &mut scratch);
    // The leaves have no slots to send over.
    assert_eq!((found.nodes.len(), found.counters.useful_slots, found.counters.rows), (3, 299, 1));
    assert_eq!(found.nodes[1].node, star.find("n0001").unwrap());
    assert!(wavefront::activate(&star, &hub, &ActivationConfig::REFERENCE, 0, &mut scratch).nodes.is_empty());
    let own = graph(1, &[(0, 0, 3.0, false)]);
    check(&own, &[(0, 0.3), (0, 0.2)], &ActivationConfig::REFERENCE, &[(0, 1.0)]);
    let held = ActivationConfig { max_slots: 1, ..ActivationConfig::REFERENCE };
    let found = wavefront::activate(&star, &hub, &held, 500, &mut scratch);
    assert!(!found.truncated && found.nodes.len() == 300, "no leaf sends, so nothing is left out");
    let tail: Edges = (1..300).map(|n| (0, n, 0.5, false)).chain([(299, 300, 0.5, false)]).collect();
    let tail = graph(301, &tail);
    let found = wavefront::activate(&tail, &named(&tail, &[(0, 1.0)]), &held, 500, &mut scratch);
    assert!(found.truncated && found.nodes.len() == 300, "a level is always finished");
    for nothing in [f32::NAN, f32::INFINITY, -1.0, 0.0, -0.0] {
        assert!(
            wavefront::activate(
                &star,
                &[(NodeId(0), nothing)],
                &ActivationConfig::REFERENCE,
                9,
                &mut scratch
            )
            .nodes
            .is_empty()
        );
    }
}

/// The bit of the row says that it has learned nothing when it is looked up, and a weight is lowered before it is read.
#[test]
fn a_slot_lowered_meanwhile_hides_no_other() {
    let edges: Edges = (1..=40_u16).map(|n| (0, u32::from(n), 2.0 - f32::from(n) / 32.0, false)).collect();
    // Lowered at the beginning, in the middle and at the end of blocks, and several of one row.
    for lowered in [&[0][..], &[7], &[15], &[16], &[31], &[39], &[0, 1, 17], &[3, 15, 16, 38]] {
        let graph = graph(41, &edges);
        let hub = named(&graph, &[(0, 1.0)])[0].0;
        let part = graph.excitatory(hub);
        for slot in lowered {
            graph.write_weight(hub, EdgeIdx(part.first.0 + slot), 0.05).unwrap();
        }
        let mut arrived = Vec::new();
        let counts =
            send(&part, 1.0, 0.06, |at, target, signal| arrived.push((at, target, signal.to_bits())));
        let weight = |at: usize| weight_of(&part.weights[at]);
        let passing = (0..40).filter(|at| weight(*at) > 0.06);
        let wanted: Vec<_> = passing.map(|at| (at, part.targets[at], weight(at).to_bits())).collect();
        assert_eq!(arrived, wanted, "{lowered:?}");
        assert_eq!(counts, (40, 40 - lowered.len() as u64), "each slot is read once");
    }
}

#[test]
fn seeds_that_the_graph_does_not_have_are_ignored() {
    let chain = graph(3, &[(0, 1, 1.0, false), (1, 2, 1.0, false)]);
    let known = named(&chain, &[(0, 0.5)]);
    let seeds = [known.clone(), vec![(NodeId(3), 1.0), (NodeId(u32::MAX), 1.0)]].concat();
    let (params, mut scratch) = (ActivationConfig::REFERENCE, Scratch::default());
    // The scratch of a larger graph has room for them.
    activated(wavefront::activate, &graph(9, &[(0, 1, 1.0, false)]), &known, &params, &mut scratch);
    for engine in [wavefront::activate, best_first::activate, hybrid::activate] {
        for params in [params, ActivationConfig::RECALL] {
            let wanted = activated(engine, &chain, &known, &params, &mut scratch);
            assert_eq!(activated(engine, &chain, &seeds, &params, &mut scratch), wanted);
            assert_eq!(wanted.len(), 3);
        }
    }
    let reached: Vec<NodeId> = chain.nodes().collect();
    let wanted = reached.iter().copied().collect();
    let of = |seeds| paths::paths(&chain, seeds, &params, &wanted, &reached, &mut Scratch::default());
    assert_eq!(of(&seeds), of(&known));
}

#[test]
fn params_out_of_range_are_named() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, 0.0, -0.0, 17.0] {
        assert!(ActivationConfig { threshold: bad, ..ActivationConfig::REFERENCE }.checked().is_err());
        assert!(DecayFactor::new(bad).is_err());
        assert!(ActivationConfig { cap: bad, ..ActivationConfig::REFERENCE }.checked().is_err());
    }
    assert!(ActivationConfig { threshold: 1.0, ..ActivationConfig::REFERENCE }.checked().is_err());
    for (depth, sound) in [(0, false), (1, true), (20, true), (21, false)] {
        assert_eq!(
            ActivationConfig { max_depth: depth, ..ActivationConfig::REFERENCE }.checked().is_ok(),
            sound
        );
    }
    assert!(ActivationConfig::RECALL.checked().is_ok());
}

#[test]
fn few_useless_slots_are_read() {
    // Rows of a hundred slots of which few pass: one is read beyond them.
    let edges: Edges = (0..40_u32)
        .flat_map(|n| {
            (0..100_u32).map(move |m| {
                (n, (n * 7 + m * 13) % 40, 0.05 + 0.009 * f32::from(u8::try_from(m).unwrap()), false)
            })
        })
        .collect();
    let graph = graph(40, &edges);
    let found = wavefront::activate(
        &graph,
        &named(&graph, &[(0, 0.3), (9, 0.2)]),
        &ActivationConfig::REFERENCE,
        40,
        &mut Scratch::default(),
    );
    assert!(
        found.counters.slots_read <= found.counters.useful_slots + found.counters.rows,
        "{:?}",
        found.counters
    );
}
