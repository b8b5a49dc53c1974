//! The keeper: a process that runs a managed server as its child, and stops it some time after the last use.
//!
//! Users hold a shared lock on `in-use.lock`; the keeper waits for the exclusive one, which the system grants as soon
//! as the last user releases its lock or dies, even by `kill -9`. So there is no heartbeat, and no count that a crash
//! would leave wrong. If the last use was too recent the keeper releases the lock and waits for it again when the time
//! is over. Otherwise the lock keeps new users out until server and keeper have ended.
//!
//! It has a session of its own, so neither Ctrl-C in the terminal nor the end of the terminal reaches it or the server.
//! The plan is passed through its standard input, since that may contain the password.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, setsid};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use super::error::{Error, io};
use super::home::{Home, Lock, Record};
use super::lock::{self, Hold, POLL};
use super::plan::Plan;
use super::{docker, log};

/// How long a stopping server may write nothing to its log before it is killed.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);
/// The same for a server that leaves an archive of its classes: Java writes it after the last line of the log, in some
/// seconds of work that become minutes on a busy machine.
const ARCHIVE_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// Time limit of a stop.
const STOP_LIMIT: Duration = Duration::from_secs(10 * 60);

/// The body of the hidden command `ebb neo4j keep --home HOME`: reads a plan from standard input, runs it, and returns
/// when the server has ended.
///
/// # Errors
/// When the home, the plan or the server's program cannot be used, and when the server exited.
pub fn keep(home: &Path) -> Result<(), Error> {
    let _ = setsid(); // fails only in a process that already leads its group
    let home = Home::existing(home).ok_or_else(|| Error::ForeignHome { path: home.to_path_buf() })?;
    let plan: Plan =
        serde_json::from_reader(std::io::stdin().lock()).map_err(|e| io("cannot read the plan")(e.into()))?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(io("cannot begin"))?;
    let life = runtime.block_on(life(&home))?;
    let mut last = None;
    let result = runtime.block_on(watch(&home, plan, &mut last));
    runtime.shutdown_background();
    drop(life); // first: the next holder of the other lock then finds no keeper
    drop(last);
    result
}

/// The lock of the keeper of this home. Other programs hold it for an instant to test whether it is free.
async fn life(home: &Home) -> Result<File, Error> {
    for _ in 0..100 {
        if let Some(file) = home.try_lock(Lock::Keeper, Hold::Exclusive)? {
            return Ok(file);
        }
        tokio::time::sleep(POLL).await;
    }
    Err(Error::Keeper { home: home.path().to_path_buf(), why: "another keeper is running".to_owned() })
}

/// Runs the server until it exits, its last user is gone, or a signal stops it. `last` receives the lock that keeps new
/// users out.
async fn watch(home: &Home, plan: Plan, last: &mut Option<File>) -> Result<(), Error> {
    let handler = |kind| signal(kind).map_err(io("cannot listen for signals"));
    let (mut terminate, mut interrupt) =
        (handler(SignalKind::terminate())?, handler(SignalKind::interrupt())?);
    let log_from = log::length(&home.join(log::DEBUG_LOG));
    let mut child = spawn(home, &plan)?;
    let pid = child.id().unwrap_or_default();
    let record = Record {
        way: plan.way,
        pid,
        keeper_pid: std::process::id(),
        container: plan.container.clone(),
        bolt: plan.ports.bolt,
        http: plan.ports.http,
        stay: plan.stay,
        keep: plan.keep,
        fixed: Some(plan.fixed.clone()),
        log_from,
    };
    if let Err(e) = home.write_record(&record) {
        stop(home, &plan, &mut child).await; // without a record it could not be found again
        return Err(e);
    }

    let mut unused = Some(when_unused(home.join("in-use.lock"), Duration::ZERO));
    let died = loop {
        tokio::select! {
            _ = child.wait() => break true,
            _ = terminate.recv() => break false,
            _ = interrupt.recv() => break false,
            lock = granted(&mut unused) => {
                lock.iter().for_each(lock::correct_use);
                let left = lock.as_ref().map_or(Duration::ZERO, |file| time_left(file, plan.keep));
                // A server started to stay has no user to wait for: it runs until it is stopped. The record is read
                // now, since `stay` may have been set meanwhile.
                if home.record().is_some_and(|record| record.stay) {
                    unused = None;
                } else if left.is_zero() {
                    *last = lock;
                    break false;
                } else {
                    unused = Some(when_unused(home.join("in-use.lock"), left));
                }
            }
        }
    };
    let in_order = !died && stop(home, &plan, &mut child).await;
    if let Some(kept) = &plan.kept {
        kept.settle(in_order);
    }
    if let Some(name) = &plan.container {
        // It outlives its client. If it may still run, the record stays, by which the next command finds it.
        docker::stop(&plan.program, name).await?;
    }
    home.remove_record()?;
    if died { Err(log::cause(home)) } else { Ok(()) }
}

