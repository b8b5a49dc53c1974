//! Mechanisms of the engine on their own.
//!
//! | | says |
//! |---|---|
//! | [`activate`] | what lights up from seeds |
//! | [`contrast`] | what of that would light up for any question |
//! | [`resonate`], [`harmonics`] | what seeds make swing, and at which frequencies |
//! | [`rank`] | who stands well |
//! | [`divide`] | who belongs together |
//!
//! They work on a view, whether it is that of a mirror or of a file, so that a graph can be looked at without any database.

mod communities;
mod waves;
mod xlr;

#[cfg(test)]
mod tests;

pub use communities::{Bridge, Divide, Divided, Member, divide};
pub use waves::{
    Harmonic, PULSES_MAX, Response, Run, Spectrum, Step, Swing, Swings, Sympathy, Waves, harmonics, resonate,
};
pub use xlr::{Contrast, Contrasted, Gated, contrast};

pub use ebb_engine::communities::bridges::Tie;
pub use ebb_engine::xlr::Field;

use super::Service;
use super::recall::{Config, Error, Freshness, Profile, View};
use crate::domain::ids::Scope;
use ebb_engine::activation::{DEPTH_MAX, Params, hybrid};
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::number::PosF32;
use ebb_engine::pagerank::personalised;
use ebb_engine::recall::TOP_K_MAX;
use ebb_engine::scratch::Scratch;
use std::cmp::Reverse;
use std::sync::Arc;

/// What is to be lit.
#[derive(Debug, Clone, PartialEq)]
pub struct Activate {
    /// External ids to begin at, with scores above 0 and up to 1.
    pub seeds: Vec<(String, f32)>,
    /// By which rule signals spread.
    pub profile: Profile,
    /// Hops at most, `1 ..= 20`; that of the profile where nothing is said.
    pub depth: Option<u8>,
    /// How many nodes at most, `1 ..= 1,000`.
    pub top_k: usize,
}

/// Who is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Rank {
    /// External ids at which a reader begins again and again, with scores above 0 and up to 1; none for everybody's standing.
    pub seeds: Vec<(String, f32)>,
    /// How many nodes at most, `1 ..= 1,000`.
    pub top_k: usize,
}

/// A node, as it is known outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its external id.
    pub id: String,
    /// What people read.
    pub label: String,
    /// What it is called by its type.
    pub kind: String,
}

/// A node and how it does.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// What it is known by outside.
    pub id: String,
    /// What people read.
    pub label: String,
    /// What it is called by its type.
    pub kind: String,
    /// How strongly it is lit, or how well it stands.
    pub score: f32,
}

/// What a mechanism found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Which state was asked.
    pub generation: u64,
    /// The best first; of equals the one whose external id comes first.
    pub nodes: Vec<Scored>,
    /// Seeds that are not there.
    pub unknown: Vec<String>,
    /// What was cut short.
    pub flags: Vec<&'static str>,
    /// Slots that were read, and nodes that were reached.
    pub work: (u64, u64),
}

/// Lights up what seeds reach.
///
/// # Errors
/// [`Error::Invalid`] for a number outside its range.
pub fn activate(
    view: &View,
    asked: &Activate,
    rules: &Config,
    scratch: &mut Scratch,
) -> Result<Found, Error> {
    within("top_k", asked.top_k, TOP_K_MAX)?;
    let profile = *rules.params(asked.profile);
    let max_depth = asked.depth.unwrap_or(profile.max_depth);
    within("depth", usize::from(max_depth), usize::from(DEPTH_MAX))?;
    let params = Params { max_depth, ..profile };
    let (seeds, unknown) = seeds(view, &asked.seeds)?;
    let lit = hybrid::activate(view.graph(), &seeds, &params, asked.top_k, &mut scratch.activation);
    let nodes = lit.lit.iter().map(|lit| scored(view, lit.node, lit.value)).collect();
    let flags = if lit.truncated { vec!["activation_truncated"] } else { Vec::new() };
    let work = (lit.work.slots_read, lit.work.touched);
    Ok(Found { generation: view.generation().0, nodes, unknown, flags, work })
}

