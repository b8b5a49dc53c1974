//! The queries of a mirror: candidates, their contents and their relationships.
//!
//! Nodes are read by key, a page at a time, and so are the relationships that begin at them, those of a node in one packed
//! record: twice as many a second as with a row for each, and pages of several connections do not overlap. Values come as
//! they are stored; a number that is none is handed on as [`Amount::Unusable`], so that one bad property costs one relationship and
//! never a page.
//!
//! Where all of a scope is read, the other end of a relationship is named as the server names it, since the census told
//! the element of every node that may be there: the server then need not look at that node again. An element may be given to
//! another node after its own was deleted, so what is read so stands for its instant alone, and the words of changes that follow it
//! mend it; where a few nodes are read again, other ends come by label and key.

mod rows;

use super::Store;
use super::catalogue::{MIRROR_AROUND, MIRROR_CENSUS, MIRROR_EDGES, MIRROR_NODES};
use super::encode::list;
use super::error::Error;
use super::statement::Call;
use super::trail::cycle::Counter;
use super::tx::{Mode, Tx};
use crate::domain::ids::Scope;
use crate::domain::relation::RelationState;
use crate::domain::tier::Tier;
use crate::domain::trail::{Allowed, Cycles, Place, PlaceLabel, Trails};
use crate::domain::tunables::Tunables;
use crate::domain::units::{Energy, Pheromone, Timestamp};
use neo4rs::{BoltNull, BoltType};
use rows::{begun, ends, keyed, node};
use serde::Deserialize;
use std::cmp::Ordering;

/// Characters of a node's strings that are read, about: its content is cut at 65,536.
const READ_MAX: u64 = 65_536;

/// The parameters of the queries that mirror one scope.
#[derive(Debug, Clone)]
pub struct MirrorQuery {
    pub scope: Scope,
    /// Whether memories that expired are in it.
    pub expired: bool,
    /// Types that are never in it.
    pub never: Vec<String>,
    /// Types whose relationships are walked at a cost; others have a weight.
    pub costed: Vec<String>,
    labels: Allowed,
}

/// A node that may be mirrored.
#[derive(Debug, Clone, PartialEq)]
pub struct MirrorCandidate {
    /// The index of its label.
    pub label: usize,
    pub key: String,
    /// Its element, as the server names it now.
    pub element: Box<str>,
    /// Before whom it comes.
    pub heat: Heat,
    /// How many characters its key and its content have, as far as they are read.
    pub bytes: u64,
    /// How many relationships it has, both ways, of whatever type.
    pub degree: u64,
}

/// The order in which nodes are mirrored: pinned ones, then by present energy, last the expired ones by their last access.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Heat {
    Pinned,
    /// Any other: the energy of a memory, or the exploitation of any other node, at the instant of the census.
    Alive(f64),
    /// An expired memory, last accessed then.
    Expired(i64),
}

impl MirrorCandidate {
    /// The hotter first; of equals the one whose label and key come first.
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

/// The hottest nodes that may be mirrored, at most so many, and how many nodes there are in all. Rows beyond the limit are
/// dropped as they arrive, so a census takes memory for what may be held and not for what there is.
#[derive(Debug, Default)]
pub struct Census {
    /// The hottest, by label and key: neighbours in the order of keys lie side by side in the store.
    pub hottest: Vec<MirrorCandidate>,
    /// How many nodes may be mirrored in all.
    pub count: u64,
    /// How many of these are too large, each by itself.
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

/// A node as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct MirroredNode {
    /// The index of its label.
    pub label: usize,
    pub key: String,
    pub name: Option<String>,
    /// What it says, its first 65,536 characters.
    pub content: Option<String>,
    pub tier: Option<String>,
    /// The session it was made in.
    pub session: Option<String>,
    /// When it was last accessed, epoch milliseconds.
    pub last_accessed: Option<i64>,
    /// When it was made, epoch milliseconds.
    pub created: Option<i64>,
    /// How often it was accessed.
    pub access_count: Option<i64>,
    /// Words it is marked with.
    pub tags: Vec<String>,
}

/// A relationship as seen from the node where it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct OutgoingRelation {
    pub kind: String,
    /// The element of its other end.
    pub to: String,
    /// How much of it there is.
    pub amount: Amount,
}

