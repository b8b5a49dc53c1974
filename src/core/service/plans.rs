//! Plans: the discrete changes of a job before they are made, applied as they were shown, and undone.
//!
//! # Design notes
//! A plan is the run, taken back, and its entries are those that the run would leave in the journal. To apply a plan and
//! to undo a run are therefore one thing: entries are written whose rows are as the entry says, in transactions that
//! record them. Both may be repeated: what is there already is passed over.
//!
//! Entries of a transaction concern different rows, so that each is compared with what the one before it left. What belongs
//! together may be in several: it is judged as a whole in one transaction, which is rolled back, before any of it is written. A
//! dry run judges everything so.

mod batches;

use self::batches::{SharedNames, batches};
use super::Service;
use crate::api::plan::{Applied, Plan, RefusedChange};
use crate::domain::journal::{Entry, RowName};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use crate::jobs::{JobName, Request};
use crate::scheduler::driver;
use crate::store::{EntryOutcome, Error, JournalHead, JournalRun};
use std::collections::BTreeSet;

/// Entries of one transaction.
const PAGE: usize = 500;
/// Rows of a plan without a limit, since it is held as a whole.
const ROWS: u64 = 100_000;

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
        let limit = Some(limit.unwrap_or(ROWS));
        let request = Request { limit, ..self.job_request() };
        let (changes, complete) = driver::plan_job(&self.store, job, now, request).await?;
        Ok(Plan { plan: crate::clock::new_id(), job, at: now, complete, changes })
    }

    /// Applies the changes of a plan whose rows are as they were, or counts them.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a plan that removes a row, which no job does.
    pub async fn apply_plan(&self, plan: &Plan, dry_run: bool) -> Result<Applied, Error> {
        if let Some(removed) =
            plan.changes.iter().flat_map(|entry| &entry.rows).find(|row| row.after.is_none())
        {
            return Err(Error::Invalid(format!(
                "the plan removes the {}, which no job does: nothing was applied",
                removed.row
            )));
        }
        let mut applied = Applied::new(&plan.plan, plan.job.name(), dry_run);
        let head = JournalHead { run: &plan.plan, job: plan.job.name(), at: plan.at, by: "plan" };
        self.apply_entries(head, plan.changes.clone(), &mut applied).await?;
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
        let id = crate::clock::new_id();
        let mut applied = Applied::new(&id, "", dry_run);
        let past = self.store.run_by_id(run).await?;
        if past.as_ref().is_some_and(|past| past.state == "open") {
            return Err(Error::Conflict(format!("the run {run} is in progress. See: ebb job history")));
        }
        let (mut page, mut shared) = (0, SharedNames::default());
        while let Some(journal) = self.store.journal_page(run, page).await? {
            journal.entries.iter().for_each(|entry| shared.add(entry));
            page += 1;
        }
        let mut tied = Vec::new();
        for page in 0..page {
            let Some(journal) = self.store.journal_page(run, page).await? else { break };
            let entries = journal.entries.into_iter().map(Entry::inverse);
            let (more, alone): (Vec<Entry>, Vec<Entry>) = entries.partition(|entry| shared.ties(entry));
            tied.extend(more);
            let head = JournalHead { run: &id, job: &journal.job, at, by: "undo" };
            self.apply_entries(head, alone, &mut applied).await?;
            applied.job = journal.job;
        }
        let job = applied.job.clone();
        let head = JournalHead { run: &id, job: &job, at, by: "undo" };
        self.apply_entries(head, tied, &mut applied).await?;
        if page == 0 {
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

    /// Applies entries, or counts them: all of what belongs together, or none.
    async fn apply_entries(
        &self,
        head: JournalHead<'_>,
        entries: Vec<Entry>,
        applied: &mut Applied,
    ) -> Result<(), Error> {
        let tunables = self.store.valid_tunables().await?;
        let mut waiting = batches(entries, PAGE);
        waiting.reverse();
        while let Some(batch) = waiting.pop() {
            if !applied.dry_run && !batch.is_tied() {
                self.write_entries(head, &batch.entries, &tunables, applied).await?;
                continue;
            }
            let outcomes = match self.store.try_entries(head.at, &pages(&batch.entries), &tunables).await {
                Ok(outcomes) => batch.judged(outcomes),
                Err(why) if why.is_of_data() || why.is_too_big() => {
                    if let Some([one, other]) = batch.split() {
                        waiting.extend([other, one]);
                        continue;
                    }
                    if why.is_too_big() && !applied.dry_run {
                        // More than the server takes at once: page by page, of which each leaves out what is refused.
                        self.write_entries(head, &batch.entries, &tunables, applied).await?;
                        continue;
                    }
                    vec![EntryOutcome::Refused(why.to_string()); batch.entries.len()]
                }
                Err(why) => return Err(why),
            };
            let mut written = Vec::new();
            for (entry, outcome) in batch.entries.into_iter().zip(outcomes) {
                if outcome == EntryOutcome::Applied && !applied.dry_run {
                    written.push(entry);
                } else {
                    applied.count(&entry, outcome);
                }
            }
            self.write_entries(head, &written, &tunables, applied).await?;
        }
        Ok(())
    }

    async fn write_entries(
        &self,
        head: JournalHead<'_>,
        entries: &[Entry],
        tunables: &Tunables,
        applied: &mut Applied,
    ) -> Result<(), Error> {
        let mut blocked = BTreeSet::new();
        let mut waiting: Vec<&[Entry]> = pages(entries);
        waiting.reverse();
        while let Some(page) = waiting.pop() {
            let outcomes = match self.store.apply_entries(head, page, &blocked, tunables).await {
                Ok(outcomes) => outcomes,
                Err(why) if (why.is_of_data() || why.is_too_big()) && page.len() > 1 => {
                    let (one, other) = page.split_at(page.len() / 2);
                    waiting.extend([other, one]);
                    continue;
                }
                Err(why) if why.is_of_data() => vec![EntryOutcome::Refused(why.to_string())],
                Err(why) => return Err(why),
            };
            for (entry, outcome) in page.iter().zip(outcomes) {
                if matches!(outcome, EntryOutcome::Refused(_)) {
                    blocked.extend(entry.names().cloned());
                }
                applied.count(entry, outcome);
            }
        }
        Ok(())
    }
}

impl Applied {
    fn new(run: &str, job: &str, dry_run: bool) -> Self {
        Self {
            run: run.to_owned(),
            job: job.to_owned(),
            applied: 0,
            already: 0,
            refused: Vec::new(),
            remarks: Vec::new(),
            dry_run,
        }
    }

    fn count(&mut self, entry: &Entry, outcome: EntryOutcome) {
        match outcome {
            EntryOutcome::Applied => self.applied += 1,
            EntryOutcome::Already => self.already += 1,
            EntryOutcome::Refused(why) => {
                let rows = entry.rows.iter().map(|change| change.row.clone()).collect();
                self.refused.push(RefusedChange { rows, why });
            }
        }
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
            "The next run of promote promotes again what is still ready: pin it (ebb memory pin), or disable the job before.",
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
