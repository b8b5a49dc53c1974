//! Context: the memories that a recall finds, as text for a prompt.
//!
//! Where several turns of a session were found, those between them are added, since one turn often answers another. What is read, what
//! is removed and how fresh it is are those of a recall.

mod text;

use super::recall::{Error, Found, StoredText};
use super::{Service, check_range};
use crate::api::context::{Context, ContextMemory, ContextOptions, TOKENS_MAX};
use crate::api::recall::RecallRequest;
use crate::domain::ids::Scope;
use ebb_engine::graph::index::NodeId;
use ebb_engine::recall::{Hit, between};
use std::collections::{BTreeMap, BTreeSet};
use text::{Candidate, Composed, compose};

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
        let Found { current, recalled, mut texts, freshness } = Box::pin(self.find(scope, &request)).await?;
        let (view, hits) = (&current.view, &recalled.hits);
        let id = |node: NodeId| view.graph().external_id(node).to_owned();
        let nodes: Vec<NodeId> = hits.iter().map(|hit| hit.node).collect();
        let between: Vec<(String, [String; 2])> = between(view, &request.filter(), &nodes)
            .into_iter()
            .map(|(node, ends)| (id(node), ends.map(id)))
            .collect();
        let missing: BTreeSet<String> = between.iter().map(|(id, _)| id.clone()).collect();
        let mut more = match missing.is_empty() {
            true => BTreeMap::new(),
            false => self.texts_of(scope, view, &missing).await?,
        };
        let ranked = hits.iter().zip(1..);
        let found =
            ranked.filter_map(|(hit, rank)| candidate(&hit.id, Some((rank, hit)), &mut texts)).collect();
        let between =
            between.into_iter().filter_map(|(id, ends)| Some((candidate(&id, None, &mut more)?, ends)));
        let Composed { text, tokens, memories, omitted } = compose(found, between.collect(), options);
        let flags: Vec<&'static str> = recalled.flags.names().collect();
        Ok(Context {
            recall_id: recalled.id,
            generation: recalled.generation.0,
            freshness,
            truncated: omitted > 0 || flags.iter().any(|flag| flag.ends_with("_truncated")),
            text,
            tokens,
            memories,
            omitted,
            flags,
        })
    }
}

/// A memory with its text, and its rank if it is a hit; `None` without a text.
fn candidate(
    id: &str,
    hit: Option<(usize, &Hit)>,
    texts: &mut BTreeMap<String, StoredText>,
) -> Option<Candidate> {
    let StoredText { content, created, session } = texts.remove(id)?;
    let content = content.filter(|content| !content.trim().is_empty())?;
    let memory = ContextMemory {
        id: id.to_owned(),
        created,
        session,
        rank: hit.map(|(rank, _)| rank),
        score: hit.map(|(_, hit)| hit.score),
        path: hit.and_then(|(_, hit)| hit.route.as_ref()).map_or_else(Vec::new, |route| route.ids.clone()),
        duplicates: Vec::new(),
        is_cut: false,
    };
    Some(Candidate { memory, content })
}
