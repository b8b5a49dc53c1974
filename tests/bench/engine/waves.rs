//! Waves beside a textbook's queue of pulses, a pulse; and all that is read from them beside a propagation for each
//! frequency.

use crate::agreement::waved;
use crate::measure::{Pairs, run, seconds, with};
use crate::plain::{once, plain};
use crate::probes::Gather;
use crate::record::{Part, Run};
use crate::reference::waves::{Limits, Undirected, by_rule, propagated};
use crate::sets::{Set, Shape};
use ebb_engine::graph::Graph;
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::number::PosF32;
use ebb_engine::resonance::harmonics::{HarmonicAnalyzer, MAX_HARMONIC, SWEEP_STEPS};
use ebb_engine::resonance::{
    BASE_FREQUENCY, DEFAULT_PULSE_BUDGET, HOPS_MAX, Resonance, ResonanceConfig, Scratch, WAVELENGTH, resonate,
};
use std::cell::RefCell;
use std::hint::black_box;

/// Queries whose answers are held to the rule, and that are read at all frequencies.
const FEW: usize = 4;
/// Gathers of one look at the machine.
const PROBES: usize = 8;
/// Nodes of a graph up to which the target is claimed.
const CLAIMED: usize = 1 << 18;

fn positive(value: f32) -> PosF32 {
    PosF32::new(value).expect("above 0")
}

/// How much of a circle a wave of the base frequency turns at each hop.
fn turns() -> f64 {
    f64::from(BASE_FREQUENCY) / f64::from(WAVELENGTH.get())
}

/// A graph, waves on it, and the same for the textbook.
struct Pond {
    graph: Graph,
    rows: Undirected,
    mean_degree: f64,
    queries: Vec<Vec<(NodeId, f32)>>,
    config: ResonanceConfig,
    limits: Limits,
    scratch: Scratch,
}

impl Pond {
    fn new(set: &Set) -> Self {
        let graph = set.graph(Shape::PLAIN);
        let config = ResonanceConfig {
            wavelength: WAVELENGTH,
            pulse_budget: DEFAULT_PULSE_BUDGET,
            max_hops: HOPS_MAX,
        };
        Self {
            rows: Undirected::of(&plain(&graph)),
            mean_degree: graph.mean_degree(),
            queries: set.queries(&graph),
            limits: Limits { pulses: DEFAULT_PULSE_BUDGET as usize, hops: usize::from(HOPS_MAX) },
            config,
            graph,
            scratch: Scratch::default(),
        }
    }

    fn resonate(&mut self, query: usize) -> Resonance {
        let Self { graph, mean_degree, queries, config, scratch, .. } = self;
        resonate(graph, *mean_degree, &queries[query], config, scratch).expect("seeds of this graph")
    }

    /// What the textbook's queue makes of a query at a frequency, and how many pulses that takes.
    fn queued(&self, query: usize, turns: f64) -> (Vec<[f64; 2]>, u64) {
        propagated(&self.rows, self.mean_degree, &once(&self.queries[query]), turns, self.limits)
    }

    /// Whether a query's waves are those of the rule, hop by hop.
    fn is_right(&mut self, query: usize) -> bool {
        let found = self.resonate(query);
        let rank = |node| self.graph.rank(NodeId(node));
        let seeds = once(&self.queries[query]);
        waved(&found, &by_rule(&self.rows, self.mean_degree, &seeds, rank, self.limits))
    }

    /// Seconds for each pulse of all queries.
    fn pulse(&mut self) -> f64 {
        let mut pulses = 0;
        let took = seconds(|| {
            for query in 0..self.queries.len() {
                pulses += black_box(self.resonate(query)).pulses;
            }
        });
        took / pulses as f64
    }

    /// The same for the textbook.
    fn queued_pulse(&self) -> f64 {
        let mut pulses = 0;
        let took = seconds(|| {
            for query in 0..self.queries.len() {
                pulses += black_box(self.queued(query, turns())).1;
            }
        });
        took / pulses as f64
    }

    /// Seconds for everything that is read from few queries: five harmonics, and a sweep over all frequencies.
    fn read(&mut self) -> f64 {
        seconds(|| {
            for query in 0..FEW {
                let found = self.resonate(query);
                let analyzer = HarmonicAnalyzer::new(&self.graph, &found);
                black_box((analyzer.harmonics(positive(BASE_FREQUENCY)), analyzer.sweep()));
            }
        })
    }

    /// The same for the textbook, which propagates at each frequency anew.
    fn queued_read(&self) -> f64 {
        let harmonics = (1..=MAX_HARMONIC).map(|harmonic| turns() * f64::from(harmonic));
        let sweep = (0..=SWEEP_STEPS).map(|step| f64::from(step) / f64::from(2 * SWEEP_STEPS));
        let all: Vec<f64> = harmonics.chain(sweep).collect();
        seconds(|| {
            for query in 0..FEW {
                all.iter().for_each(|turns| drop(black_box(self.queued(query, *turns))));
            }
        })
    }
}

/// A pulse over one of the queue, and a propagation for each frequency over one for all.
pub(crate) fn beside_queue(name: &str) -> Part {
    let set = Set::named(name).expect("a set");
    let mut of = Pond::new(&set);
    let correct = (0..FEW).all(|query| of.is_right(query));
    let (queries, claims) = (of.queries.len() as f64, of.graph.node_count() <= CLAIMED);
    let found: Vec<Resonance> = (0..of.queries.len()).map(|query| of.resonate(query)).collect();
    let each = |count: u64| count as f64 / queries;
    let (pulses, read) =
        found.iter().fold((0, 0), |(pulses, read), one| (pulses + one.pulses, read + one.pairs_read));
    let touched: u64 = found.iter().map(|one| one.waves.len() as u64).sum();
    drop(found);
    let gather = Gather::new(4 * of.graph.node_count().max(1 << 18));
    // One alone is short.
    let probe = || (0..PROBES).map(|_| gather.run()).sum::<f64>();
    // Both need the pond, and one of them its scratch.
    let pond = RefCell::new(of);
    let pairs = Pairs::of(probe, || pond.borrow_mut().pulse(), || pond.borrow().queued_pulse());
    let target = (claims && name.starts_with("rmat")).then_some("T10");
    let figure = run(target, "a pulse over one of a textbook's queue", name, "");
    let beside = [
        ("ns_per_pulse", pairs.a() * 1e9),
        ("queue_ns_per_pulse", pairs.b() * 1e9),
        ("pulses", each(pulses)),
        ("touched_nodes", each(touched)),
        ("pairs_read", each(read)),
    ];
    let pulse = Run { correct, ..with(pairs.a_over_b(figure), beside) };
    let pairs = Pairs::of(probe, || pond.borrow_mut().read(), || pond.borrow().queued_read());
    let figure = run(None, "a propagation for each frequency over one for all", name, "");
    let (ms, queued_ms) = (pairs.a() * 1e3 / FEW as f64, pairs.b() * 1e3 / FEW as f64);
    let beside = [("ms_per_query", ms), ("queue_ms_per_query", queued_ms)];
    let read = Run { correct, ..with(pairs.b_over_a(figure), beside) };
    Part { datasets: vec![set.told()], runs: vec![pulse, read], ..Part::default() }
}
