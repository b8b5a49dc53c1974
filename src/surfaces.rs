//! The surfaces: command line, HTTP and MCP. Each turns its own requests into calls of the service and its answers back, and
//! decides nothing. HTTP and MCP share one table of `operations`, and one way to run an `operation` under `limits`.

pub mod cli;
pub mod http;
mod limits;
pub mod mcp;
mod operation;
mod operations;
