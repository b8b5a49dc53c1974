//! Observations against counts, budgets at their limits, and expectations against all paths.

use super::*;
use crate::graph::builder::{EdgeRow, GraphBuilder, WeightRange};
use crate::graph::columns::NodeRow;
use crate::graph::kinds::{EdgeDirection, Kinds, NodeType, Properties};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn name(node: u32) -> String {
    format!("n{node:04}")
}

fn edge(source: u32, target: u32, weight: f32) -> EdgeRow {
    let relation = "LEADS_TO".to_owned();
    EdgeRow { source: name(source), target: name(target), relation, weight, ..EdgeRow::default() }
}

fn build(nodes: u32, edges: &[EdgeRow], range: WeightRange) -> Graph {
    let mut builder = GraphBuilder::new(Kinds::default(), range);
    for node in 0..nodes {
        builder.add_node(NodeRow::new(name(node), "", NodeType::MEMORY)).unwrap();
    }
    for edge in edges {
        builder.add_edge(edge).unwrap();
    }
    builder.finalize().unwrap()
}

fn graph(nodes: u32, edges: &[EdgeRow]) -> Graph {
    build(nodes, edges, WeightRange::default())
}

fn node(graph: &Graph, node: u32) -> NodeId {
    graph.find(&name(node)).unwrap()
}

/// A row as names and tenths.
fn seen(graph: &Graph, matrix: &CoChangeMatrix, of: u32) -> Vec<(String, u32)> {
    let tenths =
        |value: f32| (1..=10_u8).find(|times| (f32::from(*times) / 10.0).to_bits() == value.to_bits());
    let pair = |(with, value)| (graph.external_id(with).to_owned(), tenths(value).unwrap().into());
    matrix.observed(node(graph, of)).map(pair).collect()
}

fn bits(row: &[(NodeId, f32)]) -> Vec<(NodeId, u32)> {
    row.iter().map(|(node, value)| (*node, value.to_bits())).collect()
}

#[track_caller]
fn check(graph: &Graph, got: &[(NodeId, f32)], want: &[(u32, f32)]) {
    let got: Vec<(&str, f32)> = got.iter().map(|(node, value)| (graph.external_id(*node), *value)).collect();
    assert_eq!(got.len(), want.len(), "{got:?}");
    for ((id, value), (node, want)) in got.iter().zip(want) {
        assert!(*id == name(*node) && (value - want).abs() < 1e-6, "{got:?}");
    }
}

proptest! {
    #[test]
    fn observations_have_no_order(sets in vec(vec(0..12_u32, 0..6), 0..20), at in 0..20_usize) {
        let graph = graph(12, &[]);
        let sets: Vec<Vec<NodeId>> =
            sets.iter().map(|set| set.iter().map(|of| node(&graph, *of)).collect()).collect();
        let mut want: BTreeMap<(NodeId, NodeId), u32> = BTreeMap::new();
        for set in &sets {
            let set: BTreeSet<NodeId> = set.iter().copied().collect();
            for a in &set {
                for b in set.iter().filter(|b| *b != a) {
                    *want.entry((*a, *b)).or_default() += 1;
                }
            }
        }
        let mut turned = sets.clone();
        turned.reverse();
        turned.rotate_left(at.min(sets.len()));
        let [one, other] = [&sets, &turned].map(|sets| {
            let mut matrix = CoChangeMatrix::default();
            sets.iter().for_each(|set| matrix.observe(&graph, set));
            matrix
        });
        prop_assert_eq!(&one, &other);
        // All at once is the same as one by one.
        let mut whole = CoChangeMatrix::default();
        let halves = want.iter().filter(|((a, b), _)| a < b);
        whole.observe_pairs(&graph, halves.map(|((a, b), times)| (*b, *a, *times)));
        prop_assert_eq!(&one, &whole);
        let got: Vec<_> =
            graph.nodes().flat_map(|of| one.observed(of).map(move |(with, value)| ((of, with), value))).collect();
        prop_assert_eq!(got.len(), want.len());
        for ((pair, value), (wanted, times)) in got.into_iter().zip(want) {
            prop_assert_eq!(pair, wanted);
            prop_assert!((f64::from(value) - f64::from(times.min(10)) / 10.0).abs() < 1e-6);
        }
    }

    #[test]
    fn a_row_keeps_the_most_frequent_pairs(pairs in vec((1..160_u32, 1..4_u32), 0..400)) {
        let graph = graph(160, &[]);
        let named = |(with, times): &(u32, u32)| (node(&graph, 0), node(&graph, *with), *times);
        let [mut one, mut other] = [CoChangeMatrix::default(), CoChangeMatrix::default()];
        one.observe_pairs(&graph, pairs.iter().map(named));
        other.observe_pairs(&graph, pairs.iter().rev().map(named));
        prop_assert_eq!(&one, &other);
        let mut sums: BTreeMap<u32, u32> = BTreeMap::new();
        for (with, times) in &pairs {
            *sums.entry(*with).or_default() += times;
        }
        let mut want: Vec<(String, u32)> =
            sums.into_iter().map(|(with, times)| (name(with), times.min(10))).collect();
        want.sort_by_key(|(_, times)| Reverse(*times));
        want.truncate(ROW_MAX);
        want.sort();
        prop_assert_eq!(seen(&graph, &one, 0), want);
        prop_assert!(!one.is_full());
    }
}

