//! Trails: places and edges of the palace, their pheromones, and the counter of cycles.
//!
//! Deposits are computed in Rust on places and edges that the transaction has locked (`palace`); evaporation of all of
//! them runs in Cypher (`evaporate`). Queries (`queries`) compute values as of a cycle from stored values by the law,
//! so that a missed pass does not overstate a trail.
//!
//! # Design notes
//! Cycles are counted from 1970 on unless a person changes the counter, so that a replay of the past counts as well as
//! the present, and a cycle begins with an hour. A tick needs no write. A deposit changes the counter only once, to
//! record when evaporation is first needed.

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
    /// Labels and relationship types that carry pheromones.
    #[must_use]
    pub fn allowed(&self) -> &Allowed {
        &self.trails.allowed
    }

    /// Applies trail events in order, all or none, once under a request id, or as a dry run.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a place or an edge that does not exist; [`Error::Conflict`] for an id that several
    /// places have, or a request id that was used for other contents; [`Error::Quarantined`] for an invalid row.
    pub async fn trace(&self, mode: RequestMode<'_>, traces: &[Trace]) -> Result<Vec<TraceEffect>, Error> {
        let write = async |tx: &mut Tx, traces: &[Trace]| match trace(tx, &self.trails, traces).await? {
            TraceOutcome::Written(done) => Ok(done),
            TraceOutcome::Rejected(mut faults) => Err(faults.swap_remove(0).why),
        };
        self.write_items("trail.trace", &self.sharing.traces, mode, traces, write).await
    }

    /// State of the cycle counter, and the cycle of the last evaporation.
    ///
    /// # Errors
    /// [`Error::Conflict`] for an invalid counter.
    pub async fn cycles(&self) -> Result<Counter, Error> {
        self.transactions
            .run("trail.cycle", Mode::Read, async |tx: &mut Tx| counter(tx, &self.trails).await)
            .await
    }

    /// Adds cycles by hand, once under a request id, or as a dry run; returns the resulting cycle at `now`.
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
                answer(tx, mode, &cycle);
                Ok(cycle)
            })
            .await
    }

    /// Creates the counter of cycles if there is none. If the configured length of a cycle differs from its own, cycles
    /// have the new length from `now` on, and the count continues.
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
