//! Find or start a Neo4j server.
//!
//! The order of choice: a server given by its address; else a *managed* one on this machine, through the Docker engine
//! if one is running and has or can pull the image, else from Maven artifacts with the machine's Java. Each way that is
//! skipped is logged in one line; if none is left, one error lists what to install. A managed server keeps its data,
//! password and logs in a home folder of its own (`home.rs`) and listens on loopback only.
//!
//! # One server, many programs
//! Every program that uses a home holds a shared lock in it, and a *keeper* (`keeper.rs`), which runs the server as its
//! child, waits for the exclusive one: it gets it when the last user is gone, for any reason, and stops the server
//! [`Config::keep`] after that use, since a start takes seconds and commands come in groups. A server started to stay
//! runs until it is stopped. Starting, stopping and removing are serialised by a second lock, so two programs that
//! start at once share one server. A third lock tells whether the keeper is running.
//!
//! Failures and their effects:
//! - A user is killed: its lock is free at once, which counts as the end of its use.
//! - The keeper is killed: the server continues for its users. The next program stops it and starts a new one on the
//!   same data and, if they are free, the same ports, so that the others can reconnect; if there is no next program,
//!   the last user stops it.
//! - The server dies: the keeper cleans up and exits, and the next program starts another server. The cause is read
//!   from the log and reported.
//! - The server hangs: the next program has its keeper stop it, and starts another one, unless others use it; then an
//!   error says so.
//! - Two servers start at once and choose the same free port: the one that fails to bind it exits, and is started again
//!   on another.
//! - The starter dies while the server starts: its use has ended, as for any other user.
//! - Keeper and users are killed at once: the server stays until the next command that starts or stops in this home,
//!   which ends it.
//! - The Docker client is killed, or the engine restarts and keeps its containers: the keeper stops the container and
//!   exits. If the engine does not answer then, the next command does that.
//! - Containers or machines share a home: its server is stopped where its keeper runs, and elsewhere an error says so.
//!
//! This crate reads no environment and names no other layer. Linux and macOS.

mod control;
mod docker;
mod error;
mod fixed;
mod given;
mod home;
mod keeper;
mod launch;
mod lock;
mod log;
mod maven;
mod plan;
mod ports;
mod probe;
mod process;
mod server;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use ports::Ports;

pub use control::{Running, Status, status, stop, wipe};
pub use error::Error;
pub use given::secret_in;
pub use keeper::keep;
pub use server::{Server, start};

/// Which server to use, and how to start a managed one. The values come from `config/default.toml` and what overrides
/// it.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address of a given server (`bolt`, `bolt+s`, `neo4j`, `neo4j+s`, …). Without it a managed server is used.
    pub uri: Option<String>,
    /// User name at a given server; that of a managed one is `neo4j`.
    pub username: String,
    /// Password at a given server. Takes precedence over `password_file`; that of a managed server is generated.
    pub password: Option<SecretString>,
    /// File with that password in its first line.
    pub password_file: Option<PathBuf>,
    /// Name of the database.
    pub database: String,
    /// Allows a given server outside loopback without verified TLS.
    pub insecure: bool,
    /// Home folder of the managed server: data, password, logs. Each has one server.
    pub home: PathBuf,
    /// Forces one way of starting it.
    pub way: Option<Way>,
    /// Docker image of the managed server.
    pub image: String,
    /// Bolt port on 127.0.0.1; 0 takes 7687, or a free one if that is taken.
    pub bolt_port: u16,
    /// HTTP port on 127.0.0.1, for Neo4j Browser; 0 takes 7474, or a free one if that is taken.
    pub http_port: u16,
    /// Greatest Java heap, MiB; at least 128.
    pub heap_mb: u32,
    /// Page cache, MiB; at least 8.
    pub pagecache_mb: u32,
    /// Whether a managed server is soon done with: its Java compiles in one quick step, which halves the work of the first
    /// minute, and costs speed later.
    pub is_brief: bool,
    /// How long a server runs on after its last use; zero stops it at once. As with all settings of a managed server,
    /// those of the program that starts it apply until it ends.
    pub keep: Duration,
    /// Time limit of a start, without fetching artifacts or replaying a log.
    pub start_timeout: Duration,
    /// Folder for downloads shared by all homes; the artifacts are in its folder `neo4j`. Without it a folder `cache`
    /// beside the home.
    pub cache: Option<PathBuf>,
    /// Path of Java, 17 or newer; without it `java` from the path.
    pub java: Option<PathBuf>,
    /// Path of Maven; without it `mvn` from the path.
    pub mvn: Option<PathBuf>,
    /// Path of the Docker client; without it `docker` from the path.
    pub docker: Option<PathBuf>,
}

/// How a managed server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// A container.
    Docker,
    /// Maven artifacts, run by the machine's Java.
    Maven,
}

/// The origin of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Given in the settings; Ebb does not start or stop it.
    Given,
    /// Managed, in a container.
    Docker,
    /// Managed, run by Java.
    Maven,
}

impl From<Way> for Origin {
    fn from(way: Way) -> Self {
        match way {
            Way::Docker => Self::Docker,
            Way::Maven => Self::Maven,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Given => "given",
            Self::Docker => "docker",
            Self::Maven => "maven",
        })
    }
}

