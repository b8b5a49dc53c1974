//! Memories for which a mirror has no room, found by Neo4j's vector index.
//!
//! A recall with an embedding asks the index if the mirror holds a part of its scope. Such a memory is known by the similarity
//! of its embedding alone: no words and no links count, and it is a hit by what its similarity gives on the scale of all.
//!
//! # Design notes
//! The index knows no scope, so more is asked for than is used. If the database does not answer in time, the recall is
//! answered from the mirror alone, and says so.

use super::Error;
use super::texts::StoredText;
use crate::api::recall::Hit;
use crate::domain::annotations::Metadata;
use crate::domain::ids::{MemoryKey, Scope, labelled};
use crate::mirror::{Current, LABEL_BYTES_MAX};
use crate::service::Service;
use crate::store::{self, MirrorQuery, NearestMemories, NearestMemory, Record};
use ebb_engine::View;
use ebb_engine::graph::kinds::NodeType;
use ebb_engine::recall::{Dimensions, Filter, Fusion, RecallQuery, RecallResult, Relevance};
use ebb_engine::scratch::Scratch;
use ebb_engine::text::fold::cut;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tracing::warn;

/// Label and kind of memories.
const MEMORY: &str = "Memory";
/// Memories of the index that are looked at, of any scope.
const LOOKED_AT: usize = 1_000;
/// Memories of the database that can be hits of one recall.
const HITS_MAX: usize = 100;
/// Time that a recall waits for a read that it can do without.
pub(super) const TIMEOUT: Duration = Duration::from_secs(1);

/// Flag of a recall for which the vector index did not answer in time: it was answered from the mirror alone.
const UNAVAILABLE: &str = "vector_index_unavailable";
/// Flag of a recall for which the index has more memories than were looked at.
const LIMITED: &str = "vector_index_limited";

/// A memory that the mirror does not hold.
#[derive(Debug)]
struct Outside {
    /// Its name among the nodes of the mirror.
    name: String,
    similarity: f32,
    /// The memory itself, if it may be a hit.
    record: Option<Record>,
}

/// Memories near the vector of a query that the mirror does not hold, the nearest first.
#[derive(Debug, Default)]
pub(in crate::service) struct OutsideMemories {
    found: Vec<Outside>,
    pub(super) flag: Option<&'static str>,
}

/// Hits from the database with their texts.
#[derive(Debug, Default)]
pub(in crate::service) struct StoredHits {
    pub(in crate::service) hits: Vec<Hit>,
    pub(super) texts: BTreeMap<String, StoredText>,
}

impl OutsideMemories {
    /// Names with similarities, for the scale of all.
    pub(super) fn similarities(&self) -> Vec<(String, f32)> {
        self.found.iter().map(|one| (one.name.clone(), one.similarity)).collect()
    }
}

impl Service {
    /// The memories near the vector of a query that the mirror has no room for; none if it holds all of its scope.
    pub(super) async fn outside(
        &self,
        scope: &Scope,
        current: &Current,
        query: &RecallQuery,
    ) -> Result<OutsideMemories, Error> {
        let vector = query.vector.as_ref().filter(|_| query.fusion == Fusion::Text && !current.is_whole());
        let Some(vector) = vector else { return Ok(OutsideMemories::default()) };
        let asked = self.mirror.query(scope)?.with_embeddings(Some(self.store.similarity()));
        let nearest = match in_time(self.store.nearest_to(&asked, vector, LOOKED_AT)).await {
            Ok(nearest) => nearest,
            Err(why) => return Ok(unavailable(scope, &why)),
        };
        let NearestMemories { memories, is_cut } = nearest;
        let named = memories.into_iter().filter_map(|near| {
            let name = name_outside(&current.view, &asked, &near.id)?;
            Some((name, near))
        });
        let named: Vec<(String, NearestMemory)> = named.collect();
        let passing: Vec<MemoryKey> = named
            .iter()
            .filter(|(_, near)| passes(&query.filter, near))
            .take(HITS_MAX)
            .map(|(_, near)| MemoryKey::of_row(scope.as_str(), &near.id))
            .collect();
        let flag = (is_cut && passing.len() < HITS_MAX).then_some(LIMITED);
        let records = match passing.is_empty() {
            true => Vec::new(),
            false => match in_time(self.store.memories_cut(&passing)).await {
                Ok(records) => records,
                Err(why) => return Ok(unavailable(scope, &why)),
            },
        };
        let usable = records.into_iter().filter(|record| record.life.is_ok());
        let mut records: BTreeMap<String, Record> =
            usable.map(|record| (record.id.clone(), record)).collect();
        let outside = |(name, near): (String, NearestMemory)| Outside {
            name,
            similarity: near.similarity,
            record: records.remove(&near.id),
        };
        Ok(OutsideMemories { found: named.into_iter().map(outside).collect(), flag })
    }

