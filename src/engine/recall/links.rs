//! Selects the seeds of links: those that lead to what words do not find.
//!
//! # Design notes
//! A name in a tenth of all memories tells nothing about any of them: as a seed, the user of an agent would light everything alike.
//! Entities that few memories mention, but whose name is a usual word, are not rare, and the other way round: the greater count
//! decides. A memory whose whole text is a name in the query is found by that text, and is no name.

use crate::View;
use crate::graph::index::NodeId;
use crate::seeds::{self, MatchKind, SeedResult};
use crate::text::fold::fold;
use crate::text::ranking::RankedMemory;
use std::cmp::Reverse;

/// Number of memories that are seeds by their texts.
const TEXT_SEEDS: usize = 20;

/// Part of all memories that may mention a hub for its name to say something about those that do, as its inverse.
const TELLING_PART: u32 = 3;

/// Seeds of links.
#[derive(Default)]
pub(super) struct Links {
    /// Entities that the query names and that too many memories mention to be seeds, but at most a third of all.
    pub(super) hubs: Vec<NodeId>,
    /// Whether the seeds are the memories that match best by text.
    pub(super) from_texts: bool,
}

/// Keeps the seeds that lead to what words do not find: names, ends of facts, nodes of the caller, and what is found by its label
/// alone; else the memories that match best by text. If these are no evidence either, and there are no vectors, all are kept.
pub(super) fn select(
    view: &View,
    found: &mut SeedResult,
    texts: &[RankedMemory],
    has_no_vectors: bool,
) -> Links {
    let is_hub = |seed: &seeds::Seed| view.hubs().binary_search(&seed.node).is_ok();
    let has = |seed: &seeds::Seed, kinds: &[MatchKind]| {
        seed.evidence.iter().any(|evidence| kinds.contains(&evidence.ground))
    };
    let is_given = |seed: &seeds::Seed| has(seed, &[MatchKind::External]);
    let is_named = |seed: &seeds::Seed| {
        has(seed, &[MatchKind::Fact]) || has(seed, &[MatchKind::Name]) && !view.has_text(seed.node)
    };
    let tells = |seed: &seeds::Seed| view.mentions(seed.node) <= view.memories() / TELLING_PART;
    let named_hubs =
        found.seeds.iter().filter(|seed| is_hub(seed) && has(seed, &[MatchKind::Name]) && tells(seed));
    let hubs = named_hubs.map(|seed| seed.node).collect();
    let leads = |seed: &seeds::Seed| is_given(seed) || is_named(seed) && !is_hub(seed);
    let is_by_label =
        |seed: &seeds::Seed| !is_hub(seed) && (!view.has_text(seed.node) || has(seed, &[MatchKind::Tag]));
    let is_kept = |seed: &seeds::Seed| leads(seed) || is_by_label(seed);
    if !found.seeds.iter().any(is_kept) {
        let Some(best) = texts.first() else {
            if !has_no_vectors {
                found.seeds.clear();
            }
            return Links { hubs, from_texts: false };
        };
        let seed = |ranked: &RankedMemory| {
            let score = ranked.score / best.score;
            let evidence = vec![seeds::Evidence { ground: MatchKind::Text, of: String::new(), score }];
            seeds::Seed { node: ranked.node, score, evidence }
        };
        found.seeds = texts.iter().take(TEXT_SEEDS).map(seed).collect();
        return Links { hubs, from_texts: true };
    }
    found.seeds.retain(is_kept);
    for seed in found.seeds.iter_mut().filter(|seed| !has(seed, &[MatchKind::External])) {
        let spread = view.sources().spread(&fold(view.graph().label(seed.node)));
        let mentions = view.mentions(seed.node);
        if mentions > spread {
            #[expect(clippy::cast_possible_truncation, reason = "at most 1, rounded once")]
            let rarity = (f64::from(spread) / f64::from(mentions)) as f32;
            seed.score *= rarity;
        }
    }
    let graph = view.graph();
    let place = |seed: &seeds::Seed| {
        (seed.score.to_bits(), graph.pagerank(seed.node).to_bits(), Reverse(graph.rank(seed.node)))
    };
    found.seeds.sort_unstable_by_key(|seed| Reverse(place(seed)));
    Links { hubs, from_texts: false }
}
