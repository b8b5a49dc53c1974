//! In-memory copy of the hot part of each scope; the store remains the source of truth.
//!
//! | | |
//! |---|---|
//! | [`hot`] | selection of nodes within the budget |
//! | `load` | full load |
//! | `refresh` | merge of changes |
//! | [`learned`] | learned weights |
//! | [`near`] | the part of a scope that a learner needs |
//! | [`from_events`] | the view of events alone, without a store |
//! | `changes` | change records: what is applied, and what was looked at |
//! | [`compare`] | comparison with a fresh load |
//! | [`compute`] | queries: one view, one permit, one thread |
//! | `places` | mirrors by scope |
//! | [`persist`] | files of graphs and learned weights |
//! | [`saving`] | automatic saves in the background |
//! | `state` | the file from which a restart answers |
//!
//! A mirror of a scope is an immutable [`View`], and the data needed to build the next one. A query takes the present
//! view and keeps it; a refresh builds another beside it and then replaces it. So a response is of one generation,
//! whatever happens meanwhile, and includes the generation and its age. Learning without any other change updates
//! weights in the present view: a response includes the number of learned outcomes at its beginning and at its end.

mod changes;
pub mod compare;
pub mod compute;
mod content;
mod facts;
pub mod from_events;
pub mod hot;
pub mod learned;
mod load;
pub mod near;
pub mod persist;
mod places;
mod refresh;
pub mod saving;
mod state;

use crate::domain::ids::Scope;
use crate::domain::units::Timestamp;
use crate::store::{
    self, Change, ChangeToken, KEPT_MS, MirrorQuery, OVERLAP_MS, Relation, Store, WrittenRow,
};
use changes::{Applied, ByScope, Looked, RECENT_MS, Reading, is_beyond_recent};
use compare::Difference;
use compute::Refused;
pub use content::LABEL_BYTES_MAX;
use content::{Names, Relations};
use ebb_engine::View;
use ebb_engine::graph;
use ebb_engine::graph::builder::WeightRange;
use ebb_engine::graph::codec::plasticity::SynapticState;
use ebb_engine::graph::index::Generation;
use ebb_engine::graph::kinds::Kinds;
use ebb_engine::plasticity::{PlasticityConfig, QueryHistory, Synapses};
use hot::Density;
use load::Room;
pub use near::Learning;
use places::{Loading, Place, Places, Turn};
use refresh::{Refreshed, WEIGHED_MS};
use saving::{Content, Saves, Saving};
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub use state::fuzzing::{read as read_state, seed as state_seed};
use state::{Identity, Restored};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span, info, warn};

/// Time-out of waiting for a first load.
const LOAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval of comparisons while other writers change the store without records.
const FOLLOWED_MAX: usize = 10;
/// Time between two comparisons of a whole scope.
pub const COMPARE_EVERY: Duration = Duration::from_secs(24 * 3_600);
/// How long a refresh of a scope on demand waits for its turn.
const TURN_TIMEOUT: Duration = Duration::from_millis(250);

/// Settings of a mirror.
#[derive(Debug, Clone)]
pub struct Config {
    /// Peak memory of all scopes together, bytes: see [`hot`] and `places`.
    pub max_bytes: u64,
    /// Whether expired memories are included, after all others.
    pub expired: bool,
    /// Interval of refreshes.
    pub refresh: Duration,
    /// Age from which responses are marked stale.
    pub staleness: Duration,
    /// Scopes that are always mirrored; any other is when it is queried.
    pub scopes: Vec<Scope>,
    /// Connections of a load.
    pub connections: usize,
    /// Kinds of relationships and their conductance.
    pub kinds: Kinds,
    /// Bounds of effective weights.
    pub range: WeightRange,
    /// Learning and decay rates, the same as those of the learner.
    pub rules: PlasticityConfig,
    /// Automatic saves, if there is a folder for them.
    pub saves: Option<saving::Config>,
}

impl Config {
    /// Peak memory of one of these scopes, bytes.
    fn bytes_of_fixed(&self) -> u64 {
        places::bytes_of_fixed(self.max_bytes, self.scopes.len())
    }

    /// Settings of a learner for these mirrors.
    #[must_use]
    pub fn learning(&self) -> Learning {
        Learning { kinds: self.kinds.clone(), range: self.range, expired: self.expired, rules: self.rules }
    }
}

/// Mirrored state of a scope, from which the next generation is built.
struct MirroredScope {
    asked: MirrorQuery,
    view: Arc<View>,
    /// Learned state of its graph.
    synapses: Synapses,
    relations: Relations,
    names: Names,
    /// Number of candidates that were not mirrored at the last full read.
    left_out: u64,
    /// Peak memory of the scope, and its limit.
    bytes: u64,
    bytes_max: u64,
    /// Measured density of its nodes.
    density: Density,
    /// Last full read, by a load or a comparison.
    read: Instant,
    /// What is applied of the change records.
    applied: Arc<Applied>,
    /// Applied rows of other libraries, written near that instant.
    written: HashSet<WrittenRow>,
}

