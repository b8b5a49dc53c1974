//! A snapshot with the indexes that queries use: PageRank, labels, facts and texts.
//!
//! A view belongs to one generation and is immutable, except for the effective weights that learning changes in the graph.
//! Readers share it until they take the next one.
//!
//! # Design notes
//! The text indexes outlive a generation: a caller adds changes to a copy of [`Texts`] and builds the next view with it.
//! Copies share all postings, since segments and runs are immutable. Of a view of the graph that a batch was applied to, the
//! next one takes what the batch leaves as it is:
//!
//! | part | is shared if | else |
//! |---|---|---|
//! | labels | labels, types, tags and ids are the same | dictionaries are merged with the altered labels, and ids looked up |
//! | facts | ids and relations are the same, and labels of their ends | is built |
//! | PageRank | each node has slots from the same nodes | is computed |
//! | documents, mentions, hubs | the same, and texts and vectors are the same | are resolved |
//!
//! What depends on labels is built beside the rest, in threads of its own. Shared or built, the content of a view is the same.
//!
//! Invariant: a view does not depend on the order of insertion (held by `recall::tests::recall_order_free`).

use super::communities::{Partition, communities};
use super::pagerank::pagerank;
use super::plasticity::Ticks;
use super::seeds::SeedIndexes;
use super::seeds::facts::Facts;
use super::seeds::labels::{Altered, Labels};
use super::semantic::cooccurrence::CoOccurrenceIndex;
use super::temporal::co_change::CoChangeMatrix;
use super::temporal::velocity::VelocityScorer;
use super::text::ranking::{Documents, Ranking, SharedWords, TextIndex};
use super::vectors::{RankedFact, RankedVector, Similarities, VectorFacts, VectorIndex, VectorNodes};
use super::{Error, Flag, Flags};
use crate::graph::Graph;
use crate::graph::index::{Generation, NodeId};
use crate::graph::kinds::NodeType;
use crate::graph::number::PosF32;
use crate::graph::snapshot::Snapshot;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Indexes of the contents of memories, and of facts.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct Texts {
    /// For ranking memories by text.
    pub index: Arc<TextIndex>,
    /// Embeddings of memories, in one space.
    pub vectors: Option<Arc<VectorIndex>>,
    /// Embeddings of relations in the same space, by [`fact_key`](super::vectors::fact_key).
    pub facts: Option<Arc<VectorIndex>>,
}

impl Texts {
    /// Whether indexes that were read from a file are consistent, so that no query can fail on them.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.index.is_sound() && self.spaces().all(|vectors| vectors.is_sound())
    }

    /// Whether there is anything that an embedding can be compared with.
    #[must_use]
    pub fn has_vectors(&self) -> bool {
        self.spaces().any(|vectors| !vectors.is_empty())
    }

    fn spaces(&self) -> impl Iterator<Item = &Arc<VectorIndex>> {
        [&self.vectors, &self.facts].into_iter().flatten()
    }
}

/// A graph and its indexes, ready for queries.
#[derive(Debug)]
pub struct View {
    snapshot: Snapshot,
    labels: Arc<Labels>,
    facts: Arc<Facts>,
    texts: Texts,
    memories: Arc<Memories>,
    vector_facts: VectorFacts,
    /// The greatest PageRank.
    pagerank_max: f32,
    flags: Flags,
    type_names: Vec<String>,
    mean_degree: f64,
    lazy: LazyIndexes,
    ticks: Ticks,
}

/// The nodes of texts and vectors, and what follows from those.
#[derive(Debug)]
struct Memories {
    documents: Documents,
    vectors: VectorNodes,
    /// Number of memories with a text that each node is connected with; 0 for those themselves.
    mentions: Vec<u32>,
    /// Nodes that more memories are connected with than tell one from another, ascending.
    hubs: Vec<NodeId>,
}

impl Memories {
    fn of(graph: &Graph, texts: &Texts) -> Self {
        let documents = texts.index.documents(graph);
        let vectors = texts
            .vectors
            .as_ref()
            .map_or_else(VectorNodes::default, |vectors| vectors.nodes(graph, |node| documents.has(node)));
        let mentions = mentions(graph, &documents);
        let hubs = hubs(graph, &mentions, documents.count());
        Self { documents, vectors, mentions, hubs }
    }

    fn bytes(&self) -> usize {
        self.documents.bytes()
            + self.vectors.bytes()
            + size_of_val(self.mentions.as_slice())
            + size_of_val(self.hubs.as_slice())
    }
}

