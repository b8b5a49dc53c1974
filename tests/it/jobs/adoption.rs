//! Rows that agents write with plain Cypher, as the three-tier document shows: taken under the laws, and right at once.
//!
//! The statements are the document's, with its faults of syntax mended: a pattern in `NOT EXISTS` needs its braces and
//! its far end, and the attempt must be found before it is marked.

use crate::harness::ebb::close;
use crate::harness::graph::{remembered, same};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::rows::{Row, row};
use ebb_core::domain::attempt::Right;
use ebb_core::domain::tier::Tier;
use ebb_core::domain::units::Timestamp;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::{JobReport, Wanted, run_job};

const CREATE: &str = "CREATE (m:Memory {
  id: randomUUID(), content: $content, tier: 'working', energy: 1.0, created: datetime(),
  lastAccessed: datetime(), accessCount: 1, sessionId: $sessionId, instanceId: $instanceId })";

const ACCESS: &str = "MATCH (m:Memory {id: $memory_id})
SET m.energy = m.energy * exp(-1 * duration.between(m.lastAccessed, datetime()).hours / $decayConstant) + 1.0,
  m.lastAccessed = datetime(), m.accessCount = m.accessCount + 1";

const PROMOTE: &str = "MATCH (m:Memory {tier: 'working'}) WHERE m.energy > 2.0
CREATE (m)-[:PROMOTED_TO {at: datetime(), energy: m.energy}]->(
  s:Memory { id: randomUUID(), content: m.content, tier: 'shortTerm', energy: m.energy, created: m.created,
    promotedFrom: m.id, lastAccessed: datetime() })
SET m.tier = 'archivedWorking'";

/// The access, with the instant a parameter: the test's time is not the server's.
const ACCESS_AT: &str = "MATCH (m:Memory {id: $memory_id})
WITH m, datetime({epochMillis: $now}) AS now
SET m.energy = m.energy * exp(-1 * duration.between(m.lastAccessed, now).hours / $decayConstant) + 1.0,
  m.lastAccessed = now, m.accessCount = m.accessCount + 1";

async fn create(db: &Fresh, content: &str) -> (String, i64) {
    let params = [("content", content.into()), ("sessionId", "s-1".into()), ("instanceId", "i-1".into())];
    db.client.run(CREATE, &params).await;
    let of = format!("MATCH (m:Memory {{content: '{content}'}}) RETURN");
    let id = db.client.value(&format!("{of} m.id AS id")).await;
    (id, db.client.value(&format!("{of} m.created.epochMillis AS at")).await)
}

