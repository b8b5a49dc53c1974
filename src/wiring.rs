//! Wiring: from settings to a service, floor by floor.
//!
//! `store` and `provision` do not know each other, and no floor knows the settings: here each gets what it needs.

use crate::clock::Clock;
use crate::domain::ids::Scope;
use crate::service::{self, Service};
use crate::settings::Settings;
use crate::store::{self, Store};
use secrecy::SecretString;
use std::path::{Path, PathBuf};

/// A service over a database.
pub struct Open {
    /// It.
    pub service: Service,
}

/// Whether a database that was never initialised is prepared on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prepare {
    /// It is left as it is: somebody else's.
    AsItIs,
    /// It gets constraints, indexes and tunables: ours, or scratch.
    Initialised,
}

/// Why there is no service.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No server is named.
    #[error("no server is named; set NEO4J_URI to its address, such as bolt://localhost:7687")]
    NoServer,
    /// The file with the password cannot be read.
    #[error("the password cannot be read from {path}: {why}")]
    Password {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// The database.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// Opens the service over the server that the settings name. The first connection is made by the first verb, or here
/// where the database is to be prepared.
///
/// # Errors
/// [`Error`].
pub async fn open(settings: &Settings, scope: Scope, prepare: Prepare) -> Result<Open, Error> {
    let neo4j = &settings.neo4j;
    let config = store::Config {
        uri: neo4j.uri.clone().ok_or(Error::NoServer)?,
        username: neo4j.username.clone(),
        password: password(neo4j.password.as_ref(), neo4j.password_file.as_deref())?,
        database: neo4j.database.clone(),
        connections: neo4j.connections,
        acquire_timeout: neo4j.acquire_timeout,
        lease: settings.worker.lease,
    };
    let service = Service::new(Store::connect(&config)?, Clock::Real, config_of(settings, scope));
    if prepare == Prepare::Initialised {
        service.initialise().await?;
    }
    Ok(Open { service })
}

fn config_of(settings: &Settings, scope: Scope) -> service::Config {
    let job = |job: &crate::settings::jobs::JobConfig| service::JobConfig {
        enabled: job.enabled,
        every: job.every,
        time_limit: job.time_limit,
    };
    service::Config {
        consolidation: settings.memory.clone(),
        jobs: [job(&settings.jobs.decay), job(&settings.jobs.promote)],
        scope,
    }
}

/// The password itself, or the first line of its file; empty for a server without sign-in.
fn password(stated: Option<&SecretString>, file: Option<&Path>) -> Result<SecretString, Error> {
    match (stated, file) {
        (Some(stated), _) => Ok(stated.clone()),
        (None, Some(file)) => {
            let text = std::fs::read_to_string(file)
                .map_err(|why| Error::Password { path: file.to_owned(), why })?;
            Ok(text.lines().next().unwrap_or_default().to_owned().into())
        }
        (None, None) => Ok(String::new().into()),
    }
}
