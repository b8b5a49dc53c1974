//! Read queries on trails, each as of a cycle: stored values, evaporated to it by the law.

use super::Store;
use super::cycle::counter;
use super::rows::{EdgeRow, NeighbourPlace, PlaceRow, TrailEdge, TrailNode, TrailPlace};
use crate::domain::event::PlaceName;
use crate::domain::ids::Scope;
use crate::domain::trail::{Found, Link, NOISE_FLOOR, Route, resistance, route};
use crate::domain::units::Timestamp;
use crate::store::catalogue::{TRAIL_AROUND, TRAIL_COLD, TRAIL_FIND, TRAIL_HOT};
use crate::store::encode::list;
use crate::store::error::Error;
use crate::store::tx::{Mode, Tx};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Edges read around one place, or in one wave of a search: of a place with more only some are read.
const EDGES_MAX: usize = 10_000;
/// Places of one wave of a search.
const WAVE: usize = 200;

/// Pheromones of a place, or of the edges between two.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrailStatus {
    /// Cycle of the values.
    pub cycle: i64,
    /// Places.
    pub nodes: Vec<TrailPlace>,
    /// Edges between them.
    pub edges: Vec<TrailEdge>,
    /// Instant of the values.
    pub at: Timestamp,
}

/// The hottest edges or the coldest places at a cycle.
#[derive(Debug, Clone, PartialEq)]
pub struct Hot<T> {
    pub cycle: i64,
    /// Items, in order.
    pub found: Vec<T>,
}

/// A next place.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NextPlace {
    /// Place.
    #[serde(flatten)]
    pub node: TrailNode,
    /// Type of the edge that leads there.
    #[serde(rename = "type")]
    pub kind: String,
    /// Cost of the edge.
    pub cost: f64,
    /// Attraction.
    pub score: f64,
}

/// An edge of a path.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WalkedEdge {
    /// Type of the edge.
    #[serde(rename = "type")]
    pub kind: String,
    /// Cost of the edge.
    pub cost: f64,
}

/// The cheapest path between two places.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CheapestPath {
    /// Cycle of the values.
    pub cycle: i64,
    /// Places, in order; empty if no path was found.
    pub nodes: Vec<TrailNode>,
    /// Edges between them, in order.
    pub edges: Vec<WalkedEdge>,
    /// Cost of the path; null if no path was found.
    pub cost: Option<f64>,
    /// Number of places read.
    pub read: usize,
    /// Whether the search stopped early: a cheaper path may exist.
    pub truncated: bool,
    /// Instant of the values.
    pub at: Timestamp,
}

#[derive(Deserialize)]
struct Neighbour {
    at: String,
    forward: bool,
    #[serde(flatten)]
    edge: EdgeRow,
    #[serde(flatten)]
    place: NeighbourPlace,
}

impl Store {
    /// A place at an instant, or the edges between two.
    pub async fn trail_status(
        &self,
        scope: &Scope,
        place: &PlaceName,
        to: Option<&PlaceName>,
        at: Timestamp,
    ) -> Result<TrailStatus, Error> {
        self.transactions
            .run("trail.status", Mode::Read, async |tx: &mut Tx| {
                let cycle = counter(tx, &self.trails).await?.cycles.at(at);
                let (element, node) = self.find(tx, scope, place, cycle).await?;
                let Some(to) = to else {
                    return Ok(TrailStatus { cycle, nodes: vec![node], edges: Vec::new(), at });
                };
                let (other, end) = self.find(tx, scope, to, cycle).await?;
                let rows = self.around(tx, std::slice::from_ref(&element), Some(&other), EDGES_MAX).await?;
                let mut edges: Vec<TrailEdge> = rows
                    .iter()
                    .filter_map(|row| {
                        let (edge, base) = row.edge.check(cycle).ok()?;
                        let edge = edge.evaporated(cycle, &self.trails.evaporation);
                        let (one, two) = (node.node.clone(), end.node.clone());
                        let ends = if row.forward { (one, two) } else { (two, one) };
                        Some(TrailEdge::of(ends, &row.edge.kind, &edge, base))
                    })
                    .collect();
                edges.sort_by(TrailEdge::by_name);
                if edges.is_empty() {
                    let id = format!("between {place} and {to}");
                    return Err(Error::NotFound { what: "edge", id });
                }
                Ok(TrailStatus { cycle, nodes: vec![node, end], edges, at })
            })
            .await
    }

