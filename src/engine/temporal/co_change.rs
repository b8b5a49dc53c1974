//! Co-change: pairs of nodes that were observed to change together, and pairs expected to from the graph.
//!
//! *Observed*: each change set (a commit, a session) with two nodes adds a tenth to each in the row of the other, up to 1.
//! *Expected*, for nodes without observations: the best product of `0.3 * weight` over at most three slots. The score of a
//! node is the greatest of both over all seeds, times the score of the seed.
//!
//! There are two budgets: a row holds a hundred pairs and the matrix half a million. The most frequent pairs are kept, then
//! by external id. Only pairs that do not fit in the matrix are counted as refused.
//!
//! # Design notes
//! Budgets are applied after a batch of observations, to all of them. If each observation were judged alone, a full matrix
//! would hold the first ones and not the most frequent. So observations have no order: within one batch of any size, and
//! over batches as long as sums stay below the budgets, since dropped pairs are forgotten. A graph is one batch.
//!
//! Expectations are computed for the seeds of a query and not cached or counted in the budget, which the first few thousand
//! nodes would exhaust. Learning changes weights in place, so a cached row would make a result depend on earlier queries;
//! and a query has at most two hundred seeds, each of which reads at most [`SLOTS_MAX`] slots. Beyond these, which only a
//! hub has, rows are read strongest slots first.
//!
//! Only the best hundred of each number of hops continue. Each hop loses value, so a successor of the hundredth comes after
//! a hundred others at the end, too (held by `expected_as_defined`).

use crate::graph::Graph;
use crate::graph::csr::{SlotRange, weight_of};
use crate::graph::index::NodeId;
use crate::merge::greatest;
use std::cmp::Reverse;

/// Greatest number of pairs of a row, observed or expected.
pub const ROW_MAX: usize = 100;
/// Greatest number of observed pairs of all rows, counted in both directions.
pub const PAIRS_MAX: usize = 500_000;
/// Greatest number of slots read for the expectations of one node.
pub const SLOTS_MAX: usize = 4_096;
/// Relationship type whose weights count sessions with both memories.
const OBSERVED: &str = "COACTIVATED";
/// Observations of a pair for a value of 1.
const TIMES_MAX: u8 = 10;
/// Factor of an expectation for a hop over a slot of weight 1.
const GAIN: f32 = 0.3;
/// Greatest factor of a hop, for weights above 3: a hop always loses.
const GAIN_MAX: f32 = 0.95;
/// Greatest number of hops of an expectation.
const HOPS_MAX: usize = 3;
/// Expectations up to this are dropped.
const EXPECTED_MIN: f32 = 0.001;

/// Observations of one node in the row of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    of: NodeId,
    with: NodeId,
    /// At most [`TIMES_MAX`].
    times: u8,
}

/// Observed pairs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoChangeMatrix {
    /// Sorted by node, then by the other.
    pairs: Vec<Pair>,
    refused: u64,
}

impl CoChangeMatrix {
    /// The pairs joined by `COACTIVATED`, with the weight as the number of observations. Of two different slots the
    /// greater counts in both directions.
    #[must_use]
    pub fn of_slots(graph: &Graph) -> Self {
        let Some(observed) = graph.find_relation(OBSERVED) else { return Self::default() };
        let mut seen: Vec<(NodeId, NodeId, u32)> = Vec::new();
        for node in graph.nodes() {
            for slot in graph.slots(node).filter(|slot| graph.is_of(*slot, observed)) {
                let other = graph.target(slot);
                seen.push((node.min(other), node.max(other), observations(graph.base(slot))));
            }
        }
        seen.sort_unstable_by_key(|(a, b, times)| (*a, *b, Reverse(*times)));
        seen.dedup_by_key(|(a, b, _)| (*a, *b));
        let mut matrix = Self::default();
        matrix.observe_pairs(graph, seen);
        matrix
    }

    /// Adds one observation of a change set. The cost is quadratic in its size.
    pub fn observe(&mut self, graph: &Graph, change_set: &[NodeId]) {
        let mut set = change_set.to_vec();
        set.sort_unstable();
        set.dedup();
        let pairs = set.iter().enumerate().flat_map(|(at, a)| set[at + 1..].iter().map(move |b| (*a, *b, 1)));
        self.observe_pairs(graph, pairs);
    }

    /// Adds a batch of pairs with their numbers of observations, in any order.
    pub fn observe_pairs(&mut self, graph: &Graph, pairs: impl IntoIterator<Item = (NodeId, NodeId, u32)>) {
        for (a, b, times) in pairs {
            let times = u8::try_from(times).unwrap_or(u8::MAX).min(TIMES_MAX);
            if a != b && times > 0 {
                self.pairs.extend([Pair { of: a, with: b, times }, Pair { of: b, with: a, times }]);
            }
        }
        // An adaptive sort: nearly all pairs are sorted already if a batch is small.
        self.pairs.sort_by_key(|pair| (pair.of, pair.with));
        self.pairs.dedup_by(|more, kept| {
            let same = (more.of, more.with) == (kept.of, kept.with);
            if same {
                kept.times = (kept.times + more.times).min(TIMES_MAX);
            }
            same
        });
        let mut kept = Vec::with_capacity(self.pairs.len());
        for row in self.pairs.chunk_by(|a, b| a.of == b.of) {
            kept.extend(strongest_pairs(graph, row, ROW_MAX));
        }
        self.pairs = strongest_pairs(graph, &kept, PAIRS_MAX).collect();
        self.pairs.shrink_to_fit();
        self.refused += (kept.len() - self.pairs.len()) as u64;
    }

