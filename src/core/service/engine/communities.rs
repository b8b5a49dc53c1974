//! Communities: groups of a graph, their members, and the nodes that join them.
//!
//! # Design notes
//! At resolution 1 they are computed once for each state of a graph and kept with it; at any other for each request.
//!
//! Members are sorted by PageRank: the first ones characterise a community. A request that names a node gets its
//! community alone, and how it is joined to others.

use super::{NodeAnswer, check_range, known, positive, state};
use crate::api::engine::{
    Bridge, CommunitiesAnswer, CommunitiesHit, CommunitiesRequest, Community, CommunityTie,
};
use crate::domain::ids::Scope;
use crate::service::Service;
use crate::service::recall::{Error, RecallConfig, TOP_K_MAX, View};
use ebb_engine::communities::bridges::{CommunityLink, bridges, community_links};
use ebb_engine::communities::communities as partition;
use ebb_engine::graph::index::{CommunityId, NodeId};
use ebb_engine::graph::number::PosF32;
use ebb_engine::scratch::Scratch;
use std::cmp::Reverse;
use std::sync::Arc;

/// Default number of members of a community in a response.
const MEMBERS: usize = 5;
/// The same if the request names a node.
const MEMBERS_OF_ONE: usize = 20;
/// Greatest number of members in a response, of all communities together.
const MEMBERS_MAX: usize = 10_000;
/// Greatest number of bridge nodes in a response.
const BRIDGES: usize = 5;

/// Finds communities, their members and the nodes that join them.
pub fn communities(view: &View, request: &CommunitiesRequest) -> Result<CommunitiesAnswer, Error> {
    check_range("top_k", request.top_k, TOP_K_MAX)?;
    check_range("members", request.members.unwrap_or(1), TOP_K_MAX)?;
    let resolution = positive("resolution", request.resolution)?;
    let graph = view.graph();
    let partition = match resolution == PosF32::ONE {
        true => view.communities(),
        false => Arc::new(partition(graph, resolution)),
    };
    let mut sizes = vec![0_usize; partition.count];
    for of in &partition.membership {
        if let Some(size) = sizes.get_mut(of.at()) {
            *size += 1;
        }
    }
    let place = request.node.as_ref().and_then(|id| graph.find(id.as_str()));
    let home = place.and_then(|node| partition.membership.get(node.at())).copied();
    let most = if request.all { usize::MAX } else { request.top_k };
    let is_listed = |of: CommunityId| match &request.node {
        Some(_) => home == Some(of),
        None => of.at() < most,
    };
    let order = |node: NodeId| (Reverse(graph.pagerank(node).to_bits()), graph.rank(node));
    let all = graph.nodes().zip(partition.membership.iter().copied()).filter(|(_, of)| is_listed(*of));
    let mut all: Vec<(NodeId, CommunityId)> = all.collect();
    all.sort_unstable_by_key(|(node, of)| (*of, order(*node)));
    let (each, together) = limits(request);
    let listed = all.chunk_by(|a, b| a.1 == b.1).flat_map(|one| one.iter().take(each)).take(together);
    let member = |(node, of): &(NodeId, CommunityId)| CommunitiesHit {
        node: known(view, *node),
        score: graph.pagerank(*node),
        community: of.0,
    };
    let hits: Vec<CommunitiesHit> = listed.map(member).collect();
    let joining: Vec<NodeId> = match &request.node {
        Some(_) => place.into_iter().collect(),
        None => bridges(graph, &partition.membership, BRIDGES),
    };
    let among = if request.node.is_some() { all.len() } else { graph.node_count() };
    let numbered = (0..).map(CommunityId).zip(sizes.iter().copied());
    let unknown = request.node.iter().filter(|_| place.is_none()).map(|id| id.as_str().to_owned()).collect();
    let flags = partition.flags.union(view.flags()).names().collect();
    let communities = numbered.filter(|(of, _)| is_listed(*of));
    Ok(CommunitiesAnswer {
        state: state(view, flags, unknown),
        modularity: partition.modularity,
        count: partition.count,
        alone: sizes.iter().filter(|size| **size == 1).count(),
        levels: partition.levels,
        communities: communities.map(|(of, size)| Community { community: of.0, size }).collect(),
        left_out: among.saturating_sub(hits.len()),
        hits,
        bridges: joining.into_iter().map(|node| bridge(view, &partition.membership, node)).collect(),
    })
}

/// Number of members of each community in a response, and of all together.
fn limits(request: &CommunitiesRequest) -> (usize, usize) {
    let usual = if request.node.is_some() { MEMBERS_OF_ONE } else { MEMBERS };
    match request.all {
        true => (request.members.unwrap_or(usize::MAX), usize::MAX),
        false => (request.members.unwrap_or(usual), MEMBERS_MAX),
    }
}

fn bridge(view: &View, of: &[CommunityId], node: NodeId) -> Bridge {
    let community = of.get(node.at()).copied().unwrap_or(CommunityId(u32::MAX));
    let ties = community_links(view.graph(), of, node);
    let (own, others): (Vec<CommunityLink>, Vec<CommunityLink>) =
        ties.into_iter().partition(|tie| tie.community == community);
    let sum = |ties: &[CommunityLink]| ties.iter().fold(0.0_f64, |sum, tie| sum + tie.weight);
    let tie = |tie: &CommunityLink| CommunityTie { community: tie.community.0, weight: tie.weight };
    Bridge {
        node: known(view, node),
        community: community.0,
        inside: sum(&own),
        outside: sum(&others),
        ties: others.iter().map(tie).collect(),
    }
}

impl NodeAnswer for CommunitiesAnswer {
    fn retain(&mut self, keep: &mut dyn FnMut(&str) -> bool) {
        self.hits.retain(|hit| keep(&hit.node.id));
        self.bridges.retain(|bridge| keep(&bridge.node.id));
    }
}

impl Service {
    /// Runs [`communities`] on the mirror of a scope.
    pub async fn communities(
        &self,
        scope: &Scope,
        request: CommunitiesRequest,
    ) -> Result<CommunitiesAnswer, Error> {
        let is_of_all = request.all;
        let work = move |view: &View, _: &RecallConfig, _: &mut Scratch| communities(view, &request);
        let (mut answer, freshness) = match is_of_all {
            // Only a command asks for all nodes, of a mirror that it has just loaded.
            true => {
                let (answer, current) = self.computed(scope, work).await?;
                (answer, self.freshness(&current))
            }
            false => self.on_mirror(scope, work).await?,
        };
        answer.state.freshness = freshness;
        Ok(answer)
    }
}
