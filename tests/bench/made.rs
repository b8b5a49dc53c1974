//! The generated graph of the benches `mirror` and `scale`, with the questions and the changes that both measure.
//!
//! Nine of ten nodes are memories, the others entities; relationships of four types lead from and to nodes of which few are
//! met often. It is written straight into Neo4j, and the same numbers give the same graph on every machine.

#![allow(dead_code, reason = "each program uses its own part")]

use crate::random::{SplitMix64, WORDS};
use ebb_core::clock::new_id;
use ebb_core::domain::event::{Access, Event};
use ebb_core::domain::ids::{MemoryId, Scope};
use ebb_core::domain::memory::Revive;
use ebb_core::domain::units::Timestamp;
use ebb_core::mirror::{Config, Current, Mirror, saving};
use ebb_core::service::Service;
use ebb_core::service::memories::RequestId;
use ebb_engine::activation::ActivationConfig;
use ebb_engine::graph::builder::WeightRange;
use ebb_engine::graph::kinds::Kinds;
use ebb_engine::plasticity::PlasticityConfig;
use ebb_engine::recall::{FusionWeights, RecallConfig, RecallQuery, recall};
use ebb_engine::scratch::Scratch;
use ebb_provision::Endpoint;
use neo4rs::{BoltType, ConfigBuilder, Graph, query};
use secrecy::ExposeSecret;
use std::path::Path;
use std::time::{Duration, Instant};

/// The instant of everything, epoch milliseconds.
pub(crate) const AT: i64 = 1_767_225_600_000;
/// Nodes or relationships of one request.
pub(crate) const PAGE: usize = 10_000;
/// Questions of each measurement.
const QUESTIONS: u64 = 400;

const MEMORIES: &str = "UNWIND range(0, size($id) - 1) AS i
CREATE (:Memory:EbbMemory {id: $id[i], scope: 'local', content: $content[i], tier: 'longTerm', energy: 3.0,
  energyAt: datetime({epochMillis: $at}), lastAccessed: datetime({epochMillis: $at}), created: datetime({epochMillis: $at}),
  accessCount: 3})";
const ENTITIES: &str = "UNWIND $id AS id CREATE (:Entity:EbbEntity {scope: 'local', name: id})";
const MENTIONS: &str = "UNWIND range(0, size($from) - 1) AS i
MATCH (a:Memory {id: $from[i]}) USING INDEX SEEK a:Memory(id)
MATCH (b:Entity {scope: 'local', name: $to[i]}) USING INDEX SEEK b:Entity(scope, name) CREATE (a)-[:MENTIONS]->(b)";
const COACTIVATED: &str = "UNWIND range(0, size($from) - 1) AS i
MATCH (a:Memory {id: $from[i]}) USING INDEX SEEK a:Memory(id)
MATCH (b:Memory {id: $to[i]}) USING INDEX SEEK b:Memory(id) CREATE (a)-[:COACTIVATED {weight: $weight[i]}]->(b)";
const REINFORCES: &str = "UNWIND range(0, size($from) - 1) AS i
MATCH (a:Memory {id: $from[i]}) USING INDEX SEEK a:Memory(id)
MATCH (b:Memory {id: $to[i]}) USING INDEX SEEK b:Memory(id) CREATE (a)-[:REINFORCES {strength: 0.8}]->(b)";
const RELATES: &str = "UNWIND range(0, size($from) - 1) AS i
MATCH (a:Entity {scope: 'local', name: $from[i]}) USING INDEX SEEK a:Entity(scope, name)
MATCH (b:Entity {scope: 'local', name: $to[i]}) USING INDEX SEEK b:Entity(scope, name)
CREATE (a)-[:RELATES_TO {ebbKey: $from[i] + ' ' + $to[i] + ' ' + toString($weight[i]), type: 'knows', weight: 1.0, baseWeight: 1.0,
  weightAt: datetime({epochMillis: $at}), lastObserved: datetime({epochMillis: $at}), pinned: false}]->(b)";

pub(crate) fn list<T: Into<BoltType>>(values: impl IntoIterator<Item = T>) -> BoltType {
    BoltType::from(values.into_iter().map(Into::into).collect::<Vec<BoltType>>())
}

pub(crate) struct Sizes {
    pub(crate) memories: u64,
    pub(crate) entities: u64,
    pub(crate) relationships: u64,
}

impl Sizes {
    pub(crate) fn of(nodes: u64, relationships: u64) -> Self {
        Self { memories: nodes * 9 / 10, entities: nodes / 10, relationships }
    }

    pub(crate) fn memory(&self, random: &mut SplitMix64) -> String {
        // Few are met often, as memories are.
        let (a, b) = (random.below(self.memories), random.below(self.memories));
        format!("memory-{:012}", a.min(b))
    }

    pub(crate) fn entity(&self, random: &mut SplitMix64) -> String {
        let (a, b) = (random.below(self.entities), random.below(self.entities));
        format!("{} {}", WORDS[(a.min(b) % 16) as usize], a.min(b))
    }
}

pub(crate) async fn run(graph: &Graph, text: &str, params: Vec<(&str, BoltType)>) {
    let call = params.into_iter().fold(query(text), |call, (name, value)| call.param(name, value));
    graph.run(call).await.expect("written");
}

