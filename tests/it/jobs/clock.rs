//! A process whose clock is wrong: what it writes counts from the server's instant, what others wrote by one that was wrong is
//! found and brought back, and a file cannot bring in what has not been yet.

use crate::harness::ebb::{access, remember};
use crate::harness::neo4j::fresh;
use ebb::clock::{Clock, rfc3339};
use ebb::domain::event::Event;
use ebb::engine::plasticity::Learn;
use ebb::service::Service;
use ebb::service::doctor::{Finding, Level};
use ebb::service::events::BadLines;

const DAY_MS: i64 = 24 * 3_600_000;

async fn found(service: &Service, what: &str) -> Finding {
    let findings = service.doctor().await.unwrap();
    findings.into_iter().find(|finding| finding.what == what).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_wrong_clock_writes_counts_from_the_servers() {
    let db = fresh().await;
    for skew in [-DAY_MS, 2 * DAY_MS, 50 * 365 * DAY_MS] {
        let wrong = db.timed("[]", Learn::default(), Clock::Skewed(skew));
        let right = db.timed("[]", Learn::default(), Clock::Real);
        let server = db.store.about().await.unwrap().server_now.millis();
        let (by_wrong, by_right) =
            (wrong.instant(None).await.unwrap().millis(), right.instant(None).await.unwrap().millis());
        assert!((0..60_000).contains(&(by_wrong - server)), "{skew}: {by_wrong} is not {server}");
        assert!((0..60_000).contains(&(by_right - by_wrong)), "{skew}: {by_right} after {by_wrong}");
        let clock = found(&wrong, "clock").await;
        assert_eq!(clock.level, Level::Problem, "{clock:?}");
        assert_eq!(found(&right, "clock").await.level, Level::Well);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dates_ahead_are_found_and_brought_back_and_accesses_count_again() {
    let db = fresh().await;
    let service = db.timed("[]", Learn::default(), Clock::Real);
    db.apply(&[Event::Remember(remember("m", 0.0)), Event::Remember(remember("good", 0.0))]).await;
    let text = "MATCH (m:Memory {id: 'm'}) SET m.energyAt = datetime('2076-01-01T00:00Z'),
          m.lastAccessed = m.energyAt, m.dueAt = m.energyAt, m.energy = 1.5
        CREATE (:Room {scope: 'local', id: 'r', exploitation_pheromone: 0.5, pheromone_cycle: 900000000000})
        CREATE (:Entity {scope: 'local', name: 'a'})-[:RELATES_TO {type: 'USES', key: 'k', weight: 1.0, baseWeight: 1.0,
          weightAt: m.energyAt, lastObserved: m.energyAt, pinned: false}]->(:Entity {scope: 'local', name: 'b'})
        CREATE (:Fact:EbbFact {id: 'f', scope: 'local', assertedAt: m.energyAt})";
    db.client.run(text, &[]).await;
    let ahead = found(&service, "dates ahead").await;
    assert_eq!(ahead.level, Level::Problem, "{ahead:?}");
    for counted in ["memories: 1", "relations: 1", "facts: 1", "places: 1", "m, k, f, r"] {
        assert!(ahead.found.contains(counted), "{counted}: {}", ahead.found);
    }
    let said = service.mend().await.unwrap();
    assert!(said.iter().any(|said| said.contains("brought 4 rows back")), "{said:?}");
    assert_eq!(found(&service, "dates ahead").await.level, Level::Well);
    let vital = db.vital("m").await;
    assert!((vital.energy.value() - 1.5).abs() < 1e-12, "the value stays");
    let moved: String = db.client.value("MATCH (m:Memory {id: 'm'}) RETURN m.ebbMoved AS moved").await;
    assert!(moved.starts_with("energyAt 2076-01-01"), "{moved}");
    let mut now = access("m", 0.0);
    now.at = db.store.about().await.unwrap().server_now;
    db.apply(&[Event::Access(now)]).await;
    let after = db.vital("m").await;
    assert!(after.energy.value() > 2.0, "an access counts again: {after:?}");
    assert_eq!(after.last_accessed, after.energy_at);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_cannot_bring_in_what_has_not_been_yet() {
    let db = fresh().await;
    let service = db.timed("[]", Learn::default(), Clock::Skewed(50 * 365 * DAY_MS));
    let file = tempfile::tempdir().unwrap();
    let path = file.path().join("events.ndjson");
    let now = rfc3339(db.store.about().await.unwrap().server_now);
    let line = |at: &str, id: &str| {
        format!("{{\"at\":\"{at}\",\"kind\":\"memory\",\"id\":\"{id}\",\"content\":\"x\"}}\n")
    };
    std::fs::write(&path, line(&now, "m") + &line("9999-01-01T00:00:00Z", "late")).unwrap();
    let refused = service.import(&path, BadLines::Stop, &mut |_| {}).await.unwrap_err().to_string();
    assert!(refused.contains(":2: ") && refused.contains("ahead of the server's clock"), "{refused}");
    let refused = service.check(&path, BadLines::Stop, &mut |_| {}).await.unwrap_err().to_string();
    assert!(refused.contains(":2: "), "{refused}");
    assert_eq!(db.client.value::<i64>("MATCH (m:Memory) RETURN count(m) AS n").await, 0);
}
