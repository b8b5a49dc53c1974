//! Deposits of useful recall paths on edges that carry pheromones.
//!
//! Such a path goes through nodes of any mirrored label, over relationships of any type, and names its nodes as a
//! mirror does: by their key, or by label and key where nodes of several labels share one. Each of its steps over an
//! edge of the list deposits as much as a step of a path at that position, and so do the places that the edge joins:
//! once for each occurrence on the path. A path entirely inside the palace deposits as much as a deposit event along
//! it. All other steps are skipped and counted, also those between deleted nodes: an outcome is reported later, and the
//! graph may have changed.
//!
//! # Design notes
//! Nodes are looked up without a lock, because most nodes of a path are no places: memories and entities are not
//! blocked by an outcome. Only the places that an edge of the list joins, and then the edges, are locked, in the order
//! of every other batch.
//!
//! A quarantined edge is skipped like a missing one. It keeps its values for repair, and the others get their deposits.

use super::{Palace, PlaceState, begin};
use crate::domain::ids::Scope;
use crate::domain::trail::{Place, PlaceLabel, Trails};
use crate::domain::units::{Pheromone, Timestamp};
use crate::store::catalogue::{TRAIL_FIND, TRAIL_JOINED};
use crate::store::encode::{list, slices};
use crate::store::error::Error;
use crate::store::mirror::labels;
use crate::store::trail::cycle::counter;
use crate::store::trail::rows::{PlaceRow, TrailNode};
use crate::store::tx::Tx;
use std::collections::{BTreeMap, BTreeSet};

/// Counts of deposits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) struct Earned {
    /// Steps that deposited success on an edge.
    pub(in crate::store) deposits: usize,
    /// Steps without such an edge.
    pub(in crate::store) passed_over: usize,
}

/// A node that a path may go through.
struct Node {
    element: String,
    label: PlaceLabel,
    key: String,
}

/// Nodes that the ids of paths may mean, those of labels of the list first.
#[derive(Default)]
struct Nodes<'a> {
    all: Vec<Node>,
    meant: BTreeMap<&'a str, BTreeSet<usize>>,
}

/// Deposits paths with a `reward` at an instant, inside a transaction of the caller.
pub(in crate::store) async fn succeed(
    tx: &mut Tx,
    trails: &Trails,
    scope: &Scope,
    ways: &[&[String]],
    reward: Pheromone,
    at: Timestamp,
) -> Result<Earned, Error> {
    let steps: usize = ways.iter().map(|way| way.len().saturating_sub(1)).sum();
    let nodes = Nodes::find(tx, trails, scope, ways).await?;
    let joined = nodes.joined(tx, trails, ways).await?;
    if joined.is_empty() {
        return Ok(Earned { deposits: 0, passed_over: steps });
    }
    let counter = counter(tx, trails).await?;
    let cycle = counter.cycles.at(at);
    let mut palace = Palace::empty(trails);
    let places = palace.hold(tx, scope, &nodes, &joined).await?;
    let mut deposits = 0;
    for way in ways {
        deposits += palace.follow(way, (&nodes, &places), reward, cycle)?;
    }
    if deposits > 0 {
        palace.write(tx).await?;
        begin(tx, trails, &counter, cycle).await?;
    }
    Ok(Earned { deposits, passed_over: steps - deposits })
}

