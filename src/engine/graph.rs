//! A compressed sparse row graph in memory, shared by readers.
//!
//! A *slot* is one directed entry of the adjacency arrays; a relationship that can be traversed both ways has two. A
//! [`Graph`] is immutable except for its effective weights, which learning changes in place: a [`builder`] collects rows
//! and builds one, [`Graph::apply`] builds the next one from a batch of changes.
//!
//! | module | contents |
//! |---|---|
//! | [`number`], [`index`], [`interner`] | checked numbers, dense ids, interned strings |
//! | [`kinds`] | types of nodes and relationships, and how relationships conduct |
//! | [`builder`] | rows to a graph, a batch to the next graph |
//! | [`csr`] | slots, their weights and bounds, and the reverse index |
//! | [`pairs`] | the undirected view |
//! | [`columns`], [`provenance`], [`metadata`] | attributes of nodes |
//! | [`snapshot`], [`codec`] | a graph at an instant, and as a file |
//! | [`rows`] | a graph as plain values, for other files |
//! | [`visit`], [`graphml`] | export to petgraph, DOT and GraphML |
//!
//! Invariants: same content, same arrays, in whatever order it was added (`build_order_free`); a batch applied equals a
//! newly built graph (`apply_equals_build`); a bound is never below a weight that it covers (`bounds_hold`).

pub mod builder;
pub mod codec;
pub mod columns;
pub mod csr;
pub mod graphml;
pub mod index;
pub mod interner;
pub mod kinds;
pub mod metadata;
pub mod number;
pub mod pairs;
pub mod provenance;
pub mod raw;
pub mod rows;
pub mod snapshot;
pub mod visit;

#[cfg(test)]
mod tests;

use builder::WeightRange;
use columns::{Columns, NodeRow, RowView};
use csr::{Csr, Relation, SlotKind, SlotRange, Slots};
use index::{EdgeIdx, Generation, NodeId};
use kinds::{Kinds, NodeType};
use provenance::Provenance;
use std::sync::Arc;

/// Why a graph cannot be built, read or changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// NaN or infinite.
    #[error("{field} of {owner} is not a finite number")]
    NonFinite {
        /// Name of the number.
        field: &'static str,
        /// Owner of the number.
        owner: String,
    },
    /// Finite, but outside its range.
    #[error("{name} is {value}; it must be {min} to {max}")]
    ParameterOutOfRange {
        /// Name of the number and of its owner.
        name: String,
        /// The number.
        value: f64,
        /// Least allowed value.
        min: f64,
        /// Greatest allowed value.
        max: f64,
    },
    /// An external id that is used twice.
    #[error("duplicate node {external_id}")]
    DuplicateNode {
        /// The external id.
        external_id: String,
    },
    /// A relationship whose source or target does not exist.
    #[error("the relationship {source_id} -> {target_id} refers to node {missing}, which does not exist")]
    DanglingEdge {
        /// External id of the source.
        source_id: String,
        /// External id of the target.
        target_id: String,
        /// The one that does not exist.
        missing: String,
    },
    /// More nodes than ids.
    #[error("{count} nodes are too many for one graph")]
    TooManyNodes {
        /// Number of nodes.
        count: usize,
    },
    /// More slots than ids.
    #[error("{count} slots are too many for one graph")]
    TooManySlots {
        /// Number of slots.
        count: usize,
    },
    /// More than 4 GiB of text, or more strings than handles.
    #[error("the strings of one graph exceed 4 GiB")]
    InternerFull,
    /// A weight that other writers changed at every attempt.
    #[error("another writer changed the weight of slot {slot} {limit} times in a row; try again")]
    CasRetryExhausted {
        /// The slot.
        slot: u32,
        /// Number of attempts.
        limit: u32,
    },
    /// A causal relation without a name, or with one that another has.
    #[error("the causal relation '{name}' is empty or given twice")]
    CausalName {
        /// The name.
        name: String,
    },
    /// A file of another version.
    #[error("the file has version {found}; only version {supported} is supported")]
    UnsupportedVersion {
        /// Version as it is written in the file.
        found: String,
        /// Version that can be read.
        supported: u32,
    },
    /// A file that is not a snapshot, or was damaged.
    #[error("{path}: {reason}")]
    CorruptSnapshot {
        /// Path of the fault in the file, such as `edges[12].weight`.
        path: String,
        /// Description of the fault.
        reason: String,
    },
    /// A file that cannot be read.
    #[error("the snapshot cannot be read: {reason}")]
    UnreadableSnapshot {
        /// Kind of the I/O error.
        kind: std::io::ErrorKind,
        /// Its message.
        reason: String,
    },
}

