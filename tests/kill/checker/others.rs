//! I12: what other programs wrote is there, once, and says what it said.

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
