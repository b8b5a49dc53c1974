//! Trails: places, edges, what is left on them, and where they lead.

use crate::domain::event::{PlaceName, Step, Walk};
use crate::domain::ids::{NAME_BYTES_MAX, NameError, PlaceId, Scope, TERM_BYTES_MAX, Term};
use crate::domain::trail::{Allowed, Cycles};
use crate::domain::units::Timestamp;
use crate::store::{Counter, Tally, TraceEffect};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::num::NonZeroU32;

pub use crate::store::{CheapestPath, NextPlace, TrailEdge, TrailNode, TrailPlace, TrailStatus, WalkedEdge};

/// A place as text names it: `Label:id`, or an id alone where no label of the list stands before a colon.
pub fn place_name(text: &str, allowed: &Allowed) -> Result<PlaceName, NameError> {
    let labelled = text.split_once(':').and_then(|(label, id)| Some((allowed.label(label).ok()?, id)));
    Ok(match labelled {
        Some((label, id)) => PlaceName { label: Some(label.clone()), id: PlaceId::new(id)? },
        None => PlaceName { label: None, id: PlaceId::new(text)? },
    })
}

/// A place as JSON names it: an id that is unique, `Label:id`, or an object; in a path also the edge that led there.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a place is an id, Label:id, or {label, id}, in a path with via")]
pub enum PlaceRef {
    /// As text.
    Text(Term),
    /// With its parts apart.
    Named(PlaceParts),
}

/// The parts of the name of a place.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceParts {
    label: Option<Term>,
    id: PlaceId,
    via: Option<Term>,
}

impl PlaceRef {
    /// A step of a path.
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

    /// A place; by which edge one came there is of no concern.
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
    /// Whether this was a dry run: nothing was written.
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
    /// Whether this was a dry run: nothing was written.
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
    /// Whether this was a dry run: nothing was written.
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

/// A place to add.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPlace {
    /// Its label, one of pheromones.labels.
    pub label: Term,
    /// Its id, unique among those of its label; of an Entity its name.
    pub id: PlaceId,
    /// What people call it.
    #[schemars(length(max = NAME_BYTES_MAX))]
    pub name: Option<String>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// An edge to add.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEdge {
    /// Where it begins.
    pub from: PlaceRef,
    /// Where it ends.
    pub to: PlaceRef,
    /// Its type, one of pheromones.relationship_types.
    #[serde(rename = "type")]
    pub kind: Term,
    /// What it costs where nobody has walked; where nothing is said, what its type costs.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub base_cost: Option<f64>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// A path that led to something.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deposit {
    /// Its places in order.
    #[schemars(length(min = 2, max = 1_000))]
    pub path: Vec<PlaceRef>,
    /// What it was worth, above 0 and at most 10: 1 where nothing is said.
    #[schemars(range(max = 10.0))]
    pub reward: Option<f64>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// A place where somebody searched.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exploration {
    /// Which.
    pub node: PlaceRef,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// How many, of which scope, and as of when.
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

/// Edges, most walked first.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the name says it")]
pub struct HotEdges {
    pub edges: Vec<TrailEdge>,
}

/// Places, least visited first.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the name says it")]
pub struct ColdPlaces {
    pub nodes: Vec<TrailPlace>,
}

/// A place, or two.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrailStatusQuery {
    /// The place: an id, or Label:id.
    pub place: String,
    /// The other end, to see the edges between the two.
    pub to: Option<String>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant to evaluate at; default now.
    pub at: Option<Timestamp>,
}

/// From where to where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrailPathQuery {
    /// Where it begins: an id, or Label:id.
    pub from: String,
    /// Where it is to lead: an id, or Label:id.
    pub to: String,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant to evaluate at; default now.
    pub at: Option<Timestamp>,
}

/// From where, and how many.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NextPlacesQuery {
    /// The place: an id, or Label:id.
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

/// Where one might go.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the name says it")]
pub struct NextPlaces {
    pub candidates: Vec<NextPlace>,
}

/// How to let evaporate.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evaporate {
    /// Also where pheromones.decay_interval_cycles have not yet passed.
    #[serde(default)]
    pub force: bool,
    /// Whether this is a dry run: nothing is written.
    #[serde(default)]
    pub dry_run: bool,
    /// Instant to use as now; needs the right admin.
    pub at: Option<Timestamp>,
}

/// How many cycles to add.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Advance {
    /// This many.
    #[schemars(range(min = 1, max = 10_000))]
    pub advance: NonZeroU32,
    /// The same number again, where it is more than 100: a person accepts it.
    pub accept_cycles: Option<u32>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// A fault of a field, by its name.
fn fault(field: &str, why: impl std::fmt::Display) -> String {
    format!("{field}: {why}")
}

impl NewPlace {
    /// Converts the request to a checked event.
    ///
    /// # Errors
    /// A sentence that names the field, as of all of these.
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
