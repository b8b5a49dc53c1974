//! Operations on scopes as a whole.

use crate::surfaces::operation::lines::{LineSender, lines};
use crate::surfaces::operation::problem::Problem;
use crate::surfaces::operation::{Answer, Call, Operation, RequiredRight};
use axum::http::Method;
use ebb_core::api::input::Nothing;
use ebb_core::api::scope::{
    ScopeDeletion, ScopeDeletionQuery, ScopePath, ScopeReceipts, ScopesList, ScopesQuery,
};
use ebb_core::domain::key::Right;
use ebb_core::service::backup::BackupError;
use std::sync::Arc;
use std::time::Duration;

/// Default number of scopes in a page.
const PAGE: u32 = 100;
/// How long an export, which holds a connection to the database, waits for its client.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// The operations.
pub(super) fn operations() -> Vec<Operation> {
    let admin = RequiredRight::InScope(Right::Admin);
    vec![
        Operation::new(Method::GET, "/v1/scopes", RequiredRight::InScope(Right::Read), list)
            .summary("List scopes with their numbers of memories")
            .description(
                "Those with memories, sessions, entities, facts, places, or states of rows of other libraries, that the key \
                 may read.",
            )
            .long_read(),
        Operation::new(Method::GET, "/v1/scopes/{scope}/export", admin, export)
            .summary("Export everything that Ebb wrote in a scope")
            .description(
                "Lines of JSON: a header, a line for each node, one for each relationship, and the end with counts and \
                 checksum. Without its last line, an export is incomplete. `ebb restore` loads it into an empty database.",
            )
            .statuses(&[404])
            .lines(),
        Operation::new(Method::DELETE, "/v1/scopes/{scope}", admin, delete)
            .summary("Delete everything that Ebb wrote in a scope permanently, and keep a receipt")
            .description(
                "Repeat a request that was broken off: it continues, with the same receipt. Rows of other libraries stay; \
                 their states in Ebb go. 409 if it has more than 50 rows: the answer names the number to send as \
                 accept_affected.",
            )
            .statuses(&[404, 409])
            .no_timeout(),
        Operation::new(Method::GET, "/v1/scopes/{scope}/receipts", admin, receipts)
            .summary("List the receipts of deletions of a scope, latest first"),
    ]
}

async fn list(call: Call<Nothing, ScopesQuery>) -> Result<Answer<ScopesList>, Problem> {
    let limit = usize::try_from(call.query.limit.unwrap_or(PAGE)).unwrap_or(usize::MAX);
    let granted = &call.caller.grant.scopes;
    let after = call.query.after.as_deref().unwrap_or_default();
    Ok(Answer::ok(call.service().scopes(after, limit, granted).await?))
}

async fn delete(call: Call<ScopePath, ScopeDeletionQuery>) -> Result<Answer<ScopeDeletion>, Problem> {
    let scope = call.scope(Some(&call.path.scope))?;
    let ScopeDeletionQuery { dry_run, accept_affected } = call.query;
    Ok(Answer::ok(if dry_run {
        call.service().count_scope(&scope).await?
    } else {
        call.service().delete_scope(&scope, &call.request_id, accept_affected).await?
    }))
}

async fn receipts(call: Call<ScopePath>) -> Result<Answer<ScopeReceipts>, Problem> {
    let scope = call.scope(Some(&call.path.scope))?;
    Ok(Answer::ok(call.service().scope_receipts(&scope).await?))
}

async fn export(call: Call<ScopePath>) -> Result<Answer<String>, Problem> {
    let scope = call.scope(Some(&call.path.scope))?;
    let backend = Arc::clone(&call.backend);
    let read = move |to: LineSender| async move {
        let exported = backend.service.export_scope(&scope, &to, Some(STALL_TIMEOUT)).await;
        exported.map(drop).map_err(|why| match why {
            BackupError::Store(why) => why.into(),
            why => Problem::own_fault(why),
        })
    };
    Ok(Answer::lines(lines(&call.backend, call.caller.name(), read).await?))
}
