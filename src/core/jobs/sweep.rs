//! Applies the policies to the facts of each scope, or of a requested one.
//!
//! A sweep only adds facts: a lineage whose head has become too old gets a new head of confidence 0, one that ages a less
//! confident one. It goes through the lineages of a scope by the page, in the order of their keys, and recognises its own
//! work by the data: what it has said at an instant it does not say again at that instant.
//!
//! | occurrence | scopes | policies in their own mode | guard |
//! |---|---|---|---|
//! | of the schedule, or by hand | all four | yes | stops a scope; the others go on, and the run ends guarded |
//! | `job/<id>` | the one asked for | or the one mode or policy asked for | as accepted |
//!
//! # Design notes
//! Where a policy retracts, a scope is looked through before anything is written: only then is it known how many the
//! guard would have to let through. That costs a read of the scope, which is a tenth of what writing a fifth of it would.
//! The facts of other writers are taken under the laws before that, so none of them gets past the guard.
//! A sweep that somebody asked for heeds no limit of rows or time: it is divided by its pages, and lasts until it is done.
//!
//! With `guard.first_run_dry`, a policy only counts in its first run by the schedule, and so does each later wording of it:
//! what it would do stands in the history of the job before it does anything.
//!
//! Invariant: a second sweep at the same instant changes nothing (held by `jobs::sweep::twice_is_once`).

use super::{Completion, DAY_MS, Job, Work, pages};
use crate::domain::fact::FactScope;
use crate::domain::policy::{Counters, Rules};
use crate::domain::units::Timestamp;
use crate::store::{Error, RequestedSweep, Store, Tally};
use tracing::info;

pub(super) const JOB: Job = Job {
    name: "sweep",
    about: "Apply the decay policies to the facts of each scope, by adding facts",
    // Its own times are in the configuration; a day is what it is made for.
    interval_ms: |_| DAY_MS,
    waits_since: |backlog| backlog.sweep,
    left: |_| 0,
    run: |work| Box::pin(run(work)),
};

const PAGE_FIRST: usize = 1_000;
/// Lineages of one look: nothing is locked or written.
const LOOK: usize = 20_000;

/// Sweeps at the run's `now`.
async fn run(mut work: Work<'_>) -> Result<Completion, Error> {
    if let Completion::Budget = work.adopt_facts().await? {
        return Ok(Completion::Budget);
    }
    if work.run.is_dry() {
        return estimate(work).await;
    }
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
    let mut guarded = None;
    for scope in FactScope::ALL {
        let rules = policies.rules(scope, None, None);
        if rules.is_empty() {
            continue;
        }
        if let Err(why) = check_guard(work.store, scope, &rules, work.run.now, None).await? {
            guarded = Some(guarded.unwrap_or(why));
            continue;
        }
        let mut after = String::new();
        let reached = pages::each(&mut work, PAGE_FIRST, async |store, run, page_mode| {
            let swept = store.sweep_heads(run, scope, &rules, &after, page_mode).await?;
            after = swept.last;
            Ok(swept.lineages)
        })
        .await?;
        if reached == Completion::Budget {
            return Ok(reached);
        }
    }
    if !new.is_empty() {
        work.store.tried(work.run, &new).await?;
        let ids: Vec<&str> = new.iter().map(|policy| policy.id.as_str()).collect();
        info!(policies = ids.join(", "), "the first run of these policies only counted; the next one acts");
    }
    guarded.map_or(Ok(Completion::End), Err)
}

async fn run_requested(mut work: Work<'_>, id: &str) -> Result<Completion, Error> {
    work.budget.until_stopped();
    let job = work.store.sweep_job(id).await?;
    if job.state.is_over() {
        return Ok(Completion::End);
    }
    let ended = sweep(&mut work, job.asked).await;
    // Where it was cut off, whoever takes the run over goes on with it.
    if let Some(why) = ended.as_ref().err().filter(|why| !why.is_cut_off()) {
        work.store.end_sweep(work.run, id, Err(&why.to_string())).await?;
    }
    ended
}

async fn sweep(work: &mut Work<'_>, mut asked: RequestedSweep) -> Result<Completion, Error> {
    let policies = work.store.policies().await?.policies;
    let rules = policies.rules(asked.scope, asked.mode, asked.policy.as_deref());
    // One that has written was let through.
    if asked.cursor.is_empty() {
        check_guard(work.store, asked.scope, &rules, work.run.now, asked.accepted).await??;
    }
    let id = asked.id.clone();
    let reached = pages::each(work, PAGE_FIRST, async |store, run, page_mode| {
        let lineages;
        (asked, lineages) = store.sweep_requested(run, &id, &rules, page_mode).await?;
        Ok(lineages)
    })
    .await?;
    if reached == Completion::End {
        work.store.end_sweep(work.run, &id, Ok(&rules.summary(&asked.counters))).await?;
    }
    Ok(reached)
}

/// Whether the guard lets a sweep of a scope through.
async fn check_guard(
    store: &Store,
    scope: FactScope,
    rules: &Rules,
    now: Timestamp,
    accepted: Option<i64>,
) -> Result<Result<(), Error>, Error> {
    if !rules.retract() {
        return Ok(Ok(()));
    }
    let found = look(store, scope, rules, now).await?;
    Ok(store.guard().judge(found.retracted, found.live, accepted).map_err(Error::Guarded))
}

/// What a sweep of a scope would find at `now`; nothing is written. Two pages are read at once: one alone leaves the
/// program waiting for the server and the server for the program.
pub async fn look(store: &Store, scope: FactScope, rules: &Rules, now: Timestamp) -> Result<Counters, Error> {
    let (mut all, mut after) = (Counters::default(), String::new());
    loop {
        // On the heap: two of them at once are much for a stack.
        let page = |after| Box::pin(store.preview_heads(scope, rules, now, after, LOOK));
        let Some(middle) = store.heads_page_end(scope, &after, LOOK).await? else {
            all += page(&after).await?.counters;
            return Ok(all);
        };
        let (one, two) = tokio::join!(page(&after), page(&middle));
        let (one, two) = (one?, two?);
        all += one.counters;
        if one.last != middle {
            // Lineages came or went meanwhile: the second page does not begin where the first ends.
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

/// What a run would do. Nothing is locked, and the guard stops nothing.
async fn estimate(work: Work<'_>) -> Result<Completion, Error> {
    let policies = work.store.policies().await?.policies;
    let mut left = work.budget.page(usize::MAX);
    for scope in FactScope::ALL {
        let rules = policies.rules(scope, None, None);
        let mut after = String::new();
        while left > 0 && !rules.is_empty() {
            let wanted = left.min(LOOK);
            let page = work.store.preview_heads(scope, &rules, work.run.now, &after, wanted).await?;
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
            after = page.last;
        }
    }
    Ok(Completion::End)
}
