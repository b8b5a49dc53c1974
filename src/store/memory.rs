//! Memories: locked and written together, read whole, counted.

use super::Store;
use super::catalogue::{
    MEMORY_HISTORY, MEMORY_LIST, MEMORY_LOCK, MEMORY_QUARANTINE, MEMORY_READ, MEMORY_STUB_OF, MEMORY_TIERS,
    MEMORY_TIMELINE, MEMORY_WAITING, MEMORY_WRITE,
};
use super::decode::{Life, LifeRow};
use super::encode::{instants, list, slices};
use super::error::{Error, RefusedWhy};
use super::tx::{Mode, Tx};
use crate::domain::ids::{MemoryId, hex};
use crate::domain::memory::{Refused, Vital};
use crate::domain::tier::Tier;
use crate::domain::units::Timestamp;
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// A memory that this transaction holds.
#[derive(Debug, Clone)]
pub(super) struct Locked {
    /// Its life, or why no law can use its row.
    pub(super) life: Result<Life, String>,
    /// Whether its content is the one that was offered, where one was.
    pub(super) same: Option<bool>,
    /// The attempts that hold it and are not over: one at most, unless a foreign writer made a second.
    pub(super) claims: Vec<String>,
}

#[derive(Deserialize)]
struct LockRow {
    #[serde(flatten)]
    life: LifeRow,
    same: Option<bool>,
    claims: Vec<String>,
}

/// Locks the memories of these ids, which the caller has sorted, and reads what the laws need of them. `content` is
/// compared where it is given. Ids that do not exist are absent from the answer.
pub(super) async fn lock(
    tx: &mut Tx,
    wanted: &[(&str, Option<&str>)],
) -> Result<Vec<(String, Locked)>, Error> {
    debug_assert!(wanted.is_sorted_by_key(|(id, _)| *id), "locks are taken in the order of the keys");
    let mut locked = Vec::with_capacity(wanted.len());
    for slice in slices(&MEMORY_LOCK, wanted, |(id, content)| id.len() + content.map_or(1, str::len) + 6) {
        let call = MEMORY_LOCK
            .planted("check-before-lock", "SET m.ebbLock = true\n", "")
            .set("id", list(slice.iter().map(|(id, _)| *id)))
            .set("content", list(slice.iter().map(|(_, content)| *content)));
        for row in tx.rows::<LockRow>(call).await? {
            let id = row.life.id.clone();
            locked.push((id, Locked { life: row.life.check(), same: row.same, claims: row.claims }));
        }
    }
    Ok(locked)
}

/// Writes the lives of memories that this transaction has locked.
pub(super) async fn write(tx: &mut Tx, lives: &[(&str, Vital)]) -> Result<(), Error> {
    tx.touch_memories(lives.iter().map(|(id, _)| *id), "");
    for slice in slices(&MEMORY_WRITE, lives, |(id, _)| id.len() + 90) {
        tx.run(vitals(MEMORY_WRITE.call(), slice.iter().map(|(id, vital)| (*id, vital)))).await?;
    }
    Ok(())
}

/// The columns that every statement with lives takes.
pub(super) fn vitals<'a>(
    call: super::statement::Call,
    lives: impl Iterator<Item = (&'a str, &'a Vital)> + Clone,
) -> super::statement::Call {
    let each = || lives.clone().map(|(_, vital)| vital);
    call.set("id", list(lives.clone().map(|(id, _)| id)))
        .set("tier", list(each().map(|vital| vital.tier.name())))
        .set("energy", list(each().map(|vital| vital.energy.value())))
        .set("energyAt", instants(each().map(|vital| Some(vital.energy_at))))
        .set("lastAccessed", instants(each().map(|vital| Some(vital.last_accessed))))
        .set("accessCount", list(each().map(|vital| vital.access_count)))
        .set("ripeAt", instants(each().map(|vital| vital.ripe_at)))
        .set("dueAt", instants(each().map(|vital| vital.due_at)))
        .set("pinned", list(each().map(|vital| vital.pinned)))
}

