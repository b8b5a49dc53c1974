//! The hot part of each scope, held in memory; the store remains the source of truth.
//!
//! | | |
//! |---|---|
//! | [`hot`] | who is in it when not all fits |
//! | `load` | all of it from nothing |
//! | `refresh` | what changed since |
//! | [`learned`] | what outcomes taught, and the weights that say so |
//! | [`near`] | the part of a scope that a learner needs |
//! | [`compare`] | whether it is what a load would make |
//! | [`compute`] | how it is asked: one view, one permit, one thread |
//! | [`persist`] | graphs and what was learned on them, as files |
//! | [`saving`] | files that follow the mirror, in the background |
//!
//! A mirror of a scope is a [`View`] that nobody changes, and what is needed to make the next one. Whoever asks takes the view
//! there is and keeps it; the one who refreshes makes another beside it and puts it in its place. So an answer is of one
//! generation, whatever happens meanwhile, and says which, and how old it is. What is learned without any other change moves
//! weights in the view that there is: an answer says how many outcomes had been learned when it was begun and when it was done.

pub mod compare;
pub mod compute;
mod content;
pub mod hot;
pub mod learned;
mod load;
pub mod near;
pub mod persist;
mod refresh;
pub mod saving;

use crate::domain::ids::Scope;
use crate::domain::units::Timestamp;
use crate::store::{self, MirrorQuery, Store};
use compare::Difference;
use compute::{Refused, WAIT_TIMEOUT};
use content::{Names, Relations};
use ebb_engine::View;
use ebb_engine::graph;
use ebb_engine::graph::builder::WeightRange;
use ebb_engine::graph::codec::plasticity::SynapticState;
use ebb_engine::graph::index::Generation;
use ebb_engine::graph::kinds::Kinds;
use ebb_engine::plasticity::{PlasticityConfig, Synapses};
use hot::Density;
pub use near::Learning;
use refresh::Refreshed;
use saving::{Saves, Saving};
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tracing::{info, warn};

/// How often what is compared follows writers who do not rest.
const FOLLOWED_MAX: usize = 10;

/// The settings of a mirror.
#[derive(Debug, Clone)]
pub struct Config {
    /// Bytes that all scopes together may take at their peak: see [`hot`].
    pub max_bytes: u64,
    /// Whether expired memories are in it, after all others.
    pub expired: bool,
    /// Time from one refresh to the next.
    pub refresh: Duration,
    /// From this age on an answer says that it is stale.
    pub staleness: Duration,
    /// Whose memories are mirrored.
    pub scopes: Vec<Scope>,
    /// Connections over which it is loaded.
    pub connections: usize,
    /// What relationships are and how they conduct.
    pub kinds: Kinds,
    /// Between what effective weights lie.
    pub range: WeightRange,
    /// How fast is learned and forgotten: as whoever learns has it.
    pub rules: PlasticityConfig,
    /// Where its graphs are saved as questions are asked, if they are.
    pub saves: Option<saving::Config>,
}

impl Config {
    /// Bytes that one scope may take at its peak: see [`hot`].
    fn bytes_each(&self) -> u64 {
        self.max_bytes / (self.scopes.len().max(1) as u64)
    }

    /// What a learner goes by whose lessons these mirrors hear.
    #[must_use]
    pub fn learning(&self) -> Learning {
        Learning { kinds: self.kinds.clone(), range: self.range, expired: self.expired, rules: self.rules }
    }
}

/// The mirrored state of a scope, from which the next generation is made.
struct MirroredScope {
    asked: MirrorQuery,
    view: Arc<View>,
    /// What was learned on its graph.
    synapses: Synapses,
    relations: Relations,
    names: Names,
    /// How many nodes may be mirrored and are not, when all of the scope was last read.
    left_out: u64,
    /// What the scope takes at its peak.
    bytes: u64,
    /// What its nodes really cost.
    density: Density,
    /// When all of the scope was last read, into it or beside it.
    read: Instant,
    /// Up to when changes are heeded, by the server's clock.
    seen: Timestamp,
    /// Words of changes near that instant that are heeded.
    applied: HashSet<String>,
}

