//! The service: one function for each operation, called by every surface.
//!
//! | function | command line | HTTP |
//! |---|---|---|
//! | [`Service::remember`], [`Service::apply_all`] | `memory add` | `POST /v1/memories`, `:batch` |
//! | [`Service::access_all`], [`Service::access`] | `memory access` | `POST /v1/memories/{id}/access`, `/v1/accesses:batch` |
//! | [`Service::show`], [`Service::list`] | `memory show`, `list` | `GET /v1/memories/{id}`, `/v1/memories` |
//! | [`Service::explain`] | `memory explain`, `plot energy` | `GET /v1/memories/{id}/explain` |
//! | [`Service::why_not`] | `why-not` | `POST /v1/memories/{id}/why-not` |
//! | [`Service::pin`] | `memory pin`, `unpin` | `POST`, `DELETE /v1/memories/{id}/pin` |
//! | [`Service::forget`] | `memory forget` | `DELETE /v1/memories/{id}` |
//! | [`Service::duplicates`], [`Service::merge`] | `memory duplicates`, `merge` | `GET /v1/duplicates`, `POST /v1/memories/{id}/merge` |
//! | [`Service::end_session`] | `session end` | `POST /v1/sessions/{id}/end` |
//! | [`Service::observe`] | `relation observe` | `POST /memory/graph/edges`, `:batch` |
//! | [`Service::relations`], [`Service::relations_after`] | `relation list` | `GET /memory/graph/edges` |
//! | [`Service::relation`], [`Service::fading`] | `plot decay` | – |
//! | [`Service::pin_relation`] | `relation pin`, `unpin` | `pinned` of an observation |
//! | [`Service::recall`] | `recall` | `POST /v1/recall` |
//! | [`Service::context`] | `recall --context` | `POST /v1/context` |
//! | [`Service::rerank`], [`Service::hidden`], [`Service::set_states`] | – | `POST /v1/rerank`, `GET /v1/hidden`, `POST /v1/states` |
//! | [`Service::views`], [`Service::rules`], [`Service::find_lost`] | `eval` | – |
//! | [`Service::report`] | `outcome` | `POST /v1/outcomes` |
//! | [`Service::activate`], [`Service::rank`] | `engine activate`, `pagerank` | `POST /v1/engine/activate`, `pagerank` |
//! | [`Service::queries`] | - | `GET /v1/engine/queries` |
//! | [`Service::xlr`], [`Service::causal`], [`Service::resonate`], [`Service::harmonics`], [`Service::communities`] | `engine xlr`, `causal`, `resonate`, `harmonics`, `communities` | `POST /v1/engine/xlr`, `causal`, `resonate`, `harmonics`, `communities` |
//! | [`Service::refresh_mirror`], [`Service::verify_mirror`], [`Service::mirrored`], [`Service::view`], [`Service::save_mirror`] | `graph stats`, `verify`, `save`, `export` | `GET /v1/mirror` |
//! | [`Service::refresh_all_mirrors`], [`Service::mirrors_status`] | `graph refresh` | in `GET /v1/status` |
//! | [`Service::trace`] | `trail node add`, `edge add`, `deposit`, `explore` | `POST /v1/trails/nodes`, `edges`, `paths`, `explorations` |
//! | [`Service::trail_status`], [`Service::hot_trails`], [`Service::cold_places`] | `trail status`, `hot`, `cold` | `GET /v1/trails/status`, `hot`, `cold` |
//! | [`Service::cheapest_path`], [`Service::next_places`] | `trail path`, `next` | `GET /v1/trails/path`, `next` |
//! | [`Service::evaporate`], [`Service::cycles`], [`Service::advance_cycle`] | `trail evaporate`, `cycle` | `POST /v1/trails/evaporate`, `GET`, `POST /v1/trails/cycle` |
//! | [`Service::assert_facts`], [`Service::facts`] | `fact assert`, `list` | `POST /v1/facts`, `:batch`, `GET /v1/facts` |
//! | [`Service::sweep`], [`Service::sweep_job`] | `sweep` | `POST /v1/decay/sweep`, `GET /v1/decay/jobs/{id}` |
//! | [`Service::policies`], [`Service::set_policy`], [`Service::remove_policy`] | `policy list`, `set`, `remove` | `GET /v1/decay/policies`, `PUT`, `DELETE /v1/decay/policies/{id}` |
//! | [`Service::replayed`] | `policy compare` | – |
//! | [`Service::import`], [`Service::check`], [`Service::replay`] | `import`, `replay`, `demo` | – |
//! | [`Service::run_job`], [`Service::run_job_once`], [`Service::dry_run_job`] | `job run`, `relation decay` | `POST /v1/jobs/{name}/run`, `/memory/graph/decay` |
//! | [`Service::jobs`] | `job list` | `GET /v1/jobs` |
//! | [`Service::history`] | `job history` | – |
//! | [`Service::attempts`] | `attempt list` | `GET /v1/attempts` |
//! | [`Service::attempt`], [`Service::release_attempt`] | `attempt show`, `release` | – |
//! | [`Service::status`], [`Service::health`] | `status`, `health` | `GET /v1/status`, `/v1/health` |
//! | [`Service::initialise`], [`Service::doctor`], [`Service::mend`] | `init`, `doctor` | – |
//! | [`Service::detect`], [`Service::graph_report`] | `adopt --detect`, `report` | – |
//! | [`Service::create_key`], [`Service::keys`], [`Service::revoke_key`] | `key create`, `list`, `revoke` | – |
//! | [`Service::backup`], [`Service::restore`] | `backup`, `restore` | – |
//! | [`Service::scopes`], [`Service::export_scope`], [`Service::delete_scope`], [`Service::scope_receipts`] | `scope list`, `export`, `delete`, `receipts` | `GET /v1/scopes`, `/v1/scopes/{scope}/export`, `DELETE /v1/scopes/{scope}`, `GET /v1/scopes/{scope}/receipts` |
//! | [`Service::inspect`], [`Service::timeline`] | `inspect`, `plot tiers` | – |
//!
//! Every function takes the instant at which the laws are evaluated. A request without one uses the clock; on a scratch
//! database, whose time is simulated, the latest simulated instant.

