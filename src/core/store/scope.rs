//! The rows of a scope: listed, counted, read and deleted.
//!
//! A row is of a scope if it has its name and a label of [`Store::scope_rows`]: one that only Ebb writes, or a documented one
//! whose rows have a scope only if Ebb wrote or adopted them. Rows of other libraries that a mapping names have no label of
//! Ebb's: only their states are rows of a scope.
//!
//! # Deletion
//! A receipt, `EbbErasure`, is opened first and finished last; each page is a transaction that locks the receipt, deletes,
//! and adds to its counts. A scope has at most one open receipt, which the next deletion of the scope continues. So a
//! deletion may be broken off anywhere and repeated, also by several processes at once.
//!
//! Mirrors of the scope reload when the receipt is opened and when it is finished. What names rows of the scope elsewhere goes with
//! them: entries of the journal, and the keys in change records.

use super::Store;
use super::backup::{BackupRow, NodeRow, RelationshipRow};
use super::catalogue::{
    ERASURE_ADVANCE, ERASURE_FINISH, ERASURE_GUARD, ERASURE_LIST, ERASURE_OPEN, ERASURE_UNFINISHED,
    MEMORY_LIVE, SCOPE_CHANGES, SCOPE_COUNT, SCOPE_DELETE, SCOPE_FIRST, SCOPE_JOURNAL, SCOPE_NODES,
    SCOPE_NUMBERS, SCOPE_RELATIONSHIPS,
};
use super::encode::list;
use super::error::Error;
use super::statement::{Call, ROOM, ROOM_ID, Statement};
use super::tx::{Mode, Tx};
use crate::domain::ids::Scope;
use crate::domain::trail::PlaceLabel;
use crate::domain::units::{Timestamp, maybe_millis, millis};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use tokio::sync::mpsc;

/// Placeholder of the property with the scope.
const SCOPE: &str = "n.scope";
/// Rows of a page of a deletion.
const PAGE: usize = 1_000;
/// Passes over all labels: those after the first find what jobs have written meanwhile.
const PASSES: usize = 3;
/// Most receipts that are listed.
const RECEIPTS: i64 = 100;
/// Ids of requests that a receipt keeps.
const REQUESTS: i64 = 32;
/// Labels that an emptied row loses besides those by which rows are found.
const OTHER_LABELS: [&str; 5] = ["Memory", "Fact", "Entity", "EbbQuarantined", "EbbStamped"];

/// Rows of a label, and how they are found by their scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeRows {
    /// The label that says that they are Ebb's.
    pub label: String,
    /// The label that has the index, with a colon.
    indexed: String,
    /// The property with the scope.
    scope: &'static str,
    /// The other properties of the index.
    key: &'static str,
    /// Whether a scope is listed because of them.
    is_listed: bool,
}

/// A scope with its number of live memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeMemories {
    pub scope: String,
    pub memories: i64,
}

/// Numbers of rows of a scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScopeCounts {
    /// Nodes by label, without labels that have none.
    pub nodes: BTreeMap<String, i64>,
    /// Relationships between them.
    pub relationships: i64,
    /// Relationships between them and rows of others.
    pub outward: i64,
}

/// The receipt of a deletion of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    pub id: String,
    pub scope: String,
    /// Caller: the id of an API key, or the surface that needs none.
    pub by: String,
    /// Ids of the last requests for it.
    pub requests: Vec<String>,
    /// Instant of its beginning, by the server's clock.
    pub at: Timestamp,
    /// Instant of its end; `None` if it was broken off.
    pub finished: Option<Timestamp>,
    /// Nodes deleted, by label.
    pub nodes: BTreeMap<String, i64>,
    /// Those among them that were emptied, since relationships lead from them to rows of others.
    pub emptied: i64,
}

/// A deletion of a scope that is in progress, or was broken off.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct UnfinishedErasure {
    pub scope: String,
    /// Caller, as of [`Erasure::by`].
    pub by: String,
    /// Instant of its beginning; `None` if the receipt has none that is valid.
    #[serde(deserialize_with = "maybe_millis")]
    pub at: Option<Timestamp>,
}

