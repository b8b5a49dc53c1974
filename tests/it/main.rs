<<<<<<< HEAD
//! The one integration binary: everything that needs a real Neo4j. Nothing here stands in for the database; without a
//! server it fails.

mod harness;
mod smoke;
=======
//! Ebb on a real server, one binary for all of it.

mod provision;
>>>>>>> c39a954 (Provision: a given server, or a managed one that lives as long as its users)
