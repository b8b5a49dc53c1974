//! BM25 against the formula, over memories that are added, changed and removed.

use super::segment::{Posting, Segment};
use super::*;
use crate::graph::builder::GraphBuilder;
use crate::graph::columns::NodeRow;
use crate::graph::kinds::NodeType;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

fn graph<'a>(ids: impl IntoIterator<Item = &'a str>) -> Graph {
    let mut builder = GraphBuilder::default();
    for id in ids {
        builder.add_node(NodeRow::new(id, id, NodeType::MEMORY)).unwrap();
    }
    builder.finalize().unwrap()
}

fn said(text: &str) -> Vec<String> {
    words(&fold(text)).filter(|word| !is_stop(word)).map(|word| stem(word).into_owned()).collect()
}

/// By the definition: every memory of the graph, every word of the query.
fn oracle(memories: &BTreeMap<&str, &str>, query: &str) -> Vec<(String, f64)> {
    let texts: BTreeMap<&str, Vec<String>> = memories.iter().map(|(id, text)| (*id, said(text))).collect();
    let count = texts.len() as f64;
    let mean = texts.values().map(|words| words.len() as f64).sum::<f64>() / count.max(1.0);
    let mut scores = Vec::new();
    for (id, text) in &texts {
        let mut score = 0.0;
        for word in said(query).into_iter().collect::<BTreeSet<_>>() {
            let df = texts.values().filter(|text| text.contains(&word)).count() as f64;
            let tf = text.iter().filter(|other| **other == word).count() as f64;
            let idf = (1.0 + (count - df + 0.5) / (df + 0.5)).ln();
            score += idf * tf * 1.9 / (tf + 0.9 * (0.6 + 0.4 * text.len() as f64 / mean.max(1e-9)));
        }
        if score > 0.0 {
            scores.push(((*id).to_owned(), score));
        }
    }
    scores
}

fn answer(index: &TextIndex, graph: &Graph, query: &str) -> Vec<(String, u32)> {
    let ranked = index.rank((graph, &index.documents(graph)), query, usize::MAX, |_| true).ranked;
    assert!(ranked.is_sorted_by_key(|one| (Reverse(one.score.to_bits()), graph.rank(one.node))));
    ranked.iter().map(|one| (graph.external_id(one.node).to_owned(), one.score.to_bits())).collect()
}

