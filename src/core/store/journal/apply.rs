//! Applying of entries: rows locked, compared with what an entry says, and written as it leaves them.
//!
//! # Design notes
//! Labels, types and the properties by which rows are found are those of closed lists, and everything else of an entry is
//! data, since a plan is a file that anybody may have edited: an entry can do what a job can.

use super::super::Store;
use super::super::catalogue::{
    JOURNAL_CONNECT, JOURNAL_CREATE, JOURNAL_DELETE, JOURNAL_DISCONNECT, JOURNAL_LOCK, JOURNAL_WRITE,
};
use super::super::encode::{list, slices};
use super::super::error::Error;
use super::super::statement::{HALL, ROOM, ROOM_ID, Statement};
use super::super::tx::{Mode, Tx};
use super::{FoundRows, JournalHead, LONG, RULES, bytes, decode, keyed, read_rows, record};
use crate::domain::journal::{
    End, Entry, Image, RowChange, RowEdge, RowLabel, RowName, RowRelationship, Value,
};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use chrono::DateTime;
use neo4rs::{BoltMap, BoltNull, BoltString, BoltType};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Rows of one statement that writes.
const ROWS: usize = 2_000;
/// Placeholder of the property that locks a row.
const LOCK: &str = "n.lock";

/// Result of applying an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryOutcome {
    Applied,
    /// The rows are as the entry leaves them already.
    Already,
    /// A row is not as the entry found it: nothing of the entry was written.
    Refused(String),
}

impl EntryOutcome {
    /// That of an entry with this row of one that was refused.
    pub(crate) fn part_of_refused(row: &RowName) -> Self {
        Self::Refused(format!("{row} is part of a change that was refused"))
    }
}

impl Store {
    /// Writes a page of entries in one transaction: those whose rows are as they were before. Each of them is recorded
    /// in the journal. An entry that meets a `blocked` row is refused, and the rows of refused entries block those
    /// after them: half of what belongs together would be left.
    ///
    /// # Errors
    /// After one with [`Error::is_too_big`] or [`Error::is_of_data`], try a smaller page.
    pub async fn apply_entries(
        &self,
        head: JournalHead<'_>,
        page: &[Entry],
        blocked: &BTreeSet<RowName>,
        tunables: &Tunables,
    ) -> Result<Vec<EntryOutcome>, Error> {
        self.transactions
            .run("journal.apply", Mode::Write, async |tx: &mut Tx| {
                let outcomes = apply(tx, head.at, page, &mut blocked.clone(), tunables).await?;
                let changed = self.changed_rows(tx).await?;
                record(tx, head, &changed).await?;
                Ok(outcomes)
            })
            .await
    }

    /// The outcomes that pages of entries would have, one page after the other, in one transaction that is rolled back.
    ///
    /// # Errors
    /// After one with [`Error::is_too_big`] or [`Error::is_of_data`], try fewer.
    pub async fn try_entries(
        &self,
        at: Timestamp,
        pages: &[&[Entry]],
        tunables: &Tunables,
    ) -> Result<Vec<EntryOutcome>, Error> {
        self.transactions
            .run("journal.try", Mode::Write, async |tx: &mut Tx| {
                tx.abandon();
                let (mut outcomes, mut blocked) = (Vec::new(), BTreeSet::new());
                for page in pages {
                    outcomes.extend(apply(tx, at, page, &mut blocked, tunables).await?);
                    tx.tracked.clear();
                }
                Ok(outcomes)
            })
            .await
    }
}

