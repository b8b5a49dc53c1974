//! Operations on a managed server besides using it: stop, status, remove.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use serde::Serialize;
use tokio::time::Instant;

use super::error::{Error, io};
use super::home::{Home, Lock, is_unused};
use super::keeper::{send_signal, time_left};
use super::lock::{Hold, POLL};
use super::server::{SHUTDOWN_TIMEOUT, refuse_given};
use super::{Config, Origin, docker, fixed, log, probe, process};

/// How often a lock is looked at that a keeper may hold for an instant only.
const LOOKS: u32 = 20;

/// Stops the managed server of this home and waits until it has ended; `false` if none was running. While others use
/// it, only with `force`.
///
/// # Errors
/// When others use it, when its keeper runs in another container or on another machine, when it is still stopping after
/// 40 s, when the Docker engine does not say whether it has ended, or when the settings name a given server.
pub async fn stop(config: &Config, force: bool) -> Result<bool, Error> {
    refuse_given(config)?;
    let Some(home) = Home::existing(&config.home) else { return Ok(false) };
    let _start = home.start_lock().await?;
    end(&home, &docker::program(config), force).await
}

/// As [`stop`]. The caller holds the start lock, and no share.
pub(super) async fn end(home: &Home, docker: &Path, force: bool) -> Result<bool, Error> {
    let mut hold = None;
    let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
    let mut users_seen = 0;
    let mut strangers_seen = 0;
    let mut signalled = false;
    while home.has_keeper()? {
        hold = match hold {
            None => home.try_lock(Lock::InUse, Hold::Exclusive)?,
            held => held,
        };
        let shared = hold.is_none() && home.try_lock(Lock::InUse, Hold::Shared)?.is_some();
        users_seen = if shared { users_seen + 1 } else { 0 };
        // Checked more than once: programs that only test the lock hold it for an instant.
        if users_seen > 5 && !force {
            return Err(Error::InUse {
                home: home.path().to_path_buf(),
                users: named(process::holders(&home.join("in-use.lock"))),
            });
        }
        if let Some(record) = home.record().filter(|_| !signalled && (force || hold.is_some())) {
            signalled = process::is_keeper(home, record.keeper_pid);
            if signalled {
                send_signal(Some(record.keeper_pid), Signal::TERM);
            }
            // Checked more than once: a keeper that was killed holds its lock for an instant more.
            strangers_seen += u32::from(!signalled);
            if strangers_seen > LOOKS {
                let home = home.path().to_path_buf();
                return Err(Error::KeeperElsewhere { home, pid: record.keeper_pid });
            }
        }
        if Instant::now() >= deadline {
            return Err(Error::StillStopping {
                home: home.path().to_path_buf(),
                seconds: SHUTDOWN_TIMEOUT.as_secs(),
            });
        }
        tokio::time::sleep(POLL).await;
    }
    let Some(record) = home.record() else { return Ok(signalled) };
    let orphan = process::end_orphan(docker, home, &record).await?;
    Ok(signalled || orphan)
}

fn named(users: Vec<String>) -> String {
    if users.is_empty() { "another program".to_owned() } else { users.join(", ") }
}

/// The status of the managed server of a home.
#[derive(Debug, Clone, Serialize)]
pub struct Status {
    /// The home folder, as configured.
    pub home: PathBuf,
    /// The running server; `None` if there is none.
    pub server: Option<Running>,
}

