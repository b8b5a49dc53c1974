//! Relations, in the words of the documents.
//!
//! The command line says when a relation was last observed to the millisecond. The documented routes say the day, as the
//! document shows it, because a client that was written after it reads a date there.

use crate::clock::rfc3339;
use crate::domain::event::{Observe, Tie};
use crate::domain::ids::{EntityName, RelationType, Scope};
use crate::domain::relation::Observation;
use crate::domain::units::{Timestamp, Weight};
use crate::store::{ObservationEffect, Relation, Tally};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A relation at an instant, in the words of the documents.
//
// `At` is how the last observation is said: `Timestamp` or `Day`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Edge<At = Timestamp> {
    /// The entity it begins at.
    pub from: String,
    /// The entity it ends at.
    pub to: String,
    /// What it says.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it weighs, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub weight: f64,
    /// When it was last observed.
    pub last_observed: At,
    /// Whether it does not fade.
    pub pinned: bool,
}

impl<At: From<Timestamp>> Edge<At> {
    /// Of what the service answers.
    #[must_use]
    pub fn of(relation: Relation) -> Self {
        let at = Timestamp::from_millis(relation.last_observed).unwrap_or(Timestamp::EPOCH);
        Self {
            from: relation.from,
            to: relation.to,
            kind: relation.kind,
            weight: relation.weight,
            last_observed: at.into(),
            pinned: relation.pinned,
        }
    }
}

/// The day of an instant, UTC, as the relation decay document writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day(pub Timestamp);

impl From<Timestamp> for Day {
    fn from(at: Timestamp) -> Self {
        Self(at)
    }
}

impl Serialize for Day {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let at = rfc3339(self.0);
        serializer.serialize_str(at.split_once('T').map_or(&at, |(day, _)| day))
    }
}

impl JsonSchema for Day {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Day".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date"})
    }
}

/// What a write did to a relation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WrittenEdge {
    /// The entity it begins at.
    from: String,
    /// What it says.
    #[serde(rename = "type")]
    kind: String,
    /// The entity it ends at.
    to: String,
    /// What an observation did: created, again, or late where a later one had been seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    outcome: Option<ObservationEffect>,
    /// What it weighs, after a pin.
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<f64>,
    /// When it was seen.
    at: Timestamp,
    /// Whether this was a dry run: nothing was written.
    dry_run: bool,
}

impl WrittenEdge {
    /// Of a relation at an instant.
    #[must_use]
    pub fn of(
        tie: &Tie,
        outcome: Option<ObservationEffect>,
        weight: Option<f64>,
        at: Timestamp,
        dry_run: bool,
    ) -> Self {
        Self {
            from: tie.from.to_string(),
            kind: tie.kind.to_string(),
            to: tie.to.to_string(),
            outcome,
            weight,
            at,
            dry_run,
        }
    }
}

/// The documented counters of a pass.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Passed<At = Timestamp> {
    /// Relations that were looked at and are not pinned.
    pub processed: i64,
    /// Those whose stored weight was lowered, or would be.
    pub decayed: i64,
    /// Those that weigh less than the minimum now.
    pub below_minimum: i64,
    /// Pinned ones.
    pub pinned: i64,
    /// Those that would be lowered, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edges: Option<Vec<Edge<At>>>,
}

impl<At> Passed<At> {
    /// Of the counters of the job fade.
    #[must_use]
    pub fn of(tally: &Tally, edges: Option<Vec<Edge<At>>>) -> Self {
        Self {
            processed: tally.scanned - tally.pinned - tally.quarantined,
            decayed: tally.changed,
            below_minimum: tally.below,
            pinned: tally.pinned,
            edges,
        }
    }
}

/// Which relations.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelationQuery {
    /// Those below the minimum instead, which are left out of what is retrieved.
    #[serde(default)]
    pub decayed: bool,
    /// Scope of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Instant to evaluate at; default now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Maximum number of items in the page.
    #[schemars(range(min = 1, max = 10_000))]
    #[serde(default, deserialize_with = "super::input::page_size")]
    pub limit: Option<u32>,
    /// Cursor from the Link header of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A relation that was seen.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Observation")]
pub struct ObservationRequest {
    /// The entity it begins at.
    pub from: EntityName,
    /// The entity it ends at.
    pub to: EntityName,
    /// What it says, such as works_on.
    #[serde(rename = "type")]
    pub kind: RelationType,
    /// What it weighs: 1 where nothing is said.
    #[schemars(with = "Option<f64>", range(min = 0.0, max = 1.0))]
    pub weight: Option<Weight>,
    /// Whether it does not fade; as it was where nothing is said.
    pub pinned: Option<bool>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// What a batch of observations did, in its order.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the name says it")]
pub struct ObservedAll {
    pub edges: Vec<WrittenEdge>,
}

/// A pass.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DecayPassRequest {
    /// Whether this is a dry run: nothing is written.
    #[serde(default)]
    pub dry_run: bool,
    /// With dryRun: whether the relations that would be lowered are to be named.
    #[serde(default)]
    pub list: bool,
    /// Whose relations are named.
    pub scope: Option<Scope>,
    /// Instant to use as now; needs the right admin.
    pub at: Option<Timestamp>,
}

impl ObservationRequest {
    /// As the laws take it: in a scope, at `now` where the request states no instant.
    #[must_use]
    pub fn event(self, scope: Scope, now: Timestamp) -> Observe {
        let tie = Tie { scope, from: self.from, kind: self.kind, to: self.to };
        let at = self.at.unwrap_or(now);
        Observe { tie, seen: Observation { at, weight: self.weight, pinned: self.pinned } }
    }
}
