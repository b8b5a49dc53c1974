//! Restore: the rows of a backup, loaded into a database that has the schema and no rows of Ebb's.
//!
//! While it runs, a marker stands in the ledger of migrations: every other verb refuses the database. Nodes carry the
//! label `EbbRestored` and their name in the backup until all rows are there. So a restore that was broken off deletes
//! what it had written when it starts again, or is abandoned; one that was broken off after the last row only removes the
//! marks, and can be neither started again nor abandoned, since rows without a mark are not found. The counters, tunables
//! and settings that an initialisation wrote are replaced by those of the backup, with its first rows; the export of a
//! scope has no others than counters of the scope, so only those are replaced.
//!
//! Every transaction locks the marker and checks that this process holds it, so of two restores one goes on.

use super::Store;
use super::backup::{BackupRow, values};
use super::catalogue::{
    MIGRATION_PROCESSES, RESTORE_ADVANCE, RESTORE_CLEAR, RESTORE_CLEAR_COUNTERS, RESTORE_CLEAR_INITIAL,
    RESTORE_CLOSE, RESTORE_GUARD, RESTORE_LOOK, RESTORE_NODES, RESTORE_OPEN, RESTORE_RELATIONSHIPS,
    RESTORE_RELEASE, SCHEMA_DROP_CONSTRAINT, SCHEMA_RESTORED,
};
use super::encode::list;
use super::error::Error;
use super::statement::Statement;
use super::tx::{Mode, Tx};
use neo4rs::BoltType;
use serde::Deserialize;

/// Version of the marker in the ledger of migrations.
pub(super) const MARKER: &str = "restore";
/// Name of the constraint of the nodes of a restore.
const KEY: &str = "ebb_restored";
/// Rows of a page.
const PAGE: i64 = 1_000;
/// Characters of a checksum that name a file.
const BEGINNING: usize = 12;
/// Most nodes of an initialisation: counters of jobs, mirrors and policies.
const INITIAL_MAX: i64 = 100_000;

/// A restore that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnfinishedRestore {
    /// The process that began it, or took it over.
    pub holder: String,
    /// Checksum of its backup.
    pub checksum: String,
    /// Whether all rows are there.
    pub is_loaded: bool,
    /// Rows created.
    pub created: i64,
}

/// Progress of a restore.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Held {
    /// Number of the last batch.
    batch: i64,
    /// Rows created.
    created: i64,
}

/// Relationships that a batch created.
#[derive(Deserialize)]
struct Connected {
    created: i64,
    /// Those among them that have another type than theirs.
    mistyped: i64,
}

impl Store {
    /// The restore that has not ended, if there is one.
    pub async fn unfinished_restore(&self) -> Result<Option<UnfinishedRestore>, Error> {
        self.read_optional(RESTORE_LOOK.call()).await
    }

    /// Rejects a restore into a database that is in use or has rows of Ebb's.
    ///
    /// # Errors
    /// [`Error::Conflict`], with what is there.
    pub async fn refuse_restore(&self) -> Result<(), Error> {
        let processes: Vec<String> = self.read_one(MIGRATION_PROCESSES.call()).await?;
        if !processes.is_empty() {
            return Err(Error::Conflict(format!(
                "processes of Ebb work on the database at {}: {} (one that was killed is seen for another minute). Stop \
                 them all, then run the same command again",
                self.uri(),
                processes.join(", ")
            )));
        }
        let occupants = self.occupants().await?;
        if occupants.is_empty() {
            return Ok(());
        }
        let list: Vec<String> = occupants.iter().map(|of| format!("{} {}", of.nodes, of.label)).collect();
        Err(Error::Conflict(format!(
            "the database at {} has rows of Ebb's already: {}; nothing was written. Name an empty one by NEO4J_DATABASE or \
             NEO4J_URI, or restore into a managed server. Run: env -u NEO4J_URI EBB__NEO4J__HOME=.ebb/restored ebb restore FILE",
            self.uri(),
            list.join(", ")
        )))
    }

    /// Begins a restore of the backup with this checksum, or takes over the one that was looked at.
    ///
    /// # Errors
    /// [`Error::Conflict`] if another process was faster; with `is_anew` also if all rows are there.
    pub async fn hold_restore(
        &self,
        seen: Option<&UnfinishedRestore>,
        checksum: &str,
        is_anew: bool,
    ) -> Result<(), Error> {
        let open = async |tx: &mut Tx| {
            let call = RESTORE_OPEN
                .call()
                .set("holder", self.holder.as_str())
                .set("seen", seen.map(|of| of.holder.as_str()))
                .set("checksum", checksum)
                .set("isAnew", is_anew);
            match tx.only::<i64>(call).await? {
                0 => Err(Error::Conflict(format!(
                    "another process restores into the database at {} at the same time; nothing was written",
                    self.uri()
                ))),
                _ => Ok(()),
            }
        };
        self.transactions.run("restore.open", Mode::Write, open).await
    }

    /// The error of a restore that can only be completed.
    #[must_use]
    pub fn only_completed(&self, seen: &UnfinishedRestore) -> Error {
        Error::Conflict(loaded(self.uri(), &seen.checksum))
    }

    /// Makes a database ready for the first batch: deletes what a restore had written that was broken off.
    pub async fn clear_restore(&self) -> Result<(), Error> {
        let key = async |tx: &mut Tx| tx.run(SCHEMA_RESTORED.call()).await;
        self.transactions.run("restore.key", Mode::Write, key).await?;
        self.restore_pages("restore.clear", &RESTORE_CLEAR).await
    }

