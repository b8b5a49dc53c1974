//! The sections of the configuration: the only definition of its keys and of their valid values.
//!
//! The list of keys, the checks, `ebb config show` and the reference page follow from these types; `config/default.toml`
//! holds the default and the description of each key.
#![expect(missing_docs, reason = "each field is described in config/default.toml")]

use super::values::{
    DAY, HOUR, KEPT_MAX, MINUTE, SECOND, address, bytes, connections, embedder, mebibytes, name, names,
    origins, pattern, port, ratio, scopes, secret, span, uri, whole, zone,
};
use ebb_core::domain::ids::Scope;
use ebb_core::domain::relation::{Fading, FadingError, Pins};
use ebb_core::domain::trail::{
    Allowed, Evaporation, EvaporationError, MirroredLabel, NamesError, Rates, Trails,
};
use ebb_core::domain::{guard, retention};
use ebb_core::embedder;
use ebb_core::scheduler::calendar::{Pattern, Zone};
use ebb_core::scheduler::due::Rhythm;
use ebb_engine::graph::kinds::NodeType;
use ebb_provision::Way;
use secrecy::SecretString;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The section `[neo4j]`: the server to use, and how to run a managed one.
#[derive(Deserialize)]
#[serde(remote = "ebb_provision::Config")]
pub(super) struct Server {
    #[serde(default, deserialize_with = "uri")]
    uri: Option<String>,
    username: String,
    #[serde(default, deserialize_with = "secret")]
    password: Option<SecretString>,
    password_file: Option<PathBuf>,
    database: String,
    insecure: bool,
    home: PathBuf,
    cache: Option<PathBuf>,
    way: Option<Way>,
    image: String,
    docker: Option<PathBuf>,
    java: Option<PathBuf>,
    mvn: Option<PathBuf>,
    #[serde(deserialize_with = "port")]
    bolt_port: u16,
    #[serde(deserialize_with = "port")]
    http_port: u16,
    #[serde(deserialize_with = "mebibytes::<128, _>")]
    heap_mb: u32,
    #[serde(deserialize_with = "mebibytes::<8, _>")]
    pagecache_mb: u32,
    #[serde(skip)]
    is_brief: bool,
    #[serde(deserialize_with = "span::<0, DAY, _, _>")]
    keep: Duration,
    #[serde(deserialize_with = "span::<SECOND, HOUR, _, _>")]
    start_timeout: Duration,
}

/// The keys of `[neo4j]` about connections.
#[derive(Debug, Clone, Deserialize)]
pub struct Pools {
    #[serde(deserialize_with = "connections::<1_000, _>")]
    pub connections: usize,
    #[serde(deserialize_with = "span::<100, { 10 * MINUTE }, _, _>")]
    pub acquire_timeout: Duration,
}

/// The section `[similarity]`: how memories without embeddings are compared.
#[derive(Debug, Clone, Deserialize)]
pub struct Similarity {
    #[serde(deserialize_with = "ratio")]
    pub text_threshold: f64,
}

/// The section `[embedding]`: the embeddings of memories, and the server that computes them.
#[derive(Debug, Clone, Deserialize)]
pub struct Embedding {
    #[serde(default, deserialize_with = "embedder")]
    pub url: Option<embedder::Address>,
    #[serde(default, deserialize_with = "name")]
    pub model: Option<String>,
    #[serde(default, deserialize_with = "dimensions")]
    pub dimensions: Option<usize>,
    pub api_key_file: Option<PathBuf>,
    #[serde(deserialize_with = "texts")]
    pub batch: usize,
    #[serde(deserialize_with = "span::<SECOND, { 10 * MINUTE }, _, _>")]
    pub timeout: Duration,
    #[serde(deserialize_with = "span::<10, { 10 * SECOND }, _, _>")]
    pub recall_timeout: Duration,
}

impl Embedding {
    /// The model of the embedder, if one is configured.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref().filter(|_| self.url.is_some())
    }
}

fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    whole(from, 1, 256, "texts")
}

fn dimensions<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
    whole(from, 1, 4_096, "numbers").map(Some)
}

/// The section `[relation]`, with the names of the relation decay document.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Relation {
    pub enabled: bool,
    pub half_life_days: f64,
    #[serde(deserialize_with = "ratio")]
    pub minimum_weight: f64,
    #[serde(deserialize_with = "pattern")]
    pub schedule: Box<Pattern>,
    #[serde(default)]
    pub pinned: Pins,
}

impl Relation {
    /// The law that these values make.
    pub fn fading(&self) -> Result<Fading, FadingError> {
        Fading::new(self.half_life_days, self.minimum_weight)
    }
}

