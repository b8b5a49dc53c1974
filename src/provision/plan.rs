//! The plan that a starter passes to the keeper of a server.

use super::fixed::Fixed;
use super::{Ports, Way};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// The command to run, written by the starter and read by the keeper.
#[derive(Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) way: Way,
    /// Java or the Docker client.
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    /// Variables added to the environment; may contain the password, so a plan is never logged.
    pub(super) env: Vec<(String, String)>,
    pub(super) container: Option<String>,
    pub(super) ports: Ports,
    pub(super) stay: bool,
    pub(super) keep: Duration,
    pub(super) fixed: Fixed,
    /// File that the server leaves for later ones when it stops cleanly.
    pub(super) kept: Option<Kept>,
}

/// A file that a server writes when it stops, and its final name.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) made: PathBuf,
    pub(super) name: PathBuf,
}

impl Kept {
    /// Renames the file if it is complete, or removes it: without it servers only start more slowly.
    pub(super) fn settle(&self, whole: bool) {
        // The file of another server is as good.
        if !whole || self.name.exists() || std::fs::rename(&self.made, &self.name).is_err() {
            let _ = std::fs::remove_file(&self.made);
        }
    }
}