pub(crate) async fn fill(graph: &Graph, sizes: &Sizes) {
    let mut random = SplitMix64(7);
    for from in (0..sizes.memories).step_by(PAGE) {
        let ids: Vec<u64> = (from..sizes.memories.min(from + PAGE as u64)).collect();
        let content = |n: &u64| {
            let word = |random: &mut SplitMix64| WORDS[random.below(16) as usize];
            let mut random = SplitMix64(*n);
            format!("{} {} {} note {n}", word(&mut random), word(&mut random), word(&mut random))
        };
        let params = vec![
            ("id", list(ids.iter().map(|n| format!("memory-{n:012}")))),
            ("content", list(ids.iter().map(content))),
            ("at", AT.into()),
        ];
        run(graph, MEMORIES, params).await;
    }
    for from in (0..sizes.entities).step_by(PAGE) {
        let ids = from..sizes.entities.min(from + PAGE as u64);
        run(graph, ENTITIES, vec![("id", list(ids.map(|n| format!("{} {n}", WORDS[(n % 16) as usize]))))])
            .await;
    }
    let parts = [
        (MENTIONS, 50, false, true),
        (COACTIVATED, 30, false, false),
        (REINFORCES, 15, false, false),
        (RELATES, 5, true, true),
    ];
    for (text, share, from_entity, to_entity) in parts {
        let mut left = sizes.relationships * share / 100;
        while left > 0 {
            let page = left.min(PAGE as u64);
            left -= page;
            let mut end = |is_entity: bool| {
                let name = |_| if is_entity { sizes.entity(&mut random) } else { sizes.memory(&mut random) };
                (0..page).map(name).collect::<Vec<String>>()
            };
            let (from, to) = (end(from_entity), end(to_entity));
            // Relations are known by their key, so each carries a number of its own.
            let weight = (0..page).map(|n| if from_entity { (left + n) as i64 } else { 1 + (n % 9) as i64 });
            let params =
                vec![("from", list(from)), ("to", list(to)), ("weight", list(weight)), ("at", AT.into())];
            run(graph, text, params).await;
        }
    }
}

/// A client of the server, apart from Ebb's own.
pub(crate) fn connect(endpoint: &Endpoint) -> Graph {
    let how = ConfigBuilder::default().uri(&endpoint.uri).user(&endpoint.username);
    let how = how.password(endpoint.password.expose_secret()).db("neo4j");
    let how = how.fetch_size(1_000).max_connections(8).build().expect("a configuration");
    Graph::connect(how).expect("an address")
}

/// The greatest number of a node; 0 where there is none.
pub(crate) async fn greatest_id(graph: &Graph) -> i64 {
    let mut rows =
        graph.execute(query("MATCH (n) RETURN coalesce(max(id(n)), 0) AS id")).await.expect("read");
    rows.next().await.expect("read").expect("a row").get("id").expect("a number")
}

pub(crate) fn config(connections: usize, folder: &Path) -> Config {
    Config {
        max_bytes: 1 << 40,
        expired: true,
        refresh: Duration::from_secs(30),
        staleness: Duration::from_secs(90),
        scopes: vec![Scope::local()],
        connections,
        kinds: Kinds::default(),
        range: WeightRange::default(),
        rules: PlasticityConfig::default(),
        saves: Some(saving::Config { folder: folder.join("mirror"), every: u64::MAX }),
    }
}

pub(crate) fn now() -> Timestamp {
    Timestamp::from_millis(AT + 60_000).expect("an instant")
}

pub(crate) fn current(mirror: &Mirror) -> Current {
    mirror.current(&Scope::local()).expect("loaded")
}

/// Median and 99th percentile of questions, in milliseconds.
pub(crate) fn questions(mirror: &Mirror, seed: u64) -> (f64, f64) {
    questions_of(mirror, seed, QUESTIONS)
}

/// As [`questions`], of so many.
pub(crate) fn questions_of(mirror: &Mirror, seed: u64, count: u64) -> (f64, f64) {
    let rules = RecallConfig::new(
        ActivationConfig::RECALL,
        ActivationConfig::REFERENCE,
        FusionWeights::default(),
        1_000,
    )
    .expect("the defaults");
    let (mut random, mut scratch, mut times) = (SplitMix64(seed), Scratch::default(), Vec::new());
    for _ in 0..count {
        let [a, b] = [random.below(16), random.below(16)].map(|n| WORDS[n as usize]);
        let ask = RecallQuery { text: format!("{a} {} {b}", random.below(1_000)), ..RecallQuery::default() };
        let view = current(mirror).view;
        let begun = Instant::now();
        std::hint::black_box(recall(&view, &ask, &rules, &mut scratch).expect("an answer"));
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

/// Uses so many memories, in batches.
pub(crate) async fn change(
    service: &Service,
    sizes: &Sizes,
    count: usize,
    random: &mut SplitMix64,
    at: Timestamp,
) {
    let mut events = Vec::new();
    for _ in 0..count {
        let id = MemoryId::new(&sizes.memory(random)).expect("an id");
        events.push(Event::Access(Access {
            at,
            id,
            scope: Scope::local(),
            session: None,
            revive: Revive::Yes,
        }));
    }
    for page in events.chunks(500) {
        service.apply_all(&RequestId::or_new("test", Some(&new_id())), page).await.expect("used");
    }
}
