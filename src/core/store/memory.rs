//! Memories: locked and written together, read whole, counted.

use super::Store;
use super::catalogue::{
    MEMORY_HISTORY, MEMORY_LOCK, MEMORY_QUARANTINE, MEMORY_READ, MEMORY_STUB_OF, MEMORY_TIERS,
    MEMORY_TIMELINE, MEMORY_TOMBSTONES, MEMORY_WAITING, MEMORY_WRITE,
};
use super::decode::{Life, LifeRow};
use super::encode::{instants, list, slices};
use super::error::{Error, RefusedWhy};
use super::statement::Call;
use super::tx::{Mode, Tx};
use crate::domain::annotations::{Annotations, Metadata, Provenance};
use crate::domain::ids::{MemoryKey, hex};
use crate::domain::memory::{MemoryState, Refused};
use crate::domain::units::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// A memory locked by this transaction.
#[derive(Debug, Clone)]
pub(super) struct Locked {
    /// State, or the reason why the row is invalid.
    pub(super) life: Result<Life, String>,
    /// Whether its content equals the given one, if any was given.
    pub(super) same: Option<bool>,
    /// Open attempts that hold it: at most one, unless another writer made a second.
    pub(super) claims: Vec<String>,
    /// Whether it is of another library.
    pub(super) is_foreign: bool,
    /// All of it, if that was asked for.
    pub(super) record: Option<Record>,
}

#[derive(Deserialize)]
struct LockRow {
    /// Index among the requested keys.
    at: usize,
    #[serde(flatten)]
    life: LifeRow,
    same: Option<bool>,
    claims: Vec<String>,
    #[serde(rename = "foreign")]
    is_foreign: bool,
    rest: Option<RestRow>,
}

/// Locks these memories, which the caller has sorted, and reads the columns that the laws need. `content` is compared
/// if given. Memories that do not exist are absent from the result.
pub(super) async fn lock<'k>(
    tx: &mut Tx,
    wanted: &[(&'k MemoryKey, Option<&str>)],
) -> Result<Vec<(&'k MemoryKey, Locked)>, Error> {
    lock_and_read(tx, wanted, false).await
}

/// As [`lock`], and reads the memories whole if that is asked for.
pub(super) async fn lock_and_read<'k>(
    tx: &mut Tx,
    wanted: &[(&'k MemoryKey, Option<&str>)],
    is_whole: bool,
) -> Result<Vec<(&'k MemoryKey, Locked)>, Error> {
    debug_assert!(wanted.is_sorted_by_key(|(key, _)| *key), "locks are taken in the order of the keys");
    let mut locked = Vec::with_capacity(wanted.len());
    let bytes = |(key, content): &(&MemoryKey, Option<&str>)| bytes(key) + content.map_or(1, str::len) + 4;
    for slice in slices(&MEMORY_LOCK, wanted, bytes) {
        let call = keyed(MEMORY_LOCK.call(), slice.iter().map(|(key, _)| *key))
            .set("content", list(slice.iter().map(|(_, content)| *content)));
        for row in tx.rows::<LockRow>(call.set("whole", is_whole)).await? {
            let Some((key, _)) = slice.get(row.at) else { continue };
            let LockRow { life, same, claims, is_foreign, rest, .. } = row;
            let record = rest.map(|rest| record(RecordRow { life: life.clone(), rest }));
            locked.push((*key, Locked { life: life.check(), same, claims, is_foreign, record }));
        }
    }
    Ok(locked)
}

/// Key columns of memories.
pub(super) fn keyed<'a>(call: Call, keys: impl Iterator<Item = &'a MemoryKey> + Clone) -> Call {
    call.set("scope", list(keys.clone().map(MemoryKey::scope))).set("id", list(keys.map(MemoryKey::id)))
}

/// Approximate bytes of a memory's key in a request.
pub(super) fn bytes(key: &MemoryKey) -> usize {
    key.scope().len() + key.id().len() + 4
}

/// Writes the states of memories that this transaction has locked. `embeds` says whether a revived one without an
/// embedding is queued to get one.
pub(super) async fn write(
    tx: &mut Tx,
    lives: &[(&MemoryKey, MemoryState)],
    embeds: bool,
) -> Result<(), Error> {
    tx.touch_memories(lives.iter().map(|(key, _)| *key), "");
    for slice in slices(&MEMORY_WRITE, lives, |(key, _)| bytes(key) + 90) {
        let call = state_columns(MEMORY_WRITE.call(), slice.iter().map(|(key, state)| (*key, state)));
        tx.run(call.set("embeds", embeds)).await?;
    }
    Ok(())
}

/// Columns of every statement that writes states.
pub(super) fn state_columns<'a>(
    call: Call,
    lives: impl Iterator<Item = (&'a MemoryKey, &'a MemoryState)> + Clone,
) -> Call {
    let each = || lives.clone().map(|(_, state)| state);
    keyed(call, lives.clone().map(|(key, _)| key))
        .set("tier", list(each().map(|state| state.tier.name())))
        .set("energy", list(each().map(|state| state.energy.value())))
        .set("energyAt", instants(each().map(|state| Some(state.energy_at))))
        .set("lastAccessed", instants(each().map(|state| Some(state.last_accessed))))
        .set("accessCount", list(each().map(|state| state.access_count)))
        .set("ripeAt", instants(each().map(|state| state.ripe_at)))
        .set("dueAt", instants(each().map(|state| state.due_at)))
        .set("pinned", list(each().map(|state| state.pinned)))
}

