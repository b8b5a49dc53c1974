//! A recall from end to end, with every kind of evidence, beside one that is put together from textbooks.
//!
//! Both are asked for what some memory is called, with three seeds that were found elsewhere. Answers agree where nine of ten
//! hits are the same and each kind of evidence says nearly the same of them: the textbook's likeness of names is an `f64`,
//! and of equals among thousands of names one or the other comes first.

use crate::measure::{Pairs, run, seconds, with};
use crate::memories::{Memories, NOW, Question};
use crate::plain::{RECALL, plain};
use crate::probes::Gather;
use crate::record::{Part, Run};
use crate::reference::recall::{Hit, Library, Memory};
use crate::sets::{QUERIES, Set};
use ebb_engine::Flag;
use ebb_engine::graph::Graph;
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::kinds::Dimension;
use ebb_engine::recall::{RecallConfig, RecallQuery, RecallResult, recall};
use ebb_engine::scratch::Scratch;
use ebb_engine::text::stem::stem;
use std::collections::HashMap;
use std::hint::black_box;

/// Hits that a question wants.
const MOST: usize = 20;
/// Questions that the textbook answers too: it is slow.
const FEW: usize = 4;
/// The share of hits that both must have, and how far what is said of one may be apart.
const ALIKE: f64 = 0.9;
const NEAR: f32 = 1e-3;

/// The same memories as the textbook has them.
fn library(of: &Memories) -> Library {
    let (view, graph) = (&of.view, of.view.graph());
    let memory = |node: NodeId| {
        // The place by external id is the place in the set.
        let at = graph.rank(node) as usize;
        let age = graph.last_modified(node).map_or(0, |changed| NOW - changed);
        Memory {
            label: of.labels[at].clone(),
            content: of.contents[at].clone(),
            rank: graph.rank(node),
            standing: view.relative_pagerank(node),
            age: age as f64 / 3_600_000.0,
            frequency: graph.change_frequency(node),
        }
    };
    let memories = graph.nodes().map(memory).collect();
    let slots = || graph.nodes().flat_map(move |node| graph.slots(node).map(move |slot| (node, slot)));
    let causal = slots().map(|(_, slot)| graph.causal(slot)).collect();
    let mut seen_with: HashMap<u32, Vec<(u32, f32)>> = HashMap::new();
    for (node, slot) in slots().filter(|(_, slot)| graph.relation(*slot) == "COACTIVATED") {
        let (other, seen) = (graph.target(slot), -3.0 * (1.0 - f64::from(graph.base(slot))).max(0.0).log2());
        // Each half of a pair says how often it was seen, up to ten times; the greater counts for both.
        let times = (1..=10_u8).rev().find(|times| seen >= f64::from(*times) - 0.5);
        if let Some(times) = times.filter(|_| node != other) {
            let value = f32::from(times) / 10.0;
            seen_with.entry(node.0).or_default().push((other.0, value));
            seen_with.entry(other.0).or_default().push((node.0, value));
        }
    }
    Library::of((plain(graph), RECALL), memories, causal, seen_with, |word| stem(word).into_owned())
}

fn asked(graph: &Graph, (text, seeds): &Question) -> RecallQuery {
    let seeds = seeds.iter().map(|(node, score)| (graph.external_id(*node).to_owned(), *score)).collect();
    let dimensions = Dimension::ALL.into_iter().collect();
    RecallQuery {
        text: text.clone(),
        seeds,
        top_k: MOST,
        dimensions,
        now_ms: Some(NOW),
        ..RecallQuery::default()
    }
}

/// The share of the textbook's hits that an answer has, and whether all that is said of these is near.
fn alike(found: &RecallResult, wanted: &[Hit]) -> (f64, bool) {
    let both = found.hits.iter().filter_map(|hit| {
        let other = wanted.iter().find(|other| other.node == hit.node.0)?;
        let of = hit.dimensions;
        let said = [of.structural, of.semantic, of.temporal, of.causal];
        Some(said.iter().zip(other.dimensions).all(|(is, wanted)| (is - wanted).abs() <= NEAR))
    });
    let both: Vec<bool> = both.collect();
    let most = wanted.len().max(found.hits.len()).max(1);
    (both.len() as f64 / most as f64, both.iter().all(|near| *near))
}

/// The time of the textbook over ours, at as many memories as a set has nodes.
pub(crate) fn beside_textbooks(name: &str) -> Part {
    let set = Set::named(name).expect("a set");
    let of = Memories::of(&set);
    let (view, graph) = (&of.view, of.view.graph());
    let questions = of.questions(QUERIES);
    let asks: Vec<RecallQuery> = questions.iter().map(|question| asked(graph, question)).collect();
    let library = library(&of);
    let config = RecallConfig::default();
    let textbook = |(text, seeds): &Question| {
        let seeds: Vec<(u32, f32)> = seeds.iter().map(|(node, score)| (node.0, *score)).collect();
        library.recall(text, &seeds, MOST)
    };
    let mut scratch = Scratch::default();
    let mut answer = |ask: &RecallQuery| recall(view, ask, &config, &mut scratch).expect("an answer");
    let found: Vec<RecallResult> = asks.iter().map(&mut answer).collect();
    let compared = questions.iter().zip(&found).take(FEW).map(|(question, found)| {
        // A search for causes that was cut short is another search.
        let (share, near) = alike(found, &textbook(question));
        (share, near || found.flags.contains(Flag::CausalTruncated))
    });
    let compared: Vec<(f64, bool)> = compared.collect();
    let share = compared.iter().map(|(share, _)| share).sum::<f64>() / FEW as f64;
    let correct = share >= ALIKE && compared.iter().all(|(_, near)| *near);
    let mut times: Vec<f64> = asks.iter().map(|ask| seconds(|| answer(ask))).collect();
    times.sort_by(f64::total_cmp);
    let probe = Gather::new(4 * graph.node_count());
    let pairs = Pairs::of(
        || probe.run(),
        || seconds(|| asks.iter().take(FEW).for_each(|ask| drop(black_box(answer(ask))))) / FEW as f64,
        || {
            let few = questions.iter().take(FEW);
            seconds(|| few.for_each(|question| drop(black_box(textbook(question))))) / FEW as f64
        },
    );
    let sum =
        |count: fn(&RecallResult) -> u64| found.iter().map(count).sum::<u64>() as f64 / found.len() as f64;
    let beside = [
        ("us_per_recall", pairs.a() * 1e6),
        ("textbook_us_per_recall", pairs.b() * 1e6),
        ("p50_us", times[times.len() / 2] * 1e6),
        ("slowest_us", times[times.len() - 1] * 1e6),
        ("hits_in_common", share),
        ("touched_nodes", sum(|found| found.counters.nodes_touched)),
        ("edges_read", sum(|found| found.counters.slots_read)),
        ("postings_read", sum(|found| found.counters.postings_read)),
        ("view_mb", view.bytes().total() as f64 / 1e6),
        ("slots", graph.slot_count() as f64),
    ];
    let figure = run(None, "a textbook's recall over recall, all kinds of evidence", name, "");
    let run = Run { correct, ..with(pairs.b_over_a(figure), beside) };
    Part { datasets: vec![set.told()], runs: vec![run], ..Part::default() }
}
