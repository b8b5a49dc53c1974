//! The semantic score D2 of nodes for a query: spelling, context and synonyms combined.
//!
//! | part | weight | value |
//! |---|---|---|
//! | spelling | 0.4 | the trigram cosine of label and query |
//! | context | 0.4 | the similarity of a node to the mean context of the 3 best candidates, weighted by their scores |
//! | synonyms | 0.2 | the best trigram cosine of label and an expansion of the query by one synonym |
//!
//! D2 is the weighted mean of the parts that exist: a graph too large for walks has no context, a query without words of the
//! synonym groups has no synonyms. Parts exist for a query or not, never for a node: otherwise a node would gain by missing
//! information.
//!
//! Candidates are the nodes spelt most like the query or one of its expansions.
//! [`SemanticQuery::ranked`] returns all of them; any other node can be scored by itself.
//!
//! # Design notes
//! The score of a candidate is the best of the query and its expansions. So a node with a quite different label is a
//! candidate too, and provides context where no label resembles the query.
//!
//! Of equal candidates those with lower ids are kept: the best connected, then by external id. So content alone decides.
//!
//! A node among the best is fully similar to its own context. It is what the others are compared with.
//!
//! The contexts of the best are averaged once, which costs their rows once and then one row for each candidate.
//!
//! Invariants: the list equals that of a scan of all nodes (held by `d2_pipeline`); the order of insertion does not show
//! (`the_order_of_insertion_does_not_show`).

use super::cooccurrence::{CoOccurrenceIndex, ContextVector};
use super::narrow;
use super::synonyms::SynonymExpander;
use super::trigram::search::NgramQuery;
use super::trigram::{CharNgramIndex, NgramMatch, SCORE_MIN, TEXT_BYTES_MAX};
use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::text::fold::{cut, fold};
use std::cmp::Reverse;

/// Number of candidates that give the context.
const BEST: usize = 3;
const SPELLING_SHARE: f64 = 0.4;
const CONTEXT_SHARE: f64 = 0.4;
const SYNONYM_SHARE: f64 = 0.2;

/// The indexes that semantic scores are computed from.
#[derive(Debug, Clone, Copy)]
pub struct SemanticScorer<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// Trigrams of its labels, by node.
    pub ngrams: &'a CharNgramIndex,
    /// Contexts of its nodes, if the graph is small enough.
    pub cooccurrence: Option<&'a CoOccurrenceIndex>,
    /// Groups of synonyms.
    pub synonyms: &'a SynonymExpander,
}

/// A query that can be compared with nodes.
#[derive(Debug, Clone)]
pub struct SemanticQuery<'a> {
    graph: &'a Graph,
    query: NgramQuery<'a>,
    /// The query with a word replaced.
    expansions: Vec<NgramQuery<'a>>,
    /// Candidates, the best first.
    candidates: Vec<NodeId>,
    context: Option<(&'a CoOccurrenceIndex, ContextVector)>,
}

impl<'a> SemanticScorer<'a> {
    /// Prepares a query with at most `most` candidates. As of labels, its first [200 bytes](TEXT_BYTES_MAX) are used.
    #[must_use]
    pub fn query(&self, text: &str, most: usize) -> SemanticQuery<'a> {
        let Self { graph, ngrams, .. } = *self;
        let query = ngrams.query(text);
        let folded = fold(text);
        let expanded = self.synonyms.expand(cut(&folded, TEXT_BYTES_MAX));
        let expansions: Vec<NgramQuery<'a>> =
            expanded.iter().map(|expansion| ngrams.query(expansion)).collect();
        let all = [&query].into_iter().chain(&expansions);
        let mut found: Vec<NgramMatch> =
            all.flat_map(|query| query.search(SCORE_MIN, most).matches).collect();
        found.sort_unstable_by_key(|one| (one.text, Reverse(one.score.to_bits())));
        found.dedup_by_key(|one| one.text);
        found.sort_unstable_by_key(|one| (Reverse(one.score.to_bits()), one.text));
        found.truncate(most);
        let best: Vec<(NodeId, f32)> =
            found.iter().take(BEST).map(|one| (NodeId(one.text), one.score)).collect();
        let context = self.cooccurrence.map(|index| (index, index.context(&best)));
        let candidates = found.into_iter().map(|one| NodeId(one.text)).collect();
        SemanticQuery { graph, query, expansions, candidates, context }
    }
}

impl SemanticQuery<'_> {
    /// D2 of a node, `0 ..= 1`, whether it is a candidate or not.
    #[must_use]
    pub fn score(&self, node: NodeId) -> f32 {
        let context = self.context.as_ref().map(|(index, context)| index.similarity_to(context, node));
        let synonym = self.expansions.iter().map(|query| spelling_similarity(query, node)).reduce(f32::max);
        d2(spelling_similarity(&self.query, node), context, synonym)
    }

    /// The candidates with their D2, in `(0, 1]`, by D2 descending, then by external id.
    #[must_use]
    pub fn ranked(&self) -> Vec<(NodeId, f32)> {
        let scored = self.candidates.iter().map(|node| (*node, self.score(*node)));
        let mut ranked: Vec<(NodeId, f32)> = scored.filter(|(_, score)| *score > 0.0).collect();
        ranked.sort_unstable_by_key(|(node, score)| (Reverse(score.to_bits()), self.graph.rank(*node)));
        ranked
    }
}

/// Spelling similarity of a query and the label of a node, `0 ..= 1`; values up to [`SCORE_MIN`] become 0.
#[must_use]
pub fn spelling_similarity(query: &NgramQuery<'_>, node: NodeId) -> f32 {
    spelling_similarity_from(query, node, 0.0)
}

/// As [`spelling_similarity`], but 0 if that is certainly less than `least`.
#[must_use]
pub fn spelling_similarity_from(query: &NgramQuery<'_>, node: NodeId, least: f64) -> f32 {
    let score = query.score_from(node.0, least);
    if f64::from(score) > SCORE_MIN { score } else { 0.0 }
}

/// The weighted mean of the parts that exist.
fn d2(spelling: f32, context: Option<f32>, synonym: Option<f32>) -> f32 {
    let parts = [(SPELLING_SHARE, Some(spelling)), (CONTEXT_SHARE, context), (SYNONYM_SHARE, synonym)];
    let (mut sum, mut shares) = (0.0, 0.0);
    for (share, part) in parts {
        if let Some(part) = part {
            sum += share * f64::from(part);
            shares += share;
        }
    }
    narrow(sum / shares)
}

#[cfg(test)]
mod tests;
