//! Mechanisms of the engine on their own.
//!
//! | function | finds |
//! |---|---|
//! | [`activate`] | the nodes that seeds activate |
//! | [`xlr`] | the same, contrasted with other places of the graph |
//! | [`resonate`], [`harmonics`] | the nodes that waves from seeds reach, at one frequency or all |
//! | [`causal`] | effects or causes of seeds |
//! | [`rank`] | nodes by PageRank |
//! | [`communities`] | communities, and the nodes that join them |
//! | [`around`] | the nodes around one, and what joins them |
//!
//! They work on a view, of a mirror or of a file, so a graph can be examined without a database. The service leaves out nodes
//! that were deleted meanwhile from the answers of a mirror, since labels hold the beginning of a text.

mod around;
mod causal;
mod communities;
mod waves;
mod xlr;

#[cfg(test)]
mod tests;

pub use around::around;
pub use causal::causal;
pub use communities::communities;
pub use waves::{PULSES_MAX, harmonics, resonate};
pub use xlr::xlr;

use super::Service;
use super::recall::{Error, RecallConfig, View};
use crate::api::engine::{
    ActivateRequest, EngineAnswer, EngineHit, EngineNode, EngineState, PageRankRequest,
};
use crate::api::recall::{Freshness, GivenSeed};
use crate::domain::ids::Scope;
use crate::mirror::Current;
use ebb_engine::activation::{ActivationConfig, DEPTH_MAX, hybrid};
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::number::PosF32;
use ebb_engine::pagerank::personalised_pagerank;
use ebb_engine::recall::TOP_K_MAX;
use ebb_engine::scratch::Scratch;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Activates nodes from seeds.
pub fn activate(
    view: &View,
    request: &ActivateRequest,
    rules: &RecallConfig,
    scratch: &mut Scratch,
) -> Result<EngineAnswer, Error> {
    check_range("top_k", request.top_k, TOP_K_MAX)?;
    let profile = *rules.activation(request.profile);
    let max_depth = request.depth.unwrap_or(profile.max_depth);
    check_range("depth", usize::from(max_depth), usize::from(DEPTH_MAX))?;
    let params = ActivationConfig { max_depth, ..profile };
    let (seeds, unknown_seeds) = seeds(view, &request.seeds)?;
    let activated = hybrid::activate(view.graph(), &seeds, &params, request.top_k, &mut scratch.activation);
    Ok(EngineAnswer {
        generation: view.generation().0,
        freshness: of_file(view),
        truncated: activated.truncated,
        hits: activated.nodes.iter().map(|activated| hit(view, activated.node, activated.value)).collect(),
        unknown_seeds,
        flags: if activated.truncated { vec!["activation_truncated"] } else { Vec::new() },
        slots_read: activated.counters.slots_read,
        nodes_touched: activated.counters.touched,
    })
}

/// Ranks nodes by PageRank, over the whole graph or personalised to seeds.
pub fn rank(view: &View, request: &PageRankRequest) -> Result<EngineAnswer, Error> {
    check_range("top_k", request.top_k, TOP_K_MAX)?;
    let (seeds, unknown_seeds) = seeds(view, &request.seeds)?;
    let graph = view.graph();
    let (of, unconverged): (Vec<f32>, bool) = if request.seeds.is_empty() {
        (
            graph.nodes().map(|node| graph.pagerank(node)).collect(),
            view.flags().names().any(|name| name == UNCONVERGED),
        )
    } else {
        let standing = personalised_pagerank(graph, &seeds);
        let unconverged = !standing.has_converged();
        (standing.scores, unconverged)
    };
    let mut all: Vec<(NodeId, f32)> = graph.nodes().zip(of).filter(|(_, score)| *score > 0.0).collect();
    let order = |(node, score): &(NodeId, f32)| (Reverse(score.to_bits()), graph.rank(*node));
    if all.len() > request.top_k {
        all.select_nth_unstable_by_key(request.top_k - 1, order);
        all.truncate(request.top_k);
    }
    all.sort_unstable_by_key(order);
    Ok(EngineAnswer {
        generation: view.generation().0,
        freshness: of_file(view),
        truncated: false,
        hits: all.iter().map(|(node, score)| hit(view, *node, *score)).collect(),
        unknown_seeds,
        flags: if unconverged { vec![UNCONVERGED] } else { Vec::new() },
        slots_read: graph.slot_count() as u64,
        nodes_touched: graph.node_count() as u64,
    })
}

const UNCONVERGED: &str = "pagerank_unconverged";

/// Freshness of a result from a file; that of a mirror is filled in later.
fn of_file(view: &View) -> Freshness {
    Freshness::of_file(view.ticks().at_start())
}

