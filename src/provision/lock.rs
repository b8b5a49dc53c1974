//! Locks between programs. They belong to open files, not to process ids: the system frees them however a process ends,
//! and a reused process id cannot be mistaken for the holder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{Timespec, Timestamps};
use tokio::time::Instant;

use super::error::{Error, io};

/// Interval of attempts on a lock held by another program.
pub(super) const POLL: Duration = Duration::from_millis(50);

/// Mode of a lock: shared or exclusive.
#[derive(Debug, Clone, Copy)]
pub(super) enum Hold {
    Shared,
    Exclusive,
}

/// Opens a lock file, created if missing. Nothing is written to it; its time of modification is that of the last use.
pub(super) fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)
}

/// Locks a file if the lock is free. A file removed since it was opened is no longer a lock (its folder was deleted),
/// so it is opened again.
pub(super) fn try_lock(path: &Path, hold: Hold) -> Result<Option<File>, Error> {
    let what = || format!("cannot lock {}", path.display());
    loop {
        let file = open(path).map_err(io(what()))?;
        let taken = match hold {
            Hold::Shared => file.try_lock_shared(),
            Hold::Exclusive => file.try_lock(),
        };
        match taken {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(e)) => return Err(io(what())(e)),
            Ok(()) => {}
        }
        let held = file.metadata().map_err(io(what()))?;
        if fs::metadata(path).is_ok_and(|there| there.ino() == held.ino() && there.dev() == held.dev()) {
            return Ok(Some(file));
        }
    }
}

/// Notes that the holder of this lock uses what it protects now: the time of the file is the last use.
pub(super) fn mark_use(file: &File) {
    let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    // Without the note the server ends early, and the next use starts it again.
    let _ = rustix::fs::futimens(file, &Timestamps { last_access: now, last_modification: now });
}

/// Time since the last use; none if that is not known or lies ahead.
pub(super) fn since_use(file: &File) -> Duration {
    let last = file.metadata().and_then(|known| known.modified());
    last.ok().and_then(|at| at.elapsed().ok()).unwrap_or_default()
}

/// Moves a last use that lies ahead, because the clock was set back, to now: the server would run until the clock has
/// passed it.
pub(super) fn correct_use(file: &File) {
    let last = file.metadata().and_then(|known| known.modified());
    if last.is_ok_and(|at| at.elapsed().is_err()) {
        mark_use(file);
    }
}

/// Waits for an exclusive lock, logging the wait after a second and then every ten. Without a limit: the holder's own
/// work is bounded, and its end frees the lock.
pub(super) async fn wait_lock(path: &Path, who: &str) -> Result<File, Error> {
    let mut say = Instant::now() + Duration::from_secs(1);
    loop {
        if let Some(file) = try_lock(path, Hold::Exclusive)? {
            return Ok(file);
        }
        if Instant::now() >= say {
            tracing::info!("{who}; waiting for it");
            say += Duration::from_secs(10);
        }
        tokio::time::sleep(POLL).await;
    }
}
