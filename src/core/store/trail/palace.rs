//! The part of a palace that a batch of trail events touches: locked, folded in order, written once.
//!
//! Places are locked by label, then by scope and id; the edges between them after that. Batches that share an edge
//! share its ends, so two batches never deadlock. An event that names a place which a later event creates finds
//! nothing, as it would if the batch were cut between them.
//!
//! Invariant: the cut of events into batches does not change the result (held by
//! `jobs::evaporate::a_batch_ends_as_its_traces_would_one_by_one`).

mod success;
mod writes;

pub(in crate::store) use success::succeed;

use super::cycle::{Counter, counter, hold, turn};
use super::rows::{EdgeRow, PlaceRow, TrailEdge, TrailNode, TrailPlace};
use crate::domain::event::{PlaceName, Step, Trace, Walk};
use crate::domain::trail::{Edge, EdgeType, Place, PlaceLabel, Trails, base_cost};
use crate::domain::units::Pheromone;
use crate::store::batch::BatchFault;
use crate::store::catalogue::{TRAIL_BETWEEN, TRAIL_LOCK};
use crate::store::encode::{list, slices};
use crate::store::error::Error;
use crate::store::tx::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Effect of a trail event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceEffect {
    /// For an event that names a place or an edge: whether it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<bool>,
    /// Cycle of the event.
    pub cycle: i64,
    /// Places after the event.
    pub nodes: Vec<TrailPlace>,
    /// Edges after the event.
    pub edges: Vec<TrailEdge>,
}

/// Result of a batch of trail events, all or none.
#[derive(Debug)]
pub enum TraceOutcome {
    Written(Vec<TraceEffect>),
    /// Nothing was written, because of these errors.
    Rejected(Vec<BatchFault>),
}

struct PlaceState<'a> {
    named: TrailNode,
    label: PlaceLabel,
    scope: &'a str,
    element: Option<String>,
    name: Option<&'a str>,
    place: Result<Place, String>,
    /// Whether it has a cycle of its own; otherwise it gets that of the first event that touches it.
    anchored: bool,
    touched: bool,
}

struct EdgeState {
    ends: (usize, usize),
    kind: EdgeType,
    element: Option<String>,
    names: Vec<String>,
    edge: Result<(Edge, f64), String>,
    anchored: bool,
    touched: bool,
}

struct Palace<'a> {
    trails: &'a Trails,
    places: Vec<PlaceState<'a>>,
    /// Existing ones, by their element ids.
    elements: BTreeMap<String, usize>,
    known: BTreeMap<(&'a str, PlaceLabel, String), Vec<usize>>,
    edges: Vec<EdgeState>,
    between: BTreeMap<(usize, usize), Vec<usize>>,
}

/// Applies trail events inside a transaction of the caller, which must be rolled back if there are errors.
pub(in crate::store) async fn trace(
    tx: &mut Tx,
    trails: &Trails,
    traces: &[Trace],
) -> Result<TraceOutcome, Error> {
    if traces.is_empty() {
        return Ok(TraceOutcome::Written(Vec::new()));
    }
    let counter = counter(tx, trails).await?;
    let mut palace = Palace::load(tx, trails, traces).await?;
    let (mut done, mut faults) = (Vec::with_capacity(traces.len()), Vec::new());
    for (index, trace) in traces.iter().enumerate() {
        match palace.fold(trace, counter.cycles.at(trace.at)) {
            Ok(traced) => done.push(traced),
            Err(why) => faults.push(BatchFault { index, why }),
        }
    }
    if !faults.is_empty() {
        return Ok(TraceOutcome::Rejected(faults));
    }
    palace.write(tx).await?;
    let left = |trace: &&Trace| matches!(trace.what, Walk::Deposit { .. } | Walk::Explore { .. });
    if let Some(first) = traces.iter().filter(left).map(|trace| counter.cycles.at(trace.at)).min() {
        begin(tx, trails, &counter, first).await?;
    }
    Ok(TraceOutcome::Written(done))
}