/// Everything a client needs to connect.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Bolt address, with its port and without user part.
    pub uri: String,
    /// User name.
    pub username: String,
    /// Password.
    pub password: SecretString,
    /// Name of the database.
    pub database: String,
    /// Base address of HTTP and of Neo4j Browser, without a final slash; only of managed servers.
    pub http: Option<String>,
    /// The origin of the server.
    pub origin: Origin,
    /// Home folder of a managed server.
    pub home: Option<PathBuf>,
}

/// The command that runs [`keep`]: program and arguments, to which `--home HOME` is added.
#[derive(Debug, Clone)]
pub struct Keeper {
    /// Program and arguments, such as `["/usr/bin/ebb", "neo4j", "keep"]`. Not empty; the last two, by which a running
    /// keeper is told from other processes, are those.
    pub command: Vec<OsString>,
}

impl Keeper {
    /// The keeper command of the `ebb` program at this path.
    #[must_use]
    pub fn of(ebb: &Path) -> Self {
        Self { command: vec![ebb.into(), "neo4j".into(), "keep".into()] }
    }
}

/// Returns the server to use: the given one, or a managed one, started if it does not run. It is kept running as long
/// as the returned value lives, and [`Config::keep`] more.
///
/// # Errors
/// An [`Error`] of the settings, of missing programs on the machine, or of a failed start.
pub async fn acquire(config: &Config, keeper: &Keeper) -> Result<Server, Error> {
    match &config.uri {
        Some(uri) => Ok(Server::given(given::endpoint(config, uri)?)),
        None => {
            if config.password.is_some() || config.password_file.is_some() {
                tracing::warn!(
                    "a password is set but NEO4J_URI is not: the managed server has its own password"
                );
            }
            server::acquire(config, keeper, false).await
        }
    }
}

/// The address of Neo4j Browser at this server, with its form filled in and, if given, a query in its editor, which is
/// not run. `None` if the HTTP address is unknown.
#[must_use]
pub fn browser_url(endpoint: &Endpoint, cypher: Option<&str>) -> Option<String> {
    let http = endpoint.http.as_ref()?;
    let mut url = format!("{http}/browser/?dbms={}&db={}", endpoint.uri, percent(&endpoint.database));
    if let Some(cypher) = cypher {
        url.push_str("&cmd=edit&arg=");
        url.push_str(&percent(cypher));
    }
    Some(url)
}

/// Percent-encoding of everything but the unreserved characters of RFC 3986.
fn percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Java's option for a server that is soon done with.
const QUICK_COMPILER: &str = "-XX:TieredStopAtLevel=1";

/// Settings of every managed server, however it is started.
fn server_settings(config: &Config, ports: Ports) -> Vec<(&'static str, String)> {
    let fixed = [
        // No usage reports.
        ("dbms.usage_report.enabled", "false"),
        ("client.allow_telemetry", "false"),
        // Both are off by default, and an abandoned transaction would hold its locks forever.
        ("db.transaction.timeout", "30s"),
        ("db.lock.acquisition.timeout", "10s"),
        // Keeps a small database small.
        ("db.tx_log.preallocate", "false"),
        ("db.tx_log.rotation.retention_policy", "keep_none"),
        // Limits the replay after a kill.
        ("db.checkpoint.interval.time", "1m"),
        ("db.checkpoint.iops.limit", "-1"),
        // Statements name their indexes, so growth alone makes no plan worse; a young graph grows tenfold in seconds.
        ("dbms.cypher.min_replan_interval", "1m"),
        // Stops in half a second instead of ten.
        ("internal.server.bolt.thread_pool_shutdown_wait_time", "0s"),
    ];
    let own = [
        // Used by Browser.
        ("server.bolt.advertised_address", format!("127.0.0.1:{}", ports.bolt)),
        ("server.http.advertised_address", format!("127.0.0.1:{}", ports.http)),
        ("server.memory.pagecache.size", format!("{}m", config.pagecache_mb)),
        ("dbms.memory.transaction.total.max", format!("{}m", config.heap_mb / 2)),
    ];
    fixed.into_iter().map(|(key, value)| (key, value.to_owned())).chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_address_fills_form_and_editor() {
        let endpoint = Endpoint {
            uri: "bolt://127.0.0.1:7687".to_owned(),
            username: "neo4j".to_owned(),
            password: "x".to_owned().into(),
            database: "neo4j".to_owned(),
            http: Some("http://127.0.0.1:7474".to_owned()),
            origin: Origin::Maven,
            home: None,
        };
        let url = browser_url(&endpoint, Some("MATCH (n) RETURN n // 5 %")).unwrap();
        let want = "http://127.0.0.1:7474/browser/?dbms=bolt://127.0.0.1:7687&db=neo4j&cmd=edit&arg=MATCH%20%28n%29%20RETURN%20n%20%2F%2F%205%20%25";
        assert_eq!(url, want);
        assert_eq!(browser_url(&Endpoint { http: None, ..endpoint }, None), None);
    }
}
