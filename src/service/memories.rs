//! Memories, one at a time: made, used, shown, pinned, forgotten.

use super::Service;
use crate::clock::new_id;
use crate::domain::event::{Access, Event, Remember};
use crate::domain::ids::{InstanceId, MemoryId, Scope, SessionId, event_id, hex};
use crate::domain::similarity::{Embedding, EmbeddingError};
use crate::domain::tunables::Tunables;
use crate::domain::units::{Energy, Timestamp};
use crate::store::{Applied, Batch, Done, Ended, Error, Fault, Filter, Lasting, Record};

/// A write that may be repeated: the same id counts once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId {
    id: String,
    own: bool,
}

impl RequestId {
    /// The caller's own id, or a new one that nobody can repeat.
    #[must_use]
    pub fn or_new(asked: Option<&str>) -> Self {
        Self { id: asked.map_or_else(new_id, str::to_owned), own: asked.is_some() }
    }

    /// Whether it is the caller's own, who may send it again.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.own
    }

    /// The id of what the request makes at this place of it and does not name: if the request is repeated, the same again.
    #[must_use]
    pub fn names(&self, index: usize) -> String {
        if self.own {
            event_id(&format!("request/{}", self.id), u64::try_from(index).unwrap_or(u64::MAX))
        } else {
            new_id()
        }
    }
}

/// Whether a write is to last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    /// It counts, once under this id.
    Do(RequestId),
    /// It is only said what it would do: the same work by the same statements, taken back.
    Rehearse,
}

/// Why a batch did nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// One of its events cannot be applied.
    #[error("[{index}]: {why}")]
    Event {
        /// Its place in the batch.
        index: usize,
        /// Why.
        why: Error,
    },
    /// None of them is at fault.
    #[error(transparent)]
    Store(#[from] Error),
}

impl Intent {
    /// The id of what is made and not named by the caller.
    #[must_use]
    pub fn names(&self) -> String {
        match self {
            Self::Do(request) => request.names(0),
            Self::Rehearse => new_id(),
        }
    }

    pub(super) fn lasting<'a>(&'a self, hash: &'a str) -> Lasting<'a> {
        match self {
            Self::Do(request) => Lasting::Once { request: &request.id, hash },
            Self::Rehearse => Lasting::Rehearsed,
        }
    }
}

/// A memory at an instant.
#[derive(Debug, Clone)]
pub struct Memory {
    /// What is stored.
    pub record: Record,
    /// The instant it was asked for.
    pub at: Timestamp,
    /// Its energy at that instant; `None` for a row that is set aside.
    pub energy: Option<Energy>,
}

impl Memory {
    fn at(record: Record, at: Timestamp, tunables: &Tunables) -> Self {
        let energy = record.life.as_ref().ok().map(|life| life.vital.energy_now(at, tunables));
        Self { record, at, energy }
    }
}

impl Service {
    /// The embedding of a memory, as every embedding of this database must be.
    ///
    /// # Errors
    /// [`EmbeddingError`], which names the number of numbers it has and the one it must have.
    pub fn embedding(&self, id: &MemoryId, numbers: Vec<f64>) -> Result<Embedding, EmbeddingError> {
        Embedding::new(id, numbers, self.store.similarity())
    }

    /// Makes a memory, or meets one that says the same, which counts as an access.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the id is taken by other content, or if what this request made was forgotten since.
    pub async fn remember(&self, request: &RequestId, remember: Remember) -> Result<(Done, Memory), Error> {
        let (id, at) = (remember.id.clone(), remember.at);
        let done = self.apply(request, &[Event::Remember(remember)]).await?;
        let memory = self.show(&id, at).await.map_err(|why| match why {
            Error::NotFound { .. } => forgotten(&id),
            why => why,
        });
        only(done, &id, memory)
    }

    /// Uses a memory: its energy now plus 1.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Refused`] for a stub, or for an expired one that is not to be revived.
    pub async fn access(&self, request: &RequestId, access: Access) -> Result<(Done, Memory), Error> {
        let (id, at) = (access.id.clone(), access.at);
        let done = self.apply(request, &[Event::Access(access)]).await?;
        only(done, &id, self.show(&id, at).await)
    }

