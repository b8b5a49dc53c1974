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
use crate::domain::ids::{MemoryKey, Scope, labelled};
use crate::mirror::{Current, LABEL_BYTES_MAX};
use crate::service::Service;
use crate::store::{self, MirrorQuery, NearestMemories, NearestMemory, Record};
use ebb_engine::View;
use ebb_engine::graph::kinds::NodeType;
use ebb_engine::recall::{Dimensions, Filter, Fusion, RecallQuery, RecallResult};
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
/// Time that a recall waits for each of its two reads.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Flag of a recall for which the vector index did not answer in time: it was answered from the mirror alone.
const UNAVAILABLE: &str = "vector_index_unavailable";
/// Flag of a recall for which the index has more memories than were looked at.
const TRUNCATED: &str = "vector_index_truncated";

/// A memory that the mirror does not hold.
#[derive(Debug)]
struct Outside {
    /// Its name among the nodes of the mirror.
    name: String,
    near: NearestMemory,
}

/// Memories near the vector of a query that the mirror does not hold, the nearest first.
#[derive(Debug, Default)]
pub(super) struct OutsideMemories {
    found: Vec<Outside>,
    flag: Option<&'static str>,
}

/// Hits from the database with their texts, and the flag of the recall.
#[derive(Debug, Default)]
pub(super) struct StoredHits {
    pub(super) hits: Vec<Hit>,
    pub(super) texts: BTreeMap<String, StoredText>,
    pub(super) flag: Option<&'static str>,
}

impl OutsideMemories {
    /// Names with similarities, for the scale of all.
    pub(super) fn similarities(&self) -> Vec<(String, f32)> {
        self.found.iter().map(|one| (one.name.clone(), one.near.similarity)).collect()
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
        let NearestMemories { memories, is_cut } =
            match in_time(self.store.nearest_to(&asked, vector, LOOKED_AT)).await {
                Ok(nearest) => nearest,
                Err(why) => {
                    return Ok(OutsideMemories { found: Vec::new(), flag: Some(unavailable(scope, &why)) });
                }
            };
        let outside = |near: NearestMemory| {
            Some(Outside { name: name_outside(&current.view, &asked, &near.id)?, near })
        };
        let found: Vec<Outside> = memories.into_iter().filter_map(outside).collect();
        let passing = found.iter().filter(|one| passes(&query.filter, &one.near)).count();
        let flag = (is_cut && passing < HITS_MAX).then_some(TRUNCATED);
        Ok(OutsideMemories { found, flag })
    }

    /// The hits from the database, and leaves of a result what is among the best of both.
    pub(super) async fn stored_hits(
        &self,
        scope: &Scope,
        outside: OutsideMemories,
        (filter, top_k): (&Filter, usize),
        recalled: &mut RecallResult,
    ) -> StoredHits {
        let flag = outside.flag;
        let mut chosen = scored(outside, filter, recalled);
        let best = best(&chosen, recalled, top_k);
        chosen.retain(|(one, _)| best.contains(&one.name));
        if chosen.is_empty() {
            return StoredHits { flag, ..StoredHits::default() };
        }
        let keys: Vec<MemoryKey> =
            chosen.iter().map(|(one, _)| MemoryKey::of_row(scope.as_str(), &one.near.id)).collect();
        let records = match in_time(self.store.memories(&keys)).await {
            Ok(records) => records,
            Err(why) => return StoredHits { flag: Some(unavailable(scope, &why)), ..StoredHits::default() },
        };
        recalled.hits.retain(|hit| best.contains(&hit.id));
        let mut records: BTreeMap<String, Record> =
            records.into_iter().map(|record| (record.id.clone(), record)).collect();
        let mut stored = StoredHits { flag, ..StoredHits::default() };
        for (Outside { name, near }, score) in chosen {
            let Some(record) = records.remove(&near.id).filter(|record| record.life.is_ok()) else {
                continue;
            };
            stored.hits.push(Hit {
                id: name.clone(),
                label: cut(record.content.as_deref().unwrap_or(&near.id), LABEL_BYTES_MAX).to_owned(),
                kind: MEMORY.to_owned(),
                score,
                dimensions: Dimensions::default(),
                bonus: 1.0,
                path: Vec::new(),
                steps: None,
                text_rank: None,
                similarity: Some(near.similarity),
                contrast: None,
                content: None,
                tags: record.annotations.tags().map(str::to_owned).collect(),
                provenance: Some(record.annotations.provenance().clone()),
                partial: true,
                from_database: true,
            });
            stored.texts.insert(name, StoredText::of_memory(record).1);
        }
        stored
    }
}

/// The memories that may be hits, with their scores.
fn scored(outside: OutsideMemories, filter: &Filter, recalled: &RecallResult) -> Vec<(Outside, f32)> {
    let passing = outside.found.into_iter().filter(|one| passes(filter, &one.near)).take(HITS_MAX);
    let scored = passing.map(|one| {
        let score = recalled.scale.score(one.near.similarity);
        (one, score)
    });
    scored.filter(|(_, score)| *score > 0.0).collect()
}

/// The names of the best of both.
fn best(stored: &[(Outside, f32)], recalled: &RecallResult, top_k: usize) -> BTreeSet<String> {
    let held = recalled.hits.iter().map(|hit| (hit.score, hit.id.as_str()));
    let mut all: Vec<(f32, &str)> =
        held.chain(stored.iter().map(|(one, score)| (*score, one.name.as_str()))).collect();
    all.sort_unstable_by(|a, b| by_score(*a, *b));
    all.into_iter().take(top_k).map(|(_, name)| name.to_owned()).collect()
}

/// Logs why there is nothing from the database; the flag of the recall.
fn unavailable(scope: &Scope, why: &str) -> &'static str {
    warn!(%scope, why, "a recall is answered without the vector index of the database");
    UNAVAILABLE
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
    let Filter { kinds, tiers, since, session, has_text: _ } = filter;
    let is_one_of = |tier: &String| tiers.iter().any(|one| one == tier);
    (kinds.is_empty() || kinds.iter().any(|kind| kind == MEMORY))
        && (tiers.is_empty() || memory.tier.as_ref().is_some_and(is_one_of))
        && since.is_none_or(|since| memory.last_accessed.is_some_and(|at| at >= since))
        && session.as_deref().is_none_or(|session| memory.session.as_deref() == Some(session))
}
