//! The faults of a configuration, each with its place: a file with line and column, the name of a variable, or a flag.
//!
//! `ebb config show` prints the [`Origin`] of a valid value in the same form.

use std::fmt;
use std::path::PathBuf;

/// The place of a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Origin {
    /// The embedded `config/default.toml`.
    Default,
    /// A default determined by this variable of the environment.
    DefaultBy(&'static str),
    /// A configuration file; line and column count from 1, columns in characters.
    File {
        /// Path of the file, as given.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// A file that cannot be read.
    Whole(PathBuf),
    /// An environment variable, by name.
    Variable(String),
    /// A flag of the command line, as given.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::DefaultBy(variable) => write!(f, "default, by {variable}"),
            Self::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            Self::Whole(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => write!(f, "env {name}"),
            Self::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

/// A fault and its place. The text never contains a secret value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{origin}: {what}")]
pub struct Fault {
    /// Place of the faulty value.
    pub origin: Origin,
    /// The fault, and the rule for the value.
    pub what: String,
}

/// Every fault of a configuration: files first, by line; then variables by name; then flags. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(Vec<Fault>);

impl Faults {
    pub(super) fn new(mut faults: Vec<Fault>) -> Self {
        faults.sort();
        faults.dedup();
        Self(faults)
    }

    /// The faults in reading order.
    #[must_use]
    pub fn list(&self) -> &[Fault] {
        &self.0
    }
}

impl fmt::Display for Faults {
    /// A heading with the count, then one fault a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            1 => f.write_str("the configuration has 1 fault")?,
            n => write!(f, "the configuration has {n} faults")?,
        }
        self.0.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
    }
}

impl std::error::Error for Faults {}
