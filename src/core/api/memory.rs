//! Requests and responses about memories.

use crate::domain::annotations::{Annotations, Metadata, Provenance, TAG_CHARS_MAX, TAGS_MAX};
use crate::domain::event;
use crate::domain::ids::{CONTENT_BYTES_MAX, EntityName, InstanceId, MemoryId, MemoryKey, Scope, SessionId};
use crate::domain::memory::{Crossing, MemoryState, Revive};
use crate::domain::similarity::{Embedding, Similarity};
use crate::domain::tier::Tier;
use crate::domain::tunables::{FallbackTunables, Tunables};
use crate::domain::units::Timestamp;
use crate::store::{EventEffect, Life, MemoryEvent, Record};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A memory at an instant. A quarantined row has its reason in `quarantined`, and null for fields that are not known.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Id, unique in the scope.
    pub id: String,
    /// Text of the memory.
    pub content: Option<String>,
    /// Scope of the memory.
    pub scope: Option<String>,
    /// Tier of the memory.
    pub tier: Option<Tier>,
    /// Energy at the requested instant.
    pub energy: Option<f64>,
    /// Instant of the stored energy.
    pub energy_at: Option<Timestamp>,
    /// Instant of the last access.
    pub last_accessed: Option<Timestamp>,
    /// Instant of the creation.
    pub created: Option<Timestamp>,
    /// Number of accesses.
    pub access_count: Option<i64>,
    /// Session in which it was created.
    pub session: Option<String>,
    /// Whether it is pinned: it does not decay, expire or get promoted.
    pub pinned: Option<bool>,
    /// Instant from which it is ready for promotion.
    pub ripe_at: Option<Timestamp>,
    /// Instant at which the next pass is due.
    pub due_at: Option<Timestamp>,
    /// Id of the stub of its last promotion.
    pub promoted_from: Option<String>,
    /// Clusters that contain it.
    pub clusters: Vec<String>,
    /// Number of reinforcements by similar memories.
    pub reinforcement_count: i64,
    /// Tags, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Fields that its writer gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Instant of the last change of its content, tags or metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<Timestamp>,
    /// Source of the text, if recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// Reason for its quarantine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quarantined: Option<String>,
    /// Tunables that its energy follows, while those of the graph are invalid.
    #[serde(rename = "fallback_tunables", skip_serializing_if = "Option::is_none")]
    pub fallback_tunables: Option<FallbackTunables>,
    /// Effect of the request: created, accessed or revived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub did: Option<EventEffect>,
    /// Whether this was a dry run: nothing was written.
    #[serde(rename = "dry_run", skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// Requested instant.
    #[serde(skip)]
    pub at: Timestamp,
    /// Agent instance that created it.
    #[serde(skip)]
    pub instance: Option<String>,
    /// Names of the entities that it mentions.
    #[serde(skip)]
    pub mentions: Vec<String>,
}

impl Memory {
    /// How many bytes its content, tags and metadata have.
    pub(crate) fn text_bytes(&self) -> usize {
        let tags = self.tags.iter().map(String::len).sum::<usize>();
        let value = |value: &Value| value.as_str().map_or_else(|| value.to_string().len(), str::len);
        let fields = self.metadata.iter().flatten();
        let metadata = fields.map(|(name, of)| name.len() + value(of)).sum::<usize>();
        self.content.as_ref().map_or(0, String::len) + tags + metadata
    }

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
            tags: record.annotations.tags().map(str::to_owned).collect(),
            metadata: record.annotations.metadata().map(Metadata::fields),
            updated: record.updated,
            provenance: Some(record.annotations.provenance().clone()).filter(|known| !known.is_empty()),
            quarantined: fault,
            fallback_tunables: tunables.fallback(),
            did: None,
            dry_run: false,
            at,
            instance: record.instance,
            mentions: record.mentions,
        }
    }
}

/// A memory with the explanation of its state.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explained {
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// Half-life of its energy, hours; null if it does not decay.
    pub half_life_hours: Option<f64>,
    /// Thresholds that its energy will cross, soonest first.
    pub crossings: Vec<Crossing>,
    /// Events of the memory, latest first.
    pub history: Vec<Event>,
    /// Reason for its state, in one or two sentences.
    pub because: String,
    /// The course of its energy, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<EnergyCurve>,
}

/// The course of an energy.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EnergyCurve {
    /// The energies at which it is promoted or expires.
    pub thresholds: Vec<EnergyLevel>,
    /// Its energy up to the last access or change: a list of points between each two events, oldest first, at most the last 100. Empty if the records do not explain it.
    pub past: Vec<Vec<EnergyPoint>>,
    /// Its energy from then until shortly after the last threshold that it will cross, or for three half-lives.
    pub ahead: Vec<EnergyPoint>,
}

/// An energy with a name: `promotion` or `expiry`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EnergyLevel {
    /// Its name.
    pub name: &'static str,
    /// The energy.
    pub energy: f64,
}

/// An energy at an instant.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EnergyPoint {
    /// The instant.
    pub at: Timestamp,
    /// The energy.
    pub energy: f64,
}

/// An event in the history of a memory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Event {
    /// Instant of the event.
    pub at: Timestamp,
    /// Kind of event.
    pub what: &'static str,
    /// Energy at the event, if recorded.
    pub energy: Option<f64>,
    /// Session of the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Number of accesses in the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<i64>,
}

