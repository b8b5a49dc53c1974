//! Requests and responses about trails: places, edges, pheromones and paths.

use crate::domain::event::{PlaceName, Step, Walk};
use crate::domain::ids::{NAME_BYTES_MAX, NameError, PlaceId, Scope, TERM_BYTES_MAX, Term};
use crate::domain::trail::{Allowed, Cycles};
use crate::domain::units::Timestamp;
use crate::scheduler::driver::JobReport;
use crate::store::{Counter, TraceEffect};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::num::NonZeroU32;

pub use crate::store::{CheapestPath, NextPlace, TrailEdge, TrailNode, TrailPlace, TrailStatus, WalkedEdge};

/// Parses the text form of a place: `Label:id`, or an id alone if no configured label precedes a colon.
pub fn place_name(text: &str, allowed: &Allowed) -> Result<PlaceName, NameError> {
    let labelled = text.split_once(':').and_then(|(label, id)| Some((allowed.label(label).ok()?, id)));
    Ok(match labelled {
        Some((label, id)) => PlaceName { label: Some(label.clone()), id: PlaceId::new(id)? },
        None => PlaceName { label: None, id: PlaceId::new(text)? },
    })
}

/// Reference to a place in JSON: a unique id, `Label:id`, or an object; in a path also the edge that leads there.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a place is an id, Label:id, or {label, id}, in a path with via")]
pub enum PlaceRef {
    /// Text: an id, or `Label:id`.
    Text(Term),
    /// Object with the parts as fields.
    Named(PlaceParts),
}

/// Parts of a reference to a place.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceParts {
    label: Option<Term>,
    id: PlaceId,
    via: Option<Term>,
}

impl PlaceRef {
    /// Converts the reference to a step of a path.
    pub fn step(self, allowed: &Allowed) -> Result<Step, String> {
        Ok(match self {
            Self::Text(text) => {
                Step { to: place_name(text.as_str(), allowed).map_err(|why| why.to_string())?, via: None }
            }
            Self::Named(PlaceParts { label, id, via }) => {
                let label = label.map(|label| allowed.label(label.as_str()).cloned()).transpose();
                Step {
                    to: PlaceName { label: label.map_err(|why| why.to_string())?, id },
                    via: via.map(String::from),
                }
            }
        })
    }

    /// Converts the reference to a place, without its edge.
    pub fn place(self, allowed: &Allowed) -> Result<PlaceName, String> {
        self.step(allowed).map(|step| step.to)
    }
}

impl JsonSchema for PlaceRef {
    fn schema_name() -> Cow<'static, str> {
        "PlaceName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An id that is unique in its scope, Label:id, or an object with both. In a path, via is \
                the type or the id of the edge that leads there.",
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

/// Response to a write on trails.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrailWritten {
    /// Effect of the write.
    #[serde(flatten)]
    pub traced: TraceEffect,
    /// Instant of the write.
    pub at: Timestamp,
    /// Whether this was a dry run: nothing was written.
    pub dry_run: bool,
}

/// Response to an evaporation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Evaporated {
    /// Places and edges scanned.
    pub scanned: i64,
    /// Places and edges evaporated up to the cycle.
    pub changed: i64,
    /// Places and edges whose pheromones all reached 0.
    pub silenced: i64,
    /// Places and edges of other writers adopted.
    pub adopted: i64,
    /// Places and edges quarantined.
    pub quarantined: i64,
    /// Whether it ended before all were evaporated, or counted.
    pub truncated: bool,
    /// Current cycle.
    pub cycle: i64,
    /// Instant of the write.
    pub at: Timestamp,
    /// Whether this was a dry run: nothing was written.
    pub dry_run: bool,
}

/// The current cycle.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrailCycle {
    /// Number of the cycle.
    pub cycle: i64,
    /// Start of the cycle.
    pub begins: Timestamp,
    /// Length of a cycle, seconds.
    pub length_seconds: i64,
    /// Number of cycles added manually.
    pub advances: i64,
    /// Cycle of the last complete evaporation; null if no trail has pheromones.
    pub evaporated: Option<i64>,
    /// Instant of the response.
    pub at: Timestamp,
    /// Whether this was a dry run: nothing was written.
    pub dry_run: bool,
}

impl Evaporated {
    /// Converts the report of an evaporation up to a cycle.
    #[must_use]
    pub const fn of(report: &JobReport, cycle: i64, dry_run: bool) -> Self {
        let tally = &report.tally;
        Self {
            scanned: tally.scanned,
            changed: tally.changed,
            silenced: tally.silenced,
            adopted: tally.adopted,
            quarantined: tally.quarantined,
            truncated: report.truncated,
            cycle,
            at: report.now,
            dry_run,
        }
    }
}

