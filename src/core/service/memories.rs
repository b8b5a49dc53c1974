//! Memories: stored, accessed, shown, listed, pinned, forgotten; and the end of their sessions.

use super::Service;
use super::request_hash::request_hash;
use crate::api::memory::{Memory, NewMemory};
use crate::api::memory_list::ForgottenMemories;
use crate::api::memory_update::MemoryPatch;
use crate::clock::new_id;
use crate::domain::event::{Access, Event, Remember};
use crate::domain::ids::{EntityName, InstanceId, MemoryId, MemoryKey, Scope, SessionId, event_id, made_id};
use crate::domain::memory::Revive;
use crate::domain::similarity::{Embedding, EmbeddingError};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use crate::store::{
    Batch, BatchFault, BatchOutcome, Deletion, EndedSession, Error, EventEffect, Filter, MemoryOrder,
    MemoryPage, MemoryUpdate, MemoryVersion, Record, RequestMode,
};
use serde_json::{Value, json};

/// Identity of a write that may be repeated: the same id counts once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId {
    id: String,
    own: bool,
    /// The caller.
    by: String,
    /// Random seed of the ids that the request creates, independent of the caller's id. The graph keeps it with the
    /// request, so that a repeat creates the same ids; once the request is deleted, the same id is another request.
    seed: String,
}

impl RequestId {
    /// The caller's own id, or a new one that cannot be repeated.
    #[must_use]
    pub fn or_new(by: &str, given: Option<&str>) -> Self {
        let id = given.map_or_else(new_id, str::to_owned);
        Self { id, own: given.is_some(), by: by.to_owned(), seed: new_id() }
    }

    /// Whether the id is the caller's own, which may be sent again.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.own
    }

    /// The id of an unnamed item at this place of the request. A repeat may compute another one: the id in the answer
    /// counts.
    #[must_use]
    pub fn names(&self, index: usize) -> String {
        if self.own { made(&self.seed, index) } else { new_id() }
    }

    /// The caller's own id, or the new one.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn by(&self) -> &str {
        &self.by
    }

    pub(super) fn seed(&self) -> &str {
        &self.seed
    }

    /// The id of the run that the request starts, by the seed that the graph keeps with it: the same for a repeat, and
    /// another one for the same id after its retention.
    pub(super) fn occurrence(&self, kept: Option<&str>) -> String {
        match kept {
            Some(seed) => made(seed, 0),
            // Opened by a version that kept no seed.
            None if self.own => event_id(&format!("request/{}", self.id), 0),
            None => new_id(),
        }
    }

    pub(super) fn once<'a>(&'a self, hash: &'a str) -> RequestMode<'a> {
        let (request, by) = (&self.id, &self.by);
        if self.own { RequestMode::Once { request, hash, by } } else { RequestMode::New { request, by } }
    }
}

/// Whether a write is committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteMode {
    /// Committed, once under this id.
    Once(RequestId),
    /// Executed by the same statements and rolled back.
    DryRun,
}

impl From<RequestId> for WriteMode {
    fn from(request: RequestId) -> Self {
        Self::Once(request)
    }
}

/// Why a batch was not applied.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// An event cannot be applied.
    #[error("[{index}]: {why}")]
    Event {
        /// Its place in the batch.
        index: usize,
        why: Error,
    },
    /// No event is at fault.
    #[error(transparent)]
    Store(#[from] Error),
}

impl WriteMode {
    /// The id of a created item that the caller did not name.
    #[must_use]
    pub fn names(&self) -> String {
        match self {
            Self::Once(request) => request.names(0),
            Self::DryRun => new_id(),
        }
    }

    /// The seed of the ids that the request creates, where a repeat must create the same.
    fn seed(&self) -> Option<&str> {
        match self {
            Self::Once(request) if request.own => Some(&request.seed),
            Self::Once(_) | Self::DryRun => None,
        }
    }

    pub(super) fn with_hash<'a>(&'a self, hash: &'a str) -> RequestMode<'a> {
        match self {
            Self::Once(request) => request.once(hash),
            Self::DryRun => RequestMode::DryRun,
        }
    }
}

/// Memories that are read at once for a list, and the bytes of texts after which a page of it ends: a memory may have hundreds
/// of kilobytes, and a page a thousand memories.
const LISTED: usize = 128;
const LISTED_BYTES: usize = 16 << 20;
/// Memories that are counted at once for a deletion.
const COUNTED: usize = 10_000;

