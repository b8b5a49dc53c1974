//! Answers in JSON: one shape for each thing, whichever surface says it.
//!
//! The command line prints them, HTTP sends them, and the OpenAPI document describes them, all from these types. Instants
//! are RFC 3339, UTC, with milliseconds.

pub mod attempt;
pub mod job;
pub mod memory;
pub mod relation;
pub mod server;
pub mod session;

use crate::clock::rfc3339;
use crate::domain::tier::Tier;
use crate::domain::units::Timestamp;
use crate::service::JobName;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use std::borrow::Cow;

/// An instant inside an answer: RFC 3339, UTC, milliseconds, `Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rfc3339(pub Timestamp);

impl Serialize for Rfc3339 {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&rfc3339(self.0))
    }
}

impl JsonSchema for Rfc3339 {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Instant".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

/// For schemas: the names of tiers.
pub(super) struct TierNames;

impl JsonSchema for TierNames {
    fn schema_name() -> Cow<'static, str> {
        "Tier".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": Tier::ALL.map(Tier::name)})
    }
}

/// For schemas: the names of jobs.
pub(super) struct JobNames;

impl JsonSchema for JobNames {
    fn schema_name() -> Cow<'static, str> {
        "JobName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": JobName::ALL.map(JobName::name)})
    }
}

fn instant(ms: Option<i64>) -> Option<Rfc3339> {
    ms.and_then(|ms| Timestamp::from_millis(ms).ok()).map(Rfc3339)
}
