//! Reported outcomes: deposits on trails at once, and a queue for the job learn.
//!
//! Both are written with the receipt of the request, in one transaction, so an outcome counts once. The queue is stored
//! on the request itself: `waits` has the scope, `active` the nodes, `reward` their activity. The one learner of a
//! scope takes outcomes by instant and id, and removes the three properties in the transaction of its tick; until then
//! the request is kept, however old it is. So no outcome is lost or learned twice, even after a crash.

use super::Store;
use super::catalogue::REQUEST_WAIT;
use super::encode::list;
use super::error::Error;
use super::request::{RequestMode, answer, open};
use super::trail::succeed;
use super::tx::{Mode, Tx};
use crate::domain::ids::Scope;
use crate::domain::outcome::Outcome;
use crate::domain::trail::Trails;
use crate::domain::units::{Timestamp, millis};
use serde::{Deserialize, Serialize};

/// A reported outcome.
#[derive(Debug, Clone, Copy)]
pub struct OutcomeReport<'a> {
    pub scope: &'a Scope,
    /// Outcome of a recall.
    pub outcome: &'a Outcome,
    pub at: Timestamp,
    /// Whether it is to be learned.
    pub learns: bool,
}

/// Receipt of a reported outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeReceipt {
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
    /// Applies an outcome, once under a request id, or as a dry run: each of its paths deposits success on its edges
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
            .run("outcome.report", Mode::Write, async |tx: &mut Tx| {
                take_in(tx, &self.trails, mode, report).await
            })
            .await
    }
}

/// Applies an outcome, inside a transaction of the caller.
pub(super) async fn take_in(
    tx: &mut Tx,
    trails: &Trails,
    mode: RequestMode<'_>,
    report: OutcomeReport<'_>,
) -> Result<OutcomeReceipt, Error> {
    if let Some(done) = open(tx, mode).await? {
        return Ok(done);
    }
    let OutcomeReport { scope, outcome, at, learns } = report;
    let ways: Vec<&[String]> = outcome.paths().collect();
    let earned = succeed(tx, trails, scope, &ways, outcome.reward(), at).await?;
    let active = outcome.active();
    if let (RequestMode::Once { request, .. }, true) = (mode, learns) {
        let call = REQUEST_WAIT
            .call()
            .set("id", request)
            .set("scope", scope.as_str())
            .set("active", list(active.nodes.iter().copied()))
            .set("reward", outcome.activation());
        tx.run(call).await?;
    }
    let reported = OutcomeReceipt {
        active: active.nodes.len(),
        left_out: active.left_out,
        deposits: earned.deposits,
        passed_over: earned.passed_over,
        learns,
        at,
    };
    answer(tx, mode, &reported).await?;
    Ok(reported)
}
