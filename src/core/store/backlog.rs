//! The inputs of a run, and the backlog of each job: one statement each, since an idle run costs little more than this, and a
//! server that has just started plans a statement by its length.

use super::Store;
use super::catalogue::{RUN_BACKLOG, RUN_INPUTS};
use super::error::Error;
use super::trail::{Counter, counter};
use super::tunables;
use super::tx::{Mode, Tx};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use serde::Deserialize;

/// What a run reads before it begins.
#[derive(Debug, Clone)]
pub struct RunInputs {
    /// The tunables as the graph has them.
    pub tunables: Tunables,
    /// Memories of other writers that Ebb has not yet seen.
    pub unstamped: i64,
    /// Whether there are attempts that are not over, or claims of any, whoever made them.
    pub attempts: bool,
}

/// Since when the longest-waiting memories and sessions wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// For a sweep.
    pub due: Option<Timestamp>,
    /// For promotion.
    pub ripe: Option<Timestamp>,
    /// A session, for co-activation.
    pub coactivate: Option<Timestamp>,
    pub cluster: Option<Timestamp>,
    /// For strengthening what is like them.
    pub reinforce: Option<Timestamp>,
    /// Trails, from the cycle at which all are to be brought to it next: it may lie ahead.
    pub evaporate: Option<Timestamp>,
    /// Relations, all of them at any time.
    pub fade: Option<Timestamp>,
    /// Facts, all of them at any time.
    pub sweep: Option<Timestamp>,
    /// Outcomes, all of them at any time: when they came is told by another clock.
    pub learn: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Row {
    names: Option<Vec<String>>,
    values: Option<Vec<Option<f64>>>,
    memories: i64,
    stamped: i64,
    attempts: bool,
}

impl Store {
    /// Reads the inputs of a run.
    pub async fn run_inputs(&self) -> Result<RunInputs, Error> {
        let row: Row = self.read_one(RUN_INPUTS.call()).await?;
        Ok(RunInputs {
            tunables: tunables::check(row.names.zip(row.values))?,
            unstamped: (row.memories - row.stamped).max(0),
            attempts: row.attempts,
        })
    }

    /// Since when something waits for each job.
    pub async fn backlog(&self) -> Result<Backlog, Error> {
        #[derive(Deserialize)]
        struct Row {
            due: Option<i64>,
            ripe: Option<i64>,
            coactivate: Option<i64>,
            cluster: Option<i64>,
            reinforce: Option<i64>,
            outcomes: bool,
            relations: i64,
            facts: i64,
        }
        let (row, counter): (Row, Counter) = self
            .transactions
            .run("run.backlog", Mode::Read, async |tx: &mut Tx| {
                Ok((tx.only(RUN_BACKLOG.call()).await?, counter(tx, &self.trails).await?))
            })
            .await?;
        let instant = |ms: Option<i64>| ms.and_then(|ms| Timestamp::from_millis(ms).ok());
        Ok(Backlog {
            due: instant(row.due),
            ripe: instant(row.ripe),
            coactivate: instant(row.coactivate),
            cluster: instant(row.cluster),
            reinforce: instant(row.reinforce),
            evaporate: counter.next(&self.trails).map(|cycle| counter.cycles.begins(cycle)),
            fade: (row.relations > 0).then_some(Timestamp::FIRST),
            sweep: (row.facts > 0).then_some(Timestamp::FIRST),
            learn: row.outcomes.then_some(Timestamp::FIRST),
        })
    }
}
