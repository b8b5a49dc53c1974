//! Requests and responses: one type for each, whichever surface reads or sends it.
//!
//! A file for each noun. The service takes and answers them, the command line prints them, HTTP and MCP read and send them, and
//! the OpenAPI document describes them. Rows of the store that are answered as they are have types of the store, re-exported
//! here. Instants are RFC 3339, UTC, with milliseconds.

pub mod adopted;
pub mod attempt;
pub mod context;
pub mod duplicates;
pub mod engine;
pub mod fact;
pub mod input;
pub mod job;
pub mod layout;
pub mod memory;
pub mod memory_list;
pub mod memory_update;
pub mod outcome;
pub mod plan;
pub mod policy;
pub mod recall;
pub mod relation;
pub mod report;
mod schemas;
pub mod scope;
pub mod server;
pub mod session;
pub mod trail;
pub mod why_not;

use crate::domain::units::Timestamp;

fn instant(ms: Option<i64>) -> Option<Timestamp> {
    ms.and_then(|ms| Timestamp::from_millis(ms).ok())
}