/// Rows of a label in a scope.
struct Numbered {
    of: ScopeRows,
    /// Labels of all rows of a scope.
    own: Vec<String>,
    scope: Scope,
    /// Numbers of the nodes. One may be another node's by now, so each is read by its scope and label too.
    numbers: Vec<i64>,
}

#[derive(Deserialize)]
struct CountRow {
    nodes: i64,
    relationships: i64,
    outward: i64,
}

#[derive(Deserialize)]
struct DeletedRow {
    nodes: i64,
    emptied: i64,
}

#[derive(Deserialize)]
struct ProgressRow {
    labels: Vec<String>,
    counts: Vec<i64>,
    emptied: i64,
}

#[derive(Deserialize)]
struct ReceiptRow {
    id: String,
    scope: String,
    by: String,
    requests: Vec<String>,
    #[serde(deserialize_with = "millis::deserialize")]
    at: Timestamp,
    #[serde(deserialize_with = "maybe_millis")]
    finished: Option<Timestamp>,
    labels: Vec<String>,
    counts: Vec<i64>,
    emptied: i64,
}

impl ScopeCounts {
    /// Number of nodes.
    #[must_use]
    pub fn total(&self) -> i64 {
        self.nodes.values().sum()
    }
}

impl From<ReceiptRow> for Erasure {
    fn from(row: ReceiptRow) -> Self {
        let ReceiptRow { id, scope, by, requests, at, finished, labels, counts, emptied } = row;
        Self {
            id,
            scope,
            by,
            requests,
            at,
            finished,
            nodes: labels.into_iter().zip(counts).collect(),
            emptied,
        }
    }
}

impl Store {
    /// Labels of the rows of a scope, in the order in which a deletion takes them: what is waiting to be learned first,
    /// and rows that others refer to after those.
    #[must_use]
    pub fn scope_rows(&self) -> Vec<ScopeRows> {
        let of = |label: &str, indexed: &str, key, is_listed| ScopeRows {
            label: label.to_owned(),
            indexed: format!(":{indexed}"),
            scope: SCOPE,
            key,
            is_listed,
        };
        let own = |label: &str, key| of(label, label, key, false);
        let waiting = ScopeRows { scope: "n.waits", ..own("EbbRequest", "n.at IS NOT NULL AND n.id") };
        let mut rows = vec![
            waiting,
            of("EbbMemory", "Memory", ROOM_ID, true),
            own("EbbVersion", SCOPE),
            of("EbbFact", "Fact", ROOM_ID, false),
            of("EbbLineage", "EbbLineage", "n.key", true),
            of("EbbEntity", "EbbEntity", "n.name", true),
            own("SemanticCluster", ROOM_ID),
            of("Session", "Session", ROOM_ID, true),
            own("File", "n.repository IS NOT NULL AND n.id"),
            of("EbbState", "EbbState", "n.kind IS NOT NULL AND n.key", true),
            own("EbbSynapse", "n.source"),
            own("EbbSweepJob", ROOM_ID),
            own("EbbPolicy", ROOM_ID),
            // The others with a scope are of processes that hold it in memory, or say which policies are accepted in it.
            own("EbbCounter", "n.process IS NULL AND n.policy IS NULL AND n.name"),
            own("EbbTombstone", SCOPE),
        ];
        let known: BTreeSet<String> =
            rows.iter().flat_map(|row| [row.label.clone(), row.indexed[1..].to_owned()]).collect();
        let is_place = |label: &&str| !known.contains(*label) && !OTHER_LABELS.contains(label);
        let places = self.trails.allowed.labels().iter().map(PlaceLabel::as_str).filter(is_place);
        rows.extend(places.map(|label| of(label, label, ROOM_ID, true)));
        rows
    }

    /// Scopes after one, in order, with their numbers of live memories: at most `limit`. With `only`, those among these.
    pub async fn scopes(
        &self,
        after: &str,
        limit: usize,
        only: Option<&BTreeSet<Scope>>,
    ) -> Result<Vec<ScopeMemories>, Error> {
        let rows = self.scope_rows();
        let listed: Vec<&ScopeRows> = rows.iter().filter(|rows| rows.is_listed).collect();
        let own = labels(&rows);
        self.transactions
            .run("scopes.list", Mode::Read, async |tx: &mut Tx| {
                let found = match only {
                    Some(only) => named(tx, &listed, &own, after, limit, only).await?,
                    None => all(tx, &listed, &own, after, limit).await?,
                };
                let mut scopes = Vec::with_capacity(found.len());
                for scope in found {
                    let memories = tx.only(MEMORY_LIVE.call().set("scope", scope.as_str())).await?;
                    scopes.push(ScopeMemories { scope, memories });
                }
                Ok(scopes)
            })
            .await
    }

