//! Applies the policies to the facts of each scope, or of a requested one.
//!
//! A sweep only adds facts: a lineage whose head has become too old gets a new head of confidence 0, one that ages a
//! less confident one. It processes the lineages of a scope by pages, in the order of their keys, and recognises its
//! own work by the data: a fact that it has added at an instant is not added again at that instant.
//!
//! | occurrence | scopes | policies in their own mode | guard |
//! |---|---|---|---|
//! | of the schedule | all four | yes | stops a scope; the others continue, and the run ends guarded |
//! | manual | all four | yes | stops the run before it writes, and names the number to accept |
//! | `job/<id>` | the requested one | or the one requested mode or policy | stops it |
//!
//! A policy that the guard stopped runs once its number is accepted, and by itself from then on: acceptance is recorded
//! before the first fact is written, so a run that is killed in between is continued, by any worker.
//!
//! # Design notes
//! Where a policy retracts, a scope is read completely before anything is written: only then is the number of facts
//! known that the guard checks. That costs a read of the scope, a tenth of the cost of writing a fifth of it. The facts
//! of other writers are adopted before that, so none of them escapes the guard. A requested sweep has no limit of rows
//! or time: it is divided by its pages, and runs to its end.
//!
//! With `guard.first_run_dry`, a policy only counts in its first run by the schedule, and so does each later version of
//! it: its effect is in the history of the job before it acts.
//!
//! Invariant: a second sweep at the same instant changes nothing (held by `jobs::sweep::twice_is_once`).

use super::{Completion, DAY_MS, Job, Work, pages};
use crate::domain::fact::FactScope;
use crate::domain::guard::{Effect, Record, TooMuch};
use crate::domain::policy::{Counters, Policies, Rules};
use crate::domain::units::Timestamp;
use crate::store::{AcceptedPolicies, AcceptedPolicy, Error, RequestedSweep, Run, Store, Tally};
use tracing::info;

pub(super) static JOB: Job = Job {
    name: "sweep",
    about: "Apply the decay policies to the facts of each scope, by adding facts",
    // Its schedule is in the configuration; it is designed for one run a day.
    interval_ms: |_| DAY_MS,
    waits_since: |backlog| backlog.sweep,
    left: |_| 0,
    run: |work| Box::pin(run(work)),
};

const PAGE_FIRST: usize = 1_000;
/// Lineages of one page of a count: nothing is locked or written.
const LOOK: usize = 20_000;

/// Sweeps at the run's `now`.
async fn run(mut work: Work<'_>) -> Result<Completion, Error> {
    if let Completion::Budget = work.adopt_facts().await? {
        return Ok(Completion::Budget);
    }
    if work.run.only_counts() {
        return estimate(work).await;
    }
    if work.run.is_dry() {
        return plan(work).await;
    }
    work.store.accept_before_facts(work.run.now).await?;
    match RequestedSweep::of(&work.run.occurrence).map(str::to_owned) {
        Some(id) => run_requested(work, &id).await,
        None => all(work).await,
    }
}

async fn all(mut work: Work<'_>) -> Result<Completion, Error> {
    let (policies, new) = if work.run.is_scheduled() {
        work.store.policies_on_trial(work.run).await?
    } else {
        (work.store.policies().await?.policies, Vec::new())
    };
    let scopes = swept(&policies);
    let guarded = pass_guard(work.store, work.run, &policies, &scopes, work.accepted).await?;
    for (scope, rules) in &scopes {
        if guarded.scopes.contains(scope) {
            continue;
        }
        if sweep_pages(&mut work, *scope, rules).await? == Completion::Budget {
            return Ok(Completion::Budget);
        }
    }
    if !new.is_empty() {
        work.store.tried(work.run, &new).await?;
        let ids: Vec<&str> = new.iter().map(|policy| policy.id.as_str()).collect();
        info!(policies = ids.join(", "), "the first run of these policies only counted; the next one acts");
    }
    guarded.result().map(|()| Completion::End)
}

/// The scopes that policies are for, with their rules.
fn swept(policies: &Policies) -> Vec<(FactScope, Rules)> {
    let rules = FactScope::ALL.map(|scope| (scope, policies.rules(scope, None, None)));
    rules.into_iter().filter(|(_, rules)| !rules.is_empty()).collect()
}

async fn run_requested(mut work: Work<'_>, id: &str) -> Result<Completion, Error> {
    work.budget.until_stopped();
    let job = work.store.sweep_job(id).await?;
    if job.state.is_over() {
        return Ok(Completion::End);
    }
    let ended = sweep(&mut work, job.asked).await;
    // A program that takes the run over continues here.
    if let Some(why) = ended.as_ref().err().filter(|why| !why.is_cut_off()) {
        work.store.end_sweep(work.run, id, Err(&why.to_string())).await?;
    }
    ended
}

