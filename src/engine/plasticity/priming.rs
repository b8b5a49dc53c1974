//! Priming: adds nodes to the seeds of a query that were often seeds together with them.
//!
//! The likelihood of a node given a seed is the share of the queries with that seed in which both were seeds, if there
//! were two at least. Of several seeds the greatest likelihood counts.

use super::query_history::QueryHistory;
use crate::graph::Graph;
use crate::graph::index::NodeId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Score of a node that was a seed whenever the seed was, as a share of the strongest seed.
pub const PRIMING_GAIN: f64 = 0.1;
/// Least number of queries in which both nodes were seeds.
pub const PRIMING_MIN_COUNT: u32 = 2;
/// Greatest number of primed nodes.
pub const PRIMING_MAX: usize = 16;

/// Nodes to add to the seeds of a query, each with a score above 0 and at most 0.1: the strongest that the graph has, by
/// score descending, then by external id.
#[must_use]
pub fn prime(graph: &Graph, history: &QueryHistory, seeds: &[(NodeId, f32)]) -> Vec<(NodeId, f32)> {
    let seeds: BTreeSet<&str> = seeds.iter().map(|(node, _)| graph.external_id(*node)).collect();
    let mut likely: BTreeMap<&str, f64> = BTreeMap::new();
    for seed in &seeds {
        let seeded = f64::from(history.seeded(seed));
        for (other, count) in history.co_seeds(seed) {
            if count >= PRIMING_MIN_COUNT && !seeds.contains(other) {
                let share = likely.entry(other).or_default();
                *share = share.max(f64::from(count) / seeded);
            }
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most 0.1, rounded once")]
    let score = |share: f64| (PRIMING_GAIN * share) as f32;
    let mut primed: Vec<(&str, f32)> = likely.into_iter().map(|(id, share)| (id, score(share))).collect();
    // A stable sort: equal scores stay in the order of ids.
    primed.sort_by_key(|(_, score)| Reverse(score.to_bits()));
    primed.into_iter().filter_map(|(id, score)| Some((graph.find(id)?, score))).take(PRIMING_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::scratch::Scratch;
    use crate::activation::{ActivatedNode, ActivationConfig, wavefront};
    use crate::graph::builder::{EdgeRow, GraphBuilder};
    use crate::graph::columns::NodeRow;
    use crate::graph::kinds::{EdgeDirection, NodeType};

    fn graph(nodes: &[&str], edges: &[(&str, &str)]) -> Graph {
        let mut builder = GraphBuilder::default();
        for id in nodes {
            builder.add_node(NodeRow::new(*id, "", NodeType::Concept)).unwrap();
        }
        for (source, target) in edges {
            let (source, target) = ((*source).to_owned(), (*target).to_owned());
            let relation = "LEADS_TO".to_owned();
            let direction = EdgeDirection::Forward;
            builder
                .add_edge(&EdgeRow { source, target, relation, weight: 1.0, direction, ..EdgeRow::default() })
                .unwrap();
        }
        builder.finalize().unwrap()
    }

    fn seeds(graph: &Graph, ids: &[&str]) -> Vec<(NodeId, f32)> {
        ids.iter().map(|id| (graph.find(id).unwrap(), 1.0)).collect()
    }

    fn record(history: &mut QueryHistory, graph: &Graph, ids: &[&str]) {
        let seeds = seeds(graph, ids);
        history.record(graph, "", &seeds, &[], 0);
    }

    fn primed(graph: &Graph, history: &QueryHistory, ids: &[&str]) -> Vec<(String, f32)> {
        let found = prime(graph, history, &seeds(graph, ids));
        found.into_iter().map(|(node, score)| (graph.external_id(node).to_owned(), score)).collect()
    }

    #[track_caller]
    fn check(got: &[(String, f32)], want: &[(&str, f32)]) {
        let ids = |all: &[(String, f32)]| all.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(got), want.iter().map(|(id, _)| *id).collect::<Vec<_>>());
        assert!(got.iter().zip(want).all(|((_, got), (_, want))| (got - want).abs() < 1e-7), "{got:?}");
    }

    #[test]
    fn priming_min_count() {
        let graph = graph(&["a", "b", "c", "d", "e"], &[]);
        let mut history = QueryHistory::default();
        check(&primed(&graph, &history, &["a"]), &[]);
        record(&mut history, &graph, &["a", "b"]);
        check(&primed(&graph, &history, &["a"]), &[]);
        record(&mut history, &graph, &["a", "b", "c"]);
        // c was a seed once, which is too few.
        check(&primed(&graph, &history, &["a"]), &[("b", 0.1)]);
        record(&mut history, &graph, &["a", "c", "d"]);
        record(&mut history, &graph, &["d", "e"]);
        record(&mut history, &graph, &["d", "e"]);
        check(&primed(&graph, &history, &["a"]), &[("b", 0.2 / 3.0), ("c", 0.2 / 3.0)]);
        check(&primed(&graph, &history, &["a", "b"]), &[("c", 0.2 / 3.0)]);
        // Both queries with b were with a.
        check(&primed(&graph, &history, &["b", "d"]), &[("a", 0.1), ("e", 0.2 / 3.0)]);
        check(&primed(&graph, &history, &[]), &[]);
    }

    #[test]
    fn the_strongest_sixteen_that_the_graph_has() {
        let ids: Vec<String> = (0..30).map(|n| format!("n{n:02}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let all = graph(&ids, &[]);
        let mut history = QueryHistory::default();
        record(&mut history, &all, &ids);
        record(&mut history, &all, &ids);
        record(&mut history, &all, &["n00", "n29", "n28"]);
        let fewer: Vec<&str> = ids.iter().copied().filter(|id| *id != "n01" && *id != "n28").collect();
        let found = primed(&graph(&fewer, &[]), &history, &["n00"]);
        let want: Vec<(&str, f32)> =
            std::iter::once(("n29", 0.1)).chain(ids[2..17].iter().map(|id| (*id, 0.2 / 3.0))).collect();
        check(&found, &want);
    }

    #[test]
    fn priming_effect() {
        let graph = graph(&["a", "b", "c", "d"], &[("b", "c")]);
        let mut history = QueryHistory::default();
        for ids in [["a", "b"], ["a", "b"], ["a", "d"], ["a", "d"]] {
            record(&mut history, &graph, &ids);
        }
        let activated = |seeds: &[(NodeId, f32)]| {
            let found =
                wavefront::activate(&graph, seeds, &ActivationConfig::RECALL, 9, &mut Scratch::default());
            let named =
                |activated: &ActivatedNode| (graph.external_id(activated.node).to_owned(), activated.value);
            found.nodes.iter().map(named).collect::<Vec<_>>()
        };
        let alone = seeds(&graph, &["a"]);
        check(&activated(&alone), &[("a", 1.0)]);
        let mut joined = alone.clone();
        joined.extend(prime(&graph, &history, &alone));
        // A node that was never queried is activated through priming, and the seed is unchanged.
        check(&activated(&joined), &[("a", 1.0), ("b", 0.05), ("d", 0.05), ("c", 0.0425)]);
    }
}
