//! D2: how like nodes are to a question in meaning.
//!
//! | part | counts | is |
//! |---|---|---|
//! | spelling | 0.4 | the trigram cosine of label and question |
//! | company | 0.4 | the likeness of a node's company to that of the 3 best candidates, each as it was found |
//! | synonyms | 0.2 | the best trigram cosine of label and question with one word put for another |
//!
//! D2 is their sum, divided by what those count that are there: a graph too large for walks has no company, a question in
//! which no word has another has no synonyms. Parts are there for a question or not, never for a node: a node would gain
//! by what is not known of it.
//!
//! Candidates are the nodes that are spelt most like the question or one of its expansions, three for each hit that is
//! asked for. Who asks for a list gets all of them, ranked by D2; any other node can be asked for by itself.
//!
//! # Design notes
//! A candidate counts as well as it was found, by the question or by an expansion, whichever is better. So what is called
//! quite otherwise is a candidate too, and its company is looked for where nothing is called as the question has it.
//!
//! Of candidates that were found equally well those with the lower ids come first where the list is cut: the best
//! connected, then by external id. Content alone decides that, and the look-up keeps that order anyway.
//!
//! A node among the best is wholly like its own company. It is what the others are compared with.
//!
//! The company of the best is made one before anybody is compared with it, which costs their rows once and then one row
//! for each candidate.
//!
//! Invariants: the list is that of a scan of all nodes (held by `d2_pipeline`); the order of insertion does not show
//! (`the_order_of_insertion_does_not_show`).

use super::cooccurrence::{CoOccurrenceIndex, Company};
use super::narrow;
use super::synonyms::SynonymExpander;
use super::trigram::search::Asked;
use super::trigram::{CharNgramIndex, Like, SCORE_MIN, TEXT_BYTES_MAX};
use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::text::fold::{cut, fold};
use std::cmp::Reverse;

/// Candidates for each hit that is asked for.
const CANDIDATES_EACH: usize = 3;
/// Of how many of them the company is looked for.
const BEST: usize = 3;
const SPELLING_SHARE: f64 = 0.4;
const COMPANY_SHARE: f64 = 0.4;
const SYNONYM_SHARE: f64 = 0.2;

/// What likeness in meaning is read from.
#[derive(Debug, Clone, Copy)]
pub struct Semantic<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// The trigrams of its labels, each known by the number of its node.
    pub ngrams: &'a CharNgramIndex,
    /// The company of its nodes, if it is small enough for that.
    pub cooccurrence: Option<&'a CoOccurrenceIndex>,
    /// Other words for the same.
    pub synonyms: &'a SynonymExpander,
}

/// A question, ready to be compared with nodes.
#[derive(Debug, Clone)]
pub struct Meaning<'a> {
    graph: &'a Graph,
    asked: Asked<'a>,
    /// The same with a word replaced.
    expansions: Vec<Asked<'a>>,
    /// Who was found by either, the best first.
    candidates: Vec<NodeId>,
    company: Option<(&'a CoOccurrenceIndex, Company)>,
}

impl<'a> Semantic<'a> {
    /// Makes a question for `top_k` hits ready. As of labels, its first [200 bytes](TEXT_BYTES_MAX) are seen.
    #[must_use]
    pub fn ask(&self, query: &str, top_k: usize) -> Meaning<'a> {
        let Self { graph, ngrams, .. } = *self;
        let asked = ngrams.asked(query);
        let folded = fold(query);
        let expanded = self.synonyms.expand(cut(&folded, TEXT_BYTES_MAX));
        let expansions: Vec<Asked<'a>> = expanded.iter().map(|text| ngrams.asked(text)).collect();
        let most = CANDIDATES_EACH.saturating_mul(top_k);
        let all = [&asked].into_iter().chain(&expansions);
        let mut found: Vec<Like> = all.flat_map(|asked| asked.search(SCORE_MIN, most).like).collect();
        found.sort_unstable_by_key(|like| (like.text, Reverse(like.score.to_bits())));
        found.dedup_by_key(|like| like.text);
        found.sort_unstable_by_key(|like| (Reverse(like.score.to_bits()), like.text));
        found.truncate(most);
        let best: Vec<(NodeId, f32)> =
            found.iter().take(BEST).map(|like| (NodeId(like.text), like.score)).collect();
        let company = self.cooccurrence.map(|index| (index, index.company(&best)));
        let candidates = found.into_iter().map(|like| NodeId(like.text)).collect();
        Meaning { graph, asked, expansions, candidates, company }
    }
}

impl Meaning<'_> {
    /// D2 of a node, `0 ..= 1`, whether it is a candidate or not.
    #[must_use]
    pub fn score(&self, node: NodeId) -> f32 {
        let company = self.company.as_ref().map(|(index, company)| index.likeness(company, node));
        let synonym = self.expansions.iter().map(|asked| spelling(asked, node)).reduce(f32::max);
        d2(spelling(&self.asked, node), company, synonym)
    }

    /// The candidates with their D2, in `(0, 1]`, by D2 descending; of equals the one whose external id comes first.
    #[must_use]
    pub fn ranked(&self) -> Vec<(NodeId, f32)> {
        let scored = self.candidates.iter().map(|node| (*node, self.score(*node)));
        let mut ranked: Vec<(NodeId, f32)> = scored.filter(|(_, score)| *score > 0.0).collect();
        ranked.sort_unstable_by_key(|(node, score)| (Reverse(score.to_bits()), self.graph.rank(*node)));
        ranked
    }
}

/// How like the label of a node is spelt to what is asked for, `0 ..= 1`; up to [`SCORE_MIN`] it is 0.
#[must_use]
pub fn spelling(asked: &Asked<'_>, node: NodeId) -> f32 {
    let like = asked.score(node.0);
    if f64::from(like) > SCORE_MIN { like } else { 0.0 }
}

/// The parts that are there, made one.
fn d2(spelling: f32, company: Option<f32>, synonym: Option<f32>) -> f32 {
    let parts = [(SPELLING_SHARE, Some(spelling)), (COMPANY_SHARE, company), (SYNONYM_SHARE, synonym)];
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
