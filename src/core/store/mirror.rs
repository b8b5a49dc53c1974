//! The queries of a mirror: candidates, their contents and their relationships.
//!
//! Nodes are read a page at a time, and so are the relationships that begin at them, those of a node in one
//! packed record: twice as fast as with a row for each, and pages of several connections do not overlap. Values are
//! returned as stored; a value that is not a number is [`Amount::Unusable`], so that one bad property costs one
//! relationship and never a page.
//!
//! They are read by element, and keep their key: a census returns the elements, and those of other keys are found first. So these
//! statements, which are long, name no label, and a server that has just started plans each of them once and not for each label,
//! which is most of what a first load waits for.
//!
//! In a full load, the other end of a relationship is an element id, since the census returned the element of every
//! node that may be mirrored: the server then need not read that node again. An element id may be reused after its node
//! was deleted, so such a read is valid for its instant alone, and later change records correct it; in a refresh of a
//! few nodes, other ends are read by label and key.
//!
//! Labels of other libraries' rows follow Ebb's own: see `adopted`.

mod adopted;
mod census;
mod nearest;
mod rows;

pub use adopted::{
    AdoptedFact, AdoptedNode, FACT_STATE, NODE_STATE, RowState, STATE_LABEL, WrittenRow, bond,
};
pub use census::{Census, Heat, MirrorCandidate};
pub use nearest::{NearestMemories, NearestMemory};

use super::Store;
use super::catalogue::{MIRROR_AROUND, MIRROR_EDGES, MIRROR_FIND, MIRROR_NODES};
use super::encode::{list, slices};
use super::error::Error;
use super::statement::Call;
use super::tx::{Mode, Tx};
use crate::domain::annotations::{Metadata, Provenance};
use crate::domain::ids::{Scope, labelled};
use crate::domain::mapping::Mapping;
use crate::domain::relation::{Fading, RelationState};
use crate::domain::similarity::Similarity;
use crate::domain::trail::{Allowed, MirroredLabel, PlaceLabel, Trails};
use crate::domain::units::{Timestamp, Weight};
use adopted::AdoptedLabel;
use neo4rs::{BoltNull, BoltType};
use rows::{begun, ends, keyed, node};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Approximate limit of a node's characters that are read: its content is cut at 65,536.
const READ_MAX: u64 = 65_536;

/// How much a mention conducts that its text does not bear out.
#[derive(Debug, Clone, Default)]
pub struct MentionRule {
    /// Strength of a mention of what the text does not name.
    pub unnamed: f64,
    /// Words that name nothing, in lower case.
    pub stop_words: Vec<&'static str>,
}

/// Nodes of a label that are to be read.
#[derive(Debug, Clone, Copy)]
pub enum Sought<'a> {
    /// By their keys.
    Keys(&'a [&'a str]),
    /// By the keys and elements of a census.
    Candidates(&'a [&'a MirrorCandidate]),
}

impl Sought<'_> {
    fn keys(&self) -> Vec<&str> {
        match self {
            Self::Keys(keys) => keys.to_vec(),
            Self::Candidates(candidates) => candidates.iter().map(|one| one.key.as_str()).collect(),
        }
    }
}

/// Parameters of the queries that mirror one scope.
#[derive(Debug, Clone)]
pub struct MirrorQuery {
    pub scope: Scope,
    /// Whether expired memories are included.
    pub expired: bool,
    /// Types that are excluded.
    pub never: Vec<String>,
    /// Types with a cost; others have a weight.
    pub costed: Vec<String>,
    pub mentions: MentionRule,
    /// Dimensions of the embeddings that are read; `None`: none are.
    pub dimensions: Option<usize>,
    /// Model of the embeddings that were computed for Ebb; others are not read.
    pub model: Option<String>,
    labels: Allowed,
    mirrored: Vec<MirroredLabel>,
    adopted: Vec<AdoptedLabel>,
}

/// Contents of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct MirroredNode {
    /// Index of its label.
    pub label: usize,
    pub key: String,
    pub name: Option<String>,
    /// Content, its first 65,536 characters.
    pub content: Option<String>,
    pub tier: Option<String>,
    /// Session that created it.
    pub session: Option<String>,
    /// Last access, epoch milliseconds.
    pub last_accessed: Option<i64>,
    /// Creation, epoch milliseconds.
    pub created: Option<i64>,
    /// Number of accesses.
    pub access_count: Option<i64>,
    /// Tags.
    pub tags: Vec<String>,
    /// Fields that its writer gave it.
    pub metadata: Option<Metadata>,
    /// Source.
    pub provenance: Provenance,
    /// Embedding of the dimensions of the query.
    pub embedding: Option<Vec<f32>>,
}

