//! How things stand, and how healthy the memories are.

use super::job::Job;
use crate::domain::tier;
use crate::domain::units::Timestamp;
use crate::service::admin::{Health as Found, Status as Stand};
use crate::service::mirrors::MirrorStatus;
use crate::service::{AttemptRow, OpenRun, TierCount};
use schemars::JsonSchema;
use serde::Serialize;

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

/// A tier, with the energies of its memories now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TierHealth {
    /// Its name.
    pub tier: String,
    /// Memories.
    pub count: i64,
    /// Their average energy.
    pub avg_energy: Option<f64>,
    /// The least.
    pub min_energy: Option<f64>,
    /// The greatest.
    pub max_energy: Option<f64>,
}

impl Health {
    /// Of what the service answers for an instant.
    #[must_use]
    pub fn of(Found { tiers, stuck_attempts, waiting }: Found, at: Timestamp) -> Self {
        let mut tiers: Vec<TierHealth> = tiers
            .into_iter()
            .map(|row| TierHealth {
                tier: row.tier,
                count: row.count,
                avg_energy: row.avg_energy,
                min_energy: row.min_energy,
                max_energy: row.max_energy,
            })
            .collect();
        tiers.sort_by_key(|row| tier::Tier::named(&row.tier));
        Self {
            at: at,
            tiers,
            stuck_attempts,
            quarantined: waiting.quarantined,
            due: waiting.due,
            ripe: waiting.ripe,
            sessions: waiting.sessions,
            clusters: waiting.clusters,
            reinforce: waiting.reinforce,
            outcomes: waiting.outcomes,
        }
    }
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
    pub tiers: Vec<Tier>,
    /// What waits.
    pub waiting: Waiting,
    /// Attempts that are not over.
    pub attempts: Vec<OpenAttempt>,
    /// Runs that are not over.
    pub runs: Vec<Run>,
    /// What each process that answers from memory holds there of the graph.
    pub mirrors: Vec<KeptMirror>,
}

/// What a process holds in memory of a scope.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KeptMirror {
    /// Whose.
    pub scope: String,
    /// Which process.
    pub process: String,
    /// Milliseconds since it looked at the graph, by the database's clock.
    pub age_ms: i64,
    /// Whether that is longer than its configuration has it: it is late, or was killed. Such a word goes after a day.
    pub stale: bool,
    /// Which state; each process counts its own.
    pub generation: i64,
    /// Nodes.
    pub nodes: i64,
    /// Relationships, each way by itself.
    pub slots: i64,
    /// Bytes.
    pub bytes: i64,
    /// How many outcomes it has learned.
    pub tick: i64,
    /// For how many relationships, each way by itself, something was learned.
    pub learned: i64,
    /// Whether everything that may be held is.
    pub whole: bool,
    /// Nodes that are held divided by nodes that may be, 1 where all are.
    pub held_share: f64,
    /// Milliseconds from one look to the next.
    pub refresh_ms: i64,
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

/// A run that is not over.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "OpenRun")]
pub struct Run {
    /// Its job.
    pub job: String,
    /// Its occurrence.
    pub occurrence: String,
    /// Who holds it.
    pub holder: Option<String>,
    /// How often it was taken.
    pub fence: i64,
    /// Its batches so far.
    pub batch: i64,
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

/// A tier.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TierCount")]
pub struct Tier {
    /// Its name.
    pub tier: String,
    /// Its memories.
    pub memories: i64,
    /// Those of them that are set aside.
    pub quarantined: i64,
}

/// What waits.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Waiting {
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
    /// Rows that are set aside.
    pub quarantined: i64,
    /// Memories of other writers that the next run adopts.
    pub unstamped: i64,
}

impl From<Stand> for Status {
    fn from(stand: Stand) -> Self {
        let tier =
            |row: TierCount| Tier { tier: row.tier, memories: row.count, quarantined: row.quarantined };
        let mut tiers: Vec<Tier> = stand.tiers.into_iter().map(tier).collect();
        tiers.sort_by_key(|row| tier::Tier::named(&row.tier));
        Self {
            at: stand.at,
            server: Server {
                uri: stand.uri,
                name: stand.about.name,
                version: stand.about.version,
                edition: stand.about.edition,
            },
            scratch: stand.scratch.is_some(),
            simulated_now: stand.scratch.flatten(),
            stopped: stand.stopped,
            jobs: stand.jobs.iter().map(|job| Job::of(job, stand.at)).collect(),
            tiers,
            waiting: Waiting {
                due: stand.waiting.due,
                ripe: stand.waiting.ripe,
                sessions: stand.waiting.sessions,
                clusters: stand.waiting.clusters,
                reinforce: stand.waiting.reinforce,
                outcomes: stand.waiting.outcomes,
                quarantined: stand.waiting.quarantined,
                unstamped: stand.unstamped,
            },
            attempts: stand.attempts.into_iter().map(OpenAttempt::from).collect(),
            runs: stand.runs.into_iter().map(Run::from).collect(),
            mirrors: stand.mirrors.into_iter().map(KeptMirror::from).collect(),
        }
    }
}

impl From<MirrorStatus> for KeptMirror {
    fn from(told: MirrorStatus) -> Self {
        let stale = told.is_stale();
        let MirrorStatus {
            scope,
            process,
            age_ms,
            generation,
            nodes,
            slots,
            bytes,
            tick,
            learned,
            whole,
            held_share,
            refresh_ms,
            stale_ms: _,
        } = told;
        Self {
            scope,
            process,
            age_ms,
            stale,
            generation,
            nodes,
            slots,
            bytes,
            tick,
            learned,
            whole,
            held_share,
            refresh_ms,
        }
    }
}

impl From<AttemptRow> for OpenAttempt {
    fn from(row: AttemptRow) -> Self {
        let AttemptRow { id, phase, state, holder, holds, lease_left, .. } = row;
        Self { id, phase, state, holder, holds, lease_left_ms: lease_left }
    }
}

impl From<OpenRun> for Run {
    fn from(row: OpenRun) -> Self {
        let OpenRun { job, occurrence, holder, fence, batch, lease_left, .. } = row;
        Self { job, occurrence, holder, fence, batch, lease_left_ms: lease_left }
    }
}
