//! The core of Ebb: maintenance of memories in Neo4j.
//!
//! | module | |
//! |---|---|
//! | [`domain`] | the laws: pure functions of facts, without I/O, a clock or async |
//! | [`clock`] | the one reader of time and creator of new ids |
//! | [`store`] | the one user of the driver: statements, transactions, retries |
//! | [`embedder`] | the client of a server that computes embeddings |
//! | [`mirror`] | a scope's hot memories as a graph in memory, kept fresh |
//! | [`jobs`] | maintenance in batches: plan, apply, report |
//! | [`scheduler`] | which job runs when |
//! | [`api`] | requests and responses, one type for every surface |
//! | [`service`] | operations for surfaces: HTTP, MCP, the command line |
//!
//! A module names only those above it in this table (held by `floors::a_floor_names_only_what_stands_below_it`).

#![expect(missing_docs, reason = "the crate is not published, and a clear name needs no doc")]

pub mod api;
pub mod clock;
#[cfg(test)]
#[path = "../../tests/shared/corpus.rs"]
mod corpus;
pub mod domain;
pub mod embedder;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod jobs;
pub mod mirror;
#[cfg(test)]
#[path = "../../tests/shared/mutated.rs"]
mod mutated;
pub mod scheduler;

pub mod service;
pub mod store;
