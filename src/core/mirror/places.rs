//! The mirrors of a process by scope: those of the configuration, and others that are loaded when they are queried.
//!
//! An agent may have a scope for each of many thousand users, of which few are in use at a time. Scopes that are loaded on
//! demand share the memory that those of the configuration leave ([`Places::shared`]):
//!
//! - At rest they take at most half of it: the least recently queried are dropped ([`Places::trim`]).
//! - Whoever builds a generation of one of them takes a [`Turn`]: a few small ones are built beside each other, or fewer beside
//!   one large one, after as many others were dropped as it needs memory for.
//! - A small one that lacks a change and was not queried lately is dropped rather than refreshed: loading it again takes no
//!   longer, and nobody may ask for it.
//!
//! A generation of a scope of the configuration does not wait, but takes its memory from those on demand before it is built.
//! Only full loads of these scopes that no request waits for are made a few at a time.
//!
//! A place that is dropped keeps working for those who hold it; the next query loads the scope into another.

use super::changes::{Looked, Reading};
use super::saving::Content;
use super::{Config, Current, Error, MirroredScope};
use crate::domain::ids::Scope;
use crate::domain::units::Timestamp;
use crate::store::{Change, ChangeToken, Store};
use ebb_engine::plasticity::QueryHistory;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, SemaphorePermit};

/// Most scopes that are held on demand, whatever their size.
const ON_DEMAND_MAX: usize = 1 << 16;
/// Share of the memory that is left to them at least, whatever the scopes of the configuration take.
const SHARE_LEFT: u64 = 8;
/// First loads that have begun, each on a thread that waits for its turn.
const LOADS: usize = 64;
/// Small ones that are built at a time, how many of them beside a large one, and the share of the memory that one takes at most.
const TURNS: u32 = 8;
const BESIDE: u32 = 2;
const SMALL_SHARE: u64 = 64;
/// Full loads at a time of scopes of the configuration that no request waits for.
const RELOADS: usize = 2;
/// Bytes that count for a scope at least, at rest: its place and an empty view.
const FLOOR_BYTES: u64 = 32 << 10;
/// Time without a query after which a small one is dropped instead of refreshed.
const IDLE: Duration = Duration::from_secs(30);
/// Changes at most that are known of a scope and not yet in its view: one is enough to know that it lacks some.
const KNOWN_MAX: usize = 16;

type OnDemand = HashMap<Scope, Arc<Place>>;

/// Mirrors by scope.
pub(super) struct Places {
    fixed: BTreeMap<Scope, Arc<Place>>,
    on_demand: Mutex<OnDemand>,
    loads: Arc<Semaphore>,
    turns: Semaphore,
    /// Taken by a large one before its turns: two that wait for turns would hold up the small ones behind them.
    large: Semaphore,
    reloads: Semaphore,
    /// Bytes at the peak of the large one that is being built.
    building: AtomicU64,
    max_bytes: u64,
    /// The origin of [`Place::used`].
    begun: Instant,
}

/// Peak memory of each of so many scopes of the configuration, bytes.
pub(super) fn bytes_of_fixed(max_bytes: u64, scopes: usize) -> u64 {
    (max_bytes - max_bytes / SHARE_LEFT) / (scopes.max(1) as u64)
}

impl Places {
    pub(super) fn new(scopes: &[Scope], max_bytes: u64) -> Self {
        Self {
            fixed: scopes.iter().map(|scope| (scope.clone(), Arc::default())).collect(),
            on_demand: Mutex::default(),
            loads: Arc::new(Semaphore::new(LOADS)),
            turns: Semaphore::new(TURNS as usize),
            large: Semaphore::new(1),
            reloads: Semaphore::new(RELOADS),
            building: AtomicU64::new(0),
            max_bytes,
            begun: Instant::now(),
        }
    }

    /// The mirror of a scope, if there is one.
    pub(super) fn get(&self, scope: &Scope) -> Option<Arc<Place>> {
        self.fixed.get(scope).cloned().or_else(|| self.others().get(scope).cloned())
    }

    /// The mirror of a scope for a query, if there is one.
    pub(super) fn queried(&self, scope: &Scope) -> Option<Arc<Place>> {
        let place = self.get(scope)?;
        place.used.store(self.elapsed(), Ordering::Relaxed);
        Some(place)
    }

