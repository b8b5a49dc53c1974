//! Reaping of attempts: ended after their lease, adopted if another writer made them, and resolved if two hold one
//! memory.
//!
//! Every worker reaps at each tick, so nothing waits for a crashed program, and a repeat is safe. Only reap ends an
//! attempt with an expired lease, by the server's clock.

use super::Store;
use super::attempt::{Open, finish, not_over};
use super::catalogue::{ATTEMPT_ADOPT, ATTEMPT_HELD, ATTEMPT_LIST, ATTEMPT_MARKS, ATTEMPT_REAP};
use super::claim::{resolve, unmark};
use super::error::Error;
use super::tx::{Mode, Tx};
use crate::domain::attempt::{AttemptState, FOREIGN_LEASE_MS, Right};
use crate::domain::ids::MemoryKey;
use crate::domain::units::{Timestamp, maybe_millis};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Most claims checked in one pass; the others are left to the next.
const MARKS: i64 = 1_000;

/// Counts of one pass over attempts and claims.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ReapReport {
    /// Attempts ended because their lease expired.
    pub expired: i64,
    /// Attempts of other writers that were given a lease.
    pub adopted: i64,
    /// Claims removed because a memory had two: the earlier attempt kept it.
    pub conflicts: i64,
    /// Invalid claims removed: of nodes other than attempts, or of ended attempts.
    pub strays: i64,
}

/// A consolidation attempt: its holder, and the memories it claims for promotion.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Attempt {
    /// Id of the attempt.
    pub id: String,
    /// Kind of work.
    pub phase: Option<String>,
    /// State of the attempt: planned, claimed, done, aborted or expired.
    pub state: String,
    /// Holder of the attempt.
    pub holder: Option<String>,
    /// Program that created it.
    pub instance: Option<String>,
    /// Start of the attempt.
    #[serde(deserialize_with = "maybe_millis")]
    pub started: Option<Timestamp>,
    /// Rest of its lease, milliseconds; negative after its end.
    #[serde(rename(deserialize = "leaseLeft"))]
    pub lease_left_ms: Option<i64>,
    /// Memories claimed.
    pub claimed: i64,
    /// Memories promoted.
    pub applied: i64,
    /// Memories lost to another attempt.
    pub conflicts: i64,
    /// Memories held now.
    pub holds: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MarkRow {
    mark: String,
    scope: Option<String>,
    memory: Option<String>,
    attempt: String,
    is_attempt: bool,
    known: bool,
    terminal: bool,
    several: bool,
}

impl Store {
    /// Checks every attempt and claim, and ends, adopts, resolves and removes as needed; by the right of a scratch
    /// database's holder, also ends attempts whose lease has not expired.
    pub async fn reap(&self, right: Right) -> Result<ReapReport, Error> {
        let (open, marks) = self
            .leases
            .run_once("attempt.look", Mode::Read, async |tx: &mut Tx| {
                let marks: Vec<MarkRow> = tx.rows(ATTEMPT_MARKS.call().set("limit", MARKS)).await?;
                Ok((not_over(tx).await?, marks))
            })
            .await?;
        let mut reaped = ReapReport::default();
        for Open { id, overdue } in open {
            if overdue || right == Right::Scratch {
                reaped.expired += self.end_overdue(&id, right).await?;
            }
        }
        let foreign: BTreeSet<&str> = marks
            .iter()
            .filter(|mark| mark.is_attempt && !mark.known && !mark.terminal)
            .map(|mark| mark.attempt.as_str())
            .collect();
        for attempt in foreign {
            reaped.adopted += self.adopt_attempt(attempt).await?;
        }
        let stray: Vec<&str> = marks
            .iter()
            .filter(|mark| !mark.is_attempt || mark.terminal)
            .map(|mark| mark.mark.as_str())
            .collect();
        if !stray.is_empty() {
            reaped.strays += self
                .leases
                .run("attempt.unmark", Mode::Write, async |tx: &mut Tx| unmark(tx, &stray, false).await)
                .await?;
        }
        let several = marks.iter().filter(|mark| mark.several);
        let contested: BTreeSet<MemoryKey> = several
            .filter_map(|mark| Some(MemoryKey::of_row(mark.scope.as_deref()?, mark.memory.as_deref()?)))
            .collect();
        if !contested.is_empty() {
            let contested: Vec<&MemoryKey> = contested.iter().collect();
            let lost = self
                .leases
                .run("attempt.resolve", Mode::Write, async |tx: &mut Tx| resolve(tx, &contested).await)
                .await?;
            reaped.conflicts += i64::try_from(lost.len()).unwrap_or(i64::MAX);
        }
        Ok(reaped)
    }

