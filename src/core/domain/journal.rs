//! Entries of the journal: rows as they were before and after a discrete change, by which a change is shown, made and
//! taken back.
//!
//! A plan is a list of entries that were not made, the journal of a run a list of those that were. Both are made by the
//! same rule: a row must be as it was before, and becomes as it is after. To take an entry back is to make its inverse.
//!
//! # Design notes
//! Fading is no discrete change: energy is a function of time. So the stored energy of a memory may have been brought
//! to a later instant meanwhile, and the memory is still as it was if the law says so. Properties that queue a row for a
//! job are not compared, and are set again.

use super::ids::MemoryKey;
use super::memory::MemoryState;
use super::tier::Tier;
use super::tunables::Tunables;
use super::units::{Energy, Timestamp};
use petgraph::unionfind::UnionFind;
use serde::de::IntoDeserializer;
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Locks, which carry no value.
pub const LOCKS: [&str; 2] = ["ebbLock", "lock"];
/// Properties of a memory that are kept in an entry although unchanged: a later access changes them.
const WITNESSES: [&str; 3] = ["lastAccessed", "accessCount", "pinned"];
/// Properties that follow from the energy and its instant.
const FADING: [&str; 3] = ["energy", "energyAt", "dueAt"];
/// Property that queues a memory for clustering.
const QUEUE: &str = "clusterDue";
/// Most that two energies may differ and be equal by the law, relative.
const EQUAL: f64 = 1e-9;

/// Labels of rows that have entries, and of those at which their relationships end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RowLabel {
    Memory,
    SemanticCluster,
    Fact,
    EbbLineage,
    /// Only at the end of a relationship: no job with a journal changes one.
    EbbEntity,
}

impl RowLabel {
    /// In the order in which rows are locked.
    pub const ALL: [Self; 5] =
        [Self::Memory, Self::SemanticCluster, Self::Fact, Self::EbbLineage, Self::EbbEntity];

    /// The label.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "Memory",
            Self::SemanticCluster => "SemanticCluster",
            Self::Fact => "Fact",
            Self::EbbLineage => "EbbLineage",
            Self::EbbEntity => "EbbEntity",
        }
    }

    /// Labels that a created row may have.
    #[must_use]
    pub const fn labels(self) -> &'static [&'static str] {
        match self {
            Self::Memory => &["Memory", "EbbMemory", "EbbQuarantined", "EbbStamped"],
            Self::SemanticCluster => &["SemanticCluster"],
            Self::Fact => &["Fact", "EbbFact"],
            Self::EbbLineage => &["EbbLineage"],
            Self::EbbEntity => &[],
        }
    }

    /// Property with the key.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::EbbLineage => "key",
            Self::EbbEntity => "name",
            _ => "id",
        }
    }

    /// Types of relationships from such rows that are part of an entry.
    #[must_use]
    pub const fn types(self) -> &'static [RowEdge] {
        match self {
            Self::Memory => &[RowEdge::BelongsTo, RowEdge::PromotedTo, RowEdge::CrystallizedInto],
            Self::SemanticCluster | Self::EbbEntity => &[],
            Self::Fact => &[RowEdge::DecayedFrom, RowEdge::About],
            Self::EbbLineage => &[RowEdge::Head],
        }
    }
}

/// Types of relationships that are part of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RowEdge {
    BelongsTo,
    PromotedTo,
    CrystallizedInto,
    DecayedFrom,
    About,
    Head,
}

impl RowEdge {
    pub const ALL: [Self; 6] = [
        Self::BelongsTo,
        Self::PromotedTo,
        Self::CrystallizedInto,
        Self::DecayedFrom,
        Self::About,
        Self::Head,
    ];

    /// The type.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BelongsTo => "BELONGS_TO",
            Self::PromotedTo => "PROMOTED_TO",
            Self::CrystallizedInto => "CRYSTALLIZED_INTO",
            Self::DecayedFrom => "DECAYED_FROM",
            Self::About => "ABOUT",
            Self::Head => "HEAD",
        }
    }

    /// The type with that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Label of its end.
    #[must_use]
    pub const fn end(self) -> RowLabel {
        match self {
            Self::BelongsTo => RowLabel::SemanticCluster,
            Self::PromotedTo | Self::CrystallizedInto => RowLabel::Memory,
            Self::DecayedFrom | Self::Head => RowLabel::Fact,
            Self::About => RowLabel::EbbEntity,
        }
    }
}

/// A row by its label and its key in its scope.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RowName {
    pub label: RowLabel,
    pub scope: String,
    pub key: String,
}

impl RowName {
    /// A row.
    #[must_use]
    pub fn new(label: RowLabel, scope: &str, key: &str) -> Self {
        Self { label, scope: scope.to_owned(), key: key.to_owned() }
    }

