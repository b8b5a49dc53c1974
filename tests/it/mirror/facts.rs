//! Facts of another library with embeddings: they find what mentions both of their ends, as long as they are live.

use super::{config, rules};
use crate::harness::neo4j::{Fresh, at, fresh};
use ebb::settings::adopt::presets;
use ebb_core::domain::ids::Scope;
use ebb_core::domain::units::Timestamp;
use ebb_core::mirror::compare::compare;
use ebb_core::mirror::{Config, Mirror, RefreshOutcome, saving};
use ebb_core::store::{RequestMode, StateChange, StatedRow, Store};
use ebb_engine::recall::{RecallQuery, RecallResult, recall};
use ebb_engine::scratch::Scratch;
use std::path::Path;
use std::sync::Arc;

/// Episodes without embeddings; a fact with one, one of another dimension, and one that is no list of numbers.
const GRAPHITI: &str = "
    CREATE (ann:Entity {uuid: 'ann', name: 'Ann', group_id: '', summary: 'A person', created_at: datetime(), name_embedding: [0.0, 1.0, 0.1]}),
      (acme:Entity {uuid: 'acme', name: 'Acme', group_id: '', summary: '', created_at: datetime(), name_embedding: [0.0, 1.0, -0.5]}),
      (oslo:Entity {uuid: 'oslo', name: 'Oslo', group_id: '', summary: '', created_at: datetime(), name_embedding: [1.0, 0.0]}),
      (tea:Entity {uuid: 'tea', name: 'Tea', group_id: '', summary: '', created_at: datetime()}),
      (both:Episodic {uuid: 'both', group_id: '', content: 'She begins there on Monday', valid_at: datetime(), created_at: datetime()}),
      (one:Episodic {uuid: 'one', group_id: '', content: 'They spoke of it', valid_at: datetime(), created_at: datetime()}),
      (far:Episodic {uuid: 'far', group_id: '', content: 'It is cold up there', valid_at: datetime(), created_at: datetime()}),
      (cup:Episodic {uuid: 'cup', group_id: '', content: 'A cup of it', valid_at: datetime(), created_at: datetime()}),
      (both)-[:MENTIONS {uuid: 'm1', group_id: ''}]->(ann), (both)-[:MENTIONS {uuid: 'm2', group_id: ''}]->(acme),
      (one)-[:MENTIONS {uuid: 'm3', group_id: ''}]->(ann),
      (far)-[:MENTIONS {uuid: 'm4', group_id: ''}]->(ann), (far)-[:MENTIONS {uuid: 'm5', group_id: ''}]->(oslo),
      (cup)-[:MENTIONS {uuid: 'm6', group_id: ''}]->(ann), (cup)-[:MENTIONS {uuid: 'm7', group_id: ''}]->(tea),
      (ann)-[:RELATES_TO {uuid: 'works', name: 'WORKS_AT', fact: 'Ann works at Acme', fact_embedding: [1.0, 0.0, 0.1], group_id: '', episodes: [], created_at: datetime(), valid_at: datetime()}]->(acme),
      (ann)-[:RELATES_TO {uuid: 'lives', name: 'LIVES_IN', fact: 'Ann lives in Oslo', fact_embedding: [1.0, 0.0], group_id: '', episodes: [], created_at: datetime(), valid_at: datetime()}]->(oslo),
      (tea)-[:RELATES_TO {uuid: 'likes', name: 'LIKED_BY', fact: 'Ann likes tea', fact_embedding: ['x', 'y', 'z'], group_id: '', episodes: [], created_at: datetime(), valid_at: datetime()}]->(ann)";

fn local() -> Scope {
    Scope::local()
}

fn mirror(db: &Fresh, dimensions: Option<usize>, config: Config) -> Arc<Mirror> {
    let mut store = db.config.clone();
    store.mappings = presets()
        .unwrap()
        .into_iter()
        .filter_map(|(name, mapping)| (name == "graphiti").then_some(mapping))
        .collect();
    store.similarity.dimensions = dimensions;
    let mirror = Mirror::new(Arc::new(Store::connect(&store).unwrap()), config);
    mirror.keep();
    mirror
}

