//! What is held in memory of the graph: kept current, told to whoever asks how things stand, compared, looked at in files.
//!
//! Every process has mirrors of its own and knows of no other's, so each leaves word in the graph of what it holds.

use super::Service;
use super::recall::{Error, Freshness, LearnedFile, View, read_file};
use crate::domain::ids::Scope;
use crate::mirror::Current;
use crate::store::{self, MirrorReport};
use ebb_engine::graph::builder::WeightRange;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub use crate::mirror::compare::Difference;
pub use crate::mirror::saving::Saves;
pub use crate::store::MirrorStatus;

/// What a mirror holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// Whose.
    pub scope: Scope,
    /// Its state; `None` before it was loaded.
    pub state: Option<State>,
    /// How saves of it went; `None` where nothing is saved.
    pub saves: Option<Saves>,
}

/// The state of a mirror.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct State {
    /// How current it is.
    pub freshness: Freshness,
    /// Which generation.
    pub generation: u64,
    /// Nodes.
    pub nodes: usize,
    /// Slots.
    pub slots: usize,
    /// Bytes, without what is kept for the next generation.
    pub bytes: usize,
    /// For how many slots something was learned.
    pub learned: usize,
    /// Nodes and relationships that the store has and the graph cannot hold.
    pub skipped: (u64, u64),
}

/// What a snapshot file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// Nodes.
    pub nodes: usize,
    /// Slots.
    pub slots: usize,
    /// Nodes by what they are.
    pub kinds: BTreeMap<String, usize>,
    /// Slots by the type of their relationships.
    pub relations: BTreeMap<String, usize>,
    /// Bytes that it takes in memory, ready to be asked.
    pub bytes: usize,
    /// Whether it has a checksum, which is right then.
    pub summed: bool,
    /// What was learned on it, if that stands beside it.
    pub learned: Option<LearnedFile>,
}

/// Reads a snapshot file, JSON version 3, and says what it holds.
///
/// # Errors
/// As [`super::recall::view_of_file`].
pub fn contents_of_file(path: &Path, range: WeightRange) -> Result<Contents, Error> {
    let (view, learned, summed) = read_file(path, range)?;
    let graph = view.graph();
    let (mut kinds, mut relations) = (BTreeMap::<String, usize>::new(), BTreeMap::<String, usize>::new());
    for node in graph.nodes() {
        *kinds.entry(view.kind(node).into_owned()).or_default() += 1;
        for slot in graph.slots(node) {
            let relation = graph.relation(slot);
            if let Some(count) = relations.get_mut(relation) {
                *count += 1;
            } else {
                relations.insert(relation.to_owned(), 1);
            }
        }
    }
    let (nodes, slots, bytes) = (graph.node_count(), graph.slot_count(), view.bytes().total());
    Ok(Contents { nodes, slots, kinds, relations, bytes, summed, learned })
}

impl Service {
    /// The view of a scope, loaded for the first who asks. One that is empty for want of room answers nothing.
    pub(super) async fn ready(&self, scope: &Scope) -> Result<Current, Error> {
        let current = match self.mirror.current(scope)? {
            Some(current) => current,
            None => self.mirror.ready(scope, self.instant(None).await?).await?,
        };
        self.mirror.no_room(scope).map_or(Ok(current), |why| Err(why.into()))
    }

    /// Why this process cannot answer from a mirror, if one is empty for want of room.
    #[must_use]
    pub fn no_room(&self) -> Option<String> {
        let scopes = &self.mirror.config().scopes;
        scopes.iter().find_map(|scope| self.mirror.no_room(scope)).map(|why| why.to_string())
    }

    /// How current an answer is that has just been found.
    pub(super) fn freshness(&self, current: &Current) -> Freshness {
        let age = current.age();
        let stale = age > self.mirror.config().staleness;
        // Asked after the last weight was read.
        let (tick_start, tick_end) = current.ticks();
        Freshness {
            as_of: Some(current.as_of),
            age,
            stale,
            whole: current.is_whole(),
            held_share: current.held_share(),
            tick_start,
            tick_end,
        }
    }

