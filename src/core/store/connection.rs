//! Connection pools, and settings of the store.
//!
//! A program has four pools, so that none of its parts can take the connections of another: one for requests and
//! commands, one for jobs and mirrors, two connections for leases, and two for the journal. Each is opened at its first use. Acquiring a
//! connection has a limit of its own, since the driver's covers the TCP connect only: a peer that accepts and never
//! responds would block it.

use super::error::Error;
use super::tx::Driver;
use crate::domain::mapping::Mapping;
use crate::domain::policy::Regime;
use crate::domain::relation::{Fading, Pins};
use crate::domain::retention::Retention;
use crate::domain::similarity::Similarity;
use crate::domain::trail::Trails;
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;

/// The settings of the store: its connection, and the parameters of its laws.
#[derive(Debug, Clone)]
pub struct Config {
    /// `bolt://`, `bolt+s://`, `neo4j://` or `neo4j+s://`.
    pub uri: String,
    pub username: String,
    pub password: SecretString,
    pub database: String,
    /// Most connections, in the pool of requests and in that of jobs.
    pub connections: usize,
    /// Time-out of acquiring a connection.
    pub acquire_timeout: Duration,
    /// Lease of a run or an attempt without a heartbeat.
    pub lease: Duration,
    /// Comparison of memories. From the section `[similarity]`.
    pub similarity: Similarity,
    /// Decay of relations. From the section `[relation]`.
    pub fading: Fading,
    /// Relations that never decay. From the same section.
    pub pins: Pins,
    /// Settings of trails. From the section `[pheromones]`.
    pub trails: Trails,
    /// Graphs of other libraries that are read. From `[[adopt]]`.
    pub mappings: Vec<Mapping>,
    /// Settings of sweeps. From `[[policies]]` and its variables, `[facts]` and `[guard]`.
    pub regime: Regime,
    /// Retention of Ebb's own records. From the section `[retention]`.
    pub retention: Retention,
}

/// Rows per fetch; more gives no speed-up.
const FETCH_SIZE: usize = 1_000;

/// Purpose of a connection pool.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    /// Requests and commands.
    Requests,
    /// Jobs, mirrors and probes.
    Jobs,
    /// Leases: short statements that must not wait behind long ones.
    Leases,
    /// The journal: reads beside an open transaction, which must not wait for one.
    Journal,
}

impl Purpose {
    /// Longest wait for one message of the server. For work above its transaction time-out of 30 s, so that the server
    /// decides; for leases below the length of one.
    const fn message_timeout(self) -> Duration {
        match self {
            Self::Requests | Self::Jobs | Self::Journal => Duration::from_secs(35),
            Self::Leases => Duration::from_secs(12),
        }
    }
}

pub(super) fn pool(config: &Config, purpose: Purpose) -> Result<Driver, Error> {
    let unusable = |why: neo4rs::Error| Error::Unavailable { uri: config.uri.clone(), why: why.to_string() };
    let connections = match purpose {
        Purpose::Requests | Purpose::Jobs => config.connections,
        Purpose::Leases | Purpose::Journal => 2,
    };
    neo4rs::ConfigBuilder::default()
        .uri(&config.uri)
        .user(&config.username)
        .password(config.password.expose_secret())
        .db(config.database.as_str())
        .fetch_size(FETCH_SIZE)
        .max_connections(connections)
        .connection_timeout(purpose.message_timeout())
        .build()
        .and_then(|how| Driver::connect(how, config))
        .map_err(unusable)
}
