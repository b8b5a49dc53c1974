//! Chains against all simple paths, and the worked example.

use super::*;
use crate::graph::builder::{EdgeRow, GraphBuilder};
use crate::graph::columns::NodeRow;
use crate::graph::kinds::{EdgeDirection, NodeType};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy)]
enum Is {
    OneWay,
    BothWays,
    Inhibitory,
}

fn name(node: u32) -> String {
    format!("n{node:05}")
}

fn graph(nodes: u32, edges: &[(u32, u32, f32, Is)]) -> Graph {
    let mut builder = GraphBuilder::default();
    for node in 0..nodes {
        builder.add_node(NodeRow::new(name(node), "", NodeType::Concept)).unwrap();
    }
    for (source, target, causal, is) in edges {
        let direction = match is {
            Is::BothWays => EdgeDirection::Bidirectional,
            Is::OneWay | Is::Inhibitory => EdgeDirection::Forward,
        };
        let edge = EdgeRow {
            source: name(*source),
            target: name(*target),
            relation: format!("{is:?}"),
            weight: 0.5,
            direction,
            inhibitory: matches!(is, Is::Inhibitory),
            causal: Some([*causal; 2]),
        };
        builder.add_edge(&edge).unwrap();
    }
    builder.finalize().unwrap()
}

/// A graph of directed edges.
fn leads(nodes: u32, edges: &[(u32, u32, f32)]) -> Graph {
    let edges: Vec<_> = edges.iter().map(|(a, b, causal)| (*a, *b, *causal, Is::OneWay)).collect();
    graph(nodes, &edges)
}

fn named(graph: &Graph, seeds: &[(u32, f32)]) -> Vec<(NodeId, f32)> {
    seeds.iter().map(|(node, score)| (graph.find(&name(*node)).unwrap(), *score)).collect()
}

fn detect(graph: &Graph, seeds: &[(u32, f32)], depth: u8) -> CausalResult {
    causal_chains(graph, &named(graph, seeds), CausalConfig::new(depth).unwrap())
}

#[track_caller]
fn check(graph: &Graph, found: &CausalResult, want: &[(u32, f32)]) {
    assert_eq!(found.scores.len(), want.len(), "{:?}", found.scores);
    for (node, want) in named(graph, want) {
        let got = found.scores.iter().find(|(of, _)| *of == node);
        let id = graph.external_id(node);
        assert!(got.is_some_and(|(_, got)| (got - want).abs() < 1e-6), "{id} is {got:?}, not {want}");
    }
}

/// The only chain to a node.
#[track_caller]
fn only(graph: &Graph, found: &CausalResult, node: u32) -> CausalChain {
    let mut chains = found.chains(graph, graph.find(&name(node)).unwrap());
    assert_eq!(chains.len(), 1);
    chains.remove(0)
}

fn ids(graph: &Graph, chain: &CausalChain) -> Vec<String> {
    chain.nodes.iter().map(|node| graph.external_id(*node).to_owned()).collect()
}

/// The strongest of all simple paths that extend a path, by their ends.
fn walk(
    graph: &Graph,
    direction: Direction,
    hops: usize,
    path: &mut Vec<NodeId>,
    value: f32,
    best: &mut BTreeMap<NodeId, u32>,
) {
    let here = path[path.len() - 1];
    let steps: Vec<(NodeId, EdgeIdx)> = match direction {
        Direction::Forward => graph.slots(here).map(|slot| (graph.target(slot), slot)).collect(),
        Direction::Backward => graph.incoming(here).collect(),
    };
    for (next, slot) in steps.into_iter().filter(|(_, slot)| !graph.kind(*slot).inhibitory) {
        let arrives = value * (graph.causal(slot) * 0.7);
        if path.len() <= hops && arrives > 0.01 && !path.contains(&next) {
            let held = best.entry(next).or_default();
            *held = arrives.to_bits().max(*held);
            path.push(next);
            walk(graph, direction, hops, path, arrives, best);
            path.pop();
        }
    }
}

