//! What kept one node out of a result: conditions, words, and its rank among all that were found.

use super::config::{RecallConfig, TOP_K_MAX};
use super::query::{Filter, RecallQuery, ResolvedFilter};
use super::result::RecallResult;
use super::{Error, recall_primed};
use crate::View;
use crate::graph::index::NodeId;
use crate::scratch::Scratch;
use crate::text::fold::fold;
use crate::text::ranking::stems_of;
use crate::text::stop::is_stop;
use crate::text::words::words;
use std::collections::BTreeSet;

/// Answers a query as [`recall_primed`] does, with the [`TOP_K_MAX`] best nodes, of which the first are its hits.
///
/// # Errors
/// As [`recall_primed`].
pub fn ranked(
    view: &View,
    query: &RecallQuery,
    config: &RecallConfig,
    prime: impl FnOnce(&[(NodeId, f32)]) -> Vec<(NodeId, f32)>,
    scratch: &mut Scratch,
) -> Result<RecallResult, Error> {
    query.check(config.top_k_max)?;
    let query = RecallQuery { top_k: TOP_K_MAX, ..query.clone() };
    let mut config = config.clone();
    config.top_k_max = TOP_K_MAX;
    recall_primed(view, &query, &config, prime, scratch)
}

/// The conditions of a filter that a node does not fulfil, by their names.
#[must_use]
pub fn failed_conditions(view: &View, filter: &Filter, node: NodeId) -> Vec<&'static str> {
    let Filter { kinds, tiers, since, session, tags, metadata, has_text: _ } = filter.clone();
    let none = Filter::default;
    let alone = [
        ("kinds", Filter { kinds, ..none() }),
        ("tiers", Filter { tiers, ..none() }),
        ("since", Filter { since, ..none() }),
        ("session", Filter { session, ..none() }),
        ("tags", Filter { tags, ..none() }),
        ("metadata", Filter { metadata, ..none() }),
    ];
    let fails = |filter: &Filter| !ResolvedFilter::of(view, filter).passes(view, node);
    alone.iter().filter(|(_, filter)| fails(filter)).map(|(name, _)| *name).collect()
}

/// The distinct words of a query that a ranking by text counts, folded and in their order: each with whether the text of a node has it
/// in any form.
#[must_use]
pub fn query_words(view: &View, query: &str, node: NodeId) -> Vec<(String, bool)> {
    let (folded, mut known) = (fold(query), BTreeSet::new());
    let counted = words(&folded).filter(|word| !is_stop(word) && known.insert(stems_of(word)));
    let has = |word: &str| view.has_word(node, &view.words_shared(&stems_of(word), word));
    counted.map(|word| (word.to_owned(), has(word))).collect()
}
