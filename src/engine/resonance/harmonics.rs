//! How nodes answer to multiples of a frequency, and at which frequencies the whole swings most.
//!
//! Harmonic `h` of a frequency `f` is read at `h * f`, with the same wavelength, as long as that is at most half a turn a
//! hop: beyond lies only the mirror image. A sweep goes from no turn to half a turn in 32 steps, which are all frequencies
//! there are, and a frequency resonates where the energy is strictly above that of both its neighbours. At the last step
//! both neighbours are the step before, for the one after it is its mirror image; the first, where nothing turns, never
//! counts.
//!
//! Amplitudes and energies are compared as `f32`: where two are equal on paper, the last bits of an `f64` are noise.

use super::field::{Phases, WaveAccumulator, energy, phases, turns};
use super::waves::{Resonance, Wave};
use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::graph::number::PosF32;
use std::cmp::Reverse;

/// Harmonics that are read.
pub const MAX_HARMONIC: u8 = 5;
/// Steps of a sweep after the first.
pub const SWEEP_STEPS: u8 = 32;
/// The same, as a length.
const HARMONICS: usize = MAX_HARMONIC as usize;

/// How a node answers to a frequency and its multiples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Response {
    /// Which node.
    pub node: NodeId,
    /// How far it swings at harmonic 1, 2 and so on; 0 where there is no such harmonic.
    pub amplitudes: [f32; HARMONICS],
}

/// Nodes that answer most to the same harmonic, of equal ones to the lower.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Which harmonic, from 1.
    pub harmonic: u8,
    /// Who, by what they answer to it descending, then by external id.
    pub nodes: Vec<Response>,
}

/// How all nodes answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Harmonics {
    /// How many harmonics there are, at most five.
    pub count: u8,
    /// Groups by harmonic; none is empty.
    pub groups: Vec<Group>,
}

/// A frequency of a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Which.
    pub frequency: f64,
    /// Sum of `|Z|^2` over all nodes.
    pub energy: f32,
    /// Whether that is above what it is just below and just above this frequency.
    pub resonant: bool,
}

/// Reads waves at many frequencies.
#[derive(Debug, Clone)]
pub struct HarmonicAnalyzer<'a> {
    graph: &'a Graph,
    resonance: &'a Resonance,
    /// By ascending id.
    waves: Vec<&'a Wave>,
}

impl<'a> HarmonicAnalyzer<'a> {
    /// Of waves and the graph that they ran on.
    #[must_use]
    pub fn new(graph: &'a Graph, resonance: &'a Resonance) -> Self {
        Self { graph, resonance, waves: resonance.by_id() }
    }

    /// How nodes answer to a frequency and its multiples.
    #[must_use]
    pub fn harmonics(&self, frequency: PosF32) -> Harmonics {
        let all = self.multiples(frequency);
        let mut members: [Vec<Response>; HARMONICS] = Default::default();
        for wave in self.waves.iter().filter(|_| !all.is_empty()) {
            let mut amplitudes = [0.0; HARMONICS];
            for (amplitude, phases) in amplitudes.iter_mut().zip(&all) {
                *amplitude = WaveAccumulator::of(wave, phases).rounded();
            }
            members[strongest(&amplitudes)].push(Response { node: wave.node, amplitudes });
        }
        let groups = (1..=MAX_HARMONIC).zip(members).filter(|(_, nodes)| !nodes.is_empty());
        let groups = groups.map(|(harmonic, mut nodes)| {
            let own = |of: &Response| of.amplitudes[usize::from(harmonic) - 1];
            nodes.sort_unstable_by_key(|of| (Reverse(own(of).to_bits()), self.graph.rank(of.node)));
            Group { harmonic, nodes }
        });
        Harmonics { count: u8::try_from(all.len()).unwrap_or(MAX_HARMONIC), groups: groups.collect() }
    }

    /// The energy at each harmonic of a frequency that there is.
    #[must_use]
    pub fn energies(&self, frequency: PosF32) -> Vec<f64> {
        self.multiples(frequency).iter().map(|phases| energy(&self.waves, phases)).collect()
    }

    /// The phases of each harmonic of a frequency that there is.
    fn multiples(&self, frequency: PosF32) -> Vec<Phases> {
        let turns = turns(frequency, self.resonance.wavelength);
        (1..=MAX_HARMONIC)
            .map(|harmonic| turns * f64::from(harmonic))
            .take_while(|turns| *turns <= 0.5)
            .map(phases)
            .collect()
    }

    /// The energy at all frequencies there are, from 0 on.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "worked out in f64 and rounded once")]
    pub fn sweep(&self) -> Vec<Step> {
        // Half a turn in so many steps.
        let turns = |step: u8| f64::from(step) / f64::from(2 * SWEEP_STEPS);
        let energies: Vec<f32> =
            (0..=SWEEP_STEPS).map(|step| energy(&self.waves, &phases(turns(step))) as f32).collect();
        let wavelength = f64::from(self.resonance.wavelength.get());
        (0..=SWEEP_STEPS)
            .zip(&energies)
            .map(|(step, energy)| {
                let before = usize::from(step).checked_sub(1).and_then(|before| energies.get(before));
                let after = energies.get(usize::from(step) + 1).or(before);
                let above = |other: Option<&f32>| other.is_some_and(|other| energy > other);
                let resonant = above(before) && above(after);
                Step { frequency: turns(step) * wavelength, energy: *energy, resonant }
            })
            .collect()
    }
}

/// Which amplitude is greatest; of equal ones the first.
fn strongest(amplitudes: &[f32; HARMONICS]) -> usize {
    let mut best = 0;
    for (at, amplitude) in amplitudes.iter().enumerate() {
        if *amplitude > amplitudes[best] {
            best = at;
        }
    }
    best
}
