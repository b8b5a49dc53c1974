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
use super::pace::Due;
use super::tx::{Mode, Transactions, Tx};
use std::time::Duration;
use tracing::debug;

/// Rows of each kind that one removes: four times what is written meanwhile.
const ROWS: usize = 1_024;
/// How long a write may be held up by it.
const LIMIT: Duration = Duration::from_secs(2);

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
