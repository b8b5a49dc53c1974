//! What two replays of the same events leave, and where it differs.
//!
//! A replay under one configuration is read back from its scratch database, memory by memory and fact by fact, so that two of them
//! can be compared after the first database is gone.

use super::Service;
use super::evaluation::comparison::{Comparison, Lost, SavedAnswer};
use super::evaluation::metrics::{Ranks, mean};
use super::evaluation::ways::Way;
use super::evaluation::{Question, Views, ask};
use super::recall::{Error as RecallError, RecallConfig};
use crate::domain::fact::{FactScope, Value};
use crate::domain::ids::Scope;
use crate::domain::tier::Tier;
use crate::domain::units::Timestamp;
use crate::store::{Error, FactFilter, Filter, MemoryOrder};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Memories that are read at once.
const PAGE: usize = 1_000;
/// Examples of each kind of difference.
const EXAMPLES: usize = 10;
/// Numbers of first hits.
const TOP: [usize; 2] = [5, 10];
/// Least difference of two confidences that counts.
const CONFIDENCE_STEP: f64 = 1e-9;

/// What a replay leaves.
#[derive(Debug, Default)]
pub struct Replayed {
    /// Instant at which it ended.
    pub ended_at: Option<Timestamp>,
    memories: BTreeMap<(Scope, String), MemoryLeft>,
    facts: BTreeMap<FactKey, FactLeft>,
    views: Views,
    answers: Vec<SavedAnswer>,
}

/// A fact: its scope, entity and relation, and the key of its lineage, since a relation may have many values.
type FactKey = (String, String, String, String);

/// A fact at the end of a replay.
#[derive(Debug, Clone, PartialEq)]
struct FactLeft {
    value: Option<Value>,
    confidence: f64,
}

/// A memory at the end of a replay.
#[derive(Debug, Clone, PartialEq)]
struct MemoryLeft {
    tier: Tier,
    energy: f64,
    last_accessed: Timestamp,
    last_expired: Option<Timestamp>,
}

/// The differences of two replays, A and B.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReplayDifference {
    /// Memories by tier at the end.
    pub tiers: Vec<TierPair>,
    /// Memories that are expired under A and live under B.
    pub expired_only_a: OnlyExpired,
    /// Memories that are expired under B and live under A.
    pub expired_only_b: OnlyExpired,
    /// Facts whose confidence differs.
    pub facts: DifferingFacts,
    /// What the saved questions find, if there are any.
    pub questions: Option<DifferingAnswers>,
}

/// Memories of a tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TierPair {
    pub tier: Tier,
    pub a: usize,
    pub b: usize,
}

/// Memories that one configuration alone expires.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OnlyExpired {
    pub count: usize,
    /// The first, by the instant of their expiry.
    pub examples: Vec<ExpiredExample>,
}

/// A memory that one configuration alone expires.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExpiredExample {
    pub id: String,
    pub scope: Scope,
    /// Instant of its expiry.
    pub expired_at: Option<Timestamp>,
    /// Instant of its last access before.
    pub last_accessed: Timestamp,
    /// Energy with which it expired.
    pub energy: f64,
    /// Its tier under the other configuration.
    pub other_tier: Tier,
    /// Its energy at the end under the other configuration.
    pub other_energy: f64,
}

/// Facts whose confidence differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DifferingFacts {
    pub count: usize,
    /// Facts with a confidence of 0 under A alone.
    pub retracted_only_a: usize,
    /// Facts with a confidence of 0 under B alone.
    pub retracted_only_b: usize,
    /// The first, in the order of scopes, entities and relations.
    pub examples: Vec<FactExample>,
}

/// A fact whose confidence differs; null where it does not exist.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FactExample {
    pub scope: String,
    pub entity: String,
    pub relation: String,
    pub value: Option<Value>,
    pub a: Option<f64>,
    pub b: Option<f64>,
}

/// What the saved questions find.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DifferingAnswers {
    pub questions: usize,
    /// Mean share of the memories that answer a question among its first hits.
    pub recall: Vec<RecallPair>,
    /// Questions that find less among the first ten hits under B than under A.
    pub lost_under_b: Vec<Lost>,
    /// Questions that find less among the first ten hits under A than under B.
    pub lost_under_a: Vec<Lost>,
}

/// Recall among the first hits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecallPair {
    pub first: usize,
    pub a: f64,
    pub b: f64,
}

