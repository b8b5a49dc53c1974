//! The verbs about the database as a whole: demo, init, doctor, status, health.

mod doctor;
mod health;
mod init;
mod status;

pub use doctor::doctor;
pub use health::health;
pub use init::{init, write_config};
pub(super) use status::mirrors;
pub use status::status;

use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `ebb init`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
An existing configuration node is kept. Rows that would violate a constraint are listed, and nothing is written.

Examples:
  ebb init --dry-run          what is missing
  ebb init --yes              in a script
  ebb init --write-config     also write a commented ebb.toml")]
pub struct Init {
    /// Also write a commented configuration file; it must not exist yet
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "ebb.toml")]
    pub write_config: Option<PathBuf>,
    /// Say what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `ebb doctor`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Ends with 7 if anything is wrong. --fix mends what has one right answer and names the rest.

Examples:
  ebb doctor
  ebb doctor --fix --yes")]
pub struct Doctor {
    /// Mend what has one right answer
    #[arg(long)]
    pub fix: bool,
}

/// `ebb health`
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  ebb health\n  ebb health -o json")]
pub struct Health {
    /// The instant the energies are for.
    #[command(flatten)]
    pub when: super::ReadOptions,
}

/// `ebb status`
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  ebb status\n  ebb status --watch\n  ebb status -o json")]
pub struct Status {
    /// Show it anew every so often, until interrupted; as JSON, one object a line
    #[arg(long, value_name = "SPAN", num_args = 0..=1, default_missing_value = "2s", value_parser = super::instant::span)]
    pub watch: Option<Duration>,
    /// The instant the energies are for.
    #[command(flatten)]
    pub when: super::ReadOptions,
}
