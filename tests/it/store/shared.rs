//! Requests of one process that come at once share a transaction, and each is done once, or refused, on its own.

use crate::harness::ebb::{access, remember, together};
use crate::harness::neo4j::fresh;
use crate::harness::proxy::{COMMIT, Cut, Proxy};
use ebb_core::domain::event::Event;
use ebb_core::store::{Batch, BatchOutcome, Config, Error, EventEffect, RequestMode, Store};
use std::sync::atomic::Ordering;

/// One event under a request id.
async fn request(store: &Store, id: &str, event: Event) -> BatchOutcome {
    let tunables = store.tunables().await.unwrap();
    let events = [event];
    let batch = Batch { events: &events, tunables: &tunables };
    let once = RequestMode::Once { request: id, hash: "h", by: "test" };
    store.apply_request(once, None, batch, |_| Vec::new()).await.unwrap().0
}

#[track_caller]
fn is(outcome: &BatchOutcome, effect: EventEffect) {
    assert!(matches!(outcome, BatchOutcome::Written(done) if *done == [effect]), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_many_at_once_is_done_or_refused_on_its_own() {
    const EACH: usize = 16;
    let db = fresh().await;
    db.apply(&[Event::Remember(remember("m", 0.0))]).await;
    let outcomes = together((0..4 * EACH).map(|n| {
        let store = db.store.clone();
        async move {
            let outcome = match n % 4 {
                0 => {
                    request(&store, &format!("r{n}"), Event::Remember(remember(&format!("m{n}"), 0.0))).await
                }
                1 => request(&store, &format!("r{n}"), Event::Access(access("m", 1.0))).await,
                2 => request(&store, &format!("r{n}"), Event::Access(access("nowhere", 1.0))).await,
                // Two of them are one request.
                _ => request(&store, &format!("twice{}", n / 8), Event::Access(access("m", 1.0))).await,
            };
            (n, outcome)
        }
    }))
    .await;
    for (n, outcome) in &outcomes {
        match (n % 4, outcome) {
            (0, outcome) => is(outcome, EventEffect::Created),
            (2, BatchOutcome::Rejected(faults)) => {
                assert!(matches!(faults[0].why, Error::NotFound { .. }), "{outcome:?}");
            }
            (_, outcome) => is(outcome, EventEffect::Accessed),
        }
    }
    let whole = |n: usize| i64::try_from(n).unwrap();
    assert_eq!(db.state("m").await.access_count, 1 + whole(EACH + EACH / 2));
    let receipts: i64 = db.client.value("MATCH (r:EbbRequest) RETURN count(r) AS n").await;
    assert_eq!(receipts, 1 + whole(2 * EACH + EACH / 2));
    let changes: i64 =
        db.client.value("MATCH (c:EbbChange) WHERE size(c.keys) > 0 RETURN count(c) AS n").await;
    assert!(changes < whole(EACH), "{changes} transactions");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_at_the_commit_of_many_counts_each_once() {
    let db = fresh().await;
    let proxy = Proxy::before(&db.config.uri).await;
    for cut in [Cut::Before, Cut::After] {
        db.clear().await;
        db.apply(&[Event::Remember(remember("m", 0.0))]).await;
        let store = Store::connect(&Config { uri: proxy.uri(), ..db.config.clone() }).unwrap();
        store.tunables().await.unwrap();
        // The first goes alone; those that come meanwhile share the next.
        proxy.cut(cut, COMMIT, 2);
        let outcomes = together((0..20).map(|n| {
            let store = store.clone();
            async move { request(&store, &format!("r{n}"), Event::Access(access("m", 1.0))).await }
        }))
        .await;
        outcomes.iter().for_each(|outcome| is(outcome, EventEffect::Accessed));
        assert_eq!(store.counters().unknown_commits.load(Ordering::Relaxed), 1, "{cut:?}");
        assert_eq!(db.state("m").await.access_count, 21, "{cut:?}");
    }
}
