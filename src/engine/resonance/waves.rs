//! Pulses that set out from seeds and cross pairs, hop by hop.
//!
//! A seed sends what it has to each of its neighbours, times what the pair conducts. A pulse of amplitude `A` that came
//! from `p` to a node with `q` other neighbours goes on by one of three rules; each crossing is one hop:
//!
//! | node | to each of the others | back to `p` |
//! |---|---|---|
//! | plain | `A * t / q` | nothing |
//! | hub, of more than four times the mean degree | `0.7 * A * t / q` | `-0.3 * A * t` |
//! | dead end, of degree 1 | | `-A * t` |
//!
//! Pulses of one hop with the same node and the same previous node are one pulse. What is then at most 0.0001 is dropped, be it
//! a seed. If a hop has more pulses than the budget has left, those that are smallest are dropped, of equal ones those
//! that come last by the external ids of node and previous node, and no further hop begins.
//!
//! # Design notes
//! A pulse is split by `q`, so that none is ever larger than the largest seed (held by `waves_maximum_principle`): split by
//! its root, waves in step would grow without end inside a clique. Pulses are merged before they are dropped, so that a
//! hub passes on what many small pulses bring together. Degrees are those of the undirected view; by outgoing slots no
//! wave would pass a chain whose slots all lead one way.
//!
//! What a node sends is worked out once for all that came to it in a hop. With `a(w)` for what came from `w`, and
//! `total` for the sum, neighbour `w` gets `t(w) * (T / q * (total - a(w)) - r * a(w))`. A node costs as many steps as
//! it has neighbours and not that times what came to it; where too little came for any neighbour but those that sent
//! something, its row is not read at all. So a leaf of a hub with 100,000 leaves costs no more than another node.
//!
//! Sums run in `f64` over ascending previous nodes, and nodes of a hop fire in ascending order. Lists for each node are zero
//! between queries, or hold places that are checked when they are read, so a query clears what it touched and no more.
//!
//! What is dropped for the budget is told as energy, the sum of squared amplitudes, of the hop in which the budget ended.
//! What the last pulses would have sent is not worked out.

use super::rows::Rows;
use super::{Config, HOPS_MAX};
use crate::graph::Graph;
use crate::graph::builder::within;
use crate::graph::index::NodeId;
use crate::graph::number::PosF32;
use crate::graph::raw::in_large_pages;
use crate::{Error, Flag, Flags};

/// Amplitudes that a node keeps: one for each hop, and one for where waves begin.
pub const CELLS: usize = 1 + HOPS_MAX as usize;
/// What a pulse must be larger than.
pub const AMPLITUDE_MIN: f64 = 0.0001;
/// Of how many times the mean degree a node must have more to be a hub.
pub const HUB_DEGREE_FACTOR: f64 = 4.0;
/// What of a pulse a hub throws back.
pub const HUB_REFLECTION_COEFF: f64 = 0.3;
/// By how much a reflection turns the phase: the minus sign of what is thrown back.
pub const REFLECTION_PHASE_SHIFT: f64 = std::f64::consts::PI;

/// A pulse that crossed a pair. Its phase is that of the hop it is part of, and half a turn more where its amplitude is
/// negative; frequency and wavelength belong to who reads it.
#[derive(Debug, Clone, Copy)]
pub(super) struct WavePulse {
    /// Where it is.
    pub(super) node: NodeId,
    /// Where it was before; for a seed, the same.
    pub(super) previous: NodeId,
    /// How well the pair that it crossed conducts.
    pub(super) conducts: f32,
    /// How strong it is; below 0 it is upside down.
    pub(super) amplitude: f64,
}

/// The same, once it is known where it is.
#[derive(Debug, Clone, Copy, Default)]
struct Arrival {
    previous: u32,
    conducts: f32,
    amplitude: f64,
}

/// What came to a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wave {
    /// Which.
    pub node: NodeId,
    /// At each hop, the sum of the amplitudes of its pulses; the first is what it has as a seed.
    pub s: [f64; CELLS],
}

