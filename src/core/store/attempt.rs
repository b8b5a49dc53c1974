//! Consolidation attempts: memories claimed, promoted, released; each step one transaction.
//!
//! A claim locks a memory before it reads it, so two programs never hold the same one. The transaction that applies an
//! attempt begins with its guard and ends with its receipt, the state `done`: a holder that is too late finds no row.
//! The unique key of a stub prevents a second promotion in any case.

use super::Store;
use super::catalogue::{
    ATTEMPT_CLAIM, ATTEMPT_FINISH, ATTEMPT_GUARD, ATTEMPT_OPEN, ATTEMPT_OVERDUE, MEMORY_RISEN, MEMORY_STUB,
};
use super::claim::resolve;
use super::encode::{list, slices};
use super::error::Error;
use super::faults::stop_point;
use super::journal::PROMOTION;
use super::memory::{bytes, keyed, lock, quarantine, write};
use super::run::Run;
use super::tally::Tally;
use super::tx::Tx;
use crate::domain::attempt::AttemptState;
use crate::domain::ids::{MemoryKey, promotion_key, stub_id};
use crate::domain::journal::{RowLabel, RowName};
use crate::domain::memory::{self, MemoryState};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, Ordering};

/// An attempt with the number of its memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptClaim {
    pub attempt: String,
    /// Number of its memories.
    pub claimed: i64,
}

/// A promotion of a memory: its state before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct Promotion {
    pub key: MemoryKey,
    pub before: MemoryState,
    /// State after the promotion.
    pub after: MemoryState,
}

/// Writes promotions of memories that this transaction has locked, each with its stub, and returns those written. A
/// promotion that exists already, since the memory was moved back by hand, is not repeated: the memory is quarantined.
pub(super) async fn promote(
    tx: &mut Tx,
    promotions: Vec<Promotion>,
    at: Timestamp,
) -> Result<Vec<Promotion>, Error> {
    let raised = write_promotions(tx, promotions).await?;
    create_stubs(tx, &raised, at).await?;
    for (Promotion { key, before, after }, stub) in &raised {
        let reason = format!("its energy in {} rose above the threshold of {}", before.tier, after.tier);
        let rows = vec![RowName::memory(key), RowName::new(RowLabel::Memory, key.scope(), stub)];
        tx.track(PROMOTION, reason, rows);
    }
    Ok(raised.into_iter().map(|(promotion, _)| promotion).collect())
}

/// A promotion with the id of its stub.
type PromotionWithStub = (Promotion, String);

/// Writes the states, and returns the promotions with stubs to create in the same transaction. The id of a stub is
/// derived from its key, so another writer can compute it and use it for a memory: then the stub gets a random id.
async fn write_promotions(tx: &mut Tx, promotions: Vec<Promotion>) -> Result<Vec<PromotionWithStub>, Error> {
    #[derive(Deserialize)]
    struct Risen {
        at: usize,
        risen: bool,
        taken: bool,
    }
    let (mut risen, mut taken) = (BTreeSet::new(), BTreeSet::new());
    for slice in slices(&MEMORY_RISEN, &promotions, |p| bytes(&p.key) + 50) {
        let keys: Vec<String> = slice.iter().map(|p| promotion_key(&p.key, p.after.tier)).collect();
        let call = MEMORY_RISEN
            .call()
            .set("scope", list(slice.iter().map(|p| p.key.scope())))
            .set("stub", list(keys.iter().map(|key| stub_id(key))))
            .set("key", list(keys.iter().map(String::as_str)));
        for row in tx.rows::<Risen>(call).await? {
            let Some(promotion) = slice.get(row.at) else { continue };
            if row.risen {
                risen.insert(promotion.key.clone());
            } else if row.taken {
                taken.insert(promotion.key.clone());
            }
        }
    }
    let (before, promotions): (Vec<_>, Vec<_>) = promotions.into_iter().partition(|p| risen.contains(&p.key));
    let reason = |p: &Promotion| format!("it was promoted to {} before and then moved back", p.after.tier);
    let before: Vec<(&MemoryKey, String)> = before.iter().map(|p| (&p.key, reason(p))).collect();
    quarantine(tx, &before).await?;
    let lives: Vec<(&MemoryKey, MemoryState)> = promotions.iter().map(|p| (&p.key, p.after)).collect();
    // A promotion revives none.
    write(tx, &lives, false).await?;
    let raised = |p: Promotion| {
        let id = if taken.contains(&p.key) {
            crate::clock::new_id()
        } else {
            stub_id(&promotion_key(&p.key, p.after.tier))
        };
        (p, id)
    };
    Ok(promotions.into_iter().map(raised).collect())
}

