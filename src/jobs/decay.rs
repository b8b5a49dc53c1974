//! Brings the energy of every due memory to now; a working one that fell below the threshold expires.
//!
//! Energy is a function of time, so the sweep changes no value that anybody would compute: it refreshes what people see
//! in the graph and dates expiry. A memory that a moving index hid from a page is still due and met by the next run.
//!
//! # Design notes
//! The page begins at the documented batch size and doubles while a transaction stays under half a second, up to
//! 10,000 rows, beyond which nothing is gained; it is halved when one takes over two seconds or too much memory. A
//! person who browses the graph meanwhile waits for one page at most.
//!
//! Invariant: a second run at the same instant changes nothing (held by `jobs::decay::twice_is_once`).

use super::{Reached, Work};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use crate::store::{Error, Store, SweepCursor, Tally};
use std::time::{Duration, Instant};

const PAGE_MAX: usize = 10_000;
const GROW_UNDER: Duration = Duration::from_millis(500);
const SHRINK_OVER: Duration = Duration::from_secs(2);

/// Sweeps all that is due at the run's `now`.
///
/// # Errors
/// Of the store.
pub async fn run(mut work: Work<'_>) -> Result<Reached, Error> {
    work.adopt().await?;
    let mut cursor = SweepCursor::default();
    let mut page = work.tunables.decay_batch();
    loop {
        let limit = work.budget.page(page);
        let begun = Instant::now();
        match work.store.sweep(work.run, work.tunables, &mut cursor, limit).await {
            Ok(scanned) if scanned < limit => return Ok(Reached::End),
            Ok(scanned) => work.budget.spend(scanned),
            Err(why) if why.is_too_big() && page > 1 => {
                page = (page / 2).max(1);
                continue;
            }
            Err(why) => return Err(why),
        }
        if work.budget.is_spent() {
            return Ok(Reached::Budget);
        }
        let took = begun.elapsed();
        if took < GROW_UNDER {
            page = (page * 2).min(PAGE_MAX);
        } else if took > SHRINK_OVER {
            page = (page / 2).max(1);
        }
    }
}

/// What a run at `now` would do, up to `limit` rows.
///
/// # Errors
/// Of the store.
pub async fn rehearse(
    store: &Store,
    tunables: &Tunables,
    now: Timestamp,
    limit: Option<u64>,
) -> Result<Tally, Error> {
    let mut all = Tally::default();
    let mut cursor = SweepCursor::default();
    let mut left = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    loop {
        let wanted = left.min(PAGE_MAX);
        let page = store.rehearse_sweep(now, tunables, &mut cursor, wanted).await?;
        all += page;
        let scanned = usize::try_from(page.scanned).unwrap_or(0);
        left = left.saturating_sub(scanned);
        if scanned < wanted || left == 0 {
            return Ok(all);
        }
    }
}
