//! Judges a round by its history and the graph it left: fourteen invariants, each a function of its own.
//!
//! It shares no code with the product, the law of decay included: what it says of an energy it has worked out again.
//!
//! | | invariant | file |
//! |---|---|---|
//! | I1 | every acknowledged memory exists once, those forgotten on request have a tombstone and nothing else | `memories` |
//! | I2 | one stub for each tier step, and none without | `memories` |
//! | I3 | each energy is what the acknowledged deposits make of it, each unknown one counted 0 or 1 times | `energy` |
//! | I4 | states of attempts and runs only advance | `protocol` |
//! | I5 | fences rise; nothing is written under an old one, nor by an attempt that is over | `protocol` |
//! | I6 | no memory under two attempts that are not over | `protocol` |
//! | I7 | pinned memories stay as they are | `memories` |
//! | I8 | dry runs write nothing | `protocol` |
//! | I9 | an occurrence is closed once, its batches numbered without gap or repeat | `protocol` |
//! | I10 | at rest: no marks, nothing open, nothing due before the last run of its job | `rest` |
//! | I11 | each acknowledged outcome is learned once, each unknown one 0 or 1 times | `outcomes` |
//! | I12 | rows of other programs are there once, and say what they said | `others` |
//! | I13 | nothing is dated ahead of the history by more than a minute | `rest` |
//! | I14 | each acknowledged access of a row of the adopted graph is counted once, each unknown one 0 or 1 times | `others` |

mod energy;
mod memories;
mod operations;
mod others;
mod outcomes;
mod protocol;
mod rest;

use super::graph::Graph;
use super::history::Line;
use operations::Operations;
use std::fmt;

/// Which promise was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Invariant {
    Memories = 1,
    Stubs,
    Energy,
    States,
    Fences,
    Marks,
    Pinned,
    DryRuns,
    Batches,
    Rest,
    Outcomes,
    Others,
    Dates,
    Adopted,
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "I{}", *self as u8)
    }
}

/// What the checker found.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Every broken promise, with what shows it.
    pub(crate) violations: Vec<(Invariant, String)>,
    /// Memories that too many unknown outcomes leave undecided: the round neither passes nor fails by them.
    pub(crate) inconclusive: Vec<String>,
    /// What was judged.
    pub(crate) judged: Judged,
}

/// How much a verdict rests on.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) memories: usize,
    pub(crate) promotions: usize,
    pub(crate) deposits: usize,
    pub(crate) unknown: usize,
    pub(crate) commits: usize,
    pub(crate) takes: usize,
    /// Acknowledged accesses of adopted rows.
    pub(crate) rows: usize,
}

impl Verdict {
    fn broken(&mut self, which: Invariant, why: String) {
        self.violations.push((which, why));
    }

    /// Whether nothing is broken and nothing undecided.
    #[must_use]
    pub(crate) fn is_good(&self) -> bool {
        self.violations.is_empty() && self.inconclusive.is_empty()
    }
}

/// Judges a round at rest.
#[must_use]
pub(crate) fn check(history: &[Line], graph: &Graph) -> Verdict {
    let operations = Operations::of(history);
    let mut verdict = Verdict::default();
    memories::exist_once(&operations, graph, &mut verdict);
    memories::stubs_tell_the_steps(&operations, graph, &mut verdict);
    energy::is_what_deposits_make(&operations, graph, &mut verdict);
    protocol::states_only_advance(history, graph, &mut verdict);
    protocol::fences_hold(&operations, graph, &mut verdict);
    protocol::one_attempt_holds_a_memory(history, graph, &mut verdict);
    memories::pinned_stay(&operations, graph, &mut verdict);
    protocol::dry_runs_write_nothing(history, &mut verdict);
    protocol::batches_are_numbered(&operations, graph, &mut verdict);
    rest::nothing_is_left(graph, &mut verdict);
    outcomes::count_once(&operations, graph, &mut verdict);
    others::are_left_alone(&operations, graph, &mut verdict);
    rest::nothing_is_ahead(history, graph, &mut verdict);
    others::accesses_count_once(&operations, graph, &mut verdict);
    verdict.violations.sort();
    verdict.judged = operations.judged(graph);
    verdict
}
