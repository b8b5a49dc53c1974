//! Every route, tool and verb there is, and where histories ask it: a new one that stands nowhere fails.

use super::history::draw;
use super::program::{Program, ScopeRequest};
use crate::harness::neo4j::fresh;
use crate::harness::random::Random;
use clap::CommandFactory;
use ebb::surfaces::cli::Cli;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Routes that concern the database as a whole: no key of a scope opens them.
const WHOLE: [(&str, &str, &str); 13] = [
    ("POST", "/memory/graph/decay", "{}"),
    ("GET", "/v1/decay/policies", ""),
    ("PUT", "/v1/decay/policies/{id}", "{}"),
    ("DELETE", "/v1/decay/policies/{id}", ""),
    ("POST", "/v1/trails/evaporate", "{}"),
    ("GET", "/v1/trails/cycle", ""),
    ("POST", "/v1/trails/cycle", r#"{"advance":1}"#),
    ("GET", "/v1/jobs", ""),
    ("GET", "/v1/jobs/history", ""),
    ("POST", "/v1/jobs/{name}/run", "{}"),
    ("GET", "/v1/attempts", ""),
    ("GET", "/v1/status", ""),
    ("GET", "/v1/health", ""),
];
/// The tool that does: not listed to a key of a scope, and refused.
const WHOLE_TOOL: &str = "maintenance_status";

/// The way in which the histories cover a verb of the command line.
#[derive(Debug, PartialEq, Eq)]
enum CoveredBy {
    /// By the route that asks the same of the service.
    Route(&'static str, &'static str),
    /// By hand, after each history.
    Held,
    /// Not: it concerns the database as a whole, or the program alone.
    Whole,
}

use CoveredBy::{Held, Route, Whole};

const VERBS: &[(&str, CoveredBy)] = &[
    ("adopt", Whole),
    ("adopted access", Route("POST", "/v1/states")),
    ("adopted facts", Route("POST", "/v1/rerank")),
    ("adopted hidden", Route("GET", "/v1/hidden")),
    ("adopted hide", Route("POST", "/v1/states")),
    ("adopted pin", Route("POST", "/v1/states")),
    ("adopted rerank", Route("POST", "/v1/rerank")),
    ("adopted unhide", Route("POST", "/v1/states")),
    ("adopted unpin", Route("POST", "/v1/states")),
    ("apply", Whole),
    ("attempt list", Whole),
    ("attempt release", Whole),
    ("attempt show", Whole),
    ("backup", Whole),
    ("completions", Whole),
    ("config show", Whole),
    ("config validate", Whole),
    ("demo", Whole),
    ("doctor", Whole),
    ("engine activate", Route("POST", "/v1/engine/activate")),
    ("engine causal", Route("POST", "/v1/engine/causal")),
    ("engine communities", Route("POST", "/v1/engine/communities")),
    ("engine harmonics", Route("POST", "/v1/engine/harmonics")),
    ("engine pagerank", Route("POST", "/v1/engine/pagerank")),
    ("engine queries", Route("GET", "/v1/engine/queries")),
    ("engine resonate", Route("POST", "/v1/engine/resonate")),
    ("engine xlr", Route("POST", "/v1/engine/xlr")),
    ("eval", Route("POST", "/v1/recall")),
    ("fact assert", Route("POST", "/v1/facts")),
    ("fact list", Route("GET", "/v1/facts")),
    ("graph export", Held),
    ("graph load", Whole),
    ("graph refresh", Whole),
    ("graph save", Held),
    ("graph stats", Route("GET", "/v1/mirror")),
    ("graph verify", Held),
    ("health", Whole),
    ("import", Whole),
    ("init", Whole),
    ("inspect", Whole),
    ("job history", Whole),
    ("job list", Whole),
    ("job run", Whole),
    ("key create", Whole),
    ("key list", Whole),
    ("key open", Whole),
    ("key prune", Whole),
    ("key revoke", Whole),
    ("man", Whole),
    ("mcp", Whole),
    ("memory access", Route("POST", "/v1/memories/{id}/access")),
    ("memory add", Route("POST", "/v1/memories")),
    ("memory duplicates", Route("GET", "/v1/duplicates")),
    ("memory explain", Route("GET", "/v1/memories/{id}/explain")),
    ("memory forget", Route("DELETE", "/v1/memories/{id}")),
    ("memory list", Route("GET", "/v1/memories")),
    ("memory merge", Route("POST", "/v1/memories/{id}/merge")),
    ("memory pin", Route("POST", "/v1/memories/{id}/pin")),
    ("memory show", Route("GET", "/v1/memories/{id}")),
    ("memory unpin", Route("DELETE", "/v1/memories/{id}/pin")),
    ("memory update", Route("PATCH", "/v1/memories/{id}")),
    ("memory versions", Route("GET", "/v1/memories/{id}/versions")),
    ("neo4j browser", Whole),
    ("neo4j keep", Whole),
    ("neo4j start", Whole),
    ("neo4j status", Whole),
    ("neo4j stop", Whole),
    ("outcome", Route("POST", "/v1/outcomes")),
    ("plot decay", Route("GET", "/memory/graph/edges")),
    ("plan", Whole),
    ("plot energy", Route("GET", "/v1/memories/{id}/explain")),
    ("plot tiers", Whole),
    ("plot trails", Route("GET", "/v1/trails/hot")),
    ("policy compare", Whole),
    ("policy list", Whole),
    ("policy remove", Whole),
    ("policy set", Whole),
    ("recall", Route("POST", "/v1/recall")),
    ("relation decay", Whole),
    ("relation list", Route("GET", "/memory/graph/edges")),
    ("relation observe", Route("POST", "/memory/graph/edges")),
    ("relation pin", Route("POST", "/memory/graph/edges")),
    ("relation unpin", Route("POST", "/memory/graph/edges")),
    ("replay", Whole),
    ("report", Whole),
    ("restore", Whole),
    ("scope delete", Route("DELETE", "/v1/scopes/{scope}")),
    ("scope export", Route("GET", "/v1/scopes/{scope}/export")),
    ("scope list", Route("GET", "/v1/scopes")),
    ("scope receipts", Route("GET", "/v1/scopes/{scope}/receipts")),
    ("serve", Whole),
    ("session end", Route("POST", "/v1/sessions/{id}/end")),
    ("status", Whole),
    ("sweep", Route("POST", "/v1/decay/sweep")),
    ("trail cold", Route("GET", "/v1/trails/cold")),
    ("trail cycle", Whole),
    ("trail deposit", Route("POST", "/v1/trails/paths")),
    ("trail edge add", Route("POST", "/v1/trails/edges")),
    ("trail evaporate", Whole),
    ("trail explore", Route("POST", "/v1/trails/explorations")),
    ("trail hot", Route("GET", "/v1/trails/hot")),
    ("trail next", Route("GET", "/v1/trails/next")),
    ("trail node add", Route("POST", "/v1/trails/nodes")),
    ("trail path", Route("GET", "/v1/trails/path")),
    ("trail status", Route("GET", "/v1/trails/status")),
    ("undo", Whole),
    ("uninstall", Whole),
    ("why-not", Route("POST", "/v1/memories/{id}/why-not")),
    ("worker", Whole),
];

/// The verbs below a command, by their whole names.
fn leaves(command: &clap::Command, name: &str, into: &mut BTreeSet<String>) {
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        let name = format!("{name} {}", verb.get_name()).trim_start().to_owned();
        if verb.has_subcommands() {
            leaves(verb, &name, into);
        } else {
            into.insert(name);
        }
    }
    if !name.is_empty() && !command.is_subcommand_required_set() && !command.is_arg_required_else_help_set() {
        into.insert(name.to_owned());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_tool_and_verb_is_accounted_for() {
    let db = fresh().await;
    let scopes = ["company".to_owned()];
    let program = Program::on(&db, &scopes);
    let keys = program.keys(&scopes).await;
    let plan = draw(50, &mut Random::seeded(1));
    let asks = plan.pairs.iter().flat_map(|pair| &pair.sides).flat_map(|side| side.asks.iter().flatten());
    let (tools, routes): (Vec<&ScopeRequest>, Vec<&ScopeRequest>) = asks.partition(|ask| ask.path == "/mcp");

    let body = |answer: &str| -> Value {
        serde_json::from_str(&answer[4..]).unwrap_or_else(|why| panic!("{why}: {answer}"))
    };
    let document = ScopeRequest::new("GET", "/openapi.json", "/openapi.json".to_owned(), None);
    let document = body(&program.ask(&keys, "company", &document).await);
    let there: BTreeSet<(String, String)> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, item)| item.as_object().unwrap().keys().map(|m| (m.to_uppercase(), path.clone())))
        .filter(|(_, path)| path.starts_with("/v1") || path.starts_with("/memory"))
        .collect();
    let asked: BTreeSet<(String, String)> =
        routes.iter().map(|ask| (ask.method.to_owned(), ask.of.to_owned())).collect();
    let whole = WHOLE.iter().map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned()));
    assert_eq!(asked.iter().cloned().chain(whole).collect::<BTreeSet<_>>(), there);
    for (method, path, said) in WHOLE {
        let said = (!said.is_empty()).then(|| serde_json::from_str(said).unwrap());
        let refused = program
            .ask(&keys, "company", &ScopeRequest::new(method, path, path.replace(['{', '}'], ""), said))
            .await;
        assert!(refused.starts_with("403") && refused.contains("as a whole"), "{method} {path}: {refused}");
    }

    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let list = ScopeRequest::new("POST", "tools/list", "/mcp".to_owned(), Some(list));
    let list = body(&program.ask(&keys, "company", &list).await);
    let named = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    let there: BTreeSet<String> = list["result"]["tools"].as_array().unwrap().iter().map(named).collect();
    let asked_tools: BTreeSet<String> = tools.iter().map(|ask| ask.of.to_owned()).collect();
    assert_eq!(asked_tools, there);
    let refused = program.ask(&keys, "company", &ScopeRequest::tool(WHOLE_TOOL, &json!({}))).await;
    assert!(refused.contains("every scope"), "{refused}");

    let mut verbs = BTreeSet::new();
    leaves(&Cli::command(), "", &mut verbs);
    assert_eq!(VERBS.iter().map(|(verb, _)| (*verb).to_owned()).collect::<BTreeSet<_>>(), verbs);
    for (verb, how) in VERBS {
        if let Route(method, path) = how {
            assert!(asked.contains(&((*method).to_owned(), (*path).to_owned())), "{verb}: {method} {path}");
        }
    }
}