    /// The mirror of a scope for a query, a new one if there is none yet.
    pub(super) fn entry(&self, scope: &Scope) -> Arc<Place> {
        let other = || Arc::clone(self.others().entry(scope.clone()).or_default());
        let place = self.fixed.get(scope).cloned().unwrap_or_else(other);
        place.used.store(self.elapsed(), Ordering::Relaxed);
        place
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Whether a scope is one of the configuration.
    pub(super) fn is_fixed(&self, scope: &Scope) -> bool {
        self.fixed.contains_key(scope)
    }

    /// All mirrors: those of the configuration first.
    pub(super) fn all(&self) -> Vec<(Scope, Arc<Place>)> {
        let fixed = self.fixed.iter().map(|(scope, place)| (scope.clone(), Arc::clone(place)));
        fixed.chain(self.on_demand()).collect()
    }

    /// Those of the configuration.
    pub(super) fn fixed(&self) -> impl Iterator<Item = (&Scope, &Arc<Place>)> {
        self.fixed.iter()
    }

    /// Those on demand.
    pub(super) fn on_demand(&self) -> Vec<(Scope, Arc<Place>)> {
        self.others().iter().map(|(scope, place)| (scope.clone(), Arc::clone(place))).collect()
    }

    /// Number of the scopes on demand, and the bytes that they take at rest.
    pub(super) fn count_on_demand(&self) -> (usize, u64) {
        let others = self.others();
        (others.len(), at_rest(others.values()))
    }

    /// Memory of the scopes on demand, bytes: what those of the configuration leave. One of these that is not loaded yet counts
    /// with all that it may take.
    pub(super) fn shared(&self) -> u64 {
        let each = bytes_of_fixed(self.max_bytes, self.fixed.len());
        let taken =
            |place: &Arc<Place>| place.at_peak().unwrap_or(each).max(place.building.load(Ordering::Relaxed));
        let taken = self.fixed.values().map(taken);
        let left = self.max_bytes.saturating_sub(taken.fold(0, u64::saturating_add));
        left.max(self.max_bytes / SHARE_LEFT)
    }

    /// Peak memory of one scope on demand, bytes: what small ones leave that are built beside it.
    pub(super) fn largest(&self) -> u64 {
        let shared = self.shared();
        shared - beside(shared)
    }

    fn is_small(&self, bytes: u64) -> bool {
        bytes <= self.shared() / SMALL_SHARE
    }

    /// Waits until a first load may begin, which it does until the result is dropped.
    pub(super) async fn begun_load(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.loads).acquire_owned().await.ok()
    }

    /// Waits until a scope of the configuration may be loaded in full, if no request waits for that. `None` for any other, which
    /// has a turn.
    pub(super) async fn reload(&self, scope: &Scope) -> Option<SemaphorePermit<'_>> {
        if self.is_fixed(scope) { self.reloads.acquire().await.ok() } else { None }
    }

    /// Waits until a generation of a scope may be built that takes so many bytes at its peak, 0 if that is not known yet.
    pub(super) async fn turn(&self, scope: &Scope, bytes: u64) -> Turn<'_> {
        let fixed = self.fixed.get(scope).map(|place| &**place);
        let mut turn = Turn { places: self, fixed, permit: None, large: None };
        if fixed.is_none() && self.is_small(bytes) {
            turn.permit = self.turns.acquire().await.ok();
        } else {
            turn.widen(bytes).await;
        }
        turn
    }

    /// Drops the least recently queried of those on demand that do not fit beside the others.
    pub(super) fn trim(&self) {
        let building = self.building.load(Ordering::Relaxed);
        if building > 0 {
            self.make_room(building);
        }
        let mut others = self.others();
        let bytes = at_rest(others.values());
        drop_oldest(&mut others, bytes, self.shared() / 2);
    }

    /// Drops the least recently queried of those on demand that are not being built, until the others leave so many bytes, and
    /// those of small ones that are built beside.
    fn make_room(&self, bytes: u64) {
        let mut others = self.others();
        let free = at_rest(others.values().filter(|place| place.is_free()));
        let shared = self.shared();
        drop_oldest(&mut others, free, (shared - beside(shared)).saturating_sub(bytes));
    }

    /// Drops a mirror on demand if it is small and was not queried lately; the next query loads it again. Returns whether it did.
    pub(super) fn drop_idle(&self, scope: &Scope, place: &Arc<Place>) -> bool {
        let idle_since = self.elapsed().saturating_sub(u64::try_from(IDLE.as_millis()).unwrap_or(u64::MAX));
        let is_idle = place.used() < idle_since;
        if !is_idle || self.is_fixed(scope) || !place.at_peak().is_some_and(|bytes| self.is_small(bytes)) {
            return false;
        }
        self.remove(scope, place)
    }

    /// Drops a mirror on demand that could not be loaded.
    pub(super) fn drop_unloaded(&self, scope: &Scope, place: &Arc<Place>) {
        if place.at_peak().is_none() {
            self.remove(scope, place);
        }
    }

    /// Drops a mirror on demand, unless it is being built. Returns whether it is the one of the scope.
    fn remove(&self, scope: &Scope, place: &Arc<Place>) -> bool {
        let mut others = self.others();
        let is_it = others.get(scope).is_some_and(|known| Arc::ptr_eq(known, place));
        if is_it && place.is_free() {
            others.remove(scope);
            place.renewed.notify_waiters();
        }
        is_it
    }

    fn others(&self) -> MutexGuard<'_, OnDemand> {
        self.on_demand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of the small ones that are built beside a large one, of those of all.
