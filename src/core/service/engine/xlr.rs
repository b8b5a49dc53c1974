//! Contrast on its own: what seeds light up, and what of it would light up for any question.
//!
//! Spreading and contrast both go by the rule of recall, so a node is left with what a recall that gates would leave of what
//! joins it to the seeds.
//!
//! # Design notes
//! Of nodes that are left with as much, those come first that were lit more, and only then does the external id decide. What
//! is damped to nothing is most of a graph with hubs, and who asks what contrast took away finds it at the top of that.

use super::{Node, known, seeds, within};
use crate::domain::ids::Scope;
use crate::service::Service;
use crate::service::recall::{Config, Error, Freshness, Profile, TOP_K_MAX, View};
use ebb_engine::Flag;
use ebb_engine::activation::{Lit, hybrid};
use ebb_engine::scratch::Scratch;
use ebb_engine::xlr::{Field, xlr};
use std::cmp::Reverse;
use std::sync::Arc;

/// What is to be contrasted.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrast {
    /// External ids to begin at, with scores above 0 and up to 1.
    pub seeds: Vec<(String, f32)>,
    /// How many nodes at most, `1 ..= 1,000`.
    pub top_k: usize,
}

/// A node that is lit, and what contrast makes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Gated {
    /// Which.
    pub node: Node,
    /// How strongly it is lit.
    pub before: f32,
    /// Its place by that, from 1.
    pub was: usize,
    /// What is left of it.
    pub after: f32,
    /// What both waves left there; `None` where the hot one did not come, and all is left.
    pub field: Option<Field>,
}

/// What contrast made of what is lit.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrasted {
    /// Which state was asked.
    pub generation: u64,
    /// By what is left descending, then by what there was, then by external id.
    pub nodes: Vec<Gated>,
    /// Where the cold wave began, by external id.
    pub anti_seeds: Vec<String>,
    /// Seeds that are not there.
    pub unknown: Vec<String>,
    /// What was cut short, or left out.
    pub flags: Vec<&'static str>,
    /// Slots that spreading read, and nodes that it reached.
    pub work: (u64, u64),
    /// Pulses of both waves.
    pub pulses: u64,
}

/// Lights up what seeds reach, and damps what others would reach too.
///
/// # Errors
/// [`Error::Invalid`] for a number outside its range.
pub fn contrast(
    view: &View,
    asked: &Contrast,
    rules: &Config,
    scratch: &mut Scratch,
) -> Result<Contrasted, Error> {
    within("top_k", asked.top_k, TOP_K_MAX)?;
    let (seeds, unknown) = seeds(view, &asked.seeds)?;
    let (graph, params) = (view.graph(), rules.params(Profile::Recall));
    let lit = hybrid::activate(graph, &seeds, params, graph.node_count(), &mut scratch.activation);
    let budget = rules.weighing().pulses;
    let found = xlr(graph, view.mean_degree(), &seeds, params, budget, &mut scratch.xlr);
    let gate = |lit: &Lit| lit.value * found.gate(lit.node).unwrap_or(1.0);
    let mut all: Vec<(usize, &Lit, f32)> =
        (1..).zip(&lit.lit).map(|(was, lit)| (was, lit, gate(lit))).collect();
    all.sort_unstable_by_key(|(was, _, after)| (Reverse(after.to_bits()), *was));
    let gated = |(was, lit, after): &(usize, &Lit, f32)| Gated {
        node: known(view, lit.node),
        before: lit.value,
        was: *was,
        after: *after,
        field: found.field(lit.node).copied(),
    };
    Ok(Contrasted {
        generation: view.generation().0,
        nodes: all.iter().take(asked.top_k).map(gated).collect(),
        anti_seeds: found.anti_seeds.iter().map(|node| graph.external_id(*node).to_owned()).collect(),
        unknown,
        flags: found.flags.with(Flag::ActivationTruncated, lit.truncated).names().collect(),
        work: (lit.work.slots_read, lit.work.touched),
        pulses: found.pulses,
    })
}

impl Service {
    /// Lights up what seeds reach in the mirror of a scope, and damps what others would reach too.
    ///
    /// # Errors
    /// As [`Service::recall`].
    pub async fn contrast(&self, scope: &Scope, asked: Contrast) -> Result<(Contrasted, Freshness), Error> {
        let current = self.ready(scope).await?;
        let (view, rules) = (Arc::clone(&current.view), self.config.engine.clone());
        let found = self.compute.run(move |scratch| contrast(&view, &asked, &rules, scratch)).await??;
        Ok((found, self.freshness(&current)))
    }
}
