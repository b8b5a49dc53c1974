//! Resolves the external ids of a batch: they are sorted and merged with the sorted ids of the graph.

use super::Batch;
use crate::graph::index::nodes;
use crate::graph::{Error, Graph};

/// Id of an unknown node.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The nodes that a batch names, as ids of the graph; new ones come after its own, by name.
pub(super) struct Named<'a> {
    /// With their positions in the order of external ids.
    pub(super) added: Vec<(&'a str, usize)>,
    /// Ascending.
    pub(super) removed: Vec<u32>,
    /// The node of each row.
    pub(super) rows: Vec<u32>,
    /// Source and target of each removed edge, and of each new one.
    pub(super) removed_edges: Vec<[u32; 2]>,
    pub(super) edges: Vec<[u32; 2]>,
}

impl<'a> Named<'a> {
    pub(super) fn of(graph: &Graph, batch: &'a Batch) -> Result<Self, Error> {
        let gone = batch.removed_nodes.iter();
        let rows = batch.nodes.iter().map(|row| &row.external_id);
        let cut = batch.removed_edges.iter().flat_map(|(source, _, target)| [source, target]);
        let set = batch.edges.iter().flat_map(|edge| [&edge.source, &edge.target]);
        let names: Vec<&'a str> = gone.chain(rows).chain(cut).chain(set).map(String::as_str).collect();
        let rows_begin = batch.removed_nodes.len();
        let edges_begin = rows_begin + batch.nodes.len();
        let mut ids = vec![UNKNOWN; names.len()];
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        let mut place = 0;
        for same in
            super::ranked(names.iter().copied()).chunk_by(|a, b| names[*a as usize] == names[*b as usize])
        {
            let name = names[same[0] as usize];
            place = graph.seek(place, name);
            let held = graph.columns.by_rank.get(place).copied();
            let held = held.filter(|node| graph.columns.external_id.get(*node as usize) == name);
            let is = |from: usize, to: usize| same.iter().any(|at| (from..to).contains(&(*at as usize)));
            let is_removed = is(0, rows_begin);
            if is_removed {
                removed.extend(held);
            }
            let mut id = held.filter(|_| !is_removed);
            if id.is_none() && is(rows_begin, edges_begin) {
                id = Some(nodes(graph.node_count() + added.len() + 1)? - 1);
                added.push((name, place));
            }
            same.iter().for_each(|at| ids[*at as usize] = id.unwrap_or(UNKNOWN));
        }
        removed.sort_unstable();
        let pairs = |ids: &[u32]| ids.as_chunks().0.to_vec();
        let set_begin = edges_begin + 2 * batch.removed_edges.len();
        Ok(Self {
            added,
            removed,
            rows: ids[rows_begin..edges_begin].to_vec(),
            removed_edges: pairs(&ids[edges_begin..set_begin]),
            edges: pairs(&ids[set_begin..]),
        })
    }
}
