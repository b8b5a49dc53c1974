//! One wave: pulses run from its start, level by level, and leave a field.
//!
//! The pulses of a level are sent in ascending id, as in an activation, over the same part of each row: slots that cannot
//! pass the threshold are skipped. Arrivals at one node in one level become one pulse of the next.
//!
//! Nodes get places in the order in which waves reach them. A cell of four bytes for each node holds its place; everything
//! else is in columns by place, which are as long as the number of reached nodes and stay in cache.

use super::{F_COLD, F_HOT, IMMUNITY_HOPS, SPECTRAL_WAVELENGTH};
use crate::activation::{ActivationConfig, can_pass, send};
use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::graph::raw::in_large_pages;
use std::cmp::Reverse;

/// Phase of a hop at frequency 1.
const TURN: f64 = std::f64::consts::TAU / SPECTRAL_WAVELENGTH;
/// The frequency that nodes pull towards.
const MIDDLE: f64 = (F_HOT + F_COLD) / 2.0;
/// Greatest amplitude of a merged pulse.
const AMPLITUDE_MAX: f64 = 16.0;
/// How many rows ahead their first slots are prefetched.
const AHEAD: usize = 12;
/// No node: ids end before it.
const NO_NODE: u32 = u32::MAX;

/// Graph and parameters of a wave.
#[derive(Debug, Clone, Copy)]
pub(super) struct Medium<'a> {
    pub(super) graph: &'a Graph,
    pub(super) params: &'a ActivationConfig,
    pub(super) mean_degree: f64,
}

impl Medium<'_> {
    /// Share of the distance to the middle by which a node shifts a frequency, `0 .. 1`.
    fn pull(&self, node: NodeId) -> f64 {
        let degree = f64::from(self.graph.degree(node));
        if degree > 0.0 { degree / (degree + self.mean_degree) } else { 0.0 }
    }
}

/// Phase and frequency of a pulse, the phase as a point on the unit circle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wave {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) frequency: f64,
}

impl Wave {
    /// The wave of a source.
    pub(super) const fn source(frequency: f64) -> Self {
        Self { x: 1.0, y: 0.0, frequency }
    }

    /// The wave one hop further.
    pub(super) fn advanced(&self) -> Self {
        let (sin, cos) = libm::sincos(TURN * self.frequency);
        Self { x: self.x * cos - self.y * sin, y: self.x * sin + self.y * cos, frequency: self.frequency }
    }

    /// After a node with this pull.
    pub(super) fn pulled(&self, pull: f64) -> Self {
        Self { frequency: self.frequency + (MIDDLE - self.frequency) * pull, ..*self }
    }
}

/// Sums over pulses: of amplitudes, and of phases and frequencies weighted by them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) amplitude: f64,
    x: f64,
    y: f64,
    frequency: f64,
}

impl Sums {
    #[inline]
    fn add(&mut self, amplitude: f64, wave: &Wave) {
        self.amplitude += amplitude;
        self.x += amplitude * wave.x;
        self.y += amplitude * wave.y;
        self.frequency += amplitude * wave.frequency;
    }

    /// The resulting wave, for an amplitude above 0. Phases that cancel out give phase 0.
    pub(super) fn wave(&self) -> Wave {
        let length = (self.x * self.x + self.y * self.y).sqrt();
        let (x, y) = if length > 0.0 { (self.x / length, self.y / length) } else { (1.0, 0.0) };
        Wave { x, y, frequency: self.frequency / self.amplitude }
    }
}

/// A pulse at a node in a level.
#[derive(Debug, Clone, Copy)]
struct SpectralPulse {
    node: NodeId,
    amplitude: f32,
    wave: Wave,
    /// The last nodes of its path, the latest at the end.
    path: [u32; 3],
}

/// Arrivals at a node in a level.
#[derive(Debug, Clone, Copy, Default)]
struct Arrivals {
    sums: Sums,
    /// Bits of the strongest; 0 before the first.
    strongest: u32,
    /// Index of its sender in the frontier; of equal ones the one whose external id comes first.
    sender: u32,
}

impl Arrivals {
    #[expect(clippy::cast_possible_truncation, reason = "summed in f64, rounded once")]
    fn amplitude(&self, most: f64) -> f32 {
        self.sums.amplitude.min(most) as f32
    }
}

/// Counters of a wave.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WaveCounters {
    pub(super) pulses: u64,
    /// Slots read.
    pub(super) slots_read: u64,
    /// Whether pulses were dropped.
    pub(super) truncated: bool,
    /// Number of places after [`IMMUNITY_HOPS`] hops.
    pub(super) near: usize,
}

/// Reusable buffers for waves, one after the other.
#[derive(Debug, Default)]
pub(super) struct Channel {
    /// One more than the place of each node; 0 without one.
    pub(super) cells: Vec<u32>,
    /// The node of each place.
    pub(super) touched: Vec<u32>,
    /// Arrivals at each place; all zero between levels.
    arrivals: Vec<Arrivals>,
    /// Nodes with arrivals in this level, and their places.
    rising: Vec<(u32, u32)>,
    frontier: Vec<SpectralPulse>,
    next: Vec<SpectralPulse>,
}

impl Channel {
    pub(super) fn fit(&mut self, nodes: usize) {
        if self.cells.len() < nodes {
            self.cells = in_large_pages(vec![0; nodes]);
        }
    }

    /// Clears all places.
    pub(super) fn reset(&mut self) {
        for node in self.touched.drain(..) {
            self.cells[node as usize] = 0;
        }
        self.arrivals.clear();
    }