/// Whether a chain is valid, begins at a seed, and replays to its strength.
fn is_sound(graph: &Graph, chain: &CausalChain, seeds: &[(NodeId, f32)]) -> bool {
    let begins = seeds.iter().filter(|(of, _)| *of == chain.nodes[0]);
    let mut strength = begins.map(|(_, score)| *score).fold(0.0, f32::max);
    for (pair, slot) in chain.nodes.windows(2).zip(&chain.slots) {
        let (source, target) = match chain.direction {
            Direction::Forward => (pair[0], pair[1]),
            Direction::Backward => (pair[1], pair[0]),
        };
        if graph.target(*slot) != target || !graph.slots(source).any(|of| of == *slot) {
            return false;
        }
        strength *= graph.causal(*slot) * 0.7;
    }
    chain.nodes.len() == chain.slots.len() + 1 && strength.to_bits() == chain.strength.to_bits()
}

fn edge() -> impl Strategy<Value = (u32, u32, f32, Is)> {
    let is = prop_oneof![4 => Just(Is::OneWay), 2 => Just(Is::BothWays), 1 => Just(Is::Inhibitory)];
    (0..12_u32, 0..12_u32, 0..=8_u8, is).prop_map(|(a, b, eighths, is)| (a, b, f32::from(eighths) / 8.0, is))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn causal_enumeration(
        edges in vec(edge(), 0..30),
        seeds in vec((0..12_u32, 1..=4_u8), 0..5),
        depth in 1..=8_u8,
    ) {
        let graph = graph(12, &edges);
        let seeds: Vec<(u32, f32)> =
            seeds.into_iter().map(|(node, quarters)| (node, f32::from(quarters) / 4.0)).collect();
        let found = detect(&graph, &seeds, depth);
        let seeds = named(&graph, &seeds);
        let ways = [Direction::Forward, Direction::Backward].map(|direction| {
            let mut best = BTreeMap::new();
            for (seed, score) in &seeds {
                walk(&graph, direction, usize::from(depth.min(6)), &mut vec![*seed], *score, &mut best);
            }
            best
        });
        let mut want = ways[0].clone();
        for (node, bits) in &ways[1] {
            let held = want.entry(*node).or_default();
            *held = (*bits).max(*held);
        }
        let got: BTreeMap<NodeId, u32> =
            found.scores.iter().map(|(node, score)| (*node, score.to_bits())).collect();
        prop_assert_eq!(&got, &want);
        prop_assert!(found.scores.is_sorted_by(|a, b| a.0 < b.0) && !found.truncated);
        for node in graph.nodes() {
            let chains = found.chains(&graph, node);
            let strengths: BTreeMap<Direction, u32> =
                chains.iter().map(|chain| (chain.direction, chain.strength.to_bits())).collect();
            let [forward, backward] = ways.each_ref().map(|best| best.get(&node).copied());
            prop_assert_eq!(strengths.get(&Direction::Forward).copied(), forward);
            prop_assert_eq!(strengths.get(&Direction::Backward).copied(), backward);
            prop_assert_eq!(strengths.len(), chains.len());
            prop_assert!(chains.is_sorted_by(|a, b| a.strength >= b.strength));
            for chain in &chains {
                prop_assert!(is_sound(&graph, chain, &seeds), "{chain:?}");
                prop_assert_eq!(chain.nodes.last(), Some(&node));
                prop_assert!((1..=usize::from(depth.min(6))).contains(&chain.slots.len()));
            }
        }
    }
}

#[test]
fn example_4_12() {
    let graph = leads(3, &[(0, 1, 0.8), (1, 2, 0.5)]);
    let forward = detect(&graph, &[(0, 0.9)], 20);
    check(&graph, &forward, &[(1, 0.504), (2, 0.1764)]);
    let backward = detect(&graph, &[(2, 0.9)], 20);
    check(&graph, &backward, &[(1, 0.315), (0, 0.1764)]);
    let chain = only(&graph, &forward, 2);
    assert_eq!((chain.direction, ids(&graph, &chain)), (Direction::Forward, vec![name(0), name(1), name(2)]));
    let chain = only(&graph, &backward, 0);
    assert_eq!(
        (chain.direction, ids(&graph, &chain)),
        (Direction::Backward, vec![name(2), name(1), name(0)])
    );
}

