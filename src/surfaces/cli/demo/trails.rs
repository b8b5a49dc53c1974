//! The part of the demo about trails: counts and the hottest edges.

use super::expected::{self, Check, Expected};
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::page::Page;
use crate::surfaces::cli::plot::trails::TrailsPlot;
use crate::surfaces::cli::plot::verbs::trails::hottest;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::Service;
use ebb_core::service::events::Imported;
use serde::Serialize;

/// Edges in the picture.
const DRAWN: usize = 8;

/// Trails at the end of the month.
#[derive(Debug, Serialize)]
pub(super) struct Trails {
    places: u64,
    edges: u64,
    deposits: u64,
    explorations: u64,
    pub(super) checks: Vec<Check>,
}

/// Reads them at the end of the month, with a picture of the hottest.
pub(super) async fn read(
    expected: &[Expected],
    service: &Service,
    done: &Imported,
    ends: Timestamp,
) -> Result<(Trails, TrailsPlot), CliError> {
    let count = |kind| done.by_kind.get(kind).copied().unwrap_or(0);
    let report = Trails {
        places: count("node"),
        edges: count("edge"),
        deposits: count("deposit"),
        explorations: count("explore"),
        checks: expected::trails(expected, service, ends).await?,
    };
    Ok((report, hottest(service, DRAWN, ends).await?))
}

pub(super) fn lay_out(page: &mut Page, report: &Trails, hot: &TrailsPlot) {
    page.line("");
    page.heading("Trails: paths that led to something become highways");
    page.line(&format!(
        "{} places and {} edges; {} deposits along paths, {} explorations. Pheromones evaporate by the hour.",
        report.places, report.edges, report.deposits, report.explorations
    ));
    page.line("");
    page.picture(&hot.terminal(page.width(), page.color()));
    page.line("");
    expected::table(page, "edge or place", "now", &report.checks);
}
