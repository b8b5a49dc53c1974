//! Recall: from a query to ranked hits.
//!
//! | step | by | result |
//! |---|---|---|
//! | text | BM25 over the contents of memories | the 200 best, and the 200 best that pass the filter |
//! | seeds | [`seeds::find`], reranked by spelling | at most 200 seeds; with fusion those that words do not find by themselves |
//! | prime | [`priming`](super::plasticity::priming), optional | nodes that were often seeds together with these |
//! | spread | [`activation`], or personalised PageRank | nodes connected to the seeds |
//! | pool | the filter | the 1,000 strongest that pass |
//! | evidence | [`semantic`](super::semantic), [`causal`](super::causal), [`temporal`](super::temporal), optional | further scores |
//! | contrast | [`xlr`](super::xlr), optional | suppresses what most queries would activate |
//! | score | [`merge`](super::merge), times `1 + 0.05 * PageRank / greatest PageRank` | a ranking by score |
//! | vectors | [`vectors`](super::vectors), for a query with a vector | the 200 most similar memories that pass the filter |
//! | facts | `facts`, for a query with a vector | memories that mention both ends of one of the 200 most similar facts |
//! | fuse | `fusion` | one ranking of what words, vectors and links say, and of neighbours in a session |
//! | relevance | `relevance` | a probability for each hit; hits below the least one that was requested are left out |
//! | explain | [`paths`] | a path from a seed to each hit that was reached, as deep as spreading goes |
//!
//! Nodes that do not pass the filter still conduct and can be seeds, so a filter does not change how activation spreads. A
//! query without evidence has no hits, which is no error.
//!
//! The cost does not depend on the size of the graph: a query reads postings of its words, as far as they can lead to the best
//! memories, and the slots that its signals pass. Vectors are compared with all, and personalised PageRank reads the whole graph.
//!
//! With fusion, nodes that are connected with a tenth of all memories receive activation and send none, unless they are seeds:
//! they would light all of these alike.
//!
//! # Design notes
//! Only the last cut depends on the number of requested hits: no earlier bound does, so that the first hits are the same
//! however many are requested.
//!
//! PageRank is applied before the pool is cut to hits, as a factor: after the cut it could only reorder them.
//!
//! Words and vectors are searched among the nodes that pass the filter as well, so that a filter that few memories pass still finds
//! those. How much each list counts is decided by what is found without the filter. All memories of the most similar facts are
//! kept, so there is no second list of these.
//!
//! With fusion, a memory is no seed for words that its own text has: the ranking by text knows it already, and as a seed it would
//! confirm itself. If nothing else is a seed the best by text are, and count by what they lead to.
//!
//! Energy has no part in a score: it decides what is in the graph.
//!
//! A primed node is worth at most a tenth of the strongest seed, not of 1: seeds found by name are scored by the rarity of
//! the name, and the `Recall` profile divides by the greatest, so beside a seed of 0.002 a primed node of 0.1 would
//! dominate.
//!
//! The query history is not read here: the caller passes a function, so that no lock is held while spreading.
//!
//! Invariants: the same content and query give the same bytes, whatever the order of insertion and the number of threads
//! (held by `recall_order_free`); a filter selects hits and does not change their scores
//! (`a_filtered_answer_is_the_answer_filtered`); a longer list begins with the shorter one
//! (`a_longer_answer_begins_with_the_shorter`); every hit that was reached has a path that
//! replays (`every_explanation_replays`).

mod between;
mod config;
mod evidence;
mod facts;
mod fusion;
mod known;
mod links;
pub mod missing;
mod query;
mod relevance;
mod result;

#[cfg(test)]
mod tests;

pub use between::between;
pub use config::{EvidenceConfig, FusionWeights, RANDOM_SEED, RecallConfig, TOP_K_MAX};
pub use fusion::VectorScale;
pub use query::{Filter, Fusion, NAMES_MAX, Profile, RecallQuery, SeedMass, Spread, TEXT_BYTES_MAX, XlrMode};
pub use relevance::Relevance;
pub use result::{Dimensions, Hit, PrimedNode, RecallCounters, RecallResult, Route, Seed};

