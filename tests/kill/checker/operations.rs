//! Lines of a history put together: each operation with what is known of it in the end.

use super::super::graph::Graph;
use super::super::history::{Known, Line, What};
use super::Judged;
use std::collections::BTreeMap;

/// One operation of a process.
#[derive(Debug, Clone)]
pub(super) struct Operation {
    /// When it was asked for.
    pub(super) began: i64,
    /// When its outcome was known; for ever after, if it never was.
    pub(super) ended: i64,
    /// What came of it.
    pub(super) known: Known,
    /// When a response said that it has happened, even one of a server that was stopped meanwhile; for ever after without one.
    pub(super) told: i64,
    /// What it is: as its last line has it.
    pub(super) what: What,
}

impl Operation {
    /// Whether it has happened or may have.
    pub(super) fn may_count(&self) -> bool {
        self.known != Known::Fail
    }

    /// Whether it may happen at any time from now on, since nobody was told that it did.
    pub(super) fn is_open(&self) -> bool {
        self.told == i64::MAX
    }

    /// Whether it has certainly happened.
    pub(super) fn counts(&self) -> bool {
        self.known == Known::Ok
    }
}

/// All operations, in the order in which they were asked for.
pub(super) struct Operations {
    pub(super) all: Vec<Operation>,
}

impl Operations {
    pub(super) fn of(history: &[Line]) -> Self {
        let stops: Vec<(i64, i64)> = history
            .iter()
            .filter_map(|line| match line.what {
                What::Stopped { from, until } => Some((from, until)),
                _ => None,
            })
            .collect();
        let while_stopping = |at: i64| stops.iter().any(|(from, until)| (*from..=*until).contains(&at));
        let mut open: BTreeMap<(&str, u64), usize> = BTreeMap::new();
        let mut all: Vec<Operation> = Vec::new();
        for line in history {
            if matches!(
                line.what,
                What::Look { .. } | What::DryRun { .. } | What::Hurt { .. } | What::Stopped { .. }
            ) {
                continue;
            }
            let key = (line.process.as_str(), line.op);
            let place = *open.entry(key).or_insert_with(|| {
                all.push(Operation {
                    began: line.at,
                    ended: i64::MAX,
                    known: Known::Info,
                    told: i64::MAX,
                    what: line.what.clone(),
                });
                all.len() - 1
            });
            if line.known != Known::Invoke {
                let operation = &mut all[place];
                let is_doubtful = line.known == Known::Ok && while_stopping(line.at);
                operation.known = if is_doubtful { Known::Info } else { line.known };
                operation.ended = if operation.known == Known::Info { i64::MAX } else { line.at };
                operation.told = if line.known == Known::Info { i64::MAX } else { line.at };
                operation.what = line.what.clone();
            }
        }
        Self { all }
    }

    /// What clients did to each memory, in order. A client does one thing at a time to a memory.
    pub(super) fn by_memory(&self) -> BTreeMap<&str, Vec<&Operation>> {
        let mut found: BTreeMap<&str, Vec<&Operation>> = BTreeMap::new();
        for operation in &self.all {
            let (What::Remember { id, .. }
            | What::Access { id, .. }
            | What::Pin { id, .. }
            | What::Forget { id, .. }) = &operation.what
            else {
                continue;
            };
            found.entry(id).or_default().push(operation);
        }
        found
    }

    pub(super) fn judged(&self, graph: &Graph) -> Judged {
        let count =
            |wanted: fn(&What) -> bool| self.all.iter().filter(|op| op.counts() && wanted(&op.what)).count();
        Judged {
            memories: graph.memories.len(),
            promotions: graph.stubs.len(),
            deposits: count(|what| matches!(what, What::Remember { .. } | What::Access { .. })),
            unknown: self.all.iter().filter(|op| op.known == Known::Info).count(),
            commits: count(|what| matches!(what, What::Commit { .. })),
            takes: count(|what| matches!(what, What::Take { .. })),
            rows: count(|what| matches!(what, What::AccessRow { .. })),
        }
    }
}
