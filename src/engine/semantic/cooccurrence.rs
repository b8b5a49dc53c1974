//! Context similarity of nodes: PPMI vectors of random walks, compared by cosine.
//!
//! Twenty walks of ten nodes start at each node, and every step follows a random slot. Two distinct nodes of a walk at most
//! four positions apart co-occur once, which counts in the row of either. A row holds for each other node how much more
//! often the two co-occur than expected by chance: `PPMI = max(0, ln(c * T / (row * column)))`, where `c` is the count of
//! the pair, `row` and `column` the sums of the two nodes, and `T` the sum of all rows. The similarity of two nodes is the
//! cosine of their rows. Two nodes that co-occur only with each other have similarity 0, since no node is in its own row.
//!
//! The walks are those of `DeepWalk` (Perozzi, Al-Rfou and Skiena, 2014), the measure is that of words (Church and Hanks,
//! 1990).
//!
//! # Design notes
//! A window reaches to both sides and counts for the node in its middle, so counts are symmetric, and a node that has only
//! incoming slots has a row too.
//!
//! Walks do not follow inhibitory slots: a contradiction is no shared context.
//!
//! A step draws an index in a row of slots, uniformly. A row is sorted by base weight, then by the id of the target, then by
//! relation, and ids follow degree and external id; the random stream is seeded by the external id of the first node. So
//! the index depends on content alone, not on the order of insertion or on learned weights, and stays valid with its graph.
//!
//! Pairs are never listed. Walks are kept while an index is built, with the positions of each node in them, and rows are
//! counted one after the other in one array. At 50,000 nodes that takes 80 MB temporarily; what remains is 8 bytes for each
//! co-occurring pair and direction.
//!
//! Invariants: rows and cosines equal those of a table of all pairs (held by `ppmi_oracle`); the order of insertion does
//! not show (`the_order_of_insertion_does_not_show`).

use super::narrow;
use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::random::{SplitMix64, stable_hash};

/// Greatest number of nodes of a graph with an index.
pub const COOC_MAX_NODES: usize = 50_000;

/// Walks from each node.
const WALKS: usize = 20;
/// Nodes of a walk, including the first.
const WALK_NODES: usize = 10;
/// Greatest distance of positions at which two nodes co-occur.
const WINDOW: usize = 4;
/// Marks positions after the end of a walk.
const NO_NODE: u32 = u32::MAX;

/// The PPMI vector of each node of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct CoOccurrenceIndex {
    /// Row bounds.
    offsets: Vec<usize>,
    /// Ascending in each row.
    ids: Vec<u32>,
    /// Above 0.
    ppmi: Vec<f32>,
    /// Norm of each row; 0 for an empty one.
    lengths: Vec<f64>,
}

/// The weighted mean of several normalised rows, to compare nodes with all of them at once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextVector {
    /// Ascending.
    ids: Vec<u32>,
    parts: Vec<f32>,
}

impl CoOccurrenceIndex {
    /// Builds the index of a graph with walks seeded by `seed`; `None` above [`COOC_MAX_NODES`], where walks would cost too
    /// much.
    #[must_use]
    pub fn build(graph: &Graph, seed: u64) -> Option<Self> {
        if graph.node_count() > COOC_MAX_NODES {
            return None;
        }
        let walks = Walks::of(graph, seed);
        // At most 60 for each walk, so 6e7 in all.
        let sums: Vec<u32> = graph.nodes().map(|node| walks.neighbours(node).map(|_| 1_u32).sum()).collect();
        let total: u32 = sums.iter().sum();
        let mut index = Self { offsets: vec![0], ids: Vec::new(), ppmi: Vec::new(), lengths: Vec::new() };
        let (mut counts, mut marks) = (vec![0_u32; sums.len()], vec![0_u64; sums.len().div_ceil(64)]);
        for node in graph.nodes() {
            let row = sums[node.at()];
            if row > 0 {
                walks.neighbours(node).for_each(|other| {
                    counts[other as usize] += 1;
                    marks[other as usize / 64] |= 1 << (other % 64);
                });
                take_marks(&mut marks, |other| {
                    let count = std::mem::take(&mut counts[other as usize]);
                    index.push(other, ppmi(count, row, sums[other as usize], total));
                });
            }
            index.end_row();
        }
        index.ids.shrink_to_fit();
        index.ppmi.shrink_to_fit();
        Some(index)
    }