impl<'a> Nodes<'a> {
    async fn find(tx: &mut Tx, trails: &Trails, scope: &Scope, ways: &[&'a [String]]) -> Result<Self, Error> {
        let ids: BTreeSet<&'a str> = ways.iter().copied().flatten().map(String::as_str).collect();
        let labels = labels(trails)?;
        let is_listed = |label: &&PlaceLabel| trails.allowed.labels().contains(label);
        let (places, others): (Vec<_>, Vec<_>) = labels.labels().iter().partition(is_listed);
        let mut nodes = Self::default();
        let mut elements: BTreeMap<String, usize> = BTreeMap::new();
        for label in places.into_iter().chain(others) {
            let mut keys: BTreeMap<&'a str, Vec<&'a str>> = BTreeMap::new();
            for id in &ids {
                let named = id.strip_prefix(label.as_str()).and_then(|rest| rest.strip_prefix(':'));
                for key in [Some(*id), named].into_iter().flatten() {
                    keys.entry(key).or_default().push(*id);
                }
            }
            let wanted: Vec<&str> = keys.keys().copied().collect();
            for slice in slices(&TRAIL_FIND, &wanted, |key| key.len() + scope.as_str().len() + 4) {
                let call = TRAIL_FIND
                    .about(std::slice::from_ref(label), &[])
                    .set("scope", list(slice.iter().map(|_| scope.as_str())))
                    .set("id", list(slice.iter().copied()));
                for row in tx.rows::<PlaceRow>(call).await? {
                    let at = *elements.entry(row.element.clone()).or_insert(nodes.all.len());
                    for id in keys.get(row.id.as_str()).into_iter().flatten() {
                        nodes.meant.entry(*id).or_default().insert(at);
                    }
                    if at == nodes.all.len() {
                        nodes.all.push(Node { element: row.element, label: label.clone(), key: row.id });
                    }
                }
            }
        }
        Ok(nodes)
    }

    /// Nodes that a step may start and end at, in order of precedence.
    fn ends(&self, step: &[String]) -> Vec<(usize, usize)> {
        let [from, to] = step else { return Vec::new() };
        let meant = |id: &String| self.meant.get(id.as_str()).into_iter().flatten().copied();
        meant(from).flat_map(|a| meant(to).map(move |b| (a, b))).filter(|(a, b)| a != b).collect()
    }

    /// Pairs of nodes of steps with an edge of the list between them, the lesser first.
    async fn joined(
        &self,
        tx: &mut Tx,
        trails: &Trails,
        ways: &[&[String]],
    ) -> Result<BTreeSet<(usize, usize)>, Error> {
        let steps = ways.iter().flat_map(|way| way.windows(2));
        let pairs: BTreeSet<(usize, usize)> =
            steps.flat_map(|step| self.ends(step)).map(|(a, b)| (a.min(b), a.max(b))).collect();
        let pairs: Vec<(usize, usize)> = pairs.into_iter().collect();
        let element = |at: usize| self.all[at].element.as_str();
        let mut joined = BTreeSet::new();
        for slice in slices(&TRAIL_JOINED, &pairs, |(a, b)| element(*a).len() + element(*b).len() + 4) {
            let call = TRAIL_JOINED
                .about(&[], trails.allowed.types())
                .set("from", list(slice.iter().map(|(from, _)| element(*from))))
                .set("to", list(slice.iter().map(|(_, to)| element(*to))));
            for row in tx.rows::<usize>(call).await? {
                joined.extend(slice.get(row).copied());
            }
        }
        Ok(joined)
    }
}

impl<'a> Palace<'a> {
    /// Locks the places among the ends of pairs, then the edges between those ends. Returns the index of each end here.
    async fn hold(
        &mut self,
        tx: &mut Tx,
        scope: &'a Scope,
        nodes: &Nodes<'_>,
        joined: &BTreeSet<(usize, usize)>,
    ) -> Result<BTreeMap<usize, usize>, Error> {
        let labels = self.trails.allowed.labels();
        let scopes = BTreeSet::from([scope.as_str()]);
        let ends: BTreeSet<usize> = joined.iter().flat_map(|(a, b)| [*a, *b]).collect();
        for label in labels {
            let own = ends.iter().map(|at| &nodes.all[*at]).filter(|node| node.label == *label);
            let keys: BTreeSet<(&str, String)> = own.map(|node| (scope.as_str(), node.key.clone())).collect();
            let keys: Vec<(&str, String)> = keys.into_iter().collect();
            self.lock_places(tx, label, &keys, &scopes).await?;
        }
        for node in ends.iter().map(|at| &nodes.all[*at]).filter(|node| !labels.contains(&node.label)) {
            self.elements.insert(node.element.clone(), self.places.len());
            self.places.push(PlaceState {
                named: TrailNode { label: node.label.to_string(), id: node.key.clone() },
                label: node.label.clone(),
                scope: scope.as_str(),
                element: Some(node.element.clone()),
                name: None,
                place: Ok(Place::default()),
                anchored: false,
                touched: false,
            });
        }
        let places: BTreeMap<usize, usize> = ends
            .into_iter()
            .filter_map(|at| Some((at, *self.elements.get(&nodes.all[at].element)?)))
            .collect();
        let pairs = joined.iter().filter_map(|(a, b)| Some((*places.get(a)?, *places.get(b)?)));
        let pairs: BTreeSet<(usize, usize)> = pairs.flat_map(|(a, b)| [(a, b), (b, a)]).collect();
        self.lock_edges(tx, &pairs).await?;
        Ok(places)
    }

    /// Deposits a path on its edges, and on the places that they join. Returns the number of its steps with a deposit.
    fn follow(
        &mut self,
        way: &[String],
        (nodes, places): (&Nodes<'_>, &BTreeMap<usize, usize>),
        reward: Pheromone,
        cycle: i64,
    ) -> Result<usize, Error> {
        let steps = way.len().saturating_sub(1);
        let mut deposits = 0;
        let mut stood: BTreeSet<(usize, usize)> = BTreeSet::new();
        for (index, step) in way.windows(2).enumerate() {
            let ends = nodes.ends(step).into_iter();
            let mut held = ends.filter_map(|(a, b)| Some((*places.get(&a)?, *places.get(&b)?)));
            let over = |ends| Some((ends, self.meant(ends, cycle, |edge| edge.edge.is_ok())?));
            let Some(((from, to), edge)) = held.find_map(over) else { continue };
            self.earn(edge, (index, steps), reward, cycle)?;
            deposits += 1;
            stood.extend([(index, from), (index + 1, to)]);
        }
        for (_, at) in stood {
            let state = &self.places[at];
            if self.trails.allowed.labels().contains(&state.label) && state.place.is_ok() {
                self.on_place(at, cycle, |place, trails| place.exploited(cycle, &trails.evaporation))?;
            }
        }
        Ok(deposits)
    }
}
