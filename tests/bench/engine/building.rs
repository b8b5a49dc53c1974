//! Building a graph and applying a change of one in a hundred: how fast, and in how much memory.
//!
//! What is timed is from staged rows to a finished graph, and from a batch of texts to the next one.

use crate::allocations::counted;
use crate::measure::{self, run, seconds, with};
use crate::record::{Part, Run};
use crate::sets::{Set, Shape};

/// How often each is done.
const ROUNDS: usize = 5;

fn middle(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Rates and bytes; the ratio to a peer is another program's.
pub(crate) fn build(name: &str) -> Part {
    let set = Set::named(name).expect("a set");
    let mut builder = set.nodes_staged();
    let (graph, built) = counted(set.edges.len(), || {
        set.connect(&mut builder, Shape::PLAIN);
        builder.finalize().expect("a graph")
    });
    let slots = graph.slot_count() as f64;
    let build = (0..ROUNDS).map(|_| {
        let builder = set.builder(Shape::PLAIN);
        seconds(|| builder.finalize().expect("a graph"))
    });
    let build = middle(build.collect());
    let batch = set.batch(graph.slot_count() / 100);
    let (next, applied) = counted(graph.slot_count(), || graph.apply(&batch).expect("the next graph"));
    let apply = (0..ROUNDS).map(|_| seconds(|| graph.apply(&batch).expect("the next graph")));
    let apply = middle(apply.collect()) / next.slot_count() as f64;
    let rates = [
        ("build_m_edges_per_s", set.edges.len() as f64 / build / 1e6),
        ("apply_m_slots_per_s", 1e-6 / apply),
        ("column_bytes_per_node", graph.column_bytes() as f64 / graph.node_count() as f64),
    ];
    let resident = graph.slot_bytes() as f64 / slots;
    let building = (built.peak - graph.column_bytes() as u64) as f64 / slots;
    let applying = (graph.slot_bytes() as u64 + applied.peak - next.column_bytes() as u64) as f64 / slots;
    let bytes = |target, what, value| measure::counted(Some(target), what, name, value);
    let runs: Vec<Run> = vec![
        with(run(None, "build and apply", name, ""), rates),
        bytes("T12 resident", "bytes a slot, columns and strings apart", resident),
        bytes("T12 peak", "bytes a slot while it is built", building),
        bytes("T12 peak", "bytes a slot of both while one follows the other", applying),
    ];
    Part { datasets: vec![set.told()], runs, ..Part::default() }
}
