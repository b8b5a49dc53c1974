//! The mirrors of a process by scope: those of the configuration, and others that are loaded when they are queried.
//!
//! A graph of another library may have thousands of scopes, of which few are in use. Those that are loaded on demand share
//! the memory of one scope: the least recently queried are dropped while they exceed it.

use super::saving::Content;
use super::{Config, Current, Error, MirroredScope};
use crate::domain::ids::Scope;
use crate::domain::units::Timestamp;
use crate::store::Store;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;
use tokio::runtime::Handle;
use tokio::sync::Notify;

/// Most scopes that are held on demand, whatever their size.
const ON_DEMAND_MAX: usize = 256;

/// Scopes with their mirrors; the most recently queried is the last.
type OnDemand = Vec<(Scope, Arc<Place>)>;

/// Mirrors by scope.
pub(super) struct Places {
    fixed: BTreeMap<Scope, Arc<Place>>,
    /// `None` if there are only those of the configuration.
    on_demand: Option<Mutex<OnDemand>>,
}

impl Places {
    pub(super) fn new(scopes: &[Scope], on_demand: bool) -> Self {
        Self {
            fixed: scopes.iter().map(|scope| (scope.clone(), Arc::default())).collect(),
            on_demand: on_demand.then(Mutex::default),
        }
    }

    /// The mirror of a scope, if there is one.
    pub(super) fn get(&self, scope: &Scope) -> Option<Arc<Place>> {
        let is_it = |(known, _): &&(Scope, Arc<Place>)| known == scope;
        let on_demand = || self.others()?.iter().find(is_it).map(|(_, place)| Arc::clone(place));
        self.fixed.get(scope).cloned().or_else(on_demand)
    }

    /// The mirror of a scope for its upkeep, which does not count as a query.
    pub(super) fn known(&self, scope: &Scope) -> Result<Arc<Place>, Error> {
        self.get(scope).ok_or_else(|| Error::Scope { scope: scope.clone() })
    }

    /// Whether a scope is one of the configuration.
    pub(super) fn is_fixed(&self, scope: &Scope) -> bool {
        self.fixed.contains_key(scope)
    }

    /// The mirror of a scope for a query, with a new one if it may be loaded on demand.
    pub(super) fn open(&self, scope: &Scope) -> Result<Arc<Place>, Error> {
        if let Some(place) = self.fixed.get(scope) {
            return Ok(Arc::clone(place));
        }
        let mut others = self.others().ok_or_else(|| Error::Scope { scope: scope.clone() })?;
        let known = others.iter().position(|(known, _)| known == scope);
        let place = known.map_or_else(Arc::default, |at| others.remove(at).1);
        others.push((scope.clone(), Arc::clone(&place)));
        if others.len() > ON_DEMAND_MAX {
            others.remove(0);
        }
        Ok(place)
    }

    /// All mirrors: those of the configuration first.
    pub(super) fn all(&self) -> Vec<(Scope, Arc<Place>)> {
        let fixed = self.fixed.iter().map(|(scope, place)| (scope.clone(), Arc::clone(place)));
        let others = self.others();
        fixed.chain(others.iter().flat_map(|others| others.iter().cloned())).collect()
    }

    /// Those of the configuration.
    pub(super) fn fixed(&self) -> impl Iterator<Item = (&Scope, &Arc<Place>)> {
        self.fixed.iter()
    }

    /// Drops the least recently queried of those on demand that do not fit. The last one stays: its own load keeps it within
    /// the limit.
    pub(super) fn trim(&self, bytes_max: u64) {
        let Some(mut others) = self.others() else { return };
        let bytes_of = |place: &Place| place.published().map_or(0, |held| held.bytes);
        let mut bytes = others.iter().map(|(_, place)| bytes_of(place)).sum::<u64>();
        while others.len() > 1 && bytes > bytes_max {
            let (_, dropped) = others.remove(0);
            bytes -= bytes_of(&dropped).min(bytes);
        }
    }

    fn others(&self) -> Option<MutexGuard<'_, OnDemand>> {
        Some(self.on_demand.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// State of one scope: the published view, and the single writer of the next.
#[derive(Default)]
pub(super) struct Place {
    pub(super) current: RwLock<Option<Current>>,
    pub(super) held: tokio::sync::Mutex<Option<MirroredScope>>,
    /// Whether the state is from a file, and was not refreshed since: there is nothing to save.
    pub(super) is_saved_state: AtomicBool,
    /// Whether a reader waits for a change that only a reading of all can find.
    pub(super) is_awaited: AtomicBool,
    /// Notified when a view is published, or confirmed to lack nothing.
    pub(super) renewed: Notify,
}

impl Place {
    pub(super) fn published(&self) -> Option<Current> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner).clone()?;
        // Read before any weight is read.
        let tick = current.view.ticks().at_start();
        Some(Current { tick, ..current })
    }

    /// Content to save. Asks the database, and waits for a refresh in progress, on a thread that may block.
    pub(super) fn content(&self, store: &Store, config: &Config) -> Result<Option<Content>, Error> {
        let database = Handle::current().block_on(store.database(None))?;
        let held = self.held.blocking_lock();
        if self.is_saved_state.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let (Some(held), Some(current)) = (held.as_ref(), self.published()) else { return Ok(None) };
        let Some((view, learned)) = held.content() else { return Ok(None) };
        let as_of = current.as_of.millis();
        let since_read = current.looked.saturating_duration_since(current.read).as_millis();
        let read = as_of.saturating_sub(i64::try_from(since_read).unwrap_or(i64::MAX));
        let state = held.state(&database, config, store.fading(), (as_of, read))?;
        Ok(Some(Content { view, learned, state: Some(state) }))
    }

    /// The later of an instant and the published one: the first caller may get the lock last.
    pub(super) fn not_before(&self, at: Timestamp) -> Timestamp {
        self.published().map_or(at, |current| at.max(current.as_of))
    }

    /// Whether recent changes are not enough.
    pub(super) fn needs_all(&self) -> bool {
        self.is_saved_state.load(Ordering::Relaxed) || self.is_awaited.load(Ordering::Relaxed)
    }

    /// Notes that a published view lacked no recorded change as of `at` and `checked`, unless it was replaced meanwhile.
    pub(super) fn confirm(&self, of: &Current, (at, checked): (Timestamp, Timestamp), looked: Instant) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let Some(current) = current.as_mut().filter(|current| Arc::ptr_eq(&current.applied, &of.applied))
        else {
            return;
        };
        current.checked = checked;
        if current.is_recorded {
            current.as_of = current.as_of.max(at);
            current.looked = looked;
        }
    }

    pub(super) fn publish(&self, held: Option<&MirroredScope>, as_of: Timestamp, looked: Instant) {
        let current = held.map(|held| Current {
            view: Arc::clone(&held.view),
            as_of,
            looked,
            read: held.read,
            left_out: held.left_out,
            bytes: held.bytes,
            learned: held.synapses.len(),
            tick: held.synapses.ticks(),
            applied: Arc::clone(&held.applied),
            checked: held.applied.seen,
            is_recorded: held.asked.own_labels() == held.asked.label_count(),
        });
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = current;
        self.renewed.notify_waiters();
    }
}
