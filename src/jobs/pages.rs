//! Pages of a job that goes through rows in an order of theirs: as large as a transaction bears.
//!
//! # Design notes
//! A page doubles while a transaction stays under half a second, up to 10,000 rows, beyond which nothing is gained; it is
//! halved when one takes over two seconds or too much memory. A person who browses the graph meanwhile waits for one page
//! at most.

use super::{Reached, Work};
use crate::store::{Error, Run, Store, Tally};
use std::time::{Duration, Instant};

const PAGE_MAX: usize = 10_000;
const GROW_UNDER: Duration = Duration::from_millis(500);
const SHRINK_OVER: Duration = Duration::from_secs(2);

/// Does page after page, the first of `first` rows, until one comes back short or the budget is spent. `page` is given how
/// many rows to take and answers how many it had.
pub(super) async fn each(
    work: &mut Work<'_>,
    first: usize,
    mut page: impl AsyncFnMut(&Store, &mut Run, usize) -> Result<usize, Error>,
) -> Result<Reached, Error> {
    let mut size = first;
    loop {
        let limit = work.budget.page(size);
        let begun = Instant::now();
        match page(work.store, work.run, limit).await {
            Ok(scanned) if scanned < limit => return Ok(Reached::End),
            Ok(scanned) => work.budget.spend(scanned),
            Err(why) if why.is_too_big() && size > 1 => {
                size = (size / 2).max(1);
                continue;
            }
            Err(why) => return Err(why),
        }
        if work.budget.is_spent() {
            return Ok(Reached::Budget);
        }
        let took = begun.elapsed();
        if took < GROW_UNDER {
            size = (size * 2).min(PAGE_MAX);
        } else if took > SHRINK_OVER {
            size = (size / 2).max(1);
        }
    }
}

/// Sums up what page after page would do, up to `limit` rows.
pub(super) async fn rehearse(
    limit: Option<u64>,
    mut page: impl AsyncFnMut(usize) -> Result<Tally, Error>,
) -> Result<Tally, Error> {
    let mut all = Tally::default();
    let mut left = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    loop {
        let wanted = left.min(PAGE_MAX);
        let tally = page(wanted).await?;
        all += tally;
        let scanned = usize::try_from(tally.scanned).unwrap_or(0);
        left = left.saturating_sub(scanned);
        if scanned < wanted || left == 0 {
            return Ok(all);
        }
    }
}
