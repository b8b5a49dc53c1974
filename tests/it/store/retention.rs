//! What Ebb recorded for itself ends: removed beside writes, or by the audit; what people made stays.

use crate::harness::ebb::{access, id, remember, retention};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::rows::row;
use ebb_core::domain::event::{Access, Event, Remember};
use ebb_core::domain::fact::DECAY_SOURCE;
use ebb_core::domain::ids::{Scope, SessionId};
use ebb_core::domain::retention::Retention;
use ebb_core::jobs::JobName;
use ebb_core::scheduler::driver::dry_run_job;
use ebb_core::store::{Batch, BatchOutcome, Config, RequestMode, Store};
use std::collections::BTreeMap;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

impl Fresh {
    fn keeping(&self, retention: Retention) -> Store {
        Store::connect(&Config { retention, ..self.config.clone() }).unwrap()
    }

    async fn labelled(&self, label: &str) -> i64 {
        self.client.value(&format!("MATCH (n:{label}) RETURN count(n) AS n")).await
    }

    /// What was recorded becomes two days older than it is.
    async fn two_days_pass(&self) {
        let text = "MATCH (n) WHERE n:EbbRequest OR n:EbbChange SET n.at = n.at - duration({days: 2})";
        self.client.run(text, &[]).await;
    }
}

/// Accesses, a request each, by a program of its own.
async fn accesses(db: &Fresh, store: &Store, count: usize) {
    let tunables = db.tunables().await;
    for _ in 0..count {
        let events = [Event::Access(access("m", 1.0))];
        let batch = Batch { events: &events, tunables: &tunables };
        let request = ebb_core::clock::new_id();
        let lasting = RequestMode::Once { request: &request, hash: "hash", by: "test" };
        let applied = store.apply_request(lasting, None, batch, |_| Vec::new()).await.unwrap().0;
        assert!(matches!(applied, BatchOutcome::Written(_)), "{applied:?}");
    }
}