/// Records the cycle from which evaporation is needed, unless it is known.
async fn begin(tx: &mut Tx, trails: &Trails, counter: &Counter, first: i64) -> Result<(), Error> {
    if counter.evaporated.is_none() {
        let held = hold(tx, trails).await?;
        turn(tx, &Counter { evaporated: Some(held.evaporated.unwrap_or(first)), ..held }).await?;
    }
    Ok(())
}

/// Places named by a trail event, in its order.
fn names(walk: &Walk) -> Vec<PlaceName> {
    match walk {
        Walk::Node { label, id, .. } => vec![PlaceName { label: Some(label.clone()), id: id.clone() }],
        Walk::Edge { from, to, .. } => vec![from.clone(), to.clone()],
        Walk::Deposit { path, .. } => path.iter().map(|step| step.to.clone()).collect(),
        Walk::Explore { place } => vec![place.clone()],
    }
}

fn quarantined(id: String, reason: &str) -> Error {
    Error::Quarantined { id, reason: reason.to_owned() }
}

impl<'a> Palace<'a> {
    const fn empty(trails: &'a Trails) -> Self {
        Self {
            trails,
            places: Vec::new(),
            elements: BTreeMap::new(),
            known: BTreeMap::new(),
            edges: Vec::new(),
            between: BTreeMap::new(),
        }
    }

    async fn load(tx: &mut Tx, trails: &'a Trails, traces: &'a [Trace]) -> Result<Self, Error> {
        let mut palace = Self::empty(trails);
        palace.load_places(tx, traces).await?;
        palace.load_edges(tx, traces).await?;
        Ok(palace)
    }

    async fn load_places(&mut self, tx: &mut Tx, traces: &'a [Trace]) -> Result<(), Error> {
        let scopes: BTreeSet<&'a str> = traces.iter().map(|trace| trace.scope.as_str()).collect();
        for label in self.trails.allowed.labels() {
            let wanted = |name: &PlaceName| name.label.as_ref().is_none_or(|own| own == label);
            let keys: BTreeSet<(&str, String)> = traces
                .iter()
                .flat_map(|trace| names(&trace.what).into_iter().map(|name| (trace.scope.as_str(), name)))
                .filter(|(_, name)| wanted(name))
                .map(|(scope, name)| (scope, name.id.to_string()))
                .collect();
            let keys: Vec<(&str, String)> = keys.into_iter().collect();
            self.lock_places(tx, label, &keys, &scopes).await?;
        }
        Ok(())
    }

    /// Locks the existing places of a label with these scopes and ids, in their order.
    async fn lock_places(
        &mut self,
        tx: &mut Tx,
        label: &PlaceLabel,
        keys: &[(&str, String)],
        scopes: &BTreeSet<&'a str>,
    ) -> Result<(), Error> {
        for slice in slices(&TRAIL_LOCK, keys, |(scope, id)| scope.len() + id.len() + 4) {
            let call = TRAIL_LOCK
                .about(std::slice::from_ref(label), &[])
                .set("scope", list(slice.iter().map(|(scope, _)| *scope)))
                .set("id", list(slice.iter().map(|(_, id)| id.as_str())));
            for row in tx.rows::<PlaceRow>(call).await? {
                let Some(scope) = scopes.get(row.scope.as_str()).copied() else { continue };
                let named = TrailNode { label: label.to_string(), id: row.id.clone() };
                let key = (scope, label.clone(), row.id.clone());
                let (place, anchored) = (row.check(0), row.cycle.is_some());
                // A node with two labels of the list is one place.
                let at = *self.elements.entry(row.element.clone()).or_insert(self.places.len());
                if at == self.places.len() {
                    self.places.push(PlaceState {
                        named,
                        label: label.clone(),
                        scope,
                        element: Some(row.element),
                        name: None,
                        place,
                        anchored,
                        touched: false,
                    });
                }
                self.known.entry(key).or_default().push(at);
            }
        }
        Ok(())
    }

