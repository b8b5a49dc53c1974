//! What the ledger keeps of runs: the last of each job, and those of the past.

use super::Store;
use super::catalogue::{RUN_HISTORY, RUN_LAST, RUN_LATEST};
use super::encode::list;
use super::error::Error;
use super::run::instant;
use super::tally::Tally;
use crate::domain::units::Timestamp;
use serde::Deserialize;

/// A run of the history, in progress or over.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Past {
    pub job: String,
    pub occurrence: String,
    pub run_id: String,
    pub trigger: String,
    pub state: String,
    pub now: Option<i64>,
    pub started: Option<i64>,
    pub finished: Option<i64>,
    pub holder: Option<String>,
    pub truncated: bool,
    pub reason: Option<String>,
    #[serde(rename = "did")]
    pub tally: Tally,
}

/// The last run of a job, in progress or over.
#[derive(Debug, Clone, Deserialize)]
pub struct LatestRun {
    pub job: String,
    pub occurrence: String,
    pub trigger: String,
    pub state: String,
    pub started: Option<i64>,
    pub finished: Option<i64>,
    pub reason: Option<String>,
}

/// Conditions on runs; those that are `None` are left out.
#[derive(Debug, Clone, Copy, Default)]
struct RunFilter<'a> {
    job: Option<&'a str>,
    occurrence: Option<&'a str>,
    run: Option<&'a str>,
}

impl Store {
    /// The last scheduled occurrence of each of these jobs; `None` for one without any.
    pub async fn last_runs<const N: usize>(
        &self,
        jobs: [&'static str; N],
    ) -> Result<[Option<Timestamp>; N], Error> {
        #[derive(Deserialize)]
        struct Row {
            counter: String,
            now: i64,
        }
        let counters: Vec<String> = jobs.iter().map(|job| format!("job:{job}")).collect();
        let call = RUN_LAST.call().set("counter", list(counters.iter().map(String::as_str)));
        let rows: Vec<Row> = self.read(call).await?;
        let mut last = [None; N];
        for (counter, last) in counters.iter().zip(&mut last) {
            if let Some(row) = rows.iter().find(|row| row.counter == *counter) {
                *last = Some(instant(row.now)?);
            }
        }
        Ok(last)
    }

    /// The last run of each of these jobs, whatever started it; none for a job without any.
    pub async fn latest_runs<const N: usize>(
        &self,
        jobs: [&'static str; N],
    ) -> Result<[Option<LatestRun>; N], Error> {
        let rows: Vec<LatestRun> =
            self.read(RUN_LATEST.call().set("job", list(jobs.iter().copied()))).await?;
        Ok(jobs.map(|job| rows.iter().find(|row| row.job == job).cloned()))
    }

    /// Last runs, newest first, of one job or of all.
    pub async fn runs(&self, job: Option<&str>, limit: u32) -> Result<Vec<Past>, Error> {
        self.past_runs(RunFilter { job, ..RunFilter::default() }, limit).await
    }

    /// The run of an occurrence of a job, in progress or over.
    pub async fn run_of(&self, job: &str, occurrence: &str) -> Result<Option<Past>, Error> {
        let filter = RunFilter { job: Some(job), occurrence: Some(occurrence), run: None };
        Ok(self.past_runs(filter, 1).await?.pop())
    }

    /// The run with this id, in progress or over.
    pub async fn run_by_id(&self, run: &str) -> Result<Option<Past>, Error> {
        Ok(self.past_runs(RunFilter { run: Some(run), ..RunFilter::default() }, 1).await?.pop())
    }

    async fn past_runs(&self, filter: RunFilter<'_>, limit: u32) -> Result<Vec<Past>, Error> {
        let RunFilter { job, occurrence, run } = filter;
        let call = RUN_HISTORY.call().set("job", job).set("occurrence", occurrence).set("run", run);
        let call = call.set("limit", i64::from(limit));
        self.read(call.set("count", list(Tally::default().counts().map(|(name, _)| name)))).await
    }
}
