//! Activation beside a bare frontier push and beside the textbook's full scan, for three classes of queries.

use crate::measure::{Pairs, counted, run, seconds, with};
use crate::plain::plain;
use crate::probes::Push;
use crate::record::{Part, Run};
use crate::reference::{self, Plain, Rule};
use crate::sets::{Set, Shape};
use ebb_engine::activation::scratch::Scratch;
use ebb_engine::activation::{ActivationConfig, ActivationCounters, wavefront};
use ebb_engine::graph::Graph;
use ebb_engine::graph::index::NodeId;
use std::hint::black_box;

/// Results that a query wants.
const MOST: usize = 20;
/// Queries that the textbook answers too: it is slow.
const FEW: usize = 4;
/// Nodes whose values no cache of one core holds.
const LARGE: usize = 1 << 19;

const RULE: Rule = Rule { strongest: true, fan: 0, threshold: 0.04, decay: 0.55, depth: 5, cap: 1.0 };

type Query = Vec<(NodeId, f32)>;

fn textbook(plain: &Plain, query: &Query) -> Vec<f32> {
    let seeds: Vec<(u32, f32)> = query.iter().map(|(node, score)| (node.0, *score)).collect();
    reference::activate(plain, &seeds, RULE)
}

/// Whether these are the textbook's values to the bit, and the results the strongest of them in their order.
fn is_right(graph: &Graph, plain: &Plain, query: &Query, scratch: &mut Scratch) -> bool {
    let values = textbook(plain, query);
    let mut wanted: Vec<(NodeId, f32)> =
        graph.nodes().zip(values).filter(|(_, value)| *value > 0.0).collect();
    wanted.sort_by(|a, b| b.1.total_cmp(&a.1).then(graph.rank(a.0).cmp(&graph.rank(b.0))));
    let found = |most, scratch: &mut Scratch| {
        let found = wavefront::activate(graph, query, &ActivationConfig::REFERENCE, most, scratch);
        found.nodes.into_iter().map(|lit| (lit.node, lit.value.to_bits())).collect::<Vec<_>>()
    };
    let wanted: Vec<(NodeId, u32)> =
        wanted.into_iter().map(|(node, value)| (node, value.to_bits())).collect();
    found(usize::MAX, scratch) == wanted && found(MOST, scratch) == wanted[..MOST.min(wanted.len())]
}

/// A class of queries over a graph.
struct Class {
    graph: Graph,
    queries: Vec<Query>,
    scratch: Scratch,
    /// Of all queries.
    work: ActivationCounters,
    /// Whether each query kept to T4.
    frugal: bool,
}

impl Class {
    fn new(set: &Set, shape: Shape) -> Self {
        let graph = set.graph(shape);
        let queries = set.queries(&graph);
        let (mut scratch, mut work, mut frugal) = (Scratch::default(), ActivationCounters::default(), true);
        for query in &queries {
            let of =
                wavefront::activate(&graph, query, &ActivationConfig::REFERENCE, MOST, &mut scratch).counters;
            frugal &= 2 * of.slots_read <= 3 * of.useful_slots + 2 * of.rows;
            work.slots_read += of.slots_read;
            work.useful_slots += of.useful_slots;
            work.rows += of.rows;
            work.touched += of.touched;
        }
        Self { graph, queries, scratch, work, frugal }
    }

    /// Seconds for the first so many queries.
    fn seconds(&mut self, queries: usize, params: &ActivationConfig) -> f64 {
        let Self { graph, scratch, .. } = self;
        seconds(|| {
            for query in &self.queries[..queries] {
                black_box(wavefront::activate(graph, query, params, MOST, scratch));
            }
        })
    }

    fn push(&self) -> Push {
        Push::new(self.graph.node_count(), self.graph.slot_count())
    }
}

