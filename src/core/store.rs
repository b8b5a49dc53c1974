//! Access to Neo4j; the only module that uses its driver.
//!
//! Every statement is a file under `cypher/`, every operation here runs one or a few of them in an explicit
//! transaction, and every write begins with its receipt (see `tx.rs`), so that any of them may be repeated. A law that
//! needs only one row is applied in Rust to rows that the transaction has locked and read; a sweep, which touches more
//! rows than are worth transferring, applies it in Cypher, and a parity test compares the two.
//!
//! # Design notes
//! Access and promotion run in Rust on locked rows, not in Cypher: a batch of events must be folded in file order
//! anyway, the lock costs one round trip, and a single implementation needs no parity test. Only `memory/decay`,
//! `memory/adopt`, `relation/fade`, `relation/list`, and evaporation, adoption and ranking of trails are laws that run
//! in the database.

mod active_runs;
mod adoption;
mod attempt;
mod audit;
mod backlog;
mod backup;
mod batch;
pub mod catalogue;
mod cells;
mod change;
mod claim;
mod cluster;
mod coactivation;
mod connection;
mod database;
mod decay;
mod decode;
mod embedding;
mod encode;
mod entity;
mod error;
mod evaporate;
mod evict;
mod fact;
mod fade;
mod faults;
mod future_rows;
mod gather;
mod git;
mod import;
mod inspect;
mod journal;
mod key;
mod layouts;
mod lease;
mod memory;
mod memory_list;
mod memory_merge;
mod memory_update;
mod mirror;
mod mirror_status;
mod outcome;
mod policy;
mod present;
mod probe;
mod reap;
mod recall_guard;
mod reinforcement;
mod relation;
mod report;
mod request;
mod restore;
mod retention;
mod row_state;
mod run;
mod run_history;
mod schema;
mod scope;
mod scratch;
mod server;
mod session;
mod shared;
pub mod statement;
mod stored_settings;
mod synapse;
mod tally;
mod touched;
mod trail;
mod trim_schedule;
mod tunables;
mod tx;
mod uninstall;

pub use adoption::AdoptionCounts;
pub use attempt::{AttemptClaim, Promotion};
pub use audit::TrimCursor;
pub use backlog::{Backlog, RunInputs};
pub use backup::{BackupCounts, BackupRow, LabelCount};
pub use batch::{Batch, BatchFault, BatchOutcome, EventEffect};
pub use change::{Change, ChangeToken, KEPT_MS, OVERLAP_MS, OnChange, Touched, committing};
pub use cluster::{Neighbourhood, Suspect};
pub use coactivation::WaitingSession;
pub use connection::Config;
pub use database::{ChangeMark, Database};
pub use decay::DecayCursor;
pub use decode::Life;
pub use embedding::{EmbeddedText, EmbeddingTarget, OtherEmbeddings, WaitingText};
pub use error::{Class, Error, Refusal, RefusedWhy};
pub use evaporate::TrailKind;
pub use fact::{Fact, FactFilter, FactReceipt, RequestedSweep, SweepJob, SweepPage, SweepState};
pub use future_rows::FutureRows;
pub use gather::SHARED_MAX;
pub use git::{GitCommit, GitFile, GitPair, GitRows};
pub use import::{OtherEvents, Progress};
pub use inspect::{Answer, Cell};
pub use journal::{EntryOutcome, JournalHead, JournalPage, JournalRun};
pub use key::{KeyRow, LiveKeys};
pub use layouts::{DatabaseNames, GROUPS_MAX, MappedNodes, PropertySample, ROWS_MAX, UnknownNodes};
pub use lease::{JobStatus, LedgerSurvey, OpenRunStatus, RunRelease};
pub use memory::{MemoryEvent, Record, TierCount, TierHealth, Waiting};
pub use memory_list::{Filter, MemoryOrder, MemoryPage};
pub use memory_merge::MERGED_MAX;
pub use memory_update::{MemoryUpdate, MemoryVersion, VERSIONS_MAX};
pub use mirror::{
    AdoptedFact, AdoptedNode, Amount, Census, EmbeddedFact, FACT_STATE, FadingRelation, Heat, MentionRule,
    MirrorCandidate, MirrorQuery, MirroredEnd, MirroredNode, NODE_STATE, NearestMemories, NearestMemory,
    OutgoingRelation, RowState, STATE_LABEL, Sought, WrittenRow, bond,
};
pub use mirror_status::MirrorStatus;
pub use outcome::{OutcomeReceipt, OutcomeReport};
pub use policy::{AcceptedPolicies, AcceptedPolicy, ActivePolicies};
pub use present::CurrentTime;
pub use reap::{Attempt, ReapReport};
pub use recall_guard::GuardedRecall;
pub use reinforcement::{CorpusMemory, NearMemory, NewMemory, SimilarMemories};
pub use relation::{ObservationEffect, Relation, RelationFilter};
pub use report::{
    CountedRelationships, DanglingKeys, DayRows, Degrees, Hub, IndexRow, InstantRows, RepeatedKeys,
    RepeatedNames,
};
pub use request::{Deletion, FORGET_MAX, RequestMode};
pub use restore::UnfinishedRestore;
pub use row_state::{StateChange, StatedRow};
pub use run::{BY_HAND, OpenRun, OpenedRun, Run, RunLease};
pub use run_history::{LatestRun, Past};
pub use schema::{Drift, InTheWay, InitReport};
pub use scope::{Erasure, ScopeCounts, ScopeMemories, ScopeRows, UnfinishedErasure};
pub use server::{About, QuarantineCounts};
pub use session::EndedSession;
pub use statement::PageMode;
pub use stored_settings::StoredSettings;
pub use synapse::{Learned, Lesson, SynapseRow, WaitingOutcome};
pub use tally::Tally;
pub use trail::{
    CheapestPath, Counter, Hot, NextPlace, TraceEffect, TraceOutcome, TrailEdge, TrailNode, TrailPlace,
    TrailStatus, WalkedEdge,
};
pub use tx::TxCounters;
pub use uninstall::Footprint;

