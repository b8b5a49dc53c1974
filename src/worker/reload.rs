//! The configuration, read again when its file changes or a SIGHUP says so.
//!
//! A sound one takes the place of the old at once, as far as it says when and how long jobs run; what it says of the
//! server, of leases and of the port counts from the next start, and is named. One with faults changes nothing: each
//! fault is logged, and the number of such reloads counted.

use crate::settings::{Faults, Settings};
use crate::wiring::schedules;
use ebb_core::scheduler::cron::Wake;
use ebb_core::scheduler::{self, meter::Meter};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::Signal;
use tokio::sync::watch;
use tracing::{error, info, warn};

/// Where a configuration comes from.
pub struct Source<'a> {
    /// The file to watch; it need not be there.
    pub file: PathBuf,
    /// Reads all layers again.
    pub load: &'a dyn Fn() -> Result<Settings, Faults>,
}

/// How often the file is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Keeps the schedules what the configuration says.
pub(super) struct Reload<'a> {
    pub(super) source: Source<'a>,
    pub(super) settings: Settings,
    pub(super) schedules: watch::Sender<Arc<scheduler::Config>>,
    pub(super) wake: Wake,
    pub(super) meter: Arc<Meter>,
}

impl Reload<'_> {
    /// Watches until it is dropped.
    pub(super) async fn watch(mut self, mut hangup: Signal) {
        let mut seen = look_of(&self.source.file);
        loop {
            let asked = tokio::select! {
                heard = hangup.recv() => heard.is_some(),
                () = tokio::time::sleep(LOOK_EVERY) => false,
            };
            let now = look_of(&self.source.file);
            if asked || now != seen {
                seen = now;
                self.reload();
            }
        }
    }

    fn reload(&mut self) {
        match (self.source.load)() {
            Ok(settings) => {
                let waiting = changed_for_the_next_start(&self.settings, &settings);
                self.schedules.send_replace(Arc::new(schedules(&settings)));
                self.settings = settings;
                self.wake.look();
                info!("the configuration was read again");
                if !waiting.is_empty() {
                    warn!(keys = waiting.join(", "), "these keys count from the next start of the worker");
                }
            }
            Err(faults) => {
                self.meter.counts().failed_reloads += 1;
                for fault in faults.list() {
                    error!(%fault, "the configuration has a fault");
                }
                error!("the configuration that was in force stays so");
            }
        }
    }
}

/// The keys whose values differ and that a worker reads at its start only.
fn changed_for_the_next_start(old: &Settings, new: &Settings) -> Vec<&'static str> {
    let of_the_start = |key: &str| !key.starts_with("jobs.") && !key.starts_with("memory.");
    let rows = old.rows().iter().zip(new.rows());
    rows.filter(|(old, new)| old.value != new.value && of_the_start(new.key))
        .map(|(_, new)| new.key)
        .collect()
}

/// What tells one content of a file from another, without reading it.
fn look_of(file: &Path) -> Option<(u64, u64, i64, i64)> {
    let found = std::fs::metadata(file).ok()?;
    Some((found.ino(), found.size(), found.mtime(), found.mtime_nsec()))
}
