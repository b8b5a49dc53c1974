//! `ebb import` and `ebb replay`: events from a file.

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
use ebb_core::service::events::{BadLines, Checked, Imported, Tick};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// `ebb import`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
One JSON object a line: \"at\" (RFC 3339), \"kind\" (memory, access, session_end, observe, fact, node, edge, deposit,
explore, outcome) and the fields of that kind. Repeating a file, or a longer version of it, goes on where it stopped.

Examples:
  ebb import events.ndjson
  ebb import events.ndjson --skip-bad")]
pub struct Import {
    /// File of events
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Set bad lines aside in a file beside it, instead of stopping at the first
    #[arg(long)]
    pub skip_bad: bool,
    /// Read and check every line, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `ebb replay`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Works on scratch only: a managed server of its own, or a given database that holds nothing else. After a kill the same
command goes on where it stopped.

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
    /// Let jobs run at multiples of this only, such as 1h [default: whenever one is due]
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub step: Option<Duration>,
    /// Set bad lines aside in a file beside it, instead of stopping at the first
    #[arg(long)]
    pub skip_bad: bool,
}

/// What an import or a replay did.
#[derive(Serialize)]
struct Report {
    events: u64,
    by_kind: BTreeMap<&'static str, u64>,
    batches: u64,
    skipped_bad: u64,
    #[serde(skip_serializing_if = "is_zero")]
    outcomes_without_hit: u64,
    seconds: f64,
    events_per_second: f64,
    lines_before: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    set_aside_in: Option<PathBuf>,
}

#[derive(Serialize)]
struct Replayed {
    #[serde(flatten)]
    report: Report,
    runs: BTreeMap<&'static str, Runs>,
    ended_at: Option<Timestamp>,
    tiers: BTreeMap<String, i64>,
}

#[derive(Serialize)]
struct Runs {
    ran: u64,
    nothing_due: u64,
    changed: i64,
    expired: i64,
    promoted: i64,
}

#[derive(Serialize)]
struct Checks {
    events: u64,
    by_kind: BTreeMap<&'static str, u64>,
    lines_before: u64,
    bad: Vec<Bad>,
    dry_run: bool,
}

#[derive(Serialize)]
struct Bad {
    line: u64,
    why: String,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl From<Imported> for Report {
    fn from(done: Imported) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a count of events is far below 2^53")]
        let rate = if done.seconds > 0.0 { done.events as f64 / done.seconds } else { 0.0 };
        Self {
            events: done.events,
            by_kind: done.by_kind,
            batches: done.batches,
            skipped_bad: done.skipped_bad,
            outcomes_without_hit: done.outcomes_without_hit,
            seconds: (done.seconds * 1000.0).round() / 1000.0,
            events_per_second: rate.round(),
            lines_before: done.lines_before,
            set_aside_in: done.set_aside_in,
        }
    }
}

/// Runs `ebb import`.
pub async fn import(args: &Import, service: &Service, output: &Output) -> Result<(), CliError> {
    let bad = if args.skip_bad { BadLines::SetAside } else { BadLines::Stop };
    let mut bar = Bar::new(output, if args.dry_run { "checking" } else { "importing" });
    if args.dry_run {
        let checked = service.check(&args.file, bad, &mut |tick| bar.at(tick)).await?;
        drop(bar);
        return dry_run(checked, output);
    }
    let done = service.import(&args.file, bad, &mut |tick| bar.at(tick)).await?;
    drop(bar);
    let report = Report::from(done);
    output.emit("import", &report, |page| report.lay_out(page, "Imported"))
}

fn dry_run(checked: Checked, output: &Output) -> Result<(), CliError> {
    let answer = Checks {
        events: checked.by_kind.values().sum(),
        by_kind: checked.by_kind,
        lines_before: checked.lines_before,
        bad: checked.bad.into_iter().map(|(line, why)| Bad { line, why }).collect(),
        dry_run: true,
    };
    output.emit("import", &answer, |page| {
        page.line(&format!("Would import {}. Nothing was written.", kinds(answer.events, &answer.by_kind)));
        before(page, answer.lines_before);
        for Bad { line, why } in &answer.bad {
            page.line(&format!("  line {line} would be set aside: {why}"));
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
    let mut bar = Bar::new(output, "replaying");
    let done = service.replay(&args.file, Plan { until, step_ms }, bad, &mut |tick| bar.at(tick)).await?;
    drop(bar);
    let runs = |runs: &ebb_core::service::events::JobRuns| Runs {
        ran: runs.ran,
        nothing_due: runs.nothing_due,
        changed: runs.changed,
        expired: runs.expired,
        promoted: runs.promoted,
    };
    let answer = Replayed {
        runs: done.runs.iter().map(|(job, of)| (job.name(), runs(of))).collect(),
        ended_at: done.ended_at,
        tiers: living(&service.tiers().await?),
        report: done.into(),
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
        let kinds = kinds(self.events, &self.by_kind);
        let pace = match self.events {
            0 => String::new(),
            _ => format!(" in {:.1} s, {:.0} a second", self.seconds, self.events_per_second),
        };
        page.line(&format!("{did} {kinds}{pace}."));
        before(page, self.lines_before);
        if let Some(path) = &self.set_aside_in {
            let many = match self.skipped_bad {
                1 => "1 bad line was".to_owned(),
                n => format!("{n} bad lines were"),
            };
            page.line(&format!("{many} set aside in {}.", path.display()));
        }
        if self.outcomes_without_hit > 0 {
            let many = self.outcomes_without_hit;
            page.line(&format!("Outcomes that left nothing, since nothing of use was recalled: {many}."));
        }
    }
}

impl Replayed {
    fn lay_out(&self, page: &mut Page) {
        self.report.lay_out(page, "Replayed");
        if let Some(at) = self.ended_at {
            page.line(&format!("Simulated time stands at {} UTC.", readable(at)));
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
            let row = |(job, of): (&&str, &Runs)| {
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
        page.line("See it over time: ebb plot tiers");
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
        page.line(&format!("{many} of the file had been done before."));
    }
}

/// A bar over the bytes of a file, with the instant it has come to.
struct Bar<'a> {
    output: &'a Output,
    what: &'static str,
    bar: Option<Progress>,
}

impl<'a> Bar<'a> {
    fn new(output: &'a Output, what: &'static str) -> Self {
        Self { output, what, bar: None }
    }

    /// The bar appears with the first tick, which knows how long the file is.
    fn at(&mut self, tick: Tick) {
        let Self { output, what, bar } = self;
        let bar = bar.get_or_insert_with(|| Progress::of_file(output, what, tick.bytes_total));
        if let Some(at) = tick.at {
            bar.name(format!("{what}, at {}", readable(at)));
        }
        bar.at(tick.bytes);
    }
}
