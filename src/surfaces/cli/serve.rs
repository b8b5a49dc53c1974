//! `ebb serve` and `ebb worker`: processes that stay.
//!
//! What they do is wired above the surfaces; here is only how they are asked for.

use clap::{Args, ValueEnum};

/// `ebb serve`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Stops at SIGTERM or Ctrl-C within ten seconds: what is being written is finished, leases are given back. SIGHUP, or a
change of the configuration file, reads the configuration again; one with faults changes nothing.

Examples:
  ebb serve --roles worker
  ebb worker -v                                one line for each run of a job
  curl http://127.0.0.1:9464/readyz            can it do its work, or why not")]
pub struct Serve {
    /// What to serve
    #[arg(long, value_enum, value_name = "ROLE", value_delimiter = ',', default_value = "worker")]
    pub roles: Vec<Role>,
}

/// What a process serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Role {
    /// Run the jobs by their schedules.
    Worker,
}
