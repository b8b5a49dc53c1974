//! Memories between hits of one session: an answer that uses two turns of a conversation needs those between them.

use super::query::{Filter, ResolvedFilter};
use crate::View;
use crate::graph::index::NodeId;
use std::collections::BTreeSet;

/// Most memories between two hits of a session that belong to their episode.
const BETWEEN_MAX: usize = 4;

/// The memories that pass the filter and stand between two of these nodes in one session, at most four between any two, each with
/// the first of these two: in the order of the nodes, then in that of the session.
#[must_use]
pub fn between(view: &View, filter: &Filter, nodes: &[NodeId]) -> Vec<(NodeId, NodeId)> {
    let (hits, filter): (BTreeSet<NodeId>, _) =
        (nodes.iter().copied().collect(), ResolvedFilter::of(view, filter));
    let mut found = Vec::new();
    for from in nodes {
        let (mut passed, mut at) = (Vec::new(), *from);
        while let [_, Some(next)] = view.neighbours(at) {
            if hits.contains(&next) {
                let passing = passed.into_iter().filter(|node| filter.passes(view, *node));
                found.extend(passing.map(|node| (node, *from)));
                break;
            }
            if passed.len() == BETWEEN_MAX {
                break;
            }
            passed.push(next);
            at = next;
        }
    }
    found
}
