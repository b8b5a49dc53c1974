//! The bundled month: its events, and the graph that a replay of them leaves before the last days.

use crate::surfaces::cli::exit::CliError;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The events.
pub(super) const EVENTS: &str = include_str!("../../../../config/demo/month.ndjson");
/// The graph that a replay leaves at [`REPLAYED_FROM`], as a backup.
pub(super) const BEFORE: &str = include_str!("../../../../config/demo/before.ndjson");
/// The day from which events are replayed.
pub(super) const REPLAYED_FROM: &str = "2026-03-30";

/// Events of the month by kind.
#[derive(Debug)]
pub(super) struct Month {
    by_kind: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct Event {
    kind: String,
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
