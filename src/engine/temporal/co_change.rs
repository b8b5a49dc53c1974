//! What changes together: pairs that were seen to, and for each seed what its graph lets one expect.
//!
//! *Observed*: each time two nodes are of one change set - a commit, a session - each of them gets a tenth in the row of
//! the other, up to 1. *Expected*, where nothing was observed yet: the best product of `0.3 * weight` over at most three
//! slots. What changes with the seeds of a question is the greatest of both over all seeds, times the score of the seed.
//!
//! Two budgets: a row holds a hundred pairs and the matrix half a million. What was seen most often stays, and of equals
//! the one whose external id comes first. What does not fit in a row gives way quietly; what does not fit in the matrix is
//! counted and told.
//!
//! # Design notes
//! Budgets are kept when a batch of observations is in, and judge it as a whole. If each observation were judged when it
//! comes, a full matrix would hold what came first and not what counts most. So observations have no order: within one
//! batch whatever its size, and over batches as long as sums stay below the budgets, since what gave way is forgotten. A
//! graph is one batch.
//!
//! What is expected is worked out for the seeds of a question when they are known, and takes nothing of the budget: else
//! the first few thousand nodes would take all of it. It is not kept either. Learning moves weights in place, so a row that
//! was kept would make an answer depend on who asked before; and a question has at most two hundred seeds, of which each
//! reads at most [`SLOTS_MAX`] slots. Beyond these, which only a hub has, rows are read strongest slots first.
//!
//! Only the best hundred of each number of hops go on. Each hop loses, so what comes after the hundredth comes after a
//! hundred others at the end, too (held by `expected_as_defined`).

use crate::graph::Graph;
use crate::graph::csr::weight_of;
use crate::graph::index::NodeId;
use crate::merge::greatest;
use std::cmp::Reverse;

/// Pairs of one row at most, observed or expected.
pub const ROW_MAX: usize = 100;
/// Observed pairs of all rows at most, each way counted.
pub const PAIRS_MAX: usize = 500_000;
/// Slots that are read for what is expected of one node.
pub const SLOTS_MAX: usize = 4_096;
/// The relation whose slots say how often two memories were used in one session.
const OBSERVED: &str = "COACTIVATED";
/// How often a pair is seen until it counts 1.
const TIMES_MAX: u8 = 10;
/// What is left of an expectation after a hop over a slot of weight 1.
const GAIN: f32 = 0.3;
/// The same over any slot at most, where weights may be above 3: a hop always loses.
const GAIN_MAX: f32 = 0.95;
/// Hops of an expectation at most.
const HOPS_MAX: usize = 3;
/// Below this and at it nothing is expected.
const EXPECTED_MIN: f32 = 0.001;

/// What was seen of one node in the row of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    of: NodeId,
    with: NodeId,
    /// At most [`TIMES_MAX`].
    times: u8,
}

/// Pairs that were seen to change together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoChangeMatrix {
    /// By node, then by the other: a row is found by halves.
    pairs: Vec<Pair>,
    refused: u64,
}

