//! What the keeper of a server is to run: made by whoever starts it, read by the process that stays.

use super::{Ports, Way};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What to run, made by the starter and read by the keeper.
#[derive(Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) way: Way,
    /// Java or the Docker client.
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    /// Variables added to the environment; may hold the password, so a plan is never shown.
    pub(super) env: Vec<(String, String)>,
    pub(super) container: Option<String>,
    pub(super) ports: Ports,
    pub(super) stay: bool,
    /// What the server leaves for those after it when it ends in order.
    pub(super) kept: Option<Kept>,
}

/// A file that a server writes as it ends, and the name under which others look for it.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) made: PathBuf,
    pub(super) name: PathBuf,
}

impl Kept {
    /// Gives the file its name if it is whole, or removes it: without it servers only start slower.
    pub(super) fn settle(&self, whole: bool) {
        // Whoever was first is as good.
        if !whole || self.name.exists() || std::fs::rename(&self.made, &self.name).is_err() {
            let _ = std::fs::remove_file(&self.made);
        }
    }
}