/// The view of the graph that a batch was applied to, and what the batch left as it was.
#[derive(Clone, Copy)]
struct Former<'a> {
    view: &'a View,
    altered: &'a Altered<'a>,
    keeps_ids: bool,
    keeps_shape: bool,
}

impl<'a> Former<'a> {
    /// The facts, if the nodes of the next view have the same ids, and the ends of facts the same labels.
    fn facts(self, graph: &Graph) -> Option<&'a Arc<Facts>> {
        let facts = &self.view.facts;
        (self.keeps_ids && facts.are_apart(&self.altered.by_node(graph))).then_some(facts)
    }

    fn memories(self, texts: &Texts) -> Option<Arc<Memories>> {
        let known = &self.view.texts;
        let is_same = |one: &Option<Arc<VectorIndex>>, other: &Option<Arc<VectorIndex>>| match (one, other) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        let are_same = Arc::ptr_eq(&known.index, &texts.index) && is_same(&known.vectors, &texts.vectors);
        (self.keeps_shape && are_same).then(|| Arc::clone(&self.view.memories))
    }

    fn pagerank(self) -> Option<Ranks> {
        let View { pagerank_max: max, flags, .. } = *self.view;
        let scores = || self.view.graph().nodes().map(|node| self.view.graph().pagerank(node)).collect();
        self.keeps_shape.then(|| Ranks { scores: scores(), max, flags })
    }
}

/// PageRank with its maximum, and whether it has converged.
struct Ranks {
    scores: Vec<f32>,
    max: f32,
    flags: Flags,
}

impl Ranks {
    fn of(graph: &Graph) -> Self {
        let pagerank = pagerank(graph);
        let flags = Flags::default().with(Flag::PagerankUnconverged, !pagerank.has_converged());
        let max = pagerank.scores.iter().copied().fold(0.0, f32::max);
        Self { scores: pagerank.scores, max, flags }
    }
}

/// Nodes from which on labels are indexed beside the rest.
const BESIDE_MIN: usize = 1_000;

/// Indexes that only some queries need, built on first use.
#[derive(Debug, Default)]
struct LazyIndexes {
    velocity: OnceLock<VelocityScorer>,
    co_change: OnceLock<CoChangeMatrix>,
    cooccurrence: OnceLock<Option<CoOccurrenceIndex>>,
    /// With the tick of the weights they were computed from.
    communities: Mutex<Option<(u64, Arc<Partition>)>>,
}

/// Sizes in bytes of the parts of a view. Slots, names and texts may be shared with views of other generations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryUsage {
    /// Slots, reverse index and bounds.
    pub slots: usize,
    /// Attributes of nodes, with strings.
    pub columns: usize,
    /// Label index.
    pub labels: usize,
    /// Fact index.
    pub facts: usize,
    /// Text index.
    pub texts: usize,
    /// Nodes of the text and vector indexes, facts with vectors, and mentions.
    pub documents: usize,
    /// Vectors of memories and of facts.
    pub vectors: usize,
    /// Indexes built on first use: co-change, co-occurrence, communities.
    pub lazy: usize,
}

impl LazyIndexes {
    fn bytes(&self) -> usize {
        let context = self.cooccurrence.get().and_then(Option::as_ref).map_or(0, CoOccurrenceIndex::bytes);
        // While they are computed the lock is held.
        let kept = self.communities.try_lock().ok();
        let partition = kept.as_ref().and_then(|kept| kept.as_ref());
        let divided = partition.map_or(0, |(_, partition)| size_of_val(partition.membership.as_slice()));
        context + self.co_change.get().map_or(0, CoChangeMatrix::bytes) + divided
    }
}

impl MemoryUsage {
    /// The sum of all parts.
    #[must_use]
    pub const fn total(self) -> usize {
        self.slots
            + self.columns
            + self.labels
            + self.facts
            + self.texts
            + self.documents
            + self.vectors
            + self.lazy
    }
}

