//! `ebb job`: jobs run by hand, under the same rules as by a worker.

use clap::{Args, Subcommand};

/// The verbs of `ebb job`.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  ebb job list
  ebb job run decay --dry-run
  ebb job run --all --at 2026-03-01T12:00Z
  ebb job history promote --limit 5")]
pub enum Verb {
    /// List the jobs: schedule, last run, what is due
    List,
    /// Run a job now, or all of them in their order
    Run(Run),
    /// Show past runs, the latest first
    History(History),
}

/// `ebb job run`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
A run by hand does not count as the schedule's. While another run of the job goes on, it is skipped.

Examples:
  ebb job run promote
  ebb job run decay --limit 1000
  ebb job run --all --dry-run")]
pub struct Run {
    /// Name of the job
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    pub name: Option<String>,
    /// Run every job, in their order
    #[arg(long)]
    pub all: bool,
    /// Stop after this many rows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// When, and whether for real.
    #[command(flatten)]
    pub write: super::Write,
}

/// `ebb job history`
#[derive(Debug, Clone, Args)]
pub struct History {
    /// Name of the job [default: all jobs]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Show at most this many runs
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
}
