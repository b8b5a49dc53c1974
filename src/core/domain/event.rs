//! Events on memories, relations and trails, as agents, imports and replays send them.
//!
//! Checked when they are built, so that whoever applies one need not ask whether its words fit an index.

use super::ids::{
    CONTENT_BYTES_MAX, EntityName, InstanceId, MENTIONS_MAX, MemoryId, MemoryKey, NAME_BYTES_MAX, PlaceId,
    RelationType, Scope, SessionId, relation_key,
};
use super::memory::Revive;
use super::relation::{Observation, Pins};
use super::similarity::Embedding;
use super::trail::{EdgeType, PlaceLabel, REWARD_MAX};
use super::units::{Pheromone, Timestamp, UnitError};

/// Something that happened to one memory.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// It was made, or is met again with the same content, which counts as an access.
    Remember(Remember),
    /// It was used.
    Access(Access),
}

/// A memory that an agent made.
#[derive(Debug, Clone, PartialEq)]
pub struct Remember {
    pub at: Timestamp,
    pub id: MemoryId,
    pub scope: Scope,
    /// What it says, 1 to [`CONTENT_BYTES_MAX`] bytes.
    pub content: String,
    pub session: Option<SessionId>,
    /// By which instance of an agent.
    pub instance: Option<InstanceId>,
    /// Which entities it names, at most [`MENTIONS_MAX`].
    pub mentions: Vec<EntityName>,
    /// Whether it is to stay as it is.
    pub pinned: bool,
    /// What it means, as a direction, where somebody worked that out.
    pub embedding: Option<Embedding>,
}

/// A use of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    pub at: Timestamp,
    pub id: MemoryId,
    pub scope: Scope,
    pub session: Option<SessionId>,
    /// Whether an expired memory comes back.
    pub revive: Revive,
}

/// Which relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tie {
    pub scope: Scope,
    pub from: EntityName,
    pub kind: RelationType,
    pub to: EntityName,
}

/// A relation that was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Observe {
    pub tie: Tie,
    /// When, and what is said of it.
    pub seen: Observation,
}

impl Tie {
    /// What there is once only.
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

/// Something that happened in the palace.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    pub at: Timestamp,
    pub scope: Scope,
    pub what: Walk,
}

/// What can happen in the palace.
#[derive(Debug, Clone, PartialEq)]
pub enum Walk {
    Node {
        label: PlaceLabel,
        id: PlaceId,
        name: Option<String>,
    },
    /// There is an edge between two places.
    Edge {
        from: PlaceName,
        to: PlaceName,
        kind: EdgeType,
        /// What it costs where nobody has walked, `0 ..= 10`; `None` is the cost of its type.
        base_cost: Option<f64>,
    },
    /// A path led to something.
    Deposit {
        /// Place by place; see [`Walk::deposit`].
        path: Vec<Step>,
        /// What it was worth, above 0.
        reward: Pheromone,
    },
    /// Somebody searched at a place.
    Explore {
        place: PlaceName,
    },
}

/// A place as somebody names it: by label and id, or by an id that no other place in the scope has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceName {
    /// Its label, where it is given.
    pub label: Option<PlaceLabel>,
    pub id: PlaceId,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Where it leads; of the first, where the path begins.
    pub to: PlaceName,
    /// The type or the id of the edge that was walked there, where several might be meant.
    pub via: Option<String>,
}

/// Most places of one path.
pub const PATH_MAX: usize = 1_000;

/// A path that nobody can have walked, or a cost or reward out of range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WalkError {
    /// Too short or too long.
    #[error("a path has 2 to {PATH_MAX} places; this one has {0}")]
    Length(usize),
    /// Not above 0, or too much.
    #[error("the reward is {0}; it must be above 0 and at most {REWARD_MAX}")]
    Reward(f64),
    #[error("the name has {0} bytes; it has {NAME_BYTES_MAX} at most")]
    Name(usize),
    #[error("the base cost is {0}; it must be 0 to 10")]
    BaseCost(f64),
    /// No pheromone.
    #[error(transparent)]
    Unit(#[from] UnitError),
}

impl Walk {
    /// A path of 2 to [`PATH_MAX`] places that led to something worth `reward`, above 0 and at most [`REWARD_MAX`].
    pub fn deposit(path: Vec<Step>, reward: f64) -> Result<Self, WalkError> {
        if !(2..=PATH_MAX).contains(&path.len()) {
            return Err(WalkError::Length(path.len()));
        }
        if !(reward > 0.0 && reward <= REWARD_MAX) {
            return Err(WalkError::Reward(reward));
        }
        Ok(Self::Deposit { path, reward: Pheromone::new(reward)? })
    }

    /// A place, under a name of at most [`NAME_BYTES_MAX`] bytes.
    pub fn node(label: PlaceLabel, id: PlaceId, name: Option<String>) -> Result<Self, WalkError> {
        match name {
            Some(name) if name.len() > NAME_BYTES_MAX => Err(WalkError::Name(name.len())),
            name => Ok(Self::Node { label, id, name }),
        }
    }

    /// An edge between two places, which costs `base_cost`, `0 ..= 10`, where that is given.
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
    /// It names too many entities.
    #[error("memory {id} mentions {count} entities; at most {MENTIONS_MAX} are kept")]
    TooManyMentions { id: MemoryId, count: usize },
}

impl Remember {
    /// Checks sizes and drops repeated mentions.
    pub fn checked(mut self) -> Result<Self, EventError> {
        if self.content.trim().is_empty() {
            return Err(EventError::Empty(self.id));
        }
        if self.content.len() > CONTENT_BYTES_MAX {
            return Err(EventError::TooLong { bytes: self.content.len(), id: self.id });
        }
        self.mentions.sort();
        self.mentions.dedup();
        if self.mentions.len() > MENTIONS_MAX {
            return Err(EventError::TooManyMentions { count: self.mentions.len(), id: self.id });
        }
        Ok(self)
    }
}

impl Event {
    /// When it happened.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Remember(event) => event.at,
            Self::Access(event) => event.at,
        }
    }

    /// To which memory.
    #[must_use]
    pub fn id(&self) -> &MemoryId {
        match self {
            Self::Remember(event) => &event.id,
            Self::Access(event) => &event.id,
        }
    }

    /// To which memory of which scope.
    #[must_use]
    pub fn key(&self) -> MemoryKey {
        match self {
            Self::Remember(event) => MemoryKey::new(&event.scope, &event.id),
            Self::Access(event) => MemoryKey::new(&event.scope, &event.id),
        }
    }
}
