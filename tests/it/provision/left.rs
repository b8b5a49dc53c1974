//! A server that an unclean end left, as a process or in a container, and a home that others have too.

use super::{Place, acquire, cypher, eventually, in_container, is_here, keeper, kill, record, runs};
use ebb_provision::{Config, Error};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

/// A process that has nothing to do with a server.
fn another_process() -> Child {
    Command::new("sleep").arg("600").spawn().unwrap()
}

fn write_record(home: &Path, record: &Value) {
    std::fs::write(home.join("server.json"), record.to_string()).unwrap();
}

/// The record of a server in a container, whose processes are others here.
fn record_of(container: &str, pid: u32) -> Value {
    json!({
        "way": "docker", "pid": pid, "keeper_pid": pid, "container": container, "bolt": 0, "http": 0,
        "stay": false, "log_from": 0
    })
}

/// The record of a home that containers share: the keeper of the one has a process id that is another's in the other.
#[tokio::test]
async fn a_process_that_is_not_the_keeper_gets_no_signal() {
    let place = Place::new().await;
    let config = Config { keep: Duration::from_secs(600), ..place.config() };
    acquire(&config).await.release().await.unwrap();
    let mut other = another_process();
    let own = record(&place.home()).unwrap();
    let mut shared = own.clone();
    shared["keeper_pid"] = json!(other.id());
    write_record(&place.home(), &shared);
    let refused = ebb_provision::stop(&config, true).await.unwrap_err();
    assert!(matches!(refused, Error::KeeperElsewhere { pid, .. } if pid == other.id()), "{refused}");
    assert!(refused.to_string().contains("another machine"), "{refused}");
    assert!(other.try_wait().unwrap().is_none(), "it runs on");
    assert!(runs(own["pid"].as_u64().unwrap()), "and the server too");

    write_record(&place.home(), &own);
    assert!(ebb_provision::stop(&config, false).await.unwrap());
    other.kill().unwrap();
    other.wait().unwrap();
}

#[tokio::test]
async fn a_home_stays_while_it_is_not_known_whether_its_container_runs() {
    let place = Place::new().await;
    std::fs::create_dir(place.home()).unwrap();
    std::fs::write(place.home().join(".ebb-managed"), "").unwrap();
    let mut other = another_process();
    write_record(&place.home(), &record_of("ebb-neo4j-left", other.id()));
    let config = Config { docker: Some("a-program-that-is-not-there".into()), ..place.config() };
    for said in [
        ebb_provision::status(&config).await.map(drop),
        ebb_provision::stop(&config, true).await.map(drop),
        ebb_provision::wipe(&config).await,
    ] {
        assert!(matches!(said, Err(Error::Docker { .. })), "{said:?}");
    }
    assert!(record(&place.home()).is_some());

    // A start goes on: Neo4j itself refuses a database that is open.
    let server = acquire(&config).await;
    assert_eq!(cypher(&server.endpoint, "RETURN 1"), json!(1));
    server.release().await.unwrap();
    ebb_provision::wipe(&config).await.unwrap();
    assert!(other.try_wait().unwrap().is_none());
    other.kill().unwrap();
    other.wait().unwrap();
}

#[tokio::test]
async fn a_container_whose_client_is_gone_is_stopped_before_its_data_is_removed() {
    let place = Place::new().await;
    let Some((config, first)) = in_container(&place).await else { return };
    cypher(&first.endpoint, "CREATE (:Kept {n: 42})");
    let server = record(&place.home()).unwrap();
    let container = server["container"].as_str().unwrap();
    kill("KILL", server["pid"].as_u64().unwrap());
    eventually("the keeper leaves", || record(&place.home()).is_none()).await;
    eventually("the container is gone", || !is_here(container)).await;
    let second = acquire(&config).await;
    assert_eq!(cypher(&second.endpoint, "MATCH (k:Kept) RETURN k.n"), json!(42));
    drop((first, second));
    eventually("the server ended", || record(&place.home()).is_none()).await;

    // Without keeper and client the container is all that is left.
    let third = acquire(&config).await;
    let server = record(&place.home()).unwrap();
    for process in ["keeper_pid", "pid"] {
        let pid = server[process].as_u64().unwrap();
        kill("KILL", pid);
        eventually("it is gone", || !runs(pid)).await;
    }
    drop(third);
    assert!(is_here(container));
    assert!(ebb_provision::status(&config).await.unwrap().server.is_some());
    assert!(matches!(ebb_provision::wipe(&config).await, Err(Error::Running { .. })));
    assert!(ebb_provision::stop(&config, false).await.unwrap());
    eventually("the container is gone", || !is_here(container)).await;
    ebb_provision::wipe(&config).await.unwrap();
}

/// An earlier version named a container by the path of its home alone, which a home on another machine may have too.
#[tokio::test]
async fn a_container_that_may_be_of_another_home_is_left_alone() {
    let place = Place::new().await;
    let Some((config, server)) = in_container(&place).await else { return };
    server.release().await.unwrap();
    let name = format!("ebb-neo4j-other-{}", std::process::id());
    let image = config.image.as_str();
    let args = ["run", "--detach", "--rm", "--name", &name, "--entrypoint", "sleep", image, "600"];
    assert!(Command::new("docker").args(args).output().unwrap().status.success());
    let mut other = another_process();
    write_record(&place.home(), &record_of(&name, other.id()));
    let refused = ebb_provision::stop(&config, true).await.unwrap_err();
    assert!(refused.to_string().contains(&format!("docker stop {name}")), "{refused}");
    assert!(matches!(ebb_provision::wipe(&config).await, Err(Error::Running { .. })));

    let refused = ebb_provision::acquire(&config, &keeper()).await.map(drop).unwrap_err();
    assert!(refused.to_string().contains(&format!("docker stop {name}")), "{refused}");
    assert!(is_here(&name));
    let removed = Command::new("docker").args(["rm", "--force", &name]).output().unwrap();
    assert!(removed.status.success());
    let server = acquire(&config).await;
    assert_ne!(record(&place.home()).unwrap()["container"], json!(name));
    server.release().await.unwrap();
    other.kill().unwrap();
    other.wait().unwrap();
}
