//! Pulses that start at seeds and cross pairs, hop by hop.
//!
//! A seed sends its amplitude to each of its neighbours, times the conductance of the pair. A pulse of amplitude `A` that
//! amplitude_from from `p` to a node with `q` other neighbours continues by one of three rules; each crossing is one hop:
//!
//! | node | to each of the others | back to `p` |
//! |---|---|---|
//! | plain | `A * t / q` | nothing |
//! | hub, of more than four times the mean degree | `0.7 * A * t / q` | `-0.3 * A * t` |
//! | dead end, of degree 1 | | `-A * t` |
//!
//! Pulses of one hop with the same node and the same previous node are merged. Pulses of at most 0.0001 are dropped,
//! including seeds. If a hop has more pulses than the budget has left, the smallest are dropped, of equal ones those that
//! come last by the external ids of node and previous node, and no further hop begins.
//!
//! # Design notes
//! A pulse is divided by `q`, so that none is ever larger than the largest seed (held by `waves_maximum_principle`): divided
//! by its root, waves in phase would grow without bound inside a clique. Pulses are merged before they are dropped, so that
//! a hub passes on the sum of many small pulses. Degrees are those of the undirected view; by outgoing slots no wave would
//! pass a chain whose slots all have one direction.
//!
//! The output of a node is computed once for all its arrivals in a hop. With `a(w)` for the amplitude that amplitude_from from `w`,
//! and `total` for the sum, neighbour `w` gets `t(w) * (T / q * (total - a(w)) - r * a(w))`. The cost of a node is its
//! number of neighbours and not that times its arrivals; where too little arrived for any neighbour but the senders, its
//! row is not read at all. So a leaf of a hub with 100,000 leaves costs no more than another node.
//!
//! Sums run in `f64` over ascending previous nodes, and nodes of a hop send in ascending order. Buffers with a cell for each
//! node are zero between queries, or hold indexes that are validated when read, so a query clears only what it touched.
//!
//! The energy of dropped pulses, the sum of squared amplitudes, is reported for the hop in which the budget ended. What the
//! last pulses would have sent is not computed.

use super::rows::Rows;
use super::{HOPS_MAX, ResonanceConfig};
use crate::graph::Graph;
use crate::graph::builder::within;
use crate::graph::index::NodeId;
use crate::graph::number::PosF32;
use crate::graph::raw::in_large_pages;
use crate::{Error, Flag, Flags};

/// Amplitudes of a node: one for each hop, and one for the start.
pub const AMPLITUDES: usize = 1 + HOPS_MAX as usize;
/// Pulses at or below this are dropped.
pub const AMPLITUDE_MIN: f64 = 0.0001;
/// A node whose degree is more than this times the mean is a hub.
pub const HUB_DEGREE_FACTOR: f64 = 4.0;
/// Share of a pulse that a hub reflects.
pub const HUB_REFLECTION_COEFF: f64 = 0.3;
/// Phase shift of a reflection: its minus sign.
pub const REFLECTION_PHASE_SHIFT: f64 = std::f64::consts::PI;

/// A pulse that crossed a pair. Its phase is that of its hop, and half a turn more if its amplitude is negative; frequency
/// and wavelength are chosen by the reader.
#[derive(Debug, Clone, Copy)]
pub(super) struct WavePulse {
    /// Its node.
    pub(super) node: NodeId,
    /// The node before; for a seed, the same.
    pub(super) previous: NodeId,
    /// Conductance of the pair that it crossed.
    pub(super) conducts: f32,
    /// Amplitude; negative if it is inverted.
    pub(super) amplitude: f64,
}

/// A pulse grouped by its node.
#[derive(Debug, Clone, Copy, Default)]
struct Arrival {
    previous: u32,
    conducts: f32,
    amplitude: f64,
}

/// The amplitudes of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeWave {
    /// The node.
    pub node: NodeId,
    /// For each hop, the sum of the amplitudes of its pulses; the first is its amplitude as a seed.
    pub amplitudes: [f64; AMPLITUDES],
}