/// Sets rows aside with their reasons.
pub(super) async fn quarantine(tx: &mut Tx, rows: &[(String, String)]) -> Result<(), Error> {
    tx.touch_memories(rows.iter().map(|(id, _)| id.as_str()), "");
    for slice in slices(&MEMORY_QUARANTINE, rows, |(id, reason)| id.len() + reason.len()) {
        let call = MEMORY_QUARANTINE
            .call()
            .set("id", list(slice.iter().map(|(id, _)| id.as_str())))
            .set("reason", list(slice.iter().map(|(_, reason)| reason.as_str())));
        tx.run(call).await?;
    }
    Ok(())
}

/// What a tombstone keeps of a memory's id.
#[must_use]
pub(super) fn tombstone_hash(id: &str) -> String {
    hex(&Sha256::digest(id.as_bytes()))
}

/// A memory as people see it.
#[derive(Debug, Clone)]
pub struct Record {
    /// Its life, or the reason why its row is set aside.
    pub life: Result<Life, String>,
    /// Its id.
    pub id: String,
    /// Whose it is, if the row says so, set aside or not.
    pub scope: Option<String>,
    /// What it says.
    pub content: Option<String>,
    /// Which instance made it.
    pub instance: Option<String>,
    /// The stub of its last promotion.
    pub promoted_from: Option<String>,
    /// When it last expired, also if it was revived since.
    pub last_expired: Option<Timestamp>,
    /// How often it was strengthened by newer memories.
    pub reinforcement_count: i64,
    /// Ids of the clusters it belongs to.
    pub clusters: Vec<String>,
    /// Names of the entities it mentions.
    pub mentions: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordRow {
    #[serde(flatten)]
    life: LifeRow,
    content: Option<String>,
    instance: Option<String>,
    promoted_from: Option<String>,
    last_expired: Option<i64>,
    reinforcement_count: Option<i64>,
    clusters: Vec<String>,
    mentions: Vec<String>,
}

/// Which memories to list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only this tier.
    pub tier: Option<Tier>,
    /// Only what was made in this session.
    pub session: Option<String>,
    /// Only ids after this one.
    pub after: String,
}

/// Something that happened to a memory.
#[derive(Debug, Clone)]
pub struct Happened {
    /// `PROMOTED_TO`, `CRYSTALLIZED_INTO` or `ACCESSED_IN`.
    pub what: String,
    /// When; for a session the last access in it.
    pub at: Timestamp,
    /// The energy then, where it was recorded.
    pub energy: Option<f64>,
    /// The tier that was left, or the session.
    pub detail: Option<String>,
    /// How often.
    pub count: i64,
}

/// Memories of one tier.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
pub struct TierCount {
    /// Its name; `none` for rows without one.
    pub tier: String,
    /// How many.
    pub count: i64,
    /// How many of them are set aside.
    pub quarantined: i64,
}

/// Memories of one tier with their energies at an instant.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TierHealth {
    /// Its name.
    pub tier: String,
    /// How many.
    pub count: i64,
    /// Their average; `None` where no row has a number.
    pub avg_energy: Option<f64>,
    /// The least.
    pub min_energy: Option<f64>,
    /// The greatest.
    pub max_energy: Option<f64>,
}

/// How many memories, sessions and outcomes wait at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Waiting {
    /// For a sweep.
    pub due: i64,
    /// For promotion.
    pub ripe: i64,
    /// Sessions, for co-activation.
    pub sessions: i64,
    /// For the clusters.
    pub clusters: i64,
    /// For strengthening what is like them.
    pub reinforce: i64,
    /// Outcomes to be learned, whenever they came.
    pub outcomes: i64,
    /// Set aside.
    pub quarantined: i64,
}

impl Store {
    /// Reads memories whole, in the order of the ids; ids that do not exist are left out.
    ///
    /// # Errors
    /// Of the connection or the statement.
    pub async fn memories(&self, ids: &[String]) -> Result<Vec<Record>, Error> {
        self.transactions.run("memories.read", Mode::Read, async |tx: &mut Tx| read(tx, ids).await).await
    }

    /// Names memories of a scope, by id, at most `limit`.
    ///
    /// # Errors
    /// Of the connection or the statement.
    pub async fn list_memories(
        &self,
        scope: &str,
        filter: &Filter,
        limit: u32,
    ) -> Result<Vec<String>, Error> {
        #[derive(Deserialize)]
        struct Row {
            id: String,
        }
        let rows = self
            .transactions
            .run("memories.list", Mode::Read, async |tx: &mut Tx| {
                let call = MEMORY_LIST
                    .call()
                    .set("scope", scope)
                    .set("tier", filter.tier.map(Tier::name))
                    .set("session", filter.session.as_deref())
                    .set("after", filter.after.as_str())
                    .set("limit", i64::from(limit));
                tx.rows::<Row>(call).await
            })
            .await?;
        Ok(rows.into_iter().map(|row| row.id).collect())
    }

