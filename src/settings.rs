//! Settings: the configuration of all modules, merged from four layers.
//!
//! `config/default.toml` (embedded) < `ebb.toml` in the current folder, or the file of `--config`, in TOML or YAML < the
//! environment < flags. The environment is `EBB__SECTION__KEY` (`EBB__JOBS__DECAY__EVERY=30m`), and the usual `NEO4J_URI`,
//! `NEO4J_USERNAME`, `NEO4J_PASSWORD` or `NEO4J_PASSWORD_FILE`, `NEO4J_DATABASE`, `EBB_NEO4J`, `EBB_NEO4J_IMAGE`,
//! `EBB_DECAY_POLICIES` and `STIGMEM_DECAY_POLICIES`, which count as unset when empty; where both name one key, `EBB__` wins.
//! The case of a key does not matter, because variables lose it.
//!
//! Defaults are in `config/default.toml` only: no section implements Rust's `Default`. The types of [`sections`] are the one
//! source of the keys, the checks, `config show` and the reference page; no list of keys stands beside them.
//!
//! # Design notes
//! An unknown key is an error: a misspelt `decayBatchSize` that silently does nothing is found months later. All faults are
//! reported at once, each with its place, because a configuration is corrected in an editor, not by running the program
//! once per mistake.
//!
//! Invariant: no secret is ever printed (held by `tests::a_secret_is_never_printed`).

pub mod adopt;
mod agreement;
pub mod engine;
mod environment;
mod fault;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod keys;
mod layers;
mod policies;
mod raw;
mod reader;
pub mod sections;
#[cfg(test)]
mod tests;
mod values;

pub use environment::Environment;
pub use fault::{Fault, Faults, Origin};

use crate::telemetry;
use config::Config;
use ebb_core::domain::mapping::Mapping;
use ebb_core::domain::policy::Policies;
use ebb_core::domain::tunables::ConsolidationConfig;
use keys::KEYS;
use layers::{Given, Layer};
use reader::Privacy;
use serde::{Deserialize, Serialize};
use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The embedded defaults: every key with its unit and its reason.
pub const DEFAULT_TOML: &str = include_str!("../config/default.toml");
/// Hashes of secrets: with keys of this process, so that one that is printed does not help to guess a secret.
static HASHES: LazyLock<RandomState> = LazyLock::new(RandomState::new);
/// The file that is read from the current folder when no other is named.
pub const FILE_NAME: &str = "ebb.toml";

/// What the command line adds to the layers.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// The file to read instead of `ebb.toml` in the current folder; it must exist.
    pub config: Option<PathBuf>,
    /// Values given by flags; later ones win.
    pub set: Vec<Flag>,
}

/// A flag that gives a value of the configuration.
#[derive(Debug, Clone)]
pub struct Flag {
    /// The key, as `config show` prints it.
    pub key: &'static str,
    /// The value.
    pub value: String,
    /// The flag as it was written: what faults and `config show` name.
    pub written: String,
}

/// The configuration in force, checked. Its sections stand in the order of `config show`.
#[derive(Debug, Clone, Deserialize)]
pub struct Settings {
    /// Which facts age, and how.
    #[serde(default, deserialize_with = "policies::read")]
    pub policies: Policies,
    /// Which graphs of other libraries are read.
    #[serde(default)]
    pub adopt: Vec<adopt::Adopt>,
    /// Which server, and how to run a managed one.
    #[serde(deserialize_with = "sections::Server::deserialize")]
    pub neo4j: ebb_provision::Config,
    /// Connections to it; these keys too are written in the section `[neo4j]`.
    pub pools: sections::Pools,
    /// The content of the ConsolidationConfig node that `ebb init` writes; it passes the law's own check.
    pub memory: ConsolidationConfig,
    /// How memories without embeddings are compared.
    pub similarity: sections::Similarity,
    /// Which embeddings memories have.
    pub embedding: sections::Embedding,
    /// How relations fade.
    pub relation: sections::Relation,
    /// How trails evaporate.
    pub pheromones: sections::Pheromones,
    /// How closely confidence follows the policies.
    pub facts: sections::Facts,
    /// When and how long jobs run.
    pub jobs: sections::Jobs,
    /// How a worker holds what it works on.
    pub worker: sections::Worker,
    /// Where the API answers, and to whom.
    pub http: sections::Http,
    /// What is held in memory for recall.
    pub mirror: sections::Mirror,
    /// Which questions are asked again while maintenance goes on.
    pub recall_guard: sections::RecallGuard,
    /// How signals spread and hits are ranked.
    pub engine: engine::Config,
    /// What agents may do through MCP.
    pub mcp: sections::Mcp,
    /// When a change is too large to make without confirmation.
    pub guard: sections::Guard,
    /// How long Ebb keeps its own records.
    pub retention: sections::Retention,
    /// What is logged, and how.
    pub log: telemetry::Config,
    #[serde(skip)]
    rows: Vec<Row>,
}

