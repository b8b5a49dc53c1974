//! Relations: observed, pinned, faded, adopted; the pass, and what is retrieved without one.

use crate::harness::ebb::close;
use crate::harness::neo4j::{Fresh, at, fresh};
use ebb_core::domain::event::{Observe, Tie};
use ebb_core::domain::ids::{EntityName, RelationType, Scope};
use ebb_core::domain::relation::{Observation, Pin, Pins};
use ebb_core::domain::units::Weight;
use ebb_core::jobs::JobName;
use ebb_core::scheduler::driver::dry_run_job;
use ebb_core::store::{Error, ObservationEffect, Relation, RelationFilter, RequestMode};

const DAY: f64 = 24.0;
const WHOLE: &str = "MATCH (a)-[r:RELATES_TO]->(b) WITH a, r, b ORDER BY r.ebbKey
    RETURN collect(a.name + ' ' + toString(r.weight) + ' ' + toString(r.baseWeight) + ' ' + toString(r.weightAt) + ' '
      + toString(r.lastObserved) + ' ' + toString(r.pinned) + ' ' + toString(r.created) + ' ' + b.name) AS whole";

fn tie(from: &str, kind: &str, to: &str) -> Tie {
    Tie {
        scope: Scope::local(),
        from: EntityName::new(from).unwrap(),
        kind: RelationType::new(kind).unwrap(),
        to: EntityName::new(to).unwrap(),
    }
}

fn seen(from: &str, to: &str, days: f64) -> Observe {
    let seen = Observation { at: at(days * DAY), weight: None, pinned: None };
    Observe { tie: tie(from, "knows", to), seen }
}

impl Fresh {
    async fn observe(&self, seen: &[Observe]) -> Vec<ObservationEffect> {
        let request = ebb_core::clock::new_id();
        self.store
            .observe(RequestMode::Once { request: &request, hash: "hash", by: "test" }, seen)
            .await
            .unwrap()
    }

    async fn relations(&self, which: RelationFilter, days: f64) -> Vec<Relation> {
        self.store.relations(&Scope::local(), which, at(days * DAY), "", 10_000).await.unwrap()
    }

