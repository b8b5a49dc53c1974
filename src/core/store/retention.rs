//! Retention: trims expired bookkeeping beside writes.
//!
//! Every write leaves a request and a word of what changed, every run and attempt a row. So writers remove some: one
//! write transaction in 256 is followed by a small one that removes up to 1,024 each of the requests and changes whose time
//! is over, found by an index; one in 4,096 by one that looks at runs, attempts and sweeps as well. That is four times what is
//! written meanwhile, so nothing grows for ever, whether there is a worker or not; one write in 256 waits for it, two seconds
//! at most. The daily audit removes all that is left, and what only a look at everything finds.
//!
//! # Design notes
//! Not in the transaction of the write: two writers would meet at the oldest rows and wait for each other. The count begins by
//! lot, since a program of the command line writes once and is gone. A trim that fails or meets another is dropped: there is a
//! next one.

use super::audit::{trim_all, trim_page};
use super::tx::{Mode, Transactions, Tx};
use crate::clock::jitter;
use crate::domain::retention::Retention;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing::debug;

/// Write transactions from one small trim to the next, and from one that looks at the ledger to the next.
const EVERY: u64 = 256;
const LEDGER_EVERY: u64 = 16 * EVERY;
/// Rows of each kind that one removes: four times what is written meanwhile.
const ROWS: usize = 1_024;
/// How long a write may be held up by it.
const LIMIT: Duration = Duration::from_secs(2);

/// What is due after a write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Due {
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
    fn take(&self) -> Due {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Due> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transactions {
    /// Removes something where it is its turn.
    pub(super) async fn trim_in_turn(&self) {
        let due = self.pace.take();
        if due == Due::Nothing {
            return;
        }
        let kept = *self.pace.kept();
        let trim = self.run_once("ledger.trim.small", Mode::Write, async |tx: &mut Tx| match due {
            Due::Ledger => trim_all(tx, &kept, ROWS).await,
            _ => trim_page(tx, &kept, ROWS).await,
        });
        let trimmed = tokio::time::timeout(LIMIT, trim).await;
        debug!(?trimmed, "trimmed");
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
