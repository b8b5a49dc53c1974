//! Context: the memories that a recall finds, as text for a prompt.
//!
//! Where several turns of a session were selected, those between them are added, since one turn often answers another. What is read,
//! what is removed and how fresh it is are those of a recall. As many hits are considered as could fit.

mod text;

use super::recall::{Error, Found, StoredText, by_score};
use super::{Service, check_range};
use crate::api::context::{Context, ContextMemory, ContextOptions, TOKENS_MAX};
use crate::api::recall::RecallRequest;
use crate::domain::ids::Scope;
use ebb_engine::View;
use ebb_engine::graph::index::NodeId;
use ebb_engine::recall::{Filter, RecallQuery, Relevance, Route, between};
use std::collections::{BTreeMap, BTreeSet};
use text::{Candidate, Composed, Selection};

/// Tokens of a short line, for the number of hits to consider.
const LINE_TOKENS: usize = 20;
/// The least of these.
const HITS_MIN: usize = 10;

impl Service {
    /// Finds the memories that answer a question, and writes them as text.
    pub async fn context(
        &self,
        scope: &Scope,
        request: RecallRequest,
        options: ContextOptions,
    ) -> Result<Context, Error> {
        check_range("max_tokens", options.max_tokens, TOKENS_MAX).map_err(Error::Invalid)?;
        let request = RecallRequest { content: true, ..request };
        let usual = request.to_query(self.config.engine.default_query())?;
        let filter = Filter { has_text: true, ..usual.filter.clone() };
        let top_k = (options.max_tokens / LINE_TOKENS).max(HITS_MIN).min(self.config.engine.top_k_max());
        let query = RecallQuery { filter, top_k, ..usual };
        let (view, found) = Box::pin(self.find(scope, &request, query.clone())).await?;
        let Found { recalled, stored, mut texts, freshness, flags } = found;
        let held = recalled.hits.iter().map(|hit| RankedHit {
            id: &hit.id,
            score: hit.score,
            relevance: hit.relevance,
            route: hit.route.as_ref(),
        });
        let stored = stored.iter().map(|hit| RankedHit {
            id: &hit.id,
            score: hit.score,
            relevance: hit.relevance,
            route: None,
        });
        let mut ranked: Vec<RankedHit<'_>> = held.chain(stored).collect();
        ranked.sort_by(|a, b| by_score((a.score, a.id), (b.score, b.id)));
        let hits = ranked.into_iter().zip(1..).filter_map(|(hit, rank)| hit.candidate(rank, &mut texts));
        let mut selection = Selection::of_hits(hits, options.max_tokens);
        if selection.has_room() {
            let graph = view.graph();
            let id = |node: NodeId| graph.external_id(node).to_owned();
            let nodes: Vec<NodeId> = selection.ids().iter().filter_map(|id| graph.find(id)).collect();
            let between = relevant_between(&view, &query, &recalled.relevance, &nodes);
            let missing: BTreeSet<String> = between.iter().map(|(node, ..)| id(*node)).collect();
            if !missing.is_empty() {
                let mut texts = self.texts_of(scope, &view, &missing).await?;
                let between = between.into_iter().filter_map(|(node, from, relevance)| {
                    Some((candidate(&id(node), relevance, &mut texts)?, id(from)))
                });
                selection.add_between(between.collect());
            }
        }
        let Composed { text, tokens, memories, omitted } = selection.compose(options);
        Ok(Context {
            recall_id: recalled.id,
            generation: recalled.generation.0,
            freshness,
            truncated: omitted > 0
                || memories.iter().any(|memory| memory.is_cut)
                || flags.iter().any(|flag| flag.ends_with("_truncated")),
            text,
            tokens,
            memories,
            omitted,
            unknown_seeds: recalled.unknown,
            flags,
        })
    }
}

/// A hit among all.
struct RankedHit<'a> {
    id: &'a str,
    score: f32,
    relevance: Option<f32>,
    route: Option<&'a Route>,
}

impl RankedHit<'_> {
    /// The memory of a hit of this rank, from 1; `None` without a text.
    fn candidate(self, rank: usize, texts: &mut BTreeMap<String, StoredText>) -> Option<Candidate> {
        let Candidate { memory, content } = candidate(self.id, self.relevance, texts)?;
        let path = self.route.map_or_else(Vec::new, |route| route.ids.clone());
        let memory = ContextMemory { rank: Some(rank), score: Some(self.score), path, ..memory };
        Some(Candidate { memory, content })
    }
}

/// The memories between these nodes, each with the node before and its relevance, without those that are less relevant than requested.
fn relevant_between(
    view: &View,
    query: &RecallQuery,
    relevance: &Relevance,
    nodes: &[NodeId],
) -> Vec<(NodeId, NodeId, Option<f32>)> {
    let found = between(view, &query.filter, nodes);
    let between: Vec<NodeId> = found.iter().map(|(node, _)| *node).collect();
    let relevances = relevance.of_nodes(view, &between);
    let all = found.into_iter().zip(relevances).map(|((node, from), relevance)| (node, from, relevance));
    let is_kept =
        |own: Option<f32>| query.min_relevance.is_none_or(|least| own.is_some_and(|own| own >= least));
    all.filter(|(.., own)| is_kept(*own)).collect()
}

/// A memory with its text that is no hit; `None` without a text.
fn candidate(
    id: &str,
    relevance: Option<f32>,
    texts: &mut BTreeMap<String, StoredText>,
) -> Option<Candidate> {
    let StoredText { content, created, session, .. } = texts.remove(id)?;
    let content = content.filter(|content| !content.trim().is_empty())?;
    let memory = ContextMemory {
        id: id.to_owned(),
        created,
        session,
        rank: None,
        score: None,
        relevance,
        path: Vec::new(),
        duplicates: Vec::new(),
        is_cut: false,
    };
    Some(Candidate { memory, content })
}