#[test]
fn a_pair_counts_a_tenth_each_time_up_to_1() {
    let graph = graph(3, &[]);
    let mut matrix = CoChangeMatrix::default();
    let [a, b] = [node(&graph, 0), node(&graph, 1)];
    for times in 1..=12_u32 {
        matrix.observe(&graph, &[b, a, b]);
        assert_eq!(seen(&graph, &matrix, 0), [(name(1), times.min(10))]);
        assert_eq!(seen(&graph, &matrix, 1), [(name(0), times.min(10))]);
    }
    let before = matrix.clone();
    matrix.observe(&graph, &[a]);
    matrix.observe(&graph, &[a, a]);
    matrix.observe(&graph, &[]);
    matrix.observe_pairs(&graph, [(a, node(&graph, 2), 0)]);
    assert_eq!(matrix, before);
    matrix.observe_pairs(&graph, [(a, node(&graph, 2), u32::MAX)]);
    assert_eq!(seen(&graph, &matrix, 2), [(name(0), 10)]);
}

#[test]
fn cochange_budget() {
    let graph = graph(103, &[]);
    let once = |count: u32| -> Vec<(NodeId, NodeId, u32)> {
        (1..=count).map(|with| (node(&graph, 0), node(&graph, with), 1)).collect()
    };
    for (count, held) in [(99, 99), (100, 100), (101, 100), (102, 100)] {
        let mut matrix = CoChangeMatrix::default();
        matrix.observe_pairs(&graph, once(count));
        let want: Vec<(String, u32)> = (1..=held).map(|with| (name(with), 1)).collect();
        assert_eq!(seen(&graph, &matrix, 0), want, "of equal ones the largest id is removed");
        // Only the full row loses it.
        assert_eq!(seen(&graph, &matrix, count), [(name(0), 1)]);
        assert!(!matrix.is_full());
    }
    // A more frequent pair replaces the last of the weakest.
    let mut matrix = CoChangeMatrix::default();
    matrix.observe_pairs(&graph, once(100));
    matrix.observe_pairs(&graph, [(node(&graph, 102), node(&graph, 0), 2)]);
    let want: Vec<(String, u32)> = (1..=99).map(|with| (name(with), 1)).chain([(name(102), 2)]).collect();
    assert_eq!(seen(&graph, &matrix, 0), want);
}

