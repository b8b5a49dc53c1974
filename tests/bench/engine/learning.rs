//! Ticks of learning beside bare writes of as many weights, beside a sweep over every edge, and on a larger graph.
//!
//! A tick is all of it: what an outcome changes, and every weight that moves because of it. It is counted in strengthened
//! edges, active nodes and records, as they are after it.

use crate::agreement::learned;
use crate::measure::{Pairs, run, seconds, with};
use crate::outcomes::{Outcome, outcomes, rules};
use crate::plain::plain;
use crate::probes::Swap;
use crate::record::{Part, Run};
use crate::reference::learning::Sweep;
use crate::sets::{Set, Shape};
use ebb_engine::graph::Graph;
use ebb_engine::plasticity::Synapses;

/// Nodes of an outcome: as many as the ways to twenty hits have.
const ACTIVE: usize = 64;
/// Ticks that the sweep makes too: it is slow.
const CHECKED: usize = 48;
/// Rounds of all outcomes before anything is timed, and those of one time on graphs where they take microseconds.
const WARM: usize = 4;
const MANY: usize = 20;

/// What ticks did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Work {
    ticks: u64,
    active: u64,
    strengthened: u64,
    records: u64,
    moved: u64,
    slots_read: u64,
}

impl Work {
    fn items(self) -> u64 {
        self.active + self.strengthened + self.records
    }
}

/// A graph that learns from one outcome after the other.
struct Learner {
    graph: Graph,
    synapses: Synapses,
    outcomes: Vec<Outcome>,
    work: Work,
}

impl Learner {
    fn new(set: &Set) -> Self {
        let graph = set.graph(Shape::PLAIN);
        let synapses = Synapses::bind(&graph, rules(), 0, []).expect("nothing yet");
        let outcomes = outcomes(set, &graph, ACTIVE);
        Self { graph, synapses, outcomes, work: Work::default() }
    }

    /// Which outcome comes next.
    fn at(&self) -> usize {
        usize::try_from(self.synapses.ticks()).expect("ticks") % self.outcomes.len()
    }

    fn tick(&mut self) {
        let outcome = &self.outcomes[self.at()];
        let counts = self.synapses.tick(&self.graph, outcome).expect("an outcome").counts;
        let moved = self.synapses.write_weights(&self.graph).expect("one writer");
        let work = &mut self.work;
        work.ticks += 1;
        work.active += counts.active;
        work.strengthened += counts.strengthened;
        work.records += self.synapses.len() as u64;
        work.moved += moved as u64;
        work.slots_read += counts.slots_read;
    }

    /// Seconds for so many rounds of all outcomes.
    fn rounds(&mut self, count: usize) -> f64 {
        let ticks = count * self.outcomes.len();
        seconds(|| (0..ticks).for_each(|_| self.tick()))
    }

    /// Seconds for each item of one round.
    fn item(&mut self) -> f64 {
        let before = self.work.items();
        let took = self.rounds(1);
        took / (self.work.items() - before) as f64
    }

    /// Whether weights are those of a sweep that learned the same.
    fn is_right(&mut self, sweep: &mut Sweep) -> bool {
        for _ in 0..CHECKED {
            sweep.tick(&as_swept(&self.outcomes[self.at()]));
            self.tick();
        }
        learned(&self.graph, sweep)
    }
}

fn as_swept(outcome: &Outcome) -> Vec<(u32, f64)> {
    outcome.iter().map(|(node, value)| (node.0, f64::from(*value))).collect()
}

/// An item over a bare compare-and-swap of a weight by lot, and a sweep over a tick.
pub(crate) fn beside_writes(name: &str) -> Part {
    let set = Set::named(name).expect("a set");
    let mut of = Learner::new(&set);
    let range = of.graph.range();
    let mut sweep = Sweep::of(&plain(&of.graph), range.floor, range.cap);
    let correct = of.is_right(&mut sweep);
    of.rounds(WARM);
    let bytes = 4 * of.graph.slot_count();
    let (probe, swap) = (Swap::new(bytes), Swap::new(bytes));
    of.work = Work::default();
    let pairs = Pairs::of(|| probe.run(), || of.item(), || swap.run());
    let Work { ticks, active, strengthened, records, moved, slots_read } = of.work;
    let each = |count: u64| count as f64 / ticks as f64;
    let beside = [
        ("ns_per_item", pairs.a() * 1e9),
        ("p3_ns", pairs.b() * 1e9),
        ("p3_plain_ns", swap.plainly() * 1e9),
        ("us_per_tick", pairs.a() * each(of.work.items()) * 1e6),
        ("active_nodes", each(active)),
        ("strengthened", each(strengthened)),
        ("records", each(records)),
        ("weights_moved", each(moved)),
        ("edges_read", each(slots_read)),
    ];
    let figure = run(Some("T8"), "a tick over P3, an item", name, "");
    let tick = Run { correct, ..with(pairs.a_over_b(figure), beside) };
    let outcome = as_swept(&of.outcomes[of.at()]);
    let outcomes = of.outcomes.len() as f64;
    let pairs = Pairs::of(|| probe.run(), || of.rounds(1) / outcomes, || seconds(|| sweep.tick(&outcome)));
    let figure = run(None, "a sweep over every edge over a tick", name, "");
    let beside = [
        ("us_per_tick", pairs.a() * 1e6),
        ("sweep_us_per_tick", pairs.b() * 1e6),
        ("sweep_ns_per_edge", pairs.b() * 1e9 / of.graph.slot_count() as f64),
    ];
    let swept = Run { correct, ..with(pairs.b_over_a(figure), beside) };
    Part { datasets: vec![set.told()], runs: vec![tick, swept], ..Part::default() }
}

/// A tick on a large graph over the same tick on a small one: the same outcomes, on a part that both have.
pub(crate) fn growth(small: &str, large: &str) -> Part {
    let sets = [small, large].map(|name| Set::named(name).expect("a set"));
    let [mut small, mut large] = sets.each_ref().map(Learner::new);
    for of in [&mut small, &mut large] {
        of.rounds(WARM);
    }
    let probe = Swap::new(1 << 20);
    let ticks = (MANY * small.outcomes.len()) as f64;
    let pairs = Pairs::of(|| probe.run(), || large.rounds(MANY) / ticks, || small.rounds(MANY) / ticks);
    let figure = run(Some("T8 growth"), "a tick, large over small", &sets[1].name, "");
    let beside = [
        ("us_per_tick", pairs.a() * 1e6),
        ("small_us_per_tick", pairs.b() * 1e6),
        ("records", small.work.records as f64 / small.work.ticks as f64),
        ("times_edges", large.graph.slot_count() as f64 / small.graph.slot_count() as f64),
    ];
    // Both did the same, tick by tick.
    let run = Run { correct: small.work == large.work, ..with(pairs.a_over_b(figure), beside) };
    Part { datasets: sets.iter().map(Set::told).collect(), runs: vec![run], ..Part::default() }
}
