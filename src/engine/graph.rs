//! The in-memory shape of a scope's hot memories: a compressed sparse row graph that readers share.
//!
//! A [`Graph`] is finished when it is made: a [`builder`] collects rows and makes one, [`Graph::apply`] makes the next one
//! beside it. What is content is fixed then; what is learned moves effective weights in place.
//!
//! | | |
//! |---|---|
//! | [`number`], [`index`], [`interner`] | numbers that are never NaN, dense places, shared strings |
//! | [`kinds`] | what nodes and relationships are, and how well these conduct |
//! | [`builder`] | rows to a graph, a batch to the next one |
//! | [`csr`] | slots, their weights and bounds, and the way back |
//! | [`pairs`] | the same without direction, read when asked |
//! | [`columns`], [`provenance`] | what a node carries |
//! | [`snapshot`], [`codec`] | a graph at an instant, and as a file |
//! | [`visit`], [`graphml`] | a graph as petgraph knows graphs, as a picture, and for other programs |
//!
//! Invariants: same content, same arrays, whatever the order it came in (`build_order_free`); what is applied equals what is
//! built (`apply_equals_build`); a bound is never below a weight it stands for (`bounds_hold`).

pub mod builder;
pub mod codec;
pub mod columns;
pub mod csr;
pub mod graphml;
pub mod index;
pub mod interner;
pub mod kinds;
pub mod number;
pub mod pairs;
pub mod provenance;
pub mod raw;
pub mod snapshot;
pub mod visit;

#[cfg(test)]
mod tests;

use builder::WeightRange;
use columns::{Columns, NodeRow, RowView};
use csr::{Csr, Part, SlotKind, weight_of};
use index::{EdgeIdx, Generation, NodeId};
use kinds::{Kinds, NodeType};
use provenance::Provenance;

/// Why something cannot be a graph, or part of one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// NaN or infinite.
    #[error("{field} of {owner} is not a finite number")]
    NonFinite {
        /// Which number.
        field: &'static str,
        /// Of what.
        owner: String,
    },
    /// Finite, but outside its range.
    #[error("{name} is {value}; it must be {min} to {max}")]
    ParameterOutOfRange {
        /// Which number, and of what.
        name: String,
        /// What it is.
        value: f64,
        /// The least it may be.
        min: f64,
        /// The most it may be.
        max: f64,
    },
    /// An external id that is taken.
    #[error("node {external_id} is there twice")]
    DuplicateNode {
        /// Which.
        external_id: String,
    },
    /// A relationship of a node that is not there.
    #[error("the relationship {source_id} -> {target_id} needs node {missing}, which is not there")]
    DanglingEdge {
        /// Where it begins.
        source_id: String,
        /// Where it leads.
        target_id: String,
        /// Which of them is missing.
        missing: String,
    },
    /// More than ids can name.
    #[error("{count} nodes are more than one graph can hold")]
    TooManyNodes {
        /// How many.
        count: usize,
    },
    /// More than ids can name.
    #[error("{count} slots are more than one graph can hold")]
    TooManySlots {
        /// How many.
        count: usize,
    },
    /// More text than handles can name.
    #[error("the names of one graph take more than 4 GiB")]
    InternerFull,
    /// Others wrote the same weight all the time.
    #[error("the weight of slot {slot} was changed by others {limit} times while it was written; try again")]
    CasRetryExhausted {
        /// Which slot.
        slot: u32,
        /// How often it was tried.
        limit: u32,
    },
    /// A file of another version.
    #[error("the file is of version {found}; version {supported} can be read")]
    UnsupportedVersion {
        /// Which version it says it is, as it says it.
        found: String,
        /// Which one is known.
        supported: u32,
    },
    /// A file that is no snapshot, or no longer the one that was written.
    #[error("{path}: {reason}")]
    CorruptSnapshot {
        /// What is wrong: `edges[12].weight`, or the file.
        path: String,
        /// In what way.
        reason: String,
    },
    /// A file that cannot be read at all.
    #[error("the snapshot cannot be read: {reason}")]
    UnreadableSnapshot {
        /// What happened, for a program.
        kind: std::io::ErrorKind,
        /// And for people.
        reason: String,
    },
}

/// A finished graph.
#[derive(Debug)]
pub struct Graph {
    generation: Generation,
    range: WeightRange,
    kinds: Kinds,
    csr: Csr,
    columns: Columns,
}

impl Graph {
    /// Which state of its scope it is.
    #[must_use]
    pub const fn generation(&self) -> Generation {
        self.generation
    }

    /// The same graph as another state.
    #[must_use]
    pub fn at_generation(self, generation: Generation) -> Self {
        Self { generation, ..self }
    }

    /// Between what its effective weights lie.
    #[must_use]
    pub const fn range(&self) -> WeightRange {
        self.range
    }

