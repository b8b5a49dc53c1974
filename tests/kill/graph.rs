//! The graph that a round leaves, as the checker reads it: a file of JSON, so that it can be judged without a server.

use super::history::{AttemptSeen, RunSeen};
use serde::{Deserialize, Serialize};

/// All that the invariants speak of.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Graph {
    pub(crate) tunables: Tunables,
    pub(crate) memories: Vec<Memory>,
    pub(crate) stubs: Vec<Stub>,
    /// Hashes of the ids of memories that were forgotten on request.
    pub(crate) tombstones: Vec<String>,
    pub(crate) runs: Vec<RunSeen>,
    pub(crate) attempts: Vec<AttemptSeen>,
    /// Every mark: a memory, and the attempt that holds it.
    pub(crate) marks: Vec<(String, String)>,
    /// What came of outcomes.
    #[serde(default)]
    pub(crate) learned: Learned,
    /// Rows of other programs.
    #[serde(default)]
    pub(crate) others: Vec<Other>,
    /// What Ebb keeps of rows of the adopted graph.
    #[serde(default)]
    pub(crate) states: Vec<State>,
}

/// What Ebb keeps of a row of the adopted graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// The key of the row.
    pub(crate) row: String,
    /// How often it was accessed.
    pub(crate) accesses: i64,
}

/// A row of another program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Other {
    /// Its name.
    pub(crate) row: String,
    /// Whether it says what it was made to say, and a value that no law can use is what it was.
    pub(crate) same: bool,
}

/// What came of outcomes, all of which are of the same two nodes.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Learned {
    /// Those that are still to be learned.
    pub(crate) waiting: i64,
    /// How many were learned.
    pub(crate) ticks: i64,
    /// How often what joins the two was strengthened in a row.
    pub(crate) strengthened: i64,
}

/// What the energies depend on.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Tunables {
    /// Shares per hour, exponential.
    pub(crate) working_decay: f64,
    pub(crate) short_term_decay: f64,
    pub(crate) long_term_decay: f64,
    pub(crate) expiry_threshold: f64,
}

/// A memory that is no stub. Instants are epoch milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Memory {
    pub(crate) id: String,
    pub(crate) content: String,
    pub(crate) tier: String,
    pub(crate) energy: f64,
    pub(crate) energy_at: i64,
    pub(crate) last_accessed: i64,
    pub(crate) access_count: i64,
    pub(crate) pinned: bool,
    #[serde(default)]
    pub(crate) ripe_at: Option<i64>,
    #[serde(default)]
    pub(crate) due_at: Option<i64>,
    /// Why it was set aside.
    #[serde(default)]
    pub(crate) quarantined: Option<String>,
}

/// What the promotion of a memory has left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stub {
    /// `memory->tier`.
    pub(crate) key: String,
    /// The living memory it leads to.
    pub(crate) memory: Option<String>,
    /// The instant of the promotion as its law saw it.
    pub(crate) at: i64,
    /// The energy of the memory after it.
    pub(crate) energy: f64,
    /// The memory's latest access before it.
    pub(crate) last_accessed: i64,
    /// The memory's accesses before it.
    pub(crate) access_count: i64,
}
