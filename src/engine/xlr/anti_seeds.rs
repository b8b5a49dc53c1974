//! Chooses anti-seeds: up to three nodes of similar degree as the seeds, with other neighbours.
//!
//! Candidates are random, seeded by the external ids of the seeds: other queries have other candidates, the same query the
//! same. In a small graph all nodes are candidates, in a random order.
//!
//! # Design notes
//! Bounds are compared as fractions of integers, so that they are exact. The anti-seeds of seeds without neighbours have no
//! neighbours either.
//!
//! The check is cheap. Candidates of another degree are rejected before their neighbours are read. Only neighbours that are
//! near a seed can be shared; most often they are too few for any seed. Otherwise each is looked up in the reverse index,
//! and the rows of seeds are not read again.

use super::near::Near;
use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::random::{below, mixed, stable_hash};

/// Greatest number of anti-seeds.
const ANTI_SEEDS: usize = 3;
/// Number of candidates drawn.
const DRAWS: u64 = 1_024;
/// Least degree, as a fraction of the mean degree of the seeds: 3 of 10.
const DEGREE_LEAST: (u64, u64) = (3, 10);
/// The share of common neighbours must be below one part in this number: `MAX_JACCARD`, 0.2.
const JACCARD_PARTS: u64 = 5;

/// Reusable buffers.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// Candidates of a small graph with their random keys, then by external id.
    drawn: Vec<(u64, u32, NodeId)>,
    /// Seeds by external id, then neighbours of a candidate that are near one.
    nodes: Vec<NodeId>,
}

impl Buffers {
    pub(super) fn bytes(&self) -> usize {
        16 * self.drawn.capacity() + 4 * self.nodes.capacity()
    }
}

/// The first three candidates that fit, by external id. The seeds are distinct, and `near` contains their neighbours.
pub(super) fn choose(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    near: &Near,
    buffers: &mut Buffers,
) -> Vec<NodeId> {
    let degrees = seeds.iter().map(|(seed, _)| u64::from(graph.degree(*seed))).sum();
    let judge = Judge { graph, seeds, near, degrees };
    let Buffers { drawn, nodes } = buffers;
    let named = named(graph, seeds, nodes);
    let count = graph.node_count() as u64;
    let mut chosen = if count <= DRAWS {
        drawn.clear();
        let fitting = graph.nodes().filter(|node| judge.fits(*node));
        drawn.extend(fitting.map(|node| (mixed(named ^ stable_hash(graph, node)), graph.rank(node), node)));
        drawn.sort_unstable();
        first(drawn.iter().map(|(_, _, node)| *node), |node| judge.is_unlike(node, nodes))
    } else {
        let places = (0..DRAWS).map(|draw| below(mixed(named.wrapping_add(draw)), count));
        let candidates = places.filter_map(|place| u32::try_from(place).ok()).map(NodeId);
        first(candidates, |node| judge.fits(node) && judge.is_unlike(node, nodes))
    };
    chosen.sort_unstable_by_key(|node| graph.rank(*node));
    chosen
}

/// Seed of the random stream: a hash of the external ids of the seeds.
fn named(graph: &Graph, seeds: &[(NodeId, f32)], order: &mut Vec<NodeId>) -> u64 {
    order.clear();
    order.extend(seeds.iter().map(|(seed, _)| *seed));
    order.sort_unstable_by_key(|seed| graph.rank(*seed));
    let bytes = order.iter().flat_map(|seed| graph.external_id(*seed).bytes().chain([0xFF]));
    bytes.fold(0, |state, byte| mixed(state ^ u64::from(byte)))
}

/// The first distinct candidates that fit.
fn first(candidates: impl Iterator<Item = NodeId>, mut does: impl FnMut(NodeId) -> bool) -> Vec<NodeId> {
    let mut chosen = Vec::new();
    for node in candidates {
        if !chosen.contains(&node) && does(node) {
            chosen.push(node);
            if chosen.len() == ANTI_SEEDS {
                break;
            }
        }
    }
    chosen
}

/// Conditions on candidates.
struct Judge<'a> {
    graph: &'a Graph,
    seeds: &'a [(NodeId, f32)],
    near: &'a Near,
    /// Sum of the degrees of the seeds.
    degrees: u64,
}

impl Judge<'_> {
    /// Whether a node has a similar degree as the seeds, and is neither a seed nor a neighbour of one.
    fn fits(&self, node: NodeId) -> bool {
        // Both times the number of seeds, so that the mean is an integer.
        let (own, mean) = (u64::from(self.graph.degree(node)) * self.seeds.len() as u64, self.degrees);
        let (part, of) = DEGREE_LEAST;
        of * own >= part * mean && part * own <= of * mean && !self.near.is_within_one_hop(node)
    }

    /// Whether a node that [fits](Self::fits) has other neighbours than each of the seeds. A node counts as its own neighbour.
    fn is_unlike(&self, node: NodeId, common: &mut Vec<NodeId>) -> bool {
        self.near.common(self.graph, node, common);
        let degree = u64::from(self.graph.degree(node));
        self.seeds.iter().all(|(seed, _)| {
            let of_seed = u64::from(self.graph.degree(*seed));
            let unlike = |shared: u64| JACCARD_PARTS * shared < degree + of_seed + 2 - shared;
            let shared = || common.iter().filter(|other| joined(self.graph, **other, *seed)).count() as u64;
            unlike(of_seed.min(common.len() as u64)) || unlike(shared())
        })
    }
}

/// Whether two nodes are joined by a slot in either direction.
fn joined(graph: &Graph, a: NodeId, b: NodeId) -> bool {
    graph.sources(a).binary_search(&b.0).is_ok() || graph.sources(b).binary_search(&a.0).is_ok()
}
