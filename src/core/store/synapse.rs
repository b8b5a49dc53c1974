//! Learned weights as rows, one for each relationship and direction; and the queue of outcomes to learn.
//!
//! A row has the learned state of its relationship after the outcome, the tick, that changed it last; decay alone is
//! not written. A counter has the number of outcomes that a scope has learned. A learner locks that counter, checks
//! that it is unchanged since the work began, writes rows and counter, and removes the outcomes from the queue in one
//! transaction: so each counts once, and a transaction that is run again after it was committed finds another counter
//! and does nothing.
//!
//! # Design notes
//! A commit becomes visible row by row. A reader that must not mix two ticks waits for the lock of the counter, and
//! reads under it; one that finds the counter unchanged needs no lock, which is nearly always.
//!
//! The learned weights of a memory are deleted with it, under the same lock, and a learner that runs later finds the
//! tombstone.

use super::Store;
use super::catalogue::{
    OUTCOME_LEARNED, OUTCOME_WAITING, SYNAPSE_ADVANCE, SYNAPSE_ARRIVING, SYNAPSE_FORGET, SYNAPSE_HOLD,
    SYNAPSE_LEAVING, SYNAPSE_SINCE, SYNAPSE_TICKS, SYNAPSE_TRIM, SYNAPSE_WRITE,
};
use super::encode::{list, slices};
use super::error::Error;
use super::memory::forgotten;
use super::mirror::label_names;
use super::run::Run;
use super::tally::Tally;
use super::tx::{Mode, Tx};
use crate::domain::ids::{MemoryKey, Scope, labelled, synapse_key};
use crate::domain::trail::Trails;
use serde::{Deserialize, Deserializer};
use std::collections::{BTreeMap, BTreeSet};

/// Most rows of a memory deleted in one statement, in each direction.
const FORGOTTEN_MAX: i64 = 10_000;
/// Bytes of a row without its names.
const ROW_BYTES: usize = 140;

/// Learned state of a relationship in one direction.
///
/// A number of a wrong type becomes one that is invalid in a learned state: readers skip the row.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SynapseRow {
    /// External id of the start node.
    #[serde(deserialize_with = "or_default")]
    pub source: String,
    /// Type of its relationship.
    #[serde(deserialize_with = "or_default")]
    pub relation: String,
    /// External id of the end node.
    #[serde(deserialize_with = "or_default")]
    pub target: String,
    /// Weight then without the learned part; for people.
    #[serde(deserialize_with = "or_default")]
    pub base: f64,
    /// Decaying part.
    #[serde(deserialize_with = "or_nan")]
    pub delta: f64,
    /// Permanent part.
    #[serde(deserialize_with = "or_nan")]
    pub perm: f64,
    /// Consecutive increases.
    #[serde(deserialize_with = "or_below")]
    pub strengthened: i64,
    /// Consecutive decreases.
    #[serde(deserialize_with = "or_below")]
    pub weakened: i64,
    /// Whether it has its permanent bonus.
    #[serde(deserialize_with = "or_default")]
    pub ltp: bool,
    /// Whether it has its permanent penalty.
    #[serde(deserialize_with = "or_default")]
    pub ltd: bool,
    /// Tick of the last change.
    #[serde(deserialize_with = "or_below")]
    pub tick: i64,
}

fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

fn or_nan<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

fn or_below<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(-1))
}

/// Learned state of a scope.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Learned {
    pub tick: u64,
    pub rows: Vec<SynapseRow>,
}

/// Row of an outcome. One with an invalid scope is skipped.
#[derive(Deserialize)]
struct WaitingRow {
    id: String,
    scope: String,
    active: Vec<String>,
    reward: Option<f64>,
}

impl WaitingRow {
    fn sound(self) -> Option<WaitingOutcome> {
        let Self { id, scope, active, reward } = self;
        Some(WaitingOutcome { id, scope: Scope::new(&scope).ok()?, active, reward })
    }
}

/// The counter of a scope.
#[derive(Deserialize)]
struct Counted {
    name: String,
    tick: i64,
}

/// An outcome in the queue.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitingOutcome {
    pub id: String,
    pub scope: Scope,
    /// External ids of the active nodes.
    pub active: Vec<String>,
    /// Their activity, above 0 and at most 1; `None` if the stored value is not a number.
    pub reward: Option<f64>,
}

/// Result of learning a page of outcomes.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    pub scope: Scope,
    /// Outcomes learned before.
    pub from: u64,
    pub outcomes: Vec<String>,
    pub rows: Vec<SynapseRow>,
    /// Their nodes that do not exist.
    pub unknown: i64,
}

