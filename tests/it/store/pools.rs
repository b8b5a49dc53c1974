//! Pools of connections: what takes all of one leaves those of the others.

use crate::harness::ebb::{key, remember};
use crate::harness::neo4j::{at, fresh};
use ebb_core::domain::event::Event;
use ebb_core::store::{Config, RequestMode, Store};
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_hold_every_connection_leave_those_of_jobs() {
    let db = fresh().await;
    db.apply(&[Event::Remember(remember("m", 0.0))]).await;
    let store = Store::connect(&Config { connections: 1, ..db.config.clone() }).unwrap();
    let (jobs, tunables) = (store.for_jobs(), db.tunables().await);
    let held = db.client.lock("m").await;
    let keys = [key("m")];
    let request = store.pin(RequestMode::DryRun, &keys, true, at(1.0), &tunables);
    let beside = async {
        db.somebody_waits().await;
        assert_eq!(jobs.tiers().await.unwrap()[0].memories, 1);
        let another = tokio::time::timeout(Duration::from_millis(500), store.tiers()).await;
        assert!(another.is_err(), "another request waits for the connection");
        held.rollback().await.unwrap();
    };
    let (requested, ()) = tokio::join!(request, beside);
    assert_eq!(requested.unwrap().len(), 1);
    assert_eq!(store.tiers().await.unwrap()[0].memories, 1);
}
