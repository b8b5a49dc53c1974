//! Recall, and what is held in memory to answer from.

use crate::surfaces::operation::problem::Problem;
use crate::surfaces::operation::tool::Tool;
use crate::surfaces::operation::{Answer, Call, Operation, RequiredRight};
use axum::http::Method;
use ebb_core::api::engine::{ActivateRequest, EngineAnswer, PageRankRequest};
use ebb_core::api::input::{Nothing, ScopeQuery};
use ebb_core::api::recall::{Mirror, Recall, RecallRequest};
use ebb_core::domain::ids::TERM_BYTES_MAX;
use ebb_core::domain::key::Right;
use serde_json::{Value, json};

/// The operations.
pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(Method::POST, "/v1/recall", RequiredRight::InScope(Right::Read), recall)
            .summary("Search memories by question")
            .statuses(&[404])
            .description(
                "From memory, where the hot part of the graph is held: it writes nothing, but for what it teaches where every \
                 recall is learned from. The first question after a start waits until it is loaded. stale_ms says how old what \
                 was asked is, held_share how much of the scope is held. 503 where nothing of it \
                 fits. What was of use is reported to /v1/outcomes, with the path to it.",
            )
            .tool(TOOL),
        Operation::new(Method::POST, "/v1/engine/activate", RequiredRight::InScope(Right::Read), activate)
            .summary("Activate nodes from seeds, without words")
            .statuses(&[404]),
        Operation::new(Method::POST, "/v1/engine/pagerank", RequiredRight::InScope(Right::Read), rank)
            .summary("Rank nodes by PageRank, of the whole graph or from seeds")
            .statuses(&[404]),
        Operation::new(Method::GET, "/v1/mirror", RequiredRight::InScope(Right::Read), mirror)
            .summary("Show the mirror of a scope in memory, and how current it is")
            .statuses(&[404]),
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

async fn mirror(call: Call<Nothing, ScopeQuery>) -> Result<Answer<Mirror>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    Ok(Answer::ok(call.service().mirrored(&scope)?))
}

const TOOL: Tool = Tool {
    prepare: |arguments| {
        arguments.insert("why".to_owned(), true.into());
        arguments.entry("content").or_insert(Value::Bool(false));
        if let Some(seeds) = arguments.get_mut("seeds").and_then(Value::as_array_mut) {
            for id in seeds {
                *id = json!({"id": *id, "score": 1.0});
            }
        }
    },
    schema: |schema| {
        let properties = &mut schema["properties"];
        properties["seeds"]["items"] = json!({"type": "string", "maxLength": TERM_BYTES_MAX});
        properties["seeds"]["description"] = "Ids to begin at; of an entity its name.".into();
        properties["content"] = json!({
            "description": "Whether to answer the texts of memories, 4 KiB of each at most; their first 200 bytes stand in label.",
            "type": "boolean",
            "default": false,
        });
    },
    ..Tool::new(
        "recall",
        &["text", "seeds", "top_k", "kinds", "content", "scope"],
        "Say what a question reminds of: memories, entities and places, by what joins them and by their words, with how each \
         was reached. It writes nothing.",
    )
    .idempotent()
};
