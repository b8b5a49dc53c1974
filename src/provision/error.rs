//! What can go wrong while a server is found or started. One variant is one situation a person can act on:
//! its text says what, where and why, and ends with the next command. Texts never carry a password or the
//! user part of an address.

use std::path::PathBuf;

/// Why there is no server to work with, or why one could not be stopped or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The given address is not one a Neo4j server can be reached under.
    #[error(
        "the Neo4j address {uri} cannot be used: {why}. Set NEO4J_URI to something like bolt://127.0.0.1:7687 or neo4j+s://db.example.org"
    )]
    Uri {
        /// The address as given, its user part cut off.
        uri: String,
        /// What is wrong with it.
        why: String,
    },
    /// The given address would send data and password unencrypted, or to a server nobody verified.
    #[error(
        "the Neo4j address {uri} is refused: {why}. Use {instead}, or allow it with --insecure (neo4j.insecure = true)"
    )]
    Insecure {
        /// The address as given, its user part cut off.
        uri: String,
        /// What would be at risk.
        why: &'static str,
        /// The scheme that is safe.
        instead: &'static str,
    },
    /// An address is given, but no password.
    #[error(
        "there is no password for {uri}: NEO4J_URI names a server, but neither NEO4J_PASSWORD nor NEO4J_PASSWORD_FILE is set. Set one of them (for a server without authentication any word will do), or unset NEO4J_URI to let Ebb run a server of its own"
    )]
    NoPassword {
        /// The given address.
        uri: String,
    },
    /// The file that should hold the password of the given server cannot be used.
    #[error("the password file {} cannot be used: {why}. Put the password on its first line, readable by you alone (chmod 600)", path.display())]
    PasswordFile {
        /// The file named in the settings.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// Neither Docker nor Maven and Java can bring up a server here.
    #[error(
        "no Neo4j server can be brought up on this machine\n  through Docker: {docker}\n  through Maven and Java: {maven}\nEither start a Docker engine, or install Java 17 or newer and Maven (Debian: apt install openjdk-17-jre-headless maven; macOS: brew install openjdk@17 maven), or name a running server in NEO4J_URI; then run the command again"
    )]
    NoWay {
        /// Why not through Docker.
        docker: String,
        /// Why not through Maven.
        maven: String,
    },
    /// The Docker engine, or the image, is not to be had.
    #[error("{why}. {next}")]
    Docker {
        /// What was found instead.
        why: String,
        /// What to do about it.
        next: String,
    },
    /// There is no Java.
    #[error(
        "the managed Neo4j server needs Java, and {java} is not to be found. Install Java 17 or newer (Debian: apt install openjdk-17-jre-headless; macOS: brew install openjdk@17), or name another in neo4j.java"
    )]
    JavaMissing {
        /// The program that was looked for.
        java: String,
    },
    /// Java is too old or does not say how old it is.
    #[error(
        "the managed Neo4j server needs Java 17 or newer, and {java} is {found}. Install a newer one (Debian: apt install openjdk-17-jre-headless; macOS: brew install openjdk@17), or name it in neo4j.java"
    )]
    JavaTooOld {
        /// The program that was asked.
        java: String,
        /// Its answer.
        found: String,
    },
    /// The artifacts are not in the cache, and there is no Maven to fetch them.
    #[error("the Neo4j artifacts are not in {} yet, and {mvn}, which would fetch them, is not to be found. Install Maven (Debian: apt install maven; macOS: brew install maven); it is needed once. A filled folder copied from another machine does as well", lib.display())]
    MavenMissing {
        /// The program that was looked for.
        mvn: String,
        /// Where the artifacts belong.
        lib: PathBuf,
    },
    /// Maven ran and did not bring the artifacts.
    #[error("Maven could not fetch the Neo4j artifacts into {}:\n{output}\n{next}", lib.display())]
    Download {
        /// Where the artifacts belong.
        lib: PathBuf,
        /// The last lines of its output that say something.
        output: String,
        /// What to do about it.
        next: &'static str,
    },
    /// A stated port is taken.
    #[error(
        "port {port} on 127.0.0.1 is taken, and neo4j.{key} states it. Free the port, state another one, or set neo4j.{key} = 0 to let Ebb take a free one"
    )]
    PortTaken {
        /// `bolt_port` or `http_port`.
        key: &'static str,
        /// The port.
        port: u16,
    },
    /// The home folder holds something that is not ours.
    #[error("the folder {} holds files but no mark of Ebb, so it is left alone. Name an empty or a new folder in neo4j.home", path.display())]
    ForeignHome {
        /// The folder.
        path: PathBuf,
    },
    /// The home folder holds a database whose password is lost.
    #[error("the database in {} exists, but the file {} with its password does not. Put the password back into that file (chmod 600), or, if the data may go, remove the folder: rm -r {}", home.display(), home.join("password").display(), home.display())]
    PasswordLost {
        /// The home folder of the managed server.
        home: PathBuf,
    },
    /// Another process has the store open.
    #[error("another Neo4j server has the database in {} open, and it is not one that Ebb keeps. Stop it (ps ax | grep neo4j names it), or name another folder in neo4j.home; log: {}", home.display(), log.display())]
    StoreLocked {
        /// The home folder.
        home: PathBuf,
        /// The server's log.
        log: PathBuf,
    },
    /// The server did not get the memory it asked for.
    #[error("Neo4j did not get the memory it needs ({line}). Lower neo4j.heap_mb and neo4j.pagecache_mb, or free memory; log: {}", log.display())]
    Memory {
        /// The line that says so.
        line: String,
        /// The server's log.
        log: PathBuf,
    },
    /// The store was written by a server this one cannot follow.
    #[error("the database in {} was written by another Neo4j version that this one cannot read ({line}). Run it with that version (neo4j.image, or NEO4J_URI), or name another folder in neo4j.home; log: {}", home.display(), log.display())]
    StoreVersion {
        /// The home folder.
        home: PathBuf,
        /// The line that says so.
        line: String,
        /// The server's log.
        log: PathBuf,
    },
    /// The server ended by itself.
    #[error("the Neo4j server in {} ended before it was ready:\n{lines}\nThe whole log is {}; then try again: ebb neo4j start", home.display(), log.display())]
    Died {
        /// The home folder.
        home: PathBuf,
        /// The last lines of its log that say something.
        lines: String,
        /// The server's log.
        log: PathBuf,
    },
    /// The server runs but does not answer.
    #[error("the Neo4j server in {} did not answer on 127.0.0.1:{port} within {seconds} s. Raise neo4j.start_timeout if this machine is slow; log: {}", home.display(), log.display())]
    NotReady {
        /// The home folder.
        home: PathBuf,
        /// Its Bolt port.
        port: u16,
        /// How long it was waited for.
        seconds: u64,
        /// The server's log.
        log: PathBuf,
    },
    /// The process that watches over the server could not be started.
    #[error("the keeper of the Neo4j server in {} did not start: {why}. Try again: ebb neo4j start", home.display())]
    Keeper {
        /// The home folder.
        home: PathBuf,
        /// What it said last.
        why: String,
    },
    /// A given server was to be started or stopped.
    #[error(
        "NEO4J_URI names the server {uri}, and Ebb starts and stops only its own. Unset NEO4J_URI to work with the managed server"
    )]
    NotOurs {
        /// The given address.
        uri: String,
    },
    /// The server is in use by others.
    #[error("the Neo4j server in {} is in use by {users}. End them first, or stop it all the same: ebb neo4j stop --force", home.display())]
    InUse {
        /// The home folder.
        home: PathBuf,
        /// Who uses it.
        users: String,
    },
    /// The folder cannot be removed while its server runs.
    #[error("the folder {} cannot be removed: its Neo4j server is running. Stop it first: ebb neo4j stop", home.display())]
    Running {
        /// The home folder.
        home: PathBuf,
    },
    /// The server was told to stop and is still at it.
    #[error("the Neo4j server in {} is still stopping after {seconds} s. It goes on by itself; see: ebb neo4j status", home.display())]
    StillStopping {
        /// The home folder.
        home: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// A file or program did not do what it always does.
    #[error("{what}: {source}")]
    Io {
        /// What was attempted, with its path.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Error {
    /// Whether the settings are at fault rather than the machine: callers exit with the code for
    /// configuration.
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

/// Turns an I/O error into [`Error::Io`] with what was attempted.
pub(super) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
    let what = what.into();
    move |source| Error::Io { what, source }
}
