//! MCP tools of operations: name, description and the fields of the request that a tool takes.

use ebb_core::domain::ids::TERM_BYTES_MAX;
use serde_json::{Map, Value, json};

/// Arguments of a call, or the properties of their schema.
pub(in crate::surfaces) type Fields = Map<String, Value>;

/// The field that makes a call idempotent. It is not part of a request: over HTTP it is the header `Idempotency-Key`.
pub(in crate::surfaces) const REQUEST_ID: &str = "request_id";

/// Maximum number of bytes in a string of a result, unless a tool says otherwise.
pub(in crate::surfaces) const TEXT_BYTES_MAX: usize = 4_096;

/// An operation as a tool.
pub(in crate::surfaces) struct Tool {
    pub(in crate::surfaces) name: &'static str,
    pub(in crate::surfaces) description: &'static str,
    /// The fields that it takes: fields of the operation's request, and [`REQUEST_ID`].
    pub(in crate::surfaces) fields: &'static [&'static str],
    /// Whether a call may remove or overwrite data.
    pub(in crate::surfaces) is_destructive: bool,
    /// Whether a repeated call has no further effect.
    pub(in crate::surfaces) is_idempotent: bool,
    /// Whether a call that writes needs the token of a dry run.
    pub(in crate::surfaces) needs_dry_run: bool,
    /// Maximum number of bytes in each string of the result.
    pub(in crate::surfaces) text_bytes_max: usize,
    /// The field of the result that is its text; by default the text is all of it as JSON.
    pub(in crate::surfaces) text_field: Option<&'static str>,
    /// Converts the arguments to the operation's request.
    pub(in crate::surfaces) prepare: fn(&mut Fields),
    /// Converts the operation's schema to the tool's.
    pub(in crate::surfaces) schema: fn(&mut Fields),
}

impl Tool {
    /// A tool that takes fields of the operation's request unchanged.
    pub(in crate::surfaces) const fn new(
        name: &'static str,
        fields: &'static [&'static str],
        description: &'static str,
    ) -> Self {
        Self {
            name,
            description,
            fields,
            is_destructive: false,
            is_idempotent: false,
            needs_dry_run: false,
            text_bytes_max: TEXT_BYTES_MAX,
            text_field: None,
            prepare: |_| (),
            schema: |_| (),
        }
    }

    /// Marks the tool as idempotent.
    pub(in crate::surfaces) const fn idempotent(self) -> Self {
        Self { is_idempotent: true, ..self }
    }
}

/// Converts ids, which a tool takes as seeds, to seeds of score 1.
pub(in crate::surfaces) fn seeds_of_ids(arguments: &mut Fields) {
    if let Some(seeds) = arguments.get_mut("seeds").and_then(Value::as_array_mut) {
        for id in seeds {
            *id = json!({"id": *id, "score": 1.0});
        }
    }
}

/// Describes seeds as ids in the schema of a tool.
pub(in crate::surfaces) fn ids_as_seeds(schema: &mut Fields) {
    let seeds = &mut schema["properties"]["seeds"];
    seeds["items"] = json!({"type": "string", "maxLength": TERM_BYTES_MAX});
    seeds["description"] =
        "Ids of memories or names of entities to start from, for instance of hits. Unknown ones come back \
                            in unknown_seeds."
            .into();
}
