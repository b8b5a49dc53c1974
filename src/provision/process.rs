//! Processes seen from outside: whether one is still the server of a home, and which ones hold a lock.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::Instant;

use super::home::{Home, Record};
use super::keeper::send_signal;
use super::lock::POLL;
use super::{Error, docker};

/// Time that an orphan has to stop before it is killed.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// The command line of a process; `None` if it is gone. From `/proc` where that exists, with a NUL after each argument,
/// else from `ps`, with spaces between them.
fn command_line(pid: u32) -> Option<String> {
    let bytes = if Path::new("/proc/self/cmdline").exists() {
        std::fs::read(format!("/proc/{pid}/cmdline")).ok()?
    } else {
        Command::new("ps").args(["-ww", "-o", "command=", "-p", &pid.to_string()]).output().ok()?.stdout
    };
    let line = String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned();
    (!line.trim_matches(['\0', ' ']).is_empty()).then_some(line)
}

/// Whether a command line has these arguments, whole and one after the other.
fn has(line: &str, arguments: &[&str]) -> bool {
    let between = if line.contains('\0') { "\0" } else { " " };
    let bounded = |text: &str| format!("{between}{text}{between}");
    bounded(line).contains(&bounded(&arguments.join(between)))
}

/// Whether a command line is that of a server of this home: of Java, which an earlier version told the home itself, or of
/// the Docker client.
fn is_server(home: &Path, line: &str) -> bool {
    let home = home.display();
    let each = [format!("--home-dir={home}/run"), format!("--home-dir={home}"), format!("ebb.home={home}")];
    each.iter().any(|argument| has(line, &[argument.as_str()]))
}

/// Whether a process is the keeper of this home. A recorded id may be that of another process: of one that came later,
/// or, if containers or machines share the home, of one in a container or on a machine that is not the keeper's.
pub(super) fn is_keeper(home: &Home, pid: u32) -> bool {
    let named = home.path().display().to_string();
    // Its folder is the home, also after that was moved.
    let works_there =
        || std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|folder| folder == home.path());
    command_line(pid).is_some_and(|line| {
        has(&line, &["neo4j", "keep", "--home", named.as_str()])
            || has(&line, &["neo4j", "keep"]) && works_there()
    })
}

/// Whether the process of the recorded server still runs: its id alone may have been reused, so its command line must be
/// that of a server of this home, or be gone because the process is ending.
fn runs(home: &Home, record: &Record) -> bool {
    match command_line(record.pid) {
        Some(line) => is_server(home.path(), &line),
        None => is_ending(&std::fs::read_to_string(format!("/proc/{}/stat", record.pid)).unwrap_or_default()),
    }
}

/// Whether the recorded server, whose keeper is gone, still runs: as a process, or in its container.
///
/// # Errors
/// When the Docker engine does not say.
pub(super) async fn is_left(docker: &Path, home: &Home, record: &Record) -> Result<bool, Error> {
    if runs(home, record) {
        return Ok(true);
    }
    match &record.container {
        Some(name) => docker::is_running(docker, name).await.map_err(|why| with_record(home, why)),
        None => Ok(false),
    }
}

/// Whether a process has given back its memory, and its command line with it, but not yet its files and ports: by its line in
/// `/proc/PID/stat`, which only Linux has.
fn is_ending(stat: &str) -> bool {
    /// `PF_EXITING` of the kernel.
    const EXITING: u64 = 0x4;
    // The name of the program, in brackets, may contain anything; state, flags and threads are 3rd, 9th and 20th of all.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    let is_over = matches!(fields.first(), None | Some(&("Z" | "X"))) && number(17) <= 1;
    !is_over && number(6) & EXITING != 0
}

/// Ends a server whose keeper is gone; returns whether it ran. The caller holds the start lock.
///
/// # Errors
/// When it is still stopping, or when its container may still run: then the record stays, by which that is found.
pub(super) async fn end_orphan(docker: &Path, home: &Home, record: &Record) -> Result<bool, Error> {
    let container = end_container(docker, home, record).await;
    let deadline = Instant::now() + WAIT_TIMEOUT;
    let is_orphan = runs(home, record);
    if is_orphan {
        tracing::info!("the server in {} lost its keeper; stopping it", home.path().display());
        send_signal(Some(record.pid), Signal::TERM);
    }
    while runs(home, record) {
        if Instant::now() >= deadline + WAIT_TIMEOUT {
            return Err(Error::StillStopping {
                home: home.path().to_path_buf(),
                seconds: 2 * WAIT_TIMEOUT.as_secs(),
            });
        }
        if Instant::now() >= deadline {
            send_signal(Some(record.pid), Signal::KILL);
        }
        tokio::time::sleep(POLL).await;
    }
    let ran = container?;
    home.remove_record()?;
    Ok(ran || is_orphan)
}

