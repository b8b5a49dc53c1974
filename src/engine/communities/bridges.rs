//! Who joins communities to each other: what of a node leads out of its own, and into which.
//!
//! A node is joined to a community by the sum of what joins it to its members, over all slots that pass on, whichever way
//! they lead; a slot from a node to itself joins it to nobody. Outside is what joins it to all communities but its own.
//!
//! # Design notes
//! Bridges are ranked by what leads out and not by its share: a leaf with one slot into each of two communities has the
//! greatest share there is, and joins nothing that others need. So hubs come first, which is what they are.
//!
//! What leads out is added up over all slots in one pass, without sorting anything; into which communities it leads is worked
//! out for the nodes that are told. Sums of slots are exact, in whatever order ([`crate::graph::pairs`]).

use crate::best::Best;
use crate::graph::Graph;
use crate::graph::csr::weight_of;
use crate::graph::index::{CommunityId, NodeId};
use crate::graph::pairs::neighbours;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What joins a node to a community.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tie {
    /// Which one.
    pub community: CommunityId,
    /// The sum of the weights of all that joins them, above 0.
    pub weight: f64,
}

/// How a node is joined to all communities, by weight descending, then by id. `of` gives each node its community.
#[must_use]
pub fn ties(graph: &Graph, of: &[CommunityId], node: NodeId) -> Vec<Tie> {
    let (mut near, mut sums) = (Vec::new(), BTreeMap::<CommunityId, f64>::new());
    neighbours(graph, node, &mut near);
    for neighbour in near.iter().filter(|neighbour| neighbour.sum > 0.0) {
        if let Some(community) = of.get(neighbour.node.at()) {
            *sums.entry(*community).or_insert(0.0) += neighbour.sum;
        }
    }
    let mut ties: Vec<Tie> = sums.into_iter().map(|(community, weight)| Tie { community, weight }).collect();
    ties.sort_unstable_by_key(|tie| (Reverse(tie.weight.to_bits()), tie.community));
    ties
}

/// The `most` nodes that are joined most to other communities than their own, by the weight of that descending, then by
/// external id; those that are joined to none are left out.
#[must_use]
pub fn bridges(graph: &Graph, of: &[CommunityId], most: usize) -> Vec<NodeId> {
    let mut outside = vec![0.0_f64; graph.node_count()];
    for node in graph.nodes() {
        let part = graph.excitatory(node);
        for (target, weight) in part.targets.iter().zip(part.weights) {
            let target = *target as usize;
            if of.get(node.at()) != of.get(target) {
                let weight = f64::from(weight_of(weight));
                outside[node.at()] += weight;
                outside[target] += weight;
            }
        }
    }
    let mut best = Best::new(most);
    for (node, outside) in graph.nodes().zip(outside).filter(|(_, outside)| *outside > 0.0) {
        // Bits of numbers that are not negative are in the order of the numbers.
        best.offer((outside.to_bits(), Reverse(graph.rank(node)), node));
    }
    best.into_sorted().into_iter().map(|(_, _, node)| node).collect()
}
