//! Facts: assertion and listing; adoption and sweeps are in the modules below.
//!
//! A lineage is a node of its own, as a lock for races on its head: assertions and sweeps lock lineages first, in the
//! order of their keys, and read their heads after that.

mod adopt;
mod requested;
mod sweep;

pub(super) use adopt::adopt;
pub use requested::{RequestedSweep, SweepJob, SweepState};
pub use sweep::SweepPage;

use super::Store;
use super::catalogue::{FACT_ABOUT, FACT_CREATE, FACT_HEAD, FACT_HISTORY, FACT_LINEAGE, FACT_LIST};
use super::encode::{instants, list, slices};
use super::entity;
use super::error::Error;
use super::request::RequestMode;
use super::tx::Tx;
use crate::domain::fact::{Assertion, DECAY_SOURCE, FactScope, Rank, Value};
use crate::domain::units::{Timestamp, millis};
use neo4rs::BoltType;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Receipt of an assertion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactReceipt {
    pub id: String,
    /// Whether it is the head of its lineage; false if a later fact was known.
    pub is_head: bool,
    /// Instant of the assertion: of a repeated request, the first.
    #[serde(with = "millis")]
    pub at: Timestamp,
}

/// Filter of facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactFilter {
    pub scope: FactScope,
    pub entity: Option<String>,
    pub relation: Option<String>,
    /// All facts, not the heads of their lineages alone.
    pub history: bool,
}

/// A fact as stored.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    /// Cursor of the page after it.
    pub cursor: String,
    pub id: String,
    pub entity: Option<String>,
    pub relation: Option<String>,
    /// Scope of the fact.
    pub scope: Option<String>,
    text: Option<String>,
    whole: Option<i64>,
    number: Option<f64>,
    truth: Option<bool>,
    /// Confidence, `0 ..= 1`.
    pub confidence: Option<f64>,
    pub source: Option<String>,
    /// Instant of the assertion, epoch milliseconds.
    pub asserted_at: Option<i64>,
    /// End of validity, epoch milliseconds.
    pub valid_until: Option<i64>,
    /// Original confidence, if a sweep wrote the fact.
    pub origin_confidence: Option<f64>,
    /// Instant of the original assertion, epoch milliseconds, if a sweep wrote the fact.
    pub origin_at: Option<i64>,
    /// Whether it is the head of its lineage.
    pub is_head: bool,
}

impl Fact {
    /// Value.
    #[must_use]
    pub fn value(&self) -> Option<Value> {
        value(self.text.as_deref(), self.whole, self.number, self.truth)
    }
}

