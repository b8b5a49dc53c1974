//! The queries of a mirror: candidates, their contents and their relationships.
//!
//! Nodes are read by key, a page at a time, and so are the relationships that begin at them, those of a node in one
//! packed record: twice as fast as with a row for each, and pages of several connections do not overlap. Values are
//! returned as stored; a value that is not a number is [`Amount::Unusable`], so that one bad property costs one
//! relationship and never a page.
//!
//! In a full load, the other end of a relationship is an element id, since the census returned the element of every
//! node that may be mirrored: the server then need not read that node again. An element id may be reused after its node
//! was deleted, so such a read is valid for its instant alone, and later change records correct it; in a refresh of a
//! few nodes, other ends are read by label and key.
//!
//! Labels of other libraries' rows follow Ebb's own: see `adopted`.

mod adopted;
mod rows;

pub use adopted::{
    AdoptedFact, AdoptedNode, FACT_STATE, NODE_STATE, RowState, STATE_LABEL, WrittenRow, bond,
};

use super::Store;
use super::catalogue::{MIRROR_AROUND, MIRROR_CENSUS, MIRROR_EDGES, MIRROR_NODES};
use super::encode::list;
use super::error::Error;
use super::statement::Call;
use super::trail::cycle::Counter;
use super::tx::{Mode, Tx};
use crate::domain::annotations::Provenance;
use crate::domain::ids::Scope;
use crate::domain::mapping::Mapping;
use crate::domain::relation::{Fading, RelationState};
use crate::domain::similarity::Similarity;
use crate::domain::tier::Tier;
use crate::domain::trail::{Allowed, Cycles, MirroredLabel, Place, PlaceLabel, Trails};
use crate::domain::tunables::Tunables;
use crate::domain::units::{Energy, Pheromone, Timestamp, Weight};
use adopted::AdoptedLabel;
use neo4rs::{BoltNull, BoltType};
use rows::{begun, ends, keyed, node};
use serde::Deserialize;
use std::cmp::Ordering;

/// Approximate limit of a node's characters that are read: its content is cut at 65,536.
const READ_MAX: u64 = 65_536;
/// Characters that a word of an expired memory counts as, beside its own.
const WORD_CHARS: u64 = 20;

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
    /// Dimensions of the embeddings that are read; `None`: none are.
    pub dimensions: Option<usize>,
    /// Model of the embeddings that were computed for Ebb; others are not read.
    pub model: Option<String>,
    labels: Allowed,
    mirrored: Vec<MirroredLabel>,
    adopted: Vec<AdoptedLabel>,
}

/// A candidate for the mirror.
#[derive(Debug, Clone, PartialEq)]
pub struct MirrorCandidate {
    /// Index of its label.
    pub label: usize,
    pub key: String,
    /// Its present element id.
    pub element: Box<str>,
    /// Rank for selection.
    pub heat: Heat,
    /// Characters of its key and its content, as far as they are read.
    pub bytes: u64,
    /// Number of its relationships in both directions, of any type.
    pub degree: u64,
}

/// Order of selection: pinned nodes, then by present energy, last expired memories by what they are worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Heat {
    Pinned,
    /// Any other node: energy of a memory, exploitation of others, at the instant of the census.
    Alive(f64),
    /// An expired memory, with its worth.
    Expired(f64),
}

impl Heat {
    /// An expired memory with a text of so many characters and words, and so many accesses. Little of its energy is left, so it is
    /// worth as much as its text tells, which grows with its words and their length, times the square root of its accesses,
    /// since each proves less than the one before. Characters count, too, because not every script has spaces.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an order, of numbers that are exact far beyond any text")]
    pub fn expired(chars: u64, words: u64, accesses: i64) -> Self {
        let text = chars.saturating_add(words.saturating_mul(WORD_CHARS));
        Self::Expired(text as f64 * (accesses.max(1) as f64).sqrt())
    }
}

impl MirrorCandidate {
    /// Hotter nodes first; of equals the lower label and key.
    #[must_use]
    pub fn by_heat(a: &Self, b: &Self) -> Ordering {
        let heat = match (a.heat, b.heat) {
            (Heat::Pinned, Heat::Pinned) => Ordering::Equal,
            (Heat::Pinned, _) => Ordering::Less,
            (_, Heat::Pinned) => Ordering::Greater,
            (Heat::Alive(_), Heat::Expired(_)) => Ordering::Less,
            (Heat::Expired(_), Heat::Alive(_)) => Ordering::Greater,
            (Heat::Alive(a), Heat::Alive(b)) | (Heat::Expired(a), Heat::Expired(b)) => b.total_cmp(&a),
        };
        heat.then_with(|| (&a.key, a.label).cmp(&(&b.key, b.label)))
    }
}

