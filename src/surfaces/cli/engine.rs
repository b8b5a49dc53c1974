//! `ebb engine`: single mechanisms of recall, on the in-memory graph or a snapshot file.

mod causal;
mod communities;
mod queries;
mod waves;
mod xlr;

pub use causal::CausalArgs;
pub use communities::CommunitiesArgs;
pub use queries::{QueriesArgs, run as run_queries};
pub use waves::WavesArgs;
pub use xlr::XlrArgs;

use super::exit::CliError;
use super::output::Output;
use super::page::{Column, Page, searched};
use super::recall::{PROFILES, choice, seed};
use clap::{Args, Subcommand};
use ebb_core::api::engine::{ActivateRequest, EngineAnswer, EngineHit, EngineState, PageRankRequest};
use ebb_core::api::recall::GivenSeed;
use ebb_core::service::recall::{Profile, RecallConfig, View};
use ebb_core::service::{Service, engine};
use std::path::{Path, PathBuf};

/// The verbs of `ebb engine`.
#[derive(Debug, Clone, Subcommand)]
pub enum Verb {
    /// Spread activation from seeds
    Activate(ActivateArgs),
    /// Rank by activation with contrast (XLR)
    Xlr(XlrArgs),
    /// Follow causal chains from seeds to their effects or causes
    Causal(CausalArgs),
    /// Rank nodes by resonance with seeds
    #[command(
        after_help = "Examples:\n  ebb engine resonate --seed Alex --sympathetic\n  ebb engine resonate --seed release --frequency 5.25 --graph docs/stories/team.json"
    )]
    Resonate {
        /// Options of waves.
        #[command(flatten)]
        waves: WavesArgs,
        /// Also list resonating nodes more than two hops from every seed, and whether in another community
        #[arg(long)]
        sympathetic: bool,
    },
    /// Show at which frequencies nodes resonate, to find cycles
    #[command(
        after_help = "Examples:\n  ebb engine harmonics --seed Alex\n  ebb engine harmonics --seed release --top 3 --graph docs/stories/team.json"
    )]
    Harmonics(WavesArgs),
    /// Rank nodes by PageRank, personalised if seeds are given
    Pagerank(RankArgs),
    /// Detect communities and the nodes that bridge them
    Communities(CommunitiesArgs),
    /// Show the earlier queries that the running `ebb serve` holds, and which seeds came together in them
    Queries(QueriesArgs),
}

/// `ebb engine activate`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb engine activate --seed Alex\n  ebb engine activate --seed parse=1 --seed lex=0.5 --depth 3 --graph code.json"
)]
pub struct ActivateArgs {
    /// Seeds.
    #[command(flatten)]
    pub start: Seeds,
    /// Rule by which activation spreads
    #[arg(long, value_name = "PROFILE", default_value = "reference", value_parser = choice(PROFILES))]
    pub profile: Profile,
    /// Maximum number of hops [default: that of the profile]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=20))]
    pub depth: Option<u8>,
    /// Size and graph.
    #[command(flatten)]
    pub common: Common,
}

/// `ebb engine pagerank`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb engine pagerank --top 10\n  ebb engine pagerank --seed Alex --graph code.json"
)]
pub struct RankArgs {
    /// Personalise towards this id; =SCORE weights it, up to 1
    #[arg(long = "seed", value_name = "ID[=SCORE]", value_parser = seed)]
    pub seeds: Vec<GivenSeed>,
    /// Size and graph.
    #[command(flatten)]
    pub common: Common,
}

/// Seeds of a mechanism that needs one.
#[derive(Debug, Clone, Args)]
pub struct Seeds {
    /// Start at the node with this id (of an entity: its name); =SCORE weights it, up to 1
    #[arg(long = "seed", value_name = "ID[=SCORE]", value_parser = seed, required = true)]
    pub list: Vec<GivenSeed>,
}

/// Maximum number of nodes, and the graph.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Maximum number of nodes
    #[arg(long, value_name = "K", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub top: u16,
    /// Use this snapshot file (JSON version 3) instead of the database
    #[arg(long, value_name = "FILE")]
    pub graph: Option<PathBuf>,
}

