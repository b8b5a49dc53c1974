//! Entities: created where something names them, unless another library keeps entities in the same database.
//!
//! Uniqueness is of the label `EbbEntity`, which Ebb's entities have besides `Entity`, so a library may keep several
//! entities of one scope and name. An entity among those of a library breaks the library's readers, which expect a key
//! of their own on each, so Ebb creates none there.

use super::catalogue::{ENTITY_MISSING, ENTITY_OPEN};
use super::encode::{list, slices};
use super::error::Error;
use super::tx::Tx;
use serde::Deserialize;
use std::collections::BTreeSet;

/// Ensures that entities exist, each by scope and name.
///
/// # Errors
/// As [`check`].
pub(super) async fn open<'a>(
    tx: &mut Tx,
    named: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), Error> {
    let missing = missing(tx, named).await?;
    refuse(&missing)?;
    create(tx, missing.iter()).await
}

/// As [`open`], but leaves out those that would be created among entities of another library.
pub(super) async fn open_where_allowed<'a>(
    tx: &mut Tx,
    named: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), Error> {
    let missing = missing(tx, named).await?;
    create(tx, missing.iter().filter(|row| row.foreign.is_none())).await
}

/// Checks that entities may be created.
///
/// # Errors
/// [`Error::Conflict`] if one is missing and the database has entities of another library.
pub(super) async fn check<'a>(
    tx: &mut Tx,
    named: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), Error> {
    refuse(&missing(tx, named).await?)
}

#[derive(Deserialize)]
struct Missing {
    scope: String,
    name: String,
    foreign: Option<String>,
}

async fn missing<'a>(
    tx: &mut Tx,
    named: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<Missing>, Error> {
    let named: BTreeSet<(&str, &str)> = named.into_iter().collect();
    let named: Vec<(&str, &str)> = named.into_iter().collect();
    let mut missing = Vec::new();
    for slice in slices(&ENTITY_MISSING, &named, |(scope, name)| scope.len() + name.len() + 4) {
        let call = ENTITY_MISSING
            .call()
            .set("scope", list(slice.iter().map(|(scope, _)| *scope)))
            .set("name", list(slice.iter().map(|(_, name)| *name)));
        missing.extend(tx.rows::<Missing>(call).await?);
    }
    Ok(missing)
}

fn refuse(missing: &[Missing]) -> Result<(), Error> {
    let mut refused = missing.iter().filter_map(|row| Some((row.name.as_str(), row.foreign.as_deref()?)));
    let Some((name, property)) = refused.next() else { return Ok(()) };
    Err(Error::Conflict(format!(
        "another library keeps its entities in this database: they have the property {property}, which its readers \
         expect on every Entity. Ebb would have to create {name:?} there, so nothing was written. Leave out what names \
         entities (mentions, relations, facts), or use a database of Ebb's own: docs/guide/your-own-data.md"
    )))
}

async fn create(tx: &mut Tx, missing: impl Iterator<Item = &Missing>) -> Result<(), Error> {
    let missing: Vec<&Missing> = missing.collect();
    for slice in slices(&ENTITY_OPEN, &missing, |row| row.scope.len() + row.name.len() + 4) {
        let call = ENTITY_OPEN
            .call()
            .set("scope", list(slice.iter().map(|row| row.scope.as_str())))
            .set("name", list(slice.iter().map(|row| row.name.as_str())));
        tx.run(call).await?;
    }
    Ok(())
}