#[test]
fn cochange_budget_of_all() {
    let ring = 5_000;
    let graph = graph(ring + 2, &[]);
    let (x, y) = (node(&graph, ring), node(&graph, ring + 1));
    assert_eq!([x, y], [NodeId(ring), NodeId(ring + 1)], "without slots ids go by names");
    // Each node with the fifty before and the fifty after it.
    let mut pairs = Vec::new();
    for of in 0..ring {
        let begin = pairs.len();
        let others = (1..=50).flat_map(|step| [(of + step) % ring, (of + ring - step) % ring]);
        pairs.extend(others.map(|with| Pair { of: NodeId(of), with: NodeId(with), times: 1 }));
        pairs[begin..].sort_unstable_by_key(|pair| pair.with);
    }
    let full = CoChangeMatrix { pairs, refused: 0 };
    assert_eq!(full.pairs.len(), PAIRS_MAX);
    let told = |matrix: &CoChangeMatrix| (matrix.pairs.len(), matrix.refused(), matrix.is_full());

    // Without one pair, and with three that full rows refuse: one direction each.
    let mut matrix = full.clone();
    matrix.pairs.retain(|pair| pair.of.0.max(pair.with.0) != 1 || pair.of.0.min(pair.with.0) != 0);
    assert_eq!(told(&matrix), (499_998, 0, false));
    let steps = [(x, 2, (499_999, 0, false)), (y, 3, (500_000, 0, false)), (y, 4, (500_000, 1, true))];
    for (of, with, want) in steps {
        matrix.observe_pairs(&graph, [(of, NodeId(with), 1)]);
        assert_eq!(told(&matrix), want);
    }
    assert_eq!(seen(&graph, &matrix, ring + 1), [(name(3), 1)], "of equal ones the last is refused");

    // A more frequent pair is accepted, and the last of the weakest is refused.
    let mut matrix = full;
    matrix.observe_pairs(&graph, [(x, NodeId(0), 3)]);
    assert_eq!(told(&matrix), (500_000, 1, true));
    assert_eq!(seen(&graph, &matrix, ring), [(name(0), 3)]);
    assert!(seen(&graph, &matrix, 0).contains(&(name(ring), 3)));
    let last = seen(&graph, &matrix, ring - 1);
    assert!(last.len() == 99 && last.iter().all(|(with, _)| *with != name(ring - 2)));
}

#[test]
fn cochange_observe_after_bootstrap() {
    let ring: Vec<EdgeRow> = (0..300).map(|of| edge(of, (of + 1) % 300, 1.0)).collect();
    let graph = graph(300, &ring);
    let mut matrix = CoChangeMatrix::default();
    let seeds: Vec<(NodeId, f32)> = graph.nodes().map(|seed| (seed, 1.0)).collect();
    assert_eq!(co_changed(&graph, &matrix, &seeds).len(), 300);
    assert_eq!(matrix, CoChangeMatrix::default(), "the budget is not used");
    let seed = [(node(&graph, 0), 0.5)];
    check(&graph, &co_changed(&graph, &matrix, &seed), &[(1, 0.15), (2, 0.045), (3, 0.0135)]);
    // An observed value counts where it exceeds the expected one.
    let [a, b, far] = [0, 1, 150].map(|of| node(&graph, of));
    matrix.observe(&graph, &[a, b, far]);
    let want = [(1, 0.15), (2, 0.045), (3, 0.0135), (150, 0.05)];
    check(&graph, &co_changed(&graph, &matrix, &seed), &want);
    matrix.observe_pairs(&graph, [(a, b, 4), (far, a, 20)]);
    let want = [(1, 0.25), (2, 0.045), (3, 0.0135), (150, 0.5)];
    check(&graph, &co_changed(&graph, &matrix, &seed), &want);
}

