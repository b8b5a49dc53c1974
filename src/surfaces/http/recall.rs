//! Recall, over HTTP.

use super::door::Needs;
use super::input::Nothing;
use super::problem::Problem;
use super::route::{Answer, Call, Route};
use ebb_core::api::engine::{ActivateRequest, EngineAnswer, PageRankRequest};
use ebb_core::api::recall::{Mirror, Recall, RecallRequest};
use ebb_core::domain::ids::Scope;
use ebb_core::domain::key::Right;
use ebb_core::service::recall::{Error, Refused};
use schemars::JsonSchema;
use serde::Deserialize;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/v1/recall", Needs::InScope(Right::Read), recall)
            .says("Say what a question reminds of")
            .also(&[404])
            .note(
                "From memory, where the hot part of the graph is held: it writes nothing, but for what it teaches where every \
                 recall is learned from. The first question after a start waits until it is loaded. stale_ms says how old what \
                 was asked is, held_share how much of the scope is held. 503 where nothing of it \
                 fits. What was of use is reported to /v1/outcomes, with the path to it.",
            ),
        Route::post("/v1/engine/activate", Needs::InScope(Right::Read), activate)
            .says("Say what lights up from seeds, without words")
            .also(&[404]),
        Route::post("/v1/engine/pagerank", Needs::InScope(Right::Read), rank)
            .says("Say who stands well, for everybody or for a reader who begins at seeds")
            .also(&[404]),
        Route::get("/v1/mirror", Needs::InScope(Right::Read), mirror)
            .says("Say what is held in memory of a scope, and how current it is")
            .also(&[404]),
    ]
}

async fn recall(call: Call<Nothing, Nothing, RecallRequest>) -> Result<Answer<Recall>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    Ok(Answer::ok(call.service().recall(&scope, call.body.clone()).await?))
}

async fn activate(call: Call<Nothing, Nothing, ActivateRequest>) -> Result<Answer<EngineAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    Ok(Answer::ok(call.service().activate(&scope, call.body.clone()).await?))
}

async fn rank(call: Call<Nothing, Nothing, PageRankRequest>) -> Result<Answer<EngineAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    Ok(Answer::ok(call.service().rank(&scope, call.body.clone()).await?))
}

/// Of which scope.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScopeQuery {
    /// Whose data.
    scope: Option<Scope>,
}

async fn mirror(call: Call<Nothing, ScopeQuery>) -> Result<Answer<Mirror>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    Ok(Answer::ok(call.service().mirrored(&scope)?))
}

impl From<Error> for Problem {
    fn from(why: Error) -> Self {
        match why {
            Error::Store(why) => why.into(),
            Error::Invalid(why) => Self::validation(why),
            Error::NotMirrored(why) => Self::not_found(why),
            // Nothing changes before the configuration or the graph does, and the graph is looked at each half minute.
            why @ Error::Busy(Refused::NoRoom { .. }) => Self::unavailable(why.to_string(), 30),
            why @ Error::Busy(_) => Self::unavailable(why.to_string(), 1),
            why => Self::own_fault(why),
        }
    }
}
