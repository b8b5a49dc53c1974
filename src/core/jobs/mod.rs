//! The jobs: one file, one verb, one job.
//!
//! Rules for whoever writes one. A job takes a [`Request`] and the run that was opened for it, and works at the run's
//! `now`, which whoever takes the run over keeps. It works in pages, each a transaction that begins with the run's guard.
//! It recognises its own work by the data, so that running it twice at one instant changes nothing the second time. It
//! retries nothing, and stops at its budget: what it did not reach is still due. A row on which a statement fails is
//! quarantined, and holds nobody up (see `pages`).

pub mod audit;
pub mod cluster;
pub mod coactivate;
pub mod decay;
pub mod evaporate;
pub mod fade;
pub mod learn;
mod pages;
pub mod promote;
pub mod reap;
pub mod reinforce;
pub mod sweep;

use crate::domain::tunables::Tunables;
use crate::domain::units::{HOUR_MS, Timestamp};
pub use crate::mirror::Learning;
use crate::store::{Backlog, Error, Outlook, Run, Store, Take, Tally, Waiting};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const DAY_MS: i64 = 24 * HOUR_MS;
const MINUTE_MS: i64 = HOUR_MS / 60;

/// Every job that the ledger knows, in the order in which jobs due at one instant run.
///
/// The order is that of cause and effect, so that running all of them twice at one instant changes nothing the second
/// time: the audit lays out what others find, expiry takes memories out of clusters, sessions make the pairs that
/// clusters consist of, strengthening ripens what promotion then raises. Trails, relations and
/// facts stand for themselves, and outcomes teach what relationships are after all that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobName {
    /// Everything looked through for what no other job would find.
    Audit,
    /// Energy brought to now; working memories below the threshold expire.
    Decay,
    /// Pairs of memories made stronger by the sessions that accessed both.
    Coactivate,
    /// Clusters kept as the components of strong pairs.
    Cluster,
    /// Promoted memories strengthened by new ones that are like them.
    Reinforce,
    /// Ripe memories rise one tier.
    Promote,
    /// Pheromones brought to the present cycle, and costs with them.
    Evaporate,
    /// What relations weigh, written down.
    Fade,
    /// Policies applied to the facts of each scope.
    Sweep,
    /// Outcomes learned, one after the other.
    Learn,
}

impl JobName {
    /// In the order in which jobs due at one instant run.
    pub const ALL: [Self; 10] = [
        Self::Audit,
        Self::Decay,
        Self::Coactivate,
        Self::Cluster,
        Self::Reinforce,
        Self::Promote,
        Self::Evaporate,
        Self::Fade,
        Self::Sweep,
        Self::Learn,
    ];

    /// The name it has everywhere: on the command line, in configuration, in the graph, in metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Decay => "decay",
            Self::Coactivate => "coactivate",
            Self::Cluster => "cluster",
            Self::Reinforce => "reinforce",
            Self::Promote => "promote",
            Self::Evaporate => "evaporate",
            Self::Fade => "fade",
            Self::Sweep => "sweep",
            Self::Learn => "learn",
        }
    }

    /// The job of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|job| job.name() == name)
    }

    /// What it does, in a line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Audit => "looks through everything for what no other job would find, and mends it",
            Self::Decay => "brings the energy of memories to now; working ones below the threshold expire",
            Self::Coactivate => {
                "makes pairs of memories stronger by the sessions that accessed both, each once"
            }
            Self::Cluster => "keeps clusters as the connected components of strong pairs",
            Self::Reinforce => {
                "lets new memories strengthen promoted ones that are like them, each pair once"
            }
            Self::Promote => "raises ripe memories one tier, each through an attempt",
            Self::Evaporate => "lets the pheromones of trails evaporate by the cycles that have passed",
            Self::Fade => "writes down what every relation weighs, always from the weight it was given",
            Self::Sweep => "applies the decay policies to the facts of each scope, by adding facts",
            Self::Learn => "lets outcomes teach what relationships weigh, each once, in the order they came",
        }
    }

    /// Milliseconds between two scheduled runs, by the tunables in the graph.
    #[must_use]
    pub fn interval_ms(self, tunables: &Tunables) -> i64 {
        match self {
            // Their own times are in the configuration; a day is what they are made for.
            Self::Audit | Self::Sweep => DAY_MS,
            Self::Decay => tunables.decay_interval_ms(),
            Self::Coactivate | Self::Cluster => tunables.clustering_interval_ms(),
            // Its own interval is in the configuration; without one it keeps pace with promotion, which it feeds.
            Self::Reinforce | Self::Promote => tunables.promotion_interval_ms(),
            // Its own interval is in the configuration; a cycle is an hour where nobody says otherwise.
            Self::Evaporate => HOUR_MS,
            // Its own times are in the configuration, by the week.
            Self::Fade => 7 * DAY_MS,
            // Its own interval is in the configuration; mirrors hear of it at their next look.
            Self::Learn => MINUTE_MS,
        }
    }

    /// Since when something waits for this job; `None` where nothing does, or where it is the job's task to look.
    #[must_use]
    pub const fn waits_since(self, backlog: &Backlog) -> Option<Timestamp> {
        match self {
            Self::Audit => None,
            Self::Decay => backlog.due,
            Self::Coactivate => backlog.coactivate,
            Self::Cluster => backlog.cluster,
            Self::Reinforce => backlog.reinforce,
            Self::Promote => backlog.ripe,
            Self::Evaporate => backlog.evaporate,
            Self::Fade => backlog.fade,
            Self::Sweep => backlog.sweep,
            Self::Learn => backlog.learn,
        }
    }

    /// How much waits for this job.
    #[must_use]
    pub const fn left(self, waiting: &Waiting) -> i64 {
        match self {
            Self::Audit | Self::Evaporate | Self::Fade | Self::Sweep => 0,
            Self::Decay => waiting.due,
            Self::Coactivate => waiting.sessions,
            Self::Cluster => waiting.clusters,
            Self::Reinforce => waiting.reinforce,
            Self::Promote => waiting.ripe,
            Self::Learn => waiting.outcomes,
        }
    }
}

