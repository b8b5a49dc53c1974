//! Communities beside Louvain's method over hash maps, and on a larger graph.

use crate::agreement;
use crate::measure::{Pairs, run, seconds, with};
use crate::plain::plain;
use crate::probes::Push;
use crate::record::{Part, Run};
use crate::reference::grouping;
use crate::sets::{Set, Shape};
use ebb_engine::communities::{Partition, communities};
use ebb_engine::graph::Graph;
use ebb_engine::graph::number::PosF32;

fn grouped(graph: &Graph) -> Partition {
    communities(graph, PosF32::new(1.0).expect("a resolution"))
}

/// How many times faster than the textbook. Both begin with directed slots. The modularity of either partition is worked out
/// by the textbook, and a second run must answer the same.
pub(crate) fn beside_textbook(name: &str) -> Part {
    let set = Set::named(name).expect("a set");
    let graph = set.graph(Shape::PLAIN);
    let plain = plain(&graph);
    let (ours, again) = (grouped(&graph), grouped(&graph));
    let (q, reference, agrees) = agreement::grouped(&plain, &ours, &grouping::communities(&plain));
    let correct = ours == again && agrees;
    let edges = graph.slot_count() as f64;
    let mut push = Push::new(graph.node_count(), graph.slot_count());
    let pairs = Pairs::of(
        || push.run(),
        || seconds(|| grouped(&graph)) / edges,
        || seconds(|| grouping::communities(&plain)) / edges,
    );
    let figure = run(None, "a textbook's hash maps over communities", name, "");
    let beside = [
        ("m_edges_per_s", 1e-6 / pairs.a()),
        ("textbook_m_edges_per_s", 1e-6 / pairs.b()),
        ("modularity", q),
        ("textbook_modularity", reference),
        ("communities", ours.count as f64),
        ("levels", f64::from(ours.levels)),
    ];
    let run = Run { correct, ..with(pairs.b_over_a(figure), beside) };
    Part { datasets: vec![set.told()], runs: vec![run], ..Part::default() }
}

/// An edge on a large graph over one on a small graph.
pub(crate) fn growth(small: &str, large: &str) -> Part {
    let sets = [small, large].map(|name| Set::named(name).expect("a set"));
    let graphs = sets.each_ref().map(|set| set.graph(Shape::PLAIN));
    let each = |at: usize| {
        let graph = &graphs[at];
        move || seconds(|| grouped(graph)) / graph.slot_count() as f64
    };
    let mut push = Push::new(graphs[0].node_count(), graphs[0].slot_count());
    let pairs = Pairs::of(|| push.run(), each(1), each(0));
    let figure = run(None, "communities, large over small, an edge", large, "");
    let beside = [("m_edges_per_s", 1e-6 / pairs.a()), ("small_m_edges_per_s", 1e-6 / pairs.b())];
    let runs = vec![with(pairs.a_over_b(figure), beside)];
    Part { datasets: sets.iter().map(Set::told).collect(), runs, ..Part::default() }
}
