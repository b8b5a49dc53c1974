//! Atomic file writes: whole or not at all, always to a new file, readable only by the owner unless meant for others.
//!
//! New content is written to a file beside the old one, synced to the disk, and renamed over it; then the folder is
//! synced, so that the name persists. Any failure before that removes the new file. A failure of the last sync is
//! reported, although the new file is in place: a loss of power may bring back the old one.
//!
//! The new file is always created by this program: nothing is written through a link at its name, or into a file that
//! existed there with other permissions. A link or a device at the name itself is refused.
//!
//! # Design notes
//! The new file has a fixed name that nothing else has, and a lock, not a random name: a file left by a kill is removed
//! by the next writer, and two concurrent writers of the same file cannot mix their bytes, since the second gets an
//! error. The lock belongs to the open file, which is renamed with it, so a writer that opened it meanwhile checks its
//! name again first.
//!
//! Invariant: no other code of the product creates files or opens them to write (held by
//! `floors::files_are_written_in_one_place`).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// New files of this process that are not in place yet.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// The owner only: the file contains memories or a secret.
    Owner,
    /// Everyone: a sample, a picture.
    Everybody,
}

/// Why a file was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of the system.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// The attempted operation.
        doing: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// Another program is writing the same file.
    #[error("{} is being written by another program; try again later", path.display())]
    Busy {
        /// Path of the file.
        path: PathBuf,
    },
}

impl From<Error> for io::Error {
    fn from(why: Error) -> Self {
        match why {
            Error::File { source, .. } => source,
            busy @ Error::Busy { .. } => Self::new(ErrorKind::ResourceBusy, busy),
        }
    }
}

/// Replaces the content of a file, all of it or none. Returns the file, open at the end of the content.
///
/// # Errors
/// [`Error::File`]; [`Error::Busy`] while another program replaces the same file.
pub fn replace(path: &Path, readers: Readers, content: &[u8]) -> Result<File, Error> {
    replace_by(&CALLS, path, readers, |into| into.write_all(content))
}

/// Creates a file to be written continuously, such as a log; an existing one is removed.
///
/// # Errors
/// Errors of the system.
pub fn begin(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(why) if why.kind() != ErrorKind::NotFound => Err(why),
        _ => (CALLS.open)(path),
    }
}

/// The system calls of a replacement, in this order. A test can make each of them fail.
pub struct Calls<'c> {
    /// Opens a new file for writing; fails if one is there.
    pub open: &'c dyn Fn(&Path) -> io::Result<File>,
    /// Writes some of the bytes, and returns how many.
    pub write: &'c dyn Fn(&File, &[u8]) -> io::Result<usize>,
    /// Syncs to the disk: the file, then its folder.
    pub sync: &'c dyn Fn(&File) -> io::Result<()>,
    /// Renames the new file over the old one.
    pub rename: &'c dyn Fn(&Path, &Path) -> io::Result<()>,
}

/// The real system calls.
pub const CALLS: Calls<'static> = Calls {
    open: &|path| File::options().write(true).create_new(true).mode(0o600).open(path),
    write: &|mut file, bytes| file.write(bytes),
    sync: &File::sync_all,
    rename: &|from, to| fs::rename(from, to),
};

/// Replaces a file by these system calls, with content written by a closure. Returns the file, open at the end of the
/// content.
///
/// # Errors
/// As [`replace`].
pub fn replace_by(
    calls: &Calls<'_>,
    path: &Path,
    readers: Readers,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<File, Error> {
    if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let why = io::Error::other("it is a link or a device, which is neither followed nor replaced");
        return Err(fault("replace", path)(why));
    }
    let partial = partial(path);
    let file = claim(calls, path, &partial)?;
    let unfinished = PartialEntry::of(&partial);
    let replaced = fill(calls, &file, readers, content)
        .map_err(fault("write", &partial))
        .and_then(|()| (calls.sync)(&file).map_err(fault("sync", &partial)))
        .and_then(|()| (calls.rename)(&partial, path).map_err(fault("replace", path)));
    if let Err(why) = replaced {
        // If even this fails, the next writer removes it.
        fs::remove_file(&partial).ok();
        return Err(why);
    }
    drop(unfinished);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let synced = File::open(folder).and_then(|folder| (calls.sync)(&folder));
    synced.map_err(fault("sync the name of", path))?;
    Ok(file)
}

/// The name of the new file until it is complete. A file that is found there is removed, so no other program may use it.
#[must_use]
pub fn partial(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".ebb-partial");
    path.with_file_name(name)
}

/// The name that the new file had in versions of Ebb until 0.2.0: a kill may have left one. Others may use it, too.
#[must_use]
pub fn earlier_partial(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    path.with_file_name(name)
}

/// Removes the new files of this process that are not in place yet, before it ends without its writers: they may hold memories.
pub fn remove_unfinished() {
    remove_unfinished_below(Path::new(""));
}

fn remove_unfinished_below(folder: &Path) {
    for path in unfinished().iter().filter(|path| path.starts_with(folder)) {
        // If this fails, the next writer removes it.
        fs::remove_file(path).ok();
    }
}

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The entry of a file in [`UNFINISHED`].
struct PartialEntry<'p>(&'p Path);

impl<'p> PartialEntry<'p> {
    fn of(partial: &'p Path) -> Self {
        unfinished().insert(partial.to_owned());
        Self(partial)
    }
}

