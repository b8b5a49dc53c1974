//! Requested writes: each is applied once under its request id, or is a dry run.
//!
//! A caller without a response sends its request again. So the response is recorded in the transaction of the work, on the
//! node that records what it changed; and a request that finds its node answered returns that response.
//!
//! Repeats are rare, so a request does its work first. Its node is merged at the end: if that has a response by then, or
//! the work is refused, or the outcome of its commit is unknown, the transaction is rolled back and run again, and now locks
//! and reads the node at its beginning.
//!
//! Requests with an id of the caller are kept for 24 hours, the others for an hour as records of their changes, and those
//! with a waiting outcome until that is learned.
//!
//! A dry run does the same work with the same statements and is then rolled back: its response is that of a real run.

use super::Store;
use super::audit::trim_requests;
use super::catalogue::{MEMORY_FORGET, MEMORY_LIVE, REQUEST_OPEN};
use super::cluster::CLUSTER;
use super::decode::Life;
use super::error::Error;
use super::memory::{Record, lock, read, refused, tombstone_hash, write};
use super::memory_list::{self, Filter, MemoryOrder, MemoryPage};
use super::session::EndedSession;
use super::synapse::forget_learned;
use super::touched::Receipt;
use super::tx::{Mode, Tx};
use crate::domain::guard::{FEW, Guard};
use crate::domain::ids::{MemoryId, MemoryKey, Scope, SessionId};
use crate::domain::memory::{self, Refused};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Mode of a write.
#[derive(Debug, Clone, Copy)]
pub enum RequestMode<'a> {
    /// It counts once under this request id, however often it is repeated.
    Once {
        request: &'a str,
        /// Hash of its contents: a different request under the same id is an [`Error::Conflict`].
        hash: &'a str,
        /// Caller: the id of an API key, or the surface that needs none.
        by: &'a str,
    },
    /// It counts once under this new id, which nobody else knows.
    New { request: &'a str, by: &'a str },
    /// Done and rolled back.
    DryRun,
}

impl<'a> RequestMode<'a> {
    /// Its id, the hash of its contents if somebody can repeat it, and its caller; `None` for a dry run.
    pub(super) const fn named(self) -> Option<(&'a str, Option<&'a str>, &'a str)> {
        match self {
            Self::Once { request, hash, by } => Some((request, Some(hash), by)),
            Self::New { request, by } => Some((request, None, by)),
            Self::DryRun => None,
        }
    }

    /// The response as it is recorded, unless it is that of a dry run.
    pub(super) fn receipt(self, seed: Option<String>, response: &str) -> Option<Receipt> {
        let (request, hash, by) = self.named()?;
        Some(Receipt {
            request: request.to_owned(),
            hash: hash.map(str::to_owned),
            by: by.to_owned(),
            seed,
            answer: response.to_owned(),
            unlearned: None,
        })
    }
}

/// Requests whose retention is over that are removed before one whose id may be among them.
const EXPIRED: usize = 1_000;

/// Most memories that are deleted at once by conditions.
pub const FORGET_MAX: usize = 1_000;

/// Numbers of a deletion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "DeletionReceipt")]
pub struct Deletion {
    pub memories: i64,
    /// Memories and their stubs.
    pub nodes: i64,
    /// Memories that are to be deleted besides.
    pub left: i64,
}

/// The stored answer of a deletion.
#[derive(Deserialize)]
#[serde(untagged)]
enum DeletionReceipt {
    /// As it was stored by versions that kept the number of nodes alone.
    Nodes(i64),
    Numbers {
        memories: i64,
        nodes: i64,
        left: i64,
    },
}

impl From<DeletionReceipt> for Deletion {
    fn from(receipt: DeletionReceipt) -> Self {
        match receipt {
            DeletionReceipt::Nodes(nodes) => Self { memories: nodes, nodes, left: 0 },
            DeletionReceipt::Numbers { memories, nodes, left } => Self { memories, nodes, left },
        }
    }
}

