//! JSON Schemas of the core's value types, used for MCP tools and the OpenAPI document.
//!
//! Names are limited in bytes, but a schema counts characters: a name that fits the schema may still be refused if it
//! is not ASCII.

use crate::domain::fact::{FactScope, Value};
use crate::domain::ids::{
    CONTENT_BYTES_MAX, EntityName, FactRelation, InstanceId, MemoryId, NAME_BYTES_MAX, PlaceId, PolicyId,
    RecallId, RelationType, Scope, SessionId, Source, TERM_BYTES_MAX, Term,
};
use crate::domain::policy::Mode;
use crate::domain::tier::Tier;
use crate::domain::units::Timestamp;
use crate::jobs::JobName;
use crate::store::{EventEffect, SweepState};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

macro_rules! schema {
    ($($type:ty),+ => $name:literal, $inline:literal, $schema:expr) => {$(
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                $inline
            }

            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )+};
}

schema!(Timestamp => "Instant", true, json_schema!({"type": "string", "format": "date-time"}));
schema!(
    EntityName, FactRelation, InstanceId, MemoryId, PlaceId, PolicyId, RecallId, RelationType, Scope, SessionId,
    Source => "Name", true, name()
);
schema!(Term => "Term", true, json_schema!({"type": "string", "maxLength": TERM_BYTES_MAX}));
schema!(Tier => "Tier", false, json_schema!({"type": "string", "enum": Tier::ALL.map(Tier::name)}));
schema!(JobName => "JobName", false, json_schema!({"type": "string", "enum": JobName::ALL.map(JobName::name)}));
schema!(
    FactScope => "FactScope", false,
    json_schema!({"type": "string", "enum": FactScope::ALL.map(FactScope::name)})
);
schema!(Mode => "DecayMode", false, json_schema!({"type": "string", "enum": Mode::ALL.map(Mode::name)}));
schema!(
    SweepState => "SweepState", false,
    json_schema!({"type": "string", "enum": ["pending", "running", "done", "failed"]})
);
schema!(EventEffect => "Done", true, json_schema!({"type": "string"}));
schema!(Value => "FactValue", false, json_schema!({
    "type": ["string", "number", "boolean"],
    "minLength": 1,
    "maxLength": CONTENT_BYTES_MAX,
    "description": "A number keeps its type and digits: 1 is a 64-bit integer, 1.0 is not. A number that 64 bits \
                    do not hold exactly is refused; assert it as text."
}));

fn name() -> Schema {
    let description = format!("Not blank, no control characters, at most {NAME_BYTES_MAX} bytes.");
    json_schema!({
        "type": "string",
        "minLength": 1,
        "maxLength": NAME_BYTES_MAX,
        "pattern": r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$",
        "description": description
    })
}
