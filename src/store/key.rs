//! API keys: kept, listed, revoked. The store knows their hashes, never the keys.

use super::Store;
use super::catalogue::{KEY_CREATE, KEY_LIST, KEY_REVOKE};
use super::encode::list;
use super::error::Error;
use super::tx::{Mode, Tx};
use crate::domain::key::Grant;
use crate::domain::units::Timestamp;
use serde::Deserialize;

/// Keys at most that are read at once.
const KEYS_MAX: i64 = 10_000;

/// What is stored of a key. Anything that another writer spoilt is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyRow {
    /// Its id.
    pub id: Option<String>,
    /// What a person calls it.
    pub name: Option<String>,
    /// SHA-256 of its secret, hexadecimal.
    pub hash: Option<String>,
    /// The name of its right.
    pub rights: Option<String>,
    /// Its scopes; `*` is every one.
    pub scopes: Option<Vec<String>>,
    /// When it was made, epoch milliseconds.
    pub created: Option<i64>,
    /// Whether it is revoked.
    pub revoked: bool,
    /// When, epoch milliseconds.
    pub revoked_at: Option<i64>,
    /// Whether it has expired, by the server's clock.
    pub expired: bool,
    /// When it expires, epoch milliseconds.
    pub expires: Option<i64>,
}

impl Store {
    /// Keeps a new key.
    ///
    /// # Errors
    /// Of the connection or the statement.
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
        self.transactions.run("key.create", Mode::Write, async |tx: &mut Tx| tx.run(call()).await).await
    }

    /// All keys, the oldest first; asked of the server as it is now, what fails is not tried again.
    ///
    /// # Errors
    /// Of the connection or the statement.
    pub async fn keys(&self) -> Result<Vec<KeyRow>, Error> {
        let keys = async |tx: &mut Tx| tx.rows(KEY_LIST.call().set("limit", KEYS_MAX)).await;
        self.transactions.run_once("key.list", Mode::Read, keys).await
    }

    /// Revokes a key; answers its name, and whether this was the first time.
    ///
    /// # Errors
    /// [`Error::NotFound`].
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
