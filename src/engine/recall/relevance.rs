//! Relevance: an estimate of the probability that a memory is relevant to a query, from its own text and vector.
//!
//! The odds of a memory taken at random are [`RELEVANT`] divided by the number of memories. Each word of the query multiplies them:
//! one that a share `q` of the memories has, and this one has as well, by `(c + (1 - c) q) / q`, where `c` is [`SHARED`]; one that it
//! has not, in whatever number of others it is, by `1 - c`. This is the binary independence model (Robertson and Spärck Jones, 1976)
//! for a relevant memory that has a word with the probability `c` because it is about the same, and otherwise by chance. With
//! vectors, odds are multiplied by those of two normal distributions of the same width: similarities of relevant memories are
//! [`DISTANCE`] standard deviations above those of all, whose mean and deviation are those of this query. Words depend on each
//! other, and vectors on words, so logarithms count by [`INDEPENDENCE`], and those of words by half where vectors count fully.
//!
//! # Design notes
//! Nothing but the scope calibrates it: a word is as rare, and a similarity as high, as they are there. A similarity itself says
//! little, since each model has its own scale, and a score even less.
//!
//! [`BACKGROUND`] memories without any of the words are added to a scope, since a word that one of three memories has is not known to
//! be common. As few similarities have no mean, vectors count by `n / (n + 5)`, where `n` is the number of memories with one.
//!
//! Links have no part in it. As further evidence, a probability of 0.1 times the structural score, they tell relevant hits from others
//! on passages (AUC 0.83 for 0.71), and the contrary on dialogues whose turns mention two of their words (0.76 for 0.79, and a hit of
//! 0.1 in a scope without an answer for 19 % of the questions, not 13 %): how many of what is connected is relevant depends on the graph.
//! Neighbours in a session have none either: with a fifth of their relevance, a third more hits of dialogues have a relevance of 0.1, and
//! fewer of them are relevant (26 % for 33 %).
//!
//! The constants fit dialogues and passages alike: `cargo bench --bench recall -- --relevance --set NAME EVENTS,QUESTIONS,VECTORS,QUESTION_VECTORS`,
//! also with questions that nothing in a scope answers.
//!
//! Invariants: 0 to 1, the same for each order of words and whatever else is a hit, and not less for a memory with one more word of
//! the query (held by the tests of this file).

#[cfg(test)]
mod tests;

use crate::View;
use crate::graph::index::NodeId;
use crate::text::fold::cut;
#[cfg(doc)]
use crate::text::ranking::Ranking;
use crate::text::ranking::stems_of;
use crate::text::words::CONTENT_BYTES_MAX;
use crate::vectors::Similarities;
use std::collections::BTreeMap;

/// Relevant memories of a query, with those that resemble them.
const RELEVANT: f64 = 4.0;
/// Memories without any of the words that each scope has besides.
const BACKGROUND: f64 = 100.0;
/// Probability that a relevant memory has a word of its query because it is about the same.
const SHARED: f64 = 0.2;
/// Standard deviations between the mean similarity of relevant memories and that of all.
const DISTANCE: f64 = 1.5;
/// The greatest number of standard deviations that counts: beyond, no distribution is known.
const DEVIATIONS_MAX: f64 = 6.0;
/// Share of the evidence that is left after what it repeats.
const INDEPENDENCE: f64 = 0.6;
/// Share of the evidence of words that is left beside vectors.
const BESIDE_VECTORS: f64 = 0.5;
/// Number of memories with a vector from which on vectors count by half.
const VECTORS_HALF: f64 = 5.0;
/// Words of a query that count: of a longer one a sample, by their hashes.
const WORDS_MAX: usize = 64;

/// Estimates the relevance of memories to one query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Relevance {
    /// Logarithm of the odds of a memory without any word of the query.
    prior: f64,
    /// Logarithm of what a memory without any word loses.
    unmatched: f64,
    /// Hashes of the stems of the query, ascending.
    words: Vec<u64>,
    /// What each of them adds, logarithms above 0.
    gains: Vec<f64>,
    vector: Option<Vec<f32>>,
    similarities: Similarities,
}

