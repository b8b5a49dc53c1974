//! A server from Maven artifacts, run by the machine's Java.
//!
//! The artifacts are the jars listed in `config/neo4j/pom.xml`, in `<cache>/neo4j/<hash of that file>/lib`: read-only,
//! shared by every server of this user, and always complete, since they are fetched into another folder that is renamed
//! at the end. One program fetches, others wait. Once `lib` exists Maven is not needed.
//!
//! Java reads and verifies some thirty thousand classes before the server answers its first request. The first server
//! that stops cleanly stores them beside `lib` in their loaded form (class data sharing), for the same Java; later
//! servers start in two thirds of the time.
//!
//! The password is passed to Neo4j's own tool in an argument file that only its owner can read: command lines are
//! visible to every user of the machine.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use tokio::process::Command;

use super::error::{Error, io};
use super::fixed::Fixed;
use super::home::Home;
use super::lock::wait_lock;
use super::plan::{Kept, Plan};
use super::{Config, Ports, Way, log};

/// The list of artifacts of a server.
const POM: &str = include_str!("../../config/neo4j/pom.xml");
/// Oldest supported Java version.
const JAVA_FLOOR: u32 = 17;
/// Time limit of a download: long enough for a slow line, and bounded for a dead one.
const DOWNLOAD: Duration = Duration::from_secs(30 * 60);
/// The main class of the pinned version.
const MAIN: &str = "org.neo4j.server.CommunityEntryPoint";
/// Java options, besides heap and class path.
const FLAGS: [&str; 11] = [
    "-XX:+UseG1GC",
    "-XX:-OmitStackTraceInFastThrow",
    "-XX:+DisableExplicitGC",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "-Dfile.encoding=UTF-8",
    "-Dlog4j2.disable.jmx=true",
    "-Dio.netty.tryReflectionSetAccessible=true",
    // Disables log lines about classes that are not stored.
    "-Xlog:cds=off",
    "-Xlog:cds+dynamic=off",
];

/// Prepares the artifacts and returns the command that starts the server.
pub(super) async fn plan(
    config: &Config,
    home: &Home,
    ports: Ports,
    password: &SecretString,
) -> Result<Plan, Error> {
    let java = config.java.clone().unwrap_or_else(|| "java".into());
    let version = check_java(&java).await?;
    let lib = artifacts(config, home, &java).await?;
    let classes = lib.with_file_name(format!("classes-{}.jsa", hash(&version)));
    let folder = home.renew_run()?;
    if !home.has_store() {
        set_initial_password(&java, &lib, home, &folder, password).await?;
    }
    let mut args = vec!["-cp".to_owned(), format!("{}/*", lib.display())];
    args.push(format!("-Xms{}m", config.heap_mb.min(128.max(config.heap_mb / 4))));
    args.push(format!("-Xmx{}m", config.heap_mb));
    args.extend(FLAGS.map(str::to_owned));
    if config.is_brief {
        args.push(super::QUICK_COMPILER.to_owned());
    }
    let kept = if classes.is_file() {
        args.push(format!("-XX:SharedArchiveFile={}", classes.display()));
        None
    } else {
        let made = classes.with_extension(format!("{}.new", hash(&home.path().display().to_string())));
        args.push(format!("-XX:ArchiveClassesAtExit={}", made.display()));
        Some(Kept { made, name: classes })
    };
    args.push(MAIN.to_owned());
    args.extend([
        format!("--home-dir={}", folder.display()),
        format!("--config-dir={}", folder.join("conf").display()),
        "--console-mode".to_owned(),
    ]);
    for (connector, port) in [("bolt", ports.bolt), ("http", ports.http)] {
        args.extend(["-c".to_owned(), format!("server.{connector}.listen_address=127.0.0.1:{port}")]);
    }
    for (key, value) in super::server_settings(config, ports) {
        args.extend(["-c".to_owned(), format!("{key}={value}")]);
    }
    Ok(Plan {
        way: Way::Maven,
        program: java,
        args,
        env: Vec::new(),
        container: None,
        ports,
        stay: false,
        keep: config.keep,
        fixed: Fixed::of(config),
        kept,
    })
}