fn spawn(home: &Home, plan: &Plan) -> Result<Child, Error> {
    let what = |verb: &str, path: &Path| format!("cannot {verb} {}", path.display());
    let path = home.join(log::SERVER_LOG);
    let output = ebb_files::begin(&path).map_err(io(what("write", &path)))?;
    let errors = output.try_clone().map_err(io(what("write", &path)))?;
    let mut command = Command::new(&plan.program);
    command.args(&plan.args).envs(plan.env.iter().map(|(key, value)| (key, value))).current_dir(home.path());
    command.stdin(Stdio::null()).stdout(output).stderr(errors);
    command.spawn().map_err(io(what("run", &plan.program)))
}

/// How long a server may still run whose users are gone.
pub(super) fn time_left(users: &File, keep: Duration) -> Duration {
    keep.saturating_sub(lock::since_use(users))
}

/// Waits, on a thread of its own and after this time, for the lock of the users. The thread ends with the process.
fn when_unused(path: PathBuf, after: Duration) -> oneshot::Receiver<File> {
    let (send, receive) = oneshot::channel();
    std::thread::spawn(move || {
        std::thread::sleep(after);
        if let Ok(file) = lock::open(&path).and_then(wait_for_users) {
            let _ = send.send(file); // fails only when the keeper is exiting
        }
    });
    receive
}

/// Locks the file of the users. The end of a use that was waited for is the last use, also if the user was killed.
/// Programs that only test the lock, such as one that shows the status, hold it exclusively for an instant; they are no
/// users.
fn wait_for_users(file: File) -> std::io::Result<File> {
    let is_taken = |taken: Result<(), TryLockError>| match taken {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(why)) => Err(why),
    };
    let mut is_shared = false;
    while !is_taken(file.try_lock())? {
        if is_shared {
            file.lock()?;
            lock::mark_use(&file);
            break;
        }
        is_shared = is_taken(file.try_lock_shared())?;
        if !is_shared {
            std::thread::sleep(POLL);
        }
    }
    Ok(file)
}

/// The result of that wait; pending forever if there is none any more; `None` if the lock failed.
async fn granted(unused: &mut Option<oneshot::Receiver<File>>) -> Option<File> {
    match unused {
        Some(lock) => lock.await.ok(),
        None => std::future::pending().await,
    }
}

/// Stops the server and waits as long as its log grows; then kills it. Returns whether it exited by itself.
async fn stop(home: &Home, plan: &Plan, child: &mut Child) -> bool {
    send_signal(child.id(), Signal::TERM);
    let began = Instant::now();
    let silence = if plan.kept.is_some() { ARCHIVE_TIMEOUT } else { WAIT_TIMEOUT };
    let (mut seen, mut deadline) = (0, began + silence);
    while Instant::now() < deadline.min(began + STOP_LIMIT) {
        if timeout(Duration::from_secs(1), child.wait()).await.is_ok() {
            return true;
        }
        let now = log::length(&home.join(log::DEBUG_LOG));
        if now != seen {
            (seen, deadline) = (now, Instant::now() + silence);
        }
    }
    if let Some(name) = &plan.container {
        docker::remove(&plan.program, name).await;
    }
    let _ = child.kill().await;
    false
}

/// Sends a signal to a process; a missing one is no error.
pub(super) fn send_signal(pid: Option<u32>, signal: Signal) {
    let pid = pid.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    if let Some(pid) = pid {
        let _ = kill_process(pid, signal);
    }
}
