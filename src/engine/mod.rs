//! Mechanisms over memories: pure functions of what they are given, without a server, a clock or async.
//!
//! Same input, same bits: sums run in ascending order of ids, logarithms come from `libm` and not from the machine's own
//! library, and no result depends on the order of a hash table.

pub mod activation;
mod best;
mod error;
pub mod fuse;
pub mod pagerank;
pub mod seeds;
pub mod semantic;
pub mod text;

pub use error::Error;
