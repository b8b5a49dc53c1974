//! Embeds memories whose writers gave no embedding, by the configured embedder.
//!
//! The backlog is read in pages, in turn from its newest and from its oldest end. The embedder is called outside of any
//! transaction; its vectors are written in one, and only where the text is still the one that was embedded. After a failed request the embedder gets a probe. If that fails,
//! the run ends with the reason; what waits stays due, and later runs do not call the embedder during a pause that doubles
//! up to an hour. Otherwise half of the texts are sent, and so on; a single text that fails twice is put off for a day and
//! delays no other.
//!
//! # Design notes
//! Servers answer a bad text in various ways: 400, 413, 500, or numbers that are not finite; and one that is too much at
//! once by 413, 429, 503 or a time-out. None of these tells one case from the other, so each is treated as either.
//!
//! Invariants: a second run changes nothing (held by `jobs::embed::twice_is_once`); a refused text delays no other (held
//! by `jobs::embed::a_refused_text_is_put_off_alone`).

use super::{Budget, Completion, DAY_MS, DRY_RUN_ROWS, Job, MINUTE_MS, Work};
use crate::domain::units::Timestamp;
use crate::embedder::{Embedder, Failure, FailureKind, TEXT_BYTES_MAX};
use crate::store::{EmbeddedText, EmbeddingTarget, Error, Tally, WaitingText};
use ebb_engine::text::fold::cut;
use std::sync::Arc;
use tracing::warn;

pub(super) static JOB: Job = Job {
    name: "embed",
    about: "Embed memories whose writers gave no embedding, if an embedder is configured",
    interval_ms: |_| MINUTE_MS,
    waits_since: |backlog| backlog.embed,
    left: |waiting| waiting.embed,
    run: |work| Box::pin(run(work)),
};

/// Memories of one transaction of the search.
const PAGE: usize = 1_000;

/// Embeds the memories that wait at the run's `now`.
async fn run(mut work: Work<'_>) -> Result<Completion, Error> {
    let Some(embedder) = work.embedder.clone() else { return Ok(Completion::End) };
    let config = embedder.config();
    let target = EmbeddingTarget {
        model: config.model.clone(),
        dimensions: config.dimensions,
        expired: config.expired,
    };
    if let Some(other) = work.store.claim_embeddings(work.run, &target).await? {
        return Ok(Completion::Stopped(format!(
            "another process has embedded by {other} within the last ten minutes, and this one is to embed by {}: give all \
             processes of a database the same section [embedding]; after a change of the model wait as long",
            target.space()
        )));
    }
    if work.adopt().await? == Completion::Budget {
        return Ok(Completion::Budget);
    }
    if work.run.is_dry() {
        let reached = estimate(&mut work, &target).await?;
        let paused = embedder.pause_reason().filter(|_| work.run.estimated().changed > 0);
        return Ok(paused.map_or(reached, Completion::Stopped));
    }
    if search(&mut work, &target).await? == Completion::Budget {
        return Ok(Completion::Budget);
    }
    let again = work.run.now.millis().saturating_add(DAY_MS);
    let again = Timestamp::from_millis(again).unwrap_or(work.run.now);
    let mut newest = false;
    loop {
        newest = !newest;
        let page = work.budget.page(config.batch);
        let due = (work.run.now, newest);
        let waiting = work.store.waiting_texts(&target, due, (TEXT_BYTES_MAX, page)).await?;
        if waiting.is_empty() {
            return Ok(Completion::End);
        }
        if let Some(why) = embedder.pause_reason() {
            return Ok(Completion::Stopped(why));
        }
        let read = waiting.len();
        let (rows, stopped) = embed(&embedder, &work.budget, waiting).await;
        let handled = rows.len();
        if handled > 0 {
            work.store.write_embeddings(work.run, &target, &rows, (TEXT_BYTES_MAX, again)).await?;
        }
        if let Some(why) = stopped {
            embedder.begin_pause(&why);
            return Ok(Completion::Stopped(why.to_string()));
        }
        embedder.end_pause();
        if handled == read && read < page {
            return Ok(Completion::End);
        }
        work.budget.spend(handled);
        if work.budget.is_spent() {
            return Ok(Completion::Budget);
        }
    }
}