    async fn load_edges(&mut self, tx: &mut Tx, traces: &[Trace]) -> Result<(), Error> {
        let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
        for trace in traces.iter().filter(|trace| !matches!(trace.what, Walk::Node { .. })) {
            for step in names(&trace.what).windows(2) {
                for a in self.all(trace.scope.as_str(), &step[0]) {
                    for b in self.all(trace.scope.as_str(), &step[1]) {
                        pairs.extend([(a, b), (b, a)]);
                    }
                }
            }
        }
        self.lock_edges(tx, &pairs).await
    }

    /// Locks the edges from the first place of each pair to the second.
    async fn lock_edges(&mut self, tx: &mut Tx, pairs: &BTreeSet<(usize, usize)>) -> Result<(), Error> {
        #[derive(Deserialize)]
        struct Row {
            element: String,
            from: String,
            to: String,
            names: Vec<String>,
            #[serde(flatten)]
            edge: EdgeRow,
        }
        let element = |at: usize| self.places[at].element.clone().unwrap_or_default();
        let pairs: Vec<(String, String)> = pairs.iter().map(|(a, b)| (element(*a), element(*b))).collect();
        for slice in slices(&TRAIL_BETWEEN, &pairs, |(a, b)| a.len() + b.len() + 4) {
            let call = TRAIL_BETWEEN
                .about(&[], self.trails.allowed.types())
                .set("from", list(slice.iter().map(|(from, _)| from.as_str())))
                .set("to", list(slice.iter().map(|(_, to)| to.as_str())));
            for row in tx.rows::<Row>(call).await? {
                let ends = (self.elements.get(&row.from), self.elements.get(&row.to));
                let (Some(from), Some(to)) = (ends.0.copied(), ends.1.copied()) else { continue };
                let Ok(kind) = self.trails.allowed.kind(&row.edge.kind) else { continue };
                self.between.entry((from, to)).or_default().push(self.edges.len());
                self.edges.push(EdgeState {
                    ends: (from, to),
                    kind: kind.clone(),
                    element: Some(row.element),
                    names: row.names,
                    edge: row.edge.check(0),
                    anchored: row.edge.cycle.is_some(),
                    touched: false,
                });
            }
        }
        Ok(())
    }

    /// All places that a name may mean, without repeats.
    fn all(&self, scope: &str, name: &PlaceName) -> Vec<usize> {
        let labels = self.trails.allowed.labels().iter();
        let labels = labels.filter(|label| name.label.as_ref().is_none_or(|own| own == *label));
        let found: BTreeSet<usize> = labels
            .filter_map(|label| self.known.get(&(scope, label.clone(), name.id.to_string())))
            .flatten()
            .copied()
            .collect();
        found.into_iter().collect()
    }

    /// The one place that a name means.
    fn find(&self, scope: &str, name: &PlaceName) -> Result<usize, Error> {
        match self.all(scope, name).as_slice() {
            [] => Err(Error::NotFound { what: "place", id: name.to_string() }),
            [one] => Ok(*one),
            several => {
                let mut labels: Vec<String> = several
                    .iter()
                    .map(|at| format!("{}:{}", self.places[*at].named.label, self.places[*at].named.id))
                    .collect();
                labels.sort();
                Err(Error::Conflict(format!(
                    "{name} may mean several places: {}; name one by its label, and make ids of one label unique",
                    labels.join(", ")
                )))
            }
        }
    }

