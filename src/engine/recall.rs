//! From a question to ranked hits.
//!
//! | step | by | gives |
//! |---|---|---|
//! | text | BM25 over the contents of memories | the 200 best that pass the filter |
//! | seeds | [`seeds::find`], reranked by spelling | where spreading begins, at most 5 for each hit asked for |
//! | spread | [`activation`](super::activation), or personalised PageRank | what is joined to the seeds |
//! | pool | the filter | the strongest of what passes, 10 for each hit and at least 200 |
//! | score | the value over its greatest, where that is above 1; times `1 + 0.05 * PageRank / greatest PageRank` | a ranking |
//! | fuse | [`fuse`](super::fuse) | both rankings in one |
//! | explain | [`paths`] | the strongest way from a seed to each hit |
//!
//! What does not pass a filter conducts and can be a seed, so who is asked about does not change how evidence spreads. A
//! question without evidence has no hits, which is no error.
//!
//! Nothing here costs what the graph has: a question reads the postings of its words and the slots that its signals pass.
//! Personalised PageRank is the exception, and is asked for by name.
//!
//! # Design notes
//! Standing counts before the pool is cut to hits, and multiplies: after the cut it could only shuffle them.
//!
//! Both rankings are fused by their places among what passes the filter. With places among all nodes, entities, which are
//! lit first, would push every memory down in the one ranking and not in the other, and a narrow filter would leave
//! differences of places that say nothing. So a filtered answer by score alone is the unfiltered one filtered; a fused one
//! has the same hits, ranked among themselves.
//!
//! Energy has no part in a score: it decides what is in the graph.
//!
//! Invariants: the same content and question give the same bytes, whatever the order of insertion and the number of threads
//! (held by `recall_order_free`); a filter chooses and does not change (`a_filtered_answer_is_the_answer_filtered`); every
//! way that is told replays (`every_explanation_replays`).

mod answer;
mod ask;

#[cfg(test)]
mod tests;

pub use answer::{Counters, Dimensions, Hit, Recalled, Route, Seed};
pub use ask::{Ask, Config, Filter, Fusion, NAMES_MAX, Profile, Spread, TEXT_BYTES_MAX, TOP_K_MAX};

use super::activation::scratch::Scratch;
use super::activation::{Activation, Lit, Params, Work, hybrid, paths};
use super::fuse::fuse;
use super::pagerank::personalised;
use super::seeds::{self, MAX_SEEDS, Question, Seeds};
use super::semantic::trigram::SCORE_MIN;
use super::text::ranking::{RANKED_MAX, Ranking};
use super::{Error, Flag, View};
use crate::graph::index::NodeId;
use ask::Sieve;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Seeds for each hit that is asked for.
const SEEDS_EACH: usize = 5;
/// Nodes that are scored, for each hit that is asked for and at least.
const POOL_EACH: usize = 10;
const POOL_MIN: usize = 200;
/// How much the best standing lifts a score.
const RANK_BOOST: f64 = 0.05;
/// Hops of an explanation at most.
const ROUTE_HOPS_MAX: u8 = 5;

/// A node on its way to be a hit.
#[derive(Debug, Clone, Copy)]
struct Scored {
    node: NodeId,
    dimensions: Dimensions,
    bonus: f32,
    score: f32,
}

/// Answers a question.
///
/// # Errors
/// [`crate::graph::Error::ParameterOutOfRange`] for a text, a filter, a `top_k` or a score of a seed outside its range,
/// [`crate::graph::Error::NonFinite`] for a score that is none.
pub fn recall(view: &View, ask: &Ask, config: &Config, scratch: &mut Scratch) -> Result<Recalled, Error> {
    ask.check(config)?;
    let (graph, sieve) = (view.graph(), Sieve::of(view, &ask.filter));
    let texts = match ask.fusion {
        Fusion::Text => view.by_text(&ask.text, RANKED_MAX, |node| sieve.passes(view, node)),
        Fusion::Off => Ranking::default(),
    };
    let found = find(view, ask, &sieve, &texts)?;
    let begun: Vec<(NodeId, f32)> = found.seeds.iter().map(|seed| (seed.node, seed.score)).collect();
    let params = config.params(ask.profile);
    let lit = spread(view, ask.spread, params, &begun, scratch);
    let (work, truncated) = (lit.work, lit.truncated);
    let partial_nodes = lit.lit.iter().filter(|lit| graph.is_partial(lit.node)).count() as u64;
    let scored = scored(view, pool(view, ask.top_k, &sieve, lit));
    let by_score: Vec<NodeId> = scored.iter().map(|scored| scored.node).collect();
    let by_text: Vec<NodeId> = texts.ranked.iter().map(|ranked| ranked.node).collect();
    let mut ranked: Vec<(NodeId, f32)> = match ask.fusion {
        Fusion::Text => fuse(graph, &by_score, &by_text, config.text_weight),
        Fusion::Off => scored.iter().map(|scored| (scored.node, scored.score)).collect(),
    };
    ranked.truncate(ask.top_k);
    let flags = view.flags();
    let flags = flags.with(Flag::SeedsTruncated, found.truncated).with(Flag::ActivationTruncated, truncated);
    let postings_read = texts.postings_read;
    let Work { slots_read, useful_slots, rows: rows_touched, touched: nodes_touched } = work;
    Ok(Recalled {
        id: ask.id(view.generation()),
        generation: view.generation(),
        as_of: view.snapshot().as_of,
        hits: hits(view, params, &begun, &ranked, (&scored, &by_text)),
        seeds: used(view, &found),
        unknown: found.unknown,
        flags,
        counters: Counters {
            slots_read,
            useful_slots,
            rows_touched,
            nodes_touched,
            partial_nodes,
            postings_read,
        },
    })
}