impl Store {
    /// Opens a request whose work is more than one transaction, and records no response. Returns the seed of its first
    /// opening; `None` of one that a version without seeds has opened.
    ///
    /// # Errors
    /// [`Error::Conflict`] if its id was used for another request.
    pub async fn open_request(&self, mode: RequestMode<'_>, seed: &str) -> Result<Option<String>, Error> {
        let kept = *self.transactions.trims.retention();
        self.transactions
            .run("request.open", Mode::Write, async |tx: &mut Tx| {
                let Some(named) = mode.named() else { return Ok(None) };
                // After its retention the id is that of a new request, whether or not a write has removed the old one.
                trim_requests(tx, &kept, EXPIRED).await?;
                Ok(look_up(tx, named, Some(seed)).await?.seed)
            })
            .await
    }

    /// Pins or unpins memories at `now`, all or none, and returns their state after it.
    pub async fn pin(
        &self,
        mode: RequestMode<'_>,
        keys: &[MemoryKey],
        pin: bool,
        now: Timestamp,
        tunables: &Tunables,
    ) -> Result<Vec<Record>, Error> {
        let law = if pin { memory::pinned } else { memory::unpinned };
        self.transactions
            .run("memory.pin", Mode::Write, async |tx: &mut Tx| {
                if open::<()>(tx, mode).await?.is_none() {
                    let mut changed = Vec::new();
                    for (key, life) in lock_sound(tx, keys).await? {
                        let next = match law(life.state, now, tunables) {
                            Ok(next) => next,
                            Err(why) => return Err(refused(tx, key, why).await?),
                        };
                        if next != life.state {
                            changed.push((key, next));
                        }
                    }
                    // Only live memories are pinned.
                    write(tx, &changed, false).await?;
                    answer(tx, mode, &());
                }
                read(tx, keys).await
            })
            .await
    }

    /// Deletes memories of a scope with their versions and stubs, all or none, and leaves a tombstone for each. More
    /// deletions than `guard` allows need `accepted` with their number.
    pub async fn forget(
        &self,
        mode: RequestMode<'_>,
        (scope, ids): (&Scope, &[MemoryId]),
        now: Timestamp,
        guard: (&Guard, Option<i64>),
    ) -> Result<Deletion, Error> {
        let keys: Vec<MemoryKey> = ids.iter().map(|id| MemoryKey::new(scope, id)).collect();
        self.transactions
            .run("memory.forget", Mode::Write, async |tx: &mut Tx| {
                if let Some(done) = open(tx, mode).await? {
                    return Ok(done);
                }
                for (key, life) in lock_all(tx, &keys).await? {
                    // An invalid row may be deleted all the same.
                    if life.is_ok_and(|life| life.state.tier.is_stub()) {
                        return Err(refused(tx, key, Refused::Stub).await?);
                    }
                }
                let affected = i64::try_from(keys.len()).unwrap_or(i64::MAX);
                judge(tx, scope, affected, guard).await?;
                let done = self.delete(tx, &keys, now).await?;
                answer(tx, mode, &done);
                Ok(done)
            })
            .await
    }

    /// Deletes memories of a scope that fulfil conditions, as [`Store::forget`] does, at most [`FORGET_MAX`] of `all`, which were
    /// counted before. The guard judges all of them, and no fewer than the transaction finds. One that fulfils them no longer when
    /// it is locked stays.
    pub async fn forget_where(
        &self,
        mode: RequestMode<'_>,
        (scope, filter, all): (&Scope, &Filter, i64),
        now: Timestamp,
        guard: (&Guard, Option<i64>),
    ) -> Result<Deletion, Error> {
        let listed = (filter, MemoryOrder::Id);
        self.transactions
            .run("memory.forget_where", Mode::Write, async |tx: &mut Tx| {
                if let Some(done) = open(tx, mode).await? {
                    return Ok(done);
                }
                let MemoryPage { keys: found, next } =
                    memory_list::page(tx, scope.as_str(), listed, "", FORGET_MAX).await?;
                // One more if the page is full and the list goes on.
                let present = found.len() + usize::from(found.len() == FORGET_MAX && next.is_some());
                let all = all.max(i64::try_from(present).unwrap_or(i64::MAX));
                judge(tx, scope, all, guard).await?;
                let wanted: Vec<(&MemoryKey, Option<&str>)> = found.iter().map(|key| (key, None)).collect();
                let found = lock(tx, &wanted).await?;
                let own = found.into_iter().filter(|(_, locked)| !locked.is_foreign);
                let locked: BTreeSet<&MemoryKey> = own.map(|(key, _)| key).collect();
                let mut keys = memory_list::page(tx, scope.as_str(), listed, "", FORGET_MAX).await?.keys;
                keys.retain(|key| locked.contains(key));
                let done = self.delete(tx, &keys, now).await?;
                let done = Deletion { left: all.saturating_sub(done.memories).max(0), ..done };
                answer(tx, mode, &done);
                Ok(done)
            })
            .await
    }

