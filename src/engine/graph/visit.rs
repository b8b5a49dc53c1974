//! Export to petgraph and GraphViz.
//!
//! A copy, since petgraph's algorithms need its own type or a dozen traits, and no query uses them. Indexes are kept: node
//! 7 of the copy is node 7 of the graph.

use super::Graph;
use super::index::{EdgeIdx, NodeId};
use petgraph::dot::Dot;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

/// The first `nodes_max` nodes, which have the most neighbours, and the slots between them. With all nodes, edge 7 of the
/// copy is slot 7 of the graph.
#[must_use]
pub fn view(graph: &Graph, nodes_max: usize) -> DiGraph<NodeId, EdgeIdx> {
    let mut view = DiGraph::new();
    for node in graph.nodes().take(nodes_max) {
        view.add_node(node);
    }
    let shown = view.node_count();
    for source in graph.nodes().take(shown) {
        for slot in graph.slots(source).filter(|slot| graph.target(*slot).at() < shown) {
            view.add_edge(NodeIndex::new(source.at()), NodeIndex::new(graph.target(slot).at()), slot);
        }
    }
    view
}

/// The same part in GraphViz DOT: an arrow for each slot, with relation and base weight, dashed if it is inhibitory.
#[must_use]
pub fn dot(graph: &Graph, nodes_max: usize) -> String {
    let view = view(graph, nodes_max);
    let texts = view.map(
        |_, node| plain(&[graph.label(*node), graph.external_id(*node)].join("\n")),
        |_, slot| plain(&format!("{} {}", graph.relation(*slot), graph.base(*slot))),
    );
    let style = |slot: EdgeIdx| if graph.kind(slot).inhibitory { "style = dashed " } else { "" };
    let edge = |_, edge: petgraph::graph::EdgeReference<'_, String>| style(view[edge.id()]).to_owned();
    Dot::with_attr_getters(&texts, &[], &edge, &|_, _| String::new()).to_string()
}

/// Replaces control characters, which DOT cannot show.
fn plain(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::builder::EdgeRow;
    use crate::graph::columns::NodeRow;
    use crate::graph::kinds::{EdgeDirection, NodeType};
    use crate::graph::tests::{Content, build, content};
    use petgraph::Undirected;
    use petgraph::algo::{dijkstra, tarjan_scc};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Connected sets of external ids, by merging the ends of every edge.
    fn components(content: &Content) -> BTreeSet<BTreeSet<&str>> {
        let mut of: BTreeMap<&str, &str> =
            content.nodes.iter().map(|node| (node.external_id.as_str(), node.external_id.as_str())).collect();
        for edge in &content.edges {
            let (kept, gone) = (of[edge.source.as_str()], of[edge.target.as_str()]);
            of.values_mut().filter(|name| **name == gone).for_each(|name| *name = kept);
        }
        let mut sets: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (id, name) in of {
            sets.entry(name).or_default().insert(id);
        }
        sets.into_values().collect()
    }

    /// Cost of a slot.
    fn cost(graph: &Graph, slot: EdgeIdx) -> f64 {
        4.0 - f64::from(graph.base(slot))
    }

    proptest! {
        #[test]
        fn the_copy_is_the_graph(content in content(12, 60)) {
            let graph = build(&content);
            let view = view(&graph, usize::MAX);
            prop_assert_eq!((view.node_count(), view.edge_count()), (graph.node_count(), graph.slot_count()));
            for edge in view.edge_references() {
                prop_assert_eq!(edge.id().index(), edge.weight().at());
                prop_assert_eq!(view[edge.target()], graph.target(*edge.weight()));
                prop_assert!(graph.slots(view[edge.source()]).any(|slot| slot == *edge.weight()));
            }
            // The joined pairs are those of the content.
            let id = |at: NodeIndex| graph.external_id(view[at]);
            let joined: BTreeSet<(&str, &str)> =
                view.edge_references().map(|edge| (id(edge.source()), id(edge.target()))).collect();
            let told = content.edges.iter().flat_map(|edge| {
                let both = edge.direction == EdgeDirection::Bidirectional;
                let there = (edge.source.as_str(), edge.target.as_str());
                [Some(there), both.then_some((there.1, there.0))].into_iter().flatten()
            });
            prop_assert_eq!(joined, told.collect());
        }

        #[test]
        fn components_are_what_edges_join(content in content(16, 24)) {
            let graph = build(&content);
            let view = view(&graph, usize::MAX).into_edge_type::<Undirected>();
            let found: BTreeSet<BTreeSet<&str>> = tarjan_scc(&view)
                .into_iter()
                .map(|nodes| nodes.into_iter().map(|at| graph.external_id(view[at])).collect())
                .collect();
            prop_assert_eq!(found, components(&content));
        }

        #[test]
        fn cheapest_paths_are_the_same_over_slots(content in content(10, 40)) {
            let graph = build(&content);
            let view = view(&graph, usize::MAX);
            let found = dijkstra(&view, NodeIndex::new(0), None, |edge| cost(&graph, *edge.weight()));
            // Relaxed once for each node, until no slot makes a path cheaper.
            let mut least = vec![f64::INFINITY; graph.node_count()];
            least[0] = 0.0;
            for _ in graph.nodes() {
                for source in graph.nodes() {
                    for slot in graph.slots(source) {
                        let target = graph.target(slot).at();
                        least[target] = least[target].min(least[source.at()] + cost(&graph, slot));
                    }
                }
            }
            for (at, least) in least.into_iter().enumerate() {
                let found = found.get(&NodeIndex::new(at)).copied().unwrap_or(f64::INFINITY);
                prop_assert!(found.total_cmp(&least).is_eq() || (found - least).abs() < 1e-9, "{at}: {found} {least}");
            }
        }
    }

    #[test]
    fn dot_output_has_the_nodes_of_highest_degree() {
        let node = |id: &str, label: &str| NodeRow::new(id, label, NodeType::Concept);
        let edge = |source: &str, relation: &str, weight, inhibitory| EdgeRow {
            source: source.to_owned(),
            target: "hub".to_owned(),
            relation: relation.to_owned(),
            weight,
            inhibitory,
            ..EdgeRow::default()
        };
        let content = Content {
            nodes: vec![node("hub", "the \"hub\"\u{0}"), node("a", "A\\N"), node("b", "B")],
            edges: vec![edge("a", "CALLS", 0.5, false), edge("b", "INHIBITS", 1.0, true)],
        };
        let graph = build(&content);
        let whole = [
            "digraph {",
            r#"    0 [ label = "the \"hub\" \lhub" ]"#,
            r#"    1 [ label = "A\\N\la" ]"#,
            r#"    2 [ label = "B\lb" ]"#,
            r#"    1 -> 0 [ label = "CALLS 0.5" ]"#,
            r#"    2 -> 0 [ label = "INHIBITS 1" style = dashed ]"#,
            "}\n",
        ];
        assert_eq!(dot(&graph, 100), whole.join("\n"));
        let part: Vec<&str> = whole.into_iter().filter(|line| !line.contains("2 ")).collect();
        assert_eq!(dot(&graph, 2), part.join("\n"));
        assert_eq!(dot(&graph, 0), "digraph {\n}\n");
    }
}
