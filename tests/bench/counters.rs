//! What work costs where nothing but the work decides: slots read, cells written, arrays allocated, postings read.
//!
//! Each count is held to `expected/counters.json`, and to what the targets say of it whatever stands there. Absolute bytes
//! hang on how the standard library grows a vector: a new compiler may move them.

use crate::allocations::{Allocated, counted};
use crate::reference::Trigrams;
use crate::sets::{self, Set, Shape};
use crate::{file, holds, updates};
use ebb_engine::activation::scratch::Scratch;
use ebb_engine::activation::{ActivatedNode, ActivationConfig, ActivationCounters, wavefront};
use ebb_engine::graph::Graph;
use ebb_engine::semantic::trigram::CharNgramIndex;
use ebb_engine::semantic::trigram::SCORE_MIN;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Counts by what was counted, and that by data set and class.
pub(crate) type Section = BTreeMap<String, BTreeMap<String, Value>>;

const EXPECTED: &str = "tests/bench/expected/counters.json";

pub(crate) fn counts<const N: usize>(of: [(&str, u64); N]) -> BTreeMap<String, Value> {
    of.into_iter().map(|(name, count)| (name.to_owned(), count.into())).collect()
}

/// Holds one section of the file to what was found.
#[track_caller]
pub(crate) fn expect(section: &str, found: Section) {
    // Tests run side by side, and all write one file.
    static FILE: Mutex<()> = Mutex::new(());
    let _alone = FILE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let text = std::fs::read_to_string(file(EXPECTED)).unwrap_or_else(|_| "{}".to_owned());
    let mut all: BTreeMap<String, Section> = serde_json::from_str(&text).expect("counters");
    let held = all.insert(section.to_owned(), found.clone()).unwrap_or_default();
    let moved = moved(&held, &found);
    if updates() {
        moved.iter().for_each(|line| println!("{section}: {line}"));
        holds(EXPECTED, &(serde_json::to_string_pretty(&all).expect("JSON") + "\n"));
    }
    assert!(
        updates() || moved.is_empty(),
        "{section}\n  {}\nWhat is meant is committed: EBB_UPDATE=1 cargo test --test gates\n",
        moved.join("\n  ")
    );
}

/// What is not as it was.
fn moved(held: &Section, found: &Section) -> Vec<String> {
    let flat = |section: &Section| -> BTreeMap<String, Value> {
        let each = section.iter().flat_map(|(of, counts)| {
            counts.iter().map(move |(name, count)| (format!("{of}: {name}"), count.clone()))
        });
        each.collect()
    };
    let (held, found) = (flat(held), flat(found));
    let gone = held.keys().filter(|key| !found.contains_key(*key)).map(|key| format!("{key} is gone"));
    let other = found.iter().filter_map(|(key, now)| {
        let Some(before) = held.get(key) else { return Some(format!("{key} is new: {now}")) };
        let how = match (before.as_u64(), now.as_u64()) {
            _ if before == now => return None,
            (Some(before), Some(now)) if now > before => "ROSE",
            (Some(_), Some(_)) => "fell",
            _ => "is another",
        };
        Some(format!("{key} {how}: {before} -> {now}"))
    });
    gone.chain(other).collect()
}

/// The work of all queries of a mix, T4 held for each.
pub(crate) fn spread(set: &Set, graph: &Graph, params: &ActivationConfig) -> ActivationCounters {
    let (mut scratch, mut sum) = (Scratch::default(), ActivationCounters::default());
    for query in set.queries(graph) {
        let found = wavefront::activate(graph, &query, params, usize::MAX, &mut scratch);
        let work = found.counters;
        assert!(2 * work.slots_read <= 3 * work.useful_slots + 2 * work.rows, "T4 on {}: {work:?}", set.name);
        assert!(work.touched >= found.nodes.len() as u64);
        assert!(
            graph.has_inhibition() || work.touched == found.nodes.len() as u64,
            "each touched node is reset once"
        );
        sum.slots_read += work.slots_read;
        sum.useful_slots += work.useful_slots;
        sum.rows += work.rows;
        sum.touched += work.touched;
    }
    sum
}

