//! `ebb demo`: the last hours of a bundled month, with a report.
//!
//! The graph that a replay of the month leaves before these hours is restored from a bundled backup on a scratch server; then
//! the rest of the events is replayed under simulated time by the real jobs. The report is read back from the graph; the values in
//! the file of expected values are compared with the closed form of the laws, which was computed independently of Ebb
//! (`config/demo/README.md`).
//!
//! Invariant: the backup is what a replay leaves (held by `surfaces::demo::the_backup_of_the_demo_is_what_a_replay_leaves`).

mod expected;
mod facts;
mod learning;
mod month;
mod relations;
mod trails;

use super::backup::RowProgress;
use super::exit::{CliError, conclude};
use super::instant::spelt;
use super::memory::energy_plot;
use super::output::Output;
use super::page::Page;
use super::progress::Progress;
use ebb_core::domain::ids::{MemoryId, MemoryKey};
use ebb_core::domain::units::Timestamp;
use ebb_core::service::Service;
use ebb_core::service::events::replay::{DEMO, Replay};
use ebb_core::service::events::{BadLines, Imported, Tick};
use ebb_core::service::server::Hour;
use ebb_files::Readers;
use ebb_provision::{Endpoint, browser_url};
use expected::{Check, MemoryCheck};
use facts::Facts;
use learning::Learning;
use month::Month;
use relations::Relations;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;
use trails::Trails;

/// The decay policies of its facts.
pub const POLICIES: &str = include_str!("../../../config/demo/policies.toml");
/// The instant that the expected values are for.
const ENDS: &str = "2026-04-01T00:00:00Z";
/// The memory whose energy is drawn: it fades, an access lifts it, and the end of its session promotes it.
const DRAWN: &str = "mem-easter-freeze";
/// Queries to paste into Neo4j Browser, each one of `ebb inspect`.
const QUESTIONS: [&str; 3] = ["promotions_graph", "expired", "relations_below_minimum"];

#[derive(Debug, Serialize)]
struct Query {
    title: &'static str,
    cypher: String,
    url: Option<String>,
}

#[derive(Debug, Serialize)]
struct DemoReport {
    events_before: u64,
    events: u64,
    seconds: f64,
    runs: u64,
    occurrences_with_nothing_due: u64,
    tiers: Vec<TierNow>,
    promoted: i64,
    crystallised: i64,
    expired: i64,
    fates: Vec<MemoryCheck>,
    relations: Relations,
    trails: Trails,
    facts: Facts,
    learning: Learning,
    browser: Option<String>,
    queries: Vec<Query>,
}

#[derive(Debug, Serialize)]
struct TierNow {
    tier: String,
    memories: i64,
}

/// Restores the month up to its last hours, replays these, and prints the report. `folder` is where its files are written; a
/// managed server stays `keep` longer.
///
/// # Errors
/// Of the service; and if a value is not what the laws say, which would be a defect of Ebb.
pub async fn run(
    service: &Service,
    endpoint: &Endpoint,
    (folder, keep): (&Path, Duration),
    output: &Output,
) -> Result<(), CliError> {
    let ends = ebb_core::clock::parse_rfc3339(ENDS).map_err(CliError::failed)?;
    service.store().claim_scratch(DEMO).await?;
    std::fs::create_dir_all(folder)?;
    // A given database may hold what a demo has replayed before.
    let is_new = service.tiers().await?.iter().all(|row| row.memories == 0);
    if is_new || service.store().unfinished_restore().await?.is_some() {
        restore(service, folder, output).await?;
    }
    output.remark("Replaying its last hours with the real jobs, in simulated time.");
    let done = replay(service, folder, ends, output).await?;
    let report = Box::pin(collect(service, endpoint, &done, ends)).await?;
    let drawn = MemoryId::new(DRAWN).map_err(CliError::failed)?;
    let energy = energy_plot(&service.explain(&MemoryKey::new(service.scope(), &drawn), ends).await?);
    let printed = output.emit("demo", &report, |page| {
        lay_out(page, &report);
        page.picture(&energy.terminal(page.width(), page.color()));
        learning::lay_out(page, &report.learning);
        lay_out_next(page, &report, endpoint, (folder, keep));
    });
    conclude(printed, report.checks().collect())
}

async fn restore(service: &Service, folder: &Path, output: &Output) -> Result<(), CliError> {
    let file = folder.join("before.ndjson");
    ebb_files::replace(&file, Readers::Owner, &month::before()?).map_err(std::io::Error::from)?;
    output.remark("Restoring a month of three coding agents, March 2026, from a backup.");
    let mut progress = RowProgress::new(output);
    service.restore(&file, &mut |done| progress.at(done)).await?;
    Ok(())
}

