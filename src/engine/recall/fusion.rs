//! Combines what words, vectors and links say about memories into one ranking.
//!
//! | step | of a memory m |
//! |---|---|
//! | words | `T(m)` = its BM25 score / the greatest; of the 200 best, and of the 200 best that pass the filter |
//! | vectors | `V(m)` = ((similarity - the least of the 200 most similar) / (the greatest - that least))², at least a thousandth of (1 + similarity) / 2 |
//! | facts | `V(m)` is at least half of `F(m)`: the same of the 200 most similar facts, on a scale of their own, for the greatest of those of which `m` mentions both ends |
//! | links | `L(m)` = its score by the dimensions of evidence, of which the structural is `ln(1 + A(m) N / 3) / ln(1 + N / 3)`: `A` is the activation with seeds that sum to 1, `N` the number of memories |
//! | agreement | `k` = 0.1 + 0.9 * (2 * (mean of `T` where `A` is - mean of `T` over all memories), 0 to 1; or the same of `V`, if that is greater) |
//! | sum | `X = (1 - K/2) T + 2.5 k L` and `Y = (1 + K/2) V`, where `K = k * greatest L`; without vectors `X = T + 2.5 k L` |
//! | neighbours | `X + Y + 0.4 X + 0.2 Y` of the memories before and after it in its session, `+ 0.3 X + 0.15 Y` of the next ones |
//! | time | times 1.2 if the query asks when, and it speaks of time |
//! | date | times 2 if the query has a date at which it was created |
//! | speaker | times 1.2 if the query names its speaker, or an entity that it mentions and that is too common to be a seed, but mentioned by at most a third of all memories |
//!
//! # Design notes
//! Scores are added and not ranks: rank 1 of a list that is not sure of anything weighs as much as rank 1 of a sure one, and ranks
//! cannot be summed over neighbours. With ranks, the same lists find 4 points less on dialogues and 7 on passages (R@5).
//!
//! `A N` says how much more a memory is reached than one taken at random, so a hub, which reaches all alike, lifts none. Agreement
//! decides how much links count: links that lead to memories of which neither words nor vectors know anything are noise, or lead
//! through a hub. Where links count, they already know the names, so that words count less and vectors more.
//!
//! An entity has no text that could speak for it. Its links count with a weight of at most 1, so that it does not come before the
//! memories that words find.
//!
//! The vector of a fact is that of one short sentence, which a memory says among others, so it counts half, and only where the
//! vector of the memory itself says less. Similarities of sentences and of longer texts differ in general: each has its own scale.
//!
//! Turns next to a turn that answers are about the same: half as much for vectors, which are alike among neighbours anyway.
//!
//! A date is a weight and no filter: what happened on a day may be told later.
//!
//! `cargo bench --bench recall` measures each part by leaving it out, on dialogues and on passages.

#[cfg(test)]
mod tests;

use super::config::FusionWeights;
use super::query::RecallQuery;
use crate::View;
use crate::graph::index::NodeId;
use crate::merge::MergedScore;
use crate::text::fold::fold;
use crate::text::ranking::{RANKED_MAX, RankedMemory};
use crate::text::situation::{asks_when, possible_speakers};
use crate::top_k::TopK;
use crate::vectors::RankedVector;
use std::cmp::Reverse;
use std::ops::Range;

/// Number of memories whose activation is that of one taken at random, in `L`.
const LIFT: f64 = 3.0;
/// How much more than by chance words or vectors must agree with links, as the inverse of the difference at which these count fully.
const AGREEMENT_GAIN: f64 = 2.0;
/// Agreement of links that nothing else supports: they lead to what only they know, such as an alias, after all else.
const AGREEMENT_MIN: f64 = 0.1;
/// Share of the weight of words that moves to vectors where links count fully.
const MOVED: f64 = 0.5;
/// Least value of a similar memory, as a share of (1 + similarity) / 2: it is a hit, and comes after what is more similar.
const VECTOR_MIN: f64 = 0.001;
/// Weight of the vectors of facts, as a share of that of the vectors of memories.
const FACTS: f64 = 0.5;
/// Neighbours in a session on each side.
const NEIGHBOURS: usize = 2;
/// Factor of neighbours for vectors.
const NEIGHBOURS_OF_VECTORS: f64 = 0.5;

