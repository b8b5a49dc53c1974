//! The settings that statements pasted into Neo4j Browser read: the node `(:EbbSettings {name: 'default'})`.
//!
//! A statement in the Browser knows no configuration file, so what it needs is stored in the graph: the half-life and
//! the minimum of relations, and how much of a learned weight an outcome leaves. A process writes it when it starts; with
//! several configurations on one database the last that started wins, which the node says by `by`, `at` and `version`.
//! A version with an earlier layout of the node writes nothing.
//!
//! # Design notes
//! Labels and relationship types of trails are not stored there: a statement that takes them from a node scans the
//! whole graph. They are put into the text that `ebb inspect` runs and prints.

use super::Store;
use super::catalogue::CONFIG_SETTINGS;
use super::error::Error;
use super::tx::{Mode, Tx};
use crate::domain::units::Timestamp;
use serde::Deserialize;

/// The properties of the node that this version knows.
const LAYOUT: i64 = 1;

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
    /// Stores the settings of this process, `kept` being the share of a learned weight that an outcome leaves. `None`
    /// without tunables.
    pub async fn store_settings(&self, kept: f64, now: Timestamp) -> Result<Option<StoredSettings>, Error> {
        self.transactions
            .run("config.settings", Mode::Write, async |tx: &mut Tx| {
                let call = CONFIG_SETTINGS
                    .call()
                    .set("layout", LAYOUT)
                    .set("halfLifeMs", self.fading.half_life_ms())
                    .set("minimum", self.fading.minimum().value())
                    .set("kept", kept)
                    .set("by", self.holder())
                    .set("version", env!("CARGO_PKG_VERSION"))
                    .set("now", now.millis());
                tx.row(call).await
            })
            .await
    }
}
