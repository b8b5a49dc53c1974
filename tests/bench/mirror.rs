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

mod arguments;
mod bed;
mod made;
mod random;

use arguments::Arguments;
use bed::Bed;
use ebb_core::domain::ids::Scope;
use ebb_core::mirror::{Mirror, RefreshOutcome};
use ebb_core::service::Service;
use made::{Sizes, change, config, connect, current, fill, greatest_id, now, questions, questions_of};
use neo4rs::{Graph, query};
use random::SplitMix64;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Rounds of each measurement where nobody says another number.
const ROUNDS: u64 = 3;
/// What anybody would write to read all of it, some nodes at a time: the server ends what takes half a minute.
const PLAIN: &str = "MATCH (a)-[r]->(b) WHERE id(a) IN range($first, $last) AND a.scope = 'local'
RETURN coalesce(a.id, a.name) AS a, coalesce(b.id, b.name) AS b, r.weight AS w";
/// Nodes of one request of it.
const PLAIN_PAGE: i64 = 50_000;

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

fn middle(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

#[tokio::main]
async fn main() {
    let arguments = Arguments::of_process();
    let nodes = arguments.number("--nodes", 10_000);
    let sizes = Sizes::of(nodes, arguments.number("--relationships", 80_000));
    let rounds = usize::try_from(arguments.number("--rounds", ROUNDS)).expect("few").max(1);
    let (Bed { server, folder }, service) = Bed::open(arguments.value("--in").map(Path::new)).await;
    let graph = connect(&server.endpoint);
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