fn saving(folder: &Path) -> Config {
    let saves = Some(saving::Config { folder: folder.to_owned(), every: 1_000 });
    Config { saves, ..config(1 << 30) }
}

fn asked(mirror: &Mirror, vector: [f32; 3]) -> RecallResult {
    let ask = RecallQuery { vector: Some(vector.to_vec()), ..RecallQuery::default() };
    let current = mirror.current(&local()).unwrap();
    recall(&current.view, &ask, &rules(), &mut Scratch::default()).unwrap()
}

/// Hits with their scores.
fn scored(mirror: &Mirror, vector: [f32; 3]) -> Vec<(String, u32)> {
    asked(mirror, vector).hits.into_iter().map(|hit| (hit.id, hit.score.to_bits())).collect()
}

/// The episodes that are found by a question about where someone works.
fn episodes(mirror: &Mirror) -> Vec<String> {
    let hits = asked(mirror, [1.0, 0.0, 0.0]).hits.into_iter();
    hits.filter(|hit| hit.kind == "Episodic").map(|hit| hit.id).collect()
}

/// A refreshed mirror is one that is loaded, and answers as it does.
async fn refreshed(db: &Fresh, mirror: &Mirror, hours: f64) {
    assert_eq!(mirror.refresh(&local(), at(hours)).await.unwrap(), RefreshOutcome::Patched);
    let loaded = self::mirror(db, Some(3), config(1 << 30));
    assert_eq!(loaded.refresh(&local(), at(hours)).await.unwrap(), RefreshOutcome::Loaded);
    let [own, other] = [mirror, &loaded].map(|mirror| mirror.current(&local()).unwrap().view);
    let difference = compare(&own, &other);
    assert!(difference.is_none(), "{difference}");
    for vector in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, -0.5, 0.3]] {
        assert_eq!(scored(mirror, vector), scored(&loaded, vector), "{vector:?}");
    }
}

/// The last observation of a node, milliseconds after the beginning of the year 2100.
fn observed(mirror: &Mirror, id: &str) -> i64 {
    let current = mirror.current(&local()).unwrap();
    let graph = current.view.graph();
    graph.last_modified(graph.find(id).unwrap()).unwrap() - YEAR_2100
}

const YEAR_2100: i64 = 4_102_444_800_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_live_fact_finds_what_mentions_both_of_its_ends() {
    let (db, folder) = (fresh().await, tempfile::tempdir().unwrap());
    db.client.run(GRAPHITI, &[]).await;
    let mirror = mirror(&db, Some(3), saving(folder.path()));
    assert_eq!(mirror.refresh(&local(), at(1.0)).await.unwrap(), RefreshOutcome::Loaded);
    assert_eq!(episodes(&mirror), ["both"], "other dimensions, and what is no number, are left out");

    // A restart answers the same before it has read the graph.
    mirror.save_states().await;
    let again = self::mirror(&db, Some(3), saving(folder.path()));
    assert_eq!(again.ready(&local(), at(1.2)).await.unwrap().as_of, at(1.0), "from the file");
    for vector in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]] {
        assert_eq!(scored(&again, vector), scored(&mirror, vector));
    }
    again.woken().await;

    // A new fact, then another embedding of one, then none that is live.
    let cup = "MATCH (a {uuid: 'ann'}), (t {uuid: 'tea'}) CREATE (a)-[:RELATES_TO {uuid: 'drinks', name: 'DRINKS',
        fact: 'Ann drinks tea', fact_embedding: [0.9, 0.1, 0.0], group_id: '', episodes: [], created_at: datetime(), valid_at: datetime()}]->(t)";
    db.client.run(cup, &[]).await;
    refreshed(&db, &mirror, 1.3).await;
    assert_eq!(episodes(&mirror), ["both", "cup"]);
    let fact = "MATCH ()-[r:RELATES_TO {uuid: $uuid}]->() SET r.created_at = datetime(), ";
    let set = |uuid: &str, what: &str| (fact.replace("$uuid", &format!("'{uuid}'")) + what).clone();
    db.client.run(&set("lives", "r.fact_embedding = [1.0, 0.0, 0.01]"), &[]).await;
    db.client.run(&set("drinks", "r.fact_embedding = null"), &[]).await;
    refreshed(&db, &mirror, 1.4).await;
    assert_eq!(episodes(&mirror), ["far", "both"]);
    db.client.run(&set("works", "r.expired_at = datetime('2020-01-01T00:00:00Z')"), &[]).await;
    refreshed(&db, &mirror, 1.5).await;
    assert_eq!(episodes(&mirror), ["far"]);

    let bare = self::mirror(&db, None, config(1 << 30));
    bare.refresh(&local(), at(1.5)).await.unwrap();
    let current = bare.current(&local()).unwrap();
    assert!(!current.view.texts().has_vectors(), "none is read without dimensions");
}

