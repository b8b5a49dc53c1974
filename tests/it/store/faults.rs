//! Connections that break at a commit: whatever the server did or did not see, the effect is there once.
//!
//! Every commit of each operation is cut in turn, once before the server has seen it and once after it has answered. A
//! commit of a transaction that only read is simply begun again; one that wrote is of unknown outcome, and its receipt
//! settles it.

use crate::harness::ebb::{access, by_hand, close, id, key, remember, session};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::proxy::{COMMIT, Cut, Proxy, RUN};
use crate::harness::rows::{Row, ripe, row};
use ebb_core::domain::event::{Access, Event, Remember};
use ebb_core::domain::ids::Scope;
use ebb_core::domain::tier::Tier;
use ebb_core::jobs::JobName;
use ebb_core::store::{
    BackupRow, Batch, BatchOutcome, Config, EndedSession, EventEffect, OtherEvents, Progress, RequestMode,
    Store,
};
use std::sync::atomic::Ordering;

/// What a commit belongs to: a transaction that reads, or one that writes.
#[derive(Clone, Copy, PartialEq)]
enum Tx {
    Reads,
    Writes,
}
use Tx::{Reads, Writes};

fn through(db: &Fresh, proxy: &Proxy) -> Store {
    Store::connect(&Config { uri: proxy.uri(), ..db.config.clone() }).unwrap()
}

fn events() -> [Event; 2] {
    let session = || Some(session("s"));
    [
        Event::Remember(Remember { session: session(), ..remember("m", 0.0) }),
        Event::Access(Access { session: session(), ..access("m", 1.0) }),
    ]
}

/// Cuts each commit of an operation in both ways. `commits` says what they belong to, in order; `prepare` lays out the
/// database, `act` is the operation on a store behind the proxy, `check` looks at what is left.
async fn cut_everywhere(
    db: &Fresh,
    commits: &[Tx],
    prepare: impl AsyncFn(),
    act: impl AsyncFn(&Store),
    check: impl AsyncFn(&str),
) {
    let proxy = Proxy::before(&db.config.uri).await;
    for cut in [Cut::Before, Cut::After] {
        for (n, tx) in commits.iter().enumerate() {
            db.clear().await;
            prepare().await;
            let store = through(db, &proxy);
            let cuts = proxy.cuts();
            proxy.cut(cut, COMMIT, n + 1);
            act(&store).await;
            let told = format!("commit {n} cut {cut:?}");
            assert_eq!(proxy.cuts(), cuts + 1, "{told}: the operation has that many commits");
            let unknown = store.counters().unknown_commits.load(Ordering::Relaxed);
            assert_eq!(unknown, u64::from(*tx == Writes), "{told}");
            assert_eq!(store.counters().retried.load(Ordering::Relaxed), 1, "{told}");
            check(&told).await;
        }
    }
    // There are no more commits than were cut.
    db.clear().await;
    prepare().await;
    let cuts = proxy.cuts();
    proxy.cut(Cut::Before, COMMIT, commits.len() + 1);
    act(&through(db, &proxy)).await;
    assert_eq!(proxy.cuts(), cuts, "every commit was cut");
}

