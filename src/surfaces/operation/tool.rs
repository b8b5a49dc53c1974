//! How an operation is offered as a tool of MCP: its name and description there, and which fields of its request.

use serde_json::{Map, Value};

/// Arguments of a call, or the properties of their schema.
pub(in crate::surfaces) type Fields = Map<String, Value>;

/// The field by which a call counts once. It is no part of a request: over HTTP it is the header `Idempotency-Key`.
pub(in crate::surfaces) const REQUEST_ID: &str = "request_id";

/// An operation as a tool.
pub(in crate::surfaces) struct Tool {
    pub(in crate::surfaces) name: &'static str,
    pub(in crate::surfaces) description: &'static str,
    /// The fields of the operation's request that it takes, and [`REQUEST_ID`].
    pub(in crate::surfaces) fields: &'static [&'static str],
    /// Whether a call may take away what was there.
    pub(in crate::surfaces) is_destructive: bool,
    /// Whether a second call changes nothing more.
    pub(in crate::surfaces) is_idempotent: bool,
    /// Whether a call that writes needs the token of a dry run.
    pub(in crate::surfaces) needs_dry_run: bool,
    /// Makes the operation's request of the arguments.
    pub(in crate::surfaces) prepare: fn(&mut Fields),
    /// Makes the tool's schema of the operation's.
    pub(in crate::surfaces) schema: fn(&mut Fields),
}

impl Tool {
    /// A tool that takes fields of the operation's request as they are.
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
            prepare: |_| (),
            schema: |_| (),
        }
    }

    /// A tool of which a second call changes nothing more.
    pub(in crate::surfaces) const fn idempotent(self) -> Self {
        Self { is_idempotent: true, ..self }
    }
}
