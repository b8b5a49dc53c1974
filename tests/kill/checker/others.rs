//! I12 and I14: what other programs wrote is there, once, and says what it said; what Ebb keeps of it counts each access once.

use super::super::graph::Graph;
use super::super::history::What;
use super::operations::Operations;
use super::{Invariant, Verdict};
use std::collections::BTreeMap;

/// Each row that was written, and no other. A write of unknown outcome left all of its rows or none.
pub(super) fn are_left_alone(operations: &Operations, graph: &Graph, verdict: &mut Verdict) {
    let mut broken = |why: String| verdict.broken(Invariant::Others, why);
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for other in &graph.others {
        *found.entry(&other.row).or_default() += 1;
        if !other.same {
            broken(format!("the row {} of another program says something else", other.row));
        }
    }
    for operation in &operations.all {
        let What::Leave { rows } = &operation.what else { continue };
        let there = rows.iter().filter_map(|row| found.remove(row.as_str())).collect::<Vec<_>>();
        if let Some(more) = there.iter().find(|count| **count > 1) {
            broken(format!("a row of {} is there {more} times", rows[0]));
        }
        let lost = rows.len() - there.len();
        if lost > 0 && (operation.counts() || !there.is_empty()) {
            broken(format!("{lost} rows of {} are lost", rows[0]));
        }
    }
    for row in found.keys() {
        broken(format!("the row {row} is there and nobody wrote it"));
    }
}

/// I14.
pub(super) fn accesses_count_once(operations: &Operations, graph: &Graph, verdict: &mut Verdict) {
    // Of each row: the acknowledged accesses, all that may have happened, and what is counted.
    let mut rows: BTreeMap<&str, (i64, i64, i64)> = BTreeMap::new();
    for operation in operations.all.iter().filter(|operation| operation.may_count()) {
        let What::AccessRow { row } = &operation.what else { continue };
        let (least, most, _) = rows.entry(row).or_default();
        *least += i64::from(operation.counts());
        *most += 1;
    }
    for state in &graph.states {
        rows.entry(&state.row).or_default().2 += state.accesses;
    }
    for (row, (least, most, counted)) in rows {
        if !(least..=most).contains(&counted) {
            let why = format!("{counted} accesses of {row} are counted, of {least} to {most}");
            verdict.broken(Invariant::Adopted, why);
        }
    }
}
