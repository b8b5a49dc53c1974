//! Embeds memories whose writers gave no embedding, by the configured embedder.
//!
//! The backlog is read in pages of one request. The embedder is called outside of any transaction; its vectors are
//! written in one, and only where the text is still the one that was embedded. A text that the embedder refuses, while
//! it accepts another, is put off for a day and delays no other. If the embedder cannot be used, the run ends with the
//! reason; what waits stays due, and later runs do not call the embedder during a pause that doubles up to an hour.
//!
//! # Design notes
//! Servers answer one bad text in various ways: 400, 413, 500, or numbers that are not finite. So a refused page is sent
//! text by text, and a refused text counts as such only if the embedder then accepts a probe; otherwise the fault is the
//! embedder's own.
//!
//! Invariants: a second run changes nothing (held by `jobs::embed::twice_is_once`); a refused text delays no other (held
//! by `jobs::embed::a_refused_text_is_put_off_alone`).

use super::{Completion, DAY_MS, DRY_RUN_ROWS, Job, MINUTE_MS, Work};
use crate::domain::units::Timestamp;
use crate::embedder::{Embedder, Failure, FailureKind, TEXT_BYTES_MAX, cut};
use crate::store::{EmbeddedText, EmbeddingTarget, Error, Tally, WaitingText};
use std::sync::Arc;
use tracing::warn;

pub(super) const JOB: Job = Job {
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
    if work.run.is_dry() {
        return estimate(&mut work, &target).await;
    }
    if work.adopt().await? == Completion::Budget || search(&mut work, &target).await? == Completion::Budget {
        return Ok(Completion::Budget);
    }
    let again = work.run.now.millis().saturating_add(DAY_MS);
    let again = Timestamp::from_millis(again).unwrap_or(work.run.now);
    loop {
        let page = work.budget.page(config.batch);
        let waiting = work.store.waiting_texts(&target, work.run.now, (TEXT_BYTES_MAX, page)).await?;
        if waiting.is_empty() {
            return Ok(Completion::End);
        }
        if let Some(why) = embedder.pause_reason() {
            return Ok(Completion::Stopped(why));
        }
        let (rows, stopped) = embed(&embedder, waiting).await;
        let handled = rows.len();
        if handled > 0 {
            work.store.write_embeddings(work.run, &target, &rows, (TEXT_BYTES_MAX, again)).await?;
        }
        if let Some(why) = stopped {
            embedder.begin_pause(&why);
            return Ok(Completion::Stopped(why.to_string()));
        }
        embedder.end_pause();
        if handled < page {
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
        after = work.store.find_unembedded(work.run, target, &place, PAGE).await?;
    }
    Ok(Completion::End)
}

/// Counts what a run would embed, if the embedder accepts all of it.
async fn estimate(work: &mut Work<'_>, target: &EmbeddingTarget) -> Result<Completion, Error> {
    let waiting = work.store.count_waiting_texts(work.run.now, work.page(DRY_RUN_ROWS)).await?;
    work.run.estimate(Tally { scanned: waiting, changed: waiting, ..Tally::default() });
    search(work, target).await
}

/// The results for a page, as far as the embedder works, and the failure that ended it.
async fn embed(embedder: &Arc<Embedder>, waiting: Vec<WaitingText>) -> (Vec<EmbeddedText>, Option<Failure>) {
    let (mut rows, mut asked) = (Vec::with_capacity(waiting.len()), Vec::new());
    for waiting in waiting {
        match &waiting.text {
            Some(_) => asked.push(waiting),
            None => rows.push(EmbeddedText { waiting, embedding: None }),
        }
    }
    let text = |waiting: &WaitingText| cut(waiting.text.as_deref().unwrap_or_default()).to_owned();
    if asked.is_empty() {
        return (rows, None);
    }
    match embedder.embed(asked.iter().map(text).collect()).await {
        Ok(vectors) => {
            let embedded = asked.into_iter().zip(vectors);
            rows.extend(
                embedded.map(|(waiting, numbers)| EmbeddedText { waiting, embedding: Some(numbers) }),
            );
            return (rows, None);
        }
        Err(why) if why.kind == FailureKind::Refused => {}
        Err(why) => return (rows, Some(why)),
    }
    for waiting in asked {
        let embedding = match embedder.embed(vec![text(&waiting)]).await {
            Ok(mut vectors) => vectors.pop(),
            Err(why) if why.kind == FailureKind::Refused => {
                if let Err(own) = embedder.probe().await {
                    return (rows, Some(own));
                }
                warn!(memory = %waiting.key, %why, "a memory was not embedded, and is tried again in a day");
                None
            }
            Err(why) => return (rows, Some(why)),
        };
        rows.push(EmbeddedText { waiting, embedding });
    }
    (rows, None)
}
