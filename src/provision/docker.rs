//! A server in a container, if a Docker engine is available. Everything goes through the `docker` program, which knows
//! how to reach its engine.
//!
//! `docker run` stays in the foreground as the keeper's child, so a container is watched and stopped like any other
//! server. The data is in the home folder, owned by the user: Docker and Maven can use the same home. Inside the
//! container the server listens on all interfaces, and only the loopback of this machine is mapped to it. The password
//! is passed through the client's environment, not its command line.
//!
//! A container may outlive its client, and homes of other machines or containers may be of the same path at the same
//! engine: the name of a container has the id of its home in it, and a server counts as ended when the engine says that
//! its container does not run.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use tokio::process::Command;
use tokio::time::timeout;

use super::error::Error;
use super::fixed::Fixed;
use super::home::Home;
use super::maven::{both, run};
use super::plan::Plan;
use super::{Config, Ports, Way, log};

/// Time limit of a request to the engine.
const QUESTION: Duration = Duration::from_secs(10);
/// Time limit of pulling an image.
const PULL: Duration = Duration::from_secs(30 * 60);

/// The `docker` program of the settings, or the one in the path.
pub(super) fn program(config: &Config) -> PathBuf {
    config.docker.clone().unwrap_or_else(|| "docker".into())
}

/// Checks engine and image and returns the command that starts the server.
pub(super) async fn plan(
    config: &Config,
    home: &Home,
    ports: Ports,
    password: &SecretString,
) -> Result<Plan, Error> {
    let docker = program(config);
    check_engine(&docker).await?;
    check_image(&docker, &config.image).await?;
    let name = container_name(home, &home.id()?);
    stop(&docker, &name).await?;

    let folder = |inside: &str, outside: &str| mount(&home.join(outside), inside);
    let mut args: Vec<String> =
        ["run", "--rm", "--stop-timeout", "30", "--name", &name].map(str::to_owned).into();
    args.extend(["--label".to_owned(), format!("ebb.home={}", home.path().display())]);
    args.extend(["--publish".to_owned(), format!("127.0.0.1:{}:7687", ports.bolt)]);
    args.extend(["--publish".to_owned(), format!("127.0.0.1:{}:7474", ports.http)]);
    args.extend([
        "--mount".to_owned(),
        folder("/data", "data"),
        "--mount".to_owned(),
        folder("/logs", "logs"),
    ]);
    let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
    if !user.is_root() {
        args.extend(["--user".to_owned(), format!("{}:{}", user.as_raw(), group.as_raw())]);
    }
    args.extend(["--env".to_owned(), "NEO4J_AUTH".to_owned()]);
    let heap = format!("{}m", config.heap_mb);
    let memory = [("server.memory.heap.initial_size", heap.clone()), ("server.memory.heap.max_size", heap)];
    for (key, value) in super::server_settings(config, ports).into_iter().chain(memory) {
        args.extend(["--env".to_owned(), format!("{}={value}", variable(key))]);
    }
    if config.is_brief {
        args.extend(["--env".to_owned(), format!("JAVA_TOOL_OPTIONS={}", super::QUICK_COMPILER)]);
    }
    args.push(config.image.clone());
    let env = vec![("NEO4J_AUTH".to_owned(), format!("neo4j/{}", password.expose_secret()))];
    Ok(Plan {
        way: Way::Docker,
        program: docker,
        args,
        env,
        container: Some(name),
        ports,
        stay: false,
        keep: config.keep,
        fixed: Fixed::of(config),
        kept: None,
    })
}

/// The value of `--mount` for a folder, which Docker reads as one record of CSV.
fn mount(folder: &Path, inside: &str) -> String {
    let source = format!("source={}", folder.display()).replace('"', "\"\"");
    format!("type=bind,\"{source}\",target={inside}")
}

/// The environment variable of the image for a setting: dots become `_`, and `_` becomes `__`.
fn variable(setting: &str) -> String {
    format!("NEO4J_{}", setting.replace('_', "__").replace('.', "_"))
}

/// The name of the container of a home with this id. A copy of a home has the id too, and another path.
pub(super) fn container_name(home: &Home, id: &str) -> String {
    let hash =
        Sha256::digest([home.path().as_os_str().as_encoded_bytes(), &b"\0"[..], id.as_bytes()].concat());
    let hash: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("ebb-neo4j-{hash}")
}

/// An error with the next step.
fn refused(why: impl Into<String>, next: impl Into<String>) -> Error {
    Error::Docker { why: why.into(), next: next.into() }
}

