//! A plan is what the job would do; applied, it is what the job did; undone, it was not.

use super::cluster::pair;
use super::sweep::fact;
use crate::harness::ebb::{access, key};
use crate::harness::graph::{everything, same, unqueued};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::random::Random;
use crate::harness::rows::{Row, ripe, row};
use ebb_core::api::plan::Applied;
use ebb_core::domain::event::{Access, Event};
use ebb_core::domain::memory::Revive;
use ebb_core::domain::tier::Tier;
use ebb_core::jobs::JobName;
use ebb_core::service::Service;
use ebb_core::store::Error;
use std::collections::BTreeMap;

const POLICIES: &str = r#"[
    {"id": "status", "relation": "roadmap:*", "scope": "company", "mode": "retract", "ttl_s": 3600},
    {"id": "memory", "relation": "memory:*", "scope": "*", "mode": "confidence", "half_life_s": 3600, "min_confidence": 0.1}]"#;
const PLANNED: [JobName; 4] = [JobName::Decay, JobName::Promote, JobName::Cluster, JobName::Sweep];
/// The instant of all runs: hours after the start. Rows that survive have their energy at it, so that nothing fades and
/// two dumps may be compared to the bit.
const NOW: f64 = 10.0;

async fn random_graph(db: &Fresh, random: &mut Random) {
    let rows: Vec<Row> = (0..24)
        .map(|n| {
            let id = format!("m{n:02}");
            let tier = random.pick(&["working", "shortTerm", "longTerm"]);
            match random.below(4) {
                0 => Row { energy: 0.02 + random.unit(), ..row(&id, "working", 0.0) },
                1 => Row { at: NOW, tier: random.pick(&["working", "shortTerm"]), energy: 9.0, ..ripe(&id) },
                _ => Row { at: NOW, pinned: random.once_in(8), ..row(&id, tier, 1.0 + random.unit()) },
            }
        })
        .collect();
    db.put(&rows).await;
    let mut pairs = Vec::new();
    for _ in 0..30 {
        let (a, b, weight) = (random.below(24), random.below(24), 2 + random.whole(5));
        if a < b {
            pairs.push((format!("m{a:02}"), format!("m{b:02}"), weight));
        }
    }
    pair(db, &pairs).await;
    let facts: Vec<_> = (0..12)
        .map(|n| {
            let relation = random.pick(&["roadmap:status", "memory:context", "other"]);
            fact(relation, &format!("v{n}"), NOW * random.unit())
        })
        .collect();
    db.assert(&facts).await;
}

/// The id of the last run of a job.
async fn last_run(db: &Fresh, job: JobName) -> String {
    let runs = db.store.runs(Some(job.name()), 1).await.unwrap();
    runs[0].run_id.clone()
}

#[track_caller]
fn all(applied: Applied, what: &str) -> Applied {
    assert_eq!((&applied.refused, applied.already), (&Vec::new(), 0), "{what}");
    applied
}

async fn undone(service: &Service, run: &str, what: &str) -> Applied {
    all(service.undo(run, at(NOW), false).await.unwrap(), what)
}

#[expect(clippy::disallowed_methods, reason = "how long to try is the caller's choice")]
fn rounds() -> usize {
    std::env::var("EBB_PLAN_ROUNDS").ok().map_or(6, |rounds| rounds.parse().expect("a number of rounds"))
}

