//! Level-synchronous spreading: the reference for the other implementations.
//!
//! The sources of a level send in ascending id, which is the order of their rows in memory. Arrivals are written to the
//! cells directly, since the values to send were copied when the level began: the maximum, or the sum of the level. A node
//! that rises is listed once, with its value before, and sends in the next level.

use super::scratch::{LISTED, Scratch};
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

/// Spreads activation from seeds and returns the `most` strongest nodes. The config is [checked](ActivationConfig::checked).
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
    let inhibits = graph.has_inhibition();
    scratch.fit(graph.node_count(), params.aggregation == Aggregation::Sum, inhibits);
    let mut counters = ActivationCounters::default();
    write_initial_values(seeds, params, &mut scratch.seeds);
    for (node, value) in scratch.seeds.drain(..) {
        scratch.cells[node.at()] = value.to_bits();
        scratch.touched.push(node.0);
        if value > params.threshold {
            scratch.frontier.push((node, value));
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
            Aggregation::Max => fire(graph, params, scratch, &mut counters, arrive_strongest),
            Aggregation::Sum => fire(graph, params, scratch, &mut counters, arrive_convergent),
        }
        settle(params, scratch);
    }
    counters.touched = scratch.touched.len() as u64;
    for node in scratch.touched.drain(..) {
        // Reset as it is read, so that a node listed twice counts once.
        let bits = std::mem::take(&mut scratch.cells[node as usize]);
        if bits != 0 {
            scratch.activated.push(ActivatedNode { node: NodeId(node), value: f32::from_bits(bits) });
        }
    }
    scratch.frontier.clear();
    (counters, truncated)
}

/// Sends the signals of one level.
fn fire(
    graph: &Graph,
    params: &ActivationConfig,
    scratch: &mut Scratch,
    counters: &mut ActivationCounters,
    arrive: impl Fn(&mut Scratch, u32, f32),
) {
    let mut frontier = std::mem::take(&mut scratch.frontier);
    frontier.sort_unstable_by_key(|(node, _)| *node);
    let inhibits = graph.has_inhibition();
    for (at, (node, p)) in frontier.iter().enumerate() {
        if let Some((ahead, _)) = frontier.get(at + AHEAD) {
            graph.prefetch_row(*ahead);
        }
        if scratch.blocked.binary_search(node).is_ok() {
            continue;
        }
        let k = params.sends(graph, *node, *p);
        counters.rows += 1;
        let excitatory = graph.excitatory(*node);
        // Where rows have two parts, reading one slot too many of each adds up: the bounds are checked first.
        if !inhibits || can_pass(&excitatory, k, params.threshold) {
            let arrive = |_, target, signal| arrive(scratch, target, signal);
            counters.add(send(&excitatory, k, params.threshold, arrive));
        }
        if inhibits {
            let inhibitory = graph.inhibitory(*node);
            if can_pass(&inhibitory, k, params.threshold) {
                let inhibit = |_, target, signal| inhibit(scratch, target, signal);
                counters.add(send(&inhibitory, k, params.threshold, inhibit));
            }
        }
    }
    frontier.clear();
    scratch.frontier = frontier;
}

#[inline]
fn arrive_strongest(scratch: &mut Scratch, target: u32, signal: f32) {
    let cell = &mut scratch.cells[target as usize];
    // Bits of non-negative numbers sort like the numbers.
    let (bits, held) = (signal.to_bits(), *cell & !LISTED);
    if bits > held {
        if *cell & LISTED == 0 {
            scratch.rising.push((target, f32::from_bits(held)));
            if held == 0 {
                scratch.touched.push(target);
            }
        }
        *cell = bits | LISTED;
    }
}

#[inline]
fn arrive_convergent(scratch: &mut Scratch, target: u32, signal: f32) {
    let sum = &mut scratch.sums[target as usize];
    if sum.to_bits() == 0 {
        let held = scratch.cells[target as usize];
        scratch.rising.push((target, f32::from_bits(held)));
        if held == 0 {
            scratch.touched.push(target);
        }
    }
    *sum += f64::from(signal);
}

fn inhibit(scratch: &mut Scratch, target: u32, signal: f32) {
    let units = fx40(signal * INHIBITORY_FACTOR);
    let sum = &mut scratch.inhibition[target as usize];
    if *sum == 0 && units > 0 {
        scratch.inhibited.push(target);
    }
    *sum = sum.saturating_add(units);
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

/// Ends a level: updates nodes that rose, fell or stayed, and lists those that send next.
#[expect(clippy::cast_possible_truncation, reason = "computed in f64 and rounded once")]
fn settle(params: &ActivationConfig, scratch: &mut Scratch) {
    let Scratch { cells, sums, inhibition, inhibited, frontier, rising, .. } = scratch;
    let cap = f64::from(params.cap);
    let takes = |inhibition: &mut Vec<u64>, node: u32| match inhibition.get_mut(node as usize) {
        Some(sum) if *sum > 0 => of_fx40(std::mem::take(sum)),
        _ => 0.0,
    };
    for (node, old) in rising.drain(..) {
        let at = node as usize;
        let less = takes(inhibition, node);
        let (new, p) = match params.aggregation {
            Aggregation::Max => {
                let new = (f64::from(f32::from_bits(cells[at] & !LISTED)) - less).clamp(0.0, cap) as f32;
                (new, new)
            }
            Aggregation::Sum => {
                let sum = std::mem::take(&mut sums[at]);
                let new = (f64::from(old) + sum - less).clamp(0.0, cap) as f32;
                (new, new - old)
            }
        };
        cells[at] = (new + 0.0).to_bits();
        if new > old && p > params.threshold {
            frontier.push((NodeId(node), p));
        }
    }
    for node in inhibited.drain(..) {
        let less = takes(inhibition, node);
        if less > 0.0 {
            let cell = &mut cells[node as usize];
            *cell = ((f64::from(f32::from_bits(*cell)) - less).clamp(0.0, cap) as f32 + 0.0).to_bits();
        }
    }
}
