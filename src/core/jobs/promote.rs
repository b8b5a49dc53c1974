//! Promotes ripe memories by one tier, each claim through an attempt. The first has the documented batch size; as long as many
//! are ripe, claims grow like the pages of other jobs.
//!
//! One tier a pass: a memory whose energy is above the next threshold too is ripe again at once, and is taken by the
//! next claim or the next run.
//!
//! Invariant: a memory is promoted once (held by `jobs::promote::fifty_workers_one_promotion`).
//! Invariant: a second run at the same instant changes nothing (held by `jobs::promote::twice_is_once`).

use super::{Completion, DRY_RUN_ROWS, Job, Work, pages};
use crate::domain::tunables::Tunables;
use crate::store::{Error, PageMode, Run, Store};
use std::cell::Cell;
use std::time::Instant;

pub(super) static JOB: Job = Job {
    name: "promote",
    about: "Promote by one tier the memories that are ready for it, each through an attempt",
    interval_ms: Tunables::promotion_interval_ms,
    waits_since: |backlog| backlog.ripe,
    left: |waiting| waiting.ripe,
    run: |work| Box::pin(run(work)),
};

/// Promotes all memories ripe at the run's `now`.
async fn run(mut work: Work<'_>) -> Result<Completion, Error> {
    let tunables = work.tunables;
    if work.run.only_counts() {
        // All at once: a claim that is rolled back would find the same memories again.
        let adopts = work.inputs.memories.waiting() > 0;
        let most = i64::try_from(work.budget.page(usize::MAX)).unwrap_or(i64::MAX);
        let mut page = async |store: &Store, run: &mut Run, page_mode: PageMode<'_>| {
            store.count_promotions(run, tunables, (adopts, most), page_mode).await
        };
        pages::one(&mut work, DRY_RUN_ROWS, &mut page).await?;
        return Ok(Completion::End);
    }
    if work.adopt().await? == Completion::Budget {
        return Ok(Completion::Budget);
    }
    if work.run.is_dry() {
        let limit = work.budget.page(DRY_RUN_ROWS);
        let mut page = async |store: &Store, run: &mut Run, page_mode: PageMode<'_>| match page_mode {
            PageMode::Rows(limit) => store.plan_promotions(run, limit, tunables).await,
            PageMode::Quarantine(_) => Ok(0),
        };
        let (claimed, limit) = pages::one(&mut work, limit, &mut page).await?;
        return Ok(if claimed < limit { Completion::End } else { Completion::Budget });
    }
    let mut size = work.tunables.promotion_batch();
    let now = work.run.now;
    let (mut failed, in_vain) = (None, Cell::new(false));
    let mut page = async |store: &Store, run: &mut Run, page_mode: PageMode<'_>| {
        let limit = match (page_mode, failed.take()) {
            (PageMode::Rows(limit), _) => limit,
            (PageMode::Quarantine(why), Some(claimed)) => {
                return store.abort_attempt(run, &claimed, Some(why)).await;
            }
            (PageMode::Quarantine(_), None) => return Ok(0),
        };
        let Some(claimed) = store.claim(run, "promote", limit).await? else { return Ok(0) };
        let rows = usize::try_from(claimed.claimed).unwrap_or(usize::MAX);
        match store.apply(run, &claimed, tunables).await {
            Ok(tally) => {
                // Zero rows scanned means that a lost commit of the attempt took effect; rows scanned without progress
                // would repeat forever.
                in_vain.set(tally.scanned > 0 && tally.promoted + tally.quarantined == 0);
                Ok(rows)
            }
            Err(why) => {
                if limit > 1 && (why.is_of_data() || why.is_too_big()) {
                    store.abort_attempt(run, &claimed, None).await?;
                } else {
                    failed = Some(claimed);
                }
                Err(why)
            }
        }
    };
    while work.store.is_any_ripe(now).await? {
        if work.budget.is_spent() {
            return Ok(Completion::Budget);
        }
        let (limit, begun) = (work.budget.page(size), Instant::now());
        let (claimed, limit) = pages::one(&mut work, limit, &mut page).await?;
        work.budget.spend(claimed);
        if claimed == 0 || in_vain.get() {
            break;
        }
        size = pages::next_size(limit, begun.elapsed());
    }
    Ok(Completion::End)
}
