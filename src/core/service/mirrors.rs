//! Mirrors: refreshed, verified, their status, and snapshot files.
//!
//! Every process has mirrors of its own and knows no other's, so each publishes the status of its own in the graph.

use super::Service;
use super::recall::{Error, LearnedFile, View, read_file};
use crate::api::recall::{Freshness, Mirror};
use crate::domain::ids::Scope;
use crate::mirror::Current;
use crate::store::{self, ChangeToken};
use ebb_engine::graph::builder::WeightRange;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub use crate::mirror::COMPARE_EVERY;
pub use crate::mirror::compare::Difference;
pub use crate::store::MirrorStatus;

/// Age up to which a view counts as up to date: a server looks for changes once a second.
const UP_TO_DATE: Duration = Duration::from_secs(1);

/// The content of a snapshot file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Contents {
    /// Bytes that it takes in memory.
    pub bytes: usize,
    /// Whether it has a checksum; a file with a wrong one is refused.
    pub checksum: bool,
    /// Nodes.
    pub nodes: usize,
    /// Slots.
    pub slots: usize,
    /// Nodes by kind.
    pub kinds: BTreeMap<String, usize>,
    /// Slots by the type of their relationships.
    pub relations: BTreeMap<String, usize>,
    /// The learned weights, if their file exists beside it.
    pub learned: Option<LearnedFile>,
}

/// Reads a snapshot file, JSON version 3.
pub fn contents_of_file(path: &Path, range: WeightRange) -> Result<Contents, Error> {
    let (view, learned, checksum) = read_file(path, range)?;
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
    Ok(Contents { nodes, slots, kinds, relations, bytes, checksum, learned })
}

impl Service {
    /// The view of a scope for a reader that names a write: one that includes it, if it does within `wait`. Returns whether it
    /// does.
    pub(super) async fn reached(
        &self,
        scope: &Scope,
        (change, wait): (&str, Duration),
    ) -> Result<(Current, bool), Error> {
        let change: ChangeToken = change.parse().map_err(|why| Error::Invalid(format!("at_least: {why}")))?;
        let reached = self.mirror.reach(scope, self.instant(None).await?, (&change, wait)).await?;
        self.mirror.no_room(scope, &reached.0).map_or(Ok(reached), |why| Err(why.into()))
    }

    /// The view of a scope, loaded at the first request. One that is empty for lack of memory is refused.
    pub(super) async fn ready(&self, scope: &Scope) -> Result<Current, Error> {
        let current = match self.mirror.current(scope) {
            Some(current) => current,
            None => self.mirror.ready(scope, self.instant(None).await?).await?,
        };
        self.mirror.no_room(scope, &current).map_or(Ok(current), |why| Err(why.into()))
    }

    /// Why this process cannot answer from a mirror of its configuration, if one is empty for lack of memory.
    #[must_use]
    pub fn no_room(&self) -> Option<String> {
        let scopes = &self.mirror.config().scopes;
        let no_room = |scope| self.mirror.no_room(scope, &self.mirror.status(scope)?);
        scopes.iter().find_map(no_room).map(|why| why.to_string())
    }

    /// Whether a view includes every change of its scope up to about a second ago. Those of other libraries are not recorded, so
    /// nothing is known of them.
    pub(super) fn is_up_to_date(&self, current: &Current) -> bool {
        !current.is_behind() && current.age() < UP_TO_DATE && self.store.mappings().is_empty()
    }

    /// Freshness of an answer that was just computed.
    pub(super) fn freshness(&self, current: &Current) -> Freshness {
        let age = current.age();
        let stale = current.is_behind() || age > self.mirror.config().staleness;
        // Read after the last weight was read.
        let (tick_start, tick_end) = current.ticks();
        Freshness {
            as_of: Some(current.as_of),
            stale_ms: u64::try_from(age.as_millis()).unwrap_or(u64::MAX),
            stale,
            whole: current.is_whole(),
            held_share: current.held_share(),
            tick_start,
            tick_end,
        }
    }

    /// The view of a scope, loaded if there is none.
    pub async fn view(&self, scope: &Scope) -> Result<Arc<View>, Error> {
        Ok(self.ready(scope).await?.view)
    }

    /// Refreshes the mirror of a scope; returns its status.
    pub async fn refresh_mirror(&self, scope: &Scope) -> Result<Mirror, Error> {
        self.mirror.refresh(scope, self.instant(None).await?).await?;
        Ok(self.mirrored(scope))
    }

    /// Refreshes the mirror of a scope, if it is held still; returns its status.
    pub async fn refresh_kept_mirror(&self, scope: &Scope) -> Result<Mirror, Error> {
        self.mirror.refresh_kept(scope, self.instant(None).await?).await?;
        Ok(self.mirrored(scope))
    }

    /// Reads a scope again, replaces its mirror, and returns where that differed.
    pub async fn verify_mirror(&self, scope: &Scope) -> Result<Difference, Error> {
        Ok(self.mirror.verify(scope, self.instant(None).await?).await?)
    }

    /// How long ago all of a scope was last read, to load its mirror or to compare; `None` if never.
    #[must_use]
    pub fn since_read(&self, scope: &Scope) -> Option<Duration> {
        self.mirror.status(scope).map(|current| current.since_read())
    }

