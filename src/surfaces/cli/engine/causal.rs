//! `ebb engine causal`: effects of seeds, or their causes.

use super::{Common, Seeds, close};
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::{Column, Page};
use crate::surfaces::cli::recall::choice;
use clap::Args;
use ebb_core::api::engine::{CausalAnswer, CausalDirection, CausalHit, CausalRequest};

const DIRECTIONS: [(&str, &str, CausalDirection); 2] = [
    ("effects", "From causes to effects", CausalDirection::Effects),
    ("causes", "From effects to causes", CausalDirection::Causes),
];

/// `ebb engine causal`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb engine causal --seed outage --direction causes\n  ebb engine causal --seed heatwave --depth 2 --graph docs/stories/outage.json"
)]
pub struct CausalArgs {
    /// Seeds.
    #[command(flatten)]
    pub start: Seeds,
    /// Direction of the chains
    #[arg(long, value_name = "DIRECTION", default_value = "effects", value_parser = choice(DIRECTIONS))]
    pub direction: CausalDirection,
    /// Maximum number of relationships of a chain
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u8).range(1..=6))]
    pub depth: u8,
    /// Size and graph.
    #[command(flatten)]
    pub common: Common,
}

impl CausalArgs {
    pub(super) fn request(&self) -> CausalRequest {
        CausalRequest {
            seeds: self.start.list.clone(),
            direction: self.direction,
            depth: self.depth,
            top_k: usize::from(self.common.top),
            scope: None,
        }
    }
}

pub(super) fn print(args: &CausalArgs, answer: &CausalAnswer, output: &Output) -> Result<(), CliError> {
    output.emit("engine.causal", answer, |page| lay_out(args.direction, answer, page))
}

fn lay_out(direction: CausalDirection, answer: &CausalAnswer, page: &mut Page) {
    if answer.hits.is_empty() {
        page.line("No causal chains.");
    } else {
        let columns = [
            Column::right("SCORE"),
            Column::left("KIND"),
            Column::cut("ID"),
            Column::cut("LABEL"),
            Column::cut("CHAIN"),
            Column::cut("BY"),
        ];
        page.table(&columns, answer.hits.iter().map(|hit| row(direction, hit)));
    }
    let noun = match direction {
        CausalDirection::Effects => "effects",
        CausalDirection::Causes => "causes",
    };
    close(&answer.state, &format!("{} {noun} found.", answer.nodes_touched), page);
}

/// A hit; its chain is written from the seed on, with arrows from cause to effect.
fn row(direction: CausalDirection, hit: &CausalHit) -> [String; 6] {
    let arrow = match direction {
        CausalDirection::Effects => " -> ",
        CausalDirection::Causes => " <- ",
    };
    let by: Vec<String> =
        hit.steps.iter().map(|step| format!("{} {:.2}", step.kind, step.strength)).collect();
    [
        format!("{:.6}", hit.score),
        hit.node.kind.clone(),
        hit.node.id.clone(),
        hit.node.label.clone(),
        hit.path.join(arrow),
        by.join(", "),
    ]
}
