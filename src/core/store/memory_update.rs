//! Changes of the record of a memory: its content, tags and metadata. What they were stays readable.
//!
//! A change is no access: energy, tier and accesses stay as they are. Each change leaves a version, the newest
//! [`VERSIONS_MAX`] of a memory are kept, and deleting the memory deletes them.
//!
//! Invariant: an update that changes nothing writes nothing (held by `surfaces::record::updates`).

use super::Store;
use super::catalogue::{MEMORY_UPDATE, MEMORY_VERSIONS};
use super::encode::list;
use super::error::Error;
use super::memory::{Record, read, refused};
use super::request::{RequestMode, answer, lock_sound, open};
use super::tx::{Mode, Tx};
use crate::domain::annotations::Metadata;
use crate::domain::ids::MemoryKey;
use crate::domain::memory::Refused;
use crate::domain::similarity::Embedding;
use crate::domain::units::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Most versions of one memory; older ones are deleted.
pub const VERSIONS_MAX: i64 = 100;

/// A change of the record of a memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MemoryUpdate {
    /// New content, checked; `None` leaves it.
    pub content: Option<String>,
    /// New tags; `None` leaves them.
    pub tags: Option<Vec<String>>,
    /// Merge patch of the metadata (RFC 7396).
    pub metadata: Map<String, Value>,
    /// Embedding of the content. Without one, that of a former content is removed.
    pub embedding: Option<Embedding>,
}

/// What the record of a memory was.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryVersion {
    pub content: Option<String>,
    /// Tags, in order.
    pub tags: Vec<String>,
    pub metadata: Option<Metadata>,
    /// Instants between which it was in force.
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// Id of the memory that said it, if that was merged into this one.
    pub merged_from: Option<String>,
}

impl Store {
    /// Changes the record of a memory at `now`, and returns the memory after it. If it changed at `now` or later, this change is a
    /// millisecond after that.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Refused`] for a stub; [`Error::Quarantined`]; [`Error::Invalid`] for tags or metadata that
    /// cannot be stored.
    pub async fn update_memory(
        &self,
        mode: RequestMode<'_>,
        key: &MemoryKey,
        update: &MemoryUpdate,
        now: Timestamp,
    ) -> Result<Record, Error> {
        let embeds = self.similarity.embeds();
        let keys = std::slice::from_ref(key);
        self.transactions
            .run("memory.update", Mode::Write, async |tx: &mut Tx| {
                if open::<()>(tx, mode).await?.is_none() {
                    for (key, life) in lock_sound(tx, keys).await? {
                        if life.state.tier.is_stub() {
                            return Err(refused(tx, key, Refused::Stub).await?);
                        }
                        let before = whole(tx, key).await?;
                        write(tx, key, (&before, update), life.created.max(now), embeds).await?;
                    }
                    answer(tx, mode, &());
                }
                whole(tx, key).await
            })
            .await
    }

    /// What a memory was, the newest first.
    pub async fn versions(&self, key: &MemoryKey) -> Result<Vec<MemoryVersion>, Error> {
        #[derive(Deserialize)]
        struct Row {
            content: Option<String>,
            tags: Vec<String>,
            metadata: Option<String>,
            since: Option<i64>,
            until: Option<i64>,
            #[serde(rename = "mergedFrom")]
            merged_from: Option<String>,
        }
        let rows: Vec<Row> =
            self.read(MEMORY_VERSIONS.call().set("scope", key.scope()).set("id", key.id())).await?;
        let instant = |ms: Option<i64>| Timestamp::from_millis(ms?).ok();
        let version = |row: Row| MemoryVersion {
            content: row.content,
            tags: row.tags,
            metadata: row.metadata.as_deref().and_then(Metadata::stored),
            since: instant(row.since),
            until: instant(row.until),
            merged_from: row.merged_from,
        };
        Ok(rows.into_iter().map(version).collect())
    }
}

/// The memory as this transaction sees it.
pub(super) async fn whole(tx: &mut Tx, key: &MemoryKey) -> Result<Record, Error> {
    let record = read(tx, std::slice::from_ref(key)).await?.pop();
    record.ok_or_else(|| Error::NotFound { what: "memory", id: key.to_string() })
}

/// Writes an update of a memory that this transaction has locked, unless it changes nothing.
pub(super) async fn write(
    tx: &mut Tx,
    key: &MemoryKey,
    (before, update): (&Record, &MemoryUpdate),
    now: Timestamp,
    embeds: bool,
) -> Result<(), Error> {
    let annotations = before.annotations.updated(update.tags.as_deref(), &update.metadata);
    let annotations = annotations.map_err(|why| Error::Invalid(why.to_string()))?;
    let is_reworded = update.content.is_some() && update.content != before.content;
    let is_retagged = !annotations.tags().eq(before.annotations.tags());
    let is_redescribed = annotations.metadata() != before.annotations.metadata();
    let is_embedded = is_reworded || update.embedding.is_some();
    if !is_embedded && !is_retagged && !is_redescribed {
        return Ok(());
    }
    // Each version has an instant of its own, by which they are in order.
    let at = before.updated.map_or(now, |last| now.max(last.after(1.0)));
    let embedding = update.embedding.as_ref().map_or(&[][..], Embedding::numbers);
    tx.touch_memories([key], "");
    if is_reworded {
        // How well a mention conducts depends on whether the text names the entity.
        tx.touch_memories([key], "MENTIONS");
    }
    let call = MEMORY_UPDATE
        .call()
        .set("scope", key.scope())
        .set("id", key.id())
        .set("isReworded", is_reworded)
        .set("content", update.content.as_deref())
        .set("isRetagged", is_retagged)
        .set("isRedescribed", is_redescribed)
        .set("tags", list(annotations.tags()))
        .set("metadata", annotations.metadata().map(Metadata::as_str))
        .set("isEmbedded", is_embedded)
        .set("embedding", list(embedding.iter().copied()))
        .set("embeds", embeds)
        .set("at", at.millis())
        .set("kept", VERSIONS_MAX);
    tx.run(call).await
}