impl Service {
    /// Reads back what a replay that ended at an instant left in these scopes, and asks the questions.
    pub async fn replayed(
        &self,
        scopes: &BTreeSet<Scope>,
        ended_at: Option<Timestamp>,
        questions: &[Question],
    ) -> Result<Replayed, RecallError> {
        let mut left = Replayed { ended_at, ..Replayed::default() };
        for scope in scopes {
            self.memories_left(scope, &mut left).await?;
        }
        for scope in FactScope::ALL {
            let filter = FactFilter { scope, entity: None, relation: None, history: false };
            for fact in self.facts(&filter, "", None).await? {
                let value = fact.value();
                if let (Some(entity), Some(relation)) = (fact.entity, fact.relation) {
                    // The cursor of a head is the key of its lineage.
                    let key = (scope.name().to_owned(), entity, relation, fact.cursor);
                    left.facts.insert(key, FactLeft { value, confidence: fact.confidence.unwrap_or(0.0) });
                }
            }
        }
        if !questions.is_empty() {
            left.views = self.views(questions).await?;
            left.answers = answers(questions, &left.views, self.rules())?;
        }
        Ok(left)
    }

    async fn memories_left(&self, scope: &Scope, left: &mut Replayed) -> Result<(), Error> {
        let tunables = self.store.tunables().await?;
        let at = left.ended_at.unwrap_or(Timestamp::FIRST);
        let (all, mut after) = (Filter::default(), String::new());
        loop {
            let page = self.list_keys(scope, (&all, MemoryOrder::Id), (&after, PAGE)).await?;
            for record in self.store.memories(&page.keys).await? {
                let Ok(life) = record.life else { continue };
                let memory = MemoryLeft {
                    tier: life.state.tier,
                    energy: life.state.energy_now(at, &tunables).value(),
                    last_accessed: life.state.last_accessed,
                    last_expired: record.last_expired,
                };
                left.memories.insert((scope.clone(), record.id), memory);
            }
            let Some(next) = page.next else { return Ok(()) };
            after = next;
        }
    }
}

fn answers(
    questions: &[Question],
    views: &Views,
    rules: &RecallConfig,
) -> Result<Vec<SavedAnswer>, RecallError> {
    let depth = TOP.into_iter().max().unwrap_or(1);
    let answers = ask(Way::Ebb, questions, views, rules, depth);
    let answers = answers.map_err(|why| RecallError::Invalid(why.to_string()))?;
    Ok(SavedAnswer::of(questions, &answers))
}

impl ReplayDifference {
    /// Compares what two replays left.
    #[must_use]
    pub fn of(a: &Replayed, b: &Replayed) -> Self {
        let count = |of: &Replayed, tier: Tier| of.memories.values().filter(|one| one.tier == tier).count();
        let tiers = Tier::ALL.into_iter().filter(|tier| !tier.is_stub());
        Self {
            tiers: tiers.map(|tier| TierPair { tier, a: count(a, tier), b: count(b, tier) }).collect(),
            expired_only_a: only_expired(a, b),
            expired_only_b: only_expired(b, a),
            facts: facts(a, b),
            questions: (!a.answers.is_empty()).then(|| answers_of(a, b)),
        }
    }
}

fn only_expired(of: &Replayed, other: &Replayed) -> OnlyExpired {
    let example = |((scope, id), memory): (&(Scope, String), &MemoryLeft)| {
        let elsewhere = other.memories.get(&(scope.clone(), id.clone()))?;
        let is_only = memory.tier == Tier::ExpiredWorking && elsewhere.tier != Tier::ExpiredWorking;
        is_only.then(|| ExpiredExample {
            id: id.clone(),
            scope: scope.clone(),
            expired_at: memory.last_expired,
            last_accessed: memory.last_accessed,
            energy: memory.energy,
            other_tier: elsewhere.tier,
            other_energy: elsewhere.energy,
        })
    };
    let mut examples: Vec<ExpiredExample> = of.memories.iter().filter_map(example).collect();
    examples.sort_by_key(|example| example.expired_at);
    let count = examples.len();
    examples.truncate(EXAMPLES);
    OnlyExpired { count, examples }
}