/// A view and its freshness.
#[derive(Debug, Clone)]
pub struct Current {
    /// View to query.
    pub view: Arc<View>,
    /// Instant of the last read of the store, by the laws' clock.
    pub as_of: Timestamp,
    /// The same instant, by this machine's monotonic clock.
    looked: Instant,
    /// Last full read, by this machine's monotonic clock.
    read: Instant,
    /// Number of candidates that are not mirrored.
    left_out: u64,
    /// Peak memory of the scope, and its limit.
    bytes: u64,
    bytes_max: u64,
    has_relations: bool,
    /// Number of slots with learned weights.
    pub learned: usize,
    /// Outcomes learned by its weights when this was taken.
    tick: u64,
    applied: Arc<Applied>,
    /// The last look at the change records, by the server's clock.
    checked: Timestamp,
    /// Whether it lacked a change of its scope that this process knew of when this was taken.
    is_behind: bool,
    /// Whether every change is recorded: nothing of other libraries is mirrored.
    is_recorded: bool,
}

impl Current {
    /// Whether all candidates are mirrored.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.left_out == 0
    }

    /// Mirrored nodes divided by candidates, 1 if all are mirrored.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of nodes")]
    pub fn held_share(&self) -> f64 {
        let held = self.view.graph().node_count() as f64;
        if self.is_whole() { 1.0 } else { held / (held + self.left_out as f64) }
    }

    /// Whether it lacked a change of its scope that this process knew of when this was taken: one of its own, or one that it has
    /// seen recorded.
    #[must_use]
    pub const fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Time since the last read of the store.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.looked.elapsed()
    }

    /// Outcomes learned by its weights when this was taken, and those learned by now or in progress: equal if no weight
    /// has changed meanwhile.
    #[must_use]
    pub fn ticks(&self) -> (u64, u64) {
        (self.tick, self.view.ticks().at_end())
    }

    /// Age of the weights of its relations at an instant, milliseconds.
    fn weighed_ms(&self, at: Timestamp) -> i64 {
        at.millis().saturating_sub(self.view.snapshot().as_of.unwrap_or(i64::MIN))
    }

    /// Time since the last full read, by a load or a comparison.
    #[must_use]
    pub fn since_read(&self) -> Duration {
        self.read.elapsed()
    }
}

/// Result of a refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshOutcome {
    /// A full load.
    Loaded,
    /// Changes were merged.
    Patched,
    /// Only learned weights changed.
    Learned,
    /// Nothing had changed.
    Same,
}

impl MirroredScope {
    /// The view, and the learned state of its graph.
    fn content(&self) -> Option<(Arc<View>, SynapticState)> {
        let learned = self.synapses.export(self.view.graph()).ok()?;
        Some((Arc::clone(&self.view), learned))
    }
}

/// Whether a mirror that was loaded within a limit, and left out so many nodes, may hold many of them within another.
const fn is_worth_reloading(left_out: u64, bytes_max: u64, now_max: u64) -> bool {
    left_out > 0 && now_max > bytes_max.saturating_mul(2)
}

/// The instant so many milliseconds before now, by this machine's monotonic clock.
fn ago(millis: i64) -> Instant {
    let age = Duration::from_millis(u64::try_from(millis).unwrap_or(0));
    Instant::now().checked_sub(age).unwrap_or_else(Instant::now)
}

/// Mirrors of a process.
pub struct Mirror {
    store: Arc<Store>,
    config: Arc<Config>,
    places: Places,
    saving: Option<Saving>,
    /// Whether this process refreshes mirrors at their interval.
    is_kept: AtomicBool,
    /// Notified after a write of this process, and when a request was answered from a file.
    woken: Notify,
    /// Notified when a reader waits for a write.
    wanted: Notify,
    /// Cancelled when this process ends.
    stop: CancellationToken,
    /// Change records that this process has looked at.
    looked: Arc<Mutex<Looked>>,
}

impl Mirror {
    /// Creates mirrors of the configured scopes; nothing is read before the first refresh.
    #[must_use]
    pub fn new(store: Arc<Store>, config: Config) -> Arc<Self> {
        let places = Places::new(&config.scopes, config.max_bytes);
        let saves = config.saves.clone().filter(|saves| saves.every > 0);
        let saving = saves.map(|saves| Saving::new(saves, &config.scopes));
        let (is_kept, woken, wanted) = (AtomicBool::new(false), Notify::new(), Notify::new());
        let (stop, looked) = (CancellationToken::new(), Arc::default());
        let config = Arc::new(config);
        Arc::new_cyclic(|this: &Weak<Self>| {
            let this = Weak::clone(this);
            store.on_change(Box::new(move |change, scopes| {
                this.upgrade().inspect(|this| this.note(change, scopes));
            }));
            Self { store, config, places, saving, is_kept, woken, wanted, stop, looked }
        })
    }

