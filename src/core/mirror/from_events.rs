//! The view that events make in memory, as a mirror would hold it right after their import: no database, no jobs.
//!
//! Memories with their mentions and embeddings, and relations with the weight of their last observation, which have no embeddings.
//! Nothing has faded. Energy, clusters, facts, trails and rows of other libraries have no part in it.

use super::content::{LABEL_BYTES_MAX, MENTIONS, Names, RELATES_TO};
use super::{Error, load::set_vectors};
use crate::domain::event::{Observe, Remember};
use crate::domain::ids::Scope;
use crate::domain::mapping::Mapping;
use crate::domain::relation::{Fading, Observation, Pins, RelationState};
use crate::domain::trail::Trails;
use crate::store::{MentionRule, MirrorQuery};
use ebb_engine::graph::builder::{GraphBuilder, StagedKind, WeightRange};
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::kinds::{Kinds, NodeType, Properties, UNNAMED};
use ebb_engine::graph::snapshot::{SkippedCounts, Snapshot};
use ebb_engine::text::fold::cut;
use ebb_engine::text::mention;
use ebb_engine::text::ranking::{Content, TextIndex};
use ebb_engine::vectors::VectorIndex;
use ebb_engine::{Texts, View};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const MEMORY: &str = "Memory";
const ENTITY: &str = "Entity";

/// Relations by their ends and their predicate.
type Latest<'a> = BTreeMap<(&'a str, &'a str, &'a str), RelationState>;

