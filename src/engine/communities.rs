//! Community detection: Louvain's method, refined on the way up and on the way down.
//!
//! Louvain (Blondel, Guillaume, Lambiotte and Lefebvre, 2008) level by level, with the refinement of Leiden (Traag,
//! Waltman and van Eck, 2019), on the undirected view of the graph: a pair weighs the sum of the effective weights of all
//! its excitatory slots in either direction, and self-loops count. Inhibitory slots are ignored.
//!
//! The objective is modularity, `Q = sum over communities of L / M - r * (D / 2M)^2`: `M` is the weight of all pairs and
//! loops, `L` of those inside a community, `D` the strength of its nodes, to which a loop of weight `w` adds `2w`. `r` is
//! the resolution: above 1 communities get smaller. With `r = 1`, `Q` lies in `[-0.5, 1]`.
//!
//! Nodes of the graph move (`moving`), and two cycles follow. A cycle makes each community a node of the next level, where
//! nodes move too, until nothing is left to merge. Then it comes down again, and at each level the nodes move once more,
//! out of the communities that the levels above chose for them (the refinement of Rotta and Noack, 2011). The second cycle
//! first splits each community into well-connected parts (`refining`): these are the nodes of the next level, which begins
//! with the communities of this one. It runs on demand, in time that grows with the graph. [`bridges`] finds the nodes
//! between communities.
//!
//! # Design notes
//! The method is deterministic: nodes move and merge by id, and ids follow from content. So the order in which a graph was
//! built cannot show (`the_partition_is_independent_of_order`).
//!
//! Moves on the way down give the most for their time: in the first cycle a tenth of the modularity of R-MAT graphs, whose
//! communities are faint, for less than three passes over all pairs. Parts cost more, since they make levels nearly as large
//! as the graph. They give a fiftieth in the second cycle, and would give little more in both.
//!
//! A node that moves away may separate those that it joined. So at the end communities are split into their components, each
//! of these is merged where it gains, and what that separates is split again: every community is connected (held by
//! `connected`).

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
/// Least gain of a round of moves that reads all pairs of the graph once, as a share of the total weight.
const GAIN_ROUND: f64 = 1e-3;

/// Result of [`communities`].
#[derive(Debug, Clone, PartialEq)]
pub struct Partition {
    /// The community of each node. The largest is 0; of equal ones the one with the first external id comes first.
    pub membership: Vec<CommunityId>,
    /// Number of communities.
    pub count: usize,
    /// Modularity; 0 in a graph without edges.
    pub modularity: f64,
    /// Number of levels used, that of the graph included.
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
    /// Least gain of a round for each entry of a row that it reads.
    gain_each: f64,
}

/// Finds the communities of a graph at a resolution.
#[must_use]
pub fn communities(graph: &Graph, resolution: PosF32) -> Partition {
    let mut tally = Tally::of(graph.node_count());
    let level = Level::of(graph, &mut tally);
    let total = level.total();
    // Without bounds in a graph without edges, where nothing is ever compared to them.
    let scale = Scale {
        cost: f64::from(resolution.get()) / (2.0 * total),
        gain_min: GAIN_MIN * total,
        gain_each: GAIN_ROUND * total / level.entries() as f64,
    };
    let mut of: Vec<u32> = level.nodes().collect();
    let mut search = Search { scale, tally, levels: 1, settled: true };
    search.moves(&level, &mut of);
    for refines in [false, true] {
        search.cycle(&level, &mut of, refines, 1);
    }
    // The components of communities are the nodes of a last level.
    let (mut of, count) = level.components(&of);
    let last = level.merged(&of, count, &mut search.tally);
    let mut joined: Vec<u32> = last.nodes().collect();
    search.moves(&last, &mut joined);
    let (joined, count) = last.components(&joined);
    let modularity = last.quality(&joined, count, resolution);
    for place in &mut of {
        *place = joined[*place as usize];
    }
    let flags = Flags::default().with(Flag::CommunitiesUnconverged, !search.settled);
    let membership = by_size(graph, &of, count);
    Partition { membership, count, modularity, levels: search.levels, flags }
}

/// What all levels of a search share.
struct Search {
    scale: Scale,
    tally: Tally,
    /// The greatest number of levels so far.
    levels: u32,
    /// Whether no limit has ended anything so far.
    settled: bool,
}

impl Search {
    /// Moves the nodes of a level.
    fn moves(&mut self, level: &Level, of: &mut [u32]) {
        let looks_max = LOOKS_EACH * level.len() as u64;
        self.settled &= move_nodes(level, of, self.scale, looks_max, &mut self.tally);
    }

    /// Merges the communities of a level, or the parts of each, into the nodes of a next one, lets these move and merge in
    /// turn, and then moves the nodes of this level again. It is the `levels`th, counted from the graph.
    fn cycle(&mut self, level: &Level, of: &mut [u32], refines: bool, levels: u32) {
        renumber(of);
        let mut parts = if refines { refine(level, of, self.scale, &mut self.tally) } else { of.to_vec() };
        let count = renumber(&mut parts);
        if count == level.len() {
            return;
        }
        if levels == LEVELS_MAX {
            self.settled = false;
            return;
        }
        self.levels = self.levels.max(levels + 1);
        let mut merged = vec![0; count];
        for (part, community) in parts.iter().zip(&*of) {
            merged[*part as usize] = *community;
        }
        let next = level.merged(&parts, count, &mut self.tally);
        self.moves(&next, &mut merged);
        self.cycle(&next, &mut merged, refines, levels + 1);
        for (of, part) in of.iter_mut().zip(parts) {
            *of = merged[part as usize];
        }
        self.moves(level, of);
    }
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
