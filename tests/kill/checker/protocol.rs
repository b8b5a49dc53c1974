//! I4, I5, I6, I8 and I9: runs, attempts, fences, batches and dry runs.

use super::super::graph::Graph;
use super::super::history::{Line, What};
use super::operations::{Operation, Operations};
use super::rest::over;
use super::{Invariant, Verdict};
use std::collections::BTreeMap;

type Occurrence<'a> = (&'a str, &'a str);

/// How far a state is on its way; `None` for one that is unknown.
fn progress(state: &str) -> Option<u8> {
    match state {
        "planned" | "open" => Some(0),
        "claimed" => Some(1),
        "done" | "aborted" | "expired" | "guarded" | "failed" => Some(2),
        _ => None,
    }
}

/// I4: from one look to the next, and to the graph that is left.
pub(super) fn states_only_advance(history: &[Line], graph: &Graph, verdict: &mut Verdict) {
    let mut runs: BTreeMap<Occurrence<'_>, (&str, i64, i64)> = BTreeMap::new();
    let mut attempts: BTreeMap<&str, &str> = BTreeMap::new();
    let looks = history.iter().filter_map(|line| match &line.what {
        What::Look { runs, attempts, .. } => Some((runs, attempts)),
        _ => None,
    });
    for (seen, tried) in looks.chain([(&graph.runs, &graph.attempts)]) {
        for run in seen {
            let key = (run.job.as_str(), run.occurrence.as_str());
            let now = (run.state.as_str(), run.fence, run.batch);
            let Some(before) = runs.insert(key, now) else { continue };
            if !may_follow(before.0, now.0) || now.1 < before.1 || now.2 < before.2 {
                let why = format!("the run {} of {} went from {before:?} to {now:?}", key.1, key.0);
                verdict.broken(Invariant::States, why);
            }
        }
        for attempt in tried {
            let Some(before) = attempts.insert(&attempt.id, &attempt.state) else { continue };
            if !may_follow(before, &attempt.state) {
                let why = format!("the attempt {} went from {before} to {}", attempt.id, attempt.state);
                verdict.broken(Invariant::States, why);
            }
        }
    }
}

fn may_follow(before: &str, after: &str) -> bool {
    match (progress(before), progress(after)) {
        (Some(2), _) => before == after,
        (Some(before), Some(after)) => before <= after,
        _ => false,
    }
}

struct Commit<'a> {
    operation: &'a Operation,
    tx: &'a str,
    fence: i64,
    batch: i64,
    attempt: Option<&'a str>,
}

fn commits(operations: &Operations) -> BTreeMap<Occurrence<'_>, Vec<Commit<'_>>> {
    let mut found: BTreeMap<Occurrence<'_>, Vec<Commit<'_>>> = BTreeMap::new();
    for operation in &operations.all {
        if let What::Commit { tx, job, occurrence, fence, batch, attempt, .. } = &operation.what {
            let (fence, batch, attempt) = (*fence, *batch, attempt.as_deref());
            let commit = Commit { operation, tx, fence, batch, attempt };
            found.entry((job, occurrence)).or_default().push(commit);
        }
    }
    found
}

/// I5: takes of a run have distinct fences that rise with time; a commit does not begin after a later fence was known to
/// be taken; in the order of their batches the fences of commits do not fall; an attempt commits its work at most once,
/// and only if it ended done.
pub(super) fn fences_hold(operations: &Operations, graph: &Graph, verdict: &mut Verdict) {
    let mut takes: BTreeMap<Occurrence<'_>, Vec<(&Operation, i64)>> = BTreeMap::new();
    for operation in operations.all.iter().filter(|operation| operation.counts()) {
        if let What::Take { job, occurrence, fence, .. } = &operation.what {
            takes.entry((job, occurrence)).or_default().push((operation, *fence));
        }
    }
    for (run, takes) in &takes {
        for (earlier, low) in takes {
            for (later, high) in takes.iter().filter(|(later, _)| later.began > earlier.ended) {
                if high <= low {
                    let why = format!(
                        "{run:?} was taken under fence {high} at {} after {low} at {}",
                        later.began, earlier.ended
                    );
                    verdict.broken(Invariant::Fences, why);
                }
            }
        }
        let mut fences: Vec<i64> = takes.iter().map(|(_, fence)| *fence).collect();
        fences.sort_unstable();
        for pair in fences.windows(2).filter(|pair| pair[0] == pair[1]) {
            verdict.broken(Invariant::Fences, format!("{run:?} was taken twice under fence {}", pair[0]));
        }
    }
    let states: BTreeMap<&str, &str> =
        graph.attempts.iter().map(|attempt| (attempt.id.as_str(), attempt.state.as_str())).collect();
    let mut applied: BTreeMap<&str, usize> = BTreeMap::new();
    for (run, commits) in commits(operations) {
        let known: Vec<&Commit<'_>> = commits.iter().filter(|commit| commit.operation.counts()).collect();
        for commit in &known {
            let stale = takes.get(&run).and_then(|takes| {
                takes
                    .iter()
                    .find(|(take, fence)| *fence > commit.fence && take.ended < commit.operation.began)
            });
            if let Some((_, fence)) = stale {
                let why = format!(
                    "{run:?}: {} was committed under fence {} after {fence} was taken",
                    commit.tx, commit.fence
                );
                verdict.broken(Invariant::Fences, why);
            }
            if let Some(attempt) = commit.attempt.filter(|_| commit.tx == "attempt.apply") {
                *applied.entry(attempt).or_default() += 1;
                let state = states.get(attempt).copied().unwrap_or("gone");
                if state != "done" {
                    let why = format!("the attempt {attempt} is {state} and its work was committed");
                    verdict.broken(Invariant::Fences, why);
                }
            }
        }
        let mut numbered = known;
        numbered.sort_by_key(|commit| commit.batch);
        for pair in numbered.windows(2).filter(|pair| pair[0].fence > pair[1].fence) {
            let (low, high) = ((pair[0].batch, pair[0].fence), (pair[1].batch, pair[1].fence));
            let why = format!("{run:?}: batch and fence {high:?} follow {low:?}");
            verdict.broken(Invariant::Fences, why);
        }
    }
    for (attempt, count) in applied.into_iter().filter(|(_, count)| *count > 1) {
        verdict.broken(
            Invariant::Fences,
            format!("the work of the attempt {attempt} was committed {count} times"),
        );
    }
}

