//! Looks through everything once a day for what no other job would find: what other writers left half done, and rows
//! that somebody has mended.
//!
//! Every other job looks only at what waits for it. That is fast, and blind to a memory whose date was removed by hand, an
//! access that was drawn and deleted between two looks, or a member of a cluster that another writer's statement let
//! expire. The audit takes foreign memories and facts under the laws, releases quarantined rows where their values are
//! sound now, sets dates anew, lets sessions and clusters be looked at where they could be wrong, and frees claims. Last
//! it removes what Ebb recorded for itself and nobody needs any more: requests after a day, runs and attempts after 30.
//!
//! Invariant: a second run changes nothing (held by `jobs::audit::twice_is_once`).

use super::{Completion, DAY_MS, Job, Work, pages, reap};
use crate::domain::attempt::Right;
use crate::domain::ids::MemoryKey;
use crate::store::{Error, PageMode, Run, Store};

pub(super) const JOB: Job = Job {
    name: "audit",
    about: "Scan all rows for damage that no other job finds, and repair it",
    // Its own times are in the configuration; a day is what it is made for.
    interval_ms: |_| DAY_MS,
    waits_since: |_| None,
    left: |_| 0,
    run: |work| Box::pin(run(work)),
};

/// Memories of one transaction.
const PAGE: usize = 1_000;

/// Looks through everything.
async fn run(mut work: Work<'_>) -> Result<Completion, Error> {
    work.adopt().await?;
    work.adopt_facts().await?;
    if !work.run.is_dry() {
        reap::run(work.store, Right::Lease).await?;
    }
    match work.store.release(work.run, Some(work.tunables)).await {
        Err(why) if why.is_of_data() => {
            work.store.release(work.run, None).await?;
            work.adopt().await?;
            work.adopt_facts().await?;
        }
        released => drop(released?),
    }
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
        work.store.trim(work.run, work.page(PAGE)).await?;
        return Ok(Completion::End);
    }
    work.store.find_accesses(work.run).await?;
    work.store.suspect_all(work.run, work.tunables.config().coactivation_threshold).await?;
    while work.store.trim(work.run, PAGE).await? {
        if work.budget.is_spent() {
            return Ok(Completion::Budget);
        }
    }
    Ok(Completion::End)
}
