//! Keeps clusters as the connected components of strong pairs.
//!
//! Memories whose pairs became stronger, that expired, came back or lost a neighbour are on a list; the memories
//! connected with them are read and their clusters computed by the law, so the cost follows the changes. A changed
//! threshold puts every affected memory on the list.
//!
//! # Design notes
//! Reading comes before writing and is no part of its transactions: a component may be too large for one. A change in
//! between puts its memories on the list again.
//!
//! Invariant: a second run changes nothing (held by `jobs::coactivate::s6_coactivation_idempotent`).
//! Invariant: clusters are the components of the pairs (held by `jobs::cluster::clusters_are_the_components`).

use super::{Completion, Job, Work, pages};
use crate::domain::tunables::Tunables;
use crate::store::{Error, Suspect};

pub(super) static JOB: Job = Job {
    name: "cluster",
    about: "Maintain clusters as the connected components of strong pairs",
    interval_ms: Tunables::clustering_interval_ms,
    waits_since: |backlog| backlog.cluster,
    left: |waiting| waiting.clusters,
    run: |work| Box::pin(run(work)),
};

/// Memories of the list that are processed together.
const PAGE: usize = 2_000;

/// Processes everything on the list at the run's `now`.
async fn run(mut work: Work<'_>) -> Result<Completion, Error> {
    if work.adopt().await? == Completion::Budget {
        return Ok(Completion::Budget);
    }
    let threshold = work.tunables.config().coactivation_threshold;
    let before = work.store.clusters_threshold().await?;
    let agrees = before.is_some_and(|before| before.to_bits() == threshold.to_bits());
    if !agrees && !work.run.is_dry() {
        work.store.suspect_all(work.run, threshold).await?;
    }
    loop {
        let page = work.page(PAGE);
        let suspects = work.store.suspects(work.run.now, page).await?;
        // By another threshold, and in the first run, every pair is examined; a dry run examines only those that wait.
        let reached = if agrees || !work.run.is_dry() { Completion::End } else { Completion::Budget };
        if suspects.is_empty() {
            return Ok(reached);
        }
        let settle = async |work: &mut Work<'_>, suspects: &[Suspect], failed: Option<&Error>| {
            if let (Some(why), [suspect]) = (failed, suspects) {
                return work.store.quarantine_suspect(work.run, suspect, why).await;
            }
            let neighbourhood = work.store.neighbourhood(work.run, suspects, threshold).await?;
            if work.run.only_counts() {
                work.run.estimate(neighbourhood.tally(suspects.len()));
                return Ok(());
            }
            work.store.settle(work.run, &neighbourhood, suspects).await
        };
        pages::items(&mut work, &suspects, settle).await?;
        if suspects.len() < page {
            return Ok(reached);
        }
        if work.run.is_dry() {
            return Ok(Completion::Budget);
        }
        work.budget.spend(suspects.len());
        if work.budget.is_spent() {
            return Ok(Completion::Budget);
        }
    }
}
