//! When a write is followed by a trim of bookkeeping whose time is over (see `retention`): one write in 256 by a small one,
//! one in 4,096 by one that looks at runs, attempts and sweeps as well.

use crate::clock::jitter;
use crate::domain::retention::Retention;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Write transactions from one small trim to the next, and from one that looks at the ledger to the next.
const EVERY: u64 = 256;
const LEDGER_EVERY: u64 = 16 * EVERY;

/// What is due after a write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Due {
    #[default]
    Nothing,
    Small,
    Ledger,
}

/// Counts the writes of a program.
#[derive(Debug)]
pub(super) struct Pace {
    kept: Retention,
    writes: AtomicU64,
    due: Mutex<Due>,
}

impl Pace {
    pub(super) fn new(kept: Retention) -> Self {
        let lot = jitter(Duration::from_millis(LEDGER_EVERY - 1)).as_millis();
        Self { kept, writes: AtomicU64::new(u64::try_from(lot).unwrap_or(0)), due: Mutex::default() }
    }

    pub(super) const fn kept(&self) -> &Retention {
        &self.kept
    }

    /// Counts a write that was committed; a dry run is none.
    pub(super) fn committed(&self) {
        let due = match self.writes.fetch_add(1, Ordering::Relaxed) + 1 {
            _ if !self.kept.paced => return,
            n if n.is_multiple_of(LEDGER_EVERY) => Due::Ledger,
            n if n.is_multiple_of(EVERY) => Due::Small,
            _ => return,
        };
        *self.lock() = due;
    }

    /// What is due now, for whoever does it.
    pub(super) fn take(&self) -> Due {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Due> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: Retention = Retention {
        requests: Duration::from_secs(86_400),
        runs: Duration::from_secs(30 * 86_400),
        sessions: Duration::from_secs(90 * 86_400),
        decayed_facts: None,
        tombstones: None,
        paced: true,
    };

    fn after_one_more(pace: &Pace) -> Due {
        pace.committed();
        pace.take()
    }

    #[test]
    fn of_4096_writes_whatever_the_first_16_trim_and_one_of_them_the_ledger() {
        for _ in 0..20 {
            let pace = Pace::new(KEPT);
            let due: Vec<Due> = (0..LEDGER_EVERY).map(|_| after_one_more(&pace)).collect();
            assert_eq!(due.iter().filter(|due| **due == Due::Small).count(), 15);
            assert_eq!(due.iter().filter(|due| **due == Due::Ledger).count(), 1);
        }
        let never = Pace::new(Retention { paced: false, ..KEPT });
        assert!((0..LEDGER_EVERY).all(|_| after_one_more(&never) == Due::Nothing));
    }
}
