//! What it costs to hold a graph in memory: `cargo bench --bench mirror -- --nodes 1000000 --relationships 8000000`.
//!
//! Memories and entities are made straight in Neo4j, nine of ten a memory, with relationships of four types between them.
//! Then the mirror is loaded, beside a client that drains the plain query of one row for each relationship into nothing, in
//! turn, over one connection and over four: judged are ratios of relationships a second. After that the first answer of a process
//! that starts from the saved state, refreshes
//! after a thousand changes, and questions with and without a writer beside them. Without numbers a tenth of a tenth. `--in
//! FOLDER` keeps the server there, and measures what an earlier run left in it; `--rounds N` says how often is loaded.

#![expect(clippy::print_stdout, reason = "a benchmark talks to a person")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a second client, apart from the mirror that is measured"
)]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "counts of a bench are small"
)]

mod bed;
mod random;

use bed::Bed;
use ebb_core::clock::new_id;
use ebb_core::domain::event::{Access, Event};
use ebb_core::domain::ids::{MemoryId, Scope};
use ebb_core::domain::memory::Revive;
use ebb_core::domain::units::Timestamp;
use ebb_core::mirror::{Config, Current, Mirror, RefreshOutcome, saving};
use ebb_core::service::Service;
use ebb_core::service::memories::RequestId;
use ebb_engine::activation::ActivationConfig;
use ebb_engine::graph::builder::WeightRange;
use ebb_engine::graph::kinds::Kinds;
use ebb_engine::plasticity::PlasticityConfig;
use ebb_engine::recall::{FusionWeights, RecallConfig, RecallQuery, recall};
use ebb_engine::scratch::Scratch;
use neo4rs::{BoltType, ConfigBuilder, Graph, query};
use random::SplitMix64;
use secrecy::ExposeSecret;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The instant of everything, epoch milliseconds.
const AT: i64 = 1_767_225_600_000;
/// Nodes or relationships of one request.
const PAGE: usize = 10_000;
/// Rounds of each measurement where nobody says another number.
const ROUNDS: u64 = 3;
/// Questions of each measurement.
const QUESTIONS: u64 = 400;
const WORDS: [&str; 16] = [
    "parser", "deploy", "invoice", "latency", "cache", "index", "tenant", "schema", "retry", "budget",
    "alert", "queue", "report", "token", "branch", "release",
];

const MEMORIES: &str = "UNWIND range(0, size($id) - 1) AS i
CREATE (:Memory:EbbMemory {id: $id[i], scope: 'local', content: $content[i], tier: 'longTerm', energy: 3.0,
  energyAt: datetime({epochMillis: $at}), lastAccessed: datetime({epochMillis: $at}), created: datetime({epochMillis: $at}),
  accessCount: 3})";
const ENTITIES: &str = "UNWIND $id AS id CREATE (:Entity:EbbEntity {scope: 'local', name: id})";
const MENTIONS: &str = "UNWIND range(0, size($from) - 1) AS i
MATCH (a:Memory {id: $from[i]}) MATCH (b:Entity {scope: 'local', name: $to[i]}) CREATE (a)-[:MENTIONS]->(b)";
const COACTIVATED: &str = "UNWIND range(0, size($from) - 1) AS i
MATCH (a:Memory {id: $from[i]}) MATCH (b:Memory {id: $to[i]}) CREATE (a)-[:COACTIVATED {weight: $weight[i]}]->(b)";
const REINFORCES: &str = "UNWIND range(0, size($from) - 1) AS i
MATCH (a:Memory {id: $from[i]}) MATCH (b:Memory {id: $to[i]}) CREATE (a)-[:REINFORCES {strength: 0.8}]->(b)";
const RELATES: &str = "UNWIND range(0, size($from) - 1) AS i
MATCH (a:Entity {scope: 'local', name: $from[i]}) MATCH (b:Entity {scope: 'local', name: $to[i]})
CREATE (a)-[:RELATES_TO {ebbKey: $from[i] + ' ' + $to[i] + ' ' + toString($weight[i]), type: 'knows', weight: 1.0, baseWeight: 1.0,
  weightAt: datetime({epochMillis: $at}), lastObserved: datetime({epochMillis: $at}), pinned: false}]->(b)";
/// What anybody would write to read all of it, some nodes at a time: the server ends what takes half a minute.
const PLAIN: &str = "MATCH (a)-[r]->(b) WHERE id(a) IN range($first, $last) AND a.scope = 'local'
RETURN coalesce(a.id, a.name) AS a, coalesce(b.id, b.name) AS b, r.weight AS w";
/// Nodes of one request of it.
const PLAIN_PAGE: i64 = 50_000;

fn list<T: Into<BoltType>>(values: impl IntoIterator<Item = T>) -> BoltType {
    BoltType::from(values.into_iter().map(Into::into).collect::<Vec<BoltType>>())
}