/// Settings that decide a view of events: those of the store and of its mirrors.
#[derive(Debug, Clone)]
pub struct EventRules {
    /// Kinds of relationships and their conductance.
    pub kinds: Kinds,
    /// Bounds of effective weights.
    pub range: WeightRange,
    /// Decay of relations, whose minimum counts.
    pub fading: Fading,
    /// Relations that configuration pins.
    pub pins: Pins,
    /// These and mappings have the labels of a mirror, which decide how nodes are named.
    pub trails: Trails,
    pub mappings: Vec<Mapping>,
}

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
    pub fn view(&self, rules: &EventRules) -> Result<View, Error> {
        let (snapshot, texts, relations) = self.parts(rules)?;
        Ok(View::new(snapshot, texts, relations))
    }

    /// What the view is built from.
    pub fn parts(&self, rules: &EventRules) -> Result<(Snapshot, Texts, Related<'_>), Error> {
        let names = self.names(rules)?;
        let mut builder = GraphBuilder::new(rules.kinds.clone(), rules.range);
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
            let id = external(&names, ENTITY, name);
            let row = NodeRow::new(id, cut(name, LABEL_BYTES_MAX), NodeType::Concept);
            builder.add_node(NodeRow { last_modified: (at > 0).then_some(at), ..row })?;
        }
        let relations = self.latest(rules);
        self.connect(&mut builder, &rules.kinds, &names, &relations)?;
        let at = self.memories.iter().map(|memory| memory.at);
        let as_of = at.chain(self.relations.iter().map(|observe| observe.seen.at)).max();
        let snapshot = Snapshot {
            graph: builder.finalize()?,
            as_of: as_of.map(|at| at.millis()),
            skipped: SkippedCounts::default(),
        };
        let end = |name: &str| snapshot.graph.find(&external(&names, ENTITY, name));
        let ends = relations.keys().filter_map(|(from, to, kind)| Some((end(from)?, end(to)?, *kind)));
        let ends = ends.collect();
        Ok((snapshot, self.texts(&names)?, ends))
    }

    fn mentioned(&self) -> impl Iterator<Item = &str> {
        self.memories.iter().flat_map(|memory| memory.mentions.iter().map(|name| name.as_str()))
    }

    /// External names by the labels of the mirror of the scope.
    fn names(&self, rules: &EventRules) -> Result<Names, Error> {
        let scopes = self.memories.iter().map(|memory| &memory.scope);
        let scope = scopes.chain(self.relations.iter().map(|seen| &seen.tie.scope)).next();
        let scope = scope.cloned().unwrap_or_else(Scope::local);
        let read = (&rules.trails, rules.mappings.as_slice());
        let asked = MirrorQuery::new(scope, read, true, Vec::new(), (Vec::new(), MentionRule::default()))?;
        let observed = self.relations.iter().flat_map(|seen| [seen.tie.from.as_str(), seen.tie.to.as_str()]);
        let entities: BTreeSet<&str> = self.mentioned().chain(observed).collect();
        let memories = self.memories.iter().map(|memory| memory.id.as_str());
        Ok(Names::new(&asked, memories.chain(entities)))
    }

    /// Those that are retrieved, by ends and predicate: a relation that is observed again is one relation.
    fn latest(&self, rules: &EventRules) -> Latest<'_> {
        let mut latest: Latest<'_> = BTreeMap::new();
        for Observe { tie, seen } in &self.relations {
            let pinned = if tie.is_held(&rules.pins) { Some(true) } else { seen.pinned };
            let seen = Observation { pinned, ..*seen };
            latest
                .entry((tie.from.as_str(), tie.to.as_str(), tie.kind.as_str()))
                .and_modify(|state| *state = state.observed(seen))
                .or_insert_with(|| RelationState::new(seen));
        }
        latest.retain(|_, state| state.is_retrievable(state.weight_at, &rules.fading));
        latest
    }

    fn connect(
        &self,
        builder: &mut GraphBuilder,
        kinds: &Kinds,
        names: &Names,
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
            let from = builder.find(&external(names, MEMORY, memory.id.as_str()));
            for name in &memory.mentions {
                let to = builder.find(&external(names, ENTITY, name.as_str()));
                if let (Some(from), Some(to)) = (from, to) {
                    let weight = if mention::names(&memory.content, name.as_str()) { named } else { unnamed };
                    builder.connect(from, to, mentions, weight)?;
                }
            }
        }
        for ((from, to, predicate), state) in relations {
            let of = Properties { weight: Some(state.base.value()), ..Properties::default() };
            let weight = kinds.of(RELATES_TO).of(RELATES_TO, &of)?;
            let ends = [from, to].map(|name| builder.find(&external(names, ENTITY, name)));
            if let [Some(from), Some(to)] = ends {
                let causal = kinds.causal(RELATES_TO, predicate, weight, None);
                builder.connect_causal(from, to, relates, weight, Some(causal))?;
            }
        }
        Ok(())
    }

    fn texts(&self, names: &Names) -> Result<Texts, Error> {
        let mut index = TextIndex::default();
        let ids: Vec<String> =
            self.memories.iter().map(|memory| external(names, MEMORY, memory.id.as_str())).collect();
        index.add(self.memories.iter().zip(&ids).map(|(memory, id)| Content {
            id,
            text: &memory.content,
            session: memory.session.as_ref().map(|session| session.as_str()),
            at: Some(memory.at.millis()),
        }))?;
        let embedded: Vec<(&String, Vec<f32>)> = self.memories.iter().zip(&ids).filter_map(numbers).collect();
        let dimensions = embedded.first().map(|(_, numbers)| numbers.len());
        let mut vectors = dimensions.map(VectorIndex::new).transpose()?;
        if let Some(vectors) = &mut vectors {
            set_vectors(
                vectors,
                embedded.iter().map(|(id, numbers)| (id.as_str(), Some(numbers.as_slice()))),
            )?;
        }
        let (index, vectors) = (Arc::new(index), vectors.map(Arc::new));
        Ok(Texts { index, vectors, facts: None })
    }
}

/// External id of a node of a label that every mirror has.
fn external(names: &Names, label: &str, key: &str) -> String {
    names.label(label).map_or_else(|| key.to_owned(), |label| names.external_id(label, key))
}

fn memory_row(memory: &Remember, names: &Names) -> NodeRow {
    let id = external(names, MEMORY, memory.id.as_str());
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
