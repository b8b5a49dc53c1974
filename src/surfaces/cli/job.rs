//! `ebb job`: jobs run by hand, under the same rules as by a worker.

use super::exit::CliError;
use super::instant::{about, between, readable, spelt};
use super::output::Output;
use super::page::{Column, Page};
use super::{Global, RunOptions, unknown};
use clap::{Args, Subcommand};
pub(super) use ebb_core::api::job::Job;
use ebb_core::api::job::{JobRun, JobRunRequest, Jobs, PastRun};
use ebb_core::domain::tunables::FallbackTunables;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::{JobName, Service};
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
        Verb::History { name, limit } => history(name.as_deref(), *limit, service, output).await,
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
        Column::left("LAST (UTC)"),
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
        let last = job.last.map_or_else(|| "never".to_owned(), readable);
        [job.job.to_string(), every, last, next, lag]
    };
    page.table(&columns, jobs.iter().map(row));
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
    let at = service.instant(None).await?;
    let Jobs { jobs, stopped, fallback_tunables } = service.jobs(at).await?;
    output.emit_list("job.list", "jobs", &jobs, |page| {
        if let Some(stopped) = &stopped {
            explain_stop(page, stopped, fallback_tunables);
        }
        table(page, &jobs, at);
        page.line("");
        jobs.iter().for_each(|job| page.line(&format!("{}: {}.", job.job, job.about)));
    })
}

/// One sentence about a run.
fn sentence(run: &JobRun) -> String {
    let name = run.job.name();
    if run.outcome == "skipped" {
        return format!("{name}: skipped; {}.", run.reason.as_deref().unwrap_or("another run is open"));
    }
    let many = |count: i64, one: &str, several: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {several}")),
    };
    let own = |name: &str| run.own.get(name).copied().unwrap_or(0);
    // What the other jobs write has names of its own.
    let swept = if run.job == JobName::Decay { run.changed } else { 0 };
    let faded = if run.job == JobName::Fade { run.changed } else { 0 };
    let evaporated = if run.job == JobName::Evaporate { run.changed } else { 0 };
    let (one, several) = match run.job {
        JobName::Fade => ("relation", "relations"),
        JobName::Evaporate => ("place or edge", "places and edges"),
        JobName::Sweep => ("fact", "facts"),
        _ => ("memory", "memories"),
    };
    let quarantined = "quarantined (see: ebb inspect quarantine)";
    let cut = "of which only the most recent memories count";
    let most = "of which only the memories of most energy were compared";
    let parts: Vec<String> = [
        many(
            run.adopted,
            &format!("{one} of another writer adopted"),
            &format!("{several} of other writers adopted"),
        ),
        many(faded, "relation lowered", "relations lowered"),
        many(evaporated, "place or edge updated", "places and edges updated"),
        many(own("silenced"), "fallen to 0", "fallen to 0"),
        many(own("retracted"), "fact retracted", "facts retracted"),
        many(own("reduced"), "fact reduced", "facts reduced"),
        many(
            own("only_counted"),
            "counted by a policy that only counts",
            "counted by policies that only count",
        ),
        many(swept, "memory updated", "memories updated"),
        many(run.expired, "expired", "expired"),
        many(own("released"), "row released from quarantine", "rows released from quarantine"),
        many(own("mended"), "memory with repaired dates", "memories with repaired dates"),
        many(own("sessions"), "session counted", "sessions counted"),
        many(own("sessions_cut"), &format!("session {cut}"), &format!("sessions {cut}")),
        many(own("pairs"), "pair strengthened", "pairs strengthened"),
        many(own("formed"), "cluster formed", "clusters formed"),
        many(own("dissolved"), "cluster dissolved", "clusters dissolved"),
        many(own("joined"), "memory joined", "memories joined"),
        many(own("left"), "memory left", "memories left"),
        many(own("embedded"), "memory embedded", "memories embedded"),
        many(own("not_embedded"), "memory without an embedding", "memories without an embedding"),
        many(own("new"), "new memory compared", "new memories compared"),
        many(own("corpora_cut"), &format!("scope {most}"), &format!("scopes {most}")),
        many(own("reinforced"), "strengthened", "strengthened"),
        many(own("below_minimum"), "below the minimum", "below the minimum"),
        many(own("pinned"), "pinned", "pinned"),
        many(run.promoted, "promoted", "promoted"),
        many(own("outcomes"), "outcome learned", "outcomes learned"),
        many(own("synapses"), "relationship changed", "relationships changed"),
        many(own("unknown"), "unknown node", "unknown nodes"),
        many(run.quarantined, quarantined, quarantined),
        many(run.conflicts, "conflict", "conflicts"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let what = if parts.is_empty() { "nothing to do".to_owned() } else { parts.join(", ") };
    let mut rest = match run.truncated {
        true => format!(" {} are left for the next run.", run.due_left),
        false => String::new(),
    };
    if let Some(why) = &run.reason {
        rest.push_str(&format!(" It ended early: {why}."));
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
    let mut runs = Vec::new();
    for job in jobs {
        runs.push(if args.options.dry_run {
            JobRun::of(job, service.dry_run_job(job, at, args.limit, false).await?, at)
        } else {
            // Of all jobs, it is for the sweep.
            let accept_affected = args.accept_affected.filter(|_| !args.all || job == JobName::Sweep);
            let limit = args.limit.and_then(NonZeroU64::new);
            let request = JobRunRequest { limit, accept_affected, ..JobRunRequest::default() };
            JobRun::reported(service.run_job(job, at, &request).await?)
        });
    }
    let sentences = |page: &mut Page| runs.iter().for_each(|run| page.paragraph(&sentence(run)));
    match runs.as_slice() {
        [one] if !args.all => output.emit("job.run", one, sentences),
        _ => output.emit_list("job.run", "runs", &runs, sentences),
    }
}

async fn history(name: Option<&str>, limit: u32, service: &Service, output: &Output) -> Result<(), CliError> {
    let named = name.map(named).transpose()?;
    let runs: Vec<PastRun> = service.history(named, limit).await?.into_iter().map(PastRun::from).collect();
    output.emit_list("job.history", "runs", &runs, |page| {
        if runs.is_empty() {
            page.line("No run yet. `ebb job run --all` runs every job once.");
            return;
        }
        let columns = [
            Column::left("AT (UTC)"),
            Column::left("JOB"),
            Column::left("BY"),
            Column::left("STATE"),
            Column::right("WRITTEN"),
            Column::right("EXPIRED"),
            Column::right("PROMOTED"),
            Column::right("TOOK"),
        ];
        let row = |run: &PastRun| {
            let took = run.started.zip(run.finished).map(|(from, to)| about(between(to, from)));
            [
                run.at.map(readable).unwrap_or_default(),
                run.job.clone(),
                if run.trigger == "manual" { "hand" } else { "schedule" }.to_owned(),
                run.state.clone(),
                run.changed.to_string(),
                run.expired.to_string(),
                run.promoted.to_string(),
                took.unwrap_or_else(|| "-".to_owned()),
            ]
        };
        page.table(&columns, runs.iter().map(row));
        for run in &runs {
            if let Some(reason) = &run.reason {
                page.paragraph(&format!("{} of {}: {reason}", run.job, run.occurrence));
            }
        }
    })
}
