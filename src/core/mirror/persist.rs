//! A graph and what was learned on it, as a pair of files. Whatever happens while one is saved, its name stands for the
//! whole file before or the whole file after.
//!
//! How a file is replaced, see [`ebb_files`].
//!
//! Invariants: a fault at any call leaves a pair that loads (held by `snap_faults`), and so does a kill at any call or at
//! any instant (held by `snap_kills`); what was learned is never saved on a graph that was not (held by `persist_order` and
//! `persist_skip_on_failure`).

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

/// Where a scope's pair stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The graph, JSON version 3.
    pub graph: PathBuf,
    pub learned: PathBuf,
}

impl Files {
    /// Those of a graph's file: what was learned stands beside it, `memory.learned.json` beside `memory.json`.
    #[must_use]
    pub fn beside(graph: PathBuf) -> Self {
        Self { learned: graph.with_extension("learned.json"), graph }
    }

    /// What was learned, if it is there.
    pub fn read_learned(&self) -> Result<Option<SynapticState>, Error> {
        let Some(file) = open(&self.learned)? else { return Ok(None) };
        let content = |source| Error::Content { path: self.learned.clone(), source };
        plasticity::read(file).map(Some).map_err(content)
    }

    /// Saves the graph, then what was learned: that is left alone if the graph cannot be saved. `None` is a graph whose
    /// file is current.
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

    /// What was saved: nothing without a graph, and what was learned if it is there. Of the graph, see [`codec::read`].
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

/// The graph of one file, and whether that has a checksum, which is right then. See [`codec::read`].
///
/// # Errors
/// [`Error::File`], also for one that is not there; [`Error::Content`] for a file that is none of its kind.
pub fn read_summed(path: &Path, kinds: Kinds, range: WeightRange) -> Result<(Snapshot, bool), Error> {
    let file = File::open(path).map_err(fault("open", path))?;
    codec::read_with_checksum(file, kinds, range)
        .map_err(|source| Error::Content { path: path.to_owned(), source })
}

fn open(path: &Path) -> Result<Option<File>, Error> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(fault("open", path)(why)),
    }
}

/// Gives a file new content, all of it or none; only its owner may read it.
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