/// The hottest candidates, at most the requested number, and the number of all. Rows beyond the limit are dropped as
/// they arrive, so the memory of a census depends on the limit, not on the number of nodes.
#[derive(Debug, Default)]
pub struct Census {
    /// The hottest, by label and key: neighbours in the order of keys are adjacent in the store.
    pub hottest: Vec<MirrorCandidate>,
    /// Number of all candidates.
    pub count: u64,
    /// Number of candidates that are too large by themselves.
    pub too_large: u64,
}

impl Census {
    fn take(&mut self, one: MirrorCandidate, (most, bytes_max): (usize, u64)) {
        self.count += 1;
        if one.bytes > bytes_max {
            self.too_large += 1;
            return;
        }
        self.hottest.push(one);
        if self.hottest.len() > most.saturating_add(most / 4 + 256) {
            self.cut(most);
        }
    }

    fn cut(&mut self, most: usize) {
        if self.hottest.len() > most {
            self.hottest.select_nth_unstable_by(most, MirrorCandidate::by_heat);
            self.hottest.truncate(most);
        }
    }
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
        costed: Vec<String>,
    ) -> Result<Self, Error> {
        let labels = labels(trails)?;
        let adopted = adopted::labels(mappings, &scope, labels.labels().len());
        Ok(Self {
            scope,
            expired,
            never,
            costed,
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

    /// Everything of the mappings that decides what is read, for comparisons.
    #[must_use]
    pub fn mapped(&self) -> String {
        format!("{:?}", self.adopted)
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
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CensusRow {
    key: String,
    element: Box<str>,
    tier: Option<String>,
    energy: Option<f64>,
    energy_at: Option<i64>,
    last_accessed: Option<i64>,
    accesses: Option<i64>,
    pinned: bool,
    exploitation: Option<f64>,
    cycle: Option<i64>,
    words: u64,
    bytes: u64,
    degree: u64,
}

impl CensusRow {
    /// Characters that are read.
    fn chars(&self) -> u64 {
        self.bytes.min(READ_MAX)
    }

    fn heat(&self, now: Timestamp, tunables: &Tunables, trails: &Trails, cycles: &Cycles) -> Heat {
        let Some(tier) = self.tier.as_deref().and_then(Tier::named) else {
            let exploitation = self.exploitation.and_then(|amount| Pheromone::new(amount).ok());
            let place = Place { exploitation, cycle: self.cycle.unwrap_or(0), ..Place::default() };
            let now = place.evaporated(cycles.at(now), &trails.evaporation);
            return Heat::Alive(now.exploitation.map_or(0.0, Pheromone::value));
        };
        if self.pinned {
            return Heat::Pinned;
        }
        let Some(curve) = tunables.curve(tier) else {
            return Heat::expired(self.chars(), self.words, self.accesses.unwrap_or(1));
        };
        let accessed = self.last_accessed.unwrap_or(0);
        let anchor = self.energy_at.unwrap_or(accessed).max(accessed);
        let energy = self.energy.and_then(|energy| Energy::new(energy).ok());
        let since = Timestamp::from_millis(anchor).map_or(now, |anchor| anchor);
        Heat::Alive(energy.map_or(0.0, |energy| energy.faded(curve.factor(now.since(since))).value()))
    }
}

impl Store {
    /// The candidates with their heat at `now`: the `most` hottest of those with at most `bytes_max` characters.
    pub async fn census(
        &self,
        asked: &MirrorQuery,
        now: Timestamp,
        (tunables, counter): (&Tunables, &Counter),
        (most, bytes_max): (usize, u64),
    ) -> Result<Census, Error> {
        let mut all = Census::default();
        for label in 0..asked.own_labels() {
            let call = || asked.of(MIRROR_CENSUS.about(&asked.own()[label..=label], &[]), label);
            let eligible = |row: CensusRow| MirrorCandidate {
                label,
                heat: row.heat(now, tunables, &self.trails, &counter.cycles),
                bytes: row.chars(),
                key: row.key,
                element: row.element,
                degree: row.degree,
            };
            let mut of_label = self
                .transactions
                .run("mirror.census", Mode::Read, async |tx: &mut Tx| {
                    let mut found = Census::default();
                    tx.each(call(), |row| found.take(eligible(row), (most, bytes_max))).await?;
                    Ok(found)
                })
                .await?;
            all.hottest.append(&mut of_label.hottest);
            all.count += of_label.count;
            all.too_large += of_label.too_large;
            all.cut(most);
        }
        for label in asked.own_labels()..asked.label_count() {
            for one in self.adopted_census(asked, label, now).await? {
                all.take(one, (most, bytes_max));
            }
            all.cut(most);
        }
        all.hottest.sort_unstable_by(|a, b| (a.label, &a.key).cmp(&(b.label, &b.key)));
        all.hottest.shrink_to_fit();
        Ok(all)
    }

    /// Nodes of a label by their keys, without deleted and excluded ones.
    pub async fn mirrored(
        &self,
        asked: &MirrorQuery,
        label: usize,
        keys: &[&str],
    ) -> Result<Vec<MirroredNode>, Error> {
        const COLUMNS: [&str; 11] = [
            "key",
            "name",
            "content",
            "tier",
            "session",
            "lastAccessed",
            "created",
            "accessCount",
            "tags",
            "provenance",
            "embedding",
        ];
        if label >= asked.own_labels() {
            let live = self.adopted_live(asked, label, keys).await?;
            return Ok(live.into_iter().map(|one| one.node).collect());
        }
        let call = || {
            let call = MIRROR_NODES.about(&asked.own()[label..=label], &[]);
            let dimensions = asked.dimensions.and_then(|count| i64::try_from(count).ok());
            let dimensions = dimensions.map_or(BoltType::Null(BoltNull), BoltType::from);
            let call = asked.of(call, label).set("keys", list(keys.iter().copied()));
            call.set("dimensions", dimensions).set("model", asked.model.as_deref())
        };
        let rows = self.table("mirror.nodes", call, &COLUMNS).await?;
        Ok(rows.into_iter().map(|row| node(label, row)).collect())
    }

    /// Relationships that begin at nodes of a label, by their keys, to any other end.
    pub async fn mirrored_edges(
        &self,
        asked: &MirrorQuery,
        label: usize,
        keys: &[&str],
    ) -> Result<Vec<(String, Vec<OutgoingRelation>)>, Error> {
        if label >= asked.own_labels() {
            return self.adopted_edges(asked, label, keys).await;
        }
        let call = || {
            let call = MIRROR_EDGES.about(&asked.own()[label..=label], &[]);
            asked.walked(call).set("scope", asked.scope.as_str()).set("keys", list(keys.iter().copied()))
        };
        let rows = self.table("mirror.edges", call, &["key", "edges"]).await?;
        Ok(keyed(rows, begun))
    }

    /// Relationships of nodes of a label, in both directions: of one type, or of all.
    pub async fn mirrored_around(
        &self,
        asked: &MirrorQuery,
        label: usize,
        keys: &[&str],
        kind: Option<&str>,
    ) -> Result<Vec<(String, Vec<MirroredEnd>)>, Error> {
        if label >= asked.own_labels() {
            return self.adopted_around(asked, label, keys).await;
        }
        let call = || {
            let call = MIRROR_AROUND.about(&asked.own()[label..=label], &[]);
            let kind = kind.map_or(BoltType::Null(BoltNull), BoltType::from);
            asked
                .walked(asked.of(call, label))
                .set("labels", MirrorQuery::names(asked.own()))
                .set("keys", list(keys.iter().copied()))
                .set("type", kind)
        };
        let rows = self.table("mirror.around", call, &["key", "edges"]).await?;
        Ok(keyed(rows, ends))
    }

    async fn table(
        &self,
        name: &'static str,
        call: impl Fn() -> Call,
        columns: &[&str],
    ) -> Result<Vec<Vec<BoltType>>, Error> {
        let columns: Vec<String> = columns.iter().map(|column| (*column).to_owned()).collect();
        self.transactions.run(name, Mode::Read, async |tx: &mut Tx| tx.table(call(), &columns).await).await
    }
}
