//! Standing waves: pulses from seeds, and where they interfere constructively or destructively.
//!
//! | module or type | contents |
//! |---|---|
//! | [`waves`] | pulses from seeds, and the amplitude at each node and hop |
//! | [`WaveAccumulator`], [`ResonanceReport`] | the superposition at one frequency: antinodes and quiet nodes |
//! | [`harmonics`] | the same for five multiples of a frequency, and a sweep of all frequencies |
//! | [`sympathetic`] | nodes far from every seed that resonate |
//!
//! Waves run on the undirected view ([`crate::graph::pairs`]): a fact can be followed from either of its ends. A pair
//! conducts `t = min(1, largest effective weight)` of its excitatory slots; without any, `-0.5 * min(1, weight)` of its
//! inhibitory ones, which inverts the wave.
//!
//! # Design notes
//! Pulses do not depend on a frequency: only their phases do, and a phase follows from the number of hops. So waves run
//! once, each node keeps one amplitude for each hop, and any frequency is read from these (`one_pass_equals_27`).
//!
//! The default wavelength is 16. Hops are integers and amplitudes are real, so a response is periodic in the wavelength and
//! symmetric about half of it: at a wavelength of 4 the first, third and fifth harmonic coincide.
//!
//! Amplitudes are `f64` from the first crossing to the last sum. Ranking and comparison use `f32`, rounded once at the end,
//! so that values that are mathematically equal compare equal.

mod field;
pub mod harmonics;
mod rows;
pub mod sympathetic;
pub mod waves;

#[cfg(test)]
mod tests;

pub use field::{NodeResonance, ResonanceReport, WaveAccumulator};
pub use waves::{NodeWave, Resonance, Scratch, resonate};

use crate::graph::number::PosF32;

/// Default frequency.
pub const BASE_FREQUENCY: f32 = 1.0;
/// Default wavelength in hops.
pub const WAVELENGTH: PosF32 = PosF32::SIXTEEN;
/// Default pulse budget of a query.
pub const DEFAULT_PULSE_BUDGET: u32 = 50_000;
/// Greatest number of hops.
pub const HOPS_MAX: u8 = 10;

/// Parameters of [`resonate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResonanceConfig {
    /// Hops per period at frequency 1.
    pub wavelength: PosF32,
    /// Greatest number of pulses, including seeds.
    pub pulse_budget: u32,
    /// Greatest number of hops, `0 ..= 10`.
    pub max_hops: u8,
}

impl Default for ResonanceConfig {
    fn default() -> Self {
        Self { wavelength: WAVELENGTH, pulse_budget: DEFAULT_PULSE_BUDGET, max_hops: HOPS_MAX }
    }
}
