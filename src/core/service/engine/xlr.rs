//! Contrast on its own: the activation of seeds, and the part of it that any seeds would cause.
//!
//! Spreading and contrast both use the parameters of recall, so a node keeps the contrast that a recall with `gate`
//! would give its connection to the seeds.
//!
//! # Design notes
//! Nodes with equal contrast are sorted by activation, and only then by external id. The nodes suppressed to nothing
//! are most of a graph with hubs, and the strongest of them come first among these.

use super::{NodeAnswer, check_range, known, seeds, state};
use crate::api::engine::{XlrAnswer, XlrHit, XlrRequest};
use crate::domain::ids::Scope;
use crate::service::Service;
use crate::service::recall::{Error, Profile, RecallConfig, TOP_K_MAX, View};
use ebb_engine::Flag;
use ebb_engine::activation::{ActivatedNode, hybrid};
use ebb_engine::scratch::Scratch;
use std::cmp::Reverse;

/// Activates nodes from seeds, and suppresses those that other seeds would activate too.
pub fn xlr(
    view: &View,
    request: &XlrRequest,
    rules: &RecallConfig,
    scratch: &mut Scratch,
) -> Result<XlrAnswer, Error> {
    check_range("top_k", request.top_k, TOP_K_MAX)?;
    let (seeds, unknown) = seeds(view, &request.seeds)?;
    let (graph, params) = (view.graph(), rules.activation(Profile::Recall));
    let activated = hybrid::activate(graph, &seeds, params, graph.node_count(), &mut scratch.activation);
    let budget = rules.evidence().pulses;
    let found = ebb_engine::xlr::xlr(graph, view.mean_degree(), &seeds, params, budget, &mut scratch.xlr);
    let gate = |node: &ActivatedNode| node.value * found.gate(node.node).unwrap_or(1.0);
    let mut all: Vec<(usize, &ActivatedNode, f32)> =
        (1..).zip(&activated.nodes).map(|(was, node)| (was, node, gate(node))).collect();
    all.sort_unstable_by_key(|(was, _, after)| (Reverse(after.to_bits()), *was));
    let hit = |(was, reached, after): &(usize, &ActivatedNode, f32)| XlrHit {
        node: known(view, reached.node),
        score: *after,
        activation: reached.value,
        was: *was,
        contrast: found.field(reached.node).copied(),
    };
    let flags = found.flags.with(Flag::ActivationTruncated, activated.truncated).names().collect();
    Ok(XlrAnswer {
        state: state(view, flags, unknown),
        hits: all.iter().take(request.top_k).map(hit).collect(),
        anti_seeds: found.anti_seeds.iter().map(|node| graph.external_id(*node).to_owned()).collect(),
        slots_read: activated.counters.slots_read,
        nodes_touched: activated.counters.touched,
        pulses: found.pulses,
    })
}

impl NodeAnswer for XlrAnswer {
    fn retain(&mut self, keep: &mut dyn FnMut(&str) -> bool) {
        self.hits.retain(|hit| keep(&hit.node.id));
        self.anti_seeds.retain(|id| keep(id));
    }
}

impl Service {
    /// Runs [`xlr`] on the mirror of a scope.
    pub async fn xlr(&self, scope: &Scope, request: XlrRequest) -> Result<XlrAnswer, Error> {
        let work = move |view: &View, rules: &RecallConfig, scratch: &mut Scratch| {
            xlr(view, &request, rules, scratch)
        };
        let (mut answer, freshness) = self.on_mirror(scope, work).await?;
        answer.state.freshness = freshness;
        Ok(answer)
    }
}