impl Drop for PartialEntry<'_> {
    fn drop(&mut self) {
        unfinished().remove(self.0);
    }
}

/// Creates the new file, locked for this writer.
fn claim(calls: &Calls<'_>, path: &Path, partial: &Path) -> Result<File, Error> {
    let fault = |why| fault("open", partial)(why);
    let locked = |file: &File| match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Error::Busy { path: path.to_owned() }),
        Err(TryLockError::Error(why)) => Err(fault(why)),
    };
    // The previous holder of the lock may have renamed or removed the file.
    let is_current = |file: &File| -> Result<bool, Error> {
        let held = file.metadata().map_err(fault)?;
        let there = fs::symlink_metadata(partial);
        Ok(there.is_ok_and(|there| there.ino() == held.ino() && there.dev() == held.dev()))
    };
    loop {
        match (calls.open)(partial) {
            Ok(file) => {
                locked(&file)?;
                if is_current(&file)? {
                    return Ok(file);
                }
                continue;
            }
            Err(why) if why.kind() == ErrorKind::AlreadyExists => {}
            Err(why) => return Err(fault(why)),
        }
        // A file left by a kill, being written now, or placed here by another user.
        let left = match fs::symlink_metadata(partial) {
            Err(why) if why.kind() == ErrorKind::NotFound => continue,
            there => there.map_err(fault)?,
        };
        let lock = match left.is_file().then(|| File::open(partial)) {
            Some(Err(why)) if why.kind() == ErrorKind::NotFound => continue,
            opened => opened.transpose().map_err(fault)?,
        };
        if let Some(file) = &lock {
            locked(file)?;
            if !is_current(file)? {
                continue;
            }
        }
        match fs::remove_file(partial) {
            Err(why) if why.kind() != ErrorKind::NotFound => return Err(fault(why)),
            _ => {}
        }
    }
}

fn fill(
    calls: &Calls<'_>,
    file: &File,
    readers: Readers,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if readers == Readers::Everybody {
        file.set_permissions(Permissions::from_mode(0o644))?;
    }
    let mut out = BufWriter::new(Filled { calls, file });
    content(&mut out)?;
    out.flush()
}

/// The file while it is written.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
    }

    /// Things that can exist at the name of a file, or beside it where the new one is created.
    #[test]
    fn existing_files_and_links_are_never_written_through() {
        type Lay = fn(&Path, &Path);
        let lay: [(&str, Lay); 5] = [
            ("nothing", |_, _| {}),
            ("a link", |victim, at| symlink(victim, at).unwrap()),
            ("a link to nothing", |victim, at| symlink(victim.with_extension("none"), at).unwrap()),
            ("a second name", |victim, at| fs::hard_link(victim, at).unwrap()),
            ("a file for everybody", |_, at| {
                fs::write(at, "long ago, and longer than what comes").unwrap();
                fs::set_permissions(at, Permissions::from_mode(0o666)).unwrap();
            }),
        ];
        for (what, lay) in lay {
            for beside in [false, true] {
                for (readers, readable) in [(Readers::Owner, 0o600), (Readers::Everybody, 0o644)] {
                    let folder = tempfile::tempdir().unwrap();
                    let (victim, path) = (folder.path().join("victim"), folder.path().join("file"));
                    fs::write(&victim, "precious").unwrap();
                    fs::set_permissions(&victim, Permissions::from_mode(0o640)).unwrap();
                    lay(&victim, &if beside { partial(&path) } else { path.clone() });
                    let replaced = replace(&path, readers, b"secret").map(drop);
                    if what.starts_with("a link") && !beside {
                        assert!(matches!(replaced, Err(Error::File { doing: "replace", .. })), "{what}");
                        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{what}");
                        assert!(!victim.with_extension("none").exists(), "{what}");
                        continue;
                    }
                    replaced.unwrap();
                    assert_eq!(fs::read_to_string(&path).unwrap(), "secret", "{what}");
                    assert_eq!((mode(&path), mode(&victim)), (readable, 0o640), "{what}");
                    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{what}");
                    let left = fs::read_dir(folder.path()).unwrap().count();
                    assert_eq!(left, 2, "{what}: the file and the victim");
                    drop(begin(&path).unwrap());
                    assert_eq!((fs::read(&path).unwrap().len(), mode(&path)), (0, 0o600), "{what}");
                }
            }
        }
    }

    #[test]
    fn an_interrupt_removes_the_new_file_and_leaves_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("texts");
        fs::write(&path, "old").unwrap();
        let replaced = replace_by(&CALLS, &path, Readers::Owner, |into| {
            into.write_all(b"new")?;
            assert!(partial(&path).exists());
            remove_unfinished_below(folder.path());
            assert!(!partial(&path).exists());
            Ok(())
        });
        assert!(matches!(replaced, Err(Error::File { doing: "replace", .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        drop(replace(&path, Readers::Owner, b"new").unwrap());
        remove_unfinished_below(folder.path());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn a_file_of_somebody_else_beside_it_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("notes"), folder.path().join("notes.partial"));
        fs::write(&other, "precious").unwrap();
        drop(replace(&path, Readers::Owner, b"new").unwrap());
        assert_eq!(fs::read_to_string(&other).unwrap(), "precious");
        assert_eq!(partial(&path), folder.path().join(".notes.ebb-partial"));
    }

    #[test]
    fn a_returned_file_can_be_appended_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let mut file = replace(&path, Readers::Owner, b"one\n").unwrap();
        file.write_all(b"two\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    }
}
