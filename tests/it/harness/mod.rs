//! What tests share: a real server, a clean database, and a second client that looks at what Ebb left.

pub(crate) mod ebb;
pub(crate) mod fake_bolt;
pub(crate) mod graph;
pub(crate) mod neo4j;
pub(crate) mod plan;
pub(crate) mod proxy;
pub(crate) mod random;
pub(crate) mod rows;
pub(crate) mod server;
