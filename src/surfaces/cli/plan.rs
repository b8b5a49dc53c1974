//! `ebb plan`, `ebb apply` and `ebb undo`: the changes of a job before they are made, applied as they were shown, and taken
//! back.

use super::exit::{CliError, Exit, conclude};
use super::instant::readable;
use super::output::Output;
use super::page::{Column, Page};
use super::{Global, ReadOptions, RunOptions, job, outcome};
use clap::Args;
use ebb_core::api::plan::{Applied, JournalRun, Plan};
use ebb_core::domain::journal::{Entry, RowChange, Value};
use ebb_core::service::{Error, Service};
use std::path::PathBuf;

/// Changes and refusals that a table shows; JSON has all.
const SHOWN: usize = 20;
/// Schema of a plan.
const SCHEMA: &str = "ebb.plan/1";

/// `ebb plan`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
A plan lists each row that the job would move: before, after, rule and reason. decay, promote, cluster and sweep have
plans; other jobs change amounts only. Nothing is written. Remove a change from the file, and it is not applied.

Examples:
  ebb plan decay
  ebb plan sweep -o json > plan.json
  ebb apply plan.json")]
pub struct PlanArgs {
    /// Name of the job
    #[arg(value_name = "JOB")]
    pub job: String,
    /// Read options.
    #[command(flatten)]
    pub when: ReadOptions,
    /// Stop after about this many rows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
}

/// `ebb apply`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
A change is applied if its rows are still as the plan says, and refused with the reason if one has moved on. A repeat
applies nothing twice. Exit code 1 if any was refused.

Examples:
  ebb plan decay -o json > plan.json
  ebb apply plan.json --dry-run
  ebb apply plan.json")]
pub struct ApplyArgs {
    /// File of a plan; - reads standard input
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Show what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `ebb undo`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Without a run, the runs that can be undone are listed. A change is taken back if its rows are still as the run left them,
and refused with the reason if one has moved on. An undo is recorded like a run, and can be undone.

Examples:
  ebb undo
  ebb undo 0198c0de-0000-7000-8000-000000000001 --dry-run
  ebb undo 0198c0de-0000-7000-8000-000000000001")]
pub struct UndoArgs {
    /// Id of a run, of an applied plan or of an undo
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Maximum number of runs to list
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Run options.
    #[command(flatten)]
    pub options: RunOptions,
}

/// Runs `ebb plan`.
pub async fn plan(args: &PlanArgs, service: &Service, output: &Output) -> Result<(), CliError> {
    let name = job::named(&args.job)?;
    let at = args.when.instant(service).await?;
    let plan = service.plan_job(name, at, args.limit).await.map_err(|error| match error {
        // A plan cannot accept what its guard refuses.
        Error::Guarded(_) => CliError::new(Exit::Guarded, &error)
            .why("nothing was written; such a run is not planned")
            .try_this(format!("ebb job run {name}, which names the number to accept")),
        other => other.into(),
    })?;
    output.emit("plan", &plan, |page| lay_out(&plan, page))
}

/// Runs `ebb apply`.
pub async fn apply(
    args: &ApplyArgs,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let text = outcome::read(&args.plan).await?;
    let name = args.plan.display();
    let not_a_plan = |why: String| {
        CliError::usage(format!("{name} is no plan")).why(why).try_this("ebb plan decay -o json > plan.json")
    };
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|why| not_a_plan(why.to_string()))?;
    if value["schema"] != SCHEMA {
        return Err(not_a_plan(format!("its schema is {}, not {SCHEMA}", value["schema"])));
    }
    let plan: Plan = serde_json::from_value(value).map_err(|why| not_a_plan(why.to_string()))?;
    super::confirm_ahead(plan.at, args.dry_run, service, global).await?;
    let applied = service.apply_plan(&plan, args.dry_run).await?;
    report(&applied, "apply", output)
}

/// Runs `ebb undo`.
pub async fn undo(
    args: &UndoArgs,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let Some(run) = &args.run else { return list(args.limit, service, output).await };
    let at = args.options.instant(service, global).await?;
    let undone = service.undo(run, at, args.options.dry_run).await?;
    report(&undone, "undo", output)
}

