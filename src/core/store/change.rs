//! Change records: what a transaction changed, kept in the graph for mirrors.
//!
//! A transaction that creates, moves, joins or removes something writes one `EbbChange` with the keys that it touched,
//! in the same commit. A mirror reads those since its last refresh, and the present state of their rows: a record does
//! not contain the change itself, so it is safe to read it twice or late. Decay alone writes none, since a mirror
//! computes present energies and weights from what it holds.
//!
//! # Design notes
//! Keys are collected by [`Tx::touch`] and written by the transaction itself before it commits, at one place. A write
//! that changes more than it can name (an adoption, an evaporation) is recorded as such, and mirrors reload.

use super::Store;
use super::catalogue::{CHANGE_NOW, CHANGE_RECORD, CHANGE_SINCE};
use super::encode::list;
use super::error::Error;
use super::touched::Changes;
use super::tx::{Mode, Tx};
use crate::domain::ids::MemoryKey;
use crate::domain::units::Timestamp;
use serde::Deserialize;

pub use super::touched::Touched;

/// Overlap of reads: a transaction may commit so much later than its recorded instant.
pub const OVERLAP_MS: i64 = 40_000;
/// Retention of changes.
pub const KEPT_MS: i64 = 24 * 3_600_000;

/// Author of changes without a request: the jobs of a worker. Their runs have the details.
const WORKER: &str = "worker";

/// Change record of one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Id of the record.
    pub element: String,
    /// Instant by the server's clock.
    pub at: Timestamp,
    /// Whether it changed more than it names.
    pub everything: bool,
    pub touched: Vec<Touched>,
}

impl Tx {
    /// Records a change of a node or, with a `kind`, of some of its relationships of that type.
    pub(super) fn touch(&mut self, label: &str, scope: &str, key: &str, kind: &str) {
        self.changes.touch(label, scope, key, kind);
    }

    /// Records a change of memories or, with a `kind`, of some of their relationships of that type.
    pub(super) fn touch_memories<'a>(&mut self, keys: impl IntoIterator<Item = &'a MemoryKey>, kind: &str) {
        keys.into_iter().for_each(|key| self.touch("Memory", key.scope(), key.id(), kind));
    }

    /// Records that more changed than can be named.
    pub(super) fn touch_everything(&mut self) {
        self.changes.touch_everything();
    }

    /// Writes the record, if anything was touched.
    pub(super) async fn record_change(&mut self) -> Result<(), Error> {
        let Changes { everything, touched, by } = std::mem::take(&mut self.changes);
        if !everything && touched.is_empty() {
            return Ok(());
        }
        let column = |of: fn(&Touched) -> &str| list(touched.iter().map(of));
        let call = CHANGE_RECORD
            .call()
            .set("by", by.as_deref().unwrap_or(WORKER))
            .set("everything", everything)
            .set("label", column(|one| &one.label))
            .set("scope", column(|one| &one.scope))
            .set("key", column(|one| &one.key))
            .set("kind", column(|one| &one.kind));
        self.run(call).await
    }
}

#[derive(Deserialize)]
struct Row {
    element: String,
    at: i64,
    everything: bool,
    labels: Vec<String>,
    scopes: Vec<String>,
    keys: Vec<String>,
    kinds: Vec<String>,
}

impl Row {
    fn check(self) -> Result<Change, Error> {
        let at = Timestamp::from_millis(self.at)
            .map_err(|why| Error::Decode { statement: CHANGE_SINCE.name, detail: why.to_string() })?;
        let names = self.labels.into_iter().zip(self.scopes).zip(self.keys.into_iter().zip(self.kinds));
        let touched =
            names.map(|((label, scope), (key, kind))| Touched { label, scope, key, kind }).collect();
        Ok(Change { element: self.element, at, everything: self.everything, touched })
    }
}

impl Store {
    /// Changes since an instant of the server's clock, in the order of instants, and the present of that clock.
    pub async fn changes(&self, since: Timestamp) -> Result<(Timestamp, Vec<Change>), Error> {
        self.transactions
            .run("changes.since", Mode::Read, async |tx: &mut Tx| {
                let now = server_now(tx).await?;
                let rows: Vec<Row> = tx.rows(CHANGE_SINCE.call().set("since", since.millis())).await?;
                let changes: Result<Vec<Change>, Error> = rows.into_iter().map(Row::check).collect();
                Ok((now, changes?))
            })
            .await
    }

    /// Records that more changed than can be named: every mirror reloads at its next refresh. For changes of other
    /// writers without a record; safe to repeat.
    pub async fn record_full_change(&self) -> Result<(), Error> {
        self.transactions
            .run("changes.everything", Mode::Write, async |tx: &mut Tx| {
                tx.touch_everything();
                Ok(())
            })
            .await
    }

    /// The present time of the server's clock.
    pub async fn server_now(&self) -> Result<Timestamp, Error> {
        self.transactions.run("changes.now", Mode::Read, async |tx: &mut Tx| server_now(tx).await).await
    }
}

async fn server_now(tx: &mut Tx) -> Result<Timestamp, Error> {
    let now = tx.only(CHANGE_NOW.call()).await?;
    Timestamp::from_millis(now)
        .map_err(|why| Error::Decode { statement: CHANGE_NOW.name, detail: why.to_string() })
}
