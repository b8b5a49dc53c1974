//! Causal chains on their own: effects of seeds, or their causes.

use super::{NodeAnswer, check_range, known, seeds, state};
use crate::api::engine::{CausalAnswer, CausalDirection, CausalHit, CausalRequest, CausalStep};
use crate::domain::ids::Scope;
use crate::service::Service;
use crate::service::recall::{Error, RecallConfig, TOP_K_MAX, View};
use ebb_engine::Flags;
use ebb_engine::causal::{CausalChain, CausalConfig, Direction, HOPS_MAX, chains_along};
use ebb_engine::graph::index::NodeId;
use ebb_engine::scratch::Scratch;
use std::cmp::Reverse;

/// Follows causal chains from seeds in one direction.
pub fn causal(view: &View, request: &CausalRequest) -> Result<CausalAnswer, Error> {
    check_range("top_k", request.top_k, TOP_K_MAX)?;
    check_range("depth", usize::from(request.depth), usize::from(HOPS_MAX))?;
    let (seeds, unknown) = seeds(view, &request.seeds)?;
    let direction = match request.direction {
        CausalDirection::Effects => Direction::Forward,
        CausalDirection::Causes => Direction::Backward,
    };
    let graph = view.graph();
    let config = CausalConfig::new(request.depth).map_err(|why| Error::Invalid(why.to_string()))?;
    let found = chains_along(graph, &seeds, &[direction], config);
    let mut nodes: Vec<(NodeId, f32)> = found.scores.clone();
    nodes.sort_unstable_by_key(|(node, score)| (Reverse(score.to_bits()), graph.rank(*node)));
    let step = |slot| CausalStep { kind: graph.relation(slot).to_owned(), strength: graph.causal(slot) };
    let hit = |chain: CausalChain, node: NodeId| CausalHit {
        node: known(view, node),
        score: chain.strength,
        path: chain.nodes.iter().map(|node| graph.external_id(*node).to_owned()).collect(),
        steps: chain.slots.into_iter().map(step).collect(),
    };
    let chains = nodes.iter().take(request.top_k).filter_map(|(node, _)| {
        let chain = found.chains(graph, *node).into_iter().next()?;
        Some(hit(chain, *node))
    });
    let flags = Flags::default().with(ebb_engine::Flag::CausalTruncated, found.truncated);
    Ok(CausalAnswer {
        hits: chains.collect(),
        nodes_touched: nodes.len(),
        state: state(view, flags.names().collect(), unknown),
    })
}

impl NodeAnswer for CausalAnswer {
    fn retain(&mut self, keep: &mut dyn FnMut(&str) -> bool) {
        self.hits.retain(|hit| keep(&hit.node.id) && hit.path.iter().all(|id| keep(id)));
    }
}

impl Service {
    /// Runs [`causal`] on the mirror of a scope.
    pub async fn causal(&self, scope: &Scope, request: CausalRequest) -> Result<CausalAnswer, Error> {
        let work = move |view: &View, _: &RecallConfig, _: &mut Scratch| causal(view, &request);
        let (mut answer, freshness) = self.on_mirror(scope, work).await?;
        answer.state.freshness = freshness;
        Ok(answer)
    }
}
