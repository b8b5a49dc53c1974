//! Events of small requests that share a transaction.

use super::super::error::Error;
use super::super::memory::Record;
use super::super::request::response;
use super::super::shared::{Done, Sharing};
use super::super::tx::Tx;
use super::{EventEffect, FoldedMemory, fold, read, writes};
use crate::domain::event::Event;
use crate::domain::ids::MemoryKey;
use crate::domain::tunables::Tunables;
use std::collections::BTreeMap;
use std::ops::Range;

/// Requests with events that wait to share a transaction.
pub(in crate::store) type SharedEvents = Sharing<Events, Applied>;

/// The effects of the events of a request, and the memories that it asked for.
pub(in crate::store) type Applied = (Vec<EventEffect>, Vec<Record>);

/// Events of a request.
pub(in crate::store) struct Events {
    pub(super) events: Vec<Event>,
    pub(super) tunables: Tunables,
    /// The memories that it asks for, among those of its events.
    pub(super) shown: Vec<MemoryKey>,
}

/// Folds the events of each request, all or none, and writes the memories once. `None` for a request with an event that
/// cannot be applied.
pub(super) async fn write(
    tx: &mut Tx,
    requests: &[&Events],
    embeds: bool,
) -> Result<Vec<Option<Done<Applied>>>, Error> {
    let events: Vec<Event> = requests.iter().flat_map(|request| request.events.iter().cloned()).collect();
    let keys: Vec<MemoryKey> = events.iter().map(Event::key).collect();
    let is_shown = requests.iter().any(|request| !request.shown.is_empty());
    let mut memories = read(tx, &events, &keys, is_shown).await?;
    let (mut effects, mut from) = (Vec::with_capacity(requests.len()), 0);
    for request in requests {
        let range = from..from + request.events.len();
        from = range.end;
        effects.push(fold_request(&mut memories, (&events, &keys), range, &request.tunables));
    }
    writes::store(tx, &memories, embeds).await?;
    let records =
        |request: &Events| request.shown.iter().filter_map(|key| memories.get(key)?.shown()).collect();
    let done = |(request, effects): (&&Events, Option<Vec<EventEffect>>)| {
        let effects = effects?;
        let answer = response(&effects);
        Some(Done { result: (effects, records(request)), answer })
    };
    Ok(requests.iter().zip(effects).map(done).collect())
}

/// Folds the events of a request, or leaves the memories as they are if one cannot be applied.
fn fold_request<'a>(
    memories: &mut BTreeMap<&'a MemoryKey, FoldedMemory<'a>>,
    (events, keys): (&'a [Event], &'a [MemoryKey]),
    range: Range<usize>,
    tunables: &Tunables,
) -> Option<Vec<EventEffect>> {
    let before: Vec<_> = keys[range.clone()].iter().map(|key| (key, memories.get(key).cloned())).collect();
    let fold = |at: usize| fold(memories.get_mut(&keys[at])?, &events[at], tunables).ok();
    let effects: Option<Vec<EventEffect>> = range.map(fold).collect();
    if effects.is_none() {
        memories.extend(before.into_iter().filter_map(|(key, folded)| Some((key, folded?))));
    }
    effects
}