fn beside(shared: u64) -> u64 {
    shared / SMALL_SHARE * u64::from(BESIDE)
}

fn at_rest<'p>(places: impl Iterator<Item = &'p Arc<Place>>) -> u64 {
    places.map(|place| place.at_rest()).fold(0, u64::saturating_add)
}

/// Drops the least recently queried that are not being built, until the others take no more than a limit: a little more than
/// that, so that not each load has to.
fn drop_oldest(others: &mut OnDemand, mut bytes: u64, bytes_max: u64) {
    if bytes <= bytes_max && others.len() <= ON_DEMAND_MAX {
        return;
    }
    let (bytes_max, count_max) = (bytes_max - bytes_max / 16, ON_DEMAND_MAX - ON_DEMAND_MAX / 16);
    let free = others.iter().filter(|(_, place)| place.is_free());
    let mut free: Vec<(u64, Scope)> = free.map(|(scope, place)| (place.used(), scope.clone())).collect();
    free.sort_unstable();
    for (_, scope) in free {
        if bytes <= bytes_max && others.len() <= count_max {
            break;
        }
        if let Some(dropped) = others.remove(&scope) {
            bytes = bytes.saturating_sub(dropped.at_rest());
            // Who waits for it looks again, and finds another.
            dropped.renewed.notify_waiters();
        }
    }
}

/// The right to build a generation of a scope, until it is dropped.
pub(super) struct Turn<'p> {
    places: &'p Places,
    /// The place of a scope of the configuration: it waits for nobody.
    fixed: Option<&'p Place>,
    permit: Option<SemaphorePermit<'p>>,
    /// Held by the only large one.
    large: Option<SemaphorePermit<'p>>,
}

impl Turn<'_> {
    /// Whether a generation of so many bytes at its peak has to wait for [`Self::widen`].
    pub(super) fn is_too_narrow(&self, bytes: u64) -> bool {
        self.fixed.is_none() && self.large.is_none() && !self.places.is_small(bytes)
    }

    /// Waits until the generation may take so many bytes at its peak.
    pub(super) async fn widen(&mut self, bytes: u64) {
        if let Some(place) = self.fixed {
            place.building.store(bytes, Ordering::Relaxed);
            self.places.trim();
        }
        if self.is_too_narrow(bytes) {
            // Given back first: two that kept theirs would wait for each other.
            self.permit = None;
            self.large = self.places.large.acquire().await.ok();
            self.permit = self.places.turns.acquire_many(TURNS - BESIDE).await.ok();
        }
        if self.large.is_some() {
            self.places.building.store(bytes, Ordering::Relaxed);
            self.places.make_room(bytes);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.fixed {
            place.building.store(0, Ordering::Relaxed);
        }
        if self.large.is_some() {
            self.places.building.store(0, Ordering::Relaxed);
        }
    }
}

