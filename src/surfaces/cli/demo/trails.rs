//! The part of the demo about trails: counts.

use super::expected::{self, Check, Expected};
use super::month::Month;
use crate::surfaces::cli::exit::CliError;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::Service;
use serde::Serialize;

/// Trails at the end of the month.
#[derive(Debug, Serialize)]
pub(super) struct Trails {
    places: u64,
    edges: u64,
    deposits: u64,
    explorations: u64,
    pub(super) checks: Vec<Check>,
}

/// Reads them at the end of the month.
pub(super) async fn read(
    expected: &[Expected],
    service: &Service,
    month: &Month,
    ends: Timestamp,
) -> Result<Trails, CliError> {
    let count = |kind| month.count(kind);
    Ok(Trails {
        places: count("node"),
        edges: count("edge"),
        deposits: count("deposit"),
        explorations: count("explore"),
        checks: expected::trails(expected, service, ends).await?,
    })
}
