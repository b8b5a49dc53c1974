//! API keys: storing, listing, revoking. The store has their hashes, never the keys.

use super::Store;
use super::catalogue::{
    KEY_CLOSE, KEY_CLOSED, KEY_CREATE, KEY_LIST, KEY_LIVE, KEY_OPEN, KEY_PRUNE, KEY_REVOKE,
};
use super::encode::list;
use super::error::Error;
use super::tx::{Mode, Tx};
use crate::domain::key::Grant;
use crate::domain::units::{Timestamp, maybe_millis};
use serde::{Deserialize, Deserializer, Serialize};
use tracing::debug;

/// Most keys in force, and most keys that are listed.
const KEYS_MAX: usize = 10_000;
/// Most keys that one transaction removes.
const PRUNE_PAGE: i64 = 5_000;

/// Stored row of a key. A property with an invalid value is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all(deserialize = "camelCase"))]
pub struct KeyRow {
    pub id: Option<String>,
    pub name: Option<String>,
    pub rights: Option<String>,
    /// Scopes; `*` is every scope.
    #[serde(deserialize_with = "or_none")]
    pub scopes: Vec<String>,
    #[serde(deserialize_with = "maybe_millis")]
    pub created: Option<Timestamp>,
    #[serde(rename(deserialize = "revoked"), skip_serializing)]
    pub is_revoked: bool,
    #[serde(rename(deserialize = "revokedAt", serialize = "revoked"), deserialize_with = "maybe_millis")]
    pub revoked_at: Option<Timestamp>,
    /// Whether it has expired, by the server's clock.
    #[serde(skip_serializing)]
    pub expired: bool,
    #[serde(deserialize_with = "maybe_millis")]
    pub expires: Option<Timestamp>,
}

fn or_none<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// A key in force.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LiveKey {
    pub id: String,
    /// SHA-256 of its secret, hexadecimal.
    pub hash: String,
    pub rights: String,
    /// Scopes; `*` is every scope.
    pub scopes: Vec<String>,
}

/// The keys in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveKeys {
    /// Keys in force, at most 10,000.
    pub keys: Vec<LiveKey>,
    /// Whether every request needs a key: one has been created, even if none is in force now.
    pub closed: bool,
}

#[derive(Deserialize)]
struct Closed {
    marked: bool,
    any: bool,
}

fn most() -> i64 {
    i64::try_from(KEYS_MAX).unwrap_or(i64::MAX)
}

impl Store {
    /// Stores a new key.
    pub async fn create_key(
        &self,
        (id, name, hash): (&str, &str, &str),
        grant: &Grant,
        now: Timestamp,
        expires: Option<Timestamp>,
    ) -> Result<(), Error> {
        let call = || {
            KEY_CREATE
                .call()
                .set("id", id)
                .set("name", name)
                .set("hash", hash)
                .set("rights", grant.right.name())
                .set("scopes", list(grant.scope_names()))
                .set("created", now.millis())
                .set("expires", expires.map(Timestamp::millis))
        };
        self.transactions
            .run("key.create", Mode::Write, async |tx: &mut Tx| {
                tx.run(KEY_CLOSE.call()).await?;
                let live: Vec<LiveKey> = tx.rows(KEY_LIVE.call().set("limit", most())).await?;
                if live.len() >= KEYS_MAX && live.iter().all(|key| key.id != id) {
                    return Err(Error::Conflict(format!(
                        "there are {KEYS_MAX} API keys in force, and no more are read. Revoke unused keys: ebb key list, \
                         ebb key revoke ID"
                    )));
                }
                tx.run(call()).await
            })
            .await
    }

    /// The keys in force, by the server now, without retries. Also writes the marker that keys exist if it is missing,
    /// so that it remains when the keys are gone.
    pub async fn live_keys(&self) -> Result<LiveKeys, Error> {
        let (keys, Closed { marked, any }) = self
            .transactions
            .run_once("key.live", Mode::Read, async |tx: &mut Tx| {
                let keys: Vec<LiveKey> = tx.rows(KEY_LIVE.call().set("limit", most())).await?;
                Ok((keys, tx.only::<Closed>(KEY_CLOSED.call()).await?))
            })
            .await?;
        if any && !marked {
            // A read-only database returns its keys all the same.
            let mark = async |tx: &mut Tx| tx.run(KEY_CLOSE.call()).await;
            if let Err(why) = self.transactions.run_once("key.close", Mode::Write, mark).await {
                debug!(%why, "the marker that API keys exist could not be written");
            }
        }
        Ok(LiveKeys { keys, closed: marked || any })
    }

    /// Removes keys that were revoked or expired more than `days` ago; returns their number.
    pub async fn prune_keys(&self, days: u32) -> Result<i64, Error> {
        let mut gone = 0;
        loop {
            let call = || KEY_PRUNE.call().set("days", i64::from(days)).set("limit", PRUNE_PAGE);
            let trimmed: i64 = self
                .transactions
                .run("key.prune", Mode::Write, async |tx: &mut Tx| tx.only(call()).await)
                .await?;
            gone += trimmed;
            if trimmed < PRUNE_PAGE {
                return Ok(gone);
            }
        }
    }

    /// Allows access from this machine without a key again; returns whether a key was required.
    pub async fn open_keys(&self) -> Result<bool, Error> {
        self.transactions
            .run("key.open", Mode::Write, async |tx: &mut Tx| {
                let opened: i64 = tx.only(KEY_OPEN.call()).await?;
                match tx.only::<Closed>(KEY_CLOSED.call()).await? {
                    Closed { any: true, .. } => Err(Error::Conflict(
                        "there are API keys. Revoke them (ebb key list, ebb key revoke ID), remove them (ebb key prune), \
                         then: ebb key open"
                            .to_owned(),
                    )),
                    _ => Ok(opened > 0),
                }
            })
            .await
    }

    /// Keys for people, the oldest first.
    pub async fn keys(&self) -> Result<Vec<KeyRow>, Error> {
        self.read(KEY_LIST.call().set("limit", most())).await
    }

    /// Revokes a key; returns its name, and whether it was not revoked before.
    pub async fn revoke_key(&self, id: &str, now: Timestamp) -> Result<(Option<String>, bool), Error> {
        #[derive(Deserialize)]
        struct Row {
            name: Option<String>,
            first: bool,
        }
        let call = || KEY_REVOKE.call().set("id", id).set("at", now.millis());
        let row: Option<Row> = self
            .transactions
            .run("key.revoke", Mode::Write, async |tx: &mut Tx| tx.row(call()).await)
            .await?;
        let row = row.ok_or_else(|| Error::NotFound { what: "key", id: id.to_owned() })?;
        Ok((row.name, row.first))
    }
}
