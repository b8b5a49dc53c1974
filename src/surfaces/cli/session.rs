//! `ebb session`: sessions of agents.

use super::{Once, Write};
use clap::{Args, Subcommand};

/// The verbs of `ebb session`.
#[derive(Debug, Clone, Subcommand)]
pub enum Verb {
    /// End a session: its working memories of enough energy are promoted at once
    End(End),
}

/// `ebb session end`
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  ebb session end s1\n  ebb session end s1 --threshold 1.2 --dry-run")]
pub struct End {
    /// Id of the session
    #[arg(value_name = "ID")]
    pub id: String,
    /// Promote what has more energy than this [default: sessionEndThreshold of the configuration node]
    #[arg(long, value_name = "X", value_parser = threshold)]
    pub threshold: Option<f64>,
    /// When, and whether for real.
    #[command(flatten)]
    pub write: Write,
    /// What makes it count once.
    #[command(flatten)]
    pub once: Once,
}

fn threshold(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "an energy is a finite number, 0 or more".to_owned())
}
