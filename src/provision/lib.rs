//! Find or start a Neo4j server.
//!
//! The order of choice: a server given by its address; else a *managed* one on this machine, through the
//! Docker engine if one answers and has or can pull the image, else from Maven artifacts and the machine's
//! Java. Each way that is passed over is named in one line; if none is left, one error lists what to install.
//! A managed server keeps its data, password and logs in a home folder of its own (`home.rs`) and listens on
//! loopback only.
//!
//! # One server, many programs
//! Every program that uses a home holds a shared lock in it, and a *keeper* (`keeper.rs`), which runs the
//! server as its child, waits for the exclusive one: it gets it when the last user is gone, however that user
//! went, and then stops the server. A server started to stay is not watched and waits to be told. Starting,
//! stopping and removing are serialised by a second lock, so two programs that start at once end up with one
//! server. A third lock tells whether the keeper lives.
//!
//! What can be hurt, and what follows:
//! - A user is killed: its lock is free at once; if it was the last one the keeper stops the server.
//! - The keeper is killed: the server goes on for those who use it. The next to come stops it and starts a
//!   new one on the same data and, if they are free, the same ports, so that the others can connect again; if
//!   nobody comes, the last user to leave stops it.
//! - The server dies: the keeper cleans up and leaves, and the next to come starts another. The cause is read
//!   from the log and told.
//! - Two servers start at once and choose the same free port: the one that loses it ends, and is started again on
//!   another.
//! - The starter dies while the server starts: the keeper finds itself without users and stops it.
//! - Both keeper and users are killed at once: the server is left over until the next command that starts
//!   or stops in this home, which ends it.
//!
//! This floor reads no environment and knows no other floor. Linux and macOS.

mod control;
mod docker;
mod error;
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
pub use keeper::keep;
pub use server::{Server, start};

/// Which server to work with, and how a managed one is brought up. The values come from `config/default.toml`
/// and what overrides it.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address of a given server (`bolt`, `bolt+s`, `neo4j`, `neo4j+s`, …). Without it a managed server is
    /// used.
    pub uri: Option<String>,
    /// User name at a given server; a managed one has `neo4j`.
    pub username: String,
    /// Password at a given server. Goes before `password_file`; a managed server makes its own.
    pub password: Option<SecretString>,
    /// File whose first line is that password.
    pub password_file: Option<PathBuf>,
    /// Name of the database.
    pub database: String,
    /// Allows a given server beyond loopback without verified TLS.
    pub insecure: bool,
    /// Home folder of the managed server: data, password, logs. One server for each.
    pub home: PathBuf,
    /// Forces one way of bringing it up.
    pub way: Option<Way>,
    /// Docker image of the managed server.
    pub image: String,
    /// Bolt port on 127.0.0.1; 0 takes 7687, or a free one if that is taken.
    pub bolt_port: u16,
    /// HTTP port on 127.0.0.1, where Neo4j Browser is; 0 takes 7474, or a free one if that is taken.
    pub http_port: u16,
    /// Most Java heap, MiB; at least 128.
    pub heap_mb: u32,
    /// Page cache, MiB; at least 8.
    pub pagecache_mb: u32,
    /// How long a start may take, beside fetching and the replay of a log.
    pub start_timeout: Duration,
    /// Folder for what is fetched once and shared by all homes; the artifacts go into `neo4j` in it. Without it a
    /// folder `cache` beside the home.
    pub cache: Option<PathBuf>,
    /// Java to use, 17 or newer; without it `java` from the path.
    pub java: Option<PathBuf>,
    /// Maven to use; without it `mvn` from the path.
    pub mvn: Option<PathBuf>,
    /// Docker client to use; without it `docker` from the path.
    pub docker: Option<PathBuf>,
}

/// How a managed server is brought up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// A container.
    Docker,
    /// Maven artifacts, run by the machine's Java.
    Maven,
}

/// Where a server came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Named in the settings; not ours to start or stop.
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

/// All a client needs to connect.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Address for Bolt, with its port and without user part.
    pub uri: String,
    /// User name.
    pub username: String,
    /// Password.
    pub password: SecretString,
    /// Name of the database.
    pub database: String,
    /// Base address of HTTP and of Neo4j Browser, without a slash at its end; known for managed servers only.
    pub http: Option<String>,
    /// Where the server came from.
    pub origin: Origin,
    /// Home folder of a managed server.
    pub home: Option<PathBuf>,
}

/// The command line that runs [`keep`]: the program and its words, to which `--home HOME` is added.
#[derive(Debug, Clone)]
pub struct Keeper {
    /// Program first, such as `["/usr/bin/ebb", "neo4j", "keep"]`. Not empty.
    pub command: Vec<OsString>,
}

impl Keeper {
    /// The keeper of the `ebb` program at this path.
    #[must_use]
    pub fn of(ebb: &Path) -> Self {
        Self { command: vec![ebb.into(), "neo4j".into(), "keep".into()] }
    }
}

/// The server to work with: the given one, or a managed one, started if it does not run. It is kept running
/// as long as the answer lives.
///
/// # Errors
/// Each of [`Error`] that tells of the settings, of what is missing on the machine, or of a start that
/// failed.
pub async fn acquire(config: &Config, keeper: &Keeper) -> Result<Server, Error> {
    match &config.uri {
        Some(uri) => Ok(Server::given(given::endpoint(config, uri)?)),
        None => {
            if config.password.is_some() || config.password_file.is_some() {
                tracing::warn!(
                    "a password is set but NEO4J_URI is not: the managed server has a password of its own"
                );
            }
            server::acquire(config, keeper, false).await
        }
    }
}

/// Neo4j Browser at this server, its form filled in and, if given, a query in its editor; nothing runs by
/// itself. Nothing if it is not known where its HTTP is.
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

/// The settings of every managed server, whichever way it is brought up.
fn server_settings(config: &Config, ports: Ports) -> Vec<(&'static str, String)> {
    let fixed = [
        // No reports to the maker.
        ("dbms.usage_report.enabled", "false"),
        ("client.allow_telemetry", "false"),
        // Both are off by default, and a forgotten transaction would hold its locks for ever.
        ("db.transaction.timeout", "30s"),
        ("db.lock.acquisition.timeout", "10s"),
        // A small store stays small.
        ("db.tx_log.preallocate", "false"),
        ("db.tx_log.rotation.retention_policy", "keep_none"),
        // Bounds what is replayed after a kill.
        ("db.checkpoint.interval.time", "1m"),
        ("db.checkpoint.iops.limit", "-1"),
        // Statements name their index entries, so growth alone makes no plan worse; a young graph grows tenfold in seconds.
        ("dbms.cypher.min_replan_interval", "1m"),
        // A stop in half a second instead of ten.
        ("internal.server.bolt.thread_pool_shutdown_wait_time", "0s"),
    ];
    let own = [
        // Browser follows it.
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
