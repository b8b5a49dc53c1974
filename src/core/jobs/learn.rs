//! Learns the weights of relationships from outcomes: scope by scope, each outcome once, in order of arrival.
//!
//! A page is some outcomes of one scope. The neighbourhood of their nodes is read, with its learned weights; then the
//! outcomes are learned in memory, and the changes are written in one transaction, with the number of outcomes that the
//! scope has learned by then. That number is checked first, under its lock, so a repeated page finds it changed and
//! does nothing. There is one run of the job in the whole database, so each scope has one learner. Mirrors read the
//! rows at their next refresh.
//!
//! # Design notes
//! A row is written as of the outcome that changed it last, so rows follow from the outcomes and not from their
//! division into pages (held by `jobs::learn::pages_leave_the_same_rows`). Readers decay the value of a row; one that
//! has decayed to nothing is deleted.
//!
//! An outcome without existing nodes, or without value, teaches nothing, but counts as a tick: everything else decays
//! by it.
//!
//! Scopes take turns by pages, so that none waits for one with endless outcomes.
//!
//! Invariants: an outcome counts once, even after a kill (held by
//! `jobs::learn::killed_anywhere_it_leaves_what_an_undisturbed_run_leaves`); a second run changes nothing (held by
//! `jobs::learn::twice_is_once`).

use super::{Completion, Job, Learning, MINUTE_MS, Work};
use crate::domain::ids::Scope;
use crate::domain::units::Timestamp;
use crate::mirror;
use crate::mirror::learned::{record, row};
use crate::mirror::near::around;
use crate::store::{Error, Lesson, Store, SynapseRow, Tally, WaitingOutcome};
use ebb_engine::graph::Graph;
use ebb_engine::plasticity::Synapses;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static JOB: Job = Job {
    name: "learn",
    about: "Learn weights of relationships from outcomes, each once, in order of arrival",
    // Mirrors read them at their next refresh.
    interval_ms: |_| MINUTE_MS,
    waits_since: |backlog| backlog.learn,
    left: |waiting| waiting.outcomes,
    run: |work| Box::pin(run(work)),
};

/// Outcomes of one transaction at most.
const PAGE: usize = 50;
/// Nodes of one transaction at most, unless one outcome alone has more.
const NODES: usize = 2_000;
/// Rows deleted after a scope has learned.
const TRIMMED: usize = 10_000;
/// Outcomes that a dry run reads at once: each may name hundreds of nodes.
const DRY_RUN_OUTCOMES: usize = 2_000;

/// A directed relationship: source, type, target.
type Way = (String, String, String);

/// Learns all waiting outcomes.
async fn run(mut work: Work<'_>) -> Result<Completion, Error> {
    if work.run.is_dry() {
        return estimate(&mut work).await;
    }
    let mut taught: BTreeSet<Scope> = BTreeSet::new();
    let reached = Box::pin(learn(&mut work, &mut taught)).await?;
    if reached == Completion::End {
        for scope in taught {
            trim(&mut work, &scope).await?;
        }
    }
    Ok(reached)
}

/// Learns page after page, of each scope in turn.
async fn learn(work: &mut Work<'_>, taught: &mut BTreeSet<Scope>) -> Result<Completion, Error> {
    let (mut after, mut size) = (String::new(), PAGE);
    loop {
        let waiting = work.store.waiting_outcomes(&after, work.budget.page(size)).await?;
        let Some(page) = pages(&waiting).next() else {
            if after.is_empty() {
                return Ok(Completion::End);
            }
            after.clear();
            continue;
        };
        let Some(first) = page.first() else { return Ok(Completion::End) };
        let lesson = Teaching { store: work.store, learning: &work.learning, now: work.run.now };
        let lesson = lesson.of(page, &Estimated::default()).await?;
        match work.store.learn(work.run, &lesson).await {
            Err(why) if why.is_too_big() && page.len() > 1 => {
                size = (page.len() / 2).max(1);
                continue;
            }
            learned => learned?,
        };
        taught.insert(first.scope.clone());
        first.scope.as_str().clone_into(&mut after);
        work.budget.spend(page.len());
        if work.budget.is_spent() {
            return Ok(Completion::Budget);
        }
    }
}

/// Deletes rows that have decayed to nothing.
async fn trim(work: &mut Work<'_>, scope: &Scope) -> Result<(), Error> {
    let Some(horizon) = work.learning.rules.horizon() else { return Ok(()) };
    let tick = work.store.ticks(scope).await?;
    if let Some(before) = tick.checked_sub(horizon) {
        work.store.trim_synapses(work.run, scope, before, TRIMMED).await?;
    }
    Ok(())
}

