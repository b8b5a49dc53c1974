//! The journal: what each run changed, row by row, and the writing of such changes for plans and for taking them back.
//!
//! A transaction of a job names the rows that it changes together ([`Tx::track`]). Before it commits, their state is
//! read twice: as it leaves them, and, over another connection, as it found them. The difference is written to the
//! journal in the same commit, or is an entry of a plan if the transaction is rolled back.
//!
//! # Design notes
//! The server shows committed rows to others while a transaction holds their locks, so the second connection reads
//! exactly what was there before; nothing else had to be read before the work, and no statement of a job had to change.
//! That connection is of a pool of its own: one that waited for the pool of jobs, while all jobs wait for it, would
//! wait forever.
//!
//! Entries are written as they are read: labels and types are those of a closed list, everything else is data.

use super::Store;
use super::catalogue::{
    JOURNAL_CONNECT, JOURNAL_CREATE, JOURNAL_DELETE, JOURNAL_DISCONNECT, JOURNAL_ENTRIES, JOURNAL_LOCK,
    JOURNAL_READ, JOURNAL_RECORD, JOURNAL_RUNS, JOURNAL_WRITE,
};
use super::cells::{columns, flag, items, text, whole};
use super::encode::list;
use super::error::Error;
use super::statement::{HALL, ROOM, ROOM_ID, Statement};
use super::tx::{Mode, Tx};
use crate::domain::journal::{
    End, Entry, Image, LOCKS, RowChange, RowEdge, RowLabel, RowName, RowRelationship, Tracked, Value, joined,
};
use crate::domain::tunables::Tunables;
use crate::domain::units::{Timestamp, maybe_millis, millis};
use chrono::{DateTime, FixedOffset, SecondsFormat};
use neo4rs::{BoltMap, BoltNull, BoltString, BoltType};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Properties of memories whose values are long and written by no job: read as an empty text.
const LONG: [&str; 3] = ["content", "embedding", "tags"];
/// Rows of one statement.
const ROWS: usize = 2_000;
/// Entries of one node of the journal.
const ENTRIES: usize = 200;
/// Nodes of one page of a journal that is read.
const NODES: i64 = 20;
/// Placeholder of the property that locks a row.
const LOCK: &str = "n.lock";

/// A run, a plan or an undo by its journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct JournalRun {
    /// Id of the run, or of the plan that was applied.
    pub run: String,
    /// Job whose rules made the changes.
    pub job: String,
    /// Instant of the laws.
    #[serde(deserialize_with = "millis::deserialize")]
    pub at: Timestamp,
    /// Instant of its last change, by the server's clock.
    #[serde(deserialize_with = "maybe_millis")]
    pub recorded: Option<Timestamp>,
    /// What made the changes: run, plan or undo.
    pub by: String,
    /// Number of its changes.
    pub changes: i64,
}

/// A page of a journal, latest first.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalPage {
    pub job: String,
    pub at: Timestamp,
    pub entries: Vec<Entry>,
}

/// Identity of changes to write: the id of their run, the job whose rules made them, its instant, and what makes them.
#[derive(Debug, Clone, Copy)]
pub struct JournalHead<'a> {
    pub run: &'a str,
    pub job: &'a str,
    pub at: Timestamp,
    pub by: &'static str,
}

/// Result of applying an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryOutcome {
    Applied,
    /// The rows are as the entry leaves them already.
    Already,
    /// A row is not as the entry found it: nothing of the entry was written.
    Refused(String),
}

/// A row with its state.
struct Found {
    element: String,
    image: Image,
    /// Whether an attempt holds it.
    claimed: bool,
}

type FoundRows = BTreeMap<RowName, Found>;

impl Tx {
    /// Names rows that change together by a rule, for the journal. Rows that are named several times change together
    /// with all that are named beside them.
    pub(super) fn track(&mut self, rule: &'static str, reason: String, rows: Vec<RowName>) {
        self.tracked.push(Tracked { rule, reason, rows });
    }
}

impl Store {
    /// The changes of the rows that a transaction has named.
    pub(super) async fn changed_rows(&self, tx: &mut Tx) -> Result<Vec<Entry>, Error> {
        let groups = joined(std::mem::take(&mut tx.tracked));
        let rows: BTreeSet<RowName> = groups.iter().flat_map(|group| group.rows.iter().cloned()).collect();
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let mut after = read_rows(tx, &rows).await?;
        let mut before = self
            .journal
            // Once: the transaction that waits for it is retried as a whole.
            .run_once("journal.before", Mode::Read, async |tx: &mut Tx| {
                tx.abandon();
                read_rows(tx, &rows).await
            })
            .await?;
        let image = |of: &mut FoundRows, row: &RowName| of.remove(row).map(|found| found.image);
        let entries = groups.into_iter().filter_map(|Tracked { rule, reason, rows }| {
            let changes = rows.into_iter().filter_map(|row| {
                let (before, after) = (image(&mut before, &row), image(&mut after, &row));
                RowChange::between(row, before, after)
            });
            let rows: Vec<RowChange> = changes.collect();
            let quarantined = rows.iter().find_map(RowChange::quarantined);
            let (rule, reason) = quarantined.map_or((rule, reason), |why| (QUARANTINE, why));
            (!rows.is_empty()).then(|| Entry { rule: rule.to_owned(), reason, rows })
        });
        Ok(entries.collect())
    }