/// Queues memories without an embedding of the model, from where the last run stopped.
async fn search(work: &mut Work<'_>, target: &EmbeddingTarget) -> Result<Completion, Error> {
    let mut after = work.store.embedding_search(target, work.run.now).await?;
    while let Some(place) = after {
        if work.budget.is_spent() {
            return Ok(Completion::Budget);
        }
        let (queued, next) = work.store.find_unembedded(work.run, target, &place, PAGE).await?;
        after = next;
        if work.run.is_dry() {
            count(work, queued, queued);
        }
    }
    Ok(Completion::End)
}

/// Counts what a run would do, if the embedder accepts all of it.
async fn estimate(work: &mut Work<'_>, target: &EmbeddingTarget) -> Result<Completion, Error> {
    let limit = work.page(DRY_RUN_ROWS);
    let waiting = work.store.waiting_texts(target, (work.run.now, true), (1, limit)).await?;
    work.run.cap_if(waiting.len() >= limit);
    let embedded = waiting.iter().filter(|waiting| waiting.text.is_some()).count();
    count(work, waiting.len(), embedded);
    search(work, target).await
}

/// Counts rows of a dry run, as far as its budget allows.
fn count(work: &mut Work<'_>, scanned: usize, embedded: usize) {
    let [scanned, embedded] = [scanned, embedded].map(|rows| work.budget.page(rows));
    work.budget.spend(scanned);
    work.run.cap_if(work.budget.is_spent());
    let [scanned, changed] = [scanned, embedded].map(|rows| i64::try_from(rows).unwrap_or(i64::MAX));
    work.run.estimate(Tally { scanned, changed, skipped: scanned - changed, ..Tally::default() });
}

/// The results for a page, as far as the embedder works and the budget allows, and the failure that ended it.
async fn embed(
    embedder: &Arc<Embedder>,
    budget: &Budget,
    waiting: Vec<WaitingText>,
) -> (Vec<EmbeddedText>, Option<Failure>) {
    let (asked, others): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|waiting| waiting.text.is_some());
    let mut rows: Vec<EmbeddedText> =
        others.into_iter().map(|waiting| EmbeddedText { waiting, embedding: None }).collect();
    let mut asked = asked.as_slice();
    while !asked.is_empty() && !budget.is_spent() {
        let (sent, later) = asked.split_at(embedder.texts_at_once().min(asked.len()));
        let vectors = match embedder.embed(texts(sent)).await {
            Ok(vectors) => vectors.into_iter().map(Some).collect(),
            Err(why) => match judge(embedder, sent, why).await {
                Ok(None) => continue,
                Ok(Some(vectors)) => vectors,
                Err(why) => return (rows, Some(why)),
            },
        };
        let embedded = sent.iter().cloned().zip(vectors);
        rows.extend(embedded.map(|(waiting, embedding)| EmbeddedText { waiting, embedding }));
        asked = later;
    }
    (rows, None)
}

/// Decides what a failure means for the texts that were sent: an error, the embedder cannot be used; `None`, fewer are to
/// be sent; else the results, if there was one text only.
async fn judge(
    embedder: &Arc<Embedder>,
    sent: &[WaitingText],
    why: Failure,
) -> Result<Option<Vec<Option<Vec<f64>>>>, Failure> {
    if why.kind == FailureKind::Unusable {
        return Err(why);
    }
    embedder.probe().await?;
    if sent.len() > 1 {
        return Ok(None);
    }
    // A failure that passes is no fault of the text.
    let second = embedder.embed(texts(sent)).await;
    Ok(Some(match second {
        Ok(vectors) => vectors.into_iter().map(Some).collect(),
        Err(why) => {
            for WaitingText { key, .. } in sent {
                warn!(memory = %key, %why, "a memory was not embedded, and is tried again in a day");
            }
            vec![None]
        }
    }))
}

fn texts(waiting: &[WaitingText]) -> Vec<String> {
    let text =
        |waiting: &WaitingText| cut(waiting.text.as_deref().unwrap_or_default(), TEXT_BYTES_MAX).to_owned();
    waiting.iter().map(text).collect()
}