/// Quarantines rows with their reasons.
pub(super) async fn quarantine(tx: &mut Tx, rows: &[(&MemoryKey, String)]) -> Result<(), Error> {
    tx.touch_memories(rows.iter().map(|(key, _)| *key), "");
    for slice in slices(&MEMORY_QUARANTINE, rows, |(key, reason)| bytes(key) + reason.len()) {
        let call = keyed(MEMORY_QUARANTINE.call(), slice.iter().map(|(key, _)| *key))
            .set("reason", list(slice.iter().map(|(_, reason)| reason.as_str())));
        tx.run(call).await?;
    }
    Ok(())
}

/// Text of a memory's key in a tombstone. Scopes and ids contain no control characters, so each key has a unique text.
#[must_use]
pub(super) fn tombstone_hash(key: &MemoryKey) -> String {
    hex(&Sha256::digest(format!("{}\u{0}{}", key.scope(), key.id()).as_bytes()))
}

/// Text of a tombstone from before ids were unique per scope: it blocks the id in every scope.
fn unscoped_tombstone_hash(key: &MemoryKey) -> String {
    hex(&Sha256::digest(key.id().as_bytes()))
}

/// Returns those of these memories that were deleted on request, with the instant if it is known.
pub(super) async fn forgotten<'k>(
    tx: &mut Tx,
    keys: &[&'k MemoryKey],
) -> Result<BTreeMap<&'k MemoryKey, Option<Timestamp>>, Error> {
    #[derive(Deserialize)]
    struct Row {
        hash: String,
        at: Option<i64>,
    }
    let hashed: Vec<(String, &MemoryKey)> = keys
        .iter()
        .flat_map(|key| [(tombstone_hash(key), *key), (unscoped_tombstone_hash(key), *key)])
        .collect();
    let mut forgotten = BTreeMap::new();
    for slice in slices(&MEMORY_TOMBSTONES, &hashed, |(hash, _)| hash.len()) {
        let hashes = list(slice.iter().map(|(hash, _)| hash.as_str()));
        for row in tx.rows::<Row>(MEMORY_TOMBSTONES.call().set("hash", hashes)).await? {
            let at = row.at.and_then(|ms| Timestamp::from_millis(ms).ok());
            forgotten.extend(slice.iter().filter(|(of, _)| *of == row.hash).map(|(_, key)| (*key, at)));
        }
    }
    Ok(forgotten)
}