impl CoChangeMatrix {
    /// What the sessions of memories say: the pairs that `COACTIVATED` joins, each as often as its weight says. Of two
    /// halves that differ the greater counts, both ways.
    #[must_use]
    pub fn of_slots(graph: &Graph) -> Self {
        let mut seen: Vec<(NodeId, NodeId, u32)> = Vec::new();
        for node in graph.nodes() {
            for slot in graph.slots(node).filter(|slot| graph.relation(*slot) == OBSERVED) {
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

    /// Takes in that some nodes changed together, once. Costs the square of how many they are.
    pub fn observe(&mut self, graph: &Graph, change_set: &[NodeId]) {
        let mut set = change_set.to_vec();
        set.sort_unstable();
        set.dedup();
        let pairs = set.iter().enumerate().flat_map(|(at, a)| set[at + 1..].iter().map(move |b| (*a, *b, 1)));
        self.observe_pairs(graph, pairs);
    }

    /// Takes in a batch of pairs that changed together so many times, in any order.
    pub fn observe_pairs(&mut self, graph: &Graph, pairs: impl IntoIterator<Item = (NodeId, NodeId, u32)>) {
        for (a, b, times) in pairs {
            let times = u8::try_from(times).unwrap_or(u8::MAX).min(TIMES_MAX);
            if a != b && times > 0 {
                self.pairs.extend([Pair { of: a, with: b, times }, Pair { of: b, with: a, times }]);
            }
        }
        // A sort that finds what is sorted already: nearly all of it, where a batch is small.
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

    /// What was seen to change with a node, by id, and how strongly: `0.1 ..= 1`.
    pub fn observed(&self, node: NodeId) -> impl Iterator<Item = (NodeId, f32)> {
        let row = &self.pairs[self.pairs.partition_point(|pair| pair.of < node)..];
        let row = &row[..row.partition_point(|pair| pair.of == node)];
        row.iter().map(|pair| (pair.with, f32::from(pair.times) / f32::from(TIMES_MAX)))
    }

    /// How many pairs did not fit, each way counted.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// Whether pairs did not fit: what raises [`Flag::CochangeFull`](crate::Flag::CochangeFull).
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.refused > 0
    }

    /// Bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pairs.capacity() * size_of::<Pair>()
    }
}

/// How many observations make this weight, `1 - 2^(-n / 3)`: ten at most, since more say no more.
fn observations(base: f32) -> u32 {
    let seen = -3.0 * libm::log2((1.0 - f64::from(base)).max(0.0));
    (1..=u32::from(TIMES_MAX)).take_while(|times| seen >= f64::from(*times) - 0.5).last().unwrap_or(0)
}

/// Where a pair stands by what was seen of it: often before seldom, of equals by external ids, the two ways of one pair
/// beside each other.
fn place(graph: &Graph, pair: &Pair) -> (Reverse<u8>, u32, u32, u32) {
    let (of, with) = (graph.rank(pair.of), graph.rank(pair.with));
    (Reverse(pair.times), of.max(with), of.min(with), of)
}

/// The `most` that stand first, in the order in which they came.
fn strongest_pairs(graph: &Graph, pairs: &[Pair], most: usize) -> impl Iterator<Item = Pair> {
    let bar = (pairs.len() > most).then(|| {
        let mut places: Vec<_> = pairs.iter().map(|pair| place(graph, pair)).collect();
        *places.select_nth_unstable(most).1
    });
    pairs.iter().copied().filter(move |pair| bar.is_none_or(|bar| place(graph, pair) < bar))
}

/// What may be expected to change with a node: the strongest, by value descending, then by external id.
fn expected(graph: &Graph, node: NodeId) -> Vec<(NodeId, f32)> {
    let mut row: Vec<(NodeId, f32)> = Vec::new();
    let mut level = vec![(node, 1.0_f32)];
    let (mut left, mut bar) = (SLOTS_MAX, 0.0_f32);
    for _ in 0..HOPS_MAX {
        let mut next = Vec::new();
        for (from, value) in &level {
            let part = graph.excitatory(*from);
            for (target, weight) in part.targets.iter().zip(part.weights).take(left) {
                left -= 1;
                let product = value * (weight_of(weight) * GAIN).min(GAIN_MAX);
                if product > EXPECTED_MIN && product >= bar {
                    next.push((NodeId(*target), product));
                } else if !part.learned {
                    break;
                }
            }
        }
        next.retain(|(target, _)| *target != node);
        level = strongest(graph, next);
        row.extend(&level);
        row = strongest(graph, row);
        // Whoever is below the hundredth is not among them, nor is what it leads to.
        if let Some((_, hundredth)) = row.get(ROW_MAX - 1) {
            bar = *hundredth;
        }
    }
    row
}

/// Each node once with its greatest value, of these the greatest hundred, by value descending, then by external id.
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

/// What changes with the seeds, by node, in `(0, 1]`. Scores of seeds are `0 ..= 1`; a seed can change with another one.
#[must_use]
pub fn co_changed(graph: &Graph, matrix: &CoChangeMatrix, seeds: &[(NodeId, f32)]) -> Vec<(NodeId, f32)> {
    let mut found = Vec::new();
    for (seed, score) in greatest(seeds.to_vec()) {
        let score = score.min(1.0);
        let row = matrix.observed(seed).chain(expected(graph, seed));
        found.extend(row.map(|(node, value)| (node, score * value)));
    }
    greatest(found)
}

#[cfg(test)]
mod tests;
