//! Merges of memories that say the same into one of them.
//!
//! The kept memory gets the energies, accesses, tags, metadata and mentions of the others, and their texts as versions. The others are
//! deleted as [`Store::forget`] does, with a tombstone each, so that an import does not bring them back; what was learned of
//! them and their other relationships go with them.

use super::Store;
use super::batch::annotate;
use super::catalogue::MEMORY_MERGE;
use super::error::Error;
use super::memory::{Record, read, refused, write};
use super::memory_update::{self, MemoryUpdate, VERSIONS_MAX, whole};
use super::request::{RequestMode, answer, lock_sound, open};
use super::tx::{Mode, Tx};
use crate::domain::annotations::{Annotations, Metadata};
use crate::domain::ids::{MemoryId, MemoryKey, Scope};
use crate::domain::memory::{self, Refused};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use std::collections::BTreeMap;

/// Most memories that are merged into another one at once.
pub const MERGED_MAX: usize = 50;

impl Store {
    /// Merges memories of a scope into the first of them at `now`, all or none, and returns that one after it.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Refused`] for a stub, and if the first has expired; [`Error::Quarantined`];
    /// [`Error::Invalid`] if the tags or metadata of all are too many.
    pub async fn merge_memories(
        &self,
        mode: RequestMode<'_>,
        (scope, ids): (&Scope, &[MemoryId]),
        now: Timestamp,
        tunables: &Tunables,
    ) -> Result<Record, Error> {
        let keys: Vec<MemoryKey> = ids.iter().map(|id| MemoryKey::new(scope, id)).collect();
        let Some((kept, duplicates)) = keys.split_first() else {
            return Err(Error::Invalid("there is no memory to keep".to_owned()));
        };
        let embeds = self.similarity.embeds();
        self.transactions
            .run("memory.merge", Mode::Write, async |tx: &mut Tx| {
                if open::<()>(tx, mode).await?.is_none() {
                    let lives: BTreeMap<&MemoryKey, _> = lock_sound(tx, &keys).await?.into_iter().collect();
                    let mut state = lives[kept].state;
                    for duplicate in duplicates {
                        let other = lives[duplicate].state;
                        state = match memory::merged(state, other, now, tunables) {
                            Ok(state) => state,
                            Err(why) => {
                                let is_others = why == Refused::Stub && !state.tier.is_stub();
                                let named = if is_others { duplicate } else { kept };
                                return Err(refused(tx, named, why).await?);
                            }
                        };
                    }
                    let before = whole(tx, kept).await?;
                    let annotations = merged_annotations(tx, &before, duplicates).await?;
                    write(tx, &[(kept, state)], embeds).await?;
                    let update = MemoryUpdate {
                        tags: Some(annotations.tags().map(str::to_owned).collect()),
                        metadata: annotations.metadata().map(Metadata::fields).unwrap_or_default(),
                        ..MemoryUpdate::default()
                    };
                    let instant = lives[kept].created.max(now);
                    memory_update::write(tx, kept, (&before, &update), instant, embeds).await?;
                    if annotations.provenance() != before.annotations.provenance() {
                        let source = Annotations::stored(vec![], None, annotations.provenance().clone());
                        annotate(tx, &[(kept, &source)]).await?;
                    }
                    for duplicate in duplicates {
                        let call = MEMORY_MERGE
                            .call()
                            .set("scope", kept.scope())
                            .set("id", kept.id())
                            .set("duplicate", duplicate.id())
                            .set("at", now.millis())
                            .set("kept", VERSIONS_MAX);
                        tx.run(call).await?;
                    }
                    tx.touch_memories([kept], "MENTIONS");
                    self.delete(tx, duplicates, now).await?;
                    answer(tx, mode, &());
                }
                let record = read(tx, std::slice::from_ref(kept)).await?.pop();
                record.ok_or_else(|| Error::NotFound { what: "memory", id: kept.to_string() })
            })
            .await
    }
}

/// The annotations of a memory with those of its duplicates: its own fields win, and the source is that of the first that has one.
async fn merged_annotations(
    tx: &mut Tx,
    kept: &Record,
    duplicates: &[MemoryKey],
) -> Result<Annotations, Error> {
    let mut merged = kept.annotations.clone();
    for duplicate in duplicates {
        let other = whole(tx, duplicate).await?.annotations;
        // Lines of one source say nothing about another one.
        let other = if merged.provenance().is_empty() { other } else { other.without_provenance() };
        merged = merged.merged(&other).map_err(|why| Error::Invalid(why.to_string()))?;
    }
    Ok(merged)
}