    fn push(&mut self, id: u32, ppmi: f32) {
        if ppmi > 0.0 {
            self.ids.push(id);
            self.ppmi.push(ppmi);
        }
    }

    fn end_row(&mut self) {
        let begin = self.offsets.last().copied().unwrap_or_default();
        let square: f64 = self.ppmi[begin..].iter().map(|value| f64::from(*value) * f64::from(*value)).sum();
        self.lengths.push(square.sqrt());
        self.offsets.push(self.ids.len());
    }

    fn row(&self, node: NodeId) -> Row<'_> {
        let row = self.offsets[node.at()]..self.offsets[node.at() + 1];
        Row { ids: &self.ids[row.clone()], values: &self.ppmi[row] }
    }

    /// Similarity of two nodes, `0 ..= 1`; 0 if the row of either is empty.
    #[must_use]
    pub fn similarity(&self, a: NodeId, b: NodeId) -> f32 {
        cosine(self.row(a).dot(self.row(b)), self.lengths[a.at()] * self.lengths[b.at()])
    }

    /// The mean of the rows of some nodes, with weights above 0 that are normalised.
    #[must_use]
    pub fn context(&self, nodes: &[(NodeId, f32)]) -> ContextVector {
        let total: f64 = nodes.iter().map(|(_, weight)| f64::from(*weight)).sum();
        let mut all: Vec<(u32, f64)> = Vec::new();
        for (node, weight) in nodes {
            // Rows are normalised, so that only the weights count. An empty row has norm 0, but nothing to divide by it.
            let (row, length, share) = (self.row(*node), self.lengths[node.at()], f64::from(*weight) / total);
            let part = |(id, value): (&u32, &f32)| (*id, share * f64::from(*value) / length);
            all.extend(row.ids.iter().zip(row.values).map(part));
        }
        // A stable sort: values of one node are added in the order of `nodes`. The input is a few sorted runs, which is quick.
        all.sort_by_key(|(id, _)| *id);
        let mut context = ContextVector::default();
        for same in all.chunk_by(|a, b| a.0 == b.0) {
            context.ids.push(same[0].0);
            context.parts.push(narrow(same.iter().map(|(_, part)| part).sum()));
        }
        context
    }

    /// Similarity of a node to a context, `0 ..= 1`: the weighted mean of its similarities to the nodes of the context.
    #[must_use]
    pub fn similarity_to(&self, context: &ContextVector, node: NodeId) -> f32 {
        let of_others = Row { ids: &context.ids, values: &context.parts };
        cosine(of_others.dot(self.row(node)), self.lengths[node.at()])
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        8 * (self.offsets.capacity() + self.lengths.capacity())
            + 4 * (self.ids.capacity() + self.ppmi.capacity())
    }
}

/// A sparse vector, ascending.
#[derive(Clone, Copy)]
struct Row<'a> {
    ids: &'a [u32],
    values: &'a [f32],
}

impl Row<'_> {
    /// The dot product, summed by ascending id.
    fn dot(self, other: Row<'_>) -> f64 {
        let (mut mine, mut theirs, mut sum) = (0, 0, 0.0);
        while let (Some(a), Some(b)) = (self.ids.get(mine), other.ids.get(theirs)) {
            if a == b {
                sum += f64::from(self.values[mine]) * f64::from(other.values[theirs]);
            }
            mine += usize::from(a <= b);
            theirs += usize::from(b <= a);
        }
        sum
    }
}

