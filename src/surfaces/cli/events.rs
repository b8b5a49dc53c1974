//! `ebb import` and `ebb replay`: events from a file, and the history of a git repository.

use super::exit::CliError;
use super::instant::{Moment, readable, span};
use super::output::Output;
use super::page::{Column, Page};
use super::progress::Progress;
use clap::Args;
use ebb_core::api::server::TierCount;
use ebb_core::domain::tier::Tier;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::Service;
use ebb_core::service::events::replay::Replay as Plan;
use ebb_core::service::events::{BadLines, Checked, Imported, JobRuns, Tick};
use ebb_core::service::git::ImportedHistory;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `ebb import`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
One JSON object per line: \"at\" (RFC 3339), \"kind\" (memory, access, session_end, observe, fact, node, edge, deposit,
explore, outcome) and the fields of that kind. Repeating an import, also of a longer file, continues where it stopped.
A file is known by its name and its first line: under another name all of its lines count again.

Of a git repository, the files become nodes, commits sessions, and files that commits changed together pairs. Repeating it
adds the commits since.

Examples:
  ebb import events.ndjson
  ebb import --git .
  ebb import events.ndjson --skip-bad")]
pub struct Import {
    /// File of events
    #[arg(value_name = "FILE", required_unless_present = "git")]
    pub file: Option<PathBuf>,
    /// Import the history of this git repository
    #[arg(long, value_name = "REPOSITORY", conflicts_with_all = ["file", "skip_bad"])]
    pub git: Option<PathBuf>,
    /// Write bad lines to a file beside it instead of stopping at the first
    #[arg(long)]
    pub skip_bad: bool,
    /// Check every line, or read the history, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `ebb replay`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Runs on a scratch database only: a managed server of its own, or a given database that holds nothing but what a replay of this
file wrote. After a kill the same command continues where it stopped.

Examples:
  ebb replay events.ndjson
  ebb replay events.ndjson --until 2026-03-15 --step 1h")]
pub struct Replay {
    /// File of events
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Stop at this instant of simulated time [default: the last event]
    #[arg(long, value_name = "INSTANT", allow_hyphen_values = true)]
    pub until: Option<Moment>,
    /// Run jobs only at multiples of this interval, such as 1h [default: whenever one is due]
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub step: Option<Duration>,
    /// Write bad lines to a file beside it instead of stopping at the first
    #[arg(long)]
    pub skip_bad: bool,
}

/// An import or a replay, with its pace.
struct Report(Imported);

impl Report {
    fn seconds(&self) -> f64 {
        (self.0.seconds * 1_000.0).round() / 1_000.0
    }

