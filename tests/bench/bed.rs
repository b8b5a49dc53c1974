//! What benches stand on: a server of their own, and the service over it as a user's settings make it.

#![allow(dead_code, reason = "each program uses its own part")]

use ebb::settings::{Environment, Flag, Flags, Settings};
use ebb::wiring;
use ebb_core::domain::ids::Scope;
use ebb_core::service::Service;
use ebb_provision::{Keeper, Server};
use std::path::Path;
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
}
