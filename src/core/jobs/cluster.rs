//! Keeps clusters as the connected components of strong pairs.
//!
//! Memories whose pairs became stronger, that expired, came back or lost a neighbour are on a list; what hangs together
//! with them is read and settled by the law, so the cost follows what changed. A changed threshold puts every memory
//! that it could concern on the list.
//!
//! # Design notes
//! Reading comes before writing and is no part of its transactions: a component may be larger than one should be. What
//! changes in between puts its memories on the list again.
//!
//! Invariant: a second run changes nothing (held by `jobs::coactivate::s6_coactivation_idempotent`).
//! Invariant: clusters are the components of the pairs (held by `jobs::cluster::clusters_are_the_components`).

use super::{Reached, Work, pages, rehearsed};
use crate::domain::units::Timestamp;
use crate::store::{Error, Store, Suspect, Tally};

/// Memories of the list that are looked at together.
const PAGE: usize = 2_000;

/// Settles everything that is on the list at the run's `now`.
///
/// # Errors
/// Of the store.
pub async fn run(mut work: Work<'_>) -> Result<Reached, Error> {
    let threshold = work.tunables.config().coactivation_threshold;
    let before = work.store.clusters_threshold().await?;
    if before.is_none_or(|before| before.to_bits() != threshold.to_bits()) {
        work.store.suspect_all(work.run, threshold).await?;
    }
    loop {
        let page = work.budget.page(PAGE);
        let suspects = work.store.suspects(work.run.now, page).await?;
        if suspects.is_empty() {
            return Ok(Reached::End);
        }
        let settle = async |work: &mut Work<'_>, suspects: &[Suspect], failed: Option<&Error>| {
            if let (Some(why), [suspect]) = (failed, suspects) {
                return work.store.quarantine_suspect(work.run, suspect, why).await;
            }
            let neighbourhood = work.store.neighbourhood(work.run, suspects, threshold).await?;
            work.store.settle(work.run, &neighbourhood, suspects).await
        };
        pages::items(&mut work, &suspects, settle).await?;
        if suspects.len() < page {
            return Ok(Reached::End);
        }
        work.budget.spend(suspects.len());
        if work.budget.is_spent() {
            return Ok(Reached::Budget);
        }
    }
}

/// What a run at `now` would do, up to `limit` memories of the list.
///
/// # Errors
/// Of the store.
pub async fn rehearse(
    store: &Store,
    threshold: f64,
    now: Timestamp,
    limit: Option<u64>,
) -> Result<Tally, Error> {
    let limit = rehearsed(limit);
    let suspects = store.suspects(now, limit).await?;
    Ok(store.rehearse_neighbourhood(&suspects, threshold).await?.tally(suspects.len()))
}
