//! The undirected view: pairs of distinct nodes that are joined by slots in either direction. A pair counts once, however
//! many slots it has; self-loops are no pairs.
//!
//! Nothing is stored for it. Neighbours are read from a row and from the reverse index on demand, sorted by id, so the cost
//! depends on the visited nodes and not on the graph.
//!
//! # Design notes
//! The sum of a pair is exact: weights lie between a hundredth and sixteen and have 24 bits, so an `f64` holds the sum of
//! millions of them without rounding. It is the same from either end and in any order (`pairs_as_defined`).

use super::Graph;
use super::csr::weight_of;
use super::index::NodeId;

/// A neighbour, and the weights of the slots between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// The neighbour.
    pub node: NodeId,
    /// The largest effective weight of the excitatory slots between the two; `None` without any.
    pub excitatory: Option<f32>,
    /// The largest effective weight of the inhibitory slots; `None` without any.
    pub inhibitory: Option<f32>,
    /// The sum of the effective weights of the excitatory slots.
    pub sum: f64,
}

impl Neighbour {
    fn over(node: u32, weight: f32, excitatory: bool) -> Self {
        Self {
            node: NodeId(node),
            excitatory: excitatory.then_some(weight),
            inhibitory: (!excitatory).then_some(weight),
            sum: if excitatory { f64::from(weight) } else { 0.0 },
        }
    }

    fn merge(&mut self, other: &Self) {
        let larger = |a: Option<f32>, b: Option<f32>| a.into_iter().chain(b).reduce(f32::max);
        self.excitatory = larger(self.excitatory, other.excitatory);
        self.inhibitory = larger(self.inhibitory, other.inhibitory);
        self.sum += other.sum;
    }
}

/// The neighbours of a node by id, replacing the contents of `into`.
pub fn neighbours(graph: &Graph, node: NodeId, into: &mut Vec<Neighbour>) {
    into.clear();
    for (part, excitatory) in [(graph.excitatory(node), true), (graph.inhibitory(node), false)] {
        let slots = part.targets.iter().zip(part.weights);
        into.extend(slots.map(|(target, weight)| Neighbour::over(*target, weight_of(weight), excitatory)));
    }
    into.extend(graph.incoming(node).map(|(source, slot)| {
        Neighbour::over(source.0, graph.weight(slot), graph.is_excitatory(source, slot))
    }));
    into.retain(|neighbour| neighbour.node != node);
    into.sort_unstable_by_key(|neighbour| neighbour.node);
    into.dedup_by(|more, kept| {
        let same = more.node == kept.node;
        if same {
            kept.merge(more);
        }
        same
    });
}

/// Some nodes and their neighbours, for distance checks.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// Nodes at most one step away, by id.
    near: Vec<NodeId>,
}

impl Surroundings {
    /// The surroundings of some nodes.
    #[must_use]
    pub fn of(graph: &Graph, nodes: &[NodeId]) -> Self {
        let next = nodes.iter().flat_map(|node| adjacent(graph, *node));
        let mut near: Vec<NodeId> = nodes.iter().copied().chain(next).collect();
        near.sort_unstable();
        near.dedup();
        Self { near }
    }

    /// Whether a node is one of them or a neighbour of one.
    #[must_use]
    pub fn is_within_one_hop(&self, node: NodeId) -> bool {
        self.near.binary_search(&node).is_ok()
    }

    /// Whether a node is at most two steps away from one of them.
    #[must_use]
    pub fn is_within_two_hops(&self, graph: &Graph, node: NodeId) -> bool {
        self.is_within_one_hop(node) || adjacent(graph, node).any(|other| self.is_within_one_hop(other))
    }
}

/// The nodes joined to a node, once for each slot. Incoming ones come first: they are sorted by id, so the best connected
/// ones, which are most often near, are visited first.
pub fn adjacent(graph: &Graph, node: NodeId) -> impl Iterator<Item = NodeId> {
    graph.sources(node).iter().copied().chain(graph.targets(node)).map(NodeId)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::index::EdgeIdx;
    use crate::graph::tests::{build, content};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Weights of each pair, from all slots, by the smaller and the larger id.
    fn joined(graph: &Graph) -> BTreeMap<(NodeId, NodeId), Vec<(f32, bool)>> {
        let mut pairs: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for source in graph.nodes() {
            for slot in graph.slots(source).filter(|slot| graph.target(*slot) != source) {
                let target = graph.target(slot);
                let inhibitory = graph.kind(slot).inhibitory;
                pairs
                    .entry((source.min(target), source.max(target)))
                    .or_default()
                    .push((graph.weight(slot), inhibitory));
            }
        }
        pairs
    }

    proptest! {
        #[test]
        fn pairs_as_defined(content in content(9, 60), learned in proptest::collection::vec((0_u32..200, 0.05_f32..3.0), 0..20)) {
            let graph = build(&content);
            for (slot, weight) in learned {
                let source = graph.nodes().find(|node| graph.slots(*node).any(|of| of == EdgeIdx(slot)));
                if let Some(source) = source {
                    graph.write_weight(source, EdgeIdx(slot), weight).unwrap();
                }
            }
            let (pairs, mut into) = (joined(&graph), Vec::new());
            let most = |slots: &[(f32, bool)], held_back: bool| {
                slots.iter().filter(|slot| slot.1 == held_back).map(|slot| slot.0).reduce(f32::max)
            };
            let mut seen = 0;
            for node in graph.nodes() {
                neighbours(&graph, node, &mut into);
                prop_assert!(into.is_sorted_by(|a, b| a.node < b.node));
                prop_assert_eq!(into.len(), graph.degree(node) as usize);
                for neighbour in &into {
                    let slots = &pairs[&(node.min(neighbour.node), node.max(neighbour.node))];
                    prop_assert_eq!(neighbour.excitatory, most(slots, false));
                    prop_assert_eq!(neighbour.inhibitory, most(slots, true));
                    let sum: f64 = slots.iter().rev().filter(|slot| !slot.1).map(|slot| f64::from(slot.0)).sum();
                    prop_assert_eq!(neighbour.sum.to_bits(), (sum + 0.0).to_bits());
                    seen += 1;
                }
            }
            prop_assert_eq!(seen, 2 * pairs.len());
        }

        #[test]
        fn near_as_defined(content in content(14, 24), from in proptest::collection::vec(0_u32..14, 0..3)) {
            let graph = build(&content);
            let from: Vec<NodeId> = from.into_iter().map(NodeId).collect();
            let pairs = joined(&graph);
            let grown = |of: &BTreeSet<NodeId>| -> BTreeSet<NodeId> {
                let next = pairs.keys().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).filter(|(a, _)| of.contains(a));
                of.iter().copied().chain(next.map(|(_, b)| b)).collect()
            };
            let one = grown(&from.iter().copied().collect());
            let two = grown(&one);
            let surroundings = Surroundings::of(&graph, &from);
            for node in graph.nodes() {
                prop_assert_eq!(surroundings.is_within_one_hop(node), one.contains(&node));
                prop_assert_eq!(surroundings.is_within_two_hops(&graph, node), two.contains(&node));
            }
        }
    }
}
