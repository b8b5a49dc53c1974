//! Batches: all or nothing, and the same graph however the events were cut.

use crate::harness::ebb::{access, id, remember, session};
use crate::harness::graph::{everything, remembered, same};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::random::Random;
use crate::harness::rows::{Row, row};
use ebb_core::domain::annotations::{Annotations, Provenance};
use ebb_core::domain::event::{Access, Event, Remember};
use ebb_core::domain::ids::{EntityName, Scope};
use ebb_core::domain::memory::Revive;
use ebb_core::store::{Batch, BatchOutcome, Error, EventEffect, OtherEvents, Progress, RefusedWhy};

/// Accesses, creations and meetings again, most in order, some late, over memories of every tier.
fn events(random: &mut Random, count: usize) -> Vec<Event> {
    let mut made: Vec<String> = Vec::new();
    (0..count)
        .map(|n| {
            let late = if random.once_in(6) { random.unit() * 30.0 } else { 0.0 };
            let hours = n as f64 / 10.0 - late;
            let session = (!random.once_in(4)).then(|| session(&format!("s-{}", random.below(5))));
            let new = made.is_empty() || random.once_in(5);
            if new || random.once_in(8) {
                let name = if new { format!("m-{n:03}") } else { made[random.below(made.len())].clone() };
                made.push(name.clone());
                let mentions = (0..random.below(4))
                    .map(|_| EntityName::new(&format!("e-{}", random.below(9))).unwrap())
                    .collect();
                let annotations = annotations(random);
                let pinned = random.once_in(9);
                let made = Remember { session, mentions, pinned, annotations, ..remember(&name, hours) };
                return Event::Remember(made.checked().unwrap());
            }
            let old = ["old-working", "old-short", "old-long", "old-expired", "old-pinned"];
            let name = if random.once_in(4) { random.pick(&old) } else { &made[random.below(made.len())] };
            Event::Access(Access { session, ..access(name, hours) })
        })
        .collect()
}

/// Few tags and sources, so that they coincide.
fn annotations(random: &mut Random) -> Annotations {
    let tags: Vec<String> = (0..random.below(3)).map(|_| format!("t-{}", random.below(9))).collect();
    let line = u32::try_from(random.below(90)).unwrap() + 1;
    let source = Provenance {
        source_path: random.once_in(3).then(|| format!("{line}.md")),
        line_start: random.once_in(2).then_some(line),
        canonical: random.once_in(4),
        ..Provenance::default()
    };
    Annotations::new(&tags, source).unwrap()
}

