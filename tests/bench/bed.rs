//! What benches stand on: a server of their own, the service over it as a user's settings make it, and the program itself.

#![allow(dead_code, reason = "each program uses its own part")]
#![expect(clippy::disallowed_types, reason = "a second client, apart from the program that is measured")]

use ebb::settings::{Environment, Flag, Flags, Settings};
use ebb::wiring;
use ebb_core::domain::ids::Scope;
use ebb_core::service::Service;
use ebb_provision::{Keeper, Server};
use neo4rs::Graph;
use rustix::process::{Pid, Signal, kill_process};
use secrecy::ExposeSecret;
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A managed Neo4j with an initialised database, in a folder that goes with it, or one that stays.
pub(crate) struct Bed {
    pub(crate) server: Server,
    pub(crate) folder: TempDir,
}

/// The memory of a server, MiB, and the settings of Ebb.
pub(crate) struct Setup {
    pub(crate) heap_mib: u64,
    pub(crate) pagecache_mib: u64,
    /// Text of `ebb.toml`, which is written into the folder; empty for the defaults.
    pub(crate) file: String,
}

impl Default for Setup {
    fn default() -> Self {
        Self { heap_mib: 1_024, pagecache_mib: 512, file: String::new() }
    }
}

impl Bed {
    /// A server with 1 GiB of heap, and the service over it. A folder that is given stays, with what is there already.
    pub(crate) async fn open(given: Option<&Path>) -> (Self, Service) {
        Self::open_with(given, Setup::default()).await
    }

    /// As [`Bed::open`], with a setup.
    pub(crate) async fn open_with(given: Option<&Path>, setup: Setup) -> (Self, Service) {
        let folder = tempfile::tempdir().expect("a folder");
        let home = given.unwrap_or(folder.path()).join("neo4j");
        let flag = |key, value: String| Flag { key, value, written: "bench".to_owned() };
        let set = vec![
            flag("neo4j.home", home.display().to_string()),
            flag("neo4j.heap_mb", setup.heap_mib.to_string()),
            flag("neo4j.pagecache_mb", setup.pagecache_mib.to_string()),
            flag("neo4j.keep", "0s".to_owned()),
        ];
        let config = (!setup.file.is_empty()).then(|| folder.path().join("ebb.toml"));
        if let Some(path) = &config {
            std::fs::write(path, &setup.file).expect("a file of settings");
        }
        let flags = Flags { config, set };
        let settings = Settings::load(&flags, &Environment::of_process()).expect("valid settings");
        let keeper = Keeper::of(Path::new(env!("CARGO_BIN_EXE_ebb")));
        let server = ebb_provision::acquire(&settings.neo4j, &keeper).await.expect("a server");
        let service = wiring::service_over(&server.endpoint, &settings, Scope::local()).expect("an address");
        service.initialise().await.expect("a schema");
        let about = service.store().about().await.expect("a server");
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        println!(
            "{} {} by {}, heap {} MiB; {cores} cores",
            about.name, about.version, server.endpoint.origin, setup.heap_mib
        );
        (Self { server, folder }, service)
    }

    /// A client of the server, apart from Ebb's own.
    pub(crate) fn client(&self) -> Graph {
        let endpoint = &self.server.endpoint;
        Graph::new(&endpoint.uri, &endpoint.username, endpoint.password.expose_secret()).expect("an address")
    }

    /// Starts `ebb` in the folder, over the server.
    pub(crate) fn start(&self, arguments: &[&str], settings: &[(&str, &str)]) -> Program {
        let log = self.folder.path().join("ebb.log");
        let file = File::options().create(true).append(true).open(&log).expect("a log");
        let child = Command::new(env!("CARGO_BIN_EXE_ebb"))
            .args(arguments)
            .env("NEO4J_URI", &self.server.endpoint.uri)
            .env("NEO4J_USERNAME", &self.server.endpoint.username)
            .env("NEO4J_PASSWORD", self.server.endpoint.password.expose_secret())
            .envs(settings.iter().copied())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .spawn()
            .expect("ebb");
        Program { child, log }
    }

    /// Starts `ebb serve`, and waits until it is ready. Returns its address too.
    pub(crate) fn serve(&self, arguments: &[&str], settings: &[(&str, &str)]) -> (Program, String) {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port");
        let listen = free.to_string();
        let settings = [settings, &[("EBB__HTTP__LISTEN", listen.as_str())]].concat();
        let mut program = self.start(&[&["serve"], arguments].concat(), &settings);
        while ureq::get(format!("http://{listen}/readyz")).call().is_err() {
            program.assert_runs();
            std::thread::sleep(Duration::from_millis(100));
        }
        (program, format!("http://{listen}"))
    }
}

/// A process of `ebb`. It does not outlive a bench that fails.
pub(crate) struct Program {
    child: Child,
    log: PathBuf,
}

impl Program {
    pub(crate) fn assert_runs(&mut self) {
        if let Some(end) = self.child.try_wait().expect("a status") {
            panic!("ebb ended with {end}:\n{}", self.log());
        }
    }

    /// A number of `/proc/PID/status`: bytes in KiB, as `VmRSS`, or a count, as `Threads`.
    pub(crate) fn status(&self, field: &str) -> Option<u64> {
        status_of(&self.child.id().to_string(), field)
    }

    pub(crate) fn descriptors(&self) -> Option<u64> {
        let all = std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).ok()?;
        u64::try_from(all.count()).ok()
    }

    /// The log of all processes of this folder.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Ends it as a service manager does.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            kill_process(pid, Signal::TERM).expect("a signal");
        }
        self.child.wait().expect("an end")
    }
}

/// As [`Program::status`], of a process id or `self`.
pub(crate) fn status_of(process: &str, field: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    value.split_whitespace().next()?.parse().ok()
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