/// The section `[pheromones]`, with the names of the stigmergy document.
#[derive(Debug, Clone, Deserialize)]
pub struct Pheromones {
    pub exploitation_decay: f64,
    pub exploration_decay: f64,
    pub success_decay: f64,
    pub traversal_decay: f64,
    pub recency_decay: f64,
    #[serde(deserialize_with = "cycles")]
    pub decay_interval_cycles: u32,
    #[serde(deserialize_with = "span::<SECOND, { 366 * DAY }, _, _>")]
    pub cycle: Duration,
    #[serde(deserialize_with = "names")]
    pub labels: Vec<String>,
    #[serde(deserialize_with = "names")]
    pub relationship_types: Vec<String>,
    #[serde(deserialize_with = "pheromone")]
    pub pheromone_cap: f64,
}

fn cycles<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    whole(from, 1, 1_000_000, "cycles")
}

fn pheromone<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    whole(from, 1, 1_000_000, "pheromone")
}

impl Pheromones {
    pub(super) const fn rates(&self) -> Rates {
        Rates {
            exploitation: self.exploitation_decay,
            exploration: self.exploration_decay,
            success: self.success_decay,
            traversal: self.traversal_decay,
            recency: self.recency_decay,
        }
    }

    /// The rates of evaporation.
    pub fn evaporation(&self) -> Result<Evaporation, EvaporationError> {
        Evaporation::new(self.rates(), self.pheromone_cap)
    }

    /// The labels and types that carry pheromones.
    pub fn allowed(&self) -> Result<Allowed, NamesError> {
        Allowed::new(&self.labels, &self.relationship_types)
    }

    /// The parameters of all operations on trails.
    pub fn trails(&self, mirrored: &[MirroredLabel]) -> Result<Trails, String> {
        Ok(Trails {
            evaporation: self.evaporation().map_err(|why| why.to_string())?,
            allowed: self.allowed().map_err(|why| why.to_string())?,
            cycle_ms: i64::try_from(self.cycle.as_millis()).unwrap_or(i64::MAX),
            interval_cycles: i64::from(self.decay_interval_cycles),
            mirrored: mirrored.to_vec(),
        })
    }
}

/// The section `[facts]`: how closely confidence follows the policies.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Facts {
    #[serde(deserialize_with = "ratio")]
    pub epsilon: f64,
}

/// The sections `[jobs.<name>]`.
#[derive(Debug, Clone, Deserialize)]
pub struct Jobs {
    pub audit: Job,
    pub decay: Job,
    pub coactivate: Job,
    pub cluster: Job,
    pub embed: Job,
    pub reinforce: Job,
    pub promote: Job,
    pub evaporate: Job,
    pub fade: Job,
    pub sweep: Job,
    pub learn: Job,
}

/// One section `[jobs.<name>]`.
#[derive(Debug, Clone, Deserialize)]
pub struct Job {
    pub enabled: bool,
    #[serde(default, deserialize_with = "span::<SECOND, { 28 * DAY }, _, _>")]
    pub every: Option<Duration>,
    #[serde(default, deserialize_with = "pattern")]
    pub cron: Option<Box<Pattern>>,
    #[serde(deserialize_with = "zone")]
    pub timezone: Zone,
    #[serde(deserialize_with = "span::<0, HOUR, _, _>")]
    pub jitter: Duration,
    #[serde(deserialize_with = "span::<SECOND, DAY, _, _>")]
    pub time_limit: Duration,
}

impl Job {
    /// The rhythm set by the configuration; `None` leaves it to the graph.
    #[must_use]
    pub fn rhythm(&self) -> Option<Rhythm> {
        let every = self.every.and_then(|every| i64::try_from(every.as_millis()).ok());
        self.cron.clone().map(|cron| self.rhythm_of(cron)).or_else(|| every.map(Rhythm::Every))
    }

    /// The rhythm of a pattern in the time zone of this job.
    #[must_use]
    pub fn rhythm_of(&self, cron: Box<Pattern>) -> Rhythm {
        Rhythm::Cron(cron, self.timezone)
    }
}

/// The section `[worker]`: leases, the interval of ticks, and the port for probes.
#[derive(Debug, Clone, Deserialize)]
pub struct Worker {
    #[serde(deserialize_with = "span::<SECOND, { 10 * MINUTE }, _, _>")]
    pub lease: Duration,
    #[serde(deserialize_with = "span::<50, MINUTE, _, _>")]
    pub tick: Duration,
    #[serde(default, deserialize_with = "address")]
    pub listen: Option<SocketAddr>,
    pub on_scratch: bool,
}

/// The section `[http]`: addresses and access of the API.
#[derive(Debug, Clone, Deserialize)]
pub struct Http {
    #[serde(default, deserialize_with = "address")]
    pub listen: Option<SocketAddr>,
    pub proxy: bool,
    #[serde(default, deserialize_with = "origins")]
    pub origins: Vec<String>,
    #[serde(deserialize_with = "rate")]
    pub rate: u32,
}