/// The lists of evidence about memories.
pub(super) struct Lists<'a> {
    /// By text, the best first: of all memories, and of those that pass the filter.
    pub(super) texts: [&'a [RankedMemory]; 2],
    /// By vector, the most similar first, alike.
    pub(super) vectors: [&'a [RankedVector]; 2],
    /// By the facts that they mention, of all memories, in any order.
    pub(super) facts: &'a [(NodeId, f32)],
    /// By the dimensions of evidence.
    pub(super) links: &'a [MergedScore],
    /// Activation of memories, in any order.
    pub(super) activated: &'a [(NodeId, f32)],
    /// Entities that the query names and too many memories mention to be seeds, but at most a third of all.
    pub(super) hubs: &'a [NodeId],
    /// Of similarities.
    pub(super) scale: VectorScale,
    /// Of similarities of facts.
    pub(super) fact_scale: VectorScale,
}

/// What the similarity of a vector gives to a score: its place between the least and the greatest of the most similar memories, or
/// facts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorScale {
    least: f64,
    greatest: f64,
    weight: f64,
}

impl VectorScale {
    /// The scale of these similarities.
    pub(super) fn of(mut all: Vec<f32>, weights: &FusionWeights) -> Self {
        all.sort_unstable_by(|a, b| b.total_cmp(a));
        all.truncate(RANKED_MAX);
        let [greatest, least] = [all.first(), all.last()].map(|one| one.map_or(0.0, |one| f64::from(*one)));
        Self { least, greatest, weight: weights.vectors }
    }

    /// `V` of a similarity.
    fn value(&self, similarity: f32) -> f64 {
        let (similarity, Self { least, greatest, .. }) = (f64::from(similarity), *self);
        let share = match greatest > least {
            true => (similarity - least).max(0.0) / (greatest - least),
            false => f64::from(u8::from(similarity >= greatest)),
        };
        (share * share).max(VECTOR_MIN * f64::midpoint(1.0, similarity))
    }

    /// The score of a memory of which nothing but the similarity of its vector is known.
    #[must_use]
    pub fn score(&self, similarity: f32) -> f32 {
        #[expect(clippy::cast_possible_truncation, reason = "rounded once, far below the greatest f32")]
        let score = (self.weight * self.value(similarity)) as f32;
        score
    }
}

/// Evidence about one node.
#[derive(Debug, Clone, Copy, Default)]
struct Evidence {
    text: f64,
    vector: f64,
    link: f64,
    /// Text and vector, if it is in the lists of all memories.
    listed: [f64; 2],
}

/// The lift of an activation over that of a memory taken at random, 0 to 1. `share` is the activation divided by the sum of the
/// seeds.
pub(super) fn lift(share: f64, memories: u32) -> f64 {
    let chance = f64::from(memories.max(1)) / LIFT;
    (libm::log1p(share * chance) / libm::log1p(chance)).min(1.0)
}