    /// Notes a change that this process has committed. One that may concern any scope is none that a scope is told of: it may be
    /// of others alone.
    fn note(&self, change: &ChangeToken, scopes: Option<&BTreeSet<&str>>) {
        let scopes = scopes.into_iter().flatten();
        scopes
            .filter_map(|scope| self.places.get(&Scope::new(scope).ok()?))
            .for_each(|place| place.note(change));
        self.woken.notify_one();
    }

    /// Parameters of the queries that mirror a scope.
    pub fn query(&self, scope: &Scope) -> Result<MirrorQuery, Error> {
        let asked = load::asked(&self.store, scope, &self.config.kinds, self.config.expired)?;
        Ok(asked.with_embeddings(None))
    }

    /// Settings.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Number of the scopes that are held because they were queried, and the bytes that these take.
    #[must_use]
    pub fn on_demand(&self) -> (usize, u64) {
        self.places.count_on_demand()
    }

    /// The present view of a scope for a query; `None` before the first refresh.
    #[must_use]
    pub fn current(&self, scope: &Scope) -> Option<Current> {
        self.places.queried(scope)?.published()
    }

    /// The present view of a scope for its status, which does not count as a query; `None` before the first refresh.
    #[must_use]
    pub fn status(&self, scope: &Scope) -> Option<Current> {
        self.places.get(scope)?.published()
    }

    /// The last questions that were answered from a scope; empty ones for a scope that is not held.
    #[must_use]
    pub fn questions(&self, scope: &Scope) -> Arc<Mutex<QueryHistory>> {
        self.places.get(scope).map_or_else(Arc::default, |place| Arc::clone(&place.questions))
    }

    /// The reason why this mirror of a scope cannot answer, if it is empty for lack of memory. A mirror of an empty
    /// scope can.
    #[must_use]
    pub fn no_room(&self, scope: &Scope, current: &Current) -> Option<Refused> {
        let is_empty = !current.is_whole() && current.view.graph().node_count() == 0;
        is_empty.then(|| Refused::NoRoom {
            scope: scope.clone(),
            nodes: current.left_out,
            bytes: self.bytes_max(scope),
        })
    }

    /// Peak memory of a scope at most, bytes.
    fn bytes_max(&self, scope: &Scope) -> u64 {
        if self.places.is_fixed(scope) { self.config.bytes_of_fixed() } else { self.places.largest() }
    }

    /// Counts a recall by a view: after a number of them its graph and learned state are saved in the background.
    pub fn recalled(&self, scope: &Scope, view: &View) {
        if let (Some(saving), Some(place)) = (&self.saving, self.places.get(scope)) {
            saving.recalled(scope, view, self.content_of(&place));
        }
    }

    fn content_of(
        &self,
        place: &Arc<Place>,
    ) -> impl FnOnce() -> Result<Option<Content>, Error> + Send + use<> {
        let (place, store, config) = (Arc::clone(place), Arc::clone(&self.store), Arc::clone(&self.config));
        let looked = Arc::clone(&self.looked);
        move || place.content(&store, &config, &looked)
    }

    /// Saves the states of all loaded mirrors, from which the next process answers.
    pub async fn save_states(&self) {
        let Some(saving) = &self.saving else { return };
        for (scope, place) in self.places.fixed().filter(|(_, place)| place.published().is_some()) {
            saving.save_state(scope, self.content_of(place)).await;
        }
    }

    /// Removes the saved files of a scope that was deleted, which contain its texts.
    ///
    /// # Errors
    /// The file that cannot be removed.
    pub fn remove_saved(&self, scope: &Scope) -> Result<(), Error> {
        match (&self.saving, &self.config.saves) {
            (Some(saving), _) => saving.remove(scope),
            // Nothing is saved, and files of a former configuration may be there.
            (None, Some(saves)) => Saving::new(saves.clone(), &[]).remove(scope),
            (None, None) => Ok(()),
        }
    }

    /// States that this process refreshes its mirrors at their interval, and whenever [`Self::woken`] says so: then
    /// the first mirror of a scope may come from its file. Any other process loads all of it, which finds changes without
    /// records as well.
    pub fn keep(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }

    /// Ends first loads, before this process ends.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits until this process has written something, or answered a request from a file: [`Self::outdated`] then says which
    /// mirrors need a refresh.
    pub async fn woken(&self) {
        self.woken.notified().await;
    }