impl Relevance {
    /// Of the [words](Ranking::words) of a query, and of its vector with the similarities of memories.
    pub(super) fn new(
        view: &View,
        words: &[(u64, u32)],
        vector: Option<&[f32]>,
        similarities: Similarities,
    ) -> Self {
        let (words, frequencies): (Vec<u64>, Vec<u32>) = words.iter().take(WORDS_MAX).copied().unzip();
        let vector = vector.map(<[f32]>::to_vec);
        Self { words, vector, similarities, ..Self::of_counts(view.memories(), &frequencies) }
    }

    /// Of words that so many of the memories have.
    fn of_counts(memories: u32, frequencies: &[u32]) -> Self {
        let all = f64::from(memories) + BACKGROUND;
        let lost = libm::log(1.0 - SHARED);
        let gain = |frequency: &u32| {
            let share = ((f64::from(*frequency) + 0.5) / all).min(1.0);
            libm::log(SHARED / share + 1.0 - SHARED) - lost
        };
        Self {
            prior: libm::log(RELEVANT / all),
            unmatched: frequencies.iter().map(|_| lost).sum(),
            words: Vec::new(),
            gains: frequencies.iter().map(gain).collect(),
            vector: None,
            similarities: Similarities::default(),
        }
    }

    /// The relevance of nodes, 0 to 1; `None` for those without a text, and for all if the query has neither a word that counts nor a
    /// vector.
    #[must_use]
    pub fn of_nodes(&self, view: &View, nodes: &[NodeId]) -> Vec<Option<f32>> {
        self.of_similar(view, nodes, &BTreeMap::new())
    }

    /// The same of nodes of which some similarities are known.
    pub(super) fn of_similar(
        &self,
        view: &View,
        nodes: &[NodeId],
        known: &BTreeMap<NodeId, f32>,
    ) -> Vec<Option<f32>> {
        if self.gains.is_empty() && self.vector.is_none() {
            return vec![None; nodes.len()];
        }
        let is_unknown = |node: &NodeId| view.has_text(*node) && !known.contains_key(node);
        let unknown: Vec<NodeId> = nodes.iter().copied().filter(is_unknown).collect();
        let mut others = match &self.vector {
            Some(vector) if !unknown.is_empty() => view.similarities(vector, &unknown),
            _ => Vec::new(),
        }
        .into_iter();
        let words = view.words_of(&self.words, nodes);
        let of = |(node, words): (&NodeId, u64)| {
            if !view.has_text(*node) {
                return None;
            }
            let similarity = known.get(node).copied().or_else(|| others.next().flatten());
            self.of(words, similarity)
        };
        nodes.iter().zip(words).map(of).collect()
    }

    /// The relevance of a text that is not in the graph, 0 to 1, with the similarity of its vector.
    #[must_use]
    pub fn of_text(&self, text: &str, similarity: Option<f32>) -> Option<f32> {
        let bit = |stem: u64| self.words.binary_search(&stem).map_or(0, |at| 1 << at);
        let words = stems_of(cut(text, CONTENT_BYTES_MAX)).into_iter().fold(0, |all, stem| all | bit(stem));
        self.of(words, similarity)
    }

    /// The relevance of a memory with these of the words, as bits.
    fn of(&self, words: u64, similarity: Option<f32>) -> Option<f32> {
        let standard = similarity.and_then(|similarity| self.similarities.standard(similarity));
        if self.gains.is_empty() && standard.is_none() {
            return None;
        }
        let matched = self.gains.iter().zip(0..).filter(|(_, bit)| words >> bit & 1 == 1);
        let by_words = self.unmatched + matched.map(|(gain, _)| gain).sum::<f64>();
        let evidence = match standard {
            None => by_words,
            Some(standard) => {
                let count = f64::from(self.similarities.count());
                let share = count / (count + VECTORS_HALF);
                let standard = standard.clamp(-DEVIATIONS_MAX, DEVIATIONS_MAX);
                let by_vector = DISTANCE * standard - DISTANCE * DISTANCE / 2.0;
                by_words * (1.0 - share * (1.0 - BESIDE_VECTORS)) + share * by_vector
            }
        };
        let odds = self.prior + INDEPENDENCE * evidence;
        #[expect(clippy::cast_possible_truncation, reason = "0 to 1, rounded once")]
        let relevance = (1.0 / (1.0 + libm::exp(-odds))) as f32;
        Some(relevance)
    }
}
