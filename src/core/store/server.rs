//! The server: its identity, its clock and its settings.

use super::Store;
use super::catalogue::{SERVER_ABOUT, SERVER_QUARANTINED, SERVER_SETTINGS};
use super::error::Error;
use crate::domain::units::{Timestamp, millis};
use serde::Deserialize;

/// Identity of a server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    pub name: String,
    pub version: String,
    /// `community` or `enterprise`.
    pub edition: String,
    /// Its clock.
    #[serde(with = "millis")]
    pub server_now: Timestamp,
}

impl About {
    /// Oldest supported server.
    pub const OLDEST: (u32, u32) = (5, 23);

    /// Whether Ebb's statements run on it. Calendar versions are newer than all those from 5.
    #[must_use]
    pub fn is_supported(&self) -> bool {
        let mut parts = self.version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= Self::OLDEST
    }
}

/// Counts of quarantined rows other than memories and facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct QuarantineCounts {
    /// Decaying relations.
    pub relations: i64,
    pub places: i64,
    pub edges: i64,
}

impl Store {
    /// Counts quarantined relations, places and edges. Reads all of them.
    pub async fn quarantine_counts(&self) -> Result<QuarantineCounts, Error> {
        let allowed = &self.trails.allowed;
        self.read_one(SERVER_QUARANTINED.about(allowed.labels(), allowed.types())).await
    }

    /// Reads the server's identity; the first contact.
    pub async fn about(&self) -> Result<About, Error> {
        let about: About = self.read_one(SERVER_ABOUT.in_any_language()).await?;
        if about.is_supported() {
            return Ok(about);
        }
        let (major, minor) = About::OLDEST;
        Err(Error::Schema(format!(
            "{} {} at {} is too old: Ebb's statements need {major}.{minor} or later. Upgrade the server, or leave \
             NEO4J_URI unset to let Ebb start one of its own",
            about.name,
            about.version,
            self.uri()
        )))
    }

    /// Settings of the server that Ebb depends on, by name.
    pub async fn settings(&self) -> Result<Vec<(String, String)>, Error> {
        #[derive(Deserialize)]
        struct Row {
            name: String,
            value: String,
        }
        let rows: Vec<Row> = self.read(SERVER_SETTINGS.call()).await?;
        Ok(rows.into_iter().map(|row| (row.name, row.value)).collect())
    }
}
