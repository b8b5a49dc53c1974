//! Decaying relations: observation, pinning, listing.
//!
//! Observing and pinning run in Rust on relations that the transaction has locked, folded in their order, so that a
//! batch of events gives the same result as its events one by one.

use super::Store;
use super::catalogue::{RELATION_CREATE, RELATION_LIST, RELATION_LOCK, RELATION_READ, RELATION_WRITE};
use super::encode::{instants, list, slices};
use super::entity;
use super::error::Error;
use super::request::{RequestMode, answer, open};
use super::tx::{Mode, Tx};
use crate::domain::event::{Observe, Tie};
use crate::domain::ids::Scope;
use crate::domain::relation::{Fading, Observation, Pins, RelationState};
use crate::domain::units::{Timestamp, Weight};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Effect of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservationEffect {
    /// Created a relation.
    Created,
    /// Updated an existing relation.
    Again,
    /// Nothing: a later observation is stored already.
    Late,
}

/// Filter of relations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelationFilter {
    /// Relations that are retrieved.
    Retrievable,
    /// Relations below the minimum.
    Decayed,
    /// Relations whose stored weight a pass would lower.
    Lowered,
}

/// A relation at an instant.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Relation {
    /// Unique key, and the order of lists.
    pub key: String,
    pub from: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub to: String,
    /// Present weight, `0 ..= 1`.
    pub weight: f64,
    /// Weight at [`Relation::weight_at`], `0 ..= 1`.
    pub base: f64,
    /// Start of its decay, epoch milliseconds.
    pub weight_at: i64,
    /// Last observation, epoch milliseconds.
    pub last_observed: i64,
    /// Whether it does not decay.
    pub pinned: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RelationRow {
    key: String,
    base: Option<f64>,
    weight_at: Option<i64>,
    last_observed: Option<i64>,
    pinned: Option<bool>,
    fault: Option<String>,
}

impl Store {
    /// Settings of decay.
    #[must_use]
    pub const fn fading(&self) -> &Fading {
        &self.fading
    }

    /// Observes relations in their order, all or none, once under a request id, or as a dry run. Returns the effect of
    /// each observation.
    pub async fn observe(
        &self,
        mode: RequestMode<'_>,
        seen: &[Observe],
    ) -> Result<Vec<ObservationEffect>, Error> {
        let write = async |tx: &mut Tx, seen: &[Observe]| observe(tx, seen, &self.pins).await;
        self.write_items("relation.observe", &self.sharing.observations, mode, seen, write).await
    }

    /// Pins or unpins a relation at `now`, once under a request id, or as a dry run; returns its weight.
    pub async fn pin_relation(
        &self,
        mode: RequestMode<'_>,
        tie: &Tie,
        pin: bool,
        now: Timestamp,
    ) -> Result<f64, Error> {
        if !pin && tie.is_held(&self.pins) {
            let why =
                format!("{tie} is pinned by the configuration: remove it from relation.pinned to unpin it");
            return Err(Error::Conflict(why));
        }
        let key = tie.key();
        self.transactions
            .run("relation.pin", Mode::Write, async |tx: &mut Tx| {
                if let Some(weight) = open(tx, mode).await? {
                    return Ok(weight);
                }
                let found = lock(tx, &[key.as_str()]).await?.remove(&key);
                let found = found.ok_or_else(|| Error::NotFound { what: "relation", id: tie.to_string() })?;
                let state =
                    found.map_err(|reason| Error::Quarantined { id: format!("relation {tie}"), reason })?;
                let next = if pin { state.pinned(now, &self.fading) } else { state.unpinned(now) };
                if next != state {
                    touch(tx, tie);
                    write(tx, &[(key.as_str(), next)]).await?;
                }
                let weight = next.weight(now, &self.fading).value();
                answer(tx, mode, &weight);
                Ok(weight)
            })
            .await
    }

