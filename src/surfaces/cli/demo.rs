//! `ebb demo`: the main job on a fresh machine, told as a story.
//!
//! A month of a coding agent's life, bundled, is replayed under simulated time by the real jobs on a server of the demo's
//! own. What is printed is read back from the graph; five fates are compared with what the laws say in closed form, which
//! were worked out apart from Ebb when the month was made (`config/demo/README.md`).

use super::exit::CliError;
use super::output::Output;
use super::page::{Column, Page};
use super::plot::tiers::bars;
use super::plot::verbs::{now, over_time};
use super::progress::Progress;
use crate::clock::rfc3339;
use crate::domain::ids::MemoryId;
use crate::domain::tier::Tier;
use crate::domain::units::Timestamp;
use crate::provision::{Endpoint, browser_url};
use crate::service::Service;
use crate::service::admin::Hour;
use crate::service::events::replay::Replay;
use crate::service::events::{BadLines, Imported};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The bundled month.
const MONTH: &str = include_str!("../../../config/demo/month.ndjson");
/// Five fates, worked out apart from Ebb.
const EXPECTED: &str = include_str!("../../../config/demo/expected.json");
/// The instant that the fates are for.
const ENDS: &str = "2026-04-01T00:00:00Z";
/// Energies agree if they differ by less than this share: the file has twelve digits.
const TOLERANCE: f64 = 1e-9;
/// What to paste into Neo4j Browser, each a question of `ebb inspect`.
const QUESTIONS: [&str; 3] = ["promotions_graph", "tiers", "expired"];

#[derive(Debug, Deserialize)]
struct Expected {
    id: MemoryId,
    tier: Tier,
    energy: f64,
    why: String,
}

#[derive(Debug, Serialize)]
struct Fate {
    id: String,
    content: String,
    story: String,
    tier: Tier,
    energy: f64,
    expected: f64,
    agrees: bool,
    because: String,
}

#[derive(Debug, Serialize)]
struct Query {
    title: &'static str,
    cypher: &'static str,
    url: Option<String>,
}

#[derive(Debug, Serialize)]
struct Told {
    events: u64,
    seconds: f64,
    runs: u64,
    occurrences_with_nothing_due: u64,
    tiers: Vec<TierNow>,
    promoted: i64,
    crystallised: i64,
    expired: i64,
    fates: Vec<Fate>,
    browser: Option<String>,
    queries: Vec<Query>,
}

#[derive(Debug, Serialize)]
struct TierNow {
    tier: String,
    memories: i64,
}

