//! Outcomes of recalls: reported by a caller, or recorded by the recall itself.

use super::Service;
use super::memories::{RequestId, WriteMode};
use super::recall::{Error, RecallQuery, RecallResult};
use super::request_hash::request_hash;
use crate::domain::ids::{RecallId, Scope};
use crate::domain::outcome::{Outcome, OutcomeError, Used};
use crate::domain::units::Timestamp;
use crate::store::{self, OutcomeReceipt, OutcomeReport};
use ebb_engine::plasticity::LearningMode;
use serde_json::json;
use tracing::warn;

/// The reward of a recall that records its own outcome.
const FILED: f64 = 1.0;

/// A question with its known useful hits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JudgedQuestion {
    pub(super) scope: Scope,
    pub(super) ask: RecallQuery,
    pub(super) at: Timestamp,
    /// The ids of the useful hits.
    pub(super) useful: Vec<String>,
    /// Reward of the useful hits.
    pub(super) reward: f64,
}

impl Service {
    /// Records the outcome of a recall, once under a request id, or as a dry run: edges of the paths to useful hits
    /// that carry pheromones earn success, and the nodes wait to be learned. The useful memories are accessed if `accesses`.
    pub async fn report(
        &self,
        mode: &WriteMode,
        scope: &Scope,
        (outcome, accesses): (&Outcome, bool),
        at: Timestamp,
    ) -> Result<OutcomeReceipt, store::Error> {
        let used = |used: &Used| json!({ "id": used.id, "path": used.path });
        let hash = request_hash(
            "outcome",
            &json!({
                "scope": scope.as_str(),
                "recall": outcome.recall().as_str(),
                "used": outcome.used().iter().map(used).collect::<Vec<_>>(),
                "reward": outcome.reward().value(),
                "accesses": accesses,
            }),
        );
        let tunables = match accesses {
            true => Some(self.store.valid_tunables().await?),
            false => None,
        };
        let report = OutcomeReport { scope, outcome, at, learns: self.learns(), accesses: tunables.as_ref() };
        self.store.report(mode.with_hash(&hash), report).await
    }

    /// Whether outcomes are learned from.
    pub(super) fn learns(&self) -> bool {
        self.config.learn != LearningMode::Off
    }

    /// Records a recall as its own outcome, in which each hit was useful, where every recall is learned from; nobody has
    /// used them yet, so it is no access. A failure is logged and does not change the answer.
    pub(super) async fn file(&self, scope: &Scope, recalled: &RecallResult) {
        if self.config.learn != LearningMode::Always {
            return;
        }
        let outcome = match outcome_of(recalled, FILED, |_| true) {
            Ok(Some(outcome)) => outcome,
            Ok(None) => return,
            Err(why) => {
                warn!(%scope, recall = %recalled.id, %why, "a recall has no outcome to record, and nothing is learned from it");
                return;
            }
        };
        let filed = async {
            let at = self.instant(None).await?;
            self.report(&WriteMode::Once(RequestId::or_new("recall", None)), scope, (&outcome, false), at)
                .await
        };
        if let Err(why) = filed.await {
            warn!(%scope, recall = %recalled.id, %why, "the outcome of a recall could not be recorded, and nothing is learned from it");
        }
    }

    /// Answers a question from the refreshed mirror of a scope, and returns its outcome; `None` if it has no useful
    /// hit.
    pub(super) async fn judged(&self, judged: JudgedQuestion) -> Result<Option<Outcome>, Error> {
        let JudgedQuestion { scope, ask, at, useful, reward } = judged;
        self.mirror.refresh(&scope, at).await?;
        let current = self.ready(&scope).await?;
        let recalled = self.recalled(&scope, &current, ask).await?;
        let outcome = outcome_of(&recalled, reward, |id| useful.iter().any(|one| one == id));
        outcome.map_err(|why| Error::Invalid(why.to_string()))
    }
}

/// The outcome in which these hits of an answer were useful; `None` if none was.
fn outcome_of(
    recalled: &RecallResult,
    reward: f64,
    is_of_use: impl Fn(&str) -> bool,
) -> Result<Option<Outcome>, OutcomeError> {
    let hits = recalled.hits.iter().filter(|hit| is_of_use(&hit.id));
    let used: Vec<Used> = hits
        .map(|hit| Used {
            id: hit.id.clone(),
            path: hit.route.as_ref().map_or_else(Vec::new, |route| route.ids.clone()),
        })
        .collect();
    if used.is_empty() {
        return Ok(None);
    }
    Outcome::new(RecallId::new(&recalled.id)?, used, reward).map(Some)
}
