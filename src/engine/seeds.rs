//! Finds the seeds of a query: by name, by facts, and by resemblance to its words.
//!
//! | source | finds | score |
//! |---|---|---|
//! | level 0 | labels whose words occur in sequence in the query | 1 / memories with the rarest of them |
//! | levels 1 to 5 | labels that equal, begin with or contain a token; tags; similar spelling | below; damped beside names |
//! | facts | the ends of the relations that share most with the query | half of the score of the fact / memories with them |
//! | external | nodes given by the caller | as given |
//! | text | without names, facts and external seeds: the memories that match the query best | relative to the best of them |
//!
//! A node of levels 1 to 5 has for each token the score of the first level that matches. Its relevance is `0.5 * mean of
//! the matched + 0.35 * matched / tokens + 0.15 * best`, 1 if its label is the whole query; its score `0.6 * relevance +
//! 0.4 * semantic score`.
//!
//! A node found by several sources keeps the greatest score. Seeds are sorted by score, then by PageRank, then by the bytes
//! of external ids.
//!
//! # Design notes
//! Beside a ranking by text levels 1 to 5 find no memories, except by tags: their texts are long, there are many, and most would be
//! compared with the whole query only to be found by that ranking too. Of other nodes the 20 best are enough without names: with
//! 200, 10 or 5 recall is the same within half a point, and 200 seeds spread three times as far.
//!
//! Beside names levels 1 to 5 add at most ten nodes, the best of the fifty most relevant, with a hundredth of the score of
//! the weakest name. Undamped, resemblances outnumber the names and cost 2 points of R@5 on the multi-hop set
//! (`cargo bench --bench recall`); so damped they gain 1, because the nodes of words that are no names conduct too, and on
//! dialogues where the name of a speaker is in every question they gain 21 (damping and number were chosen on these two
//! sets, so expect less). The semantic score of all candidates instead of
//! fifty found as much and took most of the time of a query.
//!
//! The source document adds path biases, which would make seeds of nodes that nothing in the query supports. There are
//! none.
//!
//! Invariant: a naive scan of all labels finds the same seeds (held by `seeds_oracle`).

mod dictionary;
pub mod facts;
pub mod labels;
mod lowest;

#[cfg(test)]
mod tests;

use super::Error;
use super::text::fold::fold;
use super::text::ranking::{Documents, RankedMemory, TextIndex};
use super::text::words::tokens;
use super::top_k::TopK;
use crate::graph;
use crate::graph::Graph;
use crate::graph::index::NodeId;
use facts::{Fact, Facts};
use labels::{CANDIDATES_MAX, LabelPart, Labels};
use serde::Serialize;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::ops::Range;

/// Greatest number of seeds.
pub const MAX_SEEDS: usize = 200;
/// Number of tokens looked up among labels, the first of a query. The similarity of the thousandth word of a pasted
/// page is no evidence; the page is still searched by names, facts and text.
const TOKENS_MAX: usize = 64;
/// Least relevance.
const MIN_SEED: f64 = 0.1;
/// Beside names: greatest number of nodes of levels 1 to 5, the number of the most relevant that are compared, and the
/// factor of the weakest name in their scores.
const BESIDE_NAMES: usize = 10;
const BESIDE_NAMES_COMPARED: usize = 50;
const BESIDE_NAMES_SHARE: f64 = 0.01;
/// Number of nodes of levels 1 to 5 without names, beside a ranking by text.
const RESEMBLING: usize = 20;
/// Number of facts whose ends become seeds, and the factor of their scores.
const FACT_SEEDS: usize = 2;
const FACT_SHARE: f64 = 0.5;
/// Number of memories that become seeds by text.
const TEXT_SEEDS: usize = 20;
/// Shares of relevance and of the semantic score.
const RELEVANCE_SHARE: f64 = 0.6;
const D2_SHARE: f64 = 0.4;
/// Above the rounding of scores.
const D2_SLACK: f64 = 1e-6;

/// A graph and the indexes in which seeds are found.
#[derive(Debug, Clone, Copy)]
pub struct SeedIndexes<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// Index of its labels.
    pub labels: &'a Labels,
    /// Index of its facts.
    pub facts: &'a Facts,
    /// Index of the texts of memories.
    pub texts: &'a TextIndex,
    /// Nodes of the memories in the index.
    pub documents: &'a Documents,
}

