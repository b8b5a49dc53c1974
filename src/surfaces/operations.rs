//! The table of operations: a file for each noun with a function `operations`, and a line here. HTTP mounts them, MCP offers those
//! that are tools, the OpenAPI document lists them, and the tests ask each of them with every kind of key.

mod adopted;
mod engine;
mod facts;
mod jobs;
mod memories;
mod outcomes;
mod recall;
mod relations;
mod scopes;
mod server;
mod sweeps;
mod trails;

use super::operation::Operation;

/// All operations.
pub(super) fn operations() -> Vec<Operation> {
    [
        relations::operations(),
        memories::operations(),
        facts::operations(),
        sweeps::operations(),
        trails::operations(),
        recall::operations(),
        adopted::operations(),
        engine::operations(),
        outcomes::operations(),
        scopes::operations(),
        jobs::operations(),
        server::operations(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
