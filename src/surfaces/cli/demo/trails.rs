//! The part of the demo about trails: counts.

use super::expected::{self, Check, Expected};
use crate::surfaces::cli::exit::CliError;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::Service;
use ebb_core::service::events::Imported;
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
    done: &Imported,
    ends: Timestamp,
) -> Result<Trails, CliError> {
    let count = |kind| done.by_kind.get(kind).copied().unwrap_or(0);
    Ok(Trails {
        places: count("node"),
        edges: count("edge"),
        deposits: count("deposit"),
        explorations: count("explore"),
        checks: expected::trails(expected, service, ends).await?,
    })
}
