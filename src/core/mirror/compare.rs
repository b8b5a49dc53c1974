//! Comparison of two views: a mirror after many refreshes against a fresh load.
//!
//! Both are walked in the order of external ids, so it takes one pass and no table. Everything that a load reads is compared: where
//! views are equal, the fresh load is dropped.

use super::content::{Relations, rank};
use ebb_engine::View;
use ebb_engine::graph::Graph;
use ebb_engine::graph::index::NodeId;
use ebb_engine::vectors::fact_key;
use std::cmp::Ordering;
use std::fmt;
use std::iter::Peekable;

/// Most examples that are named.
const NAMED_MAX: usize = 10;

/// Differences of two views.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Nodes only in the second.
    pub missing: u64,
    /// Nodes only in the first.
    pub extra: u64,
    /// Nodes with other attributes, texts, embeddings or relationships.
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

/// A slot by its type, target, and the bits of its numbers: base weight, learned weight and causal strength.
fn slots(graph: &Graph, node: NodeId) -> Vec<(&str, &str, [u32; 3])> {
    let of = |slot| {
        let target = graph.external_id(graph.target(slot));
        let numbers = [graph.base(slot), graph.weight(slot), graph.causal(slot)];
        (graph.relation(slot), target, numbers.map(f32::to_bits))
    };
    let mut slots: Vec<_> = graph.slots(node).map(of).collect();
    slots.sort_unstable();
    slots
}

/// Hashes of the text and of the embedding of a node.
fn contents(view: &View, id: &str) -> [Option<u64>; 2] {
    let texts = view.texts();
    let embedding = texts.vectors.as_ref().and_then(|vectors| vectors.content_hash(id));
    [texts.index.content_hash(id), embedding]
}

/// Relations in the order of the ids at which they begin, with hashes of their embeddings.
fn related<'a>(
    view: &'a View,
    relations: &'a Relations,
) -> Peekable<impl Iterator<Item = (&'a str, impl PartialEq + use<'a>)>> {
    let facts = view.texts().facts.as_ref();
    let of = move |(from, to, kind, tied)| {
        let embedding = facts.and_then(|facts| facts.content_hash(&fact_key(from, to, kind)));
        (from, (to, kind, rank(tied), embedding))
    };
    relations.iter().map(of).peekable()
}

/// Those that begin at a node; those at earlier ids are skipped.
fn begun<'a, R>(relations: &mut Peekable<impl Iterator<Item = (&'a str, R)>>, id: &str) -> Vec<R> {
    let until = std::iter::from_fn(|| relations.next_if(|(from, _)| *from <= id));
    until.filter(|(from, _)| *from == id).map(|(_, relation)| relation).collect()
}

/// The differences of two views.
#[must_use]
pub fn compare(one: &View, other: &View) -> Difference {
    let none = Relations::default();
    compare_with((one, &none), (other, &none))
}

