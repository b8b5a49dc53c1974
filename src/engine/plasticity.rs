//! Learning: what outcomes leave in the weights of a graph, and what questions leave for those that come after them.
//!
//! | | |
//! |---|---|
//! | [`synapses`] | what was learned, one record a slot: rows of a store, bound to a graph, as a file |
//! | [`tick`] | what one outcome changes |
//! | [`query_memory`] | the last thousand questions, counted |
//! | [`priming`] | nodes that used to come together with the seeds of a question |
//!
//! Of a scope one program learns. It binds the rows of its store to a graph, lets each outcome tick and commits what that
//! touched, as it is after that tick:
//!
//! ```
//! # use ebb_engine::graph::{builder::GraphBuilder, columns::NodeRow, kinds::NodeType};
//! use ebb_engine::plasticity::{Rules, Synapses};
//! # let mut builder = GraphBuilder::default();
//! # builder.add_node(NodeRow::new("a", "A", NodeType::MEMORY))?;
//! # builder.add_node(NodeRow::new("b", "B", NodeType::MEMORY))?;
//! # builder.relate("a", "LINKED", "b", 0.5)?;
//! # let graph = builder.finalize()?;
//! let (a, b) = (graph.find("a").unwrap(), graph.find("b").unwrap());
//! let mut learner = Synapses::bind(&graph, Rules::default(), 0, [])?;
//! let ticked = learner.tick(&graph, &[(a, 1.0), (b, 1.0)])?;
//! let rows = learner.rows(&graph, &ticked.touched)?;   // to be written, with ticked.tick
//! # assert!(!rows.changed.is_empty());
//! # Ok::<(), ebb_engine::Error>(())
//! ```
//!
//! Every program that answers takes the rows over and moves the weights of its graph: [`Synapses::take`] (or
//! [`Synapses::rebind`], where the graph is another), then [`Synapses::settle`] between [`Ticks::begin`] and
//! [`Ticks::finish`].
//!
//! # Design notes
//! *Computing and writing are apart.* A tick reads the structure of a graph and moves nothing in it; weights move in
//! [`Synapses::settle`] alone. So a learner whose commit fails has shown nobody what the store does not have: it drops its
//! set and binds the rows again. That costs no copy, since a set has one owner, and a tick changes it in place.
//!
//! *No row has to be deleted for those who read it.* A record is spent when what fades of it has faded, and whoever replays
//! its row drops it at the same tick. So rows follow from the outcomes alone, whichever of them were learned in one go, and
//! those of which nothing can be left are the ones that are older than [`Rules::horizon`].
//!
//! *A base weight never changes here.* What is learned stands beside it, so it can fade, be scaled and be forgotten, and the
//! next state of the graph brings its own base.

pub mod priming;
pub mod query_memory;
pub mod rule;
pub mod synapses;
pub mod tick;

#[cfg(test)]
mod tests;

pub use priming::prime;
pub use query_memory::{Query, QueryMemory};
pub use synapses::{Key, Place, Record, Rows, Synapse, Synapses};
pub use tick::{Counts, Ticked};

use crate::graph::Error;
use crate::graph::builder::within;
use crate::graph::number::LearningRate;
use rule::faded;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use synapses::DELTA_MAX;

/// What a tick takes of what fades, where nobody says otherwise.
const DECAY_RATE: f32 = 0.005;
/// Ticks after which nobody waits for the rest to fade.
const HORIZON_MAX: u64 = 1_000_000;

/// What is learned from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Learn {
    /// What somebody says was of use.
    #[default]
    OnOutcome,
    /// Every recall, too, as if all its hits had been of use: what the source document does.
    Always,
    /// Nothing.
    Off,
}

/// How fast is learned and forgotten. All programs of a scope need the same: readers replay what the learner did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    learning_rate: LearningRate,
    /// What a tick leaves of what fades, above 0 and at most 1.
    keep: f32,
}

impl Rules {
    /// `learning_rate` above 0 and at most 1, `decay_rate` from 0 to less than 1.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::ParameterOutOfRange`].
    pub fn new(learning_rate: f32, decay_rate: f32) -> Result<Self, Error> {
        let learning_rate = LearningRate::new(learning_rate)?;
        // The greatest number below 1 that an f32 holds.
        let most = 1.0 - f64::from(f32::EPSILON) / 2.0;
        Ok(Self { learning_rate, keep: 1.0 - within("decay rate", decay_rate, 0.0, most)? })
    }

    /// After how many ticks nothing is left of what fades, however much it was; `None` where that takes longer than a million.
    #[must_use]
    pub fn horizon(&self) -> Option<u64> {
        let mut delta = DELTA_MAX;
        for ticks in 1..=HORIZON_MAX {
            let left = faded(delta, self.keep);
            if left == 0.0 {
                return Some(ticks);
            }
            // What a product leaves as it is stays so.
            if left.to_bits() == delta.to_bits() {
                return None;
            }
            delta = left;
        }
        None
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self { learning_rate: LearningRate::USUAL, keep: 1.0 - DECAY_RATE }
    }
}

/// The ticks of a graph that is read while its weights move: one writer, any number of readers.
///
/// An answer whose two numbers are equal has read no weight of a tick that was under way; any other has read each weight
/// before or after, both valid.
#[derive(Debug, Default)]
pub struct Ticks {
    begun: AtomicU64,
    finished: AtomicU64,
}

impl Ticks {
    /// Those of a graph whose weights are as a tick left them.
    #[must_use]
    pub const fn new(tick: u64) -> Self {
        Self { begun: AtomicU64::new(tick), finished: AtomicU64::new(tick) }
    }

    /// Says that weights are about to move to those of a tick.
    pub fn begin(&self, tick: u64) {
        self.begun.store(tick, Ordering::Relaxed);
        // Whoever sees a weight that is written after this sees that the tick has begun.
        fence(Ordering::Release);
    }

    /// Says that all weights are those of a tick.
    pub fn finish(&self, tick: u64) {
        self.finished.store(tick, Ordering::Release);
    }

    /// The tick that was last finished, to be asked before the first weight is read.
    #[must_use]
    pub fn at_start(&self) -> u64 {
        self.finished.load(Ordering::Acquire)
    }

    /// The tick that was last begun, to be asked after the last weight was read.
    #[must_use]
    pub fn at_end(&self) -> u64 {
        fence(Ordering::Acquire);
        self.begun.load(Ordering::Relaxed)
    }
}
