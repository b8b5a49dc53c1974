//! From a question to ranked hits.
//!
//! | step | by | gives |
//! |---|---|---|
//! | text | BM25 over the contents of memories | the 200 best that pass the filter |
//! | seeds | [`seeds::find`], reranked by spelling | where spreading begins, at most 5 for each hit asked for |
//! | prime | [`priming`](super::plasticity::priming), if it is asked for | what used to come together with the seeds |
//! | spread | [`activation`], or personalised PageRank | what is joined to the seeds |
//! | pool | the filter | the strongest of what passes, 10 for each hit and at least 200 |
//! | hear | [`semantic`](super::semantic), [`causal`](super::causal), [`temporal`](super::temporal), those that are asked for | what else speaks for whom |
//! | contrast | [`xlr`](super::xlr), if it is asked for | less of what would light up for any question |
//! | score | [`merge`](super::merge), times `1 + 0.05 * PageRank / greatest PageRank` | a ranking |
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
//! What is primed is worth a tenth at most of the strongest seed, not of 1. Seeds that a name gives go by how rare it is, and
//! under `Recall` they are divided by the greatest: beside a seed of 0.002 a primed node of 0.1 would be the question.
//!
//! Questions before this one are not here: who asks hands in what they primed, so that no lock is held while spreading.
//!
//! Invariants: the same content and question give the same bytes, whatever the order of insertion and the number of threads
//! (held by `recall_order_free`); a filter chooses and does not change (`a_filtered_answer_is_the_answer_filtered`); every
//! way that is told replays (`every_explanation_replays`).

mod answer;
mod ask;
mod weigh;

#[cfg(test)]
mod tests;

pub use answer::{Counters, Dimensions, Hit, Recalled, Route, Seed};
pub use ask::{
    Ask, Config, Filter, Fusion, NAMES_MAX, Primed, Profile, RANDOM_SEED, SeedMass, Spread, TEXT_BYTES_MAX,
    TOP_K_MAX, Weighing, Xlr,
};

use super::activation::{self, Activated, Activation, Params, Work, hybrid, paths};
use super::fuse::fuse;
use super::merge::Merged;
use super::pagerank::personalised;
use super::scratch::Scratch;
use super::seeds::{self, MAX_SEEDS, Question, Seeds};
use super::semantic::pipeline::spelling;
use super::text::ranking::{RANKED_MAX, Ranking};
use super::xlr::Contrast;
use super::{Error, Flag, View};
use crate::graph::index::NodeId;
use ask::Sieve;
use std::collections::{BTreeMap, BTreeSet};
use weigh::{Asking, Weighed};

/// Seeds for each hit that is asked for.
const SEEDS_EACH: usize = 5;
/// Hops of an explanation at most.
const ROUTE_HOPS_MAX: u8 = 5;

/// Answers a question as if it were the first.
///
/// # Errors
/// [`crate::graph::Error::ParameterOutOfRange`] for a text, a filter, a `top_k` or a score of a seed outside its range,
/// [`crate::graph::Error::NonFinite`] for a score that is none.
pub fn recall(view: &View, ask: &Ask, config: &Config, scratch: &mut Scratch) -> Result<Recalled, Error> {
    recall_primed(view, ask, config, |_| Vec::new(), scratch)
}

