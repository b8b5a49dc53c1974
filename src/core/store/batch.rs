//! A batch of events, folded in order and written once.
//!
//! All events (one from the command line, a page of an import, an hour of a replay) are applied in this way: lock the
//! memories in the order of their ids, read them, fold the events of each in their order by the laws, and write each
//! memory once. So a memory that occurs a hundred times in a batch costs one write, and has the same final state as if
//! its events had been applied one by one, wherever the batches were cut.
//!
//! Requests of one process that come together are such a batch, too (see `gather`): each is all or none, has its own
//! receipt, and gets its own effects.
//!
//! Invariant: the cut of events into batches does not change the result (held by `batches::any_cut_is_the_same`).
//! Invariant: a batch with an error writes nothing (held by `batches::a_fault_writes_nothing`).

mod shared;
mod writes;

pub(super) use shared::SharedEvents;
pub(super) use writes::annotate;

use super::Store;
use super::decode::Life;
use super::error::{Error, RefusedWhy};
use super::memory::{Locked, Record, forgotten, lock_and_read, read as read_whole, refused};
use super::request::{RequestMode, answer, open_seeded};
use super::shared::Request;
use super::tx::{PriorTry, Tx};
use crate::domain::annotations::Annotations;
use crate::domain::event::{Access, Event, Remember};
use crate::domain::ids::{InstanceId, MemoryKey, SessionId};
use crate::domain::memory::{self, Access as Accessed, MemoryState, Refused, Revive};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Effect of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventEffect {
    /// Created a memory.
    Created,
    /// Accessed a live memory.
    Accessed,
    /// Revived an expired memory.
    Revived,
    /// Nothing: the memory was deleted on request and stays so.
    Forgotten,
}

/// Error of one event of a batch.
#[derive(Debug)]
pub struct BatchFault {
    /// Index in the batch.
    pub index: usize,
    pub why: Error,
}

/// Result of a batch: all of it is written, or nothing.
#[derive(Debug)]
pub enum BatchOutcome {
    /// Effects of the events, in order.
    Written(Vec<EventEffect>),
    /// Nothing was written, because of these errors.
    Rejected(Vec<BatchFault>),
}

/// Events in order, with the tunables that apply.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// Events in the order of application.
    pub events: &'a [Event],
    /// The tunables in force.
    pub tunables: &'a Tunables,
}

#[derive(Clone)]
struct FoldedMemory<'a> {
    /// Present state; `None` until an event creates it.
    state: Option<MemoryState>,
    /// Stored state of an existing memory.
    before: Option<MemoryState>,
    /// The event that creates it, if it does not exist.
    made_by: Option<&'a Remember>,
    joins: BTreeMap<&'a str, SessionAccesses>,
    mentions: BTreeSet<&'a str>,
    annotations: Annotations,
    /// Annotations of an existing memory, read if the batch brings any.
    annotated: Annotations,
    /// An existing memory as it was, if somebody wants to see it.
    record: Option<Record>,
    fault: Option<String>,
    /// Whether another library has a memory of this key.
    is_foreign: bool,
    same: Option<bool>,
    offered: Option<&'a str>,
    forgotten: bool,
}

/// Accesses of a session to a memory in this batch.
#[derive(Debug, Clone, Copy)]
struct SessionAccesses {
    first: Timestamp,
    last: Timestamp,
    count: i64,
}