impl SeedIndexes<'_> {
    /// Number of memories with the rarest word of a folded name: see [`TextIndex::spread`].
    #[must_use]
    pub fn spread(&self, name: &str) -> u32 {
        self.texts.spread(self.documents, name)
    }
}

/// Input of [`find`].
#[derive(Debug, Clone, Copy)]
pub struct SeedQuery<'a> {
    /// Text; may be empty.
    pub text: &'a str,
    /// External ids given by the caller, with scores in `(0, 1]`.
    pub external: &'a [(&'a str, f32)],
    /// Greatest number of seeds, `1 ..= 200`.
    pub limit: usize,
    /// Whether levels 1 to 5 find memories like other nodes. Otherwise a memory is found by them only if a token is one of its tags,
    /// and at most 20 nodes are if none is by name: beside a ranking by text, what resembles a query is found by that.
    pub with_memories: bool,
}

/// Result of [`find`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SeedResult {
    /// Seeds, by score descending, then by PageRank, then by the bytes of external ids.
    pub seeds: Vec<Seed>,
    /// External ids that the graph does not have.
    pub unknown: Vec<String>,
    /// Whether the query has more tokens than are looked up, or a token matched more nodes than are examined.
    pub truncated: bool,
}

/// A node at which spreading begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Seed {
    /// The node.
    pub node: NodeId,
    /// Score, in `(0, 1]`.
    pub score: f32,
    /// Matches by which it was found, at most one for each token and each name.
    pub evidence: Vec<Evidence>,
}

/// A match by which a seed was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "SeedEvidence"))]
pub struct Evidence {
    /// Kind of match: name, exact, prefix, contains, tag, spelling, fact, external or text.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub ground: MatchKind,
    /// Matched word of the query, or the other end of the matched fact.
    pub of: String,
    /// Score of this match alone.
    pub score: f32,
}

/// Kind of match of a node; among levels 1 to 5 the first match counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchKind {
    /// Level 0: the query contains all its words in sequence.
    Name,
    /// Its label equals the token: 1.
    Exact,
    /// Its label begins with the token: 0.9.
    Prefix,
    /// Its label contains the token: 0.8.
    Contains,
    /// The token is one of its tags: 0.7.
    Tag,
    /// Its label is spelt like the token: 0.6 of the similarity.
    Trigram,
    /// It is an end of a matching fact.
    Fact,
    /// It was given by the caller.
    External,
    /// Its text matches the query.
    Text,
}

impl MatchKind {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Exact => "exact",
            Self::Prefix => "prefix",
            Self::Contains => "contains",
            Self::Tag => "tag",
            Self::Trigram => "spelling",
            Self::Fact => "fact",
            Self::External => "external",
            Self::Text => "text",
        }
    }
}

impl Serialize for MatchKind {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

/// A token that matches a node.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hit {
    node: u32,
    token: u32,
    ground: MatchKind,
    score: f32,
}

/// Seeds under construction, by node.
#[derive(Default)]
struct Joined(BTreeMap<NodeId, (f32, Vec<Evidence>)>);

impl Joined {
    /// Adds a node, or raises its score.
    fn join(&mut self, node: NodeId, score: f32, evidence: Option<Evidence>) {
        let (held, grounds) = self.0.entry(node).or_default();
        *held = held.max(score);
        grounds.extend(evidence);
    }

    fn scale(&mut self, divisor: f32) {
        self.0.values_mut().for_each(|(score, _)| *score /= divisor);
    }

    fn smallest(&self) -> Option<f32> {
        self.0.values().map(|(score, _)| *score).reduce(f32::min)
    }

    fn largest(&self) -> Option<f32> {
        self.0.values().map(|(score, _)| *score).reduce(f32::max)
    }
}

