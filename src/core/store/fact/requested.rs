//! Requested sweeps: a durable record of parameters and progress.
//!
//! A run of the job sweep with the same id works on the record, so lease, fence and takeover are those of the run; the
//! record has what a run lacks: the scope, the mode, the policy, its progress and its counts. Each page updates it in
//! its own transaction, so after a takeover the run continues after the last committed page.
//!
//! Invariant: a sweep that was killed and taken over counts every head once (held by
//! `jobs::sweep::a_kill_loses_nothing`).

use crate::domain::fact::FactScope;
use crate::domain::policy::{Counters, Mode, Summary};
use crate::domain::units::{Timestamp, millis};
use crate::store::Store;
use crate::store::catalogue::{SWEEP_ADVANCE, SWEEP_CREATE, SWEEP_END, SWEEP_NEXT, SWEEP_READ};
use crate::store::encode::list;
use crate::store::error::Error;
use crate::store::request::{RequestMode, answer, open};
use crate::store::run::Run;
use crate::store::tally::Tally;
use crate::store::tx::{self, Tx};
use serde::{Deserialize, Deserializer, Serialize};

/// Prefix of the occurrence of a run for a requested sweep; the id of the sweep follows.
const OCCURRENCE: &str = "job/";

/// State of a requested sweep. It only advances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SweepState {
    Pending,
    /// In progress, or left for a takeover.
    Running,
    Done,
    /// It ended before it was complete.
    #[serde(other)]
    Failed,
}

/// A requested sweep: its parameters, its progress and its counters.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RequestedSweep {
    pub id: String,
    pub scope: FactScope,
    #[serde(deserialize_with = "mode")]
    pub mode: Option<Mode>,
    pub policy: Option<String>,
    /// Accepted number of retractions.
    pub accepted: Option<i64>,
    /// Instant of the laws.
    #[serde(with = "millis")]
    pub now: Timestamp,
    /// Number of lineages at the request.
    pub heads: i64,
    /// Key of the last lineage that is done.
    pub cursor: String,
    /// Counts so far.
    #[serde(flatten)]
    pub counters: Counters,
}

/// A requested sweep with its state.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepJob {
    /// Parameters, progress and counters.
    pub asked: RequestedSweep,
    pub state: SweepState,
    /// Mode in the response, once it is done.
    pub answered: Option<Mode>,
    /// Policies in the response, once it is done.
    pub applied: Vec<String>,
    pub reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    #[serde(flatten)]
    asked: RequestedSweep,
    state: SweepState,
    reason: Option<String>,
    #[serde(deserialize_with = "mode")]
    answered: Option<Mode>,
    applied: Option<Vec<String>>,
    run: Option<String>,
    run_reason: Option<String>,
}

/// Parses a mode; an unknown one is `None`.
fn mode<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Mode>, D::Error> {
    Ok(Option::<String>::deserialize(from)?.and_then(|name| Mode::named(&name)))
}

impl SweepState {
    /// Whether it has ended.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed)
    }
}

impl std::fmt::Display for SweepState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        })
    }
}

impl RequestedSweep {
    /// Occurrence of the run that works on it.
    #[must_use]
    pub fn occurrence(id: &str) -> String {
        format!("{OCCURRENCE}{id}")
    }

    /// Id of the sweep for a run with this occurrence.
    #[must_use]
    pub fn of(occurrence: &str) -> Option<&str> {
        occurrence.strip_prefix(OCCURRENCE)
    }
}

impl Store {
    /// Records a sweep, once under a request id; returns its id, or that of the first request.
    pub async fn request_sweep(
        &self,
        mode: RequestMode<'_>,
        asked: &RequestedSweep,
    ) -> Result<String, Error> {
        self.transactions
            .run("sweep.ask", tx::Mode::Write, async |tx: &mut Tx| {
                if let Some(id) = open(tx, mode).await? {
                    return Ok(id);
                }
                let call = SWEEP_CREATE
                    .call()
                    .set("id", asked.id.as_str())
                    .set("scope", asked.scope.name())
                    .set("mode", asked.mode.map(Mode::name))
                    .set("policy", asked.policy.as_deref())
                    .set("accepted", asked.accepted)
                    .set("now", asked.now.millis())
                    .set("heads", asked.heads);
                tx.run(call).await?;
                answer(tx, mode, &asked.id);
                Ok(asked.id.clone())
            })
            .await
    }

