//! A row on which a statement fails: found by halving, quarantined with the server's message, and nobody held up by it.
//!
//! The failures are real. A person's own uniqueness constraint lets two rows stand that differ now and that a job makes the
//! same, so the statement fails on the second of them, as a whole and without a word about which. Most of these constraints
//! stand at all times, and hold for rows with a property `poison_…`.

use super::sweep::{fact, policies};
use crate::harness::ebb::{UNGUARDED, by_hand};
use crate::harness::graph::{remembered, same};
use crate::harness::neo4j::{Fresh, OWN_CONSTRAINT, START, at, fresh};
use crate::harness::rows::{Row, ripe, row};
use ebb_core::domain::attempt::Right;
use ebb_core::domain::fact::FactScope;
use ebb_core::domain::policy::Regime;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::{Wanted, run_job};
use ebb_core::service::doctor::Level;
use ebb_core::store::{Config, Store, Tally};

/// Everything that is quarantined, with the reason.
pub(super) const ASIDE: &str = "CALL () {
      MATCH (n:EbbQuarantined) RETURN coalesce(n.id, n.name) AS name, n.ebbReason AS reason
      UNION ALL
      MATCH (a)-[r:RELATES_TO]->(b) WHERE r.ebbReason IS NOT NULL RETURN coalesce(toStringOrNull(a.name), '?') + coalesce(toStringOrNull(b.name), '?') AS name, r.ebbReason AS reason
      UNION ALL
      MATCH (n:Room) WHERE n.ebbTrailReason IS NOT NULL RETURN n.id AS name, n.ebbTrailReason AS reason
      UNION ALL
      MATCH (a)-[r:HALL]->(b) WHERE r.ebbTrailReason IS NOT NULL RETURN coalesce(toStringOrNull(a.id), '?') + coalesce(toStringOrNull(b.id), '?') AS name, r.ebbTrailReason AS reason }
    RETURN coalesce(toStringOrNull(name), '?') + ': ' + coalesce(toStringOrNull(reason), '?') AS line ORDER BY line";