/// Finds the seeds of a query. `by_text` returns the given number of memories that match it best by text, and is called
/// only if nothing else is found; `d2` returns the semantic score of a node, `0 ..= 1`, or 0 if it is certainly less than the given
/// number.
///
/// # Errors
/// [`graph::Error::NonFinite`] and [`graph::Error::ParameterOutOfRange`] for an external score or the limit.
pub fn find(
    sources: &SeedIndexes<'_>,
    query: &SeedQuery<'_>,
    by_text: impl FnOnce(usize) -> Vec<RankedMemory>,
    d2: impl FnMut(NodeId, f64) -> f32,
) -> Result<SeedResult, Error> {
    let (external, unknown) = external(sources.graph, query)?;
    let folded = fold(query.text);
    let (mut joined, mut truncated) = names(sources, &folded);
    let facts = sources.facts.best(query.text, FACT_SEEDS);
    let named = joined.largest();
    if let Some(largest) = named.filter(|_| !facts.is_empty()) {
        joined.scale(largest);
    }
    let nothing = named.is_none() && facts.is_empty() && external.is_empty();
    let tokens = tokens(query.text);
    let looked_up = &tokens[..tokens.len().min(TOKENS_MAX)];
    let (mut hits, more) = hits(sources, (looked_up, &folded), query.with_memories);
    hits.retain(|hit| !joined.0.contains_key(&NodeId(hit.node)));
    truncated |= looked_up.len() < tokens.len() || more;
    let whole = sources.labels.whole(&folded);
    let candidates = hits.chunk_by(|a, b| a.node == b.node).filter_map(|of_node| {
        let is_whole = whole.iter().any(|nodes| nodes.binary_search(&of_node[0].node).is_ok());
        let relevance = relevance(of_node, looked_up.len(), is_whole);
        (relevance >= MIN_SEED).then_some((relevance, NodeId(of_node[0].node)))
    });
    if let Some(weakest) = joined.smallest() {
        let compared = most_relevant(sources.graph, candidates, BESIDE_NAMES_COMPARED);
        let share = BESIDE_NAMES_SHARE * f64::from(weakest);
        for (node, score) in reranked(sources.graph, compared, BESIDE_NAMES, d2) {
            joined.join(node, narrow(share * f64::from(score)), None);
        }
    } else {
        let most = if query.with_memories { query.limit } else { query.limit.min(RESEMBLING) };
        for (node, score) in reranked(sources.graph, candidates, most, d2) {
            joined.join(node, score, None);
        }
    }
    add_fact_ends(sources, &facts, &mut joined);
    for (node, score) in external {
        let evidence = Evidence { ground: MatchKind::External, of: String::new(), score };
        joined.join(node, score, Some(evidence));
    }
    let by_text = if nothing { by_text(TEXT_SEEDS) } else { Vec::new() };
    if let Some(best) = by_text.first() {
        for ranked in &by_text {
            let score = narrow(f64::from(ranked.score) / f64::from(best.score));
            let evidence = Evidence { ground: MatchKind::Text, of: String::new(), score };
            joined.join(ranked.node, score, Some(evidence));
        }
    }
    Ok(SeedResult {
        seeds: strongest(sources.graph, joined, query.limit, &hits, &tokens),
        unknown,
        truncated,
    })
}

/// Seeds in the graph, and ids that are not.
type External = (Vec<(NodeId, f32)>, Vec<String>);

/// The external seeds that the graph has, and the ids of the others.
fn external(graph: &Graph, query: &SeedQuery<'_>) -> Result<External, Error> {
    if !(1..=MAX_SEEDS).contains(&query.limit) {
        #[expect(clippy::cast_precision_loss, reason = "for people to read")]
        let (value, max) = (query.limit as f64, MAX_SEEDS as f64);
        return Err(
            graph::Error::ParameterOutOfRange { name: "limit".to_owned(), value, min: 1.0, max }.into()
        );
    }
    let (mut held, mut unknown) = (Vec::new(), Vec::new());
    for (id, score) in query.external {
        if !score.is_finite() {
            return Err(graph::Error::NonFinite { field: "score", owner: format!("seed {id}") }.into());
        }
        if *score <= 0.0 || *score > 1.0 {
            let (name, value) = (format!("score of seed {id}"), f64::from(*score));
            return Err(graph::Error::ParameterOutOfRange { name, value, min: 0.0, max: 1.0 }.into());
        }
        match graph.find(id) {
            Some(node) => held.push((node, *score)),
            None => unknown.push((*id).to_owned()),
        }
    }
    Ok((held, unknown))
}