    async fn stored(&self, from: &str) -> f64 {
        self.client
            .value(&format!("MATCH (:Entity {{name: '{from}'}})-[r:RELATES_TO]->() WHERE r.ebbKey IS NOT NULL RETURN r.weight AS w"))
            .await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn twice_is_once() {
    let db = fresh().await;
    let many: Vec<Observe> =
        (0..2_500).map(|n| seen(&format!("e{}", n % 50), &format!("f{n}"), f64::from(n % 300))).collect();
    db.observe(&many).await;
    let once = db.run(JobName::Fade, 400.0 * DAY).await.tally;
    assert_eq!((once.scanned, once.changed, once.pinned), (2_500, 2_500, 0));
    assert!(once.below > 100);
    let before: Vec<String> = db.client.value(WHOLE).await;
    let twice = db.run(JobName::Fade, 400.0 * DAY).await.tally;
    assert_eq!((twice.scanned, twice.changed, twice.below), (2_500, 0, once.below));
    assert_eq!(db.client.value::<Vec<String>>(WHOLE).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn always_from_the_base() {
    let db = fresh().await;
    db.observe(&[seen("weekly", "x", 0.0)]).await;
    for week in 1..=4 {
        db.run(JobName::Fade, 7.0 * DAY * f64::from(week)).await;
    }
    close(db.stored("weekly").await, 0.806_020_752_323_338);
    db.clear().await;
    db.observe(&[seen("once", "x", 0.0)]).await;
    db.run(JobName::Fade, 28.0 * DAY).await;
    close(db.stored("once").await, 0.806_020_752_323_338);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_that_did_not_run_shows_no_stale_relation() {
    let db = fresh().await;
    db.observe(&[seen("old", "x", 0.0), seen("new", "x", 250.0)]).await;
    close(db.stored("old").await, 1.0);
    let names = |found: Vec<Relation>| found.into_iter().map(|one| one.from).collect::<Vec<_>>();
    assert_eq!(names(db.relations(RelationFilter::Retrievable, 300.0).await), ["new"]);
    let decayed = db.relations(RelationFilter::Decayed, 300.0).await;
    close(decayed[0].weight, 0.5_f64.powf(300.0 / 90.0));
    assert_eq!(names(decayed), ["old"]);
    // It is kept, and comes back when it is observed.
    assert_eq!(db.observe(&[seen("old", "x", 301.0)]).await, [ObservationEffect::Again]);
    assert_eq!(db.relations(RelationFilter::Retrievable, 301.0).await.len(), 2);
    assert!(db.relations(RelationFilter::Decayed, 301.0).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_counters_are_those_of_the_documents() {
    let db = fresh().await;
    let pinned = Observation { at: at(0.0), weight: Some(Weight::new(0.4).unwrap()), pinned: Some(true) };
    let pinned = Observe { tie: tie("core", "depends_on", "jwt"), seen: pinned };
    db.observe(&[pinned, seen("gone", "x", 0.0), seen("half", "x", 310.0), seen("today", "x", 400.0)]).await;
    let said =
        dry_run_job(&db.store, JobName::Fade, at(400.0 * DAY), Default::default()).await.unwrap().tally;
    assert_eq!((said.scanned, said.pinned, said.changed, said.below), (4, 1, 2, 1));
    close(db.stored("gone").await, 1.0);
    let lowered = db.relations(RelationFilter::Lowered, 400.0).await;
    assert_eq!(lowered.len(), 2, "those that a pass would lower, by name");
    let did = db.run(JobName::Fade, 400.0 * DAY).await.tally;
    assert_eq!(said, did);
    close(db.stored("core").await, 0.4);
    close(db.stored("half").await, 0.5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_ends_as_its_observations_would_one_by_one() {
    let db = fresh().await;
    let all = [seen("a", "b", 3.0), seen("a", "b", 9.0), seen("a", "b", 5.0), seen("b", "a", 1.0)];
    let done = db.observe(&all).await;
    assert_eq!(
        done,
        [
            ObservationEffect::Created,
            ObservationEffect::Again,
            ObservationEffect::Late,
            ObservationEffect::Created
        ]
    );
    let whole: Vec<String> = db.client.value(WHOLE).await;
    assert_eq!(whole.len(), 2);
    db.clear().await;
    for one in all {
        db.observe(&[one]).await;
    }
    assert_eq!(db.client.value::<Vec<String>>(WHOLE).await, whole);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_counts_once_and_a_dry_run_not_at_all() {
    let db = fresh().await;
    let once = RequestMode::Once { request: "r1", hash: "h", by: "test" };
    assert_eq!(db.store.observe(once, &[seen("a", "b", 1.0)]).await.unwrap(), [ObservationEffect::Created]);
    assert_eq!(db.store.observe(once, &[seen("a", "b", 1.0)]).await.unwrap(), [ObservationEffect::Created]);
    let other = RequestMode::Once { request: "r1", hash: "other", by: "test" };
    assert!(matches!(db.store.observe(other, &[seen("a", "c", 1.0)]).await, Err(Error::Conflict(_))));
    db.store.observe(RequestMode::DryRun, &[seen("a", "d", 1.0)]).await.unwrap();
    assert_eq!(db.relations(RelationFilter::Retrievable, 1.0).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pin_holds_what_it_weighs_and_lets_go_from_there() {
    let db = fresh().await;
    db.observe(&[seen("a", "b", 0.0)]).await;
    let which = tie("a", "knows", "b");
    let pin = async |pin, days: f64| {
        let request = ebb_core::clock::new_id();
        let lasting = RequestMode::Once { request: &request, hash: "h", by: "test" };
        db.store.pin_relation(lasting, &which, pin, at(days * DAY)).await.unwrap()
    };
    close(pin(true, 90.0).await, 0.5);
    assert_eq!(db.run(JobName::Fade, 900.0 * DAY).await.tally.pinned, 1);
    close(db.stored("a").await, 0.5);
    close(pin(false, 900.0).await, 0.5);
    close(db.relations(RelationFilter::Retrievable, 990.0).await[0].weight, 0.25);
    assert_eq!(db.relations(RelationFilter::Retrievable, 990.0).await[0].last_observed, at(0.0).millis());
    let nothing = tie("a", "knows", "nobody");
    let lasting = RequestMode::Once { request: "x", hash: "h", by: "test" };
    let why = db.store.pin_relation(lasting, &nothing, true, at(0.0)).await.unwrap_err();
    assert_eq!(why.to_string(), "there is no relation a knows nobody");
}

#[tokio::test(flavor = "multi_thread")]
async fn relations_of_other_writers_come_under_the_laws() {
    let db = fresh().await;
    let write = "CREATE (a:Entity {name: 'Alex', scope: 'local'}), (p:Entity {name: 'Project'}), (o:Entity {name: 'Old'}),
        (a)-[:RELATES_TO {type: 'works_on', weight: 0.8, lastObserved: datetime('2026-01-01T00:00:00Z')}]->(p),
        (p)-[:RELATES_TO {type: 'uses', weight: 'much'}]->(o),
        (p)-[:RELATES_TO {type: 'knows', weight: 1}]->(o), (p)-[:RELATES_TO {type: 'knows', weight: 1}]->(o),
        (p)-[:RELATES_TO {type: 'of another library'}]->(o),
        (a)-[:RELATES_TO {base_cost: 1.0}]->(o)";
    db.client.run(write, &[]).await;
    let did = db.run(JobName::Fade, 0.0).await.tally;
    assert_eq!((did.adopted, did.quarantined), (2, 2), "text for a weight, and a twin");
    let reasons = "MATCH ()-[r:RELATES_TO]->() WHERE r.ebbReason IS NOT NULL WITH r ORDER BY r.ebbReason
        RETURN collect(r.ebbReason) AS reasons";
    let reasons: Vec<String> = db.client.value(reasons).await;
    assert_eq!(reasons, ["the same relation exists already", "weight is not a number"]);
    let entities = "MATCH (e:EbbEntity) RETURN e.scope + ' ' + e.name AS line ORDER BY line";
    assert_eq!(db.client.column::<String>(entities).await, ["local Alex", "local Old", "local Project"]);
    let palace = "MATCH ()-[r:RELATES_TO {base_cost: 1.0}]->() RETURN size(keys(r)) AS keys";
    assert_eq!(db.client.value::<i64>(palace).await, 1, "an edge of the palace is no relation");
    assert_eq!(db.run(JobName::Fade, 0.0).await.tally.quarantined, 0);
    // What an agent observes with its own Cypher weighs 1 from then on.
    let again = "MATCH ()-[r:RELATES_TO {type: 'works_on'}]->() SET r.lastObserved = datetime({epochMillis: $at}), r.weight = 1.0";
    db.client.run(again, &[("at", at(2_400.0).millis().into())]).await;
    let found = db.relations(RelationFilter::Retrievable, 190.0).await;
    let works = found.iter().find(|one| one.kind == "works_on").unwrap();
    close(works.weight, 0.5);
    assert_eq!(db.run(JobName::Fade, 190.0 * DAY).await.tally.adopted, 1);
    close(db.stored("Alex").await, 0.5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_no_law_can_use_is_set_aside_and_an_observation_mends_it() {
    let db = fresh().await;
    db.observe(&[seen("a", "b", 0.0), seen("c", "d", 0.0)]).await;
    let spoil = "MATCH (:Entity {name: 'a'})-[r:RELATES_TO]->() SET r.baseWeight = 0.0 / 0.0";
    db.client.run(spoil, &[]).await;
    let did = db.run(JobName::Fade, 90.0 * DAY).await.tally;
    assert_eq!((did.scanned, did.changed, did.quarantined), (2, 1, 1), "it keeps nobody else from fading");
    assert_eq!(db.relations(RelationFilter::Retrievable, 90.0).await.len(), 1);
    let lasting = RequestMode::Once { request: "x", hash: "h", by: "test" };
    let pinned = db.store.pin_relation(lasting, &tie("a", "knows", "b"), true, at(0.0)).await;
    assert!(matches!(pinned, Err(Error::Quarantined { .. })));
    db.observe(&[seen("a", "b", 90.0)]).await;
    assert_eq!(db.relations(RelationFilter::Retrievable, 90.0).await.len(), 2);
    // So does whoever writes a value that can be used; the next pass sees it.
    db.client.run("MATCH (:Entity {name: 'c'})-[r:RELATES_TO]->() SET r.baseWeight = 'much'", &[]).await;
    assert_eq!(db.run(JobName::Fade, 90.0 * DAY).await.tally.quarantined, 1);
    db.client.run("MATCH (:Entity {name: 'c'})-[r:RELATES_TO]->() SET r.baseWeight = 1.0", &[]).await;
    let did = db.run(JobName::Fade, 90.0 * DAY).await.tally;
    assert_eq!((did.quarantined, did.released), (0, 1));
    assert_eq!(db.relations(RelationFilter::Retrievable, 90.0).await.len(), 2);
    assert_eq!(db.run(JobName::Fade, 90.0 * DAY).await.tally.released, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_writers_of_one_relation_make_one() {
    let db = fresh().await;
    let stores: Vec<_> = (0..8).map(|_| db.another()).collect();
    let done = crate::harness::ebb::together(stores.into_iter().enumerate().map(|(n, store)| async move {
        let request = format!("r{n}");
        let all: Vec<Observe> = (0..20).map(|i| seen(&format!("e{}", (i + n) % 20), "hub", 1.0)).collect();
        store.observe(RequestMode::Once { request: &request, hash: "h", by: "test" }, &all).await.unwrap()
    }))
    .await;
    let made = done.iter().flatten().filter(|done| **done == ObservationEffect::Created).count();
    assert_eq!(made, 20, "each was new once");
    assert_eq!(db.relations(RelationFilter::Retrievable, 1.0).await.len(), 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_configuration_pins_is_held_from_the_next_pass_or_observation_on() {
    let mut db = fresh().await;
    let uses = |from: &str, pinned| Observe {
        tie: tie(from, "uses", "x"),
        seen: Observation { at: at(0.0), weight: None, pinned },
    };
    db.observe(&[uses("a", None), uses("b", None), seen("a", "x", 0.0)]).await;
    let pin = |from: &str| Pin { from: Some(from.to_owned()), kind: "uses".to_owned(), to: None };
    db.config.pins = Pins(vec![pin("a"), pin("c")]);
    db.store = ebb_core::store::Store::connect(&db.config).unwrap();

    let dry = dry_run_job(&db.store, JobName::Fade, at(90.0 * DAY), Default::default()).await.unwrap().tally;
    let did = db.run(JobName::Fade, 90.0 * DAY).await.tally;
    assert_eq!((did.scanned, did.pinned, did.changed), (3, 1, 2), "{did:?}");
    assert_eq!((dry.scanned, dry.pinned, dry.changed), (3, 1, 2), "{dry:?}");
    let again = db.run(JobName::Fade, 180.0 * DAY).await.tally;
    assert_eq!((again.pinned, again.changed), (1, 2));
    let held = db.relations(RelationFilter::Retrievable, 180.0 * DAY).await;
    let held = held.iter().find(|one| one.pinned).unwrap();
    assert_eq!(held.from, "a");
    close(held.weight, 0.5);

    db.observe(&[uses("c", Some(false))]).await;
    let all = db.relations(RelationFilter::Retrievable, 0.0).await;
    assert!(all.iter().any(|one| one.from == "c" && one.pinned), "whatever the observation says");
    let let_go = db.store.pin_relation(RequestMode::DryRun, &tie("c", "uses", "x"), false, at(0.0)).await;
    assert!(matches!(let_go, Err(Error::Conflict(why)) if why.contains("relation.pinned")));
}
