//! Schedule of trims: decides which write is followed by the removal of expired records (see `retention`). One write in
//! 256 removes requests and changes, one in 4,096 also runs, attempts and sweeps.

use crate::clock::jitter;
use crate::domain::retention::Retention;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Write transactions from one trim of requests to the next, and from one trim of the ledger to the next.
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

    /// Counts a committed write; a dry run does not count.
    pub(super) fn count_write(&self) {
        let due = match self.writes.fetch_add(1, Ordering::Relaxed) + 1 {
            _ if !self.kept.paced => return,
            n if n.is_multiple_of(LEDGER_EVERY) => TrimDue::Ledger,
            n if n.is_multiple_of(EVERY) => TrimDue::Requests,
            _ => return,
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
        trims.count_write();
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
        let never = TrimSchedule::new(Retention { paced: false, ..KEPT });
        assert!((0..LEDGER_EVERY).all(|_| after_one_more(&never) == TrimDue::Nothing));
    }
}