    /// Relations of a scope as they are at `now`, by key after `after`, at most `limit`.
    pub async fn relations(
        &self,
        scope: &Scope,
        which: RelationFilter,
        now: Timestamp,
        after: &str,
        limit: usize,
    ) -> Result<Vec<Relation>, Error> {
        let which = match which {
            RelationFilter::Retrievable => "retrievable",
            RelationFilter::Decayed => "decayed",
            RelationFilter::Lowered => "lowered",
        };
        let call = RELATION_LIST
            .call()
            .set("scope", scope.as_str())
            .set("now", now.millis())
            .set("halfLifeMs", self.fading.half_life_ms())
            .set("minimum", self.fading.minimum().value())
            .set("which", which)
            .set("after", after)
            .set("limit", i64::try_from(limit).unwrap_or(i64::MAX));
        self.read(call).await
    }

    /// Relations of a scope by the keys from a list, in their order, with their weights; deleted ones are omitted.
    pub async fn relations_of(
        &self,
        scope: &Scope,
        listed: &[(String, f64)],
    ) -> Result<Vec<Relation>, Error> {
        self.transactions
            .run("relation.read", Mode::Read, async |tx: &mut Tx| {
                let mut all = Vec::with_capacity(listed.len());
                for slice in slices(&RELATION_READ, listed, |(key, _)| key.len() + 12) {
                    let call = RELATION_READ
                        .call()
                        .set("scope", scope.as_str())
                        .set("key", list(slice.iter().map(|(key, _)| key.as_str())))
                        .set("weight", list(slice.iter().map(|(_, weight)| *weight)));
                    all.extend(tx.rows::<Relation>(call).await?);
                }
                Ok(all)
            })
            .await
    }
}

/// Observes relations inside a transaction of the caller. Relations pinned by configuration stay pinned, whatever the
/// observation requests.
pub(super) async fn observe(
    tx: &mut Tx,
    seen: &[Observe],
    pins: &Pins,
) -> Result<Vec<ObservationEffect>, Error> {
    struct FoldedRelation<'a> {
        tie: &'a Tie,
        before: Option<RelationState>,
        state: Option<RelationState>,
        first: Timestamp,
    }
    let keys: Vec<String> = seen.iter().map(|one| one.tie.key()).collect();
    let wanted: BTreeSet<&str> = keys.iter().map(String::as_str).collect();
    let wanted: Vec<&str> = wanted.into_iter().collect();
    let found = lock(tx, &wanted).await?;
    let mut folded: BTreeMap<&str, FoldedRelation<'_>> = BTreeMap::new();
    let mut done = Vec::with_capacity(seen.len());
    for (Observe { tie, seen }, key) in seen.iter().zip(&keys) {
        let pinned = if tie.is_held(pins) { Some(true) } else { seen.pinned };
        let seen = Observation { pinned, ..*seen };
        let one = folded.entry(key).or_insert_with(|| {
            // An observation sets every input of the law, so it also repairs a quarantined relation.
            let exists = found.get(key.as_str());
            let before = exists.map(|state| state.clone().unwrap_or_else(|_| RelationState::new(seen)));
            let unsound = exists.is_some_and(Result::is_err);
            FoldedRelation { tie, before: before.filter(|_| !unsound), state: before, first: seen.at }
        });
        let (next, what) = match one.state {
            None => (RelationState::new(seen), ObservationEffect::Created),
            Some(state) if state.is_past(seen.at) => (state, ObservationEffect::Late),
            Some(state) => (state.observed(seen), ObservationEffect::Again),
        };
        one.state = Some(next);
        done.push(what);
    }
    let exists = |key: &str| found.contains_key(key);
    let made: Vec<(&str, &FoldedRelation<'_>, RelationState)> = folded
        .iter()
        .filter(|(key, _)| !exists(key))
        .filter_map(|(key, one)| Some((*key, one, one.state?)))
        .collect();
    let changed: Vec<(&str, RelationState)> = folded
        .iter()
        .filter(|(key, one)| exists(key) && one.state != one.before)
        .filter_map(|(key, one)| Some((*key, one.state?)))
        .collect();
    let moved = folded.values().filter(|one| one.state != one.before);
    moved.for_each(|one| touch(tx, one.tie));
    let ends = made.iter().flat_map(|(_, one, _)| {
        let scope = one.tie.scope.as_str();
        [(scope, one.tie.from.as_str()), (scope, one.tie.to.as_str())]
    });
    entity::open(tx, ends).await?;
    let weight = |(key, one, _): &(&str, &FoldedRelation<'_>, RelationState)| {
        let tie = one.tie;
        let names = [tie.scope.as_str(), tie.from.as_str(), tie.kind.as_str(), tie.to.as_str()];
        key.len() + names.map(str::len).iter().sum::<usize>() + 60
    };
    for slice in slices(&RELATION_CREATE, &made, weight) {
        let ties = || slice.iter().map(|(_, one, _)| one.tie);
        let call = RELATION_CREATE
            .call()
            .set("scope", list(ties().map(|tie| tie.scope.as_str())))
            .set("from", list(ties().map(|tie| tie.from.as_str())))
            .set("type", list(ties().map(|tie| tie.kind.as_str())))
            .set("to", list(ties().map(|tie| tie.to.as_str())))
            .set("created", instants(slice.iter().map(|(_, one, _)| Some(one.first))));
        tx.run(relation_columns(call, slice.iter().map(|(key, _, state)| (*key, state)))).await?;
    }
    write(tx, &changed).await?;
    Ok(done)
}