    /// Uses memories at one instant, all or none, in their order.
    ///
    /// # Errors
    /// As [`Service::access`], of the first that cannot be used.
    pub async fn access_all(
        &self,
        request: &RequestId,
        ids: &[MemoryId],
        use_of: impl Fn(&MemoryId) -> Access,
        at: Timestamp,
    ) -> Result<Vec<(Done, Memory)>, Error> {
        let events: Vec<Event> = ids.iter().map(|id| Event::Access(use_of(id))).collect();
        let done = self.apply(request, &events).await?;
        let tunables = self.store.tunables().await?;
        let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let records = self.store.memories(&names).await?;
        Ok(done
            .into_iter()
            .zip(records.into_iter().map(|record| Memory::at(record, at, &tunables)))
            .collect())
    }

    /// What events would do and make of their memories, nothing written.
    ///
    /// # Errors
    /// As for the events themselves.
    pub async fn rehearse(&self, events: &[Event], at: Timestamp) -> Result<Vec<(Done, Memory)>, Error> {
        let tunables = self.store.tunables().await?;
        let (applied, records) = self.store.rehearse_events(Batch { events, tunables: &tunables }).await?;
        let done = all(applied)?;
        if let (Some(Done::Forgotten), Some(event)) = (done.first(), events.first()) {
            return Err(forgotten(event.id()));
        }
        Ok(done
            .into_iter()
            .zip(records.into_iter().map(|record| Memory::at(record, at, &tunables)))
            .collect())
    }

    async fn apply(&self, request: &RequestId, events: &[Event]) -> Result<Vec<Done>, Error> {
        self.apply_all(request, events).await.map_err(|why| match why {
            BatchError::Event { why, .. } | BatchError::Store(why) => why,
        })
    }

    /// Applies events in their order, all or none; answers what each did.
    ///
    /// # Errors
    /// [`BatchError::Event`] for the first that cannot be applied.
    pub async fn apply_all(&self, request: &RequestId, events: &[Event]) -> Result<Vec<Done>, BatchError> {
        let tunables = self.store.tunables().await?;
        let batch = Batch { events, tunables: &tunables };
        let hash = hash(&events.iter().map(words).collect::<Vec<_>>().join("\n"));
        match self.store.apply_request(&request.id, &hash, batch).await? {
            Applied::All(done) => Ok(done),
            Applied::Nothing(mut faults) => {
                let Fault { index, why } = faults.swap_remove(0);
                Err(BatchError::Event { index, why })
            }
        }
    }