mod adopted;
mod attempts;
pub mod backup;
mod context;
pub mod doctor;
mod duplicates;
pub mod engine;
pub mod evaluation;
pub mod events;
pub mod explain;
pub mod facts;
pub mod git;
mod jobs;
pub mod keys;
mod layouts;
pub mod memories;
pub mod mirrors;
mod outcomes;
mod past;
mod plans;
mod queries;
pub mod recall;
pub mod relations;
pub mod replayed;
mod report;
mod request_hash;
mod scopes;
pub mod server;
pub mod trails;
mod why_not;

// Types of the layers below, re-exported for surfaces, which name no other layer.
pub use crate::jobs::JobName;
pub use crate::scheduler::driver::{JobReport, Outcome};
pub use crate::scheduler::due::{Rhythm, Schedule};
pub use crate::store::{
    ActivePolicies, Answer, Cell, ChangeToken, CheapestPath, Class, Counter, EndedSession, Error,
    EventEffect, Fact, FactFilter, FactReceipt, Filter, Footprint, Hot, InitReport, KeyRow, MemoryEvent,
    MemoryOrder, NextPlace, ObservationEffect, OutcomeReceipt, Past, Record, RefusedWhy, Relation,
    RelationFilter, SHARED_MAX, SweepState, Tally, TraceEffect, TrailEdge, TrailNode, TrailPlace,
    TrailStatus, Waiting, committing,
};

use crate::clock::Clock;
use crate::domain::guard::Guard;
use crate::domain::ids::Scope;
use crate::domain::mapping::Mapping;
use crate::domain::tunables::ConsolidationConfig;
use crate::domain::units::Timestamp;
use crate::embedder::Embedder;
use crate::mirror::compute::Compute;
use crate::mirror::{self, Learning, Mirror};
use crate::scheduler;
use crate::store::Store;
use ebb_engine::plasticity::LearningMode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OnceCell, watch};

