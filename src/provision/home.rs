//! The home folder of a managed server: its files, and the three locks by which programs share one server.
//!
//! | file | content |
//! |---|---|
//! | `.ebb-managed` | marker file: Ebb created this folder, so Ebb may remove it |
//! | `password` | the password of user `neo4j`, created at the first start, readable only by its owner |
//! | `id` | random, created at the first start in a container: homes of the same path at one Docker engine differ in it |
//! | `server.json` | [`Record`]: the running server, written by its keeper |
//! | `start.lock` | held (exclusive) while the server is started, stopped or removed |
//! | `in-use.lock` | held (shared) by each user, exclusive by a keeper that ends; modified at the beginning and the end of a use |
//! | `keeper.lock` | held (exclusive) by the keeper as long as it lives |
//! | `data`, `logs` | Neo4j's own, and `logs/server.log`, `logs/keeper.log` |
//! | `run` | the home that Neo4j is told, made anew at each start: no plugin and no configuration that lies here counts |
//! | `mirror` | graphs in memory that were saved, written by their processes |

use ebb_files::Readers;
use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::{Error, io};
use super::fixed::Fixed;
use super::lock::{Hold, POLL, try_lock, wait_lock};
use super::{Ports, Way};

/// Marker file of a folder that Ebb created.
const MARK: &str = ".ebb-managed";
/// How often the marker file is tried while another program writes it: five seconds.
const MARK_TRIES: u32 = 100;

/// The running server, as recorded by its keeper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// How it was started.
    pub(super) way: Way,
    /// The server's process; with Docker that of the client in the foreground.
    pub(super) pid: u32,
    /// The keeper process.
    pub(super) keeper_pid: u32,
    /// Name of the container, with Docker.
    pub(super) container: Option<String>,
    /// Bolt port on 127.0.0.1.
    pub(super) bolt: u16,
    /// HTTP port on 127.0.0.1.
    pub(super) http: u16,
    /// Whether it continues without users.
    pub(super) stay: bool,
    /// How long it continues after its last use otherwise; an older keeper does not.
    #[serde(default)]
    pub(super) keep: Duration,
    /// Its settings; an older keeper does not record them.
    #[serde(default)]
    pub(super) fixed: Option<Fixed>,
    /// Length of `logs/debug.log` when it started, bytes.
    pub(super) log_from: u64,
}

impl Record {
    pub(super) fn ports(&self) -> Ports {
        Ports { bolt: self.bolt, http: self.http }
    }

    /// Whether the server runs on when its last user is gone.
    pub(super) fn outlives_users(&self) -> bool {
        self.stay || !self.keep.is_zero()
    }
}

/// A home folder with the marker file.
#[derive(Debug, Clone)]
pub(super) struct Home {
    path: PathBuf,
}

