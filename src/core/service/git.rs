//! Imports of git repositories: files, the commits that changed them, and pairs of files that change together.
//!
//! The whole history is read each time and the graph is brought to its state, so an import that is repeated changes
//! nothing, one after further commits adds these, and one that was killed is completed by the next. A commit is a
//! `Session`, a file a `File` whose id is its path; `ACCESSED_IN` connects them, and `COACTIVATED` counts the commits
//! that changed two files together, which recall takes for observed co-change.

mod log;

use super::Service;
use crate::domain::ids::Scope;
use crate::store::{Error, GitRows};
use log::History;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub use log::fuzzing::read as read_log;
use std::path::Path;
use std::time::Instant;

/// Why a repository cannot be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// The git program cannot be started.
    #[error("git cannot be started: {0}. Install git, and put it on the PATH")]
    Start(#[source] std::io::Error),
    /// The git program failed.
    #[error("git cannot read {path}: {why}")]
    Read {
        /// Path of the repository.
        path: String,
        /// The error that git printed, with what to do where that is known.
        why: String,
    },
    /// The database.
    #[error(transparent)]
    Store(#[from] Error),
}

/// Result of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ImportedHistory {
    /// Files of the present tree with a history.
    pub files: usize,
    /// Commits that changed any of them.
    pub commits: usize,
    /// Changes of files by commits.
    pub changes: usize,
    /// Pairs of files that commits changed together.
    pub pairs: usize,
    /// Nodes and relationships that were created or changed.
    pub written: i64,
    /// Files that were removed, since the repository no longer has them.
    pub removed: i64,
    /// Wall-clock seconds.
    pub seconds: f64,
}

impl Service {
    /// Imports the history of a repository into a scope, or only reads it.
    ///
    /// # Errors
    /// [`GitError`]; [`Error::Conflict`] if the scope holds the files of another repository.
    pub async fn import_git(
        &self,
        repository: &Path,
        scope: &Scope,
        is_dry_run: bool,
    ) -> Result<ImportedHistory, GitError> {
        let began = Instant::now();
        let history = History::read(repository).await?;
        let mut done = ImportedHistory {
            files: history.files.len(),
            commits: history.commits.len(),
            changes: history.commits.iter().map(|commit| commit.files.len()).sum(),
            pairs: history.pairs.len(),
            ..ImportedHistory::default()
        };
        if !is_dry_run {
            let rows = GitRows {
                repository: &history.root,
                files: &history.files,
                commits: &history.commits,
                pairs: &history.pairs,
            };
            (done.written, done.removed) = self.store.import_git(scope, rows).await?;
        }
        done.seconds = began.elapsed().as_secs_f64();
        Ok(done)
    }
}