/// A memory for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// State, or the reason why its row is quarantined.
    pub life: Result<Life, String>,
    pub id: String,
    /// Scope, if the row has one, quarantined or not.
    pub scope: Option<String>,
    pub content: Option<String>,
    pub instance: Option<String>,
    /// Stub of its last promotion.
    pub promoted_from: Option<String>,
    /// Last expiry, also if it was revived since.
    pub last_expired: Option<Timestamp>,
    /// Number of reinforcements by newer memories.
    pub reinforcement_count: i64,
    /// Ids of its clusters.
    pub clusters: Vec<String>,
    /// Names of the mentioned entities.
    pub mentions: Vec<String>,
    /// Tags, metadata, and the source of the content.
    pub annotations: Annotations,
    /// Last change of the content, the tags or the metadata.
    pub updated: Option<Timestamp>,
}

#[derive(Deserialize)]
struct RecordRow {
    #[serde(flatten)]
    life: LifeRow,
    #[serde(flatten)]
    rest: RestRow,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RestRow {
    content: Option<String>,
    instance: Option<String>,
    promoted_from: Option<String>,
    reinforcement_count: Option<i64>,
    clusters: Vec<String>,
    mentions: Vec<String>,
    tags: Option<Vec<String>>,
    metadata: Option<String>,
    updated: Option<i64>,
    provenance: Provenance,
}

/// An event of a memory's history.
#[derive(Debug, Clone)]
pub struct MemoryEvent {
    /// `PROMOTED_TO`, `CRYSTALLIZED_INTO`, `PREVIOUS_VERSION` or `ACCESSED_IN`.
    pub what: String,
    /// Instant; for a session the last access in it.
    pub at: Timestamp,
    /// Energy at that instant, if recorded.
    pub energy: Option<f64>,
    /// Tier before the promotion, or session.
    pub detail: Option<String>,
    pub count: i64,
}

/// Counts of a tier.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct TierCount {
    /// Name of the tier.
    pub tier: String,
    /// Memories in the tier.
    #[serde(rename(deserialize = "count"))]
    pub memories: i64,
    /// Quarantined memories of these.
    pub quarantined: i64,
}

/// Energies of the memories of a tier.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TierHealth {
    /// Name of the tier.
    pub tier: String,
    /// Memories in the tier.
    pub count: i64,
    /// Average energy.
    pub avg_energy: Option<f64>,
    /// Least energy.
    pub min_energy: Option<f64>,
    /// Greatest energy.
    pub max_energy: Option<f64>,
}

/// Backlog counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Waiting {
    /// Memories due for decay.
    pub due: i64,
    /// Memories ripe for promotion.
    pub ripe: i64,
    /// Sessions to be counted for coactivation.
    pub sessions: i64,
    /// Memories in the queue for clustering.
    pub clusters: i64,
    /// Memories to be embedded, if a model is configured.
    pub embed: i64,
    /// New memories, for reinforcement.
    pub reinforce: i64,
    /// Outcomes to be learned.
    pub outcomes: i64,
    /// Quarantined rows.
    pub quarantined: i64,
}

/// Characters of a text that are read: all, or as many as a mirror reads (`mirror/nodes`). Other writers may store any number.
const TEXT_WHOLE: i32 = i32::MAX;
const TEXT_MAX: i32 = 65_536;

impl Store {
    /// Reads memories whole, in their order; those that do not exist are omitted.
    pub async fn memories(&self, keys: &[MemoryKey]) -> Result<Vec<Record>, Error> {
        self.transactions.run("memories.read", Mode::Read, async |tx: &mut Tx| read(tx, keys).await).await
    }

    /// As [`Self::memories`], each with the first 65,536 characters of its text.
    pub async fn memories_cut(&self, keys: &[MemoryKey]) -> Result<Vec<Record>, Error> {
        let read = async |tx: &mut Tx| read_texts(tx, keys, TEXT_MAX).await;
        self.transactions.run("memories.read", Mode::Read, read).await
    }

    /// The deletion of a memory on request: `None` if there is no record of one, else its instant if it is known.
    pub async fn deletion(&self, key: &MemoryKey) -> Result<Option<Option<Timestamp>>, Error> {
        let read = async |tx: &mut Tx| Ok(forgotten(tx, &[key]).await?.remove(key));
        self.transactions.run("memories.deletion", Mode::Read, read).await
    }

