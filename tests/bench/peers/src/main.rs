//! The engine beside others' graphs, as `cargo bench --bench engine -- --peers PATH` starts it: one kernel a process, held
//! to one core, so that what runs on threads there runs on one here.
//!
//! `graph` counts slots into rows both ways and leaves them as they come; ours also merges equal slots, renames nodes by
//! degree, sorts rows by weight and sums them up. `petgraph`'s rows go one way, from edges that are sorted already.

#![expect(dead_code, reason = "the bench's modules hold more than a peer needs")]

#[path = "../../measure.rs"]
mod measure;
#[path = "../../probes.rs"]
mod probes;
#[path = "../../random.rs"]
mod random;
#[path = "../../record.rs"]
mod record;
#[path = "../../sets.rs"]
mod sets;

use ebb_engine::pagerank;
use graph::prelude::{CsrLayout, DirectedCsrGraph, GraphBuilder, PageRankConfig, page_rank};
use measure::{Pairs, run, seconds, with};
use probes::Push;
use record::Part;
use sets::{Set, Shape};
use std::hint::black_box;

type Edges = Vec<(u32, u32, f32)>;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    measure::pin();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let part = match words[..] {
        ["--measure", "peer-build", set] => build(set),
        ["--measure", "peer-pagerank", set] => standing(set),
        _ => panic!("there is no such kernel: {words:?}"),
    };
    println!("{}", serde_json::to_string(&part).expect("JSON"));
}

fn built(edges: &Edges) -> f64 {
    let edges = edges.clone();
    seconds(|| {
        let built: DirectedCsrGraph<u32, (), f32> = GraphBuilder::new().edges_with_values(edges).build();
        built
    })
}

/// Building, and applying a change of one in a hundred, over the peer's building; for each edge and slot.
fn build(name: &str) -> Part {
    let set = Set::named(name).expect("a set");
    let weight = |unit| Shape::PLAIN.weight(unit);
    let edges: Edges = set.edges.iter().map(|edge| (edge.source, edge.target, weight(edge.unit))).collect();
    let count = edges.len() as f64;
    let mut push = Push::new(set.nodes as usize, edges.len());
    let ours = || {
        let builder = set.builder(Shape::PLAIN);
        seconds(|| builder.finalize().expect("a graph")) / count
    };
    let pairs = Pairs::of(|| push.run(), ours, || built(&edges) / count);
    let rates = [("m_edges_per_s", 1e-6 / pairs.a()), ("peer_m_edges_per_s", 1e-6 / pairs.b())];
    let build = with(pairs.b_over_a(run(Some("T11 build"), "building, over `graph`", name, "")), rates);

    let graph = set.graph(Shape::PLAIN);
    let batch = set.batch(graph.slot_count() / 100);
    let apply = || {
        let mut slots = 0;
        seconds(|| {
            let next = graph.apply(&batch).expect("the next graph");
            slots = next.slot_count();
            next
        }) / slots as f64
    };
    let pairs = Pairs::of(|| push.run(), apply, || built(&edges) / count);
    let rates = [("m_slots_per_s", 1e-6 / pairs.a()), ("peer_m_edges_per_s", 1e-6 / pairs.b())];
    let apply =
        with(pairs.b_over_a(run(Some("T11 apply"), "applying 1 %, over `graph` building", name, "")), rates);

    let mut sorted = edges.clone();
    sorted.sort_by_key(|edge| (edge.0, edge.1));
    sorted.dedup_by_key(|edge| (edge.0, edge.1));
    let petgraph = || {
        seconds(|| petgraph::csr::Csr::<(), f32>::from_sorted_edges(&sorted).expect("they are sorted"))
            / sorted.len() as f64
    };
    let pairs = Pairs::of(|| push.run(), ours, petgraph);
    let rates = [("m_edges_per_s", 1e-6 / pairs.a()), ("peer_m_edges_per_s", 1e-6 / pairs.b())];
    let petgraph =
        with(pairs.b_over_a(run(None, "building, over `petgraph` of sorted edges one way", name, "")), rates);
    Part { datasets: vec![set.told()], runs: vec![build, apply, petgraph], ..Part::default() }
}

/// PageRank over the peer's, at as many iterations; the peer leaves out what nodes without slots hold.
fn standing(name: &str) -> Part {
    let set = Set::named(name).expect("a set");
    let graph = set.graph(Shape::PLAIN);
    let iterations = pagerank::pagerank(&graph).iterations;
    // The same slots, by the ids that they came with.
    let slots = graph.nodes().flat_map(|node| graph.targets(node).map(move |target| (node, target)));
    let by_name = |node| graph.rank(node);
    let edges: Vec<(u32, u32)> = slots
        .map(|(node, target)| (by_name(node), by_name(ebb_engine::graph::index::NodeId(target))))
        .collect();
    let each = edges.len() as f64 * f64::from(iterations);
    let peer: DirectedCsrGraph<u32> = GraphBuilder::new().csr_layout(CsrLayout::Sorted).edges(edges).build();
    let config = PageRankConfig::new(iterations as usize, 0.0, 0.85);
    let mut push = Push::new(graph.node_count(), graph.slot_count());
    let pairs = Pairs::of(
        || push.run(),
        || seconds(|| pagerank::pagerank(&graph)) / each,
        || seconds(|| black_box(page_rank(&peer, config))) / each,
    );
    let beside = [
        ("ns_per_edge_iteration", pairs.a() * 1e9),
        ("peer_ns_per_edge_iteration", pairs.b() * 1e9),
        ("iterations", f64::from(iterations)),
    ];
    let run = with(pairs.a_over_b(run(Some("T5"), "PageRank over that of `graph`", name, "")), beside);
    Part { datasets: vec![set.told()], runs: vec![run], ..Part::default() }
}
