//! Rows with timestamps in the future, written by a process with a wrong clock. A law changes nothing before its
//! anchor, so such a row would stay unchanged for as long as the clock was wrong. In the same way a session would wait
//! to be counted, and a job to run again: no job is due before its last run.

use super::Store;
use super::catalogue::{
    COACTIVATION_REWIND, FACT_REWIND, MEMORY_REWIND, RELATION_REWIND, RUN_REWIND, SERVER_FUTURE_ROWS,
    SESSION_REWIND, SESSION_REWIND_ACCESSES, TRAIL_REWIND_EDGES, TRAIL_REWIND_PLACES,
};
use super::error::Error;
use super::statement::Call;
use super::tx::{Mode, Tx};
use crate::clock::SKEW_MAX;
use crate::domain::units::Timestamp;
use serde::Deserialize;

/// Rows of one transaction.
const PAGE: i64 = 5_000;

/// A lease is always shorter than a day.
const LEASE_MS_MAX: i64 = 24 * 3_600_000;

/// Counts of rows with timestamps in the future.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FutureRows {
    pub memories: i64,
    pub relations: i64,
    pub facts: i64,
    pub places: i64,
    pub edges: i64,
    pub sessions: i64,
    pub accesses: i64,
    /// Pairs of coactivated memories.
    pub pairs: i64,
    /// Rows of jobs, mirrors and leases in the ledger.
    pub ledger: i64,
    /// Examples, by id or key.
    pub named: Vec<String>,
}

impl Store {
    /// Counts the rows with timestamps further ahead of `now` than the tolerated clock difference.
    pub async fn future_rows(&self, now: Timestamp) -> Result<FutureRows, Error> {
        let (allowed, cycle) = (&self.trails.allowed, self.cycles().await?.cycles.at(latest(now)));
        let lease = self.latest_lease().await?;
        let call = SERVER_FUTURE_ROWS.about(allowed.labels(), allowed.types());
        let call = call.set("latest", latest(now).millis()).set("lease", lease);
        self.read_one(call.set("cycle", cycle)).await
    }

    /// Sets their timestamps to `now` and leaves their values. Returns the number of changed rows.
    pub async fn rewind(&self, now: Timestamp) -> Result<i64, Error> {
        let cycles = self.cycles().await?.cycles;
        // A cycle that begins within the tolerated clock difference is valid.
        let cycle = cycles.at(latest(now));
        let dated = [
            &MEMORY_REWIND,
            &RELATION_REWIND,
            &FACT_REWIND,
            &SESSION_REWIND,
            &SESSION_REWIND_ACCESSES,
            &COACTIVATION_REWIND,
            &RUN_REWIND,
        ];
        let lease = self.latest_lease().await?;
        let dated = dated.map(|statement| {
            let call = statement.call().set("now", now.millis()).set("latest", latest(now).millis());
            call.set("lease", lease).set("cycle", cycle)
        });
        let allowed = &self.trails.allowed;
        let places = allowed.labels().chunks(1).map(|label| TRAIL_REWIND_PLACES.about(label, &[]));
        let edges = allowed.types().chunks(1).map(|of| TRAIL_REWIND_EDGES.about(&[], of));
        let trails = places.chain(edges).map(|call| call.set("cycle", cycle));
        let mut all = 0;
        for call in dated.into_iter().chain(trails) {
            all += self.rewind_all(&call.set("limit", PAGE)).await?;
        }
        Ok(all)
    }

    /// Latest valid end of a lease. Where time is simulated, leases use another clock than all else, and none is
    /// checked.
    async fn latest_lease(&self) -> Result<i64, Error> {
        let present = self.present().await?;
        Ok(present.scratch.map_or(present.server.millis().saturating_add(LEASE_MS_MAX), |_| i64::MAX))
    }

    async fn rewind_all(&self, call: &Call) -> Result<i64, Error> {
        let mut all = 0;
        loop {
            let rewound = self
                .transactions
                .run("rows.rewind", Mode::Write, async |tx: &mut Tx| {
                    let rewound: i64 = tx.only(call.clone()).await?;
                    if rewound > 0 {
                        tx.touch_everything();
                    }
                    Ok(rewound)
                })
                .await?;
            all += rewound;
            if rewound < PAGE {
                return Ok(all);
            }
        }
    }
}

/// Latest valid timestamp within the tolerated clock difference.
fn latest(now: Timestamp) -> Timestamp {
    now.after(SKEW_MAX.as_secs_f64() * 1_000.0)
}