async fn replay(
    service: &Service,
    folder: &Path,
    ends: Timestamp,
    output: &Output,
) -> Result<Imported, CliError> {
    let file = folder.join("month.ndjson");
    ebb_files::replace(&file, Readers::Owner, month::EVENTS.as_bytes()).map_err(std::io::Error::from)?;
    let total = month::EVENTS.lines().count() as u64;
    let mut before = None;
    let mut bar = None;
    let mut watch = |tick: Tick| {
        let before = *before.get_or_insert(tick.events);
        let bar = bar.get_or_insert_with(|| Progress::new(output, "events", Some(total - before.min(total))));
        bar.at(tick.events - before.min(tick.events));
    };
    let replay = Replay { until: Some(ends), step_ms: None, work: Some(DEMO) };
    Ok(service.replay(&file, replay, BadLines::Stop, &mut watch).await?)
}

async fn collect(
    service: &Service,
    endpoint: &Endpoint,
    done: &Imported,
    ends: Timestamp,
) -> Result<DemoReport, CliError> {
    let (expected, month) = (expected::read()?, Month::read()?);
    // A server that has just started takes longer to plan each of these than to answer it.
    let (hours, tiers, fates, relations, trails, facts, before) = tokio::try_join!(
        async { Ok(service.timeline().await?) },
        async { Ok(service.tiers().await?) },
        expected::memories(&expected, service, ends),
        relations::read(&expected, service, &month, ends),
        trails::read(&expected, service, &month, ends),
        facts::read(&expected, service, &month),
        learning::ask(service),
    )?;
    let learning = learning::teach(service, before, ends).await?;
    let sum = |count: fn(&Hour) -> i64| hours.iter().map(count).sum();
    let queries = QUESTIONS.iter().filter_map(|name| {
        let (_, title) = Service::questions().find(|(known, _)| known == name)?;
        let cypher = service.question(name)?.trim().to_owned();
        let url = browser_url(endpoint, Some(&cypher));
        Some(Query { title, cypher, url })
    });
    let tiers = tiers.into_iter().filter(|row| !row.tier.starts_with("archived"));
    Ok(DemoReport {
        events_before: done.lines_before,
        events: done.events,
        seconds: done.seconds,
        runs: done.runs.values().map(|runs| runs.ran).sum(),
        occurrences_with_nothing_due: done.runs.values().map(|runs| runs.nothing_due).sum(),
        tiers: tiers.map(|row| TierNow { tier: row.tier, memories: row.memories }).collect(),
        promoted: sum(|hour| hour.rose),
        crystallised: sum(|hour| hour.crystallised),
        expired: sum(|hour| hour.expired),
        fates,
        relations,
        trails,
        facts,
        learning,
        browser: browser_url(endpoint, None),
        queries: queries.collect(),
    })
}

impl DemoReport {
    /// The comparison of each value with the laws; one that differs is a defect of Ebb.
    fn checks(&self) -> impl Iterator<Item = Result<(), CliError>> {
        let others = [&self.relations.checks, &self.trails.checks, &self.facts.checks];
        self.fates.iter().map(MemoryCheck::judge).chain(others.into_iter().flatten().map(Check::judge))
    }
}

/// The question for the recall at the end.
const QUESTION: &str = "what came of what Ruth reported";

fn lay_out(page: &mut Page, report: &DemoReport) {
    page.heading("A month in the life of three coding agents");
    page.paragraph(&format!(
        "{} events are in a backup, {} of the last hours were replayed in {:.1} s: {} runs of jobs, {} occurrences skipped \
         with nothing due.",
        report.events_before, report.events, report.seconds, report.runs, report.occurrences_with_nothing_due
    ));
    page.paragraph(&format!(
        "{} memories were promoted to shortTerm, {} of them to longTerm; {} expired and were not revived by an access.",
        report.promoted, report.crystallised, report.expired
    ));
    let all = report.checks().count();
    match report.checks().filter(Result::is_err).count() {
        0 => page.paragraph(&format!("All {all} expected values agree with the closed form of the laws.")),
        differ => page.paragraph(&format!(
            "{differ} of {all} expected values differ from the closed form of the laws."
        )),
    }
    page.line("");
}

fn lay_out_next(
    page: &mut Page,
    report: &DemoReport,
    endpoint: &Endpoint,
    (folder, keep): (&Path, Duration),
) {
    let managed = endpoint.home.is_some();
    let on = if managed { format!("EBB__NEO4J__HOME={} ", folder.display()) } else { String::new() };
    page.line("");
    page.heading("Try next");
    for command in ["memory explain mem-build-command", "plot tiers", "recall \"why an outbox\" --why"] {
        page.line(&format!("  {on}ebb {command}"));
    }
    let Some(browser) = report.browser.as_ref().filter(|_| managed) else { return };
    page.line(&format!("  {browser}"));
    page.paragraph(&format!(
        "Neo4j Browser: user {}, the password is in {}. The server runs on for {} after each use.",
        endpoint.username,
        folder.join("password").display(),
        spelt(keep)
    ));
}