impl Home {
    /// Opens a home, and creates it if it is missing or unused. A folder with contents but without marker is refused.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let what = |verb: &str| format!("cannot {verb} the home folder {}", path.display());
        if !path.join(MARK).is_file() {
            DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(io(what("create")))?;
            let unused = is_unused(path).map_err(io(what("read")))?;
            if !unused && !path.join(MARK).is_file() {
                return Err(Error::ForeignHome { path: path.to_path_buf() });
            }
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700))
                .map_err(io(what("restrict access to")))?;
            mark(path).map_err(|why| io(what("write the marker file of"))(why.into()))?;
        }
        for folder in ["data", "logs"] {
            fs::create_dir_all(path.join(folder)).map_err(io(what("create folders in")))?;
        }
        Ok(Self { path: path.canonicalize().map_err(io(what("read")))? })
    }

    /// An existing home with the marker.
    pub(super) fn existing(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        path.join(MARK).is_file().then_some(Self { path })
    }

    /// The absolute path of the folder, without links.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file or folder inside.
    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Makes the folder `run` anew, with the configuration by which Neo4j keeps its data and logs beside it, and returns it.
    /// The caller holds the start lock.
    pub(super) fn renew_run(&self) -> Result<PathBuf, Error> {
        let run = self.join("run");
        let renew = || match fs::remove_dir_all(&run) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
            _ => fs::create_dir_all(run.join("conf")),
        };
        renew().map_err(io(format!("cannot renew the folder {}", run.display())))?;
        // A backslash begins an escape there.
        let setting = |name: &str| {
            let folder = self.join(name).display().to_string().replace('\\', "\\\\");
            format!("server.directories.{name}={folder}\n")
        };
        self.write_private("run/conf/neo4j.conf", &(setting("data") + &setting("logs")))?;
        Ok(run)
    }

    /// Whether a server has ever run here: it creates this database first.
    pub(super) fn has_store(&self) -> bool {
        self.join("data/databases/system").exists()
    }

    /// The stored password of the server.
    pub(super) fn kept_password(&self) -> Result<SecretString, Error> {
        match fs::read_to_string(self.join("password")) {
            Ok(text) if !text.trim().is_empty() => Ok(text.trim().to_owned().into()),
            Err(e) if e.kind() != ErrorKind::NotFound => {
                Err(io(format!("cannot read {}", self.join("password").display()))(e))
            }
            _ => Err(Error::PasswordLost { home: self.path.clone() }),
        }
    }

    /// The password, generated if no server has run here yet. The caller holds the start lock.
    pub(super) fn password(&self) -> Result<SecretString, Error> {
        if self.has_store() || self.join("password").exists() {
            return self.kept_password();
        }
        let password = SecretString::from(format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()));
        self.write_private("password", password.expose_secret())?;
        Ok(password)
    }

    /// The id of this home; `None` if no server of it was started in a container, or only by an earlier version.
    pub(super) fn kept_id(&self) -> Option<String> {
        let text = fs::read_to_string(self.join("id")).ok()?;
        Some(text.trim().to_owned()).filter(|id| !id.is_empty())
    }

    /// The id of this home, generated if it has none. The caller holds the start lock.
    pub(super) fn id(&self) -> Result<String, Error> {
        if let Some(id) = self.kept_id() {
            return Ok(id);
        }
        let id = Uuid::new_v4().simple().to_string();
        self.write_private("id", &id)?;
        Ok(id)
    }

    /// Writes a file that only its owner can read, whole or not at all.
    pub(super) fn write_private(&self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.join(name);
        let written = ebb_files::replace(&path, Readers::Owner, text.as_bytes()).map(drop);
        written.map_err(|why| io(format!("cannot write {}", path.display()))(why.into()))
    }

    /// The record of the last keeper; `None` if it was removed, or is not readable.
    pub(super) fn record(&self) -> Option<Record> {
        serde_json::from_str(&fs::read_to_string(self.join("server.json")).ok()?).ok()
    }

    /// Writes the record, whole or not at all.
    pub(super) fn write_record(&self, record: &Record) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(record)
            .map_err(|e| io("cannot write the record of the server")(e.into()))?;
        self.write_private("server.json", &text)
    }

    /// Removes the record; a missing one is no error.
    pub(super) fn remove_record(&self) -> Result<(), Error> {
        match fs::remove_file(self.join("server.json")) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(io("cannot remove server.json")(e)),
            _ => Ok(()),
        }
    }

    /// Whether there is a keeper. Tests with a shared lock, so that two concurrent tests do not affect each other.
    pub(super) fn has_keeper(&self) -> Result<bool, Error> {
        Ok(self.try_lock(Lock::Keeper, Hold::Shared)?.is_none())
    }

    /// Opens a lock file and locks it if it is free.
    pub(super) fn try_lock(&self, lock: Lock, hold: Hold) -> Result<Option<File>, Error> {
        try_lock(&self.join(lock.file()), hold)
    }

    /// Waits for the start lock, logging the wait after a second and then every ten.
    pub(super) async fn start_lock(&self) -> Result<File, Error> {
        let path = self.join(Lock::Start.file());
        wait_lock(
            &path,
            &format!("another program is starting or stopping the server in {}", self.path.display()),
        )
        .await
    }
}

