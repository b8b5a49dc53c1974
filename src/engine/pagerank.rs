//! PageRank: the share of time that a random surfer spends at each node.
//!
//! Pull iteration over excitatory slots, without weights. The rank of nodes without slots is distributed to all, so the sum
//! stays 1. Sums run in `f64` over ascending sources and are stored as `f32`. It is computed once for each generation of a
//! graph, and ranking reads it divided by its maximum.
//!
//! [`personalised_pagerank`] restarts the surfer at given nodes only, and follows slots in proportion to their base
//! weights: a measure of proximity to these nodes. It is an alternative to spreading activation, and a baseline for it.

use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::graph::raw::in_large_pages;

/// Probability of following a slot rather than restarting.
pub const DAMPING: f64 = 0.85;
/// The same for personalised PageRank.
pub const DAMPING_PERSONAL: f64 = 0.5;
/// Greatest number of iterations.
pub const ITERATIONS_MAX: u32 = 50;
/// The change, summed over all nodes, below which it has converged.
pub const TOLERANCE: f64 = 1e-6;

/// Result of [`pagerank`] and [`personalised_pagerank`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageRankResult {
    /// Score of each node; together they are 1.
    pub scores: Vec<f32>,
    /// Number of iterations.
    pub iterations: u32,
    /// Change in the last iteration, summed over all nodes.
    pub change: f64,
}

impl PageRankResult {
    /// Whether it stopped because the change was below [`TOLERANCE`].
    #[must_use]
    pub fn has_converged(&self) -> bool {
        self.change < TOLERANCE
    }
}

/// Computes the PageRank of all nodes.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "counts below 2^32; sums in f64, stored as f32"
)]
pub fn pagerank(graph: &Graph) -> PageRankResult {
    let n = graph.node_count();
    let even = 1.0 / n.max(1) as f32;
    let mut scores = in_large_pages(Vec::with_capacity(n));
    scores.resize(n, even);
    let mut result = PageRankResult { scores, iterations: 0, change: 0.0 };
    if n == 0 {
        return result;
    }
    // The rank that a node passes on over each of its slots.
    let share: Vec<f32> =
        graph.nodes().map(|node| 1.0 / graph.excitatory_slots(node).max(1) as f32).collect();
    let dangling: Vec<NodeId> = graph.nodes().filter(|node| graph.excitatory_slots(*node) == 0).collect();
    let inhibits = graph.has_inhibition();
    let mut passes = in_large_pages(vec![0.0_f32; n]);
    while result.iterations < ITERATIONS_MAX {
        for ((passes, value), share) in passes.iter_mut().zip(&result.scores).zip(&share) {
            *passes = value * share;
        }
        let lost: f64 = dangling.iter().map(|node| f64::from(result.scores[node.at()])).sum();
        let rest = (1.0 - DAMPING + DAMPING * lost) / n as f64;
        result.change = 0.0;
        for node in graph.nodes() {
            let sources = graph.sources(node);
            let sum: f64 = if inhibits {
                let excitatory =
                    graph.incoming(node).filter(|(source, slot)| graph.is_excitatory(*source, *slot));
                excitatory.map(|(source, _)| f64::from(passes[source.at()])).sum()
            } else {
                sources.iter().map(|source| f64::from(passes[*source as usize])).sum()
            };
            let next = (rest + DAMPING * sum) as f32;
            result.change += f64::from((next - result.scores[node.at()]).abs());
            result.scores[node.at()] = next;
        }
        result.iterations += 1;
        if result.change < TOLERANCE {
            break;
        }
    }
    result
}

