//! PageRank beside the textbook's pull loop, and on a larger graph.

use crate::measure::{Pairs, run, seconds, with};
use crate::plain::plain;
use crate::probes::Push;
use crate::record::{Part, Run};
use crate::reference;
use crate::sets::{Set, Shape};
use ebb_engine::graph::Graph;
use ebb_engine::pagerank;

/// The pull loop of a textbook: ids as they came, a division an edge saved.
struct Pull {
    offsets: Vec<u32>,
    sources: Vec<u32>,
    out: Vec<f32>,
}

impl Pull {
    fn new(graph: &Graph) -> Self {
        let n = graph.node_count();
        // The place of a node by its external id is the id that it came with.
        let (mut offsets, mut out) = (vec![0_u32; n + 1], vec![0.0; n]);
        for node in graph.nodes() {
            offsets[graph.rank(node) as usize + 1] = u32::try_from(graph.sources(node).len()).expect("slots");
            out[graph.rank(node) as usize] = graph.out_slots(node) as f32;
        }
        for at in 0..n {
            offsets[at + 1] += offsets[at];
        }
        let mut sources = vec![0; graph.slot_count()];
        for node in graph.nodes() {
            let begin = offsets[graph.rank(node) as usize] as usize;
            let row = &mut sources[begin..begin + graph.sources(node).len()];
            for (source, known) in row.iter_mut().zip(graph.incoming(node)) {
                *source = graph.rank(known.0);
            }
            row.sort_unstable();
        }
        Self { offsets, sources, out }
    }

    fn run(&self, iterations: u32) -> Vec<f32> {
        let n = self.out.len();
        let (mut rank, mut passes) = (vec![1.0 / n as f32; n], vec![0.0_f32; n]);
        for _ in 0..iterations {
            let mut lost = 0.0;
            for node in 0..n {
                passes[node] = rank[node] / self.out[node].max(1.0);
                lost += if self.out[node] > 0.0 { 0.0 } else { f64::from(rank[node]) };
            }
            let rest = (0.15 + 0.85 * lost) / n as f64;
            for (node, rank) in rank.iter_mut().enumerate() {
                let row = &self.sources[self.offsets[node] as usize..self.offsets[node + 1] as usize];
                let sum: f64 = row.iter().map(|source| f64::from(passes[*source as usize])).sum();
                *rank = narrow(rest + 0.85 * sum);
            }
        }
        rank
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a share of 1, rounded once")]
fn narrow(value: f64) -> f32 {
    value as f32
}

fn iterations(graph: &Graph) -> u32 {
    pagerank::pagerank(graph).iterations
}

/// Time over that of the textbook's loop at as many iterations; the answer is held to the textbook in f64.
pub(crate) fn beside_textbook(name: &str) -> Part {
    let set = Set::named(name).expect("a set");
    let graph = set.graph(Shape::PLAIN);
    let ours = pagerank::pagerank(&graph);
    let near = reference::pagerank(&plain(&graph), pagerank::DAMPING, ours.iterations as usize);
    let distance: f64 = ours.scores.iter().zip(&near).map(|(a, b)| (f64::from(*a) - b).abs()).sum();
    let edges = graph.slot_count() as f64 * f64::from(ours.iterations);
    let (pull, mut push) = (Pull::new(&graph), Push::new(graph.node_count(), graph.slot_count()));
    let pairs = Pairs::of(
        || push.run(),
        || seconds(|| pagerank::pagerank(&graph)) / edges,
        || seconds(|| pull.run(ours.iterations)) / edges,
    );
    let figure = run(None, "PageRank over a textbook's pull loop", name, "");
    let beside = [
        ("ns_per_edge_iteration", pairs.a() * 1e9),
        ("iterations", f64::from(ours.iterations)),
        ("distance_e-6", distance * 1e6),
    ];
    let run = Run { correct: distance <= 1e-5, ..with(pairs.a_over_b(figure), beside) };
    Part { datasets: vec![set.told()], runs: vec![run], ..Part::default() }
}

/// An edge and iteration on a large graph over one on a small graph.
pub(crate) fn growth(small: &str, large: &str) -> Part {
    let sets = [small, large].map(|name| Set::named(name).expect("a set"));
    let graphs = sets.each_ref().map(|set| set.graph(Shape::PLAIN));
    let each = |at: usize, rounds: u32| {
        let graph = &graphs[at];
        let edges = graph.slot_count() as f64 * f64::from(iterations(graph) * rounds);
        move || seconds(|| (0..rounds).for_each(|_| drop(pagerank::pagerank(graph)))) / edges
    };
    let mut push = Push::new(graphs[0].node_count(), graphs[0].slot_count());
    let pairs = Pairs::of(|| push.run(), each(1, 1), each(0, 4));
    let figure = run(Some("T6"), "large over small, an edge and iteration", large, "");
    let beside =
        [("ns_per_edge_iteration", pairs.a() * 1e9), ("small_ns_per_edge_iteration", pairs.b() * 1e9)];
    let runs = vec![with(pairs.a_over_b(figure), beside)];
    Part { datasets: sets.iter().map(Set::told).collect(), runs, ..Part::default() }
}
