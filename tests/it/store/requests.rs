//! Ids: of memories, of requests, of scopes; each means one thing.

use crate::harness::ebb::{access, close, id, key, remember, session, together};
use crate::harness::graph::{everything, remembered, same};
use crate::harness::neo4j::{Fresh, START, at, fresh};
use crate::harness::rows::{Row, ripe, row};
use ebb_core::domain::annotations::{Annotations, Provenance, TAGS_MAX};
use ebb_core::domain::event::{Access, Event, Remember};
use ebb_core::domain::guard::Guard;
use ebb_core::domain::ids::{EntityName, InstanceId, MemoryKey, Scope};
use ebb_core::domain::tier::Tier;
use ebb_core::store::{
    Batch, BatchOutcome, EndedSession, Error, EventEffect, Filter, MemoryOrder, RequestMode,
};
use std::sync::atomic::Ordering;

fn mentioning(name: &str, hours: f64, mentions: &[&str]) -> Event {
    let mentions = mentions.iter().map(|name| EntityName::new(name).unwrap()).collect();
    Event::Remember(Remember { mentions, session: Some(session("s")), ..remember(name, hours) })
}

async fn request(db: &Fresh, request: &str, hash: &str, events: &[Event]) -> Result<BatchOutcome, Error> {
    let tunables = db.tunables().await;
    db.store
        .apply_request(
            RequestMode::Once { request, hash, by: "test" },
            None,
            Batch { events, tunables: &tunables },
            |_| Vec::new(),
        )
        .await
        .map(|(applied, ..)| applied)
}

fn once(request: &str) -> RequestMode<'_> {
    RequestMode::Once { request, hash: "h", by: "test" }
}

#[track_caller]
fn all(applied: BatchOutcome) -> Vec<EventEffect> {
    match applied {
        BatchOutcome::Written(done) => done,
        BatchOutcome::Rejected(faults) => panic!("{faults:?}"),
    }
}

