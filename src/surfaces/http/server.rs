//! How things stand, and how healthy the memories are.

use super::door::Needs;
use super::input::Nothing;
use super::problem::Problem;
use super::route::{Answer, Call, Route};
use ebb_core::api::server::{Health, Status};
use ebb_core::domain::key::Right;
use ebb_core::domain::units::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    let read = Needs::Everywhere(Right::Read);
    vec![
        Route::get("/v1/status", read, status)
            .says("Say how things stand: jobs, tiers, backlog, attempts, runs, mirrors")
            .reads_much(),
        Route::get("/v1/health", read, health)
            .says(
                "Say how many memories each tier holds, with their energies now, and what is stuck or waits",
            )
            .reads_much(),
    ]
}

/// As of when.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AtQuery {
    /// As of this instant.
    at: Option<Timestamp>,
}

async fn status(call: Call<Nothing, AtQuery>) -> Result<Answer<Status>, Problem> {
    let at = call.at(call.query.at).await?;
    Ok(Answer::ok(call.service().status(at).await?))
}

async fn health(call: Call<Nothing, AtQuery>) -> Result<Answer<Health>, Problem> {
    let at = call.at(call.query.at).await?;
    Ok(Answer::ok(call.service().health(at).await?))
}
