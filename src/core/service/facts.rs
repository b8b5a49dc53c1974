//! Facts: asserted, listed, swept by decay policies; and the policies themselves.
//!
//! A sweep of up to 100,000 lineages is answered when it is done. A larger one is recorded and answered at once with
//! the id of its job, which can be polled; a worker starts it within a second, and another continues it if the first
//! one dies. A sweep that only counts is always answered when it is done, since it writes nothing.

use super::Service;
use super::memories::WriteMode;
use super::request_hash::request_hash;
use crate::api::fact::{QueuedSweep, Sweep, SweepAnswer, SweepJob, SweepRequest};
use crate::clock::new_id;
use crate::domain::fact::{Assertion, FactScope};
use crate::domain::guard::TooMuch;
use crate::domain::ids::Term;
use crate::domain::policy::{Counters, Draft, Glob, Measure, Mode, Policies, Policy, Summary};
use crate::domain::units::Timestamp;
use crate::jobs::{JobName, Request, sweep};
use crate::scheduler::driver::{self, Wanted};
use crate::store::{self, ActivePolicies, Error, Fact, FactFilter, FactReceipt, RequestedSweep, SweepState};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Facts of one request to the database.
const PAGE: usize = 1_000;
/// Lineages of the largest sweep that is answered when it is done.
const AT_ONCE_MAX: i64 = 100_000;
/// Least number of lineages that a sweep processes in a second, if every one of them changes.
const PER_SECOND: i64 = 2_000;
/// Interval of checks of a sweep that a caller waits for.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// How long a sweep waits for its turn before it is left to a worker.
const TURN_LIMIT: Duration = Duration::from_secs(10);

impl Service {
    /// Asserts facts, all or none; returns which of them are heads of their lineages.
    pub async fn assert_facts(
        &self,
        mode: &WriteMode,
        facts: &[Assertion],
    ) -> Result<Vec<FactReceipt>, Error> {
        // Ids differ at each attempt, and a retry comes later, so neither is part of the hash.
        let assertion = |fact: &Assertion| {
            let tuple = &fact.tuple;
            json!({
                "scope": tuple.scope.name(),
                "entity": tuple.entity.as_str(),
                "relation": tuple.relation.as_str(),
                "value": tuple.value,
                "confidence": fact.confidence.value(),
                "source": fact.source.as_str(),
                "valid_until": fact.valid_until.map(Timestamp::millis),
            })
        };
        let hash = request_hash("assert", &facts.iter().map(assertion).collect());
        self.store.assert_facts(mode.with_hash(&hash), facts).await
    }

    /// Facts after a cursor (empty at first), at most `limit` if given. Heads come in the order of their lineages,
    /// others by id.
    pub async fn facts(
        &self,
        filter: &FactFilter,
        after: &str,
        limit: Option<usize>,
    ) -> Result<Vec<Fact>, Error> {
        let mut all: Vec<Fact> = Vec::new();
        let most = limit.unwrap_or(usize::MAX);
        loop {
            let after = all.last().map_or(after, |last| last.cursor.as_str()).to_owned();
            let wanted = PAGE.min(most - all.len());
            let page = self.store.facts(filter, &after, wanted).await?;
            let is_last = page.len() < wanted;
            all.extend(page);
            if is_last || all.len() >= most {
                return Ok(all);
            }
        }
    }

