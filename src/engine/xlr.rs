//! Noise cancelled by contrast: what would light up for any question counts for less in the answer to this one.
//!
//! Two waves run over the same slots. The hot one begins at the seeds, the cold one at anti-seeds: nodes as well connected,
//! but unlike them. Each has a frequency of its own, and each node that a wave passes pulls it towards the middle between
//! the two, a well connected one the more. So the waves are alike exactly where both came through hubs, and in step where
//! both came as far; there the cold one takes from the hot one.
//!
//! | step | by |
//! |---|---|
//! | anti-seeds | `anti_seeds`: a sample named by the seeds, of like degree, with other neighbours |
//! | immunity | `near`: nobody at most two steps from a seed is suppressed |
//! | hot, cold | `channel`: pulses, level by level, and the field they leave |
//! | overlap | kernel of the difference of frequencies, times how far phases agree |
//! | suppression | overlap, times density, times cold |
//! | gate | `2 / (1 + e^(-6 net)) - 1`, at least 0, of what is left of hot beside the greatest hot |
//!
//! What contrast says of a node is a factor for what activation says of it. A node without a hot field has none.
//!
//! # Design notes
//! Scores of seeds begin as the profile of the activation begins them, under `Recall` divided by their greatest. A gate
//! stands for a share then, and does not hang on how rare a name is: with a score of 0.002 as it is, the seed alone would
//! be damped, and what its pulses are too weak to reach would keep all it has.
//!
//! Amplitudes are `f32`, as what an activation fires, and pass the same threshold in the same arithmetic. All else is
//! `f64`: sums over ascending senders, phases as points of the unit circle, so that a hop is one rotation and no angle has
//! to be found again.
//!
//! A path is of the last three nodes before the one a pulse is at. A slot from a node to itself leads to a node that is not
//! on it, and is travelled once.
//!
//! Whether a node is immune is asked only where cold arrived: elsewhere there is nothing to be spared.
//!
//! Invariants: fields are those of the definition (held by `xlr_oracle`); the order of insertion does not show (held by
//! `xlr_order_free`); no more pulses than the budget (held by `xlr_budget`).

mod anti_seeds;
mod channel;
mod near;
mod scratch;

#[cfg(test)]
mod tests;

pub use scratch::Scratch;

use super::activation::{Params, begin};
use super::{Flag, Flags};
use crate::graph::Graph;
use crate::graph::index::NodeId;
use channel::{Medium, Sums, Wave};

/// The frequency that the hot wave begins with.
pub const F_HOT: f64 = 1.0;
/// The frequency that the cold wave begins with.
pub const F_COLD: f64 = 3.7;
/// How far frequencies may lie apart and still be alike.
pub const SPECTRAL_BANDWIDTH: f64 = 0.8;
/// Hops of a full turn at frequency 1.
pub const SPECTRAL_WAVELENGTH: f64 = 16.0;
/// Steps from a seed up to which nothing is suppressed.
pub const IMMUNITY_HOPS: u8 = 2;
/// How steep the gate is.
pub const SIGMOID_STEEPNESS: f64 = 6.0;
/// Pulses of both channels at most, where nobody says otherwise.
pub const XLR_PULSE_BUDGET: u32 = 50_000;

/// Between what the density of a node lies.
const DENSITY_MIN: f64 = 0.3;
const DENSITY_MAX: f64 = 2.0;
/// A gate that is closed. Where all are, contrast has cancelled everything, and is left out.
const GATE_CLOSED: f64 = 0.01;

/// What contrast says of a hit.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "Contrast"))]
pub struct Field {
    /// Which node; the wave from the seeds reached it.
    #[serde(skip)]
    pub node: NodeId,
    /// What the wave from the seeds left there.
    pub hot: f32,
    /// What the wave from elsewhere left there.
    pub cold: f32,
    /// How alike and in step the two are, 0 to 1.
    pub overlap: f32,
    /// How well connected it is beside the mean, 0.3 to 2.
    pub density: f32,
    /// Whether it is too near a seed to be damped.
    pub immune: bool,
    /// What is left of hot, beside the greatest of it or 1; below 0 where cold takes more than there is.
    pub net: f32,
    /// By what its structural score is multiplied, 0 to 1, where contrast gates.
    pub gate: f32,
}

/// What contrast says of the nodes that seeds reach.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contrast {
    /// Nodes with a hot field, by id.
    pub nodes: Vec<Field>,
    /// Where the cold wave began, by external id; at most three.
    pub anti_seeds: Vec<NodeId>,
    /// What was cut short, or left out.
    pub flags: Flags,
    /// Pulses of both waves, those of seeds and anti-seeds among them.
    pub pulses: u64,
    /// Slots that both waves read.
    pub slots_read: u64,
}

