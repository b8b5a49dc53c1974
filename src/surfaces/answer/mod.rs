//! Answers in JSON: one shape for each thing, whichever surface says it.
//!
//! The command line prints them, HTTP sends them, and the OpenAPI document describes them, all from these types. Instants
//! are RFC 3339, UTC, with milliseconds.

pub mod attempt;
pub mod engine;
pub mod fact;
pub mod job;
pub mod memory;
pub mod outcome;
pub mod policy;
pub mod recall;
pub mod relation;
pub mod server;
pub mod session;
pub mod trail;

use ebb_core::clock::rfc3339;
use ebb_core::domain::fact::FactScope;
use ebb_core::domain::ids::CONTENT_BYTES_MAX;
use ebb_core::domain::policy::Mode;
use ebb_core::domain::tier::Tier;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::JobName;
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

/// For schemas: how far a fact is shared.
pub(super) struct FactScopes;

impl JsonSchema for FactScopes {
    fn schema_name() -> Cow<'static, str> {
        "FactScope".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": FactScope::ALL.map(FactScope::name)})
    }
}

/// For schemas: what a sweep does.
pub(super) struct Modes;

impl JsonSchema for Modes {
    fn schema_name() -> Cow<'static, str> {
        "DecayMode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": Mode::ALL.map(Mode::name)})
    }
}

/// For schemas: how a sweep of a worker stands.
pub(super) struct SweepStates;

impl JsonSchema for SweepStates {
    fn schema_name() -> Cow<'static, str> {
        "SweepState".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": ["pending", "running", "done", "failed"]})
    }
}

/// For schemas: the value of a fact.
pub(super) struct Values;

impl JsonSchema for Values {
    fn schema_name() -> Cow<'static, str> {
        "FactValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "number", "boolean"],
            "minLength": 1,
            "maxLength": CONTENT_BYTES_MAX,
            "description": "A number keeps its type and digits: 1 is a whole number of 64 bits, 1.0 is not. One that 64 \
                            bits do not hold digit by digit is refused; assert it as text."
        })
    }
}

fn instant(ms: Option<i64>) -> Option<Rfc3339> {
    ms.and_then(|ms| Timestamp::from_millis(ms).ok()).map(Rfc3339)
}
