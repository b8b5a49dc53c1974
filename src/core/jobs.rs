//! The jobs: one file, one verb, one job.
//!
//! Rules for authors. A job states in its `JOB` its description, its default interval and what waits for it. It takes a
//! [`Request`] and the run that was opened for it, and works at the run's `now`, which also holds for a program that
//! takes the run over. It works in pages, each a transaction that begins with the run's guard. It recognises its own
//! work by the data, so running it twice at one instant changes nothing the second time. It retries nothing, and stops
//! at its budget: the rest is still due. A row on which a statement fails is quarantined, and delays no other (see
//! `pages`).

mod audit;
mod cluster;
mod coactivate;
mod decay;
mod embed;
mod evaporate;
mod fade;
mod learn;
mod pages;
mod promote;
pub mod reap;
mod reinforce;
pub mod sweep;

use crate::domain::tunables::Tunables;
use crate::domain::units::{HOUR_MS, Timestamp};
use crate::embedder::Embedder;
pub use crate::mirror::Learning;
use crate::store::{Backlog, Error, Run, RunInputs, Store, Waiting};
use serde::{Deserialize, Serialize};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const DAY_MS: i64 = 24 * HOUR_MS;
const MINUTE_MS: i64 = HOUR_MS / 60;
/// Greatest number of rows of a dry run where a job cannot continue after a row.
const DRY_RUN_ROWS: usize = 100_000;
/// Rows of other writers that one transaction adopts: each may bring a session and a relationship.
const ADOPTED_PAGE: usize = 1_000;

/// Every job that the ledger knows, in the order in which jobs due at one instant run.
///
/// The order is that of cause and effect, so running all of them twice at one instant changes nothing the second time:
/// the audit prepares work for others, expiry removes memories from clusters, sessions make the pairs that clusters
/// consist of, embeddings are what reinforcement compares, and that makes memories ripe for promotion. Trails, relations and facts are independent, and
/// outcomes are learned last, on the relationships that result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobName {
    /// Everything checked for faults that no other job would find.
    Audit,
    /// Energy brought to now; working memories below the threshold expire.
    Decay,
    /// Pairs of memories strengthened by the sessions that accessed both.
    Coactivate,
    /// Clusters kept as the components of strong pairs.
    Cluster,
    /// Memories embedded whose writers gave no embedding.
    Embed,
    /// Promoted memories strengthened by similar new ones.
    Reinforce,
    /// Ripe memories promoted by one tier.
    Promote,
    /// Pheromones evaporated to the present cycle, and costs computed from them.
    Evaporate,
    /// Present weights of relations stored.
    Fade,
    /// Policies applied to the facts of each scope.
    Sweep,
    /// Outcomes learned, one after the other.
    Learn,
}

impl JobName {
    /// In the order in which jobs due at one instant run.
    pub const ALL: [Self; 11] = [
        Self::Audit,
        Self::Decay,
        Self::Coactivate,
        Self::Cluster,
        Self::Embed,
        Self::Reinforce,
        Self::Promote,
        Self::Evaporate,
        Self::Fade,
        Self::Sweep,
        Self::Learn,
    ];

    /// Its facts, which are a static: the functions that a constant names are compiled into each unit that uses it, with all
    /// that they call.
    const fn job(self) -> &'static Job {
        match self {
            Self::Audit => &audit::JOB,
            Self::Decay => &decay::JOB,
            Self::Coactivate => &coactivate::JOB,
            Self::Cluster => &cluster::JOB,
            Self::Embed => &embed::JOB,
            Self::Reinforce => &reinforce::JOB,
            Self::Promote => &promote::JOB,
            Self::Evaporate => &evaporate::JOB,
            Self::Fade => &fade::JOB,
            Self::Sweep => &sweep::JOB,
            Self::Learn => &learn::JOB,
        }
    }

    /// Name used on the command line, in configuration, in the graph and in metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.job().name
    }

    /// The job with that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|job| job.name() == name)
    }

    /// Description in one line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        self.job().about
    }

    /// Milliseconds between two scheduled runs if the configuration sets no schedule, by the tunables in the graph.
    #[must_use]
    pub fn interval_ms(self, tunables: &Tunables) -> i64 {
        (self.job().interval_ms)(tunables)
    }

    /// The instant since which work waits for this job; `None` if none does, or if the job itself must search for it.
    #[must_use]
    pub fn waits_since(self, backlog: &Backlog) -> Option<Timestamp> {
        (self.job().waits_since)(backlog)
    }

    /// Number of rows that wait for this job.
    #[must_use]
    pub fn remaining(self, waiting: &Waiting) -> i64 {
        (self.job().left)(waiting)
    }

    /// Runs the job.
    pub async fn run(self, work: Work<'_>) -> Result<Completion, Error> {
        (self.job().run)(work).await
    }
}

