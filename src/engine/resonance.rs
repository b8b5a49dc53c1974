//! Standing waves: what seeds make swing, and where their waves meet in step or cancel each other.
//!
//! | | |
//! |---|---|
//! | [`waves`] | pulses that set out from seeds, and what of them came to each node at each hop |
//! | [`WaveAccumulator`], [`Report`] | these put together for one frequency: where it swings, and where it is quiet |
//! | [`harmonics`] | the same for five multiples of a frequency, and for all frequencies there are |
//! | [`sympathetic`] | what swings far from every seed |
//!
//! Waves run on the undirected view ([`crate::graph::pairs`]): a fact can be followed from either of its ends. A pair conducts
//! `t = min(1, largest effective weight)` of the slots that pass on; where there are none, `-0.5 * min(1, weight)` of those
//! that hold back, which turns a wave upside down.
//!
//! # Design notes
//! Pulses do not depend on a frequency: only their phases do, and a phase follows from the number of hops. So waves run
//! once, each node keeps one amplitude for each hop, and any frequency is read from these (`one_pass_equals_27`).
//!
//! The default wavelength is 16. Hops are whole numbers and amplitudes are real, so what a node answers repeats with the
//! wavelength and is mirrored at half of it: at a wavelength of 4 the first, third and fifth harmonic are one.
//!
//! Amplitudes are `f64` from the first crossing to the last sum. What is ranked and compared is rounded to `f32` once, at
//! the end, so that what is equal on paper is equal here.

mod field;
pub mod harmonics;
mod rows;
pub mod sympathetic;
pub mod waves;

#[cfg(test)]
mod tests;

pub use field::{Report, Resonant, WaveAccumulator};
pub use waves::{Resonance, Scratch, Wave, resonate};

use crate::graph::number::PosF32;

/// The frequency that is asked for where nobody says another.
pub const BASE_FREQUENCY: f32 = 1.0;
/// The wavelength in hops where nobody says another.
pub const WAVELENGTH: PosF32 = PosF32::SIXTEEN;
/// Pulses of one query where nobody says another number.
pub const DEFAULT_PULSE_BUDGET: u32 = 50_000;
/// Hops of a wave at most.
pub const HOPS_MAX: u8 = 10;

/// How far waves run, and how they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Hops from crest to crest at frequency 1.
    pub wavelength: PosF32,
    /// Pulses at most. Seeds are the first of them.
    pub pulse_budget: u32,
    /// Hops at most, `0 ..= 10`.
    pub max_hops: u8,
}

impl Default for Config {
    fn default() -> Self {
        Self { wavelength: WAVELENGTH, pulse_budget: DEFAULT_PULSE_BUDGET, max_hops: HOPS_MAX }
    }
}
