//! `ebb attempt`: claims of memories for consolidation.

use super::Global;
use super::confirm::confirm;
use super::exit::CliError;
use super::instant::{about, readable};
use super::output::Output;
use super::page::{Column, Page};
use clap::Subcommand;
use ebb_core::api::attempt::{Attempt, AttemptWithMemories, HeldMemory};
use ebb_core::service::Service;
use serde::Serialize;
use std::time::Duration;

/// The verbs of `ebb attempt`.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
An attempt claims memories for promotion. It ends by itself: done by its holder, or expired with its lease.

Examples:
  ebb attempt list
  ebb attempt show ID
  ebb attempt release ID --yes")]
pub enum Verb {
    /// List open attempts
    List {
        /// Also list finished attempts, latest first
        #[arg(long)]
        all: bool,
        /// Maximum number of attempts
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
    /// Show an attempt and the memories it holds
    Show {
        /// Id of the attempt
        #[arg(value_name = "ID")]
        id: String,
    },
    /// End an attempt and release its memories
    #[command(after_help = "\
Its holder can commit nothing after this; memories that were not promoted yet stay ready for promotion. Asks for confirmation; in a pipe it
needs --yes.

Examples:
  ebb attempt release ID --dry-run
  ebb attempt release ID --yes")]
    Release {
        /// Id of the attempt
        #[arg(value_name = "ID")]
        id: String,
        /// Show what would change and write nothing
        #[arg(long)]
        dry_run: bool,
    },
}

/// The time left of a lease, for people.
pub(super) fn lease(left_ms: Option<i64>) -> String {
    match left_ms {
        None => "-".to_owned(),
        Some(left) if left > 0 => about(Duration::from_millis(left.unsigned_abs())),
        Some(left) => format!("expired {} ago", about(Duration::from_millis(left.unsigned_abs()))),
    }
}

/// Runs a verb.
pub async fn run(verb: &Verb, service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    match verb {
        Verb::List { all, limit } => list(*all, *limit, service, output).await,
        Verb::Show { id } => show(id, service, output).await,
        Verb::Release { id, dry_run } => release(id, *dry_run, service, output, global).await,
    }
}

async fn list(all: bool, limit: u32, service: &Service, output: &Output) -> Result<(), CliError> {
    let attempts: Vec<Attempt> = service.attempts(!all, limit).await?;
    output.emit_list("attempt.list", "attempts", &attempts, |page| {
        if attempts.is_empty() {
            page.line(if all { "No attempts." } else { "No attempt is open." });
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

async fn show(id: &str, service: &Service, output: &Output) -> Result<(), CliError> {
    let (attempt, held) = service.attempt(id).await?;
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
        ("instance", or(&attempt.instance)),
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
struct ReleaseReport {
    id: String,
    released: bool,
    memories: i64,
    dry_run: bool,
}

async fn release(
    id: &str,
    dry_run: bool,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let (attempt, _) = service.attempt(id).await?;
    let memories = attempt.holds;
    let open = !matches!(attempt.state.as_str(), "done" | "aborted" | "expired");
    let released = if dry_run || !open {
        open
    } else {
        let question = format!("End attempt {id} and release its {memories} memories?");
        confirm(&question, global.yes).await?;
        service.release_attempt(id).await?
    };
    let answer = ReleaseReport { id: id.to_owned(), released, memories, dry_run };
    output.emit("attempt.release", &answer, |page| {
        page.line(&match (released, dry_run) {
            (true, true) => format!("Would end it and release {memories} memories."),
            (true, false) => format!("Ended; {memories} memories are released."),
            (false, _) => format!("It has ended already: {}.", attempt.state),
        });
    })
}