/// A relationship as read from its start node.
#[derive(Debug, Clone, PartialEq)]
pub struct OutgoingRelation {
    pub kind: String,
    /// Element id of its other end.
    pub to: String,
    /// Source of its conductance.
    pub amount: Amount,
    /// Causal strength of its own, `0 ..= 1`, if given.
    pub causal: Option<f32>,
    /// Where its embedding is, if it may have one.
    pub embedded: Option<EmbeddedFact>,
}

/// A relationship as read from either end.
#[derive(Debug, Clone, PartialEq)]
pub struct MirroredEnd {
    pub kind: String,
    /// Index of the label of its other end.
    pub label: usize,
    /// Key of its other end.
    pub key: String,
    /// Source of its conductance.
    pub amount: Amount,
    /// Causal strength of its own, `0 ..= 1`, if given.
    pub causal: Option<f32>,
    /// Whether it begins at the node from which it was read.
    pub begins: bool,
    /// Where its embedding is, if it may have one.
    pub embedded: Option<EmbeddedFact>,
}

/// A fact that may have an embedding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddedFact {
    /// Index of the label of the node at which it begins.
    pub label: usize,
    pub element: String,
}

/// Property of a relationship that determines its conductance.
#[derive(Debug, Clone, PartialEq)]
pub enum Amount {
    None,
    /// A cost, a strength or a weight, according to its type.
    Number(f64),
    /// A decaying relation.
    Relation(FadingRelation),
    /// An invalid value.
    Unusable,
}

/// A decaying relation.
#[derive(Debug, Clone, PartialEq)]
pub struct FadingRelation {
    pub kind: String,
    pub bond: RelationState,
    /// Confidence, if given.
    pub confidence: Option<f64>,
    /// Causal strength of its own, `0 ..= 1`, if given.
    pub causal: Option<f32>,
    /// Instant from which its library says that it is no longer live, epoch milliseconds.
    pub until: Option<i64>,
    /// Whether another library wrote it: then it is retrieved as long as it is live there, at the minimum weight at least.
    pub is_adopted: bool,
}

impl FadingRelation {
    /// Weight at an instant.
    #[must_use]
    pub fn weight(&self, at: Timestamp, fading: &Fading) -> Weight {
        let weight = self.bond.weight(at, fading);
        if self.is_adopted && weight < fading.minimum() { fading.minimum() } else { weight }
    }

    /// Whether it is retrieved at an instant.
    #[must_use]
    pub fn is_retrievable(&self, at: Timestamp, fading: &Fading) -> bool {
        match self.is_adopted {
            true => self.is_live(at),
            false => self.bond.is_retrievable(at, fading),
        }
    }

    /// Whether its library says that it is live.
    #[must_use]
    pub fn is_live(&self, at: Timestamp) -> bool {
        self.until.is_none_or(|until| until > at.millis())
    }
}

/// Labels of candidates, in order of precedence for nodes with several.
pub(super) fn labels(trails: &Trails) -> Result<Allowed, Error> {
    let mut labels: Vec<&str> = Vec::new();
    for label in label_names(trails) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    Allowed::new(&labels, &["RELATES_TO"])
        .map_err(|why| Error::Conflict(format!("labels of the mirror: {why}")))
}

/// Labels that may prefix the name of a node, with repeats.
pub(super) fn label_names(trails: &Trails) -> impl Iterator<Item = &str> {
    let always = ["Memory", "Entity", "SemanticCluster"];
    let places = trails.allowed.labels().iter().map(PlaceLabel::as_str);
    always.into_iter().chain(places).chain(trails.mirrored.iter().map(|one| one.label().as_str()))
}

/// Keys of memories by their names in a mirror of a scope, without the names of other nodes.
pub(super) fn memory_keys<'n>(
    (trails, mappings): (&Trails, &[Mapping]),
    scope: &Scope,
    names: impl Iterator<Item = &'n str>,
) -> Vec<&'n str> {
    let adopted = adopted::labels(mappings, scope, 0);
    let labels = || label_names(trails).chain(adopted.iter().map(AdoptedLabel::label));
    let key = |name: &'n str| match labelled(labels(), name) {
        None => Some(name),
        Some((label, key)) => (label == "Memory").then_some(key),
    };
    names.filter_map(key).collect()
}