/// Result of [`resonate`], to be read at any frequency.
#[derive(Debug, Clone, PartialEq)]
pub struct Resonance {
    /// The amplitudes of each reached node, by the hop in which it was first reached, then by id.
    pub waves: Vec<NodeWave>,
    /// The seeds, by id.
    pub seeds: Vec<NodeId>,
    /// Hops per period at frequency 1.
    pub wavelength: PosF32,
    /// Number of pulses, including seeds.
    pub pulses: u64,
    /// Number of pairs in the rows that were read. Each row is read once, however many pulses pass its node.
    pub pairs_read: u64,
    /// Sum of the squared amplitudes of pulses dropped for the budget.
    pub dropped_energy: f64,
    /// Whether any were dropped.
    pub flags: Flags,
}

/// Reusable buffers of one thread.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) rows: Rows,
    /// Pulses of a hop, by ascending previous node. The last ones stay until the next query.
    pub(super) pulses: Vec<WavePulse>,
    /// Pulses of the next hop.
    next: Vec<WavePulse>,
    /// Pulses of a hop by node.
    arrivals: Vec<Arrival>,
    /// Nodes reached in a hop, ascending.
    active: Vec<u32>,
    /// For each node the number of its pulses in a hop, then the end of their range; 0 between hops.
    ends: Vec<u32>,
    /// For each node the amplitude from it to the sending node; 0 between nodes.
    amplitude_from: Vec<f64>,
    /// For each node the index of its wave; valid if that wave names the node.
    places: Vec<u32>,
    /// Sizes of pulses, for selection.
    sizes: Vec<u64>,
    /// Number of nodes that the last query reached, as a guess for the next one.
    reached: usize,
}

impl Scratch {
    /// Makes room for the nodes of a graph. Cells that must be 0 are so between queries.
    fn begin(&mut self, graph: &Graph) {
        self.rows.begin(graph);
        let nodes = graph.node_count();
        if self.ends.len() < nodes {
            self.ends = in_large_pages(vec![0; nodes]);
            self.amplitude_from = in_large_pages(vec![0.0; nodes]);
            self.places = in_large_pages(vec![0; nodes]);
        }
        self.pulses.clear();
        self.next.clear();
    }

    /// Groups the pulses of a hop by node, each group by ascending previous node, and lists the nodes.
    fn gather(&mut self) {
        let Self { pulses, arrivals, active, ends, .. } = self;
        active.clear();
        for pulse in pulses.iter() {
            let count = &mut ends[pulse.node.at()];
            if *count == 0 {
                active.push(pulse.node.0);
            }
            *count += 1;
        }
        active.sort_unstable();
        let mut begin = 0;
        for node in active.iter() {
            begin += std::mem::replace(&mut ends[*node as usize], begin);
        }
        if arrivals.len() < pulses.len() {
            arrivals.resize(pulses.len(), Arrival::default());
        }
        for WavePulse { node, previous, conducts, amplitude } in pulses.iter().copied() {
            let end = &mut ends[node.at()];
            arrivals[*end as usize] = Arrival { previous: previous.0, conducts, amplitude };
            *end += 1;
        }
    }
}

/// Runs waves from seeds with amplitudes in `(0, 1]`, the greatest of duplicates. `mean_degree` is that of the graph.
///
/// # Errors
/// [`crate::graph::Error::NonFinite`], [`crate::graph::Error::ParameterOutOfRange`] for an amplitude, for a node that the
/// graph does not have, and for more than [`HOPS_MAX`] hops.
pub fn resonate(
    graph: &Graph,
    mean_degree: f64,
    seeds: &[(NodeId, f32)],
    config: &ResonanceConfig,
    scratch: &mut Scratch,
) -> Result<Resonance, Error> {
    check(graph, seeds, config)?;
    scratch.begin(graph);
    let mut seeds = seeds.to_vec();
    seeds.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    seeds.dedup_by_key(|(node, _)| *node);
    let waves = Vec::with_capacity(scratch.reached);
    let left = config.pulse_budget as usize;
    let hub_above = HUB_DEGREE_FACTOR * mean_degree;
    let mut run = Run { graph, hub_above, scratch, waves, left, followed: 0, floor: 0.0, dropped: 0.0 };
    run.start(&seeds);
    for hop in 0..=usize::from(config.max_hops) {
        run.apply_budget();
        if run.scratch.pulses.is_empty() {
            break;
        }
        run.scratch.gather();
        let goes_on = hop < usize::from(config.max_hops) && run.dropped <= 0.0;
        run.arrive(hop, goes_on);
        if !goes_on {
            break;
        }
    }
    let Run { scratch, waves, followed, dropped, .. } = run;
    scratch.reached = waves.len();
    Ok(Resonance {
        waves,
        seeds: seeds.into_iter().map(|(node, _)| node).collect(),
        wavelength: config.wavelength,
        pulses: followed,
        pairs_read: scratch.rows.read_pairs() as u64,
        dropped_energy: dropped,
        flags: Flags::default().with(Flag::ResonanceTruncated, dropped > 0.0),
    })
}

