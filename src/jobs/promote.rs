//! Raises ripe memories one tier, in claims of the documented batch size, each claim through an attempt.
//!
//! One tier a pass: a memory whose energy is still above the next threshold is ripe again at once, and the claim after
//! takes it, or the next run.
//!
//! Invariant: a memory is promoted once (held by `jobs::promote::fifty_workers_one_promotion`).
//! Invariant: a second run at the same instant changes nothing (held by `jobs::promote::twice_is_once`).

use super::{Reached, Work};
use crate::domain::units::Timestamp;
use crate::store::{Error, Store, Tally};

/// Promotes all that is ripe at the run's `now`.
///
/// # Errors
/// Of the store.
pub async fn run(mut work: Work<'_>) -> Result<Reached, Error> {
    work.adopt().await?;
    let claim = work.tunables.promotion_batch();
    let now = work.run.now;
    while work.store.backlog().await?.ripe.is_some_and(|ripe| ripe <= now) {
        if work.budget.is_spent() {
            return Ok(Reached::Budget);
        }
        let limit = work.budget.page(claim);
        let Some(claimed) = work.store.claim(work.run, "promote", limit).await? else { break };
        let tally = work.store.apply(work.run, &claimed, work.tunables).await?;
        work.budget.spend(usize::try_from(claimed.claimed).unwrap_or(usize::MAX));
        // Nothing looked at is an attempt whose lost commit has landed; looked at in vain would be so for ever.
        if tally.scanned > 0 && tally.promoted + tally.quarantined == 0 {
            break;
        }
    }
    Ok(Reached::End)
}

/// How many memories a run at `now` would raise one tier: all that are ripe, `limit` at most.
///
/// # Errors
/// Of the store.
pub async fn rehearse(store: &Store, now: Timestamp, limit: Option<u64>) -> Result<Tally, Error> {
    let ripe = store
        .waiting(now)
        .await?
        .ripe
        .min(limit.map_or(i64::MAX, |limit| limit.try_into().unwrap_or(i64::MAX)));
    Ok(Tally { scanned: ripe, changed: ripe, promoted: ripe, ..Tally::default() })
}