    fn fold(&mut self, trace: &'a Trace, cycle: i64) -> Result<TraceEffect, Error> {
        let scope = trace.scope.as_str();
        match &trace.what {
            Walk::Node { label, id, name } => {
                let wanted = PlaceName { label: Some(label.clone()), id: id.clone() };
                let created = self.all(scope, &wanted).is_empty();
                if created {
                    if label.as_str() == "Memory" {
                        return Err(Error::NotFound { what: "memory", id: id.to_string() });
                    }
                    let key = (scope, label.clone(), id.to_string());
                    self.known.entry(key).or_default().push(self.places.len());
                    self.places.push(PlaceState {
                        named: TrailNode { label: label.to_string(), id: id.to_string() },
                        label: label.clone(),
                        scope,
                        element: None,
                        name: None,
                        place: Ok(Place::default()),
                        anchored: false,
                        touched: false,
                    });
                }
                let at = self.find(scope, &wanted)?;
                // The name of an entity is its id, and a memory has no name.
                if label.key() == "id" && label.as_str() != "Memory" && name.is_some() {
                    self.places[at].touched = !created;
                    self.places[at].name = name.as_deref();
                }
                let node = self.seen(at, cycle)?;
                Ok(TraceEffect { created: Some(created), cycle, nodes: vec![node], edges: Vec::new() })
            }
            Walk::Edge { from, to, kind, base_cost } => self.edge(scope, (from, to), kind, *base_cost, cycle),
            Walk::Deposit { path, reward } => self.deposit(scope, path, *reward, cycle),
            Walk::Explore { place } => {
                let at = self.find(scope, place)?;
                self.on_place(at, cycle, |place, trails| place.explored(cycle, &trails.evaporation))?;
                let node = self.seen(at, cycle)?;
                Ok(TraceEffect { created: None, cycle, nodes: vec![node], edges: Vec::new() })
            }
        }
    }

    fn edge(
        &mut self,
        scope: &str,
        (from, to): (&PlaceName, &PlaceName),
        kind: &EdgeType,
        base: Option<f64>,
        cycle: i64,
    ) -> Result<TraceEffect, Error> {
        let ends = (self.find(scope, from)?, self.find(scope, to)?);
        let there = self.between.get(&ends).into_iter().flatten().copied();
        let there = there.filter(|at| self.edges[*at].kind == *kind).min();
        let at = match there {
            Some(at) => {
                let id = self.edge_name(at);
                let state = &mut self.edges[at];
                let (_, own) = state.edge.as_mut().map_err(|why| quarantined(id, why))?;
                if let Some(base) = base.filter(|base| base.total_cmp(own).is_ne()) {
                    *own = base;
                    state.touched = true;
                }
                at
            }
            None => {
                let base = base.unwrap_or_else(|| base_cost(kind.as_str(), None));
                self.between.entry(ends).or_default().push(self.edges.len());
                self.edges.push(EdgeState {
                    ends,
                    kind: kind.clone(),
                    element: None,
                    names: Vec::new(),
                    edge: Ok((Edge::default(), base)),
                    anchored: false,
                    touched: false,
                });
                self.edges.len() - 1
            }
        };
        let edge = self.edge_seen(at, cycle)?;
        Ok(TraceEffect { created: Some(there.is_none()), cycle, nodes: Vec::new(), edges: vec![edge] })
    }

    fn deposit(
        &mut self,
        scope: &str,
        path: &[Step],
        reward: Pheromone,
        cycle: i64,
    ) -> Result<TraceEffect, Error> {
        let places: Vec<usize> =
            path.iter().map(|step| self.find(scope, &step.to)).collect::<Result<_, _>>()?;
        let edges: Vec<usize> = path
            .iter()
            .skip(1)
            .zip(places.windows(2))
            .map(|(step, ends)| self.walked((ends[0], ends[1]), step.via.as_deref(), cycle))
            .collect::<Result<_, _>>()?;
        for (index, at) in edges.iter().enumerate() {
            self.earn(*at, (index, edges.len()), reward, cycle)?;
        }
        for at in &places {
            self.on_place(*at, cycle, |place, trails| place.exploited(cycle, &trails.evaporation))?;
        }
        Ok(TraceEffect {
            created: None,
            cycle,
            nodes: places.iter().map(|at| self.seen(*at, cycle)).collect::<Result<_, _>>()?,
            edges: edges.iter().map(|at| self.edge_seen(*at, cycle)).collect::<Result<_, _>>()?,
        })
    }

