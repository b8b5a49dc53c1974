//! The end of a session: what was made in it and is strong enough rises, under a lower threshold than the job's.

use crate::harness::ebb::{close, session};
use crate::harness::graph::{remembered, same};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::rows::{Row, ripe, row};
use ebb_core::domain::attempt::Right;
use ebb_core::domain::ids::{MemoryKey, Scope};
use ebb_core::domain::tier::Tier;
use ebb_core::store::{EndedSession, Error, OpenedRun, RequestMode};

async fn end(db: &Fresh, name: &str, hours: f64) -> Result<EndedSession, Error> {
    let tunables = db.tunables().await;
    let threshold = tunables.config().session_end_threshold;
    let once = RequestMode::Once { request: &ebb_core::clock::new_id(), hash: "", by: "test" };
    db.store.end_session(once, (&Scope::local(), &session(name)), at(hours), threshold, &tunables).await
}

fn made(id: &str, energy: f64) -> Row {
    Row { session: Some("s"), ..row(id, "working", energy) }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_threshold_is_strict_and_only_what_was_made_there_rises() {
    let db = fresh().await;
    db.put(&[
        made("above", 1.500_000_000_000_000_2),
        made("exactly", 1.5),
        made("below", 1.2),
        Row { pinned: true, due: None, ..made("pinned", 4.0) },
        Row { session: Some("other"), ..made("elsewhere", 4.0) },
        Row { tier: "shortTerm", ..made("short", 4.0) },
        Row { tier: "expiredWorking", due: None, ..made("expired", 4.0) },
    ])
    .await;
    let ended = end(&db, "s", 0.0).await.unwrap();
    assert_eq!(ended, EndedSession { promoted: vec!["above".to_owned()], held: 0 });
    let life = db.state("above").await;
    assert_eq!((life.tier, life.energy_at, life.last_accessed), (Tier::ShortTerm, at(0.0), at(0.0)));

    let stub: String = db
        .client
        .value(
            "MATCH (s:Memory:EbbMemory {tier: 'archivedWorking', promotionKey: 'above->shortTerm'})\
             -[p:PROMOTED_TO]->(m:Memory {id: 'above', sessionId: 's', promotedFrom: s.id}) \
             WHERE s.energy = m.energy AND p.energy = m.energy AND s.content IS NULL AND s.sessionId IS NULL \
             RETURN toString(p.at.epochMillis) AS at",
        )
        .await;
    assert_eq!(stub, at(0.0).millis().to_string());
    let attempt: String = db
        .client
        .value("MATCH (a:ConsolidationAttempt) RETURN a.phase + ' ' + a.state + ' ' + a.applied AS line")
        .await;
    assert_eq!(attempt, "sessionEnd done 1");
    let before = remembered(&db.client).await;
    assert_eq!(end(&db, "s", 0.0).await.unwrap(), EndedSession::default(), "ended twice");
    same(&before, &remembered(&db.client).await, "a session that ended twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_energy_that_counts_is_that_of_the_end() {
    let db = fresh().await;
    db.put(&[made("strong", 3.0), made("was", 2.4)]).await;
    let ended = end(&db, "s", 1.0).await.unwrap();
    assert_eq!(ended.promoted, ["strong"], "2.4 is 1.46 an hour later");
    close(db.state("strong").await.energy.value(), 3.0 * (-0.5_f64).exp());
    let ended_at: i64 = db.client.value("MATCH (s:Session {id: 's'}) RETURN s.ended.epochMillis AS at").await;
    assert_eq!(ended_at, at(1.0).millis());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_that_an_attempt_holds_is_left_to_it() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    db.put(&[Row { session: Some("s"), ..ripe("held") }, made("free", 1.8)]).await;
    let opened = db.store.open_run("promote", "manual/hold", at(0.0), "manual", Right::Lease).await.unwrap();
    let OpenedRun::Ours(mut run) = opened else { panic!("{opened:?}") };
    let claimed = db.store.claim(&mut run, "promote", 10).await.unwrap().unwrap();

    let ended = end(&db, "s", 0.0).await.unwrap();
    assert_eq!(ended, EndedSession { promoted: vec!["free".to_owned()], held: 1 });
    assert_eq!(db.state("held").await.tier, Tier::Working);

    assert_eq!(db.store.apply(&mut run, &claimed, &tunables).await.unwrap().promoted, 1);
    assert_eq!(db.state("held").await.tier, Tier::ShortTerm);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_of_any_size_ends_in_pages_and_one_of_another_scope_does_not() {
    let db = fresh().await;
    let rows: Vec<Row> = (0..1_203).map(|n| made(&format!("m{n:04}"), 1.8)).collect();
    db.put(&rows).await;
    db.client
        .run(
            "CREATE (:Session {scope: 'team', id: 's'}), (:Memory:EbbMemory {id: 'theirs', scope: 'team', \
             sessionId: 's', tier: 'working', energy: 4.0, energyAt: datetime({epochMillis: $at}), \
             lastAccessed: datetime({epochMillis: $at})})",
            &[("at", at(0.0).millis().into())],
        )
        .await;
    let ended = end(&db, "s", 0.0).await.unwrap();
    assert_eq!(ended.promoted.len(), 1_203);
    let theirs = db.store.memories(&[MemoryKey::of_row("team", "theirs")]).await.unwrap().remove(0);
    assert_eq!(theirs.life.unwrap().state.tier, Tier::Working);
    let why = end(&db, "nowhere", 0.0).await.unwrap_err();
    assert!(matches!(why, Error::NotFound { what: "session", .. }), "{why}");
}