#[test]
fn seeds_count_by_their_scores() {
    let edges = [edge(0, 2, 1.0), edge(1, 2, 1.0), edge(1, 0, 1.0), edge(2, 2, 3.0)];
    let graph = graph(4, &edges);
    let found = |seeds: &[(u32, f32)]| {
        let seeds: Vec<(NodeId, f32)> = seeds.iter().map(|(of, score)| (node(&graph, *of), *score)).collect();
        let mut found = co_changed(&graph, &CoChangeMatrix::default(), &seeds);
        assert!(found.is_sorted_by(|a, b| a.0 < b.0));
        found.sort_by_key(|(node, _)| graph.rank(*node));
        found
    };
    // The greatest over all seeds; a seed can change with another, but not with itself.
    check(&graph, &found(&[(0, 1.0), (1, 0.5)]), &[(0, 0.15), (2, 0.3)]);
    check(&graph, &found(&[(0, 0.2), (1, 0.5), (0, 0.1)]), &[(0, 0.15), (2, 0.15)]);
    check(&graph, &found(&[(2, 1.0), (3, 1.0)]), &[]);
    check(&graph, &found(&[]), &[]);
    for nothing in [f32::NAN, f32::NEG_INFINITY, -1.0, 0.0, -0.0] {
        check(&graph, &found(&[(0, nothing)]), &[]);
    }
    check(&graph, &found(&[(0, f32::INFINITY)]), &[(2, 0.3)]);
}

/// The greatest products over at most three slots, over all paths.
fn all_ways(graph: &Graph, seed: NodeId) -> Vec<(NodeId, f32)> {
    let mut best: BTreeMap<NodeId, f32> = BTreeMap::new();
    let mut level = BTreeMap::from([(seed, 1.0_f32)]);
    for _ in 0..3 {
        let mut next: BTreeMap<NodeId, f32> = BTreeMap::new();
        for (of, value) in &level {
            for slot in graph.slots(*of).filter(|slot| !graph.kind(*slot).inhibitory) {
                let product = value * (graph.weight(slot) * 0.3);
                for held in [&mut next, &mut best] {
                    let held = held.entry(graph.target(slot)).or_default();
                    *held = f32::max(*held, product);
                }
            }
        }
        level = next;
    }
    best.remove(&seed);
    let mut row: Vec<(NodeId, f32)> = best.into_iter().filter(|(_, value)| *value > 0.001).collect();
    row.sort_by_key(|(node, value)| (Reverse(value.to_bits()), graph.rank(*node)));
    row.truncate(100);
    row
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn expected_as_defined(
        edges in vec((0..150_u32, 0..150_u32, 1..60_u8, 0..10_u8), 0..900),
        learned in vec((any::<u16>(), 0.05_f32..3.0), 0..6),
        seeds in vec(0..150_u32, 1..6),
    ) {
        let row = |(source, target, weight, roll): &(u32, u32, u8, u8)| {
            let inhibitory = *roll == 0;
            let relation = if inhibitory { "INHIBITS" } else { "LEADS_TO" }.to_owned();
            EdgeRow { relation, inhibitory, ..edge(*source, *target, f32::from(*weight / 4) / 5.0) }
        };
        let graph = graph(150, &edges.iter().map(row).collect::<Vec<_>>());
        for (slot, weight) in learned {
            let all: Vec<_> = graph.nodes().flat_map(|of| graph.slots(of).map(move |slot| (of, slot))).collect();
            if let Some((of, slot)) = all.get(usize::from(slot) % all.len().max(1)) {
                graph.write_weight(*of, *slot, weight).unwrap();
            }
        }
        for seed in seeds {
            let seed = node(&graph, seed);
            prop_assert_eq!(bits(&expected(&graph, seed)), bits(&all_ways(&graph, seed)));
        }
    }
}

#[test]
fn expectation_ends_after_three_hops_and_below_a_thousandth() {
    let chain: Vec<EdgeRow> = (0..4).map(|of| edge(of, of + 1, 3.0)).collect();
    let graph = graph(5, &chain);
    check(&graph, &expected(&graph, node(&graph, 0)), &[(1, 0.9), (2, 0.81), (3, 0.729)]);
    let weak = [edge(0, 1, 0.5), edge(1, 2, 0.5), edge(2, 3, 0.14), edge(2, 4, 0.15)];
    let weak = self::graph(5, &weak);
    check(&weak, &expected(&weak, node(&weak, 0)), &[(1, 0.15), (2, 0.0225), (4, 0.001_012_5)]);
    // Every hop reduces the value, even if weights may be above 3.
    let heavy = build(3, &[edge(0, 1, 16.0), edge(1, 2, 16.0)], WeightRange { floor: 0.05, cap: 16.0 });
    check(&heavy, &expected(&heavy, node(&heavy, 0)), &[(1, 0.95), (2, 0.9025)]);
}

