//! Co-activation: a session makes each pair of its memories stronger by one, once, whatever is repeated or comes late.

use crate::harness::ebb::{access, remember, session, together};
use crate::harness::graph::{everything, remembered, same};
use crate::harness::neo4j::{Fresh, at, fresh};
use ebb_core::domain::attempt::Right;
use ebb_core::domain::event::{Access, Event, Remember};
use ebb_core::domain::ids::Scope;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::{Wanted, dry_run_job, run_job};
use neo4rs::BoltType;
use std::rc::Rc;

/// `id` made in a session.
fn made(id: &str, hours: f64, in_session: &str) -> Event {
    Event::Remember(Remember { session: Some(session(in_session)), ..remember(id, hours) })
}

/// `id` used in a session.
fn used(id: &str, hours: f64, in_session: &str) -> Event {
    Event::Access(Access { session: Some(session(in_session)), ..access(id, hours) })
}

/// All pairs with their weights.
async fn weights(db: &Fresh) -> Vec<String> {
    db.client
        .column(
            "MATCH (a:Memory)-[c:COACTIVATED]->(b:Memory) \
             RETURN a.id + '-' + b.id + ' ' + toString(c.weight) AS pair ORDER BY pair",
        )
        .await
}

/// Three memories used together in as many sessions, an hour apart.
pub(super) async fn triangle(db: &Fresh, sessions: u32) {
    db.apply(&["a", "b", "c"].map(|id| made(id, 0.0, "s0"))).await;
    for n in 1..sessions {
        let name = format!("s{n}");
        db.apply(&["a", "b", "c"].map(|id| used(id, f64::from(n), &name))).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s6_coactivation_idempotent() {
    let db = fresh().await;
    triangle(&db, 5).await;
    let mut after = Vec::new();
    for run in 1..=10 {
        for job in JobName::ALL {
            let report = db.run(job, 5.0).await;
            assert!(run == 1 || report.tally.changed == 0, "{job}, run {run}: {:?}", report.tally);
        }
        if [1, 2, 10].contains(&run) {
            after.push(remembered(&db.client).await);
        }
    }
    same(&after[0], &after[1], "a second run of everything");
    same(&after[0], &after[2], "ten runs of everything");
    assert_eq!(weights(&db).await, ["a-b 5", "a-c 5", "b-c 5"]);
    let clusters: Vec<String> = db
        .client
        .column(
            "MATCH (c:SemanticCluster) \
             RETURN c.key + ' ' + toString(c.strength) + ' ' + toString(c.size) + ' ' + \
             toString(COUNT { (c)<-[:BELONGS_TO]-(:Memory) }) AS cluster",
        )
        .await;
    assert_eq!(clusters, ["a 5.0 3 3"], "a triangle is one cluster");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_access_pairs_once() {
    let db = fresh().await;
    db.apply(&[made("a", 0.0, "s"), made("b", 0.1, "s"), used("a", 0.2, "s")]).await;
    let first = db.run(JobName::Coactivate, 1.0).await.tally;
    assert_eq!((first.scanned, first.changed), (1, 1));
    assert_eq!(weights(&db).await, ["a-b 1"]);

    // The same two again, and nothing: they were together in this session already.
    db.apply(&[used("a", 1.5, "s"), used("b", 1.6, "s")]).await;
    let again = db.run(JobName::Coactivate, 2.0).await.tally;
    assert_eq!((again.scanned, again.changed), (0, 0), "no new memory, so the session does not wait");

    // A third joins late and is paired with both; another session pairs two of them once more.
    db.apply(&[made("c", 2.5, "s"), used("c", 2.6, "t"), used("a", 2.7, "t")]).await;
    db.run(JobName::Coactivate, 3.0).await;
    assert_eq!(weights(&db).await, ["a-b 1", "a-c 2", "b-c 1"]);
    let (first, last): (i64, i64) = (
        db.client
            .value("MATCH ({id: 'a'})-[p:COACTIVATED]->({id: 'c'}) RETURN p.firstCoactivation.epochMillis")
            .await,
        db.client
            .value("MATCH ({id: 'a'})-[p:COACTIVATED]->({id: 'c'}) RETURN p.lastCoactivation.epochMillis")
            .await,
    );
    assert_eq!((first, last), (at(2.5).millis(), at(2.7).millis()), "when both had been accessed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tier_does_not_matter_and_a_stub_is_no_memory() {
    let db = fresh().await;
    db.apply(&[made("a", 0.0, "s"), made("b", 0.0, "s"), made("c", 0.0, "s")]).await;
    db.apply(&[used("a", 0.1, "s"), used("a", 0.2, "s")]).await;
    db.run(JobName::Promote, 0.3).await;
    // A day later two of them have expired; a late job counts what an early one would have.
    db.run(JobName::Decay, 24.0).await;
    let expired: i64 =
        db.client.value("MATCH (m:Memory {tier: 'expiredWorking'}) RETURN count(m) AS n").await;
    assert_eq!(expired, 2);
    // Somebody joined the stub by hand.
    db.client
        .run("MATCH (s:Memory)-[:PROMOTED_TO]->() MATCH (e:Session) CREATE (s)-[:ACCESSED_IN]->(e)", &[])
        .await;
    db.run(JobName::Coactivate, 24.0).await;
    assert_eq!(weights(&db).await, ["a-b 1", "a-c 1", "b-c 1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_writer_draws_counts_once_too() {
    let db = fresh().await;
    db.apply(&[made("a", 0.0, "s"), made("b", 0.0, "s")]).await;
    db.run(JobName::Coactivate, 1.0).await;
    // A session of its own, without a scope, and an access drawn twice; and a third memory in our session.
    db.client
        .run(
            "MATCH (a:Memory {id: 'a'}), (b:Memory {id: 'b'}), (s:Session {id: 's'}) \
             CREATE (f:Session {id: 'f'}), (:Session {id: 'f'}), (:Session {id: 7}), (a)-[:ACCESSED_IN]->(f), (a)-[:ACCESSED_IN]->(f), (b)-[:ACCESSED_IN]->(f) \
             CREATE (c:Memory {id: 'c', content: 'x', energy: 1.0, sessionId: 's'})-[:ACCESSED_IN]->(s)",
            &[],
        )
        .await;
    db.run(JobName::Coactivate, 2.0).await;
    assert_eq!(weights(&db).await, ["a-b 2", "a-c 1", "b-c 1"]);
    let before = remembered(&db.client).await;
    db.run(JobName::Coactivate, 3.0).await;
    same(&before, &remembered(&db.client).await, "a run that finds nothing");

    // One that goes, and one that is drawn at the same time: the counts are the same, the degrees are not.
    db.client
        .run(
            "MATCH (m:Memory {id: 'b'})-[r:ACCESSED_IN]->(:Session {id: 'f'}) DELETE r \
             WITH 1 AS one MATCH (m:Memory {id: 'c'}), (f:Session {id: 'f'}) CREATE (m)-[:ACCESSED_IN]->(f)",
            &[],
        )
        .await;
    db.apply(&[made("d", 3.0, "t"), used("a", 3.0, "t")]).await;
    db.run(JobName::Coactivate, 4.0).await;
    assert!(weights(&db).await.contains(&"a-d 1".to_owned()));
}

/// As the document has it: sessions merged by id alone, joined to memories that Ebb holds already.
#[tokio::test(flavor = "multi_thread")]
async fn sessions_of_an_agent_count_at_the_next_run() {
    let db = fresh().await;
    db.apply(&[made("a", 0.0, "s"), made("b", 0.0, "t")]).await;
    db.run(JobName::Coactivate, 1.0).await;
    let draw = "UNWIND range(1, 4) AS i MERGE (s:Session {id: 'agent-' + i}) \
                WITH s MATCH (m:Memory) WHERE m.id IN $ids MERGE (m)-[:ACCESSED_IN]->(s)";
    let ids =
        |ids: &[&str]| ("ids", BoltType::from(ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>()));
    db.client.run(draw, &[ids(&["a", "b"])]).await;
    db.run(JobName::Coactivate, 2.0).await;
    assert_eq!(weights(&db).await, ["a-b 4"]);
    let scopes: Vec<String> = db
        .client
        .column("MATCH (s:Session) WHERE s.id STARTS WITH 'agent' RETURN DISTINCT s.scope AS scope")
        .await;
    assert_eq!(scopes, ["local"]);
    let before = remembered(&db.client).await;
    assert_eq!(db.run(JobName::Coactivate, 2.0).await.tally.changed, 0);
    same(&before, &remembered(&db.client).await, "a second run");

    // Memories and sessions that are new at once, more than a page of adoption: the first page knows the session by
    // name alone.
    let create = "UNWIND range(1, 1100) AS i CREATE (:Memory {id: 'n' + i, content: 'x', energy: 1.0, \
                  sessionId: CASE WHEN i <= 2 THEN 'late' END})";
    db.client.run(create, &[]).await;
    let join = "CREATE (s:Session {id: 'late'}) WITH s MATCH (m:Memory) WHERE m.id IN ['n1099', 'n1100', 'a'] \
                CREATE (m)-[:ACCESSED_IN]->(s)";
    db.client.run(join, &[]).await;
    db.run(JobName::Coactivate, 3.0).await;
    let sessions: Vec<String> =
        db.client.column("MATCH (s:Session {id: 'late'}) RETURN toString(s.scope) AS scope").await;
    assert_eq!(sessions, ["local"], "the session of the agent is the session of its memories");
    let pairs: i64 = db
        .client
        .value("MATCH ({id: 'a'})-[c:COACTIVATED {weight: 1}]-(m) WHERE m.id STARTS WITH 'n' RETURN count(c) AS n")
        .await;
    assert_eq!(pairs, 4);
}

/// Sessions of another library, with its own relationships of the same type, one of its ids a `sessionId` of ours.
#[tokio::test(flavor = "multi_thread")]
async fn sessions_of_another_library_stay_as_they_are() {
    let db = fresh().await;
    let theirs = "UNWIND range(1, 1000) AS i \
        CREATE (s:Session {id: CASE i % 10 WHEN 0 THEN i WHEN 8 THEN null ELSE 'lang-' + i END, title: 'talk ' + i, \
            started: datetime('2020-01-01T00:00:00Z'), turns: i}) \
        FOREACH (_ IN CASE i % 3 WHEN 0 THEN [1] ELSE [] END | SET s.scope = 'their own') \
        FOREACH (_ IN CASE i % 4 WHEN 0 THEN [1] ELSE [] END | \
            CREATE (:User {name: 'u' + i})-[:ACCESSED_IN {at: datetime('2999-01-01T00:00:00Z')}]->(s)) \
        FOREACH (_ IN CASE i % 5 WHEN 0 THEN [1] ELSE [] END | SET s.started = datetime('2999-01-01T00:00:00Z')) \
        FOREACH (_ IN CASE i % 7 WHEN 0 THEN [1] ELSE [] END | REMOVE s.title, s.turns)";
    db.client.run(theirs, &[]).await;
    let mut before = everything(&db.client).await;
    before.retain(|line| line.contains("Session") || line.contains("User"));
    assert_eq!(before.len(), 1500, "with 250 users and their accesses");
    let unchanged = async |why: &str| {
        let after = everything(&db.client).await;
        let gone: Vec<&String> = before.iter().filter(|line| after.binary_search(line).is_err()).collect();
        assert_eq!(gone, Vec::<&String>::new(), "{why}");
    };
    db.apply(&[made("a", 0.0, "s"), made("b", 0.1, "s")]).await;
    db.client.run("CREATE (:Memory {id: 'c', content: 'x', energy: 1.0, sessionId: 'lang-1'})", &[]).await;
    for job in [JobName::Coactivate, JobName::Audit, JobName::Coactivate, JobName::Audit] {
        db.run(job, 24.0 * 365.0).await;
        unchanged(job.name()).await;
    }
    assert!(!db.store.unseen_accesses().await.unwrap(), "their accesses cause no scan");
    let later = at(24.0 * 365.0);
    let ahead = db.store.future_rows(later).await.unwrap();
    assert_eq!((ahead.sessions, ahead.accesses), (0, 0));
    assert_eq!(db.store.rewind(later).await.unwrap(), 0);
    unchanged("a correction of dates").await;
    assert_eq!(weights(&db).await, ["a-b 1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_crosses_scopes() {
    let db = fresh().await;
    let team = |id: &str| {
        let scope = Scope::new("team").unwrap();
        Event::Remember(Remember { scope, session: Some(session("s")), ..remember(id, 0.0) })
    };
    db.apply(&[made("a", 0.0, "s"), made("b", 0.0, "s"), team("x"), team("y")]).await;
    db.client
        .run("MATCH (m {id: 'x'}) MATCH (s:Session {scope: 'local'}) CREATE (m)-[:ACCESSED_IN]->(s)", &[])
        .await;
    db.run(JobName::Coactivate, 1.0).await;
    assert_eq!(weights(&db).await, ["a-b 1", "x-y 1"]);
}

/// 250 memories: 200 of them count, in several transactions, and the run says that it cut.
#[tokio::test(flavor = "multi_thread")]
async fn a_very_large_session_counts_by_its_most_recent() {
    let db = fresh().await;
    let events: Vec<Event> = (0..250).map(|n| made(&format!("m{n:03}"), f64::from(n) / 100.0, "s")).collect();
    db.apply(&events).await;
    let said = dry_run_job(&db.store, JobName::Coactivate, at(3.0), Default::default()).await.unwrap().tally;
    let did = db.run(JobName::Coactivate, 3.0).await.tally;
    assert_eq!((did.scanned, did.changed, did.cut), (1, 19_900, 1));
    assert_eq!((said.scanned, said.changed, said.cut), (1, 19_900, 1));
    let (least, weight): (String, i64) = (
        db.client
            .value("MATCH (m:Memory) WHERE EXISTS { (m)-[:COACTIVATED]-() } RETURN min(m.id) AS id")
            .await,
        db.client.value("MATCH ()-[c:COACTIVATED]->() RETURN max(c.weight) AS weight").await,
    );
    assert_eq!((least.as_str(), weight), ("m050", 1));
    let uncounted: i64 =
        db.client.value("MATCH ()-[a:ACCESSED_IN]->() WHERE NOT a.counted RETURN count(a) AS n").await;
    assert_eq!(uncounted, 0, "all are counted, those that were left out too");
    assert_eq!(db.run(JobName::Coactivate, 4.0).await.tally.changed, 0);
}

/// An access whose mark is of another type counts once, and so do members among more accesses than are marked at a time.
#[tokio::test(flavor = "multi_thread")]
async fn an_access_counts_once_whatever_its_mark_and_its_number() {
    let db = fresh().await;
    db.apply(&[made("a", 0.0, "s"), made("b", 0.0, "s")]).await;
    db.client.run("MATCH ()-[r:ACCESSED_IN]->() SET r.counted = 0", &[]).await;
    db.run(JobName::Coactivate, 1.0).await;
    db.apply(&[made("c", 1.0, "s")]).await;
    db.run(JobName::Coactivate, 2.0).await;
    assert_eq!(weights(&db).await, ["a-b 1", "a-c 1", "b-c 1"]);

    let many = "MERGE (s:Session {scope: 'local', id: 'many'}) SET s.coactivateDue = datetime({epochMillis: $at}) WITH s
        UNWIND range(1, 10500) AS i CREATE (m:Memory:EbbMemory {scope: 'local', id: 'm' + i, content: 'x', tier: 'working', energy: 1.0,
          energyAt: datetime({epochMillis: $at}), lastAccessed: datetime({epochMillis: $at})})
        CREATE (m)-[:ACCESSED_IN {at: datetime({epochMillis: $at - i}), count: 1, counted: false}]->(s)";
    db.client.run(many, &[("at", at(3.0).millis().into())]).await;
    db.run(JobName::Coactivate, 3.0).await;
    let paired = "MATCH (m:Memory)-[r:ACCESSED_IN]->(:Session {id: 'many'})
        WHERE NOT r.counted AND EXISTS { (m)-[:COACTIVATED]-() } RETURN count(m) AS n";
    assert_eq!(db.client.value::<i64>(paired).await, 0);
    let unmarked =
        "MATCH ()-[r:ACCESSED_IN]->(:Session {id: 'many'}) WHERE NOT r.counted RETURN count(r) AS n";
    assert!(db.client.value::<i64>(unmarked).await > 0, "more accesses than are marked at a time");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_writes_nothing_and_tells_what_a_run_does() {
    let db = fresh().await;
    triangle(&db, 6).await;
    for job in [JobName::Coactivate, JobName::Cluster] {
        let before = everything(&db.client).await;
        let said = dry_run_job(&db.store, job, at(9.0), Default::default()).await.unwrap().tally;
        same(&before, &everything(&db.client).await, "a dry run");
        assert_eq!(said, db.run(job, 9.0).await.tally, "{job}");
        assert!(said.changed > 0, "{job}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_stops_between_sessions_and_the_rest_waits() {
    let db = fresh().await;
    triangle(&db, 5).await;
    let request = Request { limit: Some(2), ..Request::default() };
    let wanted = Wanted::by_hand(at(9.0), Right::Lease);
    let report = run_job(&db.store, JobName::Coactivate, &wanted, request).await.unwrap();
    assert!(report.truncated);
    assert_eq!((report.tally.scanned, report.due_left), (2, 3));
    db.run(JobName::Coactivate, 9.0).await;
    assert_eq!(weights(&db).await, ["a-b 5", "a-c 5", "b-c 5"]);
}

/// Accesses while the job counts: whoever comes between waits for the next run, and nothing counts twice or never.
#[tokio::test(flavor = "multi_thread")]
async fn accesses_beside_the_job_are_counted_once() {
    let db = Rc::new(fresh().await);
    let tasks = (0..3).map(|task| {
        let db = Rc::clone(&db);
        async move {
            for n in 0..20 {
                if task == 0 {
                    db.run(JobName::Coactivate, 9.0).await;
                } else {
                    let name = format!("m{task}-{n:02}");
                    db.apply(&[made(&name, 1.0, "s")]).await;
                }
            }
        }
    });
    together(tasks).await;
    db.run(JobName::Coactivate, 9.0).await;
    let pairs = weights(&db).await;
    assert_eq!(pairs.len(), 40 * 39 / 2);
    assert!(pairs.iter().all(|pair| pair.ends_with(" 1")), "{pairs:?}");
}