/// Each job of a random graph: run, undone, applied from its plan, undone, and that undone. EBB_PLAN_ROUNDS graphs.
#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_what_the_job_would_do_and_an_undo_leaves_what_was_there() {
    let db = fresh().await;
    let mut random = Random::seeded(22);
    let mut changes: BTreeMap<JobName, usize> = BTreeMap::new();
    let rounds = rounds();
    for round in 0..rounds {
        db.clear().await;
        let service = db.service(POLICIES);
        // By a threshold that is new, a run examines every pair, and a plan says that it is not complete.
        assert!(!service.plan_job(JobName::Cluster, at(0.0), None).await.unwrap().complete);
        service.run_job(JobName::Cluster, at(0.0), &Default::default()).await.unwrap();
        random_graph(&db, &mut random).await;
        for job in PLANNED {
            let what = |what: &str| format!("round {round}, {job}: {what}");
            let before = unqueued(&db.client).await;
            let plan = service.plan_job(job, at(NOW), None).await.unwrap();
            assert!(plan.complete);
            same(&before, &unqueued(&db.client).await, &what("a plan writes nothing"));
            *changes.entry(job).or_default() += plan.changes.len();
            service.run_job(job, at(NOW), &Default::default()).await.unwrap();
            let after = unqueued(&db.client).await;
            assert_eq!(
                plan.changes.is_empty(),
                before == after,
                "{}",
                what("a plan without changes is a run without")
            );
            if plan.changes.is_empty() {
                continue;
            }
            let run = last_run(&db, job).await;
            let dry = all(service.undo(&run, at(NOW), true).await.unwrap(), &what("dry undo of the run"));
            same(&after, &unqueued(&db.client).await, &what("a dry undo"));
            assert_eq!(undone(&service, &run, &what("undo of the run")).await.applied, dry.applied);
            same(&before, &unqueued(&db.client).await, &what("undone"));

            let applied = all(service.apply_plan(&plan, false).await.unwrap(), &what("apply"));
            assert_eq!(applied.applied, plan.changes.len());
            same(&after, &unqueued(&db.client).await, &what("applied"));
            let again = service.apply_plan(&plan, false).await.unwrap();
            assert_eq!((again.applied, again.already), (0, plan.changes.len()), "{}", what("twice is once"));
            service.run_job(job, at(NOW), &Default::default()).await.unwrap();
            same(&after, &unqueued(&db.client).await, &what("nothing is left for the job"));

            let taken_back = undone(&service, &plan.plan, &what("undo of the plan")).await;
            same(&before, &unqueued(&db.client).await, &what("the plan undone"));
            undone(&service, &taken_back.run, &what("undo of the undo")).await;
            same(&after, &unqueued(&db.client).await, &what("the undo undone"));
        }
    }
    for job in PLANNED {
        assert!(changes[&job] >= rounds, "{job} changed too little to show anything: {changes:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_moved_on_is_refused_and_the_rest_is_done() {
    let db = fresh().await;
    db.put(&[row("a", "working", 0.02), row("b", "working", 0.02), row("c", "shortTerm", 2.0)]).await;
    let service = db.service("[]");
    let plan = service.plan_job(JobName::Decay, at(NOW), None).await.unwrap();
    assert_eq!(plan.changes.len(), 2);
    db.apply(&[Event::Access(access("a", NOW))]).await;
    let kept = db.state("a").await;
    let applied = service.apply_plan(&plan, false).await.unwrap();
    assert_eq!((applied.applied, applied.refused.len()), (1, 1));
    assert!(applied.refused[0].why.starts_with("memory a: accessCount is 2, not 1"), "{applied:?}");
    assert_eq!(db.state("a").await, kept);
    assert_eq!(db.state("b").await.tier, Tier::ExpiredWorking);

    // One that came back is not sent away and brought back again; a dry undo writes nothing.
    let before = everything(&db.client).await;
    let dry = service.undo(&plan.plan, at(NOW), true).await.unwrap();
    assert_eq!((dry.applied, dry.dry_run), (1, true));
    same(&before, &everything(&db.client).await, "a dry undo");
    db.apply(&[Event::Access(Access { revive: Revive::Yes, ..access("b", NOW + 1.0) })]).await;
    let undone = service.undo(&plan.plan, at(NOW + 1.0), false).await.unwrap();
    assert_eq!((undone.applied, undone.refused.len()), (0, 1), "{undone:?}");
}

/// A run writes a cluster in several transactions: half of it is never taken back.
#[tokio::test(flavor = "multi_thread")]
async fn what_belongs_to_a_refused_change_is_left() {
    let db = fresh().await;
    db.put(&["a", "b", "c", "d"].map(|id| row(id, "shortTerm", 1.0))).await;
    let pairs = |pairs: &[(&str, &str, i64)]| {
        pairs.iter().map(|(a, b, weight)| ((*a).to_owned(), (*b).to_owned(), *weight)).collect::<Vec<_>>()
    };
    pair(&db, &pairs(&[("a", "b", 4), ("c", "d", 6)])).await;
    let service = db.service("[]");
    service.run_job(JobName::Cluster, at(1.0), &Default::default()).await.unwrap();
    pair(&db, &pairs(&[("b", "c", 5)])).await;
    let merged = service.run_job(JobName::Cluster, at(2.0), &Default::default()).await.unwrap().tally;
    assert_eq!((merged.joined, merged.left, merged.dissolved), (2, 2, 1));
    db.apply(&[Event::Access(access("c", 3.0))]).await;
    let before = unqueued(&db.client).await;
    let undone = service.undo(&last_run(&db, JobName::Cluster).await, at(4.0), false).await.unwrap();
    assert_eq!((undone.applied, undone.refused.len()), (0, 4), "{undone:?}");
    assert!(undone.refused[0].why.starts_with("memory c: accessCount is 2"), "{undone:?}");
    assert!(
        undone.refused[1..].iter().all(|refused| refused.why.ends_with("part of a change that was refused"))
    );
    same(&before, &unqueued(&db.client).await, "a refused undo");
}

/// A member joined by one transaction of the run, and the size was written by another: neither is taken back alone.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_grew_since_keeps_the_members_of_a_refused_undo() {
    let db = fresh().await;
    db.put(&["a", "b", "c", "d"].map(|id| row(id, "shortTerm", 1.0))).await;
    let service = db.service("[]");
    let mut runs = Vec::new();
    for (hours, (a, b)) in [(1.0, ("a", "b")), (2.0, ("b", "c")), (3.0, ("c", "d"))] {
        pair(&db, &[(a.to_owned(), b.to_owned(), 5)]).await;
        service.run_job(JobName::Cluster, at(hours), &Default::default()).await.unwrap();
        runs.push(last_run(&db, JobName::Cluster).await);
    }
    let before = unqueued(&db.client).await;
    for dry_run in [true, false] {
        let undone = service.undo(&runs[1], at(4.0), dry_run).await.unwrap();
        assert_eq!((undone.applied, undone.already, undone.refused.len()), (0, 0, 2), "{undone:?}");
        for why in ["part of a change that was refused", "size is 4, not 3"] {
            assert!(undone.refused.iter().any(|refused| refused.why.ends_with(why)), "{undone:?}");
        }
        same(&before, &unqueued(&db.client).await, "a refused undo");
    }
    // The last one first, and what was refused is possible.
    for (run, changes) in [(&runs[2], 2), (&runs[1], 2)] {
        assert_eq!(service.undo(run, at(5.0), true).await.unwrap().applied, changes);
        assert_eq!(undone(&service, run, "undo").await.applied, changes);
    }
}

