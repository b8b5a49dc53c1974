//! Errors of finding or starting a server. Each variant is one situation in which the user can act: its text states the
//! fault, the place and the reason, and ends with the next step. Texts never contain a password or the user part of an
//! address.

use std::path::PathBuf;

/// Why no server is available, or why one could not be stopped or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The given address is not a valid address of a Neo4j server.
    #[error(
        "the Neo4j address {uri} cannot be used: {why}. Set NEO4J_URI to something like bolt://127.0.0.1:7687 or neo4j+s://db.example.org"
    )]
    Uri {
        /// The given address, without its user part.
        uri: String,
        /// Why it is not valid.
        why: String,
    },
    /// The given address would send data and password unencrypted, or to an unverified server.
    #[error(
        "the Neo4j address {uri} is refused: {why}. Use {instead}, or allow it with --insecure (neo4j.insecure = true)"
    )]
    Insecure {
        /// The given address, without its user part.
        uri: String,
        /// The risk.
        why: &'static str,
        /// The safe scheme.
        instead: &'static str,
    },
    /// An address is given without a password.
    #[error(
        "there is no password for {uri}: NEO4J_URI names a server, but neither NEO4J_PASSWORD nor NEO4J_PASSWORD_FILE is set. Set one of them (any text for a server without authentication), or unset NEO4J_URI to let Ebb run its own server"
    )]
    NoPassword {
        /// The given address.
        uri: String,
    },
    /// The file with the password of the given server cannot be used.
    #[error("the password file {} cannot be used: {why}. Put the password on its first line, readable only by you (chmod 600)", path.display())]
    PasswordFile {
        /// Path of the password file.
        path: PathBuf,
        /// Why it cannot be used.
        why: String,
    },
    /// Neither Docker nor Maven and Java can start a server here.
    #[error(
        "no Neo4j server can be started on this machine\n  through Docker: {docker}\n  through Maven and Java: {maven}\nEither start a Docker engine, or install Java 17 or newer and Maven (Debian: apt install openjdk-17-jre-headless maven; macOS: brew install openjdk@17 maven), or set NEO4J_URI to a running server; then run the command again"
    )]
    NoWay {
        /// Why not through Docker.
        docker: String,
        /// Why not through Maven.
        maven: String,
    },
    /// The Docker engine or the image is not available, or whether a container runs or belongs to this home is not known.
    #[error("{why}. {next}")]
    Docker {
        /// The fault.
        why: String,
        /// The next step.
        next: String,
    },
    /// Java is missing.
    #[error(
        "the managed Neo4j server needs Java, and {java} was not found. Install Java 17 or newer (Debian: apt install openjdk-17-jre-headless; macOS: brew install openjdk@17), or set neo4j.java to another"
    )]
    JavaMissing {
        /// The program that was searched for.
        java: String,
    },
    /// Java is too old or does not state its version.
    #[error(
        "the managed Neo4j server needs Java 17 or newer, and {java} is {found}. Install a newer one (Debian: apt install openjdk-17-jre-headless; macOS: brew install openjdk@17), or set neo4j.java to one"
    )]
    JavaTooOld {
        /// The Java program.
        java: String,
        /// Its version output.
        found: String,
    },
    /// The artifacts are not in the cache, and Maven is missing.
    #[error("the Neo4j artifacts are not in {} yet, and {mvn}, which would fetch them, was not found. Install Maven (Debian: apt install maven; macOS: brew install maven); it is needed once. Or copy that folder from another machine", lib.display())]
    MavenMissing {
        /// The program that was searched for.
        mvn: String,
        /// Folder of the artifacts.
        lib: PathBuf,
    },
    /// Maven ran but did not fetch the artifacts.
    #[error("Maven could not fetch the Neo4j artifacts into {}:\n{output}\n{next}", lib.display())]
    Download {
        /// Folder of the artifacts.
        lib: PathBuf,
        /// The relevant last lines of its output.
        output: String,
        /// The next step.
        next: &'static str,
    },
    /// A configured port is taken.
    #[error(
        "port {port} on 127.0.0.1 is taken, and neo4j.{key} requires it. Free the port, set another one, or set neo4j.{key} = 0 to let Ebb choose a free one"
    )]
    PortTaken {
        /// `bolt_port` or `http_port`.
        key: &'static str,
        /// The port.
        port: u16,
    },
    /// The home folder has contents that Ebb did not create.
    #[error("the folder {} has files but no marker file of Ebb, so it is not used. Set neo4j.home to an empty or a new folder", path.display())]
    ForeignHome {
        /// The folder.
        path: PathBuf,
    },
    /// The home folder has a database whose password is lost.
    #[error("the database in {} exists, but the file {} with its password does not. Put the password back into that file (chmod 600). To begin with an empty database and keep this one: mv '{}' '{}.lost'", home.display(), home.join("password").display(), home.display(), home.display())]
    PasswordLost {
        /// The home folder of the managed server.
        home: PathBuf,
    },
    /// Another process has the database open.
    #[error("another Neo4j server has the database in {} open, and Ebb did not start it. Stop it (find it with: ps ax | grep neo4j, or docker ps), or set neo4j.home to another folder; log: {}", home.display(), log.display())]
    StoreLocked {
        /// The home folder.
        home: PathBuf,
        /// The server's log.
        log: PathBuf,
    },
    /// The server did not get the memory it requested.
    #[error("Neo4j did not get the memory it needs ({line}). Lower neo4j.heap_mb and neo4j.pagecache_mb, or free memory; log: {}", log.display())]
    Memory {
        /// The line of the log with the error.
        line: String,
        /// The server's log.
        log: PathBuf,
    },
    /// The database was written by an incompatible server.
    #[error("the database in {} was written by another Neo4j version and this one cannot read it ({line}). Run it with that version (neo4j.image, or NEO4J_URI), or set neo4j.home to another folder; log: {}", home.display(), log.display())]
    StoreVersion {
        /// The home folder.
        home: PathBuf,
        /// The line of the log with the error.
        line: String,
        /// The server's log.
        log: PathBuf,
    },
    /// The server exited.
    #[error("the Neo4j server in {} exited before it was ready:\n{lines}\nThe whole log is {}; fix the cause, then run: ebb neo4j start", home.display(), log.display())]
    Died {
        /// The home folder.
        home: PathBuf,
        /// The relevant last lines of its log.
        lines: String,
        /// The server's log.
        log: PathBuf,
    },
    /// The server runs but does not respond.
    #[error("the Neo4j server in {} did not answer on 127.0.0.1:{port} within {seconds} s. Raise neo4j.start_timeout if this machine is slow; log: {}", home.display(), log.display())]
    NotReady {
        /// The home folder.
        home: PathBuf,
        /// Its Bolt port.
        port: u16,
        /// How long a response was awaited.
        seconds: u64,
        /// The server's log.
        log: PathBuf,
    },
    /// The server of others does not respond.
    #[error("the Neo4j server in {} does not answer on 127.0.0.1:{port}, and it is in use by {users}. Stop them, or stop it anyway: ebb neo4j stop --force; the next command starts another server", home.display())]
    Hung {
        /// The home folder.
        home: PathBuf,
        /// Its Bolt port.
        port: u16,
        /// Its other users.
        users: String,
    },
    /// A keeper does not say what it runs.
    #[error("a keeper of a Neo4j server runs in {}, but after {seconds} s there is no server.json of it. End that process (find it with: ps ax | grep 'neo4j keep'), then run the command again", home.display())]
    NoRecord {
        /// The home folder.
        home: PathBuf,
        /// How long the record was awaited.
        seconds: u64,
    },
    /// The keeper could not be started.
    #[error("the keeper of the Neo4j server in {} did not start: {why}. Try again: ebb neo4j start", home.display())]
    Keeper {
        /// The home folder.
        home: PathBuf,
        /// The reason.
        why: String,
    },
    /// Start or stop was requested for a given server.
    #[error(
        "NEO4J_URI is set to {uri}, and Ebb starts and stops only its own server. Unset NEO4J_URI to use the managed server"
    )]
    NotOurs {
        /// The given address.
        uri: String,
    },
    /// The server has other users.
    #[error("the Neo4j server in {} is in use by {users}. Stop them first, or stop it anyway: ebb neo4j stop --force", home.display())]
    InUse {
        /// The home folder.
        home: PathBuf,
        /// The users.
        users: String,
    },
    /// The keeper of the server is no process of this machine or container.
    #[error("the Neo4j server in {} cannot be stopped from here: process {pid} here is not its keeper, which runs in another container or on another machine, or knows this folder by another path. Stop it there: ebb neo4j stop", home.display())]
    KeeperElsewhere {
        /// The home folder.
        home: PathBuf,
        /// The process id that the keeper has where it runs.
        pid: u32,
    },
    /// The folder cannot be removed while its server runs.
    #[error("the folder {} cannot be removed: its Neo4j server is running. Stop it first: ebb neo4j stop", home.display())]
    Running {
        /// The home folder.
        home: PathBuf,
    },
    /// The server is still stopping.
    #[error("the Neo4j server in {} is still stopping after {seconds} s. It continues by itself; see: ebb neo4j status", home.display())]
    StillStopping {
        /// The home folder.
        home: PathBuf,
        /// How long its end was awaited.
        seconds: u64,
    },
    /// An error of the system.
    #[error("{what}: {source}")]
    Io {
        /// The attempted operation, with its path.
        what: String,
        /// The error of the system.
        source: std::io::Error,
    },
}

impl Error {
    /// Whether the settings are at fault rather than the machine: callers exit with the code for configuration.
    #[must_use]
    pub fn is_configuration(&self) -> bool {
        matches!(
            self,
            Self::Uri { .. }
                | Self::Insecure { .. }
                | Self::NoPassword { .. }
                | Self::PasswordFile { .. }
                | Self::ForeignHome { .. }
        )
    }
}

/// Converts an I/O error into [`Error::Io`] with the attempted operation.
pub(super) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
    let what = what.into();
    move |source| Error::Io { what, source }
}
