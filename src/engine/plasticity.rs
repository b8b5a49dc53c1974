//! Learning: outcomes change weights of slots, and past queries prime new ones.
//!
//! | module | contents |
//! |---|---|
//! | [`synapses`] | learned weights, one record for each slot: in a store, bound to a graph, in a file |
//! | [`tick`] | the learning rule: the effect of one outcome |
//! | [`query_history`] | statistics of the last thousand queries |
//! | [`priming`] | nodes that were often seeds together with those of a query |
//!
//! One learner for each graph binds the stored records, applies a tick for each outcome, and commits the records that the
//! tick touched:
//!
//! ```
//! # use ebb_engine::graph::{builder::GraphBuilder, columns::NodeRow, kinds::NodeType};
//! use ebb_engine::plasticity::{PlasticityConfig, Synapses};
//! # let mut builder = GraphBuilder::default();
//! # builder.add_node(NodeRow::new("a", "A", NodeType::MEMORY))?;
//! # builder.add_node(NodeRow::new("b", "B", NodeType::MEMORY))?;
//! # builder.relate("a", "LINKED", "b", 0.5)?;
//! # let graph = builder.finalize()?;
//! let (a, b) = (graph.find("a").unwrap(), graph.find("b").unwrap());
//! let mut learner = Synapses::bind(&graph, PlasticityConfig::default(), 0, [])?;
//! let result = learner.tick(&graph, &[(a, 1.0), (b, 1.0)])?;
//! let records = learner.changed_records(&graph, &result.touched)?; // to be stored with result.tick
//! # assert!(!records.changed.is_empty());
//! # Ok::<(), ebb_engine::Error>(())
//! ```
//!
//! Readers load the stored records and update the weights of their graph: [`Synapses::apply_records`] (or
//! [`Synapses::rebind`] for a new graph), then [`Synapses::write_weights`] between [`Ticks::begin`] and [`Ticks::finish`].
//!
//! # Design notes
//! *Computing and writing are separate.* A tick reads the structure of a graph and changes no weight;
//! [`Synapses::write_weights`] does. So a learner whose commit fails has exposed nothing that the store lacks: it drops its
//! records and binds the stored ones again.
//!
//! *Readers need no deletions.* A record expires when the part that decays has decayed, and a reader that replays it drops
//! it at the same tick. So records follow from the outcomes alone, however these were batched, and records older than
//! [`PlasticityConfig::horizon`] can be deleted.
//!
//! *Base weights never change.* Learned weights are kept apart from them, so they can decay, be scaled and be forgotten,
//! and the next generation of the graph brings its own base weights.

pub mod priming;
pub mod query_history;
pub mod rule;
pub mod synapses;
pub mod tick;

#[cfg(test)]
mod tests;

pub use priming::prime;
pub use query_history::{QueryHistory, StoredQuery};
pub use synapses::{ChangedRecords, SlotRef, Synapse, SynapseKey, SynapseRecord, Synapses};
pub use tick::{TickCounters, TickResult};

use crate::graph::Error;
use crate::graph::builder::within;
use crate::graph::number::LearningRate;
use rule::faded;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use synapses::DELTA_MAX;

/// Default decay per tick.
const DECAY_RATE: f32 = 0.005;
/// Greatest horizon in ticks.
const HORIZON_MAX: u64 = 1_000_000;

/// Events that are learned from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LearningMode {
    /// Reported outcomes.
    #[default]
    OnOutcome,
    /// Also every recall, as if all its hits had been useful: the rule of the source document.
    Always,
    /// None.
    Off,
}

/// Rates of learning and decay. All readers of a graph need those of its learner, since they replay its decay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlasticityConfig {
    learning_rate: LearningRate,
    /// Factor of decay per tick, above 0 and at most 1.
    keep: f32,
}

impl PlasticityConfig {
    /// `learning_rate` above 0 and at most 1, `decay_rate` from 0 to less than 1.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::ParameterOutOfRange`].
    pub fn new(learning_rate: f32, decay_rate: f32) -> Result<Self, Error> {
        let learning_rate = LearningRate::new(learning_rate)?;
        // The greatest number below 1 that an f32 can represent.
        let most = 1.0 - f64::from(f32::EPSILON) / 2.0;
        Ok(Self { learning_rate, keep: 1.0 - within("decay rate", decay_rate, 0.0, most)? })
    }

    /// The share of a decaying part that a tick leaves.
    #[must_use]
    pub const fn kept(&self) -> f32 {
        self.keep
    }

    /// Number of ticks after which any decaying part is 0; `None` if that takes more than a million.
    #[must_use]
    pub fn horizon(&self) -> Option<u64> {
        let mut delta = DELTA_MAX;
        for ticks in 1..=HORIZON_MAX {
            let left = faded(delta, self.keep);
            if left == 0.0 {
                return Some(ticks);
            }
            // A fixed point of the product never decays further.
            if left.to_bits() == delta.to_bits() {
                return None;
            }
            delta = left;
        }
        None
    }
}

impl Default for PlasticityConfig {
    fn default() -> Self {
        Self { learning_rate: LearningRate::USUAL, keep: 1.0 - DECAY_RATE }
    }
}

/// Tick counters of a graph whose weights change while it is read: one writer, any number of readers.
///
/// A reader that sees [`Self::at_start`] before equal to [`Self::at_end`] after has read the weights of one tick; otherwise
/// each weight is from before or after a tick, and both are valid.
#[derive(Debug, Default)]
pub struct Ticks {
    started: AtomicU64,
    finished: AtomicU64,
}

impl Ticks {
    /// Counters of a graph with the weights of a tick.
    #[must_use]
    pub const fn new(tick: u64) -> Self {
        Self { started: AtomicU64::new(tick), finished: AtomicU64::new(tick) }
    }

    /// Marks the start of an update to the weights of a tick.
    pub fn begin(&self, tick: u64) {
        self.started.store(tick, Ordering::Relaxed);
        // A reader that sees a weight written after this also sees that the tick has begun.
        fence(Ordering::Release);
    }

    /// Marks the end of the update.
    pub fn finish(&self, tick: u64) {
        self.finished.store(tick, Ordering::Release);
    }

    /// The last finished tick; read it before the first weight.
    #[must_use]
    pub fn at_start(&self) -> u64 {
        self.finished.load(Ordering::Acquire)
    }

    /// The last begun tick; read it after the last weight.
    #[must_use]
    pub fn at_end(&self) -> u64 {
        fence(Ordering::Acquire);
        self.started.load(Ordering::Relaxed)
    }
}