/// State of one scope: the published view, and the single writer of the next.
#[derive(Default)]
pub(super) struct Place {
    pub(super) current: RwLock<Option<Current>>,
    pub(super) held: tokio::sync::Mutex<Option<MirroredScope>>,
    /// Whether its first load has begun.
    is_loading: AtomicBool,
    /// Bytes at the peak of the generation that is being built, of a scope of the configuration.
    building: AtomicU64,
    /// The last query, in milliseconds of the process.
    used: AtomicU64,
    /// The last questions that were answered from it.
    pub(super) questions: Arc<Mutex<QueryHistory>>,
    /// Whether the state is from a file, and was not refreshed since: there is nothing to save.
    pub(super) is_saved_state: AtomicBool,
    /// Whether a reader waits for a change that only a reading of all can find.
    pub(super) is_awaited: AtomicBool,
    /// Whether the database was set back since the state was read from it: the next refresh loads it.
    pub(super) is_set_back: AtomicBool,
    /// Readers who wait for a write.
    readers: AtomicUsize,
    /// Changes that this process knows of, but those that the published view includes.
    known: Mutex<Vec<ChangeToken>>,
    /// Notified when a view is published, or confirmed to lack nothing, and when a first load has failed.
    pub(super) renewed: Notify,
}

impl Place {
    pub(super) fn published(&self) -> Option<Current> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner).clone()?;
        // Read before any weight is read.
        let tick = current.view.ticks().at_start();
        let mut known = self.known();
        known.retain(|change| !current.applied.includes(change));
        let is_behind = !known.is_empty() || self.is_set_back.load(Ordering::Relaxed);
        Some(Current { tick, is_behind, ..current })
    }

    /// Notes a change of the scope. A view that lacks it says so.
    pub(super) fn note(&self, change: &ChangeToken) {
        let mut known = self.known();
        if known.contains(change) {
            return;
        }
        if known.len() >= KNOWN_MAX {
            known.remove(0);
        }
        known.push(change.clone());
    }

    fn known(&self) -> MutexGuard<'_, Vec<ChangeToken>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that it takes at its peak; `None` before the first load.
    pub(super) fn at_peak(&self) -> Option<u64> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.as_ref().map(|current| current.bytes)
    }

    fn at_rest(&self) -> u64 {
        let questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner).bytes();
        super::hot::at_rest(self.at_peak().unwrap_or(0)).max(FLOOR_BYTES) + questions as u64
    }

    /// Counts a reader who waits for a write, until the result is dropped.
    pub(super) fn reader(&self) -> Reader<'_> {
        self.readers.fetch_add(1, Ordering::Relaxed);
        Reader(self)
    }

    pub(super) fn has_readers(&self) -> bool {
        self.readers.load(Ordering::Relaxed) > 0
    }

    /// When it was last queried: a greater number is later.
    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether no generation is being built.
    fn is_free(&self) -> bool {
        self.held.try_lock().is_ok() && !self.is_loading.load(Ordering::Relaxed)
    }

    /// Begins the first load, if nobody has; it ends when the result is dropped.
    pub(super) fn begin_loading(self: &Arc<Self>) -> Option<Loading> {
        let is_mine = !self.is_loading.swap(true, Ordering::AcqRel);
        is_mine.then(|| Loading(Arc::clone(self)))
    }

    /// Forgets the last questions: their texts and nodes are those of a scope that was deleted.
    pub(super) fn forget_questions(&self) {
        *self.questions.lock().unwrap_or_else(PoisonError::into_inner) = QueryHistory::default();
    }

    /// Content to save, unless the database was set back since it was read. Asks the database, and waits for a refresh in progress,
    /// on a thread that may block.
    pub(super) fn content(
        &self,
        store: &Store,
        config: &Config,
        looked: &Mutex<Looked>,
    ) -> Result<Option<Content>, Error> {
        let database = Handle::current().block_on(store.database(None))?;
        let witness = looked.lock().unwrap_or_else(PoisonError::into_inner).witness(Timestamp::EPOCH);
        if let Some(witness) = witness {
            let (now, changes) = Handle::current().block_on(store.changes(None, witness.at))?;
            if witness.is_missing(now, &changes) {
                return Ok(None);
            }
        }
        let held = self.held.blocking_lock();
        if self.is_saved_state.load(Ordering::Relaxed) || self.is_set_back.load(Ordering::Relaxed) {
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
        let flags = [&self.is_saved_state, &self.is_awaited, &self.is_set_back];
        flags.into_iter().any(|flag| flag.load(Ordering::Relaxed))
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

    /// Notes the same after a sweep of these changes, all of which are applied. Not while the next generation is being built.
    pub(super) fn confirm_sweep<'c>(
        &self,
        of: &Current,
        (at, now): (Timestamp, Timestamp),
        changes: impl Iterator<Item = &'c Change>,
        looked: Instant,
    ) {
        let Ok(mut held) = self.held.try_lock() else { return };
        let Some(held) = held.as_mut().filter(|held| Arc::ptr_eq(&held.applied, &of.applied)) else { return };
        held.applied = Arc::new(of.applied.next(Reading::All, now, changes.cloned()));
        self.publish(Some(held), at.max(of.as_of), looked);
    }

    pub(super) fn publish(&self, held: Option<&MirroredScope>, as_of: Timestamp, looked: Instant) {
        let current = held.map(|held| Current {
            view: Arc::clone(&held.view),
            as_of,
            looked,
            read: held.read,
            left_out: held.left_out,
            bytes: held.bytes,
            bytes_max: held.bytes_max,
            has_relations: !held.relations.is_empty(),
            learned: held.synapses.len(),
            tick: held.synapses.ticks(),
            applied: Arc::clone(&held.applied),
            checked: held.applied.seen,
            is_behind: false,
            is_recorded: held.asked.own_labels() == held.asked.label_count(),
        });
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = current;
        self.renewed.notify_waiters();
    }
}

