//! Retroactive reinforcement: the reads for comparing memories, and the writes of the results.
//!
//! A page of new memories is one transaction. It locks them and the old ones in the order of their ids, skips pairs
//! that are linked already, lets the law apply all new memories to each old one, and writes it once.

use super::Store;
use super::catalogue::{
    REINFORCEMENT_CORPUS, REINFORCEMENT_DONE, REINFORCEMENT_DRAW, REINFORCEMENT_DUE, REINFORCEMENT_KNOWN,
    REINFORCEMENT_NEAREST,
};
use super::decode::Life;
use super::encode::{list, slices};
use super::error::Error;
use super::memory::{bytes, keyed, lock, quarantine, write};
use super::run::Run;
use super::schema::vector_index;
use super::statement::Call;
use super::tally::Tally;
use super::tx::{Mode, Tx};
use crate::domain::ids::MemoryKey;
use crate::domain::memory::{self, MemoryState};
use crate::domain::similarity::Similarity;
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A new memory that reinforces similar ones.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct NewMemory {
    #[serde(flatten)]
    pub key: MemoryKey,
    /// Content, as far as it is compared.
    pub text: String,
    /// Whether it has a valid embedding.
    pub embedded: bool,
}

/// A short-term or long-term memory that a new one may resemble.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CorpusMemory {
    pub id: String,
    /// Content, as far as it is compared.
    pub text: String,
}

/// A memory with a near embedding.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct NearMemory {
    /// Id; `None` if it has none.
    pub id: Option<String>,
    /// `(1 + cosine) / 2`.
    pub score: f64,
    /// Whether it is another memory of the same scope in short-term or long-term memory.
    pub counts: bool,
}

/// A new memory with the similar old ones.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarMemories {
    pub new: MemoryKey,
    /// Old memories of its scope with their similarity.
    pub old: Vec<(MemoryKey, f64)>,
}

impl Store {
    /// Settings of the comparison.
    #[must_use]
    pub fn similarity(&self) -> &Similarity {
        &self.similarity
    }

    /// New memories that wait for reinforcement at `now`, the longest-waiting first.
    pub async fn new_memories(&self, now: Timestamp, limit: usize) -> Result<Vec<NewMemory>, Error> {
        let dimensions = self.similarity.dimensions.and_then(|d| i64::try_from(d).ok()).unwrap_or(-1);
        let call = REINFORCEMENT_DUE
            .call()
            .set("now", now.millis())
            .set("dimensions", dimensions)
            .set("limit", i64::try_from(limit).unwrap_or(i64::MAX));
        self.read(call).await
    }

    /// Texts of a scope's short-term and long-term memories, by id: those of most energy, if there are more than
    /// `limit`.
    pub async fn corpus(&self, scope: &str, limit: usize) -> Result<Vec<CorpusMemory>, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(REINFORCEMENT_CORPUS.call().set("scope", scope).set("limit", limit)).await
    }

    /// The `limit` memories with the embeddings nearest to that of one, of any scope and tier.
    ///
    /// # Errors
    /// Connection and statement errors; there must be an index (see [`Store::ensure_embedding_index`]).
    pub async fn nearest(&self, key: &MemoryKey, limit: usize) -> Result<Vec<NearMemory>, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.transactions
            .run("reinforcement.nearest", Mode::Read, async |tx: &mut Tx| {
                // Without one, the server's error names the index that is missing.
                let index = vector_index(tx).await?.unwrap_or_else(|| "ebb_memory_embedding".to_owned());
                let call = REINFORCEMENT_NEAREST.call().set("index", index.as_str()).set("limit", limit);
                tx.rows(call.set("scope", key.scope()).set("id", key.id())).await
            })
            .await
    }

    /// Quarantines a new memory that cannot be compared, or whose similar memories cannot be reinforced, as a batch of
    /// `run`.
    pub async fn quarantine_new(&self, run: &mut Run, new: &NewMemory, why: &Error) -> Result<(), Error> {
        self.in_run(run, "reinforcement.quarantine", async |tx: &mut Tx| {
            quarantine(tx, &[(&new.key, why.quarantine_reason())]).await?;
            Ok(Tally { scanned: 1, quarantined: 1, ..Tally::default() })
        })
        .await
        .map(drop)
    }

    /// Reinforces old memories by new ones, each pair once, as a batch of `run`, which also records how many scopes
    /// were `cut` for the comparison.
    pub async fn reinforce(
        &self,
        run: &mut Run,
        tunables: &Tunables,
        likenesses: &[SimilarMemories],
        cut: i64,
    ) -> Result<Tally, Error> {
        let now = run.now;
        self.in_run(run, "reinforcement.draw", async |tx: &mut Tx| {
            Ok(Tally { cut, ..reinforce(tx, now, tunables, likenesses).await? })
        })
        .await
    }
}

