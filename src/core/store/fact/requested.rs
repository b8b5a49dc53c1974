//! Requested sweeps: a durable record of parameters and progress.
//!
//! The record is worked on by a run of the job sweep that bears its id, so lease, fence and taking over are the ledger's; it
//! keeps what a run does not: the scope, the mode, the policy, how far it has come and what it has counted. Each page
//! writes it down in its own transaction, so whoever takes the run over goes on after the last page that landed.
//!
//! Invariant: a sweep that was killed and taken over counts every head once (held by `jobs::sweep::a_kill_loses_nothing`).

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

/// What a run that works on one is called begins so; its id follows.
const OCCURRENCE: &str = "job/";

/// The state of a requested sweep. It only advances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SweepState {
    Pending,
    /// Somebody is at it, or has left it for another to take over.
    Running,
    Done,
    /// It ended before its end.
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
    /// How many retractions a person has accepted.
    pub accepted: Option<i64>,
    /// The instant its laws see.
    #[serde(with = "millis")]
    pub now: Timestamp,
    /// How many lineages there were when it was asked for.
    pub heads: i64,
    /// The key of the last lineage that is done.
    pub cursor: String,
    /// What was done so far.
    #[serde(flatten)]
    pub counters: Counters,
}

/// A requested sweep with its state.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepJob {
    /// What it is and has done.
    pub asked: RequestedSweep,
    pub state: SweepState,
    /// The mode that its answer names, once it is done.
    pub answered: Option<Mode>,
    /// The policies that its answer names, once it is done.
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

/// A mode; one that somebody misspelt is none.
fn mode<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Mode>, D::Error> {
    Ok(Option::<String>::deserialize(from)?.and_then(|name| Mode::named(&name)))
}

impl SweepState {
    /// Whether nothing more will come of it.
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
    /// The occurrence of the run that works on it.
    #[must_use]
    pub fn occurrence(id: &str) -> String {
        format!("{OCCURRENCE}{id}")
    }

    /// The id of the sweep that a run of this occurrence works on.
    #[must_use]
    pub fn of(occurrence: &str) -> Option<&str> {
        occurrence.strip_prefix(OCCURRENCE)
    }
}

impl Store {
    /// Records a sweep, once under a request id; answers its id, of an earlier request its own.
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
                answer(tx, mode, &asked.id).await?;
                Ok(asked.id.clone())
            })
            .await
    }

    /// The id of the sweep that was recorded under a request id before, if one was.
    pub async fn sweep_of_request(&self, mode: RequestMode<'_>) -> Result<Option<String>, Error> {
        self.transactions
            .run("sweep.under", tx::Mode::Write, async |tx: &mut Tx| {
                let found = open(tx, mode).await?;
                tx.abandon();
                Ok(found)
            })
            .await
    }

    /// A sweep that was asked for.
    pub async fn sweep_job(&self, id: &str) -> Result<SweepJob, Error> {
        self.transactions.run("sweep.read", tx::Mode::Read, async |tx: &mut Tx| read(tx, id).await).await
    }

    /// The sweep that was asked for first and that nobody has begun: its id and its instant.
    pub async fn next_requested_sweep(&self) -> Result<Option<(String, Timestamp)>, Error> {
        #[derive(Deserialize)]
        struct Row {
            id: String,
            now: i64,
        }
        let row: Option<Row> = self.read_optional(SWEEP_NEXT.call()).await?;
        Ok(row.and_then(|row| Some((row.id, Timestamp::from_millis(row.now).ok()?))))
    }

    /// Ends a sweep that was asked for, as a batch of the run that works on it: done with an answer, or failed.
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

/// Reads a sweep that was asked for.
pub(super) async fn read(tx: &mut Tx, id: &str) -> Result<SweepJob, Error> {
    let row: Option<Row> = tx.row(SWEEP_READ.call().set("id", id)).await?;
    row.map(Row::job).ok_or_else(|| Error::NotFound { what: "sweep", id: id.to_owned() })
}

/// Records how far it has come, within the transaction that did it.
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