/// A new episode counts as one more observation of the facts that name it, and no refresh reads the facts of all that is near:
/// a node to which everything is linked would bring the whole scope.
#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_reads_facts_about_what_a_new_episode_mentions_and_no_others() {
    let db = fresh().await;
    db.client.run(GRAPHITI, &[]).await;
    let mirror = mirror(&db, Some(3), config(1 << 30));
    // The first refresh after a load reads all that was written lately.
    for hours in [1.0, 1.05] {
        mirror.refresh(&local(), at(hours)).await.unwrap();
    }
    let observed = async |kind: &str| {
        let facts = mirror.adopted_facts(&local(), at(2.0)).await.into_iter();
        facts.filter(|fact| fact.kind == kind).map(|fact| fact.last_observed).collect::<Vec<_>>()
    };
    let text = "MATCH (a {uuid: 'ann'})-[r:RELATES_TO {uuid: 'works'}]->() SET r.episodes = ['again']
        CREATE (:Episodic {uuid: 'again', group_id: '', content: 'Still there', valid_at: datetime({epochMillis: 4102444800000}),
          created_at: datetime()})-[:MENTIONS {uuid: 'm8', group_id: ''}]->(a)";
    db.client.run(text, &[]).await;
    refreshed(&db, &mirror, 1.1).await;
    assert_eq!(observed("WORKS_AT").await, [4_102_444_800_000]);

    // A fact of Acme brings what there is around Acme, Ann's other facts not: that one is gone without a sign.
    let fact = "MATCH (:Entity {uuid: 'ann'})-[lives:RELATES_TO {uuid: 'lives'}]->() DELETE lives WITH DISTINCT 1 AS one
        MATCH (a {uuid: 'acme'}), (t {uuid: 'tea'}) CREATE (a)-[:RELATES_TO {uuid: 'sells', name: 'SELLS', fact: 'Acme sells tea',
          group_id: '', episodes: [], created_at: datetime(), valid_at: datetime()}]->(t)";
    db.client.run(fact, &[]).await;
    assert_eq!(mirror.refresh(&local(), at(1.2)).await.unwrap(), RefreshOutcome::Patched);
    assert_eq!((observed("SELLS").await.len(), observed("LIVES_IN").await.len()), (1, 1));
    assert!(!mirror.verify(&local(), at(1.3)).await.unwrap().is_none(), "the comparison finds it");
    assert_eq!(observed("LIVES_IN").await, [0_i64; 0]);
}

/// Names have no text, and their vectors are compared with each other.
#[tokio::test(flavor = "multi_thread")]
async fn entities_are_compared_by_their_vectors() {
    let db = fresh().await;
    db.client.run(GRAPHITI, &[]).await;
    let mirror = mirror(&db, Some(3), config(1 << 30));
    mirror.refresh(&local(), at(1.0)).await.unwrap();
    let found = asked(&mirror, [0.0, 1.0, 0.1]);
    let entities: Vec<(&str, Option<f32>, f32)> = found
        .hits
        .iter()
        .filter(|hit| hit.kind == "Entity")
        .map(|hit| (hit.id.as_str(), hit.similarity, hit.score))
        .collect();
    let [("ann", Some(near), first), ("acme", Some(far), second)] = entities[..] else {
        panic!("one of another dimension is left out: {entities:?}")
    };
    assert!(near > 0.99 && far < 0.9 && first > 0.9 && second < 0.1, "{entities:?}");
}

