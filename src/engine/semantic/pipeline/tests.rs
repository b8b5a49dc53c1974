//! D2 against a scan of all nodes by the definition, and the cases it is designed for.

use super::*;
use crate::graph::builder::{EdgeRow, GraphBuilder};
use crate::graph::columns::NodeRow;
use crate::graph::kinds::{EdgeDirection, NodeType};
use crate::seeds::labels::Labels;
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

/// A graph with its indexes.
struct World {
    graph: Graph,
    labels: Labels,
    index: Option<CoOccurrenceIndex>,
    synonyms: SynonymExpander,
}

impl World {
    /// Nodes by id and label, and which of them are joined.
    fn of<S: AsRef<str>>(nodes: &[(S, S)], edges: &[(S, S)]) -> Self {
        let mut builder = GraphBuilder::default();
        for (id, label) in nodes {
            builder.add_node(NodeRow::new(id.as_ref(), label.as_ref(), NodeType::Concept)).unwrap();
        }
        for (source, target) in edges {
            let (source, target) = (source.as_ref().to_owned(), target.as_ref().to_owned());
            let (relation, direction) = ("HALL".to_owned(), EdgeDirection::Bidirectional);
            let edge = EdgeRow { source, target, relation, weight: 0.5, direction, ..EdgeRow::default() };
            builder.add_edge(&edge).unwrap();
        }
        let graph = builder.finalize().unwrap();
        let (labels, index) = (Labels::build(&graph), CoOccurrenceIndex::build(&graph, 42));
        Self { graph, labels, index, synonyms: SynonymExpander::default() }
    }

    fn without_context(self) -> Self {
        Self { index: None, ..self }
    }

    fn node(&self, id: &str) -> NodeId {
        self.graph.find(id).unwrap()
    }

    fn query(&self, query: &str, top_k: usize) -> SemanticQuery<'_> {
        let (graph, ngrams, synonyms) = (&self.graph, self.labels.ngrams(), &self.synonyms);
        SemanticScorer { graph, ngrams, cooccurrence: self.index.as_ref(), synonyms }.query(query, 3 * top_k)
    }

    /// External ids, and bits of scores.
    fn ranked_ids(&self, query: &str, top_k: usize) -> Vec<(String, u32)> {
        let ranked = self.query(query, top_k).ranked().into_iter();
        ranked.map(|(node, score)| (self.graph.external_id(node).to_owned(), score.to_bits())).collect()
    }
}

#[track_caller]
fn near(got: f32, wanted: f64) {
    assert!((f64::from(got) - wanted).abs() < 1e-6, "{got} is not {wanted}");
}

/// Every node, for the query and for each of its expansions; similarities one by one.
fn naive(world: &World, query: &str, top_k: usize) -> Vec<(NodeId, f64)> {
    let ngrams = world.labels.ngrams();
    let expanded = world.synonyms.expand(query);
    let query = ngrams.query(query);
    let expansions: Vec<NgramQuery<'_>> = expanded.iter().map(|text| ngrams.query(text)).collect();
    let like = |query: &NgramQuery<'_>, node: NodeId| match f64::from(query.score(node.0)) {
        score if score > 0.01 => score,
        _ => 0.0,
    };
    let found = |node: NodeId| {
        let synonym = expansions.iter().map(|query| like(query, node)).fold(0.0, f64::max);
        (node, like(&query, node), synonym)
    };
    let mut all: Vec<(NodeId, f64, f64)> = world.graph.nodes().map(found).collect();
    all.retain(|(_, spelling, synonym)| spelling.max(*synonym) > 0.0);
    all.sort_by(|a, b| b.1.max(b.2).total_cmp(&a.1.max(a.2)).then(a.0.cmp(&b.0)));
    all.truncate(3 * top_k);
    let best = &all[..all.len().min(3)];
    let weights: f64 = best.iter().map(|(_, spelling, synonym)| spelling.max(*synonym)).sum();
    let score = |(node, spelling, synonym): &(NodeId, f64, f64)| {
        let (mut sum, mut shares) = (0.4 * spelling, 0.4);
        if let Some(index) = &world.index {
            let to_each = best.iter().map(|(other, spelling, synonym)| {
                spelling.max(*synonym) * f64::from(index.similarity(*node, *other))
            });
            sum += 0.4 * (to_each.sum::<f64>() / weights);
            shares += 0.4;
        }
        if !expansions.is_empty() {
            sum += 0.2 * synonym;
            shares += 0.2;
        }
        (*node, sum / shares)
    };
    all.iter().map(score).collect()
}