/// Computes the PageRank of all nodes with restarts at the given nodes only, in proportion to their weights, which are
/// above 0. Nodes that the graph does not have are ignored, and without restart nodes all scores are 0.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "sums in f64, stored as f32")]
pub fn personalised_pagerank(graph: &Graph, restart: &[(NodeId, f32)]) -> PageRankResult {
    let n = graph.node_count();
    let sound = |(node, part): &&(NodeId, f32)| graph.has_node(*node) && *part > 0.0 && part.is_finite();
    let total: f64 = restart.iter().filter(sound).map(|(_, part)| f64::from(*part)).sum();
    let mut result = PageRankResult { scores: vec![0.0; n], iterations: 0, change: 0.0 };
    if total <= 0.0 {
        return result;
    }
    let mut begins = vec![0.0_f64; n];
    for (node, part) in restart.iter().filter(sound) {
        begins[node.at()] += f64::from(*part) / total;
    }
    let strength: Vec<f64> = graph
        .nodes()
        .map(|node| {
            graph.slots(node).take(graph.excitatory_slots(node)).map(|slot| f64::from(graph.base(slot))).sum()
        })
        .collect();
    let mut value = begins.clone();
    while result.iterations < ITERATIONS_MAX {
        let lost: f64 =
            value.iter().zip(&strength).filter(|(_, out)| **out <= 0.0).map(|(value, _)| value).sum();
        let back = 1.0 - DAMPING_PERSONAL + DAMPING_PERSONAL * lost;
        let mut next: Vec<f64> = begins.iter().map(|part| back * part).collect();
        for node in graph.nodes() {
            let sum: f64 = graph
                .incoming(node)
                .filter(|(source, slot)| graph.is_excitatory(*source, *slot) && strength[source.at()] > 0.0)
                .map(|(source, slot)| {
                    value[source.at()] * f64::from(graph.base(slot)) / strength[source.at()]
                })
                .sum();
            next[node.at()] += DAMPING_PERSONAL * sum;
        }
        result.change = next.iter().zip(&value).map(|(next, value)| (next - value).abs()).sum();
        value = next;
        result.iterations += 1;
        if result.change < TOLERANCE {
            break;
        }
    }
    result.scores = value.into_iter().map(|value| value as f32).collect();
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::builder::{EdgeRow, GraphBuilder};
    use crate::graph::columns::NodeRow;
    use crate::graph::kinds::{EdgeDirection, NodeType};
    use proptest::prelude::*;

    fn graph(nodes: usize, edges: &[(usize, usize)], inhibits: &[(usize, usize)]) -> Graph {
        let mut builder = GraphBuilder::default();
        for node in 0..nodes {
            builder.add_node(NodeRow::new(format!("n{node:03}"), "l", NodeType::Concept)).unwrap();
        }
        for (of, inhibitory) in [(edges, false), (inhibits, true)] {
            for (source, target) in of {
                let edge = EdgeRow {
                    source: format!("n{source:03}"),
                    target: format!("n{target:03}"),
                    relation: if inhibitory { "INHIBITS" } else { "LEADS_TO" }.to_owned(),
                    weight: 0.5,
                    direction: EdgeDirection::Forward,
                    inhibitory,
                    causal: None,
                };
                builder.add_edge(&edge).unwrap();
            }
        }
        builder.finalize().unwrap()
    }

    fn of(graph: &Graph, result: &PageRankResult, node: usize) -> f32 {
        result.scores[graph.find(&format!("n{node:03}")).unwrap().at()]
    }

    #[track_caller]
    fn check(nodes: usize, edges: &[(usize, usize)], iterations: u32, want: &[f32]) {
        let graph = graph(nodes, edges, &[]);
        let result = pagerank(&graph);
        assert_eq!(result.iterations, iterations);
        assert!(result.has_converged());
        for (node, want) in want.iter().enumerate() {
            assert!((of(&graph, &result, node) - want).abs() < 1e-6, "{result:?}");
        }
    }

    #[test]
    fn examples_4_6() {
        check(3, &[(0, 1), (0, 2), (1, 2)], 13, &[0.197_580, 0.281_551, 0.520_869]);
        check(4, &[(1, 0), (2, 0), (3, 0)], 32, &[0.541_985, 0.152_672, 0.152_672, 0.152_672]);
        check(3, &[(0, 1), (1, 0)], 12, &[0.465_116, 0.465_116, 0.069_767]);
        check(3, &[(0, 1), (1, 2), (2, 0)], 1, &[1.0 / 3.0; 3]);
        assert!(pagerank(&graph(0, &[], &[])).scores.is_empty());
        check(1, &[], 1, &[1.0]);
    }

    /// Power iteration over a dense matrix in f64, until it has converged.
    fn dense(
        nodes: usize,
        edges: &[(usize, usize)],
        damping: f64,
        begins: &[f64],
        to_begins: bool,
    ) -> Vec<f64> {
        let mut edges = edges.to_vec();
        edges.sort_unstable();
        edges.dedup();
        let mut value = begins.to_vec();
        for _ in 0..300 {
            let out = |node: usize| edges.iter().filter(|edge| edge.0 == node).count();
            let lost: f64 = (0..nodes).filter(|node| out(*node) == 0).map(|node| value[node]).sum();
            let all: f64 = value.iter().sum();
            let uniform = |node: usize| if to_begins { begins[node] } else { 1.0 / nodes as f64 };
            let mut next: Vec<f64> =
                (0..nodes).map(|node| ((1.0 - damping) * all + damping * lost) * uniform(node)).collect();
            for (source, target) in &edges {
                next[*target] += damping * value[*source] / out(*source) as f64;
            }
            value = next;
        }
        value
    }

    proptest! {
        #[test]
        fn pr_dense_oracle(edges in proptest::collection::vec((0..9_usize, 0..9_usize), 0..40), cut in proptest::collection::vec((0..9_usize, 0..9_usize), 0..5)) {
            let graph = graph(9, &edges, &cut);
            let result = pagerank(&graph);
            let want = dense(9, &edges, DAMPING, &[1.0 / 9.0; 9], false);
            for (node, want) in want.iter().enumerate() {
                // Within the remaining change when it stops: the change shrinks by the damping in each iteration.
                let near = 1e-6 + result.change * DAMPING / (1.0 - DAMPING);
                prop_assert!((f64::from(of(&graph, &result, node)) - want).abs() < near);
            }
            prop_assert!((result.scores.iter().map(|value| f64::from(*value)).sum::<f64>() - 1.0).abs() < 1e-5);
            let begins = [0.75, 0.0, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            let restart = [("n000", 3.0), ("n002", 1.0)].map(|(id, part)| (graph.find(id).unwrap(), part));
            let near = personalised_pagerank(&graph, &restart);
            for (node, want) in dense(9, &edges, DAMPING_PERSONAL, &begins, true).iter().enumerate() {
                prop_assert!((f64::from(of(&graph, &near, node)) - want).abs() < 3e-6);
            }
        }
    }

    #[test]
    fn no_restart_has_no_pagerank() {
        let graph = graph(3, &[(0, 1)], &[]);
        for restart in [
            &[][..],
            &[(NodeId(0), f32::NAN)],
            &[(NodeId(0), -1.0)],
            &[(NodeId(0), 0.0)],
            &[(NodeId(3), 1.0)],
        ] {
            assert!(personalised_pagerank(&graph, restart).scores.iter().all(|value| value.to_bits() == 0));
        }
        let known = personalised_pagerank(&graph, &[(NodeId(0), 1.0)]);
        assert_eq!(personalised_pagerank(&graph, &[(NodeId(0), 1.0), (NodeId(3), 1.0)]), known);
    }
}