impl Store {
    /// Applies events, all or none, under a request id that makes a repeat safe: the same id with the same hash of its
    /// contents returns the first response, with the first seed. Also returns the memories that `keys` names for that
    /// seed, as the transaction leaves them: a read after the commit can fail, and would report a successful write as
    /// failed.
    ///
    /// # Errors
    /// [`Error::Conflict`] for a request id that was used for other contents. Events that cannot be applied are in the
    /// result.
    pub async fn apply_request(
        &self,
        mode: RequestMode<'_>,
        seed: Option<&str>,
        batch: Batch<'_>,
        keys: impl Fn(Option<&str>) -> Vec<MemoryKey>,
    ) -> Result<(BatchOutcome, Option<String>, Vec<Record>), Error> {
        let request = Request::of(mode, seed, batch.events.len(), || shared::Events {
            events: batch.events.to_vec(),
            tunables: batch.tunables.clone(),
            shown: keys(None),
        });
        let write = async |tx: &mut Tx, all: &[&shared::Events]| {
            shared::write(tx, all, self.similarity.embeds()).await
        };
        let shared = self.share("events.shared", &self.sharing.events, request, write);
        let prior = match shared.await {
            Ok((done, records)) => return Ok((BatchOutcome::Written(done), None, records)),
            Err(prior) => prior,
        };
        let body = async |tx: &mut Tx| {
            let answered: Option<(Vec<EventEffect>, _)> = open_seeded(tx, mode, seed).await?;
            let (applied, first) = match answered {
                Some((done, first)) => (BatchOutcome::Written(done), first),
                None => {
                    let of_events: Vec<MemoryKey> = batch.events.iter().map(Event::key).collect();
                    let wanted = keys(None);
                    let how = (self.similarity.embeds(), !wanted.is_empty());
                    let (applied, memories) = fold_and_write(tx, batch, &of_events, how).await?;
                    let BatchOutcome::Written(done) = &applied else {
                        return Ok((applied, (None, Vec::new())));
                    };
                    answer(tx, mode, done);
                    let shown = wanted.iter().map(|key| memories.get(key)?.shown()).collect();
                    if let Some(records) = shown {
                        return Ok((applied, (None, records)));
                    }
                    (applied, None)
                }
            };
            let records = read_whole(tx, &keys(first.as_deref())).await?;
            Ok((applied, (first, records)))
        };
        let (applied, (first, records)) = self.apply_or_rollback(prior, "events.request", body).await?;
        Ok((applied, first, records))
    }

    /// Runs a body that applies events. One with errors is rolled back whole; one that lost a race for a new id is run
    /// again, and then finds the memory there.
    pub(super) async fn apply_or_rollback<T, F>(
        &self,
        prior: PriorTry,
        name: &'static str,
        body: F,
    ) -> Result<(BatchOutcome, T), Error>
    where
        F: AsyncFn(&mut Tx) -> Result<(BatchOutcome, T), Error>,
    {
        self.transactions
            .retry_on_unique_conflict(prior, name, async |tx: &mut Tx| {
                let answer = body(tx).await?;
                if matches!(answer.0, BatchOutcome::Rejected(_)) {
                    tx.abandon();
                }
                Ok(answer)
            })
            .await
    }
}

/// Folds and writes a batch inside a transaction of the caller.
pub(super) async fn apply(tx: &mut Tx, batch: Batch<'_>, embeds: bool) -> Result<BatchOutcome, Error> {
    let keys: Vec<MemoryKey> = batch.events.iter().map(Event::key).collect();
    Ok(fold_and_write(tx, batch, &keys, (embeds, false)).await?.0)
}

/// [`apply`], with the final state of the memory of each key among those of the events, which can be shown if that is asked
/// for.
async fn fold_and_write<'a>(
    tx: &mut Tx,
    batch: Batch<'a>,
    keys: &'a [MemoryKey],
    (embeds, is_shown): (bool, bool),
) -> Result<(BatchOutcome, BTreeMap<&'a MemoryKey, FoldedMemory<'a>>), Error> {
    let mut memories = read(tx, batch.events, keys, is_shown).await?;
    let mut done = Vec::with_capacity(batch.events.len());
    let mut faults = Vec::new();
    for (index, (event, key)) in batch.events.iter().zip(keys).enumerate() {
        let Some(folded) = memories.get_mut(key) else { continue };
        match fold(folded, event, batch.tunables) {
            Ok(what) => done.push(what),
            Err(why) => {
                let why = match why {
                    Error::Refused { why: RefusedWhy::Law(refusal @ Refused::Stub), .. } => {
                        refused(tx, key, refusal).await?
                    }
                    why => why,
                };
                faults.push(BatchFault { index, why });
            }
        }
    }
    if !faults.is_empty() {
        return Ok((BatchOutcome::Rejected(faults), memories));
    }
    writes::store(tx, &memories, embeds).await?;
    Ok((BatchOutcome::Written(done), memories))
}