    /// The view of a scope, loaded if there is none.
    ///
    /// # Errors
    /// As [`Self::refresh_mirror`].
    pub async fn view(&self, scope: &Scope) -> Result<Arc<View>, Error> {
        Ok(self.ready(scope).await?.view)
    }

    /// Brings the mirror of a scope up to date; answers what it holds then.
    ///
    /// # Errors
    /// [`Error::NotMirrored`] for a scope that is not mirrored here; of the store.
    pub async fn refresh_mirror(&self, scope: &Scope) -> Result<Held, Error> {
        self.mirror.refresh(scope, self.instant(None).await?).await?;
        self.mirrored(scope)
    }

    /// Reads a scope anew and says where its mirror differed; what was read takes its place.
    ///
    /// # Errors
    /// As [`Self::refresh_mirror`].
    pub async fn verify_mirror(&self, scope: &Scope) -> Result<Difference, Error> {
        Ok(self.mirror.verify(scope, self.instant(None).await?).await?)
    }

    /// How long ago all of a scope was last read, to load its mirror or to compare; `None` before that.
    ///
    /// # Errors
    /// [`Error::NotMirrored`] for a scope that is not mirrored here.
    pub fn since_read(&self, scope: &Scope) -> Result<Option<Duration>, Error> {
        Ok(self.mirror.current(scope)?.map(|current| current.since_read()))
    }

    /// What the mirror of a scope holds.
    ///
    /// # Errors
    /// [`Error::NotMirrored`] for a scope that is not mirrored here.
    pub fn mirrored(&self, scope: &Scope) -> Result<Held, Error> {
        let current = self.mirror.current(scope)?;
        let state = current.map(|current| {
            let (view, snapshot) = (&current.view, current.view.snapshot());
            State {
                freshness: self.freshness(&current),
                generation: view.generation().0,
                nodes: view.graph().node_count(),
                slots: view.graph().slot_count(),
                bytes: view.bytes().total(),
                learned: current.learned,
                skipped: (snapshot.skipped.nodes, snapshot.skipped.relationships),
            }
        });
        Ok(Held { scope: scope.clone(), state, saves: self.mirror.saves(scope) })
    }

    /// What every mirror of this process holds.
    #[must_use]
    pub fn mirrors(&self) -> Vec<Held> {
        let scopes = self.mirror.config().scopes.iter();
        scopes.filter_map(|scope| self.mirrored(scope).ok()).collect()
    }

    /// How often mirrors are to be brought up to date.
    #[must_use]
    pub fn refresh_every(&self) -> Duration {
        self.mirror.config().refresh
    }

    /// Leaves word in the graph of what is held, if it was loaded.
    pub async fn publish_mirror(&self, held: &Held) -> Result<(), store::Error> {
        let Some(state) = held.state else { return Ok(()) };
        let config = self.mirror.config();
        let holding = MirrorReport {
            scope: held.scope.clone(),
            generation: state.generation,
            nodes: state.nodes,
            slots: state.slots,
            bytes: state.bytes,
            tick: state.freshness.tick_end,
            learned: state.learned,
            whole: state.freshness.whole,
            held_share: state.freshness.held_share,
            refresh: config.refresh,
            staleness: config.staleness,
        };
        self.store.publish_mirror(&holding).await
    }

    /// Takes away the word of what is held: this process is about to end.
    pub async fn clear_mirrors(&self) -> Result<(), store::Error> {
        self.store.clear_mirrors(&self.mirror.config().scopes).await
    }

    /// What all processes say that they hold.
    pub async fn mirrors_status(&self) -> Result<Vec<MirrorStatus>, store::Error> {
        self.store.mirrors_status().await
    }

    /// Has the mirrors of all processes read the graph anew at their next look: for what other writers changed, who leave no
    /// word.
    pub async fn refresh_all_mirrors(&self) -> Result<(), store::Error> {
        self.store.leave_word_of_everything().await
    }
}
