//! Backup: every row that is Ebb's or that Ebb keeps under its laws, with the exact types of its values.
//!
//! In it are the nodes with a label of Ebb, those of the documented labels that have a scope, or a pheromone without one, and the
//! relationships between two such nodes. States of rows of other libraries are nodes of Ebb's that name their row by its key
//! (see `row_state.rs`), so they need no row to be restored. The ledger of migrations is not in it: a restore needs a
//! database with the schema. Nor is the mark of a scratch database, which is about that database.
//!
//! It is read as a stream, in ranges of the numbers that Neo4j gives to nodes, each a transaction of its own, so that none grows
//! with the graph: a server may end one that takes long. Neo4j has no snapshots, so one transaction for all would be no more consistent:
//! rows that others write meanwhile are in it or not. All relationships are read after all nodes, so a name is of the number and of
//! the row: one that got the number of another row meanwhile is not taken for it.

#[cfg(any(test, fuzzing))]
mod fuzzing;
mod value;

use super::Store;
use super::catalogue::{BACKUP_COUNT, BACKUP_LAST, BACKUP_NODES, BACKUP_RELATIONSHIPS, RESTORE_OCCUPANTS};
use super::encode::list;
use super::error::Error;
use super::statement::{Call, NODES, Statement};
use super::tx::{Mode, Tx};
use crate::domain::ids::hex;
use crate::domain::trail::PlaceLabel;
use neo4rs::{BoltMap, BoltType};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

/// Labels that only Ebb writes, except those of a migration and of a restore.
const OWN: [&str; 20] = [
    "EbbMemory",
    "EbbFact",
    "EbbEntity",
    "EbbQuarantined",
    "EbbRun",
    "EbbRequest",
    "EbbChange",
    "EbbJournal",
    "EbbLineage",
    "EbbPolicy",
    "EbbSweepJob",
    "EbbSynapse",
    "EbbKey",
    "EbbTombstone",
    "EbbImport",
    "EbbState",
    "EbbVersion",
    "EbbErasure",
    "SemanticCluster",
    "ConsolidationAttempt",
];
/// Labels of nodes that an initialisation writes.
const INITIAL: [&str; 3] = ["EbbCounter", "EbbSettings", "ConsolidationConfig"];
/// Labels that others may use too, as those of places; a node of Ebb's has a scope or a pheromone.
const SHARED: [&str; 3] = ["Memory", "Session", "File"];

/// A row of a backup.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum BackupRow {
    /// A node.
    Node {
        /// Its name within the backup.
        name: String,
        labels: Vec<String>,
        values: Map<String, Value>,
    },
    /// A relationship.
    Relationship {
        #[serde(rename = "type")]
        kind: String,
        /// Name of the node where it begins.
        from: String,
        /// Name of the node where it ends.
        to: String,
        values: Map<String, Value>,
    },
}

/// Numbers of rows of a backup, and of those of the documented shape that it leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct BackupCounts {
    pub nodes: i64,
    pub relationships: i64,
    /// Relationships between a node that is in a backup and one that is not.
    pub outward: i64,
    /// Memories that are not adopted yet, and have no scope.
    pub memories: i64,
    /// Facts that are not adopted yet.
    pub facts: i64,
    /// Entities that rows of Ebb's lead to, and that are not adopted yet.
    pub entities: i64,
    /// Relations that are not adopted yet, and of which an end is left out.
    pub relations: i64,
    /// Edges of trails of which an end is left out: a place without a scope and a pheromone.
    pub edges: i64,
}

/// Nodes of a label.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LabelCount {
    pub label: String,
    pub nodes: i64,
}

#[derive(Deserialize)]
pub(super) struct NodeRow {
    element: String,
    key: String,
    labels: Vec<String>,
    values: BoltMap,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RelationshipRow {
    kind: String,
    from: String,
    from_key: String,
    to: String,
    to_key: String,
    values: BoltMap,
}

impl BackupRow {
    /// Whether it is an API key.
    #[must_use]
    pub fn is_key(&self) -> bool {
        matches!(self, Self::Node { labels, .. } if labels.iter().any(|label| label == "EbbKey"))
    }

    /// Name of the counter that it is, if it is one.
    pub(super) fn counter(&self) -> Option<&str> {
        match self {
            Self::Node { labels, values, .. } if labels.iter().any(|label| label == "EbbCounter") => {
                values.get("name")?.as_str()
            }
            _ => None,
        }
    }

    /// Checks that a row can be restored.
    ///
    /// # Errors
    /// The reason why not.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Node { labels, .. } if labels.is_empty() || labels.iter().any(String::is_empty) => {
                Err("a node has no label".to_owned())
            }
            Self::Relationship { kind, .. } if kind.is_empty() => {
                Err("a relationship has no type".to_owned())
            }
            Self::Node { values, .. } | Self::Relationship { values, .. } => {
                value::decode_all(values).map(drop)
            }
        }
    }
}

/// The values of a row, as a parameter.
///
/// # Errors
/// [`Error::Invalid`] for a value that [`BackupRow::check`] rejects.
pub(super) fn values(encoded: &Map<String, Value>) -> Result<BoltType, Error> {
    value::decode_all(encoded).map(BoltType::Map).map_err(Error::Invalid)
}