/// A fact is written, accessed and hidden, and an end of one is hidden, while its ends stay as they are.
#[tokio::test(flavor = "multi_thread")]
async fn entities_are_as_recent_as_their_facts() {
    let db = fresh().await;
    db.client.run(GRAPHITI, &[]).await;
    let mirror = mirror(&db, Some(3), config(1 << 30));
    for hours in [1.0, 1.05] {
        mirror.refresh(&local(), at(hours)).await.unwrap();
    }
    let state = async |row: StatedRow, request: &str, change: StateChange, later: i64| {
        let mode = RequestMode::Once { request, hash: "h", by: "test" };
        let at = Timestamp::from_millis(YEAR_2100 + later).unwrap();
        db.store.set_states(mode, (&local(), &[row]), change, at).await.unwrap();
    };
    let fact = |key: &str, ends: [&str; 2]| StatedRow::Fact {
        key: key.to_owned(),
        ends: ends.map(str::to_owned).to_vec(),
    };
    let (accessed, hidden) = (
        StateChange { accessed: true, ..StateChange::default() },
        StateChange { hidden: Some(true), ..StateChange::default() },
    );

    let sells = "MATCH (a {uuid: 'acme'}), (o {uuid: 'oslo'}) CREATE (a)-[:RELATES_TO {uuid: 'sells', name: 'SELLS_IN', fact: 'Acme sells in Oslo',
        group_id: '', episodes: [], created_at: datetime(), valid_at: datetime({epochMillis: 4102444800001})}]->(o)";
    db.client.run(sells, &[]).await;
    refreshed(&db, &mirror, 1.1).await;
    assert_eq!([observed(&mirror, "acme"), observed(&mirror, "oslo")], [1, 1]);
    assert!(observed(&mirror, "ann") < 0);

    state(fact("likes", ["tea", "ann"]), "r1", accessed, 2).await;
    refreshed(&db, &mirror, 1.2).await;
    assert_eq!([observed(&mirror, "tea"), observed(&mirror, "ann")], [2, 2]);

    state(fact("sells", ["acme", "oslo"]), "r2", hidden, 3).await;
    refreshed(&db, &mirror, 1.3).await;
    assert!(observed(&mirror, "acme") < 0 && observed(&mirror, "oslo") < 0);

    // Then tea has no fact.
    state(StatedRow::Node("ann".to_owned()), "r3", hidden, 4).await;
    refreshed(&db, &mirror, 1.4).await;
    assert!(observed(&mirror, "tea") < 0);
    assert!(mirror.verify(&local(), at(1.5)).await.unwrap().is_none());
}

/// Its library keeps the instant of a row whose embedding it replaces.
#[tokio::test(flavor = "multi_thread")]
async fn embeddings_replaced_without_an_instant_are_found_by_the_comparison() {
    let db = fresh().await;
    db.client.run(GRAPHITI, &[]).await;
    let mirror = mirror(&db, Some(3), config(1 << 30));
    mirror.refresh(&local(), at(1.0)).await.unwrap();
    assert!(mirror.verify(&local(), at(1.1)).await.unwrap().is_none());
    let set = "MATCH ()-[r:RELATES_TO {uuid: 'lives'}]->() SET r.fact_embedding = [1.0, 0.0, 0.01]";
    db.client.run(set, &[]).await;
    let difference = mirror.verify(&local(), at(1.2)).await.unwrap();
    assert_eq!(difference.named, ["ann"], "{difference}");
    assert_eq!(episodes(&mirror), ["far", "both"]);
    db.client.run("MATCH (e:Entity {uuid: 'tea'}) SET e.name_embedding = [0.0, 1.0, 0.0]", &[]).await;
    let difference = mirror.verify(&local(), at(1.3)).await.unwrap();
    assert_eq!(difference.named, ["tea"], "{difference}");
    assert!(mirror.verify(&local(), at(1.4)).await.unwrap().is_none());
}