impl Service {
    /// A checked embedding of a memory, valid for this database.
    pub fn embedding(&self, id: &MemoryId, numbers: Vec<f64>) -> Result<Embedding, EmbeddingError> {
        Embedding::new(id, numbers, self.store.similarity())
    }

    /// A checked event that creates a memory; `index` is its place in the request, from which its id follows if none is
    /// given, and `now` its instant if none is given.
    ///
    /// # Errors
    /// Says which part cannot be stored.
    pub fn remember_event(
        &self,
        request: &RequestId,
        index: usize,
        new: NewMemory,
        scope: Scope,
        now: Timestamp,
    ) -> Result<Remember, String> {
        let id = new.id.clone().map_or_else(|| MemoryId::new(&request.names(index)), Ok);
        new.event(id.map_err(|why| why.to_string())?, scope, now, self.store.similarity())
    }

    /// Stores a memory; an existing one with the same id and content counts as accessed.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the id is taken by other content, or if the memory of this request has been forgotten
    /// since.
    pub async fn remember(&self, mode: &WriteMode, remember: Remember) -> Result<Memory, Error> {
        let (scope, at) = (remember.scope.clone(), remember.at);
        let key = MemoryKey::new(&scope, &remember.id);
        let (done, mut memories) = self.apply(mode, &[Event::Remember(remember)], at).await?;
        let (key, done) = done
            .first()
            .map_or((key, EventEffect::Accessed), |(id, done)| (MemoryKey::new(&scope, id), *done));
        memories.pop().filter(|_| done != EventEffect::Forgotten).ok_or_else(|| forgotten(&key))
    }

    /// Accesses a memory: its energy now plus 1.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Refused`] for a stub, or for an expired one that must not be revived.
    pub async fn access(&self, mode: &WriteMode, access: Access) -> Result<Memory, Error> {
        let (key, at) = (MemoryKey::new(&access.scope, &access.id), access.at);
        let memory = self.apply(mode, &[Event::Access(access)], at).await?.1.pop();
        memory.ok_or_else(|| Error::NotFound { what: "memory", id: key.to_string() })
    }

    /// Accesses memories at one instant, all or none, in order.
    pub async fn access_all(
        &self,
        mode: &WriteMode,
        ids: &[MemoryId],
        use_of: impl Fn(&MemoryId) -> Access,
        at: Timestamp,
    ) -> Result<Vec<Memory>, Error> {
        let events: Vec<Event> = ids.iter().map(|id| Event::Access(use_of(id))).collect();
        Ok(self.apply(mode, &events, at).await?.1)
    }

    /// Applies events in order, all or none; returns the effect of each, and the memories as they are then, at an
    /// instant.
    async fn apply(
        &self,
        mode: &WriteMode,
        events: &[Event],
        at: Timestamp,
    ) -> Result<(Vec<(MemoryId, EventEffect)>, Vec<Memory>), Error> {
        self.applied(mode, events, Some(at)).await.map_err(|why| match why {
            BatchError::Event { why, .. } | BatchError::Store(why) => why,
        })
    }

    /// Applies events in order, all or none; returns the memory and the effect of each. An id that the request itself
    /// created is that of the first time.
    ///
    /// # Errors
    /// [`BatchError::Event`] for the first event that cannot be applied.
    pub async fn apply_all(
        &self,
        request: &RequestId,
        events: &[Event],
    ) -> Result<Vec<(MemoryId, EventEffect)>, BatchError> {
        Ok(self.applied(&request.clone().into(), events, None).await?.0)
    }

