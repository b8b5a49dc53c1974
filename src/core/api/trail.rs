//! Trails: places, edges, what is left on them, and where they lead.

use crate::domain::ids::{NAME_BYTES_MAX, TERM_BYTES_MAX};
use crate::domain::trail::Cycles;
use crate::domain::units::Timestamp;
use crate::store::{Counter, Tally, TraceEffect};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use std::borrow::Cow;

pub use crate::store::{CheapestPath, NextPlace, TrailEdge, TrailNode, TrailPlace, TrailStatus, WalkedEdge};

/// For schemas: a place as somebody names it.
pub struct PlaceNames;

impl JsonSchema for PlaceNames {
    fn schema_name() -> Cow<'static, str> {
        "PlaceName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An id that is unique in its scope, Label:id, or both apart. In a path via says by which edge, \
                its type or its id, one came there.",
            "anyOf": [
                {"type": "string", "minLength": 1, "maxLength": TERM_BYTES_MAX},
                {
                    "type": "object",
                    "required": ["id"],
                    "additionalProperties": false,
                    "properties": {
                        "label": {"type": ["string", "null"], "maxLength": TERM_BYTES_MAX},
                        "id": {"type": "string", "minLength": 1, "maxLength": NAME_BYTES_MAX},
                        "via": {"type": ["string", "null"], "maxLength": TERM_BYTES_MAX},
                    },
                },
            ],
        })
    }
}

/// What was left in the palace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrailWritten {
    /// What it did.
    #[serde(flatten)]
    pub traced: TraceEffect,
    /// When.
    pub at: Timestamp,
    /// Whether nothing was written.
    pub dry_run: bool,
}

/// What evaporation did.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Evaporated {
    /// Places and edges that were looked at.
    pub scanned: i64,
    /// Of these, brought to the cycle.
    pub changed: i64,
    /// Of these, fallen silent.
    pub silenced: i64,
    /// Places and edges of other writers that were adopted.
    pub adopted: i64,
    /// And such as no law can use, set aside.
    pub quarantined: i64,
    /// The cycle it is.
    pub cycle: i64,
    /// When.
    pub at: Timestamp,
    /// Whether nothing was written.
    pub dry_run: bool,
}

/// The present cycle.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrailCycle {
    /// Which it is.
    pub cycle: i64,
    /// Since when.
    pub begins: Timestamp,
    /// How long each is, seconds.
    pub length_seconds: i64,
    /// How many were added by hand.
    pub advances: i64,
    /// The cycle to which everything was last brought; null while nothing lies on any trail.
    pub evaporated: Option<i64>,
    /// As of when.
    pub at: Timestamp,
    /// Whether nothing was written.
    pub dry_run: bool,
}

impl Evaporated {
    /// What was counted up to a cycle.
    #[must_use]
    pub const fn of(tally: &Tally, cycle: i64, at: Timestamp, dry_run: bool) -> Self {
        Self {
            scanned: tally.scanned,
            changed: tally.changed,
            silenced: tally.silenced,
            adopted: tally.adopted,
            quarantined: tally.quarantined,
            cycle,
            at,
            dry_run,
        }
    }
}

impl TrailCycle {
    /// A cycle, by how they are counted.
    #[must_use]
    pub fn of(counter: &Counter, cycle: i64, at: Timestamp, dry_run: bool) -> Self {
        let Cycles { length_ms, advances, .. } = counter.cycles;
        Self {
            cycle,
            begins: counter.cycles.begins(cycle),
            length_seconds: length_ms / 1_000,
            advances,
            evaporated: counter.evaporated,
            at,
            dry_run,
        }
    }
}
