//! The part of the demo about relations: counts, and a forecast for a year without observations.

use super::expected::{self, Check, Expected};
use super::month::Month;
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::plot::verbs::decay::relations;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::{RelationFilter, Service};
use serde::Serialize;

/// A year, milliseconds.
const YEAR_MS: f64 = 365.0 * 24.0 * 3_600_000.0;

/// Relations at the end of the month.
#[derive(Debug, Serialize)]
pub(super) struct Relations {
    relations: usize,
    observed: u64,
    pinned: usize,
    below_minimum: usize,
    retrievable_after_a_year_of_silence: usize,
    pub(super) checks: Vec<Check>,
}

/// Reads them at the end of the month.
pub(super) async fn read(
    expected: &[Expected],
    service: &Service,
    month: &Month,
    ends: Timestamp,
) -> Result<Relations, CliError> {
    let all = relations(service, ends).await?;
    let below = service.relations(service.scope(), RelationFilter::Decayed, None, ends).await?;
    let later =
        service.relations(service.scope(), RelationFilter::Retrievable, None, ends.after(YEAR_MS)).await?;
    Ok(Relations {
        relations: all.len(),
        observed: month.count("observe"),
        pinned: all.iter().filter(|relation| relation.pinned).count(),
        below_minimum: below.len(),
        retrievable_after_a_year_of_silence: later.len(),
        checks: expected::weights(expected, service, ends).await?,
    })
}
