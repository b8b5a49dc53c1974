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

mod apply;

pub use apply::EntryOutcome;

use super::Store;
use super::catalogue::{JOURNAL_ENTRIES, JOURNAL_READ, JOURNAL_RECORD, JOURNAL_RUNS};
use super::cells::{columns, flag, items, text, whole};
use super::encode::{list, slices};
use super::error::Error;
use super::statement::{HALL, ROOM, ROOM_ID, Statement};
use super::tx::{Mode, Tx};
use crate::domain::journal::{
    End, Entry, Image, LOCKS, RowChange, RowEdge, RowLabel, RowName, RowRelationship, Tracked, Value, joined,
};
use crate::domain::units::{Timestamp, maybe_millis, millis};
use chrono::{DateTime, FixedOffset, SecondsFormat};
use neo4rs::BoltType;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Properties whose values may be long, and which no job that has a journal writes: `journal/read` has them empty.
const LONG: [&str; 3] = ["content", "embedding", "tags"];
/// Nodes of one page of a journal that is read.
const NODES: i64 = 20;

/// A run, a plan or an undo by its journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// Records entries in the journal.
pub(super) async fn record(tx: &mut Tx, head: JournalHead<'_>, entries: &[Entry]) -> Result<(), Error> {
    let texts: Result<Vec<String>, _> = entries.iter().map(serde_json::to_string).collect();
    let texts = texts.map_err(|why| decode(&why.to_string()))?;
    for (part, page) in slices(&JOURNAL_RECORD, &texts, |text| text.len() + 5).enumerate() {
        let call = JOURNAL_RECORD
            .call()
            .set("run", head.run)
            .set("job", head.job)
            .set("at", head.at.millis())
            .set("by", head.by)
            .set("part", i64::try_from(part).unwrap_or(i64::MAX))
            .set("changes", i64::try_from(page.len()).unwrap_or(i64::MAX))
            .set("entries", list(page.iter().map(String::as_str)));
        tx.run(call).await?;
    }
    Ok(())
}

/// Reads rows in the transaction of the caller. Entities at the ends of their relationships are among them, without images.
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
        for page in slices(&JOURNAL_READ, &named, bytes) {
            let call = keyed(&JOURNAL_READ, &text_of, page);
            let columns_of = ["row", "element", "labels", "properties", "edges", "degree", "claimed"];
            for row in tx.table(call, &columns_of).await? {
                let [at, element, labels, properties, edges, degree, claimed] = columns(row);
                let at = whole(&at).and_then(|at| usize::try_from(at).ok());
                let (Some(name), Some(element)) = (at.and_then(|at| page.get(at)), text(element)) else {
                    continue;
                };
                let mut relationships = Vec::new();
                for (edge, element) in items(edges).into_iter().filter_map(relationship) {
                    if let End::Row(end) = &edge.to
                        && end.label == RowLabel::EbbEntity
                    {
                        let found = || Found { element, image: Image::default(), claimed: false };
                        all.entry(end.clone()).or_insert_with(found);
                    }
                    relationships.push(edge);
                }
                let image = Image {
                    labels: items(labels).into_iter().filter_map(text).collect(),
                    properties: pairs(properties)
                        .map(|(name, value)| (name, Some(without_vector(value))))
                        .collect(),
                    relationships,
                    degree: whole(&degree),
                };
                all.insert((*name).clone(), Found { element, image, claimed: flag(&claimed) });
            }
        }
    }
    Ok(all)
}

/// Approximate bytes of a row's name in a request.
fn bytes(row: &&RowName) -> usize {
    row.scope.len() + row.key.len() + 6
}

/// A call about rows of one label.
fn keyed(statement: &'static Statement, text: &str, rows: &[&RowName]) -> super::statement::Call {
    statement
        .reading(text)
        .set("scopes", list(rows.iter().map(|row| row.scope.as_str())))
        .set("keys", list(rows.iter().map(|row| row.key.as_str())))
}

/// Names of rules.
pub(super) const EXPIRY: &str = "expiry";
pub(super) const PROMOTION: &str = "promotion";
pub(super) const CLUSTERS: &str = "clusters";
pub(super) const RETRACTION: &str = "retraction";
pub(super) const REDUCTION: &str = "reduction";
const QUARANTINE: &str = "quarantine";
const RULES: [&str; 6] = [QUARANTINE, EXPIRY, PROMOTION, CLUSTERS, RETRACTION, REDUCTION];

/// A relationship, and the element id of its end.
fn relationship(edge: BoltType) -> Option<(RowRelationship, String)> {
    let [kind, element, scope, key, properties] = columns(items(edge));
    let (kind, element) = (RowEdge::named(&text(kind)?)?, text(element)?);
    let to = match (text(scope), text(key)) {
        (Some(scope), Some(key)) => End::Row(RowName { label: kind.end(), scope, key }),
        _ if kind == RowEdge::About => End::Element { element: element.clone() },
        _ => return None,
    };
    Some((RowRelationship { kind, to, properties: pairs(properties).collect() }, element))
}

/// Names and values of properties, without locks.
fn pairs(properties: BoltType) -> impl Iterator<Item = (String, Value)> {
    let properties = match properties {
        BoltType::Map(map) => map.value,
        _ => HashMap::default(),
    };
    properties.into_iter().filter_map(|(name, value)| match value {
        BoltType::Null(_) => None,
        value => (!LOCKS.contains(&name.value.as_str())).then(|| (name.value, of_bolt(value))),
    })
}

/// A value, or an empty text for a vector: it is long, and no job that has a journal writes one.
fn without_vector(value: Value) -> Value {
    match value {
        Value::List(numbers) if numbers.iter().all(|number| matches!(number, Value::Float(_))) => {
            Value::Text(String::new())
        }
        value => value,
    }
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

fn decode(detail: &str) -> Error {
    Error::Decode { statement: "journal", detail: detail.to_owned() }
}
