//! Level-synchronous spreading: the reference for the other implementations.
//!
//! The sources of a level send in ascending id, which is the order of their rows in memory. What arrives at a node in a
//! level is kept apart from its value: the maximum, or the sum. So an arrival is one load, one operation and one store,
//! without a branch on whether the node rises, and the nodes that were reached are read in ascending id at the end of the
//! level, without sorting them.

use super::scratch::Scratch;
use super::{
    ActivatedNode, ActivationConfig, ActivationCounters, ActivationResult, Aggregation, INHIBITORY_FACTOR,
    can_pass, send, strongest, write_initial_values,
};
use crate::graph::Graph;
use crate::graph::index::NodeId;

/// 2^40: the fixed-point unit of inhibition, in which a sum does not depend on its order.
const FX40: f64 = 1_099_511_627_776.0;
/// How many rows ahead their first slots are prefetched.
const AHEAD: usize = 12;

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
    let (counters, truncated) = run(graph, seeds, params, scratch);
    let nodes = strongest(graph, &mut scratch.activated, most);
    scratch.activated.clear();
    ActivationResult { nodes, counters, truncated }
}

/// Spreads activation from seeds and returns all reached nodes, unordered.
pub(crate) fn spread(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &ActivationConfig,
    scratch: &mut Scratch,
) -> ActivationResult {
    let (counters, truncated) = run(graph, seeds, params, scratch);
    ActivationResult { nodes: scratch.activated.drain(..).collect(), counters, truncated }
}

/// Runs all levels; the activated nodes are left in the scratch.
fn run(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &ActivationConfig,
    scratch: &mut Scratch,
) -> (ActivationCounters, bool) {
    scratch.fit(graph.node_count(), params.aggregation, graph.has_inhibition());
    let mut counters = ActivationCounters::default();
    write_initial_values(graph, seeds, params, &mut scratch.seeds);
    for (node, value) in scratch.seeds.drain(..) {
        scratch.cells[node.at()] = value.to_bits();
        scratch.touched.marker().insert(node.0);
        counters.touched += 1;
        if value > params.threshold {
            scratch.frontier.extend(sender(graph, params, &scratch.blocked, node, value));
        }
    }
    let mut truncated = false;
    for _ in 0..params.max_depth {
        if scratch.frontier.is_empty() {
            break;
        }
        if counters.slots_read >= params.max_slots {
            truncated = true;
            break;
        }
        match params.aggregation {
            Aggregation::Max => {
                let mut arrivals = std::mem::take(&mut scratch.strongest);
                let strongest = |held, signal| if signal > held { signal } else { held };
                fire(graph, params, scratch, &mut arrivals, &mut counters, strongest);
                scratch.strongest = arrivals;
            }
            Aggregation::Sum => {
                let mut arrivals = std::mem::take(&mut scratch.sums);
                let sum = |held, signal| held + f64::from(signal);
                fire(graph, params, scratch, &mut arrivals, &mut counters, sum);
                scratch.sums = arrivals;
            }
        }
        settle(graph, params, scratch, &mut counters);
    }
    let Scratch { touched, cells, activated, frontier, .. } = scratch;
    touched.drain(|node| {
        let bits = std::mem::take(&mut cells[node as usize]);
        if bits != 0 {
            activated.push(ActivatedNode { node: NodeId(node), value: f32::from_bits(bits) });
        }
    });
    frontier.clear();
    (counters, truncated)
}

/// A node that rose, with the signal that it sends over a slot of weight 1, if a slot of it can pass the threshold. In the last
/// level of a spread hardly one can, and a bound says so for less than the first slot of its row.
#[inline]
fn sender(
    graph: &Graph,
    params: &ActivationConfig,
    blocked: &[NodeId],
    node: NodeId,
    p: f32,
) -> Option<(NodeId, f32)> {
    let k = params.sends(graph, node, p);
    if k * graph.weight_bound() <= params.threshold {
        return None;
    }
    let passes = |part| can_pass(&part, k, params.threshold);
    let sends = passes(graph.excitatory(node)) || graph.has_inhibition() && passes(graph.inhibitory(node));
    (sends && blocked.binary_search(&node).is_err()).then_some((node, k))
}

/// Sends the signals of one level. Not inlined: the loop over slots needs all registers.
#[inline(never)]
fn fire<A: Copy>(
    graph: &Graph,
    params: &ActivationConfig,
    scratch: &mut Scratch,
    arrivals: &mut [A],
    counters: &mut ActivationCounters,
    combine: impl Fn(A, f32) -> A,
) {
    let Scratch { frontier, inhibition, reached, .. } = scratch;
    let mut reached = reached.marker();
    let inhibits = graph.has_inhibition();
    counters.rows += frontier.len() as u64;
    for (at, (node, k)) in frontier.iter().enumerate() {
        if let Some((ahead, _)) = frontier.get(at + AHEAD) {
            graph.prefetch_row(*ahead);
        }
        let excitatory = graph.excitatory(*node);
        // Where rows have two parts, reading one slot too many of each adds up: the bounds are checked again.
        if !inhibits || can_pass(&excitatory, *k, params.threshold) {
            counters.add(send(&excitatory, *k, params.threshold, |_, target, signal| {
                let arrived = &mut arrivals[target as usize];
                *arrived = combine(*arrived, signal);
                reached.insert(target);
            }));
        }
        if inhibits {
            let inhibitory = graph.inhibitory(*node);
            if can_pass(&inhibitory, *k, params.threshold) {
                counters.add(send(&inhibitory, *k, params.threshold, |_, target, signal| {
                    let sum = &mut inhibition[target as usize];
                    *sum = sum.saturating_add(fx40(signal * INHIBITORY_FACTOR));
                    reached.insert(target);
                }));
            }
        }
    }
    frontier.clear();
}

/// Converts to units of 2^-40, rounded half to even.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a signal is 0 to 48, so that this lies below 2^46"
)]
fn fx40(signal: f32) -> u64 {
    (f64::from(signal) * FX40).round_ties_even() as u64
}

#[expect(
    clippy::cast_precision_loss,
    reason = "sums beyond 2^53 units are 8,192 and more: no value is that high"
)]
fn of_fx40(sum: u64) -> f64 {
    sum as f64 / FX40
}

/// Ends a level: updates the nodes that were reached, and lists those that send next.
#[expect(clippy::cast_possible_truncation, reason = "computed in f64 and rounded once")]
fn settle(
    graph: &Graph,
    params: &ActivationConfig,
    scratch: &mut Scratch,
    counters: &mut ActivationCounters,
) {
    let Scratch { cells, strongest, sums, inhibition, reached, touched, frontier, blocked, .. } = scratch;
    let cap = f64::from(params.cap);
    reached.drain_into(touched, |node| {
        let at = node as usize;
        let old = f32::from_bits(cells[at]);
        let less = inhibition.get_mut(at).map_or(0.0, |sum| of_fx40(std::mem::take(sum)));
        let raised = match params.aggregation {
            Aggregation::Max => f64::from(old.max(std::mem::take(&mut strongest[at]))),
            Aggregation::Sum => f64::from(old) + std::mem::take(&mut sums[at]),
        };
        let new = (raised - less).clamp(0.0, cap) as f32 + 0.0;
        cells[at] = new.to_bits();
        counters.touched += u64::from(old == 0.0 && raised > 0.0);
        let p = match params.aggregation {
            Aggregation::Max => new,
            Aggregation::Sum => new - old,
        };
        if new > old && p > params.threshold {
            frontier.extend(sender(graph, params, blocked, NodeId(node), p));
        }
    });
}
