//! Lists of memories, by id or by creation, with conditions.
//!
//! A list is read page by page after a cursor. Conditions on metadata are checked here: the database leaves out rows whose
//! metadata cannot fulfil them, and further pages are read until enough fulfil them.

use super::Store;
use super::catalogue::{MEMORY_LIST, MEMORY_NEWEST};
use super::encode::list;
use super::error::Error;
use crate::domain::annotations::{Metadata, MetadataFilter};
use crate::domain::ids::MemoryKey;
use crate::domain::tier::Tier;
use crate::domain::units::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Filter of memories.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Tiers; empty for any.
    pub tiers: Vec<Tier>,
    /// Session that created it.
    pub session: Option<String>,
    /// Tags, each of which it has.
    pub tags: Vec<String>,
    /// Part of its content, in any case.
    pub text: Option<String>,
    /// Conditions on its metadata.
    pub metadata: MetadataFilter,
    /// Earliest instant of its creation.
    pub created_since: Option<Timestamp>,
    /// Instant before which it was created.
    pub created_before: Option<Timestamp>,
}

/// Order of a list of memories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum MemoryOrder {
    /// By id.
    #[default]
    Id,
    /// The newest creation first, then by id.
    Newest,
}

/// A memory of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedMemory {
    pub key: MemoryKey,
    /// Where the list continues after it.
    pub cursor: String,
}

/// Fewest rows of a page that is searched for metadata.
const SEARCHED_MIN: u32 = 512;
/// The last millisecond of the last year that a date can have.
const LAST_MS: i64 = 253_402_300_799_999;

impl Store {
    /// Lists memories of a scope in an order after a cursor (empty: from the beginning), at most `limit`.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a cursor of another list.
    pub async fn list_memories(
        &self,
        scope: &str,
        (filter, order): (&Filter, MemoryOrder),
        after: &str,
        limit: u32,
    ) -> Result<Vec<ListedMemory>, Error> {
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
        let page = if filter.metadata.is_empty() { limit } else { limit.max(SEARCHED_MIN) };
        let (mut found, mut after) = (Vec::new(), after.to_owned());
        loop {
            let rows = self.listed(scope, (filter, order), &after, page).await?;
            let is_last = rows.len() < usize::try_from(page).unwrap_or(usize::MAX);
            if let Some((last, _)) = rows.last() {
                after.clone_from(&last.cursor);
            }
            let holds = |metadata: &Option<Metadata>| filter.metadata.holds(metadata.as_ref());
            found.extend(rows.into_iter().filter(|(_, metadata)| holds(metadata)).map(|(row, _)| row));
            if is_last || found.len() >= wanted {
                found.truncate(wanted);
                return Ok(found);
            }
        }
    }

    /// A page of a list, before the conditions on metadata.
    async fn listed(
        &self,
        scope: &str,
        (filter, order): (&Filter, MemoryOrder),
        after: &str,
        limit: u32,
    ) -> Result<Vec<(ListedMemory, Option<Metadata>)>, Error> {
        #[derive(Deserialize)]
        struct Row {
            id: String,
            created: Option<i64>,
            metadata: Option<String>,
        }
        let call = match order {
            MemoryOrder::Id => MEMORY_LIST.call().set("after", after),
            MemoryOrder::Newest => {
                let (before, after) = newest_cursor(after)?;
                MEMORY_NEWEST.call().set("before", before).set("after", after)
            }
        };
        let call = call
            .set("scope", scope)
            .set("tiers", list(filter.tiers.iter().map(|tier| tier.name())))
            .set("session", filter.session.as_deref())
            .set("tags", list(filter.tags.iter().map(String::as_str)))
            .set("text", filter.text.as_deref())
            .set("fragments", list(filter.metadata.fragments()))
            .set("createdSince", filter.created_since.map(Timestamp::millis))
            .set("createdBefore", filter.created_before.map(Timestamp::millis))
            .set("limit", i64::from(limit));
        let rows: Vec<Row> = self.read(call).await?;
        let row = |Row { id, created, metadata }: Row| {
            let cursor = match order {
                MemoryOrder::Id => id.clone(),
                MemoryOrder::Newest => format!("{}/{id}", created.unwrap_or_default()),
            };
            let row = ListedMemory { key: MemoryKey::of_row(scope, &id), cursor };
            (row, metadata.as_deref().and_then(Metadata::stored))
        };
        Ok(rows.into_iter().map(row).collect())
    }
}

/// The instant and the id of a cursor; those before the newest for an empty one.
fn newest_cursor(text: &str) -> Result<(i64, &str), Error> {
    if text.is_empty() {
        return Ok((LAST_MS, ""));
    }
    let parts = text.split_once('/').and_then(|(at, id)| Some((at.parse().ok()?, id)));
    let known = parts.filter(|(at, _)| Timestamp::from_millis(*at).is_ok());
    known.ok_or_else(|| Error::Invalid("the cursor is not one of this list".to_owned()))
}
