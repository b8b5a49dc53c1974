//! The `operationId` of each operation: a noun, a dot and a verb, from which generated clients take the names of their methods.
//!
//! They are kept in a table instead of being derived from paths, because a name is for people: it says what a call does, and stays
//! when a path does not. Invariant: every operation has one, and no two the same (held by `every_operation_has_a_name`).

use axum::http::Method;

/// Method, path and name.
const NAMES: &[(Method, &str, &str)] = &[
    (Method::GET, "/memory/graph/edges", "relations.list"),
    (Method::POST, "/memory/graph/edges", "relations.observe"),
    (Method::POST, "/memory/graph/edges:batch", "relations.observe_batch"),
    (Method::POST, "/memory/graph/decay", "relations.fade"),
    (Method::GET, "/v1/memories", "memories.list"),
    (Method::POST, "/v1/memories", "memories.add"),
    (Method::POST, "/v1/memories:batch", "memories.add_batch"),
    (Method::POST, "/v1/memories:search", "memories.search"),
    (Method::POST, "/v1/memories:forget", "memories.delete_where"),
    (Method::GET, "/v1/memories/{id}", "memories.get"),
    (Method::PATCH, "/v1/memories/{id}", "memories.update"),
    (Method::GET, "/v1/memories/{id}/versions", "memories.list_versions"),
    (Method::DELETE, "/v1/memories/{id}", "memories.delete"),
    (Method::POST, "/v1/memories/{id}/access", "memories.access"),
    (Method::POST, "/v1/accesses:batch", "memories.access_batch"),
    (Method::POST, "/v1/memories/{id}/pin", "memories.pin"),
    (Method::DELETE, "/v1/memories/{id}/pin", "memories.unpin"),
    (Method::GET, "/v1/memories/{id}/explain", "memories.explain"),
    (Method::POST, "/v1/memories/{id}/why-not", "memories.explain_absence"),
    (Method::POST, "/v1/sessions/{id}/end", "sessions.end"),
    (Method::GET, "/v1/facts", "facts.list"),
    (Method::POST, "/v1/facts", "facts.add"),
    (Method::POST, "/v1/facts:batch", "facts.add_batch"),
    (Method::POST, "/v1/decay/sweep", "sweeps.run"),
    (Method::GET, "/v1/decay/jobs/{id}", "sweeps.get"),
    (Method::GET, "/v1/decay/policies", "policies.list"),
    (Method::PUT, "/v1/decay/policies/{id}", "policies.set"),
    (Method::DELETE, "/v1/decay/policies/{id}", "policies.delete"),
    (Method::POST, "/v1/trails/nodes", "trails.add_node"),
    (Method::POST, "/v1/trails/edges", "trails.add_edge"),
    (Method::POST, "/v1/trails/paths", "trails.reward"),
    (Method::POST, "/v1/trails/explorations", "trails.explore"),
    (Method::GET, "/v1/trails/hot", "trails.list_hot"),
    (Method::GET, "/v1/trails/cold", "trails.list_cold"),
    (Method::GET, "/v1/trails/status", "trails.get_status"),
    (Method::GET, "/v1/trails/path", "trails.find_path"),
    (Method::GET, "/v1/trails/next", "trails.list_next"),
    (Method::POST, "/v1/trails/evaporate", "trails.evaporate"),
    (Method::GET, "/v1/trails/cycle", "trails.get_cycle"),
    (Method::POST, "/v1/trails/cycle", "trails.advance_cycle"),
    (Method::POST, "/v1/recall", "recall.run"),
    (Method::POST, "/v1/context", "context.compose"),
    (Method::POST, "/v1/outcomes", "outcomes.report"),
    (Method::POST, "/v1/engine/activate", "engine.activate"),
    (Method::POST, "/v1/engine/pagerank", "engine.rank"),
    (Method::POST, "/v1/engine/xlr", "engine.contrast"),
    (Method::POST, "/v1/engine/around", "engine.look_around"),
    (Method::POST, "/v1/engine/causal", "engine.follow_causes"),
    (Method::POST, "/v1/engine/resonate", "engine.resonate"),
    (Method::POST, "/v1/engine/harmonics", "engine.read_harmonics"),
    (Method::POST, "/v1/engine/communities", "engine.find_communities"),
    (Method::GET, "/v1/engine/queries", "engine.list_queries"),
    (Method::GET, "/v1/duplicates", "memories.duplicates"),
    (Method::POST, "/v1/memories/{id}/merge", "memories.merge"),
    (Method::GET, "/v1/mirror", "mirrors.get"),
    (Method::POST, "/v1/mirror/refresh", "mirrors.refresh"),
    (Method::POST, "/v1/rerank", "rows.rerank"),
    (Method::GET, "/v1/hidden", "rows.list_hidden"),
    (Method::POST, "/v1/states", "rows.set_states"),
    (Method::GET, "/v1/scopes", "scopes.list"),
    (Method::GET, "/v1/scopes/{scope}/export", "scopes.export"),
    (Method::DELETE, "/v1/scopes/{scope}", "scopes.delete"),
    (Method::GET, "/v1/scopes/{scope}/receipts", "scopes.list_receipts"),
    (Method::GET, "/v1/jobs", "jobs.list"),
    (Method::GET, "/v1/jobs/history", "jobs.list_runs"),
    (Method::POST, "/v1/jobs/{name}/run", "jobs.run"),
    (Method::GET, "/v1/attempts", "attempts.list"),
    (Method::GET, "/v1/status", "status.get"),
    (Method::GET, "/v1/health", "health.get"),
];

/// Name of the operation with a method and path; empty if there is none.
pub(super) fn name(method: &Method, path: &str) -> &'static str {
    let found = NAMES.iter().find(|(of, at, _)| of == method && *at == path);
    found.map_or("", |(_, _, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surfaces::operations::operations;
    use std::collections::BTreeSet;

    #[test]
    fn every_operation_has_a_name() {
        let known: BTreeSet<&str> =
            operations().iter().map(|route| name(&route.method, route.path)).collect();
        let named: BTreeSet<&str> = NAMES.iter().map(|(_, _, name)| *name).collect();
        assert_eq!(known, named, "an operation lacks a name, or a name its operation");
        assert_eq!((NAMES.len(), operations().len()), (named.len(), named.len()), "a name is there twice");
        for name in named {
            let word = |word: &str| {
                word.starts_with(|c: char| c.is_ascii_lowercase())
                    && word.chars().all(|c| c.is_ascii_lowercase() || c == '_')
            };
            assert!(name.split_once('.').is_some_and(|(noun, verb)| word(noun) && word(verb)), "{name}");
        }
    }
}