const WORDS: [&str; 12] = [
    "custo",
    "despesa",
    "error",
    "failure",
    "chat",
    "handler",
    "room",
    "função",
    "memória",
    "lembranca",
    "insumo",
    "matéria-prima",
];
const QUERIES: [&str; 7] =
    ["custo", "chat handler error", "materia prima", "memoria do custo", "função", "handler", "zebra"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn d2_pipeline(
        labels in prop::collection::vec((0..12_usize, 0..16_usize), 1..20),
        edges in prop::collection::vec((0..20_usize, 0..20_usize), 0..30),
        (query, top_k, context) in (0..7_usize, 1..6_usize, any::<bool>()),
    ) {
        let label = |(a, b): &(usize, usize)| {
            let words: Vec<&str> = [WORDS.get(*a), WORDS.get(*b)].into_iter().flatten().copied().collect();
            words.join(" ")
        };
        let id = |n: usize| format!("n{:02}", n % labels.len());
        let nodes: Vec<(String, String)> =
            labels.iter().enumerate().map(|(n, words)| (id(n), label(words))).collect();
        let edges: Vec<(String, String)> = edges.iter().map(|(a, b)| (id(*a), id(*b))).collect();
        let world = World::of(&nodes, &edges);
        let world = if context { world } else { world.without_context() };
        let meaning = world.query(QUERIES[query], top_k);
        let ranked = meaning.ranked();
        prop_assert!(ranked.len() <= 3 * top_k);
        let place = |(node, score): &(NodeId, f32)| (Reverse(score.to_bits()), world.graph.rank(*node));
        prop_assert!(ranked.is_sorted_by_key(place));
        let mut wanted = naive(&world, QUERIES[query], top_k);
        wanted.sort_by_key(|(node, _)| *node);
        let mut got = ranked;
        got.sort_by_key(|(node, _)| *node);
        prop_assert!(got.len() == wanted.len(), "{got:?} {wanted:?}");
        for ((node, score), (named, wanted)) in got.iter().zip(&wanted) {
            prop_assert_eq!(node, named);
            prop_assert!((f64::from(*score) - wanted).abs() < 1e-6, "{score} {wanted}");
            prop_assert!((0.0..=1.0).contains(score));
            prop_assert_eq!(meaning.score(*node).to_bits(), score.to_bits());
        }
    }
}

/// Pairs with owned parts.
fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

const NODES: [(&str, &str); 8] = [
    ("a", "error log"),
    ("b", "error log"),
    ("c", "failure report"),
    ("d", "log"),
    ("e", "server"),
    ("f", "panic room"),
    ("g", "error log"),
    ("h", "custo"),
];
const EDGES: [(&str, &str); 9] = [
    ("a", "e"),
    ("b", "e"),
    ("c", "e"),
    ("d", "f"),
    ("f", "g"),
    ("g", "h"),
    ("h", "d"),
    ("c", "d"),
    ("b", "b"),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn the_order_of_insertion_does_not_show(
        nodes in Just(owned(&NODES)).prop_shuffle(),
        edges in Just(owned(&EDGES)).prop_shuffle(),
    ) {
        let (first, shuffled) = (World::of(&NODES, &EDGES), World::of(&nodes, &edges));
        for top_k in [1, 2, 9] {
            let wanted = first.ranked_ids("error log", top_k);
            prop_assert!(wanted.len() >= 3);
            prop_assert_eq!(wanted, shuffled.ranked_ids("error log", top_k));
        }
    }
}

/// The numbers of the engine's worked example 4.10.
#[test]
fn worked_example() {
    near(d2(0.6, Some(0.3), None), 0.45);
}

