//! Spreading activation: what seeds light up, level by level.
//!
//! All sources of a level fire the values they had when it began, an arrival counts only if it is strictly above the
//! threshold, excitation is a maximum or a sum over ascending sources, and inhibition is summed in whole numbers. So
//! neither the order of edges nor what is left unread can move a bit: an engine that reads every edge
//! (`textbook`, in the tests) gives the same values.
//!
//! [`wavefront`] does the work. [`best_first`] follows the strongest signal first and stops early, which pays for few
//! seeds in a sparse graph; [`hybrid`] chooses. All three give the same answer. [`paths`] says how a signal came.
//!
//! # Design notes
//! Comparisons are strict everywhere, the cap holds at every write and not for seeds only, and inhibition counts by
//! level: the source document leaves these open, and with anything else the order of edges would show.

pub mod best_first;
mod bloom;
pub mod hybrid;
pub mod paths;
pub mod scratch;
pub mod wavefront;

#[cfg(test)]
mod tests;
#[cfg(test)]
#[path = "../../tests/bench/reference.rs"]
mod textbook;

use crate::graph::builder::within;
use crate::graph::csr::{BOUND_BLOCK, Part, weight_of};
use crate::graph::index::NodeId;
use crate::graph::{Error, Graph};

/// What of an inhibitory arrival counts.
pub const INHIBITORY_FACTOR: f32 = 0.5;
/// Levels at most.
pub const DEPTH_MAX: u8 = 20;

/// How arrivals at one node in one level count together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The strongest alone.
    Strongest,
    /// All of them.
    Convergent,
}

/// How a node shares what it fires among its slots. `W` is the sum of its base weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fan {
    /// Each slot gets all of it.
    None,
    /// `1 / sqrt(max(1, W))` of it.
    Sqrt,
    /// `1 / max(1, W)` of it, so that a level carries less than the one before.
    Linear,
}

/// How a signal spreads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// How arrivals count together.
    pub mode: Mode,
    /// How a node shares.
    pub fan: Fan,
    /// What an arrival must be above, in `(0, 1)`.
    pub threshold: f32,
    /// What is left of a signal after one hop, in `(0, 1]`.
    pub decay: f32,
    /// Hops at most, `1 ..= 20`.
    pub max_depth: u8,
    /// The greatest value of a node, in `(0, 16]`.
    pub cap: f32,
    /// Whether seed scores are divided by the greatest of them.
    pub normalised: bool,
    /// Slots after which no further level begins.
    pub max_slots: u64,
}

impl Params {
    /// As the source document has it: for questions about the graph itself.
    pub const REFERENCE: Self = Self {
        mode: Mode::Strongest,
        fan: Fan::None,
        threshold: 0.04,
        decay: 0.55,
        max_depth: 5,
        cap: 1.0,
        normalised: false,
        max_slots: u64::MAX,
    };
    /// For retrieval: evidence adds up, and dense regions cannot saturate. What is left after a hop is what PageRank leaves,
    /// and it goes on until little is left of it: a signal is shared at every node anyway. Where 0.55 was left besides, or
    /// where it ended after five hops, less was found at 2, 5, 10 and 20 hits of the multi-hop set (`cargo bench --bench
    /// recall`), whose answers stand two or three relationships away; what comes round adds up as well.
    pub const RECALL: Self = Self {
        mode: Mode::Convergent,
        fan: Fan::Linear,
        threshold: 0.0001,
        decay: 0.85,
        max_depth: 10,
        cap: 4.0,
        normalised: true,
        max_slots: u64::MAX,
    };

    /// Checked.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::ParameterOutOfRange`].
    pub fn checked(self) -> Result<Self, Error> {
        // The least number above 0 and the greatest below 1 that an f32 holds.
        within(
            "threshold",
            self.threshold,
            f64::from(f32::MIN_POSITIVE),
            1.0 - f64::from(f32::EPSILON) / 2.0,
        )?;
        within("decay", self.decay, f64::from(f32::MIN_POSITIVE), 1.0)?;
        within("max_depth", f32::from(self.max_depth), 1.0, f64::from(DEPTH_MAX))?;
        within("saturation_cap", self.cap, f64::from(f32::MIN_POSITIVE), 16.0)?;
        Ok(self)
    }

    /// What a node that fires `p` sends over a slot of weight 1.
    pub(super) fn sends(&self, graph: &Graph, node: NodeId, p: f32) -> f32 {
        let strength = || graph.out_strength(node).max(1.0);
        let k = p * self.decay;
        match self.fan {
            Fan::None => k,
            Fan::Sqrt => k * (1.0 / strength().sqrt()),
            Fan::Linear => k * (1.0 / strength()),
        }
    }
}

