//! The backlog of memories without an embedding of the configured model: how it is filled, read and worked off.
//!
//! A memory that is created or revived without an embedding is queued at once. Others are found by a search over all
//! memories, which continues where it stopped, begins anew when the model changes, and is repeated daily: memories from
//! before the model was configured, and those whose embedding another program removed.

use super::Store;
use super::catalogue::{
    EMBEDDING_ADVANCE, EMBEDDING_CLAIM, EMBEDDING_DUE, EMBEDDING_FIND, EMBEDDING_OTHERS, EMBEDDING_PASS,
    EMBEDDING_WRITE,
};
use super::encode::{instants, list, slices};
use super::error::Error;
use super::memory::{bytes, keyed};
use super::run::Run;
use super::statement::Call;
use super::tally::Tally;
use super::tx::Tx;
use crate::domain::ids::MemoryKey;
use crate::domain::units::Timestamp;
use neo4rs::{BoltNull, BoltType};
use serde::Deserialize;

/// Time between two searches.
const SEARCH_EVERY_MS: i64 = 24 * 3_600_000;

/// Time for which the model of a program keeps programs with other models away.
const CLAIM_MS: i64 = 10 * 60 * 1_000;

/// Which embeddings memories are to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingTarget {
    pub model: String,
    /// Numbers of each embedding.
    pub dimensions: usize,
    /// Whether expired memories have one, too.
    pub expired: bool,
}

impl EmbeddingTarget {
    /// Model and dimensions. Embeddings of two targets with the same text can be compared.
    #[must_use]
    pub fn space(&self) -> String {
        format!("{} ({} numbers)", self.model, self.dimensions)
    }

    fn call(&self, call: Call) -> Call {
        call.set("model", self.model.as_str())
            .set("dimensions", i64::try_from(self.dimensions).unwrap_or(i64::MAX))
            .set("expired", self.expired)
    }
}

/// A memory in the backlog.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WaitingText {
    #[serde(flatten)]
    pub key: MemoryKey,
    /// Beginning of its content; `None` if it is not to be embedded any more.
    pub text: Option<String>,
}

/// The result for a memory of the backlog.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddedText {
    pub waiting: WaitingText,
    /// `None` if its text was refused, or if it has none.
    pub embedding: Option<Vec<f64>>,
}

/// Memories with embeddings of other models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct OtherEmbeddings {
    /// Memories that were read.
    pub read: i64,
    /// Those of them with embeddings of other models.
    pub memories: i64,
    /// The models of most of them.
    pub models: Vec<String>,
}

impl Store {
    /// Counts the memories whose embeddings were written by other models than the target's, among at most `limit`.
    pub async fn other_embeddings(
        &self,
        target: &EmbeddingTarget,
        limit: i64,
    ) -> Result<OtherEmbeddings, Error> {
        self.read_one(target.call(EMBEDDING_OTHERS.call()).set("limit", limit)).await
    }

    /// Records the model of this program, as a batch of `run`. Returns the other one instead, if another program has used
    /// one within the last ten minutes.
    pub async fn claim_embeddings(
        &self,
        run: &mut Run,
        target: &EmbeddingTarget,
    ) -> Result<Option<String>, Error> {
        #[derive(Deserialize)]
        struct Row {
            other: Option<String>,
        }
        let now = run.now.millis();
        self.in_run(run, "embedding.claim", async |tx: &mut Tx| {
            let call = EMBEDDING_CLAIM.call().set("model", target.space()).set("by", self.holder());
            let call = call.set("now", now).set("since", now.saturating_sub(CLAIM_MS));
            Ok((Tally::default(), tx.only::<Row>(call).await?.other))
        })
        .await
        .map(|(_, other)| other)
    }