    /// The nodes observed to change with a node, by id, with values `0.1 ..= 1`.
    pub fn observed(&self, node: NodeId) -> impl Iterator<Item = (NodeId, f32)> {
        let row = &self.pairs[self.pairs.partition_point(|pair| pair.of < node)..];
        let row = &row[..row.partition_point(|pair| pair.of == node)];
        row.iter().map(|pair| (pair.with, f32::from(pair.times) / f32::from(TIMES_MAX)))
    }

    /// Number of pairs that did not fit, counted in both directions.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// Whether pairs did not fit; sets [`Flag::CochangeFull`](crate::Flag::CochangeFull).
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.refused > 0
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pairs.capacity() * size_of::<Pair>()
    }
}

/// The number of observations that gives this weight, `1 - 2^(-n / 3)`; at most ten.
fn observations(base: f32) -> u32 {
    let seen = -3.0 * libm::log2((1.0 - f64::from(base)).max(0.0));
    (1..=u32::from(TIMES_MAX)).take_while(|times| seen >= f64::from(*times) - 0.5).last().unwrap_or(0)
}

/// Sort key of a pair: frequent pairs first, then by external ids, the two directions of a pair together.
fn place(graph: &Graph, pair: &Pair) -> (Reverse<u8>, u32, u32, u32) {
    let (of, with) = (graph.rank(pair.of), graph.rank(pair.with));
    (Reverse(pair.times), of.max(with), of.min(with), of)
}

/// The `most` first pairs by [`place`], in their original order.
fn strongest_pairs(graph: &Graph, pairs: &[Pair], most: usize) -> impl Iterator<Item = Pair> {
    let bar = (pairs.len() > most).then(|| {
        let mut places: Vec<_> = pairs.iter().map(|pair| place(graph, pair)).collect();
        *places.select_nth_unstable(most).1
    });
    pairs.iter().copied().filter(move |pair| bar.is_none_or(|bar| place(graph, pair) < bar))
}

/// The strongest expectations of a node, by value descending, then by external id.
fn expected(graph: &Graph, node: NodeId) -> Vec<(NodeId, f32)> {
    let mut row: Vec<(NodeId, f32)> = Vec::new();
    let mut level = vec![(node, 1.0_f32)];
    let (mut left, mut bar) = (SLOTS_MAX, 0.0_f32);
    for _ in 0..HOPS_MAX {
        let mut next = Vec::new();
        for (from, value) in &level {
            left -= follow(&graph.excitatory(*from), *value, bar, left, &mut next);
        }
        next.retain(|(target, _)| *target != node);
        level = strongest(graph, next);
        row.extend(&level);
        row = strongest(graph, row);
        // Nodes below the hundredth are dropped, with their successors.
        if let Some((_, hundredth)) = row.get(ROW_MAX - 1) {
            bar = *hundredth;
        }
    }
    row
}

/// Appends the expectations over the slots of a row, of which at most `most` are read; returns how many were.
fn follow(part: &SlotRange<'_>, value: f32, bar: f32, most: usize, next: &mut Vec<(NodeId, f32)>) -> usize {
    let mut read = 0;
    for (target, weight) in part.targets.iter().zip(part.weights).take(most) {
        read += 1;
        let product = value * (weight_of(weight) * GAIN).min(GAIN_MAX);
        if product > EXPECTED_MIN && product >= bar {
            next.push((NodeId(*target), product));
        } else if !part.learned && !part.is_learned_by_now() {
            break;
        }
    }
    read
}

/// Each node once with its greatest value, the greatest hundred, by value descending, then by external id.
fn strongest(graph: &Graph, row: Vec<(NodeId, f32)>) -> Vec<(NodeId, f32)> {
    let mut row = greatest(row);
    let place = |(node, value): &(NodeId, f32)| (Reverse(value.to_bits()), graph.rank(*node));
    if row.len() > ROW_MAX {
        row.select_nth_unstable_by_key(ROW_MAX, place);
        row.truncate(ROW_MAX);
    }
    row.sort_unstable_by_key(place);
    row
}

/// Co-change with the seeds, by node, in `(0, 1]`. Scores of seeds are `0 ..= 1`; a seed can change with another one, and one
/// that the graph does not have is ignored.
#[must_use]
pub fn co_changed(graph: &Graph, matrix: &CoChangeMatrix, seeds: &[(NodeId, f32)]) -> Vec<(NodeId, f32)> {
    let mut found = Vec::new();
    for (seed, score) in greatest(seeds.to_vec()).into_iter().filter(|(seed, _)| graph.has_node(*seed)) {
        let score = score.min(1.0);
        let row = matrix.observed(seed).chain(expected(graph, seed));
        found.extend(row.map(|(node, value)| (node, score * value)));
    }
    greatest(found)
}

#[cfg(test)]
mod tests;
