//! Superposition at one frequency: `Z = sum over hops h of S_h * e^(i * 2 * pi * f * h / wavelength)` at each node.
//!
//! In phase, hops add up; out of phase, they cancel. Energy is the sum of `|Z|^2` over ascending nodes, and each `Z` a sum
//! over ascending hops.

use super::HOPS_MAX;
use super::waves::{AMPLITUDES, NodeWave, Resonance};
use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::graph::number::PosF32;
use std::cmp::Reverse;
use std::f64::consts::TAU;

/// Share of the largest amplitude from which a node is an antinode, and incoming amplitude is large.
const LARGE: f32 = 0.5;
/// Greatest coherence of a quiet node.
const QUIET_COHERENCE: f32 = 0.1;

/// The superposition at a node, as a complex number.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WaveAccumulator {
    /// Sum of `amplitude * cos(phase)`.
    pub real: f64,
    /// Sum of `amplitude * sin(phase)`.
    pub imaginary: f64,
}

impl WaveAccumulator {
    /// Superposes the amplitudes of a node at the phases of a frequency.
    pub(super) fn of(wave: &NodeWave, phases: &Phases) -> Self {
        let mut sum = Self::default();
        for (amplitude, (cos, sin)) in wave.amplitudes.iter().zip(phases) {
            sum.real += amplitude * cos;
            sum.imaginary += amplitude * sin;
        }
        sum
    }

    /// `|Z|^2`.
    #[must_use]
    pub fn energy(self) -> f64 {
        self.real * self.real + self.imaginary * self.imaginary
    }

    /// `|Z|`, at least 0.
    #[must_use]
    pub fn amplitude(self) -> f64 {
        self.energy().sqrt()
    }

    /// `arg Z`, in `[0, 2 * pi)`; 0 if `Z` is 0.
    #[must_use]
    pub fn phase(self) -> f64 {
        let phase = libm::atan2(self.imaginary, self.real);
        let phase = if phase < 0.0 { phase + TAU } else { phase + 0.0 };
        // A phase just below 0 is rounded to a full turn.
        if phase < TAU { phase } else { 0.0 }
    }

    /// Its amplitude, rounded once.
    #[expect(clippy::cast_possible_truncation, reason = "computed in f64 and rounded once")]
    pub(super) fn rounded(self) -> f32 {
        self.amplitude() as f32
    }
}

/// Cosine and sine of the phase at each hop.
pub(super) type Phases = [(f64, f64); AMPLITUDES];

/// The phases of a frequency; `turns` is the part of a full turn for each hop.
pub(super) fn phases(turns: f64) -> Phases {
    let mut phases = [(1.0, 0.0); AMPLITUDES];
    for (hop, phase) in (0..=HOPS_MAX).zip(&mut phases) {
        let angle = TAU * (turns * f64::from(hop)).fract();
        *phase = (libm::cos(angle), libm::sin(angle));
    }
    phases
}

/// The part of a full turn for each hop: frequency over wavelength.
pub(super) fn turns(frequency: PosF32, wavelength: PosF32) -> f64 {
    f64::from(frequency.get()) / f64::from(wavelength.get())
}

/// The energy of waves, which are sorted by node.
pub(super) fn energy(waves: &[&NodeWave], phases: &Phases) -> f64 {
    waves.iter().fold(0.0, |sum, wave| sum + WaveAccumulator::of(wave, phases).energy())
}

/// The response of a node at one frequency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeResonance {
    /// The node.
    pub node: NodeId,
    /// The superposition.
    pub field: WaveAccumulator,
    /// `|Z|`.
    pub amplitude: f32,
    /// Share of the incoming amplitude that is in phase, `|Z| / sum of |S_h|`, `0 ..= 1`.
    pub coherence: f32,
    /// Whether its amplitude is at least half of the largest.
    pub antinode: bool,
    /// Whether its incoming amplitude is at least half of the largest amplitude, and at most a tenth of it remains.
    pub quiet: bool,
}

/// The response of all reached nodes at one frequency.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResonanceReport {
    /// Nodes by amplitude descending, then by external id.
    pub nodes: Vec<NodeResonance>,
    /// Sum of `|Z|^2`.
    pub energy: f64,
}

impl Resonance {
    /// The waves by ascending node, the order of sums over them.
    pub(super) fn by_id(&self) -> Vec<&NodeWave> {
        let mut waves: Vec<&NodeWave> = self.waves.iter().collect();
        waves.sort_unstable_by_key(|wave| wave.node);
        waves
    }

    /// The response at a frequency. The graph is the one of [`resonate`](super::resonate).
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "computed in f64 and rounded once")]
    pub fn report(&self, graph: &Graph, frequency: PosF32) -> ResonanceReport {
        let phases = phases(turns(frequency, self.wavelength));
        let waves = self.by_id();
        let swing = |wave: &&NodeWave| WaveAccumulator::of(wave, &phases).rounded();
        let most = waves.iter().map(swing).fold(0.0, f32::max);
        let mut nodes: Vec<NodeResonance> = waves
            .iter()
            .map(|wave| {
                let field = WaveAccumulator::of(wave, &phases);
                let came: f64 = wave.amplitudes.iter().map(|amplitude| amplitude.abs()).sum();
                let coherence = if came > 0.0 { (field.amplitude() / came).min(1.0) as f32 } else { 0.0 };
                let amplitude = field.rounded();
                NodeResonance {
                    node: wave.node,
                    field,
                    amplitude,
                    coherence,
                    antinode: amplitude > 0.0 && amplitude >= LARGE * most,
                    quiet: came as f32 >= LARGE * most && coherence <= QUIET_COHERENCE,
                }
            })
            .collect();
        nodes.sort_unstable_by_key(|of| (Reverse(of.amplitude.to_bits()), graph.rank(of.node)));
        ResonanceReport { nodes, energy: energy(&waves, &phases) }
    }
}
