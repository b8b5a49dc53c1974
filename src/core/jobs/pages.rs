//! Pages of a job over ordered rows: as large as a transaction allows, and without rows on which a statement fails.
//!
//! # Design notes
//! A page doubles while a transaction takes less than half a second, up to 10,000 rows, beyond which nothing is gained;
//! it is halved when one takes over two seconds or too much memory. So other users of the graph wait for one page at
//! most.
//!
//! A statement that fails on data fails as a whole and names no row. Its page is also halved, down to the single row on
//! which it fails; that row is quarantined with the server's message, and the job continues after it. The server ends a
//! transaction at its first failure, so the row is quarantined by another one; where a page is defined by a cursor and
//! not by its rows, a writer that moves the row in between causes the next one to be quarantined. `ebb doctor --fix`
//! releases it.
//!
//! More than a hundred such rows in one run are not the fault of rows: the run fails with the message, so that a fault
//! of the whole database does not quarantine everything.

use super::{Completion, DRY_RUN_ROWS, Work};
use crate::store::{Error, PageMode, Run, Store};
use std::time::{Duration, Instant};
use tracing::warn;

const PAGE_MAX: usize = 10_000;
const GROW_UNDER: Duration = Duration::from_millis(500);
const SHRINK_OVER: Duration = Duration::from_secs(2);
/// Greatest number of rows that one run quarantines because a statement failed on them.
const QUARANTINED_MAX: u32 = 100;

/// The reaction to a failed page.
enum Next {
    Halve,
    Quarantine,
}

/// Decides what to do after a page of this size failed.
fn next(work: &mut Work<'_>, why: Error, size: usize) -> Result<(Next, Error), Error> {
    if size > 1 && (why.is_too_big() || why.is_of_data()) {
        return Ok((Next::Halve, why));
    }
    if !why.is_of_data() || work.quarantined == QUARANTINED_MAX {
        return Err(why);
    }
    work.quarantined += 1;
    warn!(%why, "quarantining the row on which a statement failed");
    Ok((Next::Quarantine, why))
}

/// Processes page after page, the first of `first` rows, until one is short or the budget is spent. `page` gets the
/// rows to take and returns how many it had.
pub(super) async fn each(
    work: &mut Work<'_>,
    first: usize,
    mut page: impl AsyncFnMut(&Store, &mut Run, PageMode<'_>) -> Result<usize, Error>,
) -> Result<Completion, Error> {
    let mut size = first;
    loop {
        let limit = work.budget.page(size);
        let begun = Instant::now();
        let (scanned, limit) = one(work, limit, &mut page).await?;
        if scanned < limit {
            return Ok(Completion::End);
        }
        work.budget.spend(scanned);
        if work.budget.is_spent() {
            return Ok(Completion::Budget);
        }
        size = next_size(limit, begun.elapsed());
    }
}

/// Rows of the page after one of so many, which took so long.
pub(super) fn next_size(rows: usize, took: Duration) -> usize {
    if took < GROW_UNDER {
        (rows * 2).min(PAGE_MAX)
    } else if took > SHRINK_OVER {
        (rows / 2).max(1)
    } else {
        rows
    }
}

/// Processes page after page, the first of `first` rows, until one is short or the budget is spent: for adoption, whose
/// rows are not part of the limit in rows.
pub(super) async fn until_short(
    work: &mut Work<'_>,
    first: usize,
    mut page: impl AsyncFnMut(&Store, &mut Run, PageMode<'_>) -> Result<usize, Error>,
) -> Result<Completion, Error> {
    // A dry run takes its rows back, so that they would be on the next page again.
    let mut size = if work.run.is_dry() { DRY_RUN_ROWS } else { first };
    loop {
        let begun = Instant::now();
        let (rows, limit) = one(work, size, &mut page).await?;
        work.run.cap_if(rows >= limit);
        if rows < limit || work.run.is_dry() {
            return Ok(Completion::End);
        }
        if work.budget.is_spent() {
            return Ok(Completion::Budget);
        }
        size = next_size(limit, begun.elapsed());
    }
}

/// Processes one page of up to `limit` rows: of fewer if it fails on so many, and if it fails on a single row,
/// quarantines that. Returns how many rows the page had, and its final size.
pub(super) async fn one(
    work: &mut Work<'_>,
    mut limit: usize,
    page: &mut impl AsyncFnMut(&Store, &mut Run, PageMode<'_>) -> Result<usize, Error>,
) -> Result<(usize, usize), Error> {
    loop {
        let why = match page(work.store, work.run, PageMode::Rows(limit)).await {
            Ok(scanned) => return Ok((scanned, limit)),
            Err(why) => why,
        };
        match next(work, why, limit)? {
            (Next::Halve, _) => limit /= 2,
            (Next::Quarantine, why) => {
                return match page(work.store, work.run, PageMode::Quarantine(&why)).await? {
                    // No row causes the failure.
                    0 => Err(why),
                    rows => Ok((rows, limit)),
                };
            }
        }
    }
}

/// Processes named items, all at once or in halves if that fails, and quarantines items on which it fails alone: `act`
/// gets the items and, if it is to quarantine the only one, the reason.
pub(super) async fn items<T>(
    work: &mut Work<'_>,
    items: &[T],
    mut act: impl AsyncFnMut(&mut Work<'_>, &[T], Option<&Error>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut waiting = vec![items];
    while let Some(page) = waiting.pop() {
        let Err(why) = act(work, page, None).await else { continue };
        match next(work, why, page.len())? {
            (Next::Halve, _) => {
                let (one, other) = page.split_at(page.len() / 2);
                waiting.extend([other, one]);
            }
            (Next::Quarantine, why) => act(work, page, Some(&why)).await?,
        }
    }
    Ok(())
}
