//! Requests and responses about relations, with the documented field names.
//!
//! The command line prints the last observation to the millisecond. The documented routes return a date, as the
//! document does, because clients written to the document parse a date.

use crate::clock::rfc3339;
use crate::domain::event::{Observe, Tie};
use crate::domain::ids::{EntityName, RelationType, Scope};
use crate::domain::relation::Observation;
use crate::domain::units::{Timestamp, Weight};
use crate::scheduler::driver::JobReport;
use crate::store::{ObservationEffect, Relation};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A relation at an instant, with the documented field names.
//
// `At` is the type of the last observation: `Timestamp` or `Day`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Edge<At = Timestamp> {
    /// Source entity.
    pub from: String,
    /// Target entity.
    pub to: String,
    /// Type of the relation.
    #[serde(rename = "type")]
    pub kind: String,
    /// Current weight, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub weight: f64,
    /// Instant of the last observation.
    pub last_observed: At,
    /// Whether it is pinned: it does not decay.
    pub pinned: bool,
}

impl<At: From<Timestamp>> Edge<At> {
    /// Converts a relation of the service.
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

/// The date of an instant, UTC, as the relation decay document writes it.
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

/// Effect of a write on a relation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WrittenEdge {
    /// Source entity.
    from: String,
    /// Type of the relation.
    #[serde(rename = "type")]
    kind: String,
    /// Target entity.
    to: String,
    /// Effect of an observation: created, again, or late if a later one is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    outcome: Option<ObservationEffect>,
    /// Weight after a pin.
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<f64>,
    /// Instant of the observation.
    at: Timestamp,
    /// Whether this was a dry run: nothing was written.
    dry_run: bool,
}

impl WrittenEdge {
    /// Response to a write of a relation at an instant.
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

/// Documented counters of a decay pass.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Passed<At = Timestamp> {
    /// Relations scanned that are not pinned.
    pub processed: i64,
    /// Relations whose stored weight was lowered, or would be in a dry run.
    pub decayed: i64,
    /// Relations whose weight is now below the minimum.
    pub below_minimum: i64,
    /// Pinned relations.
    pub pinned: i64,
    /// Whether it ended before all relations were read; absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Relations that would be lowered, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edges: Option<Vec<Edge<At>>>,
}

impl<At> Passed<At> {
    /// Converts the report of the job fade.
    #[must_use]
    pub fn of(report: &JobReport, edges: Option<Vec<Edge<At>>>) -> Self {
        let tally = &report.tally;
        Self {
            processed: tally.scanned - tally.pinned - tally.quarantined,
            decayed: tally.changed,
            below_minimum: tally.below,
            pinned: tally.pinned,
            truncated: report.truncated,
            edges,
        }
    }
}

/// Query of relations.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelationQuery {
    /// Whether to list the relations below the minimum, which retrieval omits, instead of the others.
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

/// Request to record an observed relation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Observation")]
pub struct ObservationRequest {
    /// Source entity.
    pub from: EntityName,
    /// Target entity.
    pub to: EntityName,
    /// Type of the relation, such as works_on.
    #[serde(rename = "type")]
    pub kind: RelationType,
    /// Weight, which decays until the next observation; default 1, or unchanged if the relation stays pinned. Below relation.minimumWeight (default 0.10) recall leaves the relation out.
    #[schemars(with = "Option<f64>", range(min = 0.0, max = 1.0))]
    pub weight: Option<Weight>,
    /// Whether it is pinned: it does not decay; default unchanged.
    pub pinned: Option<bool>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// Effects of a batch of observations, in the order of the request.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ObservedAll {
    pub edges: Vec<WrittenEdge>,
}

/// Request for a decay pass.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DecayPassRequest {
    /// Whether this is a dry run: nothing is written.
    #[serde(default)]
    pub dry_run: bool,
    /// Whether to list the relations that would be lowered; only with dryRun.
    #[serde(default)]
    pub list: bool,
    /// Scope of the listed relations.
    pub scope: Option<Scope>,
    /// Instant to use as now; needs the right admin.
    pub at: Option<Timestamp>,
}

impl ObservationRequest {
    /// Converts the request to an event in a scope, at `now` unless the request states an instant.
    #[must_use]
    pub fn event(self, scope: Scope, now: Timestamp) -> Observe {
        let tie = Tie { scope, from: self.from, kind: self.kind, to: self.to };
        let at = self.at.unwrap_or(now);
        Observe { tie, seen: Observation { at, weight: self.weight, pinned: self.pinned } }
    }
}