impl TrailCycle {
    /// Converts a cycle of a counter.
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

/// Request to add a place.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPlace {
    /// Label of the place, one of pheromones.labels.
    pub label: Term,
    /// Id, unique for its label; for an Entity its name.
    pub id: PlaceId,
    /// Display name.
    #[schemars(length(max = NAME_BYTES_MAX))]
    pub name: Option<String>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// Request to add an edge.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEdge {
    /// Source place.
    pub from: PlaceRef,
    /// Target place.
    pub to: PlaceRef,
    /// Type of the edge, one of pheromones.relationship_types.
    #[serde(rename = "type")]
    pub kind: Term,
    /// Cost without pheromones; default the cost of its type.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub base_cost: Option<f64>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// Request to reward a path.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deposit {
    /// Places of the path in order.
    #[schemars(length(min = 2, max = 1_000))]
    pub path: Vec<PlaceRef>,
    /// Reward, above 0 and at most 10; default 1.
    #[schemars(range(max = 10.0), extend("exclusiveMinimum" = 0))]
    pub reward: Option<f64>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// Request to mark a place as explored.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exploration {
    /// The explored place.
    pub node: PlaceRef,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// Query of trails.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrailsQuery {
    /// Maximum number of items; default 20.
    #[schemars(range(min = 1, max = 10_000))]
    #[serde(default, deserialize_with = "super::input::page_size")]
    pub limit: Option<u32>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant to evaluate at; default now.
    pub at: Option<Timestamp>,
}

/// Edges, hottest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HotEdges {
    pub edges: Vec<TrailEdge>,
}

/// Places, coldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ColdPlaces {
    pub nodes: Vec<TrailPlace>,
}

/// Query of one place, or of the edges between two.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrailStatusQuery {
    /// Place: an id, or Label:id.
    pub place: String,
    /// Second place, to show the edges between the two.
    pub to: Option<String>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant to evaluate at; default now.
    pub at: Option<Timestamp>,
}

/// Query of the cheapest path between two places.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrailPathQuery {
    /// First place: an id, or Label:id.
    pub from: String,
    /// Last place: an id, or Label:id.
    pub to: String,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant to evaluate at; default now.
    pub at: Option<Timestamp>,
}

/// Query of the places to explore next.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NextPlacesQuery {
    /// Place: an id, or Label:id.
    pub place: String,
    /// Maximum number of items; default 20.
    #[schemars(range(min = 1, max = 10_000))]
    #[serde(default, deserialize_with = "super::input::page_size")]
    pub limit: Option<u32>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant to evaluate at; default now.
    pub at: Option<Timestamp>,
}

/// Candidates for the next place.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NextPlaces {
    pub candidates: Vec<NextPlace>,
}

/// Request to evaporate pheromones.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evaporate {
    /// Whether to evaporate before pheromones.decay_interval_cycles have passed.
    #[serde(default)]
    pub force: bool,
    /// Whether this is a dry run: nothing is written.
    #[serde(default)]
    pub dry_run: bool,
    /// Instant to use as now; needs the right admin.
    pub at: Option<Timestamp>,
}

/// Request to add cycles.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Advance {
    /// Number of cycles to add.
    #[schemars(range(min = 1, max = 10_000))]
    pub advance: NonZeroU32,
    /// The same number again, to accept more than 100 cycles.
    pub accept_cycles: Option<u32>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// Error message that names a field.
fn fault(field: &str, why: impl std::fmt::Display) -> String {
    format!("{field}: {why}")
}

impl NewPlace {
    /// Converts the request to a checked event.
    ///
    /// # Errors
    /// A message that names the invalid field; the same holds for the other `walk` functions.
    pub fn walk(&self, allowed: &Allowed) -> Result<Walk, String> {
        let label = allowed.label(self.label.as_str()).map_err(|why| fault("label", why))?;
        Walk::node(label.clone(), self.id.clone(), self.name.clone()).map_err(|why| why.to_string())
    }
}

impl NewEdge {
    /// Converts the request to a checked event.
    pub fn walk(&self, allowed: &Allowed) -> Result<Walk, String> {
        let kind = allowed.kind(self.kind.as_str()).map_err(|why| fault("type", why))?;
        let from = self.from.clone().place(allowed).map_err(|why| fault("from", why))?;
        let to = self.to.clone().place(allowed).map_err(|why| fault("to", why))?;
        Walk::edge(from, to, kind.clone(), self.base_cost).map_err(|why| fault("base_cost", why))
    }
}

impl Deposit {
    /// Converts the request to a checked event.
    pub fn walk(&self, allowed: &Allowed) -> Result<Walk, String> {
        let step = |(index, place): (usize, &PlaceRef)| {
            place.clone().step(allowed).map_err(|why| fault(&format!("path[{index}]"), why))
        };
        let path = self.path.iter().enumerate().map(step).collect::<Result<_, _>>()?;
        Walk::deposit(path, self.reward.unwrap_or(1.0)).map_err(|why| why.to_string())
    }
}

impl Exploration {
    /// Converts the request to a checked event.
    pub fn walk(&self, allowed: &Allowed) -> Result<Walk, String> {
        let place = self.node.clone().place(allowed).map_err(|why| fault("node", why))?;
        Ok(Walk::Explore { place })
    }
}
