//! Change records: what a transaction changed, kept in the graph for mirrors.
//!
//! A transaction that makes, moves, joins or removes something leaves one `EbbChange` with the keys of what it touched,
//! written with it or not at all. Whoever mirrors the graph reads those since it last looked, and the rows they name as
//! they are now: what a change was is never said, so that a word which is read twice or late does no harm. Plain fading
//! leaves none, since what an energy or a weight is now follows from what was mirrored.
//!
//! # Design notes
//! Words are left by [`Tx::touch`] on the way and written by the transaction itself before it commits, at one place. A
//! write that changes more than it can name (an adoption, an evaporation) says so, and mirrors start anew.

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

/// How long before its last look a reader looks again: a transaction may commit so much later than the instant it wrote.
pub const OVERLAP_MS: i64 = 40_000;
/// How far back changes are kept.
pub const KEPT_MS: i64 = 24 * 3_600_000;

/// Who changes what nobody asks for: the jobs of a worker. Their runs say more.
const WORKER: &str = "worker";

/// The change record of one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// By which its word is known.
    pub element: String,
    /// When, by the server's clock.
    pub at: Timestamp,
    /// Whether it changed more than it names.
    pub everything: bool,
    pub touched: Vec<Touched>,
}

impl Tx {
    /// Notes that a node changed, or with a `kind` that some of its relationships of that type did.
    pub(super) fn touch(&mut self, label: &str, scope: &str, key: &str, kind: &str) {
        self.changes.touch(label, scope, key, kind);
    }

    /// Notes that memories changed, or with a `kind` that some of their relationships of that type did.
    pub(super) fn touch_memories<'a>(&mut self, keys: impl IntoIterator<Item = &'a MemoryKey>, kind: &str) {
        keys.into_iter().for_each(|key| self.touch("Memory", key.scope(), key.id(), kind));
    }

    /// Notes that more changed than can be named.
    pub(super) fn touch_everything(&mut self) {
        self.changes.touch_everything();
    }

    /// Leaves word of what was touched, if anything was.
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
    /// What was changed since an instant of the server's clock, in the order of instants, and what that clock shows now.
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

    /// Leaves word that more changed than can be named: every mirror starts anew at its next look. For changes that others made
    /// without a word; leaving it twice does no harm.
    pub async fn record_full_change(&self) -> Result<(), Error> {
        self.transactions
            .run("changes.everything", Mode::Write, async |tx: &mut Tx| {
                tx.touch_everything();
                Ok(())
            })
            .await
    }

    /// What the server's clock shows.
    pub async fn server_now(&self) -> Result<Timestamp, Error> {
        self.transactions.run("changes.now", Mode::Read, async |tx: &mut Tx| server_now(tx).await).await
    }
}

async fn server_now(tx: &mut Tx) -> Result<Timestamp, Error> {
    let now = tx.only(CHANGE_NOW.call()).await?;
    Timestamp::from_millis(now)
        .map_err(|why| Error::Decode { statement: CHANGE_NOW.name, detail: why.to_string() })
}
