//! The last result of the recall guard, recorded in the graph by the process that asked its questions.
//!
//! All processes write one counter, `recall_guard`, with the server's time, so that `status` shows the latest result wherever
//! it is called.

use super::Store;
use super::catalogue::{RECALL_GUARD_READ, RECALL_GUARD_RECORD};
use super::error::Error;
use super::tx::{Mode, Tx};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A result of the recall guard.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all(deserialize = "camelCase"))]
pub struct GuardedRecall {
    /// Process that asked the questions.
    pub process: String,
    /// Milliseconds since it asked them, by the database's clock.
    pub age_ms: i64,
    /// Questions that were compared.
    pub questions: i64,
    /// Mean recall among the first 10 hits.
    pub recall: f64,
    /// The same in the baseline.
    pub baseline: f64,
    /// Loss above which it warns.
    pub max_loss: f64,
    /// Questions that lost memories.
    pub lost_questions: i64,
}

impl GuardedRecall {
    /// Whether more is lost than is allowed.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        self.baseline - self.recall > self.max_loss
    }
}

impl Store {
    /// Records a result. Not retried: there is a next time.
    pub async fn record_guarded_recall(&self, found: &GuardedRecall) -> Result<(), Error> {
        self.transactions
            .run_once("recall_guard.record", Mode::Write, async |tx: &mut Tx| {
                let call = RECALL_GUARD_RECORD
                    .call()
                    .set("process", found.process.as_str())
                    .set("questions", found.questions)
                    .set("recall", found.recall)
                    .set("baseline", found.baseline)
                    .set("maxLoss", found.max_loss)
                    .set("lostQuestions", found.lost_questions);
                tx.run(call).await
            })
            .await
    }

    /// The last result of any process, if there is one.
    pub async fn guarded_recall(&self) -> Result<Option<GuardedRecall>, Error> {
        self.read_optional(RECALL_GUARD_READ.call()).await
    }
}