    async fn end_overdue(&self, id: &str, right: Right) -> Result<i64, Error> {
        #[derive(Deserialize)]
        struct Row {
            reaped: i64,
        }
        let work = self.leases.run("attempt.reap", Mode::Write, async |tx: &mut Tx| {
            let call = ATTEMPT_REAP
                .call()
                .set("id", id)
                .set("holder", self.holder.as_str())
                .set("anyLease", right == Right::Scratch);
            let row = tx.row::<Row>(call).await?;
            if row.is_none() {
                // Removes the lock's property also from an attempt that was renewed meanwhile.
                tx.abandon();
            }
            Ok(row.map_or(0, |row| row.reaped))
        });
        self.evicting(&[&ATTEMPT_REAP], Box::pin(work)).await
    }

    async fn adopt_attempt(&self, element: &str) -> Result<i64, Error> {
        self.leases
            .run("attempt.adopt", Mode::Write, async |tx: &mut Tx| {
                let call = ATTEMPT_ADOPT
                    .call()
                    .set("attempt", element)
                    .set("id", crate::clock::new_id())
                    .set("leaseMs", FOREIGN_LEASE_MS);
                Ok(tx.row(call).await?.unwrap_or(0))
            })
            .await
    }

    /// Lists attempts, open ones first; with `open` these alone.
    pub async fn attempts(&self, open: bool, limit: u32) -> Result<Vec<Attempt>, Error> {
        let call =
            ATTEMPT_LIST.call().set("id", None::<&str>).set("open", open).set("limit", i64::from(limit));
        self.read(call).await
    }

    /// One attempt, with the memories it holds, by id and tier, a thousand at most.
    pub async fn attempt(&self, id: &str) -> Result<(Attempt, Vec<(String, String)>), Error> {
        #[derive(Deserialize)]
        struct Row {
            id: Option<String>,
            tier: Option<String>,
        }
        self.transactions
            .run("attempt.show", Mode::Read, async |tx: &mut Tx| {
                let call = ATTEMPT_LIST.call().set("id", id).set("open", false).set("limit", 1_i64);
                let Some(attempt) = tx.row::<Attempt>(call).await? else {
                    return Err(Error::NotFound { what: "attempt", id: id.to_owned() });
                };
                let held: Vec<Row> = tx.rows(ATTEMPT_HELD.call().set("id", id).set("limit", MARKS)).await?;
                let held = held.into_iter().map(|row| {
                    (row.id.unwrap_or_default(), row.tier.unwrap_or_else(|| "no tier".to_owned()))
                });
                Ok((attempt, held.collect()))
            })
            .await
    }

    /// Ends an attempt of any holder, and releases its memories. Returns whether it was open.
    pub async fn release_attempt(&self, id: &str) -> Result<bool, Error> {
        let (attempt, _) = self.attempt(id).await?;
        if attempt.state == "foreign" {
            // Its claims make reap adopt it, which gives it a state; an attempt without claims holds nothing.
            self.reap(Right::Lease).await?;
        }
        let released = self
            .transactions
            .run("attempt.release", Mode::Write, async |tx: &mut Tx| {
                finish(tx, id, AttemptState::Aborted, 0).await
            })
            .await;
        match released {
            Ok(()) => Ok(true),
            Err(Error::Fenced(_)) => Ok(false),
            Err(why) => Err(why),
        }
    }
}