/// Says who stands well: for everybody, or for a reader who begins at seeds.
///
/// # Errors
/// [`Error::Invalid`] for a number outside its range.
pub fn rank(view: &View, asked: &Rank) -> Result<Found, Error> {
    within("top_k", asked.top_k, TOP_K_MAX)?;
    let (seeds, unknown) = seeds(view, &asked.seeds)?;
    let graph = view.graph();
    let (of, unconverged): (Vec<f32>, bool) = if asked.seeds.is_empty() {
        (
            graph.nodes().map(|node| graph.pagerank(node)).collect(),
            view.flags().names().any(|name| name == UNCONVERGED),
        )
    } else {
        let standing = personalised(graph, &seeds);
        let unconverged = standing.is_unconverged();
        (standing.of, unconverged)
    };
    let mut all: Vec<(NodeId, f32)> = graph.nodes().zip(of).filter(|(_, score)| *score > 0.0).collect();
    let order = |(node, score): &(NodeId, f32)| (Reverse(score.to_bits()), graph.rank(*node));
    if all.len() > asked.top_k {
        all.select_nth_unstable_by_key(asked.top_k - 1, order);
        all.truncate(asked.top_k);
    }
    all.sort_unstable_by_key(order);
    let nodes = all.iter().map(|(node, score)| scored(view, *node, *score)).collect();
    let flags = if unconverged { vec![UNCONVERGED] } else { Vec::new() };
    let work = (graph.slot_count() as u64, graph.node_count() as u64);
    Ok(Found { generation: view.generation().0, nodes, unknown, flags, work })
}

const UNCONVERGED: &str = "pagerank_unconverged";

fn known(view: &View, node: NodeId) -> Node {
    let graph = view.graph();
    Node {
        id: graph.external_id(node).to_owned(),
        label: graph.label(node).to_owned(),
        kind: view.kind(node).into_owned(),
    }
}

fn scored(view: &View, node: NodeId, score: f32) -> Scored {
    let Node { id, label, kind } = known(view, node);
    Scored { id, label, kind, score }
}

/// Seeds that are there, and the ids of the others.
type Seeds = (Vec<(NodeId, f32)>, Vec<String>);

fn seeds(view: &View, given: &[(String, f32)]) -> Result<Seeds, Error> {
    let (mut held, mut unknown) = (Vec::new(), Vec::new());
    for (id, score) in given {
        if !score.is_finite() || *score <= 0.0 || *score > 1.0 {
            return Err(Error::Invalid(format!(
                "the score of seed {id} is {score}; it must be above 0, up to 1"
            )));
        }
        match view.graph().find(id) {
            Some(node) => held.push((node, *score)),
            None => unknown.push(id.clone()),
        }
    }
    Ok((held, unknown))
}

fn within(name: &str, value: usize, max: usize) -> Result<(), Error> {
    super::within(name, value, max).map_err(Error::Invalid)
}

/// A number above 0; `name` stands in the error.
fn positive(name: &str, value: f32) -> Result<PosF32, Error> {
    PosF32::new(value).map_err(|_| Error::Invalid(format!("{name} is {value}; it must be a number above 0")))
}

impl Service {
    /// Lights up what seeds reach in the mirror of a scope.
    ///
    /// # Errors
    /// As [`Service::recall`].
    pub async fn activate(&self, scope: &Scope, asked: Activate) -> Result<(Found, Freshness), Error> {
        let current = self.ready(scope).await?;
        let (view, rules) = (Arc::clone(&current.view), self.config.engine.clone());
        let found = self.compute.run(move |scratch| activate(&view, &asked, &rules, scratch)).await??;
        Ok((found, self.freshness(&current)))
    }

    /// Says who stands well in the mirror of a scope.
    ///
    /// # Errors
    /// As [`Service::recall`].
    pub async fn rank(&self, scope: &Scope, asked: Rank) -> Result<(Found, Freshness), Error> {
        let current = self.ready(scope).await?;
        let view = Arc::clone(&current.view);
        let found = self.compute.run(move |_| rank(&view, &asked)).await??;
        Ok((found, self.freshness(&current)))
    }
}