impl MirrorQuery {
    /// Query parameters for a scope; `trails` names the labels of places, and `mappings` those of other libraries.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the labels of the configuration leave no room for those that are always mirrored.
    pub fn new(
        scope: Scope,
        (trails, mappings): (&Trails, &[Mapping]),
        expired: bool,
        never: Vec<String>,
        (costed, mentions): (Vec<String>, MentionRule),
    ) -> Result<Self, Error> {
        let labels = labels(trails)?;
        let adopted = adopted::labels(mappings, &scope, labels.labels().len());
        Ok(Self {
            scope,
            expired,
            never,
            costed,
            mentions,
            dimensions: None,
            model: None,
            labels,
            mirrored: trails.mirrored.clone(),
            adopted,
        })
    }

    /// Reads the embeddings that can be compared, or none.
    #[must_use]
    pub fn with_embeddings(self, similarity: Option<&Similarity>) -> Self {
        let dimensions = similarity.and_then(|similarity| similarity.dimensions);
        Self { dimensions, model: similarity.and_then(|similarity| similarity.model.clone()), ..self }
    }

    /// The labels with the kind of their nodes: Ebb's own in order of precedence for nodes with several, then those of
    /// other libraries.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        let kind = |label: &PlaceLabel| self.mirrored.iter().find(|one| one.label() == label);
        let own = self.own().iter();
        let own =
            own.map(move |label| (label.as_str(), kind(label).map_or(label.as_str(), MirroredLabel::kind)));
        own.chain(self.adopted.iter().map(|one| (one.label(), one.kind())))
    }

    /// Number of all labels.
    #[must_use]
    pub fn label_count(&self) -> usize {
        self.own_labels() + self.adopted.len()
    }

    /// Number of Ebb's own labels, which are the first.
    #[must_use]
    pub fn own_labels(&self) -> usize {
        self.own().len()
    }

    /// Whether facts of another library may have been learned from the nodes of a label.
    #[must_use]
    pub fn is_evidence(&self, label: usize) -> bool {
        let of = self.adopted(label);
        of.is_some_and(|of| of.evidence().is_some_and(|rule| rule.label.as_str() == of.label()))
    }

    /// Everything of the mappings that decides what is read, for comparisons.
    #[must_use]
    pub fn mapped(&self) -> String {
        format!("{:?}", self.adopted)
    }

    /// Index of one of Ebb's own labels.
    fn label(&self, name: &str) -> Option<usize> {
        self.own().iter().position(|label| label.as_str() == name)
    }

    fn own(&self) -> &[PlaceLabel] {
        self.labels.labels()
    }

    /// A label of another library.
    fn adopted(&self, label: usize) -> Option<&AdoptedLabel> {
        self.adopted.get(label.checked_sub(self.own_labels())?)
    }

    fn names(labels: &[PlaceLabel]) -> BoltType {
        list(labels.iter().map(PlaceLabel::as_str))
    }

    /// Statement about nodes of one of Ebb's own labels.
    fn of(&self, call: Call, label: usize) -> Call {
        let name = self.own()[label].as_str();
        let marks = self.adopted.iter().filter(|one| one.label() == name).filter_map(AdoptedLabel::mark);
        call.set("scope", self.scope.as_str())
            .set("before", Self::names(&self.own()[..label]))
            .set("marks", list(marks))
            .set("expired", self.expired)
    }

    /// Statement about their relationships.
    fn walked(&self, call: Call) -> Call {
        call.set("never", list(self.never.iter().map(String::as_str)))
            .set("costed", list(self.costed.iter().map(String::as_str)))
            .set("stopWords", list(self.mentions.stop_words.iter().copied()))
            .set("unnamed", self.mentions.unnamed)
    }
}

impl Store {
    /// Nodes of a label, without deleted and excluded ones.
    pub async fn mirrored(
        &self,
        asked: &MirrorQuery,
        label: usize,
        sought: Sought<'_>,
    ) -> Result<Vec<MirroredNode>, Error> {
        const COLUMNS: [&str; 12] = [
            "key",
            "name",
            "content",
            "tier",
            "session",
            "lastAccessed",
            "created",
            "accessCount",
            "tags",
            "metadata",
            "provenance",
            "embedding",
        ];
        if label >= asked.own_labels() {
            let live = self.adopted_live(asked, label, &sought.keys()).await?;
            return Ok(live.into_iter().map(|one| one.node).collect());
        }
        let call = || {
            let dimensions = asked.dimensions.and_then(|count| i64::try_from(count).ok());
            let dimensions = dimensions.map_or(BoltType::Null(BoltNull), BoltType::from);
            let call = asked.of(MIRROR_NODES.call(), label);
            call.set("dimensions", dimensions).set("model", asked.model.as_deref())
        };
        let rows = self.own_table("mirror.nodes", (asked, label, sought), call, &COLUMNS).await?;
        Ok(rows.into_iter().map(|row| node(label, row)).collect())
    }

