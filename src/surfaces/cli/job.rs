//! `ebb job`: jobs run by hand, under the same rules as by a worker.

mod effects;
mod history;

use super::exit::{CliError, conclude};
use super::instant::{about, readable, spelt};
use super::output::{Format, Output};
use super::page::{Column, Page};
use super::{Global, RunOptions, unknown};
use clap::{Args, Subcommand};
pub(super) use ebb_core::api::job::Job;
use ebb_core::api::job::{JobRun, JobRunRequest, LastRun};
use ebb_core::domain::tunables::FallbackTunables;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::{JobName, Service};
use effects::{Counts, effects};
use std::num::NonZeroU64;
use std::time::Duration;

/// The verbs of `ebb job`.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  ebb job list
  ebb job run decay --dry-run
  ebb job run --all --at 2026-03-01T12:00Z
  ebb job history promote --limit 5")]
pub enum Verb {
    /// List jobs: schedule, last run, next run, lag
    List,
    /// Run a job now, or all jobs in order
    Run(RunArgs),
    /// Show past runs, latest first
    History {
        /// Name of the job [default: all jobs]
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Maximum number of runs
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
}

/// `ebb job run`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
A run by hand does not count as a scheduled one. It is skipped while another run of the job is open. A guard stops a sweep
by a policy that is new to a scope and would retract more than a fifth of it; accept the number once, and the policy runs by
itself from then on.

Examples:
  ebb job run promote
  ebb job run decay --limit 1000
  ebb job run sweep --accept-affected 60
  ebb job run --all --dry-run")]
pub struct RunArgs {
    /// Name of the job
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    pub name: Option<String>,
    /// Run all jobs, in order
    #[arg(long)]
    pub all: bool,
    /// Stop after this many rows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// Override the guard of the sweep: the number of facts it named
    #[arg(long, value_name = "N")]
    pub accept_affected: Option<i64>,
    /// Run options.
    #[command(flatten)]
    pub options: RunOptions,
}

/// Runs a verb.
pub async fn run(verb: &Verb, service: &Service, output: &Output, global: &Global) -> Result<(), CliError> {
    match verb {
        Verb::List => list(service, output).await,
        Verb::Run(args) => run_jobs(args, service, output, global).await,
        Verb::History { name, limit } => history::history(name.as_deref(), *limit, service, output).await,
    }
}

/// The job with that name.
pub(super) fn named(name: &str) -> Result<JobName, CliError> {
    let names = || JobName::ALL.into_iter().map(JobName::name);
    JobName::named(name).ok_or_else(|| unknown("job", name, names(), "ebb job list"))
}

/// Jobs as a table.
pub(super) fn table(page: &mut Page, jobs: &[Job], at: Timestamp) {
    let columns = [
        Column::left("JOB"),
        Column::left("EVERY"),
        Column::left("LAST RUN (UTC)"),
        Column::left("NEXT (UTC)"),
        Column::left("LAG"),
    ];
    let row = |job: &Job| {
        let every = match (&job.cron, job.timezone) {
            (Some(cron), Some(zone)) => format!("{cron} {zone}"),
            _ => spelt(Duration::from_secs(job.every_seconds.unwrap_or_default())),
        };
        let next = match (job.enabled, job.next <= at) {
            (false, _) => "disabled".to_owned(),
            (true, true) => format!("{}, due", readable(job.next)),
            (true, false) => readable(job.next),
        };
        let lag = match job.lag_seconds {
            0 => "-".to_owned(),
            seconds => about(Duration::from_secs(seconds)),
        };
        [job.job.to_string(), every, last_run(job), next, lag]
    };
    page.table(&columns, jobs.iter().map(row));
    for job in jobs {
        failure(job).iter().for_each(|line| page.paragraph(line));
    }
}

/// When a job last ran; for a run whose record is trimmed, the instant for which it was planned.
fn last_run(job: &Job) -> String {
    let run = job.last_run.as_ref();
    let mark = if run.is_some_and(|run| run.trigger == "manual") { ", by hand" } else { "" };
    match run.and_then(|run| run.started).or(job.last) {
        Some(at) => format!("{}{mark}", readable(at)),
        None => "never".to_owned(),
    }
}

/// That the last run of a job failed, and why.
fn failure(job: &Job) -> Option<String> {
    let LastRun { state, reason, .. } = job.last_run.as_ref()?;
    let name = job.job.name();
    let why = reason.as_deref().unwrap_or("no reason was recorded");
    match state.as_str() {
        "failed" => Some(format!("The last run of {name} failed: {why}. See: ebb job history {name}")),
        "guarded" => {
            Some(format!("The guard stopped the last run of {name}: {why}. See: ebb job history {name}"))
        }
        _ => None,
    }
}

/// Why no job can run, and the consequences.
pub(super) fn explain_stop(page: &mut Page, why: &str, fallback: Option<FallbackTunables>) {
    match fallback {
        Some(fallback) => {
            page.heading("No job can run, and no memory can be written");
            page.paragraph(why);
            page.paragraph(&format!("Meanwhile answers and schedules follow other tunables: {fallback}."));
        }
        None => page.paragraph(&format!("No job can run: {why}")),
    }
    page.line("");
}

async fn list(service: &Service, output: &Output) -> Result<(), CliError> {
    service.try_write().await;
    let at = service.instant(None).await?;
    let answer = service.jobs(at).await?;
    if output.format == Format::Ndjson {
        return output.emit_list("job.list", "jobs", &answer.jobs, |_| {});
    }
    output.emit("job.list", &answer, |page| {
        if let Some(stopped) = &answer.stopped {
            explain_stop(page, stopped, answer.fallback_tunables);
        }
        table(page, &answer.jobs, at);
        page.line("");
        answer.jobs.iter().for_each(|job| page.line(&format!("{}: {}.", job.job, job.about)));
    })
}

/// Remark on a run that did not reach everything that was due.
pub(super) const ENDED_EARLY: &str = "Not everything was read: more may be due.";

/// One sentence about a run.
fn sentence(run: &JobRun) -> String {
    let name = run.job.name();
    if run.outcome == "skipped" {
        return format!("{name}: skipped; {}.", run.reason.as_deref().unwrap_or("another run is open"));
    }
    let what = effects(run.job, &Counts::from(run));
    let mut rest = match (run.truncated, run.dry_run) {
        (true, true) => format!(" {ENDED_EARLY}"),
        (true, false) => format!(" {} are left for the next run.", run.due_left),
        (false, _) => String::new(),
    };
    if let Some(why) = &run.reason {
        let ended = if run.dry_run { "A run would be stopped" } else { "It ended early" };
        rest.push_str(&format!(" {ended}: {why}."));
    }
    let dry_run = if run.dry_run { ", dry run" } else { "" };
    format!("{name} at {} UTC{dry_run}: {what}.{rest}", readable(run.at))
}

async fn run_jobs(
    args: &RunArgs,
    service: &Service,
    output: &Output,
    global: &Global,
) -> Result<(), CliError> {
    let named = args.name.as_deref().map(named).transpose()?;
    let jobs: Vec<JobName> = named.map_or_else(|| JobName::ALL.to_vec(), |job| vec![job]);
    let at = args.options.instant(service, global).await?;
    let run = async |job| {
        // Of all jobs, it is for the sweep.
        let accept_affected = args.accept_affected.filter(|_| !args.all || job == JobName::Sweep);
        let limit = args.limit.and_then(NonZeroU64::new);
        let request = JobRunRequest { limit, accept_affected, ..JobRunRequest::default() };
        if args.options.dry_run {
            return Ok(JobRun::dry(service.dry_run_job(job, at, &request, false).await?));
        }
        Ok(JobRun::reported(service.run_job(job, at, &request).await?))
    };
    let (mut runs, mut failed) = (Vec::new(), None);
    for (n, job) in jobs.iter().enumerate() {
        match run(*job).await {
            Ok(done) => runs.push(done),
            Err(why) if runs.is_empty() => return Err(why),
            Err(why) => {
                failed = Some(after_others(why, *job, &jobs[n + 1..], args.options.dry_run));
                break;
            }
        }
    }
    let sentences = |page: &mut Page| runs.iter().for_each(|run| page.paragraph(&sentence(run)));
    let printed = match runs.as_slice() {
        [one] if !args.all => output.emit("job.run", one, sentences),
        _ => output.emit_list("job.run", "runs", &runs, sentences),
    };
    conclude(printed, failed.map_or(Ok(()), Err))
}

/// The error of a job that ran after others, whose runs are done and shown.
fn after_others(why: CliError, job: JobName, rest: &[JobName], dry_run: bool) -> CliError {
    let done = if dry_run { "were counted" } else { "have run" };
    let mut all = format!("this is about {}; the jobs before it {done}", job.name());
    if !rest.is_empty() {
        let rest: Vec<&str> = rest.iter().map(|job| job.name()).collect();
        all.push_str(&format!(", and these did not begin: {}", rest.join(", ")));
    }
    why.why(all)
}
