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
}
