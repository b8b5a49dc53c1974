//! A path from a seed to each activated node, which explains why it was activated. It can be replayed: begin with the
//! value of its seed, send over each of its slots, and its arrival results.
//!
//! [`strongest`] is one search for all targets, the strongest signal first, with the same decay, fan-out, threshold and
//! depth as the activation. With linear fan-out no hop amplifies, since the weight of a slot is part of the sum its row is
//! divided by. So the first signal to arrive is the strongest, and the search ends with the last target.
//!
//! Signals that are added up reach nodes that none of them reaches alone, and the search ends after 20,000
//! signals. [`paths`] therefore finds the rest by breadth: a path with the fewest hops, through activated nodes. Each of
//! them is visited once, so that costs no more than a level of the activation. Nodes that sent nothing are on no path.
//!
//! # Design notes
//! Learning can lift a slot above its part of the row, so a hop can amplify after all; a path that is stronger for that
//! reason but begins weaker than all that were found is not searched for. The path of a hit is then a strong one, and
//! still replays.
//!
//! A path does not depend on which others are searched for, so that a longer list of hits changes none.
//!
//! The signals that a node has sent are looked up for each signal, so they are found through its cell and not by a hash.
//!
//! Invariant: every activated node has a path that replays (held by `every_activated_node_has_a_path`).

use super::scratch::Scratch;
use super::{ActivationConfig, FanOut, initial_values, send};
use crate::folded::Folded;
use crate::graph::Graph;
use crate::graph::index::{EdgeIdx, NodeId};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};

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

/// Signals that the search for the strongest examines; beyond them the paths of fewest hops are as good an explanation.
const SIGNALS_MAX: usize = 20_000;

/// A pending signal. The greatest goes first: the strongest, then with the fewest hops, then by external id, then the earlier.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pending(u128);

impl Pending {
    /// One number is compared faster than four: bits of the value, and the complements of the hops, the rank of the node and the
    /// number of the signal.
    fn of(signal: &Signal, rank: u32, number: usize) -> Self {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let order = u64::from(!rank) << 32 | u64::from(!number);
        Self(u128::from(signal.bits) << 72 | u128::from(!signal.hops) << 64 | u128::from(order))
    }

    /// The number of the signal.
    #[expect(clippy::cast_possible_truncation, reason = "the last 32 bits")]
    const fn number(&self) -> usize {
        !(self.0 as u32) as usize
    }
}

/// A signal: bits of its value, its predecessor (index and slot), its hops, its node.
#[derive(Clone, Copy)]
struct Signal {
    bits: u32,
    before: Option<(usize, EdgeIdx)>,
    hops: u8,
    node: NodeId,
}

/// A path to each of `wanted`, which are among the nodes that an activation `reached`: the strongest, or one with the
/// fewest hops if none can be followed by itself.
#[must_use]
pub fn paths(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &ActivationConfig,
    wanted: &BTreeSet<NodeId>,
    reached: &[NodeId],
    scratch: &mut Scratch,
) -> BTreeMap<NodeId, Path> {
    let mut found = strongest(graph, seeds, params, wanted, scratch);
    let blocked = scratch.blocked.as_slice();
    let mut rest: BTreeSet<NodeId> =
        wanted.iter().filter(|node| !found.contains_key(node)).copied().collect();
    if !rest.is_empty() {
        let reached: HashSet<NodeId, Folded> = reached.iter().copied().collect();
        let is_reached = |node| reached.contains(&node);
        found.extend(fewest_hops((graph, blocked), seeds, params, &rest, is_reached));
        rest.retain(|node| !found.contains_key(node));
    }
    // A node on the way may have been inhibited since it sent.
    if !rest.is_empty() {
        found.extend(fewest_hops((graph, blocked), seeds, params, &rest, |_| true));
    }
    found
}

/// The strongest path to each of `wanted` that a signal can follow by itself, within the depth of the config.
#[must_use]
pub fn strongest(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &ActivationConfig,
    wanted: &BTreeSet<NodeId>,
    scratch: &mut Scratch,
) -> BTreeMap<NodeId, Path> {
    let is_first_strongest = params.fan_out == FanOut::Linear;
    let mut signals: Vec<Signal> = Vec::new();
    let mut queue: BinaryHeap<Pending> = BinaryHeap::new();
    scratch.fit_cells(graph.node_count());
    let Scratch { cells, sent, blocked, .. } = scratch;
    let mut sent = Sent::of(cells, sent, params);
    let mut found: BTreeMap<NodeId, usize> = BTreeMap::new();
    for (node, value) in initial_values(graph, seeds, params) {
        let signal = Signal { bits: value.to_bits(), before: None, hops: 0, node };
        queue.push(Pending::of(&signal, graph.rank(node), signals.len()));
        signals.push(signal);
    }
    for _ in 0..SIGNALS_MAX {
        let Some(at) = queue.pop().map(|next| next.number()) else { break };
        let Signal { bits, hops, node, .. } = signals[at];
        // The first to arrive is the strongest where no hop amplifies; elsewhere a later one may be.
        if wanted.contains(&node) {
            match found.entry(node) {
                Entry::Vacant(free) => drop(free.insert(at)),
                Entry::Occupied(mut held) if !is_first_strongest && signals[*held.get()].bits < bits => {
                    held.insert(at);
                }
                Entry::Occupied(_) => {}
            }
        }
        if is_first_strongest && found.len() == wanted.len() {
            break;
        }
        let value = f32::from_bits(bits);
        if hops == params.max_depth || value <= params.threshold || blocked.binary_search(&node).is_ok() {
            continue;
        }
        if !sent.add(node, hops, bits) {
            continue;
        }
        let part = graph.excitatory(node);
        let k = params.sends(graph, node, value);
        send(&part, k, params.threshold, |slot, target, signal| {
            let bits = signal.min(params.cap).to_bits();
            if sent.after(NodeId(target), hops + 1) >= bits {
                return;
            }
            let slot = EdgeIdx(part.first.0 + u32::try_from(slot).unwrap_or(0));
            let node = NodeId(target);
            let signal = Signal { bits, before: Some((at, slot)), hops: hops + 1, node };
            queue.push(Pending::of(&signal, graph.rank(node), signals.len()));
            signals.push(signal);
        });
    }
    sent.clear();
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

/// The strongest signals that nodes have sent, by number of hops.
struct Sent<'a> {
    /// By node: 1 + the number of its row in `rows`; 0 for none.
    cells: &'a mut [u32],
    rows: &'a mut Vec<u32>,
    /// Nodes with a row.
    nodes: Vec<NodeId>,
    /// Length of a row.
    depths: usize,
}

