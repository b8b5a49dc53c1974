//! Operations on rows of other libraries, by the keys that these libraries give them.

use crate::surfaces::operation::problem::Problem;
use crate::surfaces::operation::tool::{REQUEST_ID, Tool};
use crate::surfaces::operation::{Answer, Call, Operation, RequiredRight};
use axum::http::Method;
use ebb_core::api::adopted::{Hidden, RerankRequest, Reranked, StateRequest, StatesSet};
use ebb_core::api::input::{Nothing, ScopeQuery};
use ebb_core::domain::key::Right;

/// The operations.
pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(Method::POST, "/v1/rerank", RequiredRight::InScope(Right::Read), rerank)
            .summary("Score rows of another library for a query")
            .statuses(&[404])
            .description(
                "For the results of a search of the library whose graph is read (section adopt of the configuration): whether each is live, its \
                 weight now, and a score by activation from the query, in the order of the request. Writes nothing.",
            )
            .tool(RERANK_TOOL),
        Operation::new(Method::GET, "/v1/hidden", RequiredRight::InScope(Right::Read), hidden)
            .summary("List the hidden rows of other libraries"),
        Operation::new(Method::POST, "/v1/states", RequiredRight::InScope(Right::Write), set)
            .summary("Pin, hide or access rows of another library, all or none")
            .statuses(&[404, 409])
            .description(
                "Kept in nodes of Ebb's own: the rows themselves are never written. A pinned row keeps its weight, a \
                 hidden one is left out of recall and rerank, an accessed one has the weight 1 again.",
            )
            .tool(STATES_TOOL),
    ]
}

const RERANK_TOOL: Tool = Tool::new(
    "rerank",
    &["query", "keys", "scope"],
    "Score results of your graph library's own search, by their keys (ids of nodes or facts): whether each is live, its \
     weight now, and a score for the query. Returns a result for each key in their order; writes nothing.",
)
.idempotent();

const STATES_TOOL: Tool = Tool::new(
    "set_row_states",
    &["keys", "pinned", "hidden", "accessed", "scope", REQUEST_ID],
    "Pin, hide or access rows of your graph library, by their keys: a pinned row keeps its weight, a hidden one is left \
     out of recall and rerank, an accessed one has the weight 1 again. All or none; returns the number of rows.",
);

async fn rerank(call: Call<Nothing, Nothing, RerankRequest>) -> Result<Answer<Reranked>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    Ok(Answer::ok(call.service().rerank(&scope, call.body.clone()).await?))
}

async fn hidden(call: Call<Nothing, ScopeQuery>) -> Result<Answer<Hidden>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    Ok(Answer::ok(call.service().hidden(&scope).await?))
}

async fn set(call: Call<Nothing, Nothing, StateRequest>) -> Result<Answer<StatesSet>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let at = call.write_instant(call.body.at).await?;
    Ok(Answer::ok(call.service().set_states(&call.write_once(), &scope, &call.body, at).await?))
}