/// Checks the version of Java, and returns its version output.
async fn check_java(java: &Path) -> Result<String, Error> {
    let name = java.display().to_string();
    let output = run(Command::new(java).arg("-version")).await;
    let output = output.map_err(|e| match e.kind() {
        ErrorKind::NotFound => Error::JavaMissing { java: name.clone() },
        _ => io(format!("cannot run {name}"))(e),
    })?;
    let said = both(&output);
    match java_version(&said) {
        Some(version) if version >= JAVA_FLOOR => Ok(said),
        Some(version) => Err(Error::JavaTooOld { java: name, found: format!("version {version}") }),
        // The placeholder of some systems prints where to get Java, and no version.
        None => Err(Error::JavaTooOld {
            java: name,
            found: format!("not a Java that reports its version:\n{}", log::meaningful(&said)),
        }),
    }
}

/// The major version: 17 of `openjdk version "17.0.15"`, 8 of `java version "1.8.0_292"`.
fn java_version(said: &str) -> Option<u32> {
    let (_, rest) = said.split_once("version \"")?;
    let mut numbers = rest.split(|c: char| !c.is_ascii_digit());
    match numbers.next()?.parse().ok()? {
        1 => numbers.next()?.parse().ok(),
        version => Some(version),
    }
}

/// A short hash of a text, as a name.
fn hash(text: &str) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The folder of jars, fetched if missing.
async fn artifacts(config: &Config, home: &Home, java: &Path) -> Result<PathBuf, Error> {
    let cache = config.cache.clone().unwrap_or_else(|| home.path().with_file_name("cache"));
    let folder = std::path::absolute(cache.join("neo4j").join(hash(POM)))
        .map_err(io("cannot read the current folder"))?;
    let lib = folder.join("lib");
    if lib.is_dir() {
        return Ok(lib);
    }
    std::fs::create_dir_all(&folder)
        .map_err(io(format!("cannot create the cache folder {}", folder.display())))?;
    let _only_one =
        wait_lock(&folder.join("fetch.lock"), "another program is fetching the Neo4j artifacts").await?;
    if !lib.is_dir() {
        let mvn = config.mvn.clone().unwrap_or_else(|| "mvn".into());
        fetch(&mvn, java, &folder, &lib).await?;
    }
    Ok(lib)
}

/// Runs Maven to fill a folder beside `lib`, renamed to `lib` once it is complete.
async fn fetch(mvn: &Path, java: &Path, folder: &Path, lib: &Path) -> Result<(), Error> {
    // A new name each time: the Maven of a killed program continues to write into the old one.
    for old in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if old.file_name().to_string_lossy().starts_with("partial-") {
            let _ = std::fs::remove_dir_all(old.path());
        }
    }
    let partial = folder.join(format!("partial-{}", uuid::Uuid::new_v4().simple()));
    let write = || {
        std::fs::create_dir_all(&partial)?;
        std::io::Write::write_all(&mut ebb_files::begin(&partial.join("pom.xml"))?, POM.as_ref())
    };
    write().map_err(io(format!("cannot write into {}", partial.display())))?;
    tracing::info!("fetching Neo4j with Maven into {} (140 MB, once; about a minute)", lib.display());
    let mut command = Command::new(mvn);
    command.arg("-q").arg("-B").arg("-f").arg(partial.join("pom.xml"));
    command.arg("dependency:copy-dependencies").arg("-DincludeScope=runtime");
    command.arg(format!("-DoutputDirectory={}", partial.join("lib").display()));
    if let Some(java_home) = java.ancestors().nth(2).filter(|_| java.is_absolute()) {
        command.env("JAVA_HOME", java_home); // a configured Java is used for Maven too
    }
    let output = match tokio::time::timeout(DOWNLOAD, run(&mut command)).await {
        Ok(Ok(output)) => output,
        Ok(Err(e)) if e.kind() == ErrorKind::NotFound => {
            return Err(Error::MavenMissing { mvn: mvn.display().to_string(), lib: lib.to_path_buf() });
        }
        Ok(Err(e)) => return Err(io(format!("cannot run {}", mvn.display()))(e)),
        Err(_) => return Err(download_failed(lib, "not finished after 30 minutes")),
    };
    if !output.status.success() {
        return Err(download_failed(lib, &both(&output)));
    }
    if !has_server(&partial.join("lib")) {
        return Err(download_failed(lib, "Maven succeeded, but the server is not among the jars"));
    }
    std::fs::rename(partial.join("lib"), lib)
        .map_err(io(format!("cannot rename the folder to {}", lib.display())))?;
    let _ = std::fs::remove_dir_all(&partial);
    tracing::info!("Neo4j is in {}", lib.display());
    Ok(())
}