impl Store {
    /// Queued outcomes, at most `limit`, scope by scope from the one behind `after`, those of one in order of arrival.
    pub async fn waiting_outcomes(&self, after: &str, limit: usize) -> Result<Vec<WaitingOutcome>, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut after = after.to_owned();
        loop {
            let page = async |tx: &mut Tx| {
                tx.rows(OUTCOME_WAITING.call().set("after", after.as_str()).set("limit", limit)).await
            };
            let rows: Vec<WaitingRow> = self.transactions.run("outcome.waiting", Mode::Read, page).await?;
            let Some(last) = rows.last().map(|row| row.scope.clone()) else { return Ok(Vec::new()) };
            let sound: Vec<WaitingOutcome> = rows.into_iter().filter_map(WaitingRow::sound).collect();
            if !sound.is_empty() {
                return Ok(sound);
            }
            after = last;
        }
    }

    /// Number of outcomes that a scope has learned.
    pub async fn ticks(&self, scope: &Scope) -> Result<u64, Error> {
        Ok(self.ticks_of(&[scope]).await?.pop().unwrap_or(0))
    }

    /// Number of outcomes that each of these scopes has learned, in their order.
    pub async fn ticks_of(&self, scopes: &[&Scope]) -> Result<Vec<u64>, Error> {
        let read = async |tx: &mut Tx| {
            let mut known: BTreeMap<String, i64> = BTreeMap::new();
            for slice in slices(&SYNAPSE_TICKS, scopes, |scope| scope.as_str().len() + 10) {
                let names = list(slice.iter().map(|scope| counter(scope)));
                let rows: Vec<Counted> = tx.rows(SYNAPSE_TICKS.call().set("name", names)).await?;
                known.extend(rows.into_iter().map(|Counted { name, tick }| (name, tick)));
            }
            let tick = |scope: &&Scope| known.get(&counter(scope)).copied().unwrap_or(0);
            Ok(scopes.iter().map(|scope| u64::try_from(tick(scope)).unwrap_or(0)).collect())
        };
        self.transactions.run("synapse.ticks", Mode::Read, read).await
    }

    /// Changes of a scope's learned state since a tick; none if that was the last one. All of the state, if the last
    /// tick is earlier.
    pub async fn learned(&self, scope: &Scope, since: u64) -> Result<Option<Learned>, Error> {
        if self.ticks(scope).await? == since {
            return Ok(None);
        }
        self.transactions
            .run("synapse.since", Mode::Write, async |tx: &mut Tx| {
                // Nothing is written: this only holds the lock until all rows are read.
                tx.abandon();
                let tick = hold(tx, scope).await?;
                let since = if since > tick { 0 } else { since };
                let call = SYNAPSE_SINCE.call().set("scope", scope.as_str()).set("tick", whole(since));
                Ok(Some(Learned { tick, rows: tx.rows(call).await? }))
            })
            .await
    }

    /// Learned weights of the relationships from and to nodes, by their external ids.
    pub async fn synapses_around(&self, scope: &Scope, ids: &[&str]) -> Result<Vec<SynapseRow>, Error> {
        let rows: Vec<SynapseRow> = self
            .transactions
            .run("synapse.around", Mode::Read, async |tx: &mut Tx| {
                let mut rows = Vec::new();
                for statement in [&SYNAPSE_LEAVING, &SYNAPSE_ARRIVING] {
                    for slice in slices(statement, ids, |id| id.len()) {
                        let call = statement
                            .call()
                            .set("scope", scope.as_str())
                            .set("id", list(slice.iter().copied()));
                        rows.extend(tx.rows::<SynapseRow>(call).await?);
                    }
                }
                Ok(rows)
            })
            .await?;
        // A relationship between two of them is returned twice.
        let way = |row: SynapseRow| ((row.source.clone(), row.relation.clone(), row.target.clone()), row);
        let ways: BTreeMap<(String, String, String), SynapseRow> = rows.into_iter().map(way).collect();
        Ok(ways.into_values().collect())
    }

    /// Records the learning of a scope, as the next batch of a run. Does nothing if the scope has learned meanwhile,
    /// since the result would be another.
    pub async fn learn(&self, run: &mut Run, lesson: &Lesson) -> Result<Tally, Error> {
        self.in_run(run, "synapse.learn", async |tx: &mut Tx| learn(tx, lesson, &self.trails).await).await
    }

    /// Removes rows without remaining effect: those last changed at the tick `before` or earlier, without a permanent
    /// part. At most `limit`, as the next batch of a run.
    pub async fn trim_synapses(
        &self,
        run: &mut Run,
        scope: &Scope,
        before: u64,
        limit: usize,
    ) -> Result<Tally, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.in_run(run, "synapse.trim", async |tx: &mut Tx| {
            let call = SYNAPSE_TRIM
                .call()
                .set("scope", scope.as_str())
                .set("before", whole(before))
                .set("limit", limit);
            let trimmed = tx.only(call).await?;
            Ok(Tally { trimmed, ..Tally::default() })
        })
        .await
    }
}