/// Waves, ready to be read at any frequency.
#[derive(Debug, Clone, PartialEq)]
pub struct Resonance {
    /// What came to each node that anything came to, by the hop in which it first did, then by id.
    pub waves: Vec<Wave>,
    /// The nodes that waves were to set out from, by id.
    pub seeds: Vec<NodeId>,
    /// Hops from crest to crest at frequency 1.
    pub wavelength: PosF32,
    /// Pulses that were followed, seeds among them.
    pub pulses: u64,
    /// Pairs of the rows that were read. Each row is read once, however many pulses pass its node.
    pub pairs_read: u64,
    /// Sum of the squared amplitudes of what was dropped for the budget.
    pub dropped_energy: f64,
    /// Whether anything was.
    pub flags: Flags,
}

/// Reusable memory of one thread.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) rows: Rows,
    /// Those of a hop, by ascending previous node. The last ones stay until the next query.
    pub(super) pulses: Vec<WavePulse>,
    /// Those of the next hop.
    next: Vec<WavePulse>,
    /// Those of a hop by node.
    arrivals: Vec<Arrival>,
    /// Nodes that something came to in a hop, ascending.
    active: Vec<u32>,
    /// Of each node how many pulses came to it in a hop, then where they end; 0 between hops.
    ends: Vec<u32>,
    /// Of each node what came from it to the node that sends; 0 between nodes.
    came: Vec<f64>,
    /// Of each node where its wave stands; it counts if that wave is the node's.
    places: Vec<u32>,
    /// Sizes of pulses, while the largest are found.
    sizes: Vec<u64>,
    /// How many nodes the last query reached, which is a guess for the next one.
    reached: usize,
}

impl Scratch {
    /// Room for the nodes of a graph. Whatever must be 0 is so between queries.
    fn begin(&mut self, graph: &Graph) {
        self.rows.begin(graph);
        let nodes = graph.node_count();
        if self.ends.len() < nodes {
            self.ends = in_large_pages(vec![0; nodes]);
            self.came = in_large_pages(vec![0.0; nodes]);
            self.places = in_large_pages(vec![0; nodes]);
        }
        self.pulses.clear();
        self.next.clear();
    }

    /// Sorts the pulses of a hop by node, each node's by ascending previous node, and lists the nodes.
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

/// Lets waves run. The mean degree is that of the graph, which its owner works out once; seeds have amplitudes in `(0, 1]`, and
/// of one that is there twice the larger counts.
///
/// # Errors
/// [`crate::graph::Error::NonFinite`], [`crate::graph::Error::ParameterOutOfRange`] for an amplitude, for a node that the
/// graph does not have, and for more hops than there are.
pub fn resonate(
    graph: &Graph,
    mean_degree: f64,
    seeds: &[(NodeId, f32)],
    config: &Config,
    scratch: &mut Scratch,
) -> Result<Resonance, Error> {
    check(graph, seeds, config)?;
    scratch.begin(graph);
    let mut begun = seeds.to_vec();
    begun.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    begun.dedup_by_key(|(node, _)| *node);
    let waves = Vec::with_capacity(scratch.reached);
    let left = config.pulse_budget as usize;
    let hub_above = HUB_DEGREE_FACTOR * mean_degree;
    let mut run = Run { graph, hub_above, scratch, waves, left, followed: 0, floor: 0.0, dropped: 0.0 };
    run.set_out(&begun);
    for hop in 0..=usize::from(config.max_hops) {
        run.keep_to_budget();
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
        seeds: begun.into_iter().map(|(node, _)| node).collect(),
        wavelength: config.wavelength,
        pulses: followed,
        pairs_read: scratch.rows.read_pairs() as u64,
        dropped_energy: dropped,
        flags: Flags::default().with(Flag::ResonanceTruncated, dropped > 0.0),
    })
}

fn check(graph: &Graph, seeds: &[(NodeId, f32)], config: &Config) -> Result<(), Error> {
    within("max_hops", f32::from(config.max_hops), 0.0, f64::from(HOPS_MAX))?;
    for (node, amplitude) in seeds {
        // The least number above 0.
        within("amplitude of a seed", *amplitude, f64::from(f32::from_bits(1)), 1.0)?;
        if node.at() >= graph.node_count() {
            let last = graph.nodes().next_back().map_or(0, |last| last.0);
            let (name, value) = ("node of a seed".to_owned(), f64::from(node.0));
            let max = f64::from(last);
            return Err(crate::graph::Error::ParameterOutOfRange { name, value, min: 0.0, max }.into());
        }
    }
    Ok(())
}

