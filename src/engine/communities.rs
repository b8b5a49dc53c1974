//! Community detection: Louvain's method with the refinement of Leiden.
//!
//! Louvain (Blondel, Guillaume, Lambiotte and Lefebvre, 2008) level by level, with the refinement of Leiden (Traag,
//! Waltman and van Eck, 2019), on the undirected view of the graph: a pair weighs the sum of the effective weights of all
//! its excitatory slots in either direction, and self-loops count. Inhibitory slots are ignored.
//!
//! The objective is modularity, `Q = sum over communities of L / M - r * (D / 2M)^2`: `M` is the weight of all pairs and
//! loops, `L` of those inside a community, `D` the strength of its nodes, to which a loop of weight `w` adds `2w`. `r` is
//! the resolution: above 1 communities get smaller. With `r = 1`, `Q` lies in `[-0.5, 1]`.
//!
//! A level moves nodes (`moving`), splits each community into well-connected parts (`refining`) and makes each part a node
//! of the next level, which begins with the communities of this one. It ends when nothing is left to merge. It runs on
//! demand, in time that grows with the graph. [`bridges`] finds the nodes between communities.
//!
//! # Design notes
//! The method is deterministic: nodes move and merge by id, and ids follow from content. So the order in which a graph was
//! built cannot show (`the_partition_is_independent_of_order`).
//!
//! A part only grows by nodes that are joined to it, so a node of any level is connected. Communities that are still
//! disconnected at the last level, where there is little left to examine, are split into their components: so every
//! community is connected (held by `connected`).

pub mod bridges;
mod level;
mod moving;
mod refining;

#[cfg(test)]
mod tests;

use super::{Flag, Flags};
use crate::graph::Graph;
use crate::graph::csr::weight_of;
use crate::graph::index::CommunityId;
use crate::graph::number::PosF32;
use level::{Level, Tally};
use moving::move_nodes;
use refining::refine;
use std::cmp::Reverse;

/// Greatest number of levels.
pub const LEVELS_MAX: u32 = 20;
/// Greatest number of node visits in a level, for each of its nodes.
const LOOKS_EACH: u64 = 20;
/// Least gain of a move, as a share of the total weight.
const GAIN_MIN: f64 = 1e-9;

/// Result of [`communities`].
#[derive(Debug, Clone, PartialEq)]
pub struct Partition {
    /// The community of each node. The largest is 0; of equal ones the one with the first external id comes first.
    pub membership: Vec<CommunityId>,
    /// Number of communities.
    pub count: usize,
    /// Modularity; 0 in a graph without edges.
    pub modularity: f64,
    /// Number of levels used.
    pub levels: u32,
    /// Whether it stopped before convergence.
    pub flags: Flags,
}

/// Constants of the gain, in units of weight.
#[derive(Debug, Clone, Copy)]
struct Scale {
    /// Cost of joining two nodes of strength 1: `r / 2M`.
    cost: f64,
    /// Least gain of a move.
    gain_min: f64,
}

/// Finds the communities of a graph at a resolution.
#[must_use]
pub fn communities(graph: &Graph, resolution: PosF32) -> Partition {
    let mut tally = Tally::of(graph.node_count());
    let mut level = Level::of(graph, &mut tally);
    let total = level.total();
    // Infinite in a graph without edges, where it is never used.
    let scale = Scale { cost: f64::from(resolution.get()) / (2.0 * total), gain_min: GAIN_MIN * total };
    // For each node of the graph its node of the level, and for each of these its community.
    let mut places: Vec<u32> = level.nodes().collect();
    let mut of = places.clone();
    let (mut levels, mut settled) = (0, true);
    loop {
        levels += 1;
        settled &= move_nodes(&level, &mut of, scale, LOOKS_EACH * level.len() as u64, &mut tally);
        if renumber(&mut of) == level.len() {
            break;
        }
        if levels == LEVELS_MAX {
            settled = false;
            break;
        }
        let mut parts = refine(&level, &of, scale, &mut tally);
        let count = renumber(&mut parts);
        if count == level.len() {
            break;
        }
        let mut next = vec![0; count];
        for (part, community) in parts.iter().zip(&of) {
            next[*part as usize] = *community;
        }
        of = next;
        level = level.merged(&parts, count, &mut tally);
        for place in &mut places {
            *place = parts[*place as usize];
        }
    }
    let (connected, count) = level.components(&of);
    let modularity = level.quality(&connected, count, resolution);
    for place in &mut places {
        *place = connected[*place as usize];
    }
    let flags = Flags::default().with(Flag::CommunitiesUnconverged, !settled);
    Partition { membership: by_size(graph, &places, count), count, modularity, levels, flags }
}

/// The modularity of any partition. A node without a community, or with an id that is not below the number of nodes, is
/// a community of its own. 0 in a graph without edges.
#[must_use]
pub fn modularity(graph: &Graph, of: &[CommunityId], resolution: PosF32) -> f64 {
    let n = graph.node_count();
    let community = |node: usize| of.get(node).filter(|of| of.at() < n).map_or(n + node, |of| of.at());
    let (mut total, mut inner, mut strength) = (0.0, vec![0.0; 2 * n], vec![0.0; 2 * n]);
    for node in graph.nodes() {
        let part = graph.excitatory(node);
        let own = community(node.at());
        for (target, weight) in part.targets.iter().zip(part.weights) {
            let (other, weight) = (community(*target as usize), f64::from(weight_of(weight)));
            total += weight;
            inner[own] += if other == own { weight } else { 0.0 };
            strength[own] += weight;
            strength[other] += weight;
        }
    }
    quality(&inner, &strength, total, resolution)
}

/// Modularity from the inner weight and the strength of each community.
fn quality(inner: &[f64], strength: &[f64], total: f64, resolution: PosF32) -> f64 {
    if total <= 0.0 {
        return 0.0;
    }
    let of_one = |(inner, strength): (&f64, &f64)| {
        let share = strength / (2.0 * total);
        inner / total - f64::from(resolution.get()) * share * share
    };
    inner.iter().zip(strength).map(of_one).fold(0.0, |sum, of| sum + of)
}

/// Renumbers from 0 in the order of first appearance; returns the count. Old numbers are below the length.
fn renumber(of: &mut [u32]) -> usize {
    let mut numbers = vec![u32::MAX; of.len()];
    let mut count = 0;
    for number in of {
        let new = &mut numbers[*number as usize];
        if *new == u32::MAX {
            *new = count;
            count += 1;
        }
        *number = *new;
    }
    count as usize
}

/// Assigns ids by size, the largest first, then by the first external id.
fn by_size(graph: &Graph, of: &[u32], count: usize) -> Vec<CommunityId> {
    let numbers = 0..u32::try_from(count).unwrap_or(u32::MAX);
    let mut order: Vec<(Reverse<u32>, u32, u32)> =
        numbers.map(|number| (Reverse(0), u32::MAX, number)).collect();
    for (node, number) in graph.nodes().zip(of) {
        let (size, first, _) = &mut order[*number as usize];
        size.0 += 1;
        *first = graph.rank(node).min(*first);
    }
    order.sort_unstable();
    let mut ids = vec![CommunityId(0); count];
    for (id, (_, _, number)) in (0..).map(CommunityId).zip(order) {
        ids[number as usize] = id;
    }
    of.iter().map(|number| ids[*number as usize]).collect()
}