/// Locks, compares and writes.
async fn apply(
    tx: &mut Tx,
    at: Timestamp,
    entries: &[Entry],
    blocked: &mut BTreeSet<RowName>,
    tunables: &Tunables,
) -> Result<Vec<EntryOutcome>, Error> {
    let changes = || entries.iter().flat_map(|entry| &entry.rows);
    let named: BTreeSet<RowName> = changes().map(|change| change.row.clone()).collect();
    let ends = entries.iter().flat_map(Entry::ends);
    let ends: BTreeSet<RowName> = ends.chain(&named).cloned().collect();
    for label in RowLabel::ALL {
        let rows: Vec<&RowName> = named.iter().filter(|row| row.label == label).collect();
        let lock = if label == RowLabel::EbbLineage { "n.lock" } else { "n.ebbLock" };
        let text_of = JOURNAL_LOCK.text_of(&[
            (ROOM, format!(":{}", label.name())),
            (ROOM_ID, format!("n.{}", label.key())),
            (LOCK, lock.to_owned()),
        ]);
        for page in slices(&JOURNAL_LOCK, &rows, bytes) {
            tx.run(keyed(&JOURNAL_LOCK, &text_of, page)).await?;
        }
    }
    let found = read_rows(tx, &ends).await?;
    let entries = with_named_ends(entries, &found);
    let mut outcomes = Vec::with_capacity(entries.len());
    let mut chosen = Vec::new();
    for entry in &entries {
        let outcome = judge(entry, &found, blocked, tunables);
        match &outcome {
            EntryOutcome::Applied => chosen.push(entry),
            EntryOutcome::Refused(_) => blocked.extend(entry.names().cloned()),
            EntryOutcome::Already => {}
        }
        outcomes.push(outcome);
    }
    Writes::of(&chosen, &found, at)?.write(tx, found).await?;
    for entry in chosen {
        let rows: Vec<RowName> = entry.rows.iter().map(|change| change.row.clone()).collect();
        for change in &entry.rows {
            touch(tx, change);
        }
        tx.track(
            RULES.iter().find(|rule| **rule == entry.rule).unwrap_or(&"change"),
            entry.reason.clone(),
            rows,
        );
    }
    Ok(outcomes)
}

/// The entries, with entities by their names where an older version has named them by their element ids.
fn with_named_ends(entries: &[Entry], found: &FoundRows) -> Vec<Entry> {
    let entities = found.iter().filter(|(row, _)| row.label == RowLabel::EbbEntity);
    let names: BTreeMap<String, RowName> =
        entities.map(|(row, found)| (found.element.clone(), row.clone())).collect();
    let mut entries = entries.to_vec();
    entries.iter_mut().for_each(|entry| entry.name_ends(&names));
    entries
}

/// Properties by which a row is found: no job changes them.
const FIXED: [&str; 4] = ["id", "key", "scope", "promotionKey"];

fn judge(entry: &Entry, found: &FoundRows, blocked: &BTreeSet<RowName>, tunables: &Tunables) -> EntryOutcome {
    let now = |change: &RowChange| found.get(&change.row).map(|found| &found.image);
    if entry.rows.iter().all(|change| change.is_applied(now(change), tunables)) {
        return EntryOutcome::Already;
    }
    let is_created = |row: &RowName| {
        entry
            .rows
            .iter()
            .any(|change| change.row == *row && change.before.is_none() && change.after.is_some())
    };
    if let Some(row) = entry.names().find(|row| blocked.contains(row)) {
        return EntryOutcome::part_of_refused(row);
    }
    let refusal = entry.rows.iter().find_map(|change| {
        let row = &change.row;
        if found.get(row).is_some_and(|found| found.claimed) {
            return Some(format!("{row} is held by an attempt. See: ebb attempt list"));
        }
        let sound = sound(change, found, is_created);
        sound
            .and_then(|()| change.check(now(change), tunables))
            .and_then(|()| writable(change, now(change)))
            .err()
    });
    refusal.map_or(EntryOutcome::Applied, EntryOutcome::Refused)
}

/// Checks that a change is one that a job can make: a file may have been edited.
fn sound(change: &RowChange, found: &FoundRows, is_created: impl Fn(&RowName) -> bool) -> Result<(), String> {
    let row = &change.row;
    if row.label == RowLabel::EbbEntity {
        return Err(format!("{row} is changed by no job"));
    }
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => {
            if let Some(name) = FIXED.iter().chain(&LONG).find(|name| after.properties.contains_key(**name)) {
                return Err(format!("{row}: {name} is changed by no job"));
            }
            if !before.properties.keys().eq(after.properties.keys()) {
                return Err(format!("{row}: before and after have different properties"));
            }
        }
        (None, Some(image)) => {
            checked_labels(row, image).map_err(|why| why.to_string())?;
            for (name, value) in [(row.label.key(), &row.key), ("scope", &row.scope)] {
                if image.properties.get(name) != Some(&Some(Value::Text(value.clone()))) {
                    return Err(format!("{row}: its {name} is another"));
                }
            }
        }
        _ => {}
    }
    let images = change.after.iter().chain(&change.before);
    for edge in images.flat_map(|image| &image.relationships) {
        let kind = edge.kind.name();
        if !row.label.types().contains(&edge.kind) {
            return Err(format!("{row} has no relationships {kind}"));
        }
        match &edge.to {
            End::Element { .. } if edge.kind == RowEdge::About => {}
            End::Row(end) if end.label == edge.kind.end() && end.scope == row.scope => {
                if !found.contains_key(end) && !is_created(end) {
                    return Err(format!("{row}: the end of {kind}, {end}, is gone"));
                }
            }
            _ => return Err(format!("{row}: {kind} does not end there")),
        }
    }
    Ok(())
}

