//! The counter of cycles, `(:EbbCounter {name: 'cycle'})`.

use crate::domain::trail::{Cycles, Trails};
use crate::domain::units::Timestamp;
use crate::store::catalogue::{TRAIL_CYCLE, TRAIL_HOLD, TRAIL_TURN};
use crate::store::error::Error;
use crate::store::tx::Tx;
use serde::Deserialize;

/// The counter of cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    /// Epoch, length, and advances by hand.
    pub cycles: Cycles,
    /// Cycle to which all trails were last evaporated, or of the first deposit; `None` while there is none.
    pub evaporated: Option<i64>,
}

impl Counter {
    /// Cycle of the next evaporation of all trails; `None` while there is none.
    #[must_use]
    pub const fn next(&self, trails: &Trails) -> Option<i64> {
        match self.evaporated {
            Some(last) => Some(last.saturating_add(trails.interval_cycles)),
            None => None,
        }
    }

    /// The counter of a database without one.
    const fn first(trails: &Trails) -> Self {
        let cycles = Cycles { epoch: Timestamp::EPOCH, length_ms: trails.cycle_ms, advances: 0 };
        Self { cycles, evaporated: None }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    epoch: Option<i64>,
    length_ms: Option<i64>,
    advances: Option<i64>,
    evaporated: Option<i64>,
}

impl Row {
    fn check(&self) -> Result<Counter, Error> {
        let epoch = self.epoch.and_then(|ms| Timestamp::from_millis(ms).ok());
        match (epoch, self.length_ms.filter(|ms| *ms > 0), self.advances) {
            (Some(epoch), Some(length_ms), Some(advances)) => {
                let cycles = Cycles { epoch, length_ms, advances };
                Ok(Counter { cycles, evaporated: self.evaporated })
            }
            _ => Err(Error::Conflict(
                "the counter of cycles, (:EbbCounter {name: 'cycle'}), has no usable epoch, lengthMs or advances. Correct it \
                 in Neo4j Browser, with the values of a backup. Do not delete it: the cycles would be counted anew, and \
                 trails may evaporate to 0"
                    .to_owned(),
            )),
        }
    }
}

/// Reads the counter.
pub(in crate::store) async fn counter(tx: &mut Tx, trails: &Trails) -> Result<Counter, Error> {
    match tx.row::<Row>(TRAIL_CYCLE.call()).await? {
        Some(row) => row.check(),
        None => Ok(Counter::first(trails)),
    }
}

/// Locks the counter, and creates it if there is none.
pub(in crate::store) async fn hold(tx: &mut Tx, trails: &Trails) -> Result<Counter, Error> {
    let first = Counter::first(trails).cycles;
    let call = TRAIL_HOLD.call().set("epoch", first.epoch.millis()).set("lengthMs", first.length_ms);
    tx.only::<Row>(call).await?.check()
}

/// Writes a counter that is locked.
pub(in crate::store) async fn turn(tx: &mut Tx, counter: &Counter) -> Result<(), Error> {
    let call = TRAIL_TURN
        .call()
        .set("epoch", counter.cycles.epoch.millis())
        .set("lengthMs", counter.cycles.length_ms)
        .set("advances", counter.cycles.advances)
        .set("evaporated", counter.evaporated);
    tx.run(call).await
}
