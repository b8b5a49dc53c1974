//! I10 and I13: what is to be gone when every job has run once since the last write, and what is never to be there.

use super::super::graph::Graph;
use super::super::history::Line;
use super::{Invariant, Verdict};

/// Nothing marked, nothing open, nothing that the last run of its job should have done.
pub(super) fn nothing_is_left(graph: &Graph, verdict: &mut Verdict) {
    let mut broken = |why: String| verdict.broken(Invariant::Rest, why);
    for (memory, attempt) in &graph.marks {
        broken(format!("{memory} is marked by the attempt {attempt}"));
    }
    for attempt in graph.attempts.iter().filter(|attempt| !over(&attempt.state)) {
        broken(format!("the attempt {} is {}", attempt.id, attempt.state));
    }
    for run in graph.runs.iter().filter(|run| run.state == "open") {
        broken(format!("the run {} of {} is open", run.occurrence, run.job));
    }
    let last = |job: &str| {
        let done = graph.runs.iter().filter(|run| run.job == job && run.state == "done");
        done.map(|run| run.now).max().unwrap_or(i64::MIN)
    };
    let (decayed, promoted) = (last("decay"), last("promote"));
    for memory in graph.memories.iter().filter(|memory| memory.quarantined.is_none() && !memory.pinned) {
        let anchor = memory.energy_at.max(memory.last_accessed);
        if memory.due_at.is_some_and(|due| due <= decayed) && anchor < decayed {
            broken(format!(
                "{} was due and its anchor lies {} ms before the last run",
                memory.id,
                decayed - anchor
            ));
        }
        let rises = memory.tier == "working" || memory.tier == "shortTerm";
        if rises && memory.ripe_at.is_some_and(|ripe| ripe <= promoted) {
            broken(format!("{} is ripe in {} and was not promoted", memory.id, memory.tier));
        }
    }
}

/// Beyond this, the clock of a process was believed that should not have been.
const AHEAD_MS: i64 = 60_000;

/// No energy and no run stands at an instant that had not come when the history ended.
pub(super) fn nothing_is_ahead(history: &[Line], graph: &Graph, verdict: &mut Verdict) {
    let Some(end) = history.iter().map(|line| line.at).max() else { return };
    let ahead = |at: i64| at > end + AHEAD_MS;
    let mut broken = |why: String| verdict.broken(Invariant::Dates, why);
    for memory in graph.memories.iter().filter(|memory| ahead(memory.energy_at.max(memory.last_accessed))) {
        broken(format!(
            "{} is dated {} ms ahead",
            memory.id,
            memory.energy_at.max(memory.last_accessed) - end
        ));
    }
    for run in graph.runs.iter().filter(|run| ahead(run.now)) {
        broken(format!("the run {} of {} is dated {} ms ahead", run.occurrence, run.job, run.now - end));
    }
}

/// Whether an attempt is over.
pub(super) fn over(state: &str) -> bool {
    matches!(state, "done" | "aborted" | "expired")
}