/// An immutable graph with mutable effective weights.
#[derive(Debug)]
pub struct Graph {
    generation: Generation,
    range: WeightRange,
    kinds: Kinds,
    csr: Csr,
    columns: Columns,
    /// Tells it from all other graphs.
    identity: Arc<()>,
    lineage: Option<Lineage>,
}

/// Finds nodes of a graph one after the other.
#[derive(Debug, Clone)]
pub struct Finder<'a> {
    graph: &'a Graph,
    /// Position of the last name in the order of external ids.
    place: usize,
}

impl Finder<'_> {
    /// The node with an external id.
    pub fn find(&mut self, external_id: &str) -> Option<NodeId> {
        let columns = &self.graph.columns;
        let at =
            |place: usize| columns.by_rank.get(place).map(|node| columns.external_id.get(*node as usize));
        if at(self.place).is_none_or(|last| last > external_id) {
            self.place = 0;
        }
        self.place = self.graph.seek(self.place, external_id);
        let node = columns.by_rank.get(self.place).filter(|_| at(self.place) == Some(external_id));
        node.map(|node| NodeId(*node))
    }
}

/// How the nodes of a graph follow from those of the graph that a batch was applied to.
#[derive(Debug)]
pub(crate) struct Lineage {
    before: Arc<()>,
    /// The id of each node of the graph before; [`Self::REMOVED`] for those that were removed.
    pub(crate) places: Vec<u32>,
    /// Nodes that are new, or whose attributes were given again.
    pub(crate) given: Vec<NodeId>,
    /// Whether all nodes have the ids that they had.
    pub(crate) keeps_ids: bool,
    /// Whether no slot was added or removed besides, only their numbers are others.
    pub(crate) keeps_slots: bool,
}

impl Lineage {
    /// Place of a removed node.
    pub(crate) const REMOVED: u32 = u32::MAX;

    /// Whether it begins at a graph.
    pub(crate) fn is_from(&self, graph: &Graph) -> bool {
        Arc::ptr_eq(&self.before, &graph.identity)
    }
}

impl Graph {
    /// A graph of these slots, which have learned nothing, and columns.
    fn of(kinds: Kinds, range: WeightRange, slots: Arc<Slots>, columns: Columns) -> Self {
        let csr = Csr::of(slots, range);
        let (generation, identity) = (Generation::default(), Arc::default());
        Self { generation, range, kinds, csr, columns, identity, lineage: None }
    }

    /// The generation of the graph.
    #[must_use]
    pub const fn generation(&self) -> Generation {
        self.generation
    }

    /// The same graph with another generation.
    #[must_use]
    pub fn with_generation(self, generation: Generation) -> Self {
        Self { generation, ..self }
    }

    /// How its nodes follow from those of the graph before it, once: it is as large as a column.
    pub(crate) fn take_lineage(&mut self) -> Option<Lineage> {
        self.lineage.take()
    }

    /// The node that one of the graph before is now, by its external id.
    pub(crate) fn node_after(&self, before: &Self, node: NodeId) -> Option<NodeId> {
        let lineage = self.lineage.as_ref().filter(|lineage| lineage.is_from(before));
        let place =
            lineage.map(|lineage| lineage.places[node.at()]).filter(|place| *place != Lineage::REMOVED);
        place.map(NodeId).or_else(|| self.find(before.external_id(node)))
    }

