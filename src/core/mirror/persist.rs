//! Saving of a graph and its learned state as a pair of files. A crash during a save leaves each file whole, either old
//! or new.
//!
//! For the replacement of a file see [`ebb_files`].
//!
//! Invariants: an error at any call leaves a pair that loads (held by `snap_faults`), and so does a kill at any call or
//! at any instant (held by `snap_kills`); the learned state is never saved without its graph (held by `persist_order`
//! and `persist_skip_on_failure`).

use super::Error;
use ebb_engine::graph::builder::WeightRange;
use ebb_engine::graph::codec::plasticity::{self, SynapticState};
use ebb_engine::graph::kinds::Kinds;
use ebb_engine::graph::snapshot::Snapshot;
use ebb_engine::graph::{self, codec};
use ebb_files::{CALLS, Calls, Readers, replace_by};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// Files of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// Graph, JSON version 3.
    pub graph: PathBuf,
    pub learned: PathBuf,
}

impl Files {
    /// Derives the pair from a graph's file: `memory.learned.json` beside `memory.json`.
    #[must_use]
    pub fn beside(graph: PathBuf) -> Self {
        Self { learned: graph.with_extension("learned.json"), graph }
    }

    /// The file of the learned state, if it exists.
    pub fn read_learned(&self) -> Result<Option<SynapticState>, Error> {
        let Some(file) = open(&self.learned)? else { return Ok(None) };
        let content = |source| Error::Content { path: self.learned.clone(), source };
        plasticity::read(file).map(Some).map_err(content)
    }

    /// Saves the graph, then the learned state, which is not written if the graph cannot be saved. `None` is a graph
    /// whose file is current.
    pub fn save(
        &self,
        snapshot: Option<&Snapshot>,
        learned: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        self.save_by(&CALLS, snapshot, learned)
    }

    fn save_by(
        &self,
        calls: &Calls<'_>,
        snapshot: Option<&Snapshot>,
        learned: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        if let Some(snapshot) = snapshot {
            replace_by(calls, &self.graph, Readers::Owner, |into| codec::write(snapshot, into))?;
        }
        replace_by(calls, &self.learned, Readers::Owner, learned)?;
        Ok(())
    }

    /// Reads a saved pair: `None` without a graph, with the learned state if it exists. For the graph see
    /// [`codec::read`].
    pub fn load<L>(
        &self,
        kinds: Kinds,
        range: WeightRange,
        learned: impl FnOnce(&mut dyn Read) -> Result<L, graph::Error>,
    ) -> Result<Option<(Snapshot, Option<L>)>, Error> {
        let Some(file) = open(&self.graph)? else { return Ok(None) };
        let content = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::Content { path, source }
        };
        let snapshot = codec::read(file, kinds, range).map_err(content(&self.graph))?;
        let learned = match open(&self.learned)? {
            Some(mut file) => Some(learned(&mut file).map_err(content(&self.learned))?),
            None => None,
        };
        Ok(Some((snapshot, learned)))
    }
}

/// Reads the graph of one file, and whether it has a (valid) checksum. See [`codec::read`].
///
/// # Errors
/// [`Error::File`], also for a missing file; [`Error::Content`] for an invalid one.
pub fn read_summed(path: &Path, kinds: Kinds, range: WeightRange) -> Result<(Snapshot, bool), Error> {
    let file = File::open(path).map_err(fault("open", path))?;
    codec::read_with_checksum(file, kinds, range)
        .map_err(|source| Error::Content { path: path.to_owned(), source })
}

pub(super) fn open(path: &Path) -> Result<Option<File>, Error> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(fault("open", path)(why)),
    }
}

/// Replaces a file atomically; only its owner may read it.
pub fn replace(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    replace_by(&CALLS, path, Readers::Owner, content).map(drop).map_err(Error::from)
}

impl From<ebb_files::Error> for Error {
    fn from(why: ebb_files::Error) -> Self {
        match why {
            ebb_files::Error::File { doing, path, source } => Self::File { doing, path, source },
            ebb_files::Error::Busy { path } => Self::Busy { path },
        }
    }
}

fn fault(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::File { doing, path, source }
}
