//! A consolidation attempt.

pub use crate::store::Attempt;

use schemars::JsonSchema;
use serde::Serialize;

/// An attempt with the memories it holds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AttemptWithMemories {
    /// The attempt.
    #[serde(flatten)]
    pub attempt: Attempt,
    /// What it holds.
    pub memories: Vec<HeldMemory>,
}

/// A memory that an attempt holds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HeldMemory {
    /// Its id.
    pub id: String,
    /// Its tier.
    pub tier: String,
}
