//! Change records: what a transaction changed, kept in the graph for mirrors.
//!
//! A transaction that creates, moves, joins or removes something writes one `EbbChange` with the keys that it touched,
//! in the same commit. A mirror reads those since its last refresh, and the present state of their rows: a record does
//! not contain the change itself, so it is safe to read it twice or late. Decay alone writes none, since a mirror
//! computes present energies and weights from what it holds.
//!
//! A caller gets the token of its write's record, and a mirror that has applied the record answers with it: see
//! [`ChangeToken`].
//!
//! # Design notes
//! Keys are collected by [`Tx::touch`] and written by the transaction itself before it commits, at one place. A write
//! that changes more than it can name (an adoption, an evaporation) is recorded as such, and mirrors reload.

use super::Store;
use super::catalogue::{CHANGE_RECORD, CHANGE_SINCE, REQUEST_EXTEND, REQUEST_RECORD, SERVER_PING};
use super::encode::{list, slices};
use super::error::Error;
use super::statement::Call;
use super::touched::{self, Changes, Receipt, Unlearned};
use super::tx::{Mode, Tx};
use crate::domain::ids::{MemoryKey, Scope};
use crate::domain::units::Timestamp;
use serde::Deserialize;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::{PoisonError, RwLock};

pub use super::touched::Touched;

/// Overlap of reads: a transaction may commit so much later than its recorded instant.
pub const OVERLAP_MS: i64 = 40_000;
/// Retention of changes.
pub const KEPT_MS: i64 = 3_600_000;

/// Most bytes of a change and the responses on whose first node it is recorded; a larger one has nodes of its own.
const TOGETHER_BYTES: usize = 4_000;

/// Author of changes without a request: the jobs of a worker. Their runs have the details.
const WORKER: &str = "worker";

/// Change record of one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Id of the record.
    pub id: String,
    /// Instant by the server's clock.
    pub at: Timestamp,
    /// Whether it changed more than it names.
    pub everything: bool,
    pub touched: Vec<Touched>,
}

impl Change {
    /// Whether more of a scope changed than is named.
    #[must_use]
    pub fn is_of_whole(&self, scope: &Scope) -> bool {
        self.everything || self.names_whole(scope)
    }

    /// Whether it names a scope as a whole, as its deletion does.
    #[must_use]
    pub fn names_whole(&self, scope: &Scope) -> bool {
        self.touched.iter().any(|one| one.label.is_empty() && one.scope == scope.as_str())
    }

    /// The scopes that it concerns; `None` if that may be any.
    #[must_use]
    pub fn scopes(&self) -> Option<BTreeSet<&str>> {
        touched::scopes(self.everything, &self.touched)
    }

    /// By which a reader asks for it.
    #[must_use]
    pub fn token(&self) -> ChangeToken {
        ChangeToken { id: Some(self.id.clone()), at: self.at }
    }
}

/// A committed write, by which a reader asks for a mirror that includes it. Its text is the record of the change and its
/// instant, `01a2…@1795675849123`; without a record everything that was committed before the instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeToken {
    /// Id of the record. None where the write had been done by an earlier request.
    pub id: Option<String>,
    /// Instant by the server's clock.
    pub at: Timestamp,
}

/// Most bytes of the text of a token.
const TOKEN_BYTES_MAX: usize = 128;

impl fmt::Display for ChangeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.id.as_deref().unwrap_or_default(), self.at.millis())
    }
}

impl FromStr for ChangeToken {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once('@').filter(|_| text.len() <= TOKEN_BYTES_MAX);
        let at = parts.and_then(|(_, at)| Timestamp::from_millis(at.parse().ok()?).ok());
        let (Some((id, _)), Some(at)) = (parts, at) else {
            return Err("not the change of a write: its answer has it".to_owned());
        };
        Ok(Self { id: Some(id.to_owned()).filter(|id| !id.is_empty()), at })
    }
}

tokio::task_local! {
    /// The last committed change of the present request.
    static COMMITTED: RefCell<Option<ChangeToken>>;
}

/// Runs the work of a request, and returns the token of the last write that it committed, if any.
pub async fn committing<T>(work: impl Future<Output = T>) -> (T, Option<ChangeToken>) {
    COMMITTED
        .scope(RefCell::default(), async {
            let done = work.await;
            (done, COMMITTED.with(RefCell::take))
        })
        .await
}