/// Level 0, and whether a name has more nodes than are examined.
fn names(sources: &SeedIndexes<'_>, folded: &str) -> (Joined, bool) {
    let (mut joined, mut truncated) = (Joined::default(), false);
    sources.labels.names(folded, |name, nodes| {
        let score = narrow(1.0 / f64::from(sources.spread(name)));
        truncated |= nodes.len() > CANDIDATES_MAX;
        for node in nodes.iter().take(CANDIDATES_MAX) {
            // A repeated name counts once.
            if !joined.0.contains_key(&NodeId(*node)) {
                let evidence = Evidence { ground: MatchKind::Name, of: name.to_owned(), score };
                joined.join(NodeId(*node), score, Some(evidence));
            }
        }
    });
    (joined, truncated)
}

/// Levels 1 to 5: for each node and token the first level that matches, by node and token; and whether a token matched
/// more nodes at a level than are examined.
fn hits(
    sources: &SeedIndexes<'_>,
    (tokens, folded): (&[String], &str),
    with_memories: bool,
) -> (Vec<Hit>, bool) {
    let labels = sources.labels;
    let (mut hits, mut truncated) = (Vec::new(), false);
    let tagged = tagged(labels, tokens, folded);
    let is_tagged = |node: &u32| tagged.iter().any(|nodes| nodes.binary_search(node).is_ok());
    let has_tagged = tagged.iter().any(|nodes| !nodes.is_empty());
    let among = if with_memories { LabelPart::All } else { LabelPart::Names };
    for (token, text) in (0..).zip(tokens) {
        for (ground, score, (nodes, more)) in by_label(labels, text, among) {
            hits.extend(nodes.into_iter().map(|node| Hit { node, token, ground, score }));
            truncated |= more;
        }
        // A memory beyond the cut is still found by its tag.
        let of_memories = (!with_memories && has_tagged).then(|| by_label(labels, text, LabelPart::Memories));
        for (ground, score, (nodes, _)) in of_memories.into_iter().flatten() {
            let nodes = nodes.into_iter().filter(is_tagged);
            hits.extend(nodes.map(|node| Hit { node, token, ground, score }));
        }
        let with_tag = &tagged[token as usize];
        let nodes = with_tag.iter().take(CANDIDATES_MAX);
        hits.extend(nodes.map(|node| Hit { node: *node, token, ground: MatchKind::Tag, score: 0.7 }));
        let (like, more) = labels.like(text, with_memories);
        hits.extend(like.into_iter().map(|(node, cosine)| {
            let score = narrow(0.6 * f64::from(cosine));
            Hit { node, token, ground: MatchKind::Trigram, score }
        }));
        truncated |= more || with_tag.len() > CANDIDATES_MAX;
    }
    // One number is compared faster than three: there are at most 64 tokens, and nine kinds of match.
    hits.sort_unstable_by_key(|hit| {
        u64::from(hit.node) << 32 | u64::from(hit.token) << 8 | hit.ground as u64
    });
    hits.dedup_by_key(|hit| (hit.node, hit.token));
    (hits, truncated)
}

/// Levels 1 to 3 of a token: for each the nodes that match, and whether there were more than are examined.
fn by_label(labels: &Labels, token: &str, among: LabelPart) -> [(MatchKind, f32, (Vec<u32>, bool)); 3] {
    [
        (MatchKind::Exact, 1.0, labels.exact(token, among)),
        (MatchKind::Prefix, 0.9, labels.starting(token, among)),
        (MatchKind::Contains, 0.8, labels.containing(token, among)),
    ]
}

/// The nodes that have each token as a tag, ascending. A tag of several words without spaces is found by its first token.
fn tagged<'a>(labels: &'a Labels, tokens: &[String], folded: &str) -> Vec<Cow<'a, [u32]>> {
    let mut tagged: Vec<Cow<'a, [u32]>> = tokens.iter().map(|token| labels.tagged(token).into()).collect();
    let mut known = BTreeSet::new();
    labels.tags_within(folded, |tag, places, nodes| {
        let token = |place: &Range<usize>| tokens.iter().position(|token| *token == folded[place.clone()]);
        // A repeated tag counts once.
        if let Some(token) = places.iter().find_map(token).filter(|_| known.insert(tag)) {
            let all = tagged[token].to_mut();
            all.extend(nodes);
            all.sort_unstable();
            all.dedup();
        }
    });
    tagged
}

