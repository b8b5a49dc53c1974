//! Rows that no law can use: set aside with the reason and their values as they are, and nobody else held up by them.

use crate::harness::ebb::{access, close};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::rows::{Row, row};
use ebb_core::domain::event::Event;
use ebb_core::jobs::JobName;
use ebb_core::store::{Batch, BatchOutcome, Error, Filter, MemoryOrder};

/// What somebody did to a row, and the reason it is set aside for.
const STAMPED: [(&str, &str); 20] = [
    ("SET m.energy = 0.0 / 0.0", "energy is outside 0 to 1e12"),
    ("SET m.energy = 1.0 / 0.0", "energy is outside 0 to 1e12"),
    ("SET m.energy = -1.0 / 0.0", "energy is outside 0 to 1e12"),
    ("SET m.energy = -1", "energy is outside 0 to 1e12"),
    ("SET m.energy = 1000000000001", "energy is outside 0 to 1e12"),
    ("SET m.energy = '1.0'", "energy is not a number"),
    ("SET m.energy = true", "energy is not a number"),
    ("SET m.energy = [1.0, 2.0]", "energy is not a number"),
    ("REMOVE m.energy", "energy is not a number"),
    ("SET m.energyAt = '2026-01-01T00:00:00Z'", "energyAt is not a date with time and zone"),
    ("SET m.energyAt = date('2026-01-01')", "energyAt is not a date with time and zone"),
    ("SET m.energyAt = localdatetime('2026-01-01T00:00:00')", "energyAt is not a date with time and zone"),
    ("REMOVE m.energyAt", "energyAt is not a date with time and zone"),
    ("SET m.lastAccessed = 1767225600000", "lastAccessed is not a date with time and zone"),
    ("REMOVE m.lastAccessed", "lastAccessed is not a date with time and zone"),
    ("SET m.tier = 'archived'", "tier is unknown"),
    ("SET m.tier = 42", "tier is unknown"),
    ("SET m.id = 100000 + toInteger(substring(m.id, 1))", "id is not text"),
    ("SET m.pinned = 'yes'", "pinned is not true or false"),
    ("SET m.ripeAt = time('12:00')", "ripeAt is not a date with time and zone"),
];

/// The same for rows that Ebb has not seen yet.
const FOREIGN: [(&str, &str); 16] = [
    ("energy: 0.0 / 0.0", "energy is outside 0 to 1e12"),
    ("energy: -0.5", "energy is outside 0 to 1e12"),
    ("energy: 'much'", "energy is not a number"),
    ("energy: [1.0]", "energy is not a number"),
    ("lastAccessed: 'yesterday'", "lastAccessed is not a date with time and zone"),
    ("lastAccessed: localdatetime()", "lastAccessed is not a date with time and zone"),
    ("energyAt: 5", "energyAt is not a date with time and zone"),
    ("created: date()", "created is not a date with time and zone"),
    ("accessCount: 1.5", "accessCount is not a whole number"),
    ("pinned: 1", "pinned is not true or false"),
    ("scope: 7", "scope is not text"),
    ("sessionId: 7", "sessionId is not text"),
    ("content: [1, 2]", "content is not text"),
    ("ripeAt: 'now'", "ripeAt is not a date with time and zone"),
    ("tier: 'middle'", "tier is unknown"),
    ("tier: 3", "tier is unknown"),
];

async fn set_aside(db: &Fresh) -> Vec<String> {
    db.client
        .column("MATCH (m:EbbQuarantined) RETURN toString(m.case) + ' ' + m.ebbReason AS all ORDER BY m.case")
        .await
}

/// A bad row does not keep a person from looking, nor a job from its work.
async fn every_question_is_answered(db: &Fresh) {
    for (name, ..) in ebb_core::store::Store::questions() {
        db.store.inspect(name).await.unwrap_or_else(|why| panic!("{name}: {why}"));
    }
    db.store.timeline().await.unwrap();
    db.store.waiting(at(1.0)).await.unwrap();
    let ids = db
        .store
        .list_memories("local", (&Filter::default(), MemoryOrder::Id), "", 10_000)
        .await
        .unwrap()
        .keys;
    db.store.memories(&ids).await.unwrap();
    for job in JobName::ALL {
        db.run(job, 1.0).await;
    }
}

