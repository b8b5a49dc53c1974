//! Strengthens pairs of memories by the sessions that accessed both, each session once.
//!
//! Only sessions marked as waiting are read: every access of a memory in a session marks it. Accesses of other writers
//! are found by comparing two counts, at constant cost; only if they differ are all sessions checked, by their degrees.
//! A session of another writer in which a memory under the laws was accessed is adopted then; any other is left alone.
//!
//! # Design notes
//! A session of 200 memories has 19,900 pairs, so a page is measured in pairs: several small sessions, or a part of a
//! large one. Pairs and the marks that count them are written in one transaction, so a repeated page finds nothing to
//! count.
//!
//! Invariant: a second run changes no weight (held by `jobs::coactivate::s6_coactivation_idempotent`).
//! Invariant: a session is counted once however often it is accessed (held by `jobs::coactivate::a_late_access_pairs_once`).

use super::pages::items;
use super::{Completion, Job, Work};
use crate::domain::tunables::Tunables;
use crate::store::{Error, WaitingSession};

pub(super) static JOB: Job = Job {
    name: "coactivate",
    about: "Strengthen pairs of memories by the sessions that accessed both, each once",
    interval_ms: Tunables::clustering_interval_ms,
    waits_since: |backlog| backlog.coactivate,
    left: |waiting| waiting.sessions,
    run: |work| Box::pin(run(work)),
};

/// Sessions listed at a time.
const SESSIONS: usize = 100;
/// Pairs of the sessions of one transaction, unless one session alone has more.
const PAIRS: usize = 5_000;

/// Counts every session that waits at the run's `now`.
async fn run(mut work: Work<'_>) -> Result<Completion, Error> {
    if work.adopt().await? == Completion::Budget {
        return Ok(Completion::Budget);
    }
    // A dry run counts the sessions that are marked as waiting.
    if !work.run.is_dry() && work.store.unseen_accesses().await? {
        work.store.find_accesses(work.run).await?;
    }
    count(&mut work).await
}

async fn count(work: &mut Work<'_>) -> Result<Completion, Error> {
    loop {
        let limit = work.page(SESSIONS);
        let waiting = work.store.sessions_waiting(work.run.now, limit).await?;
        if waiting.is_empty() {
            return Ok(Completion::End);
        }
        let mut counted = 0;
        for page in pages(&waiting) {
            let mut done = 0;
            let count = async |work: &mut Work<'_>, sessions: &[WaitingSession], failed: Option<&Error>| {
                let tally = match (failed, sessions) {
                    (Some(why), [session]) => work.store.quarantine_session(work.run, session, why).await?,
                    _ => work.store.coactivate(work.run, work.tunables, sessions).await?,
                };
                done += usize::try_from(tally.scanned).unwrap_or(0);
                Ok(())
            };
            items(work, page, count).await?;
            counted += done;
            work.budget.spend(done);
            if work.budget.is_spent() {
                return Ok(Completion::Budget);
            }
        }
        // A session of many pairs takes several transactions, and waits until the last.
        if counted == waiting.len() && counted < limit {
            return Ok(Completion::End);
        }
        if work.run.is_dry() {
            return Ok(Completion::Budget);
        }
    }
}

/// Number of sessions in each transaction.
fn pages(waiting: &[WaitingSession]) -> Vec<&[WaitingSession]> {
    let mut pages = Vec::new();
    let mut rest = waiting;
    while !rest.is_empty() {
        let mut pairs = 0;
        let fitting = rest.iter().take_while(|session| {
            pairs += session.pairs();
            pairs <= PAIRS
        });
        let (page, later) = rest.split_at(fitting.count().max(1));
        pages.push(page);
        rest = later;
    }
    pages
}