    /// Counts the rows of a scope, a page at a time.
    pub async fn scope_counts(&self, scope: &Scope) -> Result<ScopeCounts, Error> {
        let mut counts = ScopeCounts::default();
        for rows in self.numbered(scope).await? {
            let mut all = 0;
            for call in rows.pages(&SCOPE_COUNT) {
                let CountRow { nodes, relationships, outward } = self.read_one(call).await?;
                all += nodes;
                counts.relationships += relationships;
                counts.outward += outward;
            }
            if all > 0 {
                counts.nodes.insert(rows.of.label, all);
            }
        }
        Ok(counts)
    }

    /// Number of nodes of a scope. Reads no relationship, of which a count reads all.
    pub async fn scope_size(&self, scope: &Scope) -> Result<i64, Error> {
        let rows = self.numbered(scope).await?;
        let all: usize = rows.iter().map(|rows| rows.numbers.len()).sum();
        Ok(i64::try_from(all).unwrap_or(i64::MAX))
    }

    /// Reads all rows of a scope, nodes first, into a channel, as [`Store::read_backup`] does.
    ///
    /// # Errors
    /// As [`Store::read_backup`].
    pub async fn read_scope(&self, scope: &Scope, to: &mpsc::Sender<BackupRow>) -> Result<(), Error> {
        // A relationship of a row that came later would lack its end: those of all labels are known before any is read.
        let rows = self.numbered(scope).await?;
        let nodes = rows.iter().flat_map(|rows| rows.pages(&SCOPE_NODES));
        self.send_rows(nodes, to, NodeRow::backup).await?;
        let relationships = rows.iter().flat_map(|rows| rows.pages(&SCOPE_RELATIONSHIPS));
        self.send_rows(relationships, to, RelationshipRow::backup).await
    }

    /// The rows of a scope by the numbers of their nodes.
    async fn numbered(&self, scope: &Scope) -> Result<Vec<Numbered>, Error> {
        let (all, mut found) = (self.scope_rows(), Vec::new());
        let own = labels(&all);
        for of in all {
            let call = of.call(&SCOPE_NUMBERS, &own).set("scope", scope.as_str());
            let numbers = self.read(call).await?;
            found.push(Numbered { of, own: own.clone(), scope: scope.clone(), numbers });
        }
        Ok(found)
    }

    /// The receipts of deletions of a scope, latest first, at most 100.
    pub async fn erasures(&self, scope: &Scope) -> Result<Vec<Erasure>, Error> {
        let call = ERASURE_LIST.call().set("scope", scope.as_str()).set("limit", RECEIPTS);
        let rows: Vec<ReceiptRow> = self.read(call).await?;
        Ok(rows.into_iter().map(Erasure::from).collect())
    }

    /// The deletions of all scopes that are not finished, by scope, at most 100.
    pub async fn unfinished_erasures(&self) -> Result<Vec<UnfinishedErasure>, Error> {
        self.read(ERASURE_UNFINISHED.call().set("limit", RECEIPTS)).await
    }

    /// Deletes all rows of a scope, or those that a deletion that was broken off has left.
    ///
    /// # Errors
    /// Those of the connection. What is deleted stays so, and the next call continues.
    pub async fn erase(&self, scope: &Scope, by: &str, request: &str) -> Result<Erasure, Error> {
        let id = self.open_erasure(scope, by, request).await?;
        for _ in 0..PASSES {
            let mut deleted = 0;
            for rows in self.scope_rows() {
                let page = async |limit| self.erase_page(scope, &id, &rows, limit).await;
                deleted += pages(page).await?;
            }
            if deleted == 0 {
                break;
            }
        }
        let named = entries_of(scope);
        pages(async |limit| {
            self.unname_page(scope, &id, SCOPE_JOURNAL.call().set("named", named.as_str()), limit).await
        })
        .await?;
        pages(async |limit| {
            self.unname_page(scope, &id, SCOPE_CHANGES.call().set("scope", scope.as_str()), limit).await
        })
        .await?;
        self.finish_erasure(scope, &id, by).await?;
        let receipts = self.erasures(scope).await?;
        let receipt = receipts.into_iter().find(|receipt| receipt.id == id);
        receipt.ok_or(Error::NotFound { what: "receipt", id })
    }