impl<'a> Sent<'a> {
    fn of(cells: &'a mut [u32], rows: &'a mut Vec<u32>, params: &ActivationConfig) -> Self {
        Self { cells, rows, nodes: Vec::new(), depths: usize::from(params.max_depth) + 1 }
    }

    /// The row of a node, whose beginning is in `rows`.
    fn row(&self, node: NodeId) -> Option<usize> {
        let number = self.cells[node.at()].checked_sub(1)?;
        Some(number as usize * self.depths)
    }

    /// Bits of the strongest signal that a node has sent after exactly so many hops; 0 for none.
    fn after(&self, node: NodeId, hops: u8) -> u32 {
        self.row(node).map_or(0, |row| self.rows[row + usize::from(hops)])
    }

    /// Adds a signal, unless the node has sent one as strong after as many hops or fewer.
    fn add(&mut self, node: NodeId, hops: u8, bits: u32) -> bool {
        let row = self.row(node).unwrap_or_else(|| {
            self.nodes.push(node);
            self.cells[node.at()] = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
            self.rows.resize(self.nodes.len() * self.depths, 0);
            self.rows.len() - self.depths
        });
        let row = &mut self.rows[row..=row + usize::from(hops)];
        let is_stronger = row.iter().all(|held| *held < bits);
        if is_stronger && let Some(held) = row.last_mut() {
            *held = bits;
        }
        is_stronger
    }

    /// Clears the cells for the next query.
    fn clear(self) {
        self.nodes.iter().for_each(|node| self.cells[node.at()] = 0);
        self.rows.clear();
    }
}

/// By node: its signal, and the hop that brought it; none for a seed.
type Arrivals = HashMap<NodeId, (f32, Option<(NodeId, EdgeIdx)>), Folded>;

/// A path with the fewest hops to each of `wanted`, through nodes that may be `passed`; of several the one whose last hop
/// brings most.
fn fewest_hops(
    (graph, blocked): (&Graph, &[NodeId]),
    seeds: &[(NodeId, f32)],
    params: &ActivationConfig,
    wanted: &BTreeSet<NodeId>,
    passed: impl Fn(NodeId) -> bool,
) -> BTreeMap<NodeId, Path> {
    let initial: BTreeMap<NodeId, f32> = initial_values(graph, seeds, params).into_iter().collect();
    let mut arrivals: Arrivals = initial.iter().map(|(node, value)| (*node, (*value, None))).collect();
    let mut level: Vec<NodeId> = initial.keys().copied().collect();
    let mut missing = wanted.iter().filter(|node| !arrivals.contains_key(node)).count();
    for _ in 0..params.max_depth {
        if missing == 0 {
            break;
        }
        level.retain(|node| blocked.binary_search(node).is_err());
        level.sort_unstable_by_key(|node| graph.rank(*node));
        let mut next = Arrivals::default();
        for source in level {
            let part = graph.excitatory(source);
            let k = params.sends(graph, source, arrivals[&source].0);
            // All slots of a weight above 0: each could carry its part of a signal.
            send(&part, 1.0, 0.0, |slot, target, weight| {
                let (target, signal) = (NodeId(target), (k * weight).min(params.cap));
                if arrivals.contains_key(&target) || !passed(target) {
                    return;
                }
                let slot = EdgeIdx(part.first.0 + u32::try_from(slot).unwrap_or(0));
                let held = next.entry(target).or_insert((signal, Some((source, slot))));
                if signal > held.0 {
                    *held = (signal, Some((source, slot)));
                }
            });
        }
        missing -= next.keys().filter(|node| wanted.contains(node)).count();
        level = next.keys().copied().collect();
        arrivals.extend(next);
    }
    let path = |node: &NodeId| {
        let (arrival, mut before) = *arrivals.get(node)?;
        let (mut slots, mut seed) = (Vec::new(), *node);
        while let Some((source, slot)) = before {
            slots.push(slot);
            seed = source;
            before = arrivals.get(&source)?.1;
        }
        slots.reverse();
        Some((*node, Path { seed, value: *initial.get(&seed)?, slots, arrival }))
    };
    wanted.iter().filter_map(path).collect()
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
