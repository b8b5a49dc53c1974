//! The hot memories of each scope, held in memory beside the store, which stays the truth.
//!
//! | | |
//! |---|---|
//! | [`persist`] | graphs and what was learned on them, as files |

pub mod persist;

use crate::graph;
use std::io;
use std::path::{Path, PathBuf};

/// Why the mirror cannot do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused something.
    #[error("cannot {doing} {}", path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Somebody else is saving the same file.
    #[error("{} is being saved by somebody else; try again when that is done", path.display())]
    Busy {
        /// Which file.
        path: PathBuf,
    },
    /// A file is none of its kind.
    #[error("{} cannot be used", path.display())]
    Content {
        /// Which file.
        path: PathBuf,
        /// What is wrong in it.
        source: graph::Error,
    },
}

impl Error {
    /// The file that it is about: if a save failed and this is the graph's, what was learned was left alone.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::File { path, .. } | Self::Busy { path } | Self::Content { path, .. } => path,
        }
    }
}
