//! The OpenAPI 3.1 document, generated from the table of operations and their types.
//!
//! Most statuses follow from the types: an operation with a body can return 413, every operation 503. An operation
//! lists only the others. Each `operationId` stands in `names`; tools have names of their own.

mod names;

use crate::surfaces::operation::problem::ProblemBody;
use crate::surfaces::operation::{ChangeIn, Operation};
use crate::surfaces::operations::operations;
use axum::http::header;
use axum::response::IntoResponse;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

static DOCUMENT: LazyLock<String> = LazyLock::new(|| generate().to_string());

/// `GET /openapi.json`
pub(super) async fn document() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT.as_str())
}

/// Path of named schemas.
const SCHEMAS: &str = "/components/schemas";

fn generate() -> Value {
    let settings =
        || SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = SCHEMAS.into());
    let mut request_types = settings().for_deserialize().into_generator();
    let mut response_types = settings().for_serialize().into_generator();
    let mut paths = Map::new();
    for route in operations() {
        let operation = operation(&route, &mut request_types, &mut response_types);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_lowercase()] = operation;
    }
    response_types.subschema_for::<ProblemBody<'_>>();
    for (path, id, summary, kind) in [
        ("/", "process.show_page", "Show the status page in a browser", "text/html"),
        ("/healthz", "process.check_alive", "Check that the process is alive", "text/plain"),
        (
            "/readyz",
            "process.check_ready",
            "Check that the process is ready, or show the reason",
            "text/plain",
        ),
        ("/metrics", "process.get_metrics", "Get metrics for Prometheus", "text/plain"),
        ("/openapi.json", "process.get_openapi", "Get this document", "application/json"),
    ] {
        paths.insert(path.to_owned(), json!({"get": plain((path, id), summary, kind)}));
    }
    let mut schemas = request_types.take_definitions(true);
    schemas.extend(response_types.take_definitions(true));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Ebb",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Maintains an agent's memory in Neo4j.",
            "description": DESCRIPTION,
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"key": []}, {}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"key": {
                "type": "http",
                "scheme": "bearer",
                "bearerFormat": "ebb_<id>_<secret>",
                "description": "A key created with `ebb key create`. On loopback, no key is needed until the first one \
                                is created; from then on always, even if it is revoked or expires.",
            }},
        },
    })
}

const DESCRIPTION: &str = "Instants are RFC 3339, UTC. Unknown names in bodies and queries are errors. Writes with \
    the same `Idempotency-Key` take effect once in 24 hours; the same key with another body is a 409. After 24 \
    hours, the key is new, and a resource that the write creates gets a new id. Errors are \
    `application/problem+json`; branch on `code`. The scope is that of the query or body, otherwise the only scope \
    of the key. Without a key, or with one over every scope, it is that of the server, usually `local`. A request with a \
    key for several scopes must name one.";

/// Descriptions of error statuses.
const PROBLEMS: [(u16, &str); 11] = [
    (400, "The request is invalid."),
    (401, "The key is missing or unknown."),
    (
        403,
        "The key lacks the right, or the right in this scope, or the request comes from a page of another origin.",
    ),
    (404, "The resource does not exist, or not in this scope."),
    (408, "The body did not arrive in time."),
    (
        409,
        "The request conflicts with the stored state, or the Idempotency-Key was used for another request.",
    ),
    (413, "The body is too large."),
    (415, "The body is not JSON, or lacks the Content-Type of JSON."),
    (429, "The key exceeds its rate."),
    (500, "Internal error."),
    (503, "The database is unreachable or Ebb is overloaded: retry after Retry-After."),
];

/// Whether a route can return an error status.
fn can_answer(route: &Operation, status: u16) -> bool {
    match status {
        404 | 409 => route.statuses.contains(&status),
        408 | 413 | 415 => route.body_schema.is_some(),
        _ => true,
    }
}

fn operation(
    route: &Operation,
    request_types: &mut SchemaGenerator,
    response_types: &mut SchemaGenerator,
) -> Value {
    let mut parameters = parameters("path", &(route.path_schema)(request_types));
    parameters.extend(parameters_of_query(route, request_types));
    let mut operation = json!({
        "operationId": names::name(&route.method, route.path),
        "summary": route.summary,
        "tags": [tag(route.path)],
        "parameters": parameters,
        "responses": responses(route, response_types),
    });
    if !route.description.is_empty() {
        operation["description"] = route.description.into();
    }
    if let Some(schema) = route.body_schema {
        let schema = schema(request_types);
        let required = requires_body(&schema, request_types);
        let description = format!("At most {} bytes.", route.body_max);
        operation["requestBody"] = json!({
            "required": required,
            "description": description,
            "content": {"application/json": {"schema": schema}},
        });
    }
    operation
}

