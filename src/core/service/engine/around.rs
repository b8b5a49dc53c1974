//! The neighbourhood of some nodes: the nodes within a few relationships of them, strongest first, and what joins them.
//!
//! The graph comes from the mirror, the energies of memories from the store, which also tells the memories that were deleted
//! meanwhile: their labels hold text, so they are left out.

use super::{check_range, known, state};
use crate::api::engine::{AROUND_DEPTH_MAX, AROUND_MAX, AroundAnswer, AroundEdge, AroundNode, AroundRequest};
use crate::domain::ids::Scope;
use crate::domain::units::Timestamp;
use crate::service::Service;
use crate::service::recall::{Error, View};
use ebb_engine::graph::Graph;
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::pairs::{Neighbour, neighbours};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most relationships of an answer.
const EDGES_MAX: usize = 2_000;

/// Finds the nodes around some nodes. Energies are filled in by the service.
pub fn around(view: &View, request: &AroundRequest) -> Result<AroundAnswer, Error> {
    check_range("limit", request.limit, AROUND_MAX)?;
    check_range("ids", request.ids.len(), AROUND_MAX)?;
    if request.depth > AROUND_DEPTH_MAX {
        return Err(Error::Invalid(format!(
            "depth is {}; it must be 0 to {AROUND_DEPTH_MAX}",
            request.depth
        )));
    }
    let graph = view.graph();
    let (mut centres, mut unknown) = (Vec::new(), Vec::new());
    for id in &request.ids {
        match graph.find(id.as_str()) {
            Some(node) if centres.contains(&node) => {}
            Some(node) => centres.push(node),
            None => unknown.push(id.as_str().to_owned()),
        }
    }
    let (reached, nodes_cut) = reach(graph, centres, request);
    let (edges, edges_cut) = edges(graph, &reached);
    let node = |(node, hops): &(NodeId, u8)| AroundNode {
        node: known(view, *node),
        hops: *hops,
        tier: None,
        energy: None,
        created: None,
        pinned: false,
    };
    let flags = [("nodes_truncated", nodes_cut), ("edges_truncated", edges_cut)];
    let flags = flags.into_iter().filter(|(_, is_cut)| *is_cut).map(|(name, _)| name).collect();
    Ok(AroundAnswer { state: state(view, flags, unknown), nodes: reached.iter().map(node).collect(), edges })
}

/// The nodes around some, with their distance, and whether some were left out.
fn reach(graph: &Graph, mut centres: Vec<NodeId>, request: &AroundRequest) -> (Vec<(NodeId, u8)>, bool) {
    let mut is_cut = centres.len() > request.limit;
    centres.truncate(request.limit);
    let mut reached: Vec<(NodeId, u8)> = centres.iter().map(|node| (*node, 0)).collect();
    let mut seen: BTreeSet<NodeId> = centres.iter().copied().collect();
    let (mut frontier, mut near) = (centres, Vec::new());
    for hops in 1..=request.depth {
        let mut next: BTreeMap<NodeId, u32> = BTreeMap::new();
        for node in &frontier {
            neighbours(graph, *node, &mut near);
            near.retain(|neighbour| !seen.contains(&neighbour.node));
            is_cut |= near.len() > request.limit;
            for neighbour in strongest(graph, &mut near, request.limit) {
                let known = next.entry(neighbour.node).or_default();
                *known = strength(neighbour).max(*known);
            }
        }
        let mut next: Vec<(NodeId, u32)> = next.into_iter().collect();
        next.sort_unstable_by_key(|(node, strength)| (Reverse(*strength), graph.rank(*node)));
        let room = request.limit - reached.len();
        is_cut |= next.len() > room;
        next.truncate(room);
        frontier = next.into_iter().map(|(node, _)| node).collect();
        seen.extend(frontier.iter().copied());
        reached.extend(frontier.iter().map(|node| (*node, hops)));
    }
    (reached, is_cut)
}