use super::activation::{
    self, ActivatedNode, ActivationConfig, ActivationCounters, ActivationResult, hybrid, paths,
};
use super::merge::MergedScore;
use super::pagerank::personalised_pagerank;
use super::scratch::Scratch;
use super::seeds::{self, MAX_SEEDS, SeedQuery, SeedResult};
use super::semantic::pipeline::spelling_similarity_from;
use super::text::ranking::{RANKED_MAX, RankedMemory, Ranking};
use super::vectors::{RankedVector, Similarities};
use super::xlr::XlrResult;
use super::{Error, Flag, View};
use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::graph::metadata::Metadata;
use evidence::{Scored, Scorer};
use facts::FactMemories;
use fusion::Lists;
use known::subtract_known;
use links::Links;
use query::ResolvedFilter;
use std::collections::{BTreeMap, BTreeSet};

/// Greatest number of hops to a hit: spreading goes 20 if configured so, and personalised PageRank converges in 21 iterations.
pub const HOPS_MAX: u8 = 21;

/// Answers a query without priming.
///
/// # Errors
/// [`crate::graph::Error::ParameterOutOfRange`] for a text, a filter, a `top_k` or a score of a seed outside its range,
/// [`crate::graph::Error::NonFinite`] for a score or a similarity that is not finite.
pub fn recall(
    view: &View,
    query: &RecallQuery,
    config: &RecallConfig,
    scratch: &mut Scratch,
) -> Result<RecallResult, Error> {
    recall_primed(view, query, config, |_| Vec::new(), scratch)
}

/// Answers a query. `prime` returns nodes to add to its seeds, as [`prime`](super::plasticity::prime) does, and is called
/// only if the query enables priming; nodes that the graph does not have are ignored.
///
/// # Errors
/// As [`recall`].
pub fn recall_primed(
    view: &View,
    query: &RecallQuery,
    config: &RecallConfig,
    prime: impl FnOnce(&[(NodeId, f32)]) -> Vec<(NodeId, f32)>,
    scratch: &mut Scratch,
) -> Result<RecallResult, Error> {
    query.check(config.top_k_max)?;
    let (graph, filter) = (view.graph(), ResolvedFilter::of(view, &query.filter));
    let Search { texts, vectors, similarities, facts, has_no_vectors, postings_read, relevance, mut found } =
        Search::of(view, query, &filter)?;
    let Links { hubs, from_texts } = match query.fusion {
        Fusion::Text => links::select(view, &mut found, &texts.all, has_no_vectors),
        Fusion::Off => Links::default(),
    };
    let mut seeds: Vec<(NodeId, f32)> = found.seeds.iter().map(|seed| (seed.node, seed.score)).collect();
    let added = if query.priming { scale_primed(graph, &seeds, prime(&seeds)) } else { Vec::new() };
    seeds.extend_from_slice(&added);
    let primed: Vec<(&str, f32)> =
        added.iter().map(|(node, score)| (graph.external_id(*node), *score)).collect();
    let params = config.activation(query.profile);
    if query.fusion == Fusion::Text && query.spread == Spread::Activation {
        let is_seed = |hub: &NodeId| seeds.iter().any(|(node, _)| node == hub);
        scratch.activation.blocked.extend(view.hubs().iter().filter(|hub| !is_seed(hub)));
    }
    let (mut activation, hops_max) = spread(view, query.spread, params, &seeds, &mut scratch.activation);
    let reached: Vec<NodeId> = activation.nodes.iter().map(|reached| reached.node).collect();
    let (counters, truncated) = (activation.counters, activation.truncated);
    let partial_nodes =
        activation.nodes.iter().filter(|reached| graph.is_partial(reached.node)).count() as u64;
    if query.spread == Spread::Activation {
        subtract_confirmed(view, query, (&found.seeds, &seeds, from_texts), &mut activation, config);
    }
    let mass = mass(graph, query.spread, &seeds, params);
    let activated = memories(view, &activation);
    let scorer = Scorer { view, query, config, filter: &filter, seeds: &seeds, mass };
    let Scored { mut scored, contrast, flags } = scorer.score(activation, &mut scratch.xlr);
    let by_text: Vec<NodeId> = texts.passing.iter().map(|ranked| ranked.node).collect();
    let scale = VectorScale::of(similarities, &config.fusion);
    let mut ranked: Vec<(NodeId, f32)> = match query.fusion {
        Fusion::Text => {
            let lists = Lists {
                texts: [&texts.all, &texts.passing],
                vectors: [&vectors.all, &vectors.passing],
                facts: &facts.memories,
                links: &scored,
                activated: &activated,
                hubs: &hubs,
                scale,
                fact_scale: VectorScale::of(facts.similarities, &config.fusion),
            };
            lists.fuse(view, query, &config.fusion, |node| filter.passes(view, node))
        }
        Fusion::Off => scored.iter().take(query.top_k).map(|scored| (scored.node, scored.score)).collect(),
    };
    let similar: BTreeMap<NodeId, f32> =
        vectors.passing.iter().map(|ranked| (ranked.node, ranked.similarity)).collect();
    let relevances = keep_relevant(view, &relevance, query, (&mut ranked, &similar));
    let shown: BTreeSet<NodeId> = ranked.iter().map(|(node, _)| *node).collect();
    scored.retain(|one| shown.contains(&one.node));
    let explained: BTreeSet<NodeId> = reached.iter().filter(|node| shown.contains(node)).copied().collect();
    let walk = ActivationConfig { max_depth: hops_max, ..*params };
    let paths = paths::paths(graph, &seeds, &walk, &explained, &reached, &mut scratch.activation);
    scratch.activation.blocked.clear();
    let flags = view.flags().union(flags);
    let flags = flags.with(Flag::SeedsTruncated, found.truncated).with(Flag::ActivationTruncated, truncated);
    let counters = counters_of(counters, facts.slots_read, partial_nodes, postings_read);
    Ok(RecallResult {
        id: query.id(view.generation(), &primed),
        generation: view.generation(),
        as_of: view.snapshot().as_of,
        hits: hits(view, (&ranked, relevances), paths, (&scored, &by_text, &similar, contrast.as_ref())),
        relevance,
        scale,
        seeds: result_seeds(view, found.seeds),
        primed: primed.into_iter().map(|(id, score)| PrimedNode { id: id.to_owned(), score }).collect(),
        unknown: found.unknown,
        anti_seeds: contrast.map_or_else(Vec::new, |contrast| {
            contrast.anti_seeds.iter().map(|node| graph.external_id(*node).to_owned()).collect()
        }),
        flags,
        counters,
    })
}