#[test]
fn a_hub_is_read_in_part() {
    // A hub of 4,300 equal leaves, except that the first hundred have no other neighbour: they are last in its row.
    let leaves = 4_300;
    let mut edges: Vec<EdgeRow> = (0..leaves).map(|leaf| edge(leaves, leaf, 0.5)).collect();
    edges.extend((100..leaves).step_by(2).map(|leaf| edge(leaf, leaf + 1, 0.5)));
    let graph = graph(leaves + 1, &edges);
    let row = expected(&graph, node(&graph, leaves));
    let want: Vec<(u32, f32)> = (100..200).map(|leaf| (leaf, 0.15)).collect();
    check(&graph, &row, &want);
}

#[test]
fn sessions_are_read_from_slots() {
    let rule = Kinds::default();
    let weight = |times: f64| {
        let of = Properties { weight: Some(times), ..Properties::default() };
        rule.of(OBSERVED).of("r", &of).unwrap()
    };
    let slot = |target: u32, weight: f32, direction| EdgeRow {
        relation: OBSERVED.to_owned(),
        direction,
        ..edge(0, target, weight)
    };
    let both = EdgeDirection::Bidirectional;
    let mut edges: Vec<EdgeRow> = (1..=12_u8).map(|n| slot(n.into(), weight(n.into()), both)).collect();
    edges.extend([slot(13, weight(400.0), both), slot(14, 2.0, both), slot(15, weight(0.0), both)]);
    // One direction only, different halves, a self-loop, and another relation.
    edges.push(slot(16, weight(4.0), EdgeDirection::Forward));
    edges.push(slot(17, weight(2.0), EdgeDirection::Forward));
    edges.push(EdgeRow { source: name(17), target: name(0), ..slot(0, weight(5.0), EdgeDirection::Forward) });
    edges.push(slot(0, weight(3.0), both));
    edges.push(edge(0, 18, 0.5));
    let graph = graph(19, &edges);
    let matrix = CoChangeMatrix::of_slots(&graph);
    let mut want: Vec<(String, u32)> = (1..=12_u32).map(|n| (name(n), n.min(10))).collect();
    want.extend([(name(13), 10), (name(14), 10), (name(16), 4), (name(17), 5)]);
    let mut got = seen(&graph, &matrix, 0);
    got.sort();
    assert_eq!(got, want);
    for (with, times) in want {
        let with = with.trim_start_matches('n').parse().unwrap();
        assert_eq!(seen(&graph, &matrix, with), [(name(0), times)]);
    }
    assert!(!matrix.is_full() && matrix.bytes() > 0);
    assert_eq!(CoChangeMatrix::of_slots(&self::graph(0, &[])), CoChangeMatrix::default());
}

#[test]
fn seeds_that_the_graph_does_not_have_are_ignored() {
    let graph = graph(2, &[edge(0, 1, 1.0)]);
    let known = [(node(&graph, 0), 1.0)];
    let seeds = [known[0], (NodeId(2), 1.0), (NodeId(u32::MAX), 1.0)];
    let of = |seeds| bits(&co_changed(&graph, &CoChangeMatrix::default(), seeds));
    assert_eq!(of(&seeds), of(&known));
    assert_eq!(of(&known).len(), 1);
}

/// The bit of the row says that it has learned nothing when it is looked up, and a weight is lowered before it is read.
#[test]
fn a_slot_lowered_meanwhile_hides_no_other() {
    let graph = graph(3, &[edge(0, 1, 1.0), edge(0, 2, 0.5)]);
    let part = graph.excitatory(node(&graph, 0));
    graph.write_weight(node(&graph, 0), part.first, 0.05).unwrap();
    let mut next = Vec::new();
    assert_eq!(follow(&part, 1.0, 0.1, SLOTS_MAX, &mut next), 2);
    check(&graph, &next, &[(2, 0.15)]);
}
