//! The bundled month: its events, and the graph that a replay of them leaves before the last hours.

use crate::surfaces::cli::exit::CliError;
use flate2::read::GzDecoder;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{self, Read};

/// The events.
pub(super) const EVENTS: &str = include_str!("../../../../config/demo/month.ndjson");
/// The graph that a replay leaves at 17:00 of the last day, as a backup. What is replayed after it takes seconds, and has all
/// events of the memory that is drawn.
const BEFORE: &[u8] = include_bytes!("../../../../config/demo/before.ndjson.gz");

/// Events of the month by kind.
#[derive(Debug)]
pub(super) struct Month {
    by_kind: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct Event {
    kind: String,
}

/// The backup, as `ebb restore` reads it.
pub(super) fn before() -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    GzDecoder::new(BEFORE).read_to_end(&mut text)?;
    Ok(text)
}

impl Month {
    /// Counts the events.
    pub(super) fn read() -> Result<Self, CliError> {
        let mut by_kind = BTreeMap::new();
        for line in EVENTS.lines() {
            let Event { kind } = serde_json::from_str(line).map_err(CliError::failed)?;
            *by_kind.entry(kind).or_default() += 1;
        }
        Ok(Self { by_kind })
    }

    /// Number of events of a kind.
    pub(super) fn count(&self, kind: &str) -> u64 {
        self.by_kind.get(kind).copied().unwrap_or(0)
    }
}