pub(crate) fn named(work: ActivationCounters) -> BTreeMap<String, Value> {
    counts([
        ("edges_read", work.slots_read),
        ("useful_edges", work.useful_slots),
        ("rows_touched", work.rows),
        ("cells_reset", work.touched),
    ])
}

pub(crate) fn set(name: &str) -> Set {
    Set::named(name).unwrap_or_else(|| panic!("there is no set {name}"))
}

/// What queries of every class cost on a set, at these shares of edges that hold back.
fn activation(sets: &[(&str, &[u8])]) -> Section {
    let mut found = Section::new();
    for (name, shares) in sets {
        let set = set(name);
        for share in *shares {
            for (class, scale) in Shape::CLASSES {
                let inhibitory = f32::from(*share) / 100.0;
                let graph = set.graph(Shape { scale, inhibitory, ..Shape::PLAIN });
                let of = format!("{name} {share:02} % {class}");
                found.insert(of, named(spread(&set, &graph, &ActivationConfig::REFERENCE)));
                if scale >= 1.0 {
                    let of = format!("{name} {share:02} % recall");
                    found.insert(of, named(spread(&set, &graph, &ActivationConfig::RECALL)));
                }
            }
        }
    }
    found
}

#[test]
fn activation_on_few_nodes_with_many_neighbours() {
    expect("activation, rmat-s12", activation(&[("rmat-s12", &[0, 10, 50])]));
}

#[test]
fn activation_on_four_times_as_many() {
    expect("activation, rmat-s14", activation(&[("rmat-s14", &[0, 10, 50])]));
}

#[test]
fn activation_on_other_shapes() {
    let sets: [(&str, &[u8]); 5] = [
        ("uniform-s12", &[0, 10, 50]),
        ("hub-star", &[0]),
        ("chain", &[0]),
        ("grid-s12", &[0]),
        ("code-1k", &[0]),
    ];
    expect("activation, other shapes", activation(&sets));
}

#[test]
fn an_island_costs_the_same_beside_any_sea() {
    let of = |name: &str| {
        let own = activation(&[(name, &[10])]);
        own.into_iter().map(|(of, counts)| (of[name.len()..].to_owned(), counts)).collect::<Section>()
    };
    let alone = of("island-1x");
    assert_eq!(of("island-4x"), alone);
    assert_eq!(of("island-16x"), alone);
    expect("activation, island", alone);
}

#[test]
fn a_warm_query_allocates_its_answer_and_nothing_else() {
    let set = set("rmat-s12");
    for inhibitory in [0.0, 0.1] {
        let graph = set.graph(Shape { inhibitory, ..Shape::PLAIN });
        for params in [ActivationConfig::REFERENCE, ActivationConfig::RECALL] {
            for most in [20, usize::MAX] {
                let mut scratch = Scratch::default();
                let queries = set.queries(&graph);
                for query in &queries {
                    drop(wavefront::activate(&graph, query, &params, most, &mut scratch));
                }
                for query in &queries {
                    let work = || wavefront::activate(&graph, query, &params, most, &mut scratch);
                    let (found, allocated) = counted(usize::MAX, work);
                    let answer = (found.nodes.len() * size_of::<ActivatedNode>()) as u64;
                    assert_eq!((allocated.allocations, allocated.bytes), (1, answer), "{params:?} {most}");
                }
            }
        }
    }
}

/// Most arrays that a batch of many edges takes beyond those of a batch of one.
const REWRITTEN_ARRAYS: u64 = 4;

/// What building a set allocates beyond its staged nodes and the columns of the graph.
fn built(set: &Set) -> (Graph, Allocated) {
    let mut builder = set.nodes_staged();
    let (graph, allocated) = counted(set.edges.len(), || {
        set.connect(&mut builder, Shape::PLAIN);
        builder.finalize().expect("a graph")
    });
    let peak = allocated.peak - graph.column_bytes() as u64;
    (graph, Allocated { peak, ..allocated })
}

