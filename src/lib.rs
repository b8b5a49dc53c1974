//! Ebb keeps an agent's memory alive in Neo4j.
pub mod domain;