async fn sweep(work: &mut Work<'_>, mut requested: RequestedSweep) -> Result<Completion, Error> {
    let policies = work.store.policies().await?.policies;
    let rules = policies.rules(requested.scope, requested.mode, requested.policy.as_deref());
    let scopes = [(requested.scope, rules.clone())];
    let guarded = pass_guard(work.store, work.run, &policies, &scopes, requested.accepted).await?;
    if let Some(why) = guarded.why {
        // What a sweep retracts lowers the share that is left, so only other policies or facts stop one that has begun.
        return Err(if requested.cursor.is_empty() {
            Error::Guarded(why)
        } else {
            Error::Conflict(format!("a part is done, and the guard stopped the rest: {why}"))
        });
    }
    let id = requested.id.clone();
    let reached = pages::each(work, PAGE_FIRST, async |store, run, page_mode| {
        let lineages;
        (requested, lineages) = store.sweep_requested(run, &id, &rules, page_mode).await?;
        Ok(lineages)
    })
    .await?;
    if reached == Completion::End {
        work.store.end_sweep(work.run, &id, Ok(&rules.summary(&requested.counters))).await?;
    }
    Ok(reached)
}

/// Scopes that the guard keeps from being swept, and the number to accept.
#[derive(Default)]
struct Guarded {
    scopes: Vec<FactScope>,
    why: Option<TooMuch>,
}

impl Guarded {
    fn result(self) -> Result<(), Error> {
        self.why.map_or(Ok(()), |why| Err(Error::Guarded(why)))
    }
}

/// The number to accept for a sweep of a scope at `now`, if the guard stops it.
pub async fn ask_guard(
    store: &Store,
    policies: &Policies,
    scope: (FactScope, Rules),
    now: Timestamp,
) -> Result<Option<TooMuch>, Error> {
    Ok(judge(store, policies, &[scope], now).await?.1.why)
}

/// Effects of sweeps of scopes, by scope.
type Effects = Vec<(FactScope, Vec<Effect>)>;

/// Asks the guard about sweeps of scopes.
async fn judge(
    store: &Store,
    policies: &Policies,
    scopes: &[(FactScope, Rules)],
    now: Timestamp,
) -> Result<(Effects, Guarded), Error> {
    let (guard, mut looked, mut guarded) = (store.guard(), Vec::new(), Guarded::default());
    if !guard.enabled || !scopes.iter().any(|(_, rules)| rules.retract()) {
        return Ok((looked, guarded));
    }
    let records = store.accepted_policies().await?;
    for (scope, rules) in scopes.iter().filter(|(_, rules)| rules.retract()) {
        let found = look(store, *scope, rules, now).await?;
        let effects = effects(&found, *scope, policies, &records);
        if let Err(why) = guard.judge_sweep(*scope, found.live, &effects) {
            guarded.scopes.push(*scope);
            guarded.why = Some(match guarded.why.take() {
                Some(sum) => sum.and(why),
                None => why,
            });
        }
        looked.push((*scope, effects));
    }
    Ok((looked, guarded))
}

/// Asks the guard about sweeps of scopes, and records the policies that are accepted and the most that each retracts.
async fn pass_guard(
    store: &Store,
    run: &mut Run,
    policies: &Policies,
    scopes: &[(FactScope, Rules)],
    accepted: Option<i64>,
) -> Result<Guarded, Error> {
    let (looked, mut guarded) = judge(store, policies, scopes, run.now).await?;
    let is_accepted = guarded.why.as_ref().is_some_and(|why| why.is_accepted(accepted));
    let confirmed = if is_accepted { std::mem::take(&mut guarded) } else { Guarded::default() };
    if guarded.why.is_some() && !run.is_scheduled() {
        // Somebody waits for the answer, and is told that nothing was written.
        guarded.scopes = scopes.iter().map(|(scope, _)| *scope).collect();
    }
    let mut rows = Vec::new();
    for (scope, effects) in looked.iter().filter(|(scope, _)| !guarded.scopes.contains(scope)) {
        let named = confirmed.why.as_ref().filter(|_| confirmed.scopes.contains(scope));
        for effect in effects.iter().filter(|effect| effect.retracts > 0) {
            let is_named = named.is_some_and(|why| why.policies.contains(&effect.policy));
            let is_more = match effect.record {
                Record::New => false,
                Record::Accepted { most } => most.is_none_or(|most| effect.retracts > most),
            };
            let policy = policies.all().iter().find(|policy| policy.id.as_str() == effect.policy);
            if let Some(policy) = policy.filter(|_| is_named || is_more) {
                rows.push(AcceptedPolicy::new(*scope, policy, Some(effect.retracts)));
            }
        }
    }
    if !rows.is_empty() {
        store.accept_policies(run, &rows).await?;
    }
    Ok(guarded)
}