    /// The edges of a scope with most success and traversal remaining at an instant, most first.
    pub async fn hot_trails(
        &self,
        scope: &Scope,
        limit: usize,
        at: Timestamp,
    ) -> Result<Hot<TrailEdge>, Error> {
        #[derive(Deserialize)]
        struct Row {
            #[serde(rename = "fromLabel")]
            from_label: Option<String>,
            from: Option<String>,
            #[serde(rename = "toLabel")]
            to_label: Option<String>,
            to: Option<String>,
            #[serde(flatten)]
            edge: EdgeRow,
        }
        let evaporation = &self.trails.evaporation;
        self.transactions
            .run("trail.hot", Mode::Read, async |tx: &mut Tx| {
                let cycle = counter(tx, &self.trails).await?.cycles.at(at);
                let mut found = Vec::new();
                for kind in self.trails.allowed.types() {
                    let call = TRAIL_HOT
                        .about(&[], std::slice::from_ref(kind))
                        .set("scope", scope.as_str())
                        .set("cycle", cycle)
                        .set("least", i64::MIN)
                        .set("limit", i64::try_from(limit).unwrap_or(i64::MAX))
                        .set("success", evaporation.rates().success)
                        .set("traversal", evaporation.rates().traversal)
                        .set("floor", NOISE_FLOOR)
                        .set("label", self.labels());
                    for row in tx.rows::<Row>(call).await? {
                        let (Some(from_label), Some(from)) = (row.from_label, row.from) else { continue };
                        let (Some(to_label), Some(to)) = (row.to_label, row.to) else { continue };
                        let Ok((edge, base)) = row.edge.check(cycle) else { continue };
                        let edge = edge.evaporated(cycle, evaporation);
                        let ends = (
                            TrailNode { label: from_label, id: from },
                            TrailNode { label: to_label, id: to },
                        );
                        if edge.heat() > 0.0 {
                            found.push((edge.heat(), TrailEdge::of(ends, &row.edge.kind, &edge, base)));
                        }
                    }
                }
                found.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.by_name(other)));
                found.truncate(limit);
                Ok(Hot { cycle, found: found.into_iter().map(|(_, edge)| edge).collect() })
            })
            .await
    }

    /// The places of a scope with least exploitation and exploration remaining at an instant, least first.
    pub async fn cold_places(
        &self,
        scope: &Scope,
        limit: usize,
        at: Timestamp,
    ) -> Result<Hot<TrailPlace>, Error> {
        let evaporation = &self.trails.evaporation;
        self.transactions
            .run("trail.cold", Mode::Read, async |tx: &mut Tx| {
                let cycle = counter(tx, &self.trails).await?.cycles.at(at);
                let mut found = Vec::new();
                for label in self.trails.allowed.labels() {
                    let call = TRAIL_COLD
                        .about(std::slice::from_ref(label), &[])
                        .set("scope", scope.as_str())
                        .set("cycle", cycle)
                        .set("limit", i64::try_from(limit).unwrap_or(i64::MAX))
                        .set("exploitation", evaporation.rates().exploitation)
                        .set("exploration", evaporation.rates().exploration)
                        .set("floor", NOISE_FLOOR);
                    for row in tx.rows::<PlaceRow>(call).await? {
                        let Ok(place) = row.check(cycle) else { continue };
                        let named = TrailNode { label: label.to_string(), id: row.id };
                        found.push(TrailPlace::of(named, &place.evaporated(cycle, evaporation)));
                    }
                }
                let warmth = |place: &TrailPlace| place.exploitation + place.exploration;
                found.sort_by(|a, b| warmth(a).total_cmp(&warmth(b)).then_with(|| a.node.cmp(&b.node)));
                found.truncate(limit);
                Ok(Hot { cycle, found })
            })
            .await
    }

    /// Next places from a place at an instant, the most attractive first; at most `limit`.
    pub async fn next_places(
        &self,
        scope: &Scope,
        place: &PlaceName,
        limit: usize,
        at: Timestamp,
    ) -> Result<Hot<NextPlace>, Error> {
        let evaporation = &self.trails.evaporation;
        self.transactions
            .run("trail.next", Mode::Read, async |tx: &mut Tx| {
                let cycle = counter(tx, &self.trails).await?.cycles.at(at);
                let (element, _) = self.find(tx, scope, place, cycle).await?;
                let rows = self.around(tx, &[element], None, EDGES_MAX).await?;
                let mut found: Vec<NextPlace> = rows
                    .iter()
                    .filter_map(|row| {
                        let (edge, base) = row.edge.check(cycle).ok()?;
                        let (named, place) = row.place.check(cycle).ok()?;
                        let cost = edge.evaporated(cycle, evaporation).cost(base);
                        let score = resistance(cost, &place.evaporated(cycle, evaporation));
                        Some(NextPlace { node: named, kind: row.edge.kind.clone(), cost, score })
                    })
                    .collect();
                let name = |one: &NextPlace| (one.node.clone(), one.kind.clone());
                found.sort_by(|a, b| a.score.total_cmp(&b.score).then_with(|| name(a).cmp(&name(b))));
                found.truncate(limit);
                Ok(Hot { cycle, found })
            })
            .await
    }

    /// The cheapest path between two places at an instant, searched wave by wave until `places_max` places are read.
    pub async fn cheapest_path(
        &self,
        scope: &Scope,
        from: &PlaceName,
        to: &PlaceName,
        places_max: usize,
        at: Timestamp,
    ) -> Result<CheapestPath, Error> {
        self.transactions
            .run("trail.path", Mode::Read, async |tx: &mut Tx| {
                let cycle = counter(tx, &self.trails).await?.cycles.at(at);
                let (start, from) = self.find(tx, scope, from, cycle).await?;
                let (goal, to) = self.find(tx, scope, to, cycle).await?;
                let mut search = Search::default();
                let start = search.place(start, &from.node);
                let goal = search.place(goal, &to.node);
                loop {
                    let places = search.elements.len();
                    let (way, wave) = match route(places, &search.links, &search.read, start, goal) {
                        Found::Cheapest(way) => (Some(way), Vec::new()),
                        Found::Nowhere => (None, Vec::new()),
                        Found::Open(way, wave) => (way, wave),
                    };
                    let left = places_max.saturating_sub(search.read.len());
                    if wave.is_empty() || left == 0 {
                        let truncated = search.cut || !wave.is_empty();
                        return Ok(search.path(way.as_ref(), cycle, at, truncated));
                    }
                    let wave: Vec<usize> = wave.into_iter().take(WAVE.min(left)).collect();
                    let elements: Vec<String> = wave.iter().map(|at| search.elements[*at].clone()).collect();
                    let rows = self.around(tx, &elements, None, EDGES_MAX).await?;
                    search.cut |= rows.len() >= EDGES_MAX;
                    let mut found = Vec::with_capacity(rows.len());
                    for row in &rows {
                        let Ok((edge, base)) = row.edge.check(cycle) else { continue };
                        let (Some(label), Some(id)) = (&row.place.label, &row.place.id) else { continue };
                        let named = TrailNode { label: label.clone(), id: id.clone() };
                        let cost = edge.evaporated(cycle, &self.trails.evaporation).cost(base);
                        found.push((search.numbers.get(&row.at).copied(), named, row, cost));
                    }
                    // Of paths of equal cost the first is found, so the order must not be that of the server.
                    found.sort_by(|(at, one, row, cost), (before, other, next, less)| {
                        (at, one, &row.edge.kind)
                            .cmp(&(before, other, &next.edge.kind))
                            .then(cost.total_cmp(less))
                    });
                    for (_, named, row, cost) in found {
                        search.link(&row.at, (row.place.element.clone(), &named), &row.edge.kind, cost);
                    }
                    search.read.extend(wave);
                }
            })
            .await
    }

    fn labels(&self) -> neo4rs::BoltType {
        list(self.trails.allowed.labels().iter().map(|label| label.as_str()))
    }

    /// The one place that a name means: its element id, and its state at a cycle.
    async fn find(
        &self,
        tx: &mut Tx,
        scope: &Scope,
        name: &PlaceName,
        cycle: i64,
    ) -> Result<(String, TrailPlace), Error> {
        let mut found: BTreeMap<String, (TrailNode, PlaceRow)> = BTreeMap::new();
        let labels = self.trails.allowed.labels().iter();
        for label in labels.filter(|label| name.label.as_ref().is_none_or(|own| own == *label)) {
            let call = TRAIL_FIND
                .about(std::slice::from_ref(label), &[])
                .set("scope", list([scope.as_str()]))
                .set("id", list([name.id.as_str()]));
            for row in tx.rows::<PlaceRow>(call).await? {
                let named = TrailNode { label: label.to_string(), id: row.id.clone() };
                found.entry(row.element.clone()).or_insert((named, row));
            }
        }
        if found.len() > 1 {
            let mut several: Vec<String> =
                found.values().map(|(named, _)| format!("{}:{}", named.label, named.id)).collect();
            several.sort();
            return Err(Error::Conflict(format!(
                "{name} may mean several places: {}; name one by its label, and make ids of one label unique",
                several.join(", ")
            )));
        }
        let none = || Error::NotFound { what: "place", id: name.to_string() };
        let (element, (named, row)) = found.pop_first().ok_or_else(none)?;
        let id = format!("{} {}", named.label, named.id);
        let place = row.check(cycle).map_err(|reason| Error::Quarantined { id, reason })?;
        Ok((element, TrailPlace::of(named, &place.evaporated(cycle, &self.trails.evaporation))))
    }

    /// Edges around places, with their other ends.
    async fn around(
        &self,
        tx: &mut Tx,
        elements: &[String],
        to: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Neighbour>, Error> {
        let allowed = &self.trails.allowed;
        let call = TRAIL_AROUND
            .about(allowed.labels(), allowed.types())
            .set("element", list(elements.iter().map(String::as_str)))
            .set("label", self.labels())
            .set("to", to)
            .set("limit", i64::try_from(limit).unwrap_or(i64::MAX));
        tx.rows(call).await
    }
}

