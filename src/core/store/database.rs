//! Identity of a database, for files that were written from it.
//!
//! A database that was restored from a backup keeps its id. It lacks the change records that were written after the
//! backup: so a file also names the latest record of its instant, which must still be there.

use super::Store;
use super::catalogue::MIRROR_DATABASE;
use super::error::Error;
use super::tx::{Mode, Tx};
use crate::domain::units::Timestamp;
use serde::Deserialize;

/// A change record, by its id and its instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeMark {
    pub element: String,
    /// Instant by the server's clock, epoch milliseconds.
    pub at: i64,
}

/// Identity of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Database {
    /// Its id, and the instant at which Ebb initialised it.
    pub id: String,
    /// The present time of the server's clock, epoch milliseconds.
    pub now: i64,
    /// The latest change record; `None` if there was no change for as long as they are kept.
    pub newest: Option<ChangeMark>,
    /// Whether it has the requested record.
    pub has_known: bool,
}

impl Database {
    /// Instant of the latest change record.
    #[must_use]
    pub fn newest_at(&self) -> Option<Timestamp> {
        Timestamp::from_millis(self.newest.as_ref()?.at).ok()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: String,
    initialised: Option<i64>,
    now: i64,
    newest: Option<String>,
    newest_at: Option<i64>,
    known_at: Option<i64>,
}

impl Store {
    /// The identity of the database, and whether it has a change record.
    pub async fn database(&self, known: Option<&ChangeMark>) -> Result<Database, Error> {
        let call = || MIRROR_DATABASE.call().set("element", known.map_or("", |known| known.element.as_str()));
        let row = async |tx: &mut Tx| tx.only(call()).await;
        let row: Row = self.transactions.run("mirror.database", Mode::Read, row).await?;
        let Row { id, initialised, now, newest, newest_at, known_at } = row;
        let newest = newest.zip(newest_at).map(|(element, at)| ChangeMark { element, at });
        let has_known = known.is_some_and(|known| known_at == Some(known.at));
        Ok(Database { id: format!("{id} {}", initialised.unwrap_or_default()), now, newest, has_known })
    }
}