/// All properties of the rows in question but the lock and the reason, so that what was there can be compared.
async fn values(db: &Fresh) -> Vec<String> {
    let text = "MATCH (m:Memory) WHERE m.case IS NOT NULL WITH m ORDER BY m.case UNWIND keys(m) AS key \
                WITH m, key WHERE NOT key IN ['ebbLock', 'ebbReason', 'clusterDue'] \
                RETURN m.case + ' ' + key + ' ' + valueType(m[key]) + ' ' + coalesce(toStringOrNull(m[key]), \
                reduce(all = '', v IN m[key] | all + ' ' + toString(v))) AS line ORDER BY line";
    db.client.column(text).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_row_in_twenty_holds_nobody_up() {
    let db = fresh().await;
    let rows: Vec<Row> = (0..2_000).map(|n| row(&format!("m{n:04}"), "working", 1.0)).collect();
    db.put(&rows).await;
    for (case, (damage, _)) in STAMPED.iter().enumerate() {
        for n in 0..5 {
            let place = case * 100 + n * 20;
            let text = format!("MATCH (m:Memory {{id: 'm{place:04}'}}) SET m.case = {case} {damage}");
            db.client.run(&text, &[]).await;
        }
    }
    let before = values(&db).await;

    let report = db.run(JobName::Decay, 1.0).await;

    assert_eq!((report.tally.scanned, report.tally.changed, report.tally.quarantined), (2_000, 1_900, 100));
    let wanted: Vec<String> = STAMPED
        .iter()
        .enumerate()
        .flat_map(|(case, (_, reason))| std::iter::repeat_n(format!("{case} {reason}"), 5))
        .collect();
    let mut found = set_aside(&db).await;
    found.sort_by_key(|line| line.split(' ').next().unwrap().parse::<usize>().unwrap());
    assert_eq!(found, wanted);
    assert_eq!(values(&db).await, before, "what was there is kept");
    let faded: Vec<f64> = db
        .client
        .column("MATCH (m:Memory) WHERE NOT m:EbbQuarantined RETURN DISTINCT m.energy AS energy")
        .await;
    assert_eq!(faded.len(), 1);
    close(faded[0], 0.606_530_659_712_633);

    let again = db.run(JobName::Decay, 2.0).await;
    assert_eq!((again.tally.changed, again.tally.quarantined), (1_900, 0), "set aside once");
    every_question_is_answered(&db).await;
    let health = db.store.tiers().await.unwrap();
    assert_eq!(health.iter().map(|tier| tier.quarantined).sum::<i64>(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_row_of_another_writer_is_set_aside_when_it_is_met() {
    let db = fresh().await;
    for (case, (damage, _)) in FOREIGN.iter().enumerate() {
        let text = format!(
            "CREATE (m:Memory {{case: {case}, id: 'f{case}', {damage}}}) SET m.content = coalesce(m.content, 'x'), m.tier = coalesce(m.tier, 'working')"
        );
        db.client.run(&text, &[]).await;
    }
    let no_id = FOREIGN.len();
    for (n, id) in ["5", "''", "'  '", "null"].iter().enumerate() {
        db.client
            .run(
                &format!("CREATE (:Memory {{case: {}, id: {id}, content: 'x', tier: 'working'}})", no_id + n),
                &[],
            )
            .await;
    }
    db.client.run("CREATE (:Memory {id: 'good', content: 'x', energy: 2})", &[]).await;
    let before = values(&db).await;

    let report = db.run(JobName::Decay, 0.0).await;

    assert_eq!((report.tally.adopted, report.tally.quarantined), (1, 19));
    let mut wanted: Vec<String> =
        FOREIGN.iter().enumerate().map(|(case, (_, reason))| format!("{case} {reason}")).collect();
    // One without any id is of another library.
    wanted.extend((0..3).map(|n| format!("{} id is not text", no_id + n)));
    assert_eq!(set_aside(&db).await, wanted);
    assert_eq!(values(&db).await, before, "what was there is kept");
    assert_eq!(db.state("good").await.energy.value().to_bits(), 2.0_f64.to_bits());
    every_question_is_answered(&db).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_was_mended_goes_back_under_the_laws() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    db.put(&["mended", "bad", "good"].map(|name| row(name, "working", 1.0))).await;
    db.client.run("MATCH (m:Memory) WHERE m.id <> 'good' SET m.energy = 'much'", &[]).await;
    db.run(JobName::Decay, 1.0).await;
    assert_eq!(db.store.release_sound(at(1.0), &tunables).await.unwrap(), 0);
    db.client.run("MATCH (m {id: 'mended'}) SET m.energy = 2.0", &[]).await;
    assert_eq!(db.store.release_sound(at(1.0), &tunables).await.unwrap(), 1);
    let aside: Vec<String> =
        db.client.column("MATCH (m:EbbQuarantined) RETURN m.id + ': ' + m.ebbReason AS all").await;
    assert_eq!(aside, ["bad: energy is not a number"]);
    db.run(JobName::Decay, 2.0).await;
    // Its energy is what it was when Ebb last wrote it, at the start.
    close(db.state("mended").await.energy.value(), 2.0 * (-1.0_f64).exp());
}

/// More invalid rows than are checked at a time keep no other from being released.
#[tokio::test(flavor = "multi_thread")]
async fn a_valid_row_behind_many_invalid_ones_is_released() {
    let db = fresh().await;
    let text = "UNWIND range(1, 10100) AS i CREATE (:Memory:EbbMemory:EbbQuarantined {scope: 'local', id: 'm' + i, content: 'x',
        tier: 'working', energy: CASE WHEN i > 10090 THEN 1.0 ELSE 'high' END, ebbReason: 'energy is not a number'})";
    db.client.run(text, &[]).await;
    assert_eq!(db.run(JobName::Audit, 1.0).await.tally.released, 10);
    db.client.run("MATCH (m:Memory {id: 'm10090'}) SET m.energy = 1.0", &[]).await;
    let tunables = db.tunables().await;
    assert_eq!(db.store.release_sound(at(1.0), &tunables).await.unwrap(), 1);
}

/// An event for a row whose values no law can use is an error that names the reason, and overwrites nothing.
#[tokio::test(flavor = "multi_thread")]
async fn an_event_does_not_write_over_a_bad_value() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let damage = [
        ("SET m.pinned = 'yes'", "pinned is not true or false"),
        ("SET m.accessCount = 'twice'", "accessCount is not a whole number"),
        ("SET m.ripeAt = 'soon'", "ripeAt is not a date with time and zone"),
        // In no scope at all, so it is nobody's.
        ("SET m.scope = 7", "there is no memory m3"),
        ("SET m.created = 7", "created is not a date with time and zone"),
        ("SET m.energyAt = 'then'", "energyAt is not a date with time and zone"),
        ("SET m.energy = 0.0 / 0.0", "energy is NaN"),
        ("SET m.energy = 'one'", "energy is missing or not a number"),
        ("SET m.lastAccessed = date()", "lastAccessed is not a date with time and zone"),
        ("SET m.tier = 'middle'", "tier is middle"),
    ];
    for (case, (damage, _)) in damage.iter().enumerate() {
        db.put(&[row(&format!("m{case}"), "working", 1.0)]).await;
        db.client.run(&format!("MATCH (m:Memory {{id: 'm{case}'}}) SET m.case = {case} {damage}"), &[]).await;
    }
    let before = values(&db).await;
    for (case, (_, reason)) in damage.iter().enumerate() {
        let events = [Event::Access(access(&format!("m{case}"), 1.0))];
        let batch = Batch { events: &events, tunables: &tunables };
        let request = format!("r{case}");
        match db
            .store
            .apply_request(
                ebb_core::store::RequestMode::Once { request: &request, hash: "h", by: "test" },
                None,
                batch,
                |_| Vec::new(),
            )
            .await
            .unwrap()
            .0
        {
            BatchOutcome::Rejected(faults) => match &faults[0].why {
                Error::Quarantined { reason: found, .. } => assert!(found.contains(reason), "{found}"),
                why @ Error::NotFound { .. } => assert!(why.to_string().contains(reason), "{why}"),
                why => panic!("{case}: {why}"),
            },
            BatchOutcome::Written(done) => panic!("{case}: {done:?}"),
        }
    }
    assert_eq!(values(&db).await, before);
}

/// A ripe row that cannot rise must not keep those behind it waiting.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_claimed_is_passed_over() {
    let db = fresh().await;
    let ripe = |name: String, ripe| Row { ripe: Some(ripe), ..row(&name, "working", 3.0) };
    let mut rows: Vec<Row> = (0..24).map(|n| ripe(format!("a{n:02}"), -2.0)).collect();
    rows.extend((0..12).map(|n| ripe(format!("b{n:02}"), -1.0)));
    db.put(&rows).await;
    db.client.run("MATCH (m:Memory) WHERE m.id < 'a12' SET m.pinned = true", &[]).await;
    db.client.run("MATCH (m:Memory) WHERE m.id >= 'a12' AND m.id < 'a18' SET m.pinned = 'yes'", &[]).await;
    db.client.run("MATCH (m:Memory) WHERE m.id >= 'a18' AND m.id < 'b' SET m.tier = 'longTerm'", &[]).await;

    let report = db.run(JobName::Promote, 0.0).await;

    assert_eq!(report.tally.promoted, 12);
    let risen: Vec<String> =
        db.client.column("MATCH (m:Memory {tier: 'shortTerm'}) RETURN left(m.id, 1) AS id ORDER BY id").await;
    assert_eq!(risen, vec!["b"; 12]);
}