fn check(graph: &Graph, seeds: &[(NodeId, f32)], config: &ResonanceConfig) -> Result<(), Error> {
    within("max_hops", f32::from(config.max_hops), 0.0, f64::from(HOPS_MAX))?;
    for (node, amplitude) in seeds {
        // The smallest number above 0.
        within("amplitude of a seed", *amplitude, f64::from(f32::from_bits(1)), 1.0)?;
        if !graph.has_node(*node) {
            let last = graph.nodes().next_back().map_or(0, |last| last.0);
            let (name, value) = ("node of a seed".to_owned(), f64::from(node.0));
            let max = f64::from(last);
            return Err(crate::graph::Error::ParameterOutOfRange { name, value, min: 0.0, max }.into());
        }
    }
    Ok(())
}

/// Waves in progress.
struct Run<'a> {
    graph: &'a Graph,
    /// Degree above which a node is a hub.
    hub_above: f64,
    scratch: &'a mut Scratch,
    waves: Vec<NodeWave>,
    /// Remaining pulse budget.
    left: usize,
    followed: u64,
    /// Pulses smaller than this are not among the largest that fit the budget.
    floor: f64,
    /// Energy dropped for the budget.
    dropped: f64,
}

impl Run<'_> {
    /// The pulses of hop 0: seeds, each once.
    fn start(&mut self, seeds: &[(NodeId, f32)]) {
        for (node, amplitude) in seeds {
            let (node, amplitude) = (*node, f64::from(*amplitude));
            if amplitude > AMPLITUDE_MIN {
                self.scratch.pulses.push(WavePulse { node, previous: node, conducts: 1.0, amplitude });
            }
        }
    }

    /// Drops the pulses of a hop beyond the budget, and spends the rest.
    fn apply_budget(&mut self) {
        let Scratch { pulses, sizes, .. } = &mut *self.scratch;
        if pulses.len() > self.left {
            self.dropped += keep_largest(self.graph, pulses, self.left, sizes).energy;
        }
        self.left -= pulses.len();
        self.followed += pulses.len() as u64;
    }

    /// Delivers the pulses of a hop; if it `goes_on`, their nodes send.
    fn arrive(&mut self, hop: usize, goes_on: bool) {
        let active = std::mem::take(&mut self.scratch.active);
        let arrivals = std::mem::take(&mut self.scratch.arrivals);
        // With no budget left everything that would be sent is dropped, so that it is known whether there was anything.
        self.floor = if self.left == 0 { f64::INFINITY } else { 0.0 };
        let mut begin = 0;
        for node in &active {
            let end = std::mem::take(&mut self.scratch.ends[*node as usize]) as usize;
            let group = &arrivals[begin..end];
            begin = end;
            let total = group.iter().fold(0.0, |sum, arrival| sum + arrival.amplitude);
            self.wave(NodeId(*node)).amplitudes[hop] = total;
            if goes_on {
                self.send(NodeId(*node), hop, group, total);
            }
        }
        self.scratch.active = active;
        self.scratch.arrivals = arrivals;
        if goes_on {
            let Scratch { pulses, next, .. } = &mut *self.scratch;
            std::mem::swap(pulses, next);
            next.clear();
        }
    }

    /// The wave of a node.
    fn wave(&mut self, node: NodeId) -> &mut NodeWave {
        let place = &mut self.scratch.places[node.at()];
        if self.waves.get(*place as usize).is_none_or(|wave| wave.node != node) {
            *place = u32::try_from(self.waves.len()).unwrap_or(u32::MAX);
            self.waves.push(NodeWave { node, amplitudes: [0.0; AMPLITUDES] });
        }
        &mut self.waves[*place as usize]
    }

    /// The share of a pulse that a node passes to each other neighbour, and the share that it reflects.
    fn shares(&self, node: NodeId, hop: usize) -> (f64, f64) {
        let others = f64::from(self.graph.degree(node)) - 1.0;
        if hop == 0 {
            (1.0, 0.0)
        } else if others < 1.0 {
            (0.0, 1.0)
        } else if others + 1.0 > self.hub_above {
            ((1.0 - HUB_REFLECTION_COEFF) / others, HUB_REFLECTION_COEFF)
        } else {
            (1.0 / others, 0.0)
        }
    }

    /// Sends the pulses that follow from the arrivals at a node.
    fn send(&mut self, node: NodeId, hop: usize, group: &[Arrival], total: f64) {
        let (onward, back) = self.shares(node, hop);
        // Each neighbour gets the total less its own part, which is reflected or not.
        let (all, own) = (onward * total, onward + back);
        let Self { graph, scratch, floor, dropped, left, .. } = self;
        let Scratch { rows, next, amplitude_from, sizes, .. } = &mut **scratch;
        let mut emit = |to: u32, conducts: f32, signal: f64| {
            let amplitude = f64::from(conducts) * signal;
            if amplitude.abs() <= AMPLITUDE_MIN {
                return;
            }
            if amplitude.abs() < *floor {
                *dropped += amplitude * amplitude;
            } else {
                next.push(WavePulse { node: NodeId(to), previous: node, conducts, amplitude });
            }
        };
        if all.abs() > AMPLITUDE_MIN {
            for arrival in group {
                amplitude_from[arrival.previous as usize] = arrival.amplitude;
            }
            for crossing in rows.of(graph, node) {
                emit(crossing.node, crossing.conducts, all - own * amplitude_from[crossing.node as usize]);
            }
            for arrival in group {
                amplitude_from[arrival.previous as usize] = 0.0;
            }
        } else {
            // Conductance is at most 1, so only the senders can get enough.
            for arrival in group {
                emit(arrival.previous, arrival.conducts, all - own * arrival.amplitude);
            }
        }
        // Also inside a hop: one may have as many pulses as the graph has pairs.
        if next.len() > left.saturating_mul(2) {
            let cut = keep_largest(graph, next, *left, sizes);
            *floor = cut.least;
            *dropped += cut.energy;
        }
    }
}