struct Sizes {
    memories: u64,
    entities: u64,
    relationships: u64,
}

impl Sizes {
    fn memory(&self, random: &mut SplitMix64) -> String {
        // Few are met often, as memories are.
        let (a, b) = (random.below(self.memories), random.below(self.memories));
        format!("memory-{:012}", a.min(b))
    }

    fn entity(&self, random: &mut SplitMix64) -> String {
        let (a, b) = (random.below(self.entities), random.below(self.entities));
        format!("{} {}", WORDS[(a.min(b) % 16) as usize], a.min(b))
    }
}

async fn run(graph: &Graph, text: &str, params: Vec<(&str, BoltType)>) {
    let call = params.into_iter().fold(query(text), |call, (name, value)| call.param(name, value));
    graph.run(call).await.expect("written");
}

async fn fill(graph: &Graph, sizes: &Sizes) {
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

/// The greatest number of a node; 0 where there is none.
async fn greatest_id(graph: &Graph) -> i64 {
    let mut rows =
        graph.execute(query("MATCH (n) RETURN coalesce(max(id(n)), 0) AS id")).await.expect("read");
    rows.next().await.expect("read").expect("a row").get("id").expect("a number")
}

/// Relationships a second of the plain query, over so many connections.
async fn drain(graph: &Graph, connections: i64) -> (u64, f64) {
    let begun = Instant::now();
    let greatest = greatest_id(graph).await;
    let parts = (0..connections).map(|part| {
        let graph = graph.clone();
        tokio::task::spawn(async move {
            let mut count = 0_u64;
            for page in (0..=greatest / PLAIN_PAGE).filter(|page| page % connections == part) {
                let (first, last) = (page * PLAIN_PAGE, (page + 1) * PLAIN_PAGE - 1);
                let mut rows = graph
                    .execute(query(PLAIN).param("first", first).param("last", last))
                    .await
                    .expect("read");
                while let Some(row) = rows.next().await.expect("read") {
                    std::hint::black_box(&row);
                    count += 1;
                }
            }
            count
        })
    });
    let mut count = 0;
    for part in parts.collect::<Vec<_>>() {
        count += part.await.expect("drained");
    }
    (count, count as f64 / begun.elapsed().as_secs_f64())
}

fn config(connections: usize, folder: &Path) -> Config {
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

fn now() -> Timestamp {
    Timestamp::from_millis(AT + 60_000).expect("an instant")
}

fn middle(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn current(mirror: &Mirror) -> Current {
    mirror.current(&Scope::local()).expect("loaded")
}

/// Median and 99th percentile of questions, in milliseconds.
fn questions(mirror: &Mirror, seed: u64) -> (f64, f64) {
    questions_of(mirror, seed, QUESTIONS)
}

/// As [`questions`], of so many.
fn questions_of(mirror: &Mirror, seed: u64, count: u64) -> (f64, f64) {
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
async fn change(service: &Service, sizes: &Sizes, count: usize, random: &mut SplitMix64, at: Timestamp) {
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

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().collect();
    let number = |name: &str, usual: u64| {
        let at = words.iter().position(|word| word == name);
        at.and_then(|at| words.get(at + 1)?.parse().ok()).unwrap_or(usual)
    };
    let nodes = number("--nodes", 10_000);
    let sizes = Sizes {
        memories: nodes * 9 / 10,
        entities: nodes / 10,
        relationships: number("--relationships", 80_000),
    };
    let rounds = usize::try_from(number("--rounds", ROUNDS)).expect("few").max(1);
    let given = words.iter().position(|word| word == "--in").and_then(|at| words.get(at + 1));
    let (Bed { server, folder }, service) = Bed::open(given.map(Path::new)).await;
    let password = server.endpoint.password.expose_secret();
    let how = ConfigBuilder::default().uri(&server.endpoint.uri).user(&server.endpoint.username);
    let how = how
        .password(password)
        .db("neo4j")
        .fetch_size(1_000)
        .max_connections(8)
        .build()
        .expect("a configuration");
    let graph = Graph::connect(how).expect("an address");
    let begun = Instant::now();
    if greatest_id(&graph).await < nodes as i64 {
        fill(&graph, &sizes).await;
        println!(
            "{nodes} nodes and {} relationships made in {:.0} s",
            sizes.relationships,
            begun.elapsed().as_secs_f64()
        );
    }

    let saves = tempfile::tempdir().expect("a folder");
    let mirror = loads(&service, &graph, rounds, saves.path()).await;
    let view = current(&mirror).view;
    let bytes = view.bytes();
    let slots = view.graph().slot_count().max(1);
    let node = |bytes: usize| bytes as f64 / view.graph().node_count().max(1) as f64;
    println!(
        "holds {} nodes, {slots} slots; {:.1} bytes a slot, {:.0} bytes a node for the rest",
        view.graph().node_count(),
        bytes.slots as f64 / slots as f64,
        node(bytes.total() - bytes.slots)
    );
    println!(
        "of these: columns {:.0}, labels {:.0}, facts {:.0}, texts {:.0}, documents {:.0}",
        node(bytes.columns),
        node(bytes.labels),
        node(bytes.facts),
        node(bytes.texts),
        node(bytes.documents)
    );
    drop(view);
    let mut random = SplitMix64(11);
    let mut times = Vec::new();
    for round in 1..=rounds {
        let at = now().after(1_000.0 * round as f64);
        change(&service, &sizes, 1_000, &mut random, at).await;
        let begun = Instant::now();
        let done = mirror.refresh(&Scope::local(), at).await.expect("refreshed");
        assert_eq!(done, RefreshOutcome::Patched);
        times.push(begun.elapsed().as_secs_f64());
    }
    println!("refresh after 1,000 changes: {:.2} s", middle(times));
    restart(&service, &mirror, rounds, saves.path()).await;
    let (median, late) = questions(&mirror, 3);
    println!("recall: median {median:.2} ms, p99 {late:.2} ms");
    beside(service, &mirror, sizes).await;
    drop(graph);
    server.release().await.expect("stopped");
    drop(folder);
}

/// Loads, in turn with drains; answers the last mirror.
async fn loads(service: &Service, graph: &Graph, rounds: usize, saves: &Path) -> Arc<Mirror> {
    let mut last = None;
    for connections in [1_usize, 4] {
        let (mut ratios, mut loaded, mut drained) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            let (count, plain) = drain(graph, connections as i64).await;
            let mirror = Mirror::new(service.share_store(), config(connections, saves));
            let begun = Instant::now();
            mirror.refresh(&Scope::local(), now()).await.expect("loaded");
            let rate = count as f64 / begun.elapsed().as_secs_f64();
            ratios.push(rate / plain);
            loaded.push(rate);
            drained.push(plain);
            last = Some(mirror);
        }
        let (least, most) =
            (ratios.iter().copied().fold(f64::MAX, f64::min), ratios.iter().copied().fold(0.0, f64::max));
        println!(
            "load over {connections}: {:.0} relationships/s, plain drain {:.0}; ratio {:.2} ({least:.2}, {most:.2})",
            middle(loaded),
            middle(drained),
            middle(ratios)
        );
    }
    last.expect("a mirror")
}

/// Saves the state, and starts from it: until the first answer, and until it is as of now.
async fn restart(service: &Service, mirror: &Mirror, rounds: usize, saves: &Path) {
    let begun = Instant::now();
    mirror.save_states().await;
    let saved = begun.elapsed().as_secs_f64();
    let file = saves.join("mirror/local.state");
    let mib = std::fs::metadata(&file).expect("saved").len() as f64 / f64::from(1 << 20);
    let (mut answered, mut current_again, at) = (Vec::new(), Vec::new(), now().after(60_000.0));
    for _ in 0..rounds {
        let again = Mirror::new(service.share_store(), config(4, saves));
        again.keep();
        let begun = Instant::now();
        again.ready(&Scope::local(), at).await.expect("answered");
        questions_of(&again, 3, 1);
        answered.push(begun.elapsed().as_secs_f64());
        let done = again.refresh(&Scope::local(), at).await.expect("refreshed");
        assert_ne!(done, RefreshOutcome::Loaded);
        current_again.push(begun.elapsed().as_secs_f64());
    }
    println!(
        "state of {mib:.0} MiB saved in {saved:.2} s; first answer from it after {:.2} s, up to date after {:.2} s",
        middle(answered),
        middle(current_again)
    );
}

/// Questions while somebody writes and the mirror follows.
async fn beside(service: Service, mirror: &Mirror, sizes: Sizes) {
    let over = Arc::new(AtomicBool::new(false));
    let (told, runtime) = (Arc::clone(&over), tokio::runtime::Handle::current());
    let writer = std::thread::spawn(move || {
        let mut random = SplitMix64(13);
        let mut round = 0;
        while !told.load(Ordering::Relaxed) {
            round += 1;
            let at = now().after(10_000.0 + f64::from(round));
            runtime.block_on(change(&service, &sizes, 500, &mut random, at));
        }
        round
    });
    let (median, late) = questions(mirror, 5);
    let done = mirror.refresh(&Scope::local(), now().after(60_000.0)).await.expect("refreshed");
    over.store(true, Ordering::Relaxed);
    let rounds = writer.join().expect("a writer");
    println!(
        "beside a writer ({rounds} batches of 500): median {median:.2} ms, p99 {late:.2} ms; then {done:?}"
    );
}
