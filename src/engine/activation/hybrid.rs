//! Chooses an implementation: best-first for few seeds in a sparse graph without inhibition, else the wavefront.

use super::scratch::Scratch;
use super::{ActivationConfig, ActivationResult, Aggregation, best_first, wavefront};
use crate::graph::Graph;
use crate::graph::index::NodeId;

/// Seeds for each node of the graph, below which they are few.
pub const HEAP_SEED_RATIO: f64 = 0.001;
/// Mean number of slots of a node, below which a graph is sparse.
pub const HEAP_AVG_DEGREE: f64 = 8.0;

/// Whether [`best_first`] is used.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts below 2^32")]
pub fn takes_best_first(graph: &Graph, seeds: usize, params: &ActivationConfig) -> bool {
    let nodes = graph.node_count() as f64;
    params.aggregation == Aggregation::Max
        && (seeds as f64) < HEAP_SEED_RATIO * nodes
        && (graph.slot_count() as f64) < HEAP_AVG_DEGREE * nodes
        && !graph.has_inhibition()
}

/// Spreads activation from seeds and returns the `most` strongest nodes. The config is [checked](ActivationConfig::checked);
/// seeds that the graph does not have are ignored.
#[must_use]
pub fn activate(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &ActivationConfig,
    most: usize,
    scratch: &mut Scratch,
) -> ActivationResult {
    if takes_best_first(graph, seeds.len(), params) {
        best_first::activate(graph, seeds, params, most, scratch)
    } else {
        wavefront::activate(graph, seeds, params, most, scratch)
    }
}

/// Spreads activation from seeds and returns all reached nodes, unordered.
pub(crate) fn spread(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &ActivationConfig,
    scratch: &mut Scratch,
) -> ActivationResult {
    if takes_best_first(graph, seeds.len(), params) {
        best_first::spread(graph, seeds, params, scratch)
    } else {
        wavefront::spread(graph, seeds, params, scratch)
    }
}