/// The work done for a query, with the slots that its facts read.
const fn counters_of(
    activation: ActivationCounters,
    slots_of_facts: u64,
    partial_nodes: u64,
    postings_read: u64,
) -> RecallCounters {
    let ActivationCounters { slots_read, useful_slots, rows: rows_touched, touched: nodes_touched } =
        activation;
    let slots_read = slots_read + slots_of_facts;
    RecallCounters { slots_read, useful_slots, rows_touched, nodes_touched, partial_nodes, postings_read }
}

/// What a query finds by text and by vector, and its seeds.
struct Search {
    texts: Both<RankedMemory>,
    vectors: Both<RankedVector>,
    /// On which vectors are scaled.
    similarities: Vec<f32>,
    facts: FactMemories,
    /// Whether no memory is found by a vector.
    has_no_vectors: bool,
    postings_read: u64,
    relevance: Relevance,
    found: SeedResult,
}

/// A list, the best first: of all memories, and of those that pass the filter. What the filter leaves out counts in how much the list is
/// worth, so that it changes no score.
struct Both<T> {
    all: Vec<T>,
    passing: Vec<T>,
}

impl Search {
    fn of(view: &View, query: &RecallQuery, filter: &ResolvedFilter<'_>) -> Result<Self, Error> {
        let most = if query.fusion == Fusion::Text { RANKED_MAX } else { 0 };
        let Ranking { ranked: all, passing, words, postings_read } =
            view.rank_by_text(&query.text, most, |node| filter.passes(view, node));
        let texts = Both { all, passing };
        // Entities have vectors as well, of their names.
        let compared = query.vector.as_deref().filter(|_| query.fusion == Fusion::Text);
        let (([all, passing], of_all), facts) = match compared {
            Some(vector) => {
                let passes = |node: NodeId| [view.has_text(node), filter.passes(view, node)];
                let found = if query.relevance {
                    view.rank_and_compare(vector, RANKED_MAX, passes)?
                } else {
                    (view.rank_by_vector(vector, RANKED_MAX, passes)?, Similarities::default())
                };
                (found, FactMemories::of(view, vector)?)
            }
            None => Default::default(),
        };
        let relevance = if query.relevance {
            Relevance::new(view, &words, compared, of_all)
        } else {
            Relevance::default()
        };
        let vectors = Both { all, passing };
        let outside = query.outside.iter().map(|(_, similarity)| *similarity);
        let similarities = vectors.all.iter().map(|ranked| ranked.similarity).chain(outside);
        let mut similarities: Vec<f32> = similarities.collect();
        let is_alone = query.fusion == Fusion::Text && similarities.is_empty();
        if let Some(vector) = query.vector.as_ref().filter(|_| is_alone) {
            // Only names have vectors: these are compared with each other.
            let [named] = view.rank_by_vector(vector, RANKED_MAX, |_| [true])?;
            similarities.extend(named.iter().map(|ranked| ranked.similarity));
        }
        let has_no_vectors = vectors.all.is_empty() && facts.memories.is_empty();
        let found = find(view, query, &texts.all, has_no_vectors)?;
        Ok(Self { texts, vectors, similarities, facts, has_no_vectors, postings_read, relevance, found })
    }
}

