//! Operations of the engine's mechanisms: contrast (XLR), causal chains, waves and communities.

use crate::surfaces::operation::problem::Problem;
use crate::surfaces::operation::tool::{Tool, ids_as_seeds, seeds_of_ids};
use crate::surfaces::operation::{Answer, Call, Operation, RequiredRight};
use axum::http::Method;
use ebb_core::api::engine::{
    AroundAnswer, AroundRequest, CausalAnswer, CausalRequest, CommunitiesAnswer, CommunitiesRequest,
    HarmonicsAnswer, HarmonicsRequest, ResonateAnswer, ResonateRequest, XlrAnswer, XlrRequest,
};
use ebb_core::api::input::Nothing;
use ebb_core::domain::key::Right;

/// The operations.
pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(Method::POST, "/v1/engine/xlr", RequiredRight::InScope(Right::Read), xlr)
            .summary("Activate nodes from seeds and contrast them with other parts of the graph (XLR)")
            .statuses(&[404])
            .long_read()
            .description("Spreads with the profile of recall. score is the activation after contrast."),
        Operation::new(Method::POST, "/v1/engine/around", RequiredRight::InScope(Right::Read), around)
            .summary("Show the nodes around some nodes, and the relationships among them")
            .statuses(&[404])
            .long_read()
            .description(
                "The graph comes from the mirror, energies of memories from the database, at the instant at. A node that \
                 is not in the mirror is named in unknown_seeds.",
            ),
        Operation::new(Method::POST, "/v1/engine/causal", RequiredRight::InScope(Right::Read), causal)
            .summary("Follow causal chains from seeds to their effects or causes")
            .statuses(&[404])
            .description(
                "Follows relationships of the types and predicates in engine.causal. causal_truncated: more than 10,000 \
                 chains were found; the strongest are returned.",
            )
            .tool(CAUSAL),
        Operation::new(Method::POST, "/v1/engine/resonate", RequiredRight::InScope(Right::Read), resonate)
            .summary("Run waves from seeds and read them at one frequency")
            .statuses(&[404])
            .long_read()
            .description(
                "With sympathetic, the communities of the whole graph are computed, once for each generation: seconds \
                 for a million nodes.",
            ),
        Operation::new(Method::POST, "/v1/engine/harmonics", RequiredRight::InScope(Right::Read), harmonics)
            .summary("Run waves from seeds and read them at all frequencies")
            .statuses(&[404])
            .long_read(),
        Operation::new(Method::POST, "/v1/engine/communities", RequiredRight::InScope(Right::Read), communities)
            .summary("Find communities, and the nodes that link them")
            .statuses(&[404])
            .long_read()
            .description(
                "Reads the whole graph: seconds for a million nodes. At resolution 1, the result is cached until the \
                 graph changes. At most 10,000 members are returned in all; left_out counts the others.",
            ),
    ]
}

async fn xlr(call: Call<Nothing, Nothing, XlrRequest>) -> Result<Answer<XlrAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    Ok(Answer::ok(call.service().xlr(&scope, call.body.clone()).await?))
}

async fn around(call: Call<Nothing, Nothing, AroundRequest>) -> Result<Answer<AroundAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let at = call.instant(call.body.at).await?;
    Ok(Answer::ok(call.service().around(&scope, call.body.clone(), at).await?))
}

async fn causal(call: Call<Nothing, Nothing, CausalRequest>) -> Result<Answer<CausalAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    Ok(Answer::ok(call.service().causal(&scope, call.body.clone()).await?))
}

const CAUSAL: Tool = Tool {
    prepare: seeds_of_ids,
    schema: ids_as_seeds,
    ..Tool::new(
        "causal_chains",
        &["seeds", "direction", "depth", "top_k", "scope"],
        "Follow causal chains from nodes to their effects, or back to their causes. Returns the nodes by the strength of \
         the chain, with its relationships; writes nothing.",
    )
    .idempotent()
};

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
