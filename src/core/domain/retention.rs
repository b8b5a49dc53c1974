//! Retention: how long Ebb keeps what it recorded for itself.

use std::time::Duration;

/// How long what is kept. From the section `[retention]`.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    pub requests: Duration,
    /// Runs and attempts that are over.
    pub runs: Duration,
    /// Sessions without memories.
    pub sessions: Duration,
    /// Facts that a sweep derived and another replaced; none: for ever.
    pub decayed_facts: Option<Duration>,
    /// Tombstones; none: for ever.
    pub tombstones: Option<Duration>,
    /// Whether writes are followed by trims; tests that count what is sent say no.
    pub paced: bool,
}
