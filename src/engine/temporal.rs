//! Temporal scores: recent and frequent changes, and co-change with the seeds.
//!
//! | module | contents |
//! |---|---|
//! | [`decay`] | freshness by half-life |
//! | [`velocity`] | change frequency relative to other nodes |
//! | [`co_change`] | nodes that change together with the seeds |
//!
//! The score of a node is `max(r * (0.6 * freshness + 0.4 * velocity), co-change with the seeds)`, where `r` is the larger
//! of its structural and its semantic score. So time modulates relevance: a node that is only new has no score.

pub mod co_change;
pub mod decay;
pub mod velocity;

use super::merge::greatest;
use crate::graph::Graph;
use crate::graph::index::NodeId;
use decay::HalfLives;
use velocity::VelocityScorer;

/// Weight of freshness.
const RECENCY: f64 = 0.6;
/// Weight of velocity.
const VELOCITY: f64 = 0.4;

/// Parameters of [`temporal_scores`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TemporalConfig {
    /// Half-lives of freshness.
    pub half_lives: HalfLives,
    /// Velocity among the nodes of the graph.
    pub velocity: VelocityScorer,
    /// The instant, epoch milliseconds.
    pub now_ms: i64,
}

impl TemporalConfig {
    /// Temporal factor of the relevance of a node, `0 ..= 1`.
    #[must_use]
    pub fn factor(&self, graph: &Graph, node: NodeId) -> f64 {
        let fresh = self.half_lives.freshness(graph.node_type(node), graph.last_modified(node), self.now_ms);
        RECENCY * fresh + VELOCITY * self.velocity.score(graph.change_frequency(node))
    }
}