    /// The state of the mirror of a scope.
    #[must_use]
    pub fn mirrored(&self, scope: &Scope) -> Mirror {
        let current = self.mirror.status(scope);
        let saves = self.mirror.saves(scope);
        let unloaded = Mirror {
            saved_generation: saves.and_then(|saves| saves.generation),
            save_failures: saves.map_or(0, |saves| saves.failures),
            learned_saves_skipped: saves.map_or(0, |saves| saves.skipped),
            is_saved: saves.is_some(),
            ..Mirror::unloaded(scope.clone())
        };
        let Some(current) = current else { return unloaded };
        let (view, freshness) = (&current.view, self.freshness(&current));
        let skipped = &view.snapshot().skipped;
        Mirror {
            loaded: true,
            generation: Some(view.generation().0),
            as_of: freshness.as_of,
            stale_ms: Some(freshness.stale_ms),
            stale: freshness.stale,
            whole: Some(freshness.whole),
            held_share: Some(freshness.held_share),
            nodes: Some(view.graph().node_count()),
            slots: Some(view.graph().slot_count()),
            bytes: Some(view.bytes().total()),
            tick: Some(freshness.tick_end),
            learned: Some(current.learned),
            skipped: BTreeMap::from([("nodes", skipped.nodes), ("relationships", skipped.relationships)]),
            ..unloaded
        }
    }

    /// The state of each mirror of the configuration.
    #[must_use]
    pub fn mirrors(&self) -> Vec<Mirror> {
        self.mirror.config().scopes.iter().map(|scope| self.mirrored(scope)).collect()
    }

    /// Number of the scopes that this process holds besides because they were queried, and the bytes that these take.
    #[must_use]
    pub fn mirrors_on_demand(&self) -> (usize, u64) {
        self.mirror.on_demand()
    }

    /// The mirrors on demand that need a refresh: see [`Mirror::sweep`](crate::mirror::Mirror::sweep).
    pub async fn sweep_mirrors(&self) -> Result<Vec<Scope>, Error> {
        Ok(self.mirror.sweep(self.instant(None).await?).await?)
    }

    /// Interval at which mirrors are refreshed.
    #[must_use]
    pub fn refresh_every(&self) -> Duration {
        self.mirror.config().refresh
    }

    /// Publishes the status of a mirror in the graph, if it was loaded.
    pub async fn publish_mirror(&self, mirror: &Mirror) -> Result<(), store::Error> {
        let Mirror { generation: Some(generation), nodes: Some(nodes), .. } = *mirror else { return Ok(()) };
        let config = self.mirror.config();
        let whole = |number: u128| i64::try_from(number).unwrap_or(i64::MAX);
        let status = MirrorStatus {
            scope: mirror.scope.to_string(),
            process: self.store.holder().to_owned(),
            age_ms: 0,
            stale: false,
            generation: whole(generation.into()),
            nodes: whole(nodes as u128),
            slots: whole(mirror.slots.unwrap_or_default() as u128),
            bytes: whole(mirror.bytes.unwrap_or_default() as u128),
            tick: whole(mirror.tick.unwrap_or_default().into()),
            learned: whole(mirror.learned.unwrap_or_default() as u128),
            whole: mirror.whole == Some(true),
            held_share: mirror.held_share.unwrap_or_default(),
            refresh_ms: whole(config.refresh.as_millis()),
            stale_ms: whole(config.staleness.as_millis()),
        };
        self.store.publish_mirror(&status).await
    }

    /// Deletes the published status, before this process ends.
    pub async fn clear_mirrors(&self) -> Result<(), store::Error> {
        self.store.clear_mirrors(&self.mirror.config().scopes).await
    }

    /// The published status of the mirrors of all processes.
    pub async fn mirrors_status(&self) -> Result<Vec<MirrorStatus>, store::Error> {
        self.store.mirrors_status().await
    }

    /// States that this process refreshes its mirrors at their interval: see [`Mirror::keep`](crate::mirror::Mirror::keep).
    pub fn keep_mirrors(&self) {
        self.mirror.keep();
    }

    /// Ends first loads, before this process ends.
    pub fn stop_loads(&self) {
        self.mirror.stop();
    }

    /// Waits until a mirror may need a refresh: see [`Mirror::woken`](crate::mirror::Mirror::woken).
    pub async fn mirrors_woken(&self) {
        self.mirror.woken().await;
    }

    /// Waits until a reader waits for a write: see [`Mirror::wanted`](crate::mirror::Mirror::wanted).
    pub async fn mirrors_wanted(&self) {
        self.mirror.wanted().await;
    }

    /// Whether a reader waits for a write.
    #[must_use]
    pub fn mirrors_are_awaited(&self) -> bool {
        self.mirror.is_awaited()
    }

    /// Whether a reader waits for a write in a scope.
    #[must_use]
    pub fn mirror_is_awaited(&self, scope: &Scope) -> bool {
        self.mirror.is_awaited_in(scope)
    }

    /// The mirrors that lack a recent change.
    pub async fn outdated_mirrors(&self) -> Result<Vec<Scope>, Error> {
        Ok(self.mirror.outdated(self.instant(None).await?).await?)
    }

    /// Applies recent changes to the mirror of a scope.
    pub async fn catch_up_mirror(&self, scope: &Scope) -> Result<(), Error> {
        self.mirror.catch_up(scope, self.instant(None).await?).await?;
        Ok(())
    }

    /// Saves the states of the mirrors, before this process ends.
    pub async fn save_mirror_states(&self) {
        self.mirror.save_states().await;
    }

    /// Makes the mirrors of all processes read the graph again at their next refresh: for changes of other writers,
    /// which are not recorded.
    pub async fn refresh_all_mirrors(&self) -> Result<(), store::Error> {
        self.store.record_full_change().await
    }
}
