//! A consolidation attempt.

use super::instant;
use crate::domain::units::Timestamp;
use crate::service::AttemptRow;
use schemars::JsonSchema;
use serde::Serialize;

/// A consolidation attempt: who holds which memories to promote them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Attempt {
    /// Its id.
    pub id: String,
    /// What it works on.
    pub phase: Option<String>,
    /// How far it is: planned, claimed, done, aborted or expired.
    pub state: String,
    /// Who holds it.
    pub holder: Option<String>,
    /// Which program made it.
    pub instance: Option<String>,
    /// When it began.
    pub started: Option<Timestamp>,
    /// What is left of its lease, milliseconds; negative once it is over.
    pub lease_left_ms: Option<i64>,
    /// Memories that it claimed.
    pub claimed: i64,
    /// Memories that it raised.
    pub applied: i64,
    /// Memories that it lost to another.
    pub conflicts: i64,
    /// Memories that it holds now.
    pub holds: i64,
}

impl From<AttemptRow> for Attempt {
    fn from(row: AttemptRow) -> Self {
        Self {
            id: row.id,
            phase: row.phase,
            state: row.state,
            holder: row.holder,
            instance: row.instance,
            started: instant(row.started),
            lease_left_ms: row.lease_left,
            claimed: row.claimed,
            applied: row.applied,
            conflicts: row.conflicts,
            holds: row.holds,
        }
    }
}

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