#[track_caller]
fn only_fault(applied: BatchOutcome) -> Error {
    match applied {
        BatchOutcome::Rejected(mut faults) if faults.len() == 1 => faults.remove(0).why,
        applied => panic!("{applied:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_memory_again_is_an_access_with_mentions_merged() {
    let db = fresh().await;
    db.apply(&[mentioning("m", 0.0, &["Dana", "Bonn"])]).await;
    let again = db.apply(&[mentioning("m", 1.0, &["Bonn", "tea"])]).await;
    assert_eq!(again, [EventEffect::Accessed]);
    let life = db.state("m").await;
    assert_eq!((life.access_count, life.last_accessed), (2, at(1.0)));
    close(life.energy.value(), 1.606_530_659_712_633);
    let left: Vec<String> = db
        .client
        .column(
            "MATCH (m:Memory {id: 'm'})-[r]->(x) WITH type(r) + ' ' + coalesce(x.name, x.id) + coalesce(' ' + r.count, '') AS line \
             RETURN line ORDER BY line",
        )
        .await;
    assert_eq!(left, ["ACCESSED_IN s 2", "MENTIONS Bonn", "MENTIONS Dana", "MENTIONS tea"]);
    // A pin that comes with a repeat changes nothing.
    db.apply(&[Event::Remember(Remember { pinned: true, ..remember("m", 2.0) })]).await;
    assert!(!db.state("m").await.pinned);
}

fn annotated(name: &str, hours: f64, tags: &[&str], source: Provenance) -> Event {
    let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
    let annotations = Annotations::new(&tags, source).unwrap();
    Event::Remember(Remember { annotations, ..remember(name, hours) })
}

fn lines(source_path: &str, first: u32, last: u32) -> Provenance {
    let (line_start, line_end) = (Some(first), Some(last));
    Provenance { source_path: Some(source_path.to_owned()), line_start, line_end, ..Provenance::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_memory_again_keeps_its_annotations_and_takes_more() {
    let db = fresh().await;
    let kept = async |name: &str| db.store.memories(&[key(name)]).await.unwrap().remove(0).annotations;
    // In one batch as in several.
    let twice =
        [annotated("m", 0.0, &["b"], lines("a.md", 5, 9)), annotated("m", 0.1, &["a"], lines("b.md", 3, 4))];
    db.apply(&twice).await;
    assert_eq!(kept("m").await, Annotations::stored(vec!["a".into(), "b".into()], None, lines("a.md", 3, 9)));
    let more = Provenance {
        excerpt: Some("said".into()),
        namespace: Some("n".into()),
        canonical: true,
        ..lines("c.md", 7, 12)
    };
    db.apply(&[annotated("m", 1.0, &["c", "a"], more.clone())]).await;
    let wanted = Provenance { source_path: Some("a.md".into()), line_start: Some(3), ..more };
    let tags = ["a", "b", "c"].map(str::to_owned).to_vec();
    assert_eq!(kept("m").await, Annotations::stored(tags.clone(), None, wanted.clone()));
    // An access, a repeat without annotations and a promotion leave them.
    db.apply(&[Event::Remember(remember("m", 1.1)), Event::Access(access("m", 1.2))]).await;
    db.run(ebb_core::jobs::JobName::Promote, 1.3).await;
    assert_eq!(db.state("m").await.tier, Tier::ShortTerm);
    assert_eq!(kept("m").await, Annotations::stored(tags, None, wanted));
    let stub: i64 = db
        .client
        .value("MATCH (s:Memory {tier: 'archivedWorking'}) WHERE s.tags IS NULL RETURN count(s)")
        .await;
    assert_eq!(stub, 1);

    // Values of another writer that are none are replaced where a request has one, and stay otherwise.
    let theirs = "CREATE (:Memory:EbbMemory {id: 'x', scope: 'local', content: 'content of x', tier: 'working', energy: 1.0,
        energyAt: datetime({epochMillis: $start}), lastAccessed: datetime({epochMillis: $start}), accessCount: 1,
        tags: 7, sourcePath: ['p'], lineStart: -3, namespace: 'n', canonical: 'no'})";
    db.client.run(theirs, &[("start", START.into())]).await;
    assert_eq!(kept("x").await.provenance().namespace.as_deref(), Some("n"));
    db.apply(&[annotated("x", 0.5, &[], lines("x.md", 1, 2))]).await;
    let left: Vec<String> = db
        .client
        .column(
            "MATCH (m:Memory {id: 'x'}) UNWIND [m.tags, m.sourcePath, m.lineStart, m.lineEnd, m.namespace, m.canonical] AS of \
             RETURN toString(of)",
        )
        .await;
    assert_eq!(left, ["7", "x.md", "1", "2", "n", "no"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_beyond_the_bound_are_refused_and_nothing_is_written() {
    let db = fresh().await;
    let tags: Vec<String> = (0..TAGS_MAX).map(|n| format!("t{n}")).collect();
    let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    db.apply(&[annotated("m", 0.0, &tags, Provenance::default())]).await;
    let before = everything(&db.client).await;
    let more =
        [Event::Remember(remember("other", 1.0)), annotated("m", 1.0, &["t1", "new"], Provenance::default())];
    let why = only_fault(request(&db, "r", "h", &more).await.unwrap());
    let says = "memory m: the memory would have 257 tags; at most 256 are kept";
    assert!(matches!(&why, Error::Conflict(why) if why.starts_with(says)), "{why}");
    same(&before, &everything(&db.client).await, "a refusal");
    let again = db.apply(&[annotated("m", 1.0, &["t1"], Provenance::default())]).await;
    assert_eq!(again, [EventEffect::Accessed], "no new one");
}

#[tokio::test(flavor = "multi_thread")]
async fn other_content_under_the_same_id_is_a_conflict() {
    let db = fresh().await;
    db.apply(&[mentioning("m", 0.0, &[])]).await;
    let before = everything(&db.client).await;
    let other = Event::Remember(Remember { content: "else".to_owned(), ..remember("m", 1.0) });
    let why = only_fault(request(&db, "r", "h", &[other]).await.unwrap());
    assert!(matches!(&why, Error::Conflict(why) if why.contains("exists with other content")), "{why}");
    // Two contents for one new id in one batch are a conflict too.
    let twice = [
        Event::Remember(remember("n", 0.0)),
        Event::Remember(Remember { content: "else".to_owned(), ..remember("n", 0.0) }),
    ];
    assert!(matches!(only_fault(request(&db, "r", "h", &twice).await.unwrap()), Error::Conflict(_)));
    same(&before, &everything(&db.client).await, "conflicts");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_forgotten_does_not_come_back() {
    let db = fresh().await;
    db.apply(&[
        mentioning("m", 0.0, &["Dana"]),
        Event::Access(access("m", 0.0)),
        Event::Access(access("m", 0.0)),
    ])
    .await;
    db.run(ebb_core::jobs::JobName::Promote, 0.0).await;
    assert_eq!(
        db.store
            .forget(
                once("f-1"),
                (&Scope::local(), &[id("m")]),
                at(1.0),
                (&crate::harness::ebb::UNGUARDED, None)
            )
            .await
            .unwrap()
            .nodes,
        2,
        "the memory and its stub"
    );
    let before = remembered(&db.client).await;
    let done = db.apply(&[mentioning("m", 2.0, &["Dana"]), Event::Remember(remember("n", 2.0))]).await;
    assert_eq!(done, [EventEffect::Forgotten, EventEffect::Created]);
    db.client.run("MATCH (n:Memory {id: 'n'}) DELETE n", &[]).await;
    same(&before, &remembered(&db.client).await, "a memory that was forgotten");
    let kept: Vec<String> = db.client.column("MATCH (t:EbbTombstone) RETURN t.hash AS hash").await;
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].len(), 64, "the hash of the id, not the id");
    // The same request again gets the same answer; a new one finds nothing.
    assert_eq!(
        db.store
            .forget(
                once("f-1"),
                (&Scope::local(), &[id("m")]),
                at(3.0),
                (&crate::harness::ebb::UNGUARDED, None)
            )
            .await
            .unwrap()
            .nodes,
        2
    );
    let why = db
        .store
        .forget(once("f-2"), (&Scope::local(), &[id("m")]), at(3.0), (&crate::harness::ebb::UNGUARDED, None))
        .await
        .unwrap_err();
    assert!(matches!(why, Error::NotFound { .. }), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forgotten_while_somebody_waits_for_it_is_not_there() {
    let db = fresh().await;
    db.put(&[row("m", "working", 1.0)]).await;
    let mut tx = db.client.begin().await;
    tx.run(neo4rs::query("MATCH (m:Memory {id: 'm'}) DETACH DELETE m")).await.unwrap();
    let tunables = db.tunables().await;
    let lasting = RequestMode::Once { request: "r", hash: "h", by: "test" };
    let keys = [key("m")];
    let pin = db.store.pin(lasting, &keys, true, at(1.0), &tunables);
    let forget = async {
        db.somebody_waits().await;
        tx.commit().await.unwrap();
    };
    let (pinned, ()) = tokio::join!(pin, forget);
    assert!(matches!(pinned, Err(Error::NotFound { .. })), "{pinned:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_counts_once() {
    let db = fresh().await;
    let events = [mentioning("m", 0.0, &["Dana"]), Event::Access(access("m", 0.5))];
    let first = all(request(&db, "r-1", "hash", &events).await.unwrap());
    let before = everything(&db.client).await;
    let second = all(request(&db, "r-1", "hash", &events).await.unwrap());
    assert_eq!(
        (first.as_slice(), second),
        ([EventEffect::Created, EventEffect::Accessed].as_slice(), first.clone())
    );
    same(&before, &everything(&db.client).await, "a request that was answered");
    let why = request(&db, "r-1", "other", &events[..1]).await.unwrap_err();
    assert!(matches!(&why, Error::Conflict(why) if why.contains("r-1")), "{why}");
    same(&before, &everything(&db.client).await, "a request id used for other words");
    // Twenty at once are one.
    let answers = together((0..20).map(|_| {
        let store = db.another();
        let events = events.clone();
        async move {
            let tunables = store.tunables().await.unwrap();
            let batch = Batch { events: &events[1..], tunables: &tunables };
            all(store
                .apply_request(
                    RequestMode::Once { request: "r-2", hash: "hash", by: "test" },
                    None,
                    batch,
                    |_| Vec::new(),
                )
                .await
                .unwrap()
                .0)
        }
    }))
    .await;
    assert_eq!(answers, vec![[EventEffect::Accessed]; 20]);
    assert_eq!(db.state("m").await.access_count, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_crosses_scopes() {
    let db = fresh().await;
    let team = || Scope::new("team").unwrap();
    let ours = mentioning("m", 0.0, &["Dana"]);
    let Event::Remember(theirs) = mentioning("n", 0.0, &["Dana"]) else { unreachable!() };
    db.apply(&[ours, Event::Remember(Remember { scope: team(), ..theirs })]).await;
    let counts: Vec<i64> =
        db.client.column("UNWIND [COUNT { (:Session) }, COUNT { (:Entity) }] AS n RETURN n").await;
    assert_eq!(counts, [2, 2], "a session and an entity of one name, one in each scope");

    let before = everything(&db.client).await;
    let foreign = Event::Access(Access { scope: team(), ..access("m", 1.0) });
    assert!(matches!(only_fault(request(&db, "r", "h", &[foreign]).await.unwrap()), Error::NotFound { .. }));
    same(&before, &everything(&db.client).await, "a request of another scope");
    let same_id = Event::Remember(Remember { scope: team(), ..remember("m", 1.0) });
    assert!(
        matches!(request(&db, "r", "h", &[same_id]).await.unwrap(), BatchOutcome::Written(done) if done == [EventEffect::Created])
    );
    let all = (&Filter::default(), MemoryOrder::Id);
    let listed = db.store.list_memories("team", all, "", 10).await.unwrap().keys;
    assert_eq!(listed, ["m", "n"].map(|id| MemoryKey::of_row("team", id)));
    let ours: i64 =
        db.client.value("MATCH (m:Memory {id: 'm', scope: 'local'}) RETURN m.accessCount AS n").await;
    assert_eq!(ours, 1, "an id of another scope is another memory");
}

/// The one that loses the race for a new id finds the memory there, and has accessed it.
#[tokio::test(flavor = "multi_thread")]
async fn two_creators_of_one_id_make_one_memory() {
    let db = fresh().await;
    for round in 0..10 {
        let name = format!("m-{round}");
        let done = together((0..4).map(|_| {
            let (store, name) = (db.another(), name.clone());
            async move {
                let tunables = store.tunables().await.unwrap();
                let events = [mentioning(&name, 0.0, &["Dana"])];
                let batch = Batch { events: &events, tunables: &tunables };
                all(store
                    .apply_request(
                        RequestMode::Once { request: &ebb_core::clock::new_id(), hash: "h", by: "test" },
                        None,
                        batch,
                        |_| Vec::new(),
                    )
                    .await
                    .unwrap()
                    .0)
            }
        }))
        .await
        .concat();
        assert_eq!(done.iter().filter(|done| **done == EventEffect::Created).count(), 1, "{done:?}");
        let life = db.state(&name).await;
        assert_eq!((life.access_count, life.tier), (4, Tier::Working));
        close(life.energy.value(), 4.0);
    }
    let joined: Vec<i64> =
        db.client.column("MATCH (:Memory)-[a:ACCESSED_IN]->(:Session) RETURN DISTINCT a.count AS n").await;
    assert_eq!(joined, [4]);
    assert_eq!(db.store.counters().unknown_commits.load(Ordering::Relaxed), 0);
}

/// Pin, forget and session end under a request id: once, all or none; and each can be rehearsed.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_asks_for_counts_once_and_can_be_a_dry_run() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    db.put(&[Row { session: Some("s"), ..ripe("a") }, Row { session: Some("s"), ..ripe("b") }]).await;
    let (both, scope) = ([id("a"), id("b")], Scope::local());
    let keys = [key("a"), key("b")];
    let pin = async |lasting, pin| db.store.pin(lasting, &keys, pin, at(0.5), &tunables).await;
    let end =
        async |lasting| db.store.end_session(lasting, (&scope, &session("s")), at(1.0), 1.5, &tunables).await;

    let before = everything(&db.client).await;
    let dry = pin(RequestMode::DryRun, true).await.unwrap();
    assert!(dry.iter().all(|record| record.life.as_ref().unwrap().state.pinned));
    let promoted = ["a", "b"].map(str::to_owned).to_vec();
    assert_eq!(end(RequestMode::DryRun).await.unwrap(), EndedSession { promoted: promoted.clone(), held: 0 });
    assert_eq!(
        db.store
            .forget(RequestMode::DryRun, (&scope, &both), at(1.0), (&crate::harness::ebb::UNGUARDED, None))
            .await
            .unwrap()
            .nodes,
        2
    );
    let nobody = [id("a"), id("nobody")];
    for lasting in [once("all or none"), RequestMode::DryRun] {
        let why = db
            .store
            .forget(lasting, (&scope, &nobody), at(1.0), (&crate::harness::ebb::UNGUARDED, None))
            .await
            .unwrap_err();
        assert!(matches!(why, Error::NotFound { .. }), "{why}");
        let why =
            db.store.pin(lasting, &[key("a"), key("nobody")], true, at(1.0), &tunables).await.unwrap_err();
        assert!(matches!(why, Error::NotFound { .. }), "{why}");
    }
    let events = [Event::Remember(remember("new", 0.0)), Event::Access(access("a", 1.0))];
    let keys = [key("new"), key("a")];
    let batch = Batch { events: &events, tunables: &tunables };
    let dry = db.store.apply_request(RequestMode::DryRun, None, batch, |_| keys.to_vec());
    let (applied, _, records) = dry.await.unwrap();
    assert_eq!((all(applied), records.len()), (vec![EventEffect::Created, EventEffect::Accessed], 2));
    same(&before, &everything(&db.client).await, "dry runs and refusals");

    pin(once("p-1"), true).await.unwrap();
    let life = db.state("a").await;
    assert_eq!((life.pinned, life.ripe_at, life.due_at), (true, None, None));
    close(life.energy.value(), 3.0 * (-0.25_f64).exp());
    db.run(ebb_core::jobs::JobName::Decay, 9.0).await;
    assert_eq!(db.state("a").await, life, "a pinned memory stays as it is");
    pin(once("p-2"), false).await.unwrap();
    pin(once("p-1"), true).await.unwrap();
    let life = db.state("a").await;
    assert!(!life.pinned, "a request that was answered is not done again");
    assert_eq!((life.energy_at, life.ripe_at), (at(0.5), Some(at(0.5))), "ripe again, from the unpinning on");
    let why = db
        .store
        .pin(RequestMode::Once { request: "p-1", hash: "other", by: "test" }, &keys, true, at(1.0), &tunables)
        .await;
    assert!(matches!(why, Err(Error::Conflict(_))));

    assert_eq!(end(once("e-1")).await.unwrap().promoted, promoted);
    let before = everything(&db.client).await;
    assert_eq!(end(once("e-1")).await.unwrap().promoted, promoted);
    same(&before, &everything(&db.client).await, "a session that ended under this request");
}

/// The answer to a write says of memories that it made what a reader finds, without reading.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_answers_what_it_wrote() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let full = Remember {
        session: Some(session("s")),
        instance: InstanceId::new("i").ok(),
        mentions: ["Bonn"].map(|name| EntityName::new(name).unwrap()).to_vec(),
        pinned: true,
        ..remember("full", 0.0)
    };
    let events = [
        Event::Remember(full),
        Event::Remember(remember("used", 0.1)),
        Event::Access(access("used", 2.0)),
        Event::Remember(remember("plain", 0.2)),
    ];
    let keys = ["full", "used", "plain"].map(key);
    let batch = Batch { events: &events, tunables: &tunables };
    let (_, _, answered) = db.store.apply_request(once("r"), None, batch, |_| keys.to_vec()).await.unwrap();
    assert_eq!(answered, db.store.memories(&keys).await.unwrap());
    let (_, _, again) = db.store.apply_request(once("r"), None, batch, |_| keys.to_vec()).await.unwrap();
    assert_eq!(answered, again, "a repeat answers the same");
}

/// An answer that another version recorded may have another form: the request is not done again, and not for ever.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_cannot_be_read_ends_a_repeat_with_an_error() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let events = [Event::Remember(remember("m", 0.0))];
    let batch = Batch { events: &events, tunables: &tunables };
    let ask = async || db.store.apply_request(once("r"), None, batch, |_| Vec::new()).await;
    ask().await.unwrap();
    db.client.run("MATCH (q:EbbRequest {id: 'r'}) SET q.answer = '{\"of\": \"another version\"}'", &[]).await;
    let before = everything(&db.client).await;
    let why = ask().await.unwrap_err();
    assert!(matches!(&why, Error::Conflict(why) if why.contains("what it writes was written")), "{why}");
    same(&before, &everything(&db.client).await, "a repeat");
}

/// Its stubs go with a memory; a living one that a writer joined to it in the same way is no stub.
#[tokio::test(flavor = "multi_thread")]
async fn a_living_memory_joined_to_a_deleted_one_stays() {
    let db = fresh().await;
    db.put(&[row("m", "shortTerm", 1.0), row("stub", "archivedWorking", 1.0), row("living", "working", 1.0)])
        .await;
    let join = "MATCH (m:Memory {id: 'm'}), (o:Memory) WHERE o.id <> 'm' CREATE (o)-[:PROMOTED_TO]->(m)";
    db.client.run(join, &[]).await;
    let guard = Guard { enabled: false, max_affected_ratio: 1.0 };
    db.store.forget(once("g"), (&Scope::local(), &[id("m")]), at(1.0), (&guard, None)).await.unwrap();
    let left: Vec<String> = db.client.column("MATCH (m:Memory) RETURN m.id").await;
    assert_eq!(left, ["living"]);
}

/// A list of ids that came from a wrong query is found out by its size.
#[tokio::test(flavor = "multi_thread")]
async fn the_guard_stops_a_forget_that_would_take_too_much() {
    let db = fresh().await;
    let names: Vec<String> = (0..60).map(|n| format!("m{n:02}")).collect();
    let rows: Vec<Row> = names.iter().map(|name| row(name, "working", 1.0)).collect();
    db.put(&rows).await;
    let many: Vec<_> = names[..51].iter().map(|name| id(name)).collect();
    let guard = Guard { enabled: true, max_affected_ratio: 0.2 };
    let before = everything(&db.client).await;
    let forget = async |lasting, ids, accepted| {
        db.store.forget(lasting, (&Scope::local(), ids), at(1.0), (&guard, accepted)).await
    };
    for lasting in [once("g-1"), RequestMode::DryRun] {
        let stopped = forget(lasting, &many, None).await.unwrap_err();
        assert!(matches!(&stopped, Error::Guarded(why) if (why.affected, why.live) == (51, 60)), "{stopped}");
        same(&before, &everything(&db.client).await, "what the guard stopped");
    }
    assert!(matches!(forget(once("g-1"), &many, Some(50)).await, Err(Error::Guarded(_))), "another number");
    assert_eq!(forget(once("g-1"), &many[..50], None).await.unwrap().nodes, 50, "a handful needs nobody");
    db.put(&rows[..50]).await;
    assert_eq!(forget(once("g-2"), &many, Some(51)).await.unwrap().nodes, 51);
}

/// Memories that came after the count are judged by the guard as well, and counted as left.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_by_conditions_judges_no_fewer_than_it_finds() {
    let db = fresh().await;
    let rows: Vec<Row> = (0..1_001).map(|n| row(&format!("m{n:04}"), "working", 1.0)).collect();
    db.put(&rows[..60]).await;
    let (scope, any) = (Scope::local(), Filter::default());
    let forget = async |lasting, enabled, accepted| {
        let guard = Guard { enabled, max_affected_ratio: 0.2 };
        db.store.forget_where(lasting, (&scope, &any, 1), at(1.0), (&guard, accepted)).await
    };
    let before = everything(&db.client).await;
    for accepted in [None, Some(59)] {
        let stopped = forget(once("w-1"), true, accepted).await.unwrap_err();
        assert!(matches!(&stopped, Error::Guarded(why) if (why.affected, why.live) == (60, 60)), "{stopped}");
        same(&before, &everything(&db.client).await, "what the guard stopped");
    }
    let done = forget(once("w-1"), true, Some(60)).await.unwrap();
    assert_eq!((done.memories, done.left), (60, 0));
    db.put(&rows).await;
    let counted = forget(RequestMode::DryRun, false, None).await.unwrap();
    assert_eq!((counted.memories, counted.left), (1_000, 1));
}
