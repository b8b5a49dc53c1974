//! Opens and closes the layers for one verb: server, store, service.
//!
//! The address of a server travels from `provision` to `store` here and nowhere else; the two do not know each other. A
//! managed server is initialised when it is opened, since no other program writes there; a given database is
//! initialised by a person, with `ebb init`.

use crate::settings::{Settings, adopt, sections};
use ebb_core::clock::Clock;
use ebb_core::domain::ids::Scope;
use ebb_core::domain::policy::Regime;
use ebb_core::domain::relation::FadingError;
use ebb_core::domain::similarity::Similarity;
use ebb_core::embedder::{self, Embedder};
use ebb_core::mirror;
use ebb_core::scheduler;
use ebb_core::service::events::in_memory::EventRules;
use ebb_core::service::{self, Service};
use ebb_core::store::{self, Store};
use ebb_provision::{Endpoint, Keeper, Origin};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// An error of opening.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No server.
    #[error(transparent)]
    Provision(#[from] ebb_provision::Error),
    /// A server that cannot be used.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Relations that cannot fade.
    #[error(transparent)]
    Fading(#[from] FadingError),
    /// Trails that cannot be.
    #[error("the section [pheromones] cannot be used: {0}")]
    Trails(String),
    /// A graph of another library that cannot be read.
    #[error("the list [[adopt]] cannot be used: {0}")]
    Adopt(String),
    /// Recall that cannot be.
    #[error("the sections [mirror] and [engine] cannot be used: {0}")]
    Recall(String),
    /// An embedder that cannot be used.
    #[error("the section [embedding] cannot be used: {0}")]
    Embedder(String),
    /// The path of this very program is not known, so no keeper can be started.
    #[error("the path of the ebb program is not known to the system: {0}")]
    Program(#[source] std::io::Error),
}

/// The service over a server that is kept running as long as this lives.
pub struct Open {
    /// Everything Ebb does.
    pub service: Arc<Service>,
    server: ebb_provision::Server,
}

impl Open {
    /// How to reach the server.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.server.endpoint
    }

    /// How long the server runs on after its last use; `None` if it is not Ebb's to stop, or stays.
    #[must_use]
    pub fn keep(&self) -> Option<Duration> {
        self.server.keep
    }

    /// Releases the server; waits until one without other users has stopped.
    pub async fn close(self) -> Result<(), Error> {
        let Self { service, server } = self;
        drop(service);
        Ok(server.release().await?)
    }
}

/// The program that keeps a managed server running: this one.
pub fn keeper() -> Result<Keeper, Error> {
    Ok(Keeper::of(&std::env::current_exe().map_err(Error::Program)?))
}

/// Finds or starts the server of the settings and opens the service over it. A managed one is initialised, unless it refuses
/// writes: then each verb reports that, and the doctor names the fix.
pub async fn open(settings: &Settings, scope: Scope) -> Result<Open, Error> {
    let open = connect(settings, scope).await?;
    if open.endpoint().origin != Origin::Given
        && let Err(why) = open.service.ensure_initialised().await
        && why.refusal().is_none()
    {
        open.close().await?;
        return Err(why.into());
    }
    Ok(open)
}

/// As [`open`], without initialising the database.
pub async fn connect(settings: &Settings, scope: Scope) -> Result<Open, Error> {
    let server = ebb_provision::acquire(&settings.neo4j, &keeper()?).await?;
    match service_over(&server.endpoint, settings, scope) {
        Ok(service) => Ok(Open { service: Arc::new(service), server }),
        Err(why) => {
            server.release().await?;
            Err(why)
        }
    }
}

/// The service over a running server.
pub fn service_over(endpoint: &Endpoint, settings: &Settings, scope: Scope) -> Result<Service, Error> {
    let store = Store::connect(&store::Config {
        uri: endpoint.uri.clone(),
        username: endpoint.username.clone(),
        password: endpoint.password.clone(),
        database: endpoint.database.clone(),
        connections: settings.pools.connections,
        acquire_timeout: settings.pools.acquire_timeout,
        lease: settings.worker.lease,
        similarity: similarity(settings),
        fading: settings.relation.fading()?,
        pins: settings.relation.pinned.clone(),
        trails: settings.pheromones.trails(&settings.mirror.labels).map_err(Error::Trails)?,
        retention: settings.retention.into(),
        mappings: settings.mappings().map_err(Error::Adopt)?,
        regime: Regime {
            policies: settings.policies.clone(),
            epsilon: settings.facts.epsilon,
            guard: settings.guard.into(),
            first_run_dry: settings.guard.first_run_dry,
        },
    })?;
    let config = service::Config {
        consolidation: settings.memory.clone(),
        jobs: watch::Sender::new(Arc::new(schedules(settings))),
        on_scratch: settings.worker.on_scratch,
        guard: settings.guard.into(),
        mirror: mirror_config(settings, &scope, endpoint.origin)?,
        engine: settings.engine.rules().map_err(|why| Error::Recall(why.to_string()))?,
        learn: settings.engine.learn,
        embedder: embedder(settings)?,
        presets: adopt::presets().map_err(Error::Adopt)?,
        scope,
    };
    Ok(Service::new(store, Clock::Real, config))
}

/// Settings of views of events in memory, as those of the store and of its mirrors.
pub fn event_rules(settings: &Settings) -> Result<EventRules, Error> {
    Ok(EventRules {
        kinds: settings.engine.kinds().map_err(|why| Error::Recall(why.to_string()))?,
        range: settings.engine.range().map_err(|why| Error::Recall(why.to_string()))?,
        fading: settings.relation.fading()?,
        pins: settings.relation.pinned.clone(),
        trails: settings.pheromones.trails(&settings.mirror.labels).map_err(Error::Trails)?,
        mappings: settings.mappings().map_err(Error::Adopt)?,
    })
}

/// How memories are compared.
#[must_use]
pub fn similarity(settings: &Settings) -> Similarity {
    Similarity {
        dimensions: settings.embedding.dimensions,
        text_threshold: settings.similarity.text_threshold,
        model: settings.embedding.model().map(str::to_owned),
    }
}

/// The embedder, if one is configured.
fn embedder(settings: &Settings) -> Result<Option<Arc<Embedder>>, Error> {
    let of = &settings.embedding;
    let (Some(address), Some(model), Some(dimensions)) = (&of.url, of.model(), of.dimensions) else {
        return Ok(None);
    };
    let unusable =
        |file: &Path, why| Error::Embedder(format!("the key file {} cannot be used: {why}", file.display()));
    let key = of.api_key_file.as_deref();
    let key =
        key.map(|file| ebb_provision::secret_in(file).map_err(|why| unusable(file, why))).transpose()?;
    let config = embedder::Config {
        address: address.clone(),
        model: model.to_owned(),
        dimensions,
        key,
        batch: of.batch,
        timeout: of.timeout,
        recall_timeout: of.recall_timeout,
        expired: settings.mirror.expired,
        pauses: embedder::Pauses::default(),
    };
    Ok(Some(Arc::new(Embedder::new(config).map_err(Error::Embedder)?)))
}

/// The configuration of mirrors: the scopes of the settings, and the scope of this command.
fn mirror_config(settings: &Settings, scope: &Scope, origin: Origin) -> Result<mirror::Config, Error> {
    let mut scopes = settings.mirror.scopes.clone();
    if !scopes.contains(scope) {
        scopes.push(scope.clone());
    }
    let range = settings.engine.range().map_err(|why| Error::Recall(why.to_string()))?;
    Ok(mirror::Config {
        max_bytes: settings.mirror.max_bytes,
        expired: settings.mirror.expired,
        refresh: settings.mirror.refresh,
        staleness: settings.mirror.staleness,
        scopes,
        connections: settings.mirror.connections,
        kinds: settings.engine.kinds().map_err(|why| Error::Recall(why.to_string()))?,
        range,
        rules: settings.engine.plasticity().map_err(|why| Error::Recall(why.to_string()))?,
        saves: saves(settings, origin),
    })
}

/// Where mirrors are saved: in the folder of the settings, or beside a managed database, which holds the same texts.
fn saves(settings: &Settings, origin: Origin) -> Option<mirror::saving::Config> {
    let managed = (origin != Origin::Given).then(|| settings.neo4j.home.join("mirror"));
    let folder = settings.mirror.folder.clone().or(managed)?;
    Some(mirror::saving::Config { folder, every: settings.mirror.persist_every })
}

/// The schedules of all jobs.
#[must_use]
pub fn schedules(settings: &Settings) -> scheduler::Config {
    let jobs = &settings.jobs;
    let mut fade = job(&jobs.fade);
    fade.enabled &= settings.relation.enabled;
    fade.rhythm = fade.rhythm.or_else(|| Some(jobs.fade.rhythm_of(settings.relation.schedule.clone())));
    let mut embed = job(&jobs.embed);
    embed.enabled &= settings.embedding.url.is_some();
    scheduler::Config([
        job(&jobs.audit),
        job(&jobs.decay),
        job(&jobs.coactivate),
        job(&jobs.cluster),
        embed,
        job(&jobs.reinforce),
        job(&jobs.promote),
        job(&jobs.evaporate),
        fade,
        job(&jobs.sweep),
        job(&jobs.learn),
    ])
}

fn job(settings: &sections::Job) -> scheduler::JobConfig {
    scheduler::JobConfig {
        enabled: settings.enabled,
        rhythm: settings.rhythm(),
        jitter: settings.jitter,
        time_limit: settings.time_limit,
    }
}
