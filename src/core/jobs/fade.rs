//! Stores the present weight of every relation, always computed from its base, and adopts relations of other writers.
//!
//! A relation's weight is a function of time, so the pass changes no value that would be computed: it refreshes the
//! stored weights, which people see in the graph, and counts those below the minimum. It processes all relations, since
//! it is weekly and users read its counters.
//!
//! Invariant: a second pass at the same instant changes nothing (held by `jobs::fade::twice_is_once`).
//! Invariant: four weekly passes leave what one leaves after 28 days (held by `jobs::fade::always_from_the_base`).

use super::{Completion, DAY_MS, Job, Work, pages};
use crate::store::{Error, PageMode, Run, Store};

pub(super) static JOB: Job = Job {
    name: "fade",
    about: "Store the current weight of every relation, computed from its base weight",
    // Its schedule, weekly, is in the configuration.
    interval_ms: |_| 7 * DAY_MS,
    waits_since: |backlog| backlog.fade,
    left: |_| 0,
    run: |work| Box::pin(run(work)),
};

const PAGE_FIRST: usize = 1_000;

/// Decays all relations to the run's `now`.
async fn run(mut work: Work<'_>) -> Result<Completion, Error> {
    if !work.store.has_relations().await? {
        return Ok(Completion::End);
    }
    let adopt = async |store: &Store, run: &mut Run, page_mode: PageMode<'_>| {
        store.adopt_relations(run, page_mode).await
    };
    // A dry run takes back what it adopts before anything decays: these relations are counted as adopted alone. Entities have no
    // count.
    if pages::until_short(&mut work, PAGE_FIRST, adopt).await? == Completion::Budget
        || !work.run.is_dry() && work.adopt_entities().await? == Completion::Budget
    {
        return Ok(Completion::Budget);
    }
    let mut after = String::new();
    pages::each(&mut work, PAGE_FIRST, async |store, run, page_mode| {
        let (scanned, last) = store.fade(run, &after, page_mode).await?;
        after = last;
        Ok(scanned)
    })
    .await
}
