//! What questions work in, one for each thread, and kept from one question to the next.

use super::{activation, resonance, xlr};

/// Reusable memory of one thread.
#[derive(Debug, Default)]
pub struct Scratch {
    /// For spreading.
    pub activation: activation::scratch::Scratch,
    /// For contrast.
    pub xlr: xlr::Scratch,
    /// For waves.
    pub resonance: resonance::Scratch,
}