/// Locks relations in the order given: each existing one, or the reason why its row is invalid.
async fn lock(tx: &mut Tx, keys: &[&str]) -> Result<BTreeMap<String, Result<RelationState, String>>, Error> {
    let mut found = BTreeMap::new();
    for slice in slices(&RELATION_LOCK, keys, |key| key.len() + 2) {
        let rows: Vec<RelationRow> =
            tx.rows(RELATION_LOCK.call().set("key", list(slice.iter().copied()))).await?;
        found.extend(rows.into_iter().map(|row| {
            let state = row.check();
            (row.key, state)
        }));
    }
    Ok(found)
}

/// Records that a relation changed, and with it the last observation of its ends.
fn touch(tx: &mut Tx, tie: &Tie) {
    let scope = tie.scope.as_str();
    tx.touch("Entity", scope, tie.from.as_str(), "RELATES_TO");
    tx.touch("Entity", scope, tie.from.as_str(), "");
    tx.touch("Entity", scope, tie.to.as_str(), "");
}

async fn write(tx: &mut Tx, changed: &[(&str, RelationState)]) -> Result<(), Error> {
    for slice in slices(&RELATION_WRITE, changed, |(key, _)| key.len() + 40) {
        tx.run(relation_columns(RELATION_WRITE.call(), slice.iter().map(|(key, state)| (*key, state))))
            .await?;
    }
    Ok(())
}

/// Columns of every statement that writes relations.
fn relation_columns<'a>(
    call: super::statement::Call,
    relation_columns: impl Iterator<Item = (&'a str, &'a RelationState)> + Clone,
) -> super::statement::Call {
    let each = || relation_columns.clone().map(|(_, state)| state);
    call.set("key", list(relation_columns.clone().map(|(key, _)| key)))
        .set("base", list(each().map(|state| state.base.value())))
        .set("weightAt", instants(each().map(|state| Some(state.weight_at))))
        .set("lastObserved", instants(each().map(|state| Some(state.last_observed))))
        .set("pinned", list(each().map(|state| state.pinned)))
}

impl RelationRow {
    fn check(&self) -> Result<RelationState, String> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let instant = |name: &str, ms: Option<i64>| {
            let ms = ms.ok_or_else(|| format!("{name} is missing or not a date with time and zone"))?;
            Timestamp::from_millis(ms).map_err(|why| format!("{name}: {why}"))
        };
        let base = self.base.ok_or("baseWeight is missing or not a number")?;
        Ok(RelationState::stored(
            Weight::new(base).map_err(|why| why.to_string())?,
            instant("weightAt", self.weight_at)?,
            instant("lastObserved", self.last_observed)?,
            self.pinned.unwrap_or(false),
        ))
    }
}