/// Finds the seeds; `texts` are the memories that match best by text, whatever the filter. The filter has no part in it. Where words
/// or vectors find memories, those that only resemble the query are no seeds of links, and are not compared with it.
fn find(
    view: &View,
    query: &RecallQuery,
    texts: &[RankedMemory],
    has_no_vectors: bool,
) -> Result<SeedResult, Error> {
    let external: Vec<(&str, f32)> = query.seeds.iter().map(|(id, score)| (id.as_str(), *score)).collect();
    let with_memories = query.fusion == Fusion::Off || texts.is_empty() && has_no_vectors;
    let seed_query = SeedQuery { text: &query.text, external: &external, limit: MAX_SEEDS, with_memories };
    let by_text = |most: usize| texts.iter().take(most).copied().collect();
    let spelt = view.sources().labels.ngrams().query(&query.text);
    let d2 = |node: NodeId, least: f64| spelling_similarity_from(&spelt, node, least);
    seeds::find(&view.sources(), &seed_query, by_text, d2)
}

/// Scales primed nodes to the strongest seed.
fn scale_primed(graph: &Graph, seeds: &[(NodeId, f32)], primed: Vec<(NodeId, f32)>) -> Vec<(NodeId, f32)> {
    let most = seeds.iter().map(|(_, score)| *score).fold(0.0, f32::max);
    let scaled = primed.into_iter().map(|(node, share)| (node, share * most));
    scaled.filter(|(node, score)| graph.has_node(*node) && *score > 0.0).collect()
}

/// Spreads from the seeds and returns all reached nodes, unordered, and the number of hops that it may have gone.
fn spread(
    view: &View,
    spread: Spread,
    params: &ActivationConfig,
    seeds: &[(NodeId, f32)],
    scratch: &mut activation::scratch::Scratch,
) -> (ActivationResult, u8) {
    let graph = view.graph();
    if spread == Spread::Activation {
        return (hybrid::spread(graph, seeds, params, scratch), params.max_depth);
    }
    let near = personalised_pagerank(graph, seeds);
    let all = graph.nodes().zip(near.scores).map(|(node, value)| ActivatedNode { node, value });
    let nodes: Vec<ActivatedNode> = all.filter(|reached| reached.value > 0.0).collect();
    let slots_read = u64::from(near.iterations) * graph.slot_count() as u64;
    let rows = u64::from(near.iterations) * graph.node_count() as u64;
    let counters =
        ActivationCounters { slots_read, useful_slots: slots_read, rows, touched: nodes.len() as u64 };
    let hops_max = u8::try_from(near.iterations).map_or(HOPS_MAX, |hops| hops.min(HOPS_MAX));
    (ActivationResult { nodes, counters, truncated: false }, hops_max)
}

/// The sum of what the seeds begin with.
fn mass(graph: &Graph, spread: Spread, seeds: &[(NodeId, f32)], params: &ActivationConfig) -> f64 {
    match spread {
        Spread::Activation => {
            activation::initial_values(graph, seeds, params).iter().map(|(_, value)| f64::from(*value)).sum()
        }
        Spread::PersonalPageRank => 1.0,
    }
}

/// Subtracts from the activation what only confirms how it was found.
fn subtract_confirmed(
    view: &View,
    query: &RecallQuery,
    (found, seeds, from_texts): (&[seeds::Seed], &[(NodeId, f32)], bool),
    activation: &mut ActivationResult,
    config: &RecallConfig,
) {
    let params = config.activation(query.profile);
    if query.fusion == Fusion::Text && !from_texts && config.fusion.text > 0.0 {
        subtract_known(view, &query.text, found, activation, params);
    }
    // Texts that confirm themselves by links are no evidence; what they lead to is.
    if from_texts || query.seed_mass == SeedMass::Subtract {
        subtract(view, seeds, params, activation);
    }
}

