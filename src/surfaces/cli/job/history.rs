//! `ebb job history`: past runs with their results, and the jobs that wait.

use super::effects::{Counts, effects};
use super::{explain_stop, named};
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::{about, between, readable};
use crate::surfaces::cli::output::{Format, Output};
use crate::surfaces::cli::page::{Column, Page};
use ebb_core::api::job::{JobHistory, PastRun, WaitCause, WaitingJob};
use ebb_core::service::{JobName, Service};
use std::time::Duration;

/// A run that began this much later than planned shows the planned instant.
const LATE: Duration = Duration::from_secs(60);

pub(super) async fn history(
    name: Option<&str>,
    limit: u32,
    service: &Service,
    output: &Output,
) -> Result<(), CliError> {
    let named = name.map(named).transpose()?;
    service.try_write().await;
    let found = service.job_history(named, limit, service.instant(None).await?).await?;
    if output.format == Format::Ndjson {
        return output.emit_list("job.history", "runs", &found.runs, |_| {});
    }
    output.emit("job.history", &found, |page| {
        explain_waiting(page, &found);
        if found.runs.is_empty() {
            page.line("No run yet. `ebb job run --all` runs every job once.");
            return;
        }
        table(page, &found.runs);
        for run in &found.runs {
            if let Some(reason) = &run.reason {
                let ran = run.started.map_or_else(|| run.occurrence.clone(), readable);
                page.paragraph(&format!("{} at {ran}: {reason}{}", run.job, next_command(run)));
            }
        }
    })
}

/// What keeps jobs from running, and those that wait.
fn explain_waiting(page: &mut Page, found: &JobHistory) {
    if let Some(stopped) = &found.stopped {
        explain_stop(page, stopped, found.fallback_tunables);
    }
    let lines: Vec<String> = found.waiting.iter().map(|job| waits(job, found.stopped.is_some())).collect();
    let unscheduled = found.unscheduled.iter().map(|why| format!("Schedules: {why}."));
    let lines: Vec<String> = unscheduled.chain(lines).collect();
    lines.iter().for_each(|line| page.paragraph(line));
    if !lines.is_empty() {
        page.line("");
    }
}

/// The command that follows a run that did not succeed.
fn next_command(run: &PastRun) -> String {
    match run.state.as_str() {
        "failed" => ". Try: ebb doctor".to_owned(),
        "guarded" => format!(
            ". To accept the number of affected items: ebb job run {} --accept-affected NUMBER",
            run.job
        ),
        _ => String::new(),
    }
}

/// Why a job waits, with the remedy unless something else keeps every job from running.
fn waits(waiting: &WaitingJob, is_stopped: bool) -> String {
    let name = waiting.job.name();
    let span = about(Duration::from_secs(waiting.seconds.unwrap_or_default()));
    match waiting.cause {
        WaitCause::Disabled => {
            let also = match waiting.job {
                JobName::Embed => ", or embedding.url is not set",
                JobName::Fade => ", or relation.enabled is",
                _ => "",
            };
            format!("{name} is disabled: jobs.{name}.enabled is false{also}.")
        }
        WaitCause::Due if is_stopped => format!("{name} has been due for {span}."),
        WaitCause::Due => {
            format!("{name} has been due for {span}, and no worker has run it. Start one with: ebb worker")
        }
        WaitCause::Stranded if is_stopped => format!("The open run of {name} lost its holder {span} ago."),
        WaitCause::Stranded => format!(
            "The open run of {name} lost its holder {span} ago, and no worker has taken it over. Start one with: ebb worker"
        ),
    }
}

fn table(page: &mut Page, runs: &[PastRun]) {
    let columns = [
        Column::left("RAN (UTC)"),
        Column::left("JOB"),
        Column::left("BY"),
        Column::left("STATE"),
        Column::right("TOOK"),
        Column::cut("RESULT"),
    ];
    let row = |run: &PastRun| {
        let took = run.started.zip(run.finished).map(|(from, to)| about(between(to, from)));
        [
            run.started.map(readable).unwrap_or_default(),
            run.job.clone(),
            if run.trigger == "manual" { "hand" } else { "schedule" }.to_owned(),
            run.state.clone(),
            took.unwrap_or_else(|| "-".to_owned()),
            result(run),
        ]
    };
    page.table(&columns, runs.iter().map(row));
}

/// The effects of a run, or the first sentence of the reason that it has none; and the instant of its laws if that is
/// another than its start.
fn result(run: &PastRun) -> String {
    let effects = JobName::named(&run.job).map(|job| effects(job, &Counts::from(run)));
    let effects = match run.state.as_str() {
        "done" => effects.unwrap_or_default(),
        "open" => "in progress".to_owned(),
        _ => run.reason.as_deref().and_then(|why| why.split(". ").next()).unwrap_or("no reason").to_owned(),
    };
    match run.at.zip(run.started) {
        Some((at, started)) if between(at, started) >= LATE => format!("{effects}; as of {}", readable(at)),
        _ => effects,
    }
}
