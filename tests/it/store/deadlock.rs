//! Locks: a real deadlock ends with one of the two going again, and whatever fails leaves nothing locked.

use crate::harness::ebb::{access, key, remember, session};
use crate::harness::neo4j::{Fresh, at, fresh, run, touch};
use crate::harness::proxy::{Cut, Proxy, RUN};
use crate::harness::rows::{Row, ripe, row};
use ebb_core::domain::attempt::Right;
use ebb_core::domain::event::{Access, Event, Remember};
use ebb_core::domain::ids::{Scope, promotion_key};
use ebb_core::domain::tier::Tier;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::{Wanted, dry_run_job, run_job};
use ebb_core::store::{
    Batch, BatchOutcome, Config, DecayCursor, Error, EventEffect, OpenedRun, PageMode, RequestMode, Store,
};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The store has locked a memory and is about to ask for its session, which another transaction holds that waits for the
/// memory. The server ends one of the two, as a rule the one that has locked less; the access counts once in any case.
/// Rounds go on until it has ended the store's side and the store has gone again.
#[tokio::test(flavor = "multi_thread")]
async fn a_deadlock_is_gone_through() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let events = [Event::Access(Access { session: Some(session("s")), ..access("a", 0.0) })];
    let batch = Batch { events: &events, tunables: &tunables };
    let proxy = Proxy::before(&db.config.uri).await;
    let store = Store::connect(&Config { uri: proxy.uri(), ..db.config.clone() }).unwrap();
    for round in 0..10 {
        db.clear().await;
        db.put(&[Row { session: Some("s"), ..row("a", "working", 1.0) }]).await;
        // First the memory, then the session.
        proxy.cut(Cut::Hold, RUN, 2);
        let request = format!("r-{round}");
        let lasting = RequestMode::Once { request: &request, hash: "h", by: "test" };
        let ours = store.apply_request(lasting, None, batch, |_| Vec::new());
        let theirs = async {
            proxy.held().await;
            let mut other = db.client.begin().await;
            run(&mut other, "MATCH (s:Session {id: 's'}) SET s.touched = true RETURN s.id").await.unwrap();
            run(&mut other, "UNWIND range(1, 100) AS i CREATE (b:Bystander) SET b.i = i").await.unwrap();
            run(&mut other, "MATCH (b:Bystander) SET b.touched = true").await.unwrap();
            let (touched, ()) = tokio::join!(touch(&mut other, "a"), async {
                db.somebody_waits().await;
                proxy.go();
            });
            match touched {
                Ok(_) => other.commit().await.unwrap(),
                // The server has rolled it back already, and says so to this.
                Err(_) => drop(other.rollback().await),
            }
        };
        let (applied, ()) = tokio::join!(ours, theirs);
        assert!(
            matches!(applied.unwrap(), (BatchOutcome::Written(done), ..) if done == [EventEffect::Accessed])
        );
        assert_eq!(db.state("a").await.access_count, 2);
        if store.counters().retried.load(Ordering::Relaxed) > 0 {
            let both = "MATCH ({touched: true})-[a:ACCESSED_IN]->({touched: true}) RETURN a.count AS n";
            assert_eq!(db.client.value::<i64>(both).await, 2, "both have had their way");
            println!("the store's side was ended in round {round}");
            return;
        }
    }
    panic!("in 10 deadlocks the server never ended the store's side");
}

