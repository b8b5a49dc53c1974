//! Brings all that lies on places and edges to the present cycle, and works out what edges cost then.
//!
//! What is left of a pheromone is a function of the cycles since its anchor, so the pass changes nothing that anybody would
//! compute: it refreshes what people see in the graph, and lets what has fallen silent out of the index by which it finds
//! its work. It comes by each cycle and acts when `decay_interval_cycles` have passed since it last did, or when somebody
//! insists. What other writers left is found on the way, by a look at every place and edge.
//!
//! Invariant: a second run in the same cycle changes no bit (held by `jobs::evaporate::twice_is_once`).
//! Invariant: one run after a pause leaves what the runs that were missed would have (held by
//! `jobs::evaporate::one_catch_up_is_all_that_were_missed`).

use super::{Reached, Work, pages, rehearsed};
use crate::domain::units::Timestamp;
use crate::store::{Error, Run, Store, Take, Tally};

const PAGE_FIRST: usize = 1_000;

/// Lets everything evaporate to the cycle of the run's `now`, if it is time.
///
/// # Errors
/// Of the store.
pub async fn run(mut work: Work<'_>) -> Result<Reached, Error> {
    let store = work.store;
    let counter = store.cycles().await?;
    let cycle = counter.cycles.at(work.run.now);
    if !work.forced && !store.evaporates(&counter, cycle) {
        return Ok(Reached::End);
    }
    for ground in store.grounds().await? {
        let mut adopt = async |store: &Store, run: &mut Run, take: Take<'_>| {
            store.adopt_trails(run, ground, cycle, take).await
        };
        loop {
            if work.budget.is_spent() {
                return Ok(Reached::Budget);
            }
            let (adopted, limit) = pages::one(&mut work, PAGE_FIRST, &mut adopt).await?;
            if adopted < limit {
                break;
            }
        }
        let reached = pages::each(&mut work, PAGE_FIRST, async |store, run, take| {
            store.evaporate(run, ground, cycle, take).await
        });
        if reached.await? == Reached::Budget {
            return Ok(Reached::Budget);
        }
    }
    store.evaporated(work.run, cycle).await?;
    Ok(Reached::End)
}

/// What a pass at `now` would do to the first `limit` places or edges of each kind, 100,000 at most; nothing where it is
/// not yet time, unless somebody insists.
///
/// # Errors
/// Of the store.
pub async fn rehearse(
    store: &Store,
    now: Timestamp,
    limit: Option<u64>,
    forced: bool,
) -> Result<Tally, Error> {
    let counter = store.cycles().await?;
    let cycle = counter.cycles.at(now);
    if !forced && !store.evaporates(&counter, cycle) {
        return Ok(Tally::default());
    }
    store.rehearse_evaporate(cycle, rehearsed(limit)).await
}