/// After a restore each node has another element id, and the same name.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_is_undone_when_its_entity_has_another_element_id() {
    let db = fresh().await;
    let service = db.service(POLICIES);
    db.assert(&[fact("memory:context", "v", NOW - 1.0)]).await;
    let before = unqueued(&db.client).await;
    service.run_job(JobName::Sweep, at(NOW), &Default::default()).await.unwrap();
    let run = last_run(&db, JobName::Sweep).await;
    let after = unqueued(&db.client).await;
    assert_ne!(before, after);
    for text in [
        "MATCH (e:EbbEntity {name: 'Atlas'}) SET e.name = 'old'",
        "MATCH (old:EbbEntity {name: 'old'})
         CREATE (e:Entity:EbbEntity)
         SET e = old {.*, name: 'Atlas'}
         WITH old, e
         MATCH (f)-[:ABOUT]->(old)
         CREATE (f)-[:ABOUT]->(e)",
        "MATCH (old:EbbEntity {name: 'old'}) DETACH DELETE old",
    ] {
        db.client.run(text, &[]).await;
    }
    same(&after, &unqueued(&db.client).await, "another node of the same name");
    let undo = undone(&service, &run, "undo").await;
    same(&before, &unqueued(&db.client).await, "undone");
    let mut last = undone(&service, &undo.run, "undo of the undo").await;
    same(&after, &unqueued(&db.client).await, "the undo undone");

    // Entries of older versions name the node by its element id.
    let rewrite = r#"MATCH (e:EbbEntity {name: 'Atlas'}), (j:EbbJournal)
        WITH j, '{"label":"EbbEntity","scope":"' + e.scope + '","key":"Atlas"}' AS new, '{"element":"' + elementId(e) + '"}' AS old
        WITH j, [entry IN j.entries | replace(entry, new, old)] AS entries
        WHERE entries <> j.entries
        SET j.entries = entries
        RETURN count(j) AS n"#;
    for (wanted, what) in [(&before, "undone by an older entry"), (&after, "redone by an older entry")] {
        assert!(db.client.value::<i64>(rewrite).await > 0, "{what}");
        last = undone(&service, &last.run, what).await;
        same(wanted, &unqueued(&db.client).await, what);
    }
}

