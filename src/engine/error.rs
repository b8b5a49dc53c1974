//! What can be wrong with what a mechanism is given.
//!
//! Configuration and input are checked where they come in; after that a mechanism is total, and an empty graph gives empty
//! answers. A computation that was cut short is no error: its answer says so.

use crate::graph;

/// Why a mechanism cannot work with what it was given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number that is none, or outside its range; or what a graph could not hold.
    #[error(transparent)]
    Graph(#[from] graph::Error),
    /// A word that means two things.
    #[error("'{word}' is in two groups of synonyms; leave it in one of them")]
    SynonymOverlap {
        /// As it was given first.
        word: String,
    },
    /// What was learned on one graph, asked of another.
    #[error(
        "the learned weights are of generation {found}, the graph is of {expected}: bind them to it first"
    )]
    GenerationMismatch {
        /// Of the graph.
        expected: u64,
        /// Of what was learned.
        found: u64,
    },
}
