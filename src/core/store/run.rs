//! Runs: one record for each occurrence of a job, with a lease, a fence, and a receipt for every batch.
//!
//! Each transaction of a run begins with the guard, which locks the run until commit, checks that holder and fence are
//! still its own and renews the lease; it ends with the receipt, the number of the batch. A program that was paused for
//! an hour finds another fence when it resumes, and commits nothing.
//!
//! A batch whose commit was reported as lost may have succeeded. Its number shows this, and the body then runs once
//! more as the next batch: the work of every job is recognised by its data (an anchor that has reached `now`, a
//! promotion that exists), so the repeat changes nothing.

use super::RequestedSweep;
use super::Store;
use super::active_runs::ActiveRun;
use super::catalogue::{RUN_ASK, RUN_CLOSE, RUN_CREATE, RUN_GUARD, RUN_OPEN, RUN_RECEIPT, RUN_TAKE};
use super::error::Error;
use super::faults::stop_point;
use super::journal::{self, JournalHead};
use super::tally::{Counted, Tally};
use super::tx::{Mode, Tx};
use crate::domain::attempt::{Opening, Right, RunFacts, RunState, open_run};
use crate::domain::journal::Entry;
use crate::domain::units::Timestamp;
use neo4rs::{BoltMap, BoltType};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

/// A run that this program holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub job: &'static str,
    pub occurrence: String,
    pub run_id: String,
    /// Instant of the laws, kept across takeovers.
    pub now: Timestamp,
    fence: i64,
    batch: i64,
    mode: RunMode,
}

/// Whether the batches of a run are committed.
#[derive(Debug, Clone, PartialEq)]
enum RunMode {
    /// Recorded in the ledger, with committed batches.
    Recorded { _active: ActiveRun },
    /// Not in the graph, with batches rolled back.
    DryRun {
        did: Tally,
        /// Entries of a plan; `None` if it only counts.
        plan: Option<Vec<Entry>>,
        /// Whether more may be due than it read.
        capped: bool,
    },
}

/// Lease of a run, for renewal beside its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLease {
    job: &'static str,
    occurrence: String,
    fence: i64,
}

/// Prefix of the occurrence of a run that a person requested; a scheduled one is an instant.
pub const BY_HAND: &str = "manual/";

impl Run {
    /// A run with batches that are rolled back, without a record in the ledger. Each batch sees the graph without the
    /// changes of those before it.
    #[must_use]
    pub fn dry(job: &'static str, now: Timestamp) -> Self {
        Self::unrecorded(job, now, None)
    }

    /// A dry run that collects what it would change, as the entries of a plan.
    #[must_use]
    pub fn plan(job: &'static str, now: Timestamp) -> Self {
        Self::unrecorded(job, now, Some(Vec::new()))
    }

    fn unrecorded(job: &'static str, now: Timestamp, plan: Option<Vec<Entry>>) -> Self {
        let mode = RunMode::DryRun { did: Tally::default(), plan, capped: false };
        Self { job, occurrence: BY_HAND.to_owned(), run_id: String::new(), now, fence: 0, batch: 0, mode }
    }

    /// Whether it is a dry run that does its work only to count it: one may count without doing it.
    #[must_use]
    pub fn only_counts(&self) -> bool {
        matches!(self.mode, RunMode::DryRun { plan: None, .. })
    }

    /// The entries of a plan.
    #[must_use]
    pub fn into_plan(self) -> Vec<Entry> {
        match self.mode {
            RunMode::DryRun { plan, .. } => plan.unwrap_or_default(),
            RunMode::Recorded { .. } => Vec::new(),
        }
    }

    /// Whether its batches are rolled back.
    #[must_use]
    pub fn is_dry(&self) -> bool {
        matches!(self.mode, RunMode::DryRun { .. })
    }

    /// Adds counts of a dry run for work that is only estimated.
    pub fn estimate(&mut self, more: Tally) {
        if let RunMode::DryRun { did, .. } = &mut self.mode {
            *did += more;
        }
    }

    /// Notes of a dry run whether it read as many rows as it may: more may be due.
    pub fn cap_if(&mut self, full: bool) {
        if let RunMode::DryRun { capped, .. } = &mut self.mode {
            *capped |= full;
        }
    }

    /// Whether more may be due than a dry run read.
    #[must_use]
    pub fn is_capped(&self) -> bool {
        matches!(self.mode, RunMode::DryRun { capped: true, .. })
    }

