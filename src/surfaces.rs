//! The surfaces: how people and programs speak to Ebb. Translation only: each turns its own words into calls of the
//! service and the answers back, and decides nothing.

pub mod cli;
pub mod http;
pub mod mcp;
