//! Spreading activation from seed nodes, level by level.
//!
//! All sources of a level send the values they had when the level began, an arrival counts only if it is strictly above
//! the threshold, excitation is a maximum or a sum over ascending sources, and inhibition is summed in integers. So
//! neither the order of edges nor skipped slots can change a bit: an implementation that reads every edge (`textbook`, in
//! the tests) gives the same values.
//!
//! [`wavefront`] is the main implementation. [`best_first`] follows the strongest signal first and stops early, which pays
//! for few seeds in a sparse graph; [`hybrid`] chooses between them. All three return the same values. [`paths`] explains
//! how a signal reached a node.
//!
//! # Design notes
//! All comparisons are strict, the cap applies to every write and not only to seeds, and inhibition is applied per level:
//! the source document leaves these open, and with any other choice the order of edges would show.

pub mod best_first;
mod bloom;
pub mod hybrid;
mod marks;
pub mod paths;
pub mod scratch;
pub mod wavefront;

#[cfg(test)]
mod tests;
#[cfg(test)]
#[path = "../../tests/bench/reference.rs"]
mod textbook;

use crate::graph::builder::within;
use crate::graph::csr::{BOUND_BLOCK, SlotRange, weight_of};
use crate::graph::index::NodeId;
use crate::graph::number::DecayFactor;
use crate::graph::{Error, Graph};

/// Factor applied to an inhibitory arrival.
pub const INHIBITORY_FACTOR: f32 = 0.5;
/// Greatest depth that can be configured.
pub const DEPTH_MAX: u8 = 20;

/// How the arrivals at one node in one level are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregation {
    /// The maximum.
    Max,
    /// The sum.
    Sum,
}

/// How a node divides its output among its slots. `W` is the sum of its base weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FanOut {
    /// Each slot gets the full value.
    None,
    /// Each slot gets `1 / sqrt(max(1, W))` of the value.
    Sqrt,
    /// Each slot gets `1 / max(1, W)` of the value, so that a level carries less than the one before.
    Linear,
}

/// Parameters of spreading activation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActivationConfig {
    /// How arrivals are combined.
    pub aggregation: Aggregation,
    /// How a node divides its output.
    pub fan_out: FanOut,
    /// Arrivals at or below this are ignored; in `(0, 1)`.
    pub threshold: f32,
    /// Factor per hop.
    pub decay: DecayFactor,
    /// Greatest number of hops, `1 ..= 20`.
    pub max_depth: u8,
    /// Greatest value of a node, in `(0, 16]`.
    pub cap: f32,
    /// Whether seed scores are divided by the greatest of them.
    pub normalised: bool,
    /// Number of slots read after which no further level begins.
    pub max_slots: u64,
}

impl ActivationConfig {
    /// The parameters of the source document, for questions about the graph itself.
    pub const REFERENCE: Self = Self {
        aggregation: Aggregation::Max,
        fan_out: FanOut::None,
        threshold: 0.04,
        decay: DecayFactor::REFERENCE,
        max_depth: 5,
        cap: 1.0,
        normalised: false,
        max_slots: u64::MAX,
    };
    /// Parameters for retrieval: evidence adds up, and dense regions cannot saturate. The decay is the damping factor of
    /// PageRank, and spreading continues until little is left, since a signal is divided at every node anyway. A decay of 0.55
    /// or a depth of five found less at 2, 5, 10 and 20 hits of the multi-hop set (`cargo bench --bench recall`), whose
    /// answers are two or three relationships away; signals that return along cycles add up as well.
    pub const RECALL: Self = Self {
        aggregation: Aggregation::Sum,
        fan_out: FanOut::Linear,
        threshold: 0.0001,
        decay: DecayFactor::RECALL,
        max_depth: 10,
        cap: 4.0,
        normalised: true,
        max_slots: u64::MAX,
    };

    /// Checks that every number is in its range.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::ParameterOutOfRange`].
    pub fn checked(self) -> Result<Self, Error> {
        // The smallest number above 0 and the greatest below 1 that an f32 can represent.
        within(
            "threshold",
            self.threshold,
            f64::from(f32::MIN_POSITIVE),
            1.0 - f64::from(f32::EPSILON) / 2.0,
        )?;
        within("max_depth", f32::from(self.max_depth), 1.0, f64::from(DEPTH_MAX))?;
        within("saturation_cap", self.cap, f64::from(f32::MIN_POSITIVE), 16.0)?;
        Ok(self)
    }

    /// The signal that a node of value `p` sends over a slot of weight 1.
    pub(super) fn sends(&self, graph: &Graph, node: NodeId, p: f32) -> f32 {
        let strength = || graph.out_strength(node).max(1.0);
        let k = p * self.decay.get();
        match self.fan_out {
            FanOut::None => k,
            FanOut::Sqrt => k * (1.0 / strength().sqrt()),
            FanOut::Linear => k * (1.0 / strength()),
        }
    }
}

/// A node with its activation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActivatedNode {
    /// The node.
    pub node: NodeId,
    /// Its activation, in `(0, cap]`.
    pub value: f32,
}