/// Result of [`keep_largest`].
struct Cut {
    /// Size of the smallest pulse that was kept.
    least: f64,
    /// Energy of the dropped pulses.
    energy: f64,
}

/// Keeps the `most` largest of more pulses than that, in their order.
fn keep_largest(graph: &Graph, pulses: &mut Vec<WavePulse>, most: usize, sizes: &mut Vec<u64>) -> Cut {
    // Bits of non-negative numbers sort like the numbers.
    let size = |pulse: &WavePulse| pulse.amplitude.abs().to_bits();
    let place = |pulse: &WavePulse| (graph.rank(pulse.node), graph.rank(pulse.previous));
    sizes.clear();
    sizes.extend(pulses.iter().map(size));
    let least = match most.checked_sub(1) {
        Some(last) => *sizes.select_nth_unstable_by(last, |a, b| b.cmp(a)).1,
        None => f64::INFINITY.to_bits(),
    };
    let larger = sizes.iter().filter(|size| **size > least).count();
    let mut equal: Vec<(u32, u32)> = pulses.iter().filter(|of| size(of) == least).map(place).collect();
    equal.sort_unstable();
    equal.truncate(most - larger);
    let last = equal.last().copied();
    let mut energy = 0.0;
    pulses.retain(|pulse| {
        let kept = size(pulse) > least || size(pulse) == least && Some(place(pulse)) <= last;
        if !kept {
            energy += pulse.amplitude * pulse.amplitude;
        }
        kept
    });
    Cut { least: f64::from_bits(least), energy }
}
