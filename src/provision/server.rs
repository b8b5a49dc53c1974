//! A user's share of the managed server, acquired and released. The documentation of the crate explains how the locks
//! work together.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;
use tokio::process::Child;
use tokio::time::Instant;

use super::control::end;
use super::error::Error;
use super::home::{Home, Lock, Record};
use super::launch::launch;
use super::lock::{self, Hold, POLL};
use super::{Config, Endpoint, Keeper, Origin, docker, fixed, given, log, probe, process};

/// Time limit of waiting for the server's end on release or stop.
pub(super) const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(40);

/// How long a server that has started may leave a handshake unanswered before it counts as hung.
const HUNG_AFTER: Duration = Duration::from_secs(15);

/// A server in use. Dropping it releases this program's share; [`Server::release`] also waits for the effect.
#[derive(Debug)]
pub struct Server {
    /// Connection data.
    pub endpoint: Endpoint,
    /// How long it runs on after its last use; `None` if only its owner stops it: a given one, or one that stays.
    pub keep: Option<Duration>,
    share: Option<Share>,
}

/// The share of a user of a managed server.
#[derive(Debug)]
struct Share {
    lock: File,
    home: Home,
    docker: PathBuf,
    /// Held by the program that started it, so that the runtime notices its end.
    _keeper: Option<Child>,
}

impl Drop for Share {
    /// A use lasts to its end.
    fn drop(&mut self) {
        lock::mark_use(&self.lock);
    }
}

impl Server {
    /// A server that Ebb does not manage.
    pub(super) fn given(endpoint: Endpoint) -> Self {
        Self { endpoint, keep: None, share: None }
    }