/// Whether the server itself is among the jars.
fn has_server(lib: &Path) -> bool {
    let names = std::fs::read_dir(lib).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.into_iter().any(|name| name.to_string_lossy().starts_with("neo4j-server-"))
}

/// The last output of Maven, and the fitting next step.
fn download_failed(lib: &Path, said: &str) -> Error {
    // Without a repository Maven first lacks its own plugin, and reports that without mentioning a network.
    let network = [
        "Could not transfer",
        "Could not resolve",
        "could not be resolved",
        "No plugin found for prefix",
        "Cannot access",
        "Unknown host",
    ];
    let next = if network.iter().any(|phrase| said.contains(phrase)) {
        "Its repository is out of reach: check the network and the proxy or mirror in ~/.m2/settings.xml, then run the command again. Offline, copy a complete lib folder from another machine to that path"
    } else {
        "Fix that error, then run the command again; or start a Docker engine, or set NEO4J_URI to a running server"
    };
    let noise = ["Re-run Maven", "re-run Maven", "For more information about", "[ERROR] [Help"];
    let lines = said.lines().filter(|line| !noise.iter().any(|phrase| line.contains(phrase)));
    let output = lines.collect::<Vec<_>>().join("\n").replace(" -> [Help 1]", "");
    Error::Download { lib: lib.to_path_buf(), output: log::meaningful(&output), next }
}

/// Sets the password of Neo4j before its first start; later calls have no effect.
async fn set_initial_password(
    java: &Path,
    lib: &Path,
    home: &Home,
    folder: &Path,
    password: &SecretString,
) -> Result<(), Error> {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let words = [
        "-cp",
        &quoted(&format!("{}/*", lib.display())),
        "org.neo4j.cli.AdminTool",
        "dbms",
        "set-initial-password",
    ];
    home.write_private(
        "first-password.args",
        &format!("{} {}\n", words.join(" "), quoted(password.expose_secret())),
    )?;
    let file = home.join("first-password.args");
    let mut at = std::ffi::OsString::from("@");
    at.push(&file);
    let output =
        run(Command::new(java).arg(at).env("NEO4J_HOME", folder).env("NEO4J_CONF", folder.join("conf")))
            .await;
    let removed = std::fs::remove_file(&file);
    let output = output.map_err(io("cannot run Neo4j's tool that sets the password"))?;
    removed.map_err(io(format!("cannot remove {}", file.display())))?;
    if output.status.success() {
        return Ok(());
    }
    let lines = log::meaningful(&both(&output)).replace(password.expose_secret(), "…");
    Err(Error::Died { home: home.path().to_path_buf(), lines, log: home.join(log::SERVER_LOG) })
}

/// Runs a program to its end and returns its output; it ends with this process.
pub(super) async fn run(command: &mut Command) -> std::io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command.spawn()?.wait_with_output().await
}

/// Standard output, then error output.
pub(super) fn both(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_java_version_is_read() {
        assert_eq!(java_version("openjdk version \"17.0.15\" 2025-04-15"), Some(17));
        assert_eq!(java_version("NOTE: Picked up JDK_JAVA_OPTIONS\njava version \"1.8.0_292\""), Some(8));
        assert_eq!(java_version("openjdk version \"25\" 2026-09-15"), Some(25));
        assert_eq!(java_version("No Java runtime present, requesting install."), None);
    }

    #[test]
    fn a_failed_download_shows_the_error_and_the_next_step() {
        let bare =
            "[ERROR] No plugin found for prefix 'dependency' in the current project -> [Help 1]\n[ERROR] \n";
        let text = download_failed(Path::new("/c/lib"), bare).to_string();
        assert!(
            text.contains("out of reach")
                && text.contains("  No plugin found for prefix 'dependency' in the current project\n"),
            "{text}"
        );
        let said = "[ERROR] Failed to execute goal x: Could not transfer artifact a:b:jar:1: Unknown host repo\n[ERROR] Re-run Maven using the -X switch\n[ERROR] [Help 1] http://x\n";
        let text = download_failed(Path::new("/c/lib"), said).to_string();
        assert!(
            text.contains("Unknown host repo") && text.contains("settings.xml") && !text.contains("Re-run"),
            "{text}"
        );
    }
}
