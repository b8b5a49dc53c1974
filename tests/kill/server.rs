//! The server of a campaign: one of its own, since it is hurt.

#[path = "../shared/java.rs"]
mod java;

use ebb::settings::{Environment, Flags, Settings};
use ebb_provision::{Keeper, Server, Way};
use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};
use secrecy::ExposeSecret;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A managed server, its settings, and the settings of Ebb.
pub(crate) struct Host {
    pub(crate) settings: Settings,
    /// Java as it was configured.
    java: Option<PathBuf>,
    server: Option<Server>,
    pub(crate) uri: String,
    pub(crate) password: String,
}

impl Host {
    /// Starts one with an empty database, in the folder of the campaign, with the settings that stand there.
    pub(crate) async fn start(folder: &Path) -> Result<Self, String> {
        let home = folder.join("neo4j");
        let config = Some(folder.join("ebb.toml"));
        let mut settings = Settings::load(&Flags { config, ..Flags::default() }, &Environment::of_process())
            .map_err(|faults| format!("{:?}", faults.list()))?;
        let (heap_mb, pagecache_mb) = (768, 128);
        settings.neo4j = ebb_provision::Config {
            uri: None,
            home,
            way: Some(Way::Maven),
            bolt_port: 0,
            http_port: 0,
            heap_mb,
            // A machine that is busy with something else is slow, and no failure of ours.
            start_timeout: Duration::from_secs(240),
            pagecache_mb,
            is_brief: false,
            keep: Duration::ZERO,
            ..settings.neo4j
        };
        let server = acquire(&settings).await?;
        let endpoint = &server.endpoint;
        let (uri, password) = (endpoint.uri.clone(), endpoint.password.expose_secret().to_owned());
        // It comes back where it was.
        settings.neo4j.bolt_port = port(&uri);
        settings.neo4j.http_port = endpoint.http.as_deref().map_or(0, port);
        let java = settings.neo4j.java.clone();
        Ok(Self { settings, java, server: Some(server), uri, password })
    }

    async fn pid(&self) -> Result<u32, String> {
        let status = ebb_provision::status(&self.settings.neo4j).await.map_err(|why| why.to_string())?;
        status.server.map(|running| running.pid).ok_or_else(|| "no server runs".to_owned())
    }

    /// From now on the server can write no file beyond its first pages, as on a full disk, until it is killed.
    pub(crate) async fn fill_disk(&self) -> Result<(), String> {
        let pid = i32::try_from(self.pid().await?).ok().and_then(Pid::from_raw);
        let most = Some(4_096);
        let limit = Rlimit { current: most, maximum: most };
        prlimit(pid, Resource::Fsize, limit).map(|_| ()).map_err(|why| format!("prlimit: {why}"))
    }

    /// Stops the server in order and starts it so that it takes no writes, or takes them again.
    pub(crate) async fn set_read_only(&mut self, yes: bool) -> Result<(), String> {
        if let Some(server) = self.server.take() {
            server.release().await.map_err(|why| why.to_string())?;
        }
        self.settings.neo4j.java = self.java.clone();
        if yes {
            let settings = &["server.databases.default_to_read_only=true"];
            let home = &self.settings.neo4j.home;
            let java = java::with_settings(home, self.java.as_deref(), settings);
            self.settings.neo4j.java = Some(java.map_err(|why| format!("{}: {why}", home.display()))?);
        }
        self.restart().await
    }

    /// Kills the server process.
    pub(crate) async fn kill(&mut self) -> Result<(), String> {
        super::worker::signal(self.pid().await?, Signal::KILL);
        drop(self.server.take());
        let began = Instant::now();
        while ebb_provision::status(&self.settings.neo4j).await.is_ok_and(|status| status.server.is_some()) {
            if began.elapsed() > Duration::from_secs(20) {
                return Err("the killed server is still seen as running".to_owned());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Starts it again, on the data that it left; returns when it answers.
    pub(crate) async fn restart(&mut self) -> Result<(), String> {
        self.server = Some(acquire(&self.settings).await?);
        Ok(())
    }

    /// Stops it and waits until it is gone.
    pub(crate) async fn end(self) {
        if let Some(server) = self.server {
            let _ = server.release().await;
        }
    }
}

async fn acquire(settings: &Settings) -> Result<Server, String> {
    let keeper = Keeper::of(Path::new(env!("CARGO_BIN_EXE_ebb")));
    ebb_provision::acquire(&settings.neo4j, &keeper).await.map_err(|why| format!("no server: {why}"))
}

fn port(uri: &str) -> u16 {
    uri.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(0)
}
