//! Rows of places and edges, as laws and as responses.

use crate::domain::trail::{Edge, Place, base_cost};
use crate::domain::units::Pheromone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Reference to a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct TrailNode {
    /// Label of the place.
    pub label: String,
    /// Id of the place; the name of an Entity.
    pub id: String,
}

impl std::fmt::Display for TrailNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.label, self.id)
    }
}

/// A place and its pheromones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrailPlace {
    /// Reference to the place.
    #[serde(flatten)]
    pub node: TrailNode,
    /// Exploitation: "worth coming back to".
    pub exploitation: f64,
    /// Exploration: "searched already".
    pub exploration: f64,
}

/// An edge and its pheromones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrailEdge {
    /// Start of the edge.
    pub from: TrailNode,
    /// End of the edge.
    pub to: TrailNode,
    /// Type of the edge.
    #[serde(rename = "type")]
    pub kind: String,
    /// Success: "led to good outcomes".
    pub success: f64,
    /// Traversal: "often walked".
    pub traversal: f64,
    /// Recency: "walked lately".
    pub recency: f64,
    /// Base cost, without pheromones.
    pub base_cost: f64,
    /// Present cost of the edge.
    pub cost: f64,
}

impl TrailPlace {
    pub(super) fn of(node: TrailNode, place: &Place) -> Self {
        Self { node, exploitation: amount(place.exploitation), exploration: amount(place.exploration) }
    }
}

impl TrailEdge {
    pub(super) fn of((from, to): (TrailNode, TrailNode), kind: &str, edge: &Edge, base: f64) -> Self {
        Self {
            from,
            to,
            kind: kind.to_owned(),
            success: amount(edge.success),
            traversal: amount(edge.traversal),
            recency: amount(edge.recency),
            base_cost: base,
            cost: edge.cost(base),
        }
    }

    /// By names, then by values. The server's own order is that of its numbers, which other scopes have a part in.
    pub(super) fn by_name(&self, other: &Self) -> Ordering {
        let (own, others) = ((&self.from, &self.kind, &self.to), (&other.from, &other.kind, &other.to));
        own.cmp(&others)
            .then_with(|| self.success.total_cmp(&other.success))
            .then_with(|| self.traversal.total_cmp(&other.traversal))
            .then_with(|| self.recency.total_cmp(&other.recency))
            .then_with(|| self.base_cost.total_cmp(&other.base_cost))
    }
}

fn amount(pheromone: Option<Pheromone>) -> f64 {
    pheromone.map_or(0.0, Pheromone::value)
}

fn checked(name: &str, value: Option<f64>) -> Result<Option<Pheromone>, String> {
    value.map(Pheromone::new).transpose().map_err(|why| format!("{name}: {why}"))
}

/// Row of a place in `trail/lock`, `trail/find` and `trail/cold`.
#[derive(Debug, Deserialize)]
pub(super) struct PlaceRow {
    pub(super) element: String,
    pub(super) scope: String,
    pub(super) id: String,
    exploitation: Option<f64>,
    exploration: Option<f64>,
    pub(super) cycle: Option<i64>,
    fault: Option<String>,
}

/// The same in a row of an edge.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NeighbourPlace {
    pub(super) element: String,
    pub(super) label: Option<String>,
    pub(super) id: Option<String>,
    exploitation: Option<f64>,
    exploration: Option<f64>,
    place_cycle: Option<i64>,
    fault: Option<String>,
}

/// Columns of every statement that returns edges.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EdgeRow {
    #[serde(rename = "type")]
    pub(super) kind: String,
    success: Option<f64>,
    traversal: Option<f64>,
    recency: Option<f64>,
    pub(super) cycle: Option<i64>,
    base: Option<f64>,
    similarity: Option<f64>,
    edge_fault: Option<String>,
}

impl PlaceRow {
    /// Decodes the place. Without a cycle it gets the cycle `now`: another writer wrote it, or nothing remains.
    pub(super) fn check(&self, now: i64) -> Result<Place, String> {
        judged(self.fault.as_ref(), self.exploitation, self.exploration, self.cycle.unwrap_or(now))
    }
}

impl NeighbourPlace {
    /// As [`PlaceRow::check`], with its name.
    pub(super) fn check(&self, now: i64) -> Result<(TrailNode, Place), String> {
        let (Some(label), Some(id)) = (&self.label, &self.id) else {
            return Err("it has no id".to_owned());
        };
        let cycle = self.place_cycle.unwrap_or(now);
        let place = judged(self.fault.as_ref(), self.exploitation, self.exploration, cycle)?;
        Ok((TrailNode { label: label.clone(), id: id.clone() }, place))
    }
}

fn judged(
    fault: Option<&String>,
    exploitation: Option<f64>,
    exploration: Option<f64>,
    cycle: i64,
) -> Result<Place, String> {
    if let Some(fault) = fault {
        return Err(fault.clone());
    }
    Ok(Place {
        exploitation: checked("exploitation_pheromone", exploitation)?,
        exploration: checked("exploration_pheromone", exploration)?,
        cycle,
    })
}

impl EdgeRow {
    /// Decodes the edge and its base cost, by default that of its type.
    pub(super) fn check(&self, now: i64) -> Result<(Edge, f64), String> {
        if let Some(fault) = &self.edge_fault {
            return Err(fault.clone());
        }
        let edge = Edge {
            success: checked("success_pheromone", self.success)?,
            traversal: checked("traversal_pheromone", self.traversal)?,
            recency: checked("recency_pheromone", self.recency)?,
            cycle: self.cycle.unwrap_or(now),
        };
        match self.base {
            Some(base) if !(0.0..=Pheromone::MAX).contains(&base) => {
                Err(format!("base_cost is {base}, outside 0 to 1e6"))
            }
            Some(base) => Ok((edge, base)),
            None => Ok((edge, base_cost(&self.kind, self.similarity))),
        }
    }
}
