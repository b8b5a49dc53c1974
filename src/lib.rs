//! Ebb keeps an agent's memory alive in Neo4j.

pub mod clock;
pub mod domain;
pub mod engine;
pub mod files;
pub mod graph;
pub mod jobs;
pub mod mirror;
#[cfg(test)]
mod mutated;
pub mod provision;
pub mod scheduler;
pub mod service;
pub mod settings;
pub mod store;
pub mod surfaces;
pub mod telemetry;
pub mod wiring;
pub mod worker;