    /// Whether two graphs have slots between the same nodes by their ids, and as many excitatory ones at each: then their
    /// PageRank is the same.
    pub(crate) fn has_shape_of(&self, other: &Self) -> bool {
        let (one, two): (&Slots, &Slots) = (&self.csr, &other.csr);
        one.offsets == two.offsets
            && one.exc_end == two.exc_end
            && one.rev_offsets == two.rev_offsets
            && one.rev_sources == two.rev_sources
            // Which of the slots between two nodes are inhibitory shows only in the order of a row.
            && (!self.has_inhibition() && !other.has_inhibition() || one.targets == two.targets)
    }

    /// The range of effective weights.
    #[must_use]
    pub const fn range(&self) -> WeightRange {
        self.range
    }

    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.columns.len()
    }

    /// Whether it has a node: ids of another graph may be beyond its own.
    pub(crate) fn has_node(&self, node: NodeId) -> bool {
        node.at() < self.node_count()
    }

    /// Number of slots.
    #[must_use]
    pub fn slot_count(&self) -> usize {
        self.csr.targets.len()
    }

    /// All nodes, ascending.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.node_count()).unwrap_or(u32::MAX)).map(NodeId)
    }

    /// The node with an external id.
    #[must_use]
    pub fn find(&self, external_id: &str) -> Option<NodeId> {
        let name = |node: &u32| self.columns.external_id.get(*node as usize);
        let at = self.columns.by_rank.binary_search_by(|node| name(node).cmp(external_id)).ok()?;
        Some(NodeId(self.columns.by_rank[at]))
    }

    /// Finds nodes by external ids, those in the order of their bytes in a fraction of the time of [`Self::find`].
    #[must_use]
    pub fn finder(&self) -> Finder<'_> {
        Finder { graph: self, place: 0 }
    }

    /// The first position from `from` on, in the order of external ids, that is not before a name: exponential, then binary
    /// search, so names that are close together cost little.
    fn seek(&self, from: usize, name: &str) -> usize {
        let order = &self.columns.by_rank[from..];
        let is_before = |node: &u32| self.columns.external_id.get(*node as usize) < name;
        let (mut low, mut step) = (0, 1);
        while order.get(low + step - 1).is_some_and(is_before) {
            low += step;
            step *= 2;
        }
        let high = order.len().min(low + step);
        from + low + order[low..high].partition_point(is_before)
    }

    /// All nodes by the bytes of their external ids.
    pub fn by_rank(&self) -> impl ExactSizeIterator<Item = NodeId> {
        self.columns.by_rank.iter().map(|node| NodeId(*node))
    }

    /// The excitatory slots of a node, by base weight descending.
    #[must_use]
    pub fn excitatory(&self, node: NodeId) -> SlotRange<'_> {
        self.csr.excitatory(node)
    }

    /// The inhibitory slots of a node, by base weight descending.
    #[must_use]
    pub fn inhibitory(&self, node: NodeId) -> SlotRange<'_> {
        self.csr.inhibitory(node)
    }

    /// A bound of the effective weights of all slots.
    pub(crate) fn weight_bound(&self) -> f32 {
        self.csr.bound()
    }

    /// Prefetches the first slots of a node.
    pub(crate) fn prefetch_row(&self, node: NodeId) {
        self.csr.prefetch_row(node);
    }

    /// Whether any slot is inhibitory.
    #[must_use]
    pub const fn has_inhibition(&self) -> bool {
        self.csr.inhibits
    }

    /// All slots of a node, excitatory and inhibitory.
    pub fn slots(&self, node: NodeId) -> impl Iterator<Item = EdgeIdx> + use<> {
        let (begin, _, end) = self.csr.row(node);
        (begin..end).filter_map(|slot| u32::try_from(slot).ok()).map(EdgeIdx)
    }

    /// The targets of all slots of a node.
    pub fn targets(&self, node: NodeId) -> impl Iterator<Item = u32> {
        let (begin, _, end) = self.csr.row(node);
        self.csr.targets[begin..end].iter().copied()
    }

    /// The incoming slots of a node with their sources, by ascending source.
    pub fn incoming(&self, node: NodeId) -> impl ExactSizeIterator<Item = (NodeId, EdgeIdx)> {
        let row = self.csr.rev_offsets[node.at()] as usize..self.csr.rev_offsets[node.at() + 1] as usize;
        let slots = self.csr.rev_edge_idx[row.clone()].iter();
        self.csr.rev_sources[row].iter().zip(slots).map(|(source, slot)| (NodeId(*source), EdgeIdx(*slot)))
    }

    /// The sources of the incoming slots of a node, ascending, once for each slot.
    #[must_use]
    pub fn sources(&self, node: NodeId) -> &[u32] {
        &self.csr.rev_sources
            [self.csr.rev_offsets[node.at()] as usize..self.csr.rev_offsets[node.at() + 1] as usize]
    }

    /// Whether a slot of `source` is excitatory.
    #[must_use]
    pub fn is_excitatory(&self, source: NodeId, slot: EdgeIdx) -> bool {
        slot.0 < self.csr.exc_end[source.at()]
    }

    /// Number of slots of a node.
    #[must_use]
    pub fn out_slots(&self, node: NodeId) -> usize {
        let (begin, _, end) = self.csr.row(node);
        end - begin
    }

    /// Number of excitatory slots of a node.
    #[must_use]
    pub fn excitatory_slots(&self, node: NodeId) -> usize {
        let (begin, tail, _) = self.csr.row(node);
        tail - begin
    }

    /// The target of a slot.
    #[must_use]
    pub fn target(&self, slot: EdgeIdx) -> NodeId {
        NodeId(self.csr.targets[slot.at()])
    }

    /// The base weight of a slot, as it was loaded, `0 ..= cap`.
    #[must_use]
    pub fn base(&self, slot: EdgeIdx) -> f32 {
        self.csr.base[slot.at()]
    }

    /// The effective weight of a slot, with what was learned, `floor ..= cap`.
    #[must_use]
    pub fn weight(&self, slot: EdgeIdx) -> f32 {
        self.csr.weight(slot.at())
    }

    /// The attributes that a slot shares with others of its kind.
    #[must_use]
    pub fn kind(&self, slot: EdgeIdx) -> &SlotKind {
        &self.csr.kinds[self.csr.kind(slot.at())]
    }

    /// The relationship type of a slot.
    #[must_use]
    pub fn relation(&self, slot: EdgeIdx) -> &str {
        &self.kind(slot).relation
    }

    /// The handle of a relationship type, if a slot has it.
    #[must_use]
    pub fn find_relation(&self, relation: &str) -> Option<Relation> {
        Relation::of(&self.csr.kinds, relation)
    }

    /// Whether a slot has this relationship type.
    #[must_use]
    pub fn is_of(&self, slot: EdgeIdx, relation: Relation) -> bool {
        relation.has(self.csr.kind(slot.at()))
    }

    /// The causal strength of a slot, `0 ..= 1`.
    #[must_use]
    pub fn causal(&self, slot: EdgeIdx) -> f32 {
        self.csr.causal(slot.at())
    }

    /// The slots from one node to another, by binary search in the reverse index.
    pub fn between(&self, source: NodeId, target: NodeId) -> impl Iterator<Item = EdgeIdx> {
        let row = self.csr.rev_offsets[target.at()] as usize..self.csr.rev_offsets[target.at() + 1] as usize;
        let sources = &self.csr.rev_sources[row.clone()];
        let begin = sources.partition_point(|of| *of < source.0);
        let count = sources[begin..].partition_point(|of| *of == source.0);
        self.csr.rev_edge_idx[row][begin..begin + count].iter().map(|slot| EdgeIdx(*slot))
    }

    /// The slot of a relationship type from one node to another.
    #[must_use]
    pub fn slot(&self, source: NodeId, relation: &str, target: NodeId) -> Option<EdgeIdx> {
        let relation = self.find_relation(relation)?;
        self.between(source, target).find(|slot| self.is_of(*slot, relation))
    }

    /// Sets the effective weight of a slot of `source`, clamped to the range. One writer at a time: bounds are raised before
    /// weights, and readers see each weight either before or after.
    ///
    /// # Errors
    /// [`Error::NonFinite`]; [`Error::CasRetryExhausted`] if there is another writer.
    #[inline]
    pub fn write_weight(&self, source: NodeId, slot: EdgeIdx, weight: f32) -> Result<(), Error> {
        if !weight.is_finite() {
            return Err(Error::NonFinite { field: "weight", owner: format!("slot {}", slot.0) });
        }
        self.csr.write(source, slot, self.range.clamp(weight))
    }

    /// Prefetches the effective weight of a slot.
    pub(crate) fn prefetch_weight(&self, slot: EdgeIdx) {
        self.csr.prefetch_weight(slot);
    }

    /// The external id of a node.
    #[must_use]
    pub fn external_id(&self, node: NodeId) -> &str {
        self.columns.external_id.get(node.at())
    }

    /// The position of a node in the order of external ids.
    #[must_use]
    pub fn rank(&self, node: NodeId) -> u32 {
        self.columns.rank[node.at()]
    }

    /// The text of a node for people.
    #[must_use]
    pub fn label(&self, node: NodeId) -> &str {
        self.columns.label.get(node.at())
    }

    /// The type of a node.
    #[must_use]
    pub fn node_type(&self, node: NodeId) -> NodeType {
        RowView::Old(&self.columns, node.at()).node_type()
    }

    /// The tags of a node.
    pub fn tags(&self, node: NodeId) -> impl Iterator<Item = &str> {
        RowView::Old(&self.columns, node.at()).tags()
    }

    /// Time of the last change, epoch milliseconds.
    #[must_use]
    pub fn last_modified(&self, node: NodeId) -> Option<i64> {
        RowView::Old(&self.columns, node.at()).last_modified()
    }

    /// Changes per day.
    #[must_use]
    pub fn change_frequency(&self, node: NodeId) -> f32 {
        self.columns.change_frequency[node.at()]
    }

    /// The tier of a node.
    #[must_use]
    pub fn tier(&self, node: NodeId) -> Option<&str> {
        RowView::Old(&self.columns, node.at()).tier()
    }

    /// The session in which a node was last used.
    #[must_use]
    pub fn session(&self, node: NodeId) -> Option<&str> {
        RowView::Old(&self.columns, node.at()).session()
    }

    /// Whether a node lacks relationships because their other ends were not loaded.
    #[must_use]
    pub fn is_partial(&self, node: NodeId) -> bool {
        self.columns.partial[node.at()]
    }

    /// Source of a node, if known.
    #[must_use]
    pub fn provenance(&self, node: NodeId) -> Option<Provenance> {
        RowView::Old(&self.columns, node.at()).provenance()
    }

    /// Metadata of a node, canonical JSON.
    #[must_use]
    pub fn metadata(&self, node: NodeId) -> Option<&str> {
        RowView::Old(&self.columns, node.at()).metadata()
    }

    /// The attributes of a node as a row.
    #[must_use]
    pub fn row(&self, node: NodeId) -> NodeRow {
        RowView::Old(&self.columns, node.at()).to_row()
    }

    /// Number of neighbours of a node in the undirected view.
    #[must_use]
    pub fn degree(&self, node: NodeId) -> u32 {
        self.columns.degree[node.at()]
    }

    /// Mean degree; 0 in an empty graph.
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

    /// Sum of the clamped base weights of its incoming excitatory slots.
    #[must_use]
    pub fn in_strength(&self, node: NodeId) -> f64 {
        self.columns.in_strength[node.at()]
    }

    /// The PageRank of a node, as [set](Self::with_pagerank); 0 before.
    #[must_use]
    pub fn pagerank(&self, node: NodeId) -> f32 {
        self.columns.pagerank[node.at()]
    }

    /// The same graph with the PageRank of its nodes, in the order of their ids; 0 for nodes beyond the end of the list.
    #[must_use]
    pub fn with_pagerank(mut self, mut pagerank: Vec<f32>) -> Self {
        pagerank.resize(self.node_count(), 0.0);
        self.columns.pagerank = pagerank;
        self
    }

    /// Size in bytes of slots, reverse index and bounds.
    #[must_use]
    pub fn slot_bytes(&self) -> usize {
        self.csr.bytes()
    }

    /// Size in bytes of columns and strings.
    #[must_use]
    pub fn column_bytes(&self) -> usize {
        self.columns.bytes()
    }
}
