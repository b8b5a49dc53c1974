//! Contrast beside one activation of the seeds and anti-seeds it runs from, and beside a textbook's hash maps of pulses.
//!
//! The activation begins with what both waves begin with, by the rule that they spread by.

use crate::agreement::contrasted;
use crate::measure::{Pairs, run, seconds, with};
use crate::plain::{RECALL, names, once, plain};
use crate::probes::Push;
use crate::record::{Part, Run};
use crate::reference::Plain;
use crate::reference::contrast::{self, Scene};
use crate::reference::waves::Undirected;
use crate::sets::{Set, Shape};
use ebb_engine::activation::{self, ActivationConfig, wavefront};
use ebb_engine::graph::Graph;
use ebb_engine::graph::index::NodeId;
use ebb_engine::xlr::{Scratch, XLR_PULSE_BUDGET, XlrResult, xlr};
use std::cell::RefCell;
use std::hint::black_box;

/// Results that a query wants.
const MOST: usize = 20;
/// Queries that the textbook answers too: it is slow.
const FEW: usize = 4;

type Query = Vec<(NodeId, f32)>;

/// A graph and its queries.
struct Stage {
    graph: Graph,
    mean_degree: f64,
    queries: Vec<Query>,
    /// The seeds of each query with its anti-seeds, with what waves begin with.
    both: Vec<Query>,
    scratch: Scratch,
    lit: activation::scratch::Scratch,
}

impl Stage {
    fn new(set: &Set, shape: Shape) -> Self {
        let graph = set.graph(shape);
        let queries = set.queries(&graph);
        let (mean_degree, both) = (graph.mean_degree(), Vec::new());
        let lit = activation::scratch::Scratch::default();
        Self { graph, mean_degree, queries, both, scratch: Scratch::default(), lit }
    }

    fn ask(&mut self, query: usize) -> XlrResult {
        let Self { graph, mean_degree, queries, scratch, .. } = self;
        xlr(graph, *mean_degree, &queries[query], &ActivationConfig::RECALL, XLR_PULSE_BUDGET, scratch)
    }

    /// Seconds for the first so many queries.
    fn seconds(&mut self, queries: usize) -> f64 {
        seconds(|| (0..queries).for_each(|query| drop(black_box(self.ask(query)))))
    }

    /// The same for one activation of each, from what its waves begin with.
    fn lit_seconds(&mut self) -> f64 {
        let Self { graph, both, lit, .. } = self;
        // Amplitudes are what they are: to be divided by the greatest once more would be less to spread.
        let params = ActivationConfig { normalised: false, ..ActivationConfig::RECALL };
        seconds(|| {
            for query in both.iter() {
                black_box(wavefront::activate(graph, query, &params, MOST, lit));
            }
        })
    }
}

/// Seeds as waves begin with them, and anti-seeds with their share of the same.
#[expect(clippy::cast_possible_truncation, reason = "a share of a few seeds")]
fn begun(seeds: &[(u32, f32)], anti_seeds: &[NodeId]) -> Query {
    let sum: f64 = seeds.iter().map(|(_, score)| f64::from(*score)).sum();
    let share = (sum / anti_seeds.len().max(1) as f64) as f32;
    let seeds = seeds.iter().map(|(node, score)| (NodeId(*node), *score));
    seeds.chain(anti_seeds.iter().map(|node| (*node, share))).collect()
}

/// What the textbook says of some seeds.
fn textbook(
    (plain, pairs, names): (&Plain, &Undirected, &[String]),
    seeds: &[(u32, f32)],
) -> contrast::Contrast {
    let budget = XLR_PULSE_BUDGET as usize;
    Scene { graph: plain, pairs, names, rule: RECALL, budget }.contrasted(seeds)
}

/// All queries over a set without edges that hold back, or with a tenth of them.
pub(crate) fn beside_activation(name: &str, shape: &str) -> Part {
    let set = Set::named(name).expect("a set");
    let percent: f32 = shape.parse().expect("a share in percent");
    let mut of = Stage::new(&set, Shape { inhibitory: percent / 100.0, ..Shape::PLAIN });
    let all = of.queries.len();
    let found: Vec<XlrResult> = (0..all).map(|query| of.ask(query)).collect();
    let seeds: Vec<Vec<(u32, f32)>> = of.queries.iter().map(|query| once(query)).collect();
    of.both = seeds.iter().zip(&found).map(|(seeds, found)| begun(seeds, &found.anti_seeds)).collect();
    let plain = plain(&of.graph);
    let (pairs, names) = (Undirected::of(&plain), names(&of.graph));
    let parts = (&plain, &pairs, &names[..]);
    let mut few = seeds.iter().zip(&found).take(FEW);
    let correct = few.all(|(seeds, found)| contrasted(found, &textbook(parts, seeds)));
    let sum = |count: fn(&XlrResult) -> u64| found.iter().map(count).sum::<u64>() as f64 / all as f64;
    let counts = [
        ("pulses", sum(|found| found.pulses)),
        ("edges_read", sum(|found| found.slots_read)),
        ("nodes", sum(|found| found.nodes.len() as u64)),
        ("anti_seeds", sum(|found| found.anti_seeds.len() as u64)),
    ];
    let mut push = Push::new(of.graph.node_count(), of.graph.slot_count());
    let stage = RefCell::new(of);
    let timed = Pairs::of(
        || push.run(),
        || stage.borrow_mut().seconds(all) / all as f64,
        || stage.borrow_mut().lit_seconds() / all as f64,
    );
    let said = if shape == "0" { String::new() } else { shape.to_owned() };
    let figure = run(Some("T9"), "contrast over one activation", name, &said);
    let mut figure = with(
        timed.a_over_b(figure),
        [("us_per_query", timed.a() * 1e6), ("us_per_activation", timed.b() * 1e6)],
    );
    figure.counters.extend(counts.map(|(name, value)| (name.to_owned(), value)));
    let timed = Pairs::of(
        || push.run(),
        || stage.borrow_mut().seconds(FEW) / FEW as f64,
        || {
            let few = seeds.iter().take(FEW);
            seconds(|| few.for_each(|seeds| drop(black_box(textbook(parts, seeds))))) / FEW as f64
        },
    );
    let beside = [("us_per_query", timed.a() * 1e6), ("textbook_us_per_query", timed.b() * 1e6)];
    let pulses = run(None, "a textbook's hash maps of pulses over contrast", name, &said);
    let pulses = Run { correct, ..with(timed.b_over_a(pulses), beside) };
    let runs = vec![Run { correct, ..figure }, pulses];
    Part { datasets: vec![set.told()], runs, ..Part::default() }
}