fn facts(a: &Replayed, b: &Replayed) -> DifferingFacts {
    let keys: BTreeSet<&FactKey> = a.facts.keys().chain(b.facts.keys()).collect();
    let confidence = |of: &Replayed, key: &FactKey| of.facts.get(key).map(|fact| fact.confidence);
    let of = |key: &FactKey| (confidence(a, key), confidence(b, key));
    let differs = |key: &&&FactKey| match of(key) {
        (Some(a), Some(b)) => (a - b).abs() > CONFIDENCE_STEP,
        _ => true,
    };
    let differing: Vec<&FactKey> = keys.iter().filter(differs).copied().collect();
    let retracted = |one: Option<f64>, other: Option<f64>| one == Some(0.0) && other != Some(0.0);
    let example = |key: &&FactKey| {
        let (scope, entity, relation, _) = (*key).clone();
        let value = a.facts.get(*key).or_else(|| b.facts.get(*key)).and_then(|fact| fact.value.clone());
        let (a, b) = of(key);
        FactExample { scope, entity, relation, value, a, b }
    };
    DifferingFacts {
        count: differing.len(),
        retracted_only_a: differing.iter().map(|key| of(key)).filter(|(a, b)| retracted(*a, *b)).count(),
        retracted_only_b: differing.iter().map(|key| of(key)).filter(|(a, b)| retracted(*b, *a)).count(),
        examples: differing.iter().take(EXAMPLES).map(example).collect(),
    }
}

fn answers_of(a: &Replayed, b: &Replayed) -> DifferingAnswers {
    let recall = |of: &Replayed, first: usize| {
        let ranks = of.answers.iter().map(|answer| Ranks(answer.gold.values().copied().collect()));
        mean(ranks.map(|ranks| ranks.recall(first)))
    };
    let lost = |before: &Replayed, now: &Replayed| {
        Comparison::of(&before.answers, &now.answers, &now.views).map_or_else(Vec::new, |found| found.lost)
    };
    DifferingAnswers {
        questions: a.answers.len(),
        recall: TOP.map(|first| RecallPair { first, a: recall(a, first), b: recall(b, first) }).to_vec(),
        lost_under_b: lost(a, b),
        lost_under_a: lost(b, a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_millis(hours * 3_600_000).unwrap()
    }

    fn memory(tier: Tier, expired: Option<i64>) -> MemoryLeft {
        MemoryLeft { tier, energy: 0.5, last_accessed: at(1), last_expired: expired.map(at) }
    }

    fn left(memories: Vec<(&str, MemoryLeft)>, facts: &[(&str, f64)]) -> Replayed {
        let key = |id: &str| (Scope::local(), id.to_owned());
        let fact = |(value, confidence): &(&str, f64)| {
            let key = ("team".to_owned(), "Alex".to_owned(), "owns".to_owned(), (*value).to_owned());
            (key, FactLeft { value: Some(Value::Text((*value).to_owned())), confidence: *confidence })
        };
        Replayed {
            memories: memories.into_iter().map(|(id, memory)| (key(id), memory)).collect(),
            facts: facts.iter().map(fact).collect(),
            ..Replayed::default()
        }
    }

    #[test]
    fn what_one_configuration_alone_loses_is_named() {
        let gone = |hour| memory(Tier::ExpiredWorking, Some(hour));
        let live = || memory(Tier::ShortTerm, None);
        let a = left(
            vec![("late", gone(9)), ("early", gone(3)), ("both", gone(2)), ("kept", live())],
            &[("x", 0.0), ("y", 0.5), ("z", 0.25)],
        );
        let b = left(
            vec![("late", live()), ("early", live()), ("both", gone(5)), ("kept", gone(4))],
            &[("x", 0.5), ("y", 0.5)],
        );
        let found = ReplayDifference::of(&a, &b);
        let ids = |only: &OnlyExpired| -> Vec<String> {
            only.examples.iter().map(|example| example.id.clone()).collect()
        };
        assert_eq!(
            (found.expired_only_a.count, ids(&found.expired_only_a)),
            (2, vec!["early".into(), "late".into()])
        );
        assert_eq!(ids(&found.expired_only_b), ["kept"]);
        let tier = |tier| found.tiers.iter().find(|pair| pair.tier == tier).map(|pair| (pair.a, pair.b));
        assert_eq!((tier(Tier::ExpiredWorking), tier(Tier::ShortTerm)), (Some((3, 2)), Some((1, 2))));
        let facts = &found.facts;
        assert_eq!((facts.count, facts.retracted_only_a, facts.retracted_only_b), (2, 1, 0));
        assert_eq!((facts.examples[1].a, facts.examples[1].b), (Some(0.25), None));
        assert_eq!(facts.examples[1].value, Some(Value::Text("z".to_owned())));
        assert_eq!(found.questions, None);
    }

    #[test]
    fn the_same_replay_differs_in_nothing() {
        let a = left(vec![("m", memory(Tier::Working, None))], &[("x", 0.5)]);
        let found = ReplayDifference::of(&a, &a);
        assert_eq!((found.expired_only_a.count, found.expired_only_b.count, found.facts.count), (0, 0, 0));
    }
}
