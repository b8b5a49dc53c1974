//! Ebb as a test drives it: events in, jobs at an instant, a memory's life out, and more programs on one database.

use super::neo4j::{Fresh, at};
use ebb_core::domain::annotations::Annotations;
use ebb_core::domain::attempt::Right;
use ebb_core::domain::event::{Access, Event, Remember};
use ebb_core::domain::guard::Guard;
use ebb_core::domain::ids::{MemoryId, MemoryKey, Scope, SessionId};
use ebb_core::domain::memory::{MemoryState, Revive};
use ebb_core::domain::policy::{Policies, Regime};
use ebb_core::domain::retention::Retention;
use ebb_core::domain::tunables::Tunables;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::{JobReport, Wanted, run_job};
use ebb_core::store::{Batch, BatchOutcome, EventEffect, Store};
use std::time::Duration;
use tokio::task::{JoinSet, LocalSet};

/// What sweeps go by where a test says nothing else: no policy, and the defaults.
pub(crate) fn regime() -> Regime {
    let guard = Guard { enabled: true, max_affected_ratio: 0.2 };
    Regime { policies: Policies::default(), epsilon: 0.05, guard, first_run_dry: false }
}

/// The defaults, and no write that takes others' rows along: what is sent can be counted.
pub(crate) fn retention() -> Retention {
    let days = |days: u64| Duration::from_secs(days * 86_400);
    Retention {
        requests: days(1),
        journal: days(7),
        runs: days(30),
        sessions: days(90),
        decayed_facts: None,
        tombstones: None,
        paced: false,
    }
}

/// A guard that stops nothing.
pub(crate) const UNGUARDED: Guard = Guard { enabled: false, max_affected_ratio: 1.0 };

pub(crate) fn id(id: &str) -> MemoryId {
    MemoryId::new(id).unwrap()
}

pub(crate) fn session(id: &str) -> SessionId {
    SessionId::new(id).unwrap()
}

/// A memory made that many hours after the start, in no session.
pub(crate) fn remember(name: &str, hours: f64) -> Remember {
    Remember {
        at: at(hours),
        id: id(name),
        scope: Scope::local(),
        content: format!("content of {name}"),
        session: None,
        instance: None,
        mentions: Vec::new(),
        pinned: false,
        embedding: None,
        annotations: Annotations::default(),
    }
}

/// A memory of the usual scope.
pub(crate) fn key(name: &str) -> MemoryKey {
    MemoryKey::of_row("local", name)
}

/// A use of a memory, in no session.
pub(crate) fn access(name: &str, hours: f64) -> Access {
    Access { at: at(hours), id: id(name), scope: Scope::local(), session: None, revive: Revive::Yes }
}

/// Asserts that two numbers are equal to 1e-9 of themselves.
#[track_caller]
pub(crate) fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 1e-9 * wanted.abs(), "{found} is not {wanted}");
}

/// Runs all of these at the same time, each as a task of its own, and answers what they answered in any order.
pub(crate) async fn together<F>(tasks: impl IntoIterator<Item = F>) -> Vec<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let local = LocalSet::new();
    let mut set = JoinSet::new();
    for task in tasks {
        set.spawn_local_on(task, &local);
    }
    local.run_until(set.join_all()).await
}

impl Fresh {
    /// Applies events under a request id of their own; all of them must be good.
    pub(crate) async fn apply(&self, events: &[Event]) -> Vec<EventEffect> {
        let tunables = self.tunables().await;
        let request = ebb_core::clock::new_id();
        let batch = Batch { events, tunables: &tunables };
        match self
            .store
            .apply_request(
                ebb_core::store::RequestMode::Once { request: &request, hash: "hash", by: "test" },
                None,
                batch,
                |_| Vec::new(),
            )
            .await
            .unwrap()
            .0
        {
            BatchOutcome::Written(done) => done,
            BatchOutcome::Rejected(faults) => panic!("{faults:?}"),
        }
    }

    pub(crate) async fn tunables(&self) -> Tunables {
        self.store.tunables().await.unwrap()
    }

    /// Runs a job by hand.
    pub(crate) async fn run(&self, job: JobName, hours: f64) -> JobReport {
        by_hand(&self.store, job, hours).await
    }

    /// The life of a memory that must be there and sound.
    pub(crate) async fn state(&self, name: &str) -> MemoryState {
        let mut found = self.store.memories(&[key(name)]).await.unwrap();
        assert_eq!(found.len(), 1, "memory {name}");
        found.remove(0).life.unwrap().state
    }

    /// Another program on the same database.
    pub(crate) fn another(&self) -> Store {
        Store::connect(&self.config).unwrap()
    }

    /// Another program, whose leases last that long.
    pub(crate) fn leasing(&self, lease: Duration) -> Store {
        Store::connect(&ebb_core::store::Config { lease, ..self.config.clone() }).unwrap()
    }

    /// Waits until the server's clock has passed the lease of whatever is not over.
    pub(crate) async fn leases_are_over(&self) {
        let last = "MATCH (n) WHERE n.state IN ['open', 'planned', 'claimed'] \
                    RETURN datetime.realtime().epochMillis > max(n.leaseUntil) AS over";
        while !self.client.value::<bool>(last).await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until a transaction waits for a lock that another one holds.
    pub(crate) async fn somebody_waits(&self) {
        while !self.waits().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Whether a transaction waits for a lock.
    pub(crate) async fn waits(&self) -> bool {
        let waiting = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' \
                       RETURN count(*) > 0 AS waiting";
        self.client.value::<bool>(waiting).await
    }

    /// Removes everything but the tunables and the schema; cycles are counted as at the beginning.
    pub(crate) async fn clear(&self) {
        self.clear_but("ConsolidationConfig").await;
    }

    /// The same, and leaves what carries that label.
    pub(crate) async fn clear_but(&self, label: &str) {
        let kept = format!(
            "n:{label} OR n:ConsolidationConfig OR n:EbbMigration OR (n:EbbCounter AND n.name = 'cycle')"
        );
        self.client.run(&format!("MATCH (n) WHERE NOT ({kept}) DETACH DELETE n"), &[]).await;
        let text = "MATCH (c:EbbCounter {name: 'cycle'}) SET c.advances = 0, c.evaporated = null";
        self.client.run(text, &[]).await;
    }
}

/// Runs a job by hand with the store of another program.
pub(crate) async fn by_hand(store: &Store, job: JobName, hours: f64) -> JobReport {
    run_job(store, job, &Wanted::by_hand(at(hours), Right::Lease), Request::default()).await.unwrap()
}