/// Checks that all values that a change writes can be written.
fn writable(change: &RowChange, now: Option<&Image>) -> Result<(), String> {
    let at = Value::Boolean(true);
    let written = match (&change.after, now) {
        (Some(_), Some(now)) => change.writes(now, &at),
        (Some(after), None) => after.properties.clone(),
        _ => BTreeMap::new(),
    };
    let written = written.iter().map(|(name, value)| (name, value.as_ref()));
    map(written).map(drop).map_err(|why| format!("{}: {why}", change.row))
}

/// Tells mirrors what changed. They hold neither facts nor lineages.
fn touch(tx: &mut Tx, change: &RowChange) {
    let RowName { label, scope, key } = &change.row;
    if !matches!(label, RowLabel::Memory | RowLabel::SemanticCluster) {
        return;
    }
    tx.touch(label.name(), scope, key, "");
    let images = change.before.iter().chain(&change.after);
    let kinds: BTreeSet<&str> =
        images.flat_map(|image| &image.relationships).map(|edge| edge.kind.name()).collect();
    kinds.into_iter().for_each(|kind| tx.touch(label.name(), scope, key, kind));
}

/// A relationship to write: its start and end, and its properties.
type Tie = (RowName, End, BTreeMap<String, Value>);

/// Rows and relationships to write, sorted by statement.
#[derive(Default)]
struct Writes {
    created: BTreeMap<String, Vec<(RowName, BoltType)>>,
    written: Vec<(String, BoltType, Option<bool>)>,
    deleted: Vec<String>,
    connected: BTreeMap<RowEdge, Vec<Tie>>,
    disconnected: BTreeMap<RowEdge, Vec<Tie>>,
}

impl Writes {
    fn of(entries: &[&Entry], found: &FoundRows, at: Timestamp) -> Result<Self, Error> {
        let mut writes = Self::default();
        let at = Value::Instant { instant: crate::clock::rfc3339(at) };
        for change in entries.iter().flat_map(|entry| &entry.rows) {
            let row = &change.row;
            match (found.get(row), &change.after) {
                (None, Some(image)) => {
                    let labels = checked_labels(row, image)?;
                    let properties = image.properties.iter().map(|(name, value)| (name, value.as_ref()));
                    writes.created.entry(labels).or_default().push((row.clone(), map(properties)?));
                }
                (Some(found), None) => writes.deleted.push(found.element.clone()),
                (Some(now), Some(_)) => {
                    let values = change.writes(&now.image, &at);
                    let values = map(values.iter().map(|(name, value)| (name, value.as_ref())))?;
                    writes.written.push((now.element.clone(), values, change.mark()));
                }
                (None, None) => {}
            }
            let [gone, come] = change.relationships();
            for (ties, into) in [(gone, &mut writes.disconnected), (come, &mut writes.connected)] {
                for RowRelationship { kind, to, properties } in ties {
                    into.entry(kind).or_default().push((row.clone(), to, properties));
                }
            }
        }
        Ok(writes)
    }