/// Whether a folder has no files but those that are written before the marker file is in place, or left by a kill at that moment.
pub(super) fn is_unused(path: &Path) -> std::io::Result<bool> {
    let partials = [ebb_files::partial, ebb_files::earlier_partial].map(|of| of(Path::new(MARK)));
    let locks = [Lock::Start, Lock::InUse, Lock::Keeper].map(Lock::file);
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name();
        if partials.iter().all(|partial| partial.as_os_str() != name)
            && !locks.iter().any(|lock| name.as_os_str() == *lock)
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes the marker file. While another program writes the same one, waits for it.
fn mark(path: &Path) -> Result<(), ebb_files::Error> {
    let text =
        "The data of a Neo4j server that Ebb starts and stops. This file allows Ebb to remove the folder.\n";
    let marker = path.join(MARK);
    for _ in 0..MARK_TRIES {
        match ebb_files::replace(&marker, Readers::Owner, text.as_bytes()) {
            Err(ebb_files::Error::Busy { .. }) if marker.is_file() => return Ok(()),
            Err(ebb_files::Error::Busy { .. }) => std::thread::sleep(POLL),
            written => return written.map(drop),
        }
    }
    Err(ebb_files::Error::Busy { path: marker })
}

/// The three lock files of a home.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lock {
    Start,
    InUse,
    Keeper,
}

impl Lock {
    fn file(self) -> &'static str {
        match self {
            Self::Start => "start.lock",
            Self::InUse => "in-use.lock",
            Self::Keeper => "keeper.lock",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn a_folder_with_other_contents_is_refused_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("precious"), "x").unwrap();
        assert!(matches!(Home::open(folder.path()), Err(Error::ForeignHome { .. })));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(Home::existing(folder.path()).is_none());
    }

    /// Programs that start at once in a missing folder; and one that was killed before the marker file was in place.
    #[test]
    fn a_home_is_opened_by_many_at_once_and_after_a_kill() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("h");
            let opened = std::thread::scope(|scope| {
                let openers: Vec<_> = (0..8).map(|_| scope.spawn(|| Home::open(&path).is_ok())).collect();
                openers.into_iter().map(|opener| opener.join().unwrap()).collect::<Vec<_>>()
            });
            assert_eq!(opened, [true; 8]);
        }
        let folder = tempfile::tempdir().unwrap();
        let left = ebb_files::partial(&folder.path().join(MARK));
        fs::write(&left, "The data of").unwrap();
        Home::open(folder.path()).unwrap();
        assert!(!left.exists() && Home::existing(folder.path()).is_some());
    }

    #[test]
    fn a_new_home_and_its_password_are_private_and_the_password_stays() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(&folder.path().join("a/b")).unwrap();
        let first = home.password().unwrap();
        assert_eq!(home.password().unwrap().expose_secret(), first.expose_secret());
        assert_eq!(first.expose_secret().len(), 64);
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(home.path()), mode(&home.join("password"))), (0o700, 0o600));
    }

    #[test]
    fn a_store_without_its_password_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(&folder.path().join("h")).unwrap();
        fs::create_dir_all(home.join("data/databases/system")).unwrap();
        assert!(matches!(home.password(), Err(Error::PasswordLost { .. })));
    }

    #[test]
    fn shared_locks_coexist_and_exclude_an_exclusive_one() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(&folder.path().join("h")).unwrap();
        let one = home.try_lock(Lock::InUse, Hold::Shared).unwrap();
        let two = home.try_lock(Lock::InUse, Hold::Shared).unwrap();
        assert!(one.is_some() && two.is_some());
        assert!(home.try_lock(Lock::InUse, Hold::Exclusive).unwrap().is_none());
        drop((one, two));
        assert!(home.try_lock(Lock::InUse, Hold::Exclusive).unwrap().is_some());
    }
}
