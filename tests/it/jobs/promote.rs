//! Promotion: once, whole, and by one worker at a time, however many ask.

use crate::harness::ebb::{access, close, remember, session, together};
use crate::harness::graph::{remembered, same};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::rows::{Row, ripe, row};
use ebb_core::domain::attempt::Right;
use ebb_core::domain::event::{Access, Event, Remember};
use ebb_core::domain::ids::{promotion_key, stub_id};
use ebb_core::domain::tier::Tier;
use ebb_core::domain::tunables::Tunables;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::{Outcome, Wanted, run_job};
use ebb_core::store::catalogue::{ATTEMPT_CLAIM, ATTEMPT_OPEN};
use ebb_core::store::{OpenedRun, Run, Store};
use neo4rs::query;
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// A run of its own name, so that many programs may claim at once; the ledger would let one work at a time.
async fn run_of(store: &Store, job: &'static str) -> Run {
    match store.open_run(job, "manual/claims", at(0.0), "manual", Right::Lease).await.unwrap() {
        OpenedRun::Ours(run) => run,
        other => panic!("{other:?}"),
    }
}

async fn marks(db: &Fresh) -> i64 {
    db.client.value("MATCH ()-[c:CONSOLIDATING]->() RETURN count(c) AS n").await
}

async fn stubs(db: &Fresh) -> i64 {
    db.client.value("MATCH (s:Memory) WHERE s.promotionKey IS NOT NULL RETURN count(s) AS n").await
}

