//! `ebb demo`: a replay of a bundled month, with a report.
//!
//! The events of three coding agents are replayed under simulated time by the real jobs on a scratch server. The report is read
//! back from the graph; the values in the file of expected values are compared with the closed form of the laws, which was computed
//! independently of Ebb (`config/demo/README.md`).

mod expected;
mod facts;
mod learning;
mod relations;
mod trails;

use super::exit::CliError;
use super::output::Output;
use super::page::{Column, Page};
use super::plot::decay::DecayPlot;
use super::plot::tiers::bars;
use super::plot::trails::TrailsPlot;
use super::plot::verbs::{now, over_time};
use super::progress::Progress;
use ebb_core::clock::rfc3339;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::Service;
use ebb_core::service::events::replay::Replay;
use ebb_core::service::events::{BadLines, Imported};
use ebb_core::service::server::Hour;
use ebb_files::Readers;
use ebb_provision::{Endpoint, browser_url};
use expected::{Check, MemoryCheck};
use facts::Facts;
use learning::Learning;
use relations::Relations;
use serde::Serialize;
use std::path::Path;
use trails::Trails;

/// The bundled month.
const MONTH: &str = include_str!("../../../config/demo/month.ndjson");
/// The decay policies of its facts.
pub const POLICIES: &str = include_str!("../../../config/demo/policies.toml");
/// The instant that the expected values are for.
const ENDS: &str = "2026-04-01T00:00:00Z";
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

/// Replays the month and prints the report. `folder` is where its file is written.
///
/// # Errors
/// Of the service; and if a value is not what the laws say, which would be a defect of Ebb.
pub async fn run(
    service: &Service,
    endpoint: &Endpoint,
    folder: &Path,
    output: &Output,
) -> Result<(), CliError> {
    let file = folder.join("month.ndjson");
    std::fs::create_dir_all(folder)?;
    ebb_files::replace(&file, Readers::Owner, MONTH.as_bytes()).map_err(std::io::Error::from)?;
    output.remark(
        "Replaying March 2026: the events of three coding agents, with the real jobs in simulated time.",
    );
    let ends = ebb_core::clock::parse_rfc3339(ENDS).map_err(CliError::failed)?;
    let done = replay(service, &file, ends, output).await?;
    let hours = service.timeline().await?;
    let (report, weights, hot) = collect(service, endpoint, &done, &hours, ends).await?;
    let plot = over_time(&hours, ends);
    let tiers = now(&service.tiers().await?);
    output.emit("demo", &report, |page| {
        lay_out(page, &report, &hours);
        page.line("");
        page.picture(&plot.terminal(page.width(), page.color()));
        page.line("");
        page.picture(&bars(&tiers, page.width(), page.color()));
        expected::lay_out(page, &report.fates);
        relations::lay_out(page, &report.relations, &weights);
        trails::lay_out(page, &report.trails, &hot);
        facts::lay_out(page, &report.facts);
        learning::lay_out(page, &report.learning);
        lay_out_browser(page, &report, endpoint);
    })?;
    let fates = report.fates.iter().map(MemoryCheck::judge);
    let checks = [&report.relations.checks, &report.trails.checks, &report.facts.checks];
    fates.chain(checks.into_iter().flatten().map(Check::judge)).collect()
}

async fn replay(
    service: &Service,
    file: &Path,
    ends: Timestamp,
    output: &Output,
) -> Result<Imported, CliError> {
    let mut progress = Progress::new(output, "bytes of events", Some(MONTH.len() as u64));
    let replay = Replay { until: Some(ends), step_ms: None };
    let done = service.replay(file, replay, BadLines::Stop, &mut |tick| progress.at(tick.bytes)).await?;
    Ok(done)
}

