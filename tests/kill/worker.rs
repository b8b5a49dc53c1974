//! A worker process: `ebb worker` behind a proxy of its own, with what it is to suffer in its environment.

use super::disruption::Disruption;
use super::proxy::{COMMIT, Cut, Proxy, ProxyFault, RUN};
use super::server::Host;
use super::slow::SlowClients;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Workers that were started.
static STARTED: AtomicU64 = AtomicU64::new(1);

/// A running worker.
pub(crate) struct Worker {
    /// How it is called in histories: as the file of its own.
    pub(crate) name: String,
    child: Child,
    pub(crate) disruption: Disruption,
    pub(crate) round: u64,
    began: Instant,
    /// Kept for as long as the campaign, since a silent connection is to stay open after its worker is gone.
    pub(crate) proxy: Proxy,
    cuts: usize,
    /// Where it answers probes.
    pub(crate) port: u16,
    /// Where it answers requests, if it does, and who occupies it there.
    api: Option<u16>,
    _slow: Option<SlowClients>,
    /// Whether somebody else got an answer from it meanwhile.
    pub(crate) answered: bool,
}

/// How short everything is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) defaults: bool,
}

impl Timing {
    pub(crate) fn lease(self) -> Duration {
        Duration::from_millis(if self.defaults { 15_000 } else { 1_500 })
    }
}

impl Worker {
    pub(crate) async fn start(
        host: &Host,
        folder: &Path,
        timing: Timing,
        round: u64,
        disruption: Disruption,
    ) -> Result<Self, String> {
        let proxy = Proxy::before(&host.uri).await;
        match &disruption {
            Disruption::Point { point: "before_receipt_read", hit, .. } => {
                proxy.hurt(Cut::After, ProxyFault::Rst, COMMIT, 5 * hit)
            }
            Disruption::Partition { statement } => {
                proxy.hurt(Cut::Before, ProxyFault::Silent, RUN, *statement)
            }
            _ => {}
        }
        let port = free_port()?;
        let log = File::options().create(true).append(true).open(folder.join("workers.log"));
        let log = log.map_err(|why| why.to_string())?;
        let name = format!("worker-{}-of-{round}", STARTED.fetch_add(1, Ordering::Relaxed));
        let mut command = Command::new(env!("CARGO_BIN_EXE_ebb"));
        let api = matches!(disruption, Disruption::Slow { .. }).then(free_port).transpose()?;
        match api {
            Some(api) => {
                let address = format!("127.0.0.1:{api}");
                command.args(["serve", "--roles", "worker,http"]).env("EBB__HTTP__LISTEN", address)
            }
            None => command.arg("worker"),
        };
        if let Disruption::Skew { ms, .. } = &disruption {
            command.env("EBB_CLOCK_SKEW_MS", ms.to_string());
        }
        command
            .env("NEO4J_URI", proxy.uri())
            .env("NEO4J_USERNAME", "neo4j")
            .env("NEO4J_PASSWORD", &host.password)
            .env("EBB__WORKER__LISTEN", format!("127.0.0.1:{port}"))
            .env("EBB__JOBS__DECAY__EVERY", "1s")
            .env("EBB__JOBS__PROMOTE__EVERY", "1s")
            .env("EBB__JOBS__LEARN__EVERY", "1s")
            // What it adds to energies is no deposit that a client was told of.
            .env("EBB__JOBS__REINFORCE__ENABLED", "false")
            .env("EBB_HISTORY", folder.join(format!("{name}.ndjson")))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        if !timing.defaults {
            command.env("EBB__WORKER__LEASE", "1500ms").env("EBB__WORKER__TICK", "100ms");
        }
        // What a person may take from it: as long as the harness needs to see it.
        if round % 3 == 1 {
            command.env("EBB_DOZE", "after_claim:160");
        }
        if let Disruption::Point { point, hit, action } = &disruption {
            // An unknown commit comes once, so the point behind it does too.
            let hit = if *point == "before_receipt_read" { 1 } else { *hit };
            command.env("EBB_STOP", format!("{point}:{hit}:{action}"));
        }
        let child = command.spawn().map_err(|why| format!("ebb worker: {why}"))?;
        let slow = api.map(SlowClients::of);
        Ok(Self {
            name,
            child,
            disruption,
            round,
            began: Instant::now(),
            proxy,
            cuts: 0,
            port,
            api,
            _slow: slow,
            answered: false,
        })
    }

    /// Where it is to be asked something while slow clients occupy it, once it has borne them for a while.
    pub(crate) fn is_to_answer(&self) -> Option<u16> {
        match self.disruption {
            Disruption::Slow { lives } if !self.answered && self.began.elapsed() >= lives => self.api,
            _ => None,
        }
    }

    /// How much memory it has had at most, in MiB; `None` once it is gone.
    pub(crate) fn peak_mib(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? / 1_024)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets befall it what its time has come for. Whether something did.
    pub(crate) fn strike(&mut self) -> Option<Struck> {
        if let Ok(Some(_)) = self.child.try_wait() {
            return Some(Struck::Gone);
        }
        match &self.disruption {
            Disruption::Kill(after) | Disruption::Skew { lives: after, .. }
                if self.began.elapsed() >= *after =>
            {
                self.kill();
                Some(Struck::Gone)
            }
            Disruption::Slow { .. } if self.answered => {
                self.kill();
                Some(Struck::Gone)
            }
            Disruption::Pause(after) if self.began.elapsed() >= *after => {
                signal(self.pid(), Signal::STOP);
                Some(Struck::Paused)
            }
            Disruption::Point { action: "stop", .. } if is_stopped(self.pid()) => Some(Struck::Paused),
            // A commit of a transaction that only read is begun again and no unknown one: the next is cut as well.
            Disruption::Point { point: "before_receipt_read", .. } if self.proxy.cuts() > self.cuts => {
                self.cuts = self.proxy.cuts();
                self.proxy.hurt(Cut::After, ProxyFault::Rst, COMMIT, 1);
                None
            }
            Disruption::Partition { .. } if self.proxy.cuts() > 0 => {
                self.kill();
                Some(Struck::Gone)
            }
            _ => None,
        }
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub(crate) fn resume(&mut self) {
        signal(self.pid(), Signal::CONT);
        self.disruption = Disruption::None;
    }

    pub(crate) fn request_stop(&self) {
        signal(self.pid(), Signal::TERM);
    }

    /// Waits until it is gone; how long that took, or nothing if it had to be killed after ten seconds.
    pub(crate) async fn gone(&mut self) -> Option<Duration> {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(10) {
            if let Ok(Some(_)) = self.child.try_wait() {
                return Some(began.elapsed());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.kill();
        None
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A port that is free: taken and given back, and nobody else asks.
pub(crate) fn free_port() -> Result<u16, String> {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
    free.map(|free| free.port()).map_err(|why| why.to_string())
}

/// What has befallen a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Struck {
    Gone,
    Paused,
}

pub(crate) fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        let _ = kill_process(pid, signal);
    }
}

/// Whether the system shows the process as stopped.
fn is_stopped(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
}