/// Sets the token of the last write of the present request, if there is one.
pub(super) fn set_committed(token: Option<ChangeToken>) {
    let _ = COMMITTED.try_with(|last| last.replace(token));
}

/// What is done after each change that this process has committed, with the scopes that it concerns; `None`: any.
pub type OnChange = dyn Fn(&ChangeToken, Option<&BTreeSet<&str>>) + Send + Sync;

/// Who is told of each change that this process has committed, over any pool.
#[derive(Default)]
pub(super) struct Listener(RwLock<Option<Box<OnChange>>>);

impl Listener {
    /// Tells of a committed change, also the present request, if there is one.
    pub(super) fn tell(&self, Recorded { token, changes }: Recorded) {
        if let Some(on_change) = &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            on_change(&token, changes.scopes().as_ref());
        }
        // Outside of a request nobody asks for it.
        set_committed(Some(token));
    }
}

/// A change that a transaction has recorded.
pub(super) struct Recorded {
    token: ChangeToken,
    changes: Changes,
}

impl Recorded {
    /// How many writes it is of.
    pub(super) fn writes(&self) -> u64 {
        u64::try_from(self.changes.receipts.len()).map_or(1, |requests| requests.max(1))
    }
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

    /// Records that more of a scope changed than can be named.
    pub(super) fn touch_scope(&mut self, scope: &str) {
        self.changes.touch_scope(scope);
    }

    /// Records that more changed than can be named.
    pub(super) fn touch_everything(&mut self) {
        self.changes.touch_everything();
    }

    /// Writes the record, if anything was touched or the response to a request is known.
    pub(super) async fn record_change(&mut self) -> Result<Option<Recorded>, Error> {
        let changes = std::mem::take(&mut self.changes);
        let Changes { everything, touched, by, is_repeated, receipts, .. } = &changes;
        if !everything && touched.is_empty() && receipts.is_empty() {
            let now = if *is_repeated { Some(server_now(self).await?) } else { None };
            return Ok(now.map(|at| Recorded { token: ChangeToken { id: None, at }, changes }));
        }
        let touched: Vec<&Touched> = touched.iter().collect();
        let weight = |one: &&Touched| one.label.len() + one.scope.len() + one.key.len() + one.kind.len() + 12;
        let bytes = touched.iter().map(weight).chain(receipts.iter().map(Receipt::bytes)).sum::<usize>();
        let id = crate::clock::new_id();
        let token = |at| ChangeToken { id: Some(id.clone()), at };
        let is_apart = receipts.is_empty() || bytes > TOGETHER_BYTES;
        let mut at = None;
        if is_apart {
            let by = by.as_deref().or_else(|| Some(receipts.first()?.by.as_str())).unwrap_or(WORKER);
            // All are committed together, so who has applied the first has applied all.
            let pages =
                slices(&CHANGE_RECORD, &touched, weight).chain(touched.is_empty().then_some(&touched[..]));
            for page in pages {
                let id = at.map_or_else(|| id.clone(), |_| crate::clock::new_id());
                let call = change(CHANGE_RECORD.call().set("by", by), Some(&id), *everything, page);
                let now = instant(CHANGE_RECORD.name, self.only(call).await?)?;
                at.get_or_insert(now);
            }
        }
        if !receipts.is_empty() {
            let first = REQUEST_RECORD.call();
            let first = match is_apart {
                true => change(first, None, false, &[]),
                false => change(first, Some(&id), *everything, &touched),
            };
            let now = self.record_requests(first, receipts).await?;
            at.get_or_insert(now);
        }
        let at = at.unwrap_or(Timestamp::EPOCH);
        Ok(Some(Recorded { token: token(at), changes }))
    }