/// State of a view, with the flags of a result.
fn state(view: &View, flags: Vec<&'static str>, unknown_seeds: Vec<String>) -> EngineState {
    let truncated = flags.iter().any(|flag| flag.ends_with("_truncated"));
    EngineState { generation: view.generation().0, freshness: of_file(view), truncated, flags, unknown_seeds }
}

fn known(view: &View, node: NodeId) -> EngineNode {
    let graph = view.graph();
    EngineNode {
        id: graph.external_id(node).to_owned(),
        label: graph.label(node).to_owned(),
        kind: view.kind(node).into_owned(),
    }
}

fn hit(view: &View, node: NodeId, score: f32) -> EngineHit {
    EngineHit { node: known(view, node), score }
}

/// Seeds that exist, and the ids of the others.
type Seeds = (Vec<(NodeId, f32)>, Vec<String>);

fn seeds(view: &View, given: &[GivenSeed]) -> Result<Seeds, Error> {
    let (mut held, mut unknown) = (Vec::new(), Vec::new());
    for GivenSeed { id, score } in given {
        let id = id.as_str();
        if !score.is_finite() || *score <= 0.0 || *score > 1.0 {
            return Err(Error::Invalid(format!(
                "the score of seed {id} is {score}; it must be above 0, up to 1"
            )));
        }
        match view.graph().find(id) {
            Some(node) => held.push((node, *score)),
            None => unknown.push(id.to_owned()),
        }
    }
    Ok((held, unknown))
}

fn check_range(name: &str, value: usize, max: usize) -> Result<(), Error> {
    super::check_range(name, value, max).map_err(Error::Invalid)
}

/// A number above 0; `name` is used in the error.
fn positive(name: &str, value: f32) -> Result<PosF32, Error> {
    PosF32::new(value).map_err(|_| Error::Invalid(format!("{name} is {value}; it must be a number above 0")))
}

/// An answer that shows nodes.
trait NodeAnswer {
    /// Leaves out the nodes with ids that do not pass, and what depends on them.
    fn retain(&mut self, keep: &mut dyn FnMut(&str) -> bool);
}

impl NodeAnswer for EngineAnswer {
    fn retain(&mut self, keep: &mut dyn FnMut(&str) -> bool) {
        self.hits.retain(|hit| keep(&hit.node.id));
    }
}

impl Service {
    /// Runs work on the mirror of a scope, in a thread of its own; also returns the mirror's freshness. Nodes that were deleted
    /// meanwhile are left out.
    async fn on_mirror<A: NodeAnswer + Send + 'static>(
        &self,
        scope: &Scope,
        work: impl FnOnce(&View, &RecallConfig, &mut Scratch) -> Result<A, Error> + Send + 'static,
    ) -> Result<(A, Freshness), Error> {
        let (mut answer, current) = self.computed(scope, work).await?;
        let freshness = self.freshness(&current);
        let named = || {
            let mut ids = BTreeSet::new();
            answer.retain(&mut |id| {
                ids.insert(id.to_owned());
                true
            });
            ids
        };
        let deleted = Box::pin(self.deleted_since(scope, &current, named)).await?;
        if !deleted.is_empty() {
            answer.retain(&mut |id| !deleted.contains(id));
        }
        Ok((answer, freshness))
    }

    /// Runs work on the mirror of a scope, in a thread of its own; also returns what it worked on.
    async fn computed<A: Send + 'static>(
        &self,
        scope: &Scope,
        work: impl FnOnce(&View, &RecallConfig, &mut Scratch) -> Result<A, Error> + Send + 'static,
    ) -> Result<(A, Current), Error> {
        let current = self.ready(scope).await?;
        let (view, rules) = (Arc::clone(&current.view), self.config.engine.clone());
        let answer = self.compute.run(move |scratch| work(&view, &rules, scratch)).await??;
        Ok((answer, current))
    }

    /// Runs [`activate`] on the mirror of a scope.
    pub async fn activate(&self, scope: &Scope, request: ActivateRequest) -> Result<EngineAnswer, Error> {
        let work = move |view: &View, rules: &RecallConfig, scratch: &mut Scratch| {
            activate(view, &request, rules, scratch)
        };
        let (answer, freshness) = self.on_mirror(scope, work).await?;
        Ok(EngineAnswer { freshness, ..answer })
    }

    /// Runs [`rank`] on the mirror of a scope.
    pub async fn rank(&self, scope: &Scope, request: PageRankRequest) -> Result<EngineAnswer, Error> {
        let work = move |view: &View, _: &RecallConfig, _: &mut Scratch| rank(view, &request);
        let (answer, freshness) = self.on_mirror(scope, work).await?;
        Ok(EngineAnswer { freshness, ..answer })
    }
}