    /// Opens a receipt, and returns its id: that of the open one, if there is one.
    pub async fn open_erasure(&self, scope: &Scope, by: &str, request: &str) -> Result<String, Error> {
        let id = crate::clock::new_id();
        self.transactions
            .run("erasure.open", Mode::Write, async |tx: &mut Tx| {
                tx.changes.by = Some(by.to_owned());
                tx.touch_scope(scope.as_str());
                let call = ERASURE_OPEN.call().set("scope", scope.as_str()).set("id", id.as_str());
                tx.only(call.set("by", by).set("request", request).set("kept", REQUESTS)).await
            })
            .await
    }

    /// Deletes at most `limit` rows of a label, and adds them to the receipt. Returns how many; 0 if the deletion is finished.
    pub async fn erase_page(
        &self,
        scope: &Scope,
        id: &str,
        rows: &ScopeRows,
        limit: usize,
    ) -> Result<i64, Error> {
        let own = labels(&self.scope_rows());
        let all: Vec<&str> = own.iter().map(String::as_str).chain(OTHER_LABELS).collect();
        self.transactions
            .run("erasure.page", Mode::Write, async |tx: &mut Tx| {
                let Some(mut progress) = guard(tx, scope, id).await? else { return Ok(0) };
                let call = rows
                    .call(&SCOPE_DELETE, &own)
                    .set("scope", scope.as_str())
                    .set("labels", list(all.iter().copied()))
                    .set("limit", i64::try_from(limit).unwrap_or(i64::MAX));
                let deleted: DeletedRow = tx.only(call).await?;
                if deleted.nodes > 0 {
                    progress.add(&rows.label, &deleted);
                    let call = ERASURE_ADVANCE
                        .call()
                        .set("scope", scope.as_str())
                        .set("labels", list(progress.labels.iter().map(String::as_str)))
                        .set("counts", list(progress.counts.iter().copied()))
                        .set("emptied", progress.emptied);
                    tx.run(call).await?;
                }
                Ok(deleted.nodes)
            })
            .await
    }

    /// Removes the names of rows from a page of the journal or of the changes.
    async fn unname_page(&self, scope: &Scope, id: &str, call: Call, limit: usize) -> Result<i64, Error> {
        self.transactions
            .run("erasure.names", Mode::Write, async |tx: &mut Tx| {
                if guard(tx, scope, id).await?.is_none() {
                    return Ok(0);
                }
                tx.only(call.clone().set("limit", i64::try_from(limit).unwrap_or(i64::MAX))).await
            })
            .await
    }

    async fn finish_erasure(&self, scope: &Scope, id: &str, by: &str) -> Result<(), Error> {
        self.transactions
            .run("erasure.finish", Mode::Write, async |tx: &mut Tx| {
                tx.changes.by = Some(by.to_owned());
                tx.touch_scope(scope.as_str());
                tx.run(ERASURE_FINISH.call().set("scope", scope.as_str()).set("id", id)).await
            })
            .await
    }
}

impl ScopeRows {
    /// A call about these rows. `own` are the labels of all rows of a scope.
    fn call(&self, statement: &'static Statement, own: &[String]) -> Call {
        let text = statement.text_of(&[
            (ROOM, self.indexed.clone()),
            (ROOM_ID, self.key.to_owned()),
            (SCOPE, self.scope.to_owned()),
        ]);
        statement
            .reading(&text)
            .set("label", self.label.as_str())
            .set("own", list(own.iter().map(String::as_str)))
    }
}

impl Numbered {
    /// Calls of a statement about a page of the rows each.
    fn pages(&self, statement: &'static Statement) -> impl Iterator<Item = Call> {
        self.of.call(statement, &self.own).set("scope", self.scope.as_str()).by_numbers(&self.numbers)
    }
}