impl std::fmt::Display for JobName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// How a job is to work. The default is what the schedule uses.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Stop after about this many rows.
    pub limit: Option<u64>,
    /// Stop after this time.
    pub time_limit: Option<Duration>,
    /// Stop after the page in hand when this is cancelled.
    pub stop: CancellationToken,
    /// Do what is not yet due: evaporation acts only each so many cycles.
    pub force: bool,
    /// What is learned by.
    pub learning: Learning,
}

/// What a job works with.
pub struct Work<'a> {
    /// The database.
    pub store: &'a Store,
    /// The tunables as the graph has them.
    pub tunables: &'a Tunables,
    /// What was seen before the run was opened.
    pub outlook: &'a Outlook,
    /// The run that was opened for it.
    pub run: &'a mut Run,
    budget: Budget,
    /// Rows that were quarantined since a statement failed on them.
    quarantined: u32,
    forced: bool,
    learning: Learning,
}

/// Whether a job came to the end of what was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    /// It did.
    End,
    /// Its budget ended first.
    Budget,
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

    /// From here on only a stop ends it.
    fn until_stopped(&mut self) {
        (self.rows_left, self.ends) = (None, None);
    }

    /// This many rows, cut to what is left.
    fn page(&self, size: usize) -> usize {
        self.rows_left.map_or(size, |left| size.min(usize::try_from(left).unwrap_or(usize::MAX)))
    }
}

impl<'a> Work<'a> {
    /// Sets a job to work on a run.
    #[must_use]
    pub fn new(store: &'a Store, outlook: &'a Outlook, run: &'a mut Run, request: Request) -> Self {
        let budget = Budget {
            rows_left: request.limit,
            ends: request.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
            stop: request.stop,
        };
        let (forced, learning) = (request.force, request.learning);
        let tunables = &outlook.tunables;
        Self { store, tunables, outlook, run, budget, quarantined: 0, forced, learning }
    }

    /// How many rows to read for a page of this size: a dry run reads all that it counts at once, since what is rolled back
    /// is there again for the next page.
    fn page(&self, size: usize) -> usize {
        /// Rows that a dry run counts at most where a job cannot go on after a row.
        const DRY_RUN_ROWS: usize = 100_000;
        self.budget.page(if self.run.is_dry() { DRY_RUN_ROWS } else { size })
    }

    /// Takes memories that other writers made under the laws, before the job looks for its own. A dry run counts them only.
    async fn adopt(&mut self) -> Result<(), Error> {
        /// Rows of one transaction: each may bring a session and a relationship.
        const PAGE: usize = 1_000;
        if self.run.is_dry() {
            self.run.estimate(Tally { adopted: self.outlook.unstamped, ..Tally::default() });
            return Ok(());
        }
        let tunables = self.tunables;
        let mut page =
            async |store: &Store, run: &mut Run, take: Take<'_>| store.adopt(run, tunables, take).await;
        let mut left = self.outlook.unstamped;
        while left > 0 && pages::one(self, PAGE, &mut page).await?.0 > 0 {
            left = self.store.unstamped().await?;
        }
        Ok(())
    }

    /// Takes facts that other writers made under the laws. A dry run counts them only.
    async fn adopt_facts(&mut self) -> Result<Completion, Error> {
        /// Rows of one transaction.
        const PAGE: usize = 1_000;
        if self.run.is_dry() {
            self.run.estimate(Tally { adopted: self.store.foreign_facts().await?, ..Tally::default() });
            return Ok(Completion::End);
        }
        let mut page =
            async |store: &Store, run: &mut Run, take: Take<'_>| store.adopt_facts(run, take).await;
        while pages::one(self, PAGE, &mut page).await?.0 > 0 {
            if self.budget.is_spent() {
                return Ok(Completion::Budget);
            }
        }
        Ok(Completion::End)
    }
}

/// Does the work of a job.
///
/// # Errors
/// Of the store: a run that was lost, a server that is gone, a statement that failed.
pub async fn run(job: JobName, work: Work<'_>) -> Result<Completion, Error> {
    match job {
        JobName::Audit => audit::run(work).await,
        JobName::Decay => decay::run(work).await,
        JobName::Coactivate => coactivate::run(work).await,
        JobName::Cluster => cluster::run(work).await,
        JobName::Reinforce => reinforce::run(work).await,
        JobName::Promote => promote::run(work).await,
        JobName::Evaporate => evaporate::run(work).await,
        JobName::Fade => fade::run(work).await,
        JobName::Sweep => sweep::run(work).await,
        JobName::Learn => learn::run(work).await,
    }
}
