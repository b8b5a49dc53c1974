//! Writes down what every relation weighs now, always from its base, and takes those of other writers under the laws.
//!
//! A relation's weight is a function of time, so the pass changes nothing that anybody would compute: it refreshes what
//! people see in the graph, and counts what has fallen below the minimum. It is eager, since it is weekly and its counters
//! are what users read.
//!
//! Invariant: a second pass at the same instant changes nothing (held by `jobs::fade::twice_is_once`).
//! Invariant: four weekly passes leave what one leaves after 28 days (held by `jobs::fade::always_from_the_base`).

use super::{Reached, Work};
use crate::domain::units::Timestamp;
use crate::store::{Error, Store, Tally};
use std::time::{Duration, Instant};

const PAGE_FIRST: usize = 1_000;
const PAGE_MAX: usize = 10_000;
const GROW_UNDER: Duration = Duration::from_millis(500);
const SHRINK_OVER: Duration = Duration::from_secs(2);

/// Fades all relations at the run's `now`.
///
/// # Errors
/// Of the store.
pub async fn run(mut work: Work<'_>) -> Result<Reached, Error> {
    if !work.store.has_relations().await? {
        return Ok(Reached::End);
    }
    while work.store.adopt_relations(work.run, PAGE_FIRST).await? == PAGE_FIRST {
        if work.budget.is_spent() {
            return Ok(Reached::Budget);
        }
    }
    let mut after = String::new();
    let mut page = PAGE_FIRST;
    loop {
        let limit = work.budget.page(page);
        let begun = Instant::now();
        match work.store.fade(work.run, &after, limit).await {
            Ok((scanned, _)) if scanned < limit => return Ok(Reached::End),
            Ok((scanned, last)) => {
                after = last;
                work.budget.spend(scanned);
            }
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

/// What a pass at `now` would do, up to `limit` relations. Those of other writers are not among them.
///
/// # Errors
/// Of the store.
pub async fn rehearse(store: &Store, now: Timestamp, limit: Option<u64>) -> Result<Tally, Error> {
    let mut all = Tally::default();
    let mut after = String::new();
    let mut left = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    loop {
        let wanted = left.min(PAGE_MAX);
        let (page, last) = store.rehearse_fade(now, &after, wanted).await?;
        all += page;
        let scanned = usize::try_from(page.scanned).unwrap_or(0);
        left = left.saturating_sub(scanned);
        match last {
            Some(last) if scanned == wanted && left > 0 => after = last,
            _ => return Ok(all),
        }
    }
}
