//! Tunables stored in the graph: read and checked at the start of each run.

use super::Store;
use super::catalogue::{CONFIG_ENSURE, CONFIG_READ};
use super::encode::list;
use super::error::Error;
use super::tx::{Mode, Tx};
use crate::domain::tunables::{ConsolidationConfig, Tunables};
use serde::Deserialize;
use serde_json::{Map, Value};

impl Store {
    /// Reads and checks the node `(:ConsolidationConfig {name: 'default'})`. Other properties are ignored: people may
    /// keep notes there.
    ///
    /// # Errors
    /// [`Error::Schema`] if there is no such node, [`Error::TunableMissing`] and [`Error::Tunables`] if it is invalid;
    /// no job runs then.
    pub async fn tunables(&self) -> Result<Tunables, Error> {
        self.transactions.run("config.read", Mode::Read, async |tx: &mut Tx| read(tx).await).await
    }

    /// Creates the node or its missing tunables; existing values are kept. Returns how many were added.
    pub async fn ensure_tunables(&self, config: &ConsolidationConfig) -> Result<i64, Error> {
        self.transactions
            .run("config.ensure", Mode::Write, async |tx: &mut Tx| ensure(tx, config).await)
            .await
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
