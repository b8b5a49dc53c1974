//! Every value of every type that Neo4j stores, in every property of rows that other writers can leave: no statement fails
//! of it, and the good rows beside get on.
//!
//! The rows are generated: of each template one for each of its properties and each value, all other properties sound. All
//! of them are there at once; then every job runs, and whatever reads them is asked.

use super::bisect::ASIDE;
use crate::harness::error_text;
use crate::harness::neo4j::{Fresh, START, at, fresh};
use crate::harness::random_row::VALUES;
use ebb_core::api::recall::RecallRequest;
use ebb_core::domain::event::{PlaceName, Tie};
use ebb_core::domain::fact::FactScope;
use ebb_core::domain::ids::{EntityName, RelationType, Scope};
use ebb_core::domain::tier::Tier;
use ebb_core::jobs::JobName;
use ebb_core::service::Service;
use ebb_core::store::{Error, FactFilter, Filter, MemoryOrder, RelationFilter, Store};

/// Labels with their sound properties, the key (which each row has its own of) left to the generator, and what joins a row to
/// others. `at` is the start.
const NODES: [(&str, &str, &str, &str); 11] = [
    (
        "Memory:EbbMemory",
        "id",
        "scope: 'local', content: 'c', tier: 'working', energy: 2.5, energyAt: at, lastAccessed: at, created: at, accessCount: 1, pinned: false, ripeAt: at, dueAt: at, reinforceDue: at, clusterDue: at, sessionId: 'good', lastExpired: at, reinforcementCount: 1, lastReinforced: at, tags: ['a'], sourcePath: 'p', lineStart: 1, lineEnd: 2, excerpt: 'e', namespace: 'n', canonical: true, ebbReason: null",
        "WITH n, at, name MATCH (s:Session {id: 'good'}), (e:Entity {name: 'good'}), (m:Memory {id: 'good1'})
         CREATE (n)-[:ACCESSED_IN {at: at, count: 1, counted: false}]->(s), (n)-[:MENTIONS]->(e),
           (n)-[:COACTIVATED {weight: 5, firstCoactivation: at, lastCoactivation: at}]->(m)",
    ),
    (
        "Memory",
        "id",
        "scope: 'local', content: 'c', tier: 'working', energy: 2.5, lastAccessed: at, created: at, accessCount: 1, pinned: false, sessionId: 'good', energyAt: at, ripeAt: at, tags: ['a'], lineStart: 1, canonical: true",
        "",
    ),
    (
        "Session",
        "id",
        "scope: 'local', started: at, ended: at, coactivateDue: at, coactivated: 0",
        "WITH n, at, name MATCH (m:Memory {id: 'good1'}) CREATE (m)-[:ACCESSED_IN {at: at, count: 1, counted: false}]->(n)",
    ),
    (
        "Entity",
        "name",
        "scope: 'local', exploitation_pheromone: 0.5, exploration_pheromone: 0.5, pheromone_cycle: 0, created: at, lastAccessed: at, energy: 1.0, energyAt: at",
        "WITH n, at, name MATCH (m:Memory {id: 'good1'}), (e:Entity {name: 'good'})
         CREATE (m)-[:MENTIONS]->(n), (n)-[:RELATES_TO {type: 'USES', weight: 1.0}]->(e)",
    ),
    (
        "SemanticCluster",
        "id",
        "scope: 'local', strength: 4.0, size: 2, formed: at, dissolved: at",
        "WITH n, at, name MATCH (m:Memory {id: 'good1'}) CREATE (m)-[:BELONGS_TO]->(n)",
    ),
    (
        "ConsolidationAttempt",
        "id",
        "phase: 'promote', state: 'claimed', holder: 'h', instanceId: 'h', started: at, leaseUntil: 0, claimed: 1, applied: 0, conflicts: 0",
        "WITH n, at, name CREATE (:Memory {id: name, scope: 'local', content: 'c', tier: 'working', energy: 1.0, lastAccessed: at})-[:CONSOLIDATING {since: at}]->(n)",
    ),
    (
        "Fact",
        "id",
        "scope: 'local', entity: 'good', relation: 'likes', value: 'tea', valueType: 'string', confidence: 1.0, source: 'agent', assertedAt: at, validUntil: at, originConfidence: 1.0, originAt: at",
        "",
    ),
    (
        "Room",
        "id",
        PLACE,
        "WITH n, at, name MATCH (r:Room {id: 'good'}) CREATE (r)-[:HALL {base_cost: 0.5, success_pheromone: 0.5}]->(n)",
    ),
    ("Wing", "id", PLACE, "WITH n, at, name MATCH (r:Room {id: 'good'}) CREATE (n)-[:HAS_ROOM]->(r)"),
    ("Closet", "id", PLACE, "WITH n, at, name MATCH (r:Room {id: 'good'}) CREATE (r)-[:HAS_CLOSET]->(n)"),
    ("Drawer", "id", PLACE, ""),
];