    /// Sweeps a scope. With `accept_affected` the guard allows up to this number of retractions, and records the
    /// policies as accepted. A sweep that would be answered when it is done is left to a worker at `stop`, if given.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an unknown policy; [`Error::Guarded`], with no fact written; [`Error::Policies`];
    /// [`Error::Conflict`] for a request id that was used for another request.
    pub async fn sweep(
        &self,
        write: &WriteMode,
        request: &SweepRequest,
        stop: Option<CancellationToken>,
    ) -> Result<Sweep, Error> {
        // The instant is not part of the hash: a retry comes later.
        let SweepRequest { scope, mode, policy_id, accept_affected: accepted, at } = request;
        let at = self.instant(*at).await?;
        let policy_id = policy_id.as_ref().map(Term::as_str);
        let document = json!({
            "scope": scope.name(),
            "mode": mode.map(Mode::name),
            "policy_id": policy_id,
            "accept_affected": accepted,
        });
        let hash = request_hash("sweep", &document);
        let write_mode = write.with_hash(&hash);
        let id = match self.store.sweep_of_request(write_mode).await? {
            Some(id) => id,
            None => {
                let policies = self.store.policies().await?.policies;
                if let Some(id) = policy_id.filter(|id| !policies.has(id)) {
                    return Err(Error::Invalid(format!(
                        "there is no policy {id}; a sweep that names none applies all (see ebb policy list or GET \
                         /v1/decay/policies)"
                    )));
                }
                let rules = policies.rules(*scope, *mode, policy_id);
                if *write == WriteMode::DryRun || !rules.act() {
                    let rules = if *write == WriteMode::DryRun { rules.rehearsed() } else { rules };
                    let found = sweep::look(&self.store, *scope, &rules, at).await?;
                    return Ok(Sweep::Done(answer(at, *scope, rules.summary(&found))));
                }
                let requested = RequestedSweep {
                    id: new_id(),
                    scope: *scope,
                    mode: *mode,
                    policy: policy_id.map(str::to_owned),
                    accepted: *accepted,
                    now: at,
                    heads: self.store.count_lineages(*scope).await?,
                    cursor: String::new(),
                    counters: Counters::default(),
                };
                self.store.request_sweep(write_mode, &requested).await?
            }
        };
        let mut job = self.store.sweep_job(&id).await?;
        if !job.state.is_over() && job.asked.heads <= AT_ONCE_MAX {
            let wanted = Wanted::requested(&id, job.asked.now);
            let stop = stop.unwrap_or_default();
            let began = Instant::now();
            loop {
                let work = Request { stop: stop.clone(), ..Request::default() };
                Box::pin(driver::run_job(&self.store, JobName::Sweep, &wanted, work)).await?;
                job = self.store.sweep_job(&id).await?;
                // A worker may have started it already: its result is the answer. While the sweep of another scope
                // runs, this one waits for its turn, up to a limit.
                let waits = match job.state {
                    SweepState::Running => true,
                    SweepState::Pending => began.elapsed() < TURN_LIMIT,
                    SweepState::Done | SweepState::Failed => false,
                };
                if !waits || stop.is_cancelled() {
                    break;
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        }
        match job.state {
            SweepState::Done => Ok(Sweep::Done(status(job).so_far)),
            SweepState::Failed => Err(match self.stopped_by_guard(&job).await? {
                Some(why) => Error::Guarded(why),
                None => Error::Conflict(format!(
                    "the sweep {id} failed: {}",
                    job.reason.as_deref().unwrap_or("its run ended before its end")
                )),
            }),
            // A worker does it: it is large, or another run of the job is open.
            state => Ok(Sweep::Queued(QueuedSweep {
                job_id: id,
                status: state,
                estimated_s: (job.asked.heads + PER_SECOND - 1) / PER_SECOND,
            })),
        }
    }

    /// The number to accept for a sweep that the guard stopped, in whatever worker: nothing of it was written.
    async fn stopped_by_guard(&self, job: &store::SweepJob) -> Result<Option<TooMuch>, Error> {
        let asked = &job.asked;
        if !asked.cursor.is_empty() {
            return Ok(None);
        }
        let policies = self.store.policies().await?.policies;
        let rules = policies.rules(asked.scope, asked.mode, asked.policy.as_deref());
        Box::pin(sweep::ask_guard(&self.store, &policies, (asked.scope, rules), asked.now)).await
    }

    /// The state of a requested sweep.
    pub async fn sweep_job(&self, id: &str) -> Result<SweepJob, Error> {
        self.store.sweep_job(id).await.map(status)
    }

    /// The policies in force.
    pub async fn policies(&self) -> Result<ActivePolicies, Error> {
        self.store.policies().await
    }

    /// Sets a policy, replacing one of the same id; returns it, and whether it is new.
    ///
    /// # Errors
    /// [`Error::Invalid`] with every fault of it; [`Error::Conflict`] for a request id that was used for another
    /// request.
    pub async fn set_policy(&self, mode: &WriteMode, draft: Draft) -> Result<(Policy, bool), Error> {
        let checked = Policies::check(&[draft]).map_err(|faults| {
            let faults: Vec<String> =
                faults.into_iter().map(|fault| format!("{} {}", fault.field, fault.what)).collect();
            Error::Invalid(format!("the policy is not valid: {}", faults.join("; ")))
        })?;
        let policy = checked.all().first().cloned();
        let policy = policy.ok_or_else(|| Error::Invalid("the request has no policy".to_owned()))?;
        let (ttl_s, half_life_s) = match policy.measure {
            Measure::TtlS(ttl) => (Some(ttl), None),
            Measure::HalfLifeS(half_life) => (None, Some(half_life)),
        };
        let document = json!({
            "id": policy.id.as_str(),
            "relation": policy.relation.as_str(),
            "scope": policy.scope.map(FactScope::name),
            "mode": policy.mode.name(),
            "ttl_s": ttl_s,
            "half_life_s": half_life_s,
            "min_confidence": policy.min_confidence.value(),
            "exempt_relations": policy.exempt_relations.iter().map(Glob::as_str).collect::<Vec<_>>(),
        });
        let hash = request_hash("set_policy", &document);
        let now = self.instant(None).await?;
        let new = self.store.set_policy(mode.with_hash(&hash), &policy, now).await?;
        Ok((policy, new))
    }

    /// Removes a policy.
    pub async fn remove_policy(&self, mode: &WriteMode, id: &str) -> Result<(), Error> {
        let hash = request_hash("remove_policy", &json!({ "id": id }));
        self.store.remove_policy(mode.with_hash(&hash), id).await
    }
}

fn answer(at: Timestamp, scope: FactScope, summary: Summary) -> SweepAnswer {
    SweepAnswer {
        swept_at: at,
        scope,
        mode: summary.mode,
        facts_evaluated: summary.evaluated,
        facts_retracted: summary.retracted,
        facts_reduced: summary.reduced,
        dry_run_would_retract: summary.would_retract,
        dry_run_would_reduce: summary.would_reduce,
        policies_applied: summary.applied,
    }
}

/// The state of a sweep. Only a sweep that acts is recorded, so the answer has no counts of a dry run unless every
/// matching policy only counts.
fn status(job: store::SweepJob) -> SweepJob {
    let sweep = job.asked;
    let counters = &sweep.counters;
    let mode = job.answered.or(sweep.mode).unwrap_or(Mode::Confidence);
    let (did, would) = if mode == Mode::DryRun { (0, 1) } else { (1, 0) };
    let applied =
        if job.state == SweepState::Done { job.applied } else { counters.matched.iter().cloned().collect() };
    let so_far = SweepAnswer {
        swept_at: sweep.now,
        scope: sweep.scope,
        mode,
        facts_evaluated: counters.evaluated,
        facts_retracted: did * counters.retracted,
        facts_reduced: did * counters.reduced,
        dry_run_would_retract: would * counters.would_retract,
        dry_run_would_reduce: would * counters.would_reduce,
        policies_applied: applied,
    };
    SweepJob { job_id: sweep.id, status: job.state, so_far, reason: job.reason }
}