/// Plays the month and tells what became of it. `folder` is where its file is written.
///
/// # Errors
/// Of the service; and if a fate is not what the laws say, which would be a defect of Ebb.
pub async fn run(
    service: &Service,
    endpoint: &Endpoint,
    folder: &Path,
    output: &Output,
) -> Result<(), CliError> {
    let file = folder.join("month.ndjson");
    std::fs::create_dir_all(folder)?;
    std::fs::write(&file, MONTH)?;
    output.remark(
        "Replaying March 2026: the events of three coding agents, with the real jobs in simulated time.",
    );
    let ends = crate::clock::parse_rfc3339(ENDS).map_err(CliError::failed)?;
    let done = replay(service, &file, ends, output).await?;
    let hours = service.timeline().await?;
    let fates = fates(service, ends).await?;
    let told = tell(service, endpoint, &done, &hours, fates).await?;
    let plot = over_time(&hours, ends);
    let tiers = now(&service.tiers().await?);
    output.emit("demo", &told, |page| {
        lay_out(page, &told, &hours);
        page.line("");
        page.picture(&plot.terminal(page.width(), page.color()));
        page.line("");
        page.picture(&bars(&tiers, page.width(), page.color()));
        lay_out_fates(page, &told);
        lay_out_browser(page, &told, endpoint);
    })?;
    match told.fates.iter().find(|fate| !fate.agrees) {
        None => Ok(()),
        Some(fate) => Err(CliError::failed(format!(
            "memory {} ended with the energy {}, and the laws say {}: this is a defect of Ebb",
            fate.id, fate.energy, fate.expected
        ))),
    }
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

async fn fates(service: &Service, ends: Timestamp) -> Result<Vec<Fate>, CliError> {
    let expected: Vec<Expected> = serde_json::from_str(EXPECTED).map_err(CliError::failed)?;
    let mut fates = Vec::with_capacity(expected.len());
    for Expected { id, tier, energy: wanted, why } in expected {
        let told = service.explain(&id, ends).await?;
        let energy = told.memory.energy.map_or(f64::NAN, |energy| energy.value());
        let found = told.memory.record.life.as_ref().ok().map(|life| life.vital.tier);
        fates.push(Fate {
            content: told.memory.record.content.clone().unwrap_or_default(),
            story: why,
            tier: found.unwrap_or(tier),
            energy,
            expected: wanted,
            agrees: found == Some(tier) && (energy - wanted).abs() <= TOLERANCE * wanted,
            because: told.because,
            id: id.to_string(),
        });
    }
    Ok(fates)
}

async fn tell(
    service: &Service,
    endpoint: &Endpoint,
    done: &Imported,
    hours: &[Hour],
    fates: Vec<Fate>,
) -> Result<Told, CliError> {
    let sum = |count: fn(&Hour) -> i64| hours.iter().map(count).sum();
    let queries = QUESTIONS.iter().filter_map(|name| {
        let (_, title, cypher) = Service::questions().find(|(known, ..)| known == name)?;
        Some(Query { title, cypher: cypher.trim(), url: browser_url(endpoint, Some(cypher.trim())) })
    });
    let tiers = service.tiers().await?.into_iter().filter(|row| !row.tier.starts_with("archived"));
    Ok(Told {
        events: done.events,
        seconds: done.seconds,
        runs: done.runs.values().map(|runs| runs.ran).sum(),
        occurrences_with_nothing_due: done.runs.values().map(|runs| runs.nothing_due).sum(),
        tiers: tiers.map(|row| TierNow { tier: row.tier, memories: row.count }).collect(),
        promoted: sum(|hour| hour.rose),
        crystallised: sum(|hour| hour.crystallised),
        expired: done.runs.values().map(|runs| runs.expired).sum(),
        fates,
        browser: browser_url(endpoint, None),
        queries: queries.collect(),
    })
}

fn lay_out(page: &mut Page, told: &Told, hours: &[Hour]) {
    page.heading("A month in the life of three coding agents");
    page.line(&format!(
        "{} events in {:.1} s; {} runs of jobs, {} occurrences with nothing due passed over.",
        told.events, told.seconds, told.runs, told.occurrences_with_nothing_due
    ));
    page.line(&format!(
        "{} memories rose to short-term, {} of them on to long-term; {} times a working memory expired, and some came \
         back when they were used again.",
        told.promoted, told.crystallised, told.expired
    ));
    page.line("");
    page.table(
        &[
            Column::left("week from"),
            Column::right("made"),
            Column::right("rose"),
            Column::right("crystallised"),
            Column::right("expired for good"),
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

/// What happened, week by week.
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

fn lay_out_fates(page: &mut Page, told: &Told) {
    page.line("");
    page.heading("Five fates, and what the laws say of each in closed form");
    page.table(
        &[
            Column::left("memory"),
            Column::left("tier"),
            Column::right("energy"),
            Column::right("by the law"),
            Column::left(""),
            Column::cut("why"),
        ],
        told.fates.iter().map(|fate| {
            [
                fate.id.clone(),
                fate.tier.name().to_owned(),
                format!("{:.9}", fate.energy),
                format!("{:.9}", fate.expected),
                if fate.agrees { "ok" } else { "DIFFERS" }.to_owned(),
                fate.story.clone(),
            ]
        }),
    );
    for fate in &told.fates {
        page.line("");
        page.line(&format!("{}: {:?}", fate.id, fate.content));
        page.line(&format!("  {}", fate.because));
    }
}

fn lay_out_browser(page: &mut Page, told: &Told, endpoint: &Endpoint) {
    page.line("");
    page.heading("Look at it in Neo4j Browser");
    if let Some(browser) = &told.browser {
        page.line(browser);
    }
    if let Some(home) = &endpoint.home {
        page.line(&format!(
            "User {}; the password is in {}",
            endpoint.username,
            home.join("password").display()
        ));
    }
    for query in &told.queries {
        page.line("");
        page.line(&format!("// {}", query.title));
        page.picture(query.cypher);
        page.line("");
    }
}
