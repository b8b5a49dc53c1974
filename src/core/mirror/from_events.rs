//! The view that events make in memory, as a mirror would hold it right after their import: no database, no jobs.
//!
//! Memories with their mentions and embeddings, and relations with the weight of their last observation, which have no embeddings.
//! Energy, clusters, facts, trails and rows of other libraries have no part in it.

use super::content::{LABEL_BYTES_MAX, MENTIONS, RELATES_TO};
use super::{Error, load::set_vectors};
use crate::domain::event::{Observe, Remember, Tie};
use crate::domain::ids::labelled;
use ebb_engine::graph::builder::{GraphBuilder, StagedKind, WeightRange};
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::kinds::{Kinds, NodeType, Properties, UNNAMED};
use ebb_engine::graph::snapshot::{SkippedCounts, Snapshot};
use ebb_engine::text::counts::WordCounts;
use ebb_engine::text::fold::cut;
use ebb_engine::text::mention;
use ebb_engine::text::ranking::{Content, TextIndex};
use ebb_engine::vectors::VectorIndex;
use ebb_engine::{Texts, View};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const MEMORY: &str = "Memory";
const ENTITY: &str = "Entity";

/// Weights of relations by their ends and their predicate.
type Latest<'a> = BTreeMap<(&'a str, &'a str, &'a str), f64>;

/// The events of one scope that make nodes and relationships.
#[derive(Debug, Clone, Default)]
pub struct ScopeEvents {
    /// Memories, each id once.
    pub memories: Vec<Remember>,
    /// Observed relations, in order.
    pub relations: Vec<Observe>,
}

/// The ends of relations in a graph, with their predicates.
pub type Related<'a> = Vec<(NodeId, NodeId, &'a str)>;

impl ScopeEvents {
    /// Builds the view.
    pub fn view(&self, kinds: &Kinds, range: WeightRange) -> Result<View, Error> {
        let (snapshot, texts, relations) = self.parts(kinds, range)?;
        Ok(View::new(snapshot, texts, relations))
    }

    /// What the view is built from.
    pub fn parts(&self, kinds: &Kinds, range: WeightRange) -> Result<(Snapshot, Texts, Related<'_>), Error> {
        let names = Names::of(self);
        let mut builder = GraphBuilder::new(kinds.clone(), range);
        for memory in &self.memories {
            builder.add_node(memory_row(memory, &names))?;
        }
        let mut seen: BTreeMap<&str, i64> = self.mentioned().map(|name| (name, 0)).collect();
        for observe in &self.relations {
            for end in [observe.tie.from.as_str(), observe.tie.to.as_str()] {
                let at = seen.entry(end).or_default();
                *at = observe.seen.at.millis().max(*at);
            }
        }
        for (name, at) in seen {
            let row =
                NodeRow::new(names.external(ENTITY, name), cut(name, LABEL_BYTES_MAX), NodeType::Concept);
            builder.add_node(NodeRow { last_modified: (at > 0).then_some(at), ..row })?;
        }
        let relations = self.latest();
        self.connect(&mut builder, kinds, &names, &relations)?;
        let at = self.memories.iter().map(|memory| memory.at);
        let as_of = at.chain(self.relations.iter().map(|observe| observe.seen.at)).max();
        let snapshot = Snapshot {
            graph: builder.finalize()?,
            as_of: as_of.map(|at| at.millis()),
            skipped: SkippedCounts::default(),
        };
        let end = |name: &str| snapshot.graph.find(&names.external(ENTITY, name));
        let ends = relations.keys().filter_map(|(from, to, kind)| Some((end(from)?, end(to)?, *kind)));
        let ends = ends.collect();
        Ok((snapshot, self.texts(&names)?, ends))
    }

    fn mentioned(&self) -> impl Iterator<Item = &str> {
        self.memories.iter().flat_map(|memory| memory.mentions.iter().map(|name| name.as_str()))
    }

