//! Errors of the algorithms.
//!
//! Configuration and input are checked at the entry; after that an algorithm is total, and an empty graph gives empty
//! results. A truncated computation is no error: its result says so in its [`Flags`](crate::Flags).

use crate::graph;

/// Why an algorithm rejected its input.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number that is not finite or outside its range, or a graph that is too large.
    #[error(transparent)]
    Graph(#[from] graph::Error),
    /// A word in two groups of synonyms.
    #[error("'{word}' is in two groups of synonyms; leave it in one of them")]
    SynonymOverlap {
        /// The word as first given.
        word: String,
    },
    /// Learned weights that are bound to another generation of the graph.
    #[error(
        "the learned weights are bound to generation {found}, the graph has generation {expected}: rebind them first"
    )]
    GenerationMismatch {
        /// Generation of the graph.
        expected: u64,
        /// Generation of the learned weights.
        found: u64,
    },
    /// A vector that is not of the vector space of its index.
    #[error("the vector of {owner} has {found} dimensions; it must have {expected}")]
    VectorDimensions {
        /// Owner of the vector.
        owner: String,
        /// Number of dimensions of the vector space.
        expected: usize,
        /// Number of dimensions of the vector.
        found: usize,
    },
    /// A vector whose components are all 0, so that it has no direction.
    #[error("the vector of {owner} has length 0, so its similarity to others is not defined")]
    ZeroVector {
        /// Owner of the vector.
        owner: String,
    },
}
