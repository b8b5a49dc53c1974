//! Memories: made, used, listed, explained, forgotten.

use crate::domain::event;
use crate::domain::ids::{CONTENT_BYTES_MAX, EntityName, InstanceId, MemoryId, MemoryKey, Scope, SessionId};
use crate::domain::memory::{Crossing, MemoryState, Revive};
use crate::domain::similarity::{Embedding, Similarity};
use crate::domain::tier::Tier;
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use crate::store::{EventEffect, Life, MemoryEvent, Record};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A memory at an instant. A row that no law can use has its reason in `quarantined`, and null for what is not known.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
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
    pub did: Option<EventEffect>,
    /// Whether this was a dry run: nothing was written.
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

impl Memory {
    /// A memory as it is stored, with its energy at an instant.
    #[must_use]
    pub fn at(record: Record, at: Timestamp, tunables: &Tunables) -> Self {
        let (life, fault) = match record.life {
            Ok(life) => (Some(life), None),
            Err(why) => (None, Some(why)),
        };
        let state: Option<MemoryState> = life.as_ref().map(|life| life.state);
        Self {
            id: record.id,
            content: record.content,
            scope: life.as_ref().map(|life| life.scope.to_string()),
            tier: state.map(|state| state.tier),
            energy: state.map(|state| state.energy_now(at, tunables).value()),
            energy_at: state.map(|state| state.energy_at),
            last_accessed: state.map(|state| state.last_accessed),
            created: life.as_ref().map(|life| life.created),
            access_count: state.map(|state| state.access_count),
            session: life.and_then(|life| life.session),
            pinned: state.map(|state| state.pinned),
            ripe_at: state.and_then(|state| state.ripe_at),
            due_at: state.and_then(|state| state.due_at),
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

/// A memory, and why it is where it is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explained {
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// Hours until half its energy is gone; null where it rests.
    pub half_life_hours: Option<f64>,
    /// The thresholds ahead, soonest first.
    pub crossings: Vec<Crossing>,
    /// What happened to it, latest first.
    pub history: Vec<Event>,
    /// Why it is where it is, in a sentence or two.
    pub because: String,
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

/// What is on record, latest first: accesses by session, promotions, the last expiry, the creation.
#[must_use]
pub fn history(happened: &[MemoryEvent], life: &Life, last_expired: Option<Timestamp>) -> Vec<Event> {
    let event = |at, what, energy| Event { at, what, energy, session: None, count: None };
    let mut events: Vec<Event> = happened
        .iter()
        .map(|happened: &MemoryEvent| match happened.what.as_str() {
            "PROMOTED_TO" => event(happened.at, "promoted to shortTerm", happened.energy),
            "CRYSTALLIZED_INTO" => event(happened.at, "crystallised into longTerm", happened.energy),
            _ => Event {
                session: happened.detail.clone(),
                count: Some(happened.count),
                ..event(happened.at, "accessed", None)
            },
        })
        .collect();
    let expired = life.state.tier == Tier::ExpiredWorking;
    let energy = expired.then(|| life.state.energy.value());
    events.extend(last_expired.map(|at| event(at, "expired", energy)));
    // An access outside any session, or before the session's last.
    if events.iter().all(|event| event.at != life.state.last_accessed) {
        events.push(event(life.state.last_accessed, "accessed", None));
    }
    events.retain(|event| event.what != "accessed" || event.at != life.created);
    events.push(Event { session: life.session.clone(), ..event(life.created, "created", None) });
    events.sort_by_key(|event| std::cmp::Reverse(event.at));
    events
}

/// Which memory.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MemoryPath {
    /// Its id.
    pub id: MemoryId,
}

/// Which memories.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryQuery {
    /// Only this tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Only those made in this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Scope of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Instant to evaluate at; default now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Maximum number of items in the page.
    #[schemars(range(min = 1, max = 10_000))]
    #[serde(default, deserialize_with = "super::input::page_size")]
    pub limit: Option<u32>,
    /// Cursor from the Link header of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A page of memories.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Memories {
    pub memories: Vec<Memory>,
}

/// Something to remember.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMemory {
    /// Its id; a new one where none is given.
    pub id: Option<MemoryId>,
    /// What to remember: not blank, at most 65536 bytes.
    #[schemars(length(min = 1, max = CONTENT_BYTES_MAX), pattern(r"\S"))]
    pub content: String,
    /// The session in which it is made.
    pub session: Option<SessionId>,
    /// The instance of the agent that makes it.
    pub instance: Option<InstanceId>,
    /// Names of what it mentions.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub mentions: Vec<EntityName>,
    /// Whether it neither fades nor expires nor rises.
    #[serde(default)]
    pub pinned: bool,
    /// What it means, as numbers: as many as similarity.embedding_dimensions says, and none where it says nothing.
    #[schemars(length(min = 1, max = 4_096))]
    pub embedding: Option<Vec<f64>>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// What a batch did to each memory, in its order.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the name says it")]
pub struct DoneAll {
    pub memories: Vec<Touched>,
}

/// What became of a memory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Touched {
    /// Its id.
    pub id: String,
    /// created, accessed or revived; forgotten for one that was forgotten on request and stays so.
    pub did: EventEffect,
}

/// What was forgotten.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Forgotten {
    /// Its id.
    pub forgotten: Vec<String>,
    /// Nodes that went: the memory and its stubs.
    pub nodes: i64,
}

/// A use.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessRequest {
    /// The session in which it is used.
    pub session: Option<SessionId>,
    /// The instance of the agent that uses it.
    pub instance: Option<InstanceId>,
    /// Whether an expired one comes back: yes, where nothing is said.
    pub revive: Option<bool>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// A use of a memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Of which memory.
    pub id: MemoryId,
    /// The session in which it is used.
    pub session: Option<SessionId>,
    /// The instance of the agent that uses it.
    pub instance: Option<InstanceId>,
    /// Whether an expired one comes back: yes, where nothing is said.
    pub revive: Option<bool>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// A pin.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

impl MemoryPath {
    /// The memory in a scope.
    #[must_use]
    pub fn key(&self, scope: &Scope) -> MemoryKey {
        MemoryKey::new(scope, &self.id)
    }
}

impl NewMemory {
    /// As the laws take it, checked: under an id and in a scope, at `now` where the request states no instant.
    pub(crate) fn event(
        self,
        id: MemoryId,
        scope: Scope,
        now: Timestamp,
        similarity: &Similarity,
    ) -> Result<event::Remember, String> {
        let embedding = self.embedding.map(|numbers| Embedding::new(&id, numbers, similarity)).transpose();
        let remember = event::Remember {
            at: self.at.unwrap_or(now),
            embedding: embedding.map_err(|why| why.to_string())?,
            id,
            scope,
            content: self.content,
            session: self.session,
            instance: self.instance,
            mentions: self.mentions,
            pinned: self.pinned,
        };
        remember.checked().map_err(|why| why.to_string())
    }
}

impl AccessRequest {
    /// The same, of this memory.
    #[must_use]
    pub fn of(self, id: MemoryId) -> Access {
        let Self { session, instance, revive, scope, at } = self;
        Access { id, session, instance, revive, scope, at }
    }
}

impl Access {
    /// As the laws take it: in a scope, at `now` where the request states no instant.
    #[must_use]
    pub fn event(self, scope: Scope, now: Timestamp) -> event::Access {
        let revive = if self.revive == Some(false) { Revive::No } else { Revive::Yes };
        event::Access { at: self.at.unwrap_or(now), id: self.id, scope, session: self.session, revive }
    }
}