    /// Weights by ends and predicate: a relation that is observed again is one relation.
    fn latest(&self) -> Latest<'_> {
        let weighed = self.relations.iter().map(|Observe { tie: Tie { from, to, kind, .. }, seen }| {
            let weight = seen.weight.map_or(1.0, |weight| weight.value());
            ((from.as_str(), to.as_str(), kind.as_str()), weight)
        });
        weighed.collect()
    }

    fn connect(
        &self,
        builder: &mut GraphBuilder,
        kinds: &Kinds,
        names: &Names<'_>,
        relations: &Latest<'_>,
    ) -> Result<(), Error> {
        let staged = |builder: &mut GraphBuilder, kind: &str| -> StagedKind {
            let rule = kinds.of(kind);
            builder.kind(kind, rule.direction, rule.inhibitory)
        };
        let (mentions, relates) = (staged(builder, MENTIONS), staged(builder, RELATES_TO));
        let rule = kinds.of(MENTIONS);
        let weight = |strength| rule.of(MENTIONS, &Properties { strength, ..Properties::default() });
        let (named, unnamed) = (weight(None)?, weight(Some(UNNAMED))?);
        for memory in &self.memories {
            let from = builder.find(&names.external(MEMORY, memory.id.as_str()));
            for name in &memory.mentions {
                let to = builder.find(&names.external(ENTITY, name.as_str()));
                if let (Some(from), Some(to)) = (from, to) {
                    let weight = if mention::names(&memory.content, name.as_str()) { named } else { unnamed };
                    builder.connect(from, to, mentions, weight)?;
                }
            }
        }
        for ((from, to, predicate), weight) in relations {
            let of = Properties { weight: Some(*weight), ..Properties::default() };
            let weight = kinds.of(RELATES_TO).of(RELATES_TO, &of)?;
            let ends = [from, to].map(|name| builder.find(&names.external(ENTITY, name)));
            if let [Some(from), Some(to)] = ends {
                let causal = kinds.causal(RELATES_TO, predicate, weight, None);
                builder.connect_causal(from, to, relates, weight, Some(causal))?;
            }
        }
        Ok(())
    }

    fn texts(&self, names: &Names<'_>) -> Result<Texts, Error> {
        let (mut index, mut counts) = (TextIndex::default(), WordCounts::default());
        let ids: Vec<String> =
            self.memories.iter().map(|memory| names.external(MEMORY, memory.id.as_str())).collect();
        index.add(self.memories.iter().zip(&ids).map(|(memory, id)| Content {
            id,
            text: &memory.content,
            session: memory.session.as_ref().map(|session| session.as_str()),
            at: Some(memory.at.millis()),
        }))?;
        counts.add(self.memories.iter().map(|memory| memory.content.as_str()));
        let embedded: Vec<(&String, Vec<f32>)> = self.memories.iter().zip(&ids).filter_map(numbers).collect();
        let dimensions = embedded.first().map(|(_, numbers)| numbers.len());
        let mut vectors = dimensions.map(VectorIndex::new).transpose()?;
        if let Some(vectors) = &mut vectors {
            set_vectors(
                vectors,
                embedded.iter().map(|(id, numbers)| (id.as_str(), Some(numbers.as_slice()))),
            )?;
        }
        let (index, counts, vectors) = (Arc::new(index), Arc::new(counts), vectors.map(Arc::new));
        Ok(Texts { index, counts, vectors, facts: None })
    }
}

/// External ids, by the rule of all mirrors: with the label where a memory and an entity have the same name, or where the name itself
/// begins with a label.
struct Names<'a> {
    shared: BTreeSet<&'a str>,
}

impl<'a> Names<'a> {
    fn of(events: &'a ScopeEvents) -> Self {
        let memories: BTreeSet<&str> = events.memories.iter().map(|memory| memory.id.as_str()).collect();
        let observed =
            events.relations.iter().flat_map(|seen| [seen.tie.from.as_str(), seen.tie.to.as_str()]);
        let entities = events.mentioned().chain(observed);
        Self { shared: entities.filter(|name| memories.contains(name)).collect() }
    }

    fn external(&self, label: &str, name: &str) -> String {
        match self.shared.contains(name) || labelled([MEMORY, ENTITY], name).is_some() {
            true => format!("{label}:{name}"),
            false => name.to_owned(),
        }
    }
}

fn memory_row(memory: &Remember, names: &Names<'_>) -> NodeRow {
    let id = names.external(MEMORY, memory.id.as_str());
    NodeRow {
        tags: memory.annotations.tags().map(str::to_owned).collect(),
        metadata: memory.annotations.metadata().cloned(),
        last_modified: Some(memory.at.millis()),
        session: memory.session.as_ref().map(|session| session.as_str().to_owned()),
        ..NodeRow::new(id, cut(&memory.content, LABEL_BYTES_MAX), NodeType::MEMORY)
    }
}

/// The embedding of a memory in the precision of the engine.
#[expect(clippy::cast_possible_truncation, reason = "rounded once, as the database's index does")]
fn numbers<'a>((memory, id): (&Remember, &'a String)) -> Option<(&'a String, Vec<f32>)> {
    let embedding = memory.embedding.as_ref()?;
    Some((id, embedding.numbers().iter().map(|number| *number as f32).collect()))
}