    /// Deletes memories that this transaction has locked.
    pub(super) async fn delete(
        &self,
        tx: &mut Tx,
        keys: &[MemoryKey],
        now: Timestamp,
    ) -> Result<Deletion, Error> {
        #[derive(Deserialize)]
        struct Row {
            memories: i64,
            stubs: i64,
            clusters: Vec<String>,
        }
        let mut done = Deletion::default();
        tx.touch_memories(keys, "");
        for key in keys {
            forget_learned(tx, key, &self.trails).await?;
            let call = MEMORY_FORGET
                .call()
                .set("scope", key.scope())
                .set("id", key.id())
                .set("hash", tombstone_hash(key))
                .set("at", now.millis());
            let row: Row = tx.only(call).await?;
            for id in &row.clusters {
                tx.touch(CLUSTER, key.scope(), id, "");
            }
            done.memories += row.memories;
            done.nodes += row.memories + row.stubs;
        }
        Ok(done)
    }

    /// Ends a session at `now`, once under a request id, or as a dry run: working memories created in it with an energy
    /// strictly above `threshold` are promoted to short-term.
    pub async fn end_session(
        &self,
        mode: RequestMode<'_>,
        (scope, session): (&Scope, &SessionId),
        now: Timestamp,
        threshold: f64,
        tunables: &Tunables,
    ) -> Result<EndedSession, Error> {
        self.end_pages("session.end", async |tx: &mut Tx, mut ended: EndedSession, after: &str| {
            // Pages before the last are committed without a response.
            tx.looks_up = true;
            if let Some(ended) = open(tx, mode).await? {
                return Ok((ended, None));
            }
            let mut after = after.to_owned();
            loop {
                let rest;
                (ended, rest) =
                    self.end_page(tx, scope, session, now, threshold, tunables, ended, &after).await?;
                match (rest, mode) {
                    (None, _) => {
                        answer(tx, mode, &ended);
                        return Ok((ended, None));
                    }
                    (rest, RequestMode::Once { .. } | RequestMode::New { .. }) => return Ok((ended, rest)),
                    // A dry run must be one transaction, since it is rolled back at its end.
                    (Some(last), RequestMode::DryRun) => after = last,
                }
            }
        })
        .await
    }
}

/// Asks the guard about a deletion of so many memories of a scope.
async fn judge(
    tx: &mut Tx,
    scope: &Scope,
    affected: i64,
    (guard, accepted): (&Guard, Option<i64>),
) -> Result<(), Error> {
    if affected > FEW {
        let live = tx.only(MEMORY_LIVE.call().set("scope", scope.as_str())).await?;
        guard.judge(affected, live, accepted).map_err(Error::Guarded)?;
    }
    Ok(())
}

/// Returns the earlier response to the request, if any, where it is to be looked up. A dry run is set to be rolled back.
pub(super) async fn open<T: DeserializeOwned>(
    tx: &mut Tx,
    mode: RequestMode<'_>,
) -> Result<Option<T>, Error> {
    Ok(open_seeded(tx, mode, None).await?.map(|(answer, _)| answer))
}

