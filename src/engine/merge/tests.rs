//! Every set of active dimensions against the definition, and the worked examples.

use super::*;
use crate::graph::builder::GraphBuilder;
use crate::graph::columns::NodeRow;
use crate::graph::kinds::{Dimension, NodeType};
use proptest::collection::vec;
use proptest::prelude::*;

/// Nodes whose ids are their positions.
fn graph(count: u32) -> Graph {
    let mut builder = GraphBuilder::default();
    for n in 0..count {
        builder.add_node(NodeRow::new(format!("n{n:02}"), "", NodeType::MEMORY)).unwrap();
    }
    builder.finalize().unwrap()
}

type Lists = [Vec<(NodeId, f32)>; 4];

/// Lists of scores by dimension; `None` where a dimension does not list the node.
fn lists(rows: &[[Option<f32>; 4]]) -> Lists {
    let list = |dimension: usize| -> Vec<(NodeId, f32)> {
        let values = (0..).map(NodeId).zip(rows).map(|(node, row)| (node, row[dimension]));
        values.filter_map(|(node, value)| value.map(|value| (node, value))).collect()
    };
    std::array::from_fn(list)
}

fn merged(graph: &Graph, weights: DimensionWeights, lists: &Lists) -> Vec<MergedScore> {
    let active = lists.each_ref().map(|list| !list.is_empty());
    sort_by_score(graph, merge(weights, active, lists.each_ref().map(Vec::as_slice)))
}

fn of(merged: &[MergedScore], node: u32) -> Option<&MergedScore> {
    merged.iter().find(|merged| merged.node == NodeId(node))
}

#[track_caller]
fn check(merged: &[MergedScore], node: u32, score: f32, bonus: f32) {
    let got = of(merged, node);
    let near = |got: &MergedScore| (got.score - score).abs() < 1e-6 && got.bonus.to_bits() == bonus.to_bits();
    assert!(got.is_some_and(near), "{got:?} is not {score} with {bonus}");
}

#[test]
fn example_4_4a() {
    let lists = lists(&[[0.8, 0.6, 0.4, 0.2].map(Some)]);
    check(&merged(&graph(1), DimensionWeights::default(), &lists), 0, 0.81, 1.5);
}

#[test]
fn example_4_4b() {
    let lists = lists(&[[Some(0.8), Some(0.6), Some(0.4), None]]);
    check(&merged(&graph(1), DimensionWeights::default(), &lists), 0, 0.849_333, 1.3);
    let shares = DimensionWeights::default().shares([true, true, true, false]);
    for (share, want) in shares.iter().zip([0.466_667, 0.333_333, 0.2, 0.0]) {
        assert!((share - want).abs() < 1e-6, "{shares:?}");
    }
}

#[test]
fn example_4_4c() {
    let graph = graph(2);
    let all = lists(&[[0.9, 0.005, 0.3, 0.02].map(Some), [Some(0.9), None, None, None]]);
    let both = merged(&graph, DimensionWeights::default(), &all);
    check(&both, 0, 0.476_125, 1.3);
    check(&both, 1, 0.315, 1.0);
    let alone = lists(&[[Some(0.9), None, None, None]]);
    check(&merged(&graph, DimensionWeights::default(), &alone), 0, 0.9, 1.0);
}

