//! Operations that show the status of maintenance and the health of memories.

use crate::surfaces::operation::problem::Problem;
use crate::surfaces::operation::tool::Tool;
use crate::surfaces::operation::{Answer, Call, Operation, RequiredRight};
use axum::http::Method;
use ebb_core::api::input::{AtQuery, Nothing};
use ebb_core::api::server::{Health, Status};
use ebb_core::domain::key::Right;

/// The operations.
pub(super) fn operations() -> Vec<Operation> {
    let read = RequiredRight::Everywhere(Right::Read);
    vec![
        Operation::new(Method::GET, "/v1/status", read, status)
            .summary("Show status: jobs, tiers, backlog, attempts, runs, mirrors")
            .long_read()
            .tool(STATUS_TOOL),
        Operation::new(Method::GET, "/v1/health", read, health)
            .summary("Show health: memories and energies by tier, stuck attempts, backlog")
            .long_read(),
    ]
}

const STATUS_TOOL: Tool = Tool::new(
    "maintenance_status",
    &[],
    "Show the status of memory maintenance, for instance when memories seem out of date. Returns jobs with their lag, \
     memories by tier, the backlog, open attempts and quarantined rows. It covers the whole database, so it needs a key \
     over every scope (*). Writes nothing.",
)
.idempotent();

async fn status(call: Call<Nothing, AtQuery>) -> Result<Answer<Status>, Problem> {
    let at = call.instant(call.query.at).await?;
    Ok(Answer::ok(call.service().status(at).await?))
}

async fn health(call: Call<Nothing, AtQuery>) -> Result<Answer<Health>, Problem> {
    let at = call.instant(call.query.at).await?;
    Ok(Answer::ok(call.service().health(at).await?))
}