/// A node that activation reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Activated {
    /// Which.
    pub node: NodeId,
    /// How strongly, in `(0, cap]`.
    pub value: f32,
}

/// What an activation cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Slots that were read.
    pub slots_read: u64,
    /// Of these, how many arrivals were above the threshold.
    pub useful_slots: u64,
    /// Rows that were begun: one for each time a node fired.
    pub rows: u64,
    /// Nodes whose cell was written.
    pub touched: u64,
}

impl Work {
    /// Counts what was read of a row and what of it arrived.
    const fn add(&mut self, (read, useful): (u64, u64)) {
        self.slots_read += read;
        self.useful_slots += useful;
    }
}

/// What is lit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Activation {
    /// The strongest, by value descending, then by external id.
    pub nodes: Vec<Activated>,
    /// What it cost.
    pub work: Work,
    /// Whether levels were left out because of `max_slots`.
    pub truncated: bool,
}

impl Activation {
    /// The same with the strongest `most` nodes, in order; the rest is never sorted.
    #[must_use]
    pub(crate) fn strongest(mut self, graph: &Graph, most: usize) -> Self {
        Self { nodes: strongest(graph, &mut self.nodes, most), ..self }
    }
}

/// The value that each seed begins with, one for each node: the greatest of its scores, and at most the cap. Scores that are
/// not above 0 seed nothing.
pub(super) fn initial_values(seeds: &[(NodeId, f32)], params: &Params) -> Vec<(NodeId, f32)> {
    let mut begun = Vec::new();
    begin(seeds, params, &mut begun);
    begun
}

/// The same into memory that is there.
pub(super) fn begin(seeds: &[(NodeId, f32)], params: &Params, begun: &mut Vec<(NodeId, f32)>) {
    begun.clear();
    begun.extend(seeds.iter().filter(|(_, score)| *score > 0.0 && score.is_finite()));
    begun.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    begun.dedup_by_key(|(node, _)| *node);
    let most = begun.iter().map(|(_, score)| *score).fold(0.0, f32::max);
    for (_, score) in begun {
        *score = if params.normalised { *score / most } else { *score }.min(params.cap);
    }
}

/// Whether any slot of a part can pass the threshold.
pub(super) fn passes(part: &Part<'_>, k: f32, threshold: f32) -> bool {
    part.bounds.first().is_some_and(|bound| k * weight_of(bound) > threshold)
}

/// Sends `k` times its weight over each slot of a part that passes the threshold; answers how many were read and how many
/// arrived. What cannot pass is left unread, in blocks where something was learned, else from the first on.
#[inline]
pub(super) fn send(
    part: &Part<'_>,
    k: f32,
    threshold: f32,
    mut arrive: impl FnMut(usize, u32, f32),
) -> (u64, u64) {
    let (mut read, mut useful) = (0, 0);
    if !part.learned {
        for (at, (target, weight)) in part.targets.iter().zip(part.weights).enumerate() {
            read += 1;
            let signal = k * weight_of(weight);
            if signal <= threshold {
                break;
            }
            useful += 1;
            arrive(at, *target, signal);
        }
        return (read, useful);
    }
    let blocks = part.targets.chunks(BOUND_BLOCK).zip(part.weights.chunks(BOUND_BLOCK));
    for (block, ((targets, weights), bound)) in blocks.zip(part.bounds).enumerate() {
        if k * weight_of(bound) <= threshold {
            break;
        }
        for (at, (target, weight)) in targets.iter().zip(weights).enumerate() {
            read += 1;
            let signal = k * weight_of(weight);
            if signal > threshold {
                useful += 1;
                arrive(block * BOUND_BLOCK + at, *target, signal);
            }
        }
    }
    (read, useful)
}

/// The strongest `most` of these, by value descending, then by external id; the rest is never sorted. Nothing is allocated
/// but the answer.
fn strongest(graph: &Graph, lit: &mut Vec<Activated>, most: usize) -> Vec<Activated> {
    let by = |a: &Activated, b: &Activated| {
        b.value.total_cmp(&a.value).then_with(|| graph.rank(a.node).cmp(&graph.rank(b.node)))
    };
    if most < lit.len() {
        if most > 0 {
            lit.select_nth_unstable_by(most - 1, by);
        }
        lit.truncate(most);
    }
    lit.sort_unstable_by(by);
    lit.as_slice().to_vec()
}
