//! Where the tests' servers come from: the one of NEO4J_URI; else, where a Docker engine runs, a container through
//! testcontainers; else the product's own managed server, by the same code that users run.
//!
//! Whatever was started ends with this process, however it ends: a managed server by its keeper, a container by a
//! watcher that waits for the process to be gone. A suite that reaches no server fails at its first test and says why.

#![expect(clippy::disallowed_methods, reason = "the harness reads what a person sets for the tests")]

use ebb_provision::{Keeper, Origin, Way};
use secrecy::SecretString;
use std::env::var;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use testcontainers::core::{ContainerPort, Mount, WaitFor};
use testcontainers::runners::AsyncRunner;
use testcontainers::{GenericImage, ImageExt};

const PASSWORD: &str = "tests-of-ebb";
const DEFAULT_IMAGE: &str = "neo4j:5.26.31-community";

/// How to reach it.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) uri: String,
    pub(crate) http: String,
    pub(crate) password: SecretString,
}

/// Whether there is one server for all tests, which somebody else has started.
pub(crate) fn is_given() -> bool {
    var("NEO4J_URI").is_ok()
}

/// Finds or starts a server of this run.
pub(crate) async fn start(number: usize) -> Address {
    if let Ok(uri) = var("NEO4J_URI") {
        let host = uri.split("://").nth(1).and_then(|rest| rest.split(':').next()).unwrap_or("127.0.0.1");
        let http = var("NEO4J_HTTP").unwrap_or_else(|_| format!("http://{host}:7474"));
        let password = var("NEO4J_PASSWORD").unwrap_or_else(|_| PASSWORD.to_owned()).into();
        eprintln!("tests use the server {uri}");
        return Address { uri, http, password };
    }
    let forced = var("EBB_NEO4J").ok();
    if forced.as_deref() != Some("maven") && engine_answers() {
        match container().await {
            Ok(address) => return address,
            Err(why) if forced.as_deref() == Some("docker") || var("EBB_NEO4J_IMAGE").is_ok() => {
                panic!("the container that the tests were told to use did not start: {why}")
            }
            Err(why) => {
                eprintln!("a Docker engine answers, but not with a server ({why}); trying Maven artifacts")
            }
        }
    }
    managed(number).await
}

fn engine_answers() -> bool {
    let info = Command::new("docker").arg("info").stdout(Stdio::null()).stderr(Stdio::null()).status();
    info.is_ok_and(|end| end.success())
}

/// A container through testcontainers.
async fn container() -> Result<Address, String> {
    let image = var("EBB_NEO4J_IMAGE").unwrap_or_else(|_| DEFAULT_IMAGE.to_owned());
    let (name, tag) = image.rsplit_once(':').unwrap_or((&image, "latest"));
    let container = GenericImage::new(name, tag)
        .with_exposed_port(ContainerPort::Tcp(7687))
        .with_exposed_port(ContainerPort::Tcp(7474))
        .with_wait_for(WaitFor::message_on_stdout("Started."))
        .with_env_var("NEO4J_AUTH", format!("neo4j/{PASSWORD}"))
        .with_env_var("NEO4J_db_transaction_timeout", "30s")
        .with_env_var("NEO4J_db_lock_acquisition_timeout", "10s")
        // A statement is planned once, whatever the tests before left, and from samples that are taken where a test says so.
        .with_env_var("NEO4J_dbms_cypher_min__replan__interval", "1h")
        .with_env_var("NEO4J_db_index__sampling_background__enabled", "false")
        .with_env_var("NEO4J_db_tx__log_preallocate", "false")
        // Nothing of it is to survive, so no commit waits for a disk.
        .with_mount(Mount::tmpfs_mount("/data"))
        .with_startup_timeout(Duration::from_secs(180))
        .start()
        .await
        .map_err(|why| why.to_string())?;
    remove_after_this_process(container.id());
    let port = |inside| container.get_host_port_ipv4(inside);
    let (bolt, http) = (port(7687).await, port(7474).await);
    let (bolt, http) = (bolt.map_err(|why| why.to_string())?, http.map_err(|why| why.to_string())?);
    eprintln!("tests use the container {} of {image}", &container.id()[..12]);
    // The watcher removes it; dropping it here would remove it now.
    std::mem::forget(container);
    Ok(Address {
        uri: format!("bolt://127.0.0.1:{bolt}"),
        http: format!("http://127.0.0.1:{http}"),
        password: PASSWORD.to_owned().into(),
    })
}

/// Leaves a process that removes the container when this one is gone, killed or not.
fn remove_after_this_process(id: &str) {
    let wait = format!(
        "(while kill -0 {} 2>/dev/null; do sleep 0.5; done; docker rm -fv {id}) >/dev/null 2>&1 </dev/null &",
        std::process::id()
    );
    let left = Command::new("sh").args(["-c", &wait]).process_group(0).status();
    assert!(left.unwrap().success());
}

/// The product's own managed server, small, in the build folder.
async fn managed(number: usize) -> Address {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let home = folder.join(format!("suite-{number}"));
    let settings = ebb::settings::Settings::load(
        &ebb::settings::Flags::default(),
        &ebb::settings::Environment::of_process(),
    )
    .unwrap_or_else(|faults| panic!("{:?}", faults.list()));
    let config = ebb_provision::Config {
        uri: None,
        home,
        way: Some(Way::Maven),
        bolt_port: 0,
        http_port: 0,
        heap_mb: 768,
        pagecache_mb: 128,
        is_brief: false,
        keep: Duration::ZERO,
        ..settings.neo4j
    };
    // The server of a run that has just ended may still be stopping.
    let mut wiped = ebb_provision::wipe(&config).await;
    for _ in 0..60 {
        if wiped.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
        wiped = ebb_provision::wipe(&config).await;
    }
    wiped.unwrap_or_else(|why| panic!("{why}"));
    let keeper = Keeper::of(Path::new(env!("CARGO_BIN_EXE_ebb")));
    let server = ebb_provision::acquire(&config, &keeper)
        .await
        .unwrap_or_else(|why| panic!("no server for the tests: {why}"));
    let endpoint = server.endpoint.clone();
    assert_eq!(endpoint.origin, Origin::Maven);
    eprintln!("tests use a managed server at {}", endpoint.uri);
    // Its share goes with this process, and then the keeper stops the server.
    std::mem::forget(server);
    Address { uri: endpoint.uri, http: endpoint.http.unwrap_or_default(), password: endpoint.password }
}