/// A view, and how current it is.
#[derive(Debug, Clone)]
pub struct Current {
    /// What can be asked.
    pub view: Arc<View>,
    /// The instant up to which the store was seen, by the laws' clock.
    pub as_of: Timestamp,
    /// When that was, on this machine.
    looked: Instant,
    /// When all of the scope was last read, on this machine.
    read: Instant,
    /// How many nodes may be mirrored and are not in it.
    left_out: u64,
    /// For how many of its slots something was learned.
    pub learned: usize,
    /// How many outcomes its weights had learned when this was taken.
    tick: u64,
}

impl Current {
    /// Whether everything that may be mirrored is in it.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.left_out == 0
    }

    /// Nodes in it divided by nodes that may be mirrored, 1 where it is whole.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of nodes")]
    pub fn held_share(&self) -> f64 {
        let held = self.view.graph().node_count() as f64;
        if self.is_whole() { 1.0 } else { held / (held + self.left_out as f64) }
    }

    /// How long ago the store was last seen.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.looked.elapsed()
    }

    /// How many outcomes its weights had learned when this was taken, and how many they have learned or are learning now: equal
    /// where no weight has moved meanwhile.
    #[must_use]
    pub fn ticks(&self) -> (u64, u64) {
        (self.tick, self.view.ticks().at_end())
    }

    /// How long ago all of the scope was last read, to load it or to compare.
    #[must_use]
    pub fn since_read(&self) -> Duration {
        self.read.elapsed()
    }
}

/// The outcome of a refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshOutcome {
    /// It was read whole.
    Loaded,
    /// What changed was merged in.
    Patched,
    /// Nothing had changed but what was learned.
    Learned,
    /// Nothing had changed.
    Same,
}

/// One scope's place: the view that is asked, and the one writer that makes the next.
struct Place {
    current: RwLock<Option<Current>>,
    held: tokio::sync::Mutex<Option<MirroredScope>>,
}

impl Place {
    fn published(&self) -> Option<Current> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner).clone()?;
        // Asked before any weight is read.
        let tick = current.view.ticks().at_start();
        Some(Current { tick, ..current })
    }

    /// What there is to save: a view, and what was learned on its graph. Waits for whoever refreshes, on a thread that may.
    fn content(&self) -> Option<(Arc<View>, SynapticState)> {
        self.held.blocking_lock().as_ref().and_then(MirroredScope::content)
    }

    /// The later of an instant and the one that is published: who asked first may have the lock last.
    fn not_before(&self, at: Timestamp) -> Timestamp {
        self.published().map_or(at, |current| at.max(current.as_of))
    }

    fn publish(&self, held: Option<&MirroredScope>, as_of: Timestamp, looked: Instant) {
        let current = held.map(|held| Current {
            view: Arc::clone(&held.view),
            as_of,
            looked,
            read: held.read,
            left_out: held.left_out,
            learned: held.synapses.len(),
            tick: held.synapses.ticks(),
        });
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = current;
    }
}

impl MirroredScope {
    /// Its view, and what was learned on its graph.
    fn content(&self) -> Option<(Arc<View>, SynapticState)> {
        let learned = self.synapses.export(self.view.graph()).ok()?;
        Some((Arc::clone(&self.view), learned))
    }
}

/// The mirrors of a process.
pub struct Mirror {
    store: Arc<Store>,
    config: Config,
    places: BTreeMap<Scope, Arc<Place>>,
    saving: Option<Saving>,
}

impl Mirror {
    /// Of the scopes of the configuration; nothing is read before the first refresh.
    #[must_use]
    pub fn new(store: Arc<Store>, config: Config) -> Self {
        let place = || Place { current: RwLock::new(None), held: tokio::sync::Mutex::new(None) };
        let places = config.scopes.iter().map(|scope| (scope.clone(), Arc::new(place()))).collect();
        let saving = config.saves.clone().map(|saves| Saving::new(saves, &config.scopes));
        Self { store, config, places, saving }
    }

