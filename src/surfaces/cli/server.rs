//! The verbs about the database as a whole: demo, init, uninstall, doctor, status, health.

mod doctor;
mod health;
mod init;
mod status;
mod uninstall;

pub use doctor::doctor;
pub use health::health;
pub use init::{init, write_config};
pub(super) use status::mirrors;
pub use status::status;
pub use uninstall::uninstall;

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
    /// Also write a configuration file with every setting as a comment; one that exists is never replaced
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "ebb.toml")]
    pub write_config: Option<PathBuf>,
    /// Show what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `ebb uninstall`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Deletes the nodes of Ebb's own, its labels and bookkeeping on other rows, and its constraints and indexes. Among its nodes are
policies, API keys, learned weights, former versions of memories, pins and hides of rows of other libraries, the journal of
runs, receipts of deletions, and the tombstones that keep forgotten memories from being imported again. So make a backup
first: ebb backup FILE. Memories, facts, relations, sessions, clusters, places and files of git repositories stay. Before that,
stop all processes of Ebb.

Examples:
  ebb uninstall --dry-run     what would be removed
  ebb uninstall --yes         in a script")]
pub struct Uninstall {
    /// Show what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `ebb status`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Writes one value, to see whether the database takes writes. Exit code 7 if no job can run, except with --watch.

Examples:
  ebb status
  ebb status --watch
  ebb status -o json")]
pub struct Status {
    /// Refresh at this interval, 2s without a value, until interrupted; as JSON, one object per line
    #[arg(long, value_name = "SPAN", num_args = 0..=1, default_missing_value = "2s", value_parser = super::instant::span)]
    pub watch: Option<Duration>,
    /// Read options.
    #[command(flatten)]
    pub when: super::ReadOptions,
}