/// A reader who waits for a write.
pub(super) struct Reader<'p>(&'p Place);

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.0.readers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The first load of a scope.
pub(super) struct Loading(Arc<Place>);

impl Drop for Loading {
    fn drop(&mut self) {
        self.0.is_loading.store(false, Ordering::Release);
        // If it failed, one of those who wait is next.
        self.0.renewed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mirror::changes::Applied;
    use ebb_engine::View;
    use ebb_engine::graph::builder::GraphBuilder;
    use ebb_engine::graph::snapshot::Snapshot;

    fn scope(n: u64) -> Scope {
        Scope::new(&format!("s{n}")).unwrap()
    }

    /// Publishes a view of a scope on demand that takes so many bytes at its peak.
    fn publish(places: &Places, n: u64, bytes: u64) -> Arc<Place> {
        let place = places.entry(&scope(n));
        let graph = GraphBuilder::default().finalize().unwrap();
        let (at, now) = (Timestamp::EPOCH, Instant::now());
        *place.current.write().unwrap() = Some(Current {
            view: Arc::new(View::from_labels(Snapshot::from(graph)).unwrap()),
            as_of: at,
            looked: now,
            read: now,
            left_out: 0,
            bytes,
            bytes_max: bytes,
            has_relations: false,
            learned: 0,
            tick: 0,
            applied: Arc::new(Applied::swept(at, [])),
            checked: at,
            is_behind: false,
            is_recorded: true,
        });
        place.used.store(n, Ordering::Relaxed);
        place
    }

    fn held(places: &Places) -> Vec<u64> {
        (0..100).filter(|n| places.get(&scope(*n)).is_some()).collect()
    }

    #[test]
    fn the_least_recently_queried_are_dropped_but_not_while_they_are_built() {
        const MIB: u64 = 1 << 20;
        let places = Places::new(&[], 60 * MIB);
        let all: Vec<_> = (0..10).map(|n| publish(&places, n, 12 * MIB)).collect();
        assert_eq!(places.count_on_demand(), (10, 40 * MIB));
        let building = all[1].held.try_lock().unwrap();
        let loading = all[2].begin_loading();
        assert!(loading.is_some() && all[2].begin_loading().is_none());
        places.trim();
        // At most half of the memory, less a sixteenth: seven of 4 MiB at rest.
        assert_eq!(held(&places), [1, 2, 5, 6, 7, 8, 9]);
        drop((building, loading));
        // Less 1.9 MiB for small ones that are built beside, and a sixteenth.
        places.make_room(49 * MIB);
        assert_eq!(held(&places), [8, 9]);
        places.make_room(60 * MIB);
        assert_eq!(held(&places), [0; 0]);
    }

    #[test]
    fn what_the_configured_scopes_leave_is_shared() {
        let fixed = [scope(50), scope(51)];
        let places = Places::new(&fixed, 800);
        assert_eq!((bytes_of_fixed(800, 2), places.shared()), (350, 100), "they may take all of theirs");
        publish(&places, 50, 20);
        assert_eq!(places.shared(), 430);
        publish(&places, 51, 10_000);
        assert_eq!(places.shared(), 100, "an eighth is always left");
    }

    #[tokio::test]
    async fn small_ones_are_built_beside_each_other_and_a_few_beside_a_large_one() {
        let places = Places::new(&[], 6_400);
        let mut small = Vec::new();
        for _ in 0..TURNS {
            small.push(places.turn(&scope(1), 100).await);
        }
        let waits = async |bytes| {
            tokio::time::timeout(Duration::from_millis(20), places.turn(&scope(1), bytes)).await.is_err()
        };
        assert!(waits(0).await && waits(6_400).await);
        let mut last = small.pop().unwrap();
        drop(small);
        last.widen(90).await;
        assert!(!waits(100).await, "it is small still");
        last.widen(5_000).await;
        let other = scope(2);
        let mut large = std::pin::pin!(places.turn(&other, 5_000));
        assert!(tokio::time::timeout(Duration::from_millis(20), &mut large).await.is_err());
        // Nor does the second large one hold up small ones while it waits.
        let beside = [places.turn(&scope(3), 0).await, places.turn(&scope(4), 100).await];
        assert!(waits(0).await, "two are built beside a large one");
        drop((last, beside));
        assert!(!large.await.is_too_narrow(5_000));
        assert!(!waits(5_000).await);
    }

    #[tokio::test]
    async fn small_ones_leave_the_memory_that_a_large_one_is_being_built_in() {
        const MIB: u64 = 1 << 20;
        let places = Places::new(&[], 64 * MIB);
        let turn = places.turn(&scope(99), 40 * MIB).await;
        (0..30).for_each(|n| drop(publish(&places, n, 3 * MIB)));
        places.trim();
        // 64 MiB, less 40 and 2 for those that are built, less a sixteenth: of 1 MiB at rest each.
        assert_eq!(held(&places), (10..30).collect::<Vec<_>>());
        drop(turn);
        publish(&places, 30, 3 * MIB);
        places.trim();
        assert_eq!(held(&places).len(), 21, "then half of all is theirs again");
        assert_eq!((places.shared(), places.largest()), (64 * MIB, 62 * MIB));
    }

    #[tokio::test]
    async fn few_configured_scopes_are_loaded_at_a_time_without_a_request() {
        let places = Places::new(&[scope(1), scope(2), scope(3)], 6_400);
        let [one, two] = [places.reload(&scope(1)).await, places.reload(&scope(2)).await];
        let waits = tokio::time::timeout(Duration::from_millis(20), places.reload(&scope(3))).await;
        assert!(one.is_some() && two.is_some() && waits.is_err());
        assert!(places.reload(&scope(4)).await.is_none(), "one on demand waits for its turn alone");
        drop(one);
        assert!(places.reload(&scope(3)).await.is_some());
    }

    #[tokio::test]
    async fn a_configured_one_takes_its_memory_before_it_is_built_and_waits_for_nobody() {
        const MIB: u64 = 1 << 20;
        let places = Places::new(&[scope(50)], 80 * MIB);
        for (n, bytes) in [(50, 10), (1, 24), (2, 24)] {
            publish(&places, n, bytes * MIB);
        }
        let large = places.get(&scope(2)).unwrap();
        let _built = large.held.try_lock().unwrap();
        let alone = places.turn(&scope(2), 24 * MIB).await;
        let mut turn = places.turn(&scope(50), 10 * MIB).await;
        assert_eq!((places.shared(), held(&places)), (70 * MIB, vec![1, 2, 50]));
        assert!(!turn.is_too_narrow(60 * MIB));
        turn.widen(60 * MIB).await;
        assert_eq!((places.shared(), held(&places)), (20 * MIB, vec![2, 50]));
        drop((alone, turn));
        assert_eq!(places.shared(), 70 * MIB, "if it failed, its memory is free again");
    }

    #[test]
    fn an_idle_one_is_dropped_if_it_is_small() {
        let mut places = Places::new(&[scope(99)], 640_000);
        let [fixed, small, large, used] =
            [99, 1, 2, 3].map(|n| publish(&places, n, if n == 2 { 100_000 } else { 50 }));
        places.begun = Instant::now().checked_sub(2 * IDLE).unwrap_or(places.begun);
        let used_now = places.entry(&scope(3));
        assert!(Arc::ptr_eq(&used, &used_now));
        let dropped = [(99, &fixed), (1, &small), (2, &large), (3, &used)]
            .map(|(n, place)| places.drop_idle(&scope(n), place));
        assert_eq!(dropped, [false, true, false, false]);
        assert!(places.get(&scope(1)).is_none());
    }
}
