//! `ebb neo4j`: the managed local server.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// The verbs of `ebb neo4j`.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Without NEO4J_URI, every verb starts this server for as long as it runs and stops it again. `start` lets it stay.

Examples:
  ebb neo4j start
  ebb neo4j browser")]
pub enum Verb {
    /// Start the server and let it stay, in the background, until `ebb neo4j stop`
    Start,
    /// Stop the server
    Stop,
    /// Say whether the server runs, where it answers and where its data is
    Status,
    /// Open Neo4j Browser on the server, or print its address where no browser can be opened
    Browser,
    /// Keep a server running for others
    #[command(hide = true)]
    Keep(Keep),
}

/// What the background keeper of a server is told.
#[derive(Debug, Clone, Args)]
pub struct Keep {
    /// The folder of the server
    #[arg(long, value_name = "FOLDER")]
    pub home: PathBuf,
}