    /// Those of these ids that a memory of the scope has.
    pub async fn existing_memories(
        &self,
        asked: &MirrorQuery,
        ids: &[&str],
    ) -> Result<BTreeSet<String>, Error> {
        #[derive(Deserialize)]
        struct Found {
            key: String,
        }
        let label = asked.label("Memory").and_then(|at| asked.own().get(at..=at)).unwrap_or_default();
        self.transactions
            .run("mirror.find", Mode::Read, async |tx: &mut Tx| {
                let mut existing = BTreeSet::new();
                for slice in slices(&MIRROR_FIND, ids, |id| id.len() + 3) {
                    let call = MIRROR_FIND.about(label, &[]).set("scope", asked.scope.as_str());
                    let found: Vec<Found> = tx.rows(call.set("key", list(slice.iter().copied()))).await?;
                    existing.extend(found.into_iter().map(|one| one.key));
                }
                Ok(existing)
            })
            .await
    }

    /// Relationships that begin at nodes of a label, to any other end.
    pub async fn mirrored_edges(
        &self,
        asked: &MirrorQuery,
        label: usize,
        sought: Sought<'_>,
    ) -> Result<Vec<(String, Vec<OutgoingRelation>)>, Error> {
        if label >= asked.own_labels() {
            return self.adopted_edges(asked, label, &sought.keys()).await;
        }
        let call = || asked.walked(MIRROR_EDGES.call());
        let rows = self.own_table("mirror.edges", (asked, label, sought), call, &["key", "edges"]).await?;
        Ok(keyed(rows, begun))
    }

    /// Relationships of nodes of a label, in both directions: of one type, or of all.
    pub async fn mirrored_around(
        &self,
        asked: &MirrorQuery,
        label: usize,
        sought: Sought<'_>,
        kind: Option<&str>,
    ) -> Result<Vec<(String, Vec<MirroredEnd>)>, Error> {
        if label >= asked.own_labels() {
            return self.adopted_around(asked, label, &sought.keys()).await;
        }
        let call = || {
            let kind = kind.map_or(BoltType::Null(BoltNull), BoltType::from);
            asked
                .walked(asked.of(MIRROR_AROUND.call(), label))
                .set("labels", MirrorQuery::names(asked.own()))
                .set("type", kind)
        };
        let rows = self.own_table("mirror.around", (asked, label, sought), call, &["key", "edges"]).await?;
        Ok(keyed(rows, ends))
    }

    async fn table(
        &self,
        name: &'static str,
        call: impl Fn() -> Call,
        columns: &[&str],
    ) -> Result<Vec<Vec<BoltType>>, Error> {
        self.transactions.run(name, Mode::Read, async |tx: &mut Tx| tx.table(call(), columns).await).await
    }

    /// Rows of a statement about nodes of one of Ebb's own labels.
    async fn own_table(
        &self,
        name: &'static str,
        (asked, label, sought): (&MirrorQuery, usize, Sought<'_>),
        call: impl Fn() -> Call,
        columns: &[&str],
    ) -> Result<Vec<Vec<BoltType>>, Error> {
        #[derive(Deserialize)]
        struct Found {
            key: String,
            element: String,
        }
        self.transactions
            .run(name, Mode::Read, async |tx: &mut Tx| {
                let call =
                    call().set("scope", asked.scope.as_str()).set("label", asked.own()[label].as_str());
                let call = match sought {
                    Sought::Candidates(candidates) => call
                        .set("key", list(candidates.iter().map(|one| one.key.as_str())))
                        .set("element", list(candidates.iter().map(|one| &*one.elements))),
                    Sought::Keys(keys) => {
                        let find = MIRROR_FIND.about(&asked.own()[label..=label], &[]);
                        let find =
                            find.set("scope", asked.scope.as_str()).set("key", list(keys.iter().copied()));
                        let found: Vec<Found> = tx.rows(find).await?;
                        if found.is_empty() {
                            return Ok(Vec::new());
                        }
                        call.set("key", list(found.iter().map(|one| one.key.as_str())))
                            .set("element", list(found.iter().map(|one| one.element.as_str())))
                    }
                };
                tx.table(call, columns).await
            })
            .await
    }
}
