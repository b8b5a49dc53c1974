//! `ebb why-not`: why a memory is not among the hits of a recall, or why it is gone.

use super::exit::CliError;
use super::output::Output;
use super::page::Page;
use super::recall::SearchArgs;
use clap::Args;
use ebb_core::api::why_not::WhyNot;
use ebb_core::domain::ids::MemoryId;
use ebb_core::service::Service;

/// `ebb why-not`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Goes through what can lose a memory, in order, and ends at the first reason: not stored or forgotten, expired, not in the in-memory
graph, excluded by the conditions, ranked too low. Without a question it concerns the memory alone. Writes nothing.

Examples:
  ebb why-not ID \"who maintains the parser\"
  ebb why-not ID \"deployment\" --top 5 --tag ops
  ebb why-not ID")]
pub struct WhyNotArgs {
    /// Id of the memory that was expected
    #[arg(value_name = "ID")]
    pub id: String,
    /// The search.
    #[command(flatten)]
    pub search: SearchArgs,
}

/// Runs the verb.
pub async fn run(args: &WhyNotArgs, service: &Service, output: &Output) -> Result<(), CliError> {
    let id = MemoryId::new(&args.id).map_err(CliError::usage)?;
    let request = args.search.asked(service).await?;
    let answer = Box::pin(service.why_not(service.scope(), &id, request)).await?;
    output.emit("why_not", &answer, |page| lay_out(&answer, page))
}

fn lay_out(answer: &WhyNot, page: &mut Page) {
    answer.because.iter().for_each(|sentence| page.paragraph(sentence));
    if !answer.remedies.is_empty() {
        page.line("");
        page.heading("What would change that");
        answer.remedies.iter().for_each(|remedy| page.paragraph(&remedy.text));
    }
}
