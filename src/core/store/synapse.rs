//! Learned weights as rows, one for each relationship and direction; and the queue of outcomes to learn from.
//!
//! A row says what its relationship had learned after the outcome, the tick, that changed it last; what only faded since is
//! not written again. How many outcomes a scope has learned stands in a counter. Whoever learns holds that counter, sees that
//! it stands where the work began, and writes rows and counter and takes the outcomes off their list in one transaction: so
//! each counts once, and a transaction that is run again after it has landed finds the counter moved and does nothing.
//!
//! # Design notes
//! A commit becomes visible row by row. A reader that must not mix two ticks waits for the lock of the counter, and reads
//! under it; one that finds the counter where it left it needs no lock, which is nearly always.
//!
//! Of what was learned with a memory nothing is left once that is forgotten: its rows go with it, under the same lock, and a
//! learner whose turn comes then finds the tombstone.

use super::Store;
use super::catalogue::{
    OUTCOME_LEARNED, OUTCOME_WAITING, SYNAPSE_ADVANCE, SYNAPSE_ARRIVING, SYNAPSE_FORGET, SYNAPSE_HOLD,
    SYNAPSE_LEAVING, SYNAPSE_SINCE, SYNAPSE_TICK, SYNAPSE_TRIM, SYNAPSE_WRITE,
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

/// Rows that go with a memory in one statement, each way.
const FORGOTTEN_MAX: i64 = 10_000;
/// Bytes of a row beside its names.
const ROW_BYTES: usize = 140;

/// What a relationship had learned, one way.
///
/// Numbers of another kind than they should be are such as no relationship learns: whoever reads passes the row over.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SynapseRow {
    /// The external id of the node it begins at.
    #[serde(deserialize_with = "or_default")]
    pub source: String,
    /// The type of its relationship.
    #[serde(deserialize_with = "or_default")]
    pub relation: String,
    /// The external id of the node it leads to.
    #[serde(deserialize_with = "or_default")]
    pub target: String,
    /// What it weighed then without what it had learned; for people.
    #[serde(deserialize_with = "or_default")]
    pub base: f64,
    /// What fades.
    #[serde(deserialize_with = "or_nan")]
    pub delta: f64,
    /// What stays.
    #[serde(deserialize_with = "or_nan")]
    pub perm: f64,
    /// How often it was strengthened in a row.
    #[serde(deserialize_with = "or_below")]
    pub strengthened: i64,
    /// How often it was weakened in a row.
    #[serde(deserialize_with = "or_below")]
    pub weakened: i64,
    /// Whether it has had its lasting bonus.
    #[serde(deserialize_with = "or_default")]
    pub ltp: bool,
    /// Whether it has had its lasting penalty.
    #[serde(deserialize_with = "or_default")]
    pub ltd: bool,
    /// After which tick.
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

/// The learned state of a scope.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Learned {
    pub tick: u64,
    pub rows: Vec<SynapseRow>,
}

/// The row of an outcome. One whose scope another writer made invalid is skipped.
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

/// An outcome that waits to be learned.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitingOutcome {
    pub id: String,
    pub scope: Scope,
    /// The external ids of the nodes that were active.
    pub active: Vec<String>,
    /// How active they were, above 0 and up to 1; none where somebody wrote what is no number.
    pub reward: Option<f64>,
}

/// The result of learning a page of outcomes.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    pub scope: Scope,
    /// How many outcomes were learned before.
    pub from: u64,
    pub outcomes: Vec<String>,
    pub rows: Vec<SynapseRow>,
    /// Nodes of theirs that are not there.
    pub unknown: i64,
}

impl Store {
    /// Outcomes that wait, at most `limit`, scope after scope from the one behind `after` on, those of one in the order in
    /// which they came.
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

    /// How many outcomes a scope has learned.
    pub async fn ticks(&self, scope: &Scope) -> Result<u64, Error> {
        self.transactions.run("synapse.tick", Mode::Read, async |tx: &mut Tx| ticks(tx, scope).await).await
    }

    /// What a scope has learned since a tick; nothing if that was the last one. All of it, if the last one came before.
    pub async fn learned(&self, scope: &Scope, since: u64) -> Result<Option<Learned>, Error> {
        if self.ticks(scope).await? == since {
            return Ok(None);
        }
        self.transactions
            .run("synapse.since", Mode::Write, async |tx: &mut Tx| {
                // Nothing is written: what is wanted is the lock, until all rows are read.
                tx.abandon();
                let tick = hold(tx, scope).await?;
                let since = if since > tick { 0 } else { since };
                let call = SYNAPSE_SINCE.call().set("scope", scope.as_str()).set("tick", whole(since));
                Ok(Some(Learned { tick, rows: tx.rows(call).await? }))
            })
            .await
    }

    /// What was learned on the ways from nodes and to them, by their external ids.
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
        // A way between two of them was met twice.
        let way = |row: SynapseRow| ((row.source.clone(), row.relation.clone(), row.target.clone()), row);
        let ways: BTreeMap<(String, String, String), SynapseRow> = rows.into_iter().map(way).collect();
        Ok(ways.into_values().collect())
    }

    /// Has a scope learn, as the next batch of a run. Does nothing where it has learned meanwhile: the lesson is another one
    /// then.
    pub async fn learn(&self, run: &mut Run, lesson: &Lesson) -> Result<Tally, Error> {
        self.in_run(run, "synapse.learn", async |tx: &mut Tx| learn(tx, lesson, &self.trails).await).await
    }

    /// Removes rows of which nothing can be left: those that changed last at the tick `before` or earlier, and hold nothing
    /// that stays. At most `limit`, as the next batch of a run.
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

/// Removes what was learned with a memory that is about to be forgotten.
///
/// In what was learned it is called by its id, by its label too, or both over time.
pub(super) async fn forget_learned(tx: &mut Tx, key: &MemoryKey, trails: &Trails) -> Result<(), Error> {
    let mut names = vec![format!("Memory:{key}")];
    // An id that reads like the name of another node never stands alone.
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

/// Without those of memories that were forgotten meanwhile.
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
    let is_there = |name: &str| forgotten.is_empty() || key(name).is_none_or(|key| !forgotten.contains(&key));
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

/// Waits until nobody writes what a scope has learned, and keeps others from it; answers how many outcomes that was.
async fn hold(tx: &mut Tx, scope: &Scope) -> Result<u64, Error> {
    let call = SYNAPSE_HOLD.call().set("name", counter(scope)).set("scope", scope.as_str());
    Ok(u64::try_from(tx.only::<i64>(call).await?).unwrap_or(0))
}

async fn ticks(tx: &mut Tx, scope: &Scope) -> Result<u64, Error> {
    let tick: Option<i64> = tx.row(SYNAPSE_TICK.call().set("name", counter(scope))).await?;
    Ok(tick.map_or(0, |tick| u64::try_from(tick).unwrap_or(0)))
}

/// The counter of a scope: names of counters are unique over all scopes.
fn counter(scope: &Scope) -> String {
    format!("tick:{scope}")
}

fn whole(tick: u64) -> i64 {
    i64::try_from(tick).unwrap_or(i64::MAX)
}

fn count(of: usize) -> i64 {
    i64::try_from(of).unwrap_or(i64::MAX)
}
