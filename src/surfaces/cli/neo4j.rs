//! `ebb neo4j`: the managed local server.

use super::exit::{CliError, Exit};
use super::instant::{about, readable, spelt};
use super::output::{Format, Output};
use clap::Subcommand;
use ebb_core::clock::Clock;
use ebb_provision::{Config, Keeper, Running, Status};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The verbs of `ebb neo4j`.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Without NEO4J_URI, every command uses this server and starts it if it does not run. It stops ten minutes after the last
use (neo4j.keep), or with `stop`; after `start` it runs until `stop`.

Examples:
  ebb neo4j start
  ebb neo4j browser")]
pub enum Verb {
    /// Start the server in the background, until `ebb neo4j stop`
    Start,
    /// Stop the server
    Stop {
        /// Also while other programs use it
        #[arg(long)]
        force: bool,
    },
    /// Show whether the server runs, its address and its data folder
    Status,
    /// Open Neo4j Browser, or print its address where no browser can be opened
    Browser,
    /// Keep a server running for others
    #[command(hide = true)]
    Keep {
        /// The folder of the server
        #[arg(long, value_name = "FOLDER")]
        home: PathBuf,
    },
}

/// Runs a verb; `keep` is run by `main`, before there are settings.
pub async fn run(verb: &Verb, config: &Config, keeper: &Keeper, output: &Output) -> Result<(), CliError> {
    match verb {
        Verb::Start => {
            refuse_given(config)?;
            ebb_provision::start(config, keeper).await?;
            print_status(&ebb_provision::status(config).await?, output)
        }
        Verb::Stop { force } => {
            refuse_given(config)?;
            let stopped = ebb_provision::stop(config, *force).await?;
            let said =
                if stopped { "The server is stopped; its data stays." } else { "No server was running." };
            let report = StopReport { stopped, home: &config.home };
            output.emit("neo4j.stop", &report, |page| page.line(said))
        }
        Verb::Status => print_status(&ebb_provision::status(config).await?, output),
        Verb::Browser => {
            refuse_given(config)?;
            let endpoint = ebb_provision::start(config, keeper).await?;
            let url = ebb_provision::browser_url(&endpoint, None).unwrap_or_default();
            let opened = output.format == Format::Table && open(&url);
            let password = config.home.join("password");
            let report =
                BrowserReport { url: &url, opened, username: &endpoint.username, password_file: &password };
            output.emit("neo4j.browser", &report, |page| {
                page.line(&url);
                page.line(&format!("User {}; the password is in {}", endpoint.username, password.display()));
                page.line("The server stays until: ebb neo4j stop");
            })
        }
        Verb::Keep { home } => Ok(ebb_provision::keep(home)?),
    }
}

/// How long a managed server runs on after its last use, `None` until it is stopped, and how to change that.
pub fn runs_on(keep: Option<Duration>) -> String {
    match keep {
        None => "The server runs until: ebb neo4j stop".to_owned(),
        Some(Duration::ZERO) => {
            "The server stops with its last use (neo4j.keep). To keep it running: ebb neo4j start".to_owned()
        }
        Some(keep) => format!(
            "The server runs on for {} after each use (neo4j.keep). To keep it running: ebb neo4j start",
            spelt(keep)
        ),
    }
}

/// Refuses a given server: these verbs manage the local one only.
fn refuse_given(config: &Config) -> Result<(), CliError> {
    match &config.uri {
        None => Ok(()),
        Some(uri) => Err(CliError::usage(format!(
            "NEO4J_URI names the server {uri}, which is not Ebb's to start or stop"
        ))
        .try_this("unset NEO4J_URI, for the managed local server")),
    }
}

#[derive(Serialize)]
struct StopReport<'a> {
    stopped: bool,
    home: &'a Path,
}

#[derive(Serialize)]
struct BrowserReport<'a> {
    url: &'a str,
    opened: bool,
    username: &'a str,
    password_file: &'a Path,
}

fn print_status(status: &Status, output: &Output) -> Result<(), CliError> {
    output.emit("neo4j.status", status, |page| {
        let home = status.home.display().to_string();
        let Some(server) = &status.server else {
            page.line(&format!("No managed server runs in {home}. Start one that stays: ebb neo4j start"));
            return;
        };
        let mut fields = vec![
            ("server", format!("Neo4j {} by {}", server.version.as_deref().unwrap_or("?"), server.origin)),
            ("ready", if server.ready { "yes" } else { "no" }.to_owned()),
            ("bolt", server.uri.clone()),
            ("browser", format!("{}/browser/", server.http)),
            ("runs", lifetime(server)),
            ("home", home),
            ("process", server.pid.to_string()),
            ("users", server.users.join(", ")),
        ];
        if !server.changed_settings.is_empty() {
            let changed = server.changed_settings.join(", ");
            fields.push(("settings", format!("{changed}; to apply yours: ebb neo4j stop")));
        }
        page.fields(&fields);
    })
}

/// Until when a server runs.
fn lifetime(server: &Running) -> String {
    if server.stay {
        return "until: ebb neo4j stop".to_owned();
    }
    match server.seconds_left.map(Duration::from_secs) {
        Some(left) => {
            let end = Clock::Real.now().after(left.as_secs_f64() * 1e3);
            format!(
                "until {} UTC ({} more), unless it is used; at once: ebb neo4j stop",
                readable(end),
                about(left)
            )
        }
        None if server.keep_seconds == 0 => "as long as a program uses it".to_owned(),
        None => {
            let keep = about(Duration::from_secs(server.keep_seconds));
            format!("as long as a program uses it, and {keep} more")
        }
    }
}

/// Opens an address with the system's own opener; `false` where there is none, or no screen.
fn open(url: &str) -> bool {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = || std::process::Stdio::null();
    Command::new(opener)
        .arg(url)
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet())
        .status()
        .is_ok_and(|end| end.success())
}

impl From<ebb_provision::Error> for CliError {
    fn from(error: ebb_provision::Error) -> Self {
        use ebb_provision::Error as E;
        let exit = match error {
            E::Uri { .. } | E::Insecure { .. } | E::NoPassword { .. } | E::PasswordFile { .. } => {
                Exit::Configuration
            }
            E::InUse { .. } | E::Running { .. } | E::ForeignHome { .. } | E::NotOurs { .. } => Exit::Failed,
            _ => Exit::Unreachable,
        };
        Self::new(exit, error)
    }
}
