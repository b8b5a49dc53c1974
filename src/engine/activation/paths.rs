//! The strongest path from a seed to each of some nodes, which explains why a node was activated.
//!
//! One search for all targets, the strongest signal first, with the same decay, fan-out and threshold as the activation. A
//! path can be replayed: begin with the value of its seed, send over each of its slots, and its arrival results.
//!
//! With linear fan-out no hop amplifies, since the weight of a slot is part of the sum its row is divided by. So the first
//! signal to arrive is the strongest, and the search ends with the last target.
//!
//! # Design notes
//! Learning can lift a slot above its part of the row, so a hop can amplify after all; a path that is stronger for that
//! reason but begins weaker than all that were found is not searched for. The path of a hit is then a strong one, and
//! still replays.

use super::{ActivationConfig, FanOut, initial_values, send};
use crate::graph::Graph;
use crate::graph::index::{EdgeIdx, NodeId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

/// A path from a seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The seed.
    pub seed: NodeId,
    /// The initial value of the seed.
    pub value: f32,
    /// The slots of the path; empty for a seed itself.
    pub slots: Vec<EdgeIdx>,
    /// The signal that arrives at its end.
    pub arrival: f32,
}

/// Signals examined before the search stops.
const POPS_MAX: usize = 20_000;

/// A pending signal: bits of its value, its hops, the rank of its node, its index.
type Pending = (u32, Reverse<u8>, Reverse<u32>, Reverse<usize>);

/// A signal: bits of its value, its predecessor (index and slot), its hops, its node.
#[derive(Clone, Copy)]
struct Signal {
    bits: u32,
    before: Option<(usize, EdgeIdx)>,
    hops: u8,
    node: NodeId,
}

/// The strongest path to each of `wanted` that can be reached within the depth of the config.
#[must_use]
pub fn strongest(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &ActivationConfig,
    wanted: &BTreeSet<NodeId>,
) -> BTreeMap<NodeId, Path> {
    let mut signals: Vec<Signal> = Vec::new();
    // The greatest goes first: strongest, fewest hops, then by external id, then the earlier.
    let mut queue: BinaryHeap<Pending> = BinaryHeap::new();
    let mut best: HashMap<(u32, u8), u32> = HashMap::new();
    let mut found: BTreeMap<NodeId, usize> = BTreeMap::new();
    for (node, value) in initial_values(seeds, params) {
        queue.push((value.to_bits(), Reverse(0), Reverse(graph.rank(node)), Reverse(signals.len())));
        signals.push(Signal { bits: value.to_bits(), before: None, hops: 0, node });
    }
    for _ in 0..POPS_MAX {
        let Some((_, _, _, Reverse(at))) = queue.pop() else { break };
        let Signal { bits, hops, node, .. } = signals[at];
        // The first to arrive is the strongest where no hop amplifies; elsewhere a later one may be.
        if wanted.contains(&node) {
            match found.get(&node) {
                Some(held) if signals[*held].bits >= bits => {}
                _ => drop(found.insert(node, at)),
            }
        }
        if params.fan_out == FanOut::Linear && found.len() == wanted.len() {
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
            queue.push((bits, Reverse(hops + 1), Reverse(graph.rank(node)), Reverse(signals.len())));
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
    /// The arrival, computed again along the path.
    #[must_use]
    pub fn replayed(&self, graph: &Graph, params: &ActivationConfig) -> f32 {
        let mut here = (self.seed, self.value);
        for slot in &self.slots {
            let signal = params.sends(graph, here.0, here.1) * graph.weight(*slot);
            here = (graph.target(*slot), signal.min(params.cap));
        }
        here.1
    }
}