    /// Where the search for memories without an embedding continues; `None` if none is due at `now`.
    pub async fn embedding_search(
        &self,
        target: &EmbeddingTarget,
        now: Timestamp,
    ) -> Result<Option<MemoryKey>, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Row {
            model: Option<String>,
            after_id: Option<String>,
            after_scope: Option<String>,
            passed: Option<i64>,
        }
        let row: Option<Row> = self.read_optional(EMBEDDING_PASS.call()).await?;
        let Some(row) = row.filter(|row| row.model == Some(target.space())) else {
            return Ok(Some(MemoryKey::FIRST));
        };
        let place = row.after_scope.zip(row.after_id).map(|(scope, id)| MemoryKey::of_row(&scope, &id));
        let is_fresh = |passed: i64| (0..SEARCH_EVERY_MS).contains(&now.millis().saturating_sub(passed));
        Ok(place.or_else(|| (!row.passed.is_some_and(is_fresh)).then_some(MemoryKey::FIRST)))
    }

    /// Queues those of a page of memories after `after` that lack an embedding, as a batch of `run`. Returns their number,
    /// and the last memory of the page; `None` after the last page.
    pub async fn find_unembedded(
        &self,
        run: &mut Run,
        target: &EmbeddingTarget,
        after: &MemoryKey,
        limit: usize,
    ) -> Result<(usize, Option<MemoryKey>), Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Row {
            scanned: i64,
            queued: i64,
            last_id: Option<String>,
            last_scope: Option<String>,
        }
        let now = run.now;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let body = async |tx: &mut Tx| {
            let call = target
                .call(EMBEDDING_FIND.call())
                .set("now", now.millis())
                .set("afterId", after.id())
                .set("afterScope", after.scope())
                .set("limit", limit);
            let Row { scanned, queued, last_id, last_scope } = tx.only(call).await?;
            let last = last_scope.zip(last_id).filter(|_| scanned >= limit);
            let call = EMBEDDING_ADVANCE
                .call()
                .set("model", target.space())
                .set("afterId", last.as_ref().map(|(_, id)| id.as_str()))
                .set("afterScope", last.as_ref().map(|(scope, _)| scope.as_str()))
                .set("passed", last.is_none().then_some(now.millis()));
            tx.run(call).await?;
            let last = last.map(|(scope, id)| MemoryKey::of_row(&scope, &id));
            // They are counted when they are read from the backlog.
            Ok((Tally::default(), (usize::try_from(queued).unwrap_or(0), last)))
        };
        Ok(self.in_run(run, "embedding.find", body).await?.1)
    }

    /// Memories of the backlog at `now`, the newest or the longest-waiting, with the first `chars` characters of their
    /// texts. Fewer than `limit` are all.
    pub async fn waiting_texts(
        &self,
        target: &EmbeddingTarget,
        (now, newest): (Timestamp, bool),
        (chars, limit): (usize, usize),
    ) -> Result<Vec<WaitingText>, Error> {
        let (oldest, newest) = if newest { (0, limit) } else { (limit, 0) };
        let mut call = target.call(EMBEDDING_DUE.call()).set("now", now.millis());
        for (name, number) in [("chars", chars), ("oldest", oldest), ("newest", newest)] {
            call = call.set(name, i64::try_from(number).unwrap_or(i64::MAX));
        }
        self.read(call).await
    }

    /// Writes embeddings, takes memories off the backlog, and puts refused ones off until `again`, as a batch of `run`.
    pub async fn write_embeddings(
        &self,
        run: &mut Run,
        target: &EmbeddingTarget,
        rows: &[EmbeddedText],
        (chars, again): (usize, Timestamp),
    ) -> Result<Tally, Error> {
        let mut rows: Vec<&EmbeddedText> = rows.iter().collect();
        let now = run.now;
        // Locks are taken in the order of the keys.
        rows.sort_unstable_by(|a, b| a.waiting.key.cmp(&b.waiting.key));
        self.in_run(run, "embedding.write", async |tx: &mut Tx| {
            let mut embedded = 0;
            for slice in slices(&EMBEDDING_WRITE, &rows, |row| row.bytes()) {
                let call = keyed(EMBEDDING_WRITE.call(), slice.iter().map(|row| &row.waiting.key))
                    .set("text", list(slice.iter().map(|row| row.waiting.text.as_deref())))
                    .set("embedding", list(slice.iter().map(|row| row.numbers())))
                    .set("due", instants(slice.iter().map(|row| row.is_refused().then_some(again))))
                    .set("model", target.model.as_str())
                    .set("now", now.millis())
                    .set("chars", i64::try_from(chars).unwrap_or(i64::MAX));
                let places: Vec<usize> = tx.rows(call).await?;
                let written: Vec<&MemoryKey> =
                    places.iter().filter_map(|at| Some(&slice.get(*at)?.waiting.key)).collect();
                embedded += written.len();
                tx.touch_memories(written, "");
            }
            let [scanned, changed] = [rows.len(), embedded].map(|n| i64::try_from(n).unwrap_or(i64::MAX));
            Ok(Tally { scanned, changed, skipped: scanned - changed, ..Tally::default() })
        })
        .await
    }
}

impl EmbeddedText {
    fn is_refused(&self) -> bool {
        self.waiting.text.is_some() && self.embedding.is_none()
    }

    /// Numbers as a parameter, null if there are none.
    fn numbers(&self) -> BoltType {
        match &self.embedding {
            Some(numbers) => list(numbers.iter().copied()),
            None => BoltType::Null(BoltNull),
        }
    }

    fn bytes(&self) -> usize {
        let numbers = self.embedding.as_ref().map_or(1, |numbers| numbers.len() * 9);
        bytes(&self.waiting.key) + self.waiting.text.as_ref().map_or(1, String::len) + numbers + 20
    }
}
