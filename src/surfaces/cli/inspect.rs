//! `ebb inspect`: the prepared questions.

use clap::Args;

/// `ebb inspect`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Each question is one Cypher statement that can be pasted into Neo4j Browser as it is.

Examples:
  ebb inspect
  ebb inspect tiers")]
pub struct Inspect {
    /// Name of the question; without it, the list of questions
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}
