//! `ebb config`: the configuration in force.
//!
//! The rows come from the settings with secrets redacted; here they are only laid out.

use super::exit::CliError;
use super::instant::readable;
use super::output::Output;
use super::page::Column;
use clap::Subcommand;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::JobName;
use serde::Serialize;

/// The verbs of `ebb config`.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Later layers win: defaults, ebb.toml (or --config), environment (EBB__SECTION__KEY and NEO4J_*), flags.

Examples:
  ebb config show
  EBB__JOBS__DECAY__EVERY=30m ebb config validate")]
pub enum Verb {
    /// Show every setting, its value and its source; secrets are redacted. memory.* is what the first `ebb init` writes
    Show,
    /// Check the configuration and show the next three runs of each job by it (those in force: ebb job list); exit code 6 on a fault
    Validate,
}

/// One key of the configuration in force.
#[derive(Debug, Clone, Serialize)]
pub struct Setting {
    /// Section, dot, name.
    pub key: String,
    /// The value; none where nothing is set.
    pub value: Option<serde_json::Value>,
    /// Its source.
    pub from: String,
}

/// The schedule of a job, with its next runs.
#[derive(Debug, Clone, Serialize)]
pub struct JobSchedule {
    /// The job.
    pub job: JobName,
    /// Whether the schedule runs it.
    pub enabled: bool,
    /// Its schedule as text.
    pub schedule: String,
    /// The key that sets it.
    pub from: String,
    /// The next three times.
    pub next: Vec<Timestamp>,
}

#[derive(Serialize)]
struct ValidationReport<'a> {
    valid: bool,
    keys_set: usize,
    jobs: &'a [JobSchedule],
}

/// Prints the configuration.
pub fn show(settings: &[Setting], output: &Output) -> Result<(), CliError> {
    output.emit_list("config.show", "settings", settings, |page| {
        // One line a key: JSON has long values whole.
        let columns = [Column::left("KEY"), Column::cut("VALUE"), Column::cut("FROM")];
        page.table(
            &columns,
            settings.iter().map(|s| [s.key.clone(), shown(s.value.as_ref()), s.from.clone()]),
        );
    })
}

/// Prints that the configuration is valid, and the next runs of each job; an invalid one never gets here.
pub fn validate(settings: &[Setting], jobs: &[JobSchedule], output: &Output) -> Result<(), CliError> {
    let keys_set = settings
        .iter()
        .filter(|setting| !setting.from.starts_with("default") && setting.from != "unset")
        .count();
    output.emit("config.validate", &ValidationReport { valid: true, keys_set, jobs }, |page| {
        page.line(&format!(
            "The configuration is valid; {keys_set} of {} keys differ from the default.",
            settings.len()
        ));
        page.line("");
        let columns = ["JOB", "SCHEDULE", "BY", "NEXT THREE (UTC)"].map(Column::left);
        page.table(
            &columns,
            jobs.iter().map(|job| {
                let next: Vec<String> = job.next.iter().map(|at| readable(*at)).collect();
                let next = if job.enabled { next.join(", ") } else { "disabled".to_owned() };
                [job.job.to_string(), job.schedule.clone(), job.from.clone(), next]
            }),
        );
    })
}

fn shown(value: Option<&serde_json::Value>) -> String {
    match value {
        None => String::new(),
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