    /// A memory.
    #[must_use]
    pub fn memory(key: &MemoryKey) -> Self {
        Self::new(RowLabel::Memory, key.scope(), key.id())
    }
}

impl std::fmt::Display for RowName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = match self.label {
            RowLabel::Memory => "memory",
            RowLabel::SemanticCluster => "cluster",
            RowLabel::Fact => "fact",
            RowLabel::EbbLineage => "lineage",
            RowLabel::EbbEntity => "entity",
        };
        write!(f, "{of} {}", self.key)
    }
}

/// Value of a property.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    Boolean(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    /// RFC 3339, to the nanosecond.
    Instant {
        instant: String,
    },
    List(Vec<Self>),
    /// A value that can be compared and not be written, by its text.
    Other {
        other: String,
    },
}

/// End of a relationship.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum End {
    Row(RowName),
    /// A node by its element id: one that is no row of Ebb's, and each entity in an entry of an older version.
    Element {
        element: String,
    },
}

/// A relationship from a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowRelationship {
    #[serde(rename = "type")]
    pub kind: RowEdge,
    pub to: End,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, Value>,
}

/// Rows that change together, with the rule and the reason, before it is known how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracked {
    pub rule: &'static str,
    pub reason: String,
    pub rows: Vec<RowName>,
}

/// Joins groups that share a row, in the order of their first; rule and reason are those of the first.
#[must_use]
pub fn joined(tracked: Vec<Tracked>) -> Vec<Tracked> {
    let sets = groups(tracked.iter().map(|group| group.rows.iter()));
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let mut groups: BTreeMap<usize, Tracked> = BTreeMap::new();
    let mut rows: BTreeSet<RowName> = BTreeSet::new();
    for (at, (set, tracked)) in sets.into_iter().zip(tracked).enumerate() {
        let Tracked { rule, reason, rows: more } = tracked;
        let place = *places.entry(set).or_insert(at);
        let group = groups.entry(place).or_insert(Tracked { rule, reason, rows: Vec::new() });
        group.rows.extend(more.into_iter().filter(|row| rows.insert(row.clone())));
    }
    groups.into_values().collect()
}

/// The group of each of these lists of rows: those that share a row, directly or by others between them, have the same number.
#[must_use]
pub fn groups<'a, R: Iterator<Item = &'a RowName>>(lists: impl ExactSizeIterator<Item = R>) -> Vec<usize> {
    let mut sets = UnionFind::<usize>::new(lists.len());
    let mut first: BTreeMap<&RowName, usize> = BTreeMap::new();
    for (at, rows) in lists.enumerate() {
        for row in rows {
            sets.union(*first.entry(row).or_insert(at), at);
        }
    }
    sets.into_labeling()
}

/// A row at an instant, or the part of it that a change concerns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub labels: BTreeSet<String>,
    /// Values; none for a property that is absent at this instant and not at the other.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, Option<Value>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relationships: Vec<RowRelationship>,
    /// Number of all its relationships; of a row that is created or removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degree: Option<i64>,
}

/// A row before and after; absent at one of them if it was created or removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowChange {
    pub row: RowName,
    pub before: Option<Image>,
    pub after: Option<Image>,
}

/// Rows that change together, all or none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The rule that made it, such as `expiry`.
    pub rule: String,
    /// Why the rule applied to these rows.
    pub reason: String,
    pub rows: Vec<RowChange>,
}

impl Entry {
    /// Its rows, and those at which their relationships end. Not entities: entries about one are apart.
    pub fn names(&self) -> impl Iterator<Item = &RowName> {
        let ends = self.ends().filter(|row| row.label != RowLabel::EbbEntity);
        self.rows.iter().map(|change| &change.row).chain(ends)
    }

    /// Names the ends whose element ids are known.
    pub fn name_ends(&mut self, names: &BTreeMap<String, RowName>) {
        let images =
            self.rows.iter_mut().flat_map(|change| change.before.iter_mut().chain(&mut change.after));
        for edge in images.flat_map(|image| &mut image.relationships) {
            let End::Element { element } = &edge.to else { continue };
            if let Some(row) = names.get(element) {
                edge.to = End::Row(row.clone());
            }
        }
    }

    /// Rows at which its relationships end.
    pub fn ends(&self) -> impl Iterator<Item = &RowName> {
        let images = self.rows.iter().flat_map(|change| change.before.iter().chain(&change.after));
        images.flat_map(|image| &image.relationships).filter_map(|edge| match &edge.to {
            End::Row(row) => Some(row),
            End::Element { .. } => None,
        })
    }

    /// The entry that takes this one back.
    #[must_use]
    pub fn inverse(self) -> Self {
        let rows = self.rows.into_iter().rev();
        let rows =
            rows.map(|RowChange { row, before, after }| RowChange { row, before: after, after: before });
        Self { rule: self.rule, reason: self.reason, rows: rows.collect() }
    }
}