    /// The memory that a promotion left a stub of.
    pub async fn memory_of_stub(&self, stub: &MemoryKey) -> Result<Option<String>, Error> {
        let rows: Vec<String> =
            self.read(MEMORY_STUB_OF.call().set("scope", stub.scope()).set("id", stub.id())).await?;
        Ok(rows.into_iter().next())
    }

    /// History of a memory, newest first: all promotions, the latest 400 changes, and the accesses of the latest 400 sessions.
    pub async fn history(&self, key: &MemoryKey) -> Result<Vec<MemoryEvent>, Error> {
        #[derive(Deserialize)]
        struct Row {
            what: String,
            at: i64,
            energy: Option<f64>,
            detail: Option<String>,
            count: i64,
        }
        let rows: Vec<Row> =
            self.read(MEMORY_HISTORY.call().set("scope", key.scope()).set("id", key.id())).await?;
        Ok(rows
            .into_iter()
            .filter_map(|Row { what, at, energy, detail, count }| {
                Some(MemoryEvent { what, at: Timestamp::from_millis(at).ok()?, energy, detail, count })
            })
            .collect())
    }

    /// Counts memories by tier.
    pub async fn tiers(&self) -> Result<Vec<TierCount>, Error> {
        self.read(MEMORY_TIERS.call()).await
    }

    /// Counts the backlog at `now`.
    pub async fn waiting(&self, now: Timestamp) -> Result<Waiting, Error> {
        let waiting: Waiting = self.read_one(MEMORY_WAITING.call().set("now", now.millis())).await?;
        let embed = if self.similarity.embeds() { waiting.embed } else { 0 };
        Ok(Waiting { embed, ..waiting })
    }

    /// Numbers of memories created, promoted and expired in each hour.
    pub async fn timeline(&self) -> Result<Vec<(Timestamp, String, i64)>, Error> {
        #[derive(Deserialize)]
        struct Row {
            hour: i64,
            what: String,
            count: i64,
        }
        let rows: Vec<Row> = self.read(MEMORY_TIMELINE.call()).await?;
        Ok(rows
            .into_iter()
            .filter_map(|row| Some((Timestamp::from_millis(row.hour).ok()?, row.what, row.count)))
            .collect())
    }
}

/// Reads memories whole, as visible to this transaction.
pub(super) async fn read(tx: &mut Tx, keys: &[MemoryKey]) -> Result<Vec<Record>, Error> {
    read_texts(tx, keys, TEXT_WHOLE).await
}

/// Reads memories with so many characters of their texts.
async fn read_texts(tx: &mut Tx, keys: &[MemoryKey], text_max: i32) -> Result<Vec<Record>, Error> {
    let mut rows = Vec::with_capacity(keys.len());
    for slice in slices(&MEMORY_READ, keys, bytes) {
        let call = keyed(MEMORY_READ.call(), slice.iter()).set("textMax", i64::from(text_max));
        rows.extend(tx.rows::<RecordRow>(call).await?);
    }
    Ok(rows.into_iter().map(record).collect())
}

fn record(RecordRow { life, rest }: RecordRow) -> Record {
    Record {
        life: life.check(),
        last_expired: life.last_expired(),
        id: life.id,
        scope: life.scope,
        content: rest.content,
        instance: rest.instance,
        promoted_from: rest.promoted_from,
        reinforcement_count: rest.reinforcement_count.unwrap_or(0),
        clusters: rest.clusters,
        mentions: rest.mentions,
        annotations: Annotations::stored(
            rest.tags.unwrap_or_default(),
            rest.metadata.as_deref().and_then(Metadata::stored),
            rest.provenance,
        ),
        updated: rest.updated.and_then(|ms| Timestamp::from_millis(ms).ok()),
    }
}

/// The error of a refusal by a law; for a stub it names the living memory.
pub(super) async fn refused(tx: &mut Tx, key: &MemoryKey, why: Refused) -> Result<Error, Error> {
    let living = match why {
        Refused::Stub => {
            tx.row::<String>(MEMORY_STUB_OF.call().set("scope", key.scope()).set("id", key.id())).await?
        }
        _ => None,
    };
    let why = living.map_or(RefusedWhy::Law(why), RefusedWhy::StubOf);
    Ok(Error::Refused { id: key.to_string(), why })
}
