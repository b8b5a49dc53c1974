//! Events on memories, relations and trails, as agents, imports and replays send them.
//!
//! Events are checked when built, so that the code which applies one need not check whether its strings fit an index.

use super::annotations::Annotations;
use super::ids::{
    CONTENT_BYTES_MAX, EntityName, InstanceId, MENTIONS_MAX, MemoryId, MemoryKey, NAME_BYTES_MAX, PlaceId,
    RelationType, Scope, SessionId, relation_key,
};
use super::memory::Revive;
use super::relation::{Observation, Pins};
use super::similarity::Embedding;
use super::trail::{EdgeType, PlaceLabel, REWARD_MAX};
use super::units::{Pheromone, Timestamp, UnitError};

/// An event on one memory.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// It was created, or created again with the same content, which counts as an access.
    Remember(Remember),
    /// It was accessed.
    Access(Access),
}

/// A memory to create.
#[derive(Debug, Clone, PartialEq)]
pub struct Remember {
    pub at: Timestamp,
    pub id: MemoryId,
    pub scope: Scope,
    /// Content, 1 to [`CONTENT_BYTES_MAX`] bytes.
    pub content: String,
    pub session: Option<SessionId>,
    /// Agent instance that created it.
    pub instance: Option<InstanceId>,
    /// Names of the mentioned entities, at most [`MENTIONS_MAX`].
    pub mentions: Vec<EntityName>,
    /// Whether it is pinned.
    pub pinned: bool,
    /// Embedding of the content, if computed.
    pub embedding: Option<Embedding>,
    /// Tags, and the source of the content.
    pub annotations: Annotations,
}

/// An access to a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    pub at: Timestamp,
    pub id: MemoryId,
    pub scope: Scope,
    pub session: Option<SessionId>,
    /// Whether an expired memory is revived.
    pub revive: Revive,
}

/// Key of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tie {
    pub scope: Scope,
    pub from: EntityName,
    pub kind: RelationType,
    pub to: EntityName,
}

/// An observed relation.
#[derive(Debug, Clone, PartialEq)]
pub struct Observe {
    pub tie: Tie,
    /// Instant and values of the observation.
    pub seen: Observation,
}

impl Tie {
    /// Unique key of the relation.
    #[must_use]
    pub fn key(&self) -> String {
        relation_key(self.scope.as_str(), self.from.as_str(), self.kind.as_str(), self.to.as_str())
    }

    /// Whether configuration pins it.
    #[must_use]
    pub fn is_held(&self, pins: &Pins) -> bool {
        pins.hold(self.from.as_str(), self.kind.as_str(), self.to.as_str())
    }
}

impl std::fmt::Display for Tie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.from, self.kind, self.to)
    }
}

/// An event on a trail of the palace.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    pub at: Timestamp,
    pub scope: Scope,
    pub what: Walk,
}

/// Kind of a trail event.
#[derive(Debug, Clone, PartialEq)]
pub enum Walk {
    Node {
        label: PlaceLabel,
        id: PlaceId,
        name: Option<String>,
    },
    /// An edge between two places.
    Edge {
        from: PlaceName,
        to: PlaceName,
        kind: EdgeType,
        /// Base cost, `0 ..= 10`; `None` is the cost of its type.
        base_cost: Option<f64>,
    },
    /// A path that led to a result.
    Deposit {
        /// Places in order; see [`Walk::deposit`].
        path: Vec<Step>,
        /// Reward, above 0.
        reward: Pheromone,
    },
    /// A search at a place.
    Explore {
        place: PlaceName,
    },
}

/// A reference to a place: by label and id, or by an id that is unique in the scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceName {
    /// Label of the place, if given.
    pub label: Option<PlaceLabel>,
    pub id: PlaceId,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Place that it leads to; the start of the path in the first step.
    pub to: PlaceName,
    /// Type or id of the edge, if several might be meant.
    pub via: Option<String>,
}

/// Most places of one path.
pub const PATH_MAX: usize = 1_000;

/// An invalid path, or a cost or reward out of range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WalkError {
    /// Too few or too many places.
    #[error("a path has 2 to {PATH_MAX} places; this one has {0}")]
    Length(usize),
    /// Not above 0, or too great.
    #[error("the reward is {0}; it must be above 0 and at most {REWARD_MAX}")]
    Reward(f64),
    #[error("the name has {0} bytes; at most {NAME_BYTES_MAX} are allowed")]
    Name(usize),
    #[error("the base cost is {0}; it must be 0 to 10")]
    BaseCost(f64),
    /// A reward that is no valid pheromone.
    #[error(transparent)]
    Unit(#[from] UnitError),
}