impl Lists<'_> {
    /// The best of the nodes of all lists and their neighbours that pass, in order, then by external id: as many as requested.
    pub(super) fn fuse(
        &self,
        view: &View,
        query: &RecallQuery,
        weights: &FusionWeights,
        passes: impl Fn(NodeId) -> bool,
    ) -> Vec<(NodeId, f32)> {
        let evidence = self.evidence(view, weights);
        let (x, y) = self.sums(view, &evidence, weights);
        let of = |node: NodeId| {
            let at = evidence.binary_search_by_key(&node, |(node, _)| *node);
            at.map_or((0.0, 0.0), |at| (x(&evidence[at].1), y(&evidence[at].1)))
        };
        let mut candidates: Vec<NodeId> = evidence.iter().map(|(node, _)| *node).collect();
        let has_neighbours = weights.neighbours > 0.0;
        if has_neighbours {
            let near =
                evidence.iter().flat_map(|(node, _)| around(view, *node).into_iter().flatten().flatten());
            candidates.extend(near.collect::<Vec<_>>());
            candidates.sort_unstable();
            candidates.dedup();
        }
        let asked = Asked::of(view, query, self.hubs, weights);
        let graph = view.graph();
        let mut best = TopK::new(query.top_k);
        for node in candidates.into_iter().filter(|node| passes(*node)) {
            let (own_x, own_y) = of(node);
            let mut score = own_x + own_y;
            if has_neighbours {
                for (sides, share) in around(view, node).into_iter().zip([0.4, 0.3]) {
                    for (x, y) in sides.into_iter().flatten().map(&of) {
                        score += weights.neighbours * share * (x + NEIGHBOURS_OF_VECTORS * y);
                    }
                }
            }
            score *= asked.factor(view, node);
            #[expect(clippy::cast_possible_truncation, reason = "rounded once, far below the greatest f32")]
            let score = score as f32;
            if score > 0.0 {
                best.push((score.to_bits(), Reverse(graph.rank(node)), node));
            }
        }
        best.into_sorted().into_iter().map(|(score, _, node)| (node, f32::from_bits(score))).collect()
    }

    /// The evidence about each node, by node.
    fn evidence(&self, view: &View, weights: &FusionWeights) -> Vec<(NodeId, Evidence)> {
        let mut all: Vec<(NodeId, Evidence)> =
            Vec::with_capacity(2 * (self.texts[0].len() + self.vectors[0].len()) + self.links.len());
        let best = self.texts[0].first().map_or(1.0, |best| f64::from(best.score));
        for (list, is_all) in distinct(self.texts) {
            all.extend(list.iter().map(|ranked| {
                let text = f64::from(ranked.score) / best;
                (
                    ranked.node,
                    Evidence { text, listed: [if is_all { text } else { 0.0 }, 0.0], ..Evidence::default() },
                )
            }));
        }
        for (list, is_all) in distinct(self.vectors) {
            all.extend(list.iter().map(|ranked| {
                let vector = self.scale.value(ranked.similarity);
                let listed = [0.0, if is_all { vector } else { 0.0 }];
                (ranked.node, Evidence { vector, listed, ..Evidence::default() })
            }));
        }
        all.extend(self.facts.iter().map(|(node, similarity)| {
            let vector = FACTS * self.fact_scale.value(*similarity);
            (*node, Evidence { vector, listed: [0.0, vector], ..Evidence::default() })
        }));
        let without_text = if view.memories() > 0 { 1.0 / weights.links.max(1.0) } else { 1.0 };
        all.extend(self.links.iter().map(|merged| {
            let share = if view.has_text(merged.node) { 1.0 } else { without_text };
            (merged.node, Evidence { link: share * f64::from(merged.score), ..Evidence::default() })
        }));
        all.sort_unstable_by_key(|(node, _)| *node);
        all.dedup_by(|(node, from), (kept, into)| {
            let is_same = node == kept;
            if is_same {
                into.text = into.text.max(from.text);
                into.vector = into.vector.max(from.vector);
                into.link = into.link.max(from.link);
                into.listed = [0, 1].map(|list| f64::max(into.listed[list], from.listed[list]));
            }
            is_same
        });
        all
    }

    /// What words and links, and what vectors, give to a node by its evidence.
    fn sums<'w>(
        &self,
        view: &View,
        evidence: &[(NodeId, Evidence)],
        weights: &'w FusionWeights,
    ) -> (impl Fn(&Evidence) -> f64 + use<'w>, impl Fn(&Evidence) -> f64 + use<'w>) {
        let has_texts = weights.text > 0.0 && !self.texts[0].is_empty();
        let has_vectors = weights.vectors > 0.0 && !(self.vectors[0].is_empty() && self.facts.is_empty());
        let k = match (has_texts, has_vectors) {
            (false, false) => 1.0,
            _ => AGREEMENT_MIN + (1.0 - AGREEMENT_MIN) * self.agreement(evidence, view.memories(), weights),
        };
        let memories = evidence.iter().filter(|(node, _)| view.has_text(*node));
        let greatest = memories.map(|(_, of)| of.link).fold(0.0, f64::max);
        let moved =
            if has_texts && has_vectors && weights.links > 0.0 { MOVED * k * greatest.min(1.0) } else { 0.0 };
        let links = weights.links * k;
        let x = move |of: &Evidence| weights.text * (1.0 - moved) * of.text + links * of.link;
        let y = move |of: &Evidence| weights.vectors * (1.0 + moved) * of.vector;
        (x, y)
    }

    /// How much more the activated nodes are found by words or by vectors than any other, 0 to 1.
    fn agreement(&self, evidence: &[(NodeId, Evidence)], memories: u32, weights: &FusionWeights) -> f64 {
        let (mut mass, mut texts, mut vectors) = (0.0, 0.0, 0.0);
        let mut activated: Vec<(NodeId, f32)> = self.activated.to_vec();
        activated.sort_unstable_by_key(|(node, _)| *node);
        let mut at = 0;
        for (node, value) in activated {
            while evidence.get(at).is_some_and(|(other, _)| *other < node) {
                at += 1;
            }
            let value = f64::from(value);
            mass += value;
            if let Some((_, of)) = evidence.get(at).filter(|(other, _)| *other == node) {
                let [text, vector] = of.listed;
                texts += value * text;
                vectors += value * vector;
            }
        }
        if mass <= 0.0 {
            return 0.0;
        }
        let all = f64::from(memories.max(1));
        let [all_texts, all_vectors] = evidence
            .iter()
            .fold([0.0, 0.0], |[text, vector], (_, of)| [text + of.listed[0], vector + of.listed[1]]);
        let [of_texts, of_vectors] = [texts / mass - all_texts / all, vectors / mass - all_vectors / all];
        let more = match (weights.text > 0.0, weights.vectors > 0.0) {
            (true, true) => f64::max(of_texts, of_vectors),
            (true, false) => of_texts,
            (false, true) => of_vectors,
            (false, false) => 0.0,
        };
        (AGREEMENT_GAIN * more).clamp(0.0, 1.0)
    }
}

