//! HTTP: the operations for agents and programs, and probes for supervisors; loopback by default.
//!
//! `listener` is the port and its limits, `min_rate` that of a client that reads slowly; `authorization` checks host, origin and
//! key; `body` reads queries and bodies; `router` serves the operations of `surfaces::operations`, `openapi` describes them.
//! `status` is the page for a browser, `browser` a guide for Neo4j Browser.
//!
//! tower-http has layers for body limits, request ids and CORS. They are not used: a body counts as it arrives and must keep a
//! rate, its limit is that of its operation, a request id stands in problems and the log, and a request from another origin is
//! refused, where the layer of tower-http only leaves out headers.

mod api;
mod authorization;
pub(super) mod body;
mod browser;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod listener;
mod min_rate;
mod openapi;
pub mod probes;
mod router;
mod status;

pub use super::limits::Usage;
pub use api::{Api, ResponseCounts};
pub use authorization::Rules;
pub use listener::Listener;
pub use router::router;
