//! Outcomes: what came of recalls, reported by whoever used their answers, or filed by the recall itself.

use super::Service;
use super::memories::{RequestId, WriteMode};
use super::recall::{Error, RecallQuery, RecallResult};
use super::request_hash::request_hash;
use crate::domain::ids::{RecallId, Scope};
use crate::domain::outcome::{Outcome, OutcomeError, Used};
use crate::domain::units::Timestamp;
use crate::store::{self, Report, Reported};
use ebb_engine::plasticity::LearningMode;
use serde_json::json;
use tracing::warn;

/// What a recall was worth that files itself.
const FILED: f64 = 1.0;

/// A question of which somebody knows what answers it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judged {
    /// In whose memory it is asked.
    pub(super) scope: Scope,
    /// The question.
    pub(super) ask: RecallQuery,
    /// When it is asked.
    pub(super) at: Timestamp,
    /// The ids of the hits that are of use.
    pub(super) useful: Vec<String>,
    /// What they are worth.
    pub(super) reward: f64,
}

impl Service {
    /// Takes in what came of a recall, once under a request id, or as a dry run: the edges on the ways to what was of use
    /// earn success as those of a path do, where they carry pheromones, and the nodes wait to be learned.
    ///
    /// # Errors
    /// [`store::Error::Conflict`] for a request id that was used for other words.
    pub async fn report(
        &self,
        mode: &WriteMode,
        scope: &Scope,
        outcome: &Outcome,
        at: Timestamp,
    ) -> Result<Reported, store::Error> {
        let used = |used: &Used| json!({ "id": used.id, "path": used.path });
        let hash = request_hash(
            "outcome",
            &json!({
                "scope": scope.as_str(),
                "recall": outcome.recall().as_str(),
                "used": outcome.used().iter().map(used).collect::<Vec<_>>(),
                "reward": outcome.reward().value(),
            }),
        );
        let report = Report { scope, outcome, at, learns: self.learns() };
        self.store.report(mode.with_hash(&hash), report).await
    }

    /// Whether anything is learned from outcomes.
    pub(super) fn learns(&self) -> bool {
        self.config.learn != LearningMode::Off
    }

    /// Files a recall as its own outcome, where every recall is learned from: each of its hits was of use. Its answer stands
    /// whatever becomes of this, and a failure is told in the log.
    pub(super) async fn file(&self, scope: &Scope, recalled: &RecallResult) {
        if self.config.learn != LearningMode::Always {
            return;
        }
        let outcome = match outcome_of(recalled, FILED, |_| true) {
            Ok(Some(outcome)) => outcome,
            Ok(None) => return,
            Err(why) => {
                warn!(%scope, recall = %recalled.id, %why, "a recall is no outcome, and nothing is learned from it");
                return;
            }
        };
        let filed = async {
            let at = self.instant(None).await?;
            self.report(&WriteMode::Once(RequestId::or_new("recall", None)), scope, &outcome, at).await
        };
        if let Err(why) = filed.await {
            warn!(%scope, recall = %recalled.id, %why, "a recall could not be filed, and nothing is learned from it");
        }
    }

    /// Asks a question of the mirror of a scope, brought up to date, and answers what came of it; `None` if nothing of use was
    /// found.
    ///
    /// # Errors
    /// As [`Service::recall`].
    pub(super) async fn judged(&self, judged: Judged) -> Result<Option<Outcome>, Error> {
        let Judged { scope, ask, at, useful, reward } = judged;
        self.mirror.refresh(&scope, at).await?;
        let current = self.ready(&scope).await?;
        let recalled = self.recalled(&scope, &current, ask).await?;
        let outcome = outcome_of(&recalled, reward, |id| useful.iter().any(|one| one == id));
        outcome.map_err(|why| Error::Invalid(why.to_string()))
    }
}

/// The outcome in which these hits of an answer were of use; `None` if none of them was.
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
