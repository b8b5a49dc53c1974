//! Requests and responses about consolidation attempts.

pub use crate::store::Attempt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An attempt with the memories it holds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AttemptWithMemories {
    /// The attempt.
    #[serde(flatten)]
    pub attempt: Attempt,
    /// Memories that it holds.
    pub memories: Vec<HeldMemory>,
}

/// A memory that an attempt holds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HeldMemory {
    /// Its id.
    pub id: String,
    /// Tier of the memory.
    pub tier: String,
}

/// Query of attempts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttemptQuery {
    /// Whether to include finished attempts.
    #[serde(default)]
    pub all: bool,
    /// Maximum number of items; default 20.
    #[schemars(range(min = 1, max = 10_000))]
    #[serde(default, deserialize_with = "super::input::page_size")]
    pub limit: Option<u32>,
}

/// The attempts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Attempts {
    pub attempts: Vec<Attempt>,
}
