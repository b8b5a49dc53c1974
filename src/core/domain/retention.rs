//! Retention: how long Ebb keeps its own records.

use std::time::Duration;

/// Retention periods. From the section `[retention]`.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    pub requests: Duration,
    /// Entries of the journal: within this time a run can be taken back.
    pub journal: Duration,
    /// Runs and attempts that are over.
    pub runs: Duration,
    /// Sessions without memories.
    pub sessions: Duration,
    /// Facts that a sweep wrote and another replaced; `None`: forever.
    pub decayed_facts: Option<Duration>,
    /// Tombstones; `None`: forever.
    pub tombstones: Option<Duration>,
    /// Whether writes are followed by trims; off in tests that count requests.
    pub paced: bool,
}
