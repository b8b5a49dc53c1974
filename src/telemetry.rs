//! The log of the process: lines on stderr, as text or JSON, panics included.
//!
//! Nothing here writes to stdout, which is for data. Log lines hold ids, names, counts and durations, never the text of a memory and
//! never a secret. The message of a panic may contain a string of the data, for example of a failed slice: so only its place is
//! logged, and the message only if it is a literal of the program. The client of the embedder logs whole requests at the
//! levels debug and trace, with the key and the texts: those lines are left out whatever the filter is. So are the warnings of the
//! driver's connections: they are about addresses, which Ebb has checked, and about routing by the driver, which `neo4j://` does not
//! turn on here.
//!
//! The lines about a managed server also say what a command waits for, whether or not the filter lets them through.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::any::Any;
use std::fmt::Debug;
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::filter::{FilterExt, Targets, filter_fn};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

/// The section `[log]`; described in `config/default.toml`.
#[derive(Debug, Clone, Deserialize)]
pub struct Config {
    /// Levels by target, such as `warn,ebb=info`.
    #[serde(deserialize_with = "filter")]
    pub filter: String,
    /// Format of a line.
    pub format: LogFormat,
}

/// A filter that names only levels that there are. The subscriber's own parser takes a misspelt level for a target.
fn filter<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let is_level = |level: &str| LEVELS.iter().any(|known| known.eq_ignore_ascii_case(level));
    let is_target = |target: &str| {
        !target.is_empty() && target.chars().all(|c| c.is_ascii_alphanumeric() || "_-:".contains(c))
    };
    let is_filter = |given: &String| {
        given.split(',').map(str::trim).all(|part| match part.split_once('=') {
            Some((target, level)) => is_target(target) && is_level(level),
            None => is_level(part),
        })
    };
    String::deserialize(from).ok().filter(is_filter).ok_or_else(|| {
        let levels = LEVELS.join(", ");
        D::Error::custom(format!(
            "it must be levels by target, such as \"warn,ebb=info\"; levels are {levels}"
        ))
    })
}

/// Format of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line, for collectors.
    Json,
}

/// An error of the log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The filter is not one.
    #[error("log filter \"{filter}\" is not levels by target, such as \"warn,ebb=info\"")]
    Filter {
        /// The filter met.
        filter: String,
        /// The error of the parser.
        source: tracing_subscriber::filter::ParseError,
    },
    /// The process has a subscriber already.
    #[error("the process already has a subscriber for its log")]
    Taken(#[source] tracing_subscriber::util::TryInitError),
}

/// The filter that `-q` and `-v` stand for, counted; `None` without either. Only Ebb's own level moves: a library's
/// debug lines would bury it.
#[must_use]
pub fn verbosity(quiet: u8, verbose: u8) -> Option<&'static str> {
    match i16::from(verbose) - i16::from(quiet) {
        0 => None,
        ..=-2 => Some("off"),
        -1 => Some("error"),
        1 => Some("warn,ebb=info"),
        2 => Some("info,ebb=debug"),
        _ => Some("debug,ebb=trace"),
    }
}

/// Starts the log and installs the panic hook. Once per process.
pub fn start(config: &Config, color: bool) -> Result<(), Error> {
    let filter = EnvFilter::builder()
        .parse(&config.filter)
        .map_err(|source| Error::Filter { filter: config.filter.clone(), source })?;
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(color);
    let filter = filter.and(filter_fn(is_logged));
    let registry = tracing_subscriber::registry().with(waits());
    match config.format {
        LogFormat::Text => registry.with(lines.with_target(false).with_filter(filter)).try_init(),
        LogFormat::Json => {
            registry.with(lines.with_ansi(false).json().flatten_event(true).with_filter(filter)).try_init()
        }
    }
    .map_err(Error::Taken)?;
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// The last line about the start of a managed server.
static WAIT: Mutex<Option<String>> = Mutex::new(None);

/// What the process waits for while it has no server.
#[must_use]
pub fn wait() -> String {
    let wait = WAIT.lock().unwrap_or_else(PoisonError::into_inner).clone();
    wait.unwrap_or_else(|| "waiting for Neo4j".to_owned())
}

/// Keeps the last message for [`wait`].
struct Waits;

/// The layer of those messages.
fn waits<S: Subscriber + for<'a> LookupSpan<'a>>() -> impl Layer<S> {
    Waits.with_filter(Targets::new().with_target("ebb_provision", LevelFilter::INFO))
}

impl<S: Subscriber> Layer<S> for Waits {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if *event.metadata().level() == Level::INFO {
            event.record(&mut Self);
        }
    }
}

impl Visit for Waits {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            *WAIT.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("{value:?}"));
        }
    }
}

/// Whether a line is logged if the filter lets it through: `ureq` and `ureq_proto` log requests, `rmcp` calls and their results.
fn is_logged(line: &Metadata<'_>) -> bool {
    match line.target() {
        "neo4rs::connection" => *line.level() != Level::WARN,
        target if target.starts_with("ureq") => *line.level() <= LevelFilter::INFO,
        target if target.starts_with("rmcp") => *line.level() <= LevelFilter::WARN,
        _ => true,
    }
}

/// Number of panics of the process.
static PANICS: AtomicU64 = AtomicU64::new(0);

/// Number of panics of the process since its log was started, on whichever thread.
#[must_use]
pub fn panics() -> u64 {
    PANICS.load(Ordering::Relaxed)
}

fn log_panic(info: &PanicHookInfo<'_>) {
    PANICS.fetch_add(1, Ordering::Relaxed);
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let task = std::thread::current().name().unwrap_or("unnamed").to_owned();
    let said = literal(info.payload()).unwrap_or("the message is withheld: it may hold memory text");
    tracing::error!(place, task, said, "panicked");
}

/// The message of a panic if it is a literal of the program: one that was put together may hold anything.
fn literal(payload: &(dyn Any + Send)) -> Option<&'static str> {
    payload.downcast_ref::<&'static str>().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_q_and_v_moves_ebbs_own_level() {
        let said: Vec<_> = [(2, 0), (1, 0), (1, 1), (0, 1), (0, 2), (0, 9)]
            .map(|(quiet, verbose)| verbosity(quiet, verbose))
            .to_vec();
        let want = [
            Some("off"),
            Some("error"),
            None,
            Some("warn,ebb=info"),
            Some("info,ebb=debug"),
            Some("debug,ebb=trace"),
        ];
        assert_eq!(said, want);
        assert!(said.iter().flatten().all(|filter| EnvFilter::builder().parse(filter).is_ok()));
    }

    #[test]
    fn a_wait_is_what_the_start_of_a_server_says_last() {
        assert_eq!(wait(), "waiting for Neo4j");
        tracing::subscriber::with_default(tracing_subscriber::registry().with(waits()), || {
            tracing::info!(target: "ebb_provision::launch", "starting Neo4j in {}", "/x");
            tracing::warn!(target: "ebb_provision::server", "other settings");
            tracing::info!(target: "ebb_core", "something else");
        });
        assert_eq!(wait(), "starting Neo4j in /x");
    }

    #[test]
    fn a_panic_that_quotes_a_string_keeps_its_message_to_itself() {
        assert_eq!(literal(&"the ledger is closed"), Some("the ledger is closed"));
        assert_eq!(literal(&format!("no char boundary in {:?}", "secret thought")), None);
    }
}
