//! Backups: all that is Ebb's in a database, in one file, and a restore from it. The export of a scope is such a file, too.
//!
//! A restore reads the file twice: first to check all of it, so that a file that is damaged or of a newer version writes
//! nothing, then to load it.

pub mod file;

use super::Service;
use crate::domain::ids::Scope;
pub use crate::store::BackupCounts;
use crate::store::{BackupRow, ChangeMark, Error, FACT_STATE, NODE_STATE, UnfinishedRestore};
use file::{Checked, FileError, Header, Lines, Reader, Written};
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::SendTimeoutError;

/// Rows that are read ahead of the file.
const AHEAD: usize = 64;

/// Result of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    pub written: Written,
    /// Rows that it was to hold, and that it leaves out, counted before they were read.
    pub counts: BackupCounts,
    /// Whether Ebb wrote to the database while it was read.
    pub changed_meanwhile: bool,
}

/// Result of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub header: Header,
    pub nodes: u64,
    pub relationships: u64,
    /// Relationships with an end that is not in the backup: it was written while the backup was read.
    pub left_out: u64,
    /// States of rows of other libraries.
    pub states: usize,
    /// Those among them whose row is not in this database, or that no mapping names.
    pub states_without_row: usize,
}

/// Rows done, of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsDone {
    pub rows: u64,
    pub total: u64,
}

/// A failure of a backup or a restore.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The database.
    #[error(transparent)]
    Store(#[from] Error),
}

/// Passes each row that `read` sends to `take`, until that wants no more.
async fn forward(
    read: impl AsyncFnOnce(mpsc::Sender<BackupRow>) -> Result<(), Error>,
    mut take: impl AsyncFnMut(BackupRow) -> Result<bool, FileError>,
) -> Result<(), BackupError> {
    let (sender, mut rows) = mpsc::channel(AHEAD);
    // It takes the receiver along, so that its end is that of the reading, too.
    let taking = async move {
        while let Some(row) = rows.recv().await {
            if !take(row).await? {
                break;
            }
        }
        Ok::<_, FileError>(())
    };
    let (read, taken) = tokio::join!(read(sender), taking);
    taken?;
    Ok(read?)
}

/// Writes what `read` sends into a file, whole or not at all.
async fn write(
    path: &Path,
    header: Header,
    read: impl AsyncFnOnce(mpsc::Sender<BackupRow>) -> Result<(), Error>,
    watch: &mut dyn FnMut(RowsDone),
) -> Result<Written, BackupError> {
    let total = header.nodes + header.relationships;
    let (to_file, lines) = mpsc::channel(AHEAD);
    let file = path.to_owned();
    let writer = tokio::task::spawn_blocking(move || file::write(&file, &header, lines));
    let mut done = 0;
    let take = async |row| {
        done += 1;
        if done % 1_000 == 0 {
            watch(RowsDone { rows: done, total });
        }
        Ok(to_file.send(file::Message::Row(Box::new(row))).await.is_ok())
    };
    let forwarded = forward(read, take).await;
    if forwarded.is_ok() {
        // If the writer has failed, its error says why.
        to_file.send(file::Message::Complete).await.ok();
    }
    drop(to_file);
    let written = writer.await.map_err(|why| FileError::Thread(why.to_string()))?;
    forwarded?;
    Ok(written?)
}

impl Service {
    /// Writes all that is Ebb's into a file, whole or not at all.
    ///
    /// # Errors
    /// [`BackupError`]; nothing is left of the file then.
    pub async fn backup(&self, path: &Path, watch: &mut dyn FnMut(RowsDone)) -> Result<Backup, BackupError> {
        let before = self.newest_change().await?;
        let counts = self.jobs_store.backup_counts().await?;
        let header = Header::new(self.now().await?, counts.nodes, counts.relationships, None);
        let read = async |rows: mpsc::Sender<BackupRow>| self.jobs_store.read_backup(&rows).await;
        let written = write(path, header, read, watch).await?;
        let changed_meanwhile = self.newest_change().await? != before;
        Ok(Backup { written, counts, changed_meanwhile })
    }

