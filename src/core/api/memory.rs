//! A memory, and a memory explained.

use crate::domain::memory::{Crossing, MemoryState};
use crate::domain::tier::Tier;
use crate::domain::units::Timestamp;
use crate::service::explain::Explanation;
use crate::service::memories::Memory;
use crate::service::{Done, Happened};
use schemars::JsonSchema;
use serde::Serialize;

/// A memory at an instant. A row that no law can use has its reason in `quarantined`, and null for what is not known.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Memory")]
pub struct Shown {
    /// Its id, unique in its scope.
    pub id: String,
    /// What it says.
    pub content: Option<String>,
    /// Whose data it is.
    pub scope: Option<String>,
    /// Its tier.
    pub tier: Option<Tier>,
    /// Its energy at the instant asked about.
    pub energy: Option<f64>,
    /// The instant that the stored energy is true for.
    pub energy_at: Option<Timestamp>,
    /// When it was last used.
    pub last_accessed: Option<Timestamp>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// How often it was used.
    pub access_count: Option<i64>,
    /// The session it was made in.
    pub session: Option<String>,
    /// Whether it neither fades nor expires nor rises.
    pub pinned: Option<bool>,
    /// Since when it may rise.
    pub ripe_at: Option<Timestamp>,
    /// When a pass has to look at it next.
    pub due_at: Option<Timestamp>,
    /// The stub of its last promotion.
    pub promoted_from: Option<String>,
    /// The clusters it belongs to.
    pub clusters: Vec<String>,
    /// How often other memories strengthened it.
    pub reinforcement_count: i64,
    /// Why no law can use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quarantined: Option<String>,
    /// What the request did to it: created, accessed or revived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub did: Option<Done>,
    /// Whether nothing was written.
    #[serde(rename = "dry_run", skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// The instant asked about.
    #[serde(skip)]
    pub at: Timestamp,
    /// Which instance of an agent made it.
    #[serde(skip)]
    pub instance: Option<String>,
    /// What it mentions.
    #[serde(skip)]
    pub mentions: Vec<String>,
}

impl From<Memory> for Shown {
    fn from(Memory { record, at, energy }: Memory) -> Self {
        let (life, fault) = match record.life {
            Ok(life) => (Some(life), None),
            Err(why) => (None, Some(why)),
        };
        let vital: Option<MemoryState> = life.as_ref().map(|life| life.vital);
        let instant = |of: fn(&MemoryState) -> Option<Timestamp>| vital.as_ref().and_then(of);
        Self {
            id: record.id,
            content: record.content,
            scope: life.as_ref().map(|life| life.scope.to_string()),
            tier: vital.map(|vital| vital.tier),
            energy: energy.map(|energy| energy.value()),
            energy_at: instant(|vital| Some(vital.energy_at)),
            last_accessed: instant(|vital| Some(vital.last_accessed)),
            created: life.as_ref().map(|life| life.created),
            access_count: vital.map(|vital| vital.access_count),
            session: life.and_then(|life| life.session),
            pinned: vital.map(|vital| vital.pinned),
            ripe_at: instant(|vital| vital.ripe_at),
            due_at: instant(|vital| vital.due_at),
            promoted_from: record.promoted_from,
            clusters: record.clusters,
            reinforcement_count: record.reinforcement_count,
            quarantined: fault,
            did: None,
            dry_run: false,
            at,
            instance: record.instance,
            mentions: record.mentions,
        }
    }
}

impl Shown {
    /// What became of it, or would.
    #[must_use]
    pub fn after(memory: Memory, did: Option<Done>, dry_run: bool) -> Self {
        Self { did, dry_run, ..memory.into() }
    }
}

/// A memory, and why it is where it is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explained {
    /// The memory.
    #[serde(flatten)]
    pub memory: Shown,
    /// Hours until half its energy is gone; null where it rests.
    pub half_life_hours: Option<f64>,
    /// The thresholds ahead, soonest first.
    pub crossings: Vec<Ahead>,
    /// What happened to it, latest first.
    pub history: Vec<Event>,
    /// Why it is where it is, in a sentence or two.
    pub because: String,
}

/// A threshold that will be crossed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Crossing")]
pub struct Ahead {
    /// The energy.
    pub threshold: f64,
    /// Its name: promotion or expiry.
    pub name: &'static str,
    /// When.
    pub at: Timestamp,
}

/// Something that happened.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// What.
    pub what: &'static str,
    /// The energy then, where it is on record.
    pub energy: Option<f64>,
    /// In which session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// How often in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<i64>,
}

impl From<Explanation> for Explained {
    fn from(explanation: Explanation) -> Self {
        let ahead = |crossing: &Crossing| Ahead {
            threshold: crossing.threshold,
            name: crossing.name,
            at: crossing.at,
        };
        Self {
            half_life_hours: explanation.half_life_hours,
            crossings: explanation.crossings.iter().map(ahead).collect(),
            history: history(&explanation),
            because: explanation.because,
            memory: explanation.memory.into(),
        }
    }
}

/// What is on record, latest first: accesses by session, promotions, the last expiry, the creation.
#[must_use]
pub fn history(explanation: &Explanation) -> Vec<Event> {
    let event = |at, what, energy| Event { at: at, what, energy, session: None, count: None };
    let record = &explanation.memory.record;
    let mut events: Vec<Event> = explanation
        .history
        .iter()
        .map(|happened: &Happened| match happened.what.as_str() {
            "PROMOTED_TO" => event(happened.at, "promoted to shortTerm", happened.energy),
            "CRYSTALLIZED_INTO" => event(happened.at, "crystallised into longTerm", happened.energy),
            _ => Event {
                session: happened.detail.clone(),
                count: Some(happened.count),
                ..event(happened.at, "accessed", None)
            },
        })
        .collect();
    if let Ok(life) = &record.life {
        let expired = life.vital.tier == Tier::ExpiredWorking;
        let energy = expired.then(|| life.vital.energy.value());
        events.extend(record.last_expired.map(|at| event(at, "expired", energy)));
        // An access outside any session, or before the session's last.
        if events.iter().all(|event| event.at != life.vital.last_accessed) {
            events.push(event(life.vital.last_accessed, "accessed", None));
        }
        events.retain(|event| event.what != "accessed" || event.at != life.created);
        events.push(Event { session: life.session.clone(), ..event(life.created, "created", None) });
    }
    events.sort_by_key(|event| std::cmp::Reverse(event.at));
    events
}