    async fn write(self, tx: &mut Tx, found: FoundRows) -> Result<(), Error> {
        let mut elements: BTreeMap<RowName, String> =
            found.into_iter().map(|(row, found)| (row, found.element)).collect();
        for (labels, rows) in self.created {
            let text_of = JOURNAL_CREATE.text_of(&[(ROOM, labels)]);
            for page in rows.chunks(ROWS) {
                let call = JOURNAL_CREATE.reading(&text_of);
                let call = call.set("properties", list(page.iter().map(|(_, values)| values.clone())));
                for row in tx.rows::<CreatedRow>(call).await? {
                    if let Some((name, _)) = page.get(row.row) {
                        elements.insert(name.clone(), row.element);
                    }
                }
            }
        }
        for page in self.written.chunks(ROWS) {
            let call = JOURNAL_WRITE
                .call()
                .set("elements", list(page.iter().map(|(element, ..)| element.as_str())))
                .set("properties", list(page.iter().map(|(_, values, _)| values.clone())))
                .set("quarantined", list(page.iter().map(|(.., mark)| *mark)));
            tx.run(call).await?;
        }
        connect(tx, (&JOURNAL_DISCONNECT, false), &self.disconnected, &elements).await?;
        connect(tx, (&JOURNAL_CONNECT, true), &self.connected, &elements).await?;
        for page in self.deleted.chunks(ROWS) {
            tx.run(JOURNAL_DELETE.call().set("elements", list(page.iter().map(String::as_str)))).await?;
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct CreatedRow {
    row: usize,
    element: String,
}

/// Creates relationships, or removes them. The end of one may be a node that is gone.
async fn connect(
    tx: &mut Tx,
    (statement, has_properties): (&'static Statement, bool),
    ties: &BTreeMap<RowEdge, Vec<Tie>>,
    elements: &BTreeMap<RowName, String>,
) -> Result<(), Error> {
    for (kind, ties) in ties {
        let text_of = statement.text_of(&[(HALL, format!(":{}", kind.name()))]);
        let mut rows = Vec::with_capacity(ties.len());
        for (start, end, properties) in ties {
            let end = match end {
                End::Element { element } => Some(element),
                End::Row(row) => elements.get(row),
            };
            let (Some(start), Some(end)) = (elements.get(start), end) else {
                return Err(decode(&format!("an end of a relationship {} is gone", kind.name())));
            };
            rows.push((start, end, map(properties.iter().map(|(name, value)| (name, Some(value))))?));
        }
        for page in rows.chunks(ROWS) {
            let mut call = statement
                .reading(&text_of)
                .set("starts", list(page.iter().map(|(start, ..)| start.as_str())))
                .set("ends", list(page.iter().map(|(_, end, _)| end.as_str())));
            if has_properties {
                call = call.set("properties", list(page.iter().map(|(.., properties)| properties.clone())));
            }
            let count: i64 = tx.only(call).await?;
            if has_properties && usize::try_from(count).ok() != Some(page.len()) {
                return Err(decode(&format!("an end of a relationship {} is gone", kind.name())));
            }
        }
    }
    Ok(())
}

/// Labels of a row to create, as the text of a statement has them.
fn checked_labels(row: &RowName, image: &Image) -> Result<String, Error> {
    let known = row.label.labels();
    match image.labels.iter().find(|label| !known.contains(&label.as_str())) {
        Some(label) => Err(Error::Conflict(format!("{row} had the label {label}, which is not Ebb's"))),
        None if !image.labels.contains(row.label.name()) => {
            Err(Error::Invalid(format!("{row} would have no label {}", row.label.name())))
        }
        None => Ok(image.labels.iter().map(|label| format!(":{label}")).collect()),
    }
}

/// Properties as a parameter; `None` is null.
fn map<'v>(values: impl Iterator<Item = (&'v String, Option<&'v Value>)>) -> Result<BoltType, Error> {
    let mut map = BoltMap::default();
    for (name, value) in values {
        let value = value.map_or(Ok(BoltType::Null(BoltNull)), |value| to_bolt(name, value))?;
        map.put(BoltString::from(name.as_str()), value);
    }
    Ok(BoltType::Map(map))
}

fn to_bolt(name: &str, value: &Value) -> Result<BoltType, Error> {
    Ok(match value {
        Value::Boolean(value) => (*value).into(),
        Value::Integer(value) => (*value).into(),
        Value::Float(value) => (*value).into(),
        Value::Text(text) => text.as_str().into(),
        Value::Instant { instant } => {
            let at = DateTime::parse_from_rfc3339(instant);
            at.map_err(|why| Error::Invalid(format!("{name}: {instant:?} is not an instant: {why}")))?.into()
        }
        Value::List(values) => {
            list(values.iter().map(|value| to_bolt(name, value)).collect::<Result<Vec<_>, _>>()?)
        }
        Value::Other { other } => {
            return Err(Error::Conflict(format!(
                "{name} had the value {other}, which cannot be written back"
            )));
        }
    })
}
