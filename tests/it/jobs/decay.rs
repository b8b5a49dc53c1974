//! Decay: what time takes, whatever the schedule did, and where a run stops.

use crate::harness::ebb::{access, close, remember};
use crate::harness::graph::{remembered, same};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::rows::{Row, row};
use ebb_core::domain::attempt::Right;
use ebb_core::domain::event::Event;
use ebb_core::domain::tier::Tier;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::{Wanted, run_job};
use ebb_core::store::{DecayCursor, OpenedRun, PageMode};
use std::time::Duration;

async fn limited(db: &Fresh, hours: f64, request: Request) -> ebb_core::scheduler::driver::JobReport {
    run_job(&db.store, JobName::Decay, &Wanted::by_hand(at(hours), Right::Lease), request).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn twice_is_once() {
    let db = fresh().await;
    let mut rows = vec![
        row("fades", "working", 1.0),
        row("expires", "working", 0.2),
        row("short", "shortTerm", 3.0),
        row("gone", "shortTerm", 0.0011),
        row("long", "longTerm", 6.0),
        row("rests", "expiredWorking", 0.05),
        Row { pinned: true, due: None, ..row("pinned", "working", 1.0) },
    ];
    rows.extend(
        (0..300).map(|n| Row { at: -f64::from(n) / 7.0, ..row(&format!("m{n:03}"), "working", 2.0) }),
    );
    db.put(&rows).await;

    let once = db.run(JobName::Decay, 4.0).await;
    assert!(once.tally.changed > 300 && once.tally.expired > 1);
    let before = remembered(&db.client).await;
    let twice = db.run(JobName::Decay, 4.0).await;
    same(&before, &remembered(&db.client).await, "a second pass at the same instant");
    assert_eq!((twice.tally.changed, twice.tally.expired, twice.tally.quarantined), (0, 0, 0));
    // Nor does a run of an earlier instant take anything back.
    db.run(JobName::Decay, 3.0).await;
    same(&before, &remembered(&db.client).await, "a pass at an earlier instant");
}

/// An event file that was imported into many scopes: equal ids and instants.
#[tokio::test(flavor = "multi_thread")]
async fn memories_of_one_id_and_instant_in_many_scopes_all_decay() {
    let db = fresh().await;
    let text = "UNWIND range(1, 400) AS s UNWIND ['a', 'b', 'c'] AS id
        CREATE (:Memory:EbbMemory {scope: 's' + s, id: id, content: 'x', tier: 'working', energy: 2.0, energyAt: datetime({epochMillis: $at}),
          lastAccessed: datetime({epochMillis: $at}), created: datetime({epochMillis: $at}), accessCount: 1, dueAt: datetime({epochMillis: $at})})";
    db.client.run(text, &[("at", at(0.0).millis().into())]).await;
    let tally = db.run(JobName::Decay, 1.0).await.tally;
    assert_eq!((tally.scanned, tally.changed), (1_200, 1_200));
    assert_eq!(db.run(JobName::Decay, 1.0).await.tally.changed, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn s1_passes_compose() {
    let db = fresh().await;
    db.put(&[row("w", "working", 8.0), row("l", "longTerm", 1.0)]).await;
    for hour in 1..=6 {
        db.run(JobName::Decay, f64::from(hour)).await;
    }
    let hourly = db.state("w").await;
    close(hourly.energy.value(), 8.0 * (-3.0_f64).exp());
    assert_eq!(hourly.last_accessed, at(0.0), "a pass is no access");

    for half_day in 1..=60 {
        db.run(JobName::Decay, 12.0 * f64::from(half_day)).await;
    }
    let month = async || db.state("l").await.energy_now(at(720.0), &db.tunables().await).value();
    close(month().await, 0.486_752_255_959_971_6);

    db.clear().await;
    db.put(&[row("w", "working", 8.0), row("l", "longTerm", 1.0)]).await;
    db.run(JobName::Decay, 6.0).await;
    close(db.state("w").await.energy.value(), hourly.energy.value());
    db.run(JobName::Decay, 720.0).await;
    close(month().await, 0.486_752_255_959_971_6);
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_whole_days() {
    let db = fresh().await;
    let cases = [("day", 24.0, 6.144_212_353_328_21e-6), ("more", 25.0, 3.726_653_172_078_671e-6)];
    for (name, hours, wanted) in cases {
        db.put(&[row(name, "working", 1.0)]).await;
        db.run(JobName::Decay, hours).await;
        let found = db.state(name).await;
        close(found.energy.value(), wanted);
        assert_eq!(found.tier, Tier::ExpiredWorking);
    }
    db.put(&[row("half", "working", 1.0)]).await;
    db.run(JobName::Decay, 0.5).await;
    close(db.state("half").await.energy.value(), 0.778_800_783_071_405);
}

#[tokio::test(flavor = "multi_thread")]
async fn s3_energy_never_lost() {
    let db = fresh().await;
    let terminal = ["expiredWorking", "archivedWorking", "archivedShortTerm"];
    db.put(&terminal.map(|tier| row(tier, tier, 0.7))).await;
    db.put(&[row("odd", "archived", 0.7)]).await;
    db.client
        .run("CREATE (:Memory {id: 'bare', content: 'c', energy: 0.7}), (:Memory {id: 'odder', content: 'c', tier: 'archived', energy: 0.7})", &[])
        .await;
    for hours in [1.0, 2.0, 3.0] {
        db.run(JobName::Decay, hours).await;
    }
    for name in terminal {
        let found = db.state(name).await;
        assert_eq!((found.tier.name(), found.energy.value().to_bits()), (name, 0.7_f64.to_bits()));
    }
    for name in ["odd", "odder"] {
        let text = format!(
            "MATCH (m:Memory:EbbQuarantined {{id: '{name}'}}) RETURN m.tier + ' ' + m.energy + ' ' + m.ebbReason AS all"
        );
        assert_eq!(db.client.value::<String>(&text).await, "archived 0.7 tier is unknown");
    }
    // Adopted at the first run with an anchor of that instant, since it names none.
    let bare = db.state("bare").await;
    assert_eq!(bare.tier, Tier::Working);
    close(bare.energy.value(), 0.7 * (-0.5 * 2.0_f64).exp());
}

#[tokio::test(flavor = "multi_thread")]
async fn s4_access_and_pass_agree() {
    let db = fresh().await;
    db.put(&[row("l", "longTerm", 6.0), row("s", "shortTerm", 1.0), row("w", "working", 1.0)]).await;
    db.apply(&["l", "s", "w"].map(|name| Event::Access(access(name, 1.0)))).await;
    close(db.state("l").await.energy.value(), 6.994_002_999_000_25);
    close(db.state("w").await.energy.value(), 1.606_530_659_712_633);
    let before = remembered(&db.client).await;
    db.run(JobName::Decay, 1.0).await;
    same(&before, &remembered(&db.client).await, "a pass at the instant of the access");

    // In the other order, an access finds what the pass left, and ends at the same energy.
    db.put(&[row("swept", "working", 1.0)]).await;
    db.run(JobName::Decay, 1.0).await;
    db.apply(&[Event::Access(access("swept", 1.0))]).await;
    close(db.state("swept").await.energy.value(), 1.606_530_659_712_633);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_stops_a_run_and_says_what_is_left() {
    let db = fresh().await;
    let rows: Vec<Row> = (0..250).map(|n| row(&format!("m{n:03}"), "working", 1.0)).collect();
    db.put(&rows).await;
    let cut = limited(&db, 1.0, Request { limit: Some(70), ..Request::default() }).await;
    assert_eq!((cut.tally.changed, cut.truncated, cut.due_left), (70, true, 180));
    let cut = limited(&db, 1.0, Request { time_limit: Some(Duration::ZERO), ..Request::default() }).await;
    assert_eq!((cut.tally.scanned, cut.truncated), (100, true), "one page of the documented size");
    let rest = limited(&db, 1.0, Request::default()).await;
    assert_eq!((rest.tally.scanned, rest.truncated, rest.due_left), (250, false, 0));
    assert_eq!(db.store.waiting(at(1.0)).await.unwrap().due, 0);
}

/// A server's clock counts finer than milliseconds, and one statement gives all its rows one instant. A page that ends
/// among them must go on after its last row, not begin again at the first.
#[tokio::test(flavor = "multi_thread")]
async fn pages_move_on_through_rows_of_one_instant() {
    let db = fresh().await;
    let rows: Vec<Row> = (0..25).map(|n| row(&format!("m{n:02}"), "working", 1.0)).collect();
    db.put(&rows).await;
    db.client.run("MATCH (m:Memory) SET m.dueAt = m.dueAt + duration({nanoseconds: 1500})", &[]).await;
    let tunables = db.tunables().await;
    let opened = db.store.open_run("decay", "manual/pages", at(1.0), "manual", Right::Lease).await.unwrap();
    let OpenedRun::Ours(mut run) = opened else { panic!("{opened:?}") };
    let mut cursor = DecayCursor::default();
    let mut pages = Vec::new();
    for _ in 0..3 {
        pages.push(db.store.decay(&mut run, &tunables, &mut cursor, PageMode::Rows(10)).await.unwrap());
    }
    assert_eq!(pages, [10, 10, 5]);
    let swept: i64 = db.client.value("MATCH (m:Memory) WHERE m.energy < 0.61 RETURN count(m) AS n").await;
    assert_eq!(swept, 25);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_due_is_not_read() {
    let db = fresh().await;
    db.apply(&[Event::Remember(remember("w", 0.0))]).await;
    db.put(&[
        Row { due: Some(24.0), ..row("l", "longTerm", 6.0) },
        Row { due: None, ..row("faint", "shortTerm", 0.0005) },
        Row { pinned: true, due: None, ..row("p", "working", 1.0) },
    ])
    .await;
    let report = db.run(JobName::Decay, 2.0).await;
    assert_eq!((report.tally.scanned, report.tally.changed), (1, 1));
    let due: Vec<Option<i64>> =
        db.client.column("MATCH (m:Memory) RETURN m.dueAt.epochMillis AS due ORDER BY m.id").await;
    let (start, day) = (at(0.0).millis(), at(24.0).millis());
    assert_eq!(due, [None, Some(day), None, Some(start)], "an always-due memory keeps its instant");

    // A day later the long-term one is met, and is then due a day after that.
    db.run(JobName::Decay, 24.0).await;
    let next: i64 = db.client.value("MATCH (m {id: 'l'}) RETURN m.dueAt.epochMillis AS due").await;
    assert_eq!(next, at(48.0).millis());
}
