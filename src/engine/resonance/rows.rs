//! Rows of the undirected view, each read once for a query and kept for its later hops.
//!
//! # Design notes
//! The order within a row does not matter, since each pair sends one pulse at most. So slots of one pair are merged through
//! an index for each node, and nothing is sorted: an index is valid only if the entry that it points to names the node, so
//! indexes are never cleared (rows are those of the undirected view: held by `rows_are_the_undirected_view`).

use crate::graph::Graph;
use crate::graph::csr::weight_of;
use crate::graph::index::NodeId;
use crate::graph::raw::in_large_pages;

/// Factor of an inhibitory pair.
const INHIBITORY: f32 = -0.5;

/// A pair, from one of its ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crossing {
    /// The other end.
    pub(super) node: u32,
    /// Conductance, in `[-0.5, 0)` or `(0, 1]`.
    pub(super) conducts: f32,
}

/// Range of a row.
#[derive(Debug, Clone, Copy)]
struct Span {
    node: u32,
    begin: usize,
    end: usize,
}

/// All rows that a query has read.
#[derive(Debug, Default)]
pub(super) struct Rows {
    crossings: Vec<Crossing>,
    spans: Vec<Span>,
    /// For each node the index of its span; valid if that span names the node.
    span: Vec<u32>,
    /// For each node its index in the current row; valid if the crossing there names the node.
    seen: Vec<u32>,
    /// Whether any slot is inhibitory.
    inhibits: bool,
}

impl Rows {
    /// Clears all rows, and makes room for a graph.
    pub(super) fn begin(&mut self, graph: &Graph) {
        self.crossings.clear();
        self.spans.clear();
        if self.span.len() < graph.node_count() {
            self.span = in_large_pages(vec![0; graph.node_count()]);
            self.seen = in_large_pages(vec![0; graph.node_count()]);
        }
        self.inhibits = graph.has_inhibition();
    }

    /// The row of a node.
    pub(super) fn of(&mut self, graph: &Graph, node: NodeId) -> &[Crossing] {
        let held = self.spans.get(self.span[node.at()] as usize).copied().filter(|span| span.node == node.0);
        let Span { begin, end, .. } = held.unwrap_or_else(|| self.read(graph, node));
        &self.crossings[begin..end]
    }

    /// Number of pairs read.
    pub(super) fn read_pairs(&self) -> usize {
        self.crossings.len()
    }

    fn read(&mut self, graph: &Graph, node: NodeId) -> Span {
        let begin = self.crossings.len();
        for (part, factor) in [(graph.excitatory(node), 1.0), (graph.inhibitory(node), INHIBITORY)] {
            for (target, weight) in part.targets.iter().zip(part.weights) {
                self.join(node, begin, *target, factor * weight_of(weight).min(1.0));
            }
        }
        for (source, slot) in graph.incoming(node) {
            let excitatory = !self.inhibits || graph.is_excitatory(source, slot);
            let factor = if excitatory { 1.0 } else { INHIBITORY };
            self.join(node, begin, source.0, factor * graph.weight(slot).min(1.0));
        }
        let span = Span { node: node.0, begin, end: self.crossings.len() };
        self.span[node.at()] = u32::try_from(self.spans.len()).unwrap_or(u32::MAX);
        self.spans.push(span);
        span
    }

    /// Adds a slot to the row of `own`, which begins at `begin`.
    #[inline]
    fn join(&mut self, own: NodeId, begin: usize, node: u32, conducts: f32) {
        if node == own.0 {
            return;
        }
        let place = &mut self.seen[node as usize];
        match self.crossings.get_mut(begin + *place as usize).filter(|held| held.node == node) {
            Some(held) => held.conducts = stronger(held.conducts, conducts),
            None => {
                *place = u32::try_from(self.crossings.len() - begin).unwrap_or(u32::MAX);
                self.crossings.push(Crossing { node, conducts });
            }
        }
    }
}

/// The conductance of two slots of one pair: the greatest excitatory one, else the greatest inhibitory one.
fn stronger(a: f32, b: f32) -> f32 {
    let most = a.max(b);
    if most > 0.0 { most } else { a.min(b) }
}
