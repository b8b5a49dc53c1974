//! Level-synchronous spreading: the reference for the other implementations.
//!
//! The sources of a level send in ascending id, which is the order of their rows in memory. Arrivals are written to the
//! cells directly, since the values to send were copied when the level began: the maximum, or the sum of the level. A node
//! that rises is listed once, with its value before, and sends in the next level.

use super::scratch::{LISTED, Scratch};
use super::{Activated, Activation, INHIBITORY_FACTOR, Mode, Params, Work, begin, passes, send, strongest};
use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::graph::raw::prefetch;

/// 2^40: the fixed-point unit of inhibition, in which a sum does not depend on its order.
const FX40: f64 = 1_099_511_627_776.0;
/// How many rows ahead their first slots are prefetched.
const AHEAD: usize = 12;

/// Spreads activation from seeds and returns the `most` strongest nodes. The config is [checked](ActivationConfig::checked).
#[must_use]
pub fn activate(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &Params,
    most: usize,
    scratch: &mut Scratch,
) -> Activation {
    let (work, truncated) = light(graph, seeds, params, scratch);
    let nodes = strongest(graph, &mut scratch.activated, most);
    scratch.activated.clear();
    Activation { nodes, work, truncated }
}

/// Spreads activation from seeds and returns all reached nodes, unordered.
pub(crate) fn spread(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &Params,
    scratch: &mut Scratch,
) -> Activation {
    let (work, truncated) = light(graph, seeds, params, scratch);
    Activation { nodes: scratch.activated.drain(..).collect(), work, truncated }
}

/// Runs all levels; the activated nodes are left in the scratch.
fn light(graph: &Graph, seeds: &[(NodeId, f32)], params: &Params, scratch: &mut Scratch) -> (Work, bool) {
    let inhibits = graph.has_inhibition();
    scratch.fit(graph.node_count(), params.mode == Mode::Convergent, inhibits);
    let mut work = Work::default();
    begin(seeds, params, &mut scratch.seeds);
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
        if work.slots_read >= params.max_slots {
            truncated = true;
            break;
        }
        match params.mode {
            Mode::Strongest => fire(graph, params, scratch, &mut work, arrive_strongest),
            Mode::Convergent => fire(graph, params, scratch, &mut work, arrive_convergent),
        }
        settle(params, scratch);
    }
    work.touched = scratch.touched.len() as u64;
    for node in scratch.touched.drain(..) {
        // Reset as it is read, so that a node listed twice counts once.
        let bits = std::mem::take(&mut scratch.cells[node as usize]);
        if bits != 0 {
            scratch.activated.push(Activated { node: NodeId(node), value: f32::from_bits(bits) });
        }
    }
    scratch.frontier.clear();
    (work, truncated)
}

/// Sends the signals of one level.
fn fire(
    graph: &Graph,
    params: &Params,
    scratch: &mut Scratch,
    work: &mut Work,
    arrive: impl Fn(&mut Scratch, u32, f32),
) {
    let mut frontier = std::mem::take(&mut scratch.frontier);
    frontier.sort_unstable_by_key(|(node, _)| *node);
    let inhibits = graph.has_inhibition();
    for (at, (node, p)) in frontier.iter().enumerate() {
        if let Some((ahead, _)) = frontier.get(at + AHEAD) {
            let part = graph.excitatory(*ahead);
            prefetch(part.targets);
            prefetch(part.weights);
        }
        let k = params.sends(graph, *node, *p);
        work.rows += 1;
        let (excitatory, inhibitory) = (graph.excitatory(*node), graph.inhibitory(*node));
        // Where rows have two parts, reading one slot too many of each adds up: the bounds are checked first.
        if !inhibits || passes(&excitatory, k, params.threshold) {
            let arrive = |_, target, signal| arrive(scratch, target, signal);
            work.add(send(&excitatory, k, params.threshold, arrive));
        }
        if inhibits && passes(&inhibitory, k, params.threshold) {
            let inhibit = |_, target, signal| inhibit(scratch, target, signal);
            work.add(send(&inhibitory, k, params.threshold, inhibit));
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
#[expect(clippy::cast_possible_truncation, reason = "worked out in f64 and rounded once")]
fn settle(params: &Params, scratch: &mut Scratch) {
    let Scratch { cells, sums, inhibition, inhibited, frontier, rising, .. } = scratch;
    let cap = f64::from(params.cap);
    let takes = |inhibition: &mut Vec<u64>, node: u32| match inhibition.get_mut(node as usize) {
        Some(sum) if *sum > 0 => of_fx40(std::mem::take(sum)),
        _ => 0.0,
    };
    for (node, old) in rising.drain(..) {
        let at = node as usize;
        let less = takes(inhibition, node);
        let (new, p) = match params.mode {
            Mode::Strongest => {
                let new = (f64::from(f32::from_bits(cells[at] & !LISTED)) - less).clamp(0.0, cap) as f32;
                (new, new)
            }
            Mode::Convergent => {
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
