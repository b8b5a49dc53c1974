//! Bridge nodes: how strongly a node is joined to communities other than its own.
//!
//! The link between a node and a community is the sum of the weights of all excitatory slots between the node and its
//! members, in either direction, without self-loops.
//!
//! # Design notes
//! Bridges are ranked by outside weight and not by its share: a leaf with one slot into each of two communities has the
//! greatest share possible, and joins nothing that others need. So hubs come first, as they should.
//!
//! The outside weight is summed over all slots in one pass, without sorting; the communities are worked out only for the
//! nodes of the result. Sums of slots are exact, in any order ([`crate::graph::pairs`]).

use crate::graph::Graph;
use crate::graph::csr::weight_of;
use crate::graph::index::{CommunityId, NodeId};
use crate::graph::pairs::neighbours;
use crate::top_k::TopK;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Link between a node and a community.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommunityLink {
    /// The community.
    pub community: CommunityId,
    /// The sum of the weights between them, above 0.
    pub weight: f64,
}

/// The links of a node to all communities, by weight descending, then by id. `of` gives the community of each node.
#[must_use]
pub fn community_links(graph: &Graph, of: &[CommunityId], node: NodeId) -> Vec<CommunityLink> {
    let (mut near, mut sums) = (Vec::new(), BTreeMap::<CommunityId, f64>::new());
    neighbours(graph, node, &mut near);
    for neighbour in near.iter().filter(|neighbour| neighbour.sum > 0.0) {
        if let Some(community) = of.get(neighbour.node.at()) {
            *sums.entry(*community).or_insert(0.0) += neighbour.sum;
        }
    }
    let mut community_links: Vec<CommunityLink> =
        sums.into_iter().map(|(community, weight)| CommunityLink { community, weight }).collect();
    community_links.sort_unstable_by_key(|link| (Reverse(link.weight.to_bits()), link.community));
    community_links
}

/// The `most` nodes with the greatest weight to communities other than their own, by that weight descending, then by
/// external id; nodes without such weight are left out.
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
    let mut best = TopK::new(most);
    for (node, outside) in graph.nodes().zip(outside).filter(|(_, outside)| *outside > 0.0) {
        // Bits of non-negative numbers sort like the numbers.
        best.push((outside.to_bits(), Reverse(graph.rank(node)), node));
    }
    best.into_sorted().into_iter().map(|(_, _, node)| node).collect()
}
