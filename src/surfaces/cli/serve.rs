//! `ebb serve` and `ebb worker`: processes that stay.
//!
//! Their work is wired in `program.rs`; here are only their arguments.

use clap::{Args, ValueEnum};

/// `ebb serve`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
The API is described at /openapi.json; probes and metrics are served beside it. On this machine no key is needed until the
first one exists (ebb key create).

Stops at SIGTERM or Ctrl-C within ten seconds: open transactions are finished, leases released. SIGHUP or a change of the
configuration file applies jobs.* and the schedule of relation decay; other settings need a restart, and memory.* a change in
the graph. A file with faults changes nothing.

Examples:
  ebb serve
  ebb serve --roles http                       the API alone; workers run elsewhere
  ebb worker -v                                one log line per run of a job
  curl http://127.0.0.1:8322/v1/status
  curl http://127.0.0.1:8322/readyz            is it ready, or why not; of `ebb worker`: port 9464")]
pub struct Serve {
    /// Roles, comma-separated
    #[arg(long, value_enum, value_name = "ROLE", value_delimiter = ',', default_value = "worker,http,mcp")]
    pub roles: Vec<Role>,
}

/// Role of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Role {
    /// Run the jobs on schedule
    Worker,
    /// Serve the HTTP API
    Http,
    /// Serve tools to agents at /mcp
    Mcp,
}