    /// Waits until a reader waits for a write.
    pub async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// Whether a reader waits for a write.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        self.places.all().iter().any(|(_, place)| place.has_readers())
    }

    /// Whether a reader waits for a write in a scope.
    #[must_use]
    pub fn is_awaited_in(&self, scope: &Scope) -> bool {
        self.places.get(scope).is_some_and(|place| place.has_readers())
    }

    /// The loaded mirrors that lack a recent change of any process, are from a file, or have a reader who waits for an older
    /// change; those that are waited for first, then those of the configuration, then the most recently queried. The others
    /// are as of `at`. Small ones on demand that nobody has queried lately are dropped instead. All, if the database was set back: a
    /// view of it is of rows that are there no more.
    pub async fn outdated(&self, at: Timestamp) -> Result<Vec<Scope>, Error> {
        let (mut outdated, mut others, mut oldest) = (Vec::new(), Vec::new(), None::<i64>);
        let until = self.looked().until;
        for (scope, place) in self.places.all() {
            let Some(current) = place.published() else { continue };
            let checked = current.checked.millis();
            // One that could not be refreshed for long does not make each look longer.
            let is_behind = until.is_some_and(|until| checked + OVERLAP_MS < until.millis());
            if !is_behind {
                oldest = Some(oldest.map_or(checked, |oldest| oldest.min(checked)));
            }
            match is_behind || place.needs_all() {
                true => outdated.push((scope, place)),
                false => others.push((scope, place, current)),
            }
        }
        if let Some(oldest) = oldest {
            let looked = Instant::now();
            // From the last look on, so that it is known of each write which scopes it concerns.
            let last = until.map_or(i64::MIN, Timestamp::millis).clamp(oldest - OVERLAP_MS, oldest);
            let since = Timestamp::from_millis(last - RECENT_MS).unwrap_or(Timestamp::EPOCH);
            let witness = self.looked().witness(Timestamp::from_millis(oldest).unwrap_or(Timestamp::EPOCH));
            let newest = match witness {
                None => self.store.database(None).await?.newest_at(),
                Some(witness) => Some(witness.at),
            };
            let since = newest.map_or(since, |newest| since.min(newest));
            let (now, changes) = self.store.changes(None, since).await?;
            if witness.is_some_and(|witness| witness.is_missing(now, &changes)) {
                return Ok(self.set_back());
            }
            let by_scope = ByScope::of(&changes);
            for (scope, place, current) in others {
                let lacks = |change: &&Change| current.applied.lacks(change);
                if !by_scope.of_scope(&scope).any(|change| lacks(&change)) {
                    place.confirm(&current, (at, now), looked);
                } else if !self.places.drop_idle(&scope, &place) {
                    by_scope.naming(&scope).filter(lacks).for_each(|change| place.note(&change.token()));
                    outdated.push((scope, place));
                }
            }
            self.looked().add(changes, now);
            // Now that it is known which writes do not concern them.
            self.places.all().iter().for_each(|(_, place)| place.renewed.notify_waiters());
        }
        Ok(self.by_urgency(outdated))
    }

    /// Notes that the database was set back: all loaded mirrors are to be loaded anew.
    fn set_back(&self) -> Vec<Scope> {
        warn!(
            "the database lacks the latest recorded change, as after a restored dump; loading all mirrors anew"
        );
        *self.looked() = Looked::default();
        let loaded = self.places.all().into_iter().filter(|(_, place)| place.published().is_some());
        self.by_urgency(
            loaded.inspect(|(_, place)| place.is_set_back.store(true, Ordering::Relaxed)).collect(),
        )
    }

    fn by_urgency(&self, mut places: Vec<(Scope, Arc<Place>)>) -> Vec<Scope> {
        places.sort_by_cached_key(|(scope, place)| {
            (!place.has_readers(), !self.places.is_fixed(scope), Reverse(place.used()))
        });
        places.into_iter().map(|(scope, _)| scope).collect()
    }

    /// One look at all mirrors on demand: those that lack nothing are as of `at` and swept, small ones that lack something and
    /// were not queried lately are dropped, and the others are returned to be refreshed, by urgency.
    pub async fn sweep(&self, at: Timestamp) -> Result<Vec<Scope>, Error> {
        let places = self.places.on_demand().into_iter();
        let places = places.filter_map(|(scope, place)| Some((scope, place.published()?, place)));
        let places: Vec<(Scope, Current, Arc<Place>)> = places.collect();
        let Some(swept) = places.iter().map(|(_, current, _)| current.applied.since(Reading::All)).min()
        else {
            return Ok(Vec::new());
        };
        let looked = Instant::now();
        let ticks = self.store.ticks_of(&places.iter().map(|(scope, ..)| scope).collect::<Vec<_>>()).await?;
        let witness = self.looked().witness(swept);
        let since = witness.map_or(swept, |witness| swept.min(witness.at));
        let (now, changes) = self.store.changes(None, since).await?;
        if witness.is_some_and(|witness| witness.is_missing(now, &changes)) {
            return Ok(self.set_back());
        }
        let (by_scope, largest, mut due) = (ByScope::of(&changes), self.places.largest(), Vec::new());
        for ((scope, current, place), tick) in places.into_iter().zip(ticks) {
            let lacks_any = || by_scope.of_scope(&scope).any(|change| current.applied.lacks(change));
            let lacks = !current.is_recorded
                || place.needs_all()
                || tick != current.tick
                || current.has_relations && current.weighed_ms(at) > WEIGHED_MS
                || current.since_read() >= COMPARE_EVERY
                || now.millis() - current.applied.swept.millis() > KEPT_MS - OVERLAP_MS
                || is_worth_reloading(current.left_out, current.bytes_max, largest)
                || lacks_any();
            if !lacks {
                place.confirm_sweep(&current, (at, now), by_scope.of_scope(&scope), looked);
            } else if !self.places.drop_idle(&scope, &place) {
                due.push((scope, place));
            }
        }
        self.looked().add(changes, now);
        Ok(self.by_urgency(due))
    }

    fn looked(&self) -> MutexGuard<'_, Looked> {
        self.looked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a view of a scope includes a write.
    #[must_use]
    pub fn includes(&self, scope: &Scope, current: &Current, change: &ChangeToken) -> bool {
        current.applied.includes(change) || self.looked().spares(change, scope)
    }

    /// Applies recent changes to the mirror of a scope, or all where that is due. Does nothing for one that is not held.
    pub async fn catch_up(&self, scope: &Scope, at: Timestamp) -> Result<RefreshOutcome, Error> {
        let Some(place) = self.places.get(scope) else { return Ok(RefreshOutcome::Same) };
        let mut held = place.held.lock().await;
        let is_due = place.needs_all() || held.as_ref().is_none_or(|held| held.applied.is_sweep_due());
        let reading = if is_due { Reading::All } else { Reading::Recent };
        self.refresh_held((scope, &place), &mut held, at, reading).await
    }

    /// The view of a scope once it includes a write, or else the present one after `wait`; and whether it does.
    ///
    /// # Errors
    /// Those of [`Mirror::ready`]; those of a refresh where this process does none at an interval.
    pub async fn reach(
        self: &Arc<Self>,
        scope: &Scope,
        at: Timestamp,
        (change, wait): (&ChangeToken, Duration),
    ) -> Result<(Current, bool), Error> {
        let current = self.ready(scope, at).await?;
        if self.includes(scope, &current, change) {
            return Ok((current, true));
        }
        if !self.is_kept.load(Ordering::Relaxed) {
            // All of the scope that was committed is read.
            self.places.entry(scope).is_awaited.store(true, Ordering::Relaxed);
            self.catch_up(scope, at).await?;
            return Ok((self.ready(scope, at).await?, true));
        }
        // One builder for all readers: a generation that is being built cannot be stopped.
        self.wanted.notify_one();
        let until = tokio::time::Instant::now() + wait;
        loop {
            let place = self.places.entry(scope);
            let _reader = place.reader();
            let renewed = place.renewed.notified();
            let current = self.ready(scope, at).await?;
            if self.includes(scope, &current, change) {
                return Ok((current, true));
            }
            if is_beyond_recent(change, current.checked) {
                place.is_awaited.store(true, Ordering::Relaxed);
                self.wanted.notify_one();
            }
            if tokio::time::timeout_at(until, renewed).await.is_err() {
                return Ok((current, false));
            }
        }
    }

    /// The view of a scope, and the learned state of its graph; loaded as of `at` if there is none.
    ///
    /// # Errors
    /// Those of [`Mirror::ready`].
    pub async fn content(
        self: &Arc<Self>,
        scope: &Scope,
        at: Timestamp,
    ) -> Result<(Arc<View>, SynapticState), Error> {
        // Its state stays with it, also if it is dropped meanwhile because others need the memory.
        let place = self.places.entry(scope);
        Box::pin(self.ready_at(scope, &place, at)).await?;
        place.held.lock().await.as_ref().and_then(MirroredScope::content).ok_or(Error::Broken)
    }

    /// The live facts of other libraries in the view of a scope, heaviest first at an instant, their ends by their names.
    /// None before the first refresh.
    pub async fn adopted_facts(&self, scope: &Scope, at: Timestamp) -> Vec<Relation> {
        let Some(place) = self.places.get(scope) else { return Vec::new() };
        let held = place.held.lock().await;
        let found = held.as_ref().map(|held| held.relations.adopted(&held.view, at, self.store.fading()));
        found.unwrap_or_default()
    }

    /// Counts of the saves of a scope; `None` if saves are disabled.
    #[must_use]
    pub fn saves(&self, scope: &Scope) -> Option<Saves> {
        self.saving.as_ref().map(|saving| saving.of(scope))
    }

    /// The view of a scope, from its file or loaded as of `at` if there is none yet. In a process that keeps its mirrors, waits for
    /// the load up to a limit; the load goes on without those who wait. A view from a file is as old as it says, until it is refreshed.
    ///
    /// # Errors
    /// [`Error::Refused`] if it is still being loaded; errors of the store.
    pub async fn ready(self: &Arc<Self>, scope: &Scope, at: Timestamp) -> Result<Current, Error> {
        Box::pin(self.ready_at(scope, &self.places.entry(scope), at)).await
    }

    async fn ready_at(
        self: &Arc<Self>,
        scope: &Scope,
        place: &Arc<Place>,
        at: Timestamp,
    ) -> Result<Current, Error> {
        let until = tokio::time::Instant::now() + LOAD_TIMEOUT;
        loop {
            let renewed = place.renewed.notified();
            if let Some(current) = place.published() {
                return Ok(current);
            }
            let still_loading = |_| Refused::Loading { scope: scope.clone() };
            let Some(loading) = place.begin_loading() else {
                tokio::time::timeout_at(until, renewed).await.map_err(still_loading)?;
                continue;
            };
            let load = self.load_first((scope, place), loading, at);
            let loaded = match self.is_kept.load(Ordering::Relaxed) {
                true => tokio::time::timeout_at(until, load).await.map_err(still_loading)?,
                false => load.await,
            };
            if loaded.is_err() {
                self.places.drop_unloaded(scope, place);
            }
            return loaded.and_then(|()| place.published().ok_or(Error::Broken));
        }
    }

    /// The first load of a scope, unless a refresh has done it meanwhile. In a process that keeps its mirrors it goes on if this is
    /// dropped.
    async fn load_first(
        self: &Arc<Self>,
        (scope, place): (&Scope, &Arc<Place>),
        loading: Loading,
        at: Timestamp,
    ) -> Result<(), Error> {
        let begun = self.places.begun_load().await;
        let (this, scope, place) = (Arc::clone(self), scope.clone(), Arc::clone(place));
        let (runtime, span) = (Handle::current(), Span::current());
        let (is_kept, stop) = (self.is_kept.load(Ordering::Relaxed), self.stop.clone());
        let load = move || async move {
            let _ends = (loading, begun);
            let mut held = place.held.lock().await;
            if held.is_some() {
                return Ok(());
            }
            this.restore((&scope, &place), &mut held, at).await;
            if held.is_some() {
                this.woken.notify_one();
                return Ok(());
            }
            this.refresh_held((&scope, &place), &mut held, at, Reading::All).await.map(drop)
        };
        if !is_kept {
            return load().await;
        }
        // On a thread of its own, since its future is not `Send`.
        let load = move || runtime.block_on(stop.run_until_cancelled(load()).instrument(span));
        let loaded = tokio::task::spawn_blocking(load).await.map_err(|_| Error::Broken)?;
        loaded.unwrap_or(Err(Refused::Stopped.into()))
    }

    /// Refreshes the mirror of a scope, with a load the first time; `at` is the present by the laws' clock. The first time
    /// requests are answered from its file meanwhile, if there is one.
    pub async fn refresh(&self, scope: &Scope, at: Timestamp) -> Result<RefreshOutcome, Error> {
        self.refresh_at(scope, &self.places.entry(scope), at).await
    }

    /// The same for one that is to be kept, which does not count as a query. Does nothing for one that was dropped.
    pub async fn refresh_kept(&self, scope: &Scope, at: Timestamp) -> Result<RefreshOutcome, Error> {
        match self.places.get(scope) {
            Some(place) => self.refresh_at(scope, &place, at).await,
            None => Ok(RefreshOutcome::Same),
        }
    }

    async fn refresh_at(&self, scope: &Scope, place: &Place, at: Timestamp) -> Result<RefreshOutcome, Error> {
        let (mut held, mut first) = (place.held.lock().await, None);
        if held.is_none() {
            self.restore((scope, place), &mut held, at).await;
            let is_restored = held.is_some();
            // Requests that wait for the lock get it first.
            drop(held);
            if !is_restored {
                first = self.places.reload(scope).await;
            }
            held = match place.held.try_lock() {
                Ok(held) => held,
                // Another refresh has it, and may wait for this permit.
                Err(_) => {
                    first = None;
                    place.held.lock().await
                }
            };
        }
        // The same if another has loaded it: a reload takes a permit of its own.
        let _first = first.filter(|_| held.is_none());
        self.refresh_held((scope, place), &mut held, at, Reading::All).await
    }

    /// Publishes the state of a scope that was saved last, if it may be used.
    async fn restore(
        &self,
        (scope, place): (&Scope, &Place),
        held: &mut Option<MirroredScope>,
        at: Timestamp,
    ) {
        // Of others no file is renewed.
        let may = held.is_none() && self.is_kept.load(Ordering::Relaxed) && self.places.is_fixed(scope);
        let Some(saving) = self.saving.as_ref().filter(|_| may) else { return };
        let (begun, file) = (Instant::now(), saving.state_file(scope));
        match self.read_state(scope, &file, at).await {
            Ok(None) => {}
            Ok(Some(Restored { held: found, as_of })) => {
                let age = at.millis() - as_of.millis();
                place.is_saved_state.store(true, Ordering::Relaxed);
                place.publish(Some(&found), as_of, ago(age));
                let (nodes, took) = (found.view.graph().node_count(), begun.elapsed());
                info!(%scope, nodes, age_s = age / 1_000, ?took, "answering from the saved state of the mirror");
                *held = Some(found);
            }
            Err(why) => {
                let file = file.display();
                info!(%scope, %file, "the saved state of the mirror is not used: {why}; loading the graph");
            }
        }
    }

    async fn read_state(
        &self,
        scope: &Scope,
        file: &Path,
        at: Timestamp,
    ) -> Result<Option<Restored>, String> {
        let text = |why: &dyn std::fmt::Display| why.to_string();
        let asked = load::asked(&self.store, scope, &self.config.kinds, self.config.expired);
        let asked = asked.map_err(|why| text(&why))?;
        let (config, file) = (Arc::clone(&self.config), file.to_owned());
        let found = tokio::task::spawn_blocking(move || state::find(&file, &config)).await;
        let Some(candidate) = found.map_err(|why| text(&why))?? else { return Ok(None) };
        let database = self.store.database(candidate.newest().as_ref()).await;
        let database = database.map_err(|why| text(&why))?;
        let fading = *self.store.fading();
        let identity = Identity::of(&database, &asked, &self.config, &fading);
        let found = candidate.checked(&identity, &database, at)?;
        let config = Arc::clone(&self.config);
        let built = tokio::task::spawn_blocking(move || found.build(asked, &config, &fading, at)).await;
        built.map_err(|why| text(&why))?.map(Some)
    }

    /// Refreshes the mirror of a scope, then loads it again and compares; the new load replaces it if they differ. This
    /// finds changes of other writers without records.
    pub async fn verify(&self, scope: &Scope, at: Timestamp) -> Result<Difference, Error> {
        let place = self.places.entry(scope);
        let mut held = place.held.lock().await;
        if let Some(known) = held.as_mut() {
            // Also after a failure: a full read is not to be repeated at every refresh.
            known.read = Instant::now();
        }
        self.refresh_held((scope, &place), &mut held, at, Reading::Weighed).await?;
        let (at, looked) = (place.not_before(at), Instant::now());
        let known = held.as_mut().ok_or(Error::Broken)?;
        let next = (known.view.generation().next(), known.density);
        let mut turn = self.turn(scope, known.bytes, true).await?;
        let within = Room { bytes_max: known.bytes_max, turn: &mut turn };
        let mut anew = load::load(&self.store, scope, (&self.config, within), at, next).await?;
        // Changes written meanwhile are no difference: both are refreshed until the mirror finds nothing new.
        for _ in 0..FOLLOWED_MAX {
            refresh::refresh(&self.store, &mut anew, &self.config, at, Reading::All).await?;
            let found = refresh::refresh(&self.store, known, &self.config, at, Reading::All).await?;
            if matches!(found, Refreshed::Anew { is_of_scope: true, .. }) {
                place.forget_questions();
            }
            // Drops the previous generation: there is memory for two only.
            place.publish(Some(&*known), at, looked);
            if !matches!(found, Refreshed::Next | Refreshed::Learned) {
                break;
            }
        }
        let difference =
            compare::compare_with((&known.view, &known.relations), (&anew.view, &anew.relations));
        if !difference.is_none() {
            if known.left_out == 0 && anew.left_out == 0 {
                warn!(%scope, %difference, "the mirror differed from the store and was reloaded");
            } else {
                // Each load repeats the selection of the hottest nodes.
                info!(%scope, %difference, "reloaded the partial mirror");
            }
            *held = Some(anew);
        }
        place.publish(held.as_ref(), at, looked);
        Ok(difference)
    }

    /// Builds the first or the next generation, and publishes it.
    async fn refresh_held(
        &self,
        (scope, place): (&Scope, &Place),
        held: &mut Option<MirroredScope>,
        at: Timestamp,
        reading: Reading,
    ) -> Result<RefreshOutcome, Error> {
        let bytes = held.as_ref().map_or(0, |held| held.bytes);
        let mut turn = self.turn(scope, bytes, held.is_some()).await?;
        let (at, looked) = (place.not_before(at), Instant::now());
        // Before it reads: what a reader asks for meanwhile is read by the next one.
        let was_awaited = reading != Reading::Recent && place.is_awaited.swap(false, Ordering::Relaxed);
        let done = self.advance((scope, place, &mut turn), held, at, reading).await.inspect_err(|_| {
            place.is_awaited.fetch_or(was_awaited, Ordering::Relaxed);
        })?;
        if reading != Reading::Recent || done == RefreshOutcome::Loaded {
            place.is_saved_state.store(false, Ordering::Relaxed);
        }
        // Rows of other libraries are as old as the last reading of all.
        let known = place.published().filter(|known| {
            reading == Reading::Recent && !known.is_recorded && done != RefreshOutcome::Loaded
        });
        let (at, looked) = known.map_or((at, looked), |known| (known.as_of, known.looked));
        place.publish(held.as_ref(), at, looked);
        self.places.trim();
        Ok(done)
    }

    /// The turn to build a generation of a scope that takes so many bytes, 0 if that is not known. One that is held does not
    /// wait long: others are refreshed after it.
    async fn turn(&self, scope: &Scope, bytes: u64, is_held: bool) -> Result<Turn<'_>, Refused> {
        let turn = self.places.turn(scope, bytes);
        if !is_held || !self.is_kept.load(Ordering::Relaxed) {
            return Ok(turn.await);
        }
        let turn = tokio::time::timeout(TURN_TIMEOUT, turn).await;
        turn.map_err(|_| Refused::Loading { scope: scope.clone() })
    }

    async fn advance(
        &self,
        (scope, place, turn): (&Scope, &Place, &mut Turn<'_>),
        held: &mut Option<MirroredScope>,
        at: Timestamp,
        reading: Reading,
    ) -> Result<RefreshOutcome, Error> {
        let bytes_max = self.bytes_max(scope);
        let was_set_back = place.is_set_back.load(Ordering::Relaxed);
        let mut is_deleted = was_set_back;
        let (next, weighed) = match held {
            None => ((Generation::default().next(), Density::default()), at),
            Some(known)
                if reading != Reading::Recent
                    && is_worth_reloading(known.left_out, known.bytes_max, bytes_max) =>
            {
                info!(%scope, why = "more memory is free", "reloading the mirror");
                ((known.view.generation().next(), known.density), at)
            }
            Some(known) if was_set_back => {
                info!(%scope, why = "the database was set back", "reloading the mirror");
                ((known.view.generation().next(), known.density), at)
            }
            Some(known) => match refresh::refresh(&self.store, known, &self.config, at, reading).await? {
                Refreshed::Same => return Ok(RefreshOutcome::Same),
                Refreshed::Next => return Ok(RefreshOutcome::Patched),
                Refreshed::Learned => return Ok(RefreshOutcome::Learned),
                Refreshed::Anew { why, weighed, is_of_scope } => {
                    info!(%scope, why, "reloading the mirror");
                    is_deleted = is_of_scope;
                    ((known.view.generation().next(), known.density), weighed)
                }
            },
        };
        // The first load waits for no other: a request may wait for it.
        let _reload = if held.is_some() { self.places.reload(scope).await } else { None };
        let within = Room { bytes_max, turn };
        let mut anew = load::load(&self.store, scope, (&self.config, within), weighed, next).await?;
        // Applies changes made during the load.
        if let Refreshed::Anew { why, .. } =
            refresh::refresh(&self.store, &mut anew, &self.config, at, Reading::All).await?
        {
            // A load that cannot be followed up counts from its beginning; the next refresh reads the same record
            // again.
            info!(%scope, why, "the mirror will be reloaded at the next refresh");
        }
        if is_deleted {
            place.forget_questions();
        }
        place.is_set_back.store(false, Ordering::Relaxed);
        *held = Some(anew);
        Ok(RefreshOutcome::Loaded)
    }
}

/// An error of the mirror.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operation of the operating system failed.
    #[error("cannot {doing} {}", path.display())]
    File { doing: &'static str, path: PathBuf, source: io::Error },
    /// Another process is saving the same file.
    #[error("{} is being saved by another process; try again later", path.display())]
    Busy { path: PathBuf },
    /// An invalid file.
    #[error("{} cannot be used", path.display())]
    Content { path: PathBuf, source: graph::Error },
    /// Too many queries.
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Data that make no valid graph, or an invalid query.
    #[error(transparent)]
    Engine(#[from] ebb_engine::Error),
    /// A thread panicked.
    #[error("a thread of the mirror panicked; see the log")]
    Broken,
}

impl From<graph::Error> for Error {
    fn from(why: graph::Error) -> Self {
        Self::Engine(why.into())
    }
}

impl Error {
    /// The file that the error concerns, if any: if a failed save concerns the graph, the learned state was not
    /// written.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } | Self::Busy { path } | Self::Content { path, .. } => Some(path),
            _ => None,
        }
    }
}