    /// Runs that have a journal, latest first.
    pub async fn journal_runs(&self, limit: u32) -> Result<Vec<JournalRun>, Error> {
        self.read(JOURNAL_RUNS.call().set("limit", i64::from(limit))).await
    }

    /// The `page`th page of the journal of a run, its entries latest first; `None` after the last.
    pub async fn journal_page(&self, run: &str, page: i64) -> Result<Option<JournalPage>, Error> {
        #[derive(Deserialize)]
        struct Row {
            job: String,
            at: i64,
            entries: Vec<String>,
        }
        let call = JOURNAL_ENTRIES.call().set("run", run).set("skip", page * NODES).set("limit", NODES);
        let rows: Vec<Row> = self.read(call).await?;
        let Some((job, at)) = rows.first().map(|row| (row.job.clone(), row.at)) else { return Ok(None) };
        let entry = |text: &String| serde_json::from_str(text).map_err(|why| decode(&why.to_string()));
        let entries = rows.iter().flat_map(|row| row.entries.iter().rev().map(entry));
        Ok(Some(JournalPage {
            job,
            at: Timestamp::from_millis(at).map_err(|why| decode(&why.to_string()))?,
            entries: entries.collect::<Result<_, Error>>()?,
        }))
    }

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

    /// The outcomes that pages of entries would have, one page after the other; nothing is written.
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

/// Records entries in the journal.
pub(super) async fn record(tx: &mut Tx, head: JournalHead<'_>, entries: &[Entry]) -> Result<(), Error> {
    for (part, page) in entries.chunks(ENTRIES).enumerate() {
        let texts: Result<Vec<String>, _> = page.iter().map(serde_json::to_string).collect();
        let texts = texts.map_err(|why| decode(&why.to_string()))?;
        let call = JOURNAL_RECORD
            .call()
            .set("run", head.run)
            .set("job", head.job)
            .set("at", head.at.millis())
            .set("by", head.by)
            .set("part", i64::try_from(part).unwrap_or(i64::MAX))
            .set("changes", i64::try_from(page.len()).unwrap_or(i64::MAX))
            .set("entries", list(texts));
        tx.run(call).await?;
    }
    Ok(())
}

/// Reads rows in the transaction of the caller.
async fn read_rows(tx: &mut Tx, rows: &BTreeSet<RowName>) -> Result<FoundRows, Error> {
    let mut all = FoundRows::new();
    for label in RowLabel::ALL {
        let named: Vec<&RowName> = rows.iter().filter(|row| row.label == label).collect();
        let types: Vec<&str> = label.types().iter().map(|kind| kind.name()).collect();
        let types = if types.is_empty() { ":!%".to_owned() } else { format!(":{}", types.join("|")) };
        let text_of = JOURNAL_READ.text_of(&[
            (ROOM, format!(":{}", label.name())),
            (ROOM_ID, format!("n.{}", label.key())),
            (HALL, types),
        ]);
        for page in named.chunks(ROWS) {
            let call = keyed(&JOURNAL_READ, &text_of, page).set("long", list(LONG));
            let columns_of = ["row", "element", "labels", "properties", "edges", "degree", "claimed"];
            for row in tx.table(call, &columns_of.map(str::to_owned)).await? {
                let [at, element, labels, properties, edges, degree, claimed] = columns(row);
                let at = whole(&at).and_then(|at| usize::try_from(at).ok());
                let (Some(name), Some(element)) = (at.and_then(|at| page.get(at)), text(element)) else {
                    continue;
                };
                let relationships = items(edges).into_iter().filter_map(relationship);
                let image = Image {
                    labels: items(labels).into_iter().filter_map(text).collect(),
                    properties: pairs(properties).map(|(name, value)| (name, Some(value))).collect(),
                    relationships: relationships.collect(),
                    degree: whole(&degree),
                };
                all.insert((*name).clone(), Found { element, image, claimed: flag(&claimed) });
            }
        }
    }
    Ok(all)
}

/// A call about rows of one label.
fn keyed(statement: &'static Statement, text: &str, rows: &[&RowName]) -> super::statement::Call {
    statement
        .reading(text)
        .set("scopes", list(rows.iter().map(|row| row.scope.as_str())))
        .set("keys", list(rows.iter().map(|row| row.key.as_str())))
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
        for page in rows.chunks(ROWS) {
            tx.run(keyed(&JOURNAL_LOCK, &text_of, page)).await?;
        }
    }
    let found = read_rows(tx, &ends).await?;
    let mut outcomes = Vec::with_capacity(entries.len());
    let mut chosen = Vec::new();
    for entry in entries {
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

/// Names of rules.
pub(super) const EXPIRY: &str = "expiry";
pub(super) const PROMOTION: &str = "promotion";
pub(super) const CLUSTERS: &str = "clusters";
pub(super) const RETRACTION: &str = "retraction";
pub(super) const REDUCTION: &str = "reduction";
const QUARANTINE: &str = "quarantine";
const RULES: [&str; 6] = [QUARANTINE, EXPIRY, PROMOTION, CLUSTERS, RETRACTION, REDUCTION];

/// Properties by which a row is found, and long ones: no job changes them.
const FIXED: [&str; 7] = ["id", "key", "scope", "promotionKey", "content", "embedding", "tags"];

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
        return EntryOutcome::Refused(format!("{row} is part of a change that was refused"));
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
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => {
            if let Some(name) = FIXED.iter().find(|name| after.properties.contains_key(**name)) {
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
        match (&edge.to, edge.kind.end()) {
            (End::Element { .. }, None) => {}
            (End::Row(end), Some(label)) if end.label == label && end.scope == row.scope => {
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
            let none = Image::default();
            let (before, after) = (change.before.as_ref(), change.after.as_ref());
            match (found.get(row), after) {
                (None, Some(image)) => {
                    let labels = checked_labels(row, image)?;
                    let properties = image.properties.iter().map(|(name, value)| (name, value.as_ref()));
                    writes.created.entry(labels).or_default().push((row.clone(), map(properties)?));
                }
                (Some(found), None) => writes.deleted.push(found.element.clone()),
                (Some(now), Some(after)) => {
                    let values = change.writes(&now.image, &at);
                    let marked = |image: Option<&Image>| {
                        image.is_some_and(|image| image.labels.contains("EbbQuarantined"))
                    };
                    let mark = match (marked(before), marked(Some(after))) {
                        (false, true) => Some(true),
                        (true, false) => Some(false),
                        _ => None,
                    };
                    let values = map(values.iter().map(|(name, value)| (name, value.as_ref())))?;
                    writes.written.push((now.element.clone(), values, mark));
                }
                (None, None) => {}
            }
            let [old, new] = [before, after].map(|image| &image.unwrap_or(&none).relationships);
            let missing = |of: &Vec<RowRelationship>, from: &Vec<RowRelationship>| {
                let of = of.iter().filter(|one| !from.contains(one));
                of.map(|one| (one.kind, (row.clone(), one.to.clone(), one.properties.clone()))).collect()
            };
            let gone: Vec<(RowEdge, Tie)> = missing(old, new);
            gone.into_iter().for_each(|(kind, tie)| writes.disconnected.entry(kind).or_default().push(tie));
            let come: Vec<(RowEdge, Tie)> = missing(new, old);
            come.into_iter().for_each(|(kind, tie)| writes.connected.entry(kind).or_default().push(tie));
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

fn relationship(edge: BoltType) -> Option<RowRelationship> {
    let [kind, element, scope, id, properties] = columns(items(edge));
    let kind = RowEdge::named(&text(kind)?)?;
    let to = match kind.end() {
        Some(label) => End::Row(RowName { label, scope: text(scope)?, key: text(id)? }),
        None => End::Element { element: text(element)? },
    };
    Some(RowRelationship { kind, to, properties: pairs(properties).collect() })
}

/// Names and values of properties, without locks.
fn pairs(properties: BoltType) -> impl Iterator<Item = (String, Value)> {
    items(properties).into_iter().filter_map(|pair| {
        let [name, value] = columns(items(pair));
        let name = text(name).filter(|name| !LOCKS.contains(&name.as_str()))?;
        Some((name, of_bolt(value)))
    })
}

fn of_bolt(value: BoltType) -> Value {
    match value {
        BoltType::Boolean(value) => Value::Boolean(value.value),
        BoltType::Integer(value) => Value::Integer(value.value),
        BoltType::Float(value) if value.value.is_finite() => Value::Float(value.value),
        BoltType::String(text) => Value::Text(text.value),
        BoltType::DateTime(ref at) => match DateTime::<FixedOffset>::try_from(at) {
            Ok(at) => Value::Instant { instant: at.to_rfc3339_opts(SecondsFormat::AutoSi, true) },
            Err(_) => Value::Other { other: format!("{value:?}") },
        },
        BoltType::List(values) => Value::List(values.value.into_iter().map(of_bolt).collect()),
        value => Value::Other { other: format!("{value:?}") },
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

fn decode(detail: &str) -> Error {
    Error::Decode { statement: "journal", detail: detail.to_owned() }
}
