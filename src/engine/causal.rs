//! Causal chains: effects of the seeds, and their causes.
//!
//! Two best-first searches, forward along causal slots and backward against them. A hop multiplies by `0.7 * strength` of
//! its slot; a chain begins with the score of its seed, has at most six hops, and ends where its strength is no longer
//! above 0.01. The score of a node is the strength of the strongest chain of either search that ends at it.
//!
//! A node keeps each chain that no other beats in strength at no more hops, so the hop limit is exact: a weaker but shorter
//! chain may continue where a stronger one must stop. Each hop loses strength, so chains are finished in the order of their
//! strength, and the first to finish at a node is its best.
//!
//! # Design notes
//! A chain has at least one hop and does not end at its own seed: being a seed is no evidence of a cause. One seed can
//! lead to another, and then their evidence agrees. So a chain is dominated by two others only if these come from two
//! seeds, since one of the two continues to any seed that the third would have reached; one of its own seed is enough.
//!
//! The budget counts finished chains, for each direction separately: dominated chains are not counted, so what the budget
//! cuts off is the weakest, whatever the order of slots. Products are rounded at each hop, as in activation.
//!
//! Invariant: without the budget the scores are those of all simple chains (held by `causal_enumeration`).

use super::activation::DEPTH_MAX;
use super::merge::greatest;
use crate::graph::builder::within;
use crate::graph::index::{EdgeIdx, NodeId};
use crate::graph::{Error, Graph};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Factor of a hop over a slot of causal strength 1.
pub const DISCOUNT: f32 = 0.7;
/// Greatest number of hops of a chain, whatever depth is configured.
pub const HOPS_MAX: u8 = 6;
/// Chains at or below this strength are dropped.
pub const STRENGTH_MIN: f32 = 0.01;
/// Greatest number of finished chains in one direction.
pub const POPS_MAX: usize = 10_000;

/// Direction of a causal chain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From cause to effect.
    #[default]
    Forward,
    /// From effect to cause.
    Backward,
}

impl Direction {
    const BOTH: [Self; 2] = [Self::Forward, Self::Backward];
}

impl Direction {
    /// Calls `hop` for each excitatory slot of a node in this direction.
    fn each(self, graph: &Graph, node: NodeId, mut hop: impl FnMut(NodeId, EdgeIdx)) {
        match self {
            Self::Forward => {
                let slots = graph.slots(node).take(graph.excitatory_slots(node));
                slots.for_each(|slot| hop(graph.target(slot), slot));
            }
            Self::Backward => {
                let slots = graph.incoming(node).filter(|(source, slot)| graph.is_excitatory(*source, *slot));
                slots.for_each(|(source, slot)| hop(source, slot));
            }
        }
    }
}

/// A causal chain from a seed to a node.
#[derive(Debug, Clone, PartialEq)]
pub struct CausalChain {
    /// Whether the chain goes from cause to effect or back.
    pub direction: Direction,
    /// Its nodes, the seed first; at least two.
    pub nodes: Vec<NodeId>,
    /// The slot of each hop. In a backward chain it leads from the later node to the earlier.
    pub slots: Vec<EdgeIdx>,
    /// The score of the seed times the factors of the hops, in `(0.01, 0.7]`.
    pub strength: f32,
}

/// A finished chain, by its last hop.
#[derive(Debug, Clone, Copy)]
struct Finished {
    node: NodeId,
    seed: NodeId,
    strength: f32,
    hops: u8,
    /// The index of the chain without its last hop, and the slot of that hop; `None` for a seed alone.
    before: Option<(usize, EdgeIdx)>,
}

/// A pending chain: bits of its strength, rank of its node, hops, the hop before (rank, index of the chain and slot), node.
/// The greatest goes first: strongest, then by external id, then fewest hops, then by the external id of the node before.
type Pending = (u32, Reverse<u32>, Reverse<u8>, Reverse<Option<(u32, usize, EdgeIdx)>>, NodeId);

/// Result of one search.
#[derive(Debug, Clone, Default)]
struct SearchResult {
    direction: Direction,
    finished: Vec<Finished>,
    /// The index of the best chain to each node that has one, by node.
    reached: Vec<(NodeId, usize)>,
    truncated: bool,
}

/// Result of [`causal_chains`].
#[derive(Debug, Clone, Default)]
pub struct CausalResult {
    /// The strength of the strongest chain of either direction to each node that has one, in `(0.01, 0.7]`, by node.
    pub scores: Vec<(NodeId, f32)>,
    /// Whether the budget ended a search; sets [`Flag::CausalTruncated`](super::Flag::CausalTruncated).
    pub truncated: bool,
    found: Vec<SearchResult>,
}

impl CausalResult {
    /// The best chain to a node in each direction that has one: by strength descending, then by hops, then by the external
    /// ids of its nodes.
    #[must_use]
    pub fn chains(&self, graph: &Graph, node: NodeId) -> Vec<CausalChain> {
        let mut chains: Vec<CausalChain> = self.found.iter().filter_map(|found| found.chain(node)).collect();
        let ids = |chain: &CausalChain| chain.nodes.iter().map(|node| graph.rank(*node)).collect::<Vec<_>>();
        chains.sort_by_key(|chain| (Reverse(chain.strength.to_bits()), chain.slots.len(), ids(chain)));
        chains
    }
}