async fn once_made_and_accessed(db: &Fresh, told: &str) {
    let life = db.state("m").await;
    assert_eq!(life.access_count, 2, "{told}");
    close(life.energy.value(), 1.606_530_659_712_633);
    let joined: Vec<i64> =
        db.client.column("MATCH (:Memory)-[a:ACCESSED_IN]->(:Session) RETURN a.count AS n").await;
    assert_eq!(joined, [2], "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_at_commit_counts_once() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let events = events();
    let batch = Batch { events: &events, tunables: &tunables };

    let request = async |store: &Store| {
        let applied = store
            .apply_request(RequestMode::Once { request: "r", hash: "h", by: "test" }, None, batch, |_| {
                Vec::new()
            })
            .await
            .unwrap()
            .0;
        assert!(
            matches!(applied, BatchOutcome::Written(done) if done == [EventEffect::Created, EventEffect::Accessed])
        );
    };
    let check = async |told: &str| {
        once_made_and_accessed(&db, told).await;
        let requests: i64 = db.client.value("MATCH (r:EbbRequest) RETURN count(r) AS n").await;
        assert_eq!(requests, 1, "{told}");
    };
    cut_everywhere(&db, &[Writes], async || {}, request, check).await;

    let import = async |store: &Store| {
        store.open_import("file", "file", &Scope::local()).await.unwrap();
        let progress = Progress { lines: 2, digest: "two".to_owned(), at: None };
        let applied = store.import_events("file", 0, &progress, batch, OtherEvents::default()).await.unwrap();
        assert!(matches!(applied, BatchOutcome::Written(done) if done.len() == 2));
    };
    let check = async |told: &str| {
        once_made_and_accessed(&db, told).await;
        let lines: i64 = db.client.value("MATCH (i:EbbImport) RETURN i.lines AS n").await;
        assert_eq!(lines, 2, "{told}");
    };
    cut_everywhere(&db, &[Writes, Writes], async || {}, import, check).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_at_commit_of_a_sweep_counts_once() {
    let db = fresh().await;
    let prepare = async || {
        db.put(&[row("m", "working", 1.0), row("x", "working", 0.15), row("l", "longTerm", 6.0)]).await;
    };
    let sweep = async |store: &Store| {
        let report = by_hand(store, JobName::Decay, 1.0).await;
        assert_eq!((report.tally.changed, report.tally.expired), (3, 1));
    };
    let check = async |told: &str| {
        close(db.state("m").await.energy.value(), 0.606_530_659_712_633);
        close(db.state("l").await.energy.value(), 6.0 * (-0.001_f64).exp());
        assert_eq!(db.state("x").await.tier, Tier::ExpiredWorking, "{told}");
        let runs: Vec<String> = db
            .client
            .column("MATCH (r:EbbRun) RETURN r.state + ' ' + r.changed + ' ' + r.expired AS line")
            .await;
        assert_eq!(runs, ["done 3 1"], "{told}");
    };
    let commits = [Reads, Writes, Writes, Writes];
    cut_everywhere(&db, &commits, prepare, sweep, check).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_at_commit_of_a_promotion_counts_once() {
    let db = fresh().await;
    let prepare = async || db.put(&[ripe("a"), ripe("b")]).await;
    let promote = async |store: &Store| {
        let report = by_hand(store, JobName::Promote, 1.0).await;
        assert_eq!((report.tally.promoted, report.truncated), (2, false));
    };
    let check = async |told: &str| {
        assert_eq!(db.state("a").await.tier, Tier::ShortTerm, "{told}");
        assert_eq!(db.state("b").await.tier, Tier::ShortTerm, "{told}");
        close(db.state("a").await.energy.value(), 3.0 * (-0.5_f64).exp());
        let left: Vec<i64> = db
            .client
            .column(
                "UNWIND [COUNT { (s:Memory) WHERE s.promotionKey IS NOT NULL }, COUNT { ()-[:CONSOLIDATING]->() }, \
                 COUNT { (a:ConsolidationAttempt {state: 'done', applied: 2}) }, \
                 COUNT { (a:ConsolidationAttempt) }, COUNT { (r:EbbRun {state: 'done', promoted: 2}) }] AS n RETURN n",
            )
            .await;
        assert_eq!(left, [2, 0, 1, 1, 1], "{told}");
    };
    let commits = [Reads, Writes, Reads, Writes, Writes, Reads, Writes];
    cut_everywhere(&db, &commits, prepare, promote, check).await;
}

/// Of a marker that it set or removed itself, a restore does not say that another process did.
#[tokio::test(flavor = "multi_thread")]
async fn a_cut_at_commit_of_a_restore_is_not_taken_for_another_process() {
    let db = fresh().await;
    let row = BackupRow::Node {
        name: "1".to_owned(),
        labels: vec!["Memory".to_owned(), "EbbMemory".to_owned()],
        values: serde_json::json!({ "scope": "local", "id": "m" }).as_object().unwrap().clone(),
    };
    let restore = async |store: &Store| {
        store.hold_restore(None, "of a file", true).await.unwrap();
        assert_eq!(store.restore_batch(1, std::slice::from_ref(&row), false).await.unwrap(), 1);
        store.mark_restore_loaded().await.unwrap();
        store.end_restore().await.unwrap();
    };
    let check = async |told: &str| {
        let left: Vec<i64> = db
            .client
            .column(
                "UNWIND [COUNT { (m:EbbMigration {version: 'restore'}) }, COUNT { (n:EbbRestored) }, \
                 COUNT { (m:Memory {id: 'm'}) }] AS n RETURN n",
            )
            .await;
        assert_eq!(left, [0, 0, 1], "{told}");
    };
    cut_everywhere(&db, &[Writes; 6], async || {}, restore, check).await;
}

/// What a person asks for is answered as it was done, although the first answer was lost.
#[tokio::test(flavor = "multi_thread")]
async fn a_cut_at_commit_of_a_request_is_answered_as_it_was_done() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let once = RequestMode::Once { request: "r", hash: "h", by: "test" };
    let prepare = async || db.put(&[Row { session: Some("s"), ..row("m", "working", 1.8) }]).await;

    let forget = async |store: &Store| {
        assert_eq!(
            store
                .forget(once, (&Scope::local(), &[id("m")]), at(0.0), (&crate::harness::ebb::UNGUARDED, None))
                .await
                .unwrap()
                .nodes,
            1
        );
    };
    let check = async |told: &str| {
        let left: i64 =
            db.client.value("RETURN COUNT { (:Memory) } + 10 * COUNT { (:EbbTombstone) } AS n").await;
        assert_eq!(left, 10, "{told}");
    };
    cut_everywhere(&db, &[Writes], prepare, forget, check).await;

    let pin = async |store: &Store| {
        let pinned = store.pin(once, &[key("m")], true, at(1.0), &tunables).await.unwrap();
        assert!(pinned[0].life.as_ref().unwrap().state.pinned);
    };
    let check = async |_: &str| close(db.state("m").await.energy.value(), 1.8 * (-0.5_f64).exp());
    cut_everywhere(&db, &[Writes], prepare, pin, check).await;

    let end = async |store: &Store| {
        let of = (&Scope::local(), &session("s"));
        let ended = store.end_session(once, of, at(0.0), 1.5, &tunables).await.unwrap();
        assert_eq!(ended, EndedSession { promoted: vec!["m".to_owned()], held: 0 });
    };
    let check = async |told: &str| {
        let stubs: i64 =
            db.client.value("MATCH (s {promotionKey: 'm->shortTerm'}) RETURN count(s) AS n").await;
        assert_eq!((stubs, db.state("m").await.tier), (1, Tier::ShortTerm), "{told}");
    };
    cut_everywhere(&db, &[Writes], prepare, end, check).await;

    let line = async |store: &Store| {
        store.open_import("file", "file", &Scope::local()).await.unwrap();
        let progress = Progress { lines: 1, digest: "one".to_owned(), at: Some(at(0.0).millis()) };
        let (scope, session) = (Scope::local(), session("s"));
        let end = store.import_session_end("file", 0, &progress, &scope, &session, at(0.0), &tunables);
        assert_eq!(end.await.unwrap().held, 0);
        assert_eq!(store.look_import("file", "file", &Scope::local()).await.unwrap(), progress);
    };
    cut_everywhere(&db, &[Writes, Writes], prepare, line, check).await;
}

/// The very first transaction of a program is no exception: a server that let it begin has been reached.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_cut_in_the_middle_of_a_transaction_is_had_again() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let events = events();
    let batch = Batch { events: &events, tunables: &tunables };
    let proxy = Proxy::before(&db.config.uri).await;
    for cut in [Cut::Before, Cut::After] {
        for nth in 1..=5 {
            db.clear().await;
            let store = through(&db, &proxy);
            proxy.cut(cut, RUN, nth);
            let cuts = proxy.cuts();
            store
                .apply_request(RequestMode::Once { request: "r", hash: "h", by: "test" }, None, batch, |_| {
                    Vec::new()
                })
                .await
                .unwrap();
            assert_eq!(proxy.cuts(), cuts + 1, "statement {nth}");
            assert_eq!(
                store.counters().unknown_commits.load(Ordering::Relaxed),
                0,
                "nothing was committed yet"
            );
            once_made_and_accessed(&db, &format!("statement {nth} cut {cut:?}")).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_never_there_is_said_at_once() {
    let db = fresh().await;
    let proxy = Proxy::before("bolt://127.0.0.1:1").await;
    let store = through(&db, &proxy);
    let why = store.about().await.unwrap_err();
    assert!(matches!(why, ebb_core::store::Error::Unavailable { .. }), "{why}");
    assert_eq!(store.counters().retried.load(Ordering::Relaxed), 0);
}
