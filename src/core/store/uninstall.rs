//! Removal of everything that is Ebb's from a database: its own nodes, its marks on other rows, its constraints and
//! indexes. Memories, facts, relations, sessions, clusters, places and files of git repositories stay, with their state.
//!
//! Marks go before Ebb's own nodes, and these before the schema, so an uninstallation that was killed is repeated from
//! the start.

use super::Store;
use super::catalogue::{
    MIGRATION_PROCESSES, SCHEMA_DROP_CONSTRAINT, SCHEMA_DROP_INDEX, UNINSTALL_COUNT, UNINSTALL_NODES,
    UNINSTALL_OWN, UNINSTALL_RELATIONSHIPS,
};
use super::error::Error;
use super::statement::Statement;
use super::tx::{Mode, Tx};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Rows of one transaction.
const PAGE: i64 = 10_000;

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
        let Counts { nodes, marked, relationships } = self.read_one(UNINSTALL_COUNT.call()).await?;
        let (constraints, indexes) = self.own_schema().await?;
        Ok(Footprint { nodes, marked, relationships, constraints, indexes })
    }

    /// Names of the constraints that Ebb created, and of its indexes that belong to none.
    async fn own_schema(&self) -> Result<(BTreeSet<String>, BTreeSet<String>), Error> {
        let (mut constraints, mut indexes) = (BTreeSet::new(), BTreeSet::new());
        for row in self.own_indexes().await? {
            match row.owner {
                Some(constraint) => constraints.insert(constraint),
                None => indexes.insert(row.name),
            };
        }
        Ok((constraints, indexes))
    }

    /// Removes everything of Ebb's, in bounded transactions. Returns what was removed.
    ///
    /// # Errors
    /// [`Error::Conflict`] while a process of Ebb works on the database; [`Error::Schema`] after a restore that was broken off.
    pub async fn uninstall(&self) -> Result<Footprint, Error> {
        if self.unfinished_restore().await?.is_some() {
            self.pending().await?;
        }
        let processes: Vec<String> = self.read_one(MIGRATION_PROCESSES.call()).await?;
        if !processes.is_empty() {
            return Err(Error::Conflict(format!(
                "processes of Ebb work on the database at {}: {} (one that was killed is seen for another minute). Stop \
                 them all, then run: ebb uninstall",
                self.uri(),
                processes.join(", ")
            )));
        }
        let (constraints, indexes) = self.own_schema().await?;
        let marked = self.each_page("uninstall.rows", &UNINSTALL_NODES).await?;
        let relationships = self.each_page("uninstall.rows", &UNINSTALL_RELATIONSHIPS).await?;
        let nodes = self.each_page("uninstall.rows", &UNINSTALL_OWN).await?;
        for (statement, names) in [(&SCHEMA_DROP_CONSTRAINT, &constraints), (&SCHEMA_DROP_INDEX, &indexes)] {
            for name in names {
                let drop = async |tx: &mut Tx| tx.run(statement.call().set("name", name.as_str())).await;
                self.transactions.run("uninstall.schema", Mode::Write, drop).await?;
            }
        }
        Ok(Footprint { nodes, marked, relationships, constraints, indexes })
    }

    /// Runs a statement page by page until nothing is left for it. Returns the number of rows.
    pub(super) async fn each_page(
        &self,
        name: &'static str,
        statement: &'static Statement,
    ) -> Result<i64, Error> {
        let mut all = 0;
        loop {
            let page = async |tx: &mut Tx| tx.only::<i64>(statement.call().set("limit", PAGE)).await;
            let rows = self.transactions.run(name, Mode::Write, page).await?;
            all += rows;
            if rows < PAGE {
                return Ok(all);
            }
        }
    }
}
