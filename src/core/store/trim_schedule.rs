//! Schedule of trims: decides which transaction is followed by the removal of expired records (see `retention`). After 256
//! writes one removes requests and changes, after 4,096 also runs, attempts and sweeps.

use crate::clock::jitter;
use crate::domain::retention::Retention;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Writes from one trim of requests to the next, and from one trim of the ledger to the next.
const EVERY: u64 = 256;
const LEDGER_EVERY: u64 = 16 * EVERY;

/// Trim due after a write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum TrimDue {
    #[default]
    Nothing,
    Requests,
    Ledger,
}

/// Counts the writes of a program.
#[derive(Debug)]
pub(super) struct TrimSchedule {
    kept: Retention,
    writes: AtomicU64,
    due: Mutex<TrimDue>,
}

impl TrimSchedule {
    pub(super) fn new(kept: Retention) -> Self {
        let lot = jitter(Duration::from_millis(LEDGER_EVERY - 1)).as_millis();
        Self { kept, writes: AtomicU64::new(u64::try_from(lot).unwrap_or(0)), due: Mutex::default() }
    }

    pub(super) const fn retention(&self) -> &Retention {
        &self.kept
    }

    /// Counts the writes of a committed transaction; a dry run does not count.
    pub(super) fn count(&self, writes: u64) {
        let before = self.writes.fetch_add(writes, Ordering::Relaxed);
        let passes = |every: u64| before / every < (before + writes) / every;
        let due = match () {
            () if !self.kept.paced => return,
            () if passes(LEDGER_EVERY) => TrimDue::Ledger,
            () if passes(EVERY) => TrimDue::Requests,
            () => return,
        };
        *self.lock() = due;
    }

    /// Returns what is due now, for the caller to do.
    pub(super) fn take_due(&self) -> TrimDue {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, TrimDue> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: Retention = Retention {
        requests: Duration::from_secs(86_400),
        journal: Duration::from_secs(7 * 86_400),
        runs: Duration::from_secs(30 * 86_400),
        sessions: Duration::from_secs(90 * 86_400),
        decayed_facts: None,
        tombstones: None,
        paced: true,
    };

    fn after_one_more(trims: &TrimSchedule) -> TrimDue {
        trims.count(1);
        trims.take_due()
    }

    #[test]
    fn of_4096_writes_whatever_the_first_16_trim_and_one_of_them_the_ledger() {
        for _ in 0..20 {
            let trims = TrimSchedule::new(KEPT);
            let due: Vec<TrimDue> = (0..LEDGER_EVERY).map(|_| after_one_more(&trims)).collect();
            assert_eq!(due.iter().filter(|due| **due == TrimDue::Requests).count(), 15);
            assert_eq!(due.iter().filter(|due| **due == TrimDue::Ledger).count(), 1);
        }
        // A transaction of many requests counts as many.
        let trims = TrimSchedule::new(KEPT);
        let due: Vec<TrimDue> =
            (0..LEDGER_EVERY / 64).map(|_| (trims.count(64), trims.take_due()).1).collect();
        assert_eq!(due.iter().filter(|due| **due != TrimDue::Nothing).count(), 16);
        let never = TrimSchedule::new(Retention { paced: false, ..KEPT });
        assert!((0..LEDGER_EVERY).all(|_| after_one_more(&never) == TrimDue::Nothing));
    }
}
