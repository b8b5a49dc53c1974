//! Evaluation of recall: which share of the memories that answer a question is among its first hits.
//!
//! | | |
//! |---|---|
//! | `questions` | a file of questions, each with the memories that answer it |
//! | [`ways`] | recall as it is configured, without each of its parts, and what it is compared with |
//! | [`metrics`] | shares, reciprocal ranks and their intervals |
//! | [`comparison`] | answers of two evaluations, and what the later one lost |
//! | [`guard`] | questions that a process asks again while maintenance goes on |
//!
//! All is computed in memory from the view of each scope, and nothing is written: no question counts as a recall. Hits are memories
//! with a text, and such rows of other libraries; which of the gold ids exist makes no difference to the query.

pub mod comparison;
pub mod guard;
pub mod metrics;
mod questions;
#[cfg(test)]
mod tests;
pub mod ways;

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub use questions::fuzzing::read as read_questions;
pub use questions::{Question, questions};

use super::Service;
use super::recall::{Error, RecallConfig, View};
use crate::domain::ids::Scope;
use ebb_engine::graph::index::NodeId;
use ebb_engine::scratch::Scratch;
use metrics::Ranks;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use ways::Way;

/// The view of each scope that is asked.
pub type Views = BTreeMap<Scope, Arc<View>>;

/// The answers of one way to all questions, in their order.
#[derive(Debug, Clone)]
pub struct Answers {
    /// The way.
    pub way: Way,
    /// Ranks of the gold memories of each question, in the order of their ids.
    pub ranks: Vec<Ranks>,
    /// Duration of each question.
    pub took: Vec<Duration>,
}

/// Asks all questions in one way for so many hits.
///
/// # Errors
/// Of the engine, for a vector of another space.
pub fn ask(
    way: Way,
    questions: &[Question],
    views: &Views,
    rules: &RecallConfig,
    depth: usize,
) -> Result<Answers, ebb_engine::Error> {
    let rules = way.rules(rules)?;
    let mut scratch = Scratch::default();
    let (mut ranks, mut took) = (Vec::with_capacity(questions.len()), Vec::with_capacity(questions.len()));
    for question in questions {
        let begun = Instant::now();
        let ranked = match views.get(&question.scope) {
            Some(view) => way.rank(view, question, &rules, depth, &mut scratch)?,
            None => Vec::new(),
        };
        took.push(begun.elapsed());
        let rank = |gold: &String| {
            let node = held(views.get(&question.scope)?, gold)?;
            (1..).zip(&ranked).find_map(|(rank, hit)| (*hit == node).then_some(rank))
        };
        ranks.push(Ranks(question.gold.iter().map(rank).collect()));
    }
    Ok(Answers { way, ranks, took })
}

/// The node of a memory with a text, or of such a row of another library, by its id; never an entity.
#[must_use]
pub fn held(view: &View, id: &str) -> Option<NodeId> {
    let find = |name: &str| view.graph().find(name).filter(|node| view.has_text(*node));
    find(&format!("Memory:{id}")).or_else(|| find(id))
}

/// Number of gold ids that no view holds: no way can find them.
#[must_use]
pub fn missing_gold(questions: &[Question], views: &Views) -> usize {
    let is_missing = |question: &Question, id: &String| {
        views.get(&question.scope).is_none_or(|view| held(view, id).is_none())
    };
    let missing = |question: &Question| question.gold.iter().filter(|id| is_missing(question, id)).count();
    questions.iter().map(missing).sum()
}

impl Service {
    /// The views of all scopes of questions, each loaded if there is none.
    pub async fn views(&self, questions: &[Question]) -> Result<Views, Error> {
        let scopes: BTreeSet<&Scope> = questions.iter().map(|question| &question.scope).collect();
        let mut views = Views::new();
        for scope in scopes {
            views.insert(scope.clone(), self.view(scope).await?);
        }
        Ok(views)
    }

    /// The parameters of recall.
    #[must_use]
    pub const fn rules(&self) -> &RecallConfig {
        &self.config.engine
    }
}