/// A running managed server.
#[derive(Debug, Clone, Serialize)]
pub struct Running {
    /// How it was started.
    pub origin: Origin,
    /// Neo4j version, once known.
    pub version: Option<String>,
    /// Address for Bolt.
    pub uri: String,
    /// Base address of HTTP and Neo4j Browser.
    pub http: String,
    /// Process of the server; with Docker that of the client in the foreground.
    pub pid: u32,
    /// Process of its keeper; `None` if that was killed. Such a server is ended by the next command that uses the home.
    pub keeper_pid: Option<u32>,
    /// Whether it continues without users until it is stopped.
    pub stay: bool,
    /// Seconds it continues after its last use otherwise.
    pub keep_seconds: u64,
    /// Seconds until it stops if nobody uses it; `None` while somebody does, or if it stays.
    pub seconds_left: Option<u64>,
    /// The settings that differ from those that it was started with.
    pub changed_settings: Vec<String>,
    /// Whether it answers the Bolt handshake.
    pub ready: bool,
    /// Its users, by program and process, where the system lists them.
    pub users: Vec<String>,
}

/// Returns the status of the managed server of a home, without changing anything.
///
/// # Errors
/// When a lock file cannot be read, or the Docker engine does not say whether a server without keeper still runs.
pub async fn status(config: &Config) -> Result<Status, Error> {
    let none = Status { home: config.home.clone(), server: None };
    let Some(home) = Home::existing(&config.home) else { return Ok(none) };
    let kept = home.has_keeper()?;
    let Some(record) = home.record() else { return Ok(none) };
    if !kept && !process::is_left(&docker::program(config), &home, &record).await? {
        return Ok(none);
    }
    let seconds_left = if kept && !record.stay { seconds_left(&home, record.keep).await? } else { None };
    let running = Running {
        origin: Origin::from(record.way),
        version: log::version(&home),
        uri: format!("bolt://127.0.0.1:{}", record.bolt),
        http: format!("http://127.0.0.1:{}", record.http),
        pid: record.pid,
        keeper_pid: kept.then_some(record.keeper_pid),
        stay: record.stay,
        keep_seconds: record.keep.as_secs(),
        seconds_left,
        changed_settings: fixed::differences(&record, config),
        ready: probe::answers(record.bolt).await,
        users: process::holders(&home.join("in-use.lock")),
    };
    Ok(Status { server: Some(running), ..none })
}

/// Seconds until a server stops that nobody uses; `None` while somebody does, or if it is stopping.
async fn seconds_left(home: &Home, keep: Duration) -> Result<Option<u64>, Error> {
    for _ in 0..LOOKS {
        // Locked for an instant: a user who comes meanwhile waits.
        if let Some(users) = home.try_lock(Lock::InUse, Hold::Exclusive)? {
            return Ok(Some(time_left(&users, keep).as_secs()));
        }
        if home.try_lock(Lock::InUse, Hold::Shared)?.is_some() {
            return Ok(None);
        }
        tokio::time::sleep(POLL).await; // the keeper has it, for an instant or to stop
    }
    Ok(None)
}

/// Removes the home folder of a stopped managed server, with all its data. Only a folder with Ebb's marker file; a
/// missing or unused one is no error.
///
/// # Errors
/// When the folder has no marker, its server runs, or the Docker engine does not say whether it does.
pub async fn wipe(config: &Config) -> Result<(), Error> {
    let home = config.home.as_path();
    if !home.exists() {
        return Ok(());
    }
    // A link may lead to the home of another database.
    let Some(ours) = Home::existing(home).filter(|_| !home.is_symlink()) else {
        // Without contents there is nothing to remove, and no marker file to expect.
        return match home.is_dir() && is_unused(home).unwrap_or(false) {
            true => Ok(()),
            false => Err(Error::ForeignHome { path: home.to_path_buf() }),
        };
    };
    let _start = ours.start_lock().await?;
    let alone = ours.try_lock(Lock::InUse, Hold::Exclusive)?;
    let runs = match ours.record() {
        _ if alone.is_none() || ours.has_keeper()? => true,
        Some(record) => process::is_left(&docker::program(config), &ours, &record).await?,
        None => false,
    };
    if runs {
        return Err(Error::Running { home: ours.path().to_path_buf() });
    }
    std::fs::remove_dir_all(ours.path()).map_err(io(format!("cannot remove {}", ours.path().display())))
}