    /// Adds the relevance of hits from the database, by their texts, and leaves out those below the least that was requested.
    pub(in crate::service) async fn with_relevance(
        &self,
        stored: StoredHits,
        relevance: Relevance,
        least: Option<f32>,
    ) -> Result<StoredHits, Error> {
        if stored.hits.is_empty() {
            return Ok(stored);
        }
        // The words of up to a hundred texts are read.
        let work = move |_: &mut Scratch| {
            let StoredHits { mut hits, texts } = stored;
            for hit in &mut hits {
                let text = texts.get(&hit.id).and_then(|text| text.content.as_deref());
                hit.relevance = text.and_then(|text| relevance.of_text(text, hit.similarity));
            }
            hits.retain(|hit| least.is_none_or(|least| hit.relevance.is_some_and(|own| own >= least)));
            StoredHits { hits, texts }
        };
        Ok(self.compute.run(work).await?)
    }
}

/// The hits from the database among the best of both, of which the others leave the result.
pub(in crate::service) fn stored_hits(
    outside: OutsideMemories,
    top_k: usize,
    recalled: &mut RecallResult,
) -> StoredHits {
    let scored = outside.found.into_iter().filter_map(|Outside { name, similarity, record }| {
        let score = recalled.scale.score(similarity);
        Some((name, similarity, score, record.filter(|_| score > 0.0)?))
    });
    let mut chosen: Vec<(String, f32, f32, Record)> = scored.collect();
    let held = recalled.hits.iter().map(|hit| (hit.score, hit.id.as_str()));
    let mut all: Vec<(f32, &str)> =
        held.chain(chosen.iter().map(|(name, _, score, _)| (*score, name.as_str()))).collect();
    all.sort_unstable_by(|a, b| by_score(*a, *b));
    let best: BTreeSet<String> = all.into_iter().take(top_k).map(|(_, name)| name.to_owned()).collect();
    chosen.retain(|(name, ..)| best.contains(name));
    recalled.hits.retain(|hit| best.contains(&hit.id));
    let mut stored = StoredHits::default();
    for (name, similarity, score, record) in chosen {
        stored.hits.push(Hit {
            id: name.clone(),
            label: cut(record.content.as_deref().unwrap_or(&record.id), LABEL_BYTES_MAX).to_owned(),
            kind: MEMORY.to_owned(),
            score,
            relevance: None,
            dimensions: Dimensions::default(),
            bonus: 1.0,
            path: Vec::new(),
            steps: None,
            text_rank: None,
            similarity: Some(similarity),
            contrast: None,
            content: None,
            tags: record.annotations.tags().map(str::to_owned).collect(),
            metadata: record.annotations.metadata().map(Metadata::fields),
            provenance: Some(record.annotations.provenance().clone()),
            partial: true,
            from_database: true,
        });
        stored.texts.insert(name, StoredText::of_memory(record).1);
    }
    stored
}

/// Logs why there is nothing from the database.
fn unavailable(scope: &Scope, why: &str) -> OutsideMemories {
    warn!(%scope, why, "a recall is answered without the vector index of the database");
    OutsideMemories { found: Vec::new(), flag: Some(UNAVAILABLE) }
}

/// The order of hits: the best first, then by id.
pub(in crate::service) fn by_score(a: (f32, &str), b: (f32, &str)) -> Ordering {
    b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1))
}

/// The result of a read, or why there is none.
async fn in_time<T>(read: impl Future<Output = Result<T, store::Error>>) -> Result<T, String> {
    match tokio::time::timeout(TIMEOUT, Box::pin(read)).await {
        Ok(result) => result.map_err(|why| why.to_string()),
        Err(_) => Err(format!("no response within {} ms", TIMEOUT.as_millis())),
    }
}

/// The name of a memory among the nodes of a view; `None` if the view holds it.
fn name_outside(view: &View, asked: &MirrorQuery, id: &str) -> Option<String> {
    let (graph, full) = (view.graph(), format!("{MEMORY}:{id}"));
    let is_memory =
        |name: &str| graph.find(name).is_some_and(|node| graph.node_type(node) == NodeType::MEMORY);
    let is_labelled = labelled(asked.labels().map(|(label, _)| label), id).is_some();
    if !is_labelled && is_memory(id) || is_memory(&full) {
        return None;
    }
    Some(if is_labelled || graph.find(id).is_some() { full } else { id.to_owned() })
}

/// Whether a memory passes the filter of a recall, as the nodes of a view do.
fn passes(filter: &Filter, memory: &NearestMemory) -> bool {
    let Filter { kinds, tiers, since, session, tags, metadata, has_text: _ } = filter;
    let is_one_of = |tier: &String| tiers.iter().any(|one| one == tier);
    (kinds.is_empty() || kinds.iter().any(|kind| kind == MEMORY))
        && (tiers.is_empty() || memory.tier.as_ref().is_some_and(is_one_of))
        && since.is_none_or(|since| memory.last_accessed.is_some_and(|at| at >= since))
        && session.as_deref().is_none_or(|session| memory.session.as_deref() == Some(session))
        && tags.iter().all(|tag| memory.tags.contains(tag))
        && metadata.holds(memory.metadata.as_ref())
}
