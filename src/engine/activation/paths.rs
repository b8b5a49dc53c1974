//! How a signal came: the strongest way from a seed to each of some nodes.
//!
//! One search for all of them, the strongest signal first, with the same decay, fan and threshold as the activation. A way
//! replays: begin with the value of its seed, send over each of its slots, and what arrives is what it says.
//!
//! With the linear fan no hop gains, since what a slot weighs is part of what its row is divided by. So the first signal to
//! come is the strongest, and the search is over with the last of those that are wanted.
//!
//! # Design notes
//! Learning lifts a slot above its part of the row, so a hop can gain after all; a way that is stronger by it, but begins
//! weaker than all that are found, is not looked for. What is told of a hit is then a strong way, and still replays.

use super::{Fan, Params, initial_values, send};
use crate::graph::Graph;
use crate::graph::index::{EdgeIdx, NodeId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

/// A way from a seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// Where it begins.
    pub seed: NodeId,
    /// What it begins with.
    pub value: f32,
    /// The slots it goes over; none for a seed itself.
    pub slots: Vec<EdgeIdx>,
    /// What arrives at its end.
    pub arrival: f32,
}

/// Signals that are looked at before the search gives up.
const POPS_MAX: usize = 20_000;

/// What waits of a signal: bits of its value, its hops, the rank of its node, its place.
type Waiting = (u32, Reverse<u8>, Reverse<u32>, Reverse<usize>);

/// A signal: bits of its value, how it came (the place of the signal before it, and the slot), its hops, its node.
#[derive(Clone, Copy)]
struct Signal {
    bits: u32,
    before: Option<(usize, EdgeIdx)>,
    hops: u8,
    node: NodeId,
}

/// The strongest way to each of `wanted` that there is one to, of at most the depth of `params`.
#[must_use]
pub fn strongest(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &Params,
    wanted: &BTreeSet<NodeId>,
) -> BTreeMap<NodeId, Path> {
    let mut signals: Vec<Signal> = Vec::new();
    // The greatest goes first: strongest, fewest hops, then by external id, then the earlier.
    let mut waiting: BinaryHeap<Waiting> = BinaryHeap::new();
    let mut best: HashMap<(u32, u8), u32> = HashMap::new();
    let mut found: BTreeMap<NodeId, usize> = BTreeMap::new();
    for (node, value) in initial_values(seeds, params) {
        waiting.push((value.to_bits(), Reverse(0), Reverse(graph.rank(node)), Reverse(signals.len())));
        signals.push(Signal { bits: value.to_bits(), before: None, hops: 0, node });
    }
    for _ in 0..POPS_MAX {
        let Some((_, _, _, Reverse(at))) = waiting.pop() else { break };
        let Signal { bits, hops, node, .. } = signals[at];
        // The first to come is the strongest where no hop gains; elsewhere a later one may be.
        if wanted.contains(&node) {
            match found.get(&node) {
                Some(held) if signals[*held].bits >= bits => {}
                _ => drop(found.insert(node, at)),
            }
        }
        if params.fan == Fan::Linear && found.len() == wanted.len() {
            break;
        }
        let value = f32::from_bits(bits);
        if hops == params.max_depth || value <= params.threshold {
            continue;
        }
        if (0..=hops).any(|less| best.get(&(node.0, less)).is_some_and(|held| *held >= bits)) {
            continue;
        }
        best.insert((node.0, hops), bits);
        let part = graph.excitatory(node);
        let k = params.sends(graph, node, value);
        send(&part, k, params.threshold, |slot, target, signal| {
            let bits = signal.min(params.cap).to_bits();
            if best.get(&(target, hops + 1)).is_some_and(|held| *held >= bits) {
                return;
            }
            let slot = EdgeIdx(part.first.0 + u32::try_from(slot).unwrap_or(0));
            let node = NodeId(target);
            waiting.push((bits, Reverse(hops + 1), Reverse(graph.rank(node)), Reverse(signals.len())));
            signals.push(Signal { bits, before: Some((at, slot)), hops: hops + 1, node });
        });
    }
    let path = |at: usize| {
        let (mut slots, mut here) = (Vec::new(), at);
        while let Some((before, slot)) = signals[here].before {
            slots.push(slot);
            here = before;
        }
        slots.reverse();
        let seed = &signals[here];
        Path {
            seed: seed.node,
            value: f32::from_bits(seed.bits),
            slots,
            arrival: f32::from_bits(signals[at].bits),
        }
    };
    found.into_iter().map(|(node, at)| (node, path(at))).collect()
}

impl Path {
    /// What arrives if it is walked again.
    #[must_use]
    pub fn replayed(&self, graph: &Graph, params: &Params) -> f32 {
        let mut here = (self.seed, self.value);
        for slot in &self.slots {
            let signal = params.sends(graph, here.0, here.1) * graph.weight(*slot);
            here = (graph.target(*slot), signal.min(params.cap));
        }
        here.1
    }
}
