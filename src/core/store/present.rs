//! The present of a database: what a write is dated and computed by.
//!
//! It is the server's clock (that of this process may be wrong), the simulated time of a scratch database, and the tunables.
//! A process keeps what it has read for [`KEPT`], and lets the clock go on from there; a look for changes, which a process with
//! mirrors takes several times a second, reads it along. So a write needs no transaction of its own for it, and an edit of the
//! tunables in the graph counts for writes after [`KEPT`] at the latest; the run of a job reads them itself at its start.
//! Simulated time is not kept: it jumps.

use super::Store;
use super::catalogue::SERVER_PRESENT;
use super::error::Error;
use super::tunables;
use super::tx::{Mode, Tx};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use serde::Deserialize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long it is kept.
const KEPT: Duration = Duration::from_secs(2);
/// By how much the server's clock may seem to go back, because one answer took longer than another: then it stands still
/// instead, so that of two writes of a process the later one is not dated before the other.
const UNEVEN_MS: i64 = 20;

/// Current time of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurrentTime {
    /// The server's clock.
    pub server: Timestamp,
    /// Simulated time, if any.
    pub scratch: Option<Option<Timestamp>>,
}

/// The last present that a process has read, shared by all its stores.
#[derive(Debug, Default)]
pub(super) struct KnownPresent {
    last: Mutex<Option<(Instant, Row)>>,
    /// Held by who reads it: the others wait for what that one finds.
    reading: tokio::sync::Mutex<()>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    server_now: i64,
    marked: bool,
    simulated: Option<i64>,
    names: Option<Vec<String>>,
    values: Option<Vec<Option<f64>>>,
}

impl KnownPresent {
    /// The last one, if it is still kept, and how long ago it was read.
    fn kept(&self) -> Option<(Row, Duration)> {
        let (row, age) = self.read_after(Instant::now().checked_sub(KEPT)?)?;
        (!row.marked).then_some((row, age))
    }

    /// The last one, if it was read after an instant, and how long ago.
    fn read_after(&self, instant: Instant) -> Option<(Row, Duration)> {
        let (read, row) = self.lock().clone()?;
        (read > instant).then(|| (row, read.elapsed()))
    }

    fn lock(&self) -> MutexGuard<'_, Option<(Instant, Row)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps one, and returns it as it is kept.
    fn keep(&self, mut row: Row) -> Row {
        let mut known = self.lock();
        let before = known.as_ref().map(|(read, row)| row.server_ms(read.elapsed()));
        row.server_now = before
            .filter(|before| (0..UNEVEN_MS).contains(&(before - row.server_now)))
            .unwrap_or(row.server_now);
        *known = Some((Instant::now(), row.clone()));
        row
    }

    fn forget(&self) {
        *self.lock() = None;
    }
}

impl Row {
    fn server_ms(&self, age: Duration) -> i64 {
        self.server_now.saturating_add(i64::try_from(age.as_millis()).unwrap_or(0))
    }

    fn time(&self, age: Duration) -> CurrentTime {
        let instant = |ms| Timestamp::from_millis(ms).ok();
        CurrentTime {
            server: instant(self.server_ms(age)).unwrap_or(Timestamp::EPOCH),
            scratch: self.marked.then(|| self.simulated.and_then(instant)),
        }
    }
}

impl Store {
    /// Current time: the server's clock, and the simulated time of a scratch database.
    pub async fn present(&self) -> Result<CurrentTime, Error> {
        if let Some((row, age)) = self.known_present.kept() {
            return Ok(row.time(age));
        }
        let (row, age) = self.read_present().await?;
        Ok(row.time(age))
    }

    /// The tunables of the graph, if they are kept and valid, else as they are read now.
    pub(super) async fn kept_or_read_tunables(&self) -> Result<Tunables, Result<Tunables, Error>> {
        let checked = |row: Row| tunables::check(row.names.zip(row.values));
        match self.known_present.kept().map(|(row, _)| checked(row)) {
            Some(Ok(kept)) => Ok(kept),
            _ => Err(self.read_present().await.and_then(|(row, _)| checked(row))),
        }
    }

    /// Reads the server's clock inside a transaction of the caller, and keeps what it reads along.
    pub(super) async fn read_now(&self, tx: &mut Tx) -> Result<Timestamp, Error> {
        let row = self.known_present.keep(tx.only(SERVER_PRESENT.call()).await?);
        Ok(row.time(Duration::ZERO).server)
    }

    /// Forgets what was read if the tunables turn out to be invalid by now.
    pub(super) fn forget_present_without(&self, tunables: &Result<Tunables, Error>) {
        if tunables.is_err() {
            self.forget_present();
        }
    }

    /// Forgets what was read, after a write that changes it.
    pub(super) fn forget_present(&self) {
        self.known_present.forget();
    }

    /// Reads it, or waits for who is reading it, and how long ago that was. If that one fails, all who waited read it at once.
    async fn read_present(&self) -> Result<(Row, Duration), Error> {
        let (asked, reading) = (Instant::now(), &self.known_present.reading);
        let reads = reading.try_lock().ok();
        if reads.is_none() {
            drop(reading.lock().await);
        }
        if let Some(found) = self.known_present.read_after(asked) {
            return Ok(found);
        }
        let read = async |tx: &mut Tx| tx.only::<Row>(SERVER_PRESENT.call()).await;
        let row = self.transactions.run("server.present", Mode::Read, read).await?;
        let row = self.known_present.keep(row);
        drop(reads);
        Ok((row, Duration::ZERO))
    }
}
