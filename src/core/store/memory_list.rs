//! Lists of memories, by id or by creation, with conditions.
//!
//! A list is read page by page after a cursor. Conditions on metadata are checked here: the database leaves out rows whose
//! metadata cannot fulfil them, and further rows are read until enough fulfil them, up to a bound.

use super::Store;
use super::catalogue::{MEMORY_LIST, MEMORY_NEWEST};
use super::encode::list;
use super::error::Error;
use super::tx::{Mode, Tx};
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

/// A page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryPage {
    pub keys: Vec<MemoryKey>,
    /// Where the list continues; `None` at its end. A page with conditions on metadata may be short, or empty, and go on.
    pub next: Option<String>,
}

/// Rows that are searched for metadata at once.
const SEARCHED: i64 = 1_000;
/// Most such pages of one call.
const SEARCHES_MAX: usize = 64;

/// A row of a list.
struct Listed {
    key: MemoryKey,
    cursor: String,
    holds: bool,
}

impl Store {
    /// Lists memories of a scope in an order after a cursor (empty: from the beginning), at most `limit`.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a cursor of another list.
    pub async fn list_memories(
        &self,
        scope: &str,
        listed: (&Filter, MemoryOrder),
        after: &str,
        limit: usize,
    ) -> Result<MemoryPage, Error> {
        let body = async |tx: &mut Tx| page(tx, scope, listed, after, limit).await;
        self.transactions.run("memories.list", Mode::Read, body).await
    }
}

/// [`Store::list_memories`] as this transaction sees them.
pub(super) async fn page(
    tx: &mut Tx,
    scope: &str,
    (filter, order): (&Filter, MemoryOrder),
    after: &str,
    limit: usize,
) -> Result<MemoryPage, Error> {
    // One more than is asked for says whether the list continues.
    let more = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let size = if filter.metadata.is_empty() { more } else { SEARCHED };
    let (mut found, mut after) = (Vec::new(), after.to_owned());
    for _ in 0..SEARCHES_MAX {
        let rows = rows(tx, scope, (filter, order), &after, size).await?;
        let is_last = i64::try_from(rows.len()).is_ok_and(|count| count < size);
        if let Some(last) = rows.last() {
            after.clone_from(&last.cursor);
        }
        found.extend(rows.into_iter().filter(|row| row.holds));
        let next = if found.len() > limit {
            found.truncate(limit);
            found.last().map(|last| last.cursor.clone())
        } else if is_last {
            None
        } else {
            continue;
        };
        return Ok(MemoryPage { keys: found.into_iter().map(|row| row.key).collect(), next });
    }
    Ok(MemoryPage { keys: found.into_iter().map(|row| row.key).collect(), next: Some(after) })
}

/// Rows of a list that may fulfil the conditions on metadata, and whether they do.
async fn rows(
    tx: &mut Tx,
    scope: &str,
    (filter, order): (&Filter, MemoryOrder),
    after: &str,
    limit: i64,
) -> Result<Vec<Listed>, Error> {
    #[derive(Deserialize)]
    struct Row {
        id: String,
        created: Option<[i64; 2]>,
        zone: Option<String>,
        metadata: Option<String>,
    }
    let call = match order {
        MemoryOrder::Id => MEMORY_LIST.call().set("after", after),
        MemoryOrder::Newest => {
            let ([seconds, nanoseconds], zone, after) = newest_cursor(after)?;
            let call = MEMORY_NEWEST.call().set("seconds", seconds).set("nanoseconds", nanoseconds);
            call.set("zone", zone).set("after", after)
        }
    };
    let call = call
        .set("scope", scope)
        .set("tiers", list(filter.tiers.iter().map(|tier| tier.name())))
        .set("session", filter.session.as_deref())
        .set("tags", list(filter.tags.iter().map(String::as_str)))
        .set("text", filter.text.as_deref())
        .set("hasConditions", !filter.metadata.is_empty())
        .set("fragments", list(filter.metadata.fragments()))
        .set("createdSince", filter.created_since.map(Timestamp::millis))
        .set("createdBefore", filter.created_before.map(Timestamp::millis))
        .set("limit", limit);
    let row = |Row { id, created, zone, metadata }: Row| {
        let [seconds, nanoseconds] = created.unwrap_or_default();
        let cursor = match order {
            MemoryOrder::Id => id.clone(),
            MemoryOrder::Newest => {
                let zone = zone.unwrap_or_else(|| UTC.to_owned());
                format!("{seconds}.{nanoseconds}@{zone}@{id}")
            }
        };
        let holds = filter.metadata.is_empty()
            || filter.metadata.holds(metadata.as_deref().and_then(Metadata::stored).as_ref());
        Listed { key: MemoryKey::of_row(scope, &id), cursor, holds }
    };
    let found = tx.rows::<Row>(call).await.map_err(|why| match why {
        // Only the server knows the names of zones.
        Error::Query { ref message, .. } if message.contains("TimeZone") => foreign_cursor(),
        why => why,
    })?;
    Ok(found.into_iter().map(row).collect())
}

/// The zone of what Ebb writes.
const UTC: &str = "Z";

/// The instant, in seconds and nanoseconds, the zone and the id of a cursor; those before the newest for an empty one.
fn newest_cursor(text: &str) -> Result<([i64; 2], &str, &str), Error> {
    const FIRST: i64 = -62_135_596_800;
    const LAST: i64 = 253_402_300_799;
    if text.is_empty() {
        return Ok(([LAST, 999_999_999], UTC, ""));
    }
    let parse = || {
        let (at, rest) = text.split_once('@')?;
        let (zone, id) = rest.split_once('@')?;
        let (seconds, nanoseconds) = at.split_once('.')?;
        Some(([seconds.parse().ok()?, nanoseconds.parse().ok()?], zone, id))
    };
    let known = parse().filter(|([seconds, nanoseconds], zone, _)| {
        let is_zone = |c: char| c.is_ascii_alphanumeric() || "+-:/_".contains(c);
        (FIRST..=LAST).contains(seconds)
            && (0..1_000_000_000).contains(nanoseconds)
            && !zone.is_empty()
            && zone.chars().all(is_zone)
    });
    known.ok_or_else(foreign_cursor)
}

fn foreign_cursor() -> Error {
    Error::Invalid("the cursor is not one of this list".to_owned())
}
