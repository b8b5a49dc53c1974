//! Rows and cosines against a table of all pairs, and graphs with deterministic walks.

use super::*;
use crate::graph::builder::{EdgeRow, GraphBuilder};
use crate::graph::columns::NodeRow;
use crate::graph::index::EdgeIdx;
use crate::graph::kinds::{EdgeDirection, NodeType};
use proptest::prelude::*;
use std::f64::consts::LN_2;
use xxhash_rust::xxh3::xxh3_64;

/// Source, target, and whether it is inhibitory.
type Edge = (usize, usize, bool);

/// Nodes `n0`, `n1`, ... in the order in which they are given.
fn graph(nodes: impl IntoIterator<Item = usize>, edges: &[Edge]) -> Graph {
    let mut builder = GraphBuilder::default();
    for node in nodes {
        builder.add_node(NodeRow::new(format!("n{node}"), "l", NodeType::Concept)).unwrap();
    }
    for (source, target, inhibitory) in edges {
        let edge = EdgeRow {
            source: format!("n{source}"),
            target: format!("n{target}"),
            relation: if *inhibitory { "INHIBITS" } else { "LEADS_TO" }.to_owned(),
            weight: 0.25 + ((7 * source + target) % 8) as f32 / 16.0,
            direction: EdgeDirection::Forward,
            inhibitory: *inhibitory,
            causal: None,
        };
        builder.add_edge(&edge).unwrap();
    }
    builder.finalize().unwrap()
}

fn node(graph: &Graph, n: usize) -> NodeId {
    graph.find(&format!("n{n}")).unwrap()
}

/// The value of a row for another node.
fn said(index: &CoOccurrenceIndex, a: NodeId, b: NodeId) -> f64 {
    let row = index.row(a);
    row.ids.binary_search(&b.0).map_or(0.0, |at| f64::from(row.values[at]))
}

#[track_caller]
fn near(got: f64, wanted: f64) {
    assert!((got - wanted).abs() < 1e-6, "{got} is not {wanted}");
}

/// Walks by the definition, every pair of positions in each, and the table of their values.
fn naive(graph: &Graph, seed: u64) -> Vec<Vec<f64>> {
    let n = graph.node_count();
    let mut counts = vec![vec![0_u32; n]; n];
    for start in graph.nodes() {
        let mut lots = SplitMix64::new(seed ^ xxh3_64(graph.external_id(start).as_bytes()));
        for _ in 0..20 {
            let mut walk = vec![start];
            while walk.len() < 10 {
                let passes = |slot: &EdgeIdx| !graph.kind(*slot).inhibitory;
                let slots: Vec<EdgeIdx> = graph.slots(walk[walk.len() - 1]).filter(passes).collect();
                if slots.is_empty() {
                    break;
                }
                let drawn = usize::try_from(lots.draw_below(slots.len() as u64)).unwrap();
                walk.push(graph.target(slots[drawn]));
            }
            for (i, first) in walk.iter().enumerate() {
                for (j, other) in walk.iter().enumerate() {
                    if i.abs_diff(j) <= 4 && first != other {
                        counts[first.at()][other.at()] += 1;
                    }
                }
            }
        }
    }
    let total: u32 = counts.iter().flatten().sum();
    let said = |a: usize, b: usize| {
        let row: u32 = counts[a].iter().sum();
        let column: u32 = counts.iter().map(|row| row[b]).sum();
        let [count, row, column, total] = [counts[a][b], row, column, total].map(f64::from);
        if count > 0.0 { (count * total / (row * column)).ln().max(0.0) } else { 0.0 }
    };
    (0..n).map(|a| (0..n).map(|b| said(a, b)).collect()).collect()
}

fn naive_cosine(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn ppmi_oracle(
        edges in prop::collection::vec((0..7_usize, 0..7_usize, prop::bool::weighted(0.2)), 0..20),
        seed in any::<u64>(),
        (a, b, c) in (0.1_f32..1.0, 0.1_f32..1.0, 0.1_f32..1.0),
    ) {
        let graph = graph(0..7, &edges);
        let index = CoOccurrenceIndex::build(&graph, seed).unwrap();
        let wanted = naive(&graph, seed);
        let weights = [(NodeId(0), a), (NodeId(4), b), (NodeId(5), c)];
        let context = index.context(&weights);
        for one in graph.nodes() {
            let row = index.row(one);
            prop_assert!(row.ids.is_sorted_by(|a, b| a < b) && row.values.iter().all(|value| *value > 0.0));
            for other in graph.nodes() {
                let said = said(&index, one, other);
                prop_assert!((said - wanted[one.at()][other.at()]).abs() < 1e-6, "{said} {wanted:?}");
                let similarity = index.similarity(one, other);
                let cosine = naive_cosine(&wanted[one.at()], &wanted[other.at()]);
                prop_assert!((f64::from(similarity) - cosine).abs() < 1e-6, "{similarity} {cosine}");
                prop_assert_eq!(similarity.to_bits(), index.similarity(other, one).to_bits());
            }
            let to_each =
                |(node, weight): &(NodeId, f32)| f64::from(*weight) * f64::from(index.similarity(one, *node));
            let mean = weights.iter().map(to_each).sum::<f64>() / f64::from(a + b + c);
            let similarity_to = f64::from(index.similarity_to(&context, one));
            prop_assert!((similarity_to - mean).abs() < 1e-6, "{similarity_to} {mean}");
        }
    }

    #[test]
    fn the_order_of_insertion_does_not_show(
        nodes in Just((0..9).collect::<Vec<usize>>()).prop_shuffle(),
        edges in Just(EDGES.to_vec()).prop_shuffle(),
    ) {
        let said = |nodes: &[usize], edges: &[Edge]| -> Vec<u32> {
            let graph = graph(nodes.iter().copied(), edges);
            let index = CoOccurrenceIndex::build(&graph, 42).unwrap();
            let pairs = graph.by_rank().flat_map(|a| graph.by_rank().map(move |b| (a, b)));
            pairs.map(|(a, b)| index.similarity(a, b).to_bits()).collect()
        };
        let first = said(&[0, 1, 2, 3, 4, 5, 6, 7, 8], &EDGES);
        prop_assert!(first.iter().collect::<std::collections::BTreeSet<_>>().len() > 5);
        prop_assert_eq!(first, said(&nodes, &edges));
    }
}