async fn collect(
    service: &Service,
    endpoint: &Endpoint,
    done: &Imported,
    hours: &[Hour],
    ends: Timestamp,
) -> Result<(DemoReport, DecayPlot, TrailsPlot), CliError> {
    let expected = expected::read()?;
    let (relations, weights) = relations::read(&expected, service, done, ends).await?;
    let (trails, hot) = trails::read(&expected, service, done, ends).await?;
    let sum = |count: fn(&Hour) -> i64| hours.iter().map(count).sum();
    let queries = QUESTIONS.iter().filter_map(|name| {
        let (_, title) = Service::questions().find(|(known, _)| known == name)?;
        let cypher = service.question(name)?.trim().to_owned();
        let url = browser_url(endpoint, Some(&cypher));
        Some(Query { title, cypher, url })
    });
    let tiers = service.tiers().await?.into_iter().filter(|row| !row.tier.starts_with("archived"));
    let report = DemoReport {
        events: done.events,
        seconds: done.seconds,
        runs: done.runs.values().map(|runs| runs.ran).sum(),
        occurrences_with_nothing_due: done.runs.values().map(|runs| runs.nothing_due).sum(),
        tiers: tiers.map(|row| TierNow { tier: row.tier, memories: row.memories }).collect(),
        promoted: sum(|hour| hour.rose),
        crystallised: sum(|hour| hour.crystallised),
        expired: done.runs.values().map(|runs| runs.expired).sum(),
        fates: expected::memories(&expected, service, ends).await?,
        relations,
        trails,
        facts: facts::read(&expected, service, done).await?,
        learning: learning::teach(service, ends).await?,
        browser: browser_url(endpoint, None),
        queries: queries.collect(),
    };
    Ok((report, weights, hot))
}

/// The question for the recall at the end.
const QUESTION: &str = "what came of what Ruth reported";

fn lay_out(page: &mut Page, report: &DemoReport, hours: &[Hour]) {
    page.heading("A month in the life of three coding agents");
    page.line(&format!(
        "{} events in {:.1} s; {} runs of jobs, {} occurrences skipped with nothing due.",
        report.events, report.seconds, report.runs, report.occurrences_with_nothing_due
    ));
    page.line(&format!(
        "{} memories were promoted to shortTerm, {} of them to longTerm; working memories expired {} times, and some were \
         revived by an access.",
        report.promoted, report.crystallised, report.expired
    ));
    page.line("");
    page.table(
        &[
            Column::left("week from"),
            Column::right("created"),
            Column::right("promoted"),
            Column::right("to longTerm"),
            Column::right("expired"),
        ],
        weeks(hours).into_iter().map(|week| {
            [
                rfc3339(week.at)[..10].to_owned(),
                week.made.to_string(),
                week.rose.to_string(),
                week.crystallised.to_string(),
                week.expired.to_string(),
            ]
        }),
    );
}

/// The hours summed by week.
fn weeks(hours: &[Hour]) -> Vec<Hour> {
    const WEEK_MS: i64 = 7 * 24 * 3_600_000;
    // 1970-01-01 was a Thursday; a week begins on Monday.
    let week = |at: Timestamp| (at.millis() - 4 * 24 * 3_600_000).div_euclid(WEEK_MS);
    let mut weeks: Vec<Hour> = Vec::new();
    for hour in hours {
        match weeks.last_mut() {
            Some(last) if week(last.at) == week(hour.at) => {
                last.made += hour.made;
                last.rose += hour.rose;
                last.crystallised += hour.crystallised;
                last.expired += hour.expired;
            }
            _ => weeks.push(*hour),
        }
    }
    weeks
}

fn lay_out_browser(page: &mut Page, report: &DemoReport, endpoint: &Endpoint) {
    page.line("");
    page.heading("Look at it in Neo4j Browser");
    if let Some(browser) = &report.browser {
        page.line(browser);
    }
    if let Some(home) = &endpoint.home {
        page.line(&format!(
            "User {}; the password is in {}",
            endpoint.username,
            home.join("password").display()
        ));
    }
    for query in &report.queries {
        page.line("");
        page.line(&format!("// {}", query.title));
        page.picture(&query.cypher);
        page.line("");
    }
}
