//! Removal of everything that is Ebb's from a database: its own nodes, its marks on other rows, its constraints and
//! indexes. Memories, facts, relations, sessions and places stay, with their state.
//!
//! Marks go before Ebb's own nodes, and these before the schema, so an uninstallation that was killed is repeated from
//! the start.

use super::Store;
use super::catalogue::{
    MIGRATION_PROCESSES, UNINSTALL_COUNT, UNINSTALL_DROP_CONSTRAINT, UNINSTALL_DROP_INDEX, UNINSTALL_NODES,
    UNINSTALL_OWN, UNINSTALL_RELATIONSHIPS, UNINSTALL_SCHEMA,
};
use super::error::Error;
use super::schema::{EDGE_INDEX, PLACE_INDEXES};
use super::statement::Statement;
use super::tx::{Mode, Tx};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Rows of one transaction.
const PAGE: i64 = 10_000;
/// Beginning of the names that migrations give to constraints and indexes.
const PREFIX: &str = "ebb_";
/// Beginnings of the names that a server gives to constraints and indexes without one.
const UNNAMED: [&str; 2] = ["constraint_", "index_"];

/// Everything of Ebb's in a database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Nodes of Ebb's own.
    pub nodes: i64,
    /// Other nodes with a label or bookkeeping of Ebb's.
    pub marked: i64,
    /// Relationships with bookkeeping of Ebb's.
    pub relationships: i64,
    /// Names of constraints.
    pub constraints: BTreeSet<String>,
    /// Names of indexes that belong to no constraint.
    pub indexes: BTreeSet<String>,
}

impl Footprint {
    /// Whether there is nothing of Ebb's.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Store {
    /// Counts everything of Ebb's. Scans the whole graph.
    pub async fn footprint(&self) -> Result<Footprint, Error> {
        #[derive(Deserialize)]
        struct Counts {
            nodes: i64,
            marked: i64,
            relationships: i64,
        }
        #[derive(Deserialize)]
        struct Index {
            name: String,
            constraint: Option<String>,
            about: Option<Vec<String>>,
            properties: Option<Vec<String>>,
        }
        let Counts { nodes, marked, relationships } = self.read_one(UNINSTALL_COUNT.call()).await?;
        let (mut constraints, mut indexes) = (BTreeSet::new(), BTreeSet::new());
        let all: Vec<Index> = self.read(UNINSTALL_SCHEMA.call()).await?;
        for Index { name, constraint, about, properties } in all {
            let (about, properties) = (about.unwrap_or_default(), properties.unwrap_or_default());
            let is_unnamed = UNNAMED.iter().any(|prefix| name.starts_with(prefix));
            if name.starts_with(PREFIX) || (is_unnamed && self.is_of_trails(&about, &properties)) {
                match constraint {
                    Some(constraint) => constraints.insert(constraint),
                    None => indexes.insert(name),
                };
            }
        }
        Ok(Footprint { nodes, marked, relationships, constraints, indexes })
    }

    /// Removes everything of Ebb's, in bounded transactions. Returns what was removed.
    ///
    /// # Errors
    /// [`Error::Conflict`] while a process of Ebb works on the database.
    pub async fn uninstall(&self) -> Result<Footprint, Error> {
        let processes: Vec<String> = self.read_one(MIGRATION_PROCESSES.call()).await?;
        if !processes.is_empty() {
            return Err(Error::Conflict(format!(
                "processes of Ebb work on the database at {}: {} (one that was killed is seen for another minute). Stop \
                 them all, then run: ebb uninstall",
                self.uri(),
                processes.join(", ")
            )));
        }
        let Footprint { constraints, indexes, .. } = self.footprint().await?;
        let marked = self.remove(&UNINSTALL_NODES).await?;
        let relationships = self.remove(&UNINSTALL_RELATIONSHIPS).await?;
        let nodes = self.remove(&UNINSTALL_OWN).await?;
        for (statement, names) in
            [(&UNINSTALL_DROP_CONSTRAINT, &constraints), (&UNINSTALL_DROP_INDEX, &indexes)]
        {
            for name in names {
                let drop = async |tx: &mut Tx| tx.run(statement.call().set("name", name.as_str())).await;
                self.transactions.run("uninstall.schema", Mode::Write, drop).await?;
            }
        }
        Ok(Footprint { nodes, marked, relationships, constraints, indexes })
    }

    /// Whether an index is one that Ebb creates for a label or type of trails from the configuration.
    fn is_of_trails(&self, about: &[String], properties: &[String]) -> bool {
        let [about] = about else { return false };
        let allowed = &self.trails.allowed;
        let is = |wanted: &&[&str]| properties == *wanted;
        (allowed.labels().iter().any(|label| label.as_str() == about) && PLACE_INDEXES.iter().any(is))
            || (allowed.types().iter().any(|kind| kind.as_str() == about) && is(&EDGE_INDEX))
    }

    /// Runs a statement page by page until nothing is left for it.
    async fn remove(&self, statement: &'static Statement) -> Result<i64, Error> {
        let mut removed = 0;
        loop {
            let page = async |tx: &mut Tx| tx.only::<i64>(statement.call().set("limit", PAGE)).await;
            let rows = self.transactions.run("uninstall.rows", Mode::Write, page).await?;
            removed += rows;
            if rows < PAGE {
                return Ok(removed);
            }
        }
    }
}