/// The differences of two views, and of the relations from which they are built.
pub(super) fn compare_with(
    (one, own): (&View, &Relations),
    (other, others): (&View, &Relations),
) -> Difference {
    let (first, second) = (one.graph(), other.graph());
    let (mut own, mut others) = (related(one, own), related(other, others));
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
                let id = first.external_id(x);
                if begun(&mut own, id) != begun(&mut others, id)
                    || first.row(x) != second.row(y)
                    || contents(one, id) != contents(other, id)
                    || slots(first, x) != slots(second, y)
                {
                    difference.differing += 1;
                    difference.name(id);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::relation::RelationState;
    use crate::domain::units::{Timestamp, Weight};
    use crate::store::FadingRelation;
    use ebb_engine::Texts;
    use ebb_engine::graph::builder::{EdgeRow, GraphBuilder};
    use ebb_engine::graph::columns::NodeRow;
    use ebb_engine::graph::kinds::NodeType;
    use ebb_engine::graph::snapshot::{SkippedCounts, Snapshot};
    use ebb_engine::vectors::VectorIndex;
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

    #[test]
    fn causal_strengths_are_compared_too() {
        let one = |strength| {
            let mut builder = GraphBuilder::default();
            for id in ["a", "b"] {
                builder.add_node(NodeRow::new(id, "x", NodeType::MEMORY)).unwrap();
            }
            let [source, target] = ["a", "b"].map(str::to_owned);
            let (relation, causal) = ("CALLS".to_owned(), Some([strength; 2]));
            builder
                .add_edge(&EdgeRow { source, target, relation, weight: 0.5, causal, ..EdgeRow::default() })
                .unwrap();
            let graph = builder.finalize().unwrap();
            View::from_labels(Snapshot { graph, as_of: None, skipped: SkippedCounts::default() }).unwrap()
        };
        assert!(compare(&one(0.25), &one(0.25)).is_none());
        let difference = compare(&one(0.25), &one(0.75));
        assert_eq!((difference.differing, difference.named), (1, vec!["a".to_owned()]));
    }

    fn vectors(all: &[(&str, [f32; 2])]) -> Option<Arc<VectorIndex>> {
        let mut vectors = VectorIndex::new(2).unwrap();
        vectors.add(all.iter().map(|(id, vector)| (*id, vector.as_slice()))).unwrap();
        Some(Arc::new(vectors))
    }

    #[test]
    fn embeddings_are_compared_too() {
        let nodes = [("a", "x"), ("b", "x")];
        let one = |all: &[(&str, [f32; 2])]| {
            let texts = Texts { vectors: vectors(all), ..view(&nodes, &[]).texts().clone() };
            View::new(snapshot(&nodes, &[]), texts, [])
        };
        let first = one(&[("a", [1.0, 0.0])]);
        assert!(compare(&first, &one(&[("a", [1.0, 0.0])])).is_none());
        for second in [one(&[("a", [1.0, 0.5])]), one(&[]), view(&nodes, &[])] {
            assert_eq!(compare(&first, &second).named, ["a"]);
            assert_eq!(compare(&second, &first).named, ["a"]);
        }
    }

    fn relations(all: &[(&str, &str, &str, f64)]) -> Relations {
        let mut relations = Relations::default();
        for (from, to, kind, base) in all {
            let (kind, base) = ((*kind).to_owned(), Weight::new(*base).unwrap());
            let at = Timestamp::EPOCH;
            let bond = RelationState { base, weight_at: at, last_observed: at, pinned: true };
            let tied =
                FadingRelation { kind, bond, confidence: None, causal: None, until: None, is_adopted: false };
            relations.put((*from).to_owned(), (*to).to_owned(), tied);
        }
        relations
    }

    #[test]
    fn relations_and_their_embeddings_are_compared_too() {
        let nodes = [("b", "x"), ("c", "x"), ("d", "x")];
        let one = |vector: [f32; 2]| {
            let facts = vectors(&[(&fact_key("c", "b", "knows"), vector)]);
            let texts = Texts { facts, ..view(&nodes, &[]).texts().clone() };
            View::new(snapshot(&nodes, &[]), texts, [])
        };
        let (first, other) = (one([1.0, 0.0]), one([1.0, 0.5]));
        let known = [("a", "c", "knows", 0.5), ("c", "b", "helps", 0.5), ("c", "b", "knows", 0.5)];
        let own = relations(&known);
        let named = |view: &View, changed: &[_]| {
            let changed = relations(changed);
            let difference = compare_with((&first, &own), (view, &changed));
            assert_eq!(difference, compare_with((view, &changed), (&first, &own)));
            difference.named
        };
        let [unknown, helps, knows] = known;
        assert_eq!(named(&first, &known), [""; 0]);
        assert_eq!(named(&first, &[unknown, helps, ("c", "b", "likes", 0.5)]), ["c"]);
        assert_eq!(named(&first, &[unknown, helps, ("c", "b", "knows", 0.4)]), ["c"]);
        assert_eq!(named(&first, &[unknown, helps, knows, ("d", "b", "knows", 0.5)]), ["d"]);
        assert_eq!(named(&first, &[helps, knows]), [""; 0], "it begins at no node of the views");
        assert_eq!(named(&other, &known), ["c"]);
    }
}