impl Walk {
    /// A path of 2 to [`PATH_MAX`] places with a `reward`, above 0 and at most [`REWARD_MAX`].
    pub fn deposit(path: Vec<Step>, reward: f64) -> Result<Self, WalkError> {
        if !(2..=PATH_MAX).contains(&path.len()) {
            return Err(WalkError::Length(path.len()));
        }
        if !(reward > 0.0 && reward <= REWARD_MAX) {
            return Err(WalkError::Reward(reward));
        }
        Ok(Self::Deposit { path, reward: Pheromone::new(reward)? })
    }

    /// A place with a name of at most [`NAME_BYTES_MAX`] bytes.
    pub fn node(label: PlaceLabel, id: PlaceId, name: Option<String>) -> Result<Self, WalkError> {
        match name {
            Some(name) if name.len() > NAME_BYTES_MAX => Err(WalkError::Name(name.len())),
            name => Ok(Self::Node { label, id, name }),
        }
    }

    /// An edge between two places, with `base_cost`, `0 ..= 10`, if given.
    pub fn edge(
        from: PlaceName,
        to: PlaceName,
        kind: EdgeType,
        base_cost: Option<f64>,
    ) -> Result<Self, WalkError> {
        match base_cost {
            Some(cost) if !(0.0..=super::trail::COST_MAX).contains(&cost) => Err(WalkError::BaseCost(cost)),
            base_cost => Ok(Self::Edge { from, to, kind, base_cost }),
        }
    }
}

impl std::fmt::Display for PlaceName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.label {
            Some(label) => write!(f, "{label}:{}", self.id),
            None => self.id.fmt(f),
        }
    }
}

/// A memory that cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    #[error("the content of memory {0} is empty")]
    Empty(MemoryId),
    #[error("the content of memory {id} has {bytes} bytes; at most {CONTENT_BYTES_MAX} are kept")]
    TooLong { id: MemoryId, bytes: usize },
    /// Too many mentioned entities.
    #[error("memory {id} mentions {count} entities; at most {MENTIONS_MAX} are kept")]
    TooManyMentions { id: MemoryId, count: usize },
    /// An id that clients and proxies take out of a path.
    #[error(
        "the id of a memory is {0}, which stands for a folder in a URL: no request could name it; give it another id"
    )]
    DotSegment(MemoryId),
}

impl Remember {
    /// Checks sizes and the id, and removes repeated mentions. An id is checked here and not by its type, which rows that have it
    /// already are read into.
    pub fn checked(mut self) -> Result<Self, EventError> {
        check_content(&self.id, &self.content)?;
        if matches!(self.id.as_str(), "." | "..") {
            return Err(EventError::DotSegment(self.id));
        }
        self.mentions.sort();
        self.mentions.dedup();
        if self.mentions.len() > MENTIONS_MAX {
            return Err(EventError::TooManyMentions { count: self.mentions.len(), id: self.id });
        }
        Ok(self)
    }
}

/// Checks that a content is not blank, and not longer than [`CONTENT_BYTES_MAX`].
///
/// # Errors
/// [`EventError::Empty`], [`EventError::TooLong`].
pub fn check_content(id: &MemoryId, content: &str) -> Result<(), EventError> {
    if content.trim().is_empty() {
        return Err(EventError::Empty(id.clone()));
    }
    if content.len() > CONTENT_BYTES_MAX {
        return Err(EventError::TooLong { bytes: content.len(), id: id.clone() });
    }
    Ok(())
}

impl Event {
    /// Instant of the event.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Remember(event) => event.at,
            Self::Access(event) => event.at,
        }
    }

    /// Scope of the memory.
    #[must_use]
    pub const fn scope(&self) -> &Scope {
        match self {
            Self::Remember(event) => &event.scope,
            Self::Access(event) => &event.scope,
        }
    }

    /// Id of the memory.
    #[must_use]
    pub fn id(&self) -> &MemoryId {
        match self {
            Self::Remember(event) => &event.id,
            Self::Access(event) => &event.id,
        }
    }

    /// Scope and id of the memory.
    #[must_use]
    pub fn key(&self) -> MemoryKey {
        match self {
            Self::Remember(event) => MemoryKey::new(&event.scope, &event.id),
            Self::Access(event) => MemoryKey::new(&event.scope, &event.id),
        }
    }
}
