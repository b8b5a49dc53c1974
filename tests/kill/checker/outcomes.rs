//! I11: outcomes, which are learned one after the other, each once.
//!
//! All of them are of the same two nodes, so what joins these was strengthened once by each, and never weakened between.

use super::super::graph::Graph;
use super::super::history::What;
use super::operations::Operations;
use super::{Invariant, Verdict};

/// I11.
pub(super) fn count_once(operations: &Operations, graph: &Graph, verdict: &mut Verdict) {
    let filed = || operations.all.iter().filter(|op| matches!(op.what, What::Outcome { .. }));
    let count = |of: usize| i64::try_from(of).unwrap_or(i64::MAX);
    let least = count(filed().filter(|op| op.counts()).count());
    let most = count(filed().filter(|op| op.may_count()).count());
    let learned = graph.learned;
    let mut broken = |why: String| verdict.broken(Invariant::Outcomes, why);
    if learned.waiting > 0 {
        broken(format!("{} outcomes were not learned", learned.waiting));
    }
    if !(least..=most).contains(&(learned.ticks + learned.waiting)) {
        broken(format!("{} outcomes were learned, of {least} to {most} that were filed", learned.ticks));
    }
    if learned.strengthened != learned.ticks {
        let (times, ticks) = (learned.strengthened, learned.ticks);
        broken(format!("{ticks} outcomes have strengthened what joins their nodes {times} times"));
    }
}
