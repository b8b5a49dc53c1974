//! Comparison of two evaluations of the same questions, such as before and after maintenance.

use super::{Answers, Question, Views, held, metrics};
use crate::domain::ids::Scope;
use metrics::Ranks;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Number of hits among which memories are compared.
pub const COMPARED_AT: usize = 10;

/// The answer of recall to one question, as an evaluation saves it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedAnswer {
    /// Text of the question.
    pub question: String,
    /// Scope in which it was asked.
    pub scope: Scope,
    /// Its class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Gold memories with their ranks, from 1; null for one that is not among the hits.
    pub gold: BTreeMap<String, Option<u32>>,
}

impl SavedAnswer {
    /// The answers to questions.
    #[must_use]
    pub fn of(questions: &[Question], answers: &Answers) -> Vec<Self> {
        let saved = |(question, ranks): (&Question, &Ranks)| Self {
            question: question.text.clone(),
            scope: question.scope.clone(),
            class: question.class.clone(),
            gold: question.gold.iter().cloned().zip(ranks.0.iter().copied()).collect(),
        };
        questions.iter().zip(&answers.ranks).map(saved).collect()
    }

    /// What makes it the answer to the same question.
    fn key(&self) -> (&Scope, &str) {
        (&self.scope, &self.question)
    }

    fn recall(&self) -> f64 {
        Ranks(self.gold.values().copied().collect()).recall(COMPARED_AT)
    }
}

/// The difference between two evaluations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Questions of both with the same gold memories.
    pub questions: usize,
    /// Other questions, which are not compared.
    pub left_out: usize,
    /// Mean recall among the first [`COMPARED_AT`] hits before.
    pub before: f64,
    /// The same now.
    pub now: f64,
    /// What was lost: 0 if nothing was.
    pub loss: f64,
    /// Questions that lost memories.
    pub lost: Vec<Lost>,
}

/// A question that lost memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// Text of the question.
    pub question: String,
    /// Its scope.
    pub scope: Scope,
    /// Memories that were among the first hits and are not any more.
    pub memories: Vec<LostMemory>,
}

/// A memory that a question does not find any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostMemory {
    /// Id of the memory.
    pub id: String,
    /// Rank before.
    pub before: u32,
    /// Rank now, if it is still among the hits.
    pub now: Option<u32>,
    /// Where it is now.
    pub state: State,
}

/// Where a memory is that a question does not find any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// In the graph in memory, further back.
    Held,
    /// Not in the graph in memory: hidden, or one of the coldest where not all fit.
    NotHeld,
    /// In the database, and not live: expired, or quarantined.
    Expired,
    /// Not among the memories of the database: forgotten, or a row of another library.
    Missing,
}

impl State {
    /// The state in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Held => "further back",
            Self::NotHeld => "not in the graph in memory",
            Self::Expired => "expired",
            Self::Missing => "forgotten, or not a memory",
        }
    }
}

/// Reads the answers of a saved evaluation.
///
/// # Errors
/// Of the file; of kind `InvalidData` if it is no evaluation.
pub fn saved(path: &Path) -> io::Result<Vec<SavedAnswer>> {
    #[derive(Deserialize)]
    struct Saved {
        answers: Vec<SavedAnswer>,
    }
    let saved: Saved = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    Ok(saved.answers)
}

/// Answers by their scope and question.
fn by_question(answers: &[SavedAnswer]) -> BTreeMap<(&Scope, &str), &SavedAnswer> {
    answers.iter().map(|answer| (answer.key(), answer)).collect()
}

/// Number of questions that saved answers do not have with the same gold memories, so that they are not compared.
#[must_use]
pub fn uncovered(questions: &[Question], answers: &[SavedAnswer]) -> usize {
    let known = by_question(answers);
    let is_covered = |question: &Question| {
        let found = known.get(&(&question.scope, question.text.as_str()));
        found.is_some_and(|answer| answer.gold.keys().eq(&question.gold))
    };
    questions.iter().filter(|question| !is_covered(question)).count()
}

impl Comparison {
    /// Compares the answers of two evaluations, the later ones from these views; `None` if no question is in both with the
    /// same gold memories.
    #[must_use]
    pub fn of(before: &[SavedAnswer], now: &[SavedAnswer], views: &Views) -> Option<Self> {
        let known = by_question(before);
        let same: Vec<(&SavedAnswer, &SavedAnswer)> =
            now.iter().filter_map(|answer| Some((*known.get(&answer.key())?, answer))).collect();
        let has_same_gold =
            |(before, now): &&(&SavedAnswer, &SavedAnswer)| before.gold.keys().eq(now.gold.keys());
        let both: Vec<_> = same.iter().filter(has_same_gold).copied().collect();
        if both.is_empty() {
            return None;
        }
        let means = [
            metrics::mean(both.iter().map(|(before, _)| before.recall())),
            metrics::mean(both.iter().map(|(_, now)| now.recall())),
        ];
        let lost = both.iter().filter_map(|(before, now)| lost(before, now, views)).collect();
        Some(Self {
            questions: both.len(),
            left_out: (known.len() + now.len()).saturating_sub(same.len() + both.len()),
            before: means[0],
            now: means[1],
            loss: (means[0] - means[1]).max(0.0),
            lost,
        })
    }
}

fn lost(before: &SavedAnswer, now: &SavedAnswer, views: &Views) -> Option<Lost> {
    let is_found = |rank: &u32| *rank as usize <= COMPARED_AT;
    let view = views.get(&now.scope);
    let lost = before.gold.iter().filter_map(|(id, rank)| {
        let (rank, now) = (rank.filter(is_found)?, now.gold.get(id).copied().flatten());
        let is_held = view.is_some_and(|view| held(view, id).is_some());
        let state = if is_held { State::Held } else { State::NotHeld };
        (!now.is_some_and(|now| is_found(&now))).then(|| LostMemory {
            id: id.clone(),
            before: rank,
            now,
            state,
        })
    });
    let memories: Vec<LostMemory> = lost.collect();
    (!memories.is_empty()).then(|| Lost {
        question: now.question.clone(),
        scope: now.scope.clone(),
        memories,
    })
}
