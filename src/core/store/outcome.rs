//! Reported outcomes: accesses to the useful memories and deposits on trails at once, and a queue for the job learn.
//!
//! All are written with the receipt of the request, in one transaction, so an outcome counts once. The queue is stored
//! on the request itself: `waits` has the scope, `active` the nodes, `reward` their activity. The one learner of a
//! scope takes outcomes by instant and id, and removes the three properties in the transaction of its tick; until then
//! the request is kept, however old it is. So no outcome is lost or learned twice, even after a crash.

use super::Store;
use super::batch::{self, Batch, BatchOutcome};
use super::error::Error;
use super::memory::lock;
use super::mirror::memory_keys;
use super::request::{RequestMode, answer, open};
use super::touched::Unlearned;
use super::trail::succeed;
use super::tx::{Mode, Tx};
use crate::domain::event::{Access, Event};
use crate::domain::ids::{MemoryId, MemoryKey, Scope};
use crate::domain::memory::Revive;
use crate::domain::outcome::Outcome;
use crate::domain::tunables::Tunables;
use crate::domain::units::{Timestamp, millis};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A reported outcome.
#[derive(Debug, Clone, Copy)]
pub struct OutcomeReport<'a> {
    pub scope: &'a Scope,
    /// Outcome of a recall.
    pub outcome: &'a Outcome,
    pub at: Timestamp,
    /// Whether it is to be learned.
    pub learns: bool,
    /// The tunables in force, if the useful memories are accessed.
    pub accesses: Option<&'a Tunables>,
}

/// Receipt of a reported outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeReceipt {
    /// Memories that it accessed.
    #[serde(default)]
    pub accessed: usize,
    /// Nodes that it teaches.
    pub active: usize,
    /// Nodes beyond the limit of one outcome.
    pub left_out: usize,
    /// Steps of its paths that deposited success on an edge.
    pub deposits: usize,
    /// Steps of its paths without an edge that carries pheromones.
    pub passed_over: usize,
    /// Whether it is to be learned.
    pub learns: bool,
    #[serde(with = "millis")]
    pub at: Timestamp,
}

impl Store {
    /// Applies an outcome, once under a request id, or as a dry run: its hits that are memories are accessed, each of its paths deposits success on its edges
    /// that carry pheromones, and its nodes wait for the learner of their scope.
    ///
    /// # Errors
    /// [`Error::Conflict`] for a request id that was used for other contents, or an invalid counter of cycles.
    pub async fn report(
        &self,
        mode: RequestMode<'_>,
        report: OutcomeReport<'_>,
    ) -> Result<OutcomeReceipt, Error> {
        self.transactions
            .run("outcome.report", Mode::Write, async |tx: &mut Tx| take_in(tx, self, mode, report).await)
            .await
    }
}

/// Applies an outcome, inside a transaction of the caller.
pub(super) async fn take_in(
    tx: &mut Tx,
    store: &Store,
    mode: RequestMode<'_>,
    report: OutcomeReport<'_>,
) -> Result<OutcomeReceipt, Error> {
    if let Some(done) = open(tx, mode).await? {
        return Ok(done);
    }
    let OutcomeReport { scope, outcome, at, learns, accesses } = report;
    let accessed = match accesses {
        Some(tunables) => access(tx, store, report, tunables).await?,
        None => 0,
    };
    let ways: Vec<&[String]> = outcome.paths().collect();
    let earned = succeed(tx, &store.trails, scope, &ways, outcome.reward(), at).await?;
    let active = outcome.active();
    tx.changes.unlearned = learns.then(|| Unlearned {
        scope: scope.to_string(),
        active: active.nodes.iter().map(|&node| node.to_owned()).collect(),
        reward: outcome.activation(),
    });
    let reported = OutcomeReceipt {
        accessed,
        active: active.nodes.len(),
        left_out: active.left_out,
        deposits: earned.deposits,
        passed_over: earned.passed_over,
        learns,
        at,
    };
    answer(tx, mode, &reported);
    Ok(reported)
}

/// Accesses the memories among the useful hits; returns their number. Stubs, invalid rows and other nodes are passed over.
async fn access(
    tx: &mut Tx,
    store: &Store,
    OutcomeReport { scope, outcome, at, .. }: OutcomeReport<'_>,
    tunables: &Tunables,
) -> Result<usize, Error> {
    let names = outcome.used().iter().map(|used| used.id.as_str());
    let ids = memory_keys((&store.trails, store.mappings()), scope, names).into_iter();
    let keys: BTreeSet<MemoryKey> =
        ids.filter_map(|id| Some(MemoryKey::new(scope, &MemoryId::new(id).ok()?))).collect();
    let wanted: Vec<(&MemoryKey, Option<&str>)> = keys.iter().map(|key| (key, None)).collect();
    let found = lock(tx, &wanted).await?.into_iter().filter_map(|(_, locked)| locked.life.ok());
    let of = |id| Access { at, id, scope: scope.clone(), session: None, revive: Revive::Yes };
    let events: Vec<Event> =
        found.filter(|life| !life.state.tier.is_stub()).map(|life| Event::Access(of(life.id))).collect();
    match batch::apply(tx, Batch { events: &events, tunables }, store.similarity.embeds()).await? {
        BatchOutcome::Written(done) => Ok(done.len()),
        BatchOutcome::Rejected(faults) => match faults.into_iter().next() {
            Some(fault) => Err(fault.why),
            None => Ok(0),
        },
    }
}
