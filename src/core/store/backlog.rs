//! The inputs of a run, and what waits for each job: one statement each, since an idle run costs little more than this,
//! and the planning time of a statement on a newly started server grows with its length.

use super::Store;
use super::adoption::AdoptionCounts;
use super::catalogue::{MEMORY_RIPE, RUN_BACKLOG, RUN_INPUTS};
use super::decay::first_expiry;
use super::error::Error;
use super::trail::{Counter, counter};
use super::tunables;
use super::tx::{Mode, Tx};
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use serde::Deserialize;

/// Inputs of a run.
#[derive(Debug, Clone)]
pub struct RunInputs {
    /// Tunables in the graph.
    pub tunables: Tunables,
    /// Memories of other writers.
    pub memories: AdoptionCounts,
    /// Whether there are open attempts, or claims, by any writer.
    pub attempts: bool,
}

/// Oldest waiting item of each job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Memories due for decay.
    pub due: Option<Timestamp>,
    /// From when on a decay pass may let a memory expire, if nothing accesses it before.
    pub expires: Option<Timestamp>,
    /// Memories ripe for promotion.
    pub ripe: Option<Timestamp>,
    /// Sessions to be counted for coactivation.
    pub coactivate: Option<Timestamp>,
    pub cluster: Option<Timestamp>,
    /// Memories to be embedded, if a model is configured.
    pub embed: Option<Timestamp>,
    /// New memories, for reinforcement.
    pub reinforce: Option<Timestamp>,
    /// Trails: start of the cycle of the next evaporation, which may be in the future.
    pub evaporate: Option<Timestamp>,
    /// Relations, which are always due.
    pub fade: Option<Timestamp>,
    /// Facts, which are always due.
    pub sweep: Option<Timestamp>,
    /// Outcomes, which are always due: their instants are of another clock.
    pub learn: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Row {
    names: Option<Vec<String>>,
    values: Option<Vec<Option<f64>>>,
    rows: i64,
    adopted: i64,
    foreign: i64,
    attempts: bool,
}

impl Store {
    /// Reads the inputs of a run.
    pub async fn run_inputs(&self) -> Result<RunInputs, Error> {
        let Row { names, values, rows, adopted, foreign, attempts } =
            self.read_one(RUN_INPUTS.call()).await?;
        let tunables = self.known_tunables.record(tunables::check(names.zip(values)))?;
        Ok(RunInputs { tunables, memories: AdoptionCounts { rows, adopted, foreign }, attempts })
    }

    /// Whether a memory is ripe for promotion.
    pub async fn is_any_ripe(&self, now: Timestamp) -> Result<bool, Error> {
        self.read_one(MEMORY_RIPE.call().set("now", now.millis())).await
    }

    /// Reads the oldest waiting item of each job, by these tunables.
    pub async fn backlog(&self, tunables: &Tunables) -> Result<Backlog, Error> {
        #[derive(Deserialize)]
        struct Row {
            due: Option<i64>,
            ripe: Option<i64>,
            coactivate: Option<i64>,
            cluster: Option<i64>,
            embed: Option<i64>,
            reinforce: Option<i64>,
            outcomes: bool,
            relations: i64,
            facts: i64,
        }
        let (row, counter, expires): (Row, Counter, Option<Timestamp>) = self
            .transactions
            .run("run.backlog", Mode::Read, async |tx: &mut Tx| {
                let expires = first_expiry(tx, tunables).await?;
                Ok((tx.only(RUN_BACKLOG.call()).await?, counter(tx, &self.trails).await?, expires))
            })
            .await?;
        let instant = |ms: Option<i64>| ms.and_then(|ms| Timestamp::from_millis(ms).ok());
        Ok(Backlog {
            due: instant(row.due),
            expires,
            ripe: instant(row.ripe),
            coactivate: instant(row.coactivate),
            cluster: instant(row.cluster),
            embed: instant(row.embed).filter(|_| self.similarity.embeds()),
            reinforce: instant(row.reinforce),
            evaporate: counter.next(&self.trails).map(|cycle| counter.cycles.begins(cycle)),
            fade: (row.relations > 0).then_some(Timestamp::FIRST),
            sweep: (row.facts > 0).then_some(Timestamp::FIRST),
            learn: row.outcomes.then_some(Timestamp::FIRST),
        })
    }
}
