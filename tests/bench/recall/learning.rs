//! Learning on one half of the questions: what it does to these, and to those that nobody taught.
//!
//! The even questions are asked in turn. What of an answer was of use becomes one outcome, by the ways that the answer gave,
//! with reward 1: one tick. After each round the weights of the graph follow, as those of a mirror do at its next look.

use crate::quality::{Row, config, report, whole};
use crate::set::view;
use ebb_core::service::evaluation::Question;
use ebb_core::service::events::in_memory::ScopeEvents;
use ebb_engine::View;
use ebb_engine::graph::Graph;
use ebb_engine::graph::index::NodeId;
use ebb_engine::plasticity::{PlasticityConfig, Synapses};
use ebb_engine::recall::{Hit, RecallQuery, recall};
use ebb_engine::scratch::Scratch;

/// Outcomes in all.
const TICKS: u64 = 1_000;

/// What of an answer is told to have been of use.
#[derive(Clone, Copy, PartialEq)]
enum Used {
    /// Hits that are gold.
    Gold,
    /// All hits, as learn mode always has it.
    All,
}

/// The questions asked before anything was learned, and after each way to learn, as rows.
pub(crate) fn rows(events: &ScopeEvents, questions: &[Question]) -> Vec<Row> {
    let ways =
        [(Used::Gold, "taught by outcomes on even ones"), (Used::All, "taught by every hit of even ones")];
    let learned = |(used, name): (Used, &str)| {
        // Weights are those of the graph, so each way has a graph of its own.
        let view = view(events);
        let (ticks, records) = teach(&view, questions, used);
        println!("{name}: {ticks} outcomes, {records} relationships that learned something");
        report(name, &view, questions, &whole(), &config())
    };
    ways.map(learned).into()
}

/// Lets the even questions teach; answers how many outcomes there were, and how many slots know something then.
fn teach(view: &View, questions: &[Question], used: Used) -> (u64, usize) {
    let (graph, config, mut scratch) = (view.graph(), config(), Scratch::default());
    let rules = PlasticityConfig::default();
    let mut synapses = Synapses::bind(graph, rules, 0, []).expect("nothing is learned yet");
    while synapses.ticks() < TICKS {
        let before = synapses.ticks();
        for question in questions.iter().step_by(2) {
            let ask = RecallQuery { text: question.text.clone(), ..whole() };
            let found = recall(view, &ask, &config, &mut scratch).expect("an answer");
            let active =
                walked(graph, &found.hits, |hit| used == Used::All || question.gold.contains(&hit.id));
            if !active.is_empty() && synapses.ticks() < TICKS {
                synapses.tick(graph, &active).expect("nodes of this graph");
            }
        }
        synapses.write_weights(graph).expect("there is one writer");
        if synapses.ticks() == before {
            break;
        }
    }
    (synapses.ticks(), synapses.len())
}

/// The nodes that an outcome is about: those of the ways to the hits that were of use, and hits to which no way was told.
fn walked(graph: &Graph, hits: &[Hit], of_use: impl Fn(&Hit) -> bool) -> Vec<(NodeId, f32)> {
    let nodes = hits.iter().filter(|hit| of_use(hit)).flat_map(|hit| {
        let seed = hit.route.as_ref().map(|route| route.path.seed);
        let slots = hit.route.iter().flat_map(|route| &route.path.slots);
        seed.into_iter().chain(slots.map(|slot| graph.target(*slot))).chain([hit.node])
    });
    nodes.map(|node| (node, 1.0)).collect()
}

/// Prints what either half finds before and after.
pub(crate) fn table(before: &Row, after: &[Row]) {
    println!("\n| | half | R@2 | R@5 | R@10 | R@20 |\n|---|---|---|---|---|---|");
    for row in std::iter::once(before).chain(after) {
        for (half, shares) in ["even, which teach", "odd, which do not"].iter().zip(&row.shares[1..]) {
            let told: Vec<String> = shares.iter().map(|share| format!("{share:.1}")).collect();
            println!("| {} | {half} | {} |", row.name, told.join(" | "));
        }
    }
}
