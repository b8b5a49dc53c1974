//! Chooses an engine: the strongest first where few seeds meet a sparse graph without inhibition, else the whole front.

use super::scratch::Scratch;
use super::{Activation, Mode, Params, best_first, wavefront};
use crate::graph::Graph;
use crate::graph::index::NodeId;

/// Seeds for each node of the graph, below which they are few.
pub const HEAP_SEED_RATIO: f64 = 0.001;
/// Slots of a node in the mean, below which a graph is sparse.
pub const HEAP_AVG_DEGREE: f64 = 8.0;

/// Whether the strongest signal is followed first.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts below 2^32")]
pub fn takes_best_first(graph: &Graph, seeds: usize, params: &Params) -> bool {
    let nodes = graph.node_count() as f64;
    params.mode == Mode::Strongest
        && (seeds as f64) < HEAP_SEED_RATIO * nodes
        && (graph.slot_count() as f64) < HEAP_AVG_DEGREE * nodes
        && !graph.has_inhibition()
}

/// Lights up what seeds reach; answers the strongest `most`. Params are [checked](Params::checked).
#[must_use]
pub fn activate(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &Params,
    most: usize,
    scratch: &mut Scratch,
) -> Activation {
    if takes_best_first(graph, seeds.len(), params) {
        best_first::activate(graph, seeds, params, most, scratch)
    } else {
        wavefront::activate(graph, seeds, params, most, scratch)
    }
}

/// Lights up what seeds reach; answers all of it, in no order.
pub(crate) fn spread(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &Params,
    scratch: &mut Scratch,
) -> Activation {
    if takes_best_first(graph, seeds.len(), params) {
        best_first::spread(graph, seeds, params, scratch)
    } else {
        wavefront::spread(graph, seeds, params, scratch)
    }
}
