//! Outcomes of recalls, over HTTP.

use super::door::Needs;
use super::input::Nothing;
use super::problem::Problem;
use super::route::{Answer, Call, Route};
use ebb_core::api::outcome::Outcome;
use ebb_core::domain::ids::{RecallId, Scope, Term};
use ebb_core::domain::key::Right;
use ebb_core::domain::outcome::{self, Used};
use ebb_core::domain::units::Timestamp;
use ebb_core::service::memories::WriteMode;
use schemars::JsonSchema;
use serde::Deserialize;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/v1/outcomes", Needs::InScope(Right::Write), report)
            .says("Say which hits of a recall were of use, and what they were worth")
            .note(
                "The nodes of the paths are learned to come together; edges of the paths that carry pheromones earn success, \
                 those near the seeds most. Nothing is kept of a recall, so each path is sent back as the answer gave it. What \
                 is not there any more is passed over and counted.",
            )
            .also(&[409]),
    ]
}

/// A hit that was of use.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::surfaces) struct UsedHit {
    /// Its id.
    #[schemars(length(min = 1))]
    id: Term,
    /// The path to it, as the answer gave it; empty where it gave none.
    #[schemars(length(max = 6))]
    path: Vec<Term>,
}

impl From<&UsedHit> for Used {
    fn from(hit: &UsedHit) -> Self {
        Self { id: hit.id.clone().into(), path: hit.path.iter().cloned().map(Into::into).collect() }
    }
}

/// What came of a recall.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OutcomeRequest {
    /// The recall_id of the answer.
    recall_id: RecallId,
    /// The hits that were of use, each once.
    #[schemars(length(min = 1, max = 1_000))]
    used: Vec<UsedHit>,
    /// What they were worth together, above 0 and at most 10; above 1 it teaches no more, and leaves more on trails.
    #[schemars(range(max = 10.0))]
    reward: f64,
    /// Whose data.
    scope: Option<Scope>,
    /// When; needs the right admin.
    at: Option<Timestamp>,
}

async fn report(call: Call<Nothing, Nothing, OutcomeRequest>) -> Result<Answer<Outcome>, Problem> {
    let OutcomeRequest { recall_id, used, reward, scope, at } = &call.body;
    let scope = call.scope(scope.as_ref())?;
    let used = used.iter().map(Used::from).collect();
    let outcome = outcome::Outcome::new(recall_id.clone(), used, *reward);
    let outcome = outcome.map_err(|why| Problem::validation(why.to_string()))?;
    let at = call.written_at(*at).await?;
    let mode = WriteMode::Once(call.request().clone());
    let reported = call.service().report(&mode, &scope, &outcome, at).await?;
    Ok(Answer::ok(Outcome::of(&outcome, &reported, false)))
}