impl View {
    /// A view without separate contents and relation types, as for a snapshot file: the label of a memory is its text, and
    /// every `RELATES_TO` is a fact.
    ///
    /// # Errors
    /// [`crate::graph::Error::TooManyNodes`].
    pub fn from_labels(snapshot: Snapshot) -> Result<Self, Error> {
        let graph = &snapshot.graph;
        let memories = graph.nodes().filter(|node| graph.node_type(*node) == NodeType::MEMORY);
        let mut index = TextIndex::default();
        index.add(memories.map(|memory| (graph.external_id(memory), graph.label(memory))))?;
        let texts = Texts { index: Arc::new(index), ..Texts::default() };
        Ok(Self::with(snapshot, texts, None, |graph, _| {
            (Arc::new(Facts::of_slots(graph)), VectorFacts::default())
        }))
    }

    /// A view with indexed contents of memories, and relations by their ends in this graph and their types.
    #[must_use]
    pub fn new<'a>(
        snapshot: Snapshot,
        texts: Texts,
        relations: impl IntoIterator<Item = (NodeId, NodeId, &'a str)>,
    ) -> Self {
        Self::next(None, snapshot, texts, relations)
    }

    /// As [`Self::new`], but takes from the view `before` what is the same, if a batch was applied to its graph to make this one.
    #[must_use]
    pub fn next<'a>(
        before: Option<&Self>,
        snapshot: Snapshot,
        texts: Texts,
        relations: impl IntoIterator<Item = (NodeId, NodeId, &'a str)>,
    ) -> Self {
        let relations = relations.into_iter().collect::<Vec<_>>();
        let embedded = texts.facts.clone();
        Self::with(snapshot, texts, before, |graph, known| {
            let embedded = embedded.map_or_else(VectorFacts::default, |facts| facts.facts(graph, &relations));
            (Facts::next(known, graph, relations), embedded)
        })
    }