impl FoldedMemory<'_> {
    /// The memory as [`read_whole`] would return it now; `None` if it was not read whole, or is none.
    fn shown(&self) -> Option<Record> {
        if self.made_by.is_some() {
            return self.made();
        }
        let Record { life, mut mentions, .. } = self.record.clone()?;
        let life = life.and_then(|life| Ok(Life { state: self.state.ok_or("no state")?, ..life }));
        let added = self.mentions.iter().filter(|name| !mentions.iter().any(|known| known == *name));
        let added: Vec<String> = added.map(|name| (*name).to_owned()).collect();
        mentions.extend(added);
        Some(Record { life, mentions, annotations: self.annotations.clone(), ..self.record.clone()? })
    }

    /// The memory that this batch created.
    fn made(&self) -> Option<Record> {
        let remember = self.made_by?;
        let life = Life {
            id: remember.id.clone(),
            scope: remember.scope.clone(),
            state: self.state?,
            created: remember.at,
            session: remember.session.as_ref().map(SessionId::to_string),
        };
        Some(Record {
            id: life.id.to_string(),
            scope: Some(life.scope.to_string()),
            life: Ok(life),
            content: Some(remember.content.clone()),
            instance: remember.instance.as_ref().map(InstanceId::to_string),
            promoted_from: None,
            last_expired: None,
            reinforcement_count: 0,
            clusters: Vec::new(),
            mentions: self.mentions.iter().map(|name| (*name).to_owned()).collect(),
            annotations: self.annotations.clone(),
            updated: None,
        })
    }
}

/// Locks the existing memories in the order of the keys, with all that can be shown of them if that is asked for, and finds
/// which of the others were deleted on request.
async fn read<'a>(
    tx: &mut Tx,
    events: &'a [Event],
    keys: &'a [MemoryKey],
    is_shown: bool,
) -> Result<BTreeMap<&'a MemoryKey, FoldedMemory<'a>>, Error> {
    let mut offered: BTreeMap<&MemoryKey, Option<&str>> = BTreeMap::new();
    for (event, key) in events.iter().zip(keys) {
        let content = match event {
            Event::Remember(remember) => Some(remember.content.as_str()),
            Event::Access(_) => None,
        };
        let slot = offered.entry(key).or_insert(None);
        *slot = slot.or(content);
    }
    let wanted: Vec<(&MemoryKey, Option<&str>)> =
        offered.iter().map(|(key, content)| (*key, *content)).collect();
    let mut found: BTreeMap<&MemoryKey, Locked> =
        lock_and_read(tx, &wanted, is_shown).await?.into_iter().collect();
    let is_absent =
        |(key, content): &(&MemoryKey, Option<&str>)| content.is_some() && !found.contains_key(key);
    let absent: Vec<&MemoryKey> = wanted.iter().filter(|one| is_absent(one)).map(|(key, _)| *key).collect();
    let forgotten = forgotten(tx, &absent).await?;
    let annotating = events.iter().zip(keys).filter(|(event, key)| {
        matches!(event, Event::Remember(remember) if !remember.annotations.is_empty())
            && found.get(key).is_some_and(|locked| locked.record.is_none())
    });
    let annotating: BTreeSet<&MemoryKey> = annotating.map(|(_, key)| key).collect();
    let mut annotated = annotations(tx, annotating).await?;
    Ok(offered
        .into_iter()
        .map(|(key, offered)| {
            let mut locked = found.remove(key);
            let record = locked.as_mut().and_then(|locked| locked.record.take());
            let known = record.as_ref().map(|record| record.annotations.clone());
            let annotated = known.or_else(|| annotated.remove(key)).unwrap_or_default();
            let same = locked.as_ref().and_then(|locked| locked.same);
            let is_foreign = locked.as_ref().is_some_and(|locked| locked.is_foreign);
            let (state, fault) = match locked.map(|locked| locked.life) {
                Some(Ok(life)) => (Some(life.state), None),
                Some(Err(fault)) => (None, Some(fault)),
                None => (None, None),
            };
            let folded = FoldedMemory {
                state,
                before: state,
                made_by: None,
                joins: BTreeMap::new(),
                mentions: BTreeSet::new(),
                annotations: annotated.clone(),
                annotated,
                record,
                fault,
                is_foreign,
                same,
                offered,
                forgotten: forgotten.contains_key(key),
            };
            (key, folded)
        })
        .collect())
}