/// All classes of queries over a set in one shape: `0`, `10` or `50` percent of edges that hold back, or `skewed`.
pub(crate) fn classes(name: &str, shape: &str) -> Part {
    let set = Set::named(name).expect("a set");
    let percent: f32 = shape.parse().unwrap_or(0.0);
    let mut part = Part { datasets: vec![set.told()], ..Part::default() };
    for (class, scale) in Shape::CLASSES {
        let class_of =
            Class::new(&set, Shape { scale, inhibitory: percent / 100.0, skewed: shape == "skewed" });
        // What is claimed is claimed of uniform weights, without edges that hold back and with a tenth of them.
        let claims = name.starts_with("rmat") && ["0", "10"].contains(&shape);
        let said = if shape == "0" { class.to_owned() } else { format!("{class}, {shape}") };
        one_class(class_of, name, class, &said, claims, &mut part.runs);
    }
    part
}

fn one_class(mut of: Class, name: &str, class: &str, said: &str, claims: bool, runs: &mut Vec<Run>) {
    let plain = plain(&of.graph);
    let (all, few) = (of.queries.len(), FEW);
    let correct = of.queries[..few].iter().all(|query| is_right(&of.graph, &plain, query, &mut of.scratch));
    let ActivationCounters { slots_read, useful_slots, rows, touched } = of.work;
    let each = |count: u64| count as f64 / all as f64;
    let (mut probe, mut push) = (of.push(), of.push());
    if class == "heavy" {
        let pairs = Pairs::of(
            || probe.run(),
            || of.seconds(all, &ActivationConfig::REFERENCE) / useful_slots as f64,
            || push.run(),
        );
        let figure = run(claims.then_some("T1"), "useful edges/s over P2", name, said);
        let beside = [("ns_per_useful_edge", pairs.a() * 1e9), ("p2_ns_per_edge", pairs.b() * 1e9)];
        runs.push(Run { correct, ..with(pairs.b_over_a(figure), beside) });
    }
    let recall = of.seconds(all, &ActivationConfig::RECALL);
    let asked = of.queries[..few].to_vec();
    let pairs = Pairs::of(
        || probe.run(),
        || of.seconds(few, &ActivationConfig::REFERENCE),
        || seconds(|| asked.iter().for_each(|query| drop(black_box(textbook(&plain, query))))),
    );
    let target = format!("T2 {class}");
    let large = class == "heavy" && of.graph.node_count() >= LARGE;
    let figure =
        run((claims && !large).then_some(&target), "textbook's full scan over activation", name, said);
    let all_us = of.seconds(all, &ActivationConfig::REFERENCE) * 1e6 / all as f64;
    let beside = [
        ("us_per_query", all_us),
        ("us_per_recall_query", recall * 1e6 / all as f64),
        ("touched_nodes", each(touched)),
        ("useful_edges", each(useful_slots)),
        ("edges_read", each(slots_read)),
        ("rows", each(rows)),
    ];
    runs.push(Run { correct, ..with(pairs.b_over_a(figure), beside) });
    let beyond = slots_read.saturating_sub(rows) as f64 / useful_slots as f64;
    let figure = counted(Some("T4"), "edges read beyond one a row over useful ones", name, beyond);
    runs.push(Run { class: said.to_owned(), correct: of.frugal, ..figure });
}

/// The light query on a large graph over that on a small one, for each node that it touches.
pub(crate) fn growth(small: &str, large: &str) -> Part {
    let shape = Shape { scale: 0.35, ..Shape::PLAIN };
    let sets = [small, large].map(|name| Set::named(name).expect("a set"));
    let [mut small, mut large] = [&sets[0], &sets[1]].map(|set| Class::new(set, shape));
    let mut probe = small.push();
    // Light queries take microseconds: many rounds make a time.
    let rounds = |of: &mut Class| {
        let took: f64 = (0..50).map(|_| of.seconds(of.queries.len(), &ActivationConfig::REFERENCE)).sum();
        took / 50.0 / of.work.touched as f64
    };
    let pairs = Pairs::of(|| probe.run(), || rounds(&mut large), || rounds(&mut small));
    let figure = run(Some("T3"), "large over small, a touched node", &sets[1].name, "light");
    let beside = [("ns_per_touched_node", pairs.a() * 1e9), ("small_ns_per_touched_node", pairs.b() * 1e9)];
    let runs = vec![with(pairs.a_over_b(figure), beside)];
    Part { datasets: sets.iter().map(Set::told).collect(), runs, ..Part::default() }
}
