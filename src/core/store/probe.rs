//! Probes of the database: that it answers, is initialised, and takes writes.

use super::Store;
use super::catalogue::{MIGRATION_LIST, SERVER_WRITE};
use super::change::server_now;
use super::error::{Error, Refusal};
use super::tunables;
use super::tx::{Mode, Tx};
use crate::domain::units::Timestamp;
use std::sync::PoisonError;

impl Store {
    /// As [`Store::check_schema`], without retries, and checks the [tunables](Store::invalid_tunables). Returns the
    /// server's clock.
    pub async fn probe(&self) -> Result<Timestamp, Error> {
        let probe = async |tx: &mut Tx| {
            let applied = tx.rows(MIGRATION_LIST.call()).await?;
            Ok((applied, server_now(tx).await?, tunables::read_or_fault(tx).await?))
        };
        let (applied, now, tunables) =
            self.transactions.run_once("migration.probe", Mode::Read, probe).await?;
        self.complete(&self.lacking(&applied)?)?;
        self.forget_present_without(&tunables);
        let _ = self.known_tunables.record(tunables);
        Ok(now)
    }

    /// Checks without retries that the server responds. Returns its clock.
    pub async fn ping(&self) -> Result<Timestamp, Error> {
        self.transactions.run_once("server.ping", Mode::Read, async |tx: &mut Tx| server_now(tx).await).await
    }

    /// Writes one value to a fixed node, and commits: checks whether writes are possible now.
    ///
    /// # Errors
    /// An [`Error::refusal`] if the server accepts no writes; a connection error at the first failure.
    pub async fn probe_write(&self) -> Result<(), Error> {
        self.try_write(true).await
    }

    /// As [`Store::probe_write`], but rolls back, so that a database that is not Ebb's stays as it is. Does not notice a full
    /// disk.
    ///
    /// # Errors
    /// As of [`Store::probe_write`].
    pub async fn dry_run_write(&self) -> Result<(), Error> {
        self.try_write(false).await
    }

    async fn try_write(&self, commits: bool) -> Result<(), Error> {
        let write = async |tx: &mut Tx| {
            if !commits {
                tx.abandon();
            }
            tx.run(SERVER_WRITE.call()).await
        };
        let written = self.transactions.run_once("server.write", Mode::Write, write).await;
        let refusal = written.as_ref().err().and_then(Error::refusal);
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = refusal;
        written
    }

    /// Why the database took no write when this process last [tried](Store::probe_write) one, if it took none.
    #[must_use]
    pub fn write_refusal(&self) -> Option<Refusal> {
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