/// The annotations of memories that this transaction has locked.
async fn annotations(
    tx: &mut Tx,
    keys: BTreeSet<&MemoryKey>,
) -> Result<BTreeMap<MemoryKey, Annotations>, Error> {
    let keys: Vec<MemoryKey> = keys.into_iter().cloned().collect();
    let records = read_whole(tx, &keys).await?;
    let of =
        |record: Record| Some((MemoryKey::of_row(record.scope.as_deref()?, &record.id), record.annotations));
    Ok(records.into_iter().filter_map(of).collect())
}

fn fold<'a>(
    folded: &mut FoldedMemory<'a>,
    event: &'a Event,
    tunables: &Tunables,
) -> Result<EventEffect, Error> {
    let id = event.id();
    if folded.is_foreign {
        let why = format!("another library has a memory {id} in this scope, which Ebb does not change");
        return Err(Error::Conflict(why));
    }
    if let Some(reason) = &folded.fault {
        return Err(Error::Quarantined { id: format!("memory {id}"), reason: reason.clone() });
    }
    if folded.forgotten {
        return Ok(EventEffect::Forgotten);
    }
    let (revive, session, done) = match event {
        Event::Remember(remember) => {
            folded.mentions.extend(remember.mentions.iter().map(|name| name.as_str()));
            let done = match folded.state {
                None => {
                    folded.state = Some(memory::created(remember.at, remember.pinned));
                    folded.made_by = Some(remember);
                    folded.same = Some(true);
                    Some(EventEffect::Created)
                }
                Some(_) => {
                    check_same_content(folded, remember)?;
                    None
                }
            };
            let merged = folded.annotations.merged(&remember.annotations);
            folded.annotations = merged.map_err(|why| {
                Error::Conflict(format!("memory {id}: {why}. Nothing was stored; give it less"))
            })?;
            (Revive::Yes, remember.session.as_ref(), done)
        }
        Event::Access(Access { session, revive, .. }) => {
            if folded.state.is_none() {
                return Err(Error::NotFound { what: "memory", id: id.to_string() });
            }
            (*revive, session.as_ref(), None)
        }
    };
    let done = match (done, folded.state) {
        (None, Some(state)) => {
            let (next, what) = memory::accessed(state, event.at(), revive, tunables)
                .map_err(|why| Error::Refused { id: id.to_string(), why: RefusedWhy::Law(why) })?;
            folded.state = Some(next);
            if what == Accessed::Revived { EventEffect::Revived } else { EventEffect::Accessed }
        }
        (done, _) => done.unwrap_or(EventEffect::Created),
    };
    if let Some(session) = session {
        let at = event.at();
        let joined =
            folded.joins.entry(session.as_str()).or_insert(SessionAccesses { first: at, last: at, count: 0 });
        joined.first = joined.first.min(at);
        joined.last = joined.last.max(at);
        joined.count += 1;
    }
    Ok(done)
}

/// A memory that is created again must have the same content.
fn check_same_content(folded: &FoldedMemory<'_>, remember: &Remember) -> Result<(), Error> {
    let same = folded.same == Some(true) && folded.offered == Some(remember.content.as_str());
    if !same {
        return Err(Error::Conflict(format!(
            "memory {} exists with other content, and nothing was stored. Use another id for this one, or change the content \
             of the other (ebb memory update, PATCH /v1/memories/{{id}}, update_memory)",
            remember.id
        )));
    }
    Ok(())
}
