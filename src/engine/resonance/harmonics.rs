//! Harmonics of a frequency, and a sweep over all frequencies.
//!
//! Harmonic `h` of a frequency `f` is read at `h * f`, with the same wavelength, up to half a turn for each hop: beyond
//! that the spectrum is mirrored. A sweep goes from no turn to half a turn in 32 steps, and a frequency is resonant if its
//! energy is strictly above that of both neighbours. At the last step both neighbours are the step before, since the next
//! is its mirror image; the first step is never resonant.
//!
//! Amplitudes and energies are compared as `f32`: the last bits of an `f64` are noise.

use super::field::{Phases, WaveAccumulator, energy, phases, turns};
use super::waves::{NodeWave, Resonance};
use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::graph::number::PosF32;
use std::cmp::Reverse;

/// Greatest harmonic.
pub const MAX_HARMONIC: u8 = 5;
/// Steps of a sweep after the first.
pub const SWEEP_STEPS: u8 = 32;
/// Number of harmonics.
const HARMONICS: usize = MAX_HARMONIC as usize;

/// The response of a node to a frequency and its multiples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeHarmonics {
    /// The node.
    pub node: NodeId,
    /// Amplitude at harmonic 1, 2 and so on; 0 for harmonics that do not exist.
    pub amplitudes: [f32; HARMONICS],
}

/// Nodes with the greatest amplitude at the same harmonic, the lowest of equal ones.
#[derive(Debug, Clone, PartialEq)]
pub struct HarmonicGroup {
    /// The harmonic, from 1.
    pub harmonic: u8,
    /// The nodes, by amplitude at it descending, then by external id.
    pub nodes: Vec<NodeHarmonics>,
}

/// The response of all nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Harmonics {
    /// Number of harmonics that exist, at most five.
    pub count: u8,
    /// Groups by harmonic; none is empty.
    pub groups: Vec<HarmonicGroup>,
}

/// A step of a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SweepStep {
    /// Frequency.
    pub frequency: f64,
    /// Sum of `|Z|^2` over all nodes.
    pub energy: f32,
    /// Whether the energy is above that of both neighbouring steps.
    pub resonant: bool,
}

/// Reads waves at several frequencies.
#[derive(Debug, Clone)]
pub struct HarmonicAnalyzer<'a> {
    graph: &'a Graph,
    resonance: &'a Resonance,
    /// By ascending node.
    waves: Vec<&'a NodeWave>,
}

impl<'a> HarmonicAnalyzer<'a> {
    /// An analyzer of waves on the graph of [`resonate`](super::resonate).
    #[must_use]
    pub fn new(graph: &'a Graph, resonance: &'a Resonance) -> Self {
        Self { graph, resonance, waves: resonance.by_id() }
    }

    /// The response of all nodes to a frequency and its multiples.
    #[must_use]
    pub fn harmonics(&self, frequency: PosF32) -> Harmonics {
        let all = self.multiples(frequency);
        let mut members: [Vec<NodeHarmonics>; HARMONICS] = Default::default();
        for wave in self.waves.iter().filter(|_| !all.is_empty()) {
            let mut amplitudes = [0.0; HARMONICS];
            for (amplitude, phases) in amplitudes.iter_mut().zip(&all) {
                *amplitude = WaveAccumulator::of(wave, phases).rounded();
            }
            members[strongest(&amplitudes)].push(NodeHarmonics { node: wave.node, amplitudes });
        }
        let groups = (1..=MAX_HARMONIC).zip(members).filter(|(_, nodes)| !nodes.is_empty());
        let groups = groups.map(|(harmonic, mut nodes)| {
            let own = |of: &NodeHarmonics| of.amplitudes[usize::from(harmonic) - 1];
            nodes.sort_unstable_by_key(|of| (Reverse(own(of).to_bits()), self.graph.rank(of.node)));
            HarmonicGroup { harmonic, nodes }
        });
        Harmonics { count: u8::try_from(all.len()).unwrap_or(MAX_HARMONIC), groups: groups.collect() }
    }

    /// The energy at each harmonic that exists.
    #[must_use]
    pub fn energies(&self, frequency: PosF32) -> Vec<f64> {
        self.multiples(frequency).iter().map(|phases| energy(&self.waves, phases)).collect()
    }

    /// The phases of each harmonic that exists.
    fn multiples(&self, frequency: PosF32) -> Vec<Phases> {
        let turns = turns(frequency, self.resonance.wavelength);
        (1..=MAX_HARMONIC)
            .map(|harmonic| turns * f64::from(harmonic))
            .take_while(|turns| *turns <= 0.5)
            .map(phases)
            .collect()
    }

    /// The energy at all frequencies, from 0 on.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "computed in f64 and rounded once")]
    pub fn sweep(&self) -> Vec<SweepStep> {
        // Half a turn in this many steps.
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
                SweepStep { frequency: turns(step) * wavelength, energy: *energy, resonant }
            })
            .collect()
    }
}

/// The index of the greatest amplitude; of equal ones the first.
fn strongest(amplitudes: &[f32; HARMONICS]) -> usize {
    let mut best = 0;
    for (at, amplitude) in amplitudes.iter().enumerate() {
        if *amplitude > amplitudes[best] {
            best = at;
        }
    }
    best
}