impl RowChange {
    /// The change between two full images; `None` if nothing changed.
    #[must_use]
    pub fn between(row: RowName, before: Option<Image>, after: Option<Image>) -> Option<Self> {
        let (Some(old), Some(new)) = (&before, &after) else {
            return (before.is_some() || after.is_some()).then_some(Self { row, before, after });
        };
        let fading = FADING.map(str::to_owned);
        let changed = |name: &&String| value(old, name) != value(new, name);
        let names: BTreeSet<&String> = old.properties.keys().chain(new.properties.keys()).collect();
        let mut names: BTreeSet<&String> = names.into_iter().filter(changed).collect();
        // A place in the queue alone says that a job has been there, not what it did.
        if !names.iter().any(|name| *name == "tier") {
            names.retain(|name| *name != QUEUE);
        } else if row.label == RowLabel::Memory {
            names.extend(fading.iter());
        }
        let kinds: BTreeSet<RowEdge> = without(&old.relationships, &new.relationships)
            .into_iter()
            .chain(without(&new.relationships, &old.relationships))
            .map(|edge| edge.kind)
            .collect();
        let part = |of: &Image, other: &Image| Image {
            labels: of.labels.difference(&other.labels).cloned().collect(),
            properties: names.iter().map(|name| ((*name).clone(), value(of, name).cloned())).collect(),
            // All of a type: a row that has another one since has moved on.
            relationships: of
                .relationships
                .iter()
                .filter(|edge| kinds.contains(&edge.kind))
                .cloned()
                .collect(),
            degree: None,
        };
        let (mut old_part, mut new_part) = (part(old, new), part(new, old));
        if old_part == Image::default() && new_part == Image::default() {
            return None;
        }
        let witnesses: &[&str] = if row.label == RowLabel::Memory { &WITNESSES } else { &[] };
        for name in witnesses {
            for (of, into) in [(old, &mut old_part), (new, &mut new_part)] {
                into.properties.insert((*name).to_owned(), value(of, name).cloned());
            }
        }
        Some(Self { row, before: Some(old_part), after: Some(new_part) })
    }

    /// Whether it sets the mark of quarantine, or removes it; `None` if it does neither.
    #[must_use]
    pub fn mark(&self) -> Option<bool> {
        let is_marked = |image: &Image| image.labels.contains("EbbQuarantined");
        let (before, after) = (is_marked(self.before.as_ref()?), is_marked(self.after.as_ref()?));
        (before != after).then_some(after)
    }

    /// The reason of a quarantine, if the change is one.
    #[must_use]
    pub fn quarantined(&self) -> Option<String> {
        let after = self.after.as_ref().filter(|_| self.mark() == Some(true))?;
        Some(value(after, "ebbReason").map_or_else(|| "a law cannot use it".to_owned(), Value::to_string))
    }

    /// Relationships that it removes, and that it creates.
    #[must_use]
    pub fn relationships(&self) -> [Vec<RowRelationship>; 2] {
        let of =
            |image: &Option<Image>| image.as_ref().map_or_else(Vec::new, |image| image.relationships.clone());
        let (before, after) = (of(&self.before), of(&self.after));
        [without(&before, &after), without(&after, &before)]
    }

    /// Checks that a row is as it was before.
    ///
    /// # Errors
    /// What differs.
    pub fn check(&self, now: Option<&Image>, tunables: &Tunables) -> Result<(), String> {
        fits(&self.row, self.before.as_ref(), self.after.as_ref(), now, tunables)
    }

    /// Whether the row is as it is after.
    #[must_use]
    pub fn is_applied(&self, now: Option<&Image>, tunables: &Tunables) -> bool {
        fits(&self.row, self.after.as_ref(), self.before.as_ref(), now, tunables).is_ok()
    }

    /// Properties to write on a row that is as it was before; `None` removes one. A memory that was queued for
    /// clustering meanwhile, or whose place in the queue was used, is queued at `at`.
    #[must_use]
    pub fn writes(&self, now: &Image, at: &Value) -> BTreeMap<String, Option<Value>> {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return BTreeMap::new() };
        let mut writes = after.properties.clone();
        if writes.contains_key(QUEUE) && value(before, QUEUE) != value(now, QUEUE) {
            writes.insert(QUEUE.to_owned(), Some(at.clone()));
        }
        writes.retain(|name, to| value(now, name) != to.as_ref());
        writes
    }
}

/// Relationships of a list that another one lacks.
fn without(of: &[RowRelationship], other: &[RowRelationship]) -> Vec<RowRelationship> {
    of.iter().filter(|one| !other.contains(one)).cloned().collect()
}

fn value<'a>(image: &'a Image, name: &str) -> Option<&'a Value> {
    image.properties.get(name).and_then(Option::as_ref)
}

