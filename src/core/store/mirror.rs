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

mod rows;

use super::Store;
use super::catalogue::{MIRROR_AROUND, MIRROR_CENSUS, MIRROR_EDGES, MIRROR_NODES};
use super::encode::list;
use super::error::Error;
use super::statement::Call;
use super::trail::cycle::Counter;
use super::tx::{Mode, Tx};
use crate::domain::annotations::Provenance;
use crate::domain::ids::Scope;
use crate::domain::relation::RelationState;
use crate::domain::tier::Tier;
use crate::domain::trail::{Allowed, Cycles, MirroredLabel, Place, PlaceLabel, Trails};
use crate::domain::tunables::Tunables;
use crate::domain::units::{Energy, Pheromone, Timestamp};
use neo4rs::{BoltNull, BoltType};
use rows::{begun, ends, keyed, node};
use serde::Deserialize;
use std::cmp::Ordering;

/// Approximate limit of a node's characters that are read: its content is cut at 65,536.
const READ_MAX: u64 = 65_536;

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
    labels: Allowed,
    mirrored: Vec<MirroredLabel>,
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

/// Order of selection: pinned nodes, then by present energy, last expired ones by their last access.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Heat {
    Pinned,
    /// Any other node: energy of a memory, exploitation of others, at the instant of the census.
    Alive(f64),
    /// An expired memory, with its last access.
    Expired(i64),
}

impl MirrorCandidate {
    /// Hotter nodes first; of equals the lower label and key.
    #[must_use]
    pub fn by_heat(a: &Self, b: &Self) -> Ordering {
        let heat = match (a.heat, b.heat) {
            (Heat::Pinned, Heat::Pinned) => Ordering::Equal,
            (Heat::Pinned, _) => Ordering::Less,
            (_, Heat::Pinned) => Ordering::Greater,
            (Heat::Alive(a), Heat::Alive(b)) => b.total_cmp(&a),
            (Heat::Alive(_), Heat::Expired(_)) => Ordering::Less,
            (Heat::Expired(_), Heat::Alive(_)) => Ordering::Greater,
            (Heat::Expired(a), Heat::Expired(b)) => b.cmp(&a),
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
    /// Query parameters for a scope; `trails` names the labels of places.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the labels of the configuration leave no room for those that are always mirrored.
    pub fn new(
        scope: Scope,
        trails: &Trails,
        expired: bool,
        never: Vec<String>,
        costed: Vec<String>,
    ) -> Result<Self, Error> {
        Ok(Self { scope, expired, never, costed, labels: labels(trails)?, mirrored: trails.mirrored.clone() })
    }

    /// The labels, in order of precedence for nodes with several.
    #[must_use]
    pub fn labels(&self) -> &[PlaceLabel] {
        self.labels.labels()
    }

    /// Name of the kind of the nodes of a label: the configured one, else that of the label.
    #[must_use]
    pub fn kind<'a>(&'a self, label: &'a PlaceLabel) -> &'a str {
        self.mirrored.iter().find(|one| one.label() == label).map_or(label.as_str(), MirroredLabel::kind)
    }

    fn names(labels: &[PlaceLabel]) -> BoltType {
        list(labels.iter().map(PlaceLabel::as_str))
    }

    /// Statement about nodes of one label.
    fn of(&self, call: Call, label: usize) -> Call {
        call.set("scope", self.scope.as_str())
            .set("before", Self::names(&self.labels()[..label]))
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
    pinned: bool,
    exploitation: Option<f64>,
    cycle: Option<i64>,
    bytes: u64,
    degree: u64,
}

impl CensusRow {
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
        let accessed = self.last_accessed.unwrap_or(0);
        let Some(curve) = tunables.curve(tier) else { return Heat::Expired(accessed) };
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
        for label in 0..asked.labels().len() {
            let call = || asked.of(MIRROR_CENSUS.about(&asked.labels()[label..=label], &[]), label);
            let eligible = |row: CensusRow| MirrorCandidate {
                label,
                heat: row.heat(now, tunables, &self.trails, &counter.cycles),
                key: row.key,
                element: row.element,
                bytes: row.bytes.min(READ_MAX),
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
        const COLUMNS: [&str; 10] = [
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
        ];
        let call = || {
            let call = MIRROR_NODES.about(&asked.labels()[label..=label], &[]);
            asked.of(call, label).set("keys", list(keys.iter().copied()))
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
        let call = || {
            let call = MIRROR_EDGES.about(&asked.labels()[label..=label], &[]);
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
        let call = || {
            let call = MIRROR_AROUND.about(&asked.labels()[label..=label], &[]);
            let kind = kind.map_or(BoltType::Null(BoltNull), BoltType::from);
            asked
                .walked(asked.of(call, label))
                .set("labels", MirrorQuery::names(asked.labels()))
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
