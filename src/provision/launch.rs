//! Starts a managed server: chooses the way, hands the plan to the keeper, and waits for readiness.

use std::path::Path;
use std::process::Stdio;

use secrecy::SecretString;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

use super::error::{Error, io};
use super::home::{Home, Record};
use super::plan::Plan;
use super::{Config, Keeper, Ports, Way, docker, log, maven, ports, probe, process};

/// Number of starts with other ports, if the chosen free ones were taken meanwhile.
const TRIES: u32 = 3;

/// Starts a server, after ending one left by an unclean stop.
pub(super) async fn launch(
    config: &Config,
    keeper: &Keeper,
    home: &Home,
    docker: &Path,
    stay: bool,
) -> Result<(Record, Option<Child>), Error> {
    let left = home.record();
    if let Some(record) = &left {
        match process::end_orphan(docker, home, record).await {
            Err(Error::Docker { why, next }) => {
                // The new record would be in place of the only one that names that container.
                if process::is_left(docker, home, record).await.unwrap_or(false) {
                    return Err(Error::Docker { why, next });
                }
                tracing::info!("{why}; starting another server");
            }
            Err(e) => return Err(e),
            Ok(_) => {}
        }
    }
    let before = left.map(|record| record.ports());
    let password = home.password()?;
    let mut tries = 0;
    loop {
        tries += 1;
        let ports = ports::choose(config, before)?;
        let plan = Plan { stay, ..plan(config, home, ports, &password).await? };
        match run(config, keeper, home, &plan).await {
            Err(e) if log::port_was_taken(&e) && tries < TRIES => {
                tracing::info!("a port was taken meanwhile; trying again")
            }
            Err(e) => return Err(e),
            Ok((record, child)) => return Ok((record, Some(child))),
        }
    }
}

/// Chooses how the server is started: the forced way, or the first one possible.
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
    tracing::info!("cannot use Docker ({docker}); trying Maven and Java");
    maven::plan(config, home, ports, password).await.map_err(|e| match e {
        Error::JavaMissing { .. }
        | Error::JavaTooOld { .. }
        | Error::MavenMissing { .. }
        | Error::Download { .. } => Error::NoWay { docker, maven: e.to_string() },
        other => other,
    })
}

/// Hands the plan to a new keeper and waits until the server is ready.
async fn run(config: &Config, keeper: &Keeper, home: &Home, plan: &Plan) -> Result<(Record, Child), Error> {
    tracing::info!("starting Neo4j in {}", home.path().display());
    let refused = |why: String| Error::Keeper { home: home.path().to_path_buf(), why };
    ebb_files::begin(&home.join(log::SERVER_LOG)).map_err(io("cannot create the server's log"))?; // so that no old line is read as new
    let output =
        ebb_files::begin(&home.join(log::KEEPER_LOG)).map_err(io("cannot create the keeper's log"))?;
    let errors = output.try_clone().map_err(io("cannot create the keeper's log"))?;
    let log_from = log::length(&home.join(log::DEBUG_LOG));
    let (program, words) =
        keeper.command.split_first().ok_or_else(|| refused("it has no command".to_owned()))?;
    let mut command = Command::new(program);
    command.args(words).arg("--home").arg(home.path()).current_dir(home.path());
    command.stdin(Stdio::piped()).stdout(output).stderr(errors);
    let mut child =
        command.spawn().map_err(|e| refused(format!("cannot run {}: {e}", program.to_string_lossy())))?;
    let text = serde_json::to_vec(plan).map_err(|e| refused(e.to_string()))?;
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(&text).await; // an early exit of the keeper is handled below
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