#[test]
fn a_graph_and_the_next_one_take_their_arrays_and_nothing_else() {
    let mut found = Section::new();
    for name in ["rmat-s12", "rmat-s14", "uniform-s14"] {
        let set = set(name);
        let (graph, build) = built(&set);
        let apply = |count: usize| {
            let batch = set.batch(count);
            let (next, allocated) =
                counted(graph.slot_count(), || graph.apply(&batch).expect("the next graph"));
            let peak = graph.slot_bytes() as u64 + allocated.peak - next.column_bytes() as u64;
            (next.slot_count(), Allocated { peak, ..allocated })
        };
        let ((_, one), (slots, many)) = (apply(1), apply(graph.slot_count() / 100));
        // The slots of rewritten rows are listed once more, and the list grows.
        let more = many.arrays - one.arrays;
        assert!(more <= REWRITTEN_ARRAYS, "{more} more arrays for a batch of many edges");
        let own = counts([
            ("slots", graph.slot_count() as u64),
            ("slot_bytes", graph.slot_bytes() as u64),
            ("build: arrays", build.arrays),
            ("build: peak_bytes", build.peak),
            ("apply: slots", slots as u64),
            ("apply: arrays", many.arrays),
            ("apply: array_bytes", many.array_bytes),
            ("apply: peak_bytes", many.peak),
        ]);
        found.insert(name.to_owned(), own);
        if name == "uniform-s14" {
            // T12, at 16 slots a node.
            let slots = graph.slot_count() as u64;
            let most = build.peak.max(many.peak);
            assert!(
                graph.slot_bytes() as u64 <= 24 * slots,
                "{} bytes for {slots} slots",
                graph.slot_bytes()
            );
            assert!(most <= 52 * slots, "{most} bytes at most for {slots} slots");
        }
    }
    expect("graph", found);
}

#[test]
fn a_look_up_reads_few_of_its_postings_and_finds_what_reading_all_finds() {
    let labels = sets::labels(20_000);
    let index = CharNgramIndex::build(labels.iter().map(String::as_str));
    let textbook = Trigrams::build(&labels);
    let (mut read, mut all) = (0, 0);
    for cue in sets::cues(&labels) {
        let found = index.query(&cue).search(SCORE_MIN, 10);
        let (wanted, postings) = textbook.like(&cue, 10);
        (read, all) = (read + found.postings_read, all + postings);
        assert_eq!(found.matches.len(), wanted.len());
        for (like, (_, score)) in found.matches.iter().zip(&wanted) {
            assert!((f64::from(like.score) - score).abs() < 1e-5, "{cue}: {} for {score}", like.score);
        }
    }
    // T16.
    assert!(10 * read <= 3 * all, "{read} of {all} postings");
    let own = counts([("postings_read", read), ("postings", all), ("bytes", index.bytes() as u64)]);
    expect("trigram", [("labels-20k".to_owned(), own)].into());
}

#[test]
fn sets_are_the_same_everywhere() {
    let names =
        ["rmat-s12", "rmat-s14", "uniform-s12", "uniform-s14", "grid-s12", "code-1k", "hub-star", "chain"];
    let mut found = Section::new();
    for name in names.into_iter().chain(["island-1x", "island-4x", "island-16x"]) {
        let set = set(name);
        let mut own =
            counts([("nodes", set.nodes.into()), ("edges", set.edges.len() as u64), ("seed", set.seed)]);
        own.insert("checksum".to_owned(), set.checksum().into());
        found.insert(name.to_owned(), own);
    }
    expect("sets", found);
}

#[test]
fn what_moved_is_told_by_which_way() {
    let of = |counts: [(&str, u64); 2]| -> Section { [("a".to_owned(), self::counts(counts))].into() };
    let told = moved(&of([("x", 1), ("y", 2)]), &of([("x", 2), ("z", 0)]));
    assert_eq!(told, ["a: y is gone", "a: x ROSE: 1 -> 2", "a: z is new: 0"]);
    assert!(moved(&of([("x", 1), ("y", 2)]), &of([("x", 1), ("y", 1)]))[0].contains("fell"));
}
