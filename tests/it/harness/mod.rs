//! What tests share: a real server, a clean database, and a second client that looks at what Ebb left.

pub(crate) mod neo4j;
pub(crate) mod plan;
pub(crate) mod server;
