//! Memories, one at a time: made, used, shown, pinned, forgotten.

use super::Service;
use crate::clock::new_id;
use crate::domain::event::{Access, Event, Remember};
use crate::domain::ids::{MemoryId, Scope, SessionId};
use crate::domain::memory::Vital;
use crate::domain::tunables::Tunables;
use crate::domain::units::{Energy, Timestamp};
use crate::store::{Applied, Batch, Done, Ended, Error, Filter, Record};

/// A write that may be repeated: the same id counts once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(String);

impl RequestId {
    /// The caller's own id, or a new one that nobody can repeat.
    #[must_use]
    pub fn or_new(asked: Option<&str>) -> Self {
        Self(asked.map_or_else(new_id, str::to_owned))
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
    /// Makes a memory, or meets one that says the same, which counts as an access.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the id is taken by other content.
    pub async fn remember(&self, request: &RequestId, remember: Remember) -> Result<(Done, Memory), Error> {
        let (id, at) = (remember.id.clone(), remember.at);
        let done = self.apply_one(request, &Event::Remember(remember)).await?;
        if done == Done::Forgotten {
            return Err(Error::Conflict(format!(
                "memory {id} was forgotten on request and stays so; give this one another id"
            )));
        }
        Ok((done, self.show(&id, at).await?))
    }

    /// Uses a memory: its energy now plus 1.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Refused`] for a stub, or for an expired one that is not to be revived.
    pub async fn access(&self, request: &RequestId, access: Access) -> Result<(Done, Memory), Error> {
        let (id, at) = (access.id.clone(), access.at);
        let done = self.apply_one(request, &Event::Access(access)).await?;
        Ok((done, self.show(&id, at).await?))
    }

    async fn apply_one(&self, request: &RequestId, event: &Event) -> Result<Done, Error> {
        let tunables = self.store.tunables().await?;
        let batch = Batch { events: std::slice::from_ref(event), tunables: &tunables };
        let hash = words_hash(event);
        match self.store.apply_request(&request.0, &hash, event.at(), batch).await? {
            Applied::All(done) => Ok(done.first().copied().unwrap_or(Done::Accessed)),
            Applied::Nothing(mut faults) => Err(faults.swap_remove(0).why),
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

    /// Pins or unpins a memory.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Refused`] for stubs and expired ones.
    pub async fn pin(&self, id: &MemoryId, pin: bool, at: Timestamp) -> Result<Memory, Error> {
        let tunables = self.store.tunables().await?;
        let _: Vital = self.store.pin(id, pin, at, &tunables).await?;
        self.show(id, at).await
    }

    /// Forgets a memory for good: the node, its stubs, its relationships. Answers how many nodes went.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn forget(&self, id: &MemoryId, at: Timestamp) -> Result<i64, Error> {
        self.store.forget(id, at).await
    }

    /// Ends a session: its working memories with an energy above the threshold rise.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn end_session(
        &self,
        scope: &Scope,
        session: &SessionId,
        at: Timestamp,
        threshold: Option<f64>,
    ) -> Result<Ended, Error> {
        let tunables = self.store.tunables().await?;
        let threshold = threshold.unwrap_or(tunables.config().session_end_threshold);
        self.store.end_session(scope, session, at, threshold, &tunables).await
    }
}

/// A hash of a request's words, its instant apart: a client that tries again does so later.
fn words_hash(event: &Event) -> String {
    use sha2::{Digest, Sha256};
    let words = match event {
        Event::Remember(Remember { id, scope, content, session, instance, mentions, pinned, at: _ }) => {
            format!("{:?}", ("memory", id, scope, content, session, instance, mentions, pinned))
        }
        Event::Access(Access { id, scope, session, revive, at: _ }) => {
            format!("{:?}", ("access", id, scope, session, revive))
        }
    };
    Sha256::digest(words.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
