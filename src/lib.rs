//! Ebb: the maintenance layer for agent memory in Neo4j.

#[cfg(test)]
#[path = "../tests/shared/corpus.rs"]
mod corpus;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(test)]
#[path = "../tests/shared/mutated.rs"]
mod mutated;
pub mod program;
#[cfg(test)]
#[path = "../tests/shared/reference.rs"]
mod reference;
pub mod settings;
pub mod surfaces;
pub mod telemetry;
pub mod wiring;
pub mod worker;