    /// What happened to a memory, newest first, at most 400 events.
    ///
    /// # Errors
    /// Of the connection or the statement.
    pub async fn history(&self, id: &str) -> Result<Vec<Happened>, Error> {
        #[derive(Deserialize)]
        struct Row {
            what: String,
            at: Option<i64>,
            energy: Option<f64>,
            detail: Option<String>,
            count: i64,
        }
        let rows = self
            .transactions
            .run("memory.history", Mode::Read, async |tx: &mut Tx| {
                tx.rows::<Row>(MEMORY_HISTORY.call().set("id", id)).await
            })
            .await?;
        Ok(rows
            .into_iter()
            .filter_map(|Row { what, at, energy, detail, count }| {
                Some(Happened { what, at: Timestamp::from_millis(at?).ok()?, energy, detail, count })
            })
            .collect())
    }

    /// Counts memories by tier.
    ///
    /// # Errors
    /// Of the connection or the statement.
    pub async fn tiers(&self) -> Result<Vec<TierCount>, Error> {
        self.transactions
            .run("memories.tiers", Mode::Read, async |tx: &mut Tx| tx.rows(MEMORY_TIERS.call()).await)
            .await
    }

    /// Counts what waits at `now`.
    ///
    /// # Errors
    /// Of the connection or the statement.
    pub async fn waiting(&self, now: Timestamp) -> Result<Waiting, Error> {
        self.transactions
            .run("memories.waiting", Mode::Read, async |tx: &mut Tx| {
                tx.only(MEMORY_WAITING.call().set("now", now.millis())).await
            })
            .await
    }

    /// How many memories were made, rose and expired in each hour.
    ///
    /// # Errors
    /// Of the connection or the statement.
    pub async fn timeline(&self) -> Result<Vec<(Timestamp, String, i64)>, Error> {
        #[derive(Deserialize)]
        struct Row {
            hour: i64,
            what: String,
            count: i64,
        }
        let rows: Vec<Row> = self
            .transactions
            .run("memories.timeline", Mode::Read, async |tx: &mut Tx| tx.rows(MEMORY_TIMELINE.call()).await)
            .await?;
        Ok(rows
            .into_iter()
            .filter_map(|row| Some((Timestamp::from_millis(row.hour).ok()?, row.what, row.count)))
            .collect())
    }
}

/// Reads memories whole, as this transaction sees them.
pub(super) async fn read(tx: &mut Tx, ids: &[String]) -> Result<Vec<Record>, Error> {
    let mut rows = Vec::with_capacity(ids.len());
    for slice in slices(&MEMORY_READ, ids, String::len) {
        let ids = list(slice.iter().map(String::as_str));
        rows.extend(tx.rows::<RecordRow>(MEMORY_READ.call().set("id", ids)).await?);
    }
    let record = |row: RecordRow| Record {
        life: row.life.check(),
        id: row.life.id,
        scope: row.life.scope,
        content: row.content,
        instance: row.instance,
        promoted_from: row.promoted_from,
        last_expired: row.last_expired.and_then(|ms| Timestamp::from_millis(ms).ok()),
        reinforcement_count: row.reinforcement_count.unwrap_or(0),
        clusters: row.clusters,
        mentions: row.mentions,
    };
    Ok(rows.into_iter().map(record).collect())
}

/// The error for a law that refused; for a stub it names the living memory.
pub(super) async fn refused(tx: &mut Tx, id: &MemoryId, why: Refused) -> Result<Error, Error> {
    #[derive(Deserialize)]
    struct Row {
        id: String,
    }
    let living = match why {
        Refused::Stub => tx.row::<Row>(MEMORY_STUB_OF.call().set("id", id.as_str())).await?,
        _ => None,
    };
    let why = living.map_or(RefusedWhy::Law(why), |row| RefusedWhy::StubOf(row.id));
    Ok(Error::Refused { id: id.to_string(), why })
}
