//! Plans: the discrete changes of a job before they are made, applied as they were shown, and undone.
//!
//! # Design notes
//! A plan is the run, taken back, and its entries are those that the run would leave in the journal. To apply a plan and
//! to undo a run are therefore one thing: entries are written whose rows are as the entry says, in transactions that
//! record them. Both may be repeated: what is there already is passed over.
//!
//! Entries of a transaction concern different rows, so that each is compared with what the one before it left.

use super::Service;
use crate::api::plan::{Applied, Plan, RefusedChange};
use crate::domain::journal::{Entry, RowName};
use crate::domain::units::Timestamp;
use crate::jobs::{Completion, JobName, Request};
use crate::scheduler::driver;
use crate::store::{EntryOutcome, Error, JournalHead, JournalRun};
use std::collections::BTreeSet;

/// Entries of one transaction.
const PAGE: usize = 500;
/// Runs that are searched for the job of a run without a journal.
const RUNS: u32 = 1_000;

impl Service {
    /// The changes that a run of a job would make at `now`, of up to about `limit` rows.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a job without discrete changes, [`Error::Guarded`] for a sweep that the guard would stop.
    pub async fn plan_job(&self, job: JobName, now: Timestamp, limit: Option<u64>) -> Result<Plan, Error> {
        if remarks(job.name()).is_empty() {
            return Err(Error::Invalid(format!(
                "{job} has no plan: it changes amounts, and moves no row. Count what it would do: \
                 ebb job run {job} --dry-run"
            )));
        }
        let request = Request { limit, learning: self.learning(), ..Request::default() };
        let (changes, reached) = driver::plan_job(&self.store, job, now, request).await?;
        let complete = reached == Completion::End;
        Ok(Plan { plan: crate::clock::new_id(), job, at: now, complete, changes })
    }

    /// Applies the changes of a plan whose rows are as they were, or counts them.
    pub async fn apply_plan(&self, plan: &Plan, dry_run: bool) -> Result<Applied, Error> {
        let head = JournalHead { run: &plan.plan, job: plan.job.name(), at: plan.at, by: "plan" };
        let mut applied = Applied {
            run: plan.plan.clone(),
            job: plan.job.name().to_owned(),
            applied: 0,
            already: 0,
            refused: Vec::new(),
            remarks: Vec::new(),
            dry_run,
        };
        self.apply_entries(head, &plan.changes, &mut applied).await?;
        Ok(applied)
    }

    /// Runs that can be undone, latest first.
    pub async fn journal_runs(&self, limit: u32) -> Result<Vec<JournalRun>, Error> {
        self.store.journal_runs(limit).await
    }

    /// Takes back the changes of a run or an applied plan, the last first, or counts them. `at` is the instant of the undo.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a run without a journal.
    pub async fn undo(&self, run: &str, at: Timestamp, dry_run: bool) -> Result<Applied, Error> {
        let mut applied = Applied {
            run: crate::clock::new_id(),
            job: String::new(),
            applied: 0,
            already: 0,
            refused: Vec::new(),
            remarks: Vec::new(),
            dry_run,
        };
        let mut page = 0;
        while let Some(journal) = self.store.journal_page(run, page).await? {
            let id = applied.run.clone();
            let head = JournalHead { run: &id, job: &journal.job, at, by: "undo" };
            let entries: Vec<Entry> = journal.entries.into_iter().map(Entry::inverse).collect();
            self.apply_entries(head, &entries, &mut applied).await?;
            applied.job = journal.job;
            page += 1;
        }
        if page == 0 {
            let past = self.store.runs(None, RUNS).await?.into_iter().find(|past| past.run_id == run);
            return Err(match past {
                Some(past) => Error::Invalid(format!(
                    "the run {run} of {} left nothing to undo: it moved no row, or its journal is older than \
                     retention.journal",
                    past.job
                )),
                None => Error::NotFound { what: "run with a journal", id: run.to_owned() },
            });
        }
        if applied.applied > 0 {
            applied.remarks = remarks(&applied.job).to_vec();
        }
        Ok(applied)
    }

    async fn apply_entries(
        &self,
        head: JournalHead<'_>,
        entries: &[Entry],
        applied: &mut Applied,
    ) -> Result<(), Error> {
        let tunables = self.store.tunables().await?;
        for page in pages(entries) {
            let outcomes = self.store.apply_entries(head, page, &tunables, applied.dry_run).await?;
            for (entry, outcome) in page.iter().zip(outcomes) {
                match outcome {
                    EntryOutcome::Applied => applied.applied += 1,
                    EntryOutcome::Already => applied.already += 1,
                    EntryOutcome::Refused(why) => {
                        let rows = entry.rows.iter().map(|change| change.row.clone()).collect();
                        applied.refused.push(RefusedChange { rows, why });
                    }
                }
            }
        }
        Ok(())
    }
}

/// Cuts entries so that no entry of a page moves a row, or the end of a relationship, that another one moves.
fn pages(entries: &[Entry]) -> Vec<&[Entry]> {
    let (mut pages, mut begin) = (Vec::new(), 0);
    let (mut rows, mut ends): (BTreeSet<&RowName>, BTreeSet<&RowName>) = Default::default();
    for (at, entry) in entries.iter().enumerate() {
        let own = || entry.rows.iter().map(|change| &change.row);
        let meets = |row: &RowName| rows.contains(row) || ends.contains(row);
        if at - begin == PAGE || own().any(meets) || entry.ends().any(|end| rows.contains(end)) {
            pages.push(&entries[begin..at]);
            begin = at;
            rows.clear();
            ends.clear();
        }
        rows.extend(own());
        ends.extend(entry.ends());
    }
    pages.push(&entries[begin..]);
    pages.retain(|page| !page.is_empty());
    pages
}

/// What an undo of a job's run does not say by itself; empty for a job without discrete changes.
fn remarks(job: &str) -> &'static [&'static str] {
    match JobName::named(job) {
        Some(JobName::Decay) => &[
            "Energies that the run brought to its instant are left: they are functions of time, and the same at any instant.",
            "The next run of decay expires these memories again: pin them (ebb memory pin), access them, or change the \
             tunables before.",
        ],
        Some(JobName::Promote) => &[
            "The next run of promote promotes what is still ripe again: pin it (ebb memory pin), or disable the job before.",
        ],
        Some(JobName::Cluster) => {
            &["These memories are clustered again once one of their pairs changes, or by the next audit."]
        }
        Some(JobName::Sweep) => {
            &["The next sweep retracts these facts again unless their policy changed: ebb policy list."]
        }
        _ => &[],
    }
}