/// Parameters of [`causal_chains`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CausalConfig {
    hops_max: u8,
}

impl Default for CausalConfig {
    fn default() -> Self {
        Self { hops_max: HOPS_MAX }
    }
}

impl CausalConfig {
    /// A depth limit, `1 ..= 20`, of which at most six hops are used.
    pub fn new(depth: u8) -> Result<Self, Error> {
        within("depth", f32::from(depth), 1.0, f64::from(DEPTH_MAX))?;
        Ok(Self { hops_max: depth.min(HOPS_MAX) })
    }
}

/// Finds the causal chains from seeds, whose scores are in `(0, 1]`; of duplicate nodes the greatest score counts,
/// and nodes that the graph does not have are ignored.
#[must_use]
pub fn causal_chains(graph: &Graph, seeds: &[(NodeId, f32)], config: CausalConfig) -> CausalResult {
    chains_along(graph, seeds, &Direction::BOTH, config)
}

/// As [`causal_chains`], in some directions only.
#[must_use]
pub fn chains_along(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    directions: &[Direction],
    config: CausalConfig,
) -> CausalResult {
    let mut seeds = greatest(seeds.to_vec());
    seeds.retain(|(node, score)| graph.has_node(*node) && *score > STRENGTH_MIN);
    seeds.iter_mut().for_each(|(_, score)| *score = score.min(1.0));
    let search = |direction: &Direction| search(graph, &seeds, *direction, config.hops_max);
    let found: Vec<SearchResult> = directions.iter().map(search).collect();
    let scores = greatest(found.iter().flat_map(SearchResult::scores).collect());
    let truncated = found.iter().any(|found| found.truncated);
    CausalResult { scores, truncated, found }
}

/// Searches in one direction.
fn search(graph: &Graph, seeds: &[(NodeId, f32)], direction: Direction, hops_max: u8) -> SearchResult {
    let mut found = SearchResult { direction, ..SearchResult::default() };
    let pending = |node: NodeId, strength: f32, hops: u8, before| -> Pending {
        (strength.to_bits(), Reverse(graph.rank(node)), Reverse(hops), Reverse(before), node)
    };
    let mut queue: BinaryHeap<Pending> =
        seeds.iter().map(|(node, score)| pending(*node, *score, 0, None)).collect();
    // Seeds and hops of the chains that were finished at a node.
    let mut known: HashMap<u32, SmallVec<[(NodeId, u8); 2]>> = HashMap::new();
    while let Some((bits, _, Reverse(hops), Reverse(before), node)) = queue.pop() {
        let seed = before.map_or(node, |(_, at, _)| found.finished[at].seed);
        let held = known.entry(node.0).or_default();
        if dominated(held, seed, hops) {
            continue;
        }
        if found.finished.len() == POPS_MAX {
            found.truncated = true;
            break;
        }
        held.push((seed, hops));
        let (at, strength) = (found.finished.len(), f32::from_bits(bits));
        let before = before.map(|(_, at, slot)| (at, slot));
        found.finished.push(Finished { node, seed, strength, hops, before });
        if hops == hops_max {
            continue;
        }
        direction.each(graph, node, |next, slot| {
            let strength = strength * (graph.causal(slot) * DISCOUNT);
            if strength > STRENGTH_MIN
                && known.get(&next.0).is_none_or(|held| !dominated(held, seed, hops + 1))
            {
                queue.push(pending(next, strength, hops + 1, Some((graph.rank(node), at, slot))));
            }
        });
    }
    let chains = found.finished.iter().enumerate().filter(|(_, finished)| finished.hops > 0);
    found.reached = chains.map(|(at, finished)| (finished.node, at)).collect();
    found.reached.sort_unstable();
    found.reached.dedup_by_key(|(node, _)| *node);
    found
}

/// Whether a chain from `seed` is dominated by stronger chains at the same node with no more hops: one of the same seed,
/// or two of different seeds.
fn dominated(held: &[(NodeId, u8)], seed: NodeId, hops: u8) -> bool {
    let mut seeds = held.iter().filter(|(_, other)| *other <= hops).map(|(seed, _)| *seed);
    let first = seeds.next();
    first.is_some_and(|first| first == seed || seeds.any(|other| other != first))
}

impl SearchResult {
    fn scores(&self) -> impl Iterator<Item = (NodeId, f32)> {
        self.reached.iter().map(|(node, at)| (*node, self.finished[*at].strength))
    }

    fn chain(&self, node: NodeId) -> Option<CausalChain> {
        let at = self.reached.binary_search_by_key(&node, |(node, _)| *node).ok()?;
        let mut here = &self.finished[self.reached[at].1];
        let (strength, mut nodes, mut slots) = (here.strength, vec![here.node], Vec::new());
        while let Some((before, slot)) = here.before {
            here = &self.finished[before];
            nodes.push(here.node);
            slots.push(slot);
        }
        nodes.reverse();
        slots.reverse();
        Some(CausalChain { direction: self.direction, nodes, slots, strength })
    }
}

#[cfg(test)]
mod tests;