/// One key of the configuration in force, as `ebb config show` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Section, dot, name.
    pub key: &'static str,
    /// The value; none where nothing is set; stars for a secret.
    pub value: Option<serde_json::Value>,
    /// `default`, `default, by NAME`, `FILE:LINE:COLUMN`, `env NAME`, `flag --NAME`, or `unset`.
    pub from: String,
    /// A hash of a secret, which tells whether it was changed.
    #[serde(skip)]
    secret: Option<u64>,
}

impl Row {
    /// Whether another row of the key has another value.
    #[must_use]
    pub fn is_other(&self, row: &Self) -> bool {
        (&self.value, self.secret) != (&row.value, row.secret)
    }
}

impl Settings {
    /// The configuration of this process: its environment, its current folder, its flags.
    ///
    /// # Errors
    /// Every fault there is, each with its place.
    pub fn load(flags: &Flags, environment: &Environment) -> Result<Self, Faults> {
        let mut faults = Vec::new();
        let file = match &flags.config {
            Some(named) => Layer::of_file(named, &mut faults),
            // One that leads nowhere or may not be looked at is a fault, rather than none.
            None => match std::fs::symlink_metadata(FILE_NAME) {
                Err(why) if why.kind() == ErrorKind::NotFound => Layer::default(),
                _ => Layer::of_found_file(Path::new(FILE_NAME), &mut faults),
            },
        };
        Self::from_layers(file, flags, environment, faults)
    }

    /// Every key with its value and where that came from; secrets are stars.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The mappings of the list `[[adopt]]`.
    ///
    /// # Errors
    /// The first that cannot be used.
    pub fn mappings(&self) -> Result<Vec<Mapping>, String> {
        let mappings: Vec<Mapping> =
            self.adopt.iter().map(adopt::Adopt::mapping).collect::<Result<_, _>>()?;
        let rules = || mappings.iter().flat_map(|mapping| &mapping.nodes);
        let named: Vec<_> =
            rules().map(|rule| (rule.label_name(), rule.marks().collect::<Vec<_>>())).collect();
        match named.iter().enumerate().find(|(at, rule)| named[..*at].contains(rule)) {
            Some((_, (label, _))) => {
                Err(format!("the label {label} has the same rule in two of its mappings"))
            }
            None => Ok(mappings),
        }
    }

    fn from_layers(
        file: Layer,
        flags: &Flags,
        environment: &Environment,
        mut faults: Vec<Fault>,
    ) -> Result<Self, Faults> {
        let mut layers = [
            Layer::of_defaults(environment, &mut faults),
            file,
            Layer::of_environment(environment, &mut faults),
            Layer::of_flags(&flags.set, &mut faults),
        ];
        agreement::choose(&mut layers, &mut faults);
        agreement::merge_policies(&mut layers);
        match fill(&layers) {
            Ok(settings) => {
                agreement::check(&settings, &layers, &mut faults);
                if faults.is_empty() { Ok(settings) } else { Err(Faults::new(faults)) }
            }
            Err(why) if faults.is_empty() => {
                Err(Faults::new(vec![Fault { origin: Origin::Default, what: why.to_string() }]))
            }
            Err(_) => Err(Faults::new(faults)),
        }
    }
}

/// The policies of a TOML text, as they would stand in a configuration alone.
pub fn policies_of(text: &str) -> Result<Policies, Faults> {
    let mut faults = Vec::new();
    let place = |line, column| Origin::File { path: "policies.toml".into(), line, column };
    let layer = Layer::of_toml(text, &place, &mut faults);
    let settings = Settings::from_layers(layer, &Flags::default(), &Environment::default(), faults)?;
    Ok(settings.policies)
}

/// A commented `ebb.toml` that changes nothing: every key with its default, as a comment.
#[must_use]
pub fn sample() -> String {
    let line = |line: &str| match line.chars().next() {
        None | Some('#' | '[') => format!("{line}\n"),
        Some(_) => format!("# {line}\n"),
    };
    DEFAULT_TOML.lines().map(line).collect()
}

/// Merges the layers, from the lowest to the highest. Each value was checked, so only a key without any can be at fault.
fn fill(layers: &[Layer]) -> Result<Settings, config::ConfigError> {
    let builder = layers.iter().fold(Config::builder(), |builder, layer| builder.add_source(layer.clone()));
    let settings: Settings = builder.build()?.try_deserialize()?;
    Ok(Settings { rows: KEYS.iter().map(|key| row(layers, key)).collect(), ..settings })
}

fn row(layers: &[Layer], key: &'static keys::Key) -> Row {
    let given = winner(layers, key);
    let shown = |given: &Given| match key.privacy {
        Privacy::Secret => Some("********".into()),
        _ => given.value.clone().try_deserialize().ok(),
    };
    let from = given.map_or_else(|| "unset".to_owned(), |given| given.origin.to_string());
    let secret = given.filter(|_| matches!(key.privacy, Privacy::Secret));
    let secret = secret.map(|given| HASHES.hash_one(given.value.to_string()));
    Row { key: &key.name, value: given.and_then(shown), from, secret }
}

/// The value of a key in force: the last of the highest layer that gives it.
fn winner<'a>(layers: &'a [Layer], key: &keys::Key) -> Option<&'a Given> {
    layers.iter().rev().find_map(|layer| layer.0.iter().rfind(|given| std::ptr::eq(given.key, key)))
}