/// A relationship as seen from one of its ends.
#[derive(Debug, Clone, PartialEq)]
pub struct MirroredEnd {
    pub kind: String,
    /// The index of the label of its other end.
    pub label: usize,
    /// The key of its other end.
    pub key: String,
    /// How much of it there is.
    pub amount: Amount,
    /// Whether it begins where it is seen from.
    pub begins: bool,
}

/// The property of a relationship from which its conductance follows.
#[derive(Debug, Clone, PartialEq)]
pub enum Amount {
    None,
    /// A cost, a strength or a weight, as its type has it.
    Number(f64),
    /// A relation that fades.
    Relation(FadingRelation),
    /// Something that is none of these.
    Unusable,
}

/// A relation that fades.
#[derive(Debug, Clone, PartialEq)]
pub struct FadingRelation {
    pub kind: String,
    pub bond: RelationState,
    /// How sure it is, where somebody says.
    pub confidence: Option<f64>,
}

/// The labels of what may be mirrored, in the order in which they are meant where a node has several.
pub(super) fn labels(trails: &Trails) -> Result<Allowed, Error> {
    let mut labels: Vec<&str> = Vec::new();
    for label in label_names(trails) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    Allowed::new(&labels, &["RELATES_TO"])
        .map_err(|why| Error::Conflict(format!("what is to be mirrored: {why}")))
}

/// The labels that the name of a node may begin with, some of them twice.
pub(super) fn label_names(trails: &Trails) -> impl Iterator<Item = &str> {
    let always = ["Memory", "Entity", "SemanticCluster"];
    always.into_iter().chain(trails.allowed.labels().iter().map(PlaceLabel::as_str))
}

impl MirrorQuery {
    /// What is asked for a scope; `trails` say which labels are places.
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
        Ok(Self { scope, expired, never, costed, labels: labels(trails)? })
    }

    /// The labels, in the order in which they are meant where a node has several.
    #[must_use]
    pub fn labels(&self) -> &[PlaceLabel] {
        self.labels.labels()
    }

    fn names(labels: &[PlaceLabel]) -> BoltType {
        list(labels.iter().map(PlaceLabel::as_str))
    }

    /// A statement about nodes of one label.
    fn of(&self, call: Call, label: usize) -> Call {
        call.set("scope", self.scope.as_str())
            .set("before", Self::names(&self.labels()[..label]))
            .set("expired", self.expired)
    }

    /// A statement about what joins them.
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
    /// The nodes that may be mirrored with their heat at `now`: of those with at most `bytes_max` characters the `most`
    /// hottest.
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

    /// Nodes of a label by their keys; those that are not there any more, or not to be mirrored, are left out.
    pub async fn mirrored(
        &self,
        asked: &MirrorQuery,
        label: usize,
        keys: &[&str],
    ) -> Result<Vec<MirroredNode>, Error> {
        const COLUMNS: [&str; 9] =
            ["key", "name", "content", "tier", "session", "lastAccessed", "created", "accessCount", "tags"];
        let call = || {
            let call = MIRROR_NODES.about(&asked.labels()[label..=label], &[]);
            asked.of(call, label).set("keys", list(keys.iter().copied()))
        };
        let rows = self.table("mirror.nodes", call, &COLUMNS).await?;
        Ok(rows.into_iter().map(|row| node(label, row)).collect())
    }

    /// What begins at nodes of a label, by their keys, whoever is at its other end.
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

    /// What is joined to nodes of a label, either way: of one type, or of all.
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
