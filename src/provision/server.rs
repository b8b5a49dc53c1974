//! The managed server as its users see it: a share in it, taken and given up. How the locks play together is
//! told in the floor's own page.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;
use tokio::process::Child;
use tokio::time::Instant;

use super::error::Error;
use super::home::{Home, Lock, Record};
use super::launch::launch;
use super::lock::{Hold, POLL};
use super::{Config, Endpoint, Keeper, Origin, docker, given, probe, process};

/// How long a leaving or stopping program waits for the server's end.
pub(super) const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(40);

/// A server that may be used. Dropping it gives up this program's share; [`Server::release`] also waits for
/// what follows from that.
#[derive(Debug)]
pub struct Server {
    /// How to connect.
    pub endpoint: Endpoint,
    share: Option<Share>,
}

/// What a user of a managed server holds.
#[derive(Debug)]
struct Share {
    lock: File,
    home: Home,
    docker: PathBuf,
    /// Kept by the program that started it, so that its end is noticed by the runtime.
    _keeper: Option<Child>,
}

impl Server {
    /// A server that is not ours to keep.
    pub(super) fn given(endpoint: Endpoint) -> Self {
        Self { endpoint, share: None }
    }

    /// Gives up this program's share and, if it was the last one, waits until the server is gone, at most 40
    /// s.
    ///
    /// # Errors
    /// When the server is still stopping by then, or a lock file cannot be read.
    pub async fn release(self) -> Result<(), Error> {
        let Some(Share { lock, home, docker, _keeper }) = self.share else { return Ok(()) };
        drop(lock);
        let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
        loop {
            if !home.has_keeper()? {
                return sweep_up(&home, &docker).await;
            }
            // Nobody else: the keeper is about to notice. Nobody may share: it has noticed. Others share it:
            // it stays for them.
            let alone = home.try_lock(Lock::InUse, Hold::Exclusive)?.is_some();
            let others = !alone && home.try_lock(Lock::InUse, Hold::Shared)?.is_some();
            if others || home.record().is_some_and(|record| record.stay) {
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

/// After the keeper is gone: a server it left behind, because it was killed, is ended by the last user.
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

/// Takes a share in the managed server, starting it if it does not run.
pub(super) async fn acquire(config: &Config, keeper: &Keeper, stay: bool) -> Result<Server, Error> {
    let home = Home::open(&config.home)?;
    let docker = docker::program(config);
    let _start = home.start_lock().await?;
    let lock = share(&home).await?;
    let (record, child) = match join(config, &home).await? {
        Some(record) => (record, None),
        None => launch(config, keeper, &home, &docker, stay).await?,
    };
    if stay && !record.stay {
        home.write_record(&Record { stay, ..record.clone() })?;
    }
    let endpoint = endpoint(config, &home, &record, home.kept_password()?);
    Ok(Server { endpoint, share: Some(Share { lock, home, docker, _keeper: child }) })
}

/// A share, once no keeper is at its end.
async fn share(home: &Home) -> Result<File, Error> {
    let mut say = Instant::now() + Duration::from_secs(1);
    loop {
        if let Some(lock) = home.try_lock(Lock::InUse, Hold::Shared)? {
            return Ok(lock);
        }
        if Instant::now() >= say {
            tracing::info!("the server in {} is stopping; waiting for that", home.path().display());
            say += Duration::from_secs(10);
        }
        tokio::time::sleep(POLL).await;
    }
}

/// The server that runs already, once it answers; nothing if there is none or it ended meanwhile. The caller
/// holds a share, so no keeper begins to stop now.
async fn join(config: &Config, home: &Home) -> Result<Option<Record>, Error> {
    while home.has_keeper()? {
        // A keeper without a record is just beginning (its starter died) or leaving.
        if let Some(record) = home.record() {
            let alive = || home.has_keeper().unwrap_or(false);
            match probe::wait(home, record.bolt, record.log_from, config.start_timeout, alive).await {
                Ok(()) => return Ok(Some(record)),
                Err(e @ Error::NotReady { .. }) => return Err(e),
                Err(_) => return Ok(None),
            }
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

/// Starting and stopping are for servers of our own.
pub(super) fn refuse_given(config: &Config) -> Result<(), Error> {
    match &config.uri {
        Some(uri) => Err(Error::NotOurs { uri: given::shown(uri) }),
        None => Ok(()),
    }
}