/// The activated memories with a text, in any order.
fn memories(view: &View, activation: &ActivationResult) -> Vec<(NodeId, f32)> {
    let memories = activation.nodes.iter().filter(|reached| view.has_text(reached.node));
    memories.map(|reached| (reached.node, reached.value)).collect()
}

/// Subtracts the initial values of seeds, so that each is scored by the activation that returned to it.
fn subtract(
    view: &View,
    seeds: &[(NodeId, f32)],
    params: &ActivationConfig,
    activation: &mut ActivationResult,
) {
    let initial = activation::initial_values(view.graph(), seeds, params);
    let initial: BTreeMap<NodeId, f32> = initial.into_iter().collect();
    for one in &mut activation.nodes {
        one.value = (one.value - initial.get(&one.node).copied().unwrap_or(0.0)).max(0.0);
    }
    activation.nodes.retain(|one| one.value > 0.0);
}

/// Leaves out what is less relevant than the query wants; returns the relevance of the others.
fn keep_relevant(
    view: &View,
    relevance: &Relevance,
    query: &RecallQuery,
    (ranked, similar): (&mut Vec<(NodeId, f32)>, &BTreeMap<NodeId, f32>),
) -> Vec<Option<f32>> {
    let nodes: Vec<NodeId> = ranked.iter().map(|(node, _)| *node).collect();
    let mut relevances = relevance.of_similar(view, &nodes, similar);
    if let Some(least) = query.min_relevance {
        let is_kept = |relevance: &Option<f32>| relevance.is_some_and(|relevance| relevance >= least);
        let mut kept = relevances.iter().map(is_kept);
        ranked.retain(|_| kept.next().unwrap_or_default());
        relevances.retain(is_kept);
    }
    relevances
}

/// The seeds of the result.
fn result_seeds(view: &View, found: Vec<seeds::Seed>) -> Vec<Seed> {
    let graph = view.graph();
    let seed = |seed: seeds::Seed| Seed {
        node: seed.node,
        id: graph.external_id(seed.node).to_owned(),
        label: graph.label(seed.node).to_owned(),
        score: seed.score,
        evidence: seed.evidence,
    };
    found.into_iter().map(seed).collect()
}

/// The hits of the result, with their relevance, their scores in both rankings and their paths.
fn hits(
    view: &View,
    (ranked, relevances): (&[(NodeId, f32)], Vec<Option<f32>>),
    mut paths: BTreeMap<NodeId, paths::Path>,
    (by_score, by_text, by_vector, contrast): (
        &[MergedScore],
        &[NodeId],
        &BTreeMap<NodeId, f32>,
        Option<&XlrResult>,
    ),
) -> Vec<Hit> {
    let graph = view.graph();
    let by_score: BTreeMap<NodeId, &MergedScore> =
        by_score.iter().map(|scored| (scored.node, scored)).collect();
    let by_text: BTreeMap<NodeId, u32> = by_text.iter().copied().zip(1..).collect();
    let route = |path: paths::Path| {
        let nodes = path.slots.iter().map(|slot| graph.target(*slot));
        let ids = [path.seed].into_iter().chain(nodes).map(|node| graph.external_id(node).to_owned());
        Route { ids: ids.collect(), path }
    };
    let hit = |((node, score), relevance): (&(NodeId, f32), Option<f32>)| {
        let scored = by_score.get(node);
        Hit {
            node: *node,
            id: graph.external_id(*node).to_owned(),
            label: graph.label(*node).to_owned(),
            kind: view.kind(*node).into_owned(),
            score: *score,
            relevance,
            dimensions: scored.map_or_else(Dimensions::default, |scored| scored.dimensions.into()),
            bonus: scored.map_or(1.0, |scored| scored.bonus),
            route: paths.remove(node).map(route),
            text_rank: by_text.get(node).copied(),
            similarity: by_vector.get(node).copied(),
            contrast: contrast.and_then(|contrast| contrast.field(*node)).copied(),
            tags: graph.tags(*node).map(str::to_owned).collect(),
            metadata: graph.metadata(*node).map(Metadata::canonical),
            provenance: graph.provenance(*node),
            partial: graph.is_partial(*node),
        }
    };
    ranked.iter().zip(relevances).map(hit).collect()
}