/// An error about the recorded container, with the way out where its engine is no more.
fn with_record(home: &Home, why: Error) -> Error {
    match why {
        Error::Docker { why, next } => {
            let file = home.join("server.json");
            let next =
                format!("{next}. If the container or its engine is gone for good, delete {}", file.display());
            Error::Docker { why, next }
        }
        other => other,
    }
}

/// Stops the recorded container, if it is surely of this home: by its name, in which the id of the home is, or by its
/// client, which still runs here. An earlier version named it by the path alone, which homes on other machines have too.
async fn end_container(docker: &Path, home: &Home, record: &Record) -> Result<bool, Error> {
    let Some(name) = record.container.as_deref() else { return Ok(false) };
    let is_client = |line: String| is_server(home.path(), &line) && has(&line, &["--name", name]);
    let is_own = home.kept_id().is_some_and(|id| docker::container_name(home, &id) == name);
    if is_own || command_line(record.pid).is_some_and(is_client) {
        return docker::stop(docker, name).await.map_err(|why| with_record(home, why));
    }
    if !docker::is_running(docker, name).await.map_err(|why| with_record(home, why))? {
        return Ok(false);
    }
    let file = home.join("server.json");
    Err(Error::Docker {
        why: format!(
            "the container {name}, which {} names, runs, and it is not known whether it is of this folder",
            file.display()
        ),
        next: format!("If it is, stop it: docker stop {name}. Otherwise delete {}", file.display()),
    })
}

/// The programs that share a lock, as `ebb serve (process 123)`. Linux only; elsewhere, and for programs of other
/// containers, the list is empty.
pub(super) fn holders(lock: &Path) -> Vec<String> {
    let (Ok(meta), Ok(table)) =
        (File::open(lock).and_then(|file| file.metadata()), std::fs::read_to_string("/proc/locks"))
    else {
        return Vec::new();
    };
    let pids = table.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, "READ", pid, place, ..] = words[..] else { return None };
        let inode: u64 = place.rsplit(':').next()?.parse().ok()?;
        (inode == meta.ino()).then(|| pid.parse::<u32>().ok())?
    });
    let mut pids: Vec<u32> = pids.collect();
    pids.sort_unstable();
    pids.dedup();
    pids.into_iter().map(|pid| format!("{} (process {pid})", name(pid))).collect()
}

/// A process by its program and first argument, without the options behind it.
fn name(pid: u32) -> String {
    let Some(line) = command_line(pid) else { return "a program".to_owned() };
    let mut words = line.split(|c: char| c == '\0' || c.is_whitespace()).filter(|word| !word.is_empty());
    let program = words.next().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
    let verbs = words.take_while(|word| !word.starts_with('-')).take(2);
    verbs.fold(program, |name, verb| format!("{name} {verb}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For both systems, which separate arguments differently.
    #[test]
    fn a_server_is_told_by_whole_arguments() {
        for between in ["\0", " "] {
            let is = |argument: &str| {
                is_server(Path::new("/p/.ebb/neo4j"), &["java", "-cp", argument, "-c"].join(between))
            };
            for own in ["--home-dir=/p/.ebb/neo4j/run", "--home-dir=/p/.ebb/neo4j", "ebb.home=/p/.ebb/neo4j"]
            {
                assert!(is(own), "{own}");
            }
            for other in ["--home-dir=/p/.ebb/neo4j2/run", "ebb.home=/p/.ebb/neo4j2", "/p/.ebb/neo4j"] {
                assert!(!is(other), "{other}");
            }
            let keeper = ["ebb", "neo4j", "keep", "--home", "/p/.ebb/neo4j"].join(between);
            assert!(has(&keeper, &["neo4j", "keep", "--home", "/p/.ebb/neo4j"]));
            assert!(!has(&keeper, &["neo4j", "keep", "--home", "/p/.ebb/neo"]));
            assert!(!is_server(Path::new("/p/.ebb/neo4j"), &keeper));
        }
    }

    #[test]
    fn the_arguments_of_a_process_are_read_one_by_one() {
        let line = command_line(std::process::id()).unwrap();
        let arguments: Vec<String> = std::env::args().collect();
        assert!(has(&line, &arguments.iter().map(String::as_str).collect::<Vec<_>>()), "{line:?}");
        assert!(!has(&line, &[&arguments[0][..arguments[0].len() - 1]]), "{line:?}");
    }

    #[test]
    fn a_process_without_its_last_thread_is_over() {
        let stat = |state: &str, flags: u32, threads: u32| {
            format!("7 (a (java) b) {state} 1 7 7 0 -1 {flags} 0 0 0 0 0 0 0 0 20 0 {threads} 0 5 0 0")
        };
        assert!(is_ending(&stat("R", 0x0040_000c, 1)), "it has yet to close its files");
        assert!(is_ending(&stat("Z", 0x0040_000c, 3)), "other threads still have them");
        assert!(!is_ending(&stat("Z", 0x0040_000c, 1)));
        assert!(!is_ending(&stat("S", 0x0040_0000, 9)), "it has just been started");
        assert!(!is_ending(""));
    }
}
