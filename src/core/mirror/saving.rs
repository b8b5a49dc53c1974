//! Automatic saves: after a number of recalls of a scope its graph is saved to a file, and its learned weights to
//! another, in the background, for inspection, and for queries without a database; last the state (`mirror/state.rs`), from
//! which a restart answers. At the end of the process the state alone is saved, which is fast.
//!
//! A save never delays a query: each scope has a thread of its own for saves, and a save that is due while another is
//! running is skipped. So is one of a generation that was saved already, unless more was learned on it: then that alone
//! is written. A failed save is logged and counted; the files are unchanged, as described in
//! [`persist`](super::persist), also if the process ends during the save. If the graph cannot be saved, its learned
//! state is not saved either, which is counted too; neither is the state.
//!
//! # Design notes
//! Several processes may share a folder. If another process is saving the same file, a save is skipped, which is no
//! failure: both have the same graph to save.
//!
//! The content of a save is taken on its thread, under the lock of the refresh, so graph and weights are consistent.
//! Nothing is written under that lock.
//!
//! Invariants: no two scopes have one file, whatever their names and however the system treats file names (held by
//! `a_scope_has_a_file_of_its_own`); a file contains a whole graph (held by
//! `surfaces::mirrors::a_kill_while_saving_leaves_a_file_that_loads`).

use super::Error;
use super::persist::{Files, replace};
use super::state::State;
use crate::domain::ids::Scope;
use ebb_engine::View;
use ebb_engine::graph::codec::plasticity::{self, SynapticState};
use ebb_files::{earlier_partial, partial};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Instant;
use tracing::{debug, info, warn};
use xxhash_rust::xxh3::xxh3_64;

/// A longer file name is cut and gets a hash of the whole: systems allow 255 bytes.
const NAME_BYTES_MAX: usize = 200;

/// Settings of automatic saves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Folder; created if it does not exist.
    pub folder: PathBuf,
    /// Recalls of a scope between two saves; 0 saves nothing, and only removes the files of deleted scopes.
    pub every: u64,
}

/// Counts of the saves of a scope since the process started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Saves {
    /// Generation that was saved last; `None` before the first.
    pub generation: Option<u64>,
    pub failures: u64,
    /// Number of skipped saves of the learned state, because its graph could not be saved.
    pub skipped: u64,
}

/// Content of a save.
pub(super) struct Content {
    pub(super) view: Arc<View>,
    /// Learned state of its graph.
    pub(super) learned: SynapticState,
    pub(super) state: Option<State>,
}

/// Saves of all scopes.
pub(super) struct Saving {
    config: Config,
    of: BTreeMap<Scope, Arc<Place>>,
}

/// Saves of one scope.
#[derive(Default)]
struct Place {
    recalls: AtomicU64,
    /// 0 before the first save: generations begin with 1.
    generation: AtomicU64,
    /// Tick of the saved learned state.
    tick: AtomicU64,
    failures: AtomicU64,
    skipped: AtomicU64,
    at_work: Mutex<()>,
}

impl Saving {
    pub(super) fn new(config: Config, scopes: &[Scope]) -> Self {
        Self { config, of: scopes.iter().map(|scope| (scope.clone(), Arc::default())).collect() }
    }

    /// Counts a recall of a view, and if a save is due, saves the present `content`. Needs a runtime.
    pub(super) fn recalled(
        &self,
        scope: &Scope,
        view: &View,
        content: impl FnOnce() -> Result<Option<Content>, Error> + Send + 'static,
    ) {
        let Some(place) = self.of.get(scope) else { return };
        let recalls = place.recalls.fetch_add(1, Ordering::Relaxed) + 1;
        let saved = (place.generation.load(Ordering::Relaxed), place.tick.load(Ordering::Relaxed));
        if !recalls.is_multiple_of(self.config.every.max(1))
            || saved == (view.generation().0, view.ticks().at_start())
        {
            return;
        }
        let files = self.files(scope);
        let (place, scope) = (Arc::clone(place), scope.clone());
        // Not awaited: a process that ends meanwhile leaves the old files.
        drop(tokio::task::spawn_blocking(move || place.save(&scope, &files, Parts::All, content)));
    }

