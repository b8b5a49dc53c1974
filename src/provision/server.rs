//! The managed server as its users see it: share it, start it, stop it, look at it, remove it. How the locks play together is told in the floor's own page.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use secrecy::SecretString;
use serde::Serialize;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::time::Instant;

use super::error::{Error, io};
use super::home::{Hold, Home, Lock, POLL, Record};
use super::keeper::{Plan, tell};
use super::{Config, Endpoint, Keeper, Origin, Ports, Way, docker, given, log, maven, ports, probe, process};

/// How long a leaving or stopping program waits for the server's end.
const FAREWELL: Duration = Duration::from_secs(40);
/// How often a start is tried with other ports, if the ones found free were taken meanwhile.
const TRIES: u32 = 3;

/// A server that may be used. Dropping it gives up this program's share; [`Server::release`] also waits for what follows from that.
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

    /// Gives up this program's share and, if it was the last one, waits until the server is gone, at most 40 s.
    ///
    /// # Errors
    /// When the server is still stopping by then, or a lock file cannot be read.
    pub async fn release(self) -> Result<(), Error> {
        let Some(Share { lock, home, docker, _keeper }) = self.share else { return Ok(()) };
        drop(lock);
        let deadline = Instant::now() + FAREWELL;
        loop {
            if !home.has_keeper()? {
                return sweep_up(&home, &docker).await;
            }
            // Nobody else: the keeper is about to notice. Nobody may share: it has noticed. Others share it: it stays for them.
            let alone = home.try_lock(Lock::InUse, Hold::Exclusive)?.is_some();
            let others = !alone && home.try_lock(Lock::InUse, Hold::Shared)?.is_some();
            if others || home.record().is_some_and(|record| record.stay) {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(Error::StillStopping { home: home.path().to_path_buf(), seconds: FAREWELL.as_secs() });
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

/// Starts the managed server of this home to stay, or makes the running one stay, until [`stop`].
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

/// The server that runs already, once it answers; nothing if there is none or it ended meanwhile. The caller holds a share, so no keeper begins to stop now.
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

/// Starts a server, after ending what an unclean stop may have left.
async fn launch(config: &Config, keeper: &Keeper, home: &Home, docker: &Path, stay: bool) -> Result<(Record, Option<Child>), Error> {
    let left = home.record();
    if let Some(record) = &left {
        process::end_orphan(docker, home, record).await?;
    }
    let before = left.map(|record| Ports { bolt: record.bolt, http: record.http });
    let password = home.password()?;
    let mut tries = 0;
    loop {
        tries += 1;
        let ports = ports::choose(config, before)?;
        let plan = Plan { stay, ..plan(config, home, ports, &password).await? };
        match run(config, keeper, home, &plan).await {
            Err(e) if log::port_was_taken(&e) && tries < TRIES => tracing::info!("a port was taken meanwhile; trying again"),
            Err(e) => return Err(e),
            Ok((record, child)) => return Ok((record, Some(child))),
        }
    }
}

/// How the server is brought up: the forced way, or the first that is possible.
async fn plan(config: &Config, home: &Home, ports: Ports, password: &SecretString) -> Result<Plan, Error> {
    if config.way == Some(Way::Docker) {
        return docker::plan(config, home, ports, password).await;
    }
    if config.way == Some(Way::Maven) {
        return maven::plan(config, home, ports, password).await;
    }
    let docker = match docker::plan(config, home, ports, password).await {
        Err(Error::Docker { why, .. }) => why,
        other => return other,
    };
    tracing::info!("not through Docker ({docker}); trying Maven and Java");
    maven::plan(config, home, ports, password).await.map_err(|e| match e {
        Error::JavaMissing { .. } | Error::JavaTooOld { .. } | Error::MavenMissing { .. } | Error::Download { .. } => {
            Error::NoWay { docker, maven: e.to_string() }
        }
        other => other,
    })
}

/// Hands the plan to a new keeper and waits until the server answers.
async fn run(config: &Config, keeper: &Keeper, home: &Home, plan: &Plan) -> Result<(Record, Child), Error> {
    tracing::info!("starting Neo4j in {}", home.path().display());
    let refused = |why: String| Error::Keeper { home: home.path().to_path_buf(), why };
    File::create(home.join(log::SERVER_LOG)).map_err(io("cannot begin the server's log"))?; // so that nothing old is taken for new
    let output = File::create(home.join(log::KEEPER_LOG)).map_err(io("cannot begin the keeper's log"))?;
    let errors = output.try_clone().map_err(io("cannot begin the keeper's log"))?;
    let log_from = log::length(&home.join(log::DEBUG_LOG));
    let (program, words) = keeper.command.split_first().ok_or_else(|| refused("no command is set for it".to_owned()))?;
    let mut command = Command::new(program);
    command.args(words).arg("--home").arg(home.path()).current_dir(home.path());
    command.stdin(Stdio::piped()).stdout(output).stderr(errors);
    let mut child = command.spawn().map_err(|e| refused(format!("cannot run {}: {e}", program.to_string_lossy())))?;
    let text = serde_json::to_vec(plan).map_err(|e| refused(e.to_string()))?;
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(&text).await; // one that did not live to read it is noticed below
    }
    let alive = || matches!(child.try_wait(), Ok(None));
    let ready = probe::wait(home, plan.ports.bolt, log_from, config.start_timeout, alive).await;
    match (ready, home.record()) {
        (Ok(()), Some(record)) => Ok((record, child)),
        (Err(Error::Died { .. }), _) if log::length(&home.join(log::SERVER_LOG)) == 0 => {
            Err(refused(log::meaningful(&log::tail(&home.join(log::KEEPER_LOG), 0)).trim().to_owned()))
        }
        (Err(e), _) => Err(e),
        (Ok(()), None) => Err(log::cause(home)),
    }
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

/// Stops the managed server of this home and waits until it is gone; `false` if none was running. While others use it, only with `force`.
///
/// # Errors
/// When others use it, when it is still stopping after 40 s, or when the settings name a given server.
pub async fn stop(config: &Config, force: bool) -> Result<bool, Error> {
    refuse_given(config)?;
    let Some(home) = Home::existing(&config.home) else { return Ok(false) };
    let _start = home.start_lock().await?;
    let mut hold = None;
    let deadline = Instant::now() + FAREWELL;
    let mut users_seen = 0;
    let mut told = false;
    while home.has_keeper()? {
        hold = match hold {
            None => home.try_lock(Lock::InUse, Hold::Exclusive)?,
            held => held,
        };
        let shared = hold.is_none() && home.try_lock(Lock::InUse, Hold::Shared)?.is_some();
        users_seen = if shared { users_seen + 1 } else { 0 };
        // Seen more than once: programs that only look at the lock hold it for an instant.
        if users_seen > 5 && !force {
            return Err(Error::InUse { home: home.path().to_path_buf(), users: named(process::holders(&home.join("in-use.lock"))) });
        }
        if let Some(record) = home.record().filter(|_| !told && (force || hold.is_some())) {
            tell(Some(record.keeper_pid), Signal::TERM);
            told = true;
        }
        if Instant::now() >= deadline {
            return Err(Error::StillStopping { home: home.path().to_path_buf(), seconds: FAREWELL.as_secs() });
        }
        tokio::time::sleep(POLL).await;
    }
    let Some(record) = home.record() else { return Ok(told) };
    let orphan = process::runs(&home, &record);
    process::end_orphan(&docker::program(config), &home, &record).await?;
    Ok(told || orphan)
}

fn named(users: Vec<String>) -> String {
    if users.is_empty() { "another program".to_owned() } else { users.join(", ") }
}

fn refuse_given(config: &Config) -> Result<(), Error> {
    match &config.uri {
        Some(uri) => Err(Error::NotOurs { uri: given::shown(uri) }),
        None => Ok(()),
    }
}

/// What is known about the managed server of a home.
#[derive(Debug, Clone, Serialize)]
pub struct Status {
    /// The home folder, as set.
    pub home: PathBuf,
    /// The server; nothing if none runs.
    pub server: Option<Running>,
}

/// A managed server that runs.
#[derive(Debug, Clone, Serialize)]
pub struct Running {
    /// How it was brought up.
    pub origin: Origin,
    /// Neo4j version, once it has said so.
    pub version: Option<String>,
    /// Address for Bolt.
    pub uri: String,
    /// Base address of HTTP and Neo4j Browser.
    pub http: String,
    /// Process of the server; with Docker that of the client in the foreground.
    pub pid: u32,
    /// Process of its keeper; nothing if that was killed. Such a server is ended by the next command that uses the home.
    pub keeper_pid: Option<u32>,
    /// Whether it outlives its users.
    pub stay: bool,
    /// Whether it answers the Bolt handshake.
    pub ready: bool,
    /// Who uses it, by program and process, where the system tells.
    pub users: Vec<String>,
}

/// Looks at the managed server of a home, without changing anything.
///
/// # Errors
/// When a lock file cannot be read.
pub async fn status(config: &Config) -> Result<Status, Error> {
    let none = Status { home: config.home.clone(), server: None };
    let Some(home) = Home::existing(&config.home) else { return Ok(none) };
    let kept = home.has_keeper()?;
    let Some(record) = home.record().filter(|record| kept || process::runs(&home, record)) else { return Ok(none) };
    let running = Running {
        origin: Origin::from(record.way),
        version: log::version(&home),
        uri: format!("bolt://127.0.0.1:{}", record.bolt),
        http: format!("http://127.0.0.1:{}", record.http),
        pid: record.pid,
        keeper_pid: kept.then_some(record.keeper_pid),
        stay: record.stay,
        ready: probe::answers(record.bolt).await,
        users: process::holders(&home.join("in-use.lock")),
    };
    Ok(Status { server: Some(running), ..none })
}

/// Removes the home folder of a stopped managed server, with all its data. Only a folder that carries the mark of Ebb; one that is not there is fine.
///
/// # Errors
/// When the folder is not ours, or its server runs.
pub async fn wipe(home: &Path) -> Result<(), Error> {
    if !home.exists() {
        return Ok(());
    }
    let Some(ours) = Home::existing(home) else { return Err(Error::ForeignHome { path: home.to_path_buf() }) };
    let _start = ours.start_lock().await?;
    let alone = ours.try_lock(Lock::InUse, Hold::Exclusive)?;
    let orphan = ours.record().is_some_and(|record| process::runs(&ours, &record));
    if alone.is_none() || orphan || ours.has_keeper()? {
        return Err(Error::Running { home: ours.path().to_path_buf() });
    }
    std::fs::remove_dir_all(ours.path()).map_err(io(format!("cannot remove {}", ours.path().display())))
}