/// I6: in the middle of a round as at its end.
pub(super) fn one_attempt_holds_a_memory(history: &[Line], graph: &Graph, verdict: &mut Verdict) {
    for line in history {
        if let What::Look { doubly_marked, .. } = &line.what {
            for memory in doubly_marked {
                verdict.broken(Invariant::Marks, format!("{memory} was under two attempts at {}", line.at));
            }
        }
    }
    let live = |id: &str| graph.attempts.iter().any(|attempt| attempt.id == id && !over(&attempt.state));
    let mut held: BTreeMap<&str, usize> = BTreeMap::new();
    for (memory, _) in graph.marks.iter().filter(|(_, attempt)| live(attempt)) {
        *held.entry(memory).or_default() += 1;
    }
    for (memory, count) in held.into_iter().filter(|(_, count)| *count > 1) {
        verdict.broken(Invariant::Marks, format!("{memory} is under {count} attempts"));
    }
}

/// I8.
pub(super) fn dry_runs_write_nothing(history: &[Line], verdict: &mut Verdict) {
    for line in history {
        if let What::DryRun { job, before, after } = &line.what
            && before != after
        {
            verdict.broken(
                Invariant::DryRuns,
                format!("a dry run of {job} changed the graph from {before} to {after}"),
            );
        }
    }
}

/// I9: an occurrence has one record and one end; each batch up to the last has a commit that has or may have happened,
/// and none has two that have.
pub(super) fn batches_are_numbered(operations: &Operations, graph: &Graph, verdict: &mut Verdict) {
    let mut broken = |why: String| verdict.broken(Invariant::Batches, why);
    let mut records: BTreeMap<Occurrence<'_>, usize> = BTreeMap::new();
    for run in &graph.runs {
        *records.entry((&run.job, &run.occurrence)).or_default() += 1;
    }
    for (run, count) in records.iter().filter(|(_, count)| **count > 1) {
        broken(format!("{run:?} has {count} records"));
    }
    let mut closed: BTreeMap<Occurrence<'_>, usize> = BTreeMap::new();
    for operation in operations.all.iter().filter(|operation| operation.counts()) {
        if let What::Close { job, occurrence, .. } = &operation.what {
            *closed.entry((job, occurrence)).or_default() += 1;
        }
    }
    for (run, count) in closed.into_iter().filter(|(_, count)| *count > 1) {
        broken(format!("{run:?} was closed {count} times"));
    }
    let commits = commits(operations);
    for run in &graph.runs {
        let none = Vec::new();
        let commits = commits.get(&(run.job.as_str(), run.occurrence.as_str())).unwrap_or(&none);
        for batch in 1..=run.batch {
            let of = || commits.iter().filter(|commit| commit.batch == batch);
            let known = of().filter(|commit| commit.operation.counts()).count();
            if known > 1 {
                broken(format!(
                    "batch {batch} of {} {} was committed {known} times",
                    run.job, run.occurrence
                ));
            }
            if !of().any(|commit| commit.operation.may_count()) {
                broken(format!("batch {batch} of {} {} was committed by nobody", run.job, run.occurrence));
            }
        }
        let beyond = commits.iter().find(|commit| commit.batch > run.batch && commit.operation.counts());
        if let Some(commit) = beyond {
            broken(format!(
                "batch {} of {} {} is gone: {} are there",
                commit.batch, run.job, run.occurrence, run.batch
            ));
        }
    }
}
