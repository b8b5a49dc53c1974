//! Recall over a graph in memory, without a server, a clock or async.

#![doc = include_str!("README.md")]
//! # Architecture
//!
//! Read [`mod@recall`] first: it is the pipeline from a query to ranked hits, and lists the other modules in the order in
//! which it uses them. All algorithms read a [`View`], a graph with its indexes. They are pure functions of their input.
//!
//! Same input, same bits: sums run in ascending order of ids, logarithms come from `libm` and not from the system library,
//! and no result depends on the order of a hash table.

pub mod activation;
pub mod causal;
pub mod communities;
mod counting;
mod error;
#[cfg(test)]
mod extremes;
mod flags;
mod folded;
pub mod graph;
pub mod merge;
#[cfg(test)]
#[path = "../../tests/shared/mutated.rs"]
mod mutated;
pub mod pagerank;
pub mod plasticity;
pub mod random;
pub mod recall;
pub mod resonance;
pub mod scratch;
pub mod seeds;
pub mod semantic;
pub mod temporal;
pub mod text;
mod top_k;
pub mod vectors;
pub mod view;
pub mod xlr;

pub use error::Error;
pub use flags::{Flag, Flags};
pub use view::{Texts, View};