/// Compares a row with an image; `other` is the image at the other end of its change.
fn fits(
    row: &RowName,
    expected: Option<&Image>,
    other: Option<&Image>,
    now: Option<&Image>,
    tunables: &Tunables,
) -> Result<(), String> {
    let (expected, now) = match (expected, now) {
        (None, None) => return Ok(()),
        (None, Some(_)) => return Err(format!("{row} exists already")),
        (Some(_), None) => return Err(format!("{row} is gone")),
        (Some(expected), Some(now)) => (expected, now),
    };
    let is_memory = row.label == RowLabel::Memory;
    for (name, expected) in &expected.properties {
        let found = value(now, name);
        let is_derived = name == QUEUE || FADING.contains(&name.as_str());
        if found != expected.as_ref() && !(is_memory && is_derived) {
            return Err(format!("{row}: {name} is {}, not {}", shown(found), shown(expected.as_ref())));
        }
    }
    if is_memory && expected.properties.contains_key("energy") && !has_faded(expected, now, tunables) {
        let (found, expected) = (value(now, "energy"), value(expected, "energy"));
        return Err(format!("{row}: its energy is {}, not that of {}", shown(found), shown(expected)));
    }
    let absent = other.map(|other| other.labels.difference(&expected.labels).collect::<Vec<_>>());
    if let Some(label) = expected.labels.difference(&now.labels).next() {
        return Err(format!("{row} has no label {label}"));
    }
    if let Some(label) = absent.into_iter().flatten().find(|label| now.labels.contains(*label)) {
        return Err(format!("{row} has the label {label}"));
    }
    let of_kinds = |image: &Image| image.relationships.iter().map(|edge| edge.kind).collect::<Vec<_>>();
    let kinds: BTreeSet<RowEdge> =
        of_kinds(expected).into_iter().chain(other.into_iter().flat_map(of_kinds)).collect();
    let found: Vec<RowRelationship> =
        now.relationships.iter().filter(|edge| kinds.contains(&edge.kind)).cloned().collect();
    if let Some(gone) = without(&expected.relationships, &found).first() {
        return Err(format!("{row} has lost a relationship {}", gone.kind.name()));
    }
    if let Some(added) = without(&found, &expected.relationships).first() {
        return Err(format!("{row} has another relationship {}", added.kind.name()));
    }
    if other.is_none() {
        // The row is to be removed, with all that it has.
        let added = now.properties.keys().find(|name| !expected.properties.contains_key(*name));
        return match added {
            Some(name) => Err(format!("{row} has a property {name} that was added since")),
            None if now.degree != expected.degree => {
                Err(format!("{row} has relationships that were added since"))
            }
            None if now.labels != expected.labels => Err(format!("{row} has labels that were added since")),
            None => Ok(()),
        };
    }
    Ok(())
}

/// Whether a memory has the energy of an image, brought to a later instant.
fn has_faded(expected: &Image, now: &Image, tunables: &Tunables) -> bool {
    let same = ["energy", "energyAt"].iter().all(|name| value(expected, name) == value(now, name));
    let Some((then, found)) = state(expected, now).zip(state(now, now)) else { return same };
    if same || !then.tier.is_live() || found.energy_at < then.energy_at {
        return same;
    }
    let (due, is) = (then.energy_now(found.energy_at, tunables).value(), found.energy.value());
    (due - is).abs() <= EQUAL * due.abs().max(is.abs())
}

/// What the law needs of a memory; a property that the image lacks is that of the row.
fn state(image: &Image, row: &Image) -> Option<MemoryState> {
    let of = |name: &str| match image.properties.get(name) {
        Some(value) => value.as_ref(),
        None => value(row, name),
    };
    let number = match of("energy")? {
        Value::Float(number) => *number,
        #[expect(clippy::cast_precision_loss, reason = "an energy")]
        Value::Integer(number) => *number as f64,
        _ => return None,
    };
    let instant = |name: &str| match of(name)? {
        Value::Instant { instant } => {
            let text: StrDeserializer<'_, serde::de::value::Error> = instant.as_str().into_deserializer();
            Timestamp::deserialize(text).ok()
        }
        _ => None,
    };
    let tier = match of("tier")? {
        Value::Text(tier) => Tier::named(tier)?,
        _ => return None,
    };
    Some(MemoryState {
        tier,
        energy: Energy::new(number).ok()?,
        energy_at: instant("energyAt")?,
        last_accessed: instant("lastAccessed")?,
        pinned: of("pinned") == Some(&Value::Boolean(true)),
        ..super::memory::created(Timestamp::EPOCH, false)
    })
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "absent".to_owned(), ToString::to_string)
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Text(text) | Self::Instant { instant: text } | Self::Other { other: text } => {
                f.write_str(text)
            }
            Self::List(values) => {
                let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", values.join(", "))
            }
        }
    }
}