/// The temporal scores, in `(0, 1]`, by node: of those with a structural or a semantic score, given by `relevance` in
/// `0 ..= 1` and in any order, and of those that [change with the seeds](co_change::co_changed). Scores of 0 are left out.
#[must_use]
pub fn temporal_scores(
    graph: &Graph,
    config: &TemporalConfig,
    relevance: [&[(NodeId, f32)]; 2],
    co_changed: &[(NodeId, f32)],
) -> Vec<(NodeId, f32)> {
    #[expect(clippy::cast_possible_truncation, reason = "at most 1, rounded once")]
    let timed =
        |(node, r): (NodeId, f32)| (node, (f64::from(r.clamp(0.0, 1.0)) * config.factor(graph, node)) as f32);
    let mut scores: Vec<(NodeId, f32)> = greatest(relevance.concat()).into_iter().map(timed).collect();
    scores.extend(co_changed.iter().map(|(node, value)| (*node, value.clamp(0.0, 1.0))));
    greatest(scores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::builder::GraphBuilder;
    use crate::graph::columns::NodeRow;
    use crate::graph::kinds::NodeType;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const HOUR: i64 = 3_600_000;
    const NOW: i64 = 1_700_000_000_000;

    /// Thirteen files, the first four of which change once a day: 1.5 deviations above the mean. The n-th changed n half-
    /// lives ago; the time of the last is unknown.
    fn graph() -> Graph {
        let mut builder = GraphBuilder::default();
        for n in 0..13_u8 {
            let row = NodeRow::new(format!("n{n:02}"), "", NodeType::File);
            let last_modified = (n < 12).then(|| NOW - i64::from(n) * 168 * HOUR);
            let change_frequency = if n < 4 { 1.0 } else { 0.0 };
            builder.add_node(NodeRow { last_modified, change_frequency, ..row }).unwrap();
        }
        builder.finalize().unwrap()
    }

    fn config(graph: &Graph) -> TemporalConfig {
        let velocity = VelocityScorer::of(graph);
        TemporalConfig { half_lives: HalfLives::default(), velocity, now_ms: NOW }
    }

    #[track_caller]
    fn check(got: &[(NodeId, f32)], want: &[(u32, f32)]) {
        assert!(got.iter().map(|(node, _)| node.0).eq(want.iter().map(|(node, _)| *node)), "{got:?}");
        for ((_, got), (node, want)) in got.iter().zip(want) {
            assert!((got - want).abs() < 1e-6, "n{node:02}: {got} is not {want}");
        }
    }

    #[test]
    fn example_4_9() {
        let graph = graph();
        let one = [(NodeId(1), 0.8)];
        check(&temporal_scores(&graph, &config(&graph), [&one, &[]], &[]), &[(1, 0.4)]);
    }

    #[test]
    fn time_modulates_and_is_no_evidence() {
        let graph = graph();
        let of = |d1: &[(NodeId, f32)], d2: &[(NodeId, f32)], with: &[(NodeId, f32)]| {
            temporal_scores(&graph, &config(&graph), [d1, d2], with)
        };
        // The larger of both relevances counts, times 0.6 * 1 + 0.4 * 0.5 for a new and fast node.
        check(&of(&[(NodeId(0), 0.5)], &[(NodeId(0), 1.0)], &[]), &[(0, 0.8)]);
        check(&of(&[(NodeId(0), 1.0)], &[(NodeId(0), 0.5)], &[]), &[(0, 0.8)]);
        // A node that changes with a seed needs no relevance, and loses none.
        check(&of(&[(NodeId(1), 0.8)], &[], &[(NodeId(12), 0.3), (NodeId(1), 0.3)]), &[(1, 0.4), (12, 0.3)]);
        check(&of(&[(NodeId(1), 0.8)], &[], &[(NodeId(1), 0.7)]), &[(1, 0.7)]);
        // A slow node without a time scores 0, and so does an irrelevant one.
        check(&of(&[(NodeId(12), 1.0), (NodeId(2), 0.0)], &[], &[]), &[]);
        check(&of(&[], &[], &[]), &[]);
        for bad in [f32::NAN, f32::NEG_INFINITY, -1.0, 0.0, -0.0] {
            let bad = [(NodeId(0), bad)];
            check(&of(&bad, &bad, &bad), &[]);
        }
        let most = [(NodeId(0), f32::INFINITY)];
        check(&of(&most, &[], &[]), &[(0, 0.8)]);
        check(&of(&[], &[], &most), &[(0, 1.0)]);
    }

    proptest! {
        #[test]
        fn scores_as_defined(
            d1 in proptest::collection::vec((0_u32..13, 0.0_f32..1.0), 0..10),
            d2 in proptest::collection::vec((0_u32..13, 0.0_f32..1.0), 0..10),
            with in proptest::collection::vec((0_u32..13, 0.0_f32..1.0), 0..6),
        ) {
            let (graph, named) = (graph(), |list: &[(u32, f32)]| -> Vec<(NodeId, f32)> {
                list.iter().map(|(node, value)| (NodeId(*node), *value)).collect()
            });
            let config = config(&graph);
            let most = |list: &[(u32, f32)], node: u32| {
                list.iter().filter(|(of, _)| *of == node).map(|(_, value)| *value).fold(0.0, f32::max)
            };
            let mut want = BTreeMap::new();
            for node in 0..13 {
                let decay = config.half_lives.freshness(NodeType::File, graph.last_modified(NodeId(node)), NOW);
                let velocity = if node < 4 { 0.5 } else { 0.0 };
                let r = f64::from(most(&d1, node).max(most(&d2, node)));
                let score = (r * (0.6 * decay + 0.4 * velocity)).max(f64::from(most(&with, node)));
                if score > 0.0 {
                    want.insert(NodeId(node), score);
                }
            }
            let got = temporal_scores(&graph, &config, [&named(&d1), &named(&d2)], &named(&with));
            prop_assert!(got.iter().map(|(node, _)| node).eq(want.keys()));
            for ((_, got), want) in got.iter().zip(want.values()) {
                prop_assert!((f64::from(*got) - want).abs() < 1e-6);
            }
        }
    }
}
