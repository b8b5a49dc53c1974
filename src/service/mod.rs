//! The API as plain structs: what every surface says in its own words.
//!
//! | function | command line |
//! |---|---|
//! | [`Service::remember`], [`Service::access_all`], [`Service::rehearse`] | `memory add`, `memory access` |
//! | [`Service::show`], [`Service::list`], [`Service::explain`] | `memory show`, `list`, `explain`, `plot energy` |
//! | [`Service::pin`], [`Service::forget`] | `memory pin`, `unpin`, `forget` |
//! | [`Service::end_session`] | `session end` |
//! | [`Service::observe`], [`Service::relations`], [`Service::pin_relation`] | `relation observe`, `list`, `pin`, `unpin` |
//! | [`Service::relation`], [`Service::relations`] | `plot decay` |
//! | [`Service::import`], [`Service::check`], [`Service::replay`] | `import`, `replay`, `demo` |
//! | [`Service::run_job`], [`Service::jobs`], [`Service::history`] | `job run`, `list`, `history` |
//! | [`Service::attempts`], [`Service::attempt`], [`Service::release_attempt`] | `attempt list`, `show`, `release` |
//! | [`Service::initialise`], [`Service::status`], [`Service::doctor`], [`Service::mend`] | `init`, `status`, `doctor` |
//! | [`Service::health`] | `health` |
//! | [`Service::inspect`], [`Service::timeline`] | `inspect`, `plot tiers` |
//!
//! Every verb takes the instant its laws see. Asked without one, it takes the clock's; on a scratch database, whose time
//! is simulated, the instant that time has come to.

pub mod admin;
mod attempts;
pub mod doctor;
pub mod events;
pub mod explain;
pub mod memories;
mod past;
pub mod relations;

// What the floors below answer, for surfaces, which name no other floor than this.
pub use crate::jobs::JobName;
pub use crate::scheduler::driver::{JobReport, Outcome};
pub use crate::scheduler::due::{Rhythm, Schedule};
pub use crate::store::{
    Answer, AttemptRow, Cell, Done, Ended, Error, Filter, Happened, Initialised, Observed, OpenRun, Past,
    Record, RefusedWhy, Relation, Tally, TierCount, Waiting, Which,
};

use crate::clock::Clock;
use crate::domain::guard::Guard;
use crate::domain::ids::Scope;
use crate::domain::tunables::ConsolidationConfig;
use crate::domain::units::Timestamp;
use crate::scheduler;
use crate::store::Store;
use std::sync::Arc;
use std::time::Duration;

/// What the service is told once.
#[derive(Debug, Clone)]
pub struct Config {
    /// The tunables that `init` writes into a graph that has none.
    pub consolidation: ConsolidationConfig,
    /// How each job is scheduled and bounded.
    pub jobs: scheduler::Config,
    /// The scope of whatever names none.
    pub scope: Scope,
    /// When a change is too large to make unasked.
    pub guard: Guard,
}

/// Everything Ebb does, over one database.
pub struct Service {
    store: Arc<Store>,
    clock: Clock,
    config: Config,
}

impl Service {
    /// Puts the service over a store.
    #[must_use]
    pub fn new(store: Store, clock: Clock, config: Config) -> Self {
        Self { store: Arc::new(store), clock, config }
    }

    /// The database below.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The database below, for a worker, whose jobs run in threads of their own.
    #[must_use]
    pub fn share_store(&self) -> Arc<Store> {
        Arc::clone(&self.store)
    }

    /// The scope of whatever names none.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.config.scope
    }

    /// The instant that is meant: the one asked for, else the simulated time of a scratch database, else now.
    ///
    /// # Errors
    /// Of the store.
    pub async fn instant(&self, asked: Option<Timestamp>) -> Result<Timestamp, Error> {
        match asked {
            Some(at) => Ok(at),
            None => Ok(self.store.scratch().await?.flatten().unwrap_or_else(|| self.clock.now())),
        }
    }

    /// How far an instant lies ahead of the server's clock, where time is not simulated; 0 if it does not.
    ///
    /// # Errors
    /// Of the store.
    pub async fn ahead(&self, at: Timestamp) -> Result<Duration, Error> {
        if self.store.scratch().await?.is_some() {
            return Ok(Duration::ZERO);
        }
        let server = self.store.about().await?.server_now;
        let ahead_ms = at.millis().saturating_sub(server.millis()).max(0);
        Ok(Duration::from_millis(ahead_ms.unsigned_abs()))
    }

    fn job_config(&self, job: JobName) -> &scheduler::JobConfig {
        self.config.jobs.of(job)
    }
}
