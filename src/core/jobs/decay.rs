//! Brings the energy of every due memory to now; a working one that fell below the threshold expires.
//!
//! Energy is a function of time, so the sweep changes no value that anybody would compute: it refreshes what people see
//! in the graph and dates expiry. A memory that a moving index hid from a page is still due and met by the next run.
//!
//! The first page has the documented batch size.
//!
//! Invariant: a second run at the same instant changes nothing (held by `jobs::decay::twice_is_once`).

use super::{Reached, Work, pages};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use crate::store::{Error, Store, SweepCursor, Tally};

/// Sweeps all that is due at the run's `now`.
///
/// # Errors
/// Of the store.
pub async fn run(mut work: Work<'_>) -> Result<Reached, Error> {
    work.adopt().await?;
    let mut cursor = SweepCursor::default();
    let tunables = work.tunables;
    pages::each(&mut work, tunables.decay_batch(), async |store, run, take| {
        store.sweep(run, tunables, &mut cursor, take).await
    })
    .await
}

/// What a run at `now` would do, up to `limit` rows.
///
/// # Errors
/// Of the store.
pub async fn rehearse(
    store: &Store,
    tunables: &Tunables,
    now: Timestamp,
    limit: Option<u64>,
) -> Result<Tally, Error> {
    let mut cursor = SweepCursor::default();
    pages::rehearse(limit, async |wanted| store.rehearse_sweep(now, tunables, &mut cursor, wanted).await)
        .await
}