/// What a sweep does to one fact of an entity has nothing to do with another.
#[tokio::test(flavor = "multi_thread")]
async fn facts_of_one_entity_are_undone_apart() {
    let db = fresh().await;
    let service = db.service(POLICIES);
    db.assert(&["memory:context", "memory:plan"].map(|relation| fact(relation, "v", NOW - 1.0))).await;
    service.run_job(JobName::Sweep, at(NOW), &Default::default()).await.unwrap();
    let moved = "MATCH (f:Fact {relation: 'memory:plan'})<-[:HEAD]-() SET f.confidence = 0.25";
    db.client.run(moved, &[]).await;
    let undone = service.undo(&last_run(&db, JobName::Sweep).await, at(NOW), false).await.unwrap();
    assert_eq!((undone.applied, undone.refused.len()), (1, 1), "{undone:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_that_only_faded_since_is_as_the_law_says() {
    let db = fresh().await;
    db.put(&[ripe("up"), row("gone", "working", 0.02)]).await;
    let service = db.service("[]");
    let energy = async |name: &str| db.state(name).await.energy_now(at(40.0), &db.tunables().await).value();
    let before = energy("up").await;
    service.run_job(JobName::Promote, at(1.0), &Default::default()).await.unwrap();
    let run = last_run(&db, JobName::Promote).await;
    // Brought to later instants by two passes.
    for hours in [2.0, 30.0] {
        service.run_job(JobName::Decay, at(hours), &Default::default()).await.unwrap();
    }
    let undone = service.undo(&run, at(31.0), false).await.unwrap();
    assert_eq!((undone.applied, undone.refused.len()), (1, 0), "{undone:?}");
    assert_eq!(db.state("up").await.tier, Tier::Working);
    assert!((energy("up").await - before).abs() < 1e-9);
    let stubs: i64 =
        db.client.value("MATCH (m:Memory) WHERE m.promotionKey IS NOT NULL RETURN count(m) AS n").await;
    assert_eq!(stubs, 0);

    // An energy that no law explains is somebody's change.
    service.run_job(JobName::Promote, at(31.0), &Default::default()).await.unwrap();
    db.client.run("MATCH (m:Memory {id: 'up'}) SET m.energy = m.energy + 1.0", &[]).await;
    let refused = service.undo(&last_run(&db, JobName::Promote).await, at(32.0), false).await.unwrap();
    assert!(refused.refused[0].why.starts_with("memory up: its energy is"), "{refused:?}");
    assert!(db.store.memories(&[key("up")]).await.unwrap().len() == 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_planned_or_undone_says_why() {
    let db = fresh().await;
    let service = db.service("[]");
    let why = service.plan_job(JobName::Reinforce, at(1.0), None).await.unwrap_err();
    assert!(
        matches!(&why, Error::Invalid(text) if text.contains("ebb job run reinforce --dry-run")),
        "{why}"
    );
    service.run_job(JobName::Fade, at(1.0), &Default::default()).await.unwrap();
    let run = last_run(&db, JobName::Fade).await;
    let why = service.undo(&run, at(1.0), false).await.unwrap_err();
    assert!(why.to_string().contains("of fade left nothing to undo"), "{why}");
    let why = service.undo("none", at(1.0), false).await.unwrap_err();
    assert!(matches!(why, Error::NotFound { .. }));

    // However many runs there were since, a run is found, and one in progress is left to its holder.
    let since = "UNWIND range(1, 1000) AS n MATCH (r:EbbRun {id: $run})
        WITH n, r {.*, id: r.id + n, occurrence: r.occurrence + n, started: r.started + duration({seconds: n})} AS later
        CREATE (s:EbbRun) SET s = later";
    db.client.run(since, &[("run", run.as_str().into())]).await;
    let why = service.undo(&run, at(1.0), false).await.unwrap_err();
    assert!(why.to_string().contains("of fade left nothing to undo"), "{why}");
    db.client.run("MATCH (r:EbbRun {id: $run}) SET r.state = 'open'", &[("run", run.as_str().into())]).await;
    let why = service.undo(&run, at(1.0), false).await.unwrap_err();
    assert!(matches!(why, Error::Conflict(_)), "{why}");
    db.client.run("MATCH (r:EbbRun {id: $run}) SET r.state = 'done'", &[("run", run.as_str().into())]).await;

    // A plan edited by hand can do no more than a job can.
    db.put(&[row("a", "working", 0.02)]).await;
    let mut plan = service.plan_job(JobName::Decay, at(NOW), None).await.unwrap();
    let mut created = plan.changes[0].clone();
    created.rows[0].before = None;
    created.rows[0].row.key = "new".to_owned();
    created.rows[0].after.as_mut().unwrap().labels = ["Memory", "Admin"].map(str::to_owned).into();
    plan.changes = vec![created];
    let before = everything(&db.client).await;
    let applied = service.apply_plan(&plan, false).await.unwrap();
    assert!(applied.refused[0].why.contains("the label Admin, which is not Ebb's"), "{applied:?}");
    same(&before, &everything(&db.client).await, "a refused plan");
}
