//! Checks everything once a day for what no other job would find: unfinished changes of other writers, and corrected
//! rows.
//!
//! Every other job reads only the rows that wait for it. That is fast, but misses a memory whose date was removed, an
//! access that was created and deleted between two runs, or a member of a cluster that another writer's statement let
//! expire. The audit adopts foreign memories and facts, releases quarantined rows whose values are valid now, sets
//! dates again, marks sessions and clusters that could be wrong as waiting, and frees claims. Finally it deletes
//! expired records of Ebb's own: requests after a day, runs and attempts after 30.
//!
//! Invariant: a second run changes nothing (held by `jobs::audit::twice_is_once`).

use super::{Completion, DAY_MS, DRY_RUN_ROWS, Job, Work, pages, reap};
use crate::domain::attempt::Right;
use crate::domain::ids::MemoryKey;
use crate::store::{Error, PageMode, Run, Store, TrimCursor};

pub(super) static JOB: Job = Job {
    name: "audit",
    about: "Scan all rows for damage that no other job finds, and repair it",
    // Its schedule is in the configuration; it is designed for one run a day.
    interval_ms: |_| DAY_MS,
    waits_since: |_| None,
    left: |_| 0,
    run: |work| Box::pin(run(work)),
};

/// Memories of one transaction.
const PAGE: usize = 1_000;

/// Checks everything.
async fn run(mut work: Work<'_>) -> Result<Completion, Error> {
    work.adopt_all().await?;
    work.adopt_all_facts().await?;
    // A dry run frees no claims, and so does not count attempts that are removed once they have none.
    if !work.run.is_dry() {
        work.adopt_entities().await?;
        reap::run(work.store, Right::Lease).await?;
    }
    release(&mut work).await?;
    let mut after = MemoryKey::FIRST;
    let mut page = async |store: &Store, run: &mut Run, page_mode: PageMode<'_>| {
        store.audit(run, &mut after, page_mode).await
    };
    loop {
        if work.budget.is_spent() {
            return Ok(Completion::Budget);
        }
        let limit = work.budget.page(PAGE);
        let (scanned, limit) = pages::one(&mut work, limit, &mut page).await?;
        work.budget.spend(limit);
        if scanned < limit {
            break;
        }
    }
    if work.run.is_dry() {
        // The limit in rows is that of memories.
        let more = work.store.trim(work.run, DRY_RUN_ROWS, &mut TrimCursor::default()).await?;
        return Ok(if more { Completion::Budget } else { Completion::End });
    }
    work.store.find_accesses(work.run).await?;
    work.store.suspect_all(work.run, work.tunables.config().coactivation_threshold).await?;
    let mut cursor = TrimCursor::default();
    while work.store.trim(work.run, PAGE, &mut cursor).await? {
        if work.budget.is_spent() {
            return Ok(Completion::Budget);
        }
    }
    Ok(Completion::End)
}

/// Releases quarantined rows whose values are valid by now, page after page.
async fn release(work: &mut Work<'_>) -> Result<(), Error> {
    let (mut after, mut unchecked) = (None, false);
    loop {
        after = match work.store.release(work.run, Some(work.tunables), after).await {
            Err(why) if why.is_of_data() => {
                unchecked = true;
                work.store.release(work.run, None, after).await?
            }
            page => page?,
        };
        // A dry run takes its page back, so that the next one would be the same.
        if after.is_none() || work.budget.is_spent() || work.run.is_dry() {
            break;
        }
    }
    if unchecked {
        work.adopt_all().await?;
        work.adopt_all_facts().await?;
    }
    Ok(())
}