    /// What it goes by.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The view of a scope that there is; `None` before the first refresh.
    pub fn current(&self, scope: &Scope) -> Result<Option<Current>, Error> {
        Ok(self.place(scope)?.published())
    }

    /// Why the mirror of a scope answers nothing, if it is empty for want of room. An empty scope is no such mirror.
    #[must_use]
    pub fn no_room(&self, scope: &Scope) -> Option<Refused> {
        let current = self.places.get(scope)?.published()?;
        let is_empty = !current.is_whole() && current.view.graph().node_count() == 0;
        is_empty.then(|| Refused::NoRoom {
            scope: scope.clone(),
            nodes: current.left_out,
            bytes: self.config.bytes_each(),
        })
    }

    /// Notes that a view answered a recall: every so many of them its graph is saved with what was learned on it, in the
    /// background.
    pub fn recalled(&self, scope: &Scope, view: &View) {
        if let (Some(saving), Some(place)) = (&self.saving, self.places.get(scope)) {
            let place = Arc::clone(place);
            saving.recalled(scope, view, move || place.content());
        }
    }

    /// The view of a scope, and what was learned on its graph; `None` before the first refresh.
    pub async fn content(&self, scope: &Scope) -> Result<Option<(Arc<View>, SynapticState)>, Error> {
        Ok(self.place(scope)?.held.lock().await.as_ref().and_then(MirroredScope::content))
    }

    /// How saves of a scope went; `None` where nothing is saved.
    #[must_use]
    pub fn saves(&self, scope: &Scope) -> Option<Saves> {
        self.saving.as_ref().map(|saving| saving.of(scope))
    }

    /// The view of a scope, loaded as it is at `at` if there is none yet. For somebody else's load
    /// this waits, though not for long.
    ///
    /// # Errors
    /// [`Error::Scope`]; [`Error::Refused`] if it is still being loaded; of the store.
    pub async fn ready(&self, scope: &Scope, at: Timestamp) -> Result<Current, Error> {
        let place = self.place(scope)?;
        if let Some(current) = place.published() {
            return Ok(current);
        }
        let waiting = tokio::time::timeout(WAIT_TIMEOUT, place.held.lock());
        let mut held = waiting.await.map_err(|_| Refused::Loading { scope: scope.clone() })?;
        // Whoever had the lock before may have loaded it.
        if let Some(current) = place.published() {
            return Ok(current);
        }
        self.refresh_held((scope, place), &mut held, at, false).await?;
        place.published().ok_or(Error::Broken)
    }

    /// Brings the mirror of a scope up to date, loading it the first time; `at` is the present by the laws'
    /// clock.
    pub async fn refresh(&self, scope: &Scope, at: Timestamp) -> Result<RefreshOutcome, Error> {
        let place = self.place(scope)?;
        let mut held = place.held.lock().await;
        self.refresh_held((scope, place), &mut held, at, false).await
    }

    /// Brings the mirror of a scope up to date, then reads it anew and compares; what was read anew takes its place if they
    /// differ. Whatever other writers changed without leaving word is found so.
    pub async fn verify(&self, scope: &Scope, at: Timestamp) -> Result<Difference, Error> {
        let place = self.place(scope)?;
        let mut held = place.held.lock().await;
        if let Some(known) = held.as_mut() {
            // Even if it fails: what reads everything is not to be tried again at every look.
            known.read = Instant::now();
        }
        self.refresh_held((scope, place), &mut held, at, true).await?;
        let (at, looked) = (place.not_before(at), Instant::now());
        let known = held.as_mut().ok_or(Error::Broken)?;
        let next = (known.view.generation().next(), known.density);
        let mut anew = load::load(&self.store, scope, &self.config, at, next).await?;
        // What was written meanwhile is no difference: both follow, until the mirror finds nothing new.
        for _ in 0..FOLLOWED_MAX {
            refresh::refresh(&self.store, &mut anew, &self.config, at, false).await?;
            let found = refresh::refresh(&self.store, known, &self.config, at, false).await?;
            // The generation before is let go: there is room for two beside each other, and no more.
            place.publish(Some(&*known), at, looked);
            if !matches!(found, Refreshed::Next | Refreshed::Learned) {
                break;
            }
        }
        let difference = compare::compare(known.view.graph(), anew.view.graph());
        if !difference.is_none() {
            if known.left_out == 0 && anew.left_out == 0 {
                warn!(%scope, %difference, "the mirror differed from the store and was reloaded");
            } else {
                // What is hot enough to be in it is chosen anew by each load.
                info!(%scope, %difference, "reloaded the partial mirror");
            }
            *held = Some(anew);
        }
        place.publish(held.as_ref(), at, looked);
        Ok(difference)
    }