async fn begin(db: &Fresh) {
    db.clear().await;
    db.put(&[
        row("old-working", "working", 1.7),
        row("old-short", "shortTerm", 4.4),
        row("old-long", "longTerm", 7.0),
        Row { due: None, ..row("old-expired", "expiredWorking", 0.04) },
        Row { pinned: true, due: None, ..row("old-pinned", "shortTerm", 1.0) },
    ])
    .await;
    db.store.open_import("file", "file", &Scope::local()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn any_cut_is_the_same() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let mut random = Random::seeded(0xebb_0003);
    let events = events(&mut random, 600);

    begin(&db).await;
    let whole = db.apply(&events).await;
    let wanted = remembered(&db.client).await;
    assert_eq!(whole.len(), events.len());

    for most in [1, 7, 60, 400] {
        begin(&db).await;
        let (mut from, mut done) = (0, Vec::new());
        while from < events.len() {
            let to = (from + 1 + random.below(most)).min(events.len());
            let batch = Batch { events: &events[from..to], tunables: &tunables };
            let progress = Progress { lines: i64::try_from(to).unwrap(), digest: to.to_string(), at: None };
            let applied = db
                .store
                .import_events("file", i64::try_from(from).unwrap(), &progress, batch, OtherEvents::default())
                .await
                .unwrap();
            let BatchOutcome::Written(some) = applied else { panic!("{applied:?}") };
            done.extend(some);
            from = to;
        }
        same(&wanted, &remembered(&db.client).await, &format!("cut in batches of at most {most}"));
        assert_eq!(done, whole);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_writes_nothing() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    db.put(&[
        row("m", "working", 1.0),
        Row { due: None, ..row("gone", "expiredWorking", 0.01) },
        Row { due: None, ..row("stub", "archivedWorking", 2.5) },
    ])
    .await;
    db.client.run("MATCH (s {id: 'stub'}), (m {id: 'm'}) CREATE (s)-[:PROMOTED_TO]->(m)", &[]).await;
    let events = [
        Event::Remember(Remember { session: Some(session("new")), ..remember("new", 1.0) }),
        Event::Access(access("m", 1.0)),
        Event::Access(access("nowhere", 1.0)),
        Event::Access(Access { revive: Revive::No, ..access("gone", 1.0) }),
        Event::Access(access("stub", 1.0)),
        Event::Remember(Remember { content: "something else".to_owned(), ..remember("m", 1.0) }),
        Event::Access(Access { scope: Scope::new("team").unwrap(), ..access("m", 1.0) }),
    ];
    let before = everything(&db.client).await;
    let batch = Batch { events: &events, tunables: &tunables };
    let BatchOutcome::Rejected(faults) = db
        .store
        .apply_request(
            ebb_core::store::RequestMode::Once { request: "r", hash: "h", by: "test" },
            None,
            batch,
            |_| Vec::new(),
        )
        .await
        .unwrap()
        .0
    else {
        panic!("there are faults")
    };
    same(&before, &everything(&db.client).await, "a batch with faults");
    assert_eq!(faults.iter().map(|fault| fault.index).collect::<Vec<_>>(), [2, 3, 4, 5, 6], "each is named");
    let why: Vec<&Error> = faults.iter().map(|fault| &fault.why).collect();
    assert!(matches!(why[0], Error::NotFound { what: "memory", .. }));
    assert!(matches!(why[1], Error::Refused { why: RefusedWhy::Law(_), .. }));
    assert!(matches!(why[2], Error::Refused { why: RefusedWhy::StubOf(living), .. } if living == "m"));
    assert!(matches!(why[3], Error::Conflict(_)));
    assert!(matches!(why[4], Error::NotFound { .. }));

    // The request id was not used up: mended, the same request goes through.
    let batch = Batch { events: &events[..2], tunables: &tunables };
    let applied = db
        .store
        .apply_request(
            ebb_core::store::RequestMode::Once { request: "r", hash: "h2", by: "test" },
            None,
            batch,
            |_| Vec::new(),
        )
        .await
        .unwrap()
        .0;
    assert!(
        matches!(applied, BatchOutcome::Written(done) if done == [EventEffect::Created, EventEffect::Accessed])
    );
    // Nor was the place in a file.
    db.store.open_import("file", "file", &Scope::local()).await.unwrap();
    let batch = Batch { events: &events, tunables: &tunables };
    let progress = Progress { lines: 7, digest: "d".to_owned(), at: Some(at(0.0).millis()) };
    let applied = db.store.import_events("file", 0, &progress, batch, OtherEvents::default()).await.unwrap();
    assert!(matches!(applied, BatchOutcome::Rejected(_)));
    assert_eq!(db.store.open_import("file", "file", &Scope::local()).await.unwrap().lines, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_another_program_took_over_stops() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let events = [Event::Remember(remember("m", 0.0))];
    let batch = Batch { events: &events, tunables: &tunables };
    let progress = Progress { lines: 1, digest: "d".to_owned(), at: Some(at(0.0).millis()) };
    db.store.open_import("file", "file", &Scope::local()).await.unwrap();
    let other = db.another();
    assert_eq!(other.open_import("file", "file", &Scope::local()).await.unwrap().lines, 0);
    let before = everything(&db.client).await;
    let why = db.store.import_events("file", 0, &progress, batch, OtherEvents::default()).await.unwrap_err();
    assert!(matches!(why, Error::Fenced(_)), "{why}");
    same(&before, &everything(&db.client).await, "an import that was taken over");

    other.import_events("file", 0, &progress, batch, OtherEvents::default()).await.unwrap();
    let once = remembered(&db.client).await;
    // The same lines again, as after a commit whose outcome was unknown.
    other.import_events("file", 0, &progress, batch, OtherEvents::default()).await.unwrap();
    same(&once, &remembered(&db.client).await, "lines that are done");
    assert_eq!(other.open_import("file", "file", &Scope::local()).await.unwrap(), progress);
    assert_eq!(db.state("m").await.access_count, 1);
    assert_eq!(id("m").as_str(), "m");
}