async fn run_at(db: &Fresh, job: JobName, ms: i64) -> JobReport {
    let now = Timestamp::from_millis(ms).unwrap();
    run_job(&db.store, job, &Wanted::by_hand(now, Right::Lease), Request::default()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_written_as_documented_lives_by_the_laws() {
    let db = fresh().await;
    let (id, born) = create(&db, "Dana prefers tea").await;
    let report = run_at(&db, JobName::Decay, born + 3_600_000).await;
    assert_eq!((report.tally.adopted, report.tally.quarantined, report.tally.changed), (1, 0, 1));
    let life = db.state(&id).await;
    close(life.energy.value(), 0.606_530_659_712_633);
    assert_eq!((life.tier, life.access_count, life.last_accessed.millis()), (Tier::Working, 1, born));
    let joined: String = db
        .client
        .value("MATCH (m:Memory)-[a:ACCESSED_IN {counted: false}]->(s:Session) RETURN s.scope + s.id + a.count AS all")
        .await;
    assert_eq!(joined, "locals-11");

    // A day and more, which the documented arithmetic drops: the stored energy is what it was when it was written.
    run_at(&db, JobName::Decay, born + 25 * 3_600_000).await;
    close(db.state(&id).await.energy.value(), 3.726_653_172_078_671e-6);
    assert_eq!(db.store.memory_adoption().await.unwrap().waiting(), 0);
    let before = remembered(&db.client).await;
    run_at(&db, JobName::Decay, born + 25 * 3_600_000).await;
    same(&before, &remembered(&db.client).await, "adopted once");
}

#[tokio::test(flavor = "multi_thread")]
async fn accesses_written_as_documented_make_a_memory_ripe() {
    let db = fresh().await;
    let (id, born) = create(&db, "Dana moved to Bonn").await;
    for _ in 0..2 {
        db.client.run(ACCESS, &[("memory_id", id.as_str().into()), ("decayConstant", 0.5.into())]).await;
    }
    let report = run_at(&db, JobName::Promote, born + 600_000).await;
    assert_eq!((report.tally.adopted, report.tally.promoted), (1, 1));
    assert_eq!(db.state(&id).await.tier, Tier::ShortTerm);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promotion_written_as_documented_is_kept_as_it_is() {
    let db = fresh().await;
    let (id, born) = create(&db, "Dana plays chess").await;
    for _ in 0..2 {
        db.client.run(ACCESS, &[("memory_id", id.as_str().into()), ("decayConstant", 0.5.into())]).await;
    }
    db.client.run(PROMOTE, &[]).await;
    let copy: String = db.client.value("MATCH (m:Memory {tier: 'shortTerm'}) RETURN m.id AS id").await;
    let report = run_at(&db, JobName::Decay, born + 36_000_000).await;
    assert_eq!((report.tally.adopted, report.tally.quarantined), (2, 0));
    let energy = db.state(&copy).await.energy.value();
    assert!((energy - 3.0 * (-0.5_f64).exp()).abs() < 1e-3, "ten hours of the short term: {energy}");
    // The documented archive keeps its energy and content, and is met as a stub from here on.
    assert_eq!(db.state(&id).await.energy.value().to_bits(), 3.0_f64.to_bits());
    assert_eq!(run_at(&db, JobName::Promote, born + 36_000_000).await.tally.promoted, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_access_is_right_at_once() {
    let db = fresh().await;
    db.put(&[row("long", "longTerm", 6.0), row("lifted", "working", 1.5), row("low", "working", 0.2)]).await;
    db.run(JobName::Decay, 0.5).await;
    let access = async |name: &str, hours: f64| {
        let params =
            [("memory_id", name.into()), ("now", at(hours).millis().into()), ("decayConstant", 0.5.into())];
        db.client.run(ACCESS_AT, &params).await;
    };
    for name in ["long", "lifted", "low"] {
        access(name, 0.75).await;
    }
    let stored: f64 = db.client.value("MATCH (m {id: 'long'}) RETURN m.energy AS e").await;

    // At the instant of the access a sweep has nothing to take; an hour later, an hour's worth.
    let before = remembered(&db.client).await;
    db.run(JobName::Decay, 0.75).await;
    same(&before, &remembered(&db.client).await, "a sweep at the instant of the access");
    db.client.run("MATCH (m {id: 'long'}) SET m.dueAt = datetime({epochMillis: 0})", &[]).await;
    db.run(JobName::Decay, 1.75).await;
    let long = db.state("long").await;
    close(long.energy.value(), stored * (-0.001_f64).exp());
    assert_eq!(long.last_accessed, at(0.75));
    assert_eq!(db.state("lifted").await.ripe_at, Some(at(0.75)), "ripe since the access that lifted it");
    assert_eq!(db.state("low").await.ripe_at, None);
    assert_eq!(db.run(JobName::Promote, 1.75).await.tally.promoted, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_row_just_gets_the_stamp() {
    let db = fresh().await;
    let text = "UNWIND ['expiredWorking', 'archivedWorking', 'archivedShortTerm'] AS tier
                CREATE (:Memory {id: tier, content: 'x', tier: tier, energy: 1, created: datetime('2020-01-01T00:00:00+02:00')})";
    db.client.run(text, &[]).await;
    assert_eq!(db.run(JobName::Decay, 9.0).await.tally.adopted, 3);
    let left: Vec<String> = db
        .client
        .column("MATCH (m:EbbMemory) UNWIND keys(m) AS key WITH key WHERE key <> 'ebbLock' RETURN DISTINCT key ORDER BY key")
        .await;
    assert_eq!(left, ["content", "created", "energy", "id", "scope", "tier"]);
}

/// Adoption pages through any number of rows, and a row that Ebb made meanwhile is not touched by it.
#[tokio::test(flavor = "multi_thread")]
async fn adoption_takes_all_in_pages() {
    let db = fresh().await;
    db.put(&[Row { at: 5.0, ..row("ours", "working", 1.5) }]).await;
    db.client
        .run("UNWIND range(1, 2500) AS i CREATE (:Memory {id: 'f' + i, content: 'x', tier: 'working', created: datetime({epochMillis: $at})})", &[("at", at(4.0).millis().into())])
        .await;
    let report = db.run(JobName::Decay, 5.0).await;
    assert_eq!((report.tally.adopted, report.tally.changed), (2_500, 2_500));
    assert_eq!(db.state("ours").await.energy_at, at(5.0));
    close(db.state("f2500").await.energy.value(), 0.606_530_659_712_633);
}

/// Ids of rows without a scope may be those of others: one becomes the memory of the scope local, the rest are left as they are.
#[tokio::test(flavor = "multi_thread")]
async fn of_several_without_a_scope_one_has_the_id() {
    let db = fresh().await;
    db.put(&[row("taken", "working", 1.0)]).await;
    db.client
        .run(
            "UNWIND ['taken', 'twin', 'twin', 'own'] AS id CREATE (:Memory {id: id, content: 'of ' + id, tier: 'working', \
             energy: 1.0, lastAccessed: datetime({epochMillis: $at})})",
            &[("at", at(0.0).millis().into())],
        )
        .await;
    // Before any job has met it, it is already the memory of that id.
    db.apply(&[ebb_core::domain::event::Event::Access(crate::harness::ebb::access("own", 0.5))]).await;
    let report = db.run(JobName::Decay, 1.0).await;
    assert_eq!((report.tally.adopted, report.tally.quarantined), (2, 2));
    let aside = "MATCH (m:Memory:EbbQuarantined) RETURN m.id + ': ' + m.ebbReason AS why ORDER BY why";
    let why = |id: &str| format!("{id}: id is that of another memory of the scope local");
    assert_eq!(db.client.column::<String>(aside).await, ["taken", "twin"].map(why));
    assert_eq!(db.state("own").await.access_count, 2);
    assert_eq!(db.run(JobName::Decay, 1.0).await.tally.adopted, 0);
}
