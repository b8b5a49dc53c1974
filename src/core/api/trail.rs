//! Trails: places, edges, what is left on them, and where they lead.

use crate::domain::ids::{NAME_BYTES_MAX, TERM_BYTES_MAX};
use crate::domain::trail::Cycles;
use crate::domain::units::Timestamp;
use crate::service::{self, CheapestPath, Counter, EdgeSeen, Named, PlaceSeen, Seen, Tally, Traced};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use std::borrow::Cow;

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

/// A place by its name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrailNode {
    /// Its label.
    pub label: String,
    /// Its id; of an Entity its name.
    pub id: String,
}

/// A place and what is left there.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrailPlace {
    /// Its label.
    pub label: String,
    /// Its id; of an Entity its name.
    pub id: String,
    /// How much came of being there.
    pub exploitation: f64,
    /// How much was searched there.
    pub exploration: f64,
}

/// An edge and what is left on it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrailEdge {
    /// Where it begins.
    pub from: TrailNode,
    /// Where it ends.
    pub to: TrailNode,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// How much came of walking it.
    pub success: f64,
    /// How much it was walked.
    pub traversal: f64,
    /// How lately.
    pub recency: f64,
    /// What it costs where nobody has walked.
    pub base_cost: f64,
    /// What it costs.
    pub cost: f64,
}

/// What was left in the palace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrailWritten {
    /// Of a place or an edge that was named: whether it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<bool>,
    /// In which cycle.
    pub cycle: i64,
    /// The places, as they are then.
    pub nodes: Vec<TrailPlace>,
    /// The edges, as they are then.
    pub edges: Vec<TrailEdge>,
    /// When.
    pub at: Timestamp,
    /// Whether nothing was written.
    pub dry_run: bool,
}

/// What is left at a place, or between two.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrailStatus {
    /// In which cycle.
    pub cycle: i64,
    /// The places.
    pub nodes: Vec<TrailPlace>,
    /// The edges between them.
    pub edges: Vec<TrailEdge>,
    /// As of when.
    pub at: Timestamp,
}

/// An edge of a way.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WalkedEdge {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it costs.
    pub cost: f64,
}

/// The cheapest way between two places.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CheapestPath")]
pub struct Path {
    /// In which cycle.
    pub cycle: i64,
    /// The places, in order; none if no way was found.
    pub nodes: Vec<TrailNode>,
    /// The edges between them, in order.
    pub edges: Vec<WalkedEdge>,
    /// What it costs; null if no way was found.
    pub cost: Option<f64>,
    /// How many places were read.
    pub read: usize,
    /// Whether the search stopped before its end: a cheaper way may exist.
    pub truncated: bool,
    /// As of when.
    pub at: Timestamp,
}

/// Where one might go.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NextPlace {
    /// Its label.
    pub label: String,
    /// Its id; of an Entity its name.
    pub id: String,
    /// The type of the edge that leads there.
    #[serde(rename = "type")]
    pub kind: String,
    /// What that costs.
    pub cost: f64,
    /// How much it draws.
    pub score: f64,
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

impl From<Named> for TrailNode {
    fn from(Named { label, id }: Named) -> Self {
        Self { label, id }
    }
}

impl From<PlaceSeen> for TrailPlace {
    fn from(seen: PlaceSeen) -> Self {
        let Named { label, id } = seen.named;
        Self { label, id, exploitation: seen.exploitation, exploration: seen.exploration }
    }
}

impl From<EdgeSeen> for TrailEdge {
    fn from(seen: EdgeSeen) -> Self {
        Self {
            from: seen.from.into(),
            to: seen.to.into(),
            kind: seen.kind,
            success: seen.success,
            traversal: seen.traversal,
            recency: seen.recency,
            base_cost: seen.base_cost,
            cost: seen.cost,
        }
    }
}

impl From<service::Candidate> for NextPlace {
    fn from(one: service::Candidate) -> Self {
        let Named { label, id } = one.place;
        Self { label, id, kind: one.kind, cost: one.cost, score: one.score }
    }
}

impl TrailWritten {
    /// What a trace did.
    #[must_use]
    pub fn of(done: Traced, at: Timestamp, dry_run: bool) -> Self {
        Self {
            created: done.created,
            cycle: done.cycle,
            nodes: done.nodes.into_iter().map(Into::into).collect(),
            edges: done.edges.into_iter().map(Into::into).collect(),
            at: at,
            dry_run,
        }
    }
}

impl TrailStatus {
    /// What was seen at an instant.
    #[must_use]
    pub fn of(seen: Seen, at: Timestamp) -> Self {
        Self {
            cycle: seen.cycle,
            nodes: seen.nodes.into_iter().map(Into::into).collect(),
            edges: seen.edges.into_iter().map(Into::into).collect(),
            at: at,
        }
    }
}

impl Path {
    /// What was found at an instant.
    #[must_use]
    pub fn of(found: CheapestPath, at: Timestamp) -> Self {
        Self {
            cycle: found.cycle,
            nodes: found.nodes.into_iter().map(Into::into).collect(),
            edges: found.edges.into_iter().map(|(kind, cost)| WalkedEdge { kind, cost }).collect(),
            cost: found.cost,
            read: found.read,
            truncated: found.truncated,
            at: at,
        }
    }
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
            at: at,
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
            at: at,
            dry_run,
        }
    }
}

impl std::fmt::Display for TrailNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.label, self.id)
    }
}