/// Number of outcomes in each transaction.
fn pages(waiting: &[WaitingOutcome]) -> impl Iterator<Item = &[WaitingOutcome]> {
    let of_scope = waiting.chunk_by(|a, b| a.scope == b.scope);
    of_scope.flat_map(|outcomes| {
        let mut rest = outcomes;
        std::iter::from_fn(move || {
            let mut nodes: BTreeSet<&str> = BTreeSet::new();
            let fitting = rest.iter().take(PAGE).take_while(|outcome| {
                nodes.extend(outcome.active.iter().map(String::as_str));
                nodes.len() <= NODES
            });
            let (page, later) = rest.split_at(fitting.count().max(1).min(rest.len()));
            rest = later;
            (!page.is_empty()).then_some(page)
        })
    })
}

/// The result that a run would have, for up to 2,000 outcomes: it learns them in memory.
async fn estimate(work: &mut Work<'_>) -> Result<Completion, Error> {
    let limit = work.budget.page(DRY_RUN_OUTCOMES);
    let waiting = work.store.waiting_outcomes("", limit).await?;
    let mut of_scope = BTreeMap::<&Scope, Estimated>::new();
    for page in pages(&waiting) {
        let Some(first) = page.first() else { continue };
        let so_far = of_scope.entry(&first.scope).or_default();
        let lesson = Teaching { store: work.store, learning: &work.learning, now: work.run.now };
        let lesson = Box::pin(lesson.of(page, so_far)).await?;
        let count = |of: usize| i64::try_from(of).unwrap_or(i64::MAX);
        work.run.estimate(Tally {
            scanned: count(page.len()),
            changed: count(lesson.rows.len()),
            skipped: lesson.unknown,
            ..Tally::default()
        });
        so_far.take(lesson);
    }
    Ok(if waiting.len() < limit { Completion::End } else { Completion::Budget })
}

/// The learned state of a scope in a dry run; nothing of it is written.
#[derive(Default)]
struct Estimated {
    tick: Option<u64>,
    rows: BTreeMap<Way, SynapseRow>,
}

impl Estimated {
    fn take(&mut self, lesson: Lesson) {
        self.tick = Some(lesson.from + lesson.outcomes.len() as u64);
        self.rows.extend(lesson.rows.into_iter().map(|row| (way(&row), row)));
    }

    /// Rows of the store, replaced by the newer ones of this dry run.
    fn over(&self, rows: Vec<SynapseRow>, ids: &BTreeSet<&str>) -> Vec<SynapseRow> {
        let is_near =
            |row: &&SynapseRow| ids.contains(row.source.as_str()) || ids.contains(row.target.as_str());
        let known = self.rows.values().filter(is_near).cloned();
        let others =
            rows.into_iter().filter(|row| self.rows.is_empty() || !self.rows.contains_key(&way(row)));
        others.chain(known).collect()
    }
}

fn way(row: &SynapseRow) -> Way {
    (row.source.clone(), row.relation.clone(), row.target.clone())
}

/// Context of learning.
struct Teaching<'a> {
    store: &'a Store,
    learning: &'a Learning,
    now: Timestamp,
}

impl Teaching<'_> {
    /// The changes by a page of outcomes of one scope, on top of those of a dry run.
    async fn of(&self, page: &[WaitingOutcome], after: &Estimated) -> Result<Lesson, Error> {
        let Self { store, learning, now } = self;
        let scope = page.first().map_or_else(Scope::local, |outcome| outcome.scope.clone());
        let from = match after.tick {
            Some(tick) => tick,
            None => store.ticks(&scope).await?,
        };
        let ids: BTreeSet<&str> =
            page.iter().flat_map(|outcome| outcome.active.iter().map(String::as_str)).collect();
        let wanted: Vec<&str> = ids.iter().copied().collect();
        let rows = after.over(store.synapses_around(&scope, &wanted).await?, &ids);
        let ends: BTreeSet<&str> =
            rows.iter().flat_map(|row| [row.source.as_str(), row.target.as_str()]).collect();
        let graph = around(store, &scope, learning, *now, &ids, &ends).await.map_err(of_store)?;
        let records = rows.into_iter().filter_map(record);
        let synapses = Synapses::bind(&graph, learning.rules, from, records).map_err(fault)?;
        let (rows, unknown) = taught(&graph, synapses, page)?;
        let outcomes = page.iter().map(|outcome| outcome.id.clone()).collect();
        Ok(Lesson { scope, from, outcomes, rows, unknown })
    }
}

