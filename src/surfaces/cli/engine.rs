//! `ebb engine`: the mechanisms of recall, each on its own, on what is held in memory or on a snapshot file.

mod communities;
mod waves;
mod xlr;

pub use communities::CommunitiesArgs;
pub use waves::{HarmonicsArgs, ResonateArgs, WavesArgs};
pub use xlr::XlrArgs;

use super::exit::CliError;
use super::output::Output;
use super::page::{Column, Page, searched};
use super::recall::{ProfileName, seed};
use clap::{Args, Subcommand};
use ebb_core::api::engine::{ActivateRequest, EngineAnswer, EngineHit, EngineState, PageRankRequest};
use ebb_core::api::recall::GivenSeed;
use ebb_core::service::recall::{RecallConfig, View};
use ebb_core::service::{Service, engine};
use std::path::{Path, PathBuf};

/// The verbs of `ebb engine`.
#[derive(Debug, Clone, Subcommand)]
pub enum Verb {
    /// Say what lights up from seeds
    Activate(ActivateArgs),
    /// Say what of that would light up for any question, and what is left without it
    Xlr(XlrArgs),
    /// Say what seeds make swing, and what swings along far from them
    Resonate(ResonateArgs),
    /// Say at which frequencies nodes swing: multiples of one, and all there are
    Harmonics(HarmonicsArgs),
    /// Say who stands well: everybody's standing, or that of a reader who begins at seeds
    Pagerank(RankArgs),
    /// Say who belongs together, and who joins communities to each other
    Communities(CommunitiesArgs),
}

/// `ebb engine activate`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb engine activate --seed Alex\n  ebb engine activate --seed parse=1 --seed lex=0.5 --depth 3 --graph code.json"
)]
pub struct ActivateArgs {
    /// Begin at this id, of an entity its name; =SCORE says how much it counts, up to 1
    #[arg(long = "seed", value_name = "ID[=SCORE]", value_parser = seed, required = true)]
    pub seeds: Vec<GivenSeed>,
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
    pub seeds: Vec<GivenSeed>,
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
            Self::Xlr(args) => args.common.graph.as_deref(),
            Self::Resonate(args) => args.waves.common.graph.as_deref(),
            Self::Harmonics(args) => args.waves.common.graph.as_deref(),
            Self::Pagerank(args) => args.common.graph.as_deref(),
            Self::Communities(args) => args.graph.as_deref(),
        }
    }
}

impl ActivateArgs {
    fn request(&self) -> ActivateRequest {
        ActivateRequest {
            seeds: self.seeds.clone(),
            profile: self.profile.into(),
            depth: self.depth,
            top_k: usize::from(self.common.top),
            scope: None,
        }
    }
}

impl RankArgs {
    fn request(&self) -> PageRankRequest {
        PageRankRequest { seeds: self.seeds.clone(), top_k: usize::from(self.common.top), scope: None }
    }
}

/// Runs a verb on what is held in memory of a scope.
pub async fn run(verb: &Verb, service: &Service, output: &Output) -> Result<(), CliError> {
    let scope = service.scope();
    match verb {
        Verb::Activate(args) => {
            print("engine.activate", &service.activate(scope, args.request()).await?, output)
        }
        Verb::Xlr(args) => xlr::print(&service.xlr(scope, args.request()).await?, output),
        Verb::Resonate(args) => waves::print(&service.resonate(scope, args.request()).await?, output),
        Verb::Harmonics(args) => {
            waves::print_spectrum(&service.harmonics(scope, args.waves.request()).await?, output)
        }
        Verb::Pagerank(args) => print("engine.pagerank", &service.rank(scope, args.request()).await?, output),
        Verb::Communities(args) => {
            communities::print(args, &service.communities(scope, args.request()).await?, output)
        }
    }
}

/// Runs a verb on a graph that is no mirror's.
pub fn run_on(verb: &Verb, view: &View, rules: &RecallConfig, output: &Output) -> Result<(), CliError> {
    let scratch = &mut Default::default();
    match verb {
        Verb::Activate(args) => {
            print("engine.activate", &engine::activate(view, &args.request(), rules, scratch)?, output)
        }
        Verb::Xlr(args) => xlr::print(&engine::xlr(view, &args.request(), rules, scratch)?, output),
        Verb::Resonate(args) => {
            waves::print(&engine::resonate(view, &args.request(), rules, scratch)?, output)
        }
        Verb::Harmonics(args) => {
            waves::print_spectrum(&engine::harmonics(view, args.waves.request(), rules, scratch)?, output)
        }
        Verb::Pagerank(args) => print("engine.pagerank", &engine::rank(view, &args.request())?, output),
        Verb::Communities(args) => {
            communities::print(args, &engine::communities(view, &args.request())?, output)
        }
    }
}

fn print(verb: &str, answer: &EngineAnswer, output: &Output) -> Result<(), CliError> {
    output.emit(verb, answer, |page| lay_out(answer, page))
}

/// Ends a page: what is not there, a line, and what was cut short.
fn close(state: &EngineState, line: &str, page: &mut Page) {
    for id in &state.unknown_seeds {
        page.line(&format!("There is nothing called {id}."));
    }
    page.line("");
    page.line(line);
    searched(state.freshness.whole, state.freshness.held_share, page);
    if !state.flags.is_empty() {
        let how = if state.truncated { "Cut short" } else { "To be known" };
        page.line(&format!("{how}: {}.", state.flags.join(", ")));
    }
}

/// A number above 0.
fn above_0(text: &str) -> Result<f32, String> {
    let number = text.parse::<f32>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "it must be a number above 0".to_owned())
}

fn lay_out(answer: &EngineAnswer, page: &mut Page) {
    if answer.hits.is_empty() {
        page.line("Nothing lights up.");
    } else {
        let columns = [Column::right("SCORE"), Column::left("KIND"), Column::cut("ID"), Column::cut("LABEL")];
        let row = |hit: &EngineHit| {
            [format!("{:.6}", hit.score), hit.node.kind.clone(), hit.node.id.clone(), hit.node.label.clone()]
        };
        page.table(&columns, answer.hits.iter().map(row));
    }
    for id in &answer.unknown_seeds {
        page.line(&format!("There is nothing called {id}."));
    }
    page.line("");
    page.line(&format!("{} nodes reached; {} relationships read.", answer.nodes_touched, answer.slots_read));
    searched(answer.freshness.whole, answer.freshness.held_share, page);
    if answer.truncated {
        page.line(&format!("Cut short: {}.", answer.flags.join(", ")));
    }
}
