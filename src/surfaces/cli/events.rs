//! `ebb import` and `ebb replay`: events from a file.

use super::instant::{Moment, span};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `ebb import`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
One JSON object a line: \"at\" (RFC 3339), \"kind\" (memory, access, session_end) and the fields of that kind. Repeating
a file, or a longer version of it, goes on where it stopped.

Examples:
  ebb import events.ndjson
  ebb import events.ndjson --skip-bad")]
pub struct Import {
    /// File of events
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Set bad lines aside in a file beside it, instead of stopping at the first
    #[arg(long)]
    pub skip_bad: bool,
    /// Read and check every line, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `ebb replay`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Works on scratch only: a managed server of its own, or a given database that holds nothing else. After a kill the same
command goes on where it stopped.

Examples:
  ebb replay events.ndjson
  ebb replay events.ndjson --until 2026-03-15 --step 1h")]
pub struct Replay {
    /// File of events
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Stop at this instant of simulated time [default: the last event]
    #[arg(long, value_name = "INSTANT", allow_hyphen_values = true)]
    pub until: Option<Moment>,
    /// Let jobs run at multiples of this only, such as 1h [default: whenever one is due]
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub step: Option<Duration>,
    /// Set bad lines aside in a file beside it, instead of stopping at the first
    #[arg(long)]
    pub skip_bad: bool,
}