/// Waves while they run.
struct Run<'a> {
    graph: &'a Graph,
    /// Above which degree a node is a hub.
    hub_above: f64,
    scratch: &'a mut Scratch,
    waves: Vec<Wave>,
    /// Pulses that may yet be followed.
    left: usize,
    followed: u64,
    /// What is smaller than this is not among the largest of its hop that may be followed.
    floor: f64,
    /// Energy that was dropped for the budget.
    dropped: f64,
}

impl Run<'_> {
    /// The pulses of hop 0: seeds, each once.
    fn set_out(&mut self, seeds: &[(NodeId, f32)]) {
        for (node, amplitude) in seeds {
            let (node, amplitude) = (*node, f64::from(*amplitude));
            if amplitude > AMPLITUDE_MIN {
                self.scratch.pulses.push(WavePulse { node, previous: node, conducts: 1.0, amplitude });
            }
        }
    }

    /// Drops what a hop has beyond the budget, and spends the rest.
    fn keep_to_budget(&mut self) {
        let Scratch { pulses, sizes, .. } = &mut *self.scratch;
        if pulses.len() > self.left {
            self.dropped += keep_largest(self.graph, pulses, self.left, sizes).energy;
        }
        self.left -= pulses.len();
        self.followed += pulses.len() as u64;
    }

    /// Lets the pulses of a hop come to their nodes, and these send on where it `goes_on`.
    fn arrive(&mut self, hop: usize, goes_on: bool) {
        let active = std::mem::take(&mut self.scratch.active);
        let arrivals = std::mem::take(&mut self.scratch.arrivals);
        // With nothing left all that would go on is dropped, so that it is known whether there was anything.
        self.floor = if self.left == 0 { f64::INFINITY } else { 0.0 };
        let mut begin = 0;
        for node in &active {
            let end = std::mem::take(&mut self.scratch.ends[*node as usize]) as usize;
            let group = &arrivals[begin..end];
            begin = end;
            let total = group.iter().fold(0.0, |sum, arrival| sum + arrival.amplitude);
            self.wave(NodeId(*node)).s[hop] = total;
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
    fn wave(&mut self, node: NodeId) -> &mut Wave {
        let place = &mut self.scratch.places[node.at()];
        if self.waves.get(*place as usize).is_none_or(|wave| wave.node != node) {
            *place = u32::try_from(self.waves.len()).unwrap_or(u32::MAX);
            self.waves.push(Wave { node, s: [0.0; CELLS] });
        }
        &mut self.waves[*place as usize]
    }

    /// What of a pulse a node passes on to each of its other neighbours, and what it throws back.
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

    /// Lets a node send what follows from what came to it.
    fn send(&mut self, node: NodeId, hop: usize, group: &[Arrival], total: f64) {
        let (onward, back) = self.shares(node, hop);
        // All that came goes to each neighbour, less its own share of it, which comes back or does not.
        let (all, own) = (onward * total, onward + back);
        let Self { graph, scratch, floor, dropped, left, .. } = self;
        let Scratch { rows, next, came, sizes, .. } = &mut **scratch;
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
                came[arrival.previous as usize] = arrival.amplitude;
            }
            for crossing in rows.of(graph, node) {
                emit(crossing.node, crossing.conducts, all - own * came[crossing.node as usize]);
            }
            for arrival in group {
                came[arrival.previous as usize] = 0.0;
            }
        } else {
            // Nobody conducts better than 1, so only those that sent something can get enough.
            for arrival in group {
                emit(arrival.previous, arrival.conducts, all - own * arrival.amplitude);
            }
        }
        // Not only when a hop is done: one may have as many pulses as the graph has pairs.
        if next.len() > left.saturating_mul(2) {
            let cut = keep_largest(graph, next, *left, sizes);
            *floor = cut.least;
            *dropped += cut.energy;
        }
    }
}

/// What a cut left.
struct Cut {
    /// The size of the smallest pulse that was kept.
    least: f64,
    /// Energy of those that were not.
    energy: f64,
}

/// Keeps the `most` largest of more pulses than that, in the order in which they stand.
fn keep_largest(graph: &Graph, pulses: &mut Vec<WavePulse>, most: usize, sizes: &mut Vec<u64>) -> Cut {
    // Bits of numbers that are not negative are in the order of the numbers.
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