/// Where spreading begins. A filter has no part in it.
fn find(view: &View, ask: &Ask, sieve: &Sieve<'_>, texts: &Ranking) -> Result<Seeds, Error> {
    let external: Vec<(&str, f32)> = ask.seeds.iter().map(|(id, score)| (id.as_str(), *score)).collect();
    let limit = MAX_SEEDS.min(SEEDS_EACH * ask.top_k);
    let question = Question { text: &ask.text, external: &external, limit };
    let by_text = |most: usize| match ask.fusion {
        Fusion::Off => Vec::new(),
        Fusion::Text if sieve.is_open() => texts.ranked.iter().take(most).copied().collect(),
        Fusion::Text => view.by_text(&ask.text, most, |_| true).ranked,
    };
    let spelt = view.sources().labels.ngrams().asked(&ask.text);
    let d2 = |node: NodeId| match spelt.score(node.0) {
        like if f64::from(like) > SCORE_MIN => like,
        _ => 0.0,
    };
    seeds::find(&view.sources(), &question, by_text, d2)
}

/// What is joined to the seeds, in no order.
fn spread(
    view: &View,
    spread: Spread,
    params: &Params,
    seeds: &[(NodeId, f32)],
    scratch: &mut Scratch,
) -> Activation {
    let graph = view.graph();
    if spread == Spread::Activation {
        return hybrid::spread(graph, seeds, params, scratch);
    }
    let near = personalised(graph, seeds);
    let all = graph.nodes().zip(near.of).map(|(node, value)| Lit { node, value });
    let lit: Vec<Lit> = all.filter(|lit| lit.value > 0.0).collect();
    let slots_read = u64::from(near.iterations) * graph.slot_count() as u64;
    let rows = u64::from(near.iterations) * graph.node_count() as u64;
    let work = Work { slots_read, useful_slots: slots_read, rows, touched: lit.len() as u64 };
    Activation { lit, work, truncated: false }
}

/// The strongest that pass, by strength, and the greatest value of all.
fn pool(view: &View, top_k: usize, sieve: &Sieve<'_>, mut lit: Activation) -> (Vec<Lit>, f32) {
    let most = lit.lit.iter().map(|lit| lit.value).fold(0.0, f32::max);
    if !sieve.is_open() {
        lit.lit.retain(|lit| sieve.passes(view, lit.node));
    }
    (lit.strongest(view.graph(), POOL_MIN.max(POOL_EACH * top_k)).lit, most)
}

/// The ranking by score: all evidence that there is, and standing. One kind of evidence weighs all there is to weigh, and
/// agrees with no other.
fn scored(view: &View, (pool, most): (Vec<Lit>, f32)) -> Vec<Scored> {
    let score = |lit: &Lit| {
        let structural = lit.value / most.max(1.0);
        let boost = 1.0 + RANK_BOOST * f64::from(view.standing(lit.node));
        #[expect(clippy::cast_possible_truncation, reason = "at most 1.05, rounded once")]
        let score = (f64::from(structural) * boost) as f32;
        Scored { node: lit.node, dimensions: Dimensions { structural }, bonus: 1.0, score }
    };
    let mut scored: Vec<Scored> = pool.iter().map(score).collect();
    let graph = view.graph();
    scored.sort_unstable_by_key(|scored| (Reverse(scored.score.to_bits()), graph.rank(scored.node)));
    scored
}

/// Seeds, as they are told.
fn used(view: &View, found: &Seeds) -> Vec<Seed> {
    let graph = view.graph();
    let seed = |seed: &seeds::Seed| Seed {
        id: graph.external_id(seed.node).to_owned(),
        label: graph.label(seed.node).to_owned(),
        score: seed.score,
        evidence: seed.evidence.clone(),
    };
    found.seeds.iter().map(seed).collect()
}

/// What is told of each hit: what the two rankings say of it, and how it was reached.
fn hits(
    view: &View,
    params: &Params,
    seeds: &[(NodeId, f32)],
    ranked: &[(NodeId, f32)],
    (by_score, by_text): (&[Scored], &[NodeId]),
) -> Vec<Hit> {
    let graph = view.graph();
    let by_score: BTreeMap<NodeId, &Scored> = by_score.iter().map(|scored| (scored.node, scored)).collect();
    let by_text: BTreeMap<NodeId, u32> = by_text.iter().copied().zip(1..).collect();
    // What is in the pool was reached; what is in by its text alone would keep the search going to its end.
    let reached: BTreeSet<NodeId> =
        ranked.iter().map(|(node, _)| *node).filter(|node| by_score.contains_key(node)).collect();
    let params = Params { max_depth: params.max_depth.min(ROUTE_HOPS_MAX), ..*params };
    let mut paths = paths::strongest(graph, seeds, &params, &reached);
    let route = |path: paths::Path| {
        let nodes = path.slots.iter().map(|slot| graph.target(*slot));
        let ids = [path.seed].into_iter().chain(nodes).map(|node| graph.external_id(node).to_owned());
        Route { ids: ids.collect(), path }
    };
    let hit = |(node, score): &(NodeId, f32)| {
        let scored = by_score.get(node);
        Hit {
            node: *node,
            id: graph.external_id(*node).to_owned(),
            label: graph.label(*node).to_owned(),
            kind: view.kind(*node).into_owned(),
            score: *score,
            dimensions: scored.map_or_else(Dimensions::default, |scored| scored.dimensions),
            bonus: scored.map_or(1.0, |scored| scored.bonus),
            route: paths.remove(node).map(route),
            text_rank: by_text.get(node).copied(),
            provenance: graph.provenance(*node).cloned(),
            partial: graph.is_partial(*node),
        }
    };
    ranked.iter().map(hit).collect()
}