impl Contrast {
    /// What to multiply the value of a node by; `None` where it stays as it is.
    #[must_use]
    pub fn gate(&self, node: NodeId) -> Option<f32> {
        self.field(node).map(|field| field.gate)
    }

    /// What both waves left at a node; `None` where the hot one did not come.
    #[must_use]
    pub fn field(&self, node: NodeId) -> Option<&Field> {
        let at = self.nodes.binary_search_by_key(&node, |field| field.node).ok()?;
        self.nodes.get(at)
    }
}

/// Contrasts what seeds reach with what others would. `mean_degree` is that of the graph; params are
/// [checked](Params::checked), and of them mode, cap of sums and most slots have no part; either wave has half of the
/// `budget` of pulses. Without seeds whose score is above 0 there is nothing to contrast.
#[must_use]
pub fn xlr(
    graph: &Graph,
    mean_degree: f64,
    seeds: &[(NodeId, f32)],
    params: &Params,
    budget: u32,
    scratch: &mut Scratch,
) -> Contrast {
    begin(seeds, params, &mut scratch.seeds);
    if scratch.seeds.is_empty() {
        return Contrast::default();
    }
    scratch.fit(graph.node_count());
    let Scratch { seeds: begun, near, room, channel, hot, cold, .. } = &mut *scratch;
    near.mark(graph, begun);
    let anti_seeds = anti_seeds::choose(graph, begun, near, room);
    let medium = Medium { graph, params, mean_degree };
    let ran = channel.run(&medium, begun.iter().copied(), F_HOT, budget / 2, hot);
    let share = share(begun, anti_seeds.len());
    let against = anti_seeds.iter().map(|node| (*node, share));
    let ran_cold = channel.run(&medium, against, F_COLD, budget / 2, cold);
    let mut nodes = fields(&medium, scratch, ran.near, true);
    let closed = |field: &Field| f64::from(field.gate) <= GATE_CLOSED;
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
    Contrast { nodes, anti_seeds, flags, pulses: ran.pulses + ran_cold.pulses, slots_read }
}

/// What each of so many anti-seeds begins with, so that both waves carry the same.
#[expect(clippy::cast_possible_truncation, reason = "the sum of scores that an f32 holds, rounded once")]
fn share(seeds: &[(NodeId, f32)], among: usize) -> f32 {
    let sum: f64 = seeds.iter().map(|(_, score)| f64::from(*score)).sum();
    (sum / among.max(1) as f64) as f32
}

/// The field of each node that the hot wave reached, by id. The first `reached` places are of nodes it reached in at most
/// two hops.
#[expect(clippy::cast_possible_truncation, reason = "worked out in f64 and rounded once")]
fn fields(medium: &Medium<'_>, scratch: &mut Scratch, reached: usize, suppresses: bool) -> Vec<Field> {
    let Scratch { near, channel, hot, cold, order, .. } = scratch;
    order.clear();
    let places = (0_u32..).zip(&channel.touched).zip(hot.iter());
    let lit = places.filter(|(_, sums)| sums.amplitude > 0.0);
    order.extend(lit.map(|((place, node), _)| (*node, place)));
    order.sort_unstable();
    let greatest = hot.iter().map(|sums| sums.amplitude).fold(1.0, f64::max);
    let none = Sums::default();
    let field = |(node, place): &(u32, u32)| {
        let (node, place) = (NodeId(*node), *place as usize);
        let (hot, cold) = (&hot[place], cold.get(place).unwrap_or(&none));
        let met = cold.amplitude > 0.0;
        let immune = met && (place < reached || near.within_two(medium.graph, node));
        let overlap = if met { overlap(&hot.wave(), &cold.wave()) } else { 0.0 };
        let density = density(medium.graph.degree(node), medium.mean_degree);
        let taken = if suppresses && !immune { overlap * density * cold.amplitude } else { 0.0 };
        let net = (hot.amplitude - taken) / greatest;
        Field {
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

/// How alike two waves are, times how far they are in step, `0 ..= 1`.
fn overlap(hot: &Wave, cold: &Wave) -> f64 {
    let apart = hot.frequency - cold.frequency;
    let alike = libm::exp(-(apart * apart) / (2.0 * SPECTRAL_BANDWIDTH * SPECTRAL_BANDWIDTH));
    let in_step = hot.x * cold.x + hot.y * cold.y;
    alike * (1.0 + in_step.clamp(-1.0, 1.0)) / 2.0
}

/// How well connected a node is beside the mean.
fn density(degree: u32, mean: f64) -> f64 {
    if mean > 0.0 { (f64::from(degree) / mean).clamp(DENSITY_MIN, DENSITY_MAX) } else { DENSITY_MIN }
}

/// What of a node is let through, by what is left of its hot field.
fn gate(net: f64) -> f64 {
    (2.0 / (1.0 + libm::exp(-SIGMOID_STEEPNESS * net)) - 1.0).max(0.0)
}