/// The facts that each policy would retract, with the guard's record of it.
fn effects(
    found: &Counters,
    scope: FactScope,
    policies: &Policies,
    records: &AcceptedPolicies,
) -> Vec<Effect> {
    let effect = |(id, retracts): (&String, &i64)| {
        let policy = policies.all().iter().find(|policy| policy.id.as_str() == id)?;
        let record = records.record(scope, policy);
        Some(Effect { policy: id.clone(), retracts: *retracts, record })
    };
    found.retracted_by.iter().filter_map(effect).collect()
}

/// The result that a sweep of a scope would have at `now`; nothing is written. Two pages are read at once: with one
/// alone the program and the server would wait for each other in turn.
pub async fn look(store: &Store, scope: FactScope, rules: &Rules, now: Timestamp) -> Result<Counters, Error> {
    let (mut all, mut after) = (Counters::default(), String::new());
    loop {
        // Boxed: two of them at once are large for a stack.
        let page = |after| Box::pin(store.preview_heads(scope, rules, now, after, LOOK));
        let Some(middle) = store.heads_page_end(scope, &after, LOOK).await? else {
            all += page(&after).await?.counters;
            return Ok(all);
        };
        let (one, two) = tokio::join!(page(&after), page(&middle));
        let (one, two) = (one?, two?);
        all += one.counters;
        if one.last != middle {
            // Lineages were added or removed meanwhile: the second page does not begin where the first ends.
            after = one.last;
            continue;
        }
        all += two.counters;
        if two.lineages < LOOK {
            return Ok(all);
        }
        after = two.last;
    }
}

/// What a manual run would change: each page rolled back. The guard applies.
async fn plan(mut work: Work<'_>) -> Result<Completion, Error> {
    let policies = work.store.policies().await?.policies;
    let scopes = swept(&policies);
    let (_, guarded) = judge(work.store, &policies, &scopes, work.run.now).await?;
    if let Some(why) = guarded.why.filter(|why| !why.is_accepted(work.accepted)) {
        return Err(Error::Guarded(why));
    }
    for (scope, rules) in &scopes {
        if sweep_pages(&mut work, *scope, rules).await? == Completion::Budget {
            return Ok(Completion::Budget);
        }
    }
    Ok(Completion::End)
}

/// Sweeps a scope, page after page.
async fn sweep_pages(work: &mut Work<'_>, scope: FactScope, rules: &Rules) -> Result<Completion, Error> {
    let mut after = String::new();
    pages::each(work, PAGE_FIRST, async |store, run, page_mode| {
        let swept = store.sweep_heads(run, scope, rules, &after, page_mode).await?;
        after = swept.last;
        Ok(swept.lineages)
    })
    .await
}

/// The result that a manual run would have, also one that the guard stops, which is named. Nothing is locked.
async fn estimate(work: Work<'_>) -> Result<Completion, Error> {
    let policies = work.store.policies().await?.policies;
    let scopes = swept(&policies);
    let (_, guarded) = judge(work.store, &policies, &scopes, work.run.now).await?;
    // Facts that a run takes over first are neither counted nor judged.
    work.run.cap_if(work.run.estimated().adopted > 0);
    let mut left = work.budget.page(usize::MAX);
    for (scope, rules) in &scopes {
        let mut after = String::new();
        while left > 0 {
            let wanted = left.min(LOOK);
            let page = work.store.preview_heads(*scope, rules, work.run.now, &after, wanted).await?;
            let (found, scanned) = (page.counters, i64::try_from(page.lineages).unwrap_or(i64::MAX));
            work.run.estimate(Tally {
                scanned,
                changed: found.retracted + found.reduced,
                skipped: scanned - found.retracted - found.reduced,
                retracted: found.retracted,
                reduced: found.reduced,
                rehearsed: found.would_retract + found.would_reduce,
                ..Tally::default()
            });
            left -= page.lineages.min(left);
            if page.lineages < wanted {
                break;
            }
            work.run.cap_if(left == 0);
            after = page.last;
        }
    }
    Ok(match guarded.why.filter(|why| !why.is_accepted(work.accepted)) {
        Some(why) => Completion::Stopped(format!("{why}; accept_affected {} lets it run", why.affected)),
        None => Completion::End,
    })
}
