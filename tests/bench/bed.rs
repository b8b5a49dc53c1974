//! What benches stand on: a server of their own, and the service over it as a user's settings make it.

use ebb::settings::{Environment, Flag, Flags, Settings};
use ebb::wiring;
use ebb_core::domain::ids::Scope;
use ebb_core::service::Service;
use ebb_provision::{Keeper, Server};
use std::path::Path;
use tempfile::TempDir;

/// A managed Neo4j with 1 GiB of heap and an initialised database, in a folder that goes with it, or one that stays.
pub(crate) struct Bed {
    pub(crate) server: Server,
    pub(crate) folder: TempDir,
}

impl Bed {
    /// The server, and the service over it. A folder that is given stays, with what is there already.
    pub(crate) async fn open(given: Option<&Path>) -> (Self, Service) {
        let folder = tempfile::tempdir().expect("a folder");
        let home = given.unwrap_or(folder.path()).join("neo4j");
        let flag = |key, value: String| Flag { key, value, written: "bench".to_owned() };
        let flags = Flags {
            config: None,
            set: vec![
                flag("neo4j.home", home.display().to_string()),
                flag("neo4j.heap_mb", "1024".to_owned()),
                flag("neo4j.pagecache_mb", "512".to_owned()),
                flag("neo4j.keep", "0s".to_owned()),
            ],
        };
        let settings = Settings::load(&flags, &Environment::of_process()).expect("the defaults");
        let keeper = Keeper::of(Path::new(env!("CARGO_BIN_EXE_ebb")));
        let server = ebb_provision::acquire(&settings.neo4j, &keeper).await.expect("a server");
        let service = wiring::service_over(&server.endpoint, &settings, Scope::local()).expect("an address");
        service.initialise().await.expect("a schema");
        let about = service.store().about().await.expect("a server");
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        println!("{} {} by {}, heap 1 GiB; {cores} cores", about.name, about.version, server.endpoint.origin);
        (Self { server, folder }, service)
    }
}