impl ProgressRow {
    fn add(&mut self, label: &str, deleted: &DeletedRow) {
        let at = self.labels.iter().position(|known| known == label).unwrap_or(self.labels.len());
        if at == self.labels.len() {
            self.labels.push(label.to_owned());
        }
        self.counts.resize(self.labels.len(), 0);
        if let Some(count) = self.counts.get_mut(at) {
            *count += deleted.nodes;
        }
        self.emptied += deleted.emptied;
    }
}

/// The text that entries of the journal on rows of a scope contain, and no others.
fn entries_of(scope: &Scope) -> String {
    format!("\"scope\":{}", serde_json::Value::from(scope.as_str()))
}

fn labels(rows: &[ScopeRows]) -> Vec<String> {
    rows.iter().map(|rows| rows.label.clone()).collect()
}

/// Locks an open receipt until commit; `None` if it is finished.
async fn guard(tx: &mut Tx, scope: &Scope, id: &str) -> Result<Option<ProgressRow>, Error> {
    tx.row(ERASURE_GUARD.call().set("scope", scope.as_str()).set("id", id)).await
}

/// Runs pages until one is short, halving one that is too big. Returns the number of rows.
async fn pages(page: impl AsyncFn(usize) -> Result<i64, Error>) -> Result<i64, Error> {
    let (mut limit, mut all) = (PAGE, 0);
    loop {
        match page(limit).await {
            Ok(rows) => {
                all += rows;
                if usize::try_from(rows).unwrap_or(0) < limit {
                    return Ok(all);
                }
            }
            Err(why) if why.is_too_big() && limit > 1 => limit /= 2,
            Err(why) => return Err(why),
        }
    }
}

/// The first scope from one on that has such rows.
async fn first(tx: &mut Tx, rows: &ScopeRows, own: &[String], from: &str) -> Result<Option<String>, Error> {
    tx.row(rows.call(&SCOPE_FIRST, own).set("from", from)).await
}

/// The least text after another.
fn after_text(text: &str) -> String {
    format!("{text}\u{0}")
}

/// The scopes after one that have rows, at most `limit`: each label is read on only where it had the scope just found.
async fn all(
    tx: &mut Tx,
    listed: &[&ScopeRows],
    own: &[String],
    after: &str,
    limit: usize,
) -> Result<Vec<String>, Error> {
    let mut heads = Vec::with_capacity(listed.len());
    for rows in listed {
        heads.push(first(tx, rows, own, &after_text(after)).await?);
    }
    let mut found = Vec::new();
    while found.len() < limit {
        let Some(scope) = heads.iter().flatten().min().cloned() else { break };
        for (head, rows) in heads.iter_mut().zip(listed) {
            if head.as_ref() == Some(&scope) {
                *head = first(tx, rows, own, &after_text(&scope)).await?;
            }
        }
        found.push(scope);
    }
    Ok(found)
}

/// Those of some scopes after one that have rows, at most `limit`.
async fn named(
    tx: &mut Tx,
    listed: &[&ScopeRows],
    own: &[String],
    after: &str,
    limit: usize,
    only: &BTreeSet<Scope>,
) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for scope in only.iter().map(Scope::as_str).filter(|scope| *scope > after) {
        if found.len() == limit {
            break;
        }
        for rows in listed {
            if first(tx, rows, own, scope).await?.as_deref() == Some(scope) {
                found.push(scope.to_owned());
                break;
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::journal::{Entry, Image, RowChange, RowLabel, RowName, Value};

    #[test]
    fn an_entry_names_its_scope_in_the_words_that_are_looked_for() {
        let text = |scope: &str, content: &str| {
            let image = Image {
                properties: [("content".to_owned(), Some(Value::Text(content.to_owned())))].into(),
                ..Image::default()
            };
            let row = RowName::new(RowLabel::Memory, scope, "m");
            let rows = vec![RowChange { row, before: None, after: Some(image) }];
            serde_json::to_string(&Entry { rule: "expiry".to_owned(), reason: String::new(), rows }).unwrap()
        };
        for name in ["team", "a \"b\"\\", "é/ü"] {
            let named = entries_of(&Scope::new(name).unwrap());
            assert!(text(name, "x").contains(&named), "{named}");
            assert!(!text("other", &text(name, &named)).contains(&named), "{named}");
        }
    }
}