    /// Makes the first generation or the next, and puts it where it is asked.
    async fn refresh_held(
        &self,
        (scope, place): (&Scope, &Place),
        held: &mut Option<MirroredScope>,
        at: Timestamp,
        weigh: bool,
    ) -> Result<RefreshOutcome, Error> {
        let (at, looked) = (place.not_before(at), Instant::now());
        let done = self.advance(scope, held, at, weigh).await?;
        place.publish(held.as_ref(), at, looked);
        Ok(done)
    }

    async fn advance(
        &self,
        scope: &Scope,
        held: &mut Option<MirroredScope>,
        at: Timestamp,
        weigh: bool,
    ) -> Result<RefreshOutcome, Error> {
        let next = match held {
            None => (Generation::default().next(), Density::default()),
            Some(known) => match refresh::refresh(&self.store, known, &self.config, at, weigh).await? {
                Refreshed::Same => return Ok(RefreshOutcome::Same),
                Refreshed::Next => return Ok(RefreshOutcome::Patched),
                Refreshed::Learned => return Ok(RefreshOutcome::Learned),
                Refreshed::Anew(why) => {
                    info!(%scope, why, "reloading the mirror");
                    (known.view.generation().next(), known.density)
                }
            },
        };
        let mut anew = load::load(&self.store, scope, &self.config, at, next).await?;
        // What changed while it was read.
        if let Refreshed::Anew(why) =
            refresh::refresh(&self.store, &mut anew, &self.config, at, false).await?
        {
            // A load that cannot be followed up counts from where it began; the next look sees the same word again.
            info!(%scope, why, "the mirror will be reloaded at the next refresh");
        }
        *held = Some(anew);
        Ok(RefreshOutcome::Loaded)
    }

    fn place(&self, scope: &Scope) -> Result<&Place, Error> {
        self.places.get(scope).map(Arc::as_ref).ok_or_else(|| Error::Scope { scope: scope.clone() })
    }
}

/// An error of the mirror.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused something.
    #[error("cannot {doing} {}", path.display())]
    File { doing: &'static str, path: PathBuf, source: io::Error },
    /// Somebody else is saving the same file.
    #[error("{} is being saved by another process; try again later", path.display())]
    Busy { path: PathBuf },
    /// A file is none of its kind.
    #[error("{} cannot be used", path.display())]
    Content { path: PathBuf, source: graph::Error },
    /// A scope of which this process holds nothing.
    #[error("the scope {scope} is not mirrored here; name it in mirror.scopes")]
    Scope { scope: Scope },
    /// Too much is asked at once.
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    Store(#[from] store::Error),
    /// What was read makes no graph, or what was asked no question.
    #[error(transparent)]
    Engine(#[from] ebb_engine::Error),
    /// A thread ended before its work did.
    #[error("a thread of the mirror panicked; see the log")]
    Broken,
}

impl From<graph::Error> for Error {
    fn from(why: graph::Error) -> Self {
        Self::Engine(why.into())
    }
}

impl Error {
    /// The file that it is about, if it is about one: if a save failed and this is the graph's, what was learned was left
    /// alone.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } | Self::Busy { path } | Self::Content { path, .. } => Some(path),
            _ => None,
        }
    }
}
