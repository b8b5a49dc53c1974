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
    /// Oldest supported server: former ones have no dynamic labels, or give relationships of dynamic types a wrong one.
    pub const OLDEST: [u32; 3] = [5, 26, 4];

    /// Whether Ebb's statements run on it. Calendar versions are newer than all those from 5, and Aura's end in `-aura`.
    #[must_use]
    pub fn is_supported(&self) -> bool {
        self.version.split(['.', '-']).map(|part| part.parse().unwrap_or(0)).ge(Self::OLDEST)
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
        let [major, minor, patch] = About::OLDEST;
        Err(Error::Schema(format!(
            "{} {} at {} is too old: Ebb's statements need {major}.{minor}.{patch} or later. Upgrade the server, or leave \
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_from_the_oldest_on_are_supported() {
        let is_supported = |version: &str| {
            let (name, edition, version) =
                ("Neo4j Kernel".to_owned(), "community".to_owned(), version.to_owned());
            About { name, version, edition, server_now: Timestamp::EPOCH }.is_supported()
        };
        for version in ["5.26.4", "5.26.31", "5.27-aura", "2026.08.1", "2026.08-aura"] {
            assert!(is_supported(version), "{version}");
        }
        for version in ["4.4.40", "5.23.0", "5.26.3", "5.25-aura", "5.3", "", "neo4j"] {
            assert!(!is_supported(version), "{version}");
        }
    }
}
