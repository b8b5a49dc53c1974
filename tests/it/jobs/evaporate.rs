//! Trails on a real server: what a path leaves, what the cycles take, and that a pass changes nothing that anybody would
//! compute.

use crate::harness::ebb::close;
use crate::harness::neo4j::{Fresh, at, fresh, trails};
use ebb_core::domain::event::{PlaceName, Step, Trace, Walk};
use ebb_core::domain::ids::{PlaceId, Scope};
use ebb_core::domain::trail::{Allowed, Trails};
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::dry_run_job;
use ebb_core::store::{Config, Drift, Error, RequestMode, Store, Tally, TraceEffect};
use serde::Deserialize;

const WHOLE: &str = "CALL () {
      MATCH (n) WHERE n:Wing OR n:Room OR n:Closet OR n:Drawer OR n:Entity OR n:Den
      RETURN coalesce(n.id, n.name) AS name, properties(n) AS of
      UNION ALL
      MATCH (a)-[r]->(b) RETURN coalesce(a.id, a.name) + type(r) + coalesce(b.id, b.name) AS name, properties(r) AS of }
    UNWIND [key IN keys(of) WHERE NOT key STARTS WITH 'ebb'] AS key
    RETURN name + ' ' + key + '=' + toString(of[key]) AS line ORDER BY line";

fn place(text: &str) -> PlaceName {
    ebb_core::service::trails::place_name(text, &trails().allowed).unwrap()
}

fn trace(hours: f64, what: Walk) -> Trace {
    Trace { at: at(hours), scope: Scope::local(), what }
}

fn node(hours: f64, label: &str, id: &str) -> Trace {
    let label = trails().allowed.label(label).unwrap().clone();
    trace(hours, Walk::Node { label, id: PlaceId::new(id).unwrap(), name: None })
}

fn edge(hours: f64, from: &str, kind: &str, to: &str) -> Trace {
    let kind = trails().allowed.kind(kind).unwrap().clone();
    trace(hours, Walk::edge(place(from), place(to), kind, None).unwrap())
}

fn steps(path: &[&str]) -> Vec<Step> {
    path.iter().map(|text| Step { to: place(text), via: None }).collect()
}

fn deposit(hours: f64, path: &[&str], reward: f64) -> Trace {
    trace(hours, Walk::deposit(steps(path), reward).unwrap())
}

fn explore(hours: f64, at: &str) -> Trace {
    trace(hours, Walk::Explore { place: place(at) })
}

/// Five rooms in a row, joined by halls.
fn row_of_rooms() -> Vec<Trace> {
    let mut all: Vec<Trace> = (0..5).map(|n| node(0.0, "Room", &format!("r{n}"))).collect();
    all.extend((0..4).map(|n| edge(0.0, &format!("r{n}"), "HALL", &format!("r{}", n + 1))));
    all
}

impl Fresh {
    async fn trace(&self, traces: &[Trace]) -> Result<Vec<TraceEffect>, Error> {
        let request = ebb_core::clock::new_id();
        self.store.trace(RequestMode::Once { request: &request, hash: "h", by: "test" }, traces).await
    }

    async fn evaporated(&self, hours: f64) -> Tally {
        self.run(JobName::Evaporate, hours).await.tally
    }

    async fn palace(&self) -> Vec<String> {
        self.client.column(WHOLE).await
    }

    async fn of_edge(&self, from: &str, property: &str) -> Option<f64> {
        let text = format!("MATCH ({{id: '{from}'}})-[r:HALL]->() RETURN r.{property} AS value");
        self.client.value(&text).await
    }