/// Work done by one activation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ActivationCounters {
    /// Slots read.
    pub slots_read: u64,
    /// Slots read whose signal was above the threshold.
    pub useful_slots: u64,
    /// Rows read: one for each time a node sent. A node of which no slot can pass the threshold does not send.
    pub rows: u64,
    /// Nodes whose cell was written.
    pub touched: u64,
}

impl ActivationCounters {
    /// Adds the slots read of one row and those above the threshold.
    const fn add(&mut self, (read, useful): (u64, u64)) {
        self.slots_read += read;
        self.useful_slots += useful;
    }
}

/// Result of an activation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ActivationResult {
    /// The strongest nodes, by value descending, then by external id.
    pub nodes: Vec<ActivatedNode>,
    /// Work done.
    pub counters: ActivationCounters,
    /// Whether levels were skipped because of `max_slots`.
    pub truncated: bool,
}

impl ActivationResult {
    /// Keeps the `most` strongest nodes, in order; the rest is never sorted.
    #[must_use]
    pub(crate) fn strongest(mut self, graph: &Graph, most: usize) -> Self {
        Self { nodes: strongest(graph, &mut self.nodes, most), ..self }
    }
}

/// The initial value of each seed, one for each node: the greatest of its scores, at most the cap. Scores that are not
/// above 0 are ignored, and so are nodes that the graph does not have.
pub(super) fn initial_values(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &ActivationConfig,
) -> Vec<(NodeId, f32)> {
    let mut initial = Vec::new();
    write_initial_values(graph, seeds, params, &mut initial);
    initial
}

/// [`initial_values`] into an existing buffer.
pub(super) fn write_initial_values(
    graph: &Graph,
    seeds: &[(NodeId, f32)],
    params: &ActivationConfig,
    initial: &mut Vec<(NodeId, f32)>,
) {
    initial.clear();
    let is_valid =
        |(node, score): &&(NodeId, f32)| graph.has_node(*node) && *score > 0.0 && score.is_finite();
    initial.extend(seeds.iter().filter(is_valid));
    initial.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    initial.dedup_by_key(|(node, _)| *node);
    let most = initial.iter().map(|(_, score)| *score).fold(0.0, f32::max);
    for (_, score) in initial {
        *score = if params.normalised { *score / most } else { *score }.min(params.cap);
    }
}

/// Whether any slot of a range can pass the threshold.
pub(super) fn can_pass(part: &SlotRange<'_>, k: f32, threshold: f32) -> bool {
    part.bounds.first().is_some_and(|bound| k * weight_of(bound) > threshold)
}

/// Sends `k` times its weight over each slot whose signal is above the threshold; returns how many slots were read and how
/// many were above it. Slots that cannot pass are skipped: by blocks in a row with learned weights, else after the first, unless
/// its weight was learned meanwhile.
#[inline]
pub(super) fn send(
    part: &SlotRange<'_>,
    k: f32,
    threshold: f32,
    mut arrive: impl FnMut(usize, u32, f32),
) -> (u64, u64) {
    if !part.learned {
        let (targets, weights) = (part.targets, &part.weights[..part.targets.len()]);
        let mut useful = targets.len();
        // A range counts without a check for overflow at each slot.
        for at in 0..targets.len() {
            let signal = k * weight_of(&weights[at]);
            if signal <= threshold {
                useful = at;
                break;
            }
            arrive(at, targets[at], signal);
        }
        let read = targets.len().min(useful + 1);
        if read == useful || !part.is_learned_by_now() {
            return (read as u64, useful as u64);
        }
        let (more, passed) = send_by_blocks(part, read, k, threshold, arrive);
        return (read as u64 + more, useful as u64 + passed);
    }
    send_by_blocks(part, 0, k, threshold, arrive)
}

/// As [`send`], over the slots from one on, in whatever order their weights are.
#[inline]
fn send_by_blocks(
    part: &SlotRange<'_>,
    from: usize,
    k: f32,
    threshold: f32,
    mut arrive: impl FnMut(usize, u32, f32),
) -> (u64, u64) {
    let (mut read, mut useful) = (0, 0);
    for (block, bound) in part.bounds.iter().enumerate().skip(from / BOUND_BLOCK) {
        if k * weight_of(bound) <= threshold {
            break;
        }
        let end = part.targets.len().min((block + 1) * BOUND_BLOCK);
        let begin = end.min(from.max(block * BOUND_BLOCK));
        let slots = part.targets[begin..end].iter().zip(&part.weights[begin..end]);
        for (at, (target, weight)) in (begin..).zip(slots) {
            read += 1;
            let signal = k * weight_of(weight);
            if signal > threshold {
                useful += 1;
                arrive(at, *target, signal);
            }
        }
    }
    (read, useful)
}

/// The `most` strongest nodes, by value descending, then by external id; the rest is never sorted, and only the result is
/// allocated.
fn strongest(graph: &Graph, activated: &mut Vec<ActivatedNode>, most: usize) -> Vec<ActivatedNode> {
    let by = |a: &ActivatedNode, b: &ActivatedNode| {
        b.value.total_cmp(&a.value).then_with(|| graph.rank(a.node).cmp(&graph.rank(b.node)))
    };
    if most < activated.len() {
        if most > 0 {
            activated.select_nth_unstable_by(most - 1, by);
        }
        activated.truncate(most);
    }
    activated.sort_unstable_by(by);
    activated.as_slice().to_vec()
}