/// The table of docs/reference/growth.md, by its rows: what a write of each kind adds, beside the nodes that all share.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_writes_leave_what_the_table_says() {
    const WRITES: usize = 20;
    let db = fresh().await;
    let within = |session: &str| Some(SessionId::new(session).unwrap());
    // What is shared is there before: the memory, the session.
    db.apply(&[Event::Remember(Remember { session: within("one"), ..remember("m", 0.0) })]).await;
    let counts = async || -> BTreeMap<String, i64> {
        let text = "MATCH (n) UNWIND labels(n) AS what RETURN what, count(*) AS n \
                    UNION ALL MATCH ()-[r]->() RETURN type(r) AS what, count(*) AS n";
        #[derive(serde::Deserialize)]
        struct Row {
            what: String,
            n: i64,
        }
        let rows: Vec<Row> = db.client.rows(text, &[]).await;
        rows.into_iter().map(|row| (row.what, row.n)).collect()
    };
    let memory =
        |n: usize| Event::Remember(Remember { session: within("one"), ..remember(&format!("m{n}"), 0.0) });
    type Write<'w> = Box<dyn Fn(usize) -> Event + 'w>;
    let rows: [(&str, Write<'_>, &[&str]); 3] = [
        ("memories", Box::new(memory), &["Memory", "EbbMemory", "ACCESSED_IN"]),
        ("accesses", Box::new(|_| Event::Access(access("m", 1.0))), &[]),
        (
            "accesses in sessions",
            Box::new(|n| Event::Access(Access { session: within(&format!("s{n}")), ..access("m", 1.0) })),
            &["Session", "ACCESSED_IN"],
        ),
    ];
    let each = i64::try_from(WRITES).unwrap();
    for (what, write, stay) in rows {
        let before = counts().await;
        for n in 0..WRITES {
            db.apply(&[write(n)]).await;
        }
        let mut after = counts().await;
        for (label, count) in before {
            *after.entry(label).or_default() -= count;
        }
        after.retain(|_, count| *count != 0);
        let stay = stay.iter().chain(&["EbbRequest", "EbbChange"]);
        let wanted: BTreeMap<String, i64> = stay.map(|label| ((*label).to_owned(), each)).collect();
        assert_eq!(after, wanted, "{what}");
    }
    db.two_days_pass().await;
    db.run(JobName::Audit, 2.0).await;
    // The run of the audit itself leaves a change, if any.
    assert_eq!(db.labelled("EbbRequest").await, 0);
    assert!(db.labelled("EbbChange").await <= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_remove_what_is_over_without_any_job() {
    let db = fresh().await;
    db.apply(&[Event::Remember(remember("m", 0.0))]).await;
    let store = db.keeping(Retention { paced: true, ..retention() });
    accesses(&db, &store, 300).await;
    assert!(db.labelled("EbbRequest").await >= 300);
    db.two_days_pass().await;
    // Of any 256 writes one takes along what is over.
    accesses(&db, &store, 256).await;
    let old = "MATCH (n) WHERE (n:EbbRequest OR n:EbbChange) AND n.at < datetime.realtime() - duration({days: 1}) RETURN count(n) AS n";
    assert_eq!(
        db.client.value::<i64>(old).await,
        1,
        "the latest change of them, until a later one is an hour old"
    );
    assert_eq!(db.labelled("EbbRequest").await, 256);
    assert!(db.labelled("EbbChange").await <= 257);
    assert_eq!(db.state("m").await.access_count, 557);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_is_no_write_and_removes_nothing() {
    let db = fresh().await;
    db.apply(&[Event::Remember(remember("m", 0.0))]).await;
    db.two_days_pass().await;
    let store = db.keeping(Retention { paced: true, ..retention() });
    let tunables = db.tunables().await;
    let events = [Event::Access(access("m", 1.0))];
    for _ in 0..260 {
        let batch = Batch { events: &events, tunables: &tunables };
        store.apply_request(RequestMode::DryRun, None, batch, |_| Vec::new()).await.unwrap();
    }
    assert_eq!(db.labelled("EbbRequest").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_programs_trim_the_same_rows_at_once_and_every_write_counts() {
    let db = fresh().await;
    db.apply(&[Event::Remember(remember("m", 0.0))]).await;
    let old = "UNWIND range(1, 3000) AS i CREATE (:EbbRequest {id: 'old' + i, hash: 'x', at: datetime.realtime() - duration({days: 2})})";
    db.client.run(old, &[]).await;
    let stores: Vec<Store> = (0..4).map(|_| db.keeping(Retention { paced: true, ..retention() })).collect();
    let work = stores.iter().map(|store| accesses(&db, store, 256));
    futures_of(work).await;
    assert_eq!(db.state("m").await.access_count, 1 + 4 * 256);
    assert_eq!(
        db.client
            .value::<i64>("MATCH (n:EbbRequest) WHERE n.id STARTS WITH 'old' RETURN count(n) AS n")
            .await,
        0
    );
}

/// All at once, in one task.
async fn futures_of(work: impl Iterator<Item = impl Future<Output = ()>>) {
    let mut work: Vec<_> = work.map(Box::pin).collect();
    std::future::poll_fn(|context| {
        work.retain_mut(|one| one.as_mut().poll(context).is_pending());
        if work.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_end_when_nothing_refers_to_them_any_more() {
    let db = fresh().await;
    let within = |name: &str, session: &str| {
        let session = SessionId::new(session).unwrap();
        Event::Remember(Remember { session: Some(session), ..remember(name, 0.0) })
    };
    db.apply(&[within("stays", "kept"), within("goes", "empty")]).await;
    let lasting = RequestMode::Once { request: "forget", hash: "x", by: "test" };
    db.store
        .forget(lasting, (&Scope::local(), &[id("goes")]), at(1.0), (db.store.guard(), None))
        .await
        .unwrap();
    let audit = async |days: f64| db.run(JobName::Audit, 24.0 * days).await.tally.trimmed;
    audit(89.0).await;
    let sessions = "MATCH (s:Session) RETURN s.id AS id ORDER BY id";
    assert_eq!(db.client.column::<String>(sessions).await, ["empty", "kept"]);
    let said =
        dry_run_job(&db.store, JobName::Audit, at(24.0 * 91.0), Default::default()).await.unwrap().tally;
    assert_eq!((said.trimmed, audit(91.0).await), (1, 1));
    assert_eq!(db.client.column::<String>(sessions).await, ["kept"]);
    assert_eq!(audit(91.0).await, 0);
    assert_eq!(db.labelled("EbbTombstone").await, 1, "no time was set for them");
}

/// More than a page of what is removed, between what stays, in several scopes.
#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_is_removed_page_by_page_in_one_audit() {
    let db = fresh().await;
    let texts = [
        "UNWIND range(1, 2500) AS n CREATE (s:Session {scope: 's' + (n % 3), id: 'x' + (n / 3), \
         started: datetime('2020-01-01T00:00:00Z'), coactivated: 0}) \
         FOREACH (_ IN CASE WHEN n % 5 = 0 THEN [1] ELSE [] END | CREATE (s)<-[:NOTES]-(:Note))",
        "UNWIND range(1, 2500) AS n CREATE (:Fact:EbbFact {scope: ['local', 'public'][n % 2], id: 'f' + n, \
         source: CASE WHEN n % 5 = 0 THEN 'person' ELSE $source END, assertedAt: datetime('2020-02-01T00:00:00Z')})",
    ];
    for text in texts {
        db.client.run(text, &[("source", DECAY_SOURCE.into())]).await;
    }
    let store = db.keeping(Retention { decayed_facts: Some(365 * DAY), ..retention() });
    assert_eq!(crate::harness::ebb::by_hand(&store, JobName::Audit, 2.0).await.tally.trimmed, 4_000);
    assert_eq!((db.labelled("Session").await, db.labelled("Fact").await), (500, 500));
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_of_sweeps_and_tombstones_end_only_where_a_time_is_set_and_what_was_asserted_never() {
    let db = fresh().await;
    db.put(&[row("m", "working", 1.0)]).await;
    let made = format!(
        "CREATE (e:Entity {{scope: 'local', name: 'e'}}), (l:EbbLineage {{key: 'k', scope: 'local'}}) \
         CREATE (a:Fact:EbbFact {{id: 'asserted', scope: 'local', source: 'person', assertedAt: datetime('2020-01-01T00:00:00Z')}})-[:ABOUT]->(e) \
         CREATE (b:Fact:EbbFact {{id: 'between', scope: 'local', source: '{DECAY_SOURCE}', assertedAt: datetime('2020-02-01T00:00:00Z')}})-[:DECAYED_FROM]->(a) \
         CREATE (c:Fact:EbbFact {{id: 'head', scope: 'local', source: '{DECAY_SOURCE}', assertedAt: datetime('2020-03-01T00:00:00Z')}})-[:DECAYED_FROM]->(b) \
         CREATE (l)-[:HEAD]->(c) \
         CREATE (:EbbTombstone {{hash: 'h', at: datetime('2020-01-01T00:00:00Z')}})"
    );
    db.client.run(&made, &[]).await;
    let facts = "MATCH (f:Fact) RETURN f.id AS id ORDER BY id";
    db.run(JobName::Audit, 1.0).await;
    assert_eq!(db.client.column::<String>(facts).await, ["asserted", "between", "head"]);
    assert_eq!(db.labelled("EbbTombstone").await, 1);
    let year = Some(365 * DAY);
    let store = db.keeping(Retention { decayed_facts: year, tombstones: year, ..retention() });
    let trimmed = crate::harness::ebb::by_hand(&store, JobName::Audit, 2.0).await.tally.trimmed;
    assert_eq!(trimmed, 2);
    assert_eq!(db.client.column::<String>(facts).await, ["asserted", "head"]);
    assert_eq!(db.labelled("EbbTombstone").await, 0);
}