async fn reinforce(
    tx: &mut Tx,
    now: Timestamp,
    tunables: &Tunables,
    likenesses: &[SimilarMemories],
) -> Result<Tally, Error> {
    let named = likenesses.iter().flat_map(|one| one.old.iter().map(|(id, _)| id).chain([&one.new]));
    let wanted: BTreeSet<&MemoryKey> = named.collect();
    let wanted: Vec<(&MemoryKey, Option<&str>)> = wanted.into_iter().map(|key| (key, None)).collect();
    // An invalid row is left unchanged; so is one that was deleted meanwhile.
    let sound =
        lock(tx, &wanted).await?.into_iter().filter_map(|(key, locked)| Some((key, locked.life.ok()?)));
    let lives: BTreeMap<&MemoryKey, Life> = sound.collect();
    let pairs: Vec<Pair<'_>> = likenesses
        .iter()
        .filter(|one| lives.contains_key(&one.new))
        .flat_map(|one| one.old.iter().map(|(old, similarity)| (&one.new, old, *similarity)))
        .collect();
    let known = known(tx, &pairs).await?;
    let (mut after, mut drawn) = (BTreeMap::<&MemoryKey, MemoryState>::new(), Vec::new());
    for (new, old, similarity) in pairs {
        let Some(held) = lives.get(old) else { continue };
        if known.contains(&(new, old)) {
            continue;
        }
        let state = after.get(old).copied().unwrap_or(held.state);
        if let Ok(next) = memory::reinforced(state, similarity, now, tunables) {
            after.insert(old, next);
            drawn.push((new, old, similarity));
        }
    }
    let written: Vec<(&MemoryKey, MemoryState)> = after.into_iter().collect();
    // Reinforced memories are not expired.
    write(tx, &written, false).await?;
    tx.touch_memories(drawn.iter().map(|(new, ..)| *new), "REINFORCES");
    for slice in slices(&REINFORCEMENT_DRAW, &drawn, |(new, old, _)| bytes(new) + old.id().len() + 14) {
        let call = paired(REINFORCEMENT_DRAW.call(), slice)
            .set("strength", list(slice.iter().map(|(.., similarity)| *similarity)))
            .set("now", now.millis());
        tx.run(call).await?;
    }
    let mut new: Vec<&MemoryKey> = likenesses.iter().map(|one| &one.new).collect();
    new.sort_unstable();
    for slice in slices(&REINFORCEMENT_DONE, &new, |key| bytes(key)) {
        tx.run(keyed(REINFORCEMENT_DONE.call(), slice.iter().copied())).await?;
    }
    let reinforced = i64::try_from(drawn.len()).unwrap_or(i64::MAX);
    Ok(Tally {
        scanned: i64::try_from(likenesses.len()).unwrap_or(i64::MAX),
        changed: reinforced,
        reinforced,
        ..Tally::default()
    })
}

/// A new memory, an old one of its scope, and their similarity.
type Pair<'k> = (&'k MemoryKey, &'k MemoryKey, f64);

/// Key columns of pairs.
fn paired(call: Call, pairs: &[Pair<'_>]) -> Call {
    call.set("scope", list(pairs.iter().map(|(new, ..)| new.scope())))
        .set("new", list(pairs.iter().map(|(new, ..)| new.id())))
        .set("old", list(pairs.iter().map(|(_, old, _)| old.id())))
}

async fn known<'k>(
    tx: &mut Tx,
    pairs: &[Pair<'k>],
) -> Result<BTreeSet<(&'k MemoryKey, &'k MemoryKey)>, Error> {
    let mut known = BTreeSet::new();
    for slice in slices(&REINFORCEMENT_KNOWN, pairs, |(new, old, _)| bytes(new) + old.id().len() + 2) {
        let places: Vec<usize> = tx.rows(paired(REINFORCEMENT_KNOWN.call(), slice)).await?;
        known.extend(places.into_iter().filter_map(|at| slice.get(at)).map(|(new, old, _)| (*new, *old)));
    }
    Ok(known)
}