/// The configuration of the service.
#[derive(Debug, Clone)]
pub struct Config {
    /// The tunables that `init` writes into a graph without any.
    pub consolidation: ConsolidationConfig,
    /// How each job is scheduled and bounded: the value in force, which a reload of the configuration replaces.
    pub jobs: watch::Sender<Arc<scheduler::Config>>,
    /// Whether schedules also apply to a scratch database.
    pub on_scratch: bool,
    /// The default scope.
    pub scope: Scope,
    /// Size from which a change must be confirmed.
    pub guard: Guard,
    /// The mirrors that answer recalls.
    pub mirror: mirror::Config,
    /// The parameters of recall.
    pub engine: recall::RecallConfig,
    /// Which recalls are learned from.
    pub learn: LearningMode,
    /// The embedder, if one is configured.
    pub embedder: Option<Arc<Embedder>>,
    /// Known layouts of other libraries, by the name of their preset.
    pub presets: Vec<(&'static str, Mapping)>,
}

/// All operations over one database.
pub struct Service {
    store: Arc<Store>,
    /// The store with connections of its own, for work outside requests.
    jobs_store: Arc<Store>,
    clock: Clock,
    config: Config,
    mirror: Arc<Mirror>,
    compute: Compute,
    /// The simulated time when this process last asked for the present; `None` where time is real.
    simulated: Mutex<Option<Timestamp>>,
    prepared: OnceCell<()>,
}

impl Service {
    /// Creates the service over a store.
    #[must_use]
    pub fn new(store: Store, clock: Clock, config: Config) -> Self {
        store.configure_tunables(&config.consolidation);
        let store = Arc::new(store);
        let jobs_store = Arc::new(store.for_jobs());
        let mirror = Mirror::new(Arc::clone(&jobs_store), config.mirror.clone());
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let compute = Compute::new(cores);
        let (simulated, prepared) = (Mutex::default(), OnceCell::new());
        Self { store, jobs_store, clock, config, mirror, compute, simulated, prepared }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Checks, once, that the schema of the database exists: writes depend on its constraints.
    ///
    /// # Errors
    /// [`Error::Schema`] for a database that is not initialised; errors of the connection.
    pub async fn prepared(&self) -> Result<(), Error> {
        self.prepared.get_or_try_init(|| self.store.check_schema()).await.copied()
    }

    /// The store for a worker, whose jobs run in threads and over connections of their own.
    #[must_use]
    pub fn share_store(&self) -> Arc<Store> {
        Arc::clone(&self.jobs_store)
    }

    /// The default scope.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.config.scope
    }

    /// The instant of a request: the stated one, else the simulated time of a scratch database, else now by the
    /// server's clock, since the clock of this process may be wrong and would date its writes wrongly.
    pub async fn instant(&self, stated: Option<Timestamp>) -> Result<Timestamp, Error> {
        match stated {
            Some(at) => Ok(at),
            None => {
                let present = self.store.present().await?;
                let simulated = present.scratch.flatten();
                *self.simulated.lock().unwrap_or_else(PoisonError::into_inner) = simulated;
                Ok(simulated.unwrap_or_else(|| self.counted(present.server)))
            }
        }
    }

    /// The instant of a question that is answered from memory: the simulated time that mirrors were last refreshed at,
    /// else now by the clock of this process.
    fn asked_at(&self) -> Timestamp {
        let simulated = *self.simulated.lock().unwrap_or_else(PoisonError::into_inner);
        simulated.unwrap_or_else(|| self.clock.now())
    }

    /// Now, by the server's clock, even where time is simulated.
    async fn now(&self) -> Result<Timestamp, Error> {
        Ok(self.counted(self.store.present().await?.server))
    }

    /// The server's instant, unless the clock of this process is manual.
    fn counted(&self, server: Timestamp) -> Timestamp {
        match self.clock {
            Clock::Real | Clock::Skewed(_) => server,
            Clock::Manual(_) => self.clock.now(),
        }
    }

    /// The clock of this process.
    #[must_use]
    pub const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// How far an instant lies ahead of the server's clock; 0 if it does not, or if time is simulated.
    pub async fn ahead(&self, at: Timestamp) -> Result<Duration, Error> {
        let present = self.store.present().await?;
        if present.scratch.is_some() {
            return Ok(Duration::ZERO);
        }
        let ahead_ms = at.millis().saturating_sub(present.server.millis()).max(0);
        Ok(Duration::from_millis(ahead_ms.unsigned_abs()))
    }

    /// The parameters of learning that the mirrors of this process use.
    #[must_use]
    pub fn learning(&self) -> Learning {
        self.config.mirror.learning()
    }

    /// The embedder, if one is configured.
    #[must_use]
    pub const fn embedder(&self) -> Option<&Arc<Embedder>> {
        self.config.embedder.as_ref()
    }

    /// How jobs are scheduled and bounded; a value sent here is in force for every operation from then on.
    #[must_use]
    pub const fn schedules(&self) -> &watch::Sender<Arc<scheduler::Config>> {
        &self.config.jobs
    }

    fn job_config(&self, job: JobName) -> scheduler::JobConfig {
        self.config.jobs.borrow().of(job).clone()
    }
}

/// Rejects a number outside 1 to `most`, naming it.
fn check_range(name: &str, value: usize, most: usize) -> Result<(), String> {
    match (1..=most).contains(&value) {
        true => Ok(()),
        false => Err(format!("{name} is {value}; it must be 1 to {most}")),
    }
}
