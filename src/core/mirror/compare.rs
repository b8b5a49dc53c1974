//! Comparison of two views: a mirror after many refreshes against a fresh load.
//!
//! Both are walked in the order of external ids, so it takes one pass and no table.

use ebb_engine::View;
use ebb_engine::graph::Graph;
use ebb_engine::graph::index::NodeId;
use std::cmp::Ordering;
use std::fmt;

/// Most examples that are named.
const NAMED_MAX: usize = 10;

/// Differences of two views.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Nodes only in the second.
    pub missing: u64,
    /// Nodes only in the first.
    pub extra: u64,
    /// Nodes with other attributes, texts or relationships.
    pub differing: u64,
    /// External ids of examples.
    pub named: Vec<String>,
}

impl Difference {
    /// Whether there is no difference.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.missing == 0 && self.extra == 0 && self.differing == 0
    }

    fn name(&mut self, id: &str) {
        if self.named.len() < NAMED_MAX {
            self.named.push(id.to_owned());
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { missing, extra, differing, named } = self;
        write!(f, "{missing} nodes missing, {extra} too many, {differing} differing")?;
        if named.is_empty() { Ok(()) } else { write!(f, ", such as {}", named.join(", ")) }
    }
}

/// A slot by its type, target, and the bits of its weights: base, and learned part.
fn slots(graph: &Graph, node: NodeId) -> Vec<(&str, &str, u32, u32)> {
    let of = |slot| {
        let target = graph.external_id(graph.target(slot));
        (graph.relation(slot), target, graph.base(slot).to_bits(), graph.weight(slot).to_bits())
    };
    let mut slots: Vec<_> = graph.slots(node).map(of).collect();
    slots.sort_unstable();
    slots
}

/// The differences of two views.
#[must_use]
pub fn compare(one: &View, other: &View) -> Difference {
    let (first, second) = (one.graph(), other.graph());
    let mut difference = Difference::default();
    let (mut a, mut b) = (first.by_rank().peekable(), second.by_rank().peekable());
    loop {
        let order = match (a.peek(), b.peek()) {
            (None, None) => return difference,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(x), Some(y)) => first.external_id(*x).cmp(second.external_id(*y)),
        };
        match order {
            Ordering::Less => {
                difference.extra += 1;
                a.next().into_iter().for_each(|node| difference.name(first.external_id(node)));
            }
            Ordering::Greater => {
                difference.missing += 1;
                b.next().into_iter().for_each(|node| difference.name(second.external_id(node)));
            }
            Ordering::Equal => {
                let (Some(x), Some(y)) = (a.next(), b.next()) else { continue };
                let text = |view: &View| view.texts().index.content_hash(first.external_id(x));
                if first.row(x) != second.row(y)
                    || text(one) != text(other)
                    || slots(first, x) != slots(second, y)
                {
                    difference.differing += 1;
                    difference.name(first.external_id(x));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ebb_engine::graph::builder::{EdgeRow, GraphBuilder};
    use ebb_engine::graph::columns::NodeRow;
    use ebb_engine::graph::kinds::NodeType;
    use ebb_engine::graph::snapshot::{SkippedCounts, Snapshot};
    use std::sync::Arc;

    fn snapshot(nodes: &[(&str, &str)], edges: &[(&str, &str, f32)]) -> Snapshot {
        let mut builder = GraphBuilder::default();
        for (id, label) in nodes {
            builder.add_node(NodeRow::new(*id, *label, NodeType::MEMORY)).unwrap();
        }
        for (source, target, weight) in edges {
            let [source, target] = [source, target].map(|id| (*id).to_owned());
            let edge = EdgeRow {
                source,
                target,
                relation: "CALLS".to_owned(),
                weight: *weight,
                ..EdgeRow::default()
            };
            builder.add_edge(&edge).unwrap();
        }
        let graph = builder.finalize().unwrap();
        Snapshot { graph, as_of: None, skipped: SkippedCounts::default() }
    }

    fn view(nodes: &[(&str, &str)], edges: &[(&str, &str, f32)]) -> View {
        View::from_labels(snapshot(nodes, edges)).unwrap()
    }

    #[test]
    fn each_kind_of_difference_is_counted_and_named() {
        let first =
            view(&[("a", "x"), ("b", "x"), ("c", "x"), ("e", "x")], &[("a", "b", 0.5), ("b", "c", 0.5)]);
        let same =
            view(&[("e", "x"), ("c", "x"), ("b", "x"), ("a", "x")], &[("b", "c", 0.5), ("a", "b", 0.5)]);
        assert!(compare(&first, &same).is_none());
        let second =
            view(&[("a", "x"), ("b", "x"), ("c", "y"), ("d", "x")], &[("a", "b", 0.5), ("b", "c", 0.4)]);
        let difference = compare(&first, &second);
        assert_eq!((difference.missing, difference.extra, difference.differing), (1, 1, 2));
        assert_eq!(difference.named, ["b", "c", "d", "e"]);
        assert_eq!(difference.to_string(), "1 nodes missing, 1 too many, 2 differing, such as b, c, d, e");
    }

    #[test]
    fn what_was_learned_is_compared_too() {
        let one = || view(&[("a", "x"), ("b", "x")], &[("a", "b", 0.5)]);
        let (first, second) = (one(), one());
        let a = second.graph().find("a").unwrap();
        let slot = second.graph().slots(a).next().unwrap();
        second.graph().write_weight(a, slot, 0.75).unwrap();
        let difference = compare(&first, &second);
        assert_eq!((difference.differing, difference.named), (1, vec!["a".to_owned()]));
        first.graph().write_weight(a, slot, 0.75).unwrap();
        assert!(compare(&first, &second).is_none());
    }

    #[test]
    fn texts_are_compared_too() {
        let first = view(&[("a", "x"), ("b", "x")], &[]);
        let mut texts = first.texts().clone();
        Arc::make_mut(&mut texts.index).add([("a", "y")]).unwrap();
        let second = View::new(snapshot(&[("a", "x"), ("b", "x")], &[]), texts, []);
        let difference = compare(&first, &second);
        assert_eq!((difference.differing, difference.named), (1, vec!["a".to_owned()]));
    }
}