    /// The id of the sweep recorded under a request id before, if any.
    pub async fn sweep_of_request(&self, mode: RequestMode<'_>) -> Result<Option<String>, Error> {
        self.transactions
            .run("sweep.under", tx::Mode::Write, async |tx: &mut Tx| {
                tx.looks_up = true;
                let found = open(tx, mode).await?;
                tx.abandon();
                Ok(found)
            })
            .await
    }

    /// A requested sweep.
    pub async fn sweep_job(&self, id: &str) -> Result<SweepJob, Error> {
        self.transactions.run("sweep.read", tx::Mode::Read, async |tx: &mut Tx| read(tx, id).await).await
    }

    /// The oldest requested sweep that has not begun: its id and its instant.
    pub async fn next_requested_sweep(&self) -> Result<Option<(String, Timestamp)>, Error> {
        #[derive(Deserialize)]
        struct Row {
            id: String,
            now: i64,
        }
        let row: Option<Row> = self.read_optional(SWEEP_NEXT.call()).await?;
        Ok(row.and_then(|row| Some((row.id, Timestamp::from_millis(row.now).ok()?))))
    }

    /// Ends a requested sweep, as a batch of its run: done with a response, or failed.
    pub async fn end_sweep(&self, run: &mut Run, id: &str, end: Result<&Summary, &str>) -> Result<(), Error> {
        self.in_run(run, "sweep.end", async |tx: &mut Tx| {
            let applied = end.map_or(&[][..], |summary| summary.applied.as_slice());
            let call = SWEEP_END
                .call()
                .set("id", id)
                .set("state", if end.is_ok() { "done" } else { "failed" })
                .set("reason", end.err())
                .set("answered", end.ok().map(|summary| summary.mode.name()))
                .set("applied", list(applied.iter().map(String::as_str)));
            tx.run(call).await?;
            Ok(Tally::default())
        })
        .await?;
        Ok(())
    }
}

/// Reads a requested sweep.
pub(super) async fn read(tx: &mut Tx, id: &str) -> Result<SweepJob, Error> {
    let row: Option<Row> = tx.row(SWEEP_READ.call().set("id", id)).await?;
    row.map(Row::job).ok_or_else(|| Error::NotFound { what: "sweep", id: id.to_owned() })
}

/// Records its progress, in the transaction of the work.
pub(super) async fn advance(tx: &mut Tx, asked: &RequestedSweep) -> Result<(), Error> {
    let counters = &asked.counters;
    let call = SWEEP_ADVANCE
        .call()
        .set("id", asked.id.as_str())
        .set("cursor", asked.cursor.as_str())
        .set("live", counters.live)
        .set("evaluated", counters.evaluated)
        .set("retracted", counters.retracted)
        .set("reduced", counters.reduced)
        .set("wouldRetract", counters.would_retract)
        .set("wouldReduce", counters.would_reduce)
        .set("matched", list(counters.matched.iter().map(String::as_str)));
    tx.run(call).await
}

impl Row {
    fn job(self) -> SweepJob {
        let (mut state, mut reason) = (self.state, self.reason);
        // A run that ended without ending its sweep: its job panicked.
        let over = self.run.as_deref().is_some_and(|run| matches!(run, "failed" | "guarded"));
        if !state.is_over() && over {
            (state, reason) = (SweepState::Failed, self.run_reason);
        } else if state == SweepState::Pending && self.run.is_some() {
            state = SweepState::Running;
        }
        SweepJob {
            asked: self.asked,
            state,
            answered: self.answered,
            applied: self.applied.unwrap_or_default(),
            reason,
        }
    }
}