/// Another client gets the lock at once, although the pool still holds the connection.
async fn is_free(db: &Fresh, names: &[&str]) {
    for name in names {
        let touched = async {
            let mut tx = db.client.begin().await;
            touch(&mut tx, name).await.unwrap();
            tx.commit().await.unwrap();
        };
        tokio::time::timeout(Duration::from_secs(2), touched)
            .await
            .unwrap_or_else(|_| panic!("{name} is locked"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_leaves_nothing_locked() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    db.put(&[row("a", "working", 1.0), row("b", "working", 1.0), ripe("r")]).await;

    // A batch with faults.
    let other = Remember { content: "else".to_owned(), ..remember("b", 1.0) };
    let events = [Event::Access(access("a", 1.0)), Event::Remember(other)];
    let batch = Batch { events: &events, tunables: &tunables };
    let applied = db
        .store
        .apply_request(RequestMode::Once { request: "r", hash: "h", by: "test" }, None, batch, |_| Vec::new())
        .await
        .unwrap()
        .0;
    assert!(matches!(applied, BatchOutcome::Rejected(_)));
    is_free(&db, &["a", "b"]).await;

    // A law that refuses under the lock.
    db.client.run("MATCH (m {id: 'a'}) SET m.tier = 'expiredWorking'", &[]).await;
    let refused = db.store.pin(RequestMode::DryRun, &[key("a")], true, at(1.0), &tunables).await;
    assert!(matches!(refused, Err(Error::Refused { .. })));
    is_free(&db, &["a"]).await;

    // A statement that the server refuses, in the middle of a transaction with locks, by a constraint of somebody else: the
    // row is quarantined by another transaction.
    db.client.run("CREATE CONSTRAINT of_others FOR (m:Memory) REQUIRE m.promotionKey IS UNIQUE", &[]).await;
    let taken = [("key", promotion_key(&key("r"), Tier::ShortTerm).into())];
    db.client.run("CREATE (:Memory:EbbMemory {scope: 'other', id: 'x', promotionKey: $key})", &taken).await;
    let wanted = Wanted::by_hand(at(1.0), Right::Lease);
    let done = run_job(&db.store, JobName::Promote, &wanted, Request::default()).await;
    is_free(&db, &["r"]).await;
    let why: Vec<String> = db.client.column("MATCH (m:EbbQuarantined) RETURN m.ebbReason AS why").await;
    db.client.run("DROP CONSTRAINT of_others", &[]).await;
    let tally = done.unwrap().tally;
    assert_eq!((tally.promoted, tally.quarantined), (0, 1), "{tally:?}");
    assert!(why.len() == 1 && why[0].starts_with("memory/stub failed on it: "), "{why:?}");

    // A run that was lost.
    let open = async |store: &Store, right| match store
        .open_run("decay", "manual/x", at(1.0), "manual", right)
        .await
        .unwrap()
    {
        OpenedRun::Ours(run) => run,
        other => panic!("{other:?}"),
    };
    let mut stale = open(&db.store, Right::Lease).await;
    let second = db.another();
    let mut run = open(&second, Right::Scratch).await;
    let lost = db.store.decay(&mut stale, &tunables, &mut DecayCursor::default(), PageMode::Rows(10)).await;
    assert!(matches!(lost, Err(Error::Fenced(_))));
    let mut cursor = DecayCursor::default();
    let swept = second.decay(&mut run, &tunables, &mut cursor, PageMode::Rows(10));
    assert_eq!(
        tokio::time::timeout(Duration::from_secs(2), swept).await.unwrap().unwrap(),
        3,
        "the rows of a, b and r"
    );
}

/// A dry run works under locks and takes everything back: nobody waits for it afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_leaves_nothing_locked() {
    let db = fresh().await;
    db.put(&[row("a", "working", 1.0)]).await;
    dry_run_job(&db.store, JobName::Decay, at(1.0), Default::default()).await.unwrap();
    is_free(&db, &["a"]).await;
}

/// Somebody moved a tier back by hand: the step it would take has been taken, and cannot be taken twice. It is set aside,
/// and those behind it rise.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_was_taken_before_holds_nobody_up() {
    let db = fresh().await;
    db.put(&[ripe("a"), Row { session: Some("s"), ..ripe("s") }]).await;
    db.run(JobName::Promote, 0.0).await;
    db.client
        .run("MATCH (m:Memory) WHERE m.id IN ['a', 's'] SET m.tier = 'working', m.energy = 4.0", &[])
        .await;
    db.client.run("MATCH (m {id: 'a'}) SET m.ripeAt = datetime({epochMillis: 0})", &[]).await;
    db.put(&[ripe("b"), Row { session: Some("s"), ..row("t", "working", 1.8) }]).await;
    let wanted = Wanted::by_hand(at(0.0), Right::Lease);
    let report = run_job(&db.store, JobName::Promote, &wanted, Request::default()).await.unwrap();
    assert_eq!((report.tally.promoted, report.tally.quarantined), (1, 1));
    let reason: String = db
        .client
        .value("MATCH (m:EbbQuarantined {id: 'a', tier: 'working', energy: 4.0}) RETURN m.ebbReason AS r")
        .await;
    assert_eq!(reason, "it was promoted to shortTerm before and then moved back");

    let tunables = db.tunables().await;
    let ended = db
        .store
        .end_session(
            RequestMode::Once { request: "end", hash: "", by: "test" },
            (&Scope::local(), &session("s")),
            at(0.0),
            1.5,
            &tunables,
        )
        .await
        .unwrap();
    assert_eq!(ended.promoted, ["t"]);
    let aside: Vec<String> = db.client.column("MATCH (m:EbbQuarantined) RETURN m.id AS id ORDER BY id").await;
    assert_eq!(aside, ["a", "s"]);
}
