//! Reloads the configuration when its file changes or at a SIGHUP.
//!
//! Schedules and time limits of jobs take effect at once; changes to the server, leases and ports take effect at the next start and
//! are logged. A configuration with faults changes nothing: each fault is logged, and such reloads are counted. A file that had
//! content and is missing or empty is such a fault: an editor may be about to write it, and the defaults would run every job.

use crate::settings::{Faults, Settings};
use crate::wiring::schedules;
use ebb_core::scheduler::{self, meter::Meter, wake::Wake};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tracing::{error, info, warn};

/// The file of a configuration, which may be missing, and its version when it was read.
pub struct ConfigFile {
    path: PathBuf,
    seen: Option<Version>,
    /// Whether it had content when it was last read.
    has_content: bool,
}

impl ConfigFile {
    /// The file in its present version: to be called before it is read, so that no change after that is missed.
    #[must_use]
    pub fn of(path: PathBuf) -> Self {
        let seen = version_of(&path);
        Self { path, seen, has_content: seen.is_some_and(Version::has_content) }
    }

    /// Whether there is nothing to read where something was.
    fn is_lost(&self) -> bool {
        self.has_content && !self.seen.is_some_and(Version::has_content)
    }
}

/// The source of a configuration.
pub struct Source<'a> {
    file: ConfigFile,
    hangup: Signal,
    /// Reads all layers again.
    load: &'a dyn Fn() -> Result<Settings, Faults>,
}

impl<'a> Source<'a> {
    /// A source whose file is watched. From now on a SIGHUP is a request to reload.
    ///
    /// # Errors
    /// If the process cannot wait for signals.
    pub fn watching(
        file: ConfigFile,
        load: &'a dyn Fn() -> Result<Settings, Faults>,
    ) -> std::io::Result<Self> {
        Ok(Self { file, hangup: signal(SignalKind::hangup())?, load })
    }
}

/// Interval of checks of the file.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// The watch on the configuration.
pub(super) struct Reload<'a> {
    pub(super) source: Source<'a>,
    /// Those of the start.
    pub(super) settings: Settings,
    pub(super) schedules: watch::Sender<Arc<scheduler::Config>>,
    pub(super) wake: Wake,
    pub(super) meter: Arc<Meter>,
}

impl Reload<'_> {
    /// Watches until it is dropped.
    pub(super) async fn watch(mut self) {
        let mut hung_up = false;
        loop {
            let now = version_of(&self.source.file.path);
            if hung_up || now != self.source.file.seen {
                self.source.file.seen = now;
                self.reload();
            }
            hung_up = tokio::select! {
                heard = self.source.hangup.recv() => heard.is_some(),
                () = tokio::time::sleep(CHECK_EVERY) => false,
            };
        }
    }

    fn reload(&mut self) {
        if self.source.file.is_lost() {
            self.meter.counts().failed_reloads += 1;
            let file = self.source.file.path.display();
            error!(%file, "the file of the configuration is missing or empty; the previous configuration stays in force. To go \
                back to the defaults, restart without it");
            return;
        }
        match (self.source.load)() {
            Ok(mut settings) => {
                self.source.file.has_content = self.source.file.seen.is_some_and(Version::has_content);
                let waiting = changed(&self.settings, &settings, Effect::AtStart);
                let in_graph = changed(&self.settings, &settings, Effect::InGraph);
                // Its job runs if and only if there is an embedder, which is that of the start.
                settings.embedding.url.clone_from(&self.settings.embedding.url);
                self.schedules.send_replace(Arc::new(schedules(&settings)));
                self.wake.look();
                info!("the configuration was reloaded");
                if !in_graph.is_empty() {
                    warn!(
                        keys = in_graph.join(", "),
                        "these keys are for ebb init; of a database in use, change the ConsolidationConfig node"
                    );
                }
                if !waiting.is_empty() {
                    warn!(
                        keys = waiting.join(", "),
                        "these keys take effect at the next start of the worker"
                    );
                }
            }
            Err(faults) => {
                self.meter.counts().failed_reloads += 1;
                for fault in faults.list() {
                    error!(%fault, "the configuration has a fault");
                }
                error!("the previous configuration stays in force");
            }
        }
    }
}

/// When a change of a key takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// At once: schedules.
    Now,
    /// At the next start of the worker.
    AtStart,
    /// Never on a database that is initialised: `ebb init` wrote the value into the ConsolidationConfig node.
    InGraph,
}

impl Effect {
    fn of(key: &str) -> Self {
        match key {
            "relation.enabled" | "relation.schedule" => Self::Now,
            key if key.starts_with("jobs.") => Self::Now,
            key if key.starts_with("memory.") => Self::InGraph,
            _ => Self::AtStart,
        }
    }
}

/// The keys with an effect that differ.
fn changed(old: &Settings, new: &Settings, effect: Effect) -> Vec<&'static str> {
    let rows = old.rows().iter().zip(new.rows());
    rows.filter(|(old, new)| old.is_other(new) && Effect::of(new.key) == effect)
        .map(|(_, new)| new.key)
        .collect()
}

/// The inode, time and size of a file, which change with its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Version {
    inode: u64,
    time: (i64, i64),
    bytes: u64,
}

impl Version {
    const fn has_content(self) -> bool {
        self.bytes > 0
    }
}

fn version_of(file: &Path) -> Option<Version> {
    let found = std::fs::metadata(file).ok()?;
    Some(Version { inode: found.ino(), time: (found.mtime(), found.mtime_nsec()), bytes: found.size() })
}