#[test]
fn merge_16_subsets() {
    let (graph, values) = (graph(1), [0.8_f32, 0.6, 0.4, 0.2]);
    for mask in 0..16_u8 {
        let active = [0, 1, 2, 3].map(|dimension| mask >> dimension & 1 == 1);
        let shares = DimensionWeights::default().shares(active);
        let weighs: [f64; 4] =
            std::array::from_fn(|at| if active[at] { f64::from(DIMENSION_WEIGHTS[at]) } else { 0.0 });
        let said: [f32; 4] = std::array::from_fn(|at| if active[at] { values[at] } else { 0.0 });
        let row: [Option<f32>; 4] = std::array::from_fn(|at| active[at].then_some(values[at]));
        let merged = merged(&graph, DimensionWeights::default(), &lists(&[row]));
        if mask == 0 {
            assert!(merged.is_empty() && shares.iter().all(|share| share.to_bits() == 0));
            continue;
        }
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{active:?}");
        let (all, mut sum) = (weighs.iter().sum::<f64>(), 0.0);
        for ((share, weighs), value) in shares.iter().zip(weighs).zip(said) {
            assert!((share - weighs / all).abs() < 1e-12, "{active:?}");
            sum += weighs / all * f64::from(value);
        }
        let bonus: f32 = [1.0, 1.0, 1.0, 1.3, 1.5][active.iter().filter(|active| **active).count()];
        assert_eq!(merged.len(), 1);
        assert!((f64::from(merged[0].score) - sum * f64::from(bonus)).abs() < 1e-6, "{active:?}");
        assert_eq!(merged[0].bonus.to_bits(), bonus.to_bits());
        assert_eq!(merged[0].dimensions.map(f32::to_bits), said.map(f32::to_bits), "{active:?}");
    }
}

#[test]
fn merge_weights() {
    assert_eq!(Dimension::ALL.len(), DIMENSION_WEIGHTS.len());
    let sum: f64 = DIMENSION_WEIGHTS.iter().map(|weight| f64::from(*weight)).sum();
    assert!((sum - 1.0).abs() < 1e-6);
    // Only their ratios count.
    let (graph, lists) = (graph(1), lists(&[[0.8, 0.6, 0.4, 0.2].map(Some)]));
    let double = DimensionWeights::new(DIMENSION_WEIGHTS.map(|weight| 2.0 * weight)).unwrap();
    check(&merged(&graph, double, &lists), 0, 0.81, 1.5);
    check(&merged(&graph, DimensionWeights::new([0.0, 0.0, 0.0, 9.0]).unwrap(), &lists), 0, 0.3, 1.5);
    check(&merged(&graph, DimensionWeights::new([f32::MAX; 4]).unwrap(), &lists), 0, 0.75, 1.5);
    // A dimension without weight has no effect.
    let structural = self::lists(&[[Some(0.8), None, None, None]]);
    assert!(merged(&graph, DimensionWeights::new([0.0, 0.0, 0.0, 9.0]).unwrap(), &structural).is_empty());
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0] {
        for at in 0..4 {
            let mut weights = DIMENSION_WEIGHTS;
            weights[at] = bad;
            assert!(DimensionWeights::new(weights).is_err());
        }
    }
    assert!(DimensionWeights::new([0.0, -0.0, 0.0, 0.0]).is_err());
    assert!(DimensionWeights::new([0.0, -0.0, 0.0, f32::from_bits(1)]).is_ok());
}

#[test]
fn four_dimensions_before_three_then_the_smaller_id() {
    let graph = graph(4);
    // The same sum of three dimensions and of four, and two nodes with the same scores.
    let rows = [
        [Some(0.6), Some(0.6), Some(0.6), None],
        [0.45; 4].map(Some),
        [Some(0.6), Some(0.6), Some(0.6), None],
        [Some(0.6), None, Some(0.6), None],
    ];
    let mut lists = lists(&rows);
    lists.iter_mut().for_each(|list| list.reverse());
    let merged = merged(&graph, DimensionWeights::default(), &lists);
    assert_eq!(merged.iter().map(|merged| merged.node.0).collect::<Vec<_>>(), [1, 0, 2, 3]);
    check(&merged, 1, 0.675, 1.5);
    check(&merged, 0, 0.585, 1.3);
    check(&merged, 3, 0.3, 1.0);
}

#[test]
fn a_dimension_at_a_hundredth_earns_no_bonus() {
    let least = CONTRIBUTION_MIN.next_up();
    let rows = [[CONTRIBUTION_MIN, 0.5, 0.5, 0.5].map(Some), [least, 0.5, 0.5, 0.5].map(Some)];
    let merged = merged(&graph(2), DimensionWeights::default(), &lists(&rows));
    assert_eq!(of(&merged, 0).unwrap().bonus.to_bits(), RESONANCE_BONUS_3.to_bits());
    assert_eq!(of(&merged, 1).unwrap().bonus.to_bits(), RESONANCE_BONUS_4.to_bits());
}

