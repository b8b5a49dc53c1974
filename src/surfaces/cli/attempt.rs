//! `ebb attempt`: who holds which memories for consolidation, and how to end that.

use super::Global;
use super::confirm::confirm;
use super::exit::CliError;
use super::instant::{about, readable};
use super::output::Output;
use super::page::{Column, Page};
use clap::{Args, Subcommand};
use ebb_core::api::attempt::{Attempt, AttemptWithMemories, HeldMemory};
use ebb_core::service::Service;
use serde::Serialize;
use std::time::Duration;

/// The verbs of `ebb attempt`.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
An attempt holds the memories that a job, the end of a session, or another program promotes. It ends by itself: done by
its holder, or expired when its lease is over.

Examples:
  ebb attempt list
  ebb attempt show ID
  ebb attempt release ID --yes")]
pub enum Verb {
    /// List attempts that are not over
    List(List),
    /// Show one, with the memories it holds
    Show(Show),
    /// End one, whoever holds it, and free its memories
    Release(Release),
}

/// `ebb attempt list`
#[derive(Debug, Clone, Args)]
pub struct List {
    /// Also list those that are over, the latest first
    #[arg(long)]
    pub all: bool,
    /// List at most this many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
}

/// `ebb attempt show`
#[derive(Debug, Clone, Args)]
pub struct Show {
    /// Id of the attempt
    #[arg(value_name = "ID")]
    pub id: String,
}

/// `ebb attempt release`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Its holder commits nothing after this, and what it had not committed is ripe as before. Asks first; in a pipe it needs
--yes.

Examples:
  ebb attempt release ID --dry-run
  ebb attempt release ID --yes")]
pub struct Release {
    /// Id of the attempt
    #[arg(value_name = "ID")]
    pub id: String,
    /// Say what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// What is left of a lease, for people.
pub(super) fn lease(left_ms: Option<i64>) -> String {
    match left_ms {
        None => "-".to_owned(),
        Some(left) if left > 0 => about(Duration::from_millis(left.unsigned_abs())),
        Some(left) => format!("over for {}", about(Duration::from_millis(left.unsigned_abs()))),
    }
}

/// Runs a verb.
pub async fn run(verb: &Verb, service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    match verb {
        Verb::List(args) => list(args, service, output).await,
        Verb::Show(args) => show(args, service, output).await,
        Verb::Release(args) => release(args, service, output, global).await,
    }
}

async fn list(args: &List, service: &Service, output: &Output) -> Result<(), CliError> {
    let attempts: Vec<Attempt> = service.attempts(!args.all, args.limit).await?;
    output.emit_list("attempt.list", "attempts", &attempts, |page| {
        if attempts.is_empty() {
            page.line(if args.all { "No attempts." } else { "No attempt is open." });
            return;
        }
        let columns = [
            Column::left("ID"),
            Column::left("PHASE"),
            Column::left("STATE"),
            Column::left("STARTED (UTC)"),
            Column::left("LEASE"),
            Column::right("HOLDS"),
            Column::right("CLAIMED"),
            Column::right("APPLIED"),
            Column::right("CONFLICTS"),
        ];
        let row = |attempt: &Attempt| {
            [
                attempt.id.clone(),
                attempt.phase.clone().unwrap_or_else(|| "-".to_owned()),
                attempt.state.clone(),
                attempt.started.map_or_else(|| "-".to_owned(), readable),
                lease(attempt.lease_left_ms),
                attempt.holds.to_string(),
                attempt.claimed.to_string(),
                attempt.applied.to_string(),
                attempt.conflicts.to_string(),
            ]
        };
        page.table(&columns, attempts.iter().map(row));
    })
}

async fn show(args: &Show, service: &Service, output: &Output) -> Result<(), CliError> {
    let (attempt, held) = service.attempt(&args.id).await?;
    let memories = held.into_iter().map(|(id, tier)| HeldMemory { id, tier }).collect();
    let whole = AttemptWithMemories { attempt, memories };
    output.emit("attempt.show", &whole, |page| lay_out(&whole, page))
}

fn lay_out(whole: &AttemptWithMemories, page: &mut Page) {
    let AttemptWithMemories { attempt, memories } = whole;
    let or = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    page.fields(&[
        ("attempt", attempt.id.clone()),
        ("phase", or(&attempt.phase)),
        ("state", attempt.state.clone()),
        ("holder", or(&attempt.holder)),
        ("made by", or(&attempt.instance)),
        ("started", attempt.started.map_or_else(|| "-".to_owned(), |at| format!("{} UTC", readable(at)))),
        ("lease", lease(attempt.lease_left_ms)),
        ("claimed", attempt.claimed.to_string()),
        ("applied", attempt.applied.to_string()),
        ("conflicts", attempt.conflicts.to_string()),
    ]);
    if !memories.is_empty() {
        page.line("");
        let columns = [Column::left("HOLDS"), Column::left("TIER")];
        page.table(&columns, memories.iter().map(|held| [held.id.clone(), held.tier.clone()]));
    }
}

#[derive(Serialize)]
struct Released {
    id: String,
    released: bool,
    memories: i64,
    dry_run: bool,
}

async fn release(
    args: &Release,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let (attempt, _) = service.attempt(&args.id).await?;
    let (memories, dry_run) = (attempt.holds, args.dry_run);
    let open = !matches!(attempt.state.as_str(), "done" | "aborted" | "expired");
    let released = if dry_run || !open {
        open
    } else {
        let question = format!("End attempt {}, which holds {memories} memories?", args.id);
        confirm(&question, global.yes).await?;
        service.release_attempt(&args.id).await?
    };
    let answer = Released { id: args.id.clone(), released, memories, dry_run };
    output.emit("attempt.release", &answer, |page| {
        page.line(&match (released, dry_run) {
            (true, true) => format!("Would end it and free {memories} memories. Nothing was written."),
            (true, false) => format!("Ended; {memories} memories are free."),
            (false, _) => format!("It is over already: {}.", attempt.state),
        });
    })
}