    /// Records responses, the first with the columns of the change; returns the instant of that.
    async fn record_requests(&mut self, first: Call, receipts: &[Receipt]) -> Result<Timestamp, Error> {
        let (mut first, mut at) = (Some(first), None);
        for slice in slices(&REQUEST_RECORD, receipts, Receipt::bytes) {
            let of_change = first.take().unwrap_or_else(|| change(REQUEST_RECORD.call(), None, false, &[]));
            let unlearned = || slice.iter().map(|one| one.unlearned.as_ref());
            let active = |one: Option<&Unlearned>| {
                list(one.into_iter().flat_map(|one| one.active.iter().map(String::as_str)))
            };
            let call = of_change
                .set("request", list(slice.iter().map(|one| one.request.as_str())))
                .set("hash", list(slice.iter().map(|one| one.hash.as_deref())))
                .set("by", list(slice.iter().map(|one| one.by.as_str())))
                .set("seed", list(slice.iter().map(|one| one.seed.as_deref())))
                .set("answer", list(slice.iter().map(|one| one.answer_parts().next().unwrap_or_default())))
                .set("waits", list(unlearned().map(|one| one.map(|one| one.scope.as_str()))))
                .set("active", list(unlearned().map(active)))
                .set("reward", list(unlearned().map(|one| one.map(|one| one.reward))));
            let RecordRow { at: now, is_repeat } = self.only(call).await?;
            if is_repeat {
                self.may_be_repeat = true;
                return Err(Error::Conflict("the request is answered already".to_owned()));
            }
            at.get_or_insert(now);
            for receipt in slice {
                for part in receipt.answer_parts().skip(1) {
                    let call = REQUEST_EXTEND.call().set("id", receipt.request.as_str());
                    self.run(call.set("part", part)).await?;
                }
            }
        }
        instant(REQUEST_RECORD.name, at.unwrap_or_default())
    }
}

/// Columns of a change.
fn change(call: Call, id: Option<&str>, everything: bool, touched: &[&Touched]) -> Call {
    let column = |of: fn(&Touched) -> &str| list(touched.iter().map(|one| of(one)));
    call.set("id", id)
        .set("everything", everything)
        .set("label", column(|one| &one.label))
        .set("scope", column(|one| &one.scope))
        .set("key", column(|one| &one.key))
        .set("kind", column(|one| &one.kind))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordRow {
    at: i64,
    is_repeat: bool,
}

#[derive(Deserialize)]
struct Row {
    id: String,
    at: i64,
    everything: bool,
    labels: Vec<String>,
    scopes: Vec<String>,
    keys: Vec<String>,
    kinds: Vec<String>,
}

impl Row {
    fn check(self) -> Result<Change, Error> {
        let at = instant(CHANGE_SINCE.name, self.at)?;
        let names = self.labels.into_iter().zip(self.scopes).zip(self.keys.into_iter().zip(self.kinds));
        let touched =
            names.map(|((label, scope), (key, kind))| Touched { label, scope, key, kind }).collect();
        Ok(Change { id: self.id, at, everything: self.everything, touched })
    }
}

impl Store {
    /// Sets what is done after each change that this process has committed.
    pub fn on_change(&self, on_change: Box<OnChange>) {
        *self.transactions.listener.0.write().unwrap_or_else(PoisonError::into_inner) = Some(on_change);
    }

    /// Changes of a scope or of all since an instant of the server's clock, in the order of instants, and the present of that
    /// clock.
    pub async fn changes(
        &self,
        scope: Option<&Scope>,
        since: Timestamp,
    ) -> Result<(Timestamp, Vec<Change>), Error> {
        self.transactions
            .run("changes.since", Mode::Read, async |tx: &mut Tx| {
                let now = self.read_now(tx).await?;
                let call = CHANGE_SINCE.call().set("since", since.millis());
                let rows: Vec<Row> = tx.rows(call.set("scope", scope.map(Scope::as_str))).await?;
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

/// The present time of the server's clock.
pub(super) async fn server_now(tx: &mut Tx) -> Result<Timestamp, Error> {
    let now = tx.only(SERVER_PING.call()).await?;
    instant(SERVER_PING.name, now)
}

fn instant(statement: &'static str, millis: i64) -> Result<Timestamp, Error> {
    Timestamp::from_millis(millis).map_err(|why| Error::Decode { statement, detail: why.to_string() })
}

#[cfg(test)]
mod tests {
    use super::ChangeToken;
    use crate::domain::units::Timestamp;

    #[test]
    fn a_token_is_read_as_it_was_written() {
        for id in [Some("01a2-7".to_owned()), None] {
            let token = ChangeToken { id, at: Timestamp::from_millis(1_795_675_849_123).unwrap() };
            assert_eq!(token.to_string().parse(), Ok(token));
        }
        for text in ["", "17", "4:a:17@", "4:a:17@soon", &format!("{}@1", "4".repeat(200))] {
            assert!(text.parse::<ChangeToken>().is_err(), "{text}");
        }
    }
}
