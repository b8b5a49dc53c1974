//! Tunables stored in the graph: read and checked at the start of each run, and for writes with the [present](super::present).
//!
//! A write takes the tunables of the graph or none: with others it would store what no later one could tell from right.
//! A read goes on with the last valid ones while they are invalid, since energies and thresholds a little off are better
//! than no answer; in a process that has read no valid ones, with those of its configuration.

use super::Store;
use super::catalogue::{CONFIG_ENSURE, CONFIG_READ};
use super::encode::list;
use super::error::Error;
use super::tx::{Mode, Tx};
use crate::domain::tunables::{ConsolidationConfig, FallbackTunables, Tunables};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tracing::warn;

/// The tunables that a process has read, shared by all its stores.
#[derive(Debug, Default)]
pub(super) struct KnownTunables(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// The last valid ones.
    valid: Option<Tunables>,
    /// Those of the configuration, if it has any.
    configured: Option<Tunables>,
    /// Why those of the graph were invalid at the last read, if they were.
    invalid: Option<String>,
    /// The reason that was logged.
    logged: Option<String>,
}

/// The use of tunables that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Answers about rows.
    Rows,
    /// Schedules, which can be shown also where the node is missing.
    Schedules,
}

impl KnownTunables {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the result of a read, and returns it.
    pub(super) fn record(&self, read: Result<Tunables, Error>) -> Result<Tunables, Error> {
        let mut known = self.known();
        match &read {
            Ok(tunables) => {
                known.valid = Some(tunables.clone());
                (known.invalid, known.logged) = (None, None);
            }
            Err(why) if is_of_tunables(why) => known.invalid = Some(why.to_string()),
            Err(_) => {}
        }
        read
    }

    /// Records the result of a read, and returns valid tunables in the place of invalid ones, if there are any.
    pub(super) fn record_or_replace(
        &self,
        read: Result<Tunables, Error>,
        purpose: Purpose,
    ) -> Result<Tunables, Error> {
        let why = match self.record(read) {
            Err(why) if is_of_tunables(&why) => why,
            other => return other,
        };
        let mut known = self.known();
        let valid = known.valid.clone().map(|valid| (valid, FallbackTunables::LastValid));
        // Without the node the database may be one that was not initialised.
        let is_usable = purpose == Purpose::Schedules || !matches!(why, Error::Schema(_));
        let configured = known.configured.clone().filter(|_| is_usable);
        let configured = configured.map(|configured| (configured, FallbackTunables::Configuration));
        let Some((tunables, fallback)) = valid.or(configured) else { return Err(why) };
        if known.logged != known.invalid {
            warn!(%why, using = %fallback, "the tunables of the graph are invalid, and answers use others");
            known.logged = known.invalid.clone();
        }
        Ok(tunables.in_place_of_invalid(fallback))
    }
}

/// Whether the tunables are missing or invalid.
fn is_of_tunables(why: &Error) -> bool {
    matches!(why, Error::Tunables(_) | Error::TunableMissing(_) | Error::Schema(_))
}

impl Store {
    /// Reads and checks the node `(:ConsolidationConfig {name: 'default'})`. Other properties are ignored: people may
    /// keep notes there. For a write.
    ///
    /// # Errors
    /// [`Error::Schema`] if there is no such node, [`Error::TunableMissing`] and [`Error::Tunables`] if it is invalid;
    /// no job runs then.
    pub async fn valid_tunables(&self) -> Result<Tunables, Error> {
        match self.kept_or_read_tunables().await {
            Ok(kept) => Ok(kept),
            Err(read) => self.known_tunables.record(read),
        }
    }

    /// The same for an answer that writes nothing: while those of the graph are invalid, [others](Tunables::fallback).
    ///
    /// # Errors
    /// Those of [`Store::valid_tunables`] in a process that knows no others.
    pub async fn tunables(&self) -> Result<Tunables, Error> {
        match self.kept_or_read_tunables().await {
            Ok(kept) => Ok(kept),
            Err(read) => self.known_tunables.record_or_replace(read, Purpose::Rows),
        }
    }

    /// Why the tunables of the graph were invalid when this process last read them, if they were.
    #[must_use]
    pub fn invalid_tunables(&self) -> Option<String> {
        self.known_tunables.known().invalid.clone()
    }

    /// Sets the tunables for reads of a process that has read no valid ones.
    pub fn configure_tunables(&self, config: &ConsolidationConfig) {
        self.known_tunables.known().configured = config.clone().check().ok();
    }

    /// Creates the node or its missing tunables; existing values are kept. Returns how many were added.
    pub async fn ensure_tunables(&self, config: &ConsolidationConfig) -> Result<i64, Error> {
        let ensure = async |tx: &mut Tx| ensure(tx, config).await;
        let added = self.transactions.run("config.ensure", Mode::Write, ensure).await;
        self.forget_present();
        added
    }

    /// Number of tunables that [`Store::ensure_tunables`] would add.
    pub async fn lacking_tunables(&self, config: &ConsolidationConfig) -> Result<i64, Error> {
        self.transactions
            .run("config.lacking", Mode::Write, async |tx: &mut Tx| {
                tx.abandon();
                ensure(tx, config).await
            })
            .await
    }
}

async fn ensure(tx: &mut Tx, config: &ConsolidationConfig) -> Result<i64, Error> {
    let entries = config.entries();
    let call = CONFIG_ENSURE
        .call()
        .set("name", list(entries.iter().map(|(name, _)| *name)))
        .set("value", list(entries.iter().map(|(_, value)| *value)));
    tx.only(call).await
}

/// Reads and checks the tunables inside a transaction of the caller.
pub(super) async fn read(tx: &mut Tx) -> Result<Tunables, Error> {
    #[derive(Deserialize)]
    struct Row {
        names: Vec<String>,
        values: Vec<Option<f64>>,
    }
    let row: Option<Row> = tx.row(CONFIG_READ.call()).await?;
    check(row.map(|row| (row.names, row.values)))
}

/// As [`read`], with the fault of missing or invalid tunables as a result of the transaction, which other errors fail.
pub(super) async fn read_or_fault(tx: &mut Tx) -> Result<Result<Tunables, Error>, Error> {
    match read(tx).await {
        Err(why) if !is_of_tunables(&why) => Err(why),
        read => Ok(read),
    }
}

/// Checks the properties of the node, if there is one.
pub(super) fn check(node: Option<(Vec<String>, Vec<Option<f64>>)>) -> Result<Tunables, Error> {
    let Some((names, values)) = node else {
        return Err(Error::Schema(
            "the database has no ConsolidationConfig node named 'default'. Write it with: ebb init"
                .to_owned(),
        ));
    };
    let present: Map<String, Value> = names
        .into_iter()
        .zip(values)
        .filter_map(|(name, value)| Some((name, Value::from(value.filter(|value| value.is_finite())?))))
        .collect();
    let known = |name: &str| ConsolidationConfig::NAMES.contains(&name);
    let missing: Vec<&str> =
        ConsolidationConfig::NAMES.into_iter().filter(|name| !present.contains_key(*name)).collect();
    if !missing.is_empty() {
        return Err(Error::TunableMissing(missing.join(", ")));
    }
    let values = present.into_iter().filter(|(name, _)| known(name)).collect();
    serde_json::from_value::<ConsolidationConfig>(Value::Object(values))
        .map_err(|why| Error::TunableMissing(why.to_string()))?
        .check()
        .map_err(Error::Tunables)
}
