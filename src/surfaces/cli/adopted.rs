//! `ebb adopted`: rows of other libraries by their own keys: scored, pinned, hidden, accessed.

use super::exit::CliError;
use super::output::Output;
use super::page::{Column, Page, searched};
use super::recall::term;
use super::relation::table;
use super::{Global, ReadOptions, WriteOptions};
use clap::{Args, Subcommand};
use ebb_core::api::adopted::{RerankRequest, Reranked, RerankedRow, RowKind, StateRequest};
use ebb_core::api::relation::Edge;
use ebb_core::domain::ids::Term;
use ebb_core::service::Service;

/// The verbs of `ebb adopted`.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Keys are those of the library: an id, or a name if it has no ids. States are nodes of Ebb's own; rows are never written.

Examples:
  ebb adopted rerank --query \"who works at Acme\" UUID UUID
  ebb adopted facts --limit 20
  ebb adopted hide UUID --dry-run
  ebb adopted hidden")]
pub enum Verb {
    /// Score rows for a query, or by their weight
    Rerank(Rerank),
    /// List live facts by current weight, heaviest first
    #[command(
        after_help = "Examples:\n  ebb adopted facts --limit 20\n  ebb adopted facts --at 2027-01-01 -o ndjson"
    )]
    Facts {
        /// Maximum number of facts [default: all]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
        /// Read options.
        #[command(flatten)]
        when: ReadOptions,
    },
    /// Pin rows: they keep their weight
    Pin(Change),
    /// Unpin rows: they fade again
    Unpin(Change),
    /// Hide rows: recall and rerank leave them out
    Hide(Change),
    /// Show hidden rows again
    Unhide(Change),
    /// Record an access: their weight is 1 again
    Access(Change),
    /// List the hidden rows
    #[command(after_help = "Examples:\n  ebb adopted hidden\n  ebb adopted hidden --scope GROUP -o ndjson")]
    Hidden,
}

/// `ebb adopted rerank`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Rows are printed in the order of the keys. Without --query the score is the weight: 1 when a row was last observed or accessed,
halved in each half-life since.

Examples:
  ebb adopted rerank UUID UUID
  ebb adopted rerank --query \"who works at Acme\" UUID UUID -o json")]
pub struct Rerank {
    /// Keys of nodes or facts, at most 1000
    #[arg(value_name = "KEY", required = true, value_parser = term)]
    pub keys: Vec<Term>,
    /// Query to score them for
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub query: String,
}

/// `ebb adopted pin`, `unpin`, `hide`, `unhide`, `access`
#[derive(Debug, Clone, Args)]
#[command(after_help = "If one key has no row in the scope, nothing is written.")]
pub struct Change {
    /// Keys of nodes or facts, at most 1000
    #[arg(value_name = "KEY", required = true, value_parser = term)]
    pub keys: Vec<Term>,
    /// Write options.
    #[command(flatten)]
    pub write: WriteOptions,
}

/// Runs a verb.
pub async fn run(verb: &Verb, service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    let pinned = |is| StateRequest { pinned: Some(is), ..StateRequest::default() };
    let hidden = |is| StateRequest { hidden: Some(is), ..StateRequest::default() };
    let (name, past, args, request) = match verb {
        Verb::Rerank(args) => return rerank(args, service, output).await,
        Verb::Facts { limit, when } => return list_facts(*limit, when, service, output).await,
        Verb::Hidden => return list_hidden(service, output).await,
        Verb::Pin(args) => ("pin", "pinned", args, pinned(true)),
        Verb::Unpin(args) => ("unpin", "unpinned", args, pinned(false)),
        Verb::Hide(args) => ("hide", "hidden", args, hidden(true)),
        Verb::Unhide(args) => ("unhide", "shown again", args, hidden(false)),
        Verb::Access(args) => {
            ("access", "accessed", args, StateRequest { accessed: true, ..StateRequest::default() })
        }
    };
    let at = args.write.instant(service, global).await?;
    let request = StateRequest { keys: args.keys.clone(), ..request };
    let set = service.set_states(&args.write.mode(), service.scope(), &request, at).await?;
    output.emit(&format!("adopted.{name}"), &set, |page| {
        let would = if set.dry_run { "would be " } else { "" };
        page.line(&format!("{} {would}{past}.", rows(set.rows)));
    })
}

fn rows(count: usize) -> String {
    if count == 1 { "1 row".to_owned() } else { format!("{count} rows") }
}

async fn rerank(args: &Rerank, service: &Service, output: &Output) -> Result<(), CliError> {
    let request = RerankRequest { keys: args.keys.clone(), query: args.query.clone(), scope: None };
    let answer = service.rerank(service.scope(), request).await?;
    output.emit("adopted.rerank", &answer, |page| lay_out(&answer, page))
}

async fn list_facts(
    limit: Option<u32>,
    when: &ReadOptions,
    service: &Service,
    output: &Output,
) -> Result<(), CliError> {
    let at = when.instant(service).await?;
    let mut found = service.adopted_facts(service.scope(), at).await?;
    found.truncate(limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX));
    let edges: Vec<Edge> = found.into_iter().map(Edge::of).collect();
    output.emit_list("adopted.facts", "edges", &edges, |page| {
        if edges.is_empty() {
            page.line(
                "No live facts of other libraries in this scope; `ebb adopt --detect` lists what is there.",
            );
            return;
        }
        table(page, &edges);
    })
}

async fn list_hidden(service: &Service, output: &Output) -> Result<(), CliError> {
    let found = service.hidden(service.scope()).await?.hidden;
    output.emit_list("adopted.hidden", "hidden", &found, |page| {
        if found.is_empty() {
            page.line("No row is hidden.");
            return;
        }
        let columns = [Column::left("KIND"), Column::left("KEY")];
        page.table(&columns, found.iter().map(|row| [kind(Some(row.kind)).to_owned(), row.key.clone()]));
    })
}

const fn kind(kind: Option<RowKind>) -> &'static str {
    match kind {
        Some(RowKind::Node) => "node",
        Some(RowKind::Fact) => "fact",
        None => "-",
    }
}

fn lay_out(answer: &Reranked, page: &mut Page) {
    let columns = [
        Column::right("SCORE"),
        Column::right("WEIGHT"),
        Column::left("KIND"),
        Column::left("LIVE"),
        Column::left("KEY"),
        Column::cut("WHY"),
    ];
    let row = |row: &RerankedRow| {
        [
            format!("{:.4}", row.score),
            format!("{:.4}", row.weight),
            kind(row.kind).to_owned(),
            if row.live { "yes" } else { "no" }.to_owned(),
            row.key.clone(),
            row.why.clone(),
        ]
    };
    page.table(&columns, answer.results.iter().map(row));
    let freshness = &answer.freshness;
    let stale = if freshness.stale { " (stale)" } else { "" };
    page.line("");
    page.line(&format!("Generation {}, refreshed {} ms ago{stale}.", answer.generation, freshness.stale_ms));
    searched(freshness.whole, freshness.held_share, page);
}
