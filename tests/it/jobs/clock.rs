//! A process whose clock is wrong: what it writes counts from the server's instant, what others wrote by one that was wrong is
//! found and brought back, and a file cannot bring in what has not been yet.

use crate::harness::clocks::{misdated, server_ms};
use crate::harness::ebb::{access, remember, session};
use crate::harness::neo4j::fresh;
use ebb_core::clock::{Clock, rfc3339};
use ebb_core::domain::attempt::Right;
use ebb_core::domain::event::{Event, Remember};
use ebb_core::domain::ids::Scope;
use ebb_core::domain::units::Timestamp;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::{Wanted, run_job};
use ebb_core::service::Service;
use ebb_core::service::doctor::{Finding, Level};
use ebb_core::service::events::BadLines;
use ebb_core::service::memories::{RequestId, WriteMode};
use ebb_engine::plasticity::LearningMode;

const DAY_MS: i64 = 24 * 3_600_000;

async fn found(service: &Service, what: &str) -> Finding {
    let findings = service.doctor().await.unwrap();
    findings.into_iter().find(|finding| finding.what == what).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_wrong_clock_writes_counts_from_the_servers() {
    let db = fresh().await;
    for skew in [-DAY_MS, 2 * DAY_MS, 50 * 365 * DAY_MS] {
        let wrong = db.timed("[]", LearningMode::default(), Clock::Skewed(skew));
        let right = db.timed("[]", LearningMode::default(), Clock::Real);
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
    let service = db.timed("[]", LearningMode::default(), Clock::Real);
    db.apply(&[Event::Remember(remember("m", 0.0)), Event::Remember(remember("good", 0.0))]).await;
    let text = "MATCH (m:Memory {id: 'm'}) SET m.energyAt = datetime('2076-01-01T00:00Z'),
          m.lastAccessed = m.energyAt, m.dueAt = m.energyAt, m.energy = 1.5
        CREATE (:Room {scope: 'local', id: 'r', exploitation_pheromone: 0.5, pheromone_cycle: 900000000000})
        CREATE (:Entity {scope: 'local', name: 'a'})-[:RELATES_TO {type: 'USES', ebbKey: 'k', weight: 1.0, baseWeight: 1.0,
          weightAt: m.energyAt, lastObserved: m.energyAt, pinned: false}]->(:Entity {scope: 'local', name: 'b'})
        CREATE (:Fact:EbbFact {id: 'f', scope: 'local', assertedAt: m.energyAt})";
    db.client.run(text, &[]).await;
    let ahead = found(&service, "dates ahead").await;
    assert_eq!(ahead.level, Level::Problem, "{ahead:?}");
    for counted in ["memories: 1", "relations: 1", "facts: 1", "places: 1", "m, k, f, r"] {
        assert!(ahead.found.contains(counted), "{counted}: {}", ahead.found);
    }
    let said = service.mend().await.unwrap();
    assert!(said.iter().any(|said| said.contains("reset 4 rows")), "{said:?}");
    assert_eq!(found(&service, "dates ahead").await.level, Level::Well);
    let state = db.state("m").await;
    assert!((state.energy.value() - 1.5).abs() < 1e-12, "the value stays");
    let moved: String = db.client.value("MATCH (m:Memory {id: 'm'}) RETURN m.ebbMoved AS moved").await;
    assert!(moved.starts_with("energyAt 2076-01-01"), "{moved}");
    let mut now = access("m", 0.0);
    now.at = db.store.about().await.unwrap().server_now;
    db.apply(&[Event::Access(now)]).await;
    let after = db.state("m").await;
    assert!(after.energy.value() > 2.0, "an access counts again: {after:?}");
    assert_eq!(after.last_accessed, after.energy_at);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_cannot_bring_in_what_has_not_been_yet() {
    let db = fresh().await;
    let service = db.timed("[]", LearningMode::default(), Clock::Skewed(50 * 365 * DAY_MS));
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

#[tokio::test(flavor = "multi_thread")]
async fn a_session_of_the_future_is_counted_again_and_jobs_come_due_again() {
    let db = fresh().await;
    let service = db.timed("[]", LearningMode::default(), Clock::Real);
    let began = server_ms(&db).await;
    let then = Timestamp::from_millis(began + 50 * 365 * DAY_MS).unwrap();
    // As a machine leaves it whose clock was wrong, the server's too.
    let made =
        |id: &str| Event::Remember(Remember { at: then, session: Some(session("s")), ..remember(id, 0.0) });
    db.apply(&[made("a"), made("b")]).await;
    let intent = WriteMode::Once(RequestId::or_new("test", None));
    service.end_session(&intent, &Scope::local(), &session("s"), then, None).await.unwrap();
    run_job(&db.store, JobName::Decay, &Wanted::scheduled(then, Right::Lease), Request::default())
        .await
        .unwrap();
    let left = "CREATE (:EbbRun {job: 'promote', occurrence: 'o', id: 'r', trigger: 'schedule', state: 'open', fence: 1,
          batch: 0, holder: 'dead', now: datetime({epochMillis: $then}), leaseUntil: $then, started: datetime()})
        CREATE (:ConsolidationAttempt {id: 'x', phase: 'promote', state: 'claimed', holder: 'dead', leaseUntil: $then})
        CREATE (:EbbCounter {name: 'mirror:p:local', scope: 'local', process: 'p', seen: datetime({epochMillis: $then}),
          generation: 1, nodes: 1, slots: 0, bytes: 1, whole: true, refreshMs: 30000, staleMs: 60000})
        WITH * MATCH (a:Memory {id: 'a'}), (b:Memory {id: 'b'})
        SET a.clusterDue = datetime({epochMillis: $then})
        CREATE (a)-[:COACTIVATED {weight: 7, firstCoactivation: a.clusterDue, lastCoactivation: a.clusterDue}]->(b)";
    db.client.run(left, &[("then", then.millis().into())]).await;
    let run = async |job| {
        let now = Timestamp::from_millis(server_ms(&db).await).unwrap();
        service.run_job(job, now, &Default::default()).await.unwrap()
    };
    assert_eq!(run(JobName::Coactivate).await.tally.changed, 0, "the session waits until then");
    assert!(run(JobName::Promote).await.reason.is_some_and(|why| why.contains("dead")));

    let ahead = found(&service, "dates ahead").await;
    assert_eq!(ahead.level, Level::Problem, "{ahead:?}");
    let listed = ["memories: 2", "sessions: 1", "accesses: 2", "pairs: 1", "runs and leases: 4"];
    for counted in listed {
        assert!(ahead.found.contains(counted), "{counted}: {}", ahead.found);
    }
    let said = service.mend().await.unwrap();
    assert!(said.iter().any(|said| said.contains("reset 10 rows")), "{said:?}");
    assert_eq!(found(&service, "dates ahead").await.level, Level::Well);
    // The past of jobs stays as it was told.
    let mut misdated = misdated(&db, began).await;
    misdated.retain(|what| !what.starts_with("EbbRun.now ") && !what.starts_with("PROMOTED_TO.at "));
    assert_eq!(misdated, [""; 0]);

    let promoted = run(JobName::Promote).await;
    assert_eq!(
        (promoted.reason, promoted.now.millis() < then.millis()),
        (None, true),
        "the run of the dead is over"
    );
    assert_eq!(run(JobName::Coactivate).await.tally.changed, 1);
    let weight: i64 = db.client.value("MATCH ()-[c:COACTIVATED]->() RETURN c.weight AS weight").await;
    assert_eq!(weight, 8, "the session counts");
    let last = db.store.survey(&[JobName::Decay.name()]).await.unwrap().jobs[0].last.unwrap();
    assert!(last.millis() < began + DAY_MS, "decay comes due again");
}
