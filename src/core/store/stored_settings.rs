//! The settings that statements pasted into Neo4j Browser read: the node `(:EbbSettings {name: 'default'})`.
//!
//! A statement in the Browser knows no configuration file, so what it needs is stored in the graph: the half-life and
//! the minimum of relations, and how much of a learned weight an outcome leaves. A process writes it when it starts; with
//! several configurations on one database the last that started wins, which the node says by `by`, `at` and `version`.
//! A version with an earlier layout of the node writes nothing.
//!
//! An initialisation stores a digest of all that it depends on in the same statement, so the digest holds as long as the
//! settings beside it do: constraints, indexes and tunables are only added. It is part of the data: a restored backup
//! has its own.
//!
//! # Design notes
//! Labels and relationship types of trails are not stored there: a statement that takes them from a node scans the
//! whole graph. They are put into the text that `ebb inspect` runs and prints.

use super::Store;
use super::catalogue::{CONFIG_INITIALISED, CONFIG_SETTINGS, MIGRATION_LIST};
use super::error::Error;
use super::tx::{Mode, Tx};
use crate::domain::ids::hex;
use crate::domain::tunables::ConsolidationConfig;
use crate::domain::units::Timestamp;
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// The properties of the node that this version knows.
const LAYOUT: i64 = 2;

/// The settings that were stored before.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StoredSettings {
    /// Whether they differed and were replaced.
    pub written: bool,
    /// The program that had stored other settings.
    pub by: Option<String>,
    /// When it had.
    pub at: Option<String>,
}

impl Store {
    /// Stores the settings of this process, `kept` being the share of a learned weight that an outcome leaves, and after an
    /// initialisation their [digest](Self::settings_digest). `None` without tunables.
    pub async fn store_settings(
        &self,
        kept: f64,
        digest: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<StoredSettings>, Error> {
        self.transactions
            .run("config.settings", Mode::Write, async |tx: &mut Tx| {
                let call = CONFIG_SETTINGS
                    .call()
                    .set("layout", LAYOUT)
                    .set("halfLifeMs", self.fading.half_life_ms())
                    .set("minimum", self.fading.minimum().value())
                    .set("kept", kept)
                    .set("digest", digest)
                    .set("by", self.holder())
                    .set("version", env!("CARGO_PKG_VERSION"))
                    .set("now", now.millis());
                tx.row(call).await
            })
            .await
    }

    /// Whether the database has every migration of this program, and was last initialised with the settings of this digest.
    ///
    /// # Errors
    /// As [`Store::pending`].
    pub async fn is_initialised(&self, digest: &str) -> Result<bool, Error> {
        let check = async |tx: &mut Tx| {
            let applied = tx.rows(MIGRATION_LIST.call()).await?;
            Ok((applied, tx.only(CONFIG_INITIALISED.call().set("digest", digest)).await?))
        };
        let (applied, same) = self.transactions.run("config.initialised", Mode::Read, check).await?;
        Ok(self.lacking(&applied)?.is_empty() && same)
    }

    /// Digest of all settings that an initialisation depends on, and of its version: with an equal one it would change
    /// nothing.
    #[must_use]
    pub fn settings_digest(&self, config: &ConsolidationConfig, kept: f64) -> String {
        let wordings: Vec<String> = self
            .regime
            .policies
            .all()
            .iter()
            .map(|policy| format!("{} {}", policy.id.as_str(), policy.wording()))
            .collect();
        let all = (
            (env!("CARGO_PKG_VERSION"), LAYOUT, self.schema_texts()),
            (self.similarity.dimensions, self.trails.cycle_ms, config.entries(), wordings),
            (self.fading.half_life_ms(), self.fading.minimum().value(), kept),
        );
        hex(&Sha256::digest(format!("{all:?}")))
    }
}