#[derive(Debug, Clone)]
enum Step {
    Add(Vec<(u8, String)>),
    Remove(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop::collection::vec((0_u8..12, "[a-dÉ]{1,2}( [a-d]{1,2}){0,5}( the)?|"), 0..6).prop_map(Step::Add),
        1 => (0_u8..12).prop_map(Step::Remove),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn bm25_oracle(steps in prop::collection::vec(step(), 0..10), gone in 0_u8..12, query in "[a-dé]{1,2}( [a-d]{1,2}){0,4} the") {
        let mut index = TextIndex::default();
        let mut memories: BTreeMap<String, String> = BTreeMap::new();
        for step in &steps {
            match step {
                Step::Add(batch) => {
                    let named: Vec<(String, &String)> = batch.iter().map(|(id, text)| (format!("m{id}"), text)).collect();
                    index.add(named.iter().map(|(id, text)| (id.as_str(), text.as_str()))).unwrap();
                    memories.extend(named.into_iter().map(|(id, text)| (id, text.clone())));
                }
                Step::Remove(id) => {
                    index.remove(&format!("m{id}"));
                    memories.remove(&format!("m{id}"));
                }
            }
        }
        // One memory is only in the index, another only in the graph.
        memories.remove(&format!("m{gone}"));
        let held: BTreeMap<&str, &str> = memories.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
        let graph = graph(held.keys().copied().chain(["without a text"]));
        let got = answer(&index, &graph, &query);
        let wanted: BTreeMap<String, f64> = oracle(&held, &query).into_iter().collect();
        prop_assert_eq!(got.len(), wanted.len());
        for (id, score) in &got {
            let score = f64::from(f32::from_bits(*score));
            prop_assert!((score - wanted[id]).abs() < 1e-5 * score.max(1.0), "{} {} {}", id, score, wanted[id]);
        }
        // An index that grew and one built at once are equal to the bit.
        let mut rebuilt = TextIndex::default();
        rebuilt.add(held.iter().rev().map(|(id, text)| (*id, *text))).unwrap();
        prop_assert_eq!(&answer(&rebuilt, &graph, &query), &got);
        // A shorter list is the beginning of the full one.
        let documents = index.documents(&graph);
        let few = index.rank((&graph, &documents), &query, 3, |_| true).ranked;
        let first: Vec<u32> = got.iter().take(3).map(|(_, score)| *score).collect();
        prop_assert_eq!(few.iter().map(|one| one.score.to_bits()).collect::<Vec<_>>(), first);
        // Which words a memory has is what its text says.
        let nodes: Vec<NodeId> = graph.nodes().collect();
        let words: Vec<String> = said(&query).into_iter().collect();
        let hashes: Vec<u64> = words.iter().map(|word| hash(word)).collect();
        for (node, bits) in nodes.iter().zip(index.words_of(&documents, &hashes, &nodes)) {
            let text = held.get(graph.external_id(*node)).copied().unwrap_or_default();
            let wanted = words.iter().zip(0..).fold(0, |all, (word, bit)| all | u64::from(said(text).contains(word)) << bit);
            prop_assert_eq!(bits, wanted);
        }
        // A name is in as many memories as its rarest word; one of stop words is in all.
        let with = |word: &String| held.values().filter(|text| said(text).contains(word)).count();
        let spread = said(&query).iter().map(with).min().unwrap_or(held.len()).max(1);
        prop_assert_eq!(index.spread(&documents, &fold(&query)) as usize, spread);
        prop_assert_eq!(index.spread(&documents, "the") as usize, held.len().max(1));
        // Memories that do not pass the filter displace no others, but count in document frequencies.
        let passes = |id: &str| id.ends_with(['1', '3', '5', '7', '9']);
        let odd = index.rank((&graph, &documents), &query, 2, |node| passes(graph.external_id(node))).passing;
        let odd: Vec<(&str, u32)> = odd.iter().map(|one| (graph.external_id(one.node), one.score.to_bits())).collect();
        let wanted = got.iter().map(|(id, score)| (id.as_str(), *score)).filter(|(id, _)| passes(id));
        prop_assert_eq!(odd, wanted.take(2).collect::<Vec<_>>());
    }
}

#[test]
fn adding_an_unchanged_memory_again_costs_nothing() {
    let mut index = TextIndex::default();
    index.add([("a", "the quick fox"), ("b", "a lazy dog")]).unwrap();
    let before = (index.bytes(), index.contents.len());
    index.add([("b", "a lazy dog"), ("a", "the quick fox")]).unwrap();
    assert_eq!((index.bytes(), index.contents.len()), before);
    index.add([("a", "a lazy cat")]).unwrap();
    let graph = graph(["a", "b"]);
    assert!(answer(&index, &graph, "fox").is_empty());
    assert_eq!(answer(&index, &graph, "lazy").len(), 2);
}

/// A memory of few common words and rare ones, of any length: many are equal.
fn spoken() -> impl Strategy<Value = String> {
    let word = prop_oneof![6 => "[ab]", 3 => "[c-f]", 1 => "[g-z]{2}"];
    prop_oneof![
        2 => Just("a b".to_owned()),
        5 => prop::collection::vec(word, 1..24).prop_map(|words| words.join(" ")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn pruning_changes_no_result(
        texts in prop::collection::vec(spoken(), 1..1_500),
        query in prop_oneof![
            3 => "[a-f]( [a-f]){0,4}( [g-z]{2}){0,3}",
            1 => "[a-f]( [a-f]){2,5}( [g-z]{2}){40,60}",
        ],
        (most, share, gone) in (prop_oneof![1_usize..4, 20_usize..60], 1_usize..9, 2_usize..50),
    ) {
        let ids: Vec<String> = (0..texts.len()).map(|n| format!("{:04}", n * 7_919 % 9_973)).collect();
        let mut index = TextIndex::default();
        for batch in ids.iter().zip(&texts).collect::<Vec<_>>().chunks(400) {
            index.add(batch.iter().map(|(id, text)| (id.as_str(), text.as_str()))).unwrap();
        }
        let graph = graph(ids.iter().enumerate().filter(|(n, _)| n % gone > 0).map(|(_, id)| id.as_str()));
        let documents = index.documents(&graph);
        let passes = |node: NodeId| graph.external_id(node).bytes().map(usize::from).sum::<usize>() % 9 < share;
        // Without a worst score that is kept nothing is excluded.
        let whole = index.rank((&graph, &documents), &query, usize::MAX, passes);
        let few = index.rank((&graph, &documents), &query, most, passes);
        prop_assert_eq!(&few.ranked[..], &whole.ranked[..most.min(whole.ranked.len())]);
        prop_assert_eq!(&few.passing[..], &whole.passing[..most.min(whole.passing.len())]);
        let kept = whole.ranked.iter().copied().filter(|one| passes(one.node)).collect::<Vec<_>>();
        prop_assert_eq!(whole.passing, kept);
    }
}

#[test]
fn postings_that_do_not_ascend_are_not_sound() {
    let posting = |number| Posting { number, count: 1, length: 2 };
    let is_sound = |numbers: [u32; 2]| {
        Segment::of(&numbers.map(|number| (7, posting(number)))).finished().is_sound(|_| true)
    };
    assert_eq!([[3, 5], [5, 3], [3, 3]].map(is_sound), [true, false, false]);
}

#[test]
fn common_words_are_hardly_read_beside_rare_ones() {
    let text = |n: usize| match n % 100 {
        0 => format!("common rare {}", "other ".repeat(n % 7)),
        _ => format!("common {}", "other ".repeat(n % 11)),
    };
    let texts: Vec<(String, String)> = (0..20_000).map(|n| (format!("m{n:05}"), text(n))).collect();
    let mut index = TextIndex::default();
    index.add(texts.iter().map(|(id, text)| (id.as_str(), text.as_str()))).unwrap();
    assert!(index.is_sound());
    let graph = graph(texts.iter().map(|(id, _)| id.as_str()));
    let documents = index.documents(&graph);
    let read = |most| index.rank((&graph, &documents), "common rare", most, |_| true).postings_read;
    assert_eq!(read(usize::MAX), 20_200, "each posting once");
    assert!(read(20) < 4_000, "{}", read(20));
}

#[test]
fn an_earlier_index_finds_no_later_memory() {
    let mut index = TextIndex::default();
    index.add([("a", "fox")]).unwrap();
    let (graph, earlier) = (graph(["a", "b"]), index.clone());
    index.add([("b", "fox")]).unwrap();
    assert_eq!([answer(&earlier, &graph, "fox").len(), answer(&index, &graph, "fox").len()], [1, 2]);
}

#[test]
fn a_copy_shares_all_postings_and_grows_on_its_own() {
    let mut index = TextIndex::default();
    index.add([("a", "the quick fox jumps"), ("b", "a lazy dog sleeps and sleeps")]).unwrap();
    let mut copy = index.clone();
    assert!(index.segments.iter().zip(&copy.segments).all(|(a, b)| Arc::ptr_eq(a, b)));
    copy.add([("c", "fox")]).unwrap();
    let graph = graph(["a", "b", "c"]);
    assert_eq!([answer(&index, &graph, "fox").len(), answer(&copy, &graph, "fox").len()], [1, 2]);
}

#[test]
fn many_small_additions_leave_few_segments() {
    let mut index = TextIndex::default();
    for n in 0..500 {
        let (id, text) = (format!("m{n}"), format!("word{} word{}", n % 50, n % 7));
        index.add([(id.as_str(), text.as_str())]).unwrap();
    }
    assert!(index.segments.len() <= 10, "{}", index.segments.len());
    assert!(index.segments.iter().is_sorted_by(|a, b| a.len() >= 2 * b.len()));
    let postings: usize = index.segments.iter().map(|segment| segment.len()).sum();
    let graph = graph((0..500).map(|n| format!("m{n}")).collect::<Vec<_>>().iter().map(String::as_str));
    assert_eq!(answer(&index, &graph, "word0 word1 word2 word3 word4 word5 word6").len(), 500);
    assert!(postings <= 1_000);
}
