//! Requested writes: each is applied once under its request id, or is a dry run.
//!
//! A caller without a response sends its request again. So the request's node is locked first; if it has a response,
//! that is returned, else the work is done and the response recorded in the same transaction. Requests are kept for 24
//! hours, and those with a waiting outcome until that is learned.
//!
//! A dry run does the same work with the same statements and is then rolled back: its response is that of a real run.

use super::Store;
use super::catalogue::{MEMORY_FORGET, MEMORY_LIVE, REQUEST_ANSWER, REQUEST_OPEN};
use super::decode::Life;
use super::error::Error;
use super::memory::{Record, lock, read, refused, tombstone_hash, write};
use super::memory_list::{self, Filter, MemoryOrder};
use super::session::EndedSession;
use super::synapse::forget_learned;
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
    /// Done and rolled back.
    DryRun,
}

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
                    answer(tx, mode, &()).await?;
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
                answer(tx, mode, &done).await?;
                Ok(done)
            })
            .await
    }

    /// Deletes memories of a scope that fulfil conditions, as [`Store::forget`] does, at most [`FORGET_MAX`] of `all`. The guard
    /// judges all of them. One that fulfils them no longer when it is locked stays.
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
                judge(tx, scope, all, guard).await?;
                let found = memory_list::page(tx, scope.as_str(), listed, "", FORGET_MAX).await?.keys;
                let wanted: Vec<(&MemoryKey, Option<&str>)> = found.iter().map(|key| (key, None)).collect();
                let locked: BTreeSet<&MemoryKey> =
                    lock(tx, &wanted).await?.into_iter().map(|(key, _)| key).collect();
                let mut keys = memory_list::page(tx, scope.as_str(), listed, "", FORGET_MAX).await?.keys;
                keys.retain(|key| locked.contains(key));
                let done = self.delete(tx, &keys, now).await?;
                let done = Deletion { left: all.saturating_sub(done.memories).max(0), ..done };
                answer(tx, mode, &done).await?;
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
                        answer(tx, mode, &ended).await?;
                        return Ok((ended, None));
                    }
                    (rest, RequestMode::Once { .. }) => return Ok((ended, rest)),
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

/// Locks the request until commit, and returns its earlier response, if any. A dry run is set to be rolled back.
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
    #[derive(Deserialize)]
    struct Row {
        hash: Option<String>,
        answer: Option<String>,
        seed: Option<String>,
    }
    let RequestMode::Once { request, hash, by } = mode else {
        tx.abandon();
        return Ok(None);
    };
    tx.changes.by = Some(by.to_owned());
    let open = REQUEST_OPEN.call().set("id", request).set("hash", hash).set("by", by).set("seed", seed);
    let row: Row = tx.only(open).await?;
    if row.hash.as_deref() != Some(hash) && !row.hash.is_some_and(|hash| is_unversioned(&hash)) {
        return Err(Error::Conflict(format!(
            "the request id {request} was used for another request; choose a new one"
        )));
    }
    let answer = row.answer.as_deref().and_then(|answer| serde_json::from_str(answer).ok());
    tx.changes.is_repeated = answer.is_some();
    Ok(answer.map(|answer| (answer, row.seed)))
}

/// Whether a hash is of Ebb 0.1, whose input cannot be reproduced: a retry across the upgrade is identified by its id
/// alone. Such requests are gone a day later.
fn is_unversioned(hash: &str) -> bool {
    hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Records the response to a request.
pub(super) async fn answer<T: Serialize>(
    tx: &mut Tx,
    mode: RequestMode<'_>,
    answer: &T,
) -> Result<(), Error> {
    let RequestMode::Once { request, .. } = mode else { return Ok(()) };
    let answer = serde_json::to_string(answer).unwrap_or_default();
    tx.run(REQUEST_ANSWER.call().set("id", request).set("answer", answer)).await
}

/// Locks memories that must all exist, in the order of their keys.
async fn lock_all<'k>(
    tx: &mut Tx,
    keys: &'k [MemoryKey],
) -> Result<Vec<(&'k MemoryKey, Result<Life, String>)>, Error> {
    let mut wanted: Vec<(&MemoryKey, Option<&str>)> = keys.iter().map(|key| (key, None)).collect();
    wanted.sort();
    wanted.dedup();
    let mut found: Vec<_> = lock(tx, &wanted).await?;
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
