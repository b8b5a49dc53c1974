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
mod schemas;
pub mod server;
pub mod session;
pub mod trail;

use crate::domain::units::Timestamp;

fn instant(ms: Option<i64>) -> Option<Timestamp> {
    ms.and_then(|ms| Timestamp::from_millis(ms).ok())
}
