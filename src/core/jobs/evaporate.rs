//! Evaporates the pheromones of places and edges to the present cycle, and computes the costs of edges.
//!
//! The present value of a pheromone is a function of the cycles since its anchor, so the pass changes no value that
//! would be computed: it refreshes the stored values, which people see in the graph, and removes values near zero from
//! the index by which it finds its work. It runs in each cycle and acts when `decay_interval_cycles` have passed since
//! it last did, or when forced. Changes of other writers are found on the way, by a check of every place and edge.
//!
//! Invariant: a second run in the same cycle changes no bit (held by `jobs::evaporate::twice_is_once`).
//! Invariant: one run after a pause leaves what the runs that were missed would have (held by
//! `jobs::evaporate::one_catch_up_is_all_that_were_missed`).

use super::{Completion, HOUR_MS, Job, Work, pages};
use crate::store::{Error, PageMode, Run, Store};

pub(super) static JOB: Job = Job {
    name: "evaporate",
    about: "Evaporate trail pheromones by the cycles that have passed",
    // The default length of a cycle is an hour.
    interval_ms: |_| HOUR_MS,
    waits_since: |backlog| backlog.evaporate,
    left: |_| 0,
    run: |work| Box::pin(run(work)),
};

const PAGE_FIRST: usize = 1_000;

/// Evaporates everything to the cycle of the run's `now`, if it is due.
async fn run(mut work: Work<'_>) -> Result<Completion, Error> {
    let store = work.store;
    let counter = store.cycles().await?;
    let cycle = counter.cycles.at(work.run.now);
    if !work.forced && !store.evaporates(&counter, cycle) {
        return Ok(Completion::End);
    }
    for kind in &store.trail_kinds().await? {
        if work.budget.is_spent() {
            return Ok(Completion::Budget);
        }
        // A dry run takes its pages back, so it adopts all labels on one: a place of two is one.
        let kinds = if work.run.is_dry() { vec![kind.clone()] } else { kind.each() };
        for one in &kinds {
            let adopted = pages::until_short(&mut work, PAGE_FIRST, async |store, run, page_mode| {
                store.adopt_trails(run, one, cycle, page_mode).await
            });
            if adopted.await? == Completion::Budget {
                return Ok(Completion::Budget);
            }
        }
        // What was adopted has the present cycle: nothing of it evaporates.
        let mut page = async |store: &Store, run: &mut Run, page_mode: PageMode<'_>| {
            store.evaporate(run, kind, cycle, page_mode).await
        };
        if work.run.is_dry() {
            let limit = work.page(PAGE_FIRST);
            let (rows, limit) = pages::one(&mut work, limit, &mut page).await?;
            work.run.cap_if(rows >= limit);
            work.budget.spend(rows);
        } else if pages::each(&mut work, PAGE_FIRST, page).await? == Completion::Budget {
            return Ok(Completion::Budget);
        }
    }
    store.evaporated(work.run, cycle).await?;
    Ok(Completion::End)
}
