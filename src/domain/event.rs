//! What happens to memories and relations from outside: the events that agents, imports and replays bring.
//!
//! Checked when they are built, so that whoever applies one need not ask whether its words fit an index.

use super::ids::{
    CONTENT_BYTES_MAX, EntityName, MENTIONS_MAX, MemoryId, RelationType, Scope, SessionId, relation_key,
};
use super::memory::Revive;
use super::relation::{Observation, Pins};
use super::similarity::Embedding;
use super::units::Timestamp;

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
    /// When.
    pub at: Timestamp,
    /// Under which id.
    pub id: MemoryId,
    /// Whose data it is.
    pub scope: Scope,
    /// What it says, 1 to [`CONTENT_BYTES_MAX`] bytes.
    pub content: String,
    /// In which session.
    pub session: Option<SessionId>,
    /// By which instance of an agent.
    pub instance: Option<String>,
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
    /// When.
    pub at: Timestamp,
    /// Of which memory.
    pub id: MemoryId,
    /// Of which scope it must be; `None` takes it in any.
    pub scope: Option<Scope>,
    /// In which session.
    pub session: Option<SessionId>,
    /// Whether an expired memory comes back.
    pub revive: Revive,
}

/// Which relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tie {
    /// Whose data it is.
    pub scope: Scope,
    /// Where it begins.
    pub from: EntityName,
    /// What it says.
    pub kind: RelationType,
    /// Where it ends.
    pub to: EntityName,
}

/// A relation that was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Observe {
    /// Which.
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

/// A memory that cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// Nothing in it.
    #[error("the content of memory {0} is empty")]
    Empty(MemoryId),
    /// Too much in it.
    #[error("the content of memory {id} has {bytes} bytes; at most {CONTENT_BYTES_MAX} are kept")]
    TooLong {
        /// Which memory.
        id: MemoryId,
        /// How much.
        bytes: usize,
    },
    /// It names too many entities.
    #[error("memory {id} mentions {count} entities; at most {MENTIONS_MAX} are kept")]
    TooManyMentions {
        /// Which memory.
        id: MemoryId,
        /// How many.
        count: usize,
    },
}

impl Remember {
    /// Checks sizes and drops repeated mentions.
    ///
    /// # Errors
    /// [`EventError`] for content that is empty or too long, or too many mentions.
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
}