impl Store {
    /// Counts the rows of a backup. Reads the whole graph.
    pub async fn backup_counts(&self) -> Result<BackupCounts, Error> {
        let mut all = BackupCounts::default();
        for call in self.backup_ranges(&BACKUP_COUNT, self.last_node().await?) {
            let of_range: BackupCounts = self.read_one(call).await?;
            all.nodes += of_range.nodes;
            all.relationships += of_range.relationships;
            all.outward += of_range.outward;
            all.memories += of_range.memories;
            all.facts += of_range.facts;
            all.entities += of_range.entities;
            all.relations += of_range.relations;
            all.edges += of_range.edges;
        }
        Ok(all)
    }

    /// Labels with their numbers of nodes that a backup would contain, without those that an initialisation writes.
    pub(super) async fn occupants(&self) -> Result<Vec<LabelCount>, Error> {
        self.read(self.in_backup(&RESTORE_OCCUPANTS, OWN.iter())).await
    }

    /// Reads all rows of a backup, nodes first, into a channel; ends early if nobody receives them.
    ///
    /// # Errors
    /// [`Error::Conflict`] for a row with a value that a backup cannot hold.
    pub async fn read_backup(&self, rows: &mpsc::Sender<BackupRow>) -> Result<(), Error> {
        // A relationship of a node that came later would lack its end.
        let last = self.last_node().await?;
        self.send_rows(self.backup_ranges(&BACKUP_NODES, last), rows, NodeRow::backup).await?;
        let ranges = self.backup_ranges(&BACKUP_RELATIONSHIPS, last);
        self.send_rows(ranges, rows, RelationshipRow::backup).await
    }

    /// Sends what is made of each row of these calls, each a transaction of its own; ends early if nobody receives it.
    pub(super) async fn send_rows<T: DeserializeOwned>(
        &self,
        calls: impl Iterator<Item = Call>,
        to: &mpsc::Sender<BackupRow>,
        make: fn(T, &mut Names) -> Result<BackupRow, Error>,
    ) -> Result<(), Error> {
        for call in calls {
            let send = async |tx: &mut Tx| {
                let mut names = Names::default();
                tx.send(call.clone(), to, |row| make(row, &mut names)).await
            };
            // Not repeated: what was read is sent.
            self.jobs.run_once("backup.read", Mode::Read, send).await?;
            if to.is_closed() {
                break;
            }
        }
        Ok(())
    }

    /// The greatest number of a node; -1 without any.
    async fn last_node(&self) -> Result<i64, Error> {
        self.read_one(BACKUP_LAST.call()).await
    }

    /// Calls of a statement about each range of the nodes up to the last.
    fn backup_ranges(&self, statement: &'static Statement, last: i64) -> impl Iterator<Item = Call> + use<> {
        let call = self.in_backup(statement, OWN.iter().chain(&INITIAL));
        let ranges = (0..=last).step_by(NODES);
        ranges.map(move |first| call.clone().set("first", first).set("last", first + NODES as i64 - 1))
    }

    /// A call about the rows that a backup contains by these labels.
    fn in_backup<'l>(&self, statement: &'static Statement, own: impl Iterator<Item = &'l &'l str>) -> Call {
        let places = self.trails.allowed.labels().iter().map(PlaceLabel::as_str);
        statement.call().set("own", list(own.copied())).set("scoped", list(SHARED.into_iter().chain(places)))
    }
}

impl NodeRow {
    pub(super) fn backup(self, names: &mut Names) -> Result<BackupRow, Error> {
        let name = names.of(&self.element, &self.key);
        let unfit = |why: String| unfit(&format!("the node {}", self.labels.join(":")), &self.element, &why);
        let values = value::encode_all(&self.values).map_err(unfit)?;
        Ok(BackupRow::Node { name, labels: self.labels, values })
    }
}

impl RelationshipRow {
    pub(super) fn backup(self, names: &mut Names) -> Result<BackupRow, Error> {
        let (from, to) = (names.of(&self.from, &self.from_key), names.of(&self.to, &self.to_key));
        let unfit =
            |why: String| unfit(&format!("a relationship {} of the node", self.kind), &self.from, &why);
        let values = value::encode_all(&self.values).map_err(unfit)?;
        Ok(BackupRow::Relationship { kind: self.kind, from, to, values })
    }
}

/// The error of a row with a value that a backup cannot hold.
fn unfit(what: &str, element: &str, why: &str) -> Error {
    Error::Conflict(format!(
        "{what} with the element id {element} cannot be in a backup: {why}. Change or remove the value in Neo4j Browser, \
         then run: ebb backup FILE"
    ))
}

/// Names of nodes within a backup: their element ids, without the part that is the same for all in a database, and a digest of
/// the key of the row, so that another row with the same id has another name.
#[derive(Default)]
pub(super) struct Names {
    common: Option<String>,
}

impl Names {
    fn of(&mut self, element: &str, key: &str) -> String {
        let common = self.common.get_or_insert_with(|| {
            element.rfind(':').map_or_else(String::new, |at| element[..=at].to_owned())
        });
        let number = element.strip_prefix(common.as_str()).unwrap_or(element);
        let digest = hex(&Sha256::digest(key.as_bytes()));
        format!("{number}-{digest:.8}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_of_the_number_and_of_the_row() {
        let mut names = Names::default();
        let memory = names.of("4:5a1f:17", "Memory m");
        assert!(memory.starts_with("17-") && memory.len() < 16, "{memory}");
        assert_eq!(names.of("4:5a1f:17", "Memory m"), memory);
        assert_ne!(names.of("4:5a1f:17", "EbbChange c"), memory, "the number of a row that is gone");
        assert_ne!(names.of("4:5a1f:18", "Memory m"), memory, "the same id in another scope");
    }
}