#[tokio::test(flavor = "multi_thread")]
async fn twice_is_once() {
    let db = fresh().await;
    let mut rows: Vec<Row> = (0..33).map(|n| ripe(&format!("m{n:02}"))).collect();
    rows.push(Row { ripe: Some(0.0), ..row("crystal", "shortTerm", 6.0) });
    rows.push(Row { ripe: Some(2.0), ..row("later", "working", 3.0) });
    db.put(&rows).await;
    let once = db.run(JobName::Promote, 1.0).await;
    assert_eq!((once.tally.promoted, once.tally.changed, once.outcome), (34, 34, Outcome::Done));
    let before = remembered(&db.client).await;
    let twice = db.run(JobName::Promote, 1.0).await;
    same(&before, &remembered(&db.client).await, "a second promotion at the same instant");
    assert_eq!((twice.tally.promoted, twice.tally.changed), (0, 0));
    assert_eq!((marks(&db).await, stubs(&db).await), (0, 34), "at rest no marks, a stub for each step");
    assert_eq!(db.state("later").await.tier, Tier::Working);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_living_memory_keeps_its_node_and_leaves_the_documented_stub() {
    let db = fresh().await;
    let made = Remember { session: Some(session("s")), ..remember("m", 0.0) };
    let used = |hours| Event::Access(Access { session: Some(session("s")), ..access("m", hours) });
    db.apply(&[Event::Remember(made), used(0.1), used(0.2), used(0.3)]).await;
    let before = db.state("m").await;
    assert_eq!(before.ripe_at, Some(at(0.2)), "ripe since the access that lifted it over 2.0");

    db.run(JobName::Promote, 1.0).await;

    let after = db.state("m").await;
    assert_eq!((after.tier, after.ripe_at, after.energy_at), (Tier::ShortTerm, None, at(1.0)));
    assert_eq!((after.last_accessed, after.access_count), (before.last_accessed, 4));
    close(after.energy.value(), before.energy.value() * (-0.5 * 0.7_f64).exp());
    let key = promotion_key(&crate::harness::ebb::key("m"), Tier::ShortTerm);
    #[derive(Deserialize)]
    struct Stub {
        id: String,
        tier: String,
        key: String,
        energy: f64,
        at: i64,
        risen: f64,
        from: String,
        count: i64,
        rest: Vec<String>,
    }
    let text = "MATCH (s:Memory:EbbMemory)-[p:PROMOTED_TO]->(m:Memory {id: 'm', content: 'content of m'})-[:ACCESSED_IN]->(:Session {id: 's'})
                RETURN s.id AS id, s.tier AS tier, s.promotionKey AS key, s.energy AS energy, p.at.epochMillis AS at,
                  p.energy AS risen, m.promotedFrom AS from, s.accessCount AS count,
                  [key IN keys(s) WHERE NOT key IN ['id', 'tier', 'promotionKey', 'energy', 'accessCount']] AS rest";
    let mut stub: Vec<Stub> = db.client.rows(text, &[]).await;
    assert_eq!(stub.len(), 1);
    let mut stub = stub.remove(0);
    assert_eq!(
        (stub.id.as_str(), stub.key.as_str(), stub.tier.as_str()),
        (stub_id(&key).as_str(), "m->shortTerm", "archivedWorking")
    );
    assert_eq!((stub.from, stub.at, stub.count), (stub.id, at(1.0).millis(), 4));
    close(stub.energy, after.energy.value());
    close(stub.risen, after.energy.value());
    stub.rest.sort();
    assert_eq!(stub.rest, ["created", "lastAccessed", "scope"]);

    // The next tier leaves a second stub, and the first stays.
    db.client.run("MATCH (m {id: 'm'}) SET m.energy = 5.5, m.ripeAt = datetime({epochMillis: 0})", &[]).await;
    db.run(JobName::Promote, 1.0).await;
    let kinds: Vec<String> = db
        .client
        .column("MATCH (s)-[p:PROMOTED_TO|CRYSTALLIZED_INTO]->({id: 'm', tier: 'longTerm'}) RETURN type(p) + ' ' + s.tier AS k ORDER BY k")
        .await;
    assert_eq!(kinds, ["CRYSTALLIZED_INTO archivedShortTerm", "PROMOTED_TO archivedWorking"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_still_above_the_next_threshold_is_ripe_again_at_once() {
    let db = fresh().await;
    db.put(&[Row { ripe: Some(0.0), ..row("m", "working", 9.0) }]).await;
    let wanted = Wanted::by_hand(at(0.0), Right::Lease);
    let limited = Request { limit: Some(1), ..Request::default() };
    let once = run_job(&db.store, JobName::Promote, &wanted, limited).await.unwrap();
    assert_eq!((once.tally.promoted, once.truncated, once.due_left), (1, true, 1));
    let life = db.state("m").await;
    assert_eq!((life.tier, life.ripe_at), (Tier::ShortTerm, Some(at(0.0))));
    db.run(JobName::Promote, 0.5).await;
    let life = db.state("m").await;
    assert_eq!((life.tier, life.ripe_at), (Tier::LongTerm, None));
    close(life.energy.value(), 9.0 * (-0.05 * 0.5_f64).exp());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_memory_above_both_thresholds_takes_two_steps_in_a_run() {
    let db = fresh().await;
    let text = "CREATE (:Memory {id: 'm', content: 'of another program', tier: 'working', energy: 9.0, accessCount: 9,
                  created: datetime({epochMillis: $now}), lastAccessed: datetime({epochMillis: $now})})";
    db.client.run(text, &[("now", at(0.0).millis().into())]).await;
    let report = db.run(JobName::Promote, 0.0).await;
    assert_eq!((report.tally.adopted, report.tally.promoted), (1, 2));
    let kinds: Vec<String> = db
        .client
        .column("MATCH (s)-[p:PROMOTED_TO|CRYSTALLIZED_INTO]->({id: 'm', tier: 'longTerm'}) RETURN type(p) + ' ' + s.tier AS k ORDER BY k")
        .await;
    assert_eq!(kinds, ["CRYSTALLIZED_INTO archivedShortTerm", "PROMOTED_TO archivedWorking"]);
    assert_eq!(db.run(JobName::Promote, 0.0).await.tally.promoted, 0);
}

/// Fifty programs ask for the same occurrence; then fifty claim past the ledger. One of them promotes, each time.
#[tokio::test(flavor = "multi_thread")]
async fn fifty_workers_one_promotion() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    db.put(&[ripe("a")]).await;
    let reports = together((0..50).map(|_| {
        let store = db.another();
        async move {
            let wanted = Wanted::scheduled(at(0.0), Right::Lease);
            run_job(&store, JobName::Promote, &wanted, Request::default()).await.unwrap()
        }
    }))
    .await;
    let worked: Vec<_> = reports.iter().filter(|report| report.outcome == Outcome::Done).collect();
    assert_eq!((worked.len(), worked[0].tally.promoted), (1, 1));
    let runs: i64 = db.client.value("MATCH (r:EbbRun) RETURN count(r) AS n").await;
    assert_eq!((runs, stubs(&db).await, marks(&db).await), (1, 1, 0));

    db.put(&[ripe("b")]).await;
    let promoted = together((0..50).map(|worker| {
        let (store, tunables) = (db.another(), tunables.clone());
        async move { promote_past_the_ledger(&store, worker, &tunables).await }
    }))
    .await;
    assert_eq!(promoted.iter().sum::<i64>(), 1, "{promoted:?}");
    assert_eq!((stubs(&db).await, marks(&db).await), (2, 0));
    assert_eq!(db.state("b").await.tier, Tier::ShortTerm);
}

async fn promote_past_the_ledger(store: &Store, worker: usize, tunables: &Tunables) -> i64 {
    let mut run = run_of(store, format!("worker-{worker}").leak()).await;
    match store.claim(&mut run, "promote", 10).await.unwrap() {
        Some(claimed) => store.apply(&mut run, &claimed, tunables).await.unwrap().promoted,
        None => 0,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_of_ten_take_ten_ten_and_five() {
    let db = fresh().await;
    let rows: Vec<Row> =
        (0..25).map(|n| Row { ripe: Some(-f64::from(n)), ..ripe(&format!("m{n:02}")) }).collect();
    db.put(&rows).await;
    let mut run = run_of(&db.store, "promote").await;
    let mut sizes = Vec::new();
    while let Some(claimed) = db.store.claim(&mut run, "promote", 10).await.unwrap() {
        if sizes.is_empty() {
            let first: Vec<String> = db
                .client
                .column("MATCH (m:Memory)-[:CONSOLIDATING]->() RETURN m.id AS id ORDER BY m.ripeAt")
                .await;
            let oldest: Vec<String> = (15..25).rev().map(|n| format!("m{n}")).collect();
            assert_eq!(first, oldest, "who waits longest is first");
        }
        sizes.push(claimed.claimed);
    }
    assert_eq!(sizes, [10, 10, 5]);
    assert_eq!(marks(&db).await, 25);

    // The same by three programs at once: what one holds another goes past, and nobody comes away short.
    db.clear().await;
    db.put(&rows).await;
    let mut sizes = together(["one", "two", "three"].map(|worker| {
        let store = db.another();
        Box::pin(async move {
            let mut run = run_of(&store, worker).await;
            store.claim(&mut run, "promote", 10).await.unwrap().map_or(0, |claimed| claimed.claimed)
        })
    }))
    .await;
    sizes.sort_unstable();
    assert_eq!(sizes, [5, 10, 10]);
    let held: Vec<i64> =
        db.client.column("MATCH (m:Memory) RETURN COUNT { (m)-[:CONSOLIDATING]->() } AS n").await;
    assert_eq!(held, vec![1; 25]);
}

/// Two claimers, two steps each: claim, commit. All six orders are driven on two connections; a step that waits for the
/// other's lock lets the order go on without it.
#[tokio::test(flavor = "multi_thread")]
async fn s5_no_double_mark() {
    let db = fresh().await;
    for order in ["AABB", "ABAB", "ABBA", "BBAA", "BABA", "BAAB"] {
        db.clear().await;
        db.put(&[ripe("x"), ripe("y"), ripe("z")]).await;
        let mut claimers = [claimer(&db, "A").await, claimer(&db, "B").await];
        for step in order.bytes() {
            let claimer = &mut claimers[usize::from(step - b'A')];
            claimer.steps.send(()).unwrap();
            claimer.owed += 1;
            // The step is over, or it waits for the other claimer.
            while claimer.owed > 0 && !db.waits().await {
                if claimer.done.try_recv().is_ok() {
                    claimer.owed -= 1;
                }
                tokio::task::yield_now().await;
            }
        }
        let mut claimed = Vec::new();
        for claimer in claimers {
            claimed.push(claimer.task.join_all().await[0]);
        }
        assert_eq!(claimed.iter().sum::<i64>(), 3, "{order}: {claimed:?}");
        let held: Vec<i64> =
            db.client.column("MATCH (m:Memory) RETURN COUNT { (m)-[:CONSOLIDATING]->() } AS n").await;
        assert_eq!(held, [1, 1, 1], "{order}");
    }
}

struct Claimer {
    steps: mpsc::UnboundedSender<()>,
    done: mpsc::UnboundedReceiver<()>,
    task: JoinSet<i64>,
    owed: usize,
}

async fn claimer(db: &Fresh, name: &'static str) -> Claimer {
    let mut tx = db.client.begin().await;
    let (steps, mut asked) = mpsc::unbounded_channel();
    let (tell, done) = mpsc::unbounded_channel();
    let mut task = JoinSet::new();
    task.spawn(async move {
        asked.recv().await.unwrap();
        let open = query(ATTEMPT_OPEN.body())
            .param("id", name)
            .param("phase", "promote")
            .param("holder", name)
            .param("at", at(0.0).millis())
            .param("leaseMs", 60_000);
        let mut rows = tx.execute(open).await.unwrap();
        while rows.next(tx.handle()).await.unwrap().is_some() {}
        let claim = query(ATTEMPT_CLAIM.body())
            .param("id", name)
            .param("holder", name)
            .param("now", at(0.0).millis())
            .param("limit", 10)
            .param("leaseMs", 60_000);
        let mut rows = tx.execute(claim).await.unwrap();
        let row = rows.next(tx.handle()).await.unwrap().unwrap();
        let claimed: i64 = row.get("claimed").unwrap();
        while rows.next(tx.handle()).await.unwrap().is_some() {}
        tell.send(()).unwrap();
        asked.recv().await.unwrap();
        tx.commit().await.unwrap();
        // The test may have stopped listening: its order is over.
        let _ = tell.send(());
        claimed
    });
    Claimer { steps, done, task, owed: 0 }
}

/// The id of a stub can be worked out by anybody, and given to a memory: nobody's promotion waits for that.
#[tokio::test(flavor = "multi_thread")]
async fn a_stub_whose_id_is_taken_gets_another() {
    let db = fresh().await;
    let taken = stub_id(&promotion_key(&crate::harness::ebb::key("m"), Tier::ShortTerm));
    db.put(&[ripe("m"), ripe("n"), row(&taken, "working", 1.0)]).await;
    let report = db.run(JobName::Promote, 1.0).await;
    assert_eq!((report.tally.promoted, report.tally.quarantined), (2, 0));
    let stubs = "MATCH (s:Memory)-[:PROMOTED_TO]->(m:Memory) RETURN m.promotedFrom = s.id AND m.id + '->shortTerm' = s.promotionKey AS it ORDER BY m.id";
    assert_eq!(db.client.column::<bool>(stubs).await, [true, true]);
    assert_eq!(db.state(&taken).await.tier, Tier::Working);
}
