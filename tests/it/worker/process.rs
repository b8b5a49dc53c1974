//! A worker process of the tests, and what it says of itself.

use crate::harness::neo4j::Fresh;
use ebb_core::store::Config;
use secrecy::ExposeSecret;
use std::net::TcpListener;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything that must happen may take before the test fails. Nothing waits that long.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A worker; killed when it is dropped.
pub(crate) struct Worker {
    child: Child,
    port: u16,
    /// Its current folder: an `ebb.toml` there is its configuration.
    pub(crate) folder: TempDir,
}

/// Waits until something is so.
pub(crate) async fn eventually<F: AsyncFnMut() -> bool>(what: &str, mut is: F) {
    let deadline = Instant::now() + LIMIT;
    while !is().await {
        assert!(Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A port that is free: nobody else is given one that was just given out, for a while.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Worker {
    /// A worker on this database, with these variables.
    pub(crate) fn on(db: &Fresh, variables: &[(&str, &str)]) -> Self {
        Self::begin(&db.config, "", variables)
    }

    /// A worker on the database of a configuration, with an `ebb.toml` and variables.
    pub(crate) fn begin(config: &Config, toml: &str, variables: &[(&str, &str)]) -> Self {
        Self::with(&["worker", "-v"], config, toml, variables)
    }

    /// A process that answers over HTTP as well.
    pub(crate) fn serve(config: &Config, variables: &[(&str, &str)]) -> Self {
        Self::with(&["serve", "--roles", "worker,http", "-v"], config, "", variables)
    }

    fn with(words: &[&str], config: &Config, toml: &str, variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ebb.toml"), toml).unwrap();
        let port = free_port();
        let child = Command::new(env!("CARGO_BIN_EXE_ebb"))
            .args(words)
            .env("NEO4J_URI", &config.uri)
            .env("NEO4J_USERNAME", &config.username)
            .env("NEO4J_PASSWORD", config.password.expose_secret())
            .env("EBB__WORKER__LISTEN", format!("127.0.0.1:{port}"))
            .envs(variables.iter().copied())
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stderr(std::fs::File::create(folder.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        Self { child, port, folder }
    }

    /// Status and text of a page; `None` while nothing answers.
    pub(crate) fn page(&self, path: &str) -> Option<(u16, String)> {
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().new_agent();
        let mut answer = agent.get(format!("http://127.0.0.1:{}{path}", self.port)).call().ok()?;
        let status = answer.status().as_u16();
        Some((status, answer.body_mut().read_to_string().unwrap()))
    }

    /// Whether it says that it is ready.
    pub(crate) fn is_ready(&self) -> bool {
        self.page("/readyz").is_some_and(|(status, _)| status == 200)
    }

    /// Waits until it is ready.
    pub(crate) async fn ready(&self) {
        eventually("the worker is ready", async || self.is_ready()).await;
    }

    /// The sum of a metric over all labels that hold `label`, in whole numbers.
    pub(crate) fn metric(&self, name: &str, label: &str) -> u64 {
        let (_, page) = self.page("/metrics").unwrap_or_default();
        let of_it = |line: &&str| line.split(['{', ' ']).next() == Some(name) && line.contains(label);
        let value = |line: &str| line.rsplit(' ').next()?.split('.').next()?.parse::<u64>().ok();
        page.lines().filter(of_it).filter_map(value).sum()
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Waits for its end.
    pub(crate) async fn end(&mut self) -> ExitStatus {
        eventually("the worker ends", async || self.ended().is_some()).await;
        self.child.wait().unwrap()
    }

    /// What it has logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the worker said:\n{}", self.log());
        }
    }
}
