//! The server: its schema, status and health, and the queries for inspection.

use super::Service;
use crate::api::job::Jobs;
use crate::api::server::{ForeignRows, Health, OpenAttempt, Server, Status, Waiting};
use crate::domain::tier::Tier;
use crate::domain::units::Timestamp;
use crate::scheduler::dispatcher::UNSCHEDULED;
use crate::store::{self, Answer, Error, InitReport, Store, StoredSettings, TierCount};
use std::time::Duration;
use tracing::info;

/// Time limit of a write that is tried for a status.
const WRITE_LIMIT: Duration = Duration::from_secs(2);

/// Changes in one hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hour {
    /// Beginning of the hour.
    pub at: Timestamp,
    /// Created memories.
    pub made: i64,
    /// Memories promoted to short-term.
    pub rose: i64,
    /// Memories promoted to long-term.
    pub crystallised: i64,
    /// Memories that expired and were not revived.
    pub expired: i64,
}

impl Service {
    /// Creates constraints, indexes and the tunables.
    ///
    /// # Errors
    /// [`Error::Conflict`] with the rows that would violate a constraint; nothing is written then.
    pub async fn initialise(&self) -> Result<InitReport, Error> {
        let about = self.store.about().await?;
        let now = self.counted(about.server_now);
        let report = self.store.initialise(&self.config.consolidation, now).await?;
        self.store_settings_of(Some(&self.settings_digest())).await?;
        Ok(report)
    }

    /// Initialises the database, unless that was last done with the settings of this process: it takes ten transactions,
    /// four of which write, and most commands take no more than one.
    ///
    /// # Errors
    /// Those of [`Service::initialise`].
    pub async fn ensure_initialised(&self) -> Result<(), Error> {
        if !self.store.is_initialised(&self.settings_digest()).await? {
            self.initialise().await?;
        }
        // Both have checked the schema.
        let _ = self.prepared.set(());
        Ok(())
    }

    fn settings_digest(&self) -> String {
        self.store.settings_digest(&self.config.consolidation, self.kept())
    }

    /// The share of a learned weight that an outcome leaves.
    fn kept(&self) -> f64 {
        let kept = f64::from(self.config.mirror.rules.kept());
        // The decimal digits of the setting, which a conversion of its bits would not give.
        (kept * 1e6).round() / 1e6
    }

    /// Stores the settings that statements in Neo4j Browser read, as the last process that started has them.
    pub async fn store_settings(&self) -> Result<(), Error> {
        self.store_settings_of(None).await
    }

    async fn store_settings_of(&self, digest: Option<&str>) -> Result<(), Error> {
        let stored = self.jobs_store.store_settings(self.kept(), digest, self.now().await?).await?;
        if let Some(StoredSettings { written: true, by: Some(by), at }) = stored {
            info!(by, at, "settings in the graph, of the program that started before, were replaced");
        }
        Ok(())
    }

    /// The response of [`Service::initialise`], with nothing written.
    pub async fn dry_run_initialise(&self) -> Result<InitReport, Error> {
        self.store.about().await?;
        self.store.dry_run_initialise(&self.config.consolidation).await
    }

    /// Memories by tier, including stubs of promotions.
    pub async fn tiers(&self) -> Result<Vec<TierCount>, Error> {
        self.store.tiers().await
    }

    /// Tries a write, so that a status names what refuses it; a worker does so by itself. A database that is not
    /// initialised stays as it is.
    pub async fn try_write(&self) {
        let write = async {
            self.store.check_schema().await?;
            self.store.probe_write().await
        };
        // Any other failure meets what is asked next, and a slow write is none.
        let _ = tokio::time::timeout(WRITE_LIMIT, write).await;
    }

    /// Status at an instant.
    pub async fn status(&self, at: Timestamp) -> Result<Status, Error> {
        let about = self.store.about().await?;
        let ready = match self.store.check_schema().await {
            Ok(()) => self.jobs(at).await,
            Err(why) => Err(why),
        };
        let Jobs { jobs, stopped, fallback_tunables, .. } = match ready {
            Ok(jobs) => jobs,
            Err(why @ Error::Schema(_)) => {
                let stopped = Some(why.to_string());
                Jobs { jobs: Vec::new(), stopped, fallback_tunables: None, unscheduled: None }
            }
            Err(why) => return Err(why),
        };
        let mut tiers = self.store.tiers().await?;
        tiers.sort_by_key(|row| Tier::named(&row.tier));
        let scratch = self.store.scratch().await?;
        let for_jobs = self.store.waiting(at).await?;
        let (memories, facts) = (self.store.memory_adoption().await?, self.store.fact_adoption().await?);
        Ok(Status {
            at,
            server: Server {
                uri: self.store.uri().to_owned(),
                name: about.name,
                version: about.version,
                edition: about.edition,
            },
            scratch: scratch.is_some(),
            simulated_now: scratch.flatten(),
            unscheduled: (scratch.is_some() && !self.config.on_scratch).then(|| UNSCHEDULED.to_owned()),
            stopped,
            fallback_tunables,
            jobs,
            tiers,
            waiting: Waiting { for_jobs, unstamped: memories.waiting() },
            foreign: ForeignRows { memories: memories.foreign, facts: facts.foreign },
            attempts: self.store.attempts(true, 20).await?.into_iter().map(OpenAttempt::from).collect(),
            runs: self.store.open_runs().await?,
            mirrors: self.store.mirrors_status().await?,
            recall_guard: self.store.guarded_recall().await?,
        })
    }

    /// Health of the memories at an instant.
    pub async fn health(&self, at: Timestamp) -> Result<Health, Error> {
        let tunables = self.store.tunables().await?;
        let mut tiers = self.store.health(at, &tunables).await?;
        tiers.sort_by_key(|row| Tier::named(&row.tier));
        let stuck_attempts = self.store.stuck_attempts().await?;
        let store::Waiting { due, ripe, sessions, clusters, embed, reinforce, outcomes, quarantined } =
            self.store.waiting(at).await?;
        Ok(Health {
            at,
            fallback_tunables: tunables.fallback(),
            tiers,
            stuck_attempts,
            quarantined,
            due,
            ripe,
            sessions,
            clusters,
            embed,
            reinforce,
            outcomes,
        })
    }

    /// Runs a query of `cypher/inspect/`.
    pub async fn inspect(&self, name: &str) -> Result<Answer, Error> {
        self.store.inspect(name).await
    }

    /// All inspection queries: name and title.
    pub fn questions() -> impl Iterator<Item = (&'static str, &'static str)> {
        Store::questions()
    }

    /// The text of a query, to paste into Neo4j Browser.
    #[must_use]
    pub fn question(&self, name: &str) -> Option<String> {
        self.store.question(name)
    }

    /// The changes of each hour.
    pub async fn timeline(&self) -> Result<Vec<Hour>, Error> {
        self.store.timeline().await.map(|rows| {
            let mut hours: Vec<Hour> = Vec::new();
            for (at, what, count) in rows {
                if hours.last().is_none_or(|hour| hour.at != at) {
                    hours.push(Hour { at, made: 0, rose: 0, crystallised: 0, expired: 0 });
                }
                let Some(hour) = hours.last_mut() else { continue };
                match what.as_str() {
                    "made" => hour.made = count,
                    "rose" => hour.rose = count,
                    "crystallised" => hour.crystallised = count,
                    _ => hour.expired = count,
                }
            }
            hours
        })
    }
}
