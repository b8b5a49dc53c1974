//! XLR: noise cancellation by contrast. Nodes that most queries would activate are suppressed in a result.
//!
//! Two waves run over the same slots. The hot one starts at the seeds, the cold one at anti-seeds: nodes of similar degree
//! with other neighbours. Each has a frequency of its own, and each node that a wave passes pulls the frequency towards the
//! middle of the two, by its degree. So the frequencies are alike where both waves came through hubs, and the phases where
//! both came equally far; there the cold wave is subtracted from the hot one.
//!
//! | step | by |
//! |---|---|
//! | anti-seeds | `anti_seeds`: a random sample, seeded by the seeds, of like degree, with other neighbours |
//! | immunity | `near`: nodes at most two steps from a seed are not suppressed |
//! | hot, cold | `channel`: pulses, level by level, and the field they leave |
//! | overlap | Gaussian kernel of the difference of frequencies, times the agreement of phases |
//! | suppression | overlap, times density, times cold |
//! | gate | `2 / (1 + e^(-6 net)) - 1`, at least 0, where net is hot less suppression, over the greatest hot |
//!
//! The gate of a node is a factor for its activation. A node without a hot field has none.
//!
//! # Design notes
//! Seeds have the initial values of the activation, which the `Recall` parameters divide by the greatest. So a gate does not
//! depend on how rare a name is: with a score of 0.002, the seed alone would be damped, and nodes that its weak pulses do
//! not reach would be unchanged.
//!
//! Amplitudes are `f32`, like activation, and pass the same threshold in the same arithmetic. All else is `f64`: sums over
//! ascending senders, and phases as points on the unit circle, so that a hop is one rotation and needs no angle.
//!
//! A pulse does not return to the last three nodes of its path. A self-loop leads to a node that is not on the path, and is
//! followed once.
//!
//! Immunity is only checked where the cold wave arrived.
//!
//! Invariants: fields equal their definition (held by `xlr_oracle`); the order of insertion does not show (held by
//! `xlr_order_free`); no more pulses than the budget (held by `xlr_budget`).

mod anti_seeds;
mod channel;
mod near;
mod scratch;

#[cfg(test)]
mod tests;

pub use scratch::Scratch;

use super::activation::{ActivationConfig, write_initial_values};
use super::{Flag, Flags};
use crate::graph::Graph;
use crate::graph::index::NodeId;
use channel::{Medium, Sums, Wave};

/// Initial frequency of the hot wave.
pub const F_HOT: f64 = 1.0;
/// Initial frequency of the cold wave.
pub const F_COLD: f64 = 3.7;
/// Width of the kernel over the difference of frequencies.
pub const SPECTRAL_BANDWIDTH: f64 = 0.8;
/// Hops per period at frequency 1.
pub const SPECTRAL_WAVELENGTH: f64 = 16.0;
/// Distance from a seed up to which nothing is suppressed.
pub const IMMUNITY_HOPS: u8 = 2;
/// Steepness of the gate.
pub const SIGMOID_STEEPNESS: f64 = 6.0;
/// Default pulse budget of both waves together.
pub const XLR_PULSE_BUDGET: u32 = 50_000;

/// Range of the density of a node.
const DENSITY_MIN: f64 = 0.3;
const DENSITY_MAX: f64 = 2.0;
/// A closed gate. If all gates are closed, everything was cancelled, and suppression is not applied.
const GATE_CLOSED: f64 = 0.01;

/// Contrast of a hit.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Contrast {
    /// The node, reached by the hot wave.
    #[serde(skip)]
    pub node: NodeId,
    /// Field of the wave from the seeds.
    pub hot: f32,
    /// Field of the wave from other regions of the graph.
    pub cold: f32,
    /// Agreement of the two waves in frequency and phase, 0 to 1.
    pub overlap: f32,
    /// Degree relative to the mean, 0.3 to 2.
    pub density: f32,
    /// Whether the node is too near a seed to be suppressed.
    pub immune: bool,
    /// Hot field less suppression, over the greatest hot field or 1; below 0 where suppression is larger.
    pub net: f32,
    /// Factor of its structural score in gate mode, 0 to 1.
    pub gate: f32,
}

/// Result of [`xlr`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct XlrResult {
    /// Contrast of the nodes with a hot field, by id.
    pub nodes: Vec<Contrast>,
    /// Start of the cold wave, by external id; at most three nodes.
    pub anti_seeds: Vec<NodeId>,
    /// Reasons why the result is incomplete.
    pub flags: Flags,
    /// Pulses of both waves, including seeds and anti-seeds.
    pub pulses: u64,
    /// Slots read by both waves.
    pub slots_read: u64,
}

impl XlrResult {
    /// The factor for the activation of a node; `None` leaves it unchanged.
    #[must_use]
    pub fn gate(&self, node: NodeId) -> Option<f32> {
        self.field(node).map(|field| field.gate)
    }

    /// The contrast of a node; `None` if the hot wave did not reach it.
    #[must_use]
    pub fn field(&self, node: NodeId) -> Option<&Contrast> {
        let at = self.nodes.binary_search_by_key(&node, |field| field.node).ok()?;
        self.nodes.get(at)
    }
}