    async fn applied(
        &self,
        mode: &WriteMode,
        events: &[Event],
        at: Option<Timestamp>,
    ) -> Result<(Vec<(MemoryId, EventEffect)>, Vec<Memory>), BatchError> {
        let tunables = self.store.valid_tunables().await?;
        let batch = Batch { events, tunables: &tunables };
        let seed = mode.seed();
        let named =
            |index: usize, event: &Event| seed.is_some_and(|seed| event.id().as_str() == made(seed, index));
        let documents = events.iter().enumerate().map(|(index, event)| document(event, named(index, event)));
        let hash = request_hash("events", &documents.collect());
        // For ids that the request itself created: those of the first time.
        let first_id = |first: Option<&str>, index: usize, event: &Event| {
            first.filter(|_| named(index, event)).map(|first| made(first, index))
        };
        let key = |first: Option<&str>, (index, event): (usize, &Event)| match first_id(first, index, event) {
            Some(id) => MemoryKey::of_row(event.key().scope(), &id),
            None => event.key(),
        };
        let keys = |first: Option<&str>| match at {
            Some(_) => events.iter().enumerate().map(|event| key(first, event)).collect(),
            None => Vec::new(),
        };
        let (applied, first, records) =
            self.store.apply_request(mode.with_hash(&hash), seed, batch, keys).await?;
        match applied {
            BatchOutcome::Written(done) => {
                let of = |(index, (event, done)): (usize, (&Event, EventEffect))| {
                    let id = match first_id(first.as_deref(), index, event) {
                        Some(id) => MemoryId::new(&id).map_err(|why| Error::Invalid(why.to_string()))?,
                        None => event.id().clone(),
                    };
                    Ok((id, done))
                };
                let done = events.iter().zip(done).enumerate().map(of).collect::<Result<Vec<_>, Error>>()?;
                let dry_run = *mode == WriteMode::DryRun;
                let shown = |(record, (_, did)): (Record, &(MemoryId, EventEffect))| {
                    let memory = Memory::at(record, at?, &tunables);
                    Some(Memory { did: Some(*did), dry_run, ..memory })
                };
                let memories = records.into_iter().zip(&done).filter_map(shown).collect();
                Ok((done, memories))
            }
            BatchOutcome::Rejected(mut faults) => {
                let BatchFault { index, why } = faults.swap_remove(0);
                Err(BatchError::Event { index, why })
            }
        }
    }

    /// One memory at an instant.
    pub async fn show(&self, key: &MemoryKey, at: Timestamp) -> Result<Memory, Error> {
        let tunables = self.store.tunables().await?;
        Ok(Memory::at(self.record(key).await?, at, &tunables))
    }

    /// One memory as stored.
    pub(super) async fn record(&self, key: &MemoryKey) -> Result<Record, Error> {
        let found = self.store.memories(std::slice::from_ref(key)).await?.pop();
        found.ok_or_else(|| Error::NotFound { what: "memory", id: key.to_string() })
    }

    /// Memories of a scope at an instant, in an order after a cursor, at most `limit`, and where the list continues.
    pub async fn list(
        &self,
        scope: &Scope,
        listed: (&Filter, MemoryOrder),
        (after, limit): (&str, usize),
        at: Timestamp,
    ) -> Result<(Vec<Memory>, Option<String>), Error> {
        let tunables = self.store.tunables().await?;
        let (mut all, mut after, mut bytes) = (Vec::new(), after.to_owned(), 0);
        loop {
            let size = LISTED.min(limit - all.len());
            let (page, next) = self.list_by(scope, listed, (&after, size), (at, &tunables)).await?;
            let is_short = page.len() < size;
            bytes += page.iter().map(Memory::text_bytes).sum::<usize>();
            all.extend(page);
            match next {
                Some(next) if !is_short && all.len() < limit && bytes < LISTED_BYTES => after = next,
                next => return Ok((all, next)),
            }
        }
    }

    /// The same by given tunables, for whoever reads many pages.
    pub(super) async fn list_by(
        &self,
        scope: &Scope,
        listed: (&Filter, MemoryOrder),
        (after, limit): (&str, usize),
        (at, tunables): (Timestamp, &Tunables),
    ) -> Result<(Vec<Memory>, Option<String>), Error> {
        let MemoryPage { keys, next } = self.list_keys(scope, listed, (after, limit)).await?;
        let records = self.store.memories(&keys).await?;
        Ok((records.into_iter().map(|record| Memory::at(record, at, tunables)).collect(), next))
    }

    /// The keys of such memories.
    pub async fn list_keys(
        &self,
        scope: &Scope,
        listed: (&Filter, MemoryOrder),
        (after, limit): (&str, usize),
    ) -> Result<MemoryPage, Error> {
        self.store.list_memories(scope.as_str(), listed, after, limit).await
    }