    /// A deposit on an edge of a successful path: its index, from 0, and the number of edges.
    fn earn(&mut self, at: usize, place: (usize, usize), reward: Pheromone, cycle: i64) -> Result<(), Error> {
        let id = self.edge_name(at);
        let evaporation = &self.trails.evaporation;
        let state = &mut self.edges[at];
        let (edge, _) = state.edge.as_mut().map_err(|why| quarantined(id, why))?;
        let now = Edge { cycle: if state.anchored { edge.cycle } else { cycle }, ..*edge };
        *edge = now.succeeded(place, reward, cycle, evaporation);
        (state.anchored, state.touched) = (true, true);
        Ok(())
    }

    /// The edge of a step: the named one, else the best match.
    fn walked(&self, ends: (usize, usize), via: Option<&str>, cycle: i64) -> Result<usize, Error> {
        let named = |edge: &EdgeState| {
            via.is_none_or(|via| edge.kind.as_str() == via || edge.names.iter().any(|name| name == via))
        };
        self.meant(ends, cycle, named).ok_or_else(|| {
            let kind = via.map(|via| format!("{via} ")).unwrap_or_default();
            let [from, to] = [ends.0, ends.1].map(|at| &self.places[at].named);
            let id = format!("{kind}between {}:{} and {}:{}", from.label, from.id, to.label, to.id);
            Error::NotFound { what: "edge", id }
        })
    }

    /// Of the edges between two places prefers one in the direction of the step, then the cheapest.
    fn meant(&self, ends: (usize, usize), cycle: i64, can_be: impl Fn(&EdgeState) -> bool) -> Option<usize> {
        let rank = |at: &usize| {
            let edge = &self.edges[*at];
            let cost = self.edge_seen(*at, cycle).map_or(f64::INFINITY, |seen| seen.cost);
            (edge.ends != ends, cost.to_bits(), edge.kind.clone(), edge.element.clone())
        };
        let both = [ends, (ends.1, ends.0)];
        let all = both.iter().filter_map(|ends| self.between.get(ends)).flatten();
        all.filter(|at| can_be(&self.edges[**at])).min_by_key(|at| rank(at)).copied()
    }

    fn on_place(
        &mut self,
        at: usize,
        cycle: i64,
        law: impl Fn(Place, &Trails) -> Place,
    ) -> Result<(), Error> {
        let trails = self.trails;
        let state = &mut self.places[at];
        let id = format!("{} {}", state.named.label, state.named.id);
        let place = state.place.as_mut().map_err(|why| quarantined(id, why))?;
        let now = Place { cycle: if state.anchored { place.cycle } else { cycle }, ..*place };
        *place = law(now, trails);
        (state.anchored, state.touched) = (true, true);
        Ok(())
    }

    fn seen(&self, at: usize, cycle: i64) -> Result<TrailPlace, Error> {
        let state = &self.places[at];
        let id = || format!("{} {}", state.named.label, state.named.id);
        let place = state.place.as_ref().map_err(|why| quarantined(id(), why))?;
        let own = Place { cycle: if state.anchored { place.cycle } else { cycle }, ..*place };
        Ok(TrailPlace::of(state.named.clone(), &own.evaporated(cycle, &self.trails.evaporation)))
    }

    fn edge_name(&self, at: usize) -> String {
        let (from, to) = self.edges[at].ends;
        let [from, to] = [from, to].map(|at| &self.places[at].named);
        format!("{} from {} {} to {} {}", self.edges[at].kind, from.label, from.id, to.label, to.id)
    }

    fn edge_seen(&self, at: usize, cycle: i64) -> Result<TrailEdge, Error> {
        let state = &self.edges[at];
        let (edge, base) = state.edge.as_ref().map_err(|why| quarantined(self.edge_name(at), why))?;
        let own = Edge { cycle: if state.anchored { edge.cycle } else { cycle }, ..*edge };
        let ends = (self.places[state.ends.0].named.clone(), self.places[state.ends.1].named.clone());
        Ok(TrailEdge::of(ends, state.kind.as_str(), &own.evaporated(cycle, &self.trails.evaporation), *base))
    }
}
