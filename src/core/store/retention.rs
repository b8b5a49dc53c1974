//! Retention: removes expired bookkeeping after writes.
//!
//! Every write creates a row, which is a request and a change record, and so does every run and attempt. So writers remove
//! some: after 256 writes a transaction removes up to 1,024 each of the expired requests and changes, found by an
//! index; after 4,096 it also removes runs, attempts and sweeps. That is four times the number written meanwhile, so
//! nothing grows without bound, with or without a worker; one write in 256 waits for it, two seconds at most. The daily
//! audit removes the rest, and rows that only a scan finds.
//!
//! # Design notes
//! Not in the transaction of the write: two writers would lock the same oldest rows and wait for each other. The count
//! starts at a random number, since a command-line program writes once and exits. A failed trim is not retried: there
//! is a next one.

use super::audit::{trim_all, trim_page};
use super::trim_schedule::TrimDue;
use super::tx::{Mode, Transactions, Tx};
use std::time::Duration;
use tracing::debug;

/// Rows of each kind per trim: four times the number written meanwhile.
const ROWS: usize = 1_024;
/// Longest wait of a write for a trim.
const LIMIT: Duration = Duration::from_secs(2);

impl Transactions {
    /// Removes expired rows if a trim is due.
    pub(super) async fn trim_if_due(&self) {
        let due = self.trims.take_due();
        if due == TrimDue::Nothing {
            return;
        }
        let kept = *self.trims.retention();
        let trim = self.run_once("ledger.trim.small", Mode::Write, async |tx: &mut Tx| match due {
            TrimDue::Ledger => trim_all(tx, &kept, ROWS).await,
            _ => trim_page(tx, &kept, ROWS).await,
        });
        let trimmed = tokio::time::timeout(LIMIT, trim).await;
        debug!(?trimmed, "trimmed");
    }
}
