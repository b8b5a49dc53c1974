//! A graph at an instant: what the engine is given, and what a [file](super::codec) is made of.
//!
//! # Design notes
//! Whatever is derived of a graph once per generation (word counts, labels, standing) is joined to a snapshot by the
//! engine's view, since a graph knows no engine.

use super::Graph;
use super::index::Generation;

/// A graph and up to when it is true.
#[derive(Debug)]
pub struct Snapshot {
    /// The graph.
    pub graph: Graph,
    /// The instant up to which the store was seen, epoch milliseconds; of a graph from a file nobody knows.
    pub as_of: Option<i64>,
    /// What the store had and the graph has not.
    pub skipped: Skipped,
}

impl From<Graph> for Snapshot {
    /// A graph that no store was asked for.
    fn from(graph: Graph) -> Self {
        Self { graph, as_of: None, skipped: Skipped::default() }
    }
}

impl Snapshot {
    /// Which state of its scope the graph is.
    #[must_use]
    pub const fn generation(&self) -> Generation {
        self.graph.generation()
    }
}

/// How much of what was read could not be taken over, since some property of it is none of its kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// How many nodes.
    pub nodes: u64,
    /// How many relationships.
    pub relationships: u64,
}