#[test]
fn numbers_at_the_edge() {
    let graph = graph(3);
    for nothing in [f32::NAN, f32::NEG_INFINITY, -1.0, 0.0, -0.0] {
        // A list that is not empty is active, whatever its scores.
        let all = lists(&[[Some(nothing), None, None, None], [None, Some(0.8), None, None]]);
        let merged = merged(&graph, DimensionWeights::default(), &all);
        assert_eq!(merged.len(), 1);
        check(&merged, 1, 0.8 * 0.25 / 0.6, 1.0);
        assert!(merged[0].dimensions.iter().all(|value| value.is_sign_positive()));
    }
    let most = merged(&graph, DimensionWeights::default(), &lists(&[[f32::INFINITY; 4].map(Some)]));
    check(&most, 0, 1.5, 1.5);
    assert!(most[0].score <= 1.5);
    // Of duplicates of a node the greater counts.
    let mut twice = lists(&[[Some(0.4), None, None, None]]);
    twice[0].extend([(NodeId(0), 0.7), (NodeId(0), 0.2)]);
    check(&merged(&graph, DimensionWeights::default(), &twice), 0, 0.7, 1.0);
    assert!(merged(&graph, DimensionWeights::default(), &lists(&[])).is_empty());
}

#[test]
fn greatest_is_of_each_node_and_above_0() {
    let n = NodeId;
    let scores = vec![(n(3), 0.2), (n(1), f32::NAN), (n(3), 0.5), (n(2), -0.0), (n(0), 1e-45), (n(2), -3.0)];
    assert_eq!(greatest(scores), [(n(0), 1e-45), (n(3), 0.5)]);
    assert!(greatest(Vec::new()).is_empty());
}

proptest! {
    #[test]
    fn merged_as_defined(rows in vec(vec(proptest::option::of(0.0_f32..=1.0), 4), 0..10)) {
        let rows: Vec<[Option<f32>; 4]> = rows.into_iter().map(|row| row.try_into().unwrap()).collect();
        let (graph, lists) = (graph(10), lists(&rows));
        let merged = merged(&graph, DimensionWeights::default(), &lists);
        prop_assert!(merged.is_sorted_by_key(|merged| (Reverse(merged.score.to_bits()), merged.node)));
        let weights = DIMENSION_WEIGHTS.map(f64::from);
        let active: f64 = (0..4).filter(|d| !lists[*d].is_empty()).map(|d| weights[d]).sum();
        for (node, row) in (0..).zip(&rows) {
            let values = row.map(|value| f64::from(value.unwrap_or(0.0)));
            let sum: f64 = (0..4).map(|d| weights[d] / active * values[d]).sum();
            let bonus = match row.iter().flatten().filter(|value| **value > 0.01).count() {
                4 => 1.5,
                3 => 1.3,
                _ => 1.0,
            };
            match of(&merged, node) {
                Some(got) => prop_assert!((f64::from(got.score) - sum * bonus).abs() < 1e-6),
                None => prop_assert!(sum < 1e-30 || sum.is_nan()),
            }
        }
    }

    #[test]
    fn more_of_a_dimension_is_not_less(
        row in vec(0.0_f32..=1.0, 4),
        dimension in 0..4_usize,
        more in 0.0_f32..=1.0,
    ) {
        let row: [f32; 4] = row.try_into().unwrap();
        let mut raised = row;
        raised[dimension] = row[dimension].max(more);
        let graph = graph(1);
        let score = |row: [f32; 4]| {
            let merged = merged(&graph, DimensionWeights::default(), &lists(&[row.map(Some)]));
            of(&merged, 0).map_or(0.0, |merged| merged.score)
        };
        prop_assert!(score(raised) >= score(row));
    }
}