    fn configured(&self, trails: Trails) -> Store {
        Store::connect(&Config { trails, ..self.config.clone() }).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_leaves_most_on_its_first_edges() {
    let db = fresh().await;
    db.trace(&row_of_rooms()).await.unwrap();
    let done = db.trace(&[deposit(1.0, &["r0", "r1", "r2", "r3", "r4"], 1.0)]).await.unwrap();
    let success: Vec<f64> = done[0].edges.iter().map(|edge| edge.success).collect();
    assert_eq!(success, [1.0, 0.75, 0.5, 0.25]);
    #[derive(Debug, Deserialize, PartialEq)]
    struct Left {
        success: f64,
        traversal: f64,
        recency: f64,
        cost: f64,
    }
    let text =
        "MATCH (a)-[r:HALL]->() RETURN r.success_pheromone AS success, r.traversal_pheromone AS traversal,
        r.recency_pheromone AS recency, r.current_cost AS cost ORDER BY a.id";
    let left: Vec<Left> = db.client.rows(text, &[]).await;
    for (left, success) in left.iter().zip([1.0, 0.75, 0.5, 0.25]) {
        assert_eq!((left.success, left.traversal, left.recency), (success, 0.1, 1.0));
        close(left.cost, 0.5 * (1.0 - 0.5 * (0.5 * success + 0.3 + 0.02)));
    }
    let visited: Vec<f64> =
        db.client.column("MATCH (n:Room) RETURN n.exploitation_pheromone AS p ORDER BY n.id").await;
    assert_eq!(visited, [0.2; 5]);
    // There and back over one edge: the place between counts twice, the edge as both steps of it.
    let done = db.trace(&[deposit(1.0, &["r3", "r4", "r3"], 1.0)]).await.unwrap();
    close(done[0].nodes[0].exploitation, 0.6);
    close(done[0].edges[0].success, 0.25 + 1.0 + 0.5);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_of_a_path_that_nobody_can_have_walked() {
    let db = fresh().await;
    db.trace(&row_of_rooms()).await.unwrap();
    let before = db.palace().await;
    let said = async |traces: &[Trace]| db.trace(traces).await.unwrap_err().to_string();
    assert_eq!(said(&[deposit(1.0, &["r0", "r1", "r9"], 1.0)]).await, "there is no place r9");
    let far = said(&[explore(1.0, "r1"), deposit(1.0, &["r0", "r2"], 1.0)]).await;
    assert_eq!(far, "there is no edge between Room:r0 and Room:r2");
    let via = Step { via: Some("TUNNEL".to_owned()), ..steps(&["r1"]).remove(0) };
    let path = vec![steps(&["r0"]).remove(0), via];
    let tunnel = said(&[trace(1.0, Walk::deposit(path, 1.0).unwrap())]).await;
    assert_eq!(tunnel, "there is no edge TUNNEL between Room:r0 and Room:r1");
    let team = Trace { scope: Scope::new("team").unwrap(), ..deposit(1.0, &["r0", "r1"], 1.0) };
    assert_eq!(said(&[team]).await, "there is no place r0", "nothing crosses scopes");
    assert_eq!(said(&[explore(1.0, "x"), node(1.0, "Room", "x")]).await, "there is no place x", "not yet");
    assert_eq!(db.palace().await, before);
    assert!(Walk::deposit(steps(&["r0"]), 1.0).is_err() && Walk::deposit(steps(&["r0", "r1"]), 0.0).is_err());
    db.trace(&[node(1.0, "Closet", "r0")]).await.unwrap();
    let several = said(&[explore(1.0, "r0")]).await;
    assert!(several.contains("Room:r0") && several.contains("Closet:r0"), "{several}");
    db.trace(&[explore(1.0, "Closet:r0")]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_text_is_data_and_no_name() {
    let db = fresh().await;
    let hostile = "`}) DETACH DELETE n // ' \" $id :Room n.id";
    db.trace(&[node(0.0, "Room", hostile), node(0.0, "Room", "b")]).await.unwrap();
    let whole = PlaceName { label: None, id: PlaceId::new(hostile).unwrap() };
    let kind = trails().allowed.kind("HALL").unwrap().clone();
    db.trace(&[trace(0.0, Walk::edge(whole.clone(), place("b"), kind, None).unwrap())]).await.unwrap();
    db.trace(&[trace(0.0, Walk::Explore { place: whole })]).await.unwrap();
    let ids: Vec<String> =
        db.client.column("MATCH (n:Room)-[:HALL]->() WHERE n.exploration_pheromone > 0 RETURN n.id").await;
    assert_eq!(ids, [hostile]);
    assert!(trails().allowed.label("Room`) DETACH DELETE n //").is_err());
    assert!(trails().allowed.label("Memory").is_err(), "a plain name that is not in the list");
    assert!(trails().allowed.kind("HALL|KNOWS").is_err());
    assert!(Allowed::new(&["Room|Wing"], &["HALL"]).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn twice_is_once() {
    let db = fresh().await;
    db.trace(&row_of_rooms()).await.unwrap();
    db.trace(&[deposit(0.0, &["r0", "r1", "r2"], 1.0), explore(0.0, "r4")]).await.unwrap();
    assert_eq!(db.evaporated(5.0).await.scanned, 0, "not yet time");
    let dry = dry_run_job(&db.store, JobName::Evaporate, at(10.0), Request::default()).await.unwrap().tally;
    for (limit, counted) in [(4, (4, true)), (7, (6, false))] {
        let asked = Request { limit: Some(limit), ..Request::default() };
        let said = dry_run_job(&db.store, JobName::Evaporate, at(10.0), asked).await.unwrap();
        assert_eq!((said.tally.changed, said.truncated), counted, "up to {limit}");
    }
    let before = db.palace().await;
    let once = db.evaporated(10.0).await;
    assert_eq!((once.scanned, once.changed, once.silenced, once.quarantined), (6, 6, 0, 0));
    assert_eq!(dry, once);
    let after = db.palace().await;
    assert_ne!(before, after);
    assert_eq!(db.forced(10.0).await, Tally::default(), "nothing is pending");
    assert_eq!(db.palace().await, after, "to the last bit");
    close(db.of_edge("r0", "success_pheromone").await.unwrap(), 0.904_382_075_008_804);
    close(db.of_edge("r0", "recency_pheromone").await.unwrap(), 0.348_678_440_1);
    let factor: f64 = 0.5 * 0.904_382_075_008_804 + 0.3 * 0.348_678_440_1 + 0.2 * 0.073_742_412_689_492_8;
    close(db.of_edge("r0", "current_cost").await.unwrap(), 0.5 * (1.0 - 0.5 * factor));
    // A forced run in between takes what is pending, and no more.
    assert_eq!(db.evaporated(13.0).await.scanned, 0);
    assert_eq!(db.forced(13.0).await.changed, 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_catch_up_is_all_that_were_missed() {
    let db = fresh().await;
    let begin = [row_of_rooms(), vec![deposit(0.0, &["r0", "r1", "r2"], 2.0), explore(3.0, "r4")]].concat();
    db.trace(&begin).await.unwrap();
    for tens in 1..=30 {
        db.evaporated(f64::from(tens) * 10.0).await;
    }
    let text = "MATCH ()-[r:HALL]->() WHERE r.success_pheromone > 0 RETURN r.success_pheromone ORDER BY r.success_pheromone";
    let stepwise: Vec<f64> = db.client.column(text).await;
    db.clear().await;
    db.trace(&begin).await.unwrap();
    db.evaporated(300.0).await;
    let once: Vec<f64> = db.client.column(text).await;
    assert_eq!(once.len(), 2);
    stepwise.iter().zip(&once).for_each(|(stepwise, once)| close(*stepwise, *once));
    // What has fallen silent has no cycle, and no run looks at it.
    let silent: i64 = db.client.value("MATCH (n:Room {id: 'r4'}) WHERE n.pheromone_cycle IS NULL AND n.exploration_pheromone = 0.0 RETURN count(n) AS n").await;
    assert_eq!(silent, 1);
    assert_eq!(db.of_edge("r3", "success_pheromone").await, None, "what was never there stays absent");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_deposit_ends_where_the_punctual_one_does() {
    let db = fresh().await;
    db.trace(&row_of_rooms()).await.unwrap();
    db.trace(&[deposit(0.0, &["r0", "r1"], 1.0), deposit(20.0, &["r0", "r1"], 1.0)]).await.unwrap();
    db.forced(40.0).await;
    let punctual = db.of_edge("r0", "success_pheromone").await.unwrap();
    db.clear().await;
    db.trace(&row_of_rooms()).await.unwrap();
    db.trace(&[deposit(20.0, &["r0", "r1"], 1.0)]).await.unwrap();
    db.forced(40.0).await;
    db.trace(&[deposit(0.0, &["r0", "r1"], 1.0)]).await.unwrap();
    close(db.of_edge("r0", "success_pheromone").await.unwrap(), punctual);
    close(db.of_edge("r0", "recency_pheromone").await.unwrap(), 0.9_f64.powi(20));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_ends_as_its_traces_would_one_by_one() {
    let db = fresh().await;
    let all: Vec<Trace> = [
        row_of_rooms(),
        vec![
            deposit(3.0, &["r0", "r1", "r2", "r1"], 0.7),
            explore(9.0, "r1"),
            deposit(5.0, &["r2", "r1"], 3.0),
            edge(9.0, "r0", "TUNNEL", "r4"),
            deposit(30.0, &["r0", "r4", "r3"], 1.0),
            explore(1.0, "r1"),
        ],
    ]
    .concat();
    db.trace(&all).await.unwrap();
    let batched = db.palace().await;
    db.clear().await;
    for one in all {
        db.trace(&[one]).await.unwrap();
    }
    assert_eq!(db.palace().await, batched);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_counts_once_and_a_dry_run_not_at_all() {
    let db = fresh().await;
    db.trace(&row_of_rooms()).await.unwrap();
    let walk = [deposit(1.0, &["r0", "r1"], 1.0)];
    let once = RequestMode::Once { request: "r", hash: "h", by: "test" };
    let first = db.store.trace(once, &walk).await.unwrap();
    let again = db.store.trace(once, &walk).await.unwrap();
    close(again[0].edges[0].success, first[0].edges[0].success);
    let other = RequestMode::Once { request: "r", hash: "other", by: "test" };
    assert!(matches!(db.store.trace(other, &walk).await, Err(Error::Conflict(_))));
    db.store.trace(RequestMode::DryRun, &walk).await.unwrap();
    assert_eq!(db.of_edge("r0", "success_pheromone").await, Some(1.0));
    let once = RequestMode::Once { request: "c", hash: "h", by: "test" };
    let cycle = db.store.advance_cycle(once, 7, at(1.0)).await.unwrap();
    assert_eq!(db.store.advance_cycle(once, 7, at(1.0)).await.unwrap(), cycle);
    assert_eq!(db.cycle(1.0).await, cycle);
    assert_eq!(db.forced(1.0).await.changed, 3);
    close(db.of_edge("r0", "success_pheromone").await.unwrap(), 0.99_f64.powi(7));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_other_writers_left_comes_under_the_laws_or_is_set_aside() {
    let db = fresh().await;
    let write = "CREATE (a:Room {id: 'a', exploitation_pheromone: 1.0}), (b:Room {id: 'b', exploitation_pheromone: 'much'}),
        (c:Room {id: 'c', exploration_pheromone: 0.0 / 0.0}), (d:Drawer {id: 'd', exploration_pheromone: 0.0}),
        (a)-[:HALL {success_pheromone: 2, base_cost: 0.8}]->(b), (a)-[:SIMILAR_TO {success_pheromone: 1.0, similarity: 0.75}]->(c),
        (a)-[:TUNNEL {traversal_pheromone: -1.0}]->(c), (a)-[:KNOWS {success_pheromone: 1.0}]->(c)";
    db.client.run(write, &[]).await;
    let did = db.evaporated(0.0).await;
    assert_eq!((did.adopted, did.quarantined), (3, 3));
    assert_eq!(db.forced(0.0).await, Tally::default(), "once");
    let did = db.forced(10.0).await;
    assert_eq!((did.changed, did.quarantined), (3, 0));
    close(db.of_edge("a", "success_pheromone").await.unwrap(), 2.0 * 0.904_382_075_008_804);
    close(db.of_edge("a", "current_cost").await.unwrap(), 0.6);
    let near: f64 = db.client.value("MATCH ()-[r:SIMILAR_TO]->() RETURN r.base_cost AS base").await;
    close(near, 0.25);
    let known: i64 = db.client.value("MATCH ()-[r:KNOWS]->() RETURN size(keys(r)) AS keys").await;
    assert_eq!(known, 1, "a type that is not in the list is left alone");
    let why = db.trace(&[explore(10.0, "b")]).await.unwrap_err().to_string();
    assert_eq!(why, "Room b is quarantined: exploitation_pheromone is not a number");
    // Its values stay as they are; once somebody corrects them the next run takes it back.
    db.client.run("MATCH (b:Room {id: 'b'}) SET b.exploitation_pheromone = 0.5", &[]).await;
    assert_eq!(db.forced(10.0).await.adopted, 1);
    db.trace(&[explore(10.0, "b")]).await.unwrap();
    // One that goes bad after it was adopted is met by the next pass, and keeps nobody else from evaporating.
    db.client.run("MATCH (a:Room {id: 'a'}) SET a.exploitation_pheromone = [1.0]", &[]).await;
    let did = db.forced(20.0).await;
    assert_eq!((did.quarantined, did.changed), (1, 3));
    let kept: Vec<f64> =
        db.client.value("MATCH (a:Room {id: 'a'}) RETURN a.exploitation_pheromone AS p").await;
    assert_eq!(kept, [1.0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_answered_as_of_a_cycle_whatever_ran() {
    let db = fresh().await;
    db.trace(&row_of_rooms()).await.unwrap();
    db.trace(&[edge(0.0, "r0", "TUNNEL", "r2"), deposit(0.0, &["r0", "r1", "r2"], 1.0), explore(0.0, "r1")])
        .await
        .unwrap();
    let scope = Scope::local();
    let seen = db.store.trail_status(&scope, &place("r0"), Some(&place("r1")), at(10.0)).await.unwrap();
    close(seen.edges[0].success, 0.904_382_075_008_804);
    close(db.of_edge("r0", "success_pheromone").await.unwrap(), 1.0);
    let hot = db.store.hot_trails(&scope, 5, at(10.0)).await.unwrap();
    let ends: Vec<&str> = hot.found.iter().map(|edge| edge.from.id.as_str()).collect();
    assert_eq!(ends, ["r0", "r1"], "the first edge earned most; those that nobody walked are not hot");
    assert!(
        db.store.hot_trails(&scope, 5, at(2_000.0)).await.unwrap().found.is_empty(),
        "all is silent then"
    );
    let cold = db.store.cold_places(&scope, 3, at(0.0)).await.unwrap();
    let ids: Vec<&str> = cold.found.iter().map(|place| place.node.id.as_str()).collect();
    assert_eq!(ids, ["r3", "r4", "r0"]);
    let next = db.store.next_places(&scope, &place("r0"), 9, at(0.0)).await.unwrap();
    let ways: Vec<(&str, &str)> =
        next.found.iter().map(|one| (one.kind.as_str(), one.node.id.as_str())).collect();
    assert_eq!(ways, [("HALL", "r1"), ("TUNNEL", "r2")]);
    // r0 to r2 costs 0.7 over the tunnel, less than two halls; while the trail is fresh the halls are cheaper.
    let nodes = async |hours| {
        let way = db.store.cheapest_path(&scope, &place("r0"), &place("r2"), 100, at(hours)).await.unwrap();
        assert!(!way.truncated);
        (way.nodes.into_iter().map(|node| node.id).collect::<Vec<_>>(), way.cost.unwrap())
    };
    assert_eq!(nodes(0.0).await.0, ["r0", "r1", "r2"]);
    assert_eq!(nodes(5_000.0).await.0, ["r0", "r2"]);
    close(nodes(5_000.0).await.1, 0.7);
    let cut = db.store.cheapest_path(&scope, &place("r0"), &place("r4"), 1, at(0.0)).await.unwrap();
    assert!(cut.truncated && cut.cost.is_none() && cut.read == 1);
    let other = Scope::new("team").unwrap();
    assert!(db.store.hot_trails(&other, 5, at(10.0)).await.unwrap().found.is_empty());
    assert!(db.store.cold_places(&other, 5, at(10.0)).await.unwrap().found.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_label_and_a_length_that_configuration_adds() {
    let db = fresh().await;
    let other =
        Trails { allowed: Allowed::new(&["Den", "Entity"], &["WAY"]).unwrap(), cycle_ms: 60_000, ..trails() };
    let store = db.configured(other.clone());
    let before = db.cycle(0.5).await;
    let absent = ["Den (scope, id)", "Den (id)", "Den (pheromone_cycle)", "WAY (pheromone_cycle)"];
    assert_eq!(store.drift().await.unwrap(), absent.map(|of| Drift::Absent(of.to_owned())));
    assert_eq!(store.repair_schema().await.unwrap(), 4);
    store.ensure_trail_indexes().await.unwrap();
    assert!(!store.drift().await.unwrap().iter().any(|drift| matches!(drift, Drift::Absent(_))));
    store.ensure_cycle(at(0.5)).await.unwrap();
    assert_eq!(
        store.cycles().await.unwrap().cycles.at(at(0.5)),
        before + 30,
        "minutes of the cycle that has begun"
    );
    assert_eq!(
        store.cycles().await.unwrap().cycles.at(at(1.5)),
        before + 90,
        "cycles of a minute from then on"
    );
    let indexes: i64 = db
        .client
        .value("SHOW INDEXES YIELD labelsOrTypes, properties WHERE ('Den' IN labelsOrTypes OR 'WAY' IN labelsOrTypes) RETURN count(*) AS n")
        .await;
    assert_eq!(indexes, 4);
    let label = other.allowed.label("Den").unwrap().clone();
    let den = |id| Walk::Node { label: label.clone(), id: PlaceId::new(id).unwrap(), name: None };
    let name = |id| PlaceName { label: None, id: PlaceId::new(id).unwrap() };
    let way = Walk::edge(name("a"), name("b"), other.allowed.kind("WAY").unwrap().clone(), None).unwrap();
    let path = ["a", "b"].map(|id| Step { to: name(id), via: None }).to_vec();
    let all = [den("a"), den("b"), way, Walk::deposit(path, 1.0).unwrap()].map(|what| trace(0.5, what));
    store.trace(RequestMode::Once { request: "r", hash: "h", by: "test" }, &all).await.unwrap();
    let did = crate::harness::ebb::by_hand(&store, JobName::Evaporate, 1.5).await.tally;
    assert_eq!(did.changed, 3);
    let made = "SHOW CONSTRAINTS YIELD name, labelsOrTypes WHERE 'Den' IN labelsOrTypes RETURN name";
    for name in db.client.column::<String>(made).await {
        db.client.run(&format!("DROP CONSTRAINT {name}"), &[]).await;
    }
    let made = "SHOW INDEXES YIELD name, labelsOrTypes WHERE 'Den' IN labelsOrTypes OR 'WAY' IN labelsOrTypes RETURN name";
    for name in db.client.column::<String>(made).await {
        db.client.run(&format!("DROP INDEX {name}"), &[]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_writers_on_one_path_lose_nothing() {
    let db = fresh().await;
    db.trace(&row_of_rooms()).await.unwrap();
    let stores: Vec<_> = (0..8).map(|_| db.another()).collect();
    crate::harness::ebb::together(stores.into_iter().enumerate().map(|(n, store)| async move {
        for i in 0..5 {
            let request = format!("r{n}/{i}");
            let path: &[&str] = if n % 2 == 0 { &["r0", "r1", "r2"] } else { &["r2", "r1", "r0"] };
            let all = [node(0.0, "Room", &format!("new{i}")), deposit(0.0, path, 1.0)];
            store.trace(RequestMode::Once { request: &request, hash: "h", by: "test" }, &all).await.unwrap();
        }
    }))
    .await;
    close(db.of_edge("r0", "success_pheromone").await.unwrap(), 20.0 + 10.0);
    close(db.of_edge("r0", "traversal_pheromone").await.unwrap(), 4.0);
    assert_eq!(
        db.client.value::<i64>("MATCH (n:Room) WHERE n.id STARTS WITH 'new' RETURN count(n) AS n").await,
        5
    );
}

impl Fresh {
    async fn cycle(&self, hours: f64) -> i64 {
        self.store.cycles().await.unwrap().cycles.at(at(hours))
    }

    async fn forced(&self, hours: f64) -> Tally {
        use ebb_core::domain::attempt::Right;
        use ebb_core::jobs::Request;
        use ebb_core::scheduler::driver::{Wanted, run_job};
        let request = Request { force: true, ..Request::default() };
        let wanted = Wanted::by_hand(at(hours), Right::Lease);
        run_job(&self.store, JobName::Evaporate, &wanted, request).await.unwrap().tally
    }
}