    fn events_per_second(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a count of events is far below 2^53")]
        let rate = if self.0.seconds > 0.0 { self.0.events as f64 / self.0.seconds } else { 0.0 };
        rate.round()
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let done = &self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("events", &done.events)?;
        map.serialize_entry("by_kind", &done.by_kind)?;
        map.serialize_entry("batches", &done.batches)?;
        map.serialize_entry("skipped_bad", &done.skipped_bad)?;
        if done.outcomes_without_hit > 0 {
            map.serialize_entry("outcomes_without_hit", &done.outcomes_without_hit)?;
        }
        map.serialize_entry("seconds", &self.seconds())?;
        map.serialize_entry("events_per_second", &self.events_per_second())?;
        map.serialize_entry("lines_before", &done.lines_before)?;
        if let Some(path) = &done.set_aside_in {
            map.serialize_entry("set_aside_in", path)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct ReplayReport {
    #[serde(flatten)]
    report: Report,
    runs: BTreeMap<&'static str, JobRuns>,
    ended_at: Option<Timestamp>,
    tiers: BTreeMap<String, i64>,
}

#[derive(Serialize)]
struct ImportCheck {
    events: u64,
    by_kind: BTreeMap<&'static str, u64>,
    lines_before: u64,
    bad: Vec<BadLine>,
    dry_run: bool,
}

#[derive(Serialize)]
struct BadLine {
    line: u64,
    why: String,
}

/// Runs `ebb import`.
pub async fn import(args: &Import, service: &Service, output: &Output) -> Result<(), CliError> {
    if let Some(repository) = &args.git {
        return import_git(repository, args.dry_run, service, output).await;
    }
    let file = args.file.as_deref().unwrap_or_else(|| Path::new(""));
    let bad = if args.skip_bad { BadLines::SetAside } else { BadLines::Stop };
    let mut bar = FileProgress::new(output, if args.dry_run { "checking" } else { "importing" });
    if args.dry_run {
        let checked = service.check(file, bad, &mut |tick| bar.at(tick)).await?;
        drop(bar);
        return dry_run(checked, output);
    }
    let done = service.import(file, bad, &mut |tick| bar.at(tick)).await?;
    drop(bar);
    let report = Report(done);
    output.emit("import", &report, |page| report.lay_out(page, "Imported"))
}

#[derive(Serialize)]
struct GitImport {
    files: usize,
    commits: usize,
    changes: usize,
    pairs: usize,
    written: i64,
    removed: i64,
    seconds: f64,
    dry_run: bool,
}

async fn import_git(
    repository: &Path,
    dry_run: bool,
    service: &Service,
    output: &Output,
) -> Result<(), CliError> {
    let done = service.import_git(repository, service.scope(), dry_run).await?;
    let ImportedHistory { files, commits, changes, pairs, written, removed, .. } = done;
    let seconds = (done.seconds * 1_000.0).round() / 1_000.0;
    let answer = GitImport { files, commits, changes, pairs, written, removed, seconds, dry_run };
    output.emit("import.git", &answer, |page| {
        page.line(&format!(
            "{files} files, {commits} commits with {changes} changes of files, {pairs} pairs of files that changed \
             together."
        ));
        if !dry_run {
            page.line(&match (written, removed) {
                (0, 0) => "Nothing is new.".to_owned(),
                (written, 0) => format!("{written} rows written in {seconds} s."),
                (written, removed) => {
                    format!("{written} rows written and {removed} files removed in {seconds} s.")
                }
            });
        }
    })
}

fn dry_run(checked: Checked, output: &Output) -> Result<(), CliError> {
    let answer = ImportCheck {
        events: checked.by_kind.values().sum(),
        by_kind: checked.by_kind,
        lines_before: checked.lines_before,
        bad: checked.bad.into_iter().map(|(line, why)| BadLine { line, why }).collect(),
        dry_run: true,
    };
    output.emit("import", &answer, |page| {
        page.line(&format!("Would import {}.", kinds(answer.events, &answer.by_kind)));
        before(page, answer.lines_before);
        for BadLine { line, why } in &answer.bad {
            page.line(&format!("  line {line} would be skipped: {why}"));
        }
    })
}

/// Runs `ebb replay`.
pub async fn replay(args: &Replay, service: &Service, output: &Output) -> Result<(), CliError> {
    let until = match args.until {
        Some(moment) => Some(
            moment
                .resolve(service.instant(None).await?)
                .map_err(|why| CliError::usage("--until leads out of the calendar").why(why))?,
        ),
        None => None,
    };
    let step_ms = args.step.and_then(|step| i64::try_from(step.as_millis()).ok());
    let bad = if args.skip_bad { BadLines::SetAside } else { BadLines::Stop };
    let uri = service.store().uri();
    output.remark(&format!("replaying {} into the scratch database at {uri}", args.file.display()));
    let mut bar = FileProgress::new(output, "replaying");
    let plan = Plan { until, step_ms, work: None };
    let done = service.replay(&args.file, plan, bad, &mut |tick| bar.at(tick)).await?;
    drop(bar);
    let answer = ReplayReport {
        runs: done.runs.iter().map(|(job, runs)| (job.name(), *runs)).collect(),
        ended_at: done.ended_at,
        tiers: living(&service.tiers().await?),
        report: Report(done),
    };
    output.emit("replay", &answer, |page| answer.lay_out(page))
}

/// Memories by tier, without the stubs of promotions.
fn living(tiers: &[TierCount]) -> BTreeMap<String, i64> {
    let stub = |row: &&TierCount| row.tier.starts_with("archived");
    tiers.iter().filter(|row| !stub(row)).map(|row| (row.tier.clone(), row.memories)).collect()
}

impl Report {
    fn lay_out(&self, page: &mut Page, did: &str) {
        let done = &self.0;
        let pace = match done.events {
            0 => String::new(),
            _ => format!(" in {:.1} s, {:.0} a second", self.seconds(), self.events_per_second()),
        };
        page.line(&format!("{did} {}{pace}.", kinds(done.events, &done.by_kind)));
        before(page, done.lines_before);
        if let Some(path) = &done.set_aside_in {
            let many = match done.skipped_bad {
                1 => "1 bad line was".to_owned(),
                n => format!("{n} bad lines were"),
            };
            page.line(&format!("{many} written to {}.", path.display()));
        }
        if done.outcomes_without_hit > 0 {
            let many = done.outcomes_without_hit;
            page.line(&format!("Outcomes without a useful hit, not recorded: {many}."));
        }
    }
}

impl ReplayReport {
    fn lay_out(&self, page: &mut Page) {
        self.report.lay_out(page, "Replayed");
        if let Some(at) = self.ended_at {
            page.line(&format!("Simulated time: {} UTC.", readable(at)));
        }
        if !self.runs.is_empty() {
            page.line("");
            let columns = [
                Column::left("JOB"),
                Column::right("RUNS"),
                Column::right("NOTHING DUE"),
                Column::right("WRITTEN"),
                Column::right("EXPIRED"),
                Column::right("PROMOTED"),
            ];
            let row = |(job, of): (&&str, &JobRuns)| {
                let numbers = [of.changed, of.expired, of.promoted].map(|count| count.to_string());
                let [changed, expired, promoted] = numbers;
                [
                    (*job).to_owned(),
                    of.ran.to_string(),
                    of.nothing_due.to_string(),
                    changed,
                    expired,
                    promoted,
                ]
            };
            page.table(&columns, self.runs.iter().map(row));
        }
        page.line("");
        let columns = [Column::left("TIER"), Column::right("MEMORIES")];
        let mut tiers: Vec<_> = self.tiers.iter().collect();
        tiers.sort_by_key(|(tier, _)| Tier::named(tier));
        page.table(&columns, tiers.into_iter().map(|(tier, count)| [tier.clone(), count.to_string()]));
        page.line("");
        page.line("Draw it over time: ebb plot tiers");
    }
}

fn kinds(events: u64, by_kind: &BTreeMap<&'static str, u64>) -> String {
    let name = |kind: &str, count: u64| {
        let (one, many) = match kind {
            "memory" => ("memory", "memories"),
            "access" => ("access", "accesses"),
            "observe" => ("relation seen", "relations seen"),
            "fact" => ("fact", "facts"),
            "node" => ("node", "nodes"),
            "edge" => ("edge", "edges"),
            "deposit" => ("deposit", "deposits"),
            "explore" => ("exploration", "explorations"),
            "outcome" => ("outcome", "outcomes"),
            _ => ("session end", "session ends"),
        };
        if count == 1 { one } else { many }
    };
    let parts: Vec<String> =
        by_kind.iter().map(|(kind, count)| format!("{count} {}", name(kind, *count))).collect();
    match (events, parts.is_empty()) {
        (_, true) => "no events".to_owned(),
        (1, false) => format!("1 event ({})", parts.join(", ")),
        _ => format!("{events} events ({})", parts.join(", ")),
    }
}

fn before(page: &mut Page, lines: u64) {
    if lines > 0 {
        let many = if lines == 1 { "1 line" } else { &format!("{lines} lines") };
        page.line(&format!("{many} of the file had been imported before."));
    }
}

/// Progress through the bytes of a file, with the instant of the last event.
pub(super) struct FileProgress<'a> {
    output: &'a Output,
    what: &'static str,
    bar: Option<Progress>,
}

impl<'a> FileProgress<'a> {
    pub(super) fn new(output: &'a Output, what: &'static str) -> Self {
        Self { output, what, bar: None }
    }

    /// The bar appears with the first tick, which knows how long the file is.
    pub(super) fn at(&mut self, tick: Tick) {
        let Self { output, what, bar } = self;
        let bar = bar.get_or_insert_with(|| Progress::of_file(output, what, tick.bytes_total));
        if let Some(at) = tick.at {
            bar.name(format!("{what}, at {}", readable(at)));
        }
        bar.at(tick.bytes);
    }
}
