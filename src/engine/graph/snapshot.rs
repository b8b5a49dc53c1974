//! A graph at an instant: the input of a [`View`](crate::View), and the content of a [file](super::codec).

use super::Graph;
use super::index::Generation;

/// A graph and the instant up to which it is complete.
#[derive(Debug)]
pub struct Snapshot {
    /// The graph.
    pub graph: Graph,
    /// The instant up to which the store was read, epoch milliseconds; `None` for a graph from a file.
    pub as_of: Option<i64>,
    /// Counts of stored rows that the graph lacks.
    pub skipped: SkippedCounts,
}

impl From<Graph> for Snapshot {
    /// A graph without an instant.
    fn from(graph: Graph) -> Self {
        Self { graph, as_of: None, skipped: SkippedCounts::default() }
    }
}

impl Snapshot {
    /// The generation of the graph.
    #[must_use]
    pub const fn generation(&self) -> Generation {
        self.graph.generation()
    }
}

/// Counts of stored entities that could not be loaded because a property had the wrong type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SkippedCounts {
    /// Number of nodes.
    pub nodes: u64,
    /// Number of relationships.
    pub relationships: u64,
}