    /// A checked change of a memory.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub fn checked_update(&self, id: &MemoryId, patch: MemoryPatch) -> Result<MemoryUpdate, Error> {
        patch.checked(id, self.store.similarity()).map_err(Error::Invalid)
    }

    /// Changes the content, the tags and the metadata of a memory; what they were is kept.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Refused`] for a stub; [`Error::Invalid`].
    pub async fn update(
        &self,
        mode: &WriteMode,
        key: &MemoryKey,
        update: &MemoryUpdate,
        at: Timestamp,
    ) -> Result<Memory, Error> {
        let tunables = self.store.tunables().await?;
        let document = json!({
            "scope": key.scope(),
            "id": key.id(),
            "content": update.content,
            "tags": update.tags,
            "metadata": update.metadata,
            "embedding": update.embedding.as_ref().map(Embedding::numbers),
        });
        let hash = request_hash("update", &document);
        let record = self.store.update_memory(mode.with_hash(&hash), key, update, at).await?;
        Ok(Memory { dry_run: *mode == WriteMode::DryRun, ..Memory::at(record, at, &tunables) })
    }

    /// What a memory was, the newest version first.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn versions(&self, key: &MemoryKey) -> Result<Vec<MemoryVersion>, Error> {
        self.record(key).await?;
        self.store.versions(key).await
    }

    /// Pins or unpins memories of a scope, all or none.
    pub async fn pin(
        &self,
        mode: &WriteMode,
        (scope, ids): (&Scope, &[MemoryId]),
        pin: bool,
        at: Timestamp,
    ) -> Result<Vec<Memory>, Error> {
        let tunables = self.store.valid_tunables().await?;
        let hash = request_hash("pin", &json!({ "scope": scope.as_str(), "ids": texts(ids), "pin": pin }));
        let keys: Vec<MemoryKey> = ids.iter().map(|id| MemoryKey::new(scope, id)).collect();
        let dry_run = *mode == WriteMode::DryRun;
        let records = self.store.pin(mode.with_hash(&hash), &keys, pin, at, &tunables).await?;
        let shown = |record| Memory { dry_run, ..Memory::at(record, at, &tunables) };
        Ok(records.into_iter().map(shown).collect())
    }

    /// Forgets memories of a scope permanently, all or none: the nodes, their stubs, their relationships. Returns the
    /// number of deleted nodes. More than the guard allows are deleted only if `accepted` is their number.
    pub async fn forget(
        &self,
        mode: &WriteMode,
        (scope, ids): (&Scope, &[MemoryId]),
        at: Timestamp,
        accepted: Option<i64>,
    ) -> Result<i64, Error> {
        let hash = request_hash("forget", &json!({ "scope": scope.as_str(), "ids": texts(ids) }));
        let guard = (&self.config.guard, accepted);
        let done = self.store.forget(mode.with_hash(&hash), (scope, ids), at, guard).await?;
        Ok(done.nodes)
    }

    /// Forgets memories of a scope that fulfil conditions, as [`Service::forget`] does, at most 1,000 at once. The guard judges
    /// all that fulfil them.
    pub async fn forget_where(
        &self,
        mode: &WriteMode,
        (scope, filter): (&Scope, &Filter),
        at: Timestamp,
        accepted: Option<i64>,
    ) -> Result<ForgottenMemories, Error> {
        let Filter { tiers, session, tags, text, metadata, created_since, created_before } = filter;
        let document = json!({
            "scope": scope.as_str(),
            "tiers": tiers,
            "session": session,
            "tags": tags,
            "text": text,
            "metadata": metadata.to_string(),
            "since": created_since,
            "before": created_before,
        });
        let hash = request_hash("forget_where", &document);
        let (mut all, mut after) = (0_usize, String::new());
        loop {
            let page = self.list_keys(scope, (filter, MemoryOrder::Id), (&after, COUNTED)).await?;
            all += page.keys.len();
            match page.next {
                Some(next) => after = next,
                None => break,
            }
        }
        let chosen = (scope, filter, i64::try_from(all).unwrap_or(i64::MAX));
        let guard = (&self.config.guard, accepted);
        let Deletion { memories, nodes, left } =
            self.store.forget_where(mode.with_hash(&hash), chosen, at, guard).await?;
        Ok(ForgottenMemories { memories, nodes, left, dry_run: *mode == WriteMode::DryRun })
    }

    /// Ends a session: its working memories with an energy above the threshold become ripe.
    pub async fn end_session(
        &self,
        mode: &WriteMode,
        scope: &Scope,
        session: &SessionId,
        at: Timestamp,
        threshold: Option<f64>,
    ) -> Result<EndedSession, Error> {
        let tunables = self.store.valid_tunables().await?;
        let document =
            json!({ "scope": scope.as_str(), "session": session.as_str(), "threshold": threshold });
        let hash = request_hash("end_session", &document);
        let threshold = threshold.unwrap_or(tunables.config().session_end_threshold);
        let mode = mode.with_hash(&hash);
        self.store.end_session(mode, (scope, session), at, threshold, &tunables).await
    }
}