/// The list of all memories, and that of those that pass the filter if it is another one.
fn distinct<T: PartialEq>(lists: [&[T]; 2]) -> impl Iterator<Item = (&[T], bool)> {
    let [all, passing] = lists;
    [(all, true)].into_iter().chain((passing != all).then_some((passing, false)))
}

/// The nodes before and after one in its session: the nearest, then the next ones.
fn around(view: &View, node: NodeId) -> [[Option<NodeId>; 2]; NEIGHBOURS] {
    let near = view.neighbours(node);
    let beyond = |side: usize| view.neighbours(near[side]?)[side];
    [near, [beyond(0), beyond(1)]]
}

/// What a query asks of a memory beside its words.
struct Asked<'a> {
    when: bool,
    /// Hashes of what may be the name of a speaker.
    spoken: Vec<u64>,
    hubs: &'a [NodeId],
    /// Instants of a date of the query.
    span: Option<Range<i64>>,
    time: f64,
    speaker: f64,
    date: f64,
}

impl<'a> Asked<'a> {
    fn of(view: &View, query: &RecallQuery, hubs: &'a [NodeId], weights: &FusionWeights) -> Self {
        let folded = fold(&query.text);
        let spoken = if view.has_speakers() { possible_speakers(&folded) } else { Vec::new() };
        let (span, when) = (query.dates(&folded, view), asks_when(&folded));
        let FusionWeights { time, speaker, date, .. } = *weights;
        Self { when, spoken, hubs, span, time, speaker, date }
    }

    /// The factor of the score of a node.
    fn factor(&self, view: &View, node: NodeId) -> f64 {
        let mut factor = 1.0;
        if self.when && view.speaks_of_time(node) {
            factor *= 1.0 + self.time;
        }
        let is_within = |span: &Range<i64>| view.created(node).is_some_and(|at| span.contains(&at));
        if self.span.as_ref().is_some_and(is_within) {
            factor *= 1.0 + self.date;
        }
        let names = view.speaker(node).is_some_and(|speaker| self.spoken.binary_search(&speaker).is_ok());
        if names || self.mentions_hub(view, node) {
            factor *= 1.0 + self.speaker;
        }
        factor
    }

    fn mentions_hub(&self, view: &View, node: NodeId) -> bool {
        let graph = view.graph();
        !self.hubs.is_empty()
            && view.has_text(node)
            && graph.slots(node).any(|slot| self.hubs.contains(&graph.target(slot)))
    }
}