async fn list(limit: u32, service: &Service, output: &Output) -> Result<(), CliError> {
    let runs = service.journal_runs(limit).await?;
    output.emit_list("undo.list", "runs", &runs, |page| {
        if runs.is_empty() {
            page.line("No run has moved a row within retention.journal.");
            return;
        }
        let columns = [
            Column::left("RUN"),
            Column::left("JOB"),
            Column::left("AT (UTC)"),
            Column::left("BY"),
            Column::right("CHANGES"),
        ];
        let row = |run: &JournalRun| {
            [run.run.clone(), run.job.clone(), readable(run.at), run.by.clone(), run.changes.to_string()]
        };
        page.table(&columns, runs.iter().map(row));
        page.line("");
        page.line("Take one back: ebb undo RUN");
    })
}

fn lay_out(plan: &Plan, page: &mut Page) {
    let Plan { job, at, changes, .. } = plan;
    let count = counted(changes.len());
    page.line(&format!("{job} at {} UTC would make {count}.", readable(*at)));
    if !plan.complete {
        page.line("That is not all: the plan ended at its limit, or there are rows of other writers, which a run adopts first.");
    }
    if changes.is_empty() {
        return;
    }
    page.line("");
    let columns = [Column::left("RULE"), Column::left("ROW"), Column::cut("CHANGE"), Column::cut("REASON")];
    let rows = changes.iter().take(SHOWN).map(|entry| {
        let of = entry.rows.first().map(|change| change.row.to_string()).unwrap_or_default();
        [entry.rule.clone(), of, moved(entry), entry.reason.clone()]
    });
    page.table(&columns, rows);
    if changes.len() > SHOWN {
        page.line(&format!("{} more: -o json has all.", changes.len() - SHOWN));
    }
    page.line("");
    page.line(&format!("Apply: ebb plan {job} -o json > plan.json, then ebb apply plan.json"));
}

/// What a change does to its rows, in words.
fn moved(entry: &Entry) -> String {
    let parts = entry.rows.iter().filter_map(|change| {
        let RowChange { row, before, after } = change;
        let of = |name: &str, image: &Option<ebb_core::domain::journal::Image>| {
            image.as_ref()?.properties.get(name)?.as_ref().map(Value::to_string)
        };
        match (before, after) {
            (None, Some(_)) => Some(format!("{row} is created")),
            (Some(_), None) => Some(format!("{row} is removed")),
            (Some(before_image), Some(after_image)) => {
                let named = ["tier", "confidence", "size"].into_iter().find_map(|name| {
                    let (old, new) = (of(name, before), of(name, after));
                    (old != new)
                        .then(|| format!("{name} {} → {}", old.unwrap_or_default(), new.unwrap_or_default()))
                });
                let edges = before_image.relationships.len() + after_image.relationships.len();
                named.or_else(|| (edges > 0).then(|| format!("{row} is moved")))
            }
            (None, None) => None,
        }
    });
    parts.collect::<Vec<_>>().join("; ")
}

fn counted(changes: usize) -> String {
    if changes == 1 { "1 change".to_owned() } else { format!("{changes} changes") }
}

fn report(applied: &Applied, verb: &str, output: &Output) -> Result<(), CliError> {
    let printed = output.emit(verb, applied, |page| {
        let done = match (verb, applied.dry_run) {
            ("undo", false) => "Taken back",
            ("undo", true) => "Would be taken back",
            (_, false) => "Applied",
            (_, true) => "Would be applied",
        };
        page.line(&format!("{done}: {} of {}.", counted(applied.applied), applied.job));
        if applied.already > 0 {
            page.line(&format!("Nothing to do for {}.", counted(applied.already)));
        }
        for refused in applied.refused.iter().take(SHOWN) {
            page.line(&format!("Refused: {}", refused.why));
        }
        if applied.refused.len() > SHOWN {
            page.line(&format!("{} more refused: -o json has all.", applied.refused.len() - SHOWN));
        }
        applied.remarks.iter().for_each(|remark| page.paragraph(remark));
        if applied.applied > 0 && !applied.dry_run {
            page.line(&format!("Undo: ebb undo {}", applied.run));
        }
    });
    let verdict = match applied.refused.len() {
        0 => Ok(()),
        refused => Err(CliError::failed(format!("{} refused: rows have moved on", counted(refused)))),
    };
    conclude(printed, verdict)
}