/// What makes two rows fail once they are the same.
enum Unique {
    /// The standing constraint on this property, which a person removes.
    Standing(&'static str),
    /// A constraint such as `(m:Memory) REQUIRE m.tier`, which a person drops.
    Made(&'static str),
}

impl Unique {
    async fn begin(&self, db: &Fresh) {
        if let Self::Made(unique) = self {
            db.client.run(&format!("CREATE CONSTRAINT {OWN_CONSTRAINT} FOR {unique} IS UNIQUE"), &[]).await;
        }
    }

    async fn end(&self, db: &Fresh) {
        match self {
            Self::Standing(property) => {
                for rows in ["(n)", "()-[n]->()"] {
                    db.client.run(&format!("MATCH {rows} REMOVE n.{property}"), &[]).await;
                }
            }
            Self::Made(_) => db.client.run(&format!("DROP CONSTRAINT {OWN_CONSTRAINT}"), &[]).await,
        }
    }
}

/// A job that fails on one row.
struct Case {
    job: JobName,
    hours: f64,
    unique: Unique,
    /// Which row is quarantined. Adoption has no order of its own: either of the two, as the server hands them out.
    row: &'static str,
    /// The statement that failed on it.
    statement: &'static str,
}

impl Case {
    /// Runs the job with the constraint, again, and after a person ended it and asked for the row. Answers what it did.
    async fn holds(&self, db: &Fresh, store: &Store) -> Tally {
        self.unique.begin(db).await;
        let first = by_hand(store, self.job, self.hours).await.tally;
        assert_eq!(first.quarantined, 1, "{first:?}");
        let aside: Vec<String> = db.client.column(ASIDE).await;
        assert_eq!(aside.len(), 1, "{aside:?}");
        let wanted = format!(": {} failed on it: ", self.statement);
        let (row, why) = aside[0].split_once(&wanted).unwrap_or_else(|| panic!("{wanted}{aside:?}"));
        assert!(self.row.split(" or ").any(|one| one == row) && why.contains("already exists"), "{aside:?}");

        let before = remembered(&db.client).await;
        let second = by_hand(store, self.job, self.hours).await.tally;
        assert_eq!((second.changed, second.quarantined), (0, 0), "{second:?}");
        same(&before, &remembered(&db.client).await, "a second run changes nothing");

        let findings = db.service("[]").doctor().await.unwrap();
        let rows = findings.into_iter().find(|finding| finding.what == "rows").unwrap();
        assert!(rows.level == Level::Problem && rows.found.starts_with("1 "), "{rows:?}");
        let listed = db.store.inspect("quarantine").await.unwrap();
        assert_eq!(listed.rows.len(), 1);

        // A person asks too early: what fails, fails again.
        self.released(db, store, 1).await;
        assert_eq!(db.client.column::<String>(ASIDE).await.len(), 1, "judged anew");
        self.unique.end(db).await;
        self.released(db, store, 2).await;
        assert_eq!(db.client.column::<String>(ASIDE).await, [""; 0]);
        first
    }

    /// What a person asked for, for the `nth` time, and the next run of the job that would meet the row.
    async fn released(&self, db: &Fresh, store: &Store, nth: u32) {
        let now = at(self.hours);
        assert_eq!(db.store.release_sound(now, &db.tunables().await).await.unwrap(), 1);
        let later = match self.job {
            JobName::Evaporate => f64::from(20 * nth),
            _ => 0.0,
        };
        if self.job == JobName::Cluster {
            by_hand(store, JobName::Audit, self.hours).await;
        }
        by_hand(store, self.job, self.hours + later).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn decay_goes_past_it() {
    let db = fresh().await;
    let rows: Vec<Row> = (0..250).map(|n| row(&format!("m{n:03}"), "working", 1.0)).collect();
    db.put(&rows).await;
    db.client
        .run(
            "MATCH (m:Memory) WHERE m.id IN ['m077', 'm130']
             SET m.energyAt = m.energyAt + duration({seconds: CASE m.id WHEN 'm130' THEN 1 ELSE 0 END}), m.poison_energyAt = 1",
            &[],
        )
        .await;
    let case = Case {
        job: JobName::Decay,
        hours: 1.0,
        unique: Unique::Standing("poison_energyAt"),
        row: "m130",
        statement: "memory/decay",
    };
    let tally = case.holds(&db, &db.store).await;
    assert_eq!((tally.scanned, tally.changed), (250, 249));
    let faded: i64 = db.client.value("MATCH (m:Memory) WHERE m.energy < 1.0 RETURN count(m) AS n").await;
    assert_eq!(faded, 250);
}

#[tokio::test(flavor = "multi_thread")]
async fn adoption_of_memories_goes_past_it() {
    let db = fresh().await;
    db.client
        .run(
            "UNWIND range(1, 30) AS i CREATE (:Memory {id: 'f' + i, content: 'x', tier: 'working', lastAccessed: datetime({epochMillis: $start}),
               poison_energyAt: CASE WHEN i IN [9, 20] THEN 1 END})",
            &[("start", START.into())],
        )
        .await;
    let case = Case {
        job: JobName::Decay,
        hours: 0.0,
        unique: Unique::Standing("poison_energyAt"),
        row: "f9 or f20",
        statement: "memory/adopt",
    };
    assert_eq!(case.holds(&db, &db.store).await.adopted, 29);
}

#[tokio::test(flavor = "multi_thread")]
async fn audit_goes_past_it() {
    let db = fresh().await;
    db.put(
        &(0..40).map(|n| Row { due: None, ..row(&format!("m{n:02}"), "working", 1.0) }).collect::<Vec<_>>(),
    )
    .await;
    db.client.run("MATCH (m:Memory) WHERE m.id IN ['m07', 'm30'] SET m.poison_dueAt = 1", &[]).await;
    let case = Case {
        job: JobName::Audit,
        hours: 0.0,
        unique: Unique::Standing("poison_dueAt"),
        row: "m30",
        statement: "memory/audit",
    };
    assert_eq!(case.holds(&db, &db.store).await.changed, 39);
}

#[tokio::test(flavor = "multi_thread")]
async fn fade_goes_past_it() {
    let db = fresh().await;
    db.client
        .run(
            "WITH datetime({epochMillis: $start}) AS at UNWIND range(10, 59) AS i
             CREATE (:Entity {scope: 'local', name: 'a' + i})-[:RELATES_TO {type: 'knows', ebbKey: 'k' + i, weight: i / 100.0,
               baseWeight: 1.0, weightAt: at, lastObserved: at, created: at, poison_weight: CASE WHEN i IN [20, 41] THEN 1 END}]->
               (:Entity {scope: 'local', name: 'b' + i})",
            &[("start", START.into())],
        )
        .await;
    let case = Case {
        job: JobName::Fade,
        hours: 24.0,
        unique: Unique::Standing("poison_weight"),
        row: "a41b41",
        statement: "relation/fade",
    };
    assert_eq!(case.holds(&db, &db.store).await.scanned, 50);
    let weights: i64 =
        db.client.value("MATCH ()-[r:RELATES_TO]->() RETURN count(DISTINCT r.weight) AS n").await;
    assert_eq!(weights, 1, "all fade alike");
}

#[tokio::test(flavor = "multi_thread")]
async fn adoption_of_relations_goes_past_it() {
    let db = fresh().await;
    db.client
        .run(
            "UNWIND range(10, 59) AS i
             CREATE (:Entity {scope: 'local', name: 'a' + i})-[:RELATES_TO {type: 'knows', weight: 0.5,
               poison_baseWeight: CASE WHEN i IN [20, 41] THEN 1 END}]->(:Entity {scope: 'local', name: 'b' + i})",
            &[],
        )
        .await;
    let case = Case {
        job: JobName::Fade,
        hours: 0.0,
        unique: Unique::Standing("poison_baseWeight"),
        row: "a20b20 or a41b41",
        statement: "relation/adopt",
    };
    assert_eq!(case.holds(&db, &db.store).await.adopted, 49);
}

/// Rooms, each with a hall to the next, and what `set` makes of them.
async fn rooms(db: &Fresh, set: &str) {
    let text = format!(
        "UNWIND range(10, 59) AS i CREATE (n:Room {{scope: 'local', id: 'r' + i, i: i}})
         WITH collect(n) AS rooms UNWIND range(0, 48) AS at WITH rooms[at] AS a, rooms[at + 1] AS b
         CREATE (a)-[r:HALL {{base_cost: 0.5}}]->(b) WITH a, r {set}"
    );
    let cycle = db.store.cycles().await.unwrap().cycles.at(at(20.0));
    db.client.run(&text, &[("cycle", cycle.into())]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn evaporation_of_places_goes_past_it() {
    let db = fresh().await;
    rooms(
        &db,
        "SET a.exploitation_pheromone = 9.0, a.pheromone_cycle = $cycle - CASE a.i WHEN 41 THEN 11 ELSE 12 END,
           a.poison_cycle = CASE WHEN a.i IN [20, 41] THEN 1 END",
    )
    .await;
    let case = Case {
        job: JobName::Evaporate,
        hours: 20.0,
        unique: Unique::Standing("poison_cycle"),
        row: "r41",
        statement: "trail/evaporate_places",
    };
    assert_eq!(case.holds(&db, &db.store).await.changed, 48);
}

#[tokio::test(flavor = "multi_thread")]
async fn evaporation_of_edges_goes_past_it() {
    let db = fresh().await;
    rooms(
        &db,
        "SET r.success_pheromone = 9.0, r.pheromone_cycle = $cycle - CASE a.i WHEN 41 THEN 11 ELSE 12 END,
           r.poison_cycle = CASE WHEN a.i IN [20, 41] THEN 1 END",
    )
    .await;
    let case = Case {
        job: JobName::Evaporate,
        hours: 20.0,
        unique: Unique::Standing("poison_cycle"),
        row: "r41r42",
        statement: "trail/evaporate_edges",
    };
    assert_eq!(case.holds(&db, &db.store).await.changed, 48);
}

#[tokio::test(flavor = "multi_thread")]
async fn adoption_of_trails_goes_past_it() {
    for (set, row, statement) in [
        (
            "SET a.exploitation_pheromone = 9.0, a.poison_cycle = CASE WHEN a.i IN [20, 41] THEN 1 END",
            "r20 or r41",
            "trail/adopt_places",
        ),
        (
            "SET r.success_pheromone = 9.0, r.poison_cycle = CASE WHEN a.i IN [20, 41] THEN 1 END",
            "r20r21 or r41r42",
            "trail/adopt_edges",
        ),
    ] {
        let db = fresh().await;
        rooms(&db, set).await;
        let case = Case {
            job: JobName::Evaporate,
            hours: 20.0,
            unique: Unique::Standing("poison_cycle"),
            row,
            statement,
        };
        assert_eq!(case.holds(&db, &db.store).await.adopted, 48);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn promotion_goes_past_it() {
    let db = fresh().await;
    let mut rows: Vec<Row> = (0..25).map(|n| ripe(&format!("m{n:02}"))).collect();
    rows.push(row("old", "shortTerm", 3.0));
    db.put(&rows).await;
    db.client.run("MATCH (m:Memory) WHERE m.id IN ['m13', 'old'] SET m.poison_tier = 1", &[]).await;
    let case = Case {
        job: JobName::Promote,
        hours: 0.0,
        unique: Unique::Standing("poison_tier"),
        row: "m13",
        statement: "memory/write",
    };
    assert_eq!(case.holds(&db, &db.store).await.promoted, 24);
    let marks: i64 = db.client.value("MATCH ()-[c:CONSOLIDATING]->() RETURN count(c) AS n").await;
    assert_eq!(marks, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn clusters_go_past_it() {
    let db = fresh().await;
    db.put(&["a1", "a2", "b1", "b2", "c1", "c2", "c3"].map(|id| row(id, "shortTerm", 1.0))).await;
    db.client
        .run(
            "UNWIND [['a1', 'a2'], ['b1', 'b2'], ['c1', 'c2'], ['c2', 'c3']] AS pair
             MATCH (a:Memory {id: pair[0]}) MATCH (b:Memory {id: pair[1]})
             CREATE (a)-[:COACTIVATED {weight: 5}]->(b)
             SET a.clusterDue = datetime({epochMillis: $start}), b.clusterDue = datetime({epochMillis: $start})",
            &[("start", START.into())],
        )
        .await;
    let case = Case {
        job: JobName::Cluster,
        hours: 0.0,
        unique: Unique::Made("(c:SemanticCluster) REQUIRE c.size"),
        row: "b1",
        statement: "cluster/form",
    };
    assert_eq!(case.holds(&db, &db.store).await.formed, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn strengthening_goes_past_it() {
    let db = fresh().await;
    let says = [
        ("old1", "The build needs JAVA_HOME"),
        ("old2", "Dana prefers small requests"),
        ("new1", "the build needs JAVA_HOME!"),
        ("new2", "Dana prefers small requests!"),
        ("new3", "Redis Streams were given up"),
    ];
    for (id, text) in says {
        let old = id.starts_with("old");
        db.put(&[row(id, if old { "shortTerm" } else { "working" }, 1.0)]).await;
        db.client
            .run(
                "MATCH (m:Memory {id: $id}) SET m.content = $text,
                   m.reinforceDue = CASE WHEN $old THEN null ELSE datetime({epochMillis: $start}) END",
                &[("id", id.into()), ("text", text.into()), ("old", old.into()), ("start", START.into())],
            )
            .await;
    }
    let case = Case {
        job: JobName::Reinforce,
        hours: 0.0,
        unique: Unique::Made("()-[r:REINFORCES]-() REQUIRE r.at"),
        row: "new2",
        statement: "reinforcement/draw",
    };
    let tally = case.holds(&db, &db.store).await;
    assert_eq!((tally.scanned, tally.reinforced), (3, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn coactivation_goes_past_it() {
    let db = fresh().await;
    db.client
        .run(
            "UNWIND range(1, 6) AS i WITH i, datetime({epochMillis: $start + CASE i WHEN 5 THEN 1 ELSE i END * 1000}) AS at
             CREATE (s:Session {scope: 'local', id: 's' + i, started: at, coactivateDue: datetime({epochMillis: $start})})
             FOREACH (n IN ['a', 'b'] |
               CREATE (:Memory:EbbMemory {id: n + i, scope: 'local', content: 'c', tier: 'working', energy: 1.0, energyAt: at,
                 lastAccessed: at, created: at, accessCount: 1})-[:ACCESSED_IN {at: at, count: 1, counted: false}]->(s))",
            &[("start", START.into())],
        )
        .await;
    let case = Case {
        job: JobName::Coactivate,
        hours: 1.0,
        unique: Unique::Made("()-[c:COACTIVATED]-() REQUIRE c.firstCoactivation"),
        row: "s5",
        statement: "coactivation/raise",
    };
    let tally = case.holds(&db, &db.store).await;
    assert_eq!((tally.scanned, tally.changed), (6, 5));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sweep_goes_past_it() {
    let db = fresh().await;
    let facts: Vec<_> = (10..50)
        .map(|n| {
            let mut fact =
                fact("status", &format!("v{}", if n == 41 { 20 } else { n }), f64::from(n) / 100.0);
            fact.tuple.entity = ebb_core::domain::ids::EntityName::new(&format!("e{n}")).unwrap();
            fact.id = format!("f{n}");
            fact
        })
        .collect();
    db.assert(&facts).await;
    db.client.run("MATCH (f:Fact {id: 'f20'}) SET f.confidence = 0.9", &[]).await;
    let json =
        r#"[{"id": "status", "relation": "status", "scope": "company", "mode": "retract", "ttl_s": 3600}]"#;
    let regime = Regime { policies: policies(json), guard: UNGUARDED, ..db.config.regime.clone() };
    let store = Store::connect(&Config { regime, ..db.config.clone() }).unwrap();
    let key = |id: &str| format!("MATCH (l:EbbLineage)-[:HEAD]->(:Fact {{id: '{id}'}}) RETURN l.key AS key");
    let (one, other): (String, String) =
        (db.client.value(&key("f20")).await, db.client.value(&key("f41")).await);
    let case = Case {
        job: JobName::Sweep,
        hours: 5.0,
        unique: Unique::Made("(f:Fact) REQUIRE (f.value, f.confidence)"),
        row: if one < other { "f41" } else { "f20" },
        statement: "fact/decay",
    };
    assert_eq!(case.holds(&db, &store).await.retracted, 39);
    assert_eq!(db.store.count_lineages(FactScope::Company).await.unwrap(), 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn adoption_of_facts_goes_past_it() {
    let db = fresh().await;
    db.client
        .run(
            "UNWIND range(10, 59) AS i CREATE (:Fact {id: 'f' + i, entity: 'e' + i, relation: 'likes', value: 'tea',
               poison_assertedAt: CASE WHEN i IN [20, 41] THEN 1 END})",
            &[],
        )
        .await;
    let case = Case {
        job: JobName::Sweep,
        hours: 0.0,
        unique: Unique::Standing("poison_assertedAt"),
        row: "f20 or f41",
        statement: "fact/adopt",
    };
    assert_eq!(case.holds(&db, &db.store).await.adopted, 49);
}

/// A fault of everything is no bad row: the run fails with the message, and what it quarantined is bounded.
#[tokio::test(flavor = "multi_thread")]
async fn a_fault_of_all_rows_ends_the_run() {
    let db = fresh().await;
    db.put(&(0..300).map(|n| row(&format!("m{n:03}"), "working", 1.0)).collect::<Vec<_>>()).await;
    db.client
        .run(
            "MATCH (m:Memory) SET m.energyAt = m.energyAt + duration({seconds: toInteger(right(m.id, 3))}), m.poison_energyAt = 1",
            &[],
        )
        .await;
    db.put(&[row("first", "working", 1.0)]).await;
    db.client
        .run(
            "MATCH (m:Memory {id: 'first'}) SET m.dueAt = null, m.energyAt = datetime({epochMillis: $at}), m.poison_energyAt = 1",
            &[("at", at(2.0).millis().into())],
        )
        .await;
    let ran =
        run_job(&db.store, JobName::Decay, &Wanted::by_hand(at(2.0), Right::Lease), Request::default()).await;
    let why = ran.unwrap_err();
    assert!(why.is_of_data() && why.to_string().contains("already exists"), "{why}");
    assert_eq!(db.client.column::<String>(ASIDE).await.len(), 100);
}