#[test]
fn cooc_disabled_redistributes() {
    near(d2(0.6, None, None), 0.6);
    near(d2(0.6, None, Some(0.9)), 0.7);
    near(d2(0.0, Some(0.5), Some(0.25)), 0.25);
    let whole = [d2(1.0, Some(1.0), Some(1.0)), d2(1.0, None, Some(1.0))];
    assert_eq!(whole.map(f32::to_bits), [1.0_f32.to_bits(); 2]);
    let (with, without) = (World::of(&NODES, &[]), World::of(&NODES, &[]).without_context());
    // No nodes are joined: a context that is searched and empty counts; one that is disabled does not.
    let [query, unasked] = [&with, &without].map(|world| world.query("log", 5));
    for id in ["a", "d"] {
        let node = with.node(id);
        let spelling = f64::from(spelling_similarity(&query.query, node));
        assert!(spelling > 0.1);
        near(query.score(node), spelling / 2.0);
        near(unasked.score(node), spelling);
    }
}

#[test]
fn context_orders_nodes_of_equal_spelling() {
    let nodes = [("a", "chat room"), ("m", "chat handler"), ("s", "server"), ("z", "chat room")];
    let world = World::of(&nodes, &[("m", "s"), ("z", "s")]);
    let ranked = world.query("chat room", 5).ranked();
    assert_eq!(ranked.len(), 3);
    assert_eq!(ranked[0].0, world.node("z"));
    // Spelt like the query, and without any context: half of the maximum.
    let alone = ranked.iter().find(|(node, _)| *node == world.node("a")).unwrap();
    near(alone.1, 0.5);
    // A node of a different spelling is no candidate, but can be scored.
    assert!(world.query("chat room", 5).score(world.node("s")) < 0.5);
}

#[test]
fn a_match_by_synonym_alone_is_found() {
    let nodes = [("a", "despesa total"), ("b", "chat room"), ("c", "server")];
    let world = World::of(&nodes, &[("a", "c"), ("b", "c")]);
    let meaning = world.query("custo", 5);
    let node = world.node("a");
    assert_eq!(spelling_similarity(&meaning.query, node).to_bits(), 0);
    let ranked = meaning.ranked();
    assert_eq!(ranked.iter().map(|(node, _)| *node).collect::<Vec<_>>(), [node]);
    // It is the only match, so its context counts in full, 0.4; and of 0.2 it has its similarity to the other word.
    let synonym = f64::from(spelling_similarity(&world.labels.ngrams().query("despesa"), node));
    assert!(synonym > 0.3);
    near(ranked[0].1, 0.4 + 0.2 * synonym);
}

#[test]
fn nodes_of_one_label_all_appear() {
    let same = ["n1", "n2", "n3", "n4", "n5"].map(|id| (id, "room log"));
    let nodes: Vec<(&str, &str)> = [("n0", "chat")].into_iter().chain(same).collect();
    let world = World::of(&nodes, &[]);
    let told = world.ranked_ids("room log", 2);
    assert_eq!(told.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["n1", "n2", "n3", "n4", "n5"]);
    assert!(told.iter().all(|(_, score)| *score == told[0].1));
    // Where the list is cut, lower ids are kept.
    assert_eq!(world.ranked_ids("room log", 1), told[..3]);
}

#[test]
fn composed_and_decomposed_score_equal() {
    let composed = "fun\u{e7}\u{e3}o de custo";
    let decomposed: String = composed.nfd().collect();
    assert_ne!(composed, decomposed);
    let world = World::of(&[("a", composed), ("b", decomposed.as_str()), ("c", "despesa")], &[]);
    let told = world.ranked_ids(composed, 5);
    assert_eq!(told.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(told[0].1, told[1].1);
    assert_eq!(world.ranked_ids(&decomposed, 5), told);
}

#[test]
fn text_beyond_the_limit_is_not_expanded() {
    let world = World::of(&NODES, &[]);
    let long = format!("{} error", "x".repeat(TEXT_BYTES_MAX));
    assert!(world.query(&long, 5).expansions.is_empty());
    assert_eq!(world.query("ERROR", 5).expansions.len(), 3);
}

#[test]
fn without_evidence_there_is_no_list() {
    let world = World::of(&NODES, &EDGES);
    for (query, top_k) in [("zebra quantum", 5), ("", 5), ("error log", 0)] {
        let meaning = world.query(query, top_k);
        assert!(meaning.ranked().is_empty(), "{query}");
        assert!(meaning.score(world.node("c")) < 1.0);
    }
    assert!(World::of::<&str>(&[], &[]).query("error log", 5).ranked().is_empty());
}