/// Creates the stubs of promotions.
async fn create_stubs<'r>(tx: &mut Tx, raised: &'r [PromotionWithStub], at: Timestamp) -> Result<(), Error> {
    let archived = |(p, id): &'r PromotionWithStub| Some((p, id.as_str(), p.before.tier.archived()?.name()));
    let create_stubs: Vec<(&Promotion, &str, &'static str)> = raised.iter().filter_map(archived).collect();
    for slice in slices(&MEMORY_STUB, &create_stubs, |(p, id, _)| 2 * bytes(&p.key) + id.len() + 80) {
        let each = || slice.iter().map(|(p, ..)| *p);
        let call = keyed(MEMORY_STUB.call(), each().map(|p| &p.key))
            .set("stub", list(slice.iter().map(|(_, id, _)| *id)))
            .set("key", list(each().map(|p| promotion_key(&p.key, p.after.tier))))
            .set("archived", list(slice.iter().map(|(.., archived)| *archived)))
            .set("energy", list(each().map(|p| p.after.energy.value())))
            .set("at", at.millis());
        tx.run(call).await?;
    }
    Ok(())
}

impl Store {
    /// Opens an attempt and claims up to `limit` ripe memories for it, as a batch of `run`. `None` if there was nothing
    /// to claim; the attempt is then aborted in the same transaction.
    pub async fn claim(
        &self,
        run: &mut Run,
        phase: &str,
        limit: usize,
    ) -> Result<Option<AttemptClaim>, Error> {
        let attempt = crate::clock::new_id();
        let now = run.now;
        let claimed = AtomicI64::new(0);
        stop_point!("before_claim");
        self.in_run(run, "attempt.claim", async |tx: &mut Tx| {
            tx.attempt = Some(attempt.clone());
            if let Some(before) = self.open_attempt(tx, &attempt, phase, now).await? {
                // The commit of this claim was reported as lost but succeeded.
                claimed.store(before, Ordering::Relaxed);
                return Ok(Tally::default());
            }
            let (all, passed_over) = self.claim_ripe(tx, &attempt, now, limit).await?;
            if all == 0 {
                finish(tx, &attempt, AttemptState::Aborted, 0).await?;
            }
            claimed.store(all, Ordering::Relaxed);
            Ok(Tally { skipped: passed_over, ..Tally::default() })
        })
        .await?;
        stop_point!("after_claim");
        let claimed = claimed.into_inner();
        Ok((claimed > 0).then_some(AttemptClaim { attempt, claimed }))
    }

    /// Claims up to `limit` ripe memories for an open attempt. Returns how many, and how many were passed over.
    async fn claim_ripe(
        &self,
        tx: &mut Tx,
        attempt: &str,
        now: Timestamp,
        limit: usize,
    ) -> Result<(i64, i64), Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Row {
            claimed: i64,
            passed_over: i64,
        }
        let wanted = i64::try_from(limit).unwrap_or(i64::MAX);
        let (mut claimed, mut passed_over) = (0, 0);
        loop {
            let call = ATTEMPT_CLAIM
                .call()
                .set("id", attempt)
                .set("holder", self.holder.as_str())
                .set("now", now.millis())
                .set("limit", wanted - claimed)
                .set("leaseMs", self.lease_ms());
            let row: Row = tx.only(call).await?;
            claimed += row.claimed;
            passed_over += row.passed_over;
            // Claims that another program committed while this one waited for the lock are visible now, and skipped.
            if row.passed_over == 0 || claimed >= wanted {
                return Ok((claimed, passed_over));
            }
        }
    }

    /// Promotes up to `limit` ripe memories in one transaction, as a batch of a plan: what one transaction claims and
    /// rolls back, the next could not promote. A memory that is ripe again is promoted again, as by a run. Returns the
    /// number of promotions.
    pub async fn plan_promotions(
        &self,
        run: &mut Run,
        limit: usize,
        tunables: &Tunables,
    ) -> Result<usize, Error> {
        let now = run.now;
        let body = async |tx: &mut Tx| {
            let (mut tally, mut all) = (Tally::default(), 0);
            loop {
                let attempt = crate::clock::new_id();
                self.open_attempt(tx, &attempt, "promote", now).await?;
                let (claimed, _) = self.claim_ripe(tx, &attempt, now, limit - all).await?;
                tally += self.apply_claim(tx, &AttemptClaim { attempt, claimed }, now, tunables).await?;
                all += usize::try_from(claimed).unwrap_or(0);
                if claimed == 0 || all >= limit {
                    return Ok((tally, all));
                }
            }
        };
        Ok(self.in_run(run, "attempt.plan", body).await?.1)
    }

    /// Promotes the memories of an attempt, as a batch of `run`, and ends the attempt with its receipt.
    ///
    /// # Errors
    /// [`Error::Fenced`] if run or attempt was lost: nothing is written then.
    pub async fn apply(
        &self,
        run: &mut Run,
        claimed: &AttemptClaim,
        tunables: &Tunables,
    ) -> Result<Tally, Error> {
        let now = run.now;
        self.in_run(run, "attempt.apply", async |tx: &mut Tx| {
            tx.attempt = Some(claimed.attempt.clone());
            self.apply_claim(tx, claimed, now, tunables).await
        })
        .await
    }

    async fn apply_claim(
        &self,
        tx: &mut Tx,
        claimed: &AttemptClaim,
        now: Timestamp,
        tunables: &Tunables,
    ) -> Result<Tally, Error> {
        let held = self.guard_attempt(tx, claimed).await?;
        if held.state == AttemptState::Done.name() {
            return Ok(Tally::default());
        }
        let keys = held.keys();
        let wanted: Vec<(&MemoryKey, Option<&str>)> = keys.iter().map(|key| (key, None)).collect();
        let mut tally = Tally::default();
        let (mut promotions, mut faults) = (Vec::new(), Vec::new());
        let locked = lock(tx, &wanted).await?;
        let contested = locked.iter().filter(|(_, locked)| locked.claims.len() > 1);
        let contested: Vec<&MemoryKey> = contested.map(|(key, _)| *key).collect();
        let lost = resolve(tx, &contested).await?;
        for (key, locked) in locked {
            tally.scanned += 1;
            if lost.iter().any(|(memory, loser)| *memory == key && *loser == claimed.attempt) {
                tally.conflicts += 1;
                tally.skipped += 1;
                continue;
            }
            match locked.life {
                Err(fault) => faults.push((key, fault)),
                Ok(life) => match memory::promoted(life.state, now, tunables) {
                    Ok(after) => promotions.push(Promotion { key: key.clone(), before: life.state, after }),
                    Err(_) => tally.skipped += 1,
                },
            }
        }
        quarantine(tx, &faults).await?;
        let promoted = promote(tx, promotions, now).await?;
        let promoted = i64::try_from(promoted.len()).unwrap_or(i64::MAX);
        finish(tx, &claimed.attempt, AttemptState::Done, promoted).await?;
        tally.changed = promoted;
        tally.promoted = promoted;
        tally.quarantined = tally.scanned - tally.skipped - promoted;
        Ok(tally)
    }

    /// Aborts an attempt that failed, as a batch of `run`: its memories are ripe as before, and those that caused the
    /// failure are quarantined. Returns their number.
    pub async fn abort_attempt(
        &self,
        run: &mut Run,
        claimed: &AttemptClaim,
        failed: Option<&Error>,
    ) -> Result<usize, Error> {
        let tally = self
            .in_run(run, "attempt.abort_attempt", async |tx: &mut Tx| {
                tx.attempt = Some(claimed.attempt.clone());
                let held = self.guard_attempt(tx, claimed).await?;
                if held.state == AttemptState::Done.name() {
                    return Ok(Tally::default());
                }
                let keys = held.keys();
                let reasons = failed.into_iter().flat_map(|why| {
                    let reason = why.quarantine_reason();
                    keys.iter().map(move |key| (key, reason.clone()))
                });
                let faults: Vec<(&MemoryKey, String)> = reasons.collect();
                quarantine(tx, &faults).await?;
                finish(tx, &claimed.attempt, AttemptState::Aborted, 0).await?;
                let quarantined = i64::try_from(faults.len()).unwrap_or(i64::MAX);
                Ok(Tally { scanned: quarantined, quarantined, ..Tally::default() })
            })
            .await?;
        Ok(usize::try_from(tally.quarantined).unwrap_or(0))
    }

    /// Locks an attempt of this program, and returns its claimed memories.
    async fn guard_attempt(&self, tx: &mut Tx, claimed: &AttemptClaim) -> Result<ClaimedMemories, Error> {
        let guard = ATTEMPT_GUARD
            .call()
            .set("id", claimed.attempt.as_str())
            .set("holder", self.holder.as_str())
            .set("leaseMs", self.lease_ms());
        tx.row(guard).await?.ok_or_else(|| {
            Error::Fenced(format!(
                "attempt {} is over: its lease ran out and it was reaped; nothing was written. \
                 The memories are ready for promotion as before",
                claimed.attempt
            ))
        })
    }

    /// Opens an attempt; if it exists already, returns its claimed memories.
    pub(super) async fn open_attempt(
        &self,
        tx: &mut Tx,
        id: &str,
        phase: &str,
        at: Timestamp,
    ) -> Result<Option<i64>, Error> {
        #[derive(Deserialize)]
        struct Row {
            state: String,
            claimed: i64,
        }
        let call = ATTEMPT_OPEN
            .call()
            .set("id", id)
            .set("phase", phase)
            .set("holder", self.holder.as_str())
            .set("at", at.millis())
            .set("leaseMs", self.lease_ms());
        let row: Row = tx.only(call).await?;
        Ok((row.state != AttemptState::Planned.name()).then_some(row.claimed))
    }
}

