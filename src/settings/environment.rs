//! The environment of the process, read once.
//!
//! No other module reads variables: a program that does so in many places can neither report where a value came from nor be
//! tested without changing its own process.
#![expect(clippy::disallowed_methods, reason = "settings is the environment's only reader")]

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The variables of the process by name. Variables whose name or value is not UTF-8 are omitted: no setting has such a
/// name, and none could hold such a value.
#[derive(Debug, Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The variables of this process, as they are now.
    #[must_use]
    pub fn of_process() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// The value of a variable; `None` if it is unset or empty, because that is how shells and Compose files unset one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Whether the user wants no colour anywhere (<https://no-color.org>).
    #[must_use]
    pub fn no_color(&self) -> bool {
        self.get("NO_COLOR").is_some()
    }

    /// The user's cache folder for Ebb, and the variable that determines it; `None` without a home.
    pub(super) fn cache_folder(&self) -> Option<(PathBuf, &'static str)> {
        let absolute = |name| self.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        (absolute("XDG_CACHE_HOME").map(|cache| (cache.join("ebb"), "XDG_CACHE_HOME")))
            .or_else(|| absolute("HOME").map(|home| (home.join(".cache/ebb"), "HOME")))
    }

    /// The Java of `JAVA_HOME`, if the file exists.
    pub(super) fn java(&self) -> Option<PathBuf> {
        self.get("JAVA_HOME").map(|home| PathBuf::from(home).join("bin/java")).filter(|java| java.is_file())
    }

    /// Every variable whose name begins with `prefix`: the rest of the name, and the value, empty ones too.
    pub(super) fn beginning<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}
