//! Brings the energy of every due memory to now; a working memory below the threshold expires.
//!
//! Energy is a function of time, so the pass changes no value that would be computed: it refreshes the stored values,
//! which people see in the graph, and dates expiry. A memory that a moving index hid from a page is still due and found
//! by the next run.
//!
//! The first page has the documented batch size.
//!
//! Invariant: a second run at the same instant changes nothing (held by `jobs::decay::twice_is_once`).

use super::{Completion, Job, Work, pages};
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
    if work.adopt().await? == Completion::Budget {
        return Ok(Completion::Budget);
    }
    let mut cursor = DecayCursor::default();
    let tunables = work.tunables;
    pages::each(&mut work, tunables.decay_batch(), async |store, run, page_mode| {
        store.decay(run, tunables, &mut cursor, page_mode).await
    })
    .await
}