/// Removes learned weights of a memory that is about to be deleted.
///
/// Rows name it by its id, by label and id, or both over time.
pub(super) async fn forget_learned(tx: &mut Tx, key: &MemoryKey, trails: &Trails) -> Result<(), Error> {
    let mut names = vec![format!("Memory:{key}")];
    // An id that equals the prefixed name of another node never occurs alone.
    names.extend(labelled(label_names(trails), key.id()).is_none().then(|| key.to_string()));
    loop {
        let call = SYNAPSE_FORGET
            .call()
            .set("scope", key.scope())
            .set("name", list(names.iter().map(String::as_str)))
            .set("limit", FORGOTTEN_MAX);
        if tx.row::<i64>(call).await?.is_none_or(|gone| gone < FORGOTTEN_MAX) {
            return Ok(());
        }
    }
}

async fn learn(tx: &mut Tx, lesson: &Lesson, trails: &Trails) -> Result<Tally, Error> {
    let Lesson { scope, from, outcomes, rows, unknown } = lesson;
    if hold(tx, scope).await? != *from {
        return Ok(Tally::default());
    }
    let rows = remembered(tx, (scope, trails), rows).await?;
    write(tx, scope, &rows).await?;
    for slice in slices(&OUTCOME_LEARNED, outcomes, String::len) {
        tx.run(OUTCOME_LEARNED.call().set("id", list(slice.iter().map(String::as_str)))).await?;
    }
    let tick = whole(*from).saturating_add(count(outcomes.len()));
    tx.run(SYNAPSE_ADVANCE.call().set("name", counter(scope)).set("tick", tick)).await?;
    Ok(Tally {
        scanned: count(outcomes.len()),
        changed: count(rows.len()),
        skipped: *unknown,
        ..Tally::default()
    })
}

/// Excludes those of memories that were deleted meanwhile.
async fn remembered<'r>(
    tx: &mut Tx,
    (scope, trails): (&Scope, &Trails),
    rows: &'r [SynapseRow],
) -> Result<Vec<&'r SynapseRow>, Error> {
    let key = |name: &str| match labelled(label_names(trails), name) {
        None => Some(MemoryKey::of_row(scope.as_str(), name)),
        Some(("Memory", id)) => Some(MemoryKey::of_row(scope.as_str(), id)),
        Some(_) => None,
    };
    let ends: BTreeSet<&str> = rows.iter().flat_map(|row| [row.source.as_str(), &row.target]).collect();
    let keys: Vec<MemoryKey> = ends.into_iter().filter_map(key).collect();
    let forgotten = forgotten(tx, &keys.iter().collect::<Vec<_>>()).await?;
    let is_there =
        |name: &str| forgotten.is_empty() || key(name).is_none_or(|key| !forgotten.contains_key(&key));
    Ok(rows.iter().filter(|row| is_there(&row.source) && is_there(&row.target)).collect())
}

async fn write(tx: &mut Tx, scope: &Scope, rows: &[&SynapseRow]) -> Result<(), Error> {
    let bytes = |row: &&SynapseRow| row.source.len() + row.relation.len() + row.target.len() + ROW_BYTES;
    for slice in slices(&SYNAPSE_WRITE, rows, bytes) {
        let each = || slice.iter();
        let key = |row: &&SynapseRow| synapse_key(scope.as_str(), &row.source, &row.relation, &row.target);
        let call = SYNAPSE_WRITE
            .call()
            .set("scope", scope.as_str())
            .set("key", list(each().map(key)))
            .set("source", list(each().map(|row| row.source.as_str())))
            .set("relation", list(each().map(|row| row.relation.as_str())))
            .set("target", list(each().map(|row| row.target.as_str())))
            .set("base", list(each().map(|row| row.base)))
            .set("delta", list(each().map(|row| row.delta)))
            .set("perm", list(each().map(|row| row.perm)))
            .set("strengthened", list(each().map(|row| row.strengthened)))
            .set("weakened", list(each().map(|row| row.weakened)))
            .set("ltp", list(each().map(|row| row.ltp)))
            .set("ltd", list(each().map(|row| row.ltd)))
            .set("tick", list(each().map(|row| row.tick)));
        tx.run(call).await?;
    }
    Ok(())
}

/// Waits for writers of a scope's learned weights, and locks them out; returns the number of learned outcomes.
async fn hold(tx: &mut Tx, scope: &Scope) -> Result<u64, Error> {
    let call = SYNAPSE_HOLD.call().set("name", counter(scope)).set("scope", scope.as_str());
    Ok(u64::try_from(tx.only::<i64>(call).await?).unwrap_or(0))
}

/// Counter of a scope: names of counters are unique over all scopes.
fn counter(scope: &Scope) -> String {
    format!("tick:{scope}")
}

fn whole(tick: u64) -> i64 {
    i64::try_from(tick).unwrap_or(i64::MAX)
}

fn count(of: usize) -> i64 {
    i64::try_from(of).unwrap_or(i64::MAX)
}