use crate::domain::guard::Guard;
use crate::domain::mapping::Mapping;
use crate::domain::policy::Regime;
use crate::domain::relation::{Fading, Pins};
use crate::domain::similarity::Similarity;
use crate::domain::trail::Trails;
use active_runs::ActiveRuns;
use connection::Purpose;
use present::KnownPresent;
use serde::de::DeserializeOwned;
use shared::SharedWrites;
use statement::Call;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use trim_schedule::TrimSchedule;
use tunables::KnownTunables;

/// One database, through the connection pool of its user. Clones share all pools.
#[derive(Clone)]
pub struct Store {
    transactions: Arc<tx::Transactions>,
    /// Connections of jobs and mirrors, separate from those of requests.
    jobs: Arc<tx::Transactions>,
    /// Connections for heartbeats, takeovers and evictions, which must not wait for other work.
    leases: Arc<tx::Transactions>,
    /// Connections that read rows as they were before an open transaction.
    journal: Arc<tx::Transactions>,
    /// Holder of leases and locks: a new id at each start.
    holder: String,
    lease: Duration,
    similarity: Similarity,
    trails: Trails,
    fading: Fading,
    pins: Pins,
    regime: Regime,
    mappings: Arc<[Mapping]>,
    active_runs: Arc<ActiveRuns>,
    known_tunables: Arc<KnownTunables>,
    known_present: Arc<KnownPresent>,
    sharing: Arc<SharedWrites>,
    /// Why the last attempt to write was refused, if it was.
    refusal: Arc<Mutex<Option<Refusal>>>,
}

impl Store {
    /// Creates the pools; the first operation opens the first connection.
    pub fn connect(config: &Config) -> Result<Self, Error> {
        let (counters, back) = (Arc::default(), Arc::default());
        let (trims, listener) = (Arc::new(TrimSchedule::new(config.retention)), Arc::default());
        let over = |purpose| {
            let pool = connection::pool(config, purpose)?;
            let writes = (Arc::clone(&trims), Arc::clone(&listener));
            let over = tx::Transactions::new(pool, Arc::clone(&counters), Arc::clone(&back), writes);
            Ok::<_, Error>(Arc::new(over))
        };
        Ok(Self {
            transactions: over(Purpose::Requests)?,
            jobs: over(Purpose::Jobs)?,
            leases: over(Purpose::Leases)?,
            journal: over(Purpose::Journal)?,
            holder: crate::clock::new_id(),
            lease: config.lease,
            similarity: config.similarity.clone(),
            trails: config.trails.clone(),
            fading: config.fading,
            pins: config.pins.clone(),
            regime: config.regime.clone(),
            mappings: config.mappings.clone().into(),
            active_runs: Arc::default(),
            known_tunables: Arc::default(),
            known_present: Arc::default(),
            sharing: Arc::default(),
            refusal: Arc::default(),
        })
    }

    /// The name of this program as a holder of leases, new at each start.
    #[must_use]
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// The same database over the connections of jobs, with the same holder of leases.
    #[must_use]
    pub fn for_jobs(&self) -> Self {
        Self { transactions: Arc::clone(&self.jobs), ..self.clone() }
    }

    /// Counters of transactions.
    #[must_use]
    pub fn counters(&self) -> &TxCounters {
        &self.transactions.counters
    }

    /// The address, without credentials.
    #[must_use]
    pub fn uri(&self) -> &str {
        self.transactions.uri()
    }

    /// Mappings of the graphs of other libraries that are read.
    #[must_use]
    pub fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    /// Limit above which a change needs confirmation.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.regime.guard
    }

    /// Settings of trails.
    #[must_use]
    pub const fn trails(&self) -> &Trails {
        &self.trails
    }

    /// Runs a read-only statement in a transaction with the statement's name, and returns its rows.
    async fn read<T: DeserializeOwned>(&self, call: Call) -> Result<Vec<T>, Error> {
        self.transactions.read(call).await
    }

    /// As [`Store::read`], for a statement that returns at most one row.
    async fn read_optional<T: DeserializeOwned>(&self, call: Call) -> Result<Option<T>, Error> {
        Ok(self.read(call).await?.pop())
    }

    /// As [`Store::read`], for a statement that always returns one row.
    async fn read_one<T: DeserializeOwned>(&self, call: Call) -> Result<T, Error> {
        let statement = call.statement;
        self.read_optional(call).await?.ok_or_else(|| tx::no_row(statement))
    }

    fn lease_ms(&self) -> i64 {
        i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX)
    }
}
