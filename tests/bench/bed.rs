//! What benches stand on: a server of their own, the service over it as a user's settings make it, and one generator.

use ebb::domain::ids::Scope;
use ebb::provision::{self, Keeper, Server};
use ebb::service::Service;
use ebb::settings::{Environment, Flag, Flags, Settings};
use ebb::wiring;
use std::path::Path;
use tempfile::TempDir;

/// A managed Neo4j with 1 GiB of heap and an initialised database, in a folder that goes with it.
pub(crate) struct Bed {
    pub(crate) service: Service,
    pub(crate) server: Server,
    pub(crate) folder: TempDir,
}

impl Bed {
    pub(crate) async fn open() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let flag = |key, value: String| Flag { key, value, written: "bench".to_owned() };
        let flags = Flags {
            config: None,
            set: vec![
                flag("neo4j.home", folder.path().join("neo4j").display().to_string()),
                flag("neo4j.heap_mb", "1024".to_owned()),
                flag("neo4j.pagecache_mb", "512".to_owned()),
            ],
        };
        let settings = Settings::load(&flags, &Environment::of_process()).expect("the defaults");
        let keeper = Keeper::of(Path::new(env!("CARGO_BIN_EXE_ebb")));
        let server = provision::acquire(&settings.neo4j, &keeper).await.expect("a server");
        let service = wiring::over(&server.endpoint, &settings, Scope::local()).expect("an address");
        service.initialise().await.expect("a schema");
        let about = service.store().about().await.expect("a server");
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        println!("{} {} by {}, heap 1 GiB; {cores} cores", about.name, about.version, server.endpoint.origin);
        Self { service, server, folder }
    }
}

/// The generator that all benches share.
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}
