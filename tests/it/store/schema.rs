//! Migrations: once, whole, and never over rows that would break them.

use crate::harness::ebb::{access, close, remember};
use crate::harness::graph::{everything, same};
use crate::harness::neo4j::{Fresh, at, empty, fresh};
use crate::harness::rows::row;
use ebb_core::domain::event::{Event, Remember};
use ebb_core::domain::ids::{MemoryKey, Scope};
use ebb_core::domain::similarity::Similarity;
use ebb_core::domain::tunables::ConsolidationConfig;
use ebb_core::store::{Config, Drift, Error, InitReport, Store};

async fn init(db: &Fresh) -> Result<InitReport, Error> {
    db.store.initialise(&ConsolidationConfig::DOCUMENTED, at(0.0)).await
}

/// In the order in which they are applied.
const MIGRATIONS: [&str; 17] = [
    "schema/V001__memory",
    "schema/V002__coactivation",
    "schema/V003__relation",
    "schema/V004__trail",
    "schema/V005__fact",
    "schema/V006__key",
    "schema/V007__change",
    "schema/V008__synapse",
    "schema/V009__scoped_keys",
    "schema/V010__own_names",
    "schema/V011__shared_names",
    "schema/V012__state",
    "schema/V013__journal",
    "schema/V014__fact_names",
    "schema/V015__embedding",
    "schema/V016__memory_created",
    "schema/V017__erasure",
];

async fn names(db: &Fresh) -> Vec<String> {
    db.client.run("CALL db.awaitIndexes(60)", &[]).await;
    db.client.column("SHOW INDEXES YIELD name WHERE name STARTS WITH 'ebb_' RETURN name ORDER BY name").await
}

