//! Communities: which topics a memory has, who belongs to each, and who joins them to each other.
//!
//! # Design notes
//! At resolution 1 they are worked out once for each state of a graph and kept with it; at any other each time somebody asks.
//!
//! Of a community those are told first who stand best: they say what it is about. Who asks about a node is told its community
//! alone, and how it is joined to others.

use super::{Node, known, positive, within};
use crate::domain::ids::Scope;
use crate::service::Service;
use crate::service::recall::{Error, Freshness, TOP_K_MAX, View};
use ebb_engine::communities::bridges::{Tie, bridges, ties};
use ebb_engine::communities::communities;
use ebb_engine::graph::index::{CommunityId, NodeId};
use ebb_engine::graph::number::PosF32;
use std::cmp::Reverse;
use std::sync::Arc;

/// Members of a community that are told where nobody says how many.
const MEMBERS: usize = 5;
/// The same where one community is asked about.
const MEMBERS_OF_ONE: usize = 20;
/// Members that are told at most, of all communities together.
const MEMBERS_MAX: usize = 10_000;
/// Nodes that join communities, of which so many are told.
const BRIDGES: usize = 5;

/// How a graph is to be divided, and what is to be told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Divide {
    /// Above 0; above 1 communities get smaller.
    pub resolution: f32,
    /// The external id of a node whose community alone is asked about.
    pub node: Option<String>,
    /// How many communities at most, `1 ..= 1,000`; `None` for all of them with all their members.
    pub top_k: Option<usize>,
    /// How many members of each at most, `1 ..= 1,000`; 5 where nothing is said, and 20 of one community that is asked about.
    pub members: Option<usize>,
}

/// Somebody who belongs to a community.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Who.
    pub node: Node,
    /// To which one.
    pub community: CommunityId,
    /// How well it stands in the whole graph.
    pub standing: f32,
}

/// How somebody is joined to communities.
#[derive(Debug, Clone, PartialEq)]
pub struct Bridge {
    /// Who.
    pub node: Node,
    /// The one it belongs to.
    pub community: CommunityId,
    /// What joins it to the others of its own.
    pub inside: f64,
    /// What joins it to all other communities.
    pub outside: f64,
    /// What joins it to each of these, by that descending, then by community.
    pub ties: Vec<Tie>,
}

/// How a graph is divided.
#[derive(Debug, Clone, PartialEq)]
pub struct Divided {
    /// Which state was asked.
    pub generation: u64,
    /// How much more is joined inside communities than chance would have it, `-0.5 ..= 1` at resolution 1.
    pub modularity: f64,
    /// How many communities there are.
    pub count: usize,
    /// How many of them are of one node.
    pub alone: usize,
    /// How many levels it took.
    pub levels: u32,
    /// Those that are told, the largest first, and how many belong to each.
    pub communities: Vec<(CommunityId, usize)>,
    /// Members of these, by community, then by standing descending, then by external id.
    pub members: Vec<Member>,
    /// How many nodes are not among them: of the one community that was asked about, else of all.
    pub left_out: usize,
    /// Who joins communities most, by what leads out of its own; or the one node that was asked about.
    pub bridges: Vec<Bridge>,
    /// The node that was asked about, if it is not there.
    pub unknown: Vec<String>,
    /// What was still moving when it was taken: communities, or the standing of their members.
    pub flags: Vec<&'static str>,
}

/// Says who belongs together.
///
/// # Errors
/// [`Error::Invalid`] for a number outside its range.
pub fn divide(view: &View, asked: &Divide) -> Result<Divided, Error> {
    within("top_k", asked.top_k.unwrap_or(1), TOP_K_MAX)?;
    within("members", asked.members.unwrap_or(1), TOP_K_MAX)?;
    let resolution = positive("resolution", asked.resolution)?;
    let graph = view.graph();
    let partition = match resolution == PosF32::ONE {
        true => view.communities(),
        false => Arc::new(communities(graph, resolution)),
    };
    let mut sizes = vec![0_usize; partition.count];
    for of in &partition.of {
        if let Some(size) = sizes.get_mut(of.at()) {
            *size += 1;
        }
    }
    let place = asked.node.as_deref().and_then(|id| graph.find(id));
    let home = place.and_then(|node| partition.of.get(node.at())).copied();
    let most = asked.top_k.unwrap_or(usize::MAX);
    let is_told = |of: CommunityId| match &asked.node {
        Some(_) => home == Some(of),
        None => of.at() < most,
    };
    let standing = |node: NodeId| (Reverse(graph.pagerank(node).to_bits()), graph.rank(node));
    let all = graph.nodes().zip(partition.of.iter().copied()).filter(|(_, of)| is_told(*of));
    let mut all: Vec<(NodeId, CommunityId)> = all.collect();
    all.sort_unstable_by_key(|(node, of)| (*of, standing(*node)));
    let (each, together) = asked.limits();
    let told = all.chunk_by(|a, b| a.1 == b.1).flat_map(|one| one.iter().take(each)).take(together);
    let member = |(node, of): &(NodeId, CommunityId)| Member {
        node: known(view, *node),
        community: *of,
        standing: graph.pagerank(*node),
    };
    let members: Vec<Member> = told.map(member).collect();
    let joining: Vec<NodeId> = match &asked.node {
        Some(_) => place.into_iter().collect(),
        None => bridges(graph, &partition.of, BRIDGES),
    };
    let among = if asked.node.is_some() { all.len() } else { graph.node_count() };
    let numbered = (0..).map(CommunityId).zip(sizes.iter().copied());
    Ok(Divided {
        generation: view.generation().0,
        modularity: partition.q,
        count: partition.count,
        alone: sizes.iter().filter(|size| **size == 1).count(),
        levels: partition.levels,
        communities: numbered.filter(|(of, _)| is_told(*of)).collect(),
        left_out: among.saturating_sub(members.len()),
        members,
        bridges: joining.into_iter().map(|node| bridge(view, &partition.of, node)).collect(),
        unknown: asked.node.iter().filter(|_| place.is_none()).cloned().collect(),
        flags: partition.flags.and(view.flags()).names().collect(),
    })
}

impl Divide {
    /// How many members of each community are told, and how many of all together.
    fn limits(&self) -> (usize, usize) {
        let usual = if self.node.is_some() { MEMBERS_OF_ONE } else { MEMBERS };
        match self.top_k {
            None => (self.members.unwrap_or(usize::MAX), usize::MAX),
            Some(_) => (self.members.unwrap_or(usual), MEMBERS_MAX),
        }
    }
}

fn bridge(view: &View, of: &[CommunityId], node: NodeId) -> Bridge {
    let community = of.get(node.at()).copied().unwrap_or(CommunityId(u32::MAX));
    let ties = ties(view.graph(), of, node);
    let (own, others): (Vec<Tie>, Vec<Tie>) = ties.into_iter().partition(|tie| tie.community == community);
    let sum = |ties: &[Tie]| ties.iter().fold(0.0_f64, |sum, tie| sum + tie.weight);
    Bridge { node: known(view, node), community, inside: sum(&own), outside: sum(&others), ties: others }
}

impl Service {
    /// Says who belongs together in the mirror of a scope.
    ///
    /// # Errors
    /// As [`Service::recall`].
    pub async fn communities(&self, scope: &Scope, asked: Divide) -> Result<(Divided, Freshness), Error> {
        let current = self.ready(scope).await?;
        let view = Arc::clone(&current.view);
        let found = self.compute.run(move |_| divide(&view, &asked)).await??;
        Ok((found, self.freshness(&current)))
    }
}