    /// Writes all rows of a scope into a file as [`Service::backup`] does. It can be restored as one.
    ///
    /// # Errors
    /// [`BackupError`]; nothing is left of the file then. [`Error::NotFound`] if the scope has no rows.
    pub async fn export_scope_to(
        &self,
        scope: &Scope,
        path: &Path,
        watch: &mut dyn FnMut(RowsDone),
    ) -> Result<Written, BackupError> {
        let header = self.scope_header(scope).await?;
        let read = async |rows: mpsc::Sender<BackupRow>| self.jobs_store.read_scope(scope, &rows).await;
        write(path, header, read, watch).await
    }

    /// Sends the lines of such a file, and ends if nobody takes one for `stall`, where there is such a limit.
    ///
    /// # Errors
    /// As [`Service::export_scope_to`]; the last line, `end`, was not sent then.
    pub async fn export_scope(
        &self,
        scope: &Scope,
        to: &mpsc::Sender<Vec<u8>>,
        stall: Option<Duration>,
    ) -> Result<Written, BackupError> {
        let header = self.scope_header(scope).await?;
        let mut lines = Lines::default();
        let send = async |line: io::Result<Vec<u8>>| {
            let line = line.map_err(FileError::Row)?;
            // Nobody is left to be told that the receiver has gone: the reading ends with it.
            let Some(stall) = stall else { return Ok(to.send(line).await.is_ok()) };
            match to.send_timeout(line, stall).await {
                Err(SendTimeoutError::Timeout(_)) => Err(FileError::Stalled(stall)),
                sent => Ok(sent.is_ok()),
            }
        };
        send(lines.first(&header)).await?;
        let read = async |rows: mpsc::Sender<BackupRow>| self.jobs_store.read_scope(scope, &rows).await;
        forward(read, async |row| send(lines.row(&row)).await).await?;
        send(lines.last()).await?;
        Ok(lines.written)
    }

    async fn scope_header(&self, scope: &Scope) -> Result<Header, Error> {
        let counts = self.jobs_store.scope_counts(scope).await?;
        if counts.total() == 0 {
            return Err(Error::NotFound { what: "scope", id: scope.to_string() });
        }
        Ok(Header::new(self.now().await?, counts.total(), counts.relationships, Some(scope)))
    }

    async fn newest_change(&self) -> Result<Option<ChangeMark>, Error> {
        Ok(self.jobs_store.database(None).await?.newest)
    }

    /// Reads and checks a whole backup file, and writes nothing.
    ///
    /// # Errors
    /// [`FileError`].
    pub async fn check_backup(&self, path: &Path) -> Result<Checked, BackupError> {
        let file = path.to_owned();
        let checked = tokio::task::spawn_blocking(move || Reader::open(&file)?.check());
        Ok(checked.await.map_err(|why| FileError::Thread(why.to_string()))??)
    }

    /// Checks that a backup could be restored into this database, and writes nothing.
    ///
    /// # Errors
    /// As [`Service::restore`].
    pub async fn check_restore(&self, path: &Path) -> Result<Checked, BackupError> {
        let checked = self.check_backup(path).await?;
        let seen = self.store.unfinished_restore().await?;
        if self.loaded(seen.as_ref(), &checked.written.checksum)?.is_none() {
            self.store.refuse_restore().await?;
        }
        Ok(checked)
    }