/// State of a search.
#[derive(Default)]
struct Search {
    elements: Vec<String>,
    names: Vec<TrailNode>,
    numbers: BTreeMap<String, usize>,
    links: Vec<Link>,
    kinds: Vec<String>,
    read: BTreeSet<usize>,
    cut: bool,
}

impl Search {
    fn place(&mut self, element: String, named: &TrailNode) -> usize {
        let next = self.elements.len();
        let number = *self.numbers.entry(element.clone()).or_insert(next);
        if number == next {
            self.elements.push(element);
            self.names.push(named.clone());
        }
        number
    }

    fn link(&mut self, at: &str, (element, named): (String, &TrailNode), kind: &str, cost: f64) {
        let Some(from) = self.numbers.get(at).copied() else { return };
        let to = self.place(element, named);
        // An edge is known already if its other end was read before.
        if !self.read.contains(&to) {
            self.links.push(Link { from, to, cost });
            self.kinds.push(kind.to_owned());
        }
    }

    fn path(self, way: Option<&Route>, cycle: i64, at: Timestamp, truncated: bool) -> CheapestPath {
        let places = way.map(|way| way.places.as_slice()).unwrap_or_default();
        let links = way.map(|way| way.links.as_slice()).unwrap_or_default();
        CheapestPath {
            cycle,
            nodes: places.iter().map(|at| self.names[*at].clone()).collect(),
            edges: links
                .iter()
                .map(|at| WalkedEdge { kind: self.kinds[*at].clone(), cost: self.links[*at].cost })
                .collect(),
            cost: way.map(|way| way.cost),
            read: self.read.len(),
            truncated,
            at,
        }
    }
}