/// Answers a question after others: `prime` tells which nodes used to come together with its seeds, as
/// [`prime`](super::plasticity::prime) does, and is asked only if the question wants it.
///
/// # Errors
/// As [`recall`].
pub fn recall_primed(
    view: &View,
    ask: &Ask,
    config: &Config,
    prime: impl FnOnce(&[(NodeId, f32)]) -> Vec<(NodeId, f32)>,
    scratch: &mut Scratch,
) -> Result<Recalled, Error> {
    ask.check(config)?;
    let (graph, sieve) = (view.graph(), Sieve::of(view, &ask.filter));
    let texts = match ask.fusion {
        Fusion::Text => view.by_text(&ask.text, RANKED_MAX, |node| sieve.passes(view, node)),
        Fusion::Off => Ranking::default(),
    };
    let found = find(view, ask, &sieve, &texts)?;
    let mut begun: Vec<(NodeId, f32)> = found.seeds.iter().map(|seed| (seed.node, seed.score)).collect();
    let joining = if ask.priming { beside(&begun, prime(&begun)) } else { Vec::new() };
    begun.extend_from_slice(&joining);
    let primed: Vec<Primed> = joining
        .iter()
        .map(|(node, score)| Primed { id: graph.external_id(*node).to_owned(), score: *score })
        .collect();
    let params = config.params(ask.profile);
    let mut lit = spread(view, ask.spread, params, &begun, &mut scratch.activation);
    let (work, truncated) = (lit.work, lit.truncated);
    let partial_nodes = lit.nodes.iter().filter(|lit| graph.is_partial(lit.node)).count() as u64;
    if ask.seed_mass == SeedMass::Subtract && ask.spread == Spread::Activation {
        subtract(&mut lit, &begun, params);
    }
    let asking = Asking { view, ask, config, sieve: &sieve, begun: &begun };
    let Weighed { scored, contrast, flags } = asking.weigh(lit, &mut scratch.xlr);
    let by_score: Vec<NodeId> = scored.iter().map(|scored| scored.node).collect();
    let by_text: Vec<NodeId> = texts.ranked.iter().map(|ranked| ranked.node).collect();
    let mut ranked: Vec<(NodeId, f32)> = match ask.fusion {
        Fusion::Text => fuse(graph, &by_score, &by_text, config.text_weight),
        Fusion::Off => scored.iter().map(|scored| (scored.node, scored.score)).collect(),
    };
    ranked.truncate(ask.top_k);
    let flags = view.flags().and(flags);
    let flags = flags.with(Flag::SeedsTruncated, found.truncated).with(Flag::ActivationTruncated, truncated);
    let postings_read = texts.postings_read;
    let Work { slots_read, useful_slots, rows: rows_touched, touched: nodes_touched } = work;
    Ok(Recalled {
        id: ask.id(view.generation(), &primed),
        generation: view.generation(),
        as_of: view.snapshot().as_of,
        hits: hits(view, params, &begun, &ranked, (&scored, &by_text, contrast.as_ref())),
        seeds: used(view, &found),
        primed,
        unknown: found.unknown,
        anti_seeds: contrast.map_or_else(Vec::new, |contrast| {
            contrast.anti_seeds.iter().map(|node| graph.external_id(*node).to_owned()).collect()
        }),
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
    let d2 = |node: NodeId| spelling(&spelt, node);
    seeds::find(&view.sources(), &question, by_text, d2)
}

/// What is primed, with the score that it begins with beside the seeds.
fn beside(seeds: &[(NodeId, f32)], primed: Vec<(NodeId, f32)>) -> Vec<(NodeId, f32)> {
    let most = seeds.iter().map(|(_, score)| *score).fold(0.0, f32::max);
    primed.into_iter().map(|(node, share)| (node, share * most)).filter(|(_, score)| *score > 0.0).collect()
}

/// What is joined to the seeds, in no order.
fn spread(
    view: &View,
    spread: Spread,
    params: &Params,
    seeds: &[(NodeId, f32)],
    scratch: &mut activation::scratch::Scratch,
) -> Activation {
    let graph = view.graph();
    if spread == Spread::Activation {
        return hybrid::spread(graph, seeds, params, scratch);
    }
    let near = personalised(graph, seeds);
    let all = graph.nodes().zip(near.of).map(|(node, value)| Activated { node, value });
    let lit: Vec<Activated> = all.filter(|lit| lit.value > 0.0).collect();
    let slots_read = u64::from(near.iterations) * graph.slot_count() as u64;
    let rows = u64::from(near.iterations) * graph.node_count() as u64;
    let work = Work { slots_read, useful_slots: slots_read, rows, touched: lit.len() as u64 };
    Activation { nodes: lit, work, truncated: false }
}

/// Takes off what seeds began with, so that each counts for what came back to it.
fn subtract(lit: &mut Activation, seeds: &[(NodeId, f32)], params: &Params) {
    let begun: BTreeMap<NodeId, f32> = activation::initial_values(seeds, params).into_iter().collect();
    for one in &mut lit.nodes {
        one.value = (one.value - begun.get(&one.node).copied().unwrap_or(0.0)).max(0.0);
    }
    lit.nodes.retain(|one| one.value > 0.0);
}

/// Seeds, as they are told.
fn used(view: &View, found: &Seeds) -> Vec<Seed> {
    let graph = view.graph();
    let seed = |seed: &seeds::Seed| Seed {
        node: seed.node,
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
    (by_score, by_text, contrast): (&[Merged], &[NodeId], Option<&Contrast>),
) -> Vec<Hit> {
    let graph = view.graph();
    let by_score: BTreeMap<NodeId, &Merged> = by_score.iter().map(|scored| (scored.node, scored)).collect();
    let by_text: BTreeMap<NodeId, u32> = by_text.iter().copied().zip(1..).collect();
    // What was not reached would keep the search going to its end.
    let is_reached = |node: &NodeId| by_score.get(node).is_some_and(|scored| scored.dimensions[0] > 0.0);
    let reached: BTreeSet<NodeId> = ranked.iter().map(|(node, _)| *node).filter(is_reached).collect();
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
            dimensions: scored.map_or_else(Dimensions::default, |scored| scored.dimensions.into()),
            bonus: scored.map_or(1.0, |scored| scored.bonus),
            route: paths.remove(node).map(route),
            text_rank: by_text.get(node).copied(),
            contrast: contrast.and_then(|contrast| contrast.field(*node)).copied(),
            provenance: graph.provenance(*node).cloned(),
            partial: graph.is_partial(*node),
        }
    };
    ranked.iter().map(hit).collect()
}
