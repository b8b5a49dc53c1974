//! Status of the server and health of the memories.

use super::attempt::Attempt;
use super::job::Job;
use crate::domain::tunables::FallbackTunables;
use crate::domain::units::Timestamp;
use crate::store;
use schemars::JsonSchema;
use serde::Serialize;

pub use crate::store::{GuardedRecall, MirrorStatus, OpenRun, TierCount, TierHealth};

/// The documented health check.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Health {
    /// Instant of the energies.
    pub at: Timestamp,
    /// Tunables that are used, while those of the graph are invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_tunables: Option<FallbackTunables>,
    /// Tiers that hold memories.
    pub tiers: Vec<TierHealth>,
    /// Unfinished attempts whose lease expired.
    pub stuck_attempts: i64,
    /// Quarantined rows.
    pub quarantined: i64,
    /// Memories due for decay.
    pub due: i64,
    /// Memories ready for promotion.
    pub ripe: i64,
    /// Sessions waiting for the job coactivate.
    pub sessions: i64,
    /// Memories waiting for the job cluster.
    pub clusters: i64,
    /// Memories waiting for the job embed, if an embedder is configured.
    pub embed: i64,
    /// New memories waiting for the job reinforce.
    pub reinforce: i64,
    /// Outcomes waiting for the job learn.
    pub outcomes: i64,
}

/// Status of the server.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Status {
    /// Instant of the status.
    pub at: Timestamp,
    /// The database.
    pub server: Server,
    /// Whether its time is simulated.
    pub scratch: bool,
    /// Current simulated time.
    pub simulated_now: Option<Timestamp>,
    /// Reason that workers run no job by its schedule.
    pub unscheduled: Option<String>,
    /// Reason that no job can run and no memory can be written.
    pub stopped: Option<String>,
    /// Tunables that are used, while those of the graph are invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_tunables: Option<FallbackTunables>,
    /// The jobs.
    pub jobs: Vec<Job>,
    /// Tiers that hold memories.
    pub tiers: Vec<TierCount>,
    /// Backlog of the jobs.
    pub waiting: Waiting,
    /// Rows of other libraries.
    pub foreign: ForeignRows,
    /// Unfinished attempts.
    pub attempts: Vec<OpenAttempt>,
    /// Unfinished runs.
    pub runs: Vec<OpenRun>,
    /// Mirrors of the graph held in memory, by process.
    pub mirrors: Vec<MirrorStatus>,
    /// Last result of the recall guard, if its questions were asked.
    pub recall_guard: Option<GuardedRecall>,
}

/// An unfinished attempt.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OpenAttempt {
    /// Its id.
    pub id: String,
    /// Phase of the attempt.
    pub phase: Option<String>,
    /// State of the attempt.
    pub state: String,
    /// Process that holds its lease.
    pub holder: Option<String>,
    /// Number of memories that it holds.
    pub holds: i64,
    /// Remaining time of its lease, milliseconds.
    pub lease_left_ms: Option<i64>,
}

/// The database.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Server {
    /// Its address.
    pub uri: String,
    /// Name of the product.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its edition.
    pub edition: String,
}

/// Rows that share a label with Ebb's and do not have its shape: they belong to another library and are never changed.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct ForeignRows {
    /// Nodes with the label Memory, at the last pass.
    pub memories: i64,
    /// Nodes with the label Fact, at the last pass.
    pub facts: i64,
}

/// Backlog of the jobs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Waiting {
    /// Counts of waiting rows by job.
    #[serde(flatten)]
    pub for_jobs: store::Waiting,
    /// Memories of other writers that the next run will adopt.
    pub unstamped: i64,
}

impl From<Attempt> for OpenAttempt {
    fn from(attempt: Attempt) -> Self {
        let Attempt { id, phase, state, holder, holds, lease_left_ms, .. } = attempt;
        Self { id, phase, state, holder, holds, lease_left_ms }
    }
}
