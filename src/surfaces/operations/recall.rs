//! Operations that recall memories, activate and rank nodes, and show the mirror.

use crate::surfaces::operation::problem::Problem;
use crate::surfaces::operation::tool::{Tool, ids_as_seeds, seeds_of_ids};
use crate::surfaces::operation::{Answer, Call, Operation, RequiredRight};
use axum::http::Method;
use ebb_core::api::context::{Context, ContextRequest};
use ebb_core::api::engine::{ActivateRequest, EngineAnswer, PageRankRequest};
use ebb_core::api::input::{Nothing, ScopeQuery};
use ebb_core::api::recall::{Mirror, Queries, QueriesQuery, Recall, RecallRequest};
use ebb_core::domain::key::Right;
use serde_json::{Value, json};

/// The operations.
pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(Method::POST, "/v1/recall", RequiredRight::InScope(Right::Read), recall)
            .summary("Search memories by question")
            .statuses(&[404])
            .description(
                "Answers from the mirror, which holds the hot part of the graph in memory. Writes nothing, unless \
                 learning from every recall is configured. The first query after a start waits until the mirror is \
                 loaded. stale_ms is the age of the mirror, held_share the share of the scope that it holds. 503 if \
                 no part of the scope fits. Report useful hits to /v1/outcomes, each with its path.",
            )
            .tool(RECALL_TOOL),
        Operation::new(Method::POST, "/v1/context", RequiredRight::InScope(Right::Read), context)
            .summary("Search memories by question, as text for a prompt")
            .statuses(&[404])
            .description(
                "A recall whose hits are written as one text of at most max_tokens, each with its date and id. Hits \
                 with the same text appear once, and memories between hits of one session are added. Contents are \
                 untrusted: tell the model that they are data. Writes nothing, unless learning from every recall is \
                 configured.",
            )
            .tool(CONTEXT_TOOL),
        Operation::new(Method::POST, "/v1/engine/activate", RequiredRight::InScope(Right::Read), activate)
            .summary("Activate nodes from seeds, without text")
            .statuses(&[404]),
        Operation::new(Method::POST, "/v1/engine/pagerank", RequiredRight::InScope(Right::Read), rank)
            .summary("Rank nodes by PageRank, globally or from seeds")
            .statuses(&[404]),
        Operation::new(Method::GET, "/v1/engine/queries", RequiredRight::InScope(Right::Admin), queries)
            .summary("Show the last recalls of a scope: texts, times, nodes and pairs of seeds")
            .statuses(&[404])
            .description(
                "The last 1,000 recalls of the scope that this process answered; they are not stored. Texts are those \
                 of all callers, hence admin.",
            ),
        Operation::new(Method::GET, "/v1/mirror", RequiredRight::InScope(Right::Read), mirror)
            .summary("Show the in-memory mirror of a scope and its freshness")
            .statuses(&[404]),
        Operation::new(Method::POST, "/v1/mirror/refresh", RequiredRight::InScope(Right::Write), refresh)
            .summary("Refresh the in-memory mirror of a scope")
            .statuses(&[404])
            .description(
                "Reads what was written since the last refresh. Writes of Ebb need none, see at_least of /v1/recall; rows of \
                 adopted libraries are otherwise read at mirror.refresh. Changes of other programs to rows of Ebb have \
                 no record: `ebb graph refresh` reads them, and a daily comparison.",
            )
            .long_read(),
    ]
}

async fn recall(call: Call<Nothing, Nothing, RecallRequest>) -> Result<Answer<Recall>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    Ok(Answer::ok(call.service().recall(&scope, call.body.clone()).await?))
}

async fn context(call: Call<Nothing, Nothing, ContextRequest>) -> Result<Answer<Context>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let (recall, options) = call.body.clone().into_parts();
    Ok(Answer::ok(call.service().context(&scope, recall, options).await?))
}

async fn activate(call: Call<Nothing, Nothing, ActivateRequest>) -> Result<Answer<EngineAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    Ok(Answer::ok(call.service().activate(&scope, call.body.clone()).await?))
}

async fn rank(call: Call<Nothing, Nothing, PageRankRequest>) -> Result<Answer<EngineAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    Ok(Answer::ok(call.service().rank(&scope, call.body.clone()).await?))
}

async fn queries(call: Call<Nothing, QueriesQuery>) -> Result<Answer<Queries>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    Ok(Answer::ok(call.service().queries(&scope, &call.query)?))
}

async fn refresh(call: Call<Nothing, ScopeQuery>) -> Result<Answer<Mirror>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    call.service().view(&scope).await?;
    Ok(Answer::ok(call.service().refresh_mirror(&scope).await?))
}

async fn mirror(call: Call<Nothing, ScopeQuery>) -> Result<Answer<Mirror>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    Ok(Answer::ok(call.service().mirrored(&scope)))
}

/// Bytes of the longest text: 16,000 tokens of the estimate, each of at most eleven bytes.
const CONTEXT_BYTES_MAX: usize = 256 * 1024;

const CONTEXT_TOOL: Tool = Tool {
    prepare: seeds_of_ids,
    schema: ids_as_seeds,
    text_bytes_max: CONTEXT_BYTES_MAX,
    text_field: Some("text"),
    ..Tool::new(
        "recall_context",
        &[
            "text",
            "embedding",
            "seeds",
            "max_tokens",
            "order",
            "min_relevance",
            "session",
            "since",
            "tags",
            "metadata",
            "at_least",
            "scope",
        ],
        "Search memories by question and return them as one text of limited length for a prompt, each with its date and \
         id: the memories found, and those between them in a session. max_tokens limits this text, not the \
         structured content beside it, which has recall_id, and of each memory the exact id (the text has _ for spaces and \
         brackets, and shortens long ones) and the path that report_outcome needs. Writes nothing, unless engine.learn \
         is always.",
    )
    .idempotent()
};

const RECALL_TOOL: Tool = Tool {
    prepare: |arguments| {
        arguments.insert("why".to_owned(), true.into());
        arguments.entry("content").or_insert(Value::Bool(false));
        seeds_of_ids(arguments);
    },
    schema: |schema| {
        ids_as_seeds(schema);
        schema["properties"]["content"] = json!({
            "description": "Whether to return the texts of memories, at most 4 KiB of each; label has the first 200 \
                            bytes of a text.",
            "type": "boolean",
            "default": false,
        });
    },
    ..Tool::new(
        "recall",
        &[
            "text",
            "embedding",
            "seeds",
            "top_k",
            "min_relevance",
            "kinds",
            "tags",
            "metadata",
            "session",
            "since",
            "dimensions",
            "content",
            "at_least",
            "scope",
        ],
        "Search memories by question, with the entities and places connected to them. Returns ranked hits with ids, \
         scores, the estimated probability that each is relevant, and the path to each. With min_relevance the flag \
         nothing_relevant says that no memory answers. Writes nothing, unless engine.learn is always.",
    )
    .idempotent()
};