    /// One memory at an instant.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn show(&self, id: &MemoryId, at: Timestamp) -> Result<Memory, Error> {
        let tunables = self.store.tunables().await?;
        let found = self.store.memories(&[id.to_string()]).await?.pop();
        let record = found.ok_or_else(|| Error::NotFound { what: "memory", id: id.to_string() })?;
        Ok(Memory::at(record, at, &tunables))
    }

    /// Sees to it that memories belong to a scope, as far as they exist: nothing crosses scopes, though ids are unique
    /// over all of them. A row that has lost its scope is theirs who may see every scope.
    ///
    /// # Errors
    /// [`Error::NotFound`] for one that belongs to another.
    pub async fn belong(&self, scope: &Scope, everywhere: bool, ids: &[MemoryId]) -> Result<(), Error> {
        let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let foreign =
            |record: &Record| record.scope.as_deref().map_or(!everywhere, |own| own != scope.as_str());
        match self.store.memories(&names).await?.into_iter().find(foreign) {
            Some(record) => Err(Error::NotFound { what: "memory", id: record.id }),
            None => Ok(()),
        }
    }

    /// Memories of a scope at an instant, by id, at most `limit`.
    ///
    /// # Errors
    /// Of the store.
    pub async fn list(
        &self,
        scope: &Scope,
        filter: &Filter,
        limit: u32,
        at: Timestamp,
    ) -> Result<Vec<Memory>, Error> {
        let tunables = self.store.tunables().await?;
        let ids = self.store.list_memories(scope.as_str(), filter, limit).await?;
        let records = self.store.memories(&ids).await?;
        Ok(records.into_iter().map(|record| Memory::at(record, at, &tunables)).collect())
    }

    /// Their ids alone.
    ///
    /// # Errors
    /// Of the store.
    pub async fn list_ids(&self, scope: &Scope, filter: &Filter, limit: u32) -> Result<Vec<String>, Error> {
        self.store.list_memories(scope.as_str(), filter, limit).await
    }

    /// Pins or unpins memories, all or none.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Refused`] for stubs and expired ones.
    pub async fn pin(
        &self,
        intent: &Intent,
        ids: &[MemoryId],
        pin: bool,
        at: Timestamp,
    ) -> Result<Vec<Memory>, Error> {
        let tunables = self.store.tunables().await?;
        let hash = hash(&format!("{:?}", ("pin", pin, ids)));
        let records = self.store.pin(intent.lasting(&hash), ids, pin, at, &tunables).await?;
        Ok(records.into_iter().map(|record| Memory::at(record, at, &tunables)).collect())
    }

    /// Forgets memories for good, all or none: the nodes, their stubs, their relationships. Answers how many nodes went. More
    /// than the guard allows go only if `accepted` names their number.
    ///
    /// # Errors
    /// [`Error::Guarded`], [`Error::NotFound`].
    pub async fn forget(
        &self,
        intent: &Intent,
        ids: &[MemoryId],
        at: Timestamp,
        accepted: Option<i64>,
    ) -> Result<i64, Error> {
        let hash = hash(&format!("{:?}", ("forget", ids)));
        self.store.forget(intent.lasting(&hash), ids, at, (&self.config.guard, accepted)).await
    }

    /// Ends a session: its working memories with an energy above the threshold rise.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn end_session(
        &self,
        intent: &Intent,
        scope: &Scope,
        session: &SessionId,
        at: Timestamp,
        threshold: Option<f64>,
    ) -> Result<Ended, Error> {
        let tunables = self.store.tunables().await?;
        let hash = hash(&format!("{:?}", ("session end", scope, session, threshold)));
        let threshold = threshold.unwrap_or(tunables.config().session_end_threshold);
        let lasting = intent.lasting(&hash);
        self.store.end_session(lasting, (scope, session), at, threshold, &tunables).await
    }
}

fn all(applied: Applied) -> Result<Vec<Done>, Error> {
    match applied {
        Applied::All(done) => Ok(done),
        Applied::Nothing(mut faults) => Err(faults.swap_remove(0).why),
    }
}

/// What the one event of a request did; a memory that was forgotten on request does not come back.
fn only(done: Vec<Done>, id: &MemoryId, memory: Result<Memory, Error>) -> Result<(Done, Memory), Error> {
    match done.first().copied().unwrap_or(Done::Accessed) {
        Done::Forgotten => Err(forgotten(id)),
        done => Ok((done, memory?)),
    }
}

fn forgotten(id: &MemoryId) -> Error {
    Error::Conflict(format!("memory {id} was forgotten on request and stays so; give this one another id"))
}

/// The words of an event, its instant apart: a client that tries again does so later.
fn words(event: &Event) -> String {
    match event {
        Event::Remember(Remember {
            id,
            scope,
            content,
            session,
            instance,
            mentions,
            pinned,
            embedding,
            at: _,
        }) => {
            // As text: what it was before it had a type.
            let instance = instance.as_ref().map(InstanceId::as_str);
            let words = format!("{:?}", ("memory", id, scope, content, session, instance, mentions, pinned));
            // Words of a memory without an embedding are what they were before there were any.
            embedding.as_ref().map_or(words.clone(), |embedding| format!("{words} {embedding:?}"))
        }
        Event::Access(Access { id, scope, session, revive, at: _ }) => {
            format!("{:?}", ("access", id, scope, session, revive))
        }
    }
}

pub(super) fn hash(words: &str) -> String {
    use sha2::{Digest, Sha256};
    hex(&Sha256::digest(words.as_bytes()))
}