/// Value from one of four columns, each of its own type, without conversion.
fn value(text: Option<&str>, whole: Option<i64>, number: Option<f64>, truth: Option<bool>) -> Option<Value> {
    let text = text.map(|text| Value::Text(text.to_owned()));
    text.or(whole.map(Value::Integer)).or(number.map(Value::Number)).or(truth.map(Value::Truth))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HeadRow {
    key: String,
    id: Option<String>,
    asserted_at: Option<i64>,
    origin_at: Option<i64>,
}

/// A lineage to lock: its key, scope and relation.
type Line<'a> = (&'a str, FactScope, &'a str);

impl Store {
    /// Asserts facts, all or none, once under a request id, or as a dry run.
    pub async fn assert_facts(
        &self,
        mode: RequestMode<'_>,
        facts: &[Assertion],
    ) -> Result<Vec<FactReceipt>, Error> {
        let write = async |tx: &mut Tx, facts: &[Assertion]| assert(tx, facts).await;
        self.write_items("fact.assert", &self.sharing.facts, mode, facts, write).await
    }

    /// Facts in a stable order, after the cursor `after` (empty at first), at most `limit`.
    pub async fn facts(&self, filter: &FactFilter, after: &str, limit: usize) -> Result<Vec<Fact>, Error> {
        let statement = match (&filter.entity, filter.history) {
            (Some(_), _) => &FACT_ABOUT,
            (None, true) => &FACT_HISTORY,
            (None, false) => &FACT_LIST,
        };
        let call = statement
            .call()
            .set("scope", filter.scope.name())
            .set("relation", filter.relation.as_deref())
            .set("after", after)
            .set("limit", i64::try_from(limit).unwrap_or(i64::MAX));
        let call = match &filter.entity {
            Some(entity) => call.set("entity", entity.as_str()).set("history", filter.history),
            None => call,
        };
        self.read(call).await
    }
}

/// Asserts facts inside a transaction of the caller.
pub(super) async fn assert(tx: &mut Tx, facts: &[Assertion]) -> Result<Vec<FactReceipt>, Error> {
    if facts.is_empty() {
        return Ok(Vec::new());
    }
    let keys: Vec<String> = facts.iter().map(|fact| fact.tuple.key()).collect();
    let lines: BTreeMap<&str, Line<'_>> = keys
        .iter()
        .zip(facts)
        .map(|(key, fact)| (key.as_str(), (key.as_str(), fact.tuple.scope, fact.tuple.relation.as_str())))
        .collect();
    let lines: Vec<Line<'_>> = lines.into_values().collect();
    let before = lineages(tx, &lines).await?;
    // Every lineage of a new entity is new, and a mirror finds the entity by this alone.
    for (_, fact) in keys.iter().zip(facts).filter(|(key, _)| !before.contains_key(*key)) {
        tx.touch("Entity", fact.tuple.scope.name(), fact.tuple.entity.as_str(), "");
    }
    entity::open(tx, facts.iter().map(|fact| (fact.tuple.scope.name(), fact.tuple.entity.as_str()))).await?;
    let weight = |fact: &Assertion| {
        let value = match &fact.tuple.value {
            Value::Text(text) => text.len(),
            _ => 10,
        };
        let names = [
            fact.id.as_str(),
            fact.tuple.entity.as_str(),
            fact.tuple.relation.as_str(),
            fact.source.as_str(),
        ];
        names.map(str::len).iter().sum::<usize>() + value + 60
    };
    for slice in slices(&FACT_CREATE, facts, weight) {
        let tuples = || slice.iter().map(|fact| &fact.tuple);
        let call = FACT_CREATE
            .call()
            .set("id", list(slice.iter().map(|fact| fact.id.as_str())))
            .set("scope", list(tuples().map(|tuple| tuple.scope.name())))
            .set("entity", list(tuples().map(|tuple| tuple.entity.as_str())))
            .set("relation", list(tuples().map(|tuple| tuple.relation.as_str())))
            .set("value", list(tuples().map(|tuple| bolt(&tuple.value))))
            .set("valueType", list(tuples().map(|tuple| tuple.value.type_name())))
            .set("confidence", list(slice.iter().map(|fact| fact.confidence.value())))
            .set("source", list(slice.iter().map(|fact| fact.source.as_str())))
            .set("assertedAt", instants(slice.iter().map(|fact| Some(fact.at))))
            .set("validUntil", instants(slice.iter().map(|fact| fact.valid_until)));
        tx.run(call).await?;
    }
    let ranked =
        keys.iter().zip(facts).map(|(key, fact)| (key.as_str(), Rank::new(fact.at, None, fact.id.clone())));
    let heads = move_heads(tx, &before, ranked).await?;
    let said = |fact: &Assertion| FactReceipt {
        id: fact.id.clone(),
        is_head: heads.contains(&fact.id),
        at: fact.at,
    };
    Ok(facts.iter().map(said).collect())
}

fn bolt(value: &Value) -> BoltType {
    match value {
        Value::Truth(truth) => (*truth).into(),
        Value::Integer(whole) => (*whole).into(),
        Value::Number(number) => (*number).into(),
        Value::Text(text) => text.as_str().into(),
    }
}

/// Locks lineages in the order given, and creates new ones; returns the ranks of their heads.
async fn lineages(tx: &mut Tx, lines: &[Line<'_>]) -> Result<BTreeMap<String, Rank>, Error> {
    let mut heads: BTreeMap<String, Rank> = BTreeMap::new();
    for slice in slices(&FACT_LINEAGE, lines, |(key, _, relation)| key.len() + relation.len() + 12) {
        let call = FACT_LINEAGE
            .call()
            .set("source", DECAY_SOURCE)
            .set("key", list(slice.iter().map(|(key, ..)| *key)))
            .set("scope", list(slice.iter().map(|(_, scope, _)| scope.name())))
            .set("relation", list(slice.iter().map(|(.., relation)| *relation)));
        let rows: Vec<HeadRow> = tx.rows(call).await?;
        for row in rows {
            let Some(id) = row.id else { continue };
            let instant = |ms: Option<i64>| ms.and_then(|ms| Timestamp::from_millis(ms).ok());
            let rank = match instant(row.asserted_at) {
                Some(at) => Rank::new(at, instant(row.origin_at), id),
                // A head without an instant was corrupted by another writer: any assertion replaces it.
                None => Rank::new(Timestamp::FIRST, None, id),
            };
            match heads.get_mut(&row.key) {
                Some(known) => *known = rank.max(known.clone()),
                None => drop(heads.insert(row.key, rank)),
            }
        }
    }
    Ok(heads)
}

/// Makes the latest of the facts the heads of their lineages, if they rank above the present heads. Returns the ids of
/// the facts that are heads now.
async fn move_heads<'a>(
    tx: &mut Tx,
    before: &BTreeMap<String, Rank>,
    ranked: impl Iterator<Item = (&'a str, Rank)>,
) -> Result<BTreeSet<String>, Error> {
    let mut latest: BTreeMap<&str, Rank> = BTreeMap::new();
    for (key, rank) in ranked {
        if before.get(key).is_some_and(|known| *known > rank) {
            continue;
        }
        match latest.get_mut(key) {
            Some(known) => *known = rank.max(known.clone()),
            None => drop(latest.insert(key, rank)),
        }
    }
    let moved: Vec<(&str, Rank)> = latest
        .into_iter()
        .filter(|(key, rank)| before.get(*key).is_none_or(|known| known.id() != rank.id()))
        .collect();
    for slice in slices(&FACT_HEAD, &moved, |(key, rank)| key.len() + rank.id().len() + 4) {
        let call = FACT_HEAD
            .call()
            .set("key", list(slice.iter().map(|(key, _)| *key)))
            .set("id", list(slice.iter().map(|(_, rank)| rank.id())));
        tx.run(call).await?;
    }
    Ok(moved.into_iter().map(|(_, rank)| rank.id().to_owned()).collect())
}