    fn with(
        mut snapshot: Snapshot,
        texts: Texts,
        before: Option<&Self>,
        facts: impl FnOnce(&Graph, Option<&Arc<Facts>>) -> (Arc<Facts>, VectorFacts),
    ) -> Self {
        let lineage = snapshot.graph.take_lineage();
        let graph = &snapshot.graph;
        let known = before.zip(lineage.as_ref()).filter(|(view, lineage)| lineage.is_from(view.graph()));
        let known =
            known.map(|(view, lineage)| (view, Altered::between(view.graph(), graph, lineage), lineage));
        let former = known.as_ref().map(|(view, altered, lineage)| Former {
            view,
            altered,
            keeps_ids: lineage.keeps_ids,
            keeps_shape: lineage.keeps_slots || lineage.keeps_ids && graph.has_shape_of(view.graph()),
        });
        let labels = || {
            let anew = || Arc::new(Labels::build(graph));
            former.map_or_else(anew, |former| Labels::next(&former.view.labels, graph, former.altered))
        };
        let others = || {
            let facts = facts(graph, former.and_then(|former| former.facts(graph)));
            let ranks = former.and_then(Former::pagerank).unwrap_or_else(|| Ranks::of(graph));
            let memories = former.and_then(|former| former.memories(&texts));
            (facts, ranks, memories.unwrap_or_else(|| Arc::new(Memories::of(graph, &texts))))
        };
        let (labels, ((facts, vector_facts), ranks, memories)) = if graph.node_count() < BESIDE_MIN {
            (labels(), others())
        } else {
            std::thread::scope(|scope| {
                let labels = scope.spawn(labels);
                let others = others();
                (labels.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), others)
            })
        };
        let mean_degree = graph.mean_degree();
        let Ranks { scores, max, flags } = ranks;
        let snapshot = Snapshot { graph: snapshot.graph.with_pagerank(scores), ..snapshot };
        Self {
            snapshot,
            labels,
            facts,
            texts,
            memories,
            vector_facts,
            pagerank_max: max,
            flags,
            type_names: Vec::new(),
            mean_degree,
            lazy: LazyIndexes::default(),
            ticks: Ticks::default(),
        }
    }

    /// Sets names for the custom types after [`NodeType::LABELS`].
    #[must_use]
    pub fn with_type_names(self, type_names: Vec<String>) -> Self {
        Self { type_names, ..self }
    }

    /// Sets the generation of the graph.
    #[cfg(test)]
    pub(crate) fn with_generation(mut self, generation: Generation) -> Self {
        self.snapshot.graph = self.snapshot.graph.with_generation(generation);
        self
    }

    /// Sets the tick of the effective weights.
    #[must_use]
    pub fn with_tick(self, tick: u64) -> Self {
        Self { ticks: Ticks::new(tick), ..self }
    }

    /// The tick counters of the effective weights: updated by their writer, read before and after the weights.
    #[must_use]
    pub const fn ticks(&self) -> &Ticks {
        &self.ticks
    }

    /// The snapshot.
    #[must_use]
    pub const fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The graph, with PageRank.
    #[must_use]
    pub const fn graph(&self) -> &Graph {
        &self.snapshot.graph
    }

    /// The generation of the graph.
    #[must_use]
    pub const fn generation(&self) -> Generation {
        self.snapshot.generation()
    }

    /// The text indexes, to be copied for the next generation.
    #[must_use]
    pub const fn texts(&self) -> &Texts {
        &self.texts
    }

    /// The indexes that seeds are found in.
    #[must_use]
    pub fn sources(&self) -> SeedIndexes<'_> {
        SeedIndexes {
            graph: self.graph(),
            labels: &self.labels,
            facts: &self.facts,
            texts: &self.texts.index,
            documents: &self.memories.documents,
        }
    }

    /// The `most` memories that match a query best by text, and those that also pass.
    #[must_use]
    pub fn rank_by_text(&self, query: &str, most: usize, passes: impl Fn(NodeId) -> bool) -> Ranking {
        self.texts.index.rank((self.graph(), &self.memories.documents), query, most, passes)
    }

    /// Lists of the `most` memories whose vectors are most similar to one, among those that pass for each list; empty without
    /// vectors.
    ///
    /// # Errors
    /// [`Error::VectorDimensions`], [`Error::ZeroVector`], [`crate::graph::Error::NonFinite`].
    pub fn rank_by_vector<const LISTS: usize>(
        &self,
        query: &[f32],
        most: usize,
        passes: impl Fn(NodeId) -> [bool; LISTS],
    ) -> Result<[Vec<RankedVector>; LISTS], Error> {
        let Some(vectors) = &self.texts.vectors else { return Ok([const { Vec::new() }; LISTS]) };
        vectors.rank((self.graph(), &self.memories.vectors), query, most, passes)
    }

    /// The same lists, with the distribution of the similarities of memories.
    ///
    /// # Errors
    /// As [`Self::rank_by_vector`].
    pub fn rank_and_compare<const LISTS: usize>(
        &self,
        query: &[f32],
        most: usize,
        passes: impl Fn(NodeId) -> [bool; LISTS],
    ) -> Result<([Vec<RankedVector>; LISTS], Similarities), Error> {
        let Some(vectors) = &self.texts.vectors else {
            return Ok(([const { Vec::new() }; LISTS], Similarities::default()));
        };
        vectors.rank_and_compare((self.graph(), &self.memories.vectors), query, most, passes)
    }

    /// Similarities of the vectors of nodes to a vector, -1 to 1; `None` for nodes without one.
    pub(crate) fn similarities(&self, vector: &[f32], nodes: &[NodeId]) -> Vec<Option<f32>> {
        let none = || vec![None; nodes.len()];
        let vectors = self.texts.vectors.as_ref();
        vectors.map_or_else(none, |vectors| vectors.similarities(self.graph(), vector, nodes))
    }

    /// Which of at most 64 words each node has, the first as the lowest bit.
    pub(crate) fn words_of(&self, words: &[u64], nodes: &[NodeId]) -> Vec<u64> {
        self.texts.index.words_of(&self.memories.documents, words, nodes)
    }

    /// The `most` facts whose vectors are most similar to one; empty without vectors of facts.
    ///
    /// # Errors
    /// As [`Self::rank_by_vector`].
    pub fn rank_facts(&self, query: &[f32], most: usize) -> Result<Vec<RankedFact>, Error> {
        let Some(vectors) = &self.texts.facts else { return Ok(Vec::new()) };
        vectors.rank_facts(&self.vector_facts, query, most)
    }

    /// Where those of these stems are that a text has.
    pub(crate) fn words_shared(&self, words: &[u64], text: &str) -> SharedWords<'_> {
        self.texts.index.words_shared(words, text)
    }

    /// Whether a memory has one of these words.
    pub(crate) fn has_word(&self, node: NodeId, words: &SharedWords<'_>) -> bool {
        words.are_in(&self.memories.documents, node)
    }

    /// Number of memories with a text.
    #[must_use]
    pub fn memories(&self) -> u32 {
        self.memories.documents.count()
    }

    /// Whether a node is a memory with a text.
    #[must_use]
    pub fn has_text(&self, node: NodeId) -> bool {
        self.memories.documents.has(node)
    }

    /// Number of memories with a text that a node is connected with, once for each relationship; 0 for such memories.
    #[must_use]
    pub fn mentions(&self, node: NodeId) -> u32 {
        self.memories.mentions[node.at()]
    }

    /// Nodes that more than 32 memories, and more than a tenth of all, are connected with, ascending: they tell nothing about any of
    /// these.
    #[must_use]
    pub fn hubs(&self) -> &[NodeId] {
        &self.memories.hubs
    }

    /// The memories before and after one in its session.
    pub(crate) fn neighbours(&self, node: NodeId) -> [Option<NodeId>; 2] {
        self.memories.documents.neighbours(node)
    }

    /// Whether a memory speaks of time.
    pub(crate) fn speaks_of_time(&self, node: NodeId) -> bool {
        self.texts.index.speaks_of_time(&self.memories.documents, node)
    }

    /// When a memory was created, epoch milliseconds.
    #[must_use]
    pub fn created(&self, node: NodeId) -> Option<i64> {
        self.texts.index.created(&self.memories.documents, node)
    }

    /// Hash of the speaker of a memory.
    pub(crate) fn speaker(&self, node: NodeId) -> Option<u64> {
        self.texts.index.speaker(&self.memories.documents, node)
    }

    /// Whether any memory has a speaker.
    pub(crate) fn has_speakers(&self) -> bool {
        self.memories.documents.has_speakers()
    }

    /// The PageRank of a node divided by the greatest, `0 ..= 1`.
    #[must_use]
    pub fn relative_pagerank(&self, node: NodeId) -> f32 {
        if self.pagerank_max > 0.0 { self.graph().pagerank(node) / self.pagerank_max } else { 0.0 }
    }

    /// Mean degree of the graph.
    #[must_use]
    pub const fn mean_degree(&self) -> f64 {
        self.mean_degree
    }

    /// Change frequencies; computed on first use.
    #[must_use]
    pub fn velocity(&self) -> VelocityScorer {
        *self.lazy.velocity.get_or_init(|| VelocityScorer::of(self.graph()))
    }

    /// Observed co-change; built on first use.
    #[must_use]
    pub fn co_change(&self) -> &CoChangeMatrix {
        self.lazy.co_change.get_or_init(|| CoChangeMatrix::of_slots(self.graph()))
    }

    /// Co-occurrence in random walks, which the first caller seeds; `None` if the graph is too large.
    #[must_use]
    pub fn cooccurrence(&self, random_seed: u64) -> Option<&CoOccurrenceIndex> {
        let made = || CoOccurrenceIndex::build(self.graph(), random_seed);
        self.lazy.cooccurrence.get_or_init(made).as_ref()
    }

    /// Communities at resolution 1 by the present weights; computed on first use after a tick, which takes seconds for a
    /// million nodes, while other callers wait.
    #[must_use]
    pub fn communities(&self) -> Arc<Partition> {
        let mut kept = self.lazy.communities.lock().unwrap_or_else(PoisonError::into_inner);
        let tick = self.ticks.at_start();
        if let Some((_, partition)) = kept.as_ref().filter(|(of, _)| *of == tick) {
            return Arc::clone(partition);
        }
        let partition = Arc::new(communities(self.graph(), PosF32::ONE));
        *kept = Some((tick, Arc::clone(&partition)));
        partition
    }

    /// Flags of the computation of the indexes.
    #[must_use]
    pub const fn flags(&self) -> Flags {
        self.flags
    }

    /// Name of the type of a node: `Memory`, `Entity`, `Room`.
    #[must_use]
    pub fn kind(&self, node: NodeId) -> Cow<'_, str> {
        match (self.graph().node_type(node), NodeType::LABELS.len()) {
            (NodeType::Custom(n), named) if usize::from(n) >= named => {
                let name = self.type_names.get(usize::from(n) - named);
                name.map_or_else(|| format!("custom:{n}").into(), |label| label.as_str().into())
            }
            (node_type, _) => node_type.name().unwrap_or_default().into(),
        }
    }

    /// The type with a name.
    #[must_use]
    pub fn node_type(&self, kind: &str) -> Option<NodeType> {
        let custom = |n: usize| u8::try_from(n).ok().map(NodeType::Custom);
        let position = || self.type_names.iter().position(|label| label == kind);
        NodeType::of_name(kind)
            .or_else(|| position().and_then(|n| custom(NodeType::LABELS.len() + n)))
            .or_else(|| kind.strip_prefix("custom:").and_then(|n| n.parse().ok()).map(NodeType::Custom))
    }

    /// Names of types that nodes can have.
    pub fn kind_names(&self) -> impl Iterator<Item = &str> {
        let named = NodeType::named().filter_map(|kind| -> Option<&str> { kind.name() });
        named.chain(self.type_names.iter().map(String::as_str))
    }

    /// Sizes in bytes by part.
    #[must_use]
    pub fn bytes(&self) -> MemoryUsage {
        MemoryUsage {
            slots: self.graph().slot_bytes(),
            columns: self.graph().column_bytes(),
            labels: self.labels.bytes(),
            facts: self.facts.bytes(),
            texts: self.texts.index.bytes(),
            documents: self.memories.bytes() + self.vector_facts.bytes(),
            vectors: self.texts.spaces().map(|vectors| vectors.bytes()).sum(),
            lazy: self.lazy.bytes(),
        }
    }
}

