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

/// The command line of a process, arguments separated by spaces; `None` if it is gone. From `/proc` where that exists,
/// else from `ps`.
fn command_line(pid: u32) -> Option<String> {
    let line = if Path::new("/proc/self/cmdline").exists() {
        let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        String::from_utf8_lossy(&bytes).replace('\0', " ")
    } else {
        let output =
            Command::new("ps").args(["-ww", "-o", "command=", "-p", &pid.to_string()]).output().ok()?;
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let line = line.trim().to_owned();
    (!line.is_empty()).then_some(line)
}

/// Whether the recorded server still runs: a process id alone may have been reused, so its command line must name the
/// home too, or be gone because the process is ending.
pub(super) fn runs(home: &Home, record: &Record) -> bool {
    match command_line(record.pid) {
        Some(line) => line.contains(&home.path().display().to_string()),
        None => is_ending(&std::fs::read_to_string(format!("/proc/{}/stat", record.pid)).unwrap_or_default()),
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

/// Ends a server whose keeper is gone. The caller holds the start lock.
pub(super) async fn end_orphan(docker: &Path, home: &Home, record: &Record) -> Result<(), Error> {
    if record.container.is_some() {
        docker::stop(docker, &docker::container_name(home)).await;
    }
    let deadline = Instant::now() + WAIT_TIMEOUT;
    if runs(home, record) {
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
    home.remove_record()
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
    let mut words = line.split_whitespace();
    let program = words.next().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
    let verbs = words.take_while(|word| !word.starts_with('-')).take(2);
    verbs.fold(program, |name, verb| format!("{name} {verb}"))
}

#[cfg(test)]
mod tests {
    use super::is_ending;

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