    /// The restore that was broken off, if all rows of the file with this checksum are there.
    ///
    /// # Errors
    /// [`Error::Conflict`] if all rows of another file are there: marks may be gone, so they cannot be told from others.
    fn loaded<'s>(
        &self,
        seen: Option<&'s UnfinishedRestore>,
        checksum: &str,
    ) -> Result<Option<&'s UnfinishedRestore>, Error> {
        match seen.filter(|of| of.is_loaded) {
            Some(of) if of.checksum != checksum => Err(self.store.only_completed(of)),
            of => Ok(of),
        }
    }

    /// Loads a backup into a database without rows of Ebb's, which is initialised first if it is not. One that was
    /// broken off starts again; one whose rows were all there is completed, by the same file only.
    ///
    /// # Errors
    /// [`BackupError`]; [`Error::Conflict`] if the database has rows of Ebb's, or other processes work on it. Nothing is
    /// written then.
    pub async fn restore(
        &self,
        path: &Path,
        watch: &mut dyn FnMut(RowsDone),
    ) -> Result<Restored, BackupError> {
        let Checked { header, written, .. } = self.check_backup(path).await?;
        let total = written.nodes + written.relationships;
        let seen = self.store.unfinished_restore().await?;
        let created = match self.loaded(seen.as_ref(), &written.checksum)? {
            Some(of) => {
                self.store.hold_restore(Some(of), &of.checksum, false).await?;
                u64::try_from(of.created).unwrap_or(0)
            }
            None => {
                self.store.refuse_restore().await?;
                if seen.is_none() && !self.store.pending().await?.is_empty() {
                    self.initialise().await?;
                }
                self.store.hold_restore(seen.as_ref(), &written.checksum, true).await?;
                self.store.clear_restore().await?;
                self.load(path, &header, &written, watch).await?
            }
        };
        // What this version has and the backup has not.
        let now = self.now().await?;
        self.store.complete_rows(&self.config.consolidation, now).await?;
        self.store.end_restore().await?;
        self.initialise().await?;
        let (states, states_without_row) = self.states_without_row().await?;
        let left_out = total.saturating_sub(created);
        Ok(Restored {
            header,
            nodes: written.nodes,
            relationships: written.relationships.saturating_sub(left_out),
            left_out,
            states,
            states_without_row,
        })
    }

    /// Deletes what a restore wrote that was broken off, so that the database can be used. Returns whether there was one.
    ///
    /// # Errors
    /// [`Error::Conflict`] if another process restores, or if all rows are there.
    pub async fn abandon_restore(&self) -> Result<bool, Error> {
        let Some(seen) = self.store.unfinished_restore().await? else { return Ok(false) };
        if seen.is_loaded {
            return Err(self.store.only_completed(&seen));
        }
        self.store.hold_restore(Some(&seen), &seen.checksum, true).await?;
        self.store.clear_restore().await?;
        self.store.complete_rows(&self.config.consolidation, self.now().await?).await?;
        self.store.end_restore().await?;
        self.initialise().await?;
        Ok(true)
    }

    /// Loads the rows of a checked file. Returns how many were created.
    async fn load(
        &self,
        path: &Path,
        header: &Header,
        checked: &Written,
        watch: &mut dyn FnMut(RowsDone),
    ) -> Result<u64, BackupError> {
        let total = checked.nodes + checked.relationships;
        let changed =
            |why: FileError| FileError::Changed { path: path.display().to_string(), why: why.to_string() };
        let mut reader = Reader::open(path).map_err(changed)?;
        let (mut created, mut done) = (0, 0);
        for number in 1.. {
            let read = tokio::task::spawn_blocking(move || {
                let batch = reader.batch();
                (reader, batch)
            });
            let (back, batch) = read.await.map_err(|why| FileError::Thread(why.to_string()))?;
            reader = back;
            let batch = batch.map_err(changed)?;
            if batch.is_empty() {
                break;
            }
            created = self.store.restore_batch(number, &batch, header.scope.is_none()).await?;
            done += batch.len() as u64;
            watch(RowsDone { rows: done, total });
        }
        if reader.contents() != checked {
            let why = "it has other rows than before".to_owned();
            return Err(FileError::Changed { path: path.display().to_string(), why }.into());
        }
        self.store.mark_restore_loaded().await?;
        Ok(u64::try_from(created).unwrap_or(0))
    }

    /// Number of states of rows of other libraries, and of those whose row is not found by its key.
    async fn states_without_row(&self) -> Result<(usize, usize), Error> {
        let (mut all, mut without) = (0, 0);
        for scope in self.store.stated_scopes().await? {
            for kind in [NODE_STATE, FACT_STATE] {
                let states = self.store.adopted_states(&scope, kind).await?;
                let keys: Vec<&str> = states.iter().map(|state| state.key.as_str()).collect();
                all += keys.len();
                without += self.keys_without_row(&scope, &keys).await?;
            }
        }
        Ok((all, without))
    }
}
