//! Writes of a batch of trail events: places, then the edges between them, then the pheromones of both.

use super::{EdgeState, Palace, PlaceState};
use crate::domain::trail::{Edge, Place};
use crate::domain::units::Pheromone;
use crate::store::catalogue::{ENTITY_CREATE, TRAIL_EDGE, TRAIL_MARK_EDGES, TRAIL_MARK_PLACES, TRAIL_PLACE};
use crate::store::encode::{list, slices};
use crate::store::entity;
use crate::store::error::Error;
use crate::store::statement::Call;
use crate::store::tx::Tx;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The pheromone as a column.
fn amount(pheromone: Option<Pheromone>) -> Option<f64> {
    pheromone.map(Pheromone::value)
}

impl Palace<'_> {
    pub(super) async fn write(&mut self, tx: &mut Tx) -> Result<(), Error> {
        self.touch(tx);
        self.make_places(tx).await?;
        self.make_edges(tx).await?;
        let places: Vec<(&PlaceState<'_>, Place)> = self
            .places
            .iter()
            .filter(|state| state.touched)
            .filter_map(|state| Some((state, *state.place.as_ref().ok()?)))
            .collect();
        for slice in slices(&TRAIL_MARK_PLACES, &places, |(state, _)| {
            state.name.map_or(1, str::len) + state.scope.len() + 90
        }) {
            let cycle = |(state, place): &(&PlaceState<'_>, Place)| {
                (state.anchored && !place.is_silent()).then_some(place.cycle)
            };
            let call = TRAIL_MARK_PLACES
                .call()
                .set("element", list(slice.iter().map(|(state, _)| state.element.as_deref())))
                .set("scope", list(slice.iter().map(|(state, _)| state.scope)))
                .set("name", list(slice.iter().map(|(state, _)| state.name)))
                .set("exploitation", list(slice.iter().map(|(_, place)| amount(place.exploitation))))
                .set("exploration", list(slice.iter().map(|(_, place)| amount(place.exploration))))
                .set("cycle", list(slice.iter().map(cycle)));
            tx.run(call).await?;
        }
        let edges: Vec<WrittenEdge<'_>> = self
            .edges
            .iter()
            .filter(|state| state.touched && state.element.is_some())
            .filter_map(written)
            .collect();
        for slice in slices(&TRAIL_MARK_EDGES, &edges, |_| 130) {
            let elements = list(slice.iter().map(|(state, ..)| state.element.as_deref()));
            tx.run(with_values(TRAIL_MARK_EDGES.call().set("element", elements), slice)).await?;
        }
        Ok(())
    }

    /// Records new and changed rows.
    fn touch(&self, tx: &mut Tx) {
        for state in self.places.iter().filter(|state| state.touched || state.element.is_none()) {
            tx.touch(&state.named.label, state.scope, &state.named.id, "");
        }
        for state in self.edges.iter().filter(|state| state.touched || state.element.is_none()) {
            let from = &self.places[state.ends.0];
            tx.touch(&from.named.label, from.scope, &from.named.id, state.kind.as_str());
        }
    }

    async fn make_places(&mut self, tx: &mut Tx) -> Result<(), Error> {
        #[derive(Deserialize)]
        struct Row {
            element: String,
            id: String,
            scope: String,
        }
        for label in self.trails.allowed.labels() {
            let new: Vec<usize> = (0..self.places.len())
                .filter(|at| self.places[*at].element.is_none() && self.places[*at].label == *label)
                .collect();
            let mut made = BTreeMap::new();
            let is_entity = label.as_str() == "Entity";
            if is_entity {
                let named = new.iter().map(|at| (self.places[*at].scope, self.places[*at].named.id.as_str()));
                entity::check(tx, named).await?;
            }
            let weight = |at: &usize| {
                let state = &self.places[*at];
                2 * state.named.id.len() + state.name.map_or(1, str::len) + state.scope.len() + 8
            };
            for slice in slices(&TRAIL_PLACE, &new, weight) {
                let states = || slice.iter().map(|at| &self.places[*at]);
                let ids = list(states().map(|state| state.named.id.as_str()));
                let call = if is_entity {
                    ENTITY_CREATE.call().set("name", ids)
                } else {
                    let names = list(states().map(|state| state.name));
                    TRAIL_PLACE.about(std::slice::from_ref(label), &[]).set("id", ids).set("name", names)
                };
                let call = call.set("scope", list(states().map(|state| state.scope)));
                for row in tx.rows::<Row>(call).await? {
                    made.insert((row.scope, row.id), row.element);
                }
            }
            for at in new {
                let state = &mut self.places[at];
                state.element = made.remove(&(state.scope.to_owned(), state.named.id.clone()));
            }
        }
        Ok(())
    }

    async fn make_edges(&self, tx: &mut Tx) -> Result<(), Error> {
        for kind in self.trails.allowed.types() {
            let is_new = |state: &&EdgeState| state.element.is_none() && state.kind == *kind;
            let new: Vec<WrittenEdge<'_>> = self.edges.iter().filter(is_new).filter_map(written).collect();
            for slice in slices(&TRAIL_EDGE, &new, |_| 170) {
                let end = |which: fn(&EdgeState) -> usize| {
                    list(slice.iter().map(|(state, ..)| self.places[which(state)].element.as_deref()))
                };
                let call = TRAIL_EDGE.about(&[], std::slice::from_ref(kind));
                let call = call.set("from", end(|edge| edge.ends.0)).set("to", end(|edge| edge.ends.1));
                tx.run(with_values(call, slice)).await?;
            }
        }
        Ok(())
    }
}

/// An edge, its values, and its base cost.
type WrittenEdge<'a> = (&'a EdgeState, Edge, f64);

fn written(state: &EdgeState) -> Option<WrittenEdge<'_>> {
    state.edge.as_ref().ok().map(|(edge, base)| (state, *edge, *base))
}

/// Sets the columns of the values of edges.
fn with_values(call: Call, edges: &[WrittenEdge<'_>]) -> Call {
    let cycle =
        |(state, edge, _): &WrittenEdge<'_>| (state.anchored && !edge.is_silent()).then_some(edge.cycle);
    call.set("success", list(edges.iter().map(|(_, edge, _)| amount(edge.success))))
        .set("traversal", list(edges.iter().map(|(_, edge, _)| amount(edge.traversal))))
        .set("recency", list(edges.iter().map(|(_, edge, _)| amount(edge.recency))))
        .set("cycle", list(edges.iter().map(cycle)))
        .set("base", list(edges.iter().map(|(.., base)| *base)))
        .set("cost", list(edges.iter().map(|(_, edge, base)| edge.cost(*base))))
}
