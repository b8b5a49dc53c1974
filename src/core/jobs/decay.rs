//! Brings the energy of every due memory to now; a working memory below the threshold expires.
//!
//! Energy is a function of time, so the pass changes no value that would be computed: it refreshes the stored values,
//! which people see in the graph, and dates expiry. A memory that a moving index hid from a page is still due and found
//! by the next run.
//!
//! The first page has the documented batch size. A dry run also shows what becomes of the memories that the run would adopt
//! first: it adopts and decays 100,000 of them in one transaction, which is rolled back; where more than 10,000 memories of
//! Ebb's own are due it only counts them, so that no writer waits for long.
//!
//! Invariant: a second run at the same instant changes nothing (held by `jobs::decay::twice_is_once`).

use super::{Completion, DRY_RUN_ROWS, Job, Work, pages};
use crate::domain::tunables::Tunables;
use crate::store::{DecayCursor, Error, PageMode, Run, Store};

pub(super) static JOB: Job = Job {
    name: "decay",
    about: "Bring energies to now and expire working memories",
    interval_ms: Tunables::decay_interval_ms,
    waits_since: |backlog| backlog.due,
    left: |waiting| waiting.due,
    run: |work| Box::pin(run(work)),
};

/// Most memories of Ebb's own that a dry run locks beside those that it adopts.
const OWN_MAX: i64 = 10_000;

/// Decays all memories due at the run's `now`.
async fn run(mut work: Work<'_>) -> Result<Completion, Error> {
    let tunables = work.tunables;
    if work.run.only_counts()
        && work.inputs.memories.waiting() > 0
        && work.store.waiting(work.run.now).await?.due <= OWN_MAX
    {
        let most = work.page(DRY_RUN_ROWS);
        let mut page = async |store: &Store, run: &mut Run, page_mode: PageMode<'_>| {
            store.count_decay(run, tunables, most, page_mode).await
        };
        pages::one(&mut work, DRY_RUN_ROWS, &mut page).await?;
        return Ok(Completion::End);
    }
    if work.adopt().await? == Completion::Budget {
        return Ok(Completion::Budget);
    }
    let mut cursor = DecayCursor::default();
    pages::each(&mut work, tunables.decay_batch(), async |store, run, page_mode| {
        store.decay(run, tunables, &mut cursor, page_mode).await
    })
    .await
}
