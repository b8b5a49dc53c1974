//! Memories near a vector by Neo4j's vector index, for scopes of which a mirror holds a part.

use super::super::Store;
use super::super::catalogue::MIRROR_NEAREST;
use super::super::encode::list;
use super::super::error::Error;
use super::super::schema::vector_index;
use super::super::tx::{Mode, Tx};
use super::MirrorQuery;
use crate::domain::annotations::Metadata;
use serde::Deserialize;

/// A memory near a vector.
#[derive(Debug, Clone, PartialEq)]
pub struct NearestMemory {
    pub id: String,
    /// Cosine similarity, -1 to 1.
    pub similarity: f32,
    pub tier: Option<String>,
    /// Session that created it.
    pub session: Option<String>,
    /// Last access, epoch milliseconds.
    pub last_accessed: Option<i64>,
    pub tags: Vec<String>,
    pub metadata: Option<Metadata>,
}

/// Memories near a vector, nearest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NearestMemories {
    pub memories: Vec<NearestMemory>,
    /// Whether the index has more memories than were looked at, of any scope.
    pub is_cut: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: Option<String>,
    score: f64,
    tier: Option<String>,
    session: Option<String>,
    last_accessed: Option<i64>,
    tags: Vec<String>,
    metadata: Option<String>,
}

impl Store {
    /// Of the `limit` memories nearest to a vector, of any scope, those that the mirror of a scope may hold. Not retried:
    /// a recall waits for it.
    ///
    /// # Errors
    /// Connection and statement errors; there must be an index (see [`Store::ensure_embedding_index`]).
    pub async fn nearest_to(
        &self,
        asked: &MirrorQuery,
        vector: &[f32],
        limit: usize,
    ) -> Result<NearestMemories, Error> {
        let Some(memory) = asked.label("Memory") else { return Ok(NearestMemories::default()) };
        let rows: Vec<Row> = self
            .transactions
            .run_once("mirror.nearest", Mode::Read, async |tx: &mut Tx| {
                // Without one, the server's error names the index that is missing.
                let index = vector_index(tx).await?.unwrap_or_else(|| "ebb_memory_embedding".to_owned());
                let call = asked
                    .of(MIRROR_NEAREST.call(), memory)
                    .set("index", index.as_str())
                    .set("vector", list(vector.iter().map(|number| f64::from(*number))))
                    .set("model", asked.model.as_deref())
                    .set("limit", i64::try_from(limit).unwrap_or(i64::MAX));
                tx.rows(call).await
            })
            .await?;
        let is_cut = rows.len() >= limit;
        Ok(NearestMemories { memories: rows.into_iter().filter_map(Row::memory).collect(), is_cut })
    }
}

impl Row {
    /// The memory, if the mirror may hold it.
    fn memory(self) -> Option<NearestMemory> {
        let Self { id, score, tier, session, last_accessed, tags, metadata } = self;
        let metadata = metadata.as_deref().and_then(Metadata::stored);
        #[expect(clippy::cast_possible_truncation, reason = "similarities are compared as f32")]
        let similarity = (2.0 * score - 1.0) as f32;
        Some(NearestMemory { id: id?, similarity, tier, session, last_accessed, tags, metadata })
    }
}
