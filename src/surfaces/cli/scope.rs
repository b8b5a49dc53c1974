//! `ebb scope`: list scopes, export and delete everything of one.

use super::Global;
use super::backup::RowProgress;
use super::confirm::confirm;
use super::exit::CliError;
use super::instant::readable;
use super::output::Output;
use super::page::{Column, Page};
use clap::{Args, Subcommand};
use ebb_core::api::scope::{ScopeDeletion, ScopeReceipt};
use ebb_core::domain::ids::Scope;
use ebb_core::domain::key::Scopes;
use ebb_core::service::Service;
use ebb_core::service::memories::RequestId;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// Caller in receipts.
const BY: &str = "cli";
/// Scopes that are read at a time.
const PAGE: usize = 1_000;
/// Lines that are read ahead of stdout.
const AHEAD: usize = 1_000;

/// The verbs of `ebb scope`.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  ebb scope list
  ebb scope export alice alice.ndjson
  ebb scope delete alice --dry-run
  ebb scope receipts alice")]
pub enum Verb {
    /// List scopes with their numbers of memories
    List,
    /// Export everything that Ebb wrote in a scope
    Export(Export),
    /// Delete everything that Ebb wrote in a scope permanently, and keep a receipt
    Delete(Delete),
    /// List the receipts of deletions of a scope, latest first
    Receipts {
        /// The scope
        #[arg(value_name = "SCOPE", value_parser = name)]
        name: Scope,
    },
}

/// `ebb scope export`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
One row a line, in the format of a backup: `ebb restore FILE` loads it into an empty database.

Examples:
  ebb scope export alice alice.ndjson
  ebb scope export alice | jq -c .node.values")]
pub struct Export {
    /// The scope
    #[arg(value_name = "SCOPE", value_parser = name)]
    pub name: Scope,
    /// File to write [default: stdout]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// `ebb scope delete`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Rows of other libraries stay; their states in Ebb go. A deletion that was broken off is finished by the same command, with the
same receipt. Exit code 8 if the guard stops it: more than 50 rows need --accept-affected.

Examples:
  ebb scope delete alice --dry-run
  ebb scope delete alice --accept-affected 412 --yes")]
pub struct Delete {
    /// The scope
    #[arg(value_name = "SCOPE", value_parser = name)]
    pub name: Scope,
    /// Count the rows by label and delete nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Delete as many rows as the dry run counted
    #[arg(long, value_name = "N")]
    pub accept_affected: Option<i64>,
}

fn name(text: &str) -> Result<Scope, String> {
    Scope::new(text).map_err(|why| why.to_string())
}

/// Runs a verb.
pub async fn run(verb: &Verb, service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    match verb {
        Verb::List => list(service, output).await,
        Verb::Export(args) => export(args, service, output, global).await,
        Verb::Delete(args) => delete(args, service, output, global).await,
        Verb::Receipts { name } => receipts(name, service, output).await,
    }
}

async fn list(service: &Service, output: &Output) -> Result<(), CliError> {
    let (mut scopes, mut after) = (Vec::new(), Some(String::new()));
    while let Some(from) = after {
        let page = service.scopes(&from, PAGE, &Scopes::Every).await?;
        scopes.extend(page.scopes);
        after = page.next;
    }
    output.emit_list("scope.list", "scopes", &scopes, |page| {
        if scopes.is_empty() {
            page.line("No scope has rows.");
            return;
        }
        let rows = scopes.iter().map(|one| [one.scope.clone(), one.memories.to_string()]);
        page.table(&[Column::left("SCOPE"), Column::right("MEMORIES")], rows);
    })
}

#[derive(Serialize)]
struct ExportAnswer<'a> {
    scope: &'a Scope,
    file: &'a Path,
    nodes: u64,
    relationships: u64,
    bytes: u64,
    sha256: String,
}