#[test]
fn six_hops_and_no_more() {
    let chain: Vec<(u32, u32, f32)> = (0..9).map(|n| (n, n + 1, 1.0)).collect();
    let graph = leads(10, &chain);
    let reached = |depth| detect(&graph, &[(0, 1.0)], depth).scores.len();
    assert_eq!([1, 5, 6, 7, 20].map(reached), [1, 5, 6, 6, 6]);
    // A weaker, shorter path continues where a stronger one has no hops left.
    let mut edges = chain;
    edges.push((0, 5, 0.2));
    let graph = leads(10, &edges);
    let found = detect(&graph, &[(0, 1.0)], 6);
    assert_eq!(found.scores.len(), 9);
    assert_eq!([5, 6, 7, 9].map(|node| only(&graph, &found, node).slots.len()), [5, 6, 3, 5]);
    assert!(CausalConfig::new(0).is_err() && CausalConfig::new(21).is_err());
}

#[test]
fn only_chains_above_a_hundredth_count() {
    // 0.7 * 0.7 * 0.02 is below, 0.7 * 0.7 * 0.03 above.
    let graph = leads(4, &[(0, 1, 1.0), (1, 2, 0.02), (1, 3, 0.03), (0, 0, 1.0)]);
    check(&graph, &detect(&graph, &[(0, 1.0)], 6), &[(1, 0.7), (3, 0.0147)]);
    // A value at the threshold is not above it: this times 0.7 is exactly 0.01.
    let border = f32::from_bits(0x3c6a_0ea1);
    assert_eq!((border * DISCOUNT).to_bits(), STRENGTH_MIN.to_bits());
    let graph = leads(3, &[(0, 1, border), (0, 2, border.next_up())]);
    check(&graph, &detect(&graph, &[(0, 1.0)], 6), &[(2, 0.01)]);
}

#[test]
fn a_seed_reached_by_another_counts() {
    let cycle = leads(3, &[(0, 1, 1.0), (1, 0, 1.0)]);
    check(&cycle, &detect(&cycle, &[(0, 1.0)], 6), &[(1, 0.7)]);
    check(&cycle, &detect(&cycle, &[(0, 1.0), (1, 0.5)], 6), &[(0, 0.35), (1, 0.7)]);
    // Two seeds joined in both directions through one node: each reaches the other.
    let middle = graph(3, &[(0, 2, 1.0, Is::BothWays), (1, 2, 1.0, Is::BothWays)]);
    let found = detect(&middle, &[(0, 1.0), (1, 0.8)], 6);
    check(&middle, &found, &[(0, 0.392), (1, 0.49), (2, 0.7)]);
    let chains = found.chains(&middle, middle.find(&name(0)).unwrap());
    assert_eq!(chains.len(), 2, "one of each direction");
    assert!(chains.iter().all(|chain| ids(&middle, chain) == [name(1), name(2), name(0)]));
}

#[test]
fn equal_chains_are_ordered_by_ids() {
    // Over 1 or over 2, with equal strength.
    let graph = leads(4, &[(0, 2, 0.5), (2, 3, 0.5), (0, 1, 0.5), (1, 3, 0.5)]);
    let found = detect(&graph, &[(0, 1.0)], 6);
    assert_eq!(ids(&graph, &only(&graph, &found, 3)), [name(0), name(1), name(3)]);
    // Stronger before weaker, in either direction.
    let loops = leads(2, &[(0, 1, 0.5), (1, 0, 0.9)]);
    let found = detect(&loops, &[(0, 1.0)], 6);
    check(&loops, &found, &[(1, 0.63)]);
    let chains = found.chains(&loops, loops.find(&name(1)).unwrap());
    assert_eq!(
        chains.iter().map(|chain| chain.direction).collect::<Vec<_>>(),
        [Direction::Backward, Direction::Forward]
    );
}