    /// Saves the state of a scope, for the next start.
    pub(super) async fn save_state(
        &self,
        scope: &Scope,
        content: impl FnOnce() -> Result<Option<Content>, Error> + Send + 'static,
    ) {
        let Some(place) = self.of.get(scope).map(Arc::clone) else { return };
        let (files, scope) = (self.files(scope), scope.clone());
        let saved =
            tokio::task::spawn_blocking(move || place.save(&scope, &files, Parts::State, content)).await;
        if let Err(why) = saved {
            warn!(%why, "a thread that saved a mirror panicked");
        }
    }

    fn files(&self, scope: &Scope) -> Files {
        Files::beside(self.config.folder.join(file_name(scope)))
    }

    /// Removes the files of a scope, whether it is saved by this configuration or was by an earlier one.
    pub(super) fn remove(&self, scope: &Scope) -> Result<(), Error> {
        let files = self.files(scope);
        let place = self.of.get(scope);
        // A save in progress would bring them back.
        let _idle = place.map(|place| place.at_work.lock().unwrap_or_else(PoisonError::into_inner));
        for counter in place.iter().flat_map(|place| [&place.generation, &place.tick]) {
            counter.store(0, Ordering::Relaxed);
        }
        // A save that was killed leaves the new file beside the old one.
        let files = [state_of(&files), files.graph, files.learned];
        for path in files.into_iter().flat_map(|path| [partial(&path), earlier_partial(&path), path]) {
            match std::fs::remove_file(&path) {
                Err(source) if source.kind() != ErrorKind::NotFound => {
                    return Err(Error::File { doing: "remove", path, source });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The file of the state of a scope.
    pub(super) fn state_file(&self, scope: &Scope) -> PathBuf {
        state_of(&self.files(scope))
    }

    pub(super) fn of(&self, scope: &Scope) -> Saves {
        self.of.get(scope).map_or_else(Saves::default, |place| {
            let generation = place.generation.load(Ordering::Relaxed);
            Saves {
                generation: (generation > 0).then_some(generation),
                failures: place.failures.load(Ordering::Acquire),
                skipped: place.skipped.load(Ordering::Relaxed),
            }
        })
    }
}

/// What a save writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parts {
    All,
    State,
}

/// The file of the state beside a pair.
fn state_of(files: &Files) -> PathBuf {
    files.graph.with_extension("state")
}

impl Place {
    fn save(
        &self,
        scope: &Scope,
        files: &Files,
        parts: Parts,
        content: impl FnOnce() -> Result<Option<Content>, Error>,
    ) {
        let _held = match self.at_work.try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(fallen)) => fallen.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let begun = Instant::now();
        let content = match content() {
            Ok(None) => return,
            Ok(Some(content)) => content,
            Err(why) => {
                self.failures.fetch_add(1, Ordering::Release);
                warn!(%scope, %why, "the mirror could not be saved; its files are unchanged");
                return;
            }
        };
        let (generation, tick) = (content.view.generation().0, content.learned.tick);
        let is_saved = self.generation.load(Ordering::Relaxed) == generation;
        match save(files, parts, !is_saved, &content) {
            Ok(()) if parts == Parts::State => {
                info!(%scope, generation, tick, took = ?begun.elapsed(), "the state of the mirror was saved for the next start");
            }
            Ok(()) => {
                self.generation.store(generation, Ordering::Relaxed);
                self.tick.store(tick, Ordering::Relaxed);
                info!(%scope, generation, tick, file = %files.graph.display(), took = ?begun.elapsed(), "the mirror was saved");
            }
            Err(why @ Error::Busy { .. }) => debug!(%scope, %why, "the mirror is saved by another process"),
            Err(why) => {
                let is_of_graph = why.path() != Some(&files.learned) && why.path() != Some(&state_of(files));
                if parts == Parts::All && is_of_graph {
                    self.skipped.fetch_add(1, Ordering::Relaxed);
                }
                // Last: a reader that sees it also sees the other.
                self.failures.fetch_add(1, Ordering::Release);
                let cause = std::error::Error::source(&why).map(ToString::to_string).unwrap_or_default();
                warn!(%scope, generation, %why, cause, "the mirror could not be saved; its file is unchanged");
            }
        }
    }
}

fn save(files: &Files, parts: Parts, with_graph: bool, content: &Content) -> Result<(), Error> {
    let Content { view, learned, state } = content;
    if let Some(folder) = files.graph.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|source| Error::File { doing: "make the folder", path: folder.to_owned(), source })?;
    }
    if parts == Parts::All {
        let graph = with_graph.then(|| view.snapshot());
        files.save(graph, |into| plasticity::write(learned, into))?;
    }
    match state {
        Some(state) => replace(&state_of(files), |into| state.write(into)),
        None => Ok(()),
    }
}

