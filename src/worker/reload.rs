//! Reloads the configuration when its file changes or at a SIGHUP.
//!
//! Schedules and time limits of jobs take effect at once; changes to the server, leases and ports take effect at the next start and
//! are logged. A configuration with faults changes nothing: each fault is logged, and such reloads are counted.

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
}

impl ConfigFile {
    /// The file in its present version: to be called before it is read, so that no change after that is missed.
    #[must_use]
    pub fn of(path: PathBuf) -> Self {
        Self { seen: version_of(&path), path }
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
        match (self.source.load)() {
            Ok(settings) => {
                let waiting = changed(&self.settings, &settings, Effect::AtStart);
                let in_graph = changed(&self.settings, &settings, Effect::InGraph);
                self.schedules.send_replace(Arc::new(schedules(&settings)));
                self.settings = settings;
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

/// The changed keys with an effect.
fn changed(old: &Settings, new: &Settings, effect: Effect) -> Vec<&'static str> {
    let rows = old.rows().iter().zip(new.rows());
    rows.filter(|(old, new)| old.value != new.value && Effect::of(new.key) == effect)
        .map(|(_, new)| new.key)
        .collect()
}

/// The inode, size and time of a file, which change with its content.
type Version = (u64, u64, i64, i64);

fn version_of(file: &Path) -> Option<Version> {
    let found = std::fs::metadata(file).ok()?;
    Some((found.ino(), found.size(), found.mtime(), found.mtime_nsec()))
}
