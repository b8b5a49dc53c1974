//! Ends attempts whose lease has expired and frees the memories they held; gives those of foreign writers a lease;
//! separates attempts that hold the same memory.
//!
//! Runs at every tick and before every claim, and needs no ledger: ending an attempt twice has no further effect. Only
//! this ends an expired lease, by the server's clock.

use crate::domain::attempt::Right;
use crate::store::{Error, ReapReport, Store};
use tracing::info;

/// Reaps, and returns the counts.
pub async fn run(store: &Store, right: Right) -> Result<ReapReport, Error> {
    let reaped = store.reap(right).await?;
    if reaped != ReapReport::default() {
        let ReapReport { expired, adopted, conflicts, strays } = reaped;
        info!(expired, adopted, conflicts, strays, "reaped");
    }
    Ok(reaped)
}