/// The strongest of a node's neighbours, so that a node with very many does not fill the memory.
fn strongest<'n>(graph: &Graph, near: &'n mut [Neighbour], most: usize) -> &'n [Neighbour] {
    near.sort_unstable_by_key(|neighbour| (Reverse(strength(neighbour)), graph.rank(neighbour.node)));
    &near[..near.len().min(most)]
}

/// The bits of the largest weight, which order as the weights do: these are positive.
fn strength(neighbour: &Neighbour) -> u32 {
    neighbour.excitatory.or(neighbour.inhibitory).map_or(0, f32::to_bits)
}

/// A node behind its rank, so that it is ordered by that: a load of the same rows may number the nodes otherwise.
type Ranked = (u32, NodeId);

/// The relationships among these nodes, strongest first, and whether some were left out. One that is stored in both
/// directions appears once, in that of the larger weight.
fn edges(graph: &Graph, reached: &[(NodeId, u8)]) -> (Vec<AroundEdge>, bool) {
    let ranked = |node: NodeId| -> Ranked { (graph.rank(node), node) };
    let there: BTreeSet<Ranked> = reached.iter().map(|(node, _)| ranked(*node)).collect();
    let mut joined: BTreeMap<(Ranked, Ranked, &str), (f32, Ranked)> = BTreeMap::new();
    for source in &there {
        for slot in graph.slots(source.1) {
            let target = ranked(graph.target(slot));
            if target == *source || !there.contains(&target) {
                continue;
            }
            let pair = (target.min(*source), target.max(*source), graph.relation(slot));
            let known = joined.entry(pair).or_insert((0.0, *source));
            if graph.weight(slot) > known.0 {
                *known = (graph.weight(slot), *source);
            }
        }
    }
    let mut edges: Vec<_> = joined.into_iter().collect();
    // Equal ones stay in the order of the map: by the other node, then by type.
    edges.sort_by_key(|(_, (weight, from))| (Reverse(weight.to_bits()), *from));
    let is_cut = edges.len() > EDGES_MAX;
    edges.truncate(EDGES_MAX);
    let edge = |((one, other, kind), (weight, from)): ((Ranked, Ranked, &str), (f32, Ranked))| {
        let to = if from == one { other } else { one };
        AroundEdge {
            from: graph.external_id(from.1).to_owned(),
            to: graph.external_id(to.1).to_owned(),
            kind: kind.to_owned(),
            weight,
        }
    };
    (edges.into_iter().map(edge).collect(), is_cut)
}

impl Service {
    /// Runs [`around`] on the mirror of a scope, and adds the state of its memories at an instant.
    pub async fn around(
        &self,
        scope: &Scope,
        request: AroundRequest,
        at: Timestamp,
    ) -> Result<AroundAnswer, Error> {
        let current = self.ready(scope).await?;
        let view = Arc::clone(&current.view);
        let mut answer = self.compute.run(move |_| around(&view, &request)).await??;
        answer.state.freshness = self.freshness(&current);
        let ids: BTreeSet<String> = answer.nodes.iter().map(|node| node.node.id.clone()).collect();
        let (there, gone) = self.texts_and_gone(scope, &current.view, &ids).await?;
        answer.nodes.retain(|node| !gone.contains(&node.node.id));
        answer.edges.retain(|edge| !gone.contains(&edge.from) && !gone.contains(&edge.to));
        let tunables = self.store().tunables().await?;
        for node in &mut answer.nodes {
            let Some(state) = there.get(&node.node.id).and_then(|text| text.state) else { continue };
            node.tier = Some(state.tier);
            node.pinned = state.pinned;
            node.created = there.get(&node.node.id).and_then(|text| text.created);
            // Before that instant the stored energy does not tell.
            node.energy = (at >= state.anchor()).then(|| state.energy_now(at, &tunables).value());
        }
        Ok(answer)
    }
}