/// The changes by these outcomes, one after the other, each row as of the outcome that changed it last; and the number
/// of their nodes that do not exist or have no value.
fn taught(
    graph: &Graph,
    mut synapses: Synapses,
    page: &[WaitingOutcome],
) -> Result<(Vec<SynapseRow>, i64), Error> {
    let (mut changed, mut unknown) = (BTreeMap::<Way, SynapseRow>::new(), 0);
    for outcome in page {
        let mut active = Vec::with_capacity(outcome.active.len());
        for id in &outcome.active {
            match (graph.find(id), worth(outcome.reward)) {
                (Some(node), Some(worth)) => active.push((node, worth)),
                _ => unknown += 1,
            }
        }
        let ticked = synapses.tick(graph, &active).map_err(fault)?;
        // A dropped record had decayed, as its row does for readers.
        for place in ticked.touched {
            if let Some(synapse) = synapses.synapse(place.slot) {
                let row = row(graph, place, synapse, ticked.tick);
                changed.insert(way(&row), row);
            }
        }
    }
    Ok((changed.into_values().collect(), unknown))
}

/// Activation of the nodes of an outcome, above 0 and up to 1.
fn worth(reward: Option<f64>) -> Option<f32> {
    let reward = reward.filter(|reward| reward.is_finite())?;
    #[expect(clippy::cast_possible_truncation, reason = "at most 1, rounded once")]
    let worth = reward.min(1.0) as f32;
    (worth > 0.0).then_some(worth)
}

fn of_store(why: mirror::Error) -> Error {
    match why {
        mirror::Error::Store(why) => why,
        other => fault(other),
    }
}

fn fault(why: impl std::fmt::Display) -> Error {
    Error::Invalid(format!("outcomes cannot be learned: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(scope: &str, id: &str, nodes: std::ops::Range<usize>) -> WaitingOutcome {
        let active = nodes.map(|n| format!("n{n}")).collect();
        WaitingOutcome { id: id.to_owned(), scope: Scope::new(scope).unwrap(), active, reward: Some(1.0) }
    }

    fn sizes(waiting: &[WaitingOutcome]) -> Vec<usize> {
        pages(waiting).map(<[WaitingOutcome]>::len).collect()
    }

    #[test]
    fn a_page_is_of_one_scope_and_of_few_nodes() {
        assert_eq!(sizes(&[]), [0; 0]);
        let mut waiting: Vec<WaitingOutcome> = (0..120).map(|n| outcome("a", &n.to_string(), 0..9)).collect();
        waiting.extend((0..3).map(|n| outcome("b", &n.to_string(), 0..1)));
        assert_eq!(sizes(&waiting), [50, 50, 20, 3]);
        // Each beyond the first brings 900 nodes of its own; one alone may have too many.
        let many: Vec<WaitingOutcome> =
            (0..5).map(|n| outcome("a", &n.to_string(), n * 900..n * 900 + 1_000)).collect();
        assert_eq!(sizes(&many), [2, 2, 1]);
        let large = [outcome("a", "0", 0..5_000), outcome("a", "1", 0..1)];
        assert_eq!(sizes(&large), [1, 1]);
    }

    #[test]
    fn activation_of_outcome_nodes_is_above_0_and_at_most_1() {
        for nothing in [None, Some(f64::NAN), Some(f64::INFINITY), Some(0.0), Some(-1.0), Some(1e-60)] {
            assert_eq!(worth(nothing), None);
        }
        assert_eq!(worth(Some(7.0)).map(f32::to_bits), Some(1.0_f32.to_bits()));
        assert_eq!(worth(Some(0.25)).map(f32::to_bits), Some(0.25_f32.to_bits()));
    }

    #[test]
    fn rows_of_a_dry_run_replace_stored_rows() {
        let row = |source: &str, target: &str, tick| SynapseRow {
            source: source.to_owned(),
            relation: "CALLS".to_owned(),
            target: target.to_owned(),
            base: 0.5,
            delta: 0.1,
            perm: 0.0,
            strengthened: 1,
            weakened: 0,
            ltp: false,
            ltd: false,
            tick,
        };
        let mut so_far = Estimated::default();
        let rows = vec![row("a", "b", 1), row("b", "c", 1)];
        assert_eq!(so_far.over(rows.clone(), &BTreeSet::from(["a"])), rows);
        so_far.take(Lesson {
            scope: Scope::local(),
            from: 4,
            outcomes: vec!["r".to_owned()],
            rows: vec![row("a", "b", 5), row("x", "y", 5)],
            unknown: 0,
        });
        assert_eq!(so_far.tick, Some(5));
        assert_eq!(so_far.over(rows, &BTreeSet::from(["a"])), [row("b", "c", 1), row("a", "b", 5)]);
    }
}
