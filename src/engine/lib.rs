//! Recall over a graph in memory, without a server, a clock or async.

#![doc = include_str!("README.md")]
//! # How it is built
//!
//! Read [`recall`] first: it is the way from a question to ranked hits, and names what it uses in the order in which it uses
//! it. All of it reads a [`View`], a graph and what was worked out of it once. Everything is a pure function of what it is
//! given, without a clock.
//!
//! Same input, same bits: sums run in ascending order of ids, logarithms come from `libm` and not from the machine's own
//! library, and no result depends on the order of a hash table.

pub mod activation;
mod best;
pub mod causal;
pub mod communities;
mod error;
#[cfg(test)]
mod extremes;
mod flags;
pub mod fuse;
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
pub mod view;
pub mod xlr;

pub use error::Error;
pub use flags::{Flag, Flags};
pub use view::{Texts, View};
