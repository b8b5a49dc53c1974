//! `ebb engine xlr`: activation from seeds, damped by contrast.

use super::{Common, Seeds, close};
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::{Column, Page};
use clap::Args;
use ebb_core::api::engine::{XlrAnswer, XlrHit, XlrRequest};

/// `ebb engine xlr`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ebb engine xlr --seed Alex\n  ebb engine xlr --seed Ledger --top 16 --graph docs/stories/team.json"
)]
pub struct XlrArgs {
    /// Seeds.
    #[command(flatten)]
    pub start: Seeds,
    /// Size and graph.
    #[command(flatten)]
    pub common: Common,
}

impl XlrArgs {
    pub(super) fn request(&self) -> XlrRequest {
        XlrRequest { seeds: self.start.list.clone(), top_k: usize::from(self.common.top), scope: None }
    }
}

pub(super) fn print(answer: &XlrAnswer, output: &Output) -> Result<(), CliError> {
    output.emit("engine.xlr", answer, |page| lay_out(answer, page))
}

fn lay_out(answer: &XlrAnswer, page: &mut Page) {
    if answer.hits.is_empty() {
        page.line("No hits.");
    } else {
        let columns = [
            Column::right("SCORE"),
            Column::right("BEFORE"),
            Column::right("ACTIVATION"),
            Column::right("GATE"),
            Column::right("HOT"),
            Column::right("COLD"),
            Column::right("OVERLAP"),
            Column::left("IMMUNE"),
            Column::left("KIND"),
            Column::cut("ID"),
            Column::cut("LABEL"),
        ];
        page.table(&columns, answer.hits.iter().map(row));
    }
    if !answer.anti_seeds.is_empty() {
        page.line("");
        page.line(&format!("Contrasted with {}.", answer.anti_seeds.join(", ")));
    }
    let line = format!(
        "{} nodes reached; {} relationships read, {} pulses.",
        answer.nodes_touched, answer.slots_read, answer.pulses
    );
    close(&answer.state, &line, page);
}

fn row(hit: &XlrHit) -> [String; 11] {
    let [gate, hot, cold, overlap] = match &hit.contrast {
        Some(of) => [of.gate, of.hot, of.cold, of.overlap].map(|number| format!("{number:.4}")),
        None => ["-"; 4].map(str::to_owned),
    };
    let is_immune = hit.contrast.as_ref().is_some_and(|of| of.immune);
    [
        format!("{:.6}", hit.score),
        hit.was.to_string(),
        format!("{:.6}", hit.activation),
        gate,
        hot,
        cold,
        overlap,
        if is_immune { "yes" } else { "" }.to_owned(),
        hit.node.kind.clone(),
        hit.node.id.clone(),
        hit.node.label.clone(),
    ]
}