/// Recorded events, latest first: accesses by session, promotions, the last expiry, the creation.
#[must_use]
pub fn history(happened: &[MemoryEvent], life: &Life, last_expired: Option<Timestamp>) -> Vec<Event> {
    let event = |at, what, energy| Event { at, what, energy, session: None, count: None };
    let mut events: Vec<Event> = happened
        .iter()
        .map(|happened: &MemoryEvent| match happened.what.as_str() {
            "PROMOTED_TO" => event(happened.at, "promoted to shortTerm", happened.energy),
            "CRYSTALLIZED_INTO" => event(happened.at, "crystallised into longTerm", happened.energy),
            "PREVIOUS_VERSION" => event(happened.at, "changed", None),
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

/// Path of a memory.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MemoryPath {
    /// Id of the memory.
    pub id: MemoryId,
}

/// Query for the explanation of a memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainQuery {
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant to evaluate at; default now.
    pub at: Option<Timestamp>,
    /// Whether to return the course of its energy.
    #[serde(default)]
    pub curve: bool,
}

/// Query of memories.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryQuery {
    /// Only memories of this tier; default all: expiredWorking too. The stubs of promotions (archivedWorking, archivedShortTerm) are never listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Only memories created in this session.
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
pub struct Memories {
    pub memories: Vec<Memory>,
}

/// Request to store a memory.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMemory {
    /// Id; default a new one.
    pub id: Option<MemoryId>,
    /// Text of the memory: not blank, at most 65536 bytes.
    #[schemars(length(min = 1, max = CONTENT_BYTES_MAX), pattern(r"\S"))]
    pub content: String,
    /// Session in which it is created.
    pub session: Option<SessionId>,
    /// Agent instance that creates it.
    pub instance: Option<InstanceId>,
    /// Names of the entities that it mentions.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub mentions: Vec<EntityName>,
    /// Tags, by which recall finds it too; at most 256 characters each. They are added to those of a memory that exists, at most 256 in all.
    #[serde(default)]
    #[schemars(length(max = TAGS_MAX), inner(length(min = 1, max = TAG_CHARS_MAX)))]
    pub tags: Vec<String>,
    /// Fields of the caller's own, at most 4096 bytes as JSON, by which lists and recalls are filtered. A memory that exists keeps its own fields, and new ones are added.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// Source of the text; a last line needs a first. A memory that exists keeps its own texts, and its lines are extended.
    pub provenance: Option<Provenance>,
    /// Whether a new memory is pinned: it does not decay, expire or get promoted. One that exists stays as it is: pin it by pin_memory or POST /v1/memories/{id}/pin.
    #[serde(default)]
    pub pinned: bool,
    /// Embedding of the text, with embedding.dimensions numbers; not allowed if that is not set.
    #[schemars(length(min = 1, max = 4_096))]
    pub embedding: Option<Vec<f64>>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// Effects of a batch, in the order of the request.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoneAll {
    pub memories: Vec<Touched>,
}

/// Effect of a request on a memory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Touched {
    /// Its id.
    pub id: String,
    /// Effect: created, accessed or revived; forgotten for a memory that was deleted on request and stays deleted.
    pub did: EventEffect,
}

/// Response to the deletion of memories.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Forgotten {
    /// Ids of the deleted memories.
    pub forgotten: Vec<String>,
    /// Number of deleted nodes: the memory and its stubs.
    pub nodes: i64,
}

/// Request to access a memory.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessRequest {
    /// Session of the access.
    pub session: Option<SessionId>,
    /// Agent instance that accesses it; accepted and not kept.
    pub instance: Option<InstanceId>,
    /// Whether to revive an expired memory; default true.
    pub revive: Option<bool>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// An access of a batch.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Id of the memory.
    pub id: MemoryId,
    /// Session of the access.
    pub session: Option<SessionId>,
    /// Agent instance that accesses it; accepted and not kept.
    pub instance: Option<InstanceId>,
    /// Whether to revive an expired memory; default true.
    pub revive: Option<bool>,
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

/// Request to pin a memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant of the write; needs the right admin.
    pub at: Option<Timestamp>,
}

impl MemoryPath {
    /// Key of the memory in a scope.
    #[must_use]
    pub fn key(&self, scope: &Scope) -> MemoryKey {
        MemoryKey::new(scope, &self.id)
    }
}

impl NewMemory {
    /// Converts the request to a checked event with an id and a scope, at `now` unless the request states an instant.
    pub(crate) fn event(
        self,
        id: MemoryId,
        scope: Scope,
        now: Timestamp,
        similarity: &Similarity,
    ) -> Result<event::Remember, String> {
        let metadata = Metadata::new(self.metadata).map_err(|why| why.to_string())?;
        let annotations = Annotations::new(&self.tags, self.provenance.unwrap_or_default());
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
            annotations: annotations.map_err(|why| why.to_string())?.with_metadata(metadata),
        };
        remember.checked().map_err(|why| why.to_string())
    }
}

impl AccessRequest {
    /// Converts the request to an access of a memory.
    #[must_use]
    pub fn of(self, id: MemoryId) -> Access {
        let Self { session, instance, revive, scope, at } = self;
        Access { id, session, instance, revive, scope, at }
    }
}

impl Access {
    /// Converts the access to an event in a scope, at `now` unless the request states an instant.
    #[must_use]
    pub fn event(self, scope: Scope, now: Timestamp) -> event::Access {
        let revive = if self.revive == Some(false) { Revive::No } else { Revive::Yes };
        event::Access { at: self.at.unwrap_or(now), id: self.id, scope, session: self.session, revive }
    }
}