    /// Runs a statement page by page, each under the marker.
    async fn restore_pages(&self, name: &'static str, statement: &'static Statement) -> Result<(), Error> {
        loop {
            let page = async |tx: &mut Tx| {
                self.held(tx).await?;
                tx.only::<i64>(statement.call().set("limit", PAGE)).await
            };
            if self.transactions.run(name, Mode::Write, page).await? < PAGE {
                return Ok(());
            }
        }
    }

    /// Loads a batch of rows, numbered from 1 in order, of a whole backup or of the export of a scope. Returns how many
    /// rows the restore has created so far: a relationship whose end is not in the backup is left out.
    ///
    /// # Errors
    /// [`Error::Fenced`] if another process has begun a restore since.
    pub async fn restore_batch(&self, batch: i64, rows: &[BackupRow], is_whole: bool) -> Result<i64, Error> {
        let load = async |tx: &mut Tx| {
            let held = self.held(tx).await?;
            let mut created = held.created;
            if held.batch >= batch {
                return Ok(created);
            }
            if is_whole && batch == 1 {
                tx.run(RESTORE_CLEAR_INITIAL.call().set("limit", INITIAL_MAX)).await?;
            }
            let counters: Vec<&str> = rows.iter().filter_map(BackupRow::counter).collect();
            if !is_whole && !counters.is_empty() {
                tx.run(RESTORE_CLEAR_COUNTERS.call().set("name", list(counters))).await?;
            }
            let [mut name, mut labels, mut of_nodes] = [const { Vec::<BoltType>::new() }; 3];
            let [mut kind, mut from, mut to, mut of_relationships] = [const { Vec::<BoltType>::new() }; 4];
            for row in rows {
                match row {
                    BackupRow::Node { name: of, labels: its, values: own } => {
                        name.push(of.as_str().into());
                        labels.push(list(its.iter().map(String::as_str)));
                        of_nodes.push(values(own)?);
                    }
                    BackupRow::Relationship { kind: of, from: begin, to: end, values: own } => {
                        kind.push(of.as_str().into());
                        from.push(begin.as_str().into());
                        to.push(end.as_str().into());
                        of_relationships.push(values(own)?);
                    }
                }
            }
            if !name.is_empty() {
                let call = RESTORE_NODES.call().set("name", list(name)).set("labels", list(labels));
                created += tx.only::<i64>(call.set("values", list(of_nodes))).await?;
            }
            if !kind.is_empty() {
                let call = RESTORE_RELATIONSHIPS.call().set("kind", list(kind));
                let call = call.set("from", list(from)).set("to", list(to));
                let Connected { created: all, mistyped } =
                    tx.only(call.set("values", list(of_relationships))).await?;
                if mistyped > 0 {
                    return Err(Error::Schema(format!(
                        "of {all} relationships, Neo4j gave {mistyped} another type than theirs, and these were rolled \
                         back. Upgrade Neo4j, and run the same command again"
                    )));
                }
                created += all;
            }
            advance(tx, Held { batch, created }, false).await?;
            Ok(created)
        };
        self.transactions.run("restore.batch", Mode::Write, load).await
    }

    /// Records that all rows are there.
    ///
    /// # Errors
    /// As [`Store::restore_batch`].
    pub async fn mark_restore_loaded(&self) -> Result<(), Error> {
        let mark = async |tx: &mut Tx| {
            let held = self.held(tx).await?;
            advance(tx, held, true).await
        };
        self.transactions.run("restore.loaded", Mode::Write, mark).await
    }

    /// Ends a restore that this process holds: whose rows are all there, or that was cleared.
    ///
    /// # Errors
    /// As [`Store::restore_batch`].
    pub async fn end_restore(&self) -> Result<(), Error> {
        self.restore_pages("restore.release", &RESTORE_RELEASE).await?;
        let drop = async |tx: &mut Tx| tx.run(SCHEMA_DROP_CONSTRAINT.call().set("name", KEY)).await;
        self.transactions.run("restore.key", Mode::Write, drop).await?;
        let close = async |tx: &mut Tx| {
            if let Err(why) = self.held(tx).await {
                // An earlier try may have been committed. Without a marker it was, or another process has completed the
                // same restore: one whose rows are all there is neither given up nor begun anew. One that was given up
                // has nothing left.
                let is_retried = tx.looks_up && matches!(why, Error::Fenced(_));
                if is_retried && tx.row::<UnfinishedRestore>(RESTORE_LOOK.call()).await?.is_none() {
                    return Ok(());
                }
                return Err(why);
            }
            // A mirror that was saved from this database before must not be taken for current.
            tx.touch_everything();
            tx.run(RESTORE_CLOSE.call()).await
        };
        self.transactions.run("restore.close", Mode::Write, close).await
    }

    /// Locks the marker until commit, and returns the progress.
    async fn held(&self, tx: &mut Tx) -> Result<Held, Error> {
        let guard = RESTORE_GUARD.call().set("holder", self.holder.as_str());
        tx.row(guard).await?.ok_or_else(|| {
            Error::Fenced(
                "another process has begun a restore into the same database, and goes on with it; this one stops here"
                    .to_owned(),
            )
        })
    }
}

/// Says that all rows of a restore are there, and how to complete it.
pub(super) fn loaded(uri: &str, checksum: &str) -> String {
    let beginning: String = checksum.chars().take(BEGINNING).collect();
    format!(
        "a restore into the database at {uri} was broken off when all rows were there. Only the same backup completes it: \
         the file whose SHA-256 begins with {beginning}. Run: ebb restore FILE --yes"
    )
}

async fn advance(tx: &mut Tx, held: Held, is_loaded: bool) -> Result<(), Error> {
    let call = RESTORE_ADVANCE.call().set("batch", held.batch).set("created", held.created);
    tx.run(call.set("isLoaded", is_loaded)).await
}