    /// How many nodes it has.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.columns.len()
    }

    /// How many slots it has.
    #[must_use]
    pub fn slot_count(&self) -> usize {
        self.csr.targets.len()
    }

    /// Its nodes.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.node_count()).unwrap_or(u32::MAX)).map(NodeId)
    }

    /// The node of an external id.
    #[must_use]
    pub fn find(&self, external_id: &str) -> Option<NodeId> {
        let name = |node: &u32| self.columns.external_id.get(*node as usize);
        let at = self.columns.by_rank.binary_search_by(|node| name(node).cmp(external_id)).ok()?;
        Some(NodeId(self.columns.by_rank[at]))
    }

    /// Nodes by the bytes of their external ids.
    pub fn by_rank(&self) -> impl ExactSizeIterator<Item = NodeId> {
        self.columns.by_rank.iter().map(|node| NodeId(*node))
    }

    /// The excitatory slots of a node, by base weight descending.
    #[must_use]
    pub fn excitatory(&self, node: NodeId) -> Part<'_> {
        self.csr.excitatory(node)
    }

    /// The inhibitory slots of a node, by base weight descending.
    #[must_use]
    pub fn inhibitory(&self, node: NodeId) -> Part<'_> {
        self.csr.inhibitory(node)
    }

    /// Whether any slot holds back.
    #[must_use]
    pub fn has_inhibition(&self) -> bool {
        self.csr.kinds.iter().any(|kind| kind.inhibitory)
    }

    /// The slots of a node, of either polarity.
    pub fn slots(&self, node: NodeId) -> impl Iterator<Item = EdgeIdx> + use<> {
        let (begin, _, end) = self.csr.row(node);
        (begin..end).filter_map(|slot| u32::try_from(slot).ok()).map(EdgeIdx)
    }

    /// Where its slots lead.
    pub fn targets(&self, node: NodeId) -> impl Iterator<Item = u32> {
        let (begin, _, end) = self.csr.row(node);
        self.csr.targets[begin..end].iter().copied()
    }

    /// Who leads to a node, ascending, and over which slot.
    pub fn incoming(&self, node: NodeId) -> impl ExactSizeIterator<Item = (NodeId, EdgeIdx)> {
        let row = self.csr.rev_offsets[node.at()] as usize..self.csr.rev_offsets[node.at() + 1] as usize;
        let slots = self.csr.rev_edge_idx[row.clone()].iter();
        self.csr.rev_sources[row].iter().zip(slots).map(|(source, slot)| (NodeId(*source), EdgeIdx(*slot)))
    }

    /// Who leads to a node, ascending, once for each slot.
    #[must_use]
    pub fn sources(&self, node: NodeId) -> &[u32] {
        &self.csr.rev_sources
            [self.csr.rev_offsets[node.at()] as usize..self.csr.rev_offsets[node.at() + 1] as usize]
    }

    /// Whether a slot of `source` passes on.
    #[must_use]
    pub fn is_excitatory(&self, source: NodeId, slot: EdgeIdx) -> bool {
        slot.0 < self.csr.exc_end[source.at()]
    }

    /// How many slots a node has.
    #[must_use]
    pub fn out_slots(&self, node: NodeId) -> usize {
        let (begin, _, end) = self.csr.row(node);
        end - begin
    }

    /// How many excitatory slots a node has.
    #[must_use]
    pub fn excitatory_slots(&self, node: NodeId) -> usize {
        let (begin, tail, _) = self.csr.row(node);
        tail - begin
    }

    /// Where a slot leads.
    #[must_use]
    pub fn target(&self, slot: EdgeIdx) -> NodeId {
        NodeId(self.csr.targets[slot.at()])
    }

    /// What a slot weighs by what was taken from the store, `0 ..= cap`.
    #[must_use]
    pub fn base(&self, slot: EdgeIdx) -> f32 {
        self.csr.base[slot.at()]
    }

    /// What it weighs with what was learned, `floor ..= cap`.
    #[must_use]
    pub fn weight(&self, slot: EdgeIdx) -> f32 {
        weight_of(&self.csr.weights[slot.at()])
    }

    /// What a slot has in common with others of its kind.
    #[must_use]
    pub fn kind(&self, slot: EdgeIdx) -> &SlotKind {
        &self.csr.kinds[self.csr.kind(slot.at())]
    }

    /// The type of the relationship of a slot.
    #[must_use]
    pub fn relation(&self, slot: EdgeIdx) -> &str {
        &self.kind(slot).relation
    }

    /// How much of a slot is cause, `0 ..= 1`.
    #[must_use]
    pub fn causal(&self, slot: EdgeIdx) -> f32 {
        self.csr.causal(slot.at())
    }

    /// The slots from one node to another, found by halves in the way back.
    pub fn between(&self, source: NodeId, target: NodeId) -> impl Iterator<Item = EdgeIdx> {
        let row = self.csr.rev_offsets[target.at()] as usize..self.csr.rev_offsets[target.at() + 1] as usize;
        let sources = &self.csr.rev_sources[row.clone()];
        let begin = sources.partition_point(|of| *of < source.0);
        let count = sources[begin..].partition_point(|of| *of == source.0);
        self.csr.rev_edge_idx[row][begin..begin + count].iter().map(|slot| EdgeIdx(*slot))
    }

    /// The slot of a relation from one node to another, if there is one.
    #[must_use]
    pub fn slot(&self, source: NodeId, relation: &str, target: NodeId) -> Option<EdgeIdx> {
        self.between(source, target).find(|slot| self.relation(*slot) == relation)
    }

    /// Gives a slot of `source` another effective weight, held between floor and cap. One writer at a time: bounds are
    /// raised before weights, and readers see each weight before or after.
    ///
    /// # Errors
    /// [`Error::NonFinite`]; [`Error::CasRetryExhausted`] beside another writer.
    pub fn write_weight(&self, source: NodeId, slot: EdgeIdx, weight: f32) -> Result<(), Error> {
        if !weight.is_finite() {
            return Err(Error::NonFinite { field: "weight", owner: format!("slot {}", slot.0) });
        }
        self.csr.write(source, slot, self.range.clamp(weight))
    }

    /// Asks for the effective weight of a slot before it is needed.
    pub(crate) fn prefetch_weight(&self, slot: EdgeIdx) {
        self.csr.prefetch_weight(slot);
    }

    /// What a node is known by outside.
    #[must_use]
    pub fn external_id(&self, node: NodeId) -> &str {
        self.columns.external_id.get(node.at())
    }

    /// Its place by the bytes of that.
    #[must_use]
    pub fn rank(&self, node: NodeId) -> u32 {
        self.columns.rank[node.at()]
    }

    /// What people read.
    #[must_use]
    pub fn label(&self, node: NodeId) -> &str {
        self.columns.label.get(node.at())
    }

    /// What it is.
    #[must_use]
    pub fn node_type(&self, node: NodeId) -> NodeType {
        RowView::Old(&self.columns, node.at()).node_type()
    }

    /// What it was marked with.
    pub fn tags(&self, node: NodeId) -> impl Iterator<Item = &str> {
        RowView::Old(&self.columns, node.at()).tags()
    }

    /// When it last changed, epoch milliseconds.
    #[must_use]
    pub fn last_modified(&self, node: NodeId) -> Option<i64> {
        RowView::Old(&self.columns, node.at()).last_modified()
    }

    /// How often it changes in a day.
    #[must_use]
    pub fn change_frequency(&self, node: NodeId) -> f32 {
        self.columns.change_frequency[node.at()]
    }

    /// In which tier it is.
    #[must_use]
    pub fn tier(&self, node: NodeId) -> Option<&str> {
        RowView::Old(&self.columns, node.at()).tier()
    }

    /// In which session it was last used.
    #[must_use]
    pub fn session(&self, node: NodeId) -> Option<&str> {
        RowView::Old(&self.columns, node.at()).session()
    }

    /// Whether it lacks relationships because their other ends were not loaded.
    #[must_use]
    pub fn is_partial(&self, node: NodeId) -> bool {
        self.columns.partial[node.at()]
    }

    /// Where it comes from, where anything is known of that.
    #[must_use]
    pub fn provenance(&self, node: NodeId) -> Option<&Provenance> {
        self.columns.provenance[node.at()].as_deref()
    }

    /// A node as it came in.
    #[must_use]
    pub fn row(&self, node: NodeId) -> NodeRow {
        RowView::Old(&self.columns, node.at()).to_row()
    }

    /// Of how many pairs a node is part.
    #[must_use]
    pub fn degree(&self, node: NodeId) -> u32 {
        self.columns.degree[node.at()]
    }

    /// Of how many pairs a node is part in the mean; 0 in an empty graph.
    #[must_use]
    pub fn mean_degree(&self) -> f64 {
        let sum: u64 = self.columns.degree.iter().map(|degree| u64::from(*degree)).sum();
        #[expect(clippy::cast_precision_loss, reason = "at most 2^33 of each")]
        if sum == 0 { 0.0 } else { sum as f64 / self.node_count() as f64 }
    }

    /// Sum of the clamped base weights of its excitatory slots.
    #[must_use]
    pub fn out_strength(&self, node: NodeId) -> f32 {
        self.columns.out_strength[node.at()]
    }

    /// Sum of the clamped base weights of the excitatory slots that lead to it.
    #[must_use]
    pub fn in_strength(&self, node: NodeId) -> f64 {
        self.columns.in_strength[node.at()]
    }

    /// How well it stands, as it was [set](Self::with_pagerank); 0 before.
    #[must_use]
    pub fn pagerank(&self, node: NodeId) -> f32 {
        self.columns.pagerank[node.at()]
    }

    /// The same graph with the standing of its nodes, in the order of their ids.
    #[must_use]
    pub fn with_pagerank(mut self, pagerank: Vec<f32>) -> Self {
        debug_assert_eq!(pagerank.len(), self.node_count(), "one for each node");
        self.columns.pagerank = pagerank;
        self
    }

    /// Bytes that its slots take, with the way back and the bounds.
    #[must_use]
    pub fn slot_bytes(&self) -> usize {
        self.csr.bytes()
    }

    /// Bytes that its columns and strings take.
    #[must_use]
    pub fn column_bytes(&self) -> usize {
        self.columns.bytes()
    }
}
