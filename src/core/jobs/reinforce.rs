//! Strengthens short-term and long-term memories by similar new ones.
//!
//! Every memory is new once. It is compared by its embedding, if it has one, with those of the vector index; else by
//! its text with the texts of its scope, which are read once in a run, and only if there is something to compare.
//!
//! # Design notes
//! Of a scope with more than 50,000 promoted memories only those with the most energy are compared, and the run logs
//! that: memories with the least energy matter least, and the texts must fit in memory. The vector index knows neither
//! scope nor tier, so the number of neighbours is raised until twenty count, or until one falls below the threshold. At
//! 6,400 it ends: then so many that do not count are more similar, and those further away are not compared, which is logged.
//!
//! Invariant: a pair is strengthened once (held by `jobs::reinforce::twice_is_once`).

use super::{Completion, Job, Work, pages};
use crate::domain::ids::MemoryKey;
use crate::domain::tunables::Tunables;
use crate::store::{Error, NewMemory, SimilarMemories, Store};
use ebb_engine::semantic::trigram::CharNgramIndex;
use std::collections::BTreeMap;
use tracing::warn;

pub(super) static JOB: Job = Job {
    name: "reinforce",
    about: "Strengthen promoted memories by similar new ones, each pair once",
    // As often as promotion, which depends on it.
    interval_ms: Tunables::promotion_interval_ms,
    waits_since: |backlog| backlog.reinforce,
    left: |waiting| waiting.reinforce,
    run: |work| Box::pin(run(work)),
};

/// Greatest number of old memories that one new one strengthens, the most similar.
const MOST: usize = 20;
/// New memories of one transaction: with those they strengthen, a thousand rows.
const PAGE: usize = 50;
/// Greatest number of texts of one scope that are compared.
const CORPUS_MAX: usize = 50_000;
/// Neighbours requested from the vector index at first, and at most.
const NEIGHBOURS: usize = 100;
const NEIGHBOURS_MAX: usize = 6_400;

/// Strengthens memories similar to those that are new at the run's `now`.
async fn run(mut work: Work<'_>) -> Result<Completion, Error> {
    if work.adopt().await? == Completion::Budget {
        return Ok(Completion::Budget);
    }
    let mut texts = Texts::default();
    loop {
        let page = work.page(PAGE);
        let new = work.store.new_memories(work.run.now, page).await?;
        if new.is_empty() {
            return Ok(Completion::End);
        }
        let mut strengthen = async |work: &mut Work<'_>, new: &[NewMemory], failed: Option<&Error>| {
            if let (Some(why), [new]) = (failed, new) {
                return work.store.quarantine_new(work.run, new, why).await;
            }
            let likenesses = compare(work.store, work.tunables, &mut texts, new).await?;
            work.store.reinforce(work.run, work.tunables, &likenesses, texts.cut).await?;
            texts.cut = 0;
            Ok(())
        };
        for new in new.chunks(PAGE) {
            pages::items(&mut work, new, &mut strengthen).await?;
        }
        if new.len() < page {
            return Ok(Completion::End);
        }
        work.budget.spend(new.len());
        if work.run.is_dry() || work.budget.is_spent() {
            return Ok(Completion::Budget);
        }
    }
}

/// The texts of each scope, as far as they were read.
#[derive(Default)]
struct Texts {
    scopes: BTreeMap<String, (Vec<MemoryKey>, CharNgramIndex)>,
    /// Scopes that were cut since the last log line.
    cut: i64,
}

impl Texts {
    async fn of(&mut self, store: &Store, scope: &str) -> Result<&(Vec<MemoryKey>, CharNgramIndex), Error> {
        if !self.scopes.contains_key(scope) {
            let mut corpus = store.corpus(scope, CORPUS_MAX + 1).await?;
            self.cut += i64::from(corpus.len() > CORPUS_MAX);
            corpus.truncate(CORPUS_MAX);
            let index = CharNgramIndex::build(corpus.iter().map(|old| old.text.as_str()));
            let keys = corpus.iter().map(|old| MemoryKey::of_row(scope, &old.id)).collect();
            self.scopes.insert(scope.to_owned(), (keys, index));
        }
        Ok(&self.scopes[scope])
    }
}

async fn compare(
    store: &Store,
    tunables: &Tunables,
    texts: &mut Texts,
    page: &[NewMemory],
) -> Result<Vec<SimilarMemories>, Error> {
    let mut likenesses = Vec::with_capacity(page.len());
    for new in page {
        let old = if new.embedded {
            by_embedding(store, new, tunables.config().semantic_similarity_threshold).await?
        } else {
            by_text(texts.of(store, new.key.scope()).await?, new, store.similarity().text_threshold)
        };
        likenesses.push(SimilarMemories { new: new.key.clone(), old });
    }
    Ok(likenesses)
}

fn by_text(
    texts: &(Vec<MemoryKey>, CharNgramIndex),
    new: &NewMemory,
    threshold: f64,
) -> Vec<(MemoryKey, f64)> {
    let (keys, index) = texts;
    // One more, since a memory that was promoted meanwhile is most similar to itself.
    let like = index.most_similar(&new.text, MOST + 1).into_iter();
    let named = like.filter_map(|like| Some((keys.get(like.text as usize)?.clone(), f64::from(like.score))));
    named.filter(|(key, score)| *key != new.key && *score > threshold).take(MOST).collect()
}

/// The most similar memories that count.
async fn by_embedding(
    store: &Store,
    new: &NewMemory,
    threshold: f64,
) -> Result<Vec<(MemoryKey, f64)>, Error> {
    let mut limit = NEIGHBOURS;
    loop {
        let near = store.nearest(&new.key, limit).await?;
        let cosine = |score: f64| 2.0 * score - 1.0;
        let whole = near.len() < limit || near.last().is_none_or(|last| cosine(last.score) <= threshold);
        let mut old: Vec<(MemoryKey, f64)> = near
            .into_iter()
            .filter(|near| near.counts && cosine(near.score) > threshold)
            .filter_map(|near| Some((MemoryKey::of_row(new.key.scope(), &near.id?), cosine(near.score))))
            .collect();
        let is_enough = whole || old.len() >= MOST;
        if is_enough || limit >= NEIGHBOURS_MAX {
            old.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
            old.truncate(MOST);
            if !is_enough {
                warn!(
                    id = new.key.id(),
                    "more than {NEIGHBOURS_MAX} memories are more similar to this new one than those it may strengthen"
                );
            }
            return Ok(old);
        }
        limit *= 4;
    }
}