/// The relevance of a node, from the scores of its tokens.
fn relevance(of_node: &[Hit], tokens: usize, whole: bool) -> f64 {
    if whole {
        return 1.0;
    }
    let sum: f64 = of_node.iter().map(|hit| f64::from(hit.score)).sum();
    let best = of_node.iter().map(|hit| f64::from(hit.score)).fold(0.0, f64::max);
    #[expect(clippy::cast_precision_loss, reason = "as many as a query has words")]
    let (matched, tokens) = (of_node.len() as f64, tokens as f64);
    0.5 * (sum / matched) + 0.35 * (matched / tokens) + 0.15 * best
}

/// The `most` most relevant nodes, of equal ones those that come first among seeds.
fn most_relevant(
    graph: &Graph,
    candidates: impl Iterator<Item = (f64, NodeId)>,
    most: usize,
) -> impl Iterator<Item = (f64, NodeId)> {
    let mut best: TopK<(u64, SeedOrder)> = TopK::new(most);
    candidates.for_each(|(relevance, node)| best.push((relevance.to_bits(), place(graph, node, 0.0))));
    best.into_sorted().into_iter().map(|(relevance, (.., node))| (f64::from_bits(relevance), node))
}

/// The `most` best nodes by relevance and semantic score.
fn reranked(
    graph: &Graph,
    candidates: impl Iterator<Item = (f64, NodeId)>,
    most: usize,
    mut d2: impl FnMut(NodeId, f64) -> f32,
) -> Vec<(NodeId, f32)> {
    // The most relevant first, so that the semantic score is not computed for nodes that cannot be among the best.
    let mut queue: BinaryHeap<(u64, Reverse<NodeId>)> =
        candidates.map(|(relevance, node)| (relevance.to_bits(), Reverse(node))).collect();
    let mut best: TopK<SeedOrder> = TopK::new(most);
    while let Some((relevance, Reverse(node))) = queue.pop() {
        let score = |d2: f64| narrow(RELEVANCE_SHARE * f64::from_bits(relevance) + D2_SHARE * d2);
        let bar = best.threshold().map_or(0, |(bar, ..)| *bar);
        if score(1.0).to_bits() < bar {
            break;
        }
        let missing = f64::from(f32::from_bits(bar)) - RELEVANCE_SHARE * f64::from_bits(relevance);
        best.push(place(graph, node, score(f64::from(d2(node, missing / D2_SHARE - D2_SLACK)))));
    }
    best.into_sorted().into_iter().map(|(score, _, _, node)| (node, f32::from_bits(score))).collect()
}

/// A seed by the bits of its score and of its PageRank, and its rank: the greatest is the first.
type SeedOrder = (u32, u32, Reverse<u32>, NodeId);

fn place(graph: &Graph, node: NodeId, score: f32) -> SeedOrder {
    (score.to_bits(), graph.pagerank(node).to_bits(), Reverse(graph.rank(node)), node)
}

/// Adds the ends of facts.
fn add_fact_ends(sources: &SeedIndexes<'_>, facts: &[Fact], joined: &mut Joined) {
    let Some(best) = facts.first() else { return };
    for fact in facts {
        let share = FACT_SHARE * (f64::from(fact.score) / f64::from(best.score));
        for (end, other) in [fact.ends, (fact.ends.1, fact.ends.0)] {
            let spread = sources.spread(&fold(sources.graph.label(end)));
            let score = narrow(share / f64::from(spread));
            let of = sources.graph.label(other).to_owned();
            joined.join(end, score, Some(Evidence { ground: MatchKind::Fact, of, score }));
        }
    }
}

/// The strongest seeds with all their evidence.
fn strongest(graph: &Graph, joined: Joined, limit: usize, hits: &[Hit], tokens: &[String]) -> Vec<Seed> {
    let mut best = TopK::new(limit);
    joined.0.iter().for_each(|(node, (score, _))| best.push(place(graph, *node, *score)));
    let mut joined = joined.0;
    let seed = |(score, _, _, node): SeedOrder| {
        let begin = hits.partition_point(|hit| hit.node < node.0);
        let of_node = hits[begin..].iter().take_while(|hit| hit.node == node.0);
        let (_, mut evidence) = joined.remove(&node).unwrap_or_default();
        evidence.extend(of_node.map(|hit| {
            let of = tokens[hit.token as usize].clone();
            Evidence { ground: hit.ground, of, score: hit.score }
        }));
        Seed { node, score: f32::from_bits(score), evidence }
    };
    best.into_sorted().into_iter().map(seed).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "scores in 0 ..= 1, rounded once")]
fn narrow(score: f64) -> f32 {
    score as f32
}