/// The memories of an attempt.
#[derive(Deserialize)]
struct ClaimedMemories {
    state: String,
    scopes: Vec<String>,
    ids: Vec<String>,
}

impl ClaimedMemories {
    /// The memories in lock order.
    fn keys(&self) -> Vec<MemoryKey> {
        let named = self.scopes.iter().zip(&self.ids);
        let mut keys: Vec<MemoryKey> = named.map(|(scope, id)| MemoryKey::of_row(scope, id)).collect();
        keys.sort();
        keys
    }
}

/// An attempt in progress.
#[derive(Deserialize)]
pub(super) struct Open {
    pub(super) id: String,
    /// Whether its lease has expired.
    pub(super) overdue: bool,
}

/// Attempts in progress, oldest first, at most a hundred.
pub(super) async fn not_over(tx: &mut Tx) -> Result<Vec<Open>, Error> {
    tx.rows(ATTEMPT_OVERDUE.call().set("limit", 100_i64)).await
}

/// Ends an attempt with its receipt.
pub(super) async fn finish(tx: &mut Tx, id: &str, state: AttemptState, applied: i64) -> Result<(), Error> {
    #[derive(Deserialize)]
    struct EndedSession {}
    let call = ATTEMPT_FINISH.call().set("id", id).set("state", state.name()).set("applied", applied);
    match tx.row::<EndedSession>(call).await? {
        Some(_) => Ok(()),
        None => Err(Error::Fenced(format!("attempt {id} is over; nothing was written"))),
    }
}