async fn check_engine(docker: &Path) -> Result<(), Error> {
    let next = "Start a Docker engine, or let Ebb use Maven and Java (EBB_NEO4J=maven)";
    let mut command = Command::new(docker);
    command.args(["version", "--format", "{{.Server.Version}}"]);
    match timeout(QUESTION, run(&mut command)).await {
        Err(_) => Err(refused("the Docker engine does not answer", next)),
        Ok(Err(e)) if e.kind() == ErrorKind::NotFound => {
            Err(refused(format!("the program {} does not exist", docker.display()), next))
        }
        Ok(Err(e)) => Err(refused(format!("{} cannot be run ({e})", docker.display()), next)),
        Ok(Ok(output)) if !output.status.success() => Err(refused("no Docker engine is running", next)),
        Ok(Ok(_)) => Ok(()),
    }
}

/// Checks that the image is on this machine, or pulls it.
async fn check_image(docker: &Path, image: &str) -> Result<(), Error> {
    let mut command = Command::new(docker);
    command.args(["image", "inspect", "--format", "{{.Id}}", image]);
    if matches!(timeout(QUESTION, run(&mut command)).await, Ok(Ok(output)) if output.status.success()) {
        return Ok(());
    }
    tracing::info!("pulling the image {image}");
    let mut command = Command::new(docker);
    command.args(["pull", "--quiet", image]);
    let said = match timeout(PULL, run(&mut command)).await {
        Ok(Ok(output)) if output.status.success() => return Ok(()),
        Ok(Ok(output)) => log::meaningful(&both(&output)).trim().to_owned(),
        Ok(Err(e)) => e.to_string(),
        Err(_) => "not finished after 30 minutes".to_owned(),
    };
    let why = format!("the image {image} is not on this machine and cannot be pulled ({said})");
    Err(refused(
        why,
        "Set EBB_NEO4J_IMAGE to an image that can be pulled, or let Ebb use Maven and Java (EBB_NEO4J=maven)",
    ))
}

/// Whether a container runs.
///
/// # Errors
/// When the engine does not say: a container may outlive its engine.
pub(super) async fn is_running(docker: &Path, name: &str) -> Result<bool, Error> {
    let mut command = Command::new(docker);
    command.args(["ps", "--quiet", "--filter", &format!("name=^/?{name}$")]);
    let why = match timeout(QUESTION, run(&mut command)).await {
        Ok(Ok(output)) if output.status.success() => return Ok(!output.stdout.trim_ascii().is_empty()),
        Ok(Ok(output)) => log::meaningful(&both(&output)).trim().to_owned(),
        Ok(Err(e)) => format!("{} cannot be run: {e}", docker.display()),
        Err(_) => format!("no answer within {} s", QUESTION.as_secs()),
    };
    Err(refused(
        format!("the Docker engine does not say whether the container {name} still runs ({why})"),
        "Start the engine, then run the command again",
    ))
}

/// Stops a container and removes it; returns whether it ran. A missing one is no error.
///
/// # Errors
/// When it may still run.
pub(super) async fn stop(docker: &Path, name: &str) -> Result<bool, Error> {
    let ran = is_running(docker, name).await?;
    if ran {
        let mut command = Command::new(docker);
        command.args(["stop", "--time", "30", name]);
        let _ = timeout(Duration::from_secs(40), run(&mut command)).await; // if that failed, this removes it
    }
    remove(docker, name).await;
    if ran && is_running(docker, name).await? {
        let next = format!("Stop it, then run the command again: docker stop {name}");
        return Err(refused(format!("the container {name} still runs after it was stopped"), next));
    }
    Ok(ran)
}

/// Removes a container, running or not. A missing one is no error.
pub(super) async fn remove(docker: &Path, name: &str) {
    let mut command = Command::new(docker);
    command.args(["rm", "--force", name]);
    let _ = timeout(QUESTION, run(&mut command)).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_field_whatever_is_in_it() {
        let of = |path: &str| mount(Path::new(path), "/data");
        assert_eq!(of("/srv/a b"), r#"type=bind,"source=/srv/a b",target=/data"#);
        assert_eq!(of("/srv/a,b \"c\""), r#"type=bind,"source=/srv/a,b ""c""",target=/data"#);
    }

    #[test]
    fn homes_of_the_same_path_have_containers_of_different_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h");
        let name = || {
            let home = Home::open(&path).unwrap();
            container_name(&home, &home.id().unwrap())
        };
        let first = name();
        assert_eq!(name(), first, "the id stays");
        std::fs::rename(&path, folder.path().join("other")).unwrap();
        assert_ne!(name(), first);
        let moved = Home::open(&folder.path().join("other")).unwrap();
        assert_ne!(container_name(&moved, &moved.id().unwrap()), first, "a copy has the same id");
    }

    #[test]
    fn settings_become_the_variables_the_image_reads() {
        assert_eq!(variable("db.tx_log.preallocate"), "NEO4J_db_tx__log_preallocate");
        assert_eq!(variable("server.bolt.advertised_address"), "NEO4J_server_bolt_advertised__address");
    }
}
