//! Trails: places and edges of the palace, what is left there, and how cycles are counted.
//!
//! What an agent leaves is worked out in Rust on places and edges that the transaction has locked (`palace`); what a
//! pass takes of all of them runs in Cypher (`evaporate`). Queries (`queries`) are answered as of a cycle, from stored
//! values by the law, so that a pass that did not run cannot show a trail stronger than it is.
//!
//! # Design notes
//! Cycles are counted from 1970 on unless somebody changes the counter, so that a replay of long ago counts as well as the
//! present does, and a cycle begins where an hour does. No tick writes anything. Of the counter a deposit changes nothing
//! but, once, since when there is something to evaporate.

pub(super) mod cycle;
mod palace;
mod queries;
mod rows;

pub use cycle::Counter;
pub use palace::{TraceEffect, TraceOutcome};
pub use queries::{CheapestPath, Hot, NextPlace, TrailStatus, WalkedEdge};
pub use rows::{TrailEdge, TrailNode, TrailPlace};

pub(super) use cycle::{counter, hold, turn};
pub(super) use palace::{succeed, trace};

use super::Store;
use super::error::Error;
use super::request::{RequestMode, answer, open};
use super::tx::{Mode, Tx};
use crate::domain::event::Trace;
use crate::domain::trail::Allowed;
use crate::domain::units::Timestamp;

impl Store {
    /// The labels and relationship types that carry pheromones.
    #[must_use]
    pub fn allowed(&self) -> &Allowed {
        &self.trails.allowed
    }

    /// Lets happen in the palace what did, in order, all or none, once under a request id, or as a dry run.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a place or an edge that does not exist; [`Error::Conflict`] for an id that several places
    /// have, or a request id that was used for other words; [`Error::Quarantined`] for what no law can use.
    pub async fn trace(&self, mode: RequestMode<'_>, traces: &[Trace]) -> Result<Vec<TraceEffect>, Error> {
        self.transactions
            .retry_on_unique_conflict("trail.trace", async |tx: &mut Tx| {
                if let Some(done) = open(tx, mode).await? {
                    return Ok(done);
                }
                let done = match trace(tx, &self.trails, traces).await? {
                    TraceOutcome::Written(done) => done,
                    TraceOutcome::Rejected(mut faults) => return Err(faults.swap_remove(0).why),
                };
                answer(tx, mode, &done).await?;
                Ok(done)
            })
            .await
    }

    /// How cycles are counted, and to which one trails were brought.
    ///
    /// # Errors
    /// [`Error::Conflict`] for a counter that somebody made unusable.
    pub async fn cycles(&self) -> Result<Counter, Error> {
        self.transactions
            .run("trail.cycle", Mode::Read, async |tx: &mut Tx| counter(tx, &self.trails).await)
            .await
    }

    /// Adds cycles by hand, once under a request id, or as a dry run; answers the one it is at `now` then.
    pub async fn advance_cycle(
        &self,
        mode: RequestMode<'_>,
        cycles: u32,
        now: Timestamp,
    ) -> Result<i64, Error> {
        self.transactions
            .run("trail.advance", Mode::Write, async |tx: &mut Tx| {
                if let Some(cycle) = open(tx, mode).await? {
                    return Ok(cycle);
                }
                let mut counter = hold(tx, &self.trails).await?;
                counter.cycles.advances = counter.cycles.advances.saturating_add(i64::from(cycles));
                turn(tx, &counter).await?;
                let cycle = counter.cycles.at(now);
                answer(tx, mode, &cycle).await?;
                Ok(cycle)
            })
            .await
    }

    /// Makes the counter of cycles if there is none. Where the configuration says another length than it has, cycles are
    /// of that length from `now` on, and the count goes on.
    pub async fn ensure_cycle(&self, now: Timestamp) -> Result<(), Error> {
        self.transactions
            .run("trail.ensure", Mode::Write, async |tx: &mut Tx| {
                let counter = hold(tx, &self.trails).await?;
                let cycles = counter.cycles.of_length(self.trails.cycle_ms, now);
                if cycles != counter.cycles {
                    turn(tx, &Counter { cycles, ..counter }).await?;
                }
                Ok(())
            })
            .await
    }
}
