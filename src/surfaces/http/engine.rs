//! Contrast, waves and communities, over HTTP: mechanisms of the engine, each on its own.

use super::door::Needs;
use super::input::Nothing;
use super::problem::Problem;
use super::route::{Answer, Call, Route};
use ebb_core::api::engine::{
    CommunitiesAnswer, CommunitiesRequest, HarmonicsAnswer, HarmonicsRequest, ResonateAnswer,
    ResonateRequest, XlrAnswer, XlrRequest,
};
use ebb_core::domain::key::Right;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/v1/engine/xlr", Needs::InScope(Right::Read), xlr)
            .says("Say what lights up from seeds, and what of it would light up for any question")
            .also(&[404])
            .reads_much()
            .note("Spreads by the rule of recall. score is what contrast leaves of activation."),
        Route::post("/v1/engine/resonate", Needs::InScope(Right::Read), resonate)
            .says("Say what seeds make swing, and what swings along far from them")
            .also(&[404])
            .reads_much()
            .note(
                "With sympathetic the communities of the whole graph are worked out, once for each state of it: \
                 seconds where there are a million nodes.",
            ),
        Route::post("/v1/engine/harmonics", Needs::InScope(Right::Read), harmonics)
            .says("Say at which frequencies nodes swing: multiples of one, and all there are")
            .also(&[404])
            .reads_much(),
        Route::post("/v1/engine/communities", Needs::InScope(Right::Read), communities)
            .says("Say who belongs together, and who joins communities to each other")
            .also(&[404])
            .reads_much()
            .note(
                "Costs the whole graph: seconds where there are a million nodes. At resolution 1 the answer is kept \
                 until the graph changes. At most 10,000 members are told together; left_out says how many are not.",
            ),
    ]
}

async fn xlr(call: Call<Nothing, Nothing, XlrRequest>) -> Result<Answer<XlrAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    Ok(Answer::ok(call.service().xlr(&scope, call.body.clone()).await?))
}

async fn resonate(call: Call<Nothing, Nothing, ResonateRequest>) -> Result<Answer<ResonateAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    Ok(Answer::ok(call.service().resonate(&scope, call.body.clone()).await?))
}

async fn harmonics(
    call: Call<Nothing, Nothing, HarmonicsRequest>,
) -> Result<Answer<HarmonicsAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    Ok(Answer::ok(call.service().harmonics(&scope, call.body.clone()).await?))
}

async fn communities(
    call: Call<Nothing, Nothing, CommunitiesRequest>,
) -> Result<Answer<CommunitiesAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    Ok(Answer::ok(call.service().communities(&scope, call.body.clone()).await?))
}
