//! `ebb plot energy`, `tiers`, `decay` and `trails`: makes the picture and prints or saves it.

pub(in crate::surfaces::cli) mod decay;
pub(in crate::surfaces::cli) mod trails;

use super::energy::EnergyPlot;
use super::tiers::{Series, TiersPlot, bars};
use super::{Picture, Verb, save};
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::memory::{energy_plot, key};
use crate::surfaces::cli::output::{Format, Output};
use ebb_core::domain::tier::Tier;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::Service;
use ebb_core::service::server::Hour;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Runs a verb.
pub async fn run(verb: &Verb, service: &Service, output: &Output) -> Result<(), CliError> {
    match verb {
        Verb::Energy { id, picture } => {
            let at = picture.when.instant(service).await?;
            let plot = energy_plot(&service.explain(&key(id, service)?, at).await?);
            match target(picture, output) {
                Target::Svg(to) => written(&plot.svg(), to, output),
                Target::Numbers => output.emit("plot.energy", &curve(id, &plot), |_| {}),
                Target::Terminal => drawn(&plot.terminal(output.width, output.color), output),
            }
        }
        Verb::Tiers(picture) => {
            let at = picture.when.instant(service).await?;
            let hours = service.timeline().await?;
            let plot = over_time(&hours, at);
            match target(picture, output) {
                Target::Svg(to) => written(&plot.svg(), to, output),
                Target::Numbers => output.emit_list("plot.tiers", "hours", &counts(&plot), |_| {}),
                Target::Terminal => {
                    let bars = bars(&plot.series, output.width, output.color);
                    drawn(
                        &format!("{}\nAt the end\n{bars}", plot.terminal(output.width, output.color)),
                        output,
                    )
                }
            }
        }
        Verb::Decay(args) => decay::run(args, service, output).await,
        Verb::Trails { limit, picture } => trails::run(*limit, picture, service, output).await,
    }
}

/// Destination of a picture.
enum Target {
    Svg(PathBuf),
    Numbers,
    Terminal,
}

fn target(picture: &Picture, output: &Output) -> Target {
    match (&picture.svg, output.format) {
        (Some(to), _) => Target::Svg(to.clone()),
        (None, Format::Table) => Target::Terminal,
        (None, _) => Target::Numbers,
    }
}

fn drawn(picture: &str, output: &Output) -> Result<(), CliError> {
    output.emit("plot", &(), |page| page.picture(picture))
}

fn written(svg: &str, to: PathBuf, output: &Output) -> Result<(), CliError> {
    save(svg, &to)?;
    output
        .emit("plot", &BTreeMap::from([("svg", &to)]), |page| page.line(&format!("Wrote {}.", to.display())))
}

#[derive(Serialize)]
struct EnergyCurve {
    id: String,
    points: Vec<Point>,
    thresholds: Vec<Level>,
}

#[derive(Serialize)]
struct Point {
    at: Timestamp,
    energy: f64,
    ahead: bool,
}

#[derive(Serialize)]
struct Level {
    energy: f64,
    what: String,
}

fn curve(id: &str, plot: &EnergyPlot) -> EnergyCurve {
    let points = plot.segments.iter().flat_map(|segment| {
        segment.points.iter().map(|(at, energy)| Point { at: *at, energy: *energy, ahead: segment.ahead })
    });
    let level = |threshold: &super::energy::Threshold| Level {
        energy: threshold.value,
        what: threshold.label.clone(),
    };
    EnergyCurve {
        id: id.to_owned(),
        points: points.collect(),
        thresholds: plot.thresholds.iter().map(level).collect(),
    }
}

/// The tiers that memories go through, in the order of the panels.
const TIERS: [Tier; 4] = [Tier::Working, Tier::ShortTerm, Tier::LongTerm, Tier::ExpiredWorking];

/// Counts of each tier at the end of each hour up to `at`, from the numbers created, promoted and expired in it.
pub(in crate::surfaces::cli) fn over_time(hours: &[Hour], at: Timestamp) -> TiersPlot {
    let mut held = [0_i64; 4];
    let mut times = Vec::new();
    let mut series = TIERS.map(|tier| Series::of(tier, Vec::new()));
    for hour in hours.iter().filter(|hour| hour.at <= at) {
        held[0] += hour.made - hour.rose - hour.expired;
        held[1] += hour.rose - hour.crystallised;
        held[2] += hour.crystallised;
        held[3] += hour.expired;
        times.push(hour.at);
        for (series, held) in series.iter_mut().zip(held) {
            // Another writer may have dated a promotion before the creation.
            series.counts.push(u64::try_from(held).unwrap_or(0));
        }
    }
    TiersPlot { title: "Memories by tier, hour by hour".to_owned(), times, series: series.into() }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TierCounts {
    at: Timestamp,
    working: u64,
    short_term: u64,
    long_term: u64,
    expired_working: u64,
}

fn counts(plot: &TiersPlot) -> Vec<TierCounts> {
    let at = |(index, at): (usize, &Timestamp)| {
        let held = |tier: usize| plot.series[tier].counts[index];
        TierCounts {
            at: *at,
            working: held(0),
            short_term: held(1),
            long_term: held(2),
            expired_working: held(3),
        }
    };
    plot.times.iter().enumerate().map(at).collect()
}
