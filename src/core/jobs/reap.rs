//! Ends attempts whose lease is over and frees the memories they held; gives those of foreign writers a lease; parts
//! attempts that hold one memory.
//!
//! Runs at every tick and before every claim, and needs no ledger: ending an attempt twice is ending it once. Only this
//! ends a lease that ran out, by the server's clock.

use crate::domain::attempt::Right;
use crate::store::{Error, ReapReport, Store};
use tracing::info;

/// Reaps, and says what it did.
pub async fn run(store: &Store, right: Right) -> Result<ReapReport, Error> {
    let reaped = store.reap(right).await?;
    if reaped != ReapReport::default() {
        let ReapReport { expired, adopted, conflicts, strays } = reaped;
        info!(expired, adopted, conflicts, strays, "reaped");
    }
    Ok(reaped)
}
