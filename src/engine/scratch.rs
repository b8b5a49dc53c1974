//! Reusable buffers of queries, one set for each thread.

use super::{activation, resonance, xlr};

/// Reusable buffers of one thread.
#[derive(Debug, Default)]
pub struct Scratch {
    /// For spreading activation.
    pub activation: activation::scratch::Scratch,
    /// For XLR.
    pub xlr: xlr::Scratch,
    /// For resonance.
    pub resonance: resonance::Scratch,
}
