//! Brings the energy of every due memory to now; a working memory below the threshold expires.
//!
//! Energy is a function of time, so the pass changes no value that would be computed: it refreshes the stored values,
//! which people see in the graph, and dates expiry. A memory that a moving index hid from a page is still due and found
//! by the next run.
//!
//! The first page has the documented batch size.
//!
//! Invariant: a second run at the same instant changes nothing (held by `jobs::decay::twice_is_once`).

use super::{Completion, DRY_RUN_ROWS, Job, Work, pages};
use crate::domain::tunables::Tunables;
use crate::store::{DecayCursor, Error};

pub(super) static JOB: Job = Job {
    name: "decay",
    about: "Bring energies to now and expire working memories",
    interval_ms: Tunables::decay_interval_ms,
    waits_since: |backlog| backlog.due,
    left: |waiting| waiting.due,
    run: |work| Box::pin(run(work)),
};

/// Decays all memories due at the run's `now`.
async fn run(mut work: Work<'_>) -> Result<Completion, Error> {
    // Each page of a dry run is rolled back, and the adoption with it.
    let adopts = work.run.only_counts() && work.inputs.memories.is_pass_due();
    if !adopts && work.adopt().await? == Completion::Budget {
        return Ok(Completion::Budget);
    }
    let mut cursor = DecayCursor::default();
    let tunables = work.tunables;
    let first = if adopts { DRY_RUN_ROWS } else { tunables.decay_batch() };
    pages::each(&mut work, first, async |store, run, page_mode| {
        store.decay(run, tunables, (&mut cursor, adopts), page_mode).await
    })
    .await
}
