//! The operation that reports outcomes of recalls.

use crate::surfaces::operation::problem::Problem;
use crate::surfaces::operation::tool::{REQUEST_ID, Tool};
use crate::surfaces::operation::{Answer, Call, Operation, RequiredRight};
use axum::http::Method;
use ebb_core::api::input::Nothing;
use ebb_core::api::outcome::{Outcome, OutcomeRequest};
use ebb_core::domain::key::Right;
use serde_json::json;

/// The operations.
pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(Method::POST, "/v1/outcomes", RequiredRight::InScope(Right::Write), report)
            .summary("Report which hits of a recall were useful, and their reward")
            .description(
                "Counts as an access to the memories among them, unless access is false. Strengthens the connections between the nodes of the paths, and deposits success on the edges that \
                 carry pheromones, most near the seeds. Recalls are not stored, so send each path as the response \
                 returned it. Nodes and edges that no longer exist are skipped and counted.",
            )
            .statuses(&[409])
            .tool(TOOL),
    ]
}

async fn report(call: Call<Nothing, Nothing, OutcomeRequest>) -> Result<Answer<Outcome>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let outcome = call.body.outcome().map_err(|why| Problem::validation(why.to_string()))?;
    let at = call.write_instant(call.body.at).await?;
    let reported = call
        .service()
        .report(&call.write_once(), &scope, (&outcome, call.body.access.unwrap_or(true)), at)
        .await?;
    Ok(Answer::ok(Outcome::of(&outcome, &reported, false)))
}

const TOOL: Tool = Tool {
    prepare: |arguments| {
        arguments.entry("reward").or_insert_with(|| 1.0.into());
    },
    schema: |schema| {
        schema["properties"]["reward"] = json!({
            "description": "Reward for all hits together, above 0 and at most 10; default 1.",
            "type": ["number", "null"],
            "exclusiveMinimum": 0,
            "maximum": 10.0,
        });
        if let Some(required) = schema["required"].as_array_mut() {
            required.retain(|name| name != "reward");
        }
    },
    ..Tool::new(
        "report_outcome",
        &["recall_id", "used", "reward", "access", "scope", REQUEST_ID],
        "After a recall, report which hits were useful, each with the path from the response, and their reward. \
         Accesses the memories among them, so call access_memory for none of these; strengthens their connections and \
         trails for later recalls. Returns counts of the memories, nodes and deposits.",
    )
};
