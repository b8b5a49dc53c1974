//! `ebb config`: the configuration in force.
//!
//! The rows arrive from settings with secrets as stars already; here they are only laid out.

use super::exit::CliError;
use super::output::Output;
use super::page::Column;
use clap::Subcommand;
use serde::Serialize;

/// The verbs of `ebb config`.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Later layers win: defaults, ebb.toml (or --config), environment (EBB__SECTION__KEY and NEO4J_*), flags.

Examples:
  ebb config show
  EBB__JOBS__DECAY__EVERY=30m ebb config validate")]
pub enum Verb {
    /// Show every key, its value, and where that value comes from; secrets are redacted
    Show,
    /// Name every fault of the configuration with its place; ends with 6 if there is one
    Validate,
}

/// One key of the configuration in force.
#[derive(Debug, Clone, Serialize)]
pub struct Setting {
    /// Section, dot, name.
    pub key: String,
    /// The value; none where nothing is set.
    pub value: Option<serde_json::Value>,
    /// Where it came from.
    pub from: String,
}

#[derive(Serialize)]
struct Valid {
    valid: bool,
    keys_set: usize,
}

/// Prints the configuration.
///
/// # Errors
/// When stdout cannot be written.
pub fn show(settings: &[Setting], output: &Output) -> Result<(), CliError> {
    output.emit_list("config.show", "settings", settings, |page| {
        let columns = [Column::left("KEY"), Column::left("VALUE"), Column::left("FROM")];
        page.table(
            &columns,
            settings.iter().map(|s| [s.key.clone(), shown(s.value.as_ref()), s.from.clone()]),
        );
    })
}

/// Says that the configuration is sound; a faulty one never gets here.
///
/// # Errors
/// When stdout cannot be written.
pub fn validate(settings: &[Setting], output: &Output) -> Result<(), CliError> {
    let keys_set = settings
        .iter()
        .filter(|setting| !setting.from.starts_with("default") && setting.from != "unset")
        .count();
    output.emit("config.validate", &Valid { valid: true, keys_set }, |page| {
        page.line(&format!(
            "The configuration is sound; {keys_set} of {} keys are not the default.",
            settings.len()
        ));
    })
}

fn shown(value: Option<&serde_json::Value>) -> String {
    match value {
        None => String::new(),
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
