//! The section `[neo4j]`: which server to use, how to connect to it, and how to run a managed one.

use super::kind::duration;
use secrecy::SecretString;
use serde::Deserialize;
use std::path::PathBuf;
use std::time::Duration;

/// Which server, and how to start one where none is given. Every field is described in `config/default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "each is documented where it is set, in config/default.toml")]
pub struct Config {
    pub uri: Option<String>,
    pub username: String,
    pub password: Option<SecretString>,
    pub password_file: Option<PathBuf>,
    pub database: String,
    pub insecure: bool,
    pub home: PathBuf,
    pub cache: Option<PathBuf>,
    pub java: Option<PathBuf>,
    pub mvn: Option<PathBuf>,
    pub docker: Option<PathBuf>,
    pub way: Option<Way>,
    pub image: String,
    pub bolt_port: u16,
    pub http_port: u16,
    pub heap_mb: u32,
    pub pagecache_mb: u32,
    #[serde(deserialize_with = "duration")]
    pub start_timeout: Duration,
    pub connections: usize,
    #[serde(deserialize_with = "duration")]
    pub acquire_timeout: Duration,
}

/// Where a managed server comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// The Docker engine and an image.
    Docker,
    /// Artifacts from Maven, run by the machine's Java.
    Maven,
}