    /// Runs a wave of at most `budget` pulses from its start; adds the amplitude at each node to `field`.
    pub(super) fn run(
        &mut self,
        medium: &Medium<'_>,
        begin: impl Iterator<Item = (NodeId, f32)>,
        frequency: f64,
        budget: u32,
        field: &mut Vec<Sums>,
    ) -> WaveCounters {
        let source = Wave::source(frequency);
        for (node, amplitude) in begin.filter(|(_, amplitude)| *amplitude > 0.0) {
            let arrivals = self.arrivals_at(node.0);
            arrivals.strongest = amplitude.to_bits();
            arrivals.sums.add(f64::from(amplitude), &source);
        }
        let (mut ran, mut left, depth) = (WaveCounters::default(), budget as usize, medium.params.max_depth);
        for level in 0..=depth {
            if level > 0 {
                ran.slots_read += self.fire(medium);
            }
            // Initial values are no sums, and have no cap.
            let most = if level > 0 { AMPLITUDE_MAX } else { f64::INFINITY };
            ran.truncated = self.rising.len() > left;
            if ran.truncated {
                self.keep(medium.graph, left, most);
            }
            left -= self.rising.len();
            ran.pulses += self.rising.len() as u64;
            self.settle(medium, level < depth && !ran.truncated, most, field);
            if level <= IMMUNITY_HOPS {
                ran.near = self.touched.len();
            }
            if self.frontier.is_empty() {
                break;
            }
        }
        ran
    }

    /// The arrivals at a node in this level.
    #[inline]
    fn arrivals_at(&mut self, node: u32) -> &mut Arrivals {
        let cell = &mut self.cells[node as usize];
        if *cell == 0 {
            self.touched.push(node);
            self.arrivals.push(Arrivals::default());
            *cell = u32::try_from(self.touched.len()).unwrap_or(u32::MAX);
        }
        let place = *cell - 1;
        let arrivals = &mut self.arrivals[place as usize];
        if arrivals.strongest == 0 {
            self.rising.push((node, place));
        }
        arrivals
    }

    /// Sends the pulses of the frontier; returns the number of slots read.
    fn fire(&mut self, medium: &Medium<'_>) -> u64 {
        let Medium { graph, params, .. } = *medium;
        let mut slots_read = 0;
        let frontier = std::mem::take(&mut self.frontier);
        for (at, pulse) in (0_u32..).zip(&frontier) {
            if let Some(ahead) = frontier.get(at as usize + AHEAD) {
                graph.prefetch_row(ahead.node);
            }
            let part = graph.excitatory(pulse.node);
            let k = params.sends(graph, pulse.node, pulse.amplitude);
            // Most pulses of the last levels send nothing, and need no rotation.
            if !can_pass(&part, k, params.threshold) {
                continue;
            }
            let wave = pulse.wave.advanced();
            let comes_first = |other: &SpectralPulse| graph.rank(pulse.node) < graph.rank(other.node);
            let (read, _) = send(&part, k, params.threshold, |_, target, signal| {
                if pulse.path.contains(&target) {
                    return;
                }
                let (bits, arrivals) = (signal.to_bits(), self.arrivals_at(target));
                if bits > arrivals.strongest
                    || bits == arrivals.strongest && comes_first(&frontier[arrivals.sender as usize])
                {
                    (arrivals.strongest, arrivals.sender) = (bits, at);
                }
                arrivals.sums.add(f64::from(signal), &wave);
            });
            slots_read += read;
        }
        self.frontier = frontier;
        slots_read
    }

    /// Keeps the strongest arrivals of this level, of equal ones those whose external id comes first.
    fn keep(&mut self, graph: &Graph, count: usize, most: f64) {
        let Self { arrivals, rising, .. } = self;
        if count > 0 {
            rising.select_nth_unstable_by_key(count - 1, |(node, place)| {
                let amplitude = arrivals[*place as usize].amplitude(most);
                (Reverse(amplitude.to_bits()), graph.rank(NodeId(*node)))
            });
        }
        for (_, place) in rising.drain(count..) {
            arrivals[place as usize] = Arrivals::default();
        }
    }

    /// Ends a level: adds arrivals to the field, and makes them the next frontier if it `fires`.
    fn settle(&mut self, medium: &Medium<'_>, fires: bool, most: f64, field: &mut Vec<Sums>) {
        let Self { touched, arrivals, rising, frontier, next, .. } = self;
        if fires {
            rising.sort_unstable();
        }
        field.resize(touched.len(), Sums::default());
        for (node, place) in rising.drain(..) {
            let arrived = std::mem::take(&mut arrivals[place as usize]);
            let (node, amplitude, mut wave) = (NodeId(node), arrived.amplitude(most), arrived.sums.wave());
            // A source has no sender: it has no path yet, and keeps its frequency.
            let sender = frontier.get(arrived.sender as usize);
            if sender.is_some() {
                wave = wave.pulled(medium.pull(node));
            }
            field[place as usize].add(f64::from(amplitude), &wave);
            if fires {
                let onto = |sender: &SpectralPulse| [sender.path[1], sender.path[2], sender.node.0];
                let path = sender.map_or([NO_NODE; 3], onto);
                next.push(SpectralPulse { node, amplitude, wave, path });
            }
        }
        frontier.clear();
        std::mem::swap(frontier, next);
    }

    pub(super) fn bytes(&self) -> usize {
        4 * (self.cells.capacity() + self.touched.capacity())
            + 8 * self.rising.capacity()
            + size_of::<Arrivals>() * self.arrivals.capacity()
            + size_of::<SpectralPulse>() * (self.frontier.capacity() + self.next.capacity())
    }
}
