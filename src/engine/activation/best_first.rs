//! Best-first spreading: follows the strongest signal first and stops once no pending signal can pass the threshold.
//!
//! A node keeps each signal that no other beats in value at no more hops, so the depth limit is exact, and the values are
//! bit for bit those of the wavefront. It supports maximum aggregation only, since sums have no strongest signal, and
//! falls back to the wavefront where a slot inhibits.

use super::bloom::BloomFilter;
use super::scratch::Scratch;
use super::{
    ActivatedNode, ActivationConfig, ActivationCounters, ActivationResult, Aggregation, initial_values, send,
    wavefront,
};
use crate::graph::Graph;
use crate::graph::index::NodeId;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// A pending signal: bits of its value, its hops, the rank of its node. The greatest goes first: strongest, then nearest,
/// then by external id.
type Pending = (u32, Reverse<u8>, Reverse<u32>, NodeId);

/// Signals of one node that no other beats, as bits of values and hops.
type Labels = SmallVec<[(u32, u8); 2]>;

/// Capacity of the filter for each seed.
const REACH: usize = 1_024;

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
    spread(graph, seeds, params, scratch).strongest(graph, most)
}

/// Spreads activation from seeds and returns all reached nodes, unordered.
pub(crate) fn spread(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &ActivationConfig,
    scratch: &mut Scratch,
) -> ActivationResult {
    if params.aggregation != Aggregation::Max {
        return wavefront::spread(graph, seeds, params, scratch);
    }
    let initial = initial_values(graph, seeds, params);
    let mut known: HashMap<u32, Labels> = HashMap::new();
    let mut filter = BloomFilter::of(REACH * initial.len().max(1));
    let mut queue: BinaryHeap<Pending> = BinaryHeap::new();
    let mut counters = ActivationCounters::default();
    for (node, value) in initial {
        filter.insert(node.0);
        known.insert(node.0, SmallVec::from_elem((value.to_bits(), 0), 1));
        queue.push((value.to_bits(), Reverse(0), Reverse(graph.rank(node)), node));
    }
    let mut truncated = false;
    while let Some((bits, Reverse(depth), _, node)) = queue.pop() {
        let value = f32::from_bits(bits);
        if value <= params.threshold {
            break;
        }
        let is_dominated = |labels: &Labels| !labels.contains(&(bits, depth));
        let is_blocked = scratch.blocked.binary_search(&node).is_ok();
        if depth == params.max_depth || is_blocked || known.get(&node.0).is_some_and(is_dominated) {
            continue;
        }
        if !graph.inhibitory(node).targets.is_empty() {
            return wavefront::spread(graph, seeds, params, scratch);
        }
        if counters.slots_read >= params.max_slots {
            truncated = true;
            break;
        }
        counters.rows += 1;
        let k = params.sends(graph, node, value);
        let (read, useful) = send(&graph.excitatory(node), k, params.threshold, |_, target, signal| {
            let label = (signal.min(params.cap).to_bits(), depth + 1);
            let held = if filter.may_hold(target) { known.get_mut(&target) } else { None };
            match held {
                Some(labels) if labels.iter().any(|held| held.0 >= label.0 && held.1 <= label.1) => return,
                Some(labels) => {
                    labels.retain(|held| !(label.0 >= held.0 && label.1 <= held.1));
                    labels.push(label);
                }
                None => {
                    filter.insert(target);
                    known.insert(target, SmallVec::from_elem(label, 1));
                }
            }
            let target = NodeId(target);
            queue.push((label.0, Reverse(label.1), Reverse(graph.rank(target)), target));
        });
        counters.slots_read += read;
        counters.useful_slots += useful;
    }
    counters.touched = known.len() as u64;
    // Callers sort before they cut, so the order of the table cannot show.
    #[expect(
        clippy::iter_over_hash_type,
        reason = "what is read of it is sorted by value and external id before it is cut"
    )]
    let activated = {
        let mut activated = Vec::with_capacity(known.len());
        for (node, labels) in &known {
            let bits = labels.iter().map(|label| label.0).max().unwrap_or(0);
            activated.push(ActivatedNode { node: NodeId(*node), value: f32::from_bits(bits) });
        }
        activated
    };
    ActivationResult { nodes: activated, counters, truncated }
}