    /// Counts of a dry run so far. Those of a recorded run are in the ledger.
    #[must_use]
    pub fn estimated(&self) -> Tally {
        match self.mode {
            RunMode::DryRun { did, .. } => did,
            RunMode::Recorded { .. } => Tally::default(),
        }
    }

    /// Whether it is a scheduled run, not a manual one or a requested sweep.
    #[must_use]
    pub fn is_scheduled(&self) -> bool {
        !self.occurrence.starts_with(BY_HAND) && RequestedSweep::of(&self.occurrence).is_none()
    }

    /// Lease of this run.
    #[must_use]
    pub fn lease(&self) -> RunLease {
        RunLease { job: self.job, occurrence: self.occurrence.clone(), fence: self.fence }
    }
}

/// An open run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct OpenRun {
    /// Job.
    pub job: String,
    /// Occurrence.
    pub occurrence: String,
    /// Holder.
    pub holder: Option<String>,
    /// Number of takeovers.
    pub fence: i64,
    /// Committed batches.
    pub batch: i64,
    /// Start, epoch milliseconds.
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub started: Option<i64>,
    /// Rest of its lease, milliseconds.
    #[serde(rename(deserialize = "leaseLeft"))]
    pub lease_left_ms: Option<i64>,
}

/// Result of opening a run.
#[derive(Debug, Clone, PartialEq)]
pub enum OpenedRun {
    /// This program works on it.
    Ours(Run),
    /// An older open run of the job was taken over; finish it, then open again.
    Predecessor(Run),
    /// It is done already.
    Over(RunState),
    /// Another program works on this job.
    Held { occurrence: String, holder: String },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunRow {
    fence: i64,
    batch: i64,
    run_id: String,
    now: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FactsRow {
    server_now: i64,
    occurrence: Option<String>,
    state: Option<String>,
    holder: Option<String>,
    lease_until: Option<i64>,
    open: Option<bool>,
}

impl Store {
    /// Opens an occurrence of a job with `now` as the instant of its laws. `trigger` is `schedule` or `manual`.
    pub async fn open_run(
        &self,
        job: &'static str,
        occurrence: &str,
        now: Timestamp,
        trigger: &'static str,
        right: Right,
    ) -> Result<OpenedRun, Error> {
        let run_id = crate::clock::new_id();
        let work = self.leases.run("run.open", Mode::Write, async |tx: &mut Tx| {
            loop {
                return match self.ask(tx, job, Some(occurrence), right).await? {
                    Opening::AlreadyOver(state) => Ok(OpenedRun::Over(state)),
                    Opening::Held { occurrence, holder } => Ok(OpenedRun::Held { occurrence, holder }),
                    Opening::Take(taken) => match self.take(tx, job, taken, right).await? {
                        Some(run) if run.occurrence == occurrence => Ok(OpenedRun::Ours(run)),
                        Some(run) => Ok(OpenedRun::Predecessor(run)),
                        None => continue,
                    },
                    Opening::Create | Opening::Nothing => {
                        let call = self
                            .leased(RUN_CREATE.call(), job, occurrence)
                            .set("runId", run_id.as_str())
                            .set("now", now.millis())
                            .set("trigger", trigger);
                        let row: RunRow = tx.only(call).await?;
                        self.log_take(tx, job, occurrence, row.fence);
                        Ok(OpenedRun::Ours(self.taken_run(row, job, occurrence.to_owned())?))
                    }
                };
            }
        });
        self.evicting(&[&RUN_ASK, &RUN_TAKE], Box::pin(work)).await
    }

    /// Takes over the open run of a job, if there is one and `right` allows it.
    pub async fn take_open_run(&self, job: &'static str, right: Right) -> Result<Option<Run>, Error> {
        let work = self.leases.run("run.take", Mode::Write, async |tx: &mut Tx| {
            match self.ask(tx, job, None, right).await? {
                Opening::Take(taken) => self.take(tx, job, taken, right).await,
                _ => Ok(None),
            }
        });
        self.evicting(&[&RUN_ASK, &RUN_TAKE], Box::pin(work)).await
    }

    /// Renews the lease of a run between two of its transactions, which renew it themselves.
    ///
    /// # Errors
    /// [`Error::Fenced`] if the run was lost: this program commits nothing more of it.
    pub async fn renew(&self, held: &RunLease) -> Result<(), Error> {
        #[derive(Deserialize)]
        struct Guard {}
        self.leases
            .run("run.renew", Mode::Write, async |tx: &mut Tx| {
                let guard =
                    self.leased(RUN_GUARD.call(), held.job, &held.occurrence).set("fence", held.fence);
                match tx.row::<Guard>(guard).await? {
                    Some(_) => Ok(()),
                    None => Err(lost(held.job, &held.occurrence)),
                }
            })
            .await
    }

    /// Interval of heartbeats: a third of a lease.
    #[must_use]
    pub fn beat(&self) -> Duration {
        self.lease / 3
    }

    /// Lists open runs, oldest first.
    pub async fn open_runs(&self) -> Result<Vec<OpenRun>, Error> {
        self.read(RUN_OPEN.call()).await
    }

    /// Locks the job and decides about an occurrence of it by the protocol.
    async fn ask(
        &self,
        tx: &mut Tx,
        job: &'static str,
        wanted: Option<&str>,
        right: Right,
    ) -> Result<Opening, Error> {
        let call =
            RUN_ASK.call().set("job", job).set("occurrence", wanted).set("holder", self.holder.as_str());
        let rows: Vec<FactsRow> = tx.rows(call).await?;
        let server_now = rows.first().ok_or_else(|| decode("no row where one is required"))?.server_now;
        let facts = |row: &FactsRow| {
            let state = row.state.as_deref().unwrap_or_default();
            Ok::<_, Error>(RunFacts {
                occurrence: row.occurrence.clone().unwrap_or_default(),
                state: RunState::named(state).ok_or_else(|| decode(state))?,
                holder: row.holder.clone(),
                lease_until: instant(row.lease_until.unwrap_or(0))?,
            })
        };
        let open = rows.iter().find(|row| row.open == Some(true)).map(facts).transpose()?;
        let recorded = |row: &&FactsRow| row.occurrence.is_some() && row.occurrence.as_deref() == wanted;
        let record = rows.iter().find(recorded).map(facts).transpose()?;
        let holder = open.as_ref().map_or(&*self.holder, |open| self.own(job, &open.occurrence));
        Ok(open_run(holder, wanted, open.as_ref(), record.as_ref(), instant(server_now)?, right))
    }

    /// The holder whose runs are this program's to take. For the protocol another task of this program is another
    /// program.
    fn own(&self, job: &str, occurrence: &str) -> &str {
        if self.active_runs.contains(job, occurrence) { "" } else { &self.holder }
    }

    /// Takes over an open run; `None` if its holder ended it meanwhile, or renewed its lease.
    async fn take(
        &self,
        tx: &mut Tx,
        job: &'static str,
        occurrence: String,
        right: Right,
    ) -> Result<Option<Run>, Error> {
        let own = self.own(job, &occurrence);
        let call = RUN_TAKE.call().set("own", own).set("anyLease", right == Right::Scratch);
        let Some(row) = tx.row::<RunRow>(self.leased(call, job, &occurrence)).await? else { return Ok(None) };
        self.log_take(tx, job, &occurrence, row.fence);
        self.taken_run(row, job, occurrence).map(Some)
    }

    fn taken_run(&self, row: RunRow, job: &'static str, occurrence: String) -> Result<Run, Error> {
        let RunRow { fence, batch, run_id, now } = row;
        let mode = RunMode::Recorded { _active: self.active_runs.register(job, &occurrence) };
        Ok(Run { job, occurrence, run_id, now: instant(now)?, fence, batch, mode })
    }

    fn log_take(&self, tx: &mut Tx, job: &str, occurrence: &str, fence: i64) {
        tx.log_history(|| {
            json!({"what": "take", "job": job, "occurrence": occurrence, "fence": fence, "holder": self.holder})
        });
    }

    /// Runs `body` as the next batch of a run: guarded, with a receipt, in one transaction. That of a dry run is rolled
    /// back.
    ///
    /// # Errors
    /// [`Error::Fenced`] if the run was lost. After one with [`Error::is_too_big`] or [`Error::is_of_data`] retry a
    /// smaller page.
    pub(super) async fn in_run<T, F>(&self, run: &mut Run, name: &'static str, body: F) -> Result<T, Error>
    where
        T: Counted,
        F: AsyncFn(&mut Tx) -> Result<T, Error>,
    {
        #[derive(Deserialize)]
        struct Guard {
            batch: i64,
            did: Tally,
        }
        if let RunMode::DryRun { plan, .. } = &mut run.mode {
            let plans = plan.is_some();
            let (answer, entries) = self
                .transactions
                .run(name, Mode::Write, async |tx: &mut Tx| {
                    tx.abandon();
                    let answer = body(tx).await?;
                    let entries = if plans { self.changed_rows(tx).await? } else { Vec::new() };
                    Ok((answer, entries))
                })
                .await?;
            plan.iter_mut().for_each(|plan| plan.extend(entries.iter().cloned()));
            run.estimate(answer.tally());
            return Ok(answer);
        }
        let held = &*run;
        let (batch, answer) = self
            .transactions
            .run(name, Mode::Write, async |tx: &mut Tx| {
                let guard =
                    self.leased(RUN_GUARD.call(), held.job, &held.occurrence).set("fence", held.fence);
                let (committed, mut did) = match tx.row(guard).await? {
                    Some(Guard { batch, did }) => (batch, did),
                    None => return Err(lost(held.job, &held.occurrence)),
                };
                stop_point!("after_guard");
                let answer = body(tx).await?;
                stop_point!("after_work");
                let entries = self.changed_rows(tx).await?;
                let head = JournalHead { run: &held.run_id, job: held.job, at: held.now, by: "run" };
                journal::record(tx, head, &entries).await?;
                let batch = committed.max(held.batch) + 1;
                did += answer.tally();
                let receipt = RUN_RECEIPT
                    .call()
                    .set("job", held.job)
                    .set("occurrence", held.occurrence.as_str())
                    .set("batch", batch)
                    .set("did", counts(&did));
                tx.run(receipt).await?;
                let attempt = tx.attempt.take();
                tx.log_history(|| {
                    json!({
                        "what": "commit", "tx": name, "job": held.job, "occurrence": held.occurrence,
                        "fence": held.fence, "holder": self.holder, "batch": batch, "attempt": attempt,
                    })
                });
                Ok((batch, answer))
            })
            .await?;
        run.batch = batch;
        Ok(answer)
    }

    /// Ends a run and returns the counts of all its batches, including those of former holders.
    pub async fn close_run(
        &self,
        run: &Run,
        state: RunState,
        truncated: bool,
        reason: Option<&str>,
    ) -> Result<Tally, Error> {
        #[derive(Deserialize)]
        struct Closed {
            did: Tally,
        }
        stop_point!("before_release");
        self.transactions
            .run("run.close", Mode::Write, async |tx: &mut Tx| {
                let call = RUN_CLOSE
                    .call()
                    .set("job", run.job)
                    .set("occurrence", run.occurrence.as_str())
                    .set("fence", run.fence)
                    .set("holder", self.holder.as_str())
                    .set("state", state.name())
                    .set("truncated", truncated)
                    .set("reason", reason);
                let closed: Option<Closed> = tx.row(call).await?;
                let Closed { did } = closed.ok_or_else(|| lost(run.job, &run.occurrence))?;
                tx.log_history(|| {
                    json!({
                        "what": "close", "job": run.job, "occurrence": run.occurrence, "fence": run.fence,
                        "holder": self.holder, "state": state.name(),
                    })
                });
                Ok(did)
            })
            .await
    }

    fn leased(&self, call: super::statement::Call, job: &str, occurrence: &str) -> super::statement::Call {
        call.set("job", job)
            .set("occurrence", occurrence)
            .set("holder", self.holder.as_str())
            .set("leaseMs", self.lease_ms())
    }
}

/// Counts of a run as properties.
fn counts(did: &Tally) -> BoltType {
    let mut counts = BoltMap::default();
    for (name, n) in did.counts() {
        counts.put(name.into(), n.into());
    }
    BoltType::Map(counts)
}

pub(super) fn instant(ms: i64) -> Result<Timestamp, Error> {
    Timestamp::from_millis(ms).map_err(|why| decode(&why.to_string()))
}

fn decode(detail: &str) -> Error {
    Error::Decode { statement: "run", detail: detail.to_owned() }
}

fn lost(job: &str, occurrence: &str) -> Error {
    Error::Fenced(format!(
        "the run {occurrence} of {job} was taken over by another program; nothing was written after that. \
         See: ebb job history {job}"
    ))
}