const EDGES: [Edge; 16] = [
    (0, 1, false),
    (1, 0, false),
    (0, 2, false),
    (2, 0, false),
    (3, 0, false),
    (0, 3, false),
    (3, 4, false),
    (4, 5, false),
    (5, 3, false),
    (5, 6, false),
    (6, 6, false),
    (6, 7, false),
    (7, 4, false),
    (2, 7, false),
    (1, 5, true),
    (4, 8, true),
];

/// The numbers of the engine's worked example 4.10.
#[test]
fn worked_example() {
    near(f64::from(ppmi(4, 8, 8, 32)), LN_2);
    assert_eq!([ppmi(2, 8, 8, 32), ppmi(1, 8, 8, 32)].map(f32::to_bits), [0, 0]);
}

/// In a ring each walk goes round, so two nodes `d` apart co-occur `20 * (10 - d)` times: 180, 160, 140 and 120, of
/// 1,200 in a row and 14,400 in all.
#[test]
fn a_ring_has_the_numbers_of_its_closed_form() {
    let edges: Vec<Edge> = (0..12).map(|n| (n, (n + 1) % 12, false)).collect();
    let graph = graph(0..12, &edges);
    let index = CoOccurrenceIndex::build(&graph, 42).unwrap();
    for a in 0..12_usize {
        for b in 0..12 {
            let apart = a.abs_diff(b).min(12 - a.abs_diff(b));
            let wanted = match apart {
                1..=4 => [1.8_f64, 1.6, 1.4, 1.2][apart - 1].ln(),
                _ => 0.0,
            };
            near(said(&index, node(&graph, a), node(&graph, b)), wanted);
        }
    }
    // Six apart: those two and four away from either, four times, and those three away from both, twice.
    near(f64::from(index.similarity(node(&graph, 0), node(&graph, 6))), 0.399_238);
    assert_eq!(index.similarity(NodeId(3), NodeId(3)).to_bits(), 1.0_f32.to_bits());
    assert!(index.bytes() >= 12 * 8 * 8 + 12 * 16);
}

#[test]
fn nodes_that_only_cooccur_with_each_other_have_similarity_0() {
    for edges in [&[(0, 1, false), (1, 0, false)][..], &[(0, 1, false)], &[(0, 0, false), (0, 1, false)]] {
        let graph = graph(0..2, edges);
        let index = CoOccurrenceIndex::build(&graph, 7).unwrap();
        let [a, b] = [0, 1].map(|n| node(&graph, n));
        // Every node they co-occur with: twice as often as by chance.
        near(said(&index, a, b), LN_2);
        near(said(&index, b, a), LN_2);
        let similarities = [index.similarity(a, b), index.similarity(b, b)];
        assert_eq!(similarities.map(f32::to_bits), [0, 1.0_f32.to_bits()]);
    }
}

#[test]
fn nodes_without_excitatory_edges_cooccur_with_none() {
    let none = CoOccurrenceIndex::build(&graph(0..0, &[]), 1).unwrap();
    assert_eq!(none.context(&[]), ContextVector::default());
    let graph = graph(0..4, &[(0, 1, true), (1, 2, true), (3, 3, false)]);
    let index = CoOccurrenceIndex::build(&graph, 1).unwrap();
    assert!(index.ids.is_empty() && index.ppmi.is_empty());
    let context = index.context(&[(NodeId(0), 1.0), (NodeId(1), 0.5)]);
    for node in graph.nodes() {
        let of_nobody = [index.similarity(node, node), index.similarity_to(&context, node)];
        assert_eq!(of_nobody.map(f32::to_bits), [0, 0]);
    }
}

#[test]
fn learned_weights_do_not_change_walks() {
    let graph = graph(0..9, &EDGES);
    let before = CoOccurrenceIndex::build(&graph, 42).unwrap();
    let source = node(&graph, 0);
    for slot in graph.slots(source) {
        graph.write_weight(source, slot, 3.0).unwrap();
    }
    assert_eq!(CoOccurrenceIndex::build(&graph, 42).unwrap(), before);
}

#[test]
fn a_graph_above_the_limit_has_no_index() {
    for (nodes, indexed) in [(50_000, true), (50_001, false)] {
        assert_eq!(CoOccurrenceIndex::build(&graph(0..nodes, &[]), 42).is_some(), indexed);
    }
}
