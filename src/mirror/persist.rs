//! A graph and what was learned on it, as a pair of files. Whatever happens while one is saved, its name stands for the
//! whole file before or the whole file after.
//!
//! New content goes to a file beside the old one, is brought to the disk, and takes over the name at once; then the folder
//! is brought to the disk, so that the name lasts. Any failure before that takes the new file away again. A failure of the
//! very last step is told, though the new file stands: it may be gone after a loss of power, and then the old one is there.
//!
//! Invariants: a fault at any call leaves a pair that loads (held by `snap_faults`), and so does a kill at any call or at
//! any instant (held by `snap_kills`); what was learned is never saved on a graph that was not (held by `persist_order` and
//! `persist_skip_on_failure`).
//!
//! # Design notes
//! The new file has one name and a lock, not a name of its own each time: what a kill leaves is written over by the next
//! save, and two programs that save the same file at once cannot mix their bytes, since the second is told to wait. The
//! lock belongs to the open file and goes with it when that takes over the name, so whoever opened it meanwhile looks
//! again before writing.

use super::Error;
use crate::graph::builder::WeightRange;
use crate::graph::codec::plasticity::{self, SynapticState};
use crate::graph::kinds::Kinds;
use crate::graph::snapshot::Snapshot;
use crate::graph::{self, codec};
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// Where a scope's pair stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The graph, JSON version 3.
    pub graph: PathBuf,
    /// What was learned on it.
    pub learned: PathBuf,
}

impl Files {
    /// Those of a graph's file: what was learned stands beside it, `memory.learned.json` beside `memory.json`.
    #[must_use]
    pub fn beside(graph: PathBuf) -> Self {
        Self { learned: graph.with_extension("learned.json"), graph }
    }

    /// What was learned, if it is there.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Content`] for a file that is none of its kind.
    pub fn read_learned(&self) -> Result<Option<SynapticState>, Error> {
        let Some(file) = open(&self.learned)? else { return Ok(None) };
        let content = |source| Error::Content { path: self.learned.clone(), source };
        plasticity::read(file).map(Some).map_err(content)
    }

    /// Saves the graph, then what was learned: that is left alone if the graph cannot be saved. `None` is a graph whose
    /// file is current.
    ///
    /// # Errors
    /// [`Error::File`] and [`Error::Busy`]; [`Error::path`] tells which of the two failed.
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
            replace_by(calls, &self.graph, |into| codec::write(snapshot, into))?;
        }
        replace_by(calls, &self.learned, learned)
    }

    /// What was saved: nothing without a graph, and what was learned if it is there. Of the graph, see [`codec::read`].
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Content`] for a file that is none of its kind.
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
    codec::read_summed(file, kinds, range).map_err(|source| Error::Content { path: path.to_owned(), source })
}

fn open(path: &Path) -> Result<Option<File>, Error> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(fault("open", path)(why)),
    }
}

/// Gives a file new content, all of it or none; only its owner may read it.
///
/// # Errors
/// [`Error::File`]; [`Error::Busy`] while somebody else replaces the same file.
pub fn replace(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    replace_by(&CALLS, path, content)
}

/// What the system is asked, in this order. A test may have any of it fail.
struct Calls<'c> {
    open: &'c dyn Fn(&Path) -> io::Result<File>,
    write: &'c dyn Fn(&File, &[u8]) -> io::Result<usize>,
    /// Of the file, then of its folder.
    sync: &'c dyn Fn(&File) -> io::Result<()>,
    rename: &'c dyn Fn(&Path, &Path) -> io::Result<()>,
}

const CALLS: Calls<'static> = Calls {
    open: &|path| File::options().write(true).create(true).truncate(false).mode(0o600).open(path),
    write: &|mut file, bytes| file.write(bytes),
    sync: &File::sync_all,
    rename: &|from, to| fs::rename(from, to),
};

fn replace_by(
    calls: &Calls<'_>,
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let partial = partial(path);
    let file = claim(calls, path, &partial)?;
    let replaced = fill(calls, &file, content)
        .map_err(fault("write", &partial))
        .and_then(|()| (calls.sync)(&file).map_err(fault("bring to the disk", &partial)))
        .and_then(|()| (calls.rename)(&partial, path).map_err(fault("replace", path)));
    if let Err(why) = replaced {
        // If even this fails, the next save writes over it.
        fs::remove_file(&partial).ok();
        return Err(why);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let synced = File::open(folder).and_then(|folder| (calls.sync)(&folder));
    synced.map_err(fault("bring to the disk the name of", path))
}

/// The name of what is not whole yet.
fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

/// The file that is to take over the name, for nobody else to write.
fn claim(calls: &Calls<'_>, path: &Path, partial: &Path) -> Result<File, Error> {
    let fault = || fault("open", partial);
    loop {
        let file = (calls.open)(partial).map_err(fault())?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Busy { path: path.to_owned() }),
            Err(TryLockError::Error(why)) => return Err(fault()(why)),
        }
        // Whoever had the lock may have given the file its name, or taken it away.
        let held = file.metadata().map_err(fault())?;
        if fs::metadata(partial).is_ok_and(|there| there.ino() == held.ino() && there.dev() == held.dev()) {
            return Ok(file);
        }
    }
}

fn fill(
    calls: &Calls<'_>,
    file: &File,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    // What a kill left.
    file.set_len(0)?;
    let mut out = BufWriter::new(Filled { calls, file });
    content(&mut out)?;
    out.flush()
}

/// The file while it is filled.
struct Filled<'f> {
    calls: &'f Calls<'f>,
    file: &'f File,
}

impl Write for Filled<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.calls.write)(self.file, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn fault(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::File { doing, path, source }
}