/// A place.
const PLACE: &str = "scope: 'local', name: 'n', exploitation_pheromone: 0.5, exploration_pheromone: 0.5, pheromone_cycle: 0, ebbTrailReason: null";
/// An edge of a trail.
const TRAIL: &str = "base_cost: 0.5, current_cost: 0.5, success_pheromone: 0.5, traversal_pheromone: 0.5, recency_pheromone: 0.5, pheromone_cycle: 0, similarity: 0.5, ebbTrailReason: null";

/// Types with the labels and keys of their ends, and their sound properties.
const EDGES: [(&str, &str, &str); 17] = [
    (
        "RELATES_TO",
        "(a:Entity {scope: 'local', name: name + 'a'}), (b:Entity {scope: 'local', name: name + 'b'})",
        "type: 'USES', ebbKey: name, weight: 1.0, baseWeight: 1.0, weightAt: at, lastObserved: at, created: at, pinned: false, ebbReason: null",
    ),
    (
        "RELATES_TO",
        "(a:Entity {scope: 'local', name: name + 'c'}), (b:Entity {scope: 'local', name: name + 'd'})",
        "type: 'USES', weight: 1.0, lastObserved: at, created: at, pinned: false, ebbReason: null",
    ),
    (
        "ACCESSED_IN",
        "(a:Memory {id: name, scope: 'local', content: 'c'}), (b:Session {scope: 'local', id: name, coactivateDue: at})",
        "at: at, count: 1, counted: false",
    ),
    (
        "COACTIVATED",
        "(a:Memory {id: name + 'a', scope: 'local', content: 'c'}), (b:Memory {id: name + 'b', scope: 'local', content: 'c'})",
        "weight: 5, firstCoactivation: at, lastCoactivation: at",
    ),
    (
        "REINFORCES",
        "(a:Memory {id: name + 'a', scope: 'local', content: 'c'}), (b:Memory {id: name + 'b', scope: 'local', content: 'c'})",
        "strength: 0.5, at: at",
    ),
    (
        "PROMOTED_TO",
        "(a:Memory {id: name + 'a', scope: 'local', content: 'c', tier: 'archivedWorking'}), (b:Memory {id: name + 'b', scope: 'local', content: 'c'})",
        "at: at, energy: 1.0",
    ),
    (
        "CONSOLIDATING",
        "(a:Memory {id: name, scope: 'local', content: 'c'}), (b:ConsolidationAttempt {id: name, state: 'claimed', holder: 'h', leaseUntil: 0})",
        "since: at",
    ),
    (
        "BELONGS_TO",
        "(a:Memory {id: name, scope: 'local', content: 'c', tier: 'longTerm', clusterDue: at}), (b:SemanticCluster {scope: 'local', id: name})",
        "at: at, weight: 0.5",
    ),
    (
        "MENTIONS",
        "(a:Memory {id: name, scope: 'local', content: 'c'}), (b:Entity {scope: 'local', name: name})",
        "at: at, weight: 0.5, count: 1",
    ),
    ("HALL", "(a:Room {scope: 'local', id: name + 'a'}), (b:Room {scope: 'local', id: name + 'b'})", TRAIL),
    ("TUNNEL", "(a:Wing {scope: 'local', id: name + 'a'}), (b:Wing {scope: 'local', id: name + 'b'})", TRAIL),
    (
        "HAS_ROOM",
        "(a:Wing {scope: 'local', id: name + 'c'}), (b:Room {scope: 'local', id: name + 'c'})",
        TRAIL,
    ),
    (
        "HAS_CLOSET",
        "(a:Room {scope: 'local', id: name + 'd'}), (b:Closet {scope: 'local', id: name + 'd'})",
        TRAIL,
    ),
    (
        "HAS_DRAWER",
        "(a:Closet {scope: 'local', id: name + 'e'}), (b:Drawer {scope: 'local', id: name + 'e'})",
        TRAIL,
    ),
    (
        "RELATES_TO",
        "(a:Entity {scope: 'local', name: name + 'e'}), (b:Entity {scope: 'local', name: name + 'f'})",
        TRAIL,
    ),
    (
        "REFERENCES",
        "(a:Drawer {scope: 'local', id: name + 'f'}), (b:Drawer {scope: 'local', id: name + 'g'})",
        TRAIL,
    ),
    (
        "SIMILAR_TO",
        "(a:Drawer {scope: 'local', id: name + 'h'}), (b:Drawer {scope: 'local', id: name + 'i'})",
        TRAIL,
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn no_value_in_a_row_of_others_stops_anybody() {
    let db = fresh().await;
    let good = "WITH datetime({epochMillis: $start}) AS at
        CREATE (s:Session {scope: 'local', id: 'good', started: at}), (:Entity {scope: 'local', name: 'good'}), (:Room {scope: 'local', id: 'good'})
        WITH at UNWIND range(1, 20) AS i
        CREATE (:Memory:EbbMemory {id: 'good' + i, scope: 'local', content: 'like no other', tier: 'longTerm', energy: 4.0, energyAt: at, lastAccessed: at,
          created: at, accessCount: 1, dueAt: at})";
    db.client.run(good, &[("start", START.into())]).await;
    let made = poison(&db).await;
    eprintln!("{made} rows of {} values", VALUES.len());
    assert!(made > 3_000, "the matrix has {made} rows only");
    db.drop_plans().await;
    for hours in [6.0, 30.0] {
        for job in JobName::ALL {
            db.run(job, hours).await;
        }
    }
    let faded: i64 = db
        .client
        .value(
            "MATCH (m:Memory) WHERE m.id STARTS WITH 'good' AND m.energy < 4.0 AND NOT m:EbbQuarantined
             RETURN count(m) AS faded",
        )
        .await;
    assert_eq!(faded, 20, "the good rows beside got on");
    // What the statements know of is not left to halving.
    let found: Vec<String> = db.client.column(ASIDE).await;
    let failed: Vec<&String> = found.iter().filter(|line| line.contains(" failed on it: ")).collect();
    assert!(failed.is_empty(), "{failed:?}");
    let aside: Vec<String> = db
        .client
        .column(
            "MATCH (m:Memory:EbbQuarantined) WHERE m.id STARTS WITH 'Memory' RETURN m.ebbReason AS reason",
        )
        .await;
    assert!(aside.iter().any(|reason| reason == "energyAt is outside the years 0001 to 9999"), "{aside:?}");
    assert_eq!(Box::pin(asked(&db, at(30.0))).await, [""; 0]);
}

/// Whatever reads, of everything that there is; answers which of it failed, and how.
pub(super) async fn asked(db: &Fresh, now: ebb_core::domain::units::Timestamp) -> Vec<String> {
    let mut failed = Vec::new();
    let mut note = |what: &str, outcome: Result<(), String>| {
        failed.extend(outcome.err().map(|why| format!("{what}: {why}")));
    };
    let local = Scope::local();
    let service = db.service("[]");
    // Memories.
    for tier in [None].into_iter().chain(Tier::ALL.map(Some)) {
        let filter = Filter { tiers: tier.into_iter().collect(), ..Filter::default() };
        note("list", error_text(service.list(&local, (&filter, MemoryOrder::Id), ("", 100_000), now).await));
    }
    for order in [MemoryOrder::Id, MemoryOrder::Newest] {
        let filter =
            Filter { text: Some("like".to_owned()), tags: vec!["a".to_owned()], ..Filter::default() };
        note("list by text", error_text(service.list(&local, (&filter, order), ("", 100_000), now).await));
        let filter = Filter { tags: Vec::new(), ..filter };
        note("list by text", error_text(service.list(&local, (&filter, order), ("", 100_000), now).await));
    }
    let ids: Vec<String> =
        db.client.column("MATCH (m:Memory) WHERE m.id IS :: STRING NOT NULL RETURN m.id AS id").await;
    let keys: Vec<_> = ids.iter().map(|id| crate::harness::ebb::key(id)).collect();
    note("memories", error_text(db.store.memories(&keys).await));
    for key in keys.iter().step_by(keys.len() / 100 + 1) {
        note("history", error_text(db.store.history(key).await));
        note("explain", known(service.explain(key, now).await));
    }
    note("health", error_text(service.health(now).await));
    note("status", error_text(service.status(now).await));
    note("doctor", error_text(service.doctor().await));
    note("jobs", error_text(service.jobs(now).await));
    note("history of jobs", error_text(service.history(None, 10_000).await));
    note("timeline", error_text(service.timeline().await));
    note("attempts", error_text(service.attempts(false, 10_000).await));
    note("keys", error_text(service.keys().await));
    note("live keys", error_text(service.open_keys().await));
    note("policies", error_text(service.policies().await));
    note("mirrors", error_text(service.mirrors_status().await));
    for (name, ..) in Store::questions() {
        note(name, error_text(service.inspect(name).await));
    }
    // Facts and relations.
    for scope in FactScope::ALL {
        for (entity, history) in [(None, false), (None, true), (Some("good".to_owned()), true)] {
            let filter = FactFilter { scope, entity, relation: None, history };
            note("facts", error_text(service.facts(&filter, "", None).await));
        }
    }
    for which in [RelationFilter::Retrievable, RelationFilter::Decayed, RelationFilter::Lowered] {
        match service.relations(&local, which, None, now).await {
            Ok(found) => {
                let listed: Vec<(String, f64)> = found.into_iter().map(|one| (one.key, one.weight)).collect();
                note("relations by key", error_text(service.relations_of(&local, &listed).await));
            }
            why => note("relations", error_text(why)),
        }
    }
    let name = |name: &str| EntityName::new(name).unwrap();
    let kind = RelationType::new("USES").unwrap();
    let tie = Tie { scope: local.clone(), from: name("good"), kind, to: name("good") };
    note("relation", known(service.relation(&tie, now).await));
    trails(db, &service, now, &mut note).await;
    // The mirror, loaded and followed.
    let ask = || RecallRequest { text: "like no other good1".to_owned(), ..RecallRequest::default() };
    note("recall", error_text(service.recall(&local, ask()).await));
    note("verify", error_text(service.verify_mirror(&local).await));
    note("refresh", error_text(service.refresh_mirror(&local).await));
    note("recall again", error_text(service.recall(&local, ask()).await));
    failed
}

async fn trails(
    db: &Fresh,
    service: &Service,
    now: ebb_core::domain::units::Timestamp,
    note: &mut impl FnMut(&str, Result<(), String>),
) {
    let local = Scope::local();
    note("hot trails", error_text(service.hot_trails(&local, 100_000, now).await));
    note("cold places", error_text(service.cold_places(&local, 100_000, now).await));
    let allowed = crate::harness::neo4j::trails().allowed;
    let places: Vec<String> = db
        .client
        .column(
            "MATCH (n:Wing|Room|Closet|Drawer|Entity) WITH n, labels(n)[0] AS label, coalesce(n.id, n.name) AS id
             WHERE id IS :: STRING NOT NULL AND trim(id) <> '' RETURN label + ':' + id AS place",
        )
        .await;
    let named: Vec<PlaceName> = places
        .iter()
        .step_by(places.len() / 60 + 1)
        .filter_map(|place| ebb_core::service::trails::place_name(place, &allowed).ok())
        .collect();
    assert!(!named.is_empty());
    for place in &named {
        note("trail status", known(service.trail_status(&local, place, None, now).await));
        note("next places", known(service.next_places(&local, place, 100, now).await));
    }
    for pair in named.windows(2).step_by(10) {
        note("path", known(service.cheapest_path(&local, &pair[0], &pair[1], now).await));
    }
}

/// As [`error_text`]; a row that is named as set aside, or is no such row, has been answered.
fn known<T>(outcome: Result<T, Error>) -> Result<(), String> {
    match outcome {
        Err(Error::Quarantined { .. } | Error::NotFound { .. } | Error::Conflict(_)) => Ok(()),
        outcome => error_text(outcome),
    }
}

/// Leaves the matrix; answers how many rows it has.
async fn poison(db: &Fresh) -> i64 {
    let mut made = 0;
    for (row, (labels, key, sound, joined)) in NODES.into_iter().enumerate() {
        for property in names(sound) {
            let create =
                format!("CREATE (n:{labels} {{{key}: name, {sound}}}) SET n[$property] = v {joined}");
            made += leave(db, &format!("{labels}{row}"), property, &create).await;
        }
        // A key is one for all, so its values are tried on one template of a label.
        if labels != "Memory:EbbMemory" {
            let create = format!("CREATE (n:{labels} {{{sound}}}) SET n[$property] = v");
            made += leave(db, labels, key, &create).await;
        }
    }
    for (row, (kind, ends, sound)) in EDGES.into_iter().enumerate() {
        for property in names(sound) {
            let create =
                format!("CREATE {ends} CREATE (a)-[r:{kind}]->(b) SET r = {{{sound}}} SET r[$property] = v");
            made += leave(db, &format!("{kind}{row}"), property, &create).await;
        }
    }
    made
}

/// One row for each value. The values are kept in nodes of a label that means nothing to Ebb: a statement that had them in its text
/// would take the server a second to plan, for each kind of row.
pub(super) async fn leave(db: &Fresh, of: &str, property: &str, create: &str) -> i64 {
    if db.client.value::<i64>("MATCH (value:TestValue) RETURN count(value) AS n").await == 0 {
        let values = format!(
            "WITH [{}] AS values UNWIND range(0, size(values) - 1) AS i CREATE (value:TestValue {{at: i}}) SET value.is = values[i]",
            VALUES.join(", ")
        );
        db.client.run(&values, &[]).await;
    }
    let text = format!(
        "MATCH (value:TestValue)
         WITH datetime({{epochMillis: $start}}) AS at, value.is AS v, $of + '.' + $property + '.' + value.at AS name
         {create}"
    );
    let params = [("start", START.into()), ("of", of.into()), ("property", property.into())];
    db.client.run(&text, &params).await;
    i64::try_from(VALUES.len()).unwrap()
}

/// The names of properties written as a map.
pub(super) fn names(sound: &str) -> impl Iterator<Item = &str> {
    sound.split(", ").filter_map(|entry| entry.split_once(": ").map(|(name, _)| name.trim()))
}
