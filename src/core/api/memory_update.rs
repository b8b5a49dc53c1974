//! Requests and responses about changes of a memory.

use crate::domain::annotations::{Metadata, TAG_CHARS_MAX, TAGS_MAX};
use crate::domain::event::check_content;
use crate::domain::ids::{CONTENT_BYTES_MAX, MemoryId, Scope};
use crate::domain::similarity::{Embedding, Similarity};
use crate::domain::units::Timestamp;
use crate::store::{MemoryUpdate, MemoryVersion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Request to change a memory; what is left out stays as it is.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryPatch {
    /// New text, all of it: not blank, at most 65536 bytes. The embedding of the former text is removed.
    #[schemars(length(min = 1, max = CONTENT_BYTES_MAX), pattern(r"\S"))]
    pub content: Option<String>,
    /// New tags, in place of the former ones.
    #[schemars(length(max = TAGS_MAX), inner(length(min = 1, max = TAG_CHARS_MAX)))]
    pub tags: Option<Vec<String>>,
    /// Fields of the metadata to change: null removes a field, an object is merged into that of the field (RFC 7396).
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// Embedding of the text, with embedding.dimensions numbers.
    #[schemars(length(min = 1, max = 4_096))]
    pub embedding: Option<Vec<f64>>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// What a memory was.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Versions {
    /// The newest first, at most 100.
    pub versions: Vec<Version>,
}

/// A former state of the text, the tags and the metadata of a memory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Version {
    /// Text of the memory.
    pub content: Option<String>,
    /// Tags, in order.
    pub tags: Vec<String>,
    /// Fields that its writer gave it.
    pub metadata: Map<String, Value>,
    /// Instant from which it was in force.
    pub since: Option<Timestamp>,
    /// Instant of the change that replaced it.
    pub until: Option<Timestamp>,
    /// Id of the memory that said it, if that was merged into this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_from: Option<String>,
}

impl MemoryPatch {
    /// The checked change.
    ///
    /// # Errors
    /// Says which part cannot be stored, or that there is nothing to change.
    pub fn checked(self, id: &MemoryId, similarity: &Similarity) -> Result<MemoryUpdate, String> {
        let Self { content, tags, metadata, embedding, .. } = self;
        if content.is_none() && tags.is_none() && metadata.is_empty() && embedding.is_none() {
            return Err(
                "there is nothing to change: give content, tags, metadata or (not over MCP) an embedding"
                    .to_owned(),
            );
        }
        let embedding = embedding.map(|numbers| Embedding::new(id, numbers, similarity)).transpose();
        let embedding = embedding.map_err(|why| why.to_string())?;
        content.iter().try_for_each(|content| check_content(id, content)).map_err(|why| why.to_string())?;
        Ok(MemoryUpdate { content, tags, metadata, embedding })
    }
}

impl From<MemoryVersion> for Version {
    fn from(version: MemoryVersion) -> Self {
        let MemoryVersion { content, tags, metadata, since, until, merged_from } = version;
        let metadata = metadata.as_ref().map(Metadata::fields).unwrap_or_default();
        Self { content, tags, metadata, since, until, merged_from }
    }
}
