//! `ebb engine`: the mechanisms of recall, each on its own, on what is held in memory or on a snapshot file.

use super::exit::CliError;
use super::output::Output;
use super::page::{Column, Page};
use super::recall::{ProfileName, seed};
use crate::service::Service;
use crate::service::engine::{Activate, Rank, activate, rank};
use crate::service::recall::{Config, Freshness, View};
use crate::surfaces::answer::recall::{Engine, Standing};
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

/// The verbs of `ebb engine`.
#[derive(Debug, Clone, Subcommand)]
pub enum Verb {
    /// Say what lights up from seeds
    Activate(ActivateArgs),
    /// Say who stands well: everybody's standing, or that of a reader who begins at seeds
    Pagerank(RankArgs),
}

/// `ebb engine activate`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb engine activate --seed Alex\n  ebb engine activate --seed parse=1 --seed lex=0.5 --depth 3 --graph code.json"
)]
pub struct ActivateArgs {
    /// Begin at this id, of an entity its name; =SCORE says how much it counts, up to 1
    #[arg(long = "seed", value_name = "ID[=SCORE]", value_parser = seed, required = true)]
    pub seeds: Vec<(String, f32)>,
    /// By which rule signals spread
    #[arg(long, value_enum, value_name = "PROFILE", default_value_t = ProfileName::Reference)]
    pub profile: ProfileName,
    /// Hops at most [default: that of the profile]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=20))]
    pub depth: Option<u8>,
    /// How many, and in which graph.
    #[command(flatten)]
    pub common: Common,
}

/// `ebb engine pagerank`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb engine pagerank --top 10\n  ebb engine pagerank --seed Alex --graph code.json"
)]
pub struct RankArgs {
    /// A reader begins again and again at this id; =SCORE says how much it counts, up to 1
    #[arg(long = "seed", value_name = "ID[=SCORE]", value_parser = seed)]
    pub seeds: Vec<(String, f32)>,
    /// How many, and in which graph.
    #[command(flatten)]
    pub common: Common,
}

/// How many nodes, and in which graph.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// How many nodes at most
    #[arg(long, value_name = "K", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub top: u16,
    /// Ask this snapshot file (JSON version 3) instead of the database
    #[arg(long, value_name = "FILE")]
    pub graph: Option<PathBuf>,
}

impl Verb {
    /// The file that is asked instead of a database.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Activate(args) => args.common.graph.as_deref(),
            Self::Pagerank(args) => args.common.graph.as_deref(),
        }
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Activate(_) => "engine.activate",
            Self::Pagerank(_) => "engine.pagerank",
        }
    }
}

impl ActivateArgs {
    fn asked(&self) -> Activate {
        Activate {
            seeds: self.seeds.clone(),
            profile: self.profile.into(),
            depth: self.depth,
            top_k: usize::from(self.common.top),
        }
    }
}

impl RankArgs {
    fn asked(&self) -> Rank {
        Rank { seeds: self.seeds.clone(), top_k: usize::from(self.common.top) }
    }
}

/// Runs a verb on what is held in memory of a scope.
///
/// # Errors
/// How the program ends, unless well.
pub async fn run(verb: &Verb, service: &Service, output: &Output) -> Result<(), CliError> {
    let (found, freshness) = match verb {
        Verb::Activate(args) => service.activate(service.scope(), args.asked()).await?,
        Verb::Pagerank(args) => service.rank(service.scope(), args.asked()).await?,
    };
    tell(verb, &Engine::of(found, &freshness), output)
}

/// Runs a verb on a graph that is no mirror's.
///
/// # Errors
/// How the program ends, unless well.
pub fn run_on(verb: &Verb, view: &View, rules: &Config, output: &Output) -> Result<(), CliError> {
    let found = match verb {
        Verb::Activate(args) => activate(view, &args.asked(), rules, &mut Default::default())?,
        Verb::Pagerank(args) => rank(view, &args.asked())?,
    };
    tell(verb, &Engine::of(found, &Freshness::of_file(view)), output)
}

fn tell(verb: &Verb, answer: &Engine, output: &Output) -> Result<(), CliError> {
    output.emit(verb.name(), answer, |page| lay_out(answer, page))
}

fn lay_out(answer: &Engine, page: &mut Page) {
    if answer.hits.is_empty() {
        page.line("Nothing lights up.");
    } else {
        let columns = [Column::right("SCORE"), Column::left("KIND"), Column::cut("ID"), Column::cut("LABEL")];
        let row = |hit: &Standing| {
            [format!("{:.6}", hit.score), hit.kind.clone(), hit.id.clone(), hit.label.clone()]
        };
        page.table(&columns, answer.hits.iter().map(row));
    }
    for id in &answer.unknown_seeds {
        page.line(&format!("There is nothing called {id}."));
    }
    page.line("");
    page.line(&format!("{} nodes reached; {} relationships read.", answer.nodes_touched, answer.slots_read));
    if answer.truncated {
        page.line(&format!("Cut short: {}.", answer.flags.join(", ")));
    }
}