impl Verb {
    /// The snapshot file to use instead of a database.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Activate(args) => args.common.graph.as_deref(),
            Self::Xlr(args) => args.common.graph.as_deref(),
            Self::Causal(args) => args.common.graph.as_deref(),
            Self::Resonate { waves, .. } => waves.common.graph.as_deref(),
            Self::Harmonics(waves) => waves.common.graph.as_deref(),
            Self::Pagerank(args) => args.common.graph.as_deref(),
            Self::Communities(args) => args.graph.as_deref(),
            Self::Queries(_) => None,
        }
    }
}

impl ActivateArgs {
    fn request(&self) -> ActivateRequest {
        ActivateRequest {
            seeds: self.start.list.clone(),
            profile: self.profile,
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

/// Runs a verb on the in-memory graph of the scope.
pub async fn run(verb: &Verb, service: &Service, output: &Output) -> Result<(), CliError> {
    let scope = service.scope();
    match verb {
        Verb::Activate(args) => {
            print("engine.activate", &service.activate(scope, args.request()).await?, output)
        }
        Verb::Xlr(args) => xlr::print(&service.xlr(scope, args.request()).await?, output),
        Verb::Causal(args) => causal::print(args, &service.causal(scope, args.request()).await?, output),
        Verb::Resonate { waves, sympathetic } => {
            waves::print(&service.resonate(scope, waves.resonate_request(*sympathetic)).await?, output)
        }
        Verb::Harmonics(waves) => {
            waves::print_spectrum(&service.harmonics(scope, waves.request()).await?, output)
        }
        Verb::Pagerank(args) => print("engine.pagerank", &service.rank(scope, args.request()).await?, output),
        Verb::Communities(args) => {
            communities::print(args, &service.communities(scope, args.request()).await?, output)
        }
        Verb::Queries(_) => Err(CliError::usage("this command does not run on a graph")),
    }
}

/// Runs a verb on the graph of a file.
pub fn run_on(verb: &Verb, view: &View, rules: &RecallConfig, output: &Output) -> Result<(), CliError> {
    let scratch = &mut Default::default();
    match verb {
        Verb::Activate(args) => {
            print("engine.activate", &engine::activate(view, &args.request(), rules, scratch)?, output)
        }
        Verb::Xlr(args) => xlr::print(&engine::xlr(view, &args.request(), rules, scratch)?, output),
        Verb::Causal(args) => causal::print(args, &engine::causal(view, &args.request())?, output),
        Verb::Resonate { waves, sympathetic } => {
            let request = waves.resonate_request(*sympathetic);
            waves::print(&engine::resonate(view, &request, rules, scratch)?, output)
        }
        Verb::Harmonics(waves) => {
            waves::print_spectrum(&engine::harmonics(view, waves.request(), rules, scratch)?, output)
        }
        Verb::Pagerank(args) => print("engine.pagerank", &engine::rank(view, &args.request())?, output),
        Verb::Communities(args) => {
            communities::print(args, &engine::communities(view, &args.request())?, output)
        }
        Verb::Queries(_) => Err(CliError::usage("this command does not run on a graph")),
    }
}

fn print(verb: &str, answer: &EngineAnswer, output: &Output) -> Result<(), CliError> {
    output.emit(verb, answer, |page| lay_out(answer, page))
}

/// Lays out the end of a page: unknown seeds, a line, flags.
fn close(state: &EngineState, line: &str, page: &mut Page) {
    for id in &state.unknown_seeds {
        page.line(&format!("No node is named {id}."));
    }
    page.line("");
    page.line(line);
    searched(state.freshness.whole, state.freshness.held_share, page);
    if !state.flags.is_empty() {
        let how = if state.truncated { "Truncated" } else { "Flags" };
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
        page.line("No hits.");
    } else {
        let columns = [Column::right("SCORE"), Column::left("KIND"), Column::cut("ID"), Column::cut("LABEL")];
        let row = |hit: &EngineHit| {
            [format!("{:.6}", hit.score), hit.node.kind.clone(), hit.node.id.clone(), hit.node.label.clone()]
        };
        page.table(&columns, answer.hits.iter().map(row));
    }
    for id in &answer.unknown_seeds {
        page.line(&format!("No node is named {id}."));
    }
    page.line("");
    page.line(&format!("{} nodes reached; {} relationships read.", answer.nodes_touched, answer.slots_read));
    searched(answer.freshness.whole, answer.freshness.held_share, page);
    if answer.truncated {
        page.line(&format!("Truncated: {}.", answer.flags.join(", ")));
    }
}