/// File name of a scope: lower-case letters and digits unchanged, all else by its bytes, since a scope may contain path
/// separators, and some systems ignore case.
fn file_name(scope: &Scope) -> String {
    let mut name = String::new();
    for byte in scope.as_str().bytes() {
        let plain = byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
        if plain {
            name.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(name, "%{byte:02x}");
        }
    }
    if name.len() > NAME_BYTES_MAX {
        name.truncate(NAME_BYTES_MAX);
        let _ = write!(name, "~{:016x}", xxh3_64(scope.as_str().as_bytes()));
    }
    name + ".json"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mirror::persist;
    use ebb_engine::graph::builder::{GraphBuilder, WeightRange};
    use ebb_engine::graph::columns::NodeRow;
    use ebb_engine::graph::index::Generation;
    use ebb_engine::graph::kinds::{Kinds, NodeType};
    use ebb_engine::graph::snapshot::Snapshot;
    use std::collections::BTreeSet;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::time::Duration;

    fn view(id: &str, generation: u64) -> Arc<View> {
        let mut builder = GraphBuilder::default();
        builder.add_node(NodeRow::new(id, id, NodeType::MEMORY)).unwrap();
        let graph = builder.finalize().unwrap().with_generation(Generation(generation));
        Arc::new(View::from_labels(Snapshot::from(graph)).unwrap())
    }

    fn saved(file: &Path) -> Option<String> {
        let (snapshot, _) = persist::read_summed(file, Kinds::default(), WeightRange::default()).ok()?;
        let graph = &snapshot.graph;
        graph.nodes().next().map(|node| graph.external_id(node).to_owned())
    }

    /// Content to save: a view, with so many outcomes learned on its graph.
    fn content(
        view: &Arc<View>,
        tick: u64,
    ) -> impl FnOnce() -> Result<Option<Content>, Error> + Send + use<> {
        let (view, learned) = (Arc::clone(view), SynapticState { tick, ..SynapticState::default() });
        move || Ok(Some(Content { view, learned, state: None }))
    }

    async fn until(what: impl Fn() -> bool) {
        let patience = async {
            while !what() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), patience).await.expect("it happens");
    }

    #[tokio::test]
    async fn every_third_recall_saves_what_is_new() {
        let folder = tempfile::tempdir().unwrap();
        let (scope, inner) = (Scope::local(), folder.path().join("made/here"));
        let saving = Saving::new(Config { folder: inner.clone(), every: 3 }, std::slice::from_ref(&scope));
        let (file, learned) = (inner.join("local.json"), inner.join("local.learned.json"));
        let tick = |view: &View| view.ticks().at_start();
        let recall = |view: &Arc<View>, times: usize| {
            (0..times).for_each(|_| saving.recalled(&scope, view, content(view, tick(view))));
        };
        let is_free = || saving.of[&scope].at_work.try_lock().is_ok();

        recall(&view("a", 1), 2);
        tokio::task::yield_now().await;
        assert!(!inner.exists(), "two are too few");
        recall(&view("a", 1), 1);
        until(|| saving.of(&scope).generation == Some(1)).await;
        assert_eq!(saved(&file).as_deref(), Some("a"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&inner), mode(&file)), (0o700, 0o600), "only its owner may read it");
        assert_eq!(mode(&learned), 0o600);
        let ticks = || Files::beside(file.clone()).read_learned().unwrap().map(|state| state.tick);
        assert_eq!(ticks(), Some(0));

        until(is_free).await;
        // A saved generation is not saved again.
        fs::remove_file(&file).unwrap();
        recall(&view("a", 1), 3);
        recall(&view("b", 2), 3);
        until(|| saving.of(&scope).generation == Some(2)).await;
        assert_eq!(saved(&file).as_deref(), Some("b"));

        until(is_free).await;
        // If more was learned on a generation, only that is written.
        fs::remove_file(&file).unwrap();
        let taught = Arc::new(Arc::into_inner(view("b", 2)).unwrap().with_tick(7));
        recall(&taught, 3);
        until(|| ticks() == Some(7)).await;
        until(is_free).await;
        assert!(!file.exists());
        recall(&taught, 3);
        // A folder that is a file: logged, counted, and the mirror continues.
        fs::remove_dir_all(&inner).unwrap();
        fs::write(&inner, "in the way").unwrap();
        recall(&view("c", 3), 3);
        until(|| saving.of(&scope).failures == 1).await;
        assert_eq!(saving.of(&scope), Saves { generation: Some(2), failures: 1, skipped: 1 });
        assert_eq!(saving.of(&Scope::new("other").unwrap()), Saves::default());
    }

    #[tokio::test]
    async fn one_save_of_a_scope_is_at_work_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let scope = Scope::local();
        let config = Config { folder: folder.path().to_owned(), every: 1 };
        let saving = Saving::new(config, std::slice::from_ref(&scope));
        let place = Arc::clone(&saving.of[&scope]);
        {
            let _held = place.at_work.lock().unwrap();
            let files = Files::beside(folder.path().join(file_name(&scope)));
            place.save(&scope, &files, Parts::All, content(&view("a", 1), 0));
        }
        assert_eq!((saving.of(&scope), fs::read_dir(folder.path()).unwrap().count()), (Saves::default(), 0));
    }

    #[test]
    fn nothing_of_a_deleted_scope_stays_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { folder: folder.path().to_owned(), every: 1 };
        let saving = Saving::new(config, &[]);
        for name in ["gone.json", "gone.learned.json", "gone.state", "other.json"] {
            fs::write(folder.path().join(name), "texts").unwrap();
            for of in [partial, earlier_partial] {
                fs::write(of(&folder.path().join(name)), "texts").unwrap();
            }
        }
        saving.remove(&Scope::new("gone").unwrap()).unwrap();
        let left = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
        let left: BTreeSet<_> = left.filter_map(|name| name.into_string().ok()).collect();
        assert_eq!(
            left.iter().collect::<Vec<_>>(),
            [".other.json.ebb-partial", "other.json", "other.json.partial"]
        );
    }

    #[test]
    fn a_scope_has_a_file_of_its_own() {
        let long = "n".repeat(1_024);
        let scopes = [
            "local",
            "Local",
            "a/b",
            "a%2fb",
            "..",
            ".",
            "team a",
            "tëam",
            "a~b",
            "con",
            &long,
            &long[1..],
            &"/".repeat(1_024),
        ];
        let names: BTreeSet<String> =
            scopes.iter().map(|scope| file_name(&Scope::new(scope).unwrap())).collect();
        assert_eq!(names.len(), scopes.len(), "{names:?}");
        assert!(names.contains("local.json") && names.contains("%2e%2e.json"), "{names:?}");
        for name in &names {
            assert!(name.len() < 240 && !name.contains('/') && !name.starts_with('.'), "{name}");
            assert_eq!(*name, name.to_ascii_lowercase());
        }
    }
}
