//! The one integration binary: everything that needs a real Neo4j. Nothing here stands in for the database; without a
//! server it fails.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on fails the test")]

mod conformance;
mod harness;
mod isolation;
mod jobs;
mod kills;
mod mirror;
mod parity;
mod plans;
mod provision;
mod restart;
mod store;
mod surfaces;
mod worker;