fn cosine(dot: f64, lengths: f64) -> f32 {
    if lengths > 0.0 { narrow((dot / lengths).min(1.0)) } else { 0.0 }
}

/// The PPMI of a pair. All numbers are at least 1 and at most 6e7, so products are exact, and pairs at chance level have 0.
fn ppmi(count: u32, row: u32, column: u32, total: u32) -> f32 {
    let [count, row, column, total] = [count, row, column, total].map(f64::from);
    narrow(libm::log(count * total / (row * column)).max(0.0))
}

/// Clears all marks and names them, ascending.
fn take_marks(marks: &mut [u64], mut name: impl FnMut(u32)) {
    for (word, first) in marks.iter_mut().zip((0_u32..).step_by(64)) {
        let mut left = std::mem::take(word);
        while left != 0 {
            name(first + left.trailing_zeros());
            left &= left - 1;
        }
    }
}

/// All walks, and the positions of each node in them.
struct Walks {
    /// Walk after walk, [`WALK_NODES`] positions each.
    nodes: Vec<u32>,
    /// Bounds of the positions of each node in `places`.
    begins: Vec<usize>,
    /// Ascending for each node.
    places: Vec<u32>,
}

impl Walks {
    fn of(graph: &Graph, seed: u64) -> Self {
        let nodes = random_walks(graph, seed);
        let mut begins = vec![0_usize; graph.node_count() + 1];
        let stops = || nodes.iter().zip(0_u32..).filter(|(node, _)| **node != NO_NODE);
        stops().for_each(|(node, _)| begins[*node as usize] += 1);
        let mut sum = 0;
        for begin in &mut begins {
            let count = std::mem::replace(begin, sum);
            sum += count;
        }
        let (mut next, mut places) = (begins.clone(), vec![0_u32; sum]);
        for (node, place) in stops() {
            let next = &mut next[*node as usize];
            places[*next] = place;
            *next += 1;
        }
        Self { nodes, begins, places }
    }

    /// The nodes that a node co-occurs with, each as often as it does.
    fn neighbours(&self, node: NodeId) -> impl Iterator<Item = u32> {
        let places = &self.places[self.begins[node.at()]..self.begins[node.at() + 1]];
        let near = places.iter().flat_map(move |place| self.around(*place as usize));
        near.copied().filter(move |other| *other != node.0 && *other != NO_NODE)
    }

    /// The window around a position.
    fn around(&self, place: usize) -> &[u32] {
        let begin = place / WALK_NODES * WALK_NODES;
        let end = (place + WINDOW + 1).min(begin + WALK_NODES);
        &self.nodes[place.saturating_sub(WINDOW).max(begin)..end]
    }
}

/// The walks from all nodes with slots, one after the other.
fn random_walks(graph: &Graph, seed: u64) -> Vec<u32> {
    let leads = |node: &NodeId| graph.excitatory_slots(*node) > 0;
    let mut walks = Vec::with_capacity(graph.nodes().filter(leads).count() * WALKS * WALK_NODES);
    for start in graph.nodes().filter(leads) {
        let mut random = SplitMix64::new(seed ^ stable_hash(graph, start));
        for _ in 0..WALKS {
            let mut here = Some(start);
            walks.push(start.0);
            for _ in 1..WALK_NODES {
                here = here.and_then(|node| step(graph, node, &mut random));
                walks.push(here.map_or(NO_NODE, |node| node.0));
            }
        }
    }
    walks
}

/// The target of a random slot of a node; `None` without slots, for which no number is drawn.
fn step(graph: &Graph, node: NodeId, random: &mut SplitMix64) -> Option<NodeId> {
    let targets = graph.excitatory(node).targets;
    if targets.is_empty() {
        return None;
    }
    let drawn = usize::try_from(random.draw_below(targets.len() as u64)).ok()?;
    targets.get(drawn).copied().map(NodeId)
}

#[cfg(test)]
mod tests;