#[tokio::test(flavor = "multi_thread")]
async fn twice_applies_nothing() {
    let db = empty().await;
    let why = db.store.check_schema().await.unwrap_err();
    assert!(matches!(&why, Error::Schema(why) if why.contains("ebb init")), "{why}");
    let first = init(&db).await.unwrap();
    let applied = MIGRATIONS.map(str::to_owned).to_vec();
    assert_eq!(first, InitReport { applied, tunables_added: 15, vector_index: false });
    let before = (everything(&db.client).await, names(&db).await);
    assert_eq!(
        init(&db).await.unwrap(),
        InitReport { applied: Vec::new(), tunables_added: 0, vector_index: false }
    );
    same(&before.0, &everything(&db.client).await, "initialised twice");
    assert_eq!(before.1, names(&db).await);
    db.store.check_schema().await.unwrap();
    assert_eq!(db.store.drift().await.unwrap(), []);
    assert_eq!(*db.tunables().await.config(), ConsolidationConfig::DOCUMENTED);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wiped_database_is_as_old_as_its_next_initialisation() {
    let db = fresh().await;
    let installed = async || db.store.survey(&["decay"]).await.unwrap().installed;
    assert_eq!(installed().await, Some(at(0.0)));
    db.client.run("MATCH (n) DETACH DELETE n", &[]).await;
    assert_eq!(db.store.ledger(&["decay"]).await.map_err(|why| why.to_string()).unwrap().installed, None);
    db.store.initialise(&ConsolidationConfig::DOCUMENTED, at(9.0)).await.unwrap();
    assert_eq!(installed().await, Some(at(9.0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_or_a_newer_migration_is_refused() {
    let db = fresh().await;
    db.client.run("CREATE (:EbbMigration {version: 'V999', name: 'later', checksum: 'c'})", &[]).await;
    for why in [db.store.check_schema().await.unwrap_err(), init(&db).await.unwrap_err()] {
        assert!(matches!(&why, Error::Schema(why) if why.contains("V999") && why.contains("newer")), "{why}");
    }
    db.client.run("MATCH (m:EbbMigration {version: 'V999'}) DELETE m", &[]).await;
    db.client.run("MATCH (m:EbbMigration) SET m.checksum = 'another'", &[]).await;
    let before = everything(&db.client).await;
    for why in [db.store.check_schema().await.unwrap_err(), init(&db).await.unwrap_err()] {
        assert!(
            matches!(&why, Error::Schema(why) if why.contains("V001") && why.contains("checksum")),
            "{why}"
        );
    }
    same(&before, &everything(&db.client).await, "a schema that was refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_would_break_a_constraint_are_listed_and_nothing_is_written() {
    let db = empty().await;
    for name in ["ebb_memory_key", "ebb_session_id", "ebb_run_state"] {
        let kind = if name == "ebb_run_state" { "INDEX" } else { "CONSTRAINT" };
        db.client.run(&format!("DROP {kind} {name} IF EXISTS"), &[]).await;
    }
    db.client
        .run(
            "UNWIND range(1, 3) AS i CREATE (:Memory {scope: 'local', id: 'twin', energy: 1.0 * i}), \
             (:Session {scope: 'local', id: 's' + i % 2})",
            &[],
        )
        .await;
    let before = (everything(&db.client).await, names(&db).await);
    let why = init(&db).await.unwrap_err();
    let Error::Conflict(told) = &why else { panic!("{why}") };
    assert!(told.contains("Memory (scope, id) \"local / twin\" is used 3 times"), "{told}");
    assert!(told.contains("Session (scope, id) \"local / s1\" is used 2 times"), "{told}");
    same(&before.0, &everything(&db.client).await, "rows that would break a constraint");
    assert_eq!(before.1, names(&db).await, "no constraint was made");

    db.client.run("MATCH (n) WHERE n:Session OR n.energy > 1.0 DELETE n", &[]).await;
    init(&db).await.unwrap();
    names(&db).await;
    assert_eq!(db.store.drift().await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_init_that_was_killed_halfway_is_completed_by_the_next() {
    let db = empty().await;
    for name in ["ebb_scratch_name", "ebb_request_id"] {
        db.client.run(&format!("DROP CONSTRAINT {name} IF EXISTS"), &[]).await;
    }
    for name in ["ebb_memory_due", "ebb_attempt_state"] {
        db.client.run(&format!("DROP INDEX {name} IF EXISTS"), &[]).await;
    }
    assert_eq!(db.store.pending().await.unwrap(), MIGRATIONS);
    assert_eq!(init(&db).await.unwrap().applied, MIGRATIONS);
    names(&db).await;
    assert_eq!(db.store.drift().await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_index_is_reported_and_made_again() {
    let db = fresh().await;
    db.client.run("DROP INDEX ebb_memory_due", &[]).await;
    db.client.run("DROP CONSTRAINT ebb_entity_key", &[]).await;
    let missing = ["ebb_memory_due", "ebb_entity_key"].map(|name| Drift::Missing(name.to_owned()));
    assert_eq!(db.store.drift().await.unwrap(), missing);
    assert_eq!(db.store.repair_schema().await.unwrap(), 2);
    names(&db).await;
    assert_eq!(db.store.drift().await.unwrap(), []);
    assert_eq!(db.store.repair_schema().await.unwrap(), 0);
}

/// The document creates the node without a name: it gets one, keeps its values, and gets what it lacks.
#[tokio::test(flavor = "multi_thread")]
async fn a_documented_config_node_is_taken_over() {
    let db = empty().await;
    db.client
        .run(
            "CREATE (config:ConsolidationConfig { workingToShortThreshold: 2.5, shortToLongThreshold: 5, \
             workingDecay: 1.0, shortTermDecay: 0.05, longTermDecay: 0.001, coactivationThreshold: 3, \
             semanticSimilarityThreshold: 0.7, promotionBatchSize: 10, decayBatchSize: 100, \
             promotionIntervalMinutes: 10, clusteringIntervalMinutes: 60, decayIntervalMinutes: 60 })",
            &[],
        )
        .await;
    assert_eq!(init(&db).await.unwrap().tunables_added, 3);
    let nodes: Vec<String> = db.client.column("MATCH (c:ConsolidationConfig) RETURN c.name AS name").await;
    assert_eq!(nodes, ["default"]);
    let tunables = db.tunables().await;
    assert_eq!(
        (tunables.config().working_to_short_threshold, tunables.config().expiry_threshold),
        (2.5, 0.1)
    );
    db.put(&[row("m", "working", 1.0)]).await;
    db.run(ebb_core::jobs::JobName::Decay, 1.0).await;
    close(db.state("m").await.energy.value(), (-1.0_f64).exp());
    assert_eq!(init(&db).await.unwrap().tunables_added, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_programs_may_initialise_at_once() {
    let db = empty().await;
    for name in ["ebb_memory_due", "ebb_memory_ripe", "ebb_memory_tier"] {
        db.client.run(&format!("DROP INDEX {name} IF EXISTS"), &[]).await;
    }
    let done = crate::harness::ebb::together((0..4).map(|_| {
        let store = db.another();
        async move { store.initialise(&ConsolidationConfig::DOCUMENTED, at(0.0)).await }
    }))
    .await;
    for outcome in done {
        outcome.unwrap();
    }
    names(&db).await;
    assert_eq!(db.store.drift().await.unwrap(), []);
    let nodes: i64 =
        db.client.value("MATCH (n) WHERE n:EbbMigration OR n:ConsolidationConfig RETURN count(n) AS n").await;
    assert_eq!(nodes, MIGRATIONS.len() as i64 + 1);
}

/// A database of the version before, where ids were unique over all scopes: everything stays, ids may repeat from then on, and
/// nobody is left to go on by the old rules.
#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_to_scoped_ids_keeps_everything_and_waits_for_others() {
    let db = fresh().await;
    let new = "SHOW CONSTRAINTS YIELD name WHERE name IN ['ebb_memory_key', 'ebb_memory_promotion', 'ebb_cluster_name', \
               'ebb_cluster_of_key', 'ebb_fact_key'] RETURN name";
    for name in db.client.column::<String>(new).await {
        db.client.run(&format!("DROP CONSTRAINT {name}"), &[]).await;
    }
    for name in ["ebb_memory_find", "ebb_cluster_find"] {
        db.client.run(&format!("DROP INDEX {name}"), &[]).await;
    }
    for text in [
        "CREATE CONSTRAINT ebb_memory_id FOR (m:Memory) REQUIRE m.id IS UNIQUE",
        "CREATE CONSTRAINT ebb_memory_promotion_key FOR (m:Memory) REQUIRE m.promotionKey IS UNIQUE",
        "CREATE CONSTRAINT ebb_cluster_id FOR (c:SemanticCluster) REQUIRE c.id IS UNIQUE",
        "CREATE CONSTRAINT ebb_cluster_key FOR (c:SemanticCluster) REQUIRE c.key IS UNIQUE",
        "CREATE CONSTRAINT ebb_fact_id FOR (f:Fact) REQUIRE f.id IS UNIQUE",
        "CREATE INDEX ebb_fact_scope FOR (f:Fact) ON (f.scope, f.id)",
        "MATCH (m:EbbMigration {version: 'V009'}) DELETE m",
    ] {
        db.client.run(text, &[]).await;
    }
    db.put(&[row("a", "working", 3.0), row("b", "shortTerm", 2.0)]).await;
    let gone = "CREATE (:EbbTombstone {hash: $hash}), (:EbbCounter {name: 'mirror:local:old', process: 'old', \
                seen: datetime.realtime(), refreshMs: 30000})";
    // Of the id alone, as it was kept then.
    let hash = "283bb9deef02e6843abfb538efa1eca70801bd8a701c3f98191e123496339247";
    db.client.run(gone, &[("hash", hash.into())]).await;

    let why = init(&db).await.unwrap_err();
    assert!(matches!(&why, Error::Conflict(told) if told.contains("work on it: old")), "{why}");
    let why = db.store.check_schema().await.unwrap_err();
    assert!(matches!(&why, Error::Schema(told) if told.contains("ebb init")), "{why}");
    db.client.run("MATCH (c:EbbCounter {process: 'old'}) DELETE c", &[]).await;
    let rows = "MATCH (m:Memory) RETURN m.scope + m.id + m.tier + m.energy AS all ORDER BY all";
    let before: Vec<String> = db.client.column(rows).await;
    assert_eq!(init(&db).await.unwrap().applied, ["schema/V009__scoped_keys"]);
    names(&db).await;
    assert_eq!(db.store.drift().await.unwrap(), []);
    assert_eq!(db.client.column::<String>(rows).await, before);

    let theirs =
        |name: &str| Event::Remember(Remember { scope: Scope::new("team").unwrap(), ..remember(name, 1.0) });
    db.apply(&[theirs("a"), theirs("gone"), Event::Access(access("a", 1.0))]).await;
    let counts: Vec<i64> =
        db.client.column("MATCH (m:Memory {id: 'a'}) RETURN m.accessCount AS n ORDER BY m.scope").await;
    assert_eq!(counts, [2, 1]);
    let back: i64 = db.client.value("RETURN COUNT { (:Memory {id: 'gone'}) } AS n").await;
    assert_eq!(back, 0, "what was forgotten while ids were unique stays so, in every scope");
}

/// Before V010, labels and the key of a relation had names that other libraries use, too.
#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_to_own_names_marks_rows_of_before_and_leaves_those_of_libraries() {
    let db = fresh().await;
    for text in [
        "DROP CONSTRAINT ebb_entity_key",
        "DROP CONSTRAINT ebb_relation_own_key",
        "CREATE CONSTRAINT ebb_entity_name FOR (e:Entity) REQUIRE (e.scope, e.name) IS UNIQUE",
        "CREATE CONSTRAINT ebb_relation_key FOR ()-[r:RELATES_TO]-() REQUIRE r.key IS UNIQUE",
        "MATCH (m:EbbMigration) WHERE m.version IN ['V010', 'V011'] DELETE m",
        "CREATE (:EbbFact {entity: 'Eve'})-[:ABOUT]->(:Entity {id: 'e', scope: 'team', name: 'Eve'})",
        "CREATE (:Entity {uuid: 'u', scope: 'theirs', name: 'Ann'})-[:RELATES_TO {uuid: 'r', key: 'theirs'}]->(:Entity {uuid: 'v', name: 'Bob'})",
        "CREATE (:Memory:EbbStamped {id: 'm', scope: 'local', content: 'x', tier: 'working', energy: 1.0})",
        "CREATE (:Entity {scope: 'local', name: 'a'})-[:RELATES_TO {key: 'k', type: 'knows', weight: 0.5, baseWeight: 1.0,
           weightAt: datetime('2026-01-01'), lastObserved: datetime('2026-01-01')}]->(:Entity {scope: 'local', name: 'b'})",
    ] {
        db.client.run(text, &[]).await;
    }
    assert_eq!(init(&db).await.unwrap().applied, ["schema/V010__own_names", "schema/V011__shared_names"]);
    names(&db).await;
    assert_eq!(db.store.drift().await.unwrap(), []);
    let old = "RETURN COUNT { (:EbbStamped) } AS n";
    assert_eq!(db.client.value::<i64>(old).await, 0);
    let new = "RETURN COUNT { (:Memory:EbbMemory) } + 100 * COUNT { (:EbbEntity) }
               + 1000 * COUNT { ()-[r:RELATES_TO {ebbKey: 'k'}]->() WHERE r.key IS NULL } AS n";
    assert_eq!(db.client.value::<i64>(new).await, 1_301);
    let theirs = "MATCH (a:Entity {uuid: 'u'})-[r:RELATES_TO {key: 'theirs'}]->() WHERE NOT a:EbbEntity AND r.ebbKey IS NULL RETURN count(*) AS n";
    assert_eq!(db.client.value::<i64>(theirs).await, 1);
}

/// Drops what this test created, and creates what it dropped.
async fn mended(db: &Fresh, theirs: &[&str]) {
    for drop in theirs {
        db.client.run(&format!("DROP {drop} IF EXISTS"), &[]).await;
    }
    db.store.repair_schema().await.unwrap();
    names(db).await;
    assert_eq!(db.store.drift().await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_equal_index_or_constraint_under_another_name_is_no_fault() {
    let db = fresh().await;
    for text in [
        "DROP INDEX ebb_memory_due",
        "CREATE INDEX their_due FOR (m:Memory) ON (m.dueAt)",
        "DROP INDEX ebb_hall_cycle",
        "CREATE INDEX their_hall FOR ()-[r:HALL]-() ON (r.pheromone_cycle)",
        "DROP CONSTRAINT ebb_entity_key",
        "CREATE CONSTRAINT their_entity FOR (e:EbbEntity) REQUIRE (e.scope, e.name) IS UNIQUE",
        // The index of a constraint serves where an index is needed.
        "DROP INDEX ebb_drawer_find",
        "CREATE CONSTRAINT their_drawer FOR (n:Drawer) REQUIRE n.id IS UNIQUE",
    ] {
        db.client.run(text, &[]).await;
    }
    names(&db).await;
    assert_eq!(db.store.drift().await.unwrap(), []);
    assert_eq!(db.store.repair_schema().await.unwrap(), 0);
    let all = "SHOW INDEXES YIELD name RETURN name ORDER BY name";
    let before: Vec<String> = db.client.column(all).await;
    // From scratch on the same database: the migrations find them.
    db.client.run("MATCH (m:EbbMigration) DELETE m", &[]).await;
    assert_eq!(init(&db).await.unwrap().applied, MIGRATIONS);
    assert_eq!(db.client.column::<String>(all).await, before, "no second one is created");
    assert_eq!(db.store.drift().await.unwrap(), []);
    mended(
        &db,
        &["INDEX their_due", "INDEX their_hall", "CONSTRAINT their_entity", "CONSTRAINT their_drawer"],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_the_way_of_a_constraint_or_an_index_is_named_and_left_alone() {
    let db = fresh().await;
    for text in [
        // An index where a constraint is needed, a name that is taken, an index of another kind.
        "DROP CONSTRAINT ebb_entity_key",
        "CREATE INDEX their_entity FOR (e:EbbEntity) ON (e.scope, e.name)",
        "DROP INDEX ebb_memory_due",
        "CREATE INDEX ebb_memory_due FOR (m:Memory) ON (m.another)",
        "DROP INDEX ebb_memory_tier",
        "CREATE TEXT INDEX their_tier FOR (m:Memory) ON (m.tier)",
    ] {
        db.client.run(text, &[]).await;
    }
    names(&db).await;
    let found = db.store.drift().await.unwrap();
    let remedies: Vec<String> = found
        .iter()
        .map(|drift| match drift {
            Drift::InTheWay(other) => other.remedy(),
            other => format!("{other:?}"),
        })
        .collect();
    let wanted = ["DROP INDEX ebb_memory_due", "Missing(\"ebb_memory_tier\")", "DROP INDEX their_entity"];
    assert_eq!(remedies, wanted);
    let doctor = crate::surfaces::ebb(&db, &["doctor", "--fix"]);
    doctor.fails(7, "the doctor found 2 problems");
    assert!(doctor.out.contains("created 1 missing constraints or indexes"), "{}", doctor.out);
    assert!(doctor.out.contains("EbbEntity (scope, name) needs a uniqueness constraint"), "{}", doctor.out);
    assert!(doctor.out.contains("DROP INDEX their_entity"), "{}", doctor.out);
    // A migration is not recorded without its constraint.
    db.client.run("MATCH (m:EbbMigration {version: 'V010'}) DELETE m", &[]).await;
    let why = init(&db).await.unwrap_err();
    assert!(
        matches!(&why, Error::Conflict(told) if told.contains("Run in Neo4j Browser: DROP INDEX their_entity")),
        "{why}"
    );
    assert_eq!(db.store.pending().await.unwrap(), ["schema/V010__own_names"]);
    for text in ["DROP INDEX their_entity", "DROP INDEX ebb_memory_due"] {
        db.client.run(text, &[]).await;
    }
    assert_eq!(init(&db).await.unwrap().applied, ["schema/V010__own_names"]);
    mended(&db, &["INDEX their_tier"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_vector_index_is_part_of_the_schema_under_any_name() {
    let db = fresh().await;
    db.client.run("DROP INDEX ebb_memory_embedding IF EXISTS", &[]).await;
    let similarity = Similarity { dimensions: Some(3), text_threshold: 0.5, model: None };
    let store = Store::connect(&Config { similarity, ..db.config.clone() }).unwrap();
    let absent = Drift::Absent("Memory (embedding), a vector index".to_owned());
    assert_eq!(store.drift().await.unwrap(), [absent]);
    assert_eq!(store.repair_schema().await.unwrap(), 1);
    assert_eq!(store.drift().await.unwrap(), []);
    for text in [
        "DROP INDEX ebb_memory_embedding",
        "CREATE VECTOR INDEX theirs FOR (m:Memory) ON (m.embedding) OPTIONS {indexConfig: {`vector.dimensions`: 3,
         `vector.similarity_function`: 'cosine'}}",
        "CALL db.awaitIndexes(60)",
    ] {
        db.client.run(text, &[]).await;
    }
    assert_eq!(store.drift().await.unwrap(), []);
    assert_eq!(store.initialise(&ConsolidationConfig::DOCUMENTED, at(0.0)).await.unwrap().applied, [""; 0]);
    let rows = "CREATE (:Memory {scope: 'local', id: 'a', embedding: [1.0, 0.0, 0.0]}),
        (:Memory {scope: 'local', id: 'b', embedding: [1.0, 0.1, 0.0]})";
    db.client.run(rows, &[]).await;
    db.client.run("CALL db.awaitIndexes(60)", &[]).await;
    let near = store.nearest(&MemoryKey::of_row("local", "a"), 5).await.unwrap();
    assert_eq!(near.iter().map(|near| near.id.as_deref()).collect::<Vec<_>>(), [Some("a"), Some("b")]);
    db.client.run("DROP INDEX theirs", &[]).await;
}
