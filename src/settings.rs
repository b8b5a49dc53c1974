//! Settings: the sum of all floors' configurations, from four layers.
//!
//! `config/default.toml` (embedded) < `ebb.toml` in the current folder, or the file of `--config`, in TOML or YAML < the
//! environment < flags. The environment is `EBB__SECTION__KEY` (`EBB__JOBS__DECAY__EVERY=30m`), and the usual `NEO4J_URI`,
//! `NEO4J_USERNAME`, `NEO4J_PASSWORD` or `NEO4J_PASSWORD_FILE`, `NEO4J_DATABASE`, `EBB_NEO4J`, `EBB_NEO4J_IMAGE`,
//! `EBB_DECAY_POLICIES` and `STIGMEM_DECAY_POLICIES`,
//! which count as unset when empty; where both name one key, `EBB__` wins. Keys match whatever their case, because
//! variables lose it.
//!
//! The defaults have no second home: tunables implement no Rust `Default`, and a value that is missing here is missing.
//!
//! # Design notes
//! A key that nobody knows is an error: a misspelt `decayBatchSize` that silently does nothing is found months later.
//! All faults are reported at once, each with its place, because a configuration is mended in an editor, not by asking
//! the program once per mistake.
//!
//! Invariant: no secret is ever printed (held by `tests::a_secret_is_never_printed`).

mod agreement;
pub mod engine;
mod environment;
pub mod facts;
mod fault;
pub mod guard;
pub mod http;
pub mod jobs;
mod kind;
mod knobs;
mod layers;
pub mod mcp;
pub mod mirror;
pub mod pheromones;
pub mod policies;
pub mod pools;
mod redact;
pub mod relation;
pub mod retention;
pub mod similarity;
mod tables;
#[cfg(test)]
mod tests;
pub mod worker;
mod yaml;

pub use environment::Environment;
pub use fault::{Fault, Faults, Origin};
pub use kind::Shown;
pub use redact::Row;

use crate::telemetry;
use ebb_core::domain::policy::Policies;
use ebb_core::domain::tunables::ConsolidationConfig;
use layers::{Given, Layer};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The embedded defaults: every knob with its unit and its reason.
pub const DEFAULT_TOML: &str = include_str!("../config/default.toml");
/// The file that is read from the current folder when no other is named.
pub const FILE_NAME: &str = "ebb.toml";

/// What the command line adds to the layers.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// The file to read instead of `ebb.toml` in the current folder; it must exist.
    pub config: Option<PathBuf>,
    /// Values that flags stand for; later ones win.
    pub set: Vec<Flag>,
}

/// One flag that stands for a value of the configuration.
#[derive(Debug, Clone)]
pub struct Flag {
    /// The key, as the table of knobs writes it.
    pub key: &'static str,
    /// The value.
    pub value: String,
    /// The flag as it was written: what faults and `config show` name.
    pub written: String,
}

/// The configuration in force, checked.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Which server, and how to run a managed one.
    pub neo4j: ebb_provision::Config,
    /// Connections to it.
    pub pools: pools::Config,
    /// What `ebb init` writes into the ConsolidationConfig node; it passes the laws' own check.
    pub memory: ConsolidationConfig,
    /// How memories are compared.
    pub similarity: similarity::Config,
    /// What trails go by.
    pub pheromones: pheromones::Config,
    /// How relations fade.
    pub relation: relation::Config,
    /// Which facts grow old, and how.
    pub policies: Policies,
    /// How closely confidence follows them.
    pub facts: facts::Config,
    /// When and how long jobs run.
    pub jobs: jobs::Config,
    /// How a worker holds what it works on.
    pub worker: worker::Config,
    /// Where and to whom the API answers.
    pub http: http::Config,
    /// What is held in memory for recall.
    pub mirror: mirror::Config,
    /// How signals spread and hits are ranked.
    pub engine: engine::Config,
    /// What agents may do through MCP.
    pub mcp: mcp::Config,
    /// When a change is too large to make unasked.
    pub guard: guard::Config,
    /// How long what Ebb recorded for itself is kept.
    pub retention: retention::Config,
    /// What is logged, and how.
    pub log: telemetry::Config,
    rows: Vec<Row>,
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
            None if Path::new(FILE_NAME).exists() => Layer::of_file(Path::new(FILE_NAME), &mut faults),
            None => Layer::default(),
        };
        Self::from_layers(file, flags, environment, faults)
    }

    /// Every key with its value and where that came from; secrets are stars.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
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
        tables::merge(&mut layers);
        let filled = fill(&layers);
        if let Ok(settings) = &filled {
            agreement::check(settings, &layers, &mut faults);
        }
        match filled {
            Ok(settings) if faults.is_empty() => Ok(settings),
            Err(fault) if faults.is_empty() => Err(Faults::new(vec![fault])),
            _ => Err(Faults::new(faults)),
        }
    }
}

/// A commented `ebb.toml` that changes nothing: every knob with its default, as a comment.
#[must_use]
pub fn sample() -> String {
    let line = |line: &str| match line.chars().next() {
        None | Some('#' | '[') => format!("{line}\n"),
        Some(_) => format!("# {line}\n"),
    };
    DEFAULT_TOML.lines().map(line).collect()
}

/// Merges the layers and fills the structs. A value that passed its check but does not fit its field is a mistake in
/// the table of knobs, reported like any other fault.
fn fill(layers: &[Layer]) -> Result<Settings, Fault> {
    let misfit = |error: config::ConfigError| Fault { origin: Origin::Default, what: error.to_string() };
    let merged = layers
        .iter()
        .fold(config::Config::builder(), |builder, layer| builder.add_source(layer.clone()))
        .build()
        .map_err(misfit)?;
    Ok(Settings {
        neo4j: section(&merged, "neo4j").map_err(misfit)?,
        pools: section(&merged, "neo4j").map_err(misfit)?,
        memory: section(&merged, "memory").map_err(misfit)?,
        similarity: section(&merged, "similarity").map_err(misfit)?,
        pheromones: section(&merged, "pheromones").map_err(misfit)?,
        relation: section(&merged, "relation").map_err(misfit)?,
        policies: policies::of(&merged).map_err(misfit)?,
        facts: section(&merged, "facts").map_err(misfit)?,
        jobs: section(&merged, "jobs").map_err(misfit)?,
        worker: section(&merged, "worker").map_err(misfit)?,
        http: section(&merged, "http").map_err(misfit)?,
        mirror: section(&merged, "mirror").map_err(misfit)?,
        engine: section(&merged, "engine").map_err(misfit)?,
        mcp: section(&merged, "mcp").map_err(misfit)?,
        guard: section(&merged, "guard").map_err(misfit)?,
        retention: section(&merged, "retention").map_err(misfit)?,
        log: section(&merged, "log").map_err(misfit)?,
        rows: redact::rows(layers),
    })
}

fn section<'de, T: Deserialize<'de>>(merged: &config::Config, name: &str) -> Result<T, config::ConfigError> {
    merged.get(name)
}

/// The value of a key in force: the last of the highest layer that gives it.
fn winner<'a>(layers: &'a [Layer], key: &str) -> Option<&'a Given> {
    layers.iter().rev().find_map(|layer| layer.0.iter().rfind(|given| given.key == key))
}
