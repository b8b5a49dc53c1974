//! Descriptions of tools for clients: the schema of an operation's request, reduced to the fields that the tool takes.

use crate::surfaces::http::body::KEY_MAX;
use crate::surfaces::operation::Operation;
use crate::surfaces::operation::tool::{Fields, REQUEST_ID, Tool};
use ebb_core::domain::key::Right;
use rmcp::model::{Tool as Described, ToolAnnotations};
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// Describes a tool for clients.
pub(super) fn describe(tool: &Tool, operation: &Operation) -> Described {
    let reads = operation.right.right() == Right::Read;
    let annotations = ToolAnnotations::new()
        .read_only(reads && !tool.is_destructive)
        .destructive(tool.is_destructive)
        .idempotent(tool.is_idempotent)
        .open_world(false);
    Described::new(tool.name, tool.description, schema(tool, operation)).with_annotations(annotations)
}

/// The JSON Schema of a tool's arguments, without references.
fn schema(tool: &Tool, operation: &Operation) -> Fields {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut generator = settings.for_deserialize().into_generator();
    let (mut properties, mut required) = (Fields::new(), Vec::new());
    let mut schema = Fields::new();
    if let Some(text) =
        operation.body_schema.and_then(|body| body(&mut generator).get("description").cloned())
    {
        schema.insert("description".to_owned(), text);
    }
    let parts = [Some(operation.path_schema), Some(operation.query_schema), operation.body_schema];
    for part in parts.into_iter().flatten() {
        let part = part(&mut generator);
        properties.extend(part.get("properties").and_then(Value::as_object).cloned().unwrap_or_default());
        required.extend(part.get("required").and_then(Value::as_array).cloned().unwrap_or_default());
    }
    let takes = |name: &str| tool.fields.contains(&name);
    properties.retain(|name, _| takes(name));
    required.retain(|name| name.as_str().is_some_and(takes));
    if let Some(scope) = properties.get_mut("scope") {
        scope["description"] = "Scope to read or write; nothing crosses scopes. Leave it out unless you were told one: \
                                default the only scope of your key, else that of the server. A key with several must name \
                                one.".into();
    }
    if takes(REQUEST_ID) {
        let description = "A new id of your choice for this call. Send it again only to repeat the same call after a failure: \
                           then both take effect once, for 24 hours. With other arguments it is refused.";
        let kind = json!(["string", "null"]);
        let id = json!({"type": kind, "description": description, "minLength": 1, "maxLength": KEY_MAX});
        properties.insert(REQUEST_ID.to_owned(), id);
    }
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    schema.insert("additionalProperties".to_owned(), false.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    (tool.schema)(&mut schema);
    schema
}