/// A job, as its file defines it.
struct Job {
    name: &'static str,
    about: &'static str,
    /// Milliseconds between two scheduled runs if the configuration sets no schedule.
    interval_ms: fn(&Tunables) -> i64,
    /// The instant since which work waits for it.
    waits_since: fn(&Backlog) -> Option<Timestamp>,
    /// Number of rows that wait for it.
    left: fn(&Waiting) -> i64,
    run: for<'a> fn(Work<'a>) -> JobFuture<'a>,
}

/// A running job. Boxed, so that its callers do not compile all jobs again.
type JobFuture<'a> = Pin<Box<dyn Future<Output = Result<Completion, Error>> + 'a>>;

impl std::fmt::Display for JobName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Options of a run. The default is that of the schedule.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Stop after about this many rows.
    pub limit: Option<u64>,
    /// Stop after this time.
    pub time_limit: Option<Duration>,
    /// Stop after the current page when this is cancelled.
    pub stop: CancellationToken,
    /// Work even if not yet due: evaporation otherwise acts only once in so many cycles.
    pub force: bool,
    /// Number of facts that a sweep may retract although the guard asks for confirmation.
    pub accept_affected: Option<i64>,
    pub learning: Learning,
    /// The embedder, if one is configured.
    pub embedder: Option<Arc<Embedder>>,
}

/// The context of a job: its inputs, its run and its budget.
pub struct Work<'a> {
    pub store: &'a Store,
    /// The tunables of the graph.
    pub tunables: &'a Tunables,
    /// Inputs read before the run was opened.
    pub inputs: &'a RunInputs,
    /// The run that was opened for it.
    pub run: &'a mut Run,
    budget: Budget,
    /// Rows quarantined because a statement failed on them.
    quarantined: u32,
    forced: bool,
    accepted: Option<i64>,
    learning: Learning,
    embedder: Option<Arc<Embedder>>,
}

/// Whether a job reached the end of its due work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completion {
    End,
    /// The budget ended first.
    Budget,
    /// Something outside of the database, which the job needs, is not there: the reason.
    Stopped(String),
}

struct Budget {
    rows_left: Option<u64>,
    ends: Option<Instant>,
    stop: CancellationToken,
}

impl Budget {
    fn spend(&mut self, rows: usize) {
        if let Some(left) = &mut self.rows_left {
            *left = left.saturating_sub(rows as u64);
        }
    }

    fn is_spent(&self) -> bool {
        self.rows_left == Some(0)
            || self.stop.is_cancelled()
            || self.ends.is_some_and(|ends| Instant::now() >= ends)
    }

    /// From here on only a stop ends the run.
    fn until_stopped(&mut self) {
        (self.rows_left, self.ends) = (None, None);
    }

    /// This many rows, limited to the rest of the budget.
    fn page(&self, size: usize) -> usize {
        self.rows_left.map_or(size, |left| size.min(usize::try_from(left).unwrap_or(usize::MAX)))
    }
}

impl<'a> Work<'a> {
    /// Sets a job to work on a run.
    #[must_use]
    pub fn new(store: &'a Store, inputs: &'a RunInputs, run: &'a mut Run, request: Request) -> Self {
        let budget = Budget {
            rows_left: request.limit,
            ends: request.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
            stop: request.stop,
        };
        let Request { force: forced, accept_affected: accepted, learning, embedder, .. } = request;
        let tunables = &inputs.tunables;
        Self { store, tunables, inputs, run, budget, quarantined: 0, forced, accepted, learning, embedder }
    }

    /// Rows to read for a page of this size: a dry run reads all that it counts at once, since rolled back rows would
    /// appear again on the next page.
    fn page(&self, size: usize) -> usize {
        self.budget.page(if self.run.is_dry() { DRY_RUN_ROWS } else { size })
    }

    /// Adopts memories of other writers, before the job reads its own, if any came since the last pass.
    async fn adopt(&mut self) -> Result<Completion, Error> {
        if self.inputs.memories.is_pass_due() { self.adopt_all().await } else { Ok(Completion::End) }
    }

    /// Adopts memories of other writers.
    async fn adopt_all(&mut self) -> Result<Completion, Error> {
        let tunables = self.tunables;
        pages::until_short(self, ADOPTED_PAGE, async |store, run, page_mode| {
            store.adopt(run, tunables, page_mode).await
        })
        .await
    }

    /// Adopts facts of other writers, if any came since the last pass.
    async fn adopt_facts(&mut self) -> Result<Completion, Error> {
        if self.store.fact_adoption().await?.is_pass_due() {
            self.adopt_all_facts().await
        } else {
            Ok(Completion::End)
        }
    }

    /// Takes entities of other writers that rows of Ebb's lead to.
    async fn adopt_entities(&mut self) -> Result<Completion, Error> {
        pages::until_short(self, ADOPTED_PAGE, async |store, run, page_mode| {
            store.adopt_entities(run, page_mode).await
        })
        .await
    }

    /// Adopts facts of other writers.
    async fn adopt_all_facts(&mut self) -> Result<Completion, Error> {
        pages::until_short(self, ADOPTED_PAGE, async |store, run, page_mode| {
            store.adopt_facts(run, page_mode).await
        })
        .await
    }
}