/// Most memories that a node is connected with before it may be a hub, and the share of all from which on it is one.
const HUB_MENTIONS: u32 = 32;
const HUB_SHARE: f64 = 0.1;

/// Nodes that are connected with too many memories.
fn hubs(graph: &Graph, mentions: &[u32], memories: u32) -> Vec<NodeId> {
    let most = f64::max(f64::from(HUB_MENTIONS), HUB_SHARE * f64::from(memories));
    graph.nodes().filter(|node| f64::from(mentions[node.at()]) > most).collect()
}

/// Number of memories that each other node is connected with.
fn mentions(graph: &Graph, documents: &Documents) -> Vec<u32> {
    let of = |node: NodeId| {
        if documents.has(node) {
            return 0;
        }
        let mentioned = graph.slots(node).filter(|slot| documents.has(graph.target(*slot))).count();
        u32::try_from(mentioned).unwrap_or(u32::MAX)
    };
    graph.nodes().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::builder::{Batch, EdgeRow, GraphBuilder};
    use crate::graph::columns::NodeRow;
    use crate::graph::kinds::EdgeDirection;
    use crate::graph::snapshot::SkippedCounts;

    fn snapshot() -> Snapshot {
        let mut builder = GraphBuilder::default();
        let rows = [
            ("m", "Dana met Rui", NodeType::MEMORY),
            ("Dana", "Dana", NodeType::Concept),
            ("Rui", "Rui", NodeType::Concept),
            ("shelf", "books", NodeType::Custom(6)),
        ];
        for (id, label, node_type) in rows {
            builder.add_node(NodeRow::new(id, label, node_type)).unwrap();
        }
        for (source, target, relation) in [("m", "Dana", "MENTIONS"), ("Dana", "Rui", "RELATES_TO")] {
            let (source, target, relation) = (source.to_owned(), target.to_owned(), relation.to_owned());
            let direction = EdgeDirection::Bidirectional;
            builder
                .add_edge(&EdgeRow { source, target, relation, weight: 0.5, direction, ..EdgeRow::default() })
                .unwrap();
        }
        let graph = builder.finalize().unwrap().with_generation(Generation(7));
        Snapshot { graph, as_of: Some(5), skipped: SkippedCounts::default() }
    }

    #[test]
    fn a_file_has_labels_for_texts_and_slots_for_facts() {
        let view = View::from_labels(snapshot()).unwrap();
        let found = view.rank_by_text("who met somebody", 5, |_| true).ranked;
        assert_eq!(found.iter().map(|one| view.graph().external_id(one.node)).collect::<Vec<_>>(), ["m"]);
        let [dana, rui] = ["Dana", "Rui"].map(|id| view.graph().find(id).unwrap());
        let facts = view.sources().facts.best("Rui", 5);
        assert_eq!(facts.iter().map(|fact| fact.ends).collect::<Vec<_>>(), [(dana, rui)]);
        assert_eq!(view.sources().spread("dana"), 1);
        assert_eq!((view.generation(), view.snapshot().as_of), (Generation(7), Some(5)));
    }

    #[test]
    fn what_a_batch_leaves_as_it_is_is_shared() {
        let before = View::from_labels(snapshot()).unwrap();
        let next = |batch: &Batch, texts: Texts| {
            let snapshot = Snapshot::from(before.graph().apply(batch).unwrap());
            View::next(Some(&before), snapshot, texts, [] as [(NodeId, NodeId, &str); 0])
        };
        let shared = |view: &View| {
            [Arc::ptr_eq(&view.labels, &before.labels), Arc::ptr_eq(&view.memories, &before.memories)]
        };
        let ranks =
            |view: &View| view.graph().by_rank().map(|node| view.graph().pagerank(node)).collect::<Vec<_>>();
        let accessed =
            NodeRow { last_modified: Some(9), ..before.graph().row(before.graph().find("m").unwrap()) };
        let renamed = NodeRow { label: "Rui Costa".to_owned(), ..NodeRow::new("Rui", "", NodeType::Concept) };
        let added = NodeRow::new("Porto", "Porto", NodeType::Concept);
        for (nodes, wanted) in [(accessed, [true; 2]), (renamed, [false, true]), (added, [false; 2])] {
            let batch = Batch { nodes: vec![nodes], ..Batch::default() };
            let view = next(&batch, before.texts().clone());
            assert_eq!(shared(&view), wanted, "{batch:?}");
            assert_eq!(ranks(&view) == ranks(&before), wanted[1]);
            let told = Texts { index: Arc::new(TextIndex::clone(&view.texts.index)), ..Texts::default() };
            assert_eq!(shared(&next(&batch, told)), [wanted[0], false], "another index");
        }
        let again = View::next(Some(&before), snapshot(), before.texts().clone(), []);
        assert_eq!(shared(&again), [false; 2], "its graph does not follow from the other");
    }

    #[test]
    fn pagerank_is_relative_to_the_greatest() {
        let view = View::from_labels(snapshot()).unwrap();
        let relative = |id: &str| view.relative_pagerank(view.graph().find(id).unwrap());
        assert_eq!(relative("Dana").to_bits(), 1.0_f32.to_bits());
        assert!(relative("Rui") < 1.0 && relative("shelf") < relative("Rui") && relative("shelf") > 0.0);
        // Two mutually linked nodes oscillate, and the oscillation outlasts the iterations.
        assert_eq!(view.flags().names().collect::<Vec<_>>(), ["pagerank_unconverged"]);
    }

    #[test]
    fn kinds_have_names_and_names_kinds() {
        let view = View::from_labels(snapshot()).unwrap();
        let kinds = |view: &View| -> Vec<String> {
            ["m", "Rui", "shelf"].map(|id| view.kind(view.graph().find(id).unwrap()).into_owned()).to_vec()
        };
        assert_eq!(kinds(&view), ["Memory", "Entity", "custom:6"]);
        let view = view.with_type_names(vec!["Shelf".to_owned()]);
        assert_eq!(kinds(&view), ["Memory", "Entity", "Shelf"]);
        assert_eq!(view.node_type("Shelf"), Some(NodeType::Custom(6)));
        assert_eq!(view.node_type("custom:6"), Some(NodeType::Custom(6)));
        assert_eq!([view.node_type("shelf"), view.node_type("")], [None, None]);
    }

    #[test]
    fn bytes_are_reported_by_part_and_texts_are_shared() {
        let (file, relations) = (snapshot(), [] as [(NodeId, NodeId, &str); 0]);
        let view = View::from_labels(snapshot()).unwrap();
        let next = View::new(file, view.texts().clone(), relations);
        assert!(Arc::ptr_eq(&view.texts().index, &next.texts().index));
        let (with, without) = (view.bytes(), next.bytes());
        assert!(with.facts > without.facts, "{with:?} {without:?}");
        assert_eq!(MemoryUsage { facts: 0, ..with }, MemoryUsage { facts: 0, ..without });
        assert_eq!(with.total() - without.total(), with.facts - without.facts);
        assert!(
            [with.slots, with.columns, with.labels, with.texts, with.documents].iter().all(|part| *part > 0)
        );
    }

    #[test]
    fn communities_are_computed_on_demand_and_cached() {
        let view = View::from_labels(snapshot()).unwrap();
        assert_eq!(view.bytes().lazy, 0);
        assert_eq!(view.communities().membership.len(), 4);
        assert_eq!(view.bytes().lazy, 4 * 4);
        let first = view.communities();
        assert!(Arc::ptr_eq(&first, &view.communities()));
        view.ticks().begin(1);
        view.ticks().finish(1);
        assert!(!Arc::ptr_eq(&first, &view.communities()), "weights have changed");
    }

    #[test]
    fn a_view_is_shared_by_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<View>();
    }
}
