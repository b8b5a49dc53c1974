//! `ebb job history`: past runs with their results, and the jobs that wait.

use super::effects::{Counts, effects};
use super::{explain_stop, named};
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::{about, between, readable};
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::{Column, Page};
use ebb_core::api::job::{Job, Jobs, PastRun};
use ebb_core::service::{JobName, Service};
use std::time::Duration;

/// A run that began this much later than planned shows the planned instant, and a job that has been due for as long is named.
const LATE: Duration = Duration::from_secs(60);

pub(super) async fn history(
    name: Option<&str>,
    limit: u32,
    service: &Service,
    output: &Output,
) -> Result<(), CliError> {
    let named = name.map(named).transpose()?;
    let Jobs { jobs, stopped, fallback_tunables } = service.jobs(service.instant(None).await?).await?;
    let runs: Vec<PastRun> = service.history(named, limit).await?.into_iter().map(PastRun::from).collect();
    output.emit_list("job.history", "runs", &runs, |page| {
        if let Some(stopped) = &stopped {
            explain_stop(page, stopped, fallback_tunables);
        }
        let jobs = jobs.iter().filter(|job| named.is_none_or(|named| named == job.job));
        let waiting: Vec<String> =
            jobs.filter_map(|job| waits(job, named.is_some(), stopped.is_some())).collect();
        waiting.iter().for_each(|line| page.paragraph(line));
        if !waiting.is_empty() {
            page.line("");
        }
        if runs.is_empty() {
            page.line("No run yet. `ebb job run --all` runs every job once.");
            return;
        }
        table(page, &runs);
        for run in &runs {
            if let Some(reason) = &run.reason {
                let ran = run.started.map_or_else(|| run.occurrence.clone(), readable);
                page.paragraph(&format!("{} at {ran}: {reason}{}", run.job, next_command(run)));
            }
        }
    })
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

/// Why a job has no run of its due occurrence, or of any.
fn waits(job: &Job, is_named: bool, is_stopped: bool) -> Option<String> {
    let name = job.job.name();
    if !job.enabled {
        let also = match job.job {
            JobName::Embed => ", or embedding.url is not set",
            JobName::Fade => ", or relation.enabled is",
            _ => "",
        };
        return is_named.then(|| format!("{name} is disabled: jobs.{name}.enabled is false{also}."));
    }
    let lag = Duration::from_secs(job.lag_seconds);
    if lag < LATE || job.last_run.as_ref().is_some_and(|run| run.state == "open") {
        return None;
    }
    let remedy = if is_stopped { "" } else { ", and no worker has run it. Start one with: ebb worker" };
    Some(format!("{name} has been due for {}{remedy}", about(lag)))
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