/// As [`open`], and returns the seed of the request's first opening, from which ids of created items are derived.
pub(super) async fn open_seeded<T: DeserializeOwned>(
    tx: &mut Tx,
    mode: RequestMode<'_>,
    seed: Option<&str>,
) -> Result<Option<(T, Option<String>)>, Error> {
    let Some(named @ (request, hash, by)) = mode.named() else {
        tx.abandon();
        return Ok(None);
    };
    tx.changes.by = Some(by.to_owned());
    tx.changes.seed = seed.map(str::to_owned);
    if !tx.looks_up {
        tx.may_be_repeat = hash.is_some();
        return Ok(None);
    }
    let row = look_up(tx, named, seed).await?;
    let answer = row.answer.as_deref().map(serde_json::from_str).transpose().map_err(|why| {
        Error::Conflict(format!(
            "the request id (Idempotency-Key) {request} was answered, in a form that this version cannot read ({why}); \
             what it writes was written"
        ))
    })?;
    tx.changes.is_repeated = answer.is_some();
    Ok(answer.map(|answer| (answer, row.seed)))
}

/// Record of a request.
#[derive(Deserialize)]
struct RequestRow {
    hash: Option<String>,
    answer: Option<String>,
    seed: Option<String>,
}

/// Locks a request and reads its record, which is made if there is none.
async fn look_up(
    tx: &mut Tx,
    (request, hash, by): (&str, Option<&str>, &str),
    seed: Option<&str>,
) -> Result<RequestRow, Error> {
    let open = REQUEST_OPEN.call().set("id", request).set("hash", hash).set("by", by).set("seed", seed);
    let row: RequestRow = tx.only(open).await?;
    if row.hash.as_deref() != hash && !row.hash.as_deref().is_some_and(is_unversioned) {
        return Err(Error::Conflict(format!(
            "the request id (Idempotency-Key) {request} was used for another request; choose a new one"
        )));
    }
    Ok(row)
}

/// Whether a hash is of Ebb 0.1, whose input cannot be reproduced: a retry across the upgrade is identified by its id
/// alone. Such requests are gone a day later.
fn is_unversioned(hash: &str) -> bool {
    hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A response as it is recorded.
pub(super) fn response<T: Serialize>(answer: &T) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}

/// Sets the response to a request, which is recorded at the end of the transaction.
pub(super) fn answer<T: Serialize>(tx: &mut Tx, mode: RequestMode<'_>, answer: &T) {
    let (seed, unlearned) = (tx.changes.seed.take(), tx.changes.unlearned.take());
    let receipt = mode.receipt(seed, &response(answer)).map(|receipt| Receipt { unlearned, ..receipt });
    tx.changes.receipts.extend(receipt);
}

/// Locks memories that must all exist, in the order of their keys. One of another library does not.
async fn lock_all<'k>(
    tx: &mut Tx,
    keys: &'k [MemoryKey],
) -> Result<Vec<(&'k MemoryKey, Result<Life, String>)>, Error> {
    let mut wanted: Vec<(&MemoryKey, Option<&str>)> = keys.iter().map(|key| (key, None)).collect();
    wanted.sort();
    wanted.dedup();
    let mut found: Vec<_> = lock(tx, &wanted).await?;
    found.retain(|(_, locked)| !locked.is_foreign);
    wanted
        .into_iter()
        .map(|(key, _)| match found.iter().position(|(found, _)| *found == key) {
            Some(at) => Ok((key, found.swap_remove(at).1.life)),
            None => Err(Error::NotFound { what: "memory", id: key.to_string() }),
        })
        .collect()
}

/// Locks memories that must all exist and be valid.
pub(super) async fn lock_sound<'k>(
    tx: &mut Tx,
    keys: &'k [MemoryKey],
) -> Result<Vec<(&'k MemoryKey, Life)>, Error> {
    let sound = |(key, life): (&'k MemoryKey, Result<Life, String>)| match life {
        Ok(life) => Ok((key, life)),
        Err(reason) => Err(Error::Quarantined { id: format!("memory {key}"), reason }),
    };
    lock_all(tx, keys).await?.into_iter().map(sound).collect()
}