fn rate<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    whole(from, 1, 1_000_000, "requests a second")
}

/// The section `[mirror]`: contents and freshness of the graph in memory for recall.
#[derive(Debug, Clone, Deserialize)]
pub struct Mirror {
    #[serde(deserialize_with = "scopes")]
    pub scopes: Vec<Scope>,
    #[serde(deserialize_with = "mirrored")]
    pub labels: Vec<MirroredLabel>,
    #[serde(deserialize_with = "bytes")]
    pub max_bytes: u64,
    pub expired: bool,
    #[serde(deserialize_with = "span::<SECOND, HOUR, _, _>")]
    pub refresh: Duration,
    #[serde(deserialize_with = "span::<SECOND, DAY, _, _>")]
    pub staleness: Duration,
    #[serde(deserialize_with = "connections::<64, _>")]
    pub connections: usize,
    pub folder: Option<PathBuf>,
    #[serde(deserialize_with = "recalls")]
    pub persist_every: u64,
}

/// Labels, each with the kind of its nodes: its own name, or one after "=".
fn mirrored<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<MirroredLabel>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    let all: Result<Vec<MirroredLabel>, _> = texts.iter().map(|text| MirroredLabel::new(text)).collect();
    let all = all.map_err(D::Error::custom)?;
    for (n, one) in all.iter().enumerate() {
        let label = one.label().as_str();
        let is_own = |kind: Option<NodeType>| matches!(kind, Some(NodeType::Custom(_)));
        let known = NodeType::of_name(one.kind());
        if ["Memory", "Entity", "SemanticCluster"].contains(&label) || is_own(known) && one.kind() != label {
            return Err(D::Error::custom(format!(
                "{label} as {}: memories, entities, clusters and places have fixed kinds",
                one.kind()
            )));
        }
        if known.is_none() && one.kind() != label {
            let kinds: Vec<&str> =
                NodeType::named().filter(|kind| !is_own(Some(*kind))).filter_map(NodeType::name).collect();
            return Err(D::Error::custom(format!(
                "{:?} is no kind; it must be one of {}",
                one.kind(),
                kinds.join(", ")
            )));
        }
        if all[..n].iter().any(|other| other.label() == one.label()) {
            return Err(D::Error::custom(format!("{label} is in the list twice")));
        }
    }
    Ok(all)
}

fn recalls<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    whole(from, 0, 1_000_000, "recalls")
}

/// The section `[mcp]`: permissions of agents over MCP.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Mcp {
    pub allow_writes: bool,
}

/// The section `[guard]`: size from which a change needs confirmation.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Guard {
    pub enabled: bool,
    #[serde(deserialize_with = "ratio")]
    pub max_affected_ratio: f64,
    pub first_run_dry: bool,
}

impl From<Guard> for guard::Guard {
    fn from(guard: Guard) -> Self {
        Self { enabled: guard.enabled, max_affected_ratio: guard.max_affected_ratio }
    }
}

/// The section `[retention]`: how long Ebb keeps its own records.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Retention {
    #[serde(deserialize_with = "span::<HOUR, KEPT_MAX, _, _>")]
    pub requests: Duration,
    #[serde(deserialize_with = "span::<HOUR, KEPT_MAX, _, _>")]
    pub journal: Duration,
    // Runs are kept longer than the window for catching up missed ones.
    #[serde(deserialize_with = "span::<{ 8 * DAY }, KEPT_MAX, _, _>")]
    pub runs: Duration,
    #[serde(deserialize_with = "span::<DAY, KEPT_MAX, _, _>")]
    pub sessions: Duration,
    #[serde(default, deserialize_with = "span::<DAY, KEPT_MAX, _, _>")]
    pub decayed_facts: Option<Duration>,
    #[serde(default, deserialize_with = "span::<DAY, KEPT_MAX, _, _>")]
    pub tombstones: Option<Duration>,
}

impl From<Retention> for retention::Retention {
    fn from(kept: Retention) -> Self {
        let Retention { requests, journal, runs, sessions, decayed_facts, tombstones } = kept;
        Self { requests, journal, runs, sessions, decayed_facts, tombstones, paced: true }
    }
}

/// The section `[recall_guard]`: questions that are asked again after each change of the mirrors.
#[derive(Debug, Clone, Deserialize)]
pub struct RecallGuard {
    pub questions: Option<PathBuf>,
    pub baseline: Option<PathBuf>,
    #[serde(deserialize_with = "ratio")]
    pub max_loss: f64,
    #[serde(deserialize_with = "span::<SECOND, DAY, _, _>")]
    pub every: Duration,
}