fn forgotten(key: &MemoryKey) -> Error {
    Error::Conflict(format!("memory {key} was forgotten on request and stays so; give this one another id"))
}

/// The id of an item that a request creates at this place.
fn made(seed: &str, index: usize) -> String {
    made_id(seed, u64::try_from(index).unwrap_or(u64::MAX))
}

/// An event in the document of a request, without its instant, and with its id only if the request named it: a retry
/// comes later, and does not name generated ids.
fn document(event: &Event, named: bool) -> Value {
    match event {
        Event::Remember(remember) => {
            let mut document = json!({
                "id": (!named).then(|| remember.id.as_str()),
                "scope": remember.scope.as_str(),
                "content": remember.content,
                "session": remember.session.as_ref().map(SessionId::as_str),
                "instance": remember.instance.as_ref().map(InstanceId::as_str),
                "mentions": remember.mentions.iter().map(EntityName::as_str).collect::<Vec<_>>(),
                "pinned": remember.pinned,
                "embedding": remember.embedding.as_ref().map(Embedding::numbers),
            });
            // Without annotations, and without metadata, it is the document of versions that have none.
            if remember.annotations.tags().next().is_some() || !remember.annotations.provenance().is_empty() {
                document["tags"] = remember.annotations.tags().collect();
                document["provenance"] = json!(remember.annotations.provenance());
            }
            if let Some(metadata) = remember.annotations.metadata() {
                document["metadata"] = json!(metadata.fields());
            }
            json!({ "remember": document })
        }
        Event::Access(access) => json!({
            "access": {
                "id": access.id.as_str(),
                "scope": access.scope.as_str(),
                "session": access.session.as_ref().map(SessionId::as_str),
                "revive": access.revive == Revive::Yes,
            }
        }),
    }
}

fn texts(ids: &[MemoryId]) -> Vec<&str> {
    ids.iter().map(MemoryId::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::annotations::{Annotations, Provenance};

    #[test]
    fn the_document_of_an_event_stays_over_versions() {
        let id = MemoryId::new("m1").unwrap();
        let remember = Remember {
            at: Timestamp::EPOCH,
            id: id.clone(),
            scope: Scope::local(),
            content: "said".to_owned(),
            session: SessionId::new("s1").ok(),
            instance: None,
            mentions: vec![EntityName::new("Ada").unwrap()],
            pinned: true,
            embedding: None,
            annotations: Annotations::default(),
        };
        let provenance = Provenance { line_start: Some(3), ..Provenance::default() };
        let annotations = Annotations::new(&["b".to_owned(), "a".to_owned()], provenance).unwrap();
        let annotated = Event::Remember(Remember { annotations, ..remember.clone() });
        let remember = Event::Remember(remember);
        assert_eq!(
            document(&remember, false).to_string(),
            r#"{"remember":{"content":"said","embedding":null,"id":"m1","instance":null,"mentions":["Ada"],"pinned":true,"scope":"local","session":"s1"}}"#
        );
        assert_eq!(
            document(&annotated, false).to_string(),
            r#"{"remember":{"content":"said","embedding":null,"id":"m1","instance":null,"mentions":["Ada"],"pinned":true,"provenance":{"line_start":3},"scope":"local","session":"s1","tags":["a","b"]}}"#
        );
        assert_eq!(document(&remember, true)["remember"]["id"], Value::Null, "made for the request");
        let access =
            Access { at: Timestamp::EPOCH, id, scope: Scope::local(), session: None, revive: Revive::Yes };
        assert_eq!(
            document(&Event::Access(access), false).to_string(),
            r#"{"access":{"id":"m1","revive":true,"scope":"local","session":null}}"#
        );
    }
}
