//! Requests and responses about memories that say the same.

use crate::domain::ids::{MemoryId, Scope};
use crate::domain::units::Timestamp;
use crate::store::MERGED_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Query of near-duplicates.
#[derive(Debug, Default, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DuplicatesQuery {
    /// Least similarity of a duplicate to the memory to keep, 0.3 to 1; default 0.8.
    #[schemars(range(min = 0.3, max = 1.0))]
    pub min_similarity: Option<f64>,
    /// Most groups, 1 to 1000; default 100.
    #[schemars(range(min = 1, max = 1_000))]
    pub limit: Option<u32>,
    /// Scope of the data.
    pub scope: Option<Scope>,
}

/// Groups of memories that say nearly the same in the same words.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Duplicates {
    /// Those with the most duplicates first.
    pub groups: Vec<Group>,
    /// Groups that were found.
    pub found: usize,
    /// Memories that were compared.
    pub compared: usize,
    /// Whether these are all memories of the scope.
    pub complete: bool,
}

/// A memory and its duplicates.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Group {
    /// The memory to keep: a pinned one, else the one with the highest tier, else with the most energy.
    pub keep: String,
    /// Its text, at most 4 KiB of it.
    pub content: String,
    /// The others in the same order, at most 50.
    pub duplicates: Vec<Duplicate>,
    /// How many they are.
    pub count: usize,
}

/// A memory that says the same as another one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Duplicate {
    /// Id of the memory.
    pub id: String,
    /// Its text, at most 4 KiB of it.
    pub content: String,
    /// Share of the words and pairs of adjacent words of either text that both have.
    pub similarity: f64,
}

/// Request to merge memories into another one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeRequest {
    /// Ids of the memories to merge into it, at most 50.
    #[schemars(length(min = 1, max = MERGED_MAX))]
    pub duplicates: Vec<MemoryId>,
    /// Roll back at the end.
    #[serde(default)]
    pub dry_run: bool,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}
