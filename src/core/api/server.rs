//! How things stand, and how healthy the memories are.

use super::attempt::Attempt;
use super::job::Job;
use crate::domain::units::Timestamp;
use crate::store;
use schemars::JsonSchema;
use serde::Serialize;

pub use crate::store::{MirrorStatus, OpenRun, TierCount, TierHealth};

/// The documented health check.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Health {
    /// The instant that the energies are for.
    pub at: Timestamp,
    /// Each tier that holds memories.
    pub tiers: Vec<TierHealth>,
    /// Attempts whose lease is over and that nobody has ended.
    pub stuck_attempts: i64,
    /// Rows that are set aside.
    pub quarantined: i64,
    /// Memories due for decay.
    pub due: i64,
    /// Memories ripe for promotion.
    pub ripe: i64,
    /// Sessions to be counted.
    pub sessions: i64,
    /// Memories to be looked at by clusters.
    pub clusters: i64,
    /// New memories, to strengthen what is like them.
    pub reinforce: i64,
    /// Outcomes to be learned.
    pub outcomes: i64,
}

/// How things stand.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Status {
    /// The instant asked about.
    pub at: Timestamp,
    /// The database.
    pub server: Server,
    /// Whether its time is simulated.
    pub scratch: bool,
    /// How far simulated time has come.
    pub simulated_now: Option<Timestamp>,
    /// Why no job can run.
    pub stopped: Option<String>,
    /// The jobs.
    pub jobs: Vec<Job>,
    /// Each tier that holds memories.
    pub tiers: Vec<TierCount>,
    /// What waits.
    pub waiting: Waiting,
    /// Attempts that are not over.
    pub attempts: Vec<OpenAttempt>,
    /// Runs that are not over.
    pub runs: Vec<OpenRun>,
    /// What each process that answers from memory holds there of the graph.
    pub mirrors: Vec<MirrorStatus>,
}

/// An attempt that is not over.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OpenAttempt {
    /// Its id.
    pub id: String,
    /// What it works on.
    pub phase: Option<String>,
    /// How far it is.
    pub state: String,
    /// Who holds it.
    pub holder: Option<String>,
    /// Memories that it holds.
    pub holds: i64,
    /// What is left of its lease, milliseconds.
    pub lease_left_ms: Option<i64>,
}

/// The database.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Server {
    /// Its address.
    pub uri: String,
    /// What it calls itself.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its edition.
    pub edition: String,
}

/// What waits.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Waiting {
    /// For jobs.
    #[serde(flatten)]
    pub for_jobs: store::Waiting,
    /// Memories of other writers that the next run adopts.
    pub unstamped: i64,
}

impl From<Attempt> for OpenAttempt {
    fn from(attempt: Attempt) -> Self {
        let Attempt { id, phase, state, holder, holds, lease_left_ms, .. } = attempt;
        Self { id, phase, state, holder, holds, lease_left_ms }
    }
}