/// Contrasts seeds with anti-seeds. `mean_degree` is that of the graph; the config is [checked](ActivationConfig::checked),
/// and its aggregation, cap and slot limit are not used; each wave has half of the pulse `budget`. Seeds that the graph does
/// not have are ignored. Without seeds of a score above 0 the result is empty.
#[must_use]
pub fn xlr(
    graph: &Graph,
    mean_degree: f64,
    seeds: &[(NodeId, f32)],
    params: &ActivationConfig,
    budget: u32,
    scratch: &mut Scratch,
) -> XlrResult {
    write_initial_values(graph, seeds, params, &mut scratch.seeds);
    if scratch.seeds.is_empty() {
        return XlrResult::default();
    }
    scratch.fit(graph.node_count());
    let Scratch { seeds, near, buffers, channel, hot, cold, .. } = &mut *scratch;
    near.mark(graph, seeds);
    let anti_seeds = anti_seeds::choose(graph, seeds, near, buffers);
    let medium = Medium { graph, params, mean_degree };
    let ran = channel.run(&medium, seeds.iter().copied(), F_HOT, budget / 2, hot);
    let initial = anti_seed_value(seeds, anti_seeds.len());
    let against = anti_seeds.iter().map(|node| (*node, initial));
    let ran_cold = channel.run(&medium, against, F_COLD, budget / 2, cold);
    let mut nodes = fields(&medium, scratch, ran.near, true);
    let closed = |field: &Contrast| f64::from(field.gate) <= GATE_CLOSED;
    let cancelled = !nodes.is_empty() && !anti_seeds.is_empty() && nodes.iter().all(closed);
    if cancelled {
        nodes = fields(&medium, scratch, ran.near, false);
    }
    scratch.reset(graph);
    let flags = Flags::default()
        .with(Flag::XlrTruncated, ran.truncated || ran_cold.truncated)
        .with(Flag::XlrOverCancelled, cancelled)
        .with(Flag::XlrNoAntiSeeds, anti_seeds.is_empty());
    let slots_read = ran.slots_read + ran_cold.slots_read;
    XlrResult { nodes, anti_seeds, flags, pulses: ran.pulses + ran_cold.pulses, slots_read }
}

/// Initial value of each anti-seed, so that both waves carry the same total.
#[expect(clippy::cast_possible_truncation, reason = "the sum of scores that an f32 holds, rounded once")]
fn anti_seed_value(seeds: &[(NodeId, f32)], among: usize) -> f32 {
    let sum: f64 = seeds.iter().map(|(_, score)| f64::from(*score)).sum();
    (sum / among.max(1) as f64) as f32
}

/// The contrast of each node that the hot wave reached, by id. The first `reached` places are of nodes it reached in at
/// most two hops.
#[expect(clippy::cast_possible_truncation, reason = "computed in f64 and rounded once")]
fn fields(medium: &Medium<'_>, scratch: &mut Scratch, reached: usize, suppresses: bool) -> Vec<Contrast> {
    let Scratch { near, channel, hot, cold, order, .. } = scratch;
    order.clear();
    let places = (0_u32..).zip(&channel.touched).zip(hot.iter());
    let activated = places.filter(|(_, sums)| sums.amplitude > 0.0);
    order.extend(activated.map(|((place, node), _)| (*node, place)));
    order.sort_unstable();
    let greatest = hot.iter().map(|sums| sums.amplitude).fold(1.0, f64::max);
    let none = Sums::default();
    let field = |(node, place): &(u32, u32)| {
        let (node, place) = (NodeId(*node), *place as usize);
        let (hot, cold) = (&hot[place], cold.get(place).unwrap_or(&none));
        let has_cold = cold.amplitude > 0.0;
        let immune = has_cold && (place < reached || near.is_within_two_hops(medium.graph, node));
        let overlap = if has_cold { overlap(&hot.wave(), &cold.wave()) } else { 0.0 };
        let density = density(medium.graph.degree(node), medium.mean_degree);
        let taken = if suppresses && !immune { overlap * density * cold.amplitude } else { 0.0 };
        let net = (hot.amplitude - taken) / greatest;
        Contrast {
            node,
            hot: hot.amplitude as f32,
            cold: cold.amplitude as f32,
            overlap: overlap as f32,
            density: density as f32,
            immune,
            net: net as f32,
            gate: gate(net) as f32,
        }
    };
    order.iter().map(field).collect()
}

/// Similarity of frequencies times agreement of phases, `0 ..= 1`.
fn overlap(hot: &Wave, cold: &Wave) -> f64 {
    let apart = hot.frequency - cold.frequency;
    let alike = libm::exp(-(apart * apart) / (2.0 * SPECTRAL_BANDWIDTH * SPECTRAL_BANDWIDTH));
    let in_step = hot.x * cold.x + hot.y * cold.y;
    alike * (1.0 + in_step.clamp(-1.0, 1.0)) / 2.0
}

/// Degree relative to the mean, clamped.
fn density(degree: u32, mean: f64) -> f64 {
    if mean > 0.0 { (f64::from(degree) / mean).clamp(DENSITY_MIN, DENSITY_MAX) } else { DENSITY_MIN }
}

/// The gate for a net field.
fn gate(net: f64) -> f64 {
    (2.0 / (1.0 + libm::exp(-SIGMOID_STEEPNESS * net)) - 1.0).max(0.0)
}