async fn export(args: &Export, service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    let scope = &args.name;
    let Some(file) = args.file.as_deref() else { return Box::pin(print(scope, service, output)).await };
    if file.exists() {
        confirm(&format!("{} exists. Replace it?", file.display()), global.yes).await?;
    }
    let mut progress = RowProgress::new(output);
    let written = service.export_scope_to(scope, file, &mut |done| progress.at(done)).await?;
    drop(progress);
    let (nodes, relationships) = (written.nodes, written.relationships);
    let answer =
        ExportAnswer { scope, file, nodes, relationships, bytes: written.bytes, sha256: written.checksum };
    output.emit("scope.export", &answer, |page| {
        page.paragraph(&format!(
            "Wrote {nodes} nodes and {relationships} relationships of the scope {scope} to {}.",
            file.display()
        ));
    })
}

/// Writes the lines of an export to stdout.
async fn print(scope: &Scope, service: &Service, output: &Output) -> Result<(), CliError> {
    let (sender, mut lines) = mpsc::channel(AHEAD);
    let read = async {
        let read = service.export_scope(scope, &sender, None).await;
        drop(sender);
        read
    };
    let print = async {
        while let Some(line) = lines.recv().await {
            output.raw(&line)?;
        }
        Ok::<_, CliError>(())
    };
    // The first failure ends both.
    tokio::try_join!(async { read.await.map(drop).map_err(CliError::from) }, print).map(drop)
}

async fn delete(args: &Delete, service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    let scope = &args.name;
    let counted = service.count_scope(scope).await?;
    let done = if args.dry_run {
        counted
    } else {
        let question = format!("Delete all {} rows of the scope {scope} for good?", counted.total);
        confirm(&question, global.yes).await?;
        service.delete_scope(scope, &RequestId::or_new(BY, None), args.accept_affected).await?
    };
    output.emit("scope.delete", &done, |page| deletion(page, &done))
}

fn deletion(page: &mut Page, done: &ScopeDeletion) {
    let ScopeDeletion { scope, total, .. } = done;
    let Some(receipt) = &done.receipt else {
        page.line(&format!("Would delete {total} rows of the scope {scope}."));
        by_label(page, &done.nodes);
        if let Some(outward @ 1..) = done.relationships_to_others {
            page.paragraph(&format!(
                "{outward} relationships lead to rows of others. They stay, with an empty node at their end."
            ));
        }
        return;
    };
    page.line(&format!("The scope {scope} is deleted: {total} rows. Receipt: {}", receipt.id));
    by_label(page, &done.nodes);
    if receipt.emptied > 0 {
        page.paragraph(&format!(
            "{} of them stay as empty nodes, since relationships of others lead to them.",
            receipt.emptied
        ));
    }
}

fn by_label(page: &mut Page, nodes: &BTreeMap<String, i64>) {
    if !nodes.is_empty() {
        let rows = nodes.iter().map(|(label, count)| [label.clone(), count.to_string()]);
        page.table(&[Column::left("LABEL"), Column::right("ROWS")], rows);
    }
}

async fn receipts(scope: &Scope, service: &Service, output: &Output) -> Result<(), CliError> {
    let receipts = service.scope_receipts(scope).await?.receipts;
    output.emit_list("scope.receipts", "receipts", &receipts, |page| {
        if receipts.is_empty() {
            page.line(&format!("The scope {scope} was never deleted."));
            return;
        }
        let columns = [
            Column::left("ID"),
            Column::left("BY"),
            Column::left("BEGUN (UTC)"),
            Column::left("FINISHED (UTC)"),
            Column::right("ROWS"),
        ];
        let row = |receipt: &ScopeReceipt| {
            let finished = receipt.finished.map_or_else(|| "no: delete it again".to_owned(), readable);
            [
                receipt.id.clone(),
                receipt.by.clone(),
                readable(receipt.at),
                finished,
                receipt.total.to_string(),
            ]
        };
        page.table(&columns, receipts.iter().map(row));
    })
}