#[test]
fn causal_truncated() {
    // A hub with as many leaves as are settled besides it, and one more node.
    let leaves = 9_999;
    let edges: Vec<(u32, u32, f32)> = (1..=leaves).map(|leaf| (0, leaf, 1.0)).collect();
    let graph = leads(leaves + 2, &edges);
    let found = detect(&graph, &[(0, 1.0)], 6);
    assert_eq!((found.scores.len(), found.truncated), (9_999, false));
    let found = detect(&graph, &[(0, 1.0), (leaves + 1, 1.0)], 6);
    assert_eq!((found.scores.len(), found.truncated), (9_998, true));
    let last = graph.find(&name(leaves)).unwrap();
    assert!(found.scores.iter().all(|(node, _)| *node != last), "of equal ones the last is cut off");
    assert!(found.chains(&graph, last).is_empty());
    // The forward limit does not affect the backward search.
    let found = detect(&graph, &[(0, 1.0), (5, 1.0), (leaves + 1, 1.0)], 6);
    assert_eq!((only(&graph, &found, 0).direction, found.truncated), (Direction::Backward, true));
}

#[test]
fn no_chains_without_causes() {
    let empty = leads(0, &[]);
    check(&empty, &detect(&empty, &[], 6), &[]);
    let graph = graph(3, &[(0, 1, 1.0, Is::Inhibitory), (1, 2, 0.0, Is::BothWays)]);
    let found = detect(&graph, &[(0, 1.0), (1, 1.0), (2, 1.0)], 6);
    check(&graph, &found, &[]);
    assert!(graph.nodes().all(|node| found.chains(&graph, node).is_empty()) && !found.truncated);
    let pair = leads(2, &[(0, 1, 1.0)]);
    for nothing in [f32::NAN, f32::NEG_INFINITY, -1.0, 0.0, -0.0, f32::from_bits(1)] {
        check(&pair, &detect(&pair, &[(0, nothing)], 6), &[]);
    }
    check(&pair, &detect(&pair, &[(0, f32::INFINITY), (0, 0.1)], 6), &[(1, 0.7)]);
}

/// `a CAUSES b` and `b CAUSED_BY a` make the same chains.
#[test]
fn a_cause_is_found_whichever_end_names_it() {
    for (from, relation, to) in [("a", "CAUSES", "b"), ("b", "CAUSED_BY", "a")] {
        let mut builder = GraphBuilder::default();
        for id in ["a", "b", "c"] {
            builder.add_node(NodeRow::new(id, "", NodeType::Concept)).unwrap();
        }
        builder.relate(from, relation, to, 0.5).unwrap();
        builder.relate("a", "LIKES", "c", 0.5).unwrap();
        let graph = builder.finalize().unwrap();
        let reached = |seed: &str, direction| {
            let seeds = [(graph.find(seed).unwrap(), 1.0)];
            let found = chains_along(&graph, &seeds, &[direction], CausalConfig::default());
            let named =
                |(node, score): &(NodeId, f32)| (graph.external_id(*node).to_owned(), score.to_bits());
            found.scores.iter().map(named).collect::<Vec<_>>()
        };
        let strength = (0.5_f32 * 0.7).to_bits();
        assert_eq!(reached("a", Direction::Forward), [("b".to_owned(), strength)], "{relation}");
        assert_eq!(reached("b", Direction::Backward), [("a".to_owned(), strength)], "{relation}");
        assert_eq!(reached("b", Direction::Forward), [], "{relation}");
        assert_eq!(reached("a", Direction::Backward), [], "{relation}");
    }
}

#[test]
fn seeds_that_the_graph_does_not_have_are_ignored() {
    let graph = leads(2, &[(0, 1, 1.0)]);
    let mut seeds = named(&graph, &[(0, 1.0)]);
    let known = causal_chains(&graph, &seeds, CausalConfig::default()).scores;
    seeds.extend([(NodeId(2), 1.0), (NodeId(u32::MAX), 1.0)]);
    assert_eq!(causal_chains(&graph, &seeds, CausalConfig::default()).scores, known);
    assert_eq!(known.len(), 1);
}