    /// Releases this program's share and, if it was the last one and the server does not outlive its users, waits at
    /// most 40 s until that has ended.
    ///
    /// # Errors
    /// When the server is still stopping by then, or a lock file cannot be read.
    pub async fn release(self) -> Result<(), Error> {
        let Some(share) = self.share else { return Ok(()) };
        let (home, docker) = (share.home.clone(), share.docker.clone());
        drop(share);
        let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
        loop {
            if !home.has_keeper()? {
                return sweep_up(&home, &docker).await;
            }
            // Alone: the keeper is about to notice. No shared lock either: the keeper has noticed. Others share it: the
            // server stays for them.
            let alone = home.try_lock(Lock::InUse, Hold::Exclusive)?.is_some();
            let others = !alone && home.try_lock(Lock::InUse, Hold::Shared)?.is_some();
            if others || home.record().is_some_and(|record| record.outlives_users()) {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(Error::StillStopping {
                    home: home.path().to_path_buf(),
                    seconds: SHUTDOWN_TIMEOUT.as_secs(),
                });
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

/// After the end of the keeper: if it was killed, the last user ends the server that it left.
async fn sweep_up(home: &Home, docker: &Path) -> Result<(), Error> {
    let Some(record) = home.record() else { return Ok(()) };
    let _start = home.start_lock().await?;
    let alone = home.try_lock(Lock::InUse, Hold::Exclusive)?;
    if alone.is_some() && !home.has_keeper()? && home.record().as_ref() == Some(&record) {
        process::end_orphan(docker, home, &record).await?;
    }
    Ok(())
}

/// Starts the managed server of this home to stay, or makes the running one stay, until [`super::stop`].
///
/// # Errors
/// As [`super::acquire`]; and when the settings name a given server.
pub async fn start(config: &Config, keeper: &Keeper) -> Result<Endpoint, Error> {
    refuse_given(config)?;
    Ok(acquire(config, keeper, true).await?.endpoint)
}

/// Acquires a share in the managed server, started if it does not run.
pub(super) async fn acquire(config: &Config, keeper: &Keeper, stay: bool) -> Result<Server, Error> {
    let home = Home::open(&config.home)?;
    let docker = docker::program(config);
    let _start = home.start_lock().await?;
    let mut lock = share(&home).await?;
    let mut stay = stay;
    let joined = match join(config, &home).await {
        Err(Error::NotReady { port, .. }) => {
            stay |= home.record().is_some_and(|record| record.stay);
            drop(lock);
            end_hung(&home, &docker, port).await?;
            lock = share(&home).await?;
            None
        }
        joined => joined?,
    };
    let (record, child) = match joined {
        Some(record) => (adjusted(config, &home, record, stay)?, None),
        None => launch(config, keeper, &home, &docker, stay).await?,
    };
    let endpoint = endpoint(config, &home, &record, home.kept_password()?);
    let keep = (!record.stay).then_some(record.keep);
    Ok(Server { endpoint, keep, share: Some(Share { lock, home, docker, _keeper: child }) })
}

/// The record of a running server, which stays from now on if it is to, after saying which settings do not apply to it.
fn adjusted(config: &Config, home: &Home, mut record: Record, stay: bool) -> Result<Record, Error> {
    if stay && !record.stay {
        record.stay = true;
        home.write_record(&record)?;
    }
    let differences = fixed::differences(&record, config);
    if !differences.is_empty() {
        tracing::warn!(
            "the Neo4j server in {} was started with other settings: {}; to apply yours: ebb neo4j stop",
            home.path().display(),
            differences.join(", ")
        );
    }
    Ok(record)
}

/// Stops a server that does not answer, unless others use it.
async fn end_hung(home: &Home, docker: &Path, port: u16) -> Result<(), Error> {
    tracing::info!("the server in {} does not answer; stopping it", home.path().display());
    match end(home, docker, false).await {
        Err(Error::InUse { home, users }) => Err(Error::Hung { home, port, users }),
        Err(Error::Docker { .. }) => Ok(()), // the start that follows says it
        ended => ended.map(drop),
    }
}

/// A share, acquired while no keeper is ending.
async fn share(home: &Home) -> Result<File, Error> {
    let mut say = Instant::now() + Duration::from_secs(1);
    loop {
        if let Some(lock) = home.try_lock(Lock::InUse, Hold::Shared)? {
            lock::mark_use(&lock);
            return Ok(lock);
        }
        if Instant::now() >= say {
            tracing::info!("the server in {} is stopping; waiting for that", home.path().display());
            say += Duration::from_secs(10);
        }
        tokio::time::sleep(POLL).await;
    }
}

/// The running server, once it answers; `None` if there is none or it ended meanwhile. The caller holds a share, so no
/// keeper starts to stop now.
async fn join(config: &Config, home: &Home) -> Result<Option<Record>, Error> {
    let deadline = Instant::now() + config.start_timeout;
    while home.has_keeper()? {
        // A keeper without a record is starting (its starter died) or exiting.
        if let Some(record) = home.record() {
            let alive = || home.has_keeper().unwrap_or(false);
            let limit = if log::started(home) { HUNG_AFTER } else { config.start_timeout };
            match probe::wait(home, record.bolt, record.log_from, limit, alive).await {
                Ok(()) => return Ok(Some(record)),
                Err(e @ Error::NotReady { .. }) => return Err(e),
                Err(_) => return Ok(None),
            }
        }
        if Instant::now() >= deadline {
            return Err(Error::NoRecord {
                home: home.path().to_path_buf(),
                seconds: config.start_timeout.as_secs(),
            });
        }
        tokio::time::sleep(POLL).await;
    }
    Ok(None)
}

fn endpoint(config: &Config, home: &Home, record: &Record, password: SecretString) -> Endpoint {
    Endpoint {
        uri: format!("bolt://127.0.0.1:{}", record.bolt),
        username: "neo4j".to_owned(),
        password,
        database: config.database.clone(),
        http: Some(format!("http://127.0.0.1:{}", record.http)),
        origin: Origin::from(record.way),
        home: Some(home.path().to_path_buf()),
    }
}

/// Only managed servers can be started and stopped.
pub(super) fn refuse_given(config: &Config) -> Result<(), Error> {
    match &config.uri {
        Some(uri) => Err(Error::NotOurs { uri: given::shown(uri) }),
        None => Ok(()),
    }
}