fn parameters_of_query(route: &Operation, request_types: &mut SchemaGenerator) -> Vec<Value> {
    let mut parameters = parameters("query", &(route.query_schema)(request_types));
    if route.takes_key() {
        parameters.push(json!({
            "name": "Idempotency-Key",
            "in": "header",
            "required": false,
            "description": "Writes with the same key take effect once in 24 hours; after that the key is new.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        }));
    }
    parameters
}

/// Converts the fields of a type to parameters.
fn parameters(place: &str, schema: &Schema) -> Vec<Value> {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let fields = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let parameter = |(name, mut schema): (String, Value)| {
        let description = schema.get("description").cloned().unwrap_or_default();
        // An optional parameter is omitted, never null.
        if let Some(kinds) = schema.get("type").and_then(Value::as_array) {
            let kind = kinds.iter().find(|kind| *kind != "null").cloned();
            schema["type"] = kind.unwrap_or(Value::Null);
        }
        if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
            let choice = choices.iter().find(|choice| choice["type"] != "null").cloned();
            schema = choice.unwrap_or_default();
        }
        let default = schema.get("default").is_some_and(Value::is_null);
        if let Some(fields) = schema.as_object_mut().filter(|_| default) {
            fields.remove("default");
        }
        let is_required = required.iter().any(|one| *one == *name);
        json!({"name": name, "in": place, "required": is_required, "description": description, "schema": schema})
    };
    fields.into_iter().map(parameter).collect()
}

/// Whether a body is required.
fn requires_body(schema: &Schema, generator: &SchemaGenerator) -> bool {
    let mut schema = schema.as_value();
    while let Some(path) = schema["$ref"].as_str() {
        let name = path.rsplit('/').next().unwrap_or_default();
        let Some(meant) = generator.definitions().get(name) else { break };
        schema = meant;
    }
    let (required, lists) = (schema.get("required"), schema["type"] == "array");
    lists || required.and_then(Value::as_array).is_some_and(|names| !names.is_empty())
}

fn responses(route: &Operation, response_types: &mut SchemaGenerator) -> Value {
    let mut responses = Map::new();
    let schema = (route.answer_schema)(response_types);
    let links = ["/memory/graph/edges", "/v1/memories", "/v1/facts"].contains(&route.path);
    for (status, description) in
        [(200, "Success."), (201, "Created."), (202, "Accepted: a worker does it; query its state.")]
    {
        if status == 200 || route.statuses.contains(&status) {
            let schema = match route.names_change() {
                Some(ChangeIn::Body) => json!({"allOf": [schema, {"properties": {"change": change()}}]}),
                _ => json!(schema),
            };
            let mut response =
                json!({"description": description, "content": {route.media: {"schema": schema}}});
            if route.names_change().is_some() {
                response["headers"] =
                    json!({"Ebb-Change": {"description": CHANGE, "schema": {"type": "string"}}});
            }
            if links && !route.writes() {
                response["headers"] = json!({"Link": {
                    "description": "The next page, if any.", "schema": {"type": "string"},
                }});
            }
            responses.insert(status.to_string(), response);
        }
    }
    for (status, description) in PROBLEMS.into_iter().filter(|(status, _)| can_answer(route, *status)) {
        let content =
            json!({"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}});
        responses.insert(status.to_string(), json!({"description": description, "content": content}));
    }
    Value::Object(responses)
}

const CHANGE: &str =
    "The change that the write made, if it made one: at_least of a recall that must include it.";

fn change() -> Value {
    json!({"type": "string", "description": CHANGE})
}

/// A route outside the table of operations.
fn plain((path, id): (&str, &str), summary: &str, kind: &str) -> Value {
    let schema =
        if kind.starts_with("text/") { json!({"type": "string"}) } else { json!({"type": "object"}) };
    let content = json!({kind: {"schema": schema}});
    let problem = json!({"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}});
    let mut responses = json!({
        "200": {"description": "Success.", "content": content},
        "403": {"description": PROBLEMS[2].1, "content": problem},
    });
    if path == "/readyz" {
        responses["503"] = json!({"description": "Not ready.", "content": content});
    }
    if path == "/metrics" {
        responses["401"] = json!({"description": PROBLEMS[1].1, "content": problem});
        responses["503"] = json!({"description": PROBLEMS[10].1, "content": problem});
    }
    json!({
        "operationId": id,
        "summary": summary,
        "tags": ["process"],
        "security": if path == "/metrics" { json!([{"key": []}, {}]) } else { json!([{}]) },
        "responses": responses,
    })
}

/// The tag of a path: its noun.
fn tag(path: &str) -> &str {
    let words = path.split(['/', ':']).filter(|word| !word.is_empty() && *word != "v1");
    words.map(|word| if word == "memory" { "relations" } else { word }).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{self, head, row};
    use crate::surfaces::operation::RequiredRight;
    use std::collections::BTreeSet;

    #[test]
    fn the_document_lists_every_route_and_no_other() {
        let document = generate();
        let methods = |(path, item): (&String, &Value)| -> Vec<(String, String)> {
            let methods = item.as_object().unwrap().keys();
            methods.map(|method| (method.to_uppercase(), path.clone())).collect()
        };
        let documented: BTreeSet<_> =
            document["paths"].as_object().unwrap().iter().flat_map(methods).collect();
        let mut there: BTreeSet<_> =
            operations().iter().map(|route| (route.method.to_string(), route.path.to_owned())).collect();
        for path in ["/", "/healthz", "/readyz", "/metrics", "/openapi.json"] {
            there.insert(("GET".to_owned(), path.to_owned()));
        }
        assert_eq!(documented, there);
        assert_eq!(operations().len() + 5, there.len(), "a route is listed twice");
    }

    #[test]
    fn every_operation_is_whole() {
        let document = generate();
        let text = document.to_string();
        let mut names = BTreeSet::new();
        for item in document["paths"].as_object().unwrap().values() {
            for operation in item.as_object().unwrap().values() {
                assert!(names.insert(operation["operationId"].as_str().unwrap().to_owned()), "{operation}");
                assert!(!operation["summary"].as_str().unwrap().is_empty(), "{operation}");
                assert!(operation["responses"]["200"]["content"].is_object(), "{operation}");
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    assert!(parameter["description"].is_string(), "{parameter}");
                    assert!(
                        parameter["schema"]["type"].is_string() || parameter["schema"]["$ref"].is_string(),
                        "{parameter}"
                    );
                }
            }
        }
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for (at, _) in text.match_indices("\"$ref\":\"") {
            let name = text[at + 8..].split('"').next().unwrap().rsplit('/').next().unwrap();
            assert!(schemas.contains_key(name), "{name}");
        }
    }

    /// Paths of the unbounded texts of a schema.
    fn unbounded(schema: &Value, all: &Value, path: &str, found: &mut Vec<String>) {
        if let Some(name) = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
            return unbounded(&all[name], all, path, found);
        }
        let is_text = |kind: &Value| {
            kind == "string" || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("string")))
        };
        let ends = ["maxLength", "enum", "const", "format"].iter().any(|end| !schema[end].is_null());
        if is_text(&schema["type"]) && !ends {
            found.push(path.to_owned());
        }
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            unbounded(field, all, &format!("{path}.{name}"), found);
        }
        for many in ["anyOf", "oneOf", "allOf", "prefixItems"] {
            schema[many].as_array().into_iter().flatten().for_each(|one| unbounded(one, all, path, found));
        }
        for one in ["items", "additionalProperties"].iter().filter_map(|one| schema.get(one)) {
            unbounded(one, all, path, found);
        }
    }

    #[test]
    fn every_text_in_a_body_is_bounded() {
        let document = generate();
        let mut found = Vec::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for operation in item.as_object().unwrap().values() {
                let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
                unbounded(schema, &document["components"]["schemas"], path, &mut found);
            }
        }
        assert_eq!(found, [] as [String; 0]);
    }

    /// The type of a schema in a word or two.
    fn kind(schema: &Value) -> String {
        if let Some([whole, _]) = schema["allOf"].as_array().map(Vec::as_slice) {
            return format!("{}, with `change`", kind(whole));
        }
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            return name.to_owned();
        }
        if let Some(values) = schema["enum"].as_array() {
            return values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ");
        }
        for many in ["anyOf", "oneOf"] {
            if let Some(some) = schema[many].as_array() {
                let kinds = some.iter().filter(|one| one["type"] != "null");
                let kinds = kinds.map(|one| one["const"].as_str().map_or_else(|| kind(one), str::to_owned));
                return kinds.collect::<Vec<_>>().join(" or ");
            }
        }
        let of = match &schema["type"] {
            Value::Array(kinds) => {
                kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or_default()
            }
            kind => kind.as_str().unwrap_or("any"),
        };
        match (of, schema["format"].as_str(), schema.get("items")) {
            ("array", _, Some(items)) => format!("list of {}", kind(items)),
            (_, Some("date-time"), _) => "instant".to_owned(),
            (_, Some("date"), _) => "day".to_owned(),
            (of, ..) => of.to_owned(),
        }
    }

    /// The default and the range of a value, behind its description.
    fn bounds(schema: &Value) -> String {
        let mut all = Vec::new();
        let default = &schema["default"];
        if default.is_number() || default.is_string() {
            all.push(format!(
                "default {}",
                default.as_str().map_or_else(|| default.to_string(), str::to_owned)
            ));
        }
        match (&schema["minimum"], &schema["maximum"], &schema["exclusiveMinimum"]) {
            (Value::Number(least), Value::Number(most), _) => all.push(format!("{least} to {most}")),
            (_, Value::Number(most), Value::Number(above)) => {
                all.push(format!("above {above}, at most {most}"))
            }
            (_, Value::Number(most), _) => all.push(format!("at most {most}")),
            (Value::Number(least), ..) => all.push(format!("{least} or more")),
            (.., Value::Number(above)) => all.push(format!("above {above}")),
            _ => {}
        }
        if all.is_empty() { String::new() } else { format!(" [{}]", all.join("; ")) }
    }

    fn fields(into: &mut String, place: &str, schema: &Value, all: &Value) {
        let meant = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()).map(|name| &all[name]);
        let schema = meant.unwrap_or(schema);
        if schema["type"] == "array" {
            return fields(into, &format!("{place}, each"), &schema["items"], all);
        }
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = required.iter().any(|one| one == name);
            let description = field["description"].as_str().unwrap_or_default();
            let name = format!("`{name}`{}", if is_required { " (required)" } else { "" });
            row(into, &[place, &name, &kind(field), &format!("{description}{}", bounds(field))]);
        }
    }

    #[test]
    fn the_reference_page_of_http() {
        let document = generate();
        let all = &document["components"]["schemas"];
        let mut text = String::from(
            "# HTTP API\n\nRoutes of `ebb serve`, generated from the program; `GET /openapi.json` is the same for \
             programs. Keys, errors and idempotency: [HTTP API and keys](../guide/http.md).\n\n",
        );
        head(&mut text, &["route", "right", "summary"]);
        for route in operations() {
            let right = match route.right {
                RequiredRight::InScope(right) => right.name().to_owned(),
                RequiredRight::Everywhere(right) => format!("{}, over every scope", right.name()),
            };
            row(&mut text, &[&format!("`{} {}`", route.method, route.path), &right, route.summary]);
        }
        for route in operations() {
            let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
            text += &format!("\n## {} {}\n\n{}.\n", route.method, route.path, route.summary);
            if !route.description.is_empty() {
                text += &format!("\n{}\n", route.description);
            }
            let mut rows = String::new();
            for one in operation["parameters"].as_array().into_iter().flatten() {
                let description = one["description"].as_str().unwrap_or_default();
                let is_required = if one["required"] == true { " (required)" } else { "" };
                let name = format!("`{}`{is_required}", one["name"].as_str().unwrap());
                let description = format!("{description}{}", bounds(&one["schema"]));
                row(&mut rows, &[one["in"].as_str().unwrap(), &name, &kind(&one["schema"]), &description]);
            }
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            fields(&mut rows, "body", body, all);
            if !rows.is_empty() {
                text.push('\n');
                head(&mut text, &["in", "field", "type", "description"]);
                text += &rows;
            }
            let statuses: Vec<&str> = operation["responses"]
                .as_object()
                .unwrap()
                .keys()
                .map(String::as_str)
                .filter(|status| status.starts_with('2'))
                .collect();
            let answer = kind(&operation["responses"]["200"]["content"]["application/json"]["schema"]);
            text += &format!("\nReturns {}: {answer}.\n", statuses.join(" or "));
        }
        text += "\n# Types\n";
        for (name, schema) in all.as_object().unwrap() {
            let mut rows = String::new();
            fields(&mut rows, "", schema, all);
            let description = schema["description"].as_str().unwrap_or_default();
            text += &format!("\n## {name}\n\n{description}\n");
            if rows.is_empty() {
                text += &format!("\nA value: {}.\n", kind(schema));
            } else {
                text.push('\n');
                head(&mut text, &["field", "type", "description"]);
                text += &rows.replace("\n|  | ", "\n| ").replacen("|  | ", "| ", 1);
            }
        }
        reference::holds("http.md", &text);
    }

    #[test]
    fn the_document_of_this_version() {
        insta::assert_json_snapshot!(generate());
    }
}
