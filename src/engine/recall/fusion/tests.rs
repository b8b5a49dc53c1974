//! What each part of the fused score does, on dialogues of a few turns.

use crate::graph::builder::{EdgeRow, GraphBuilder};
use crate::graph::columns::NodeRow;
use crate::graph::kinds::{EdgeDirection, NodeType};
use crate::graph::snapshot::{SkippedCounts, Snapshot};
use crate::recall::{Filter, FusionWeights, RecallConfig, RecallQuery, RecallResult, between, recall};
use crate::scratch::Scratch;
use crate::text::ranking::{Content, TextIndex};
use crate::vectors::VectorIndex;
use crate::{Texts, View};
use std::sync::Arc;

/// Id, text, minute.
type Turn = (&'static str, &'static str, i64);

/// One session of turns, with mentions of entities by turns, and vectors of turns.
fn talk(turns: &[Turn], mentions: &[(&str, &str)], vectors: &[(&str, [f32; 2])]) -> View {
    let mut builder = GraphBuilder::default();
    for (id, text, _) in turns {
        builder.add_node(NodeRow::new(*id, *text, NodeType::MEMORY)).unwrap();
    }
    let mut named: Vec<&str> = mentions.iter().map(|(_, name)| *name).collect();
    named.sort_unstable();
    named.dedup();
    named
        .iter()
        .for_each(|name| _ = builder.add_node(NodeRow::new(*name, *name, NodeType::Concept)).unwrap());
    for (source, target) in mentions {
        let edge = EdgeRow {
            source: (*source).to_owned(),
            target: (*target).to_owned(),
            relation: "MENTIONS".to_owned(),
            weight: 0.5,
            direction: EdgeDirection::Bidirectional,
            ..EdgeRow::default()
        };
        builder.add_edge(&edge).unwrap();
    }
    let mut index = TextIndex::default();
    let content =
        |(id, text, minute): &Turn| Content { id, text, session: Some("s"), at: Some(60_000 * minute) };
    index.add(turns.iter().map(content)).unwrap();
    let mut space = VectorIndex::new(2).unwrap();
    space.add(vectors.iter().map(|(id, vector)| (*id, vector.as_slice()))).unwrap();
    let graph = builder.finalize().unwrap();
    let snapshot = Snapshot { graph, as_of: Some(0), skipped: SkippedCounts::default() };
    let texts = Texts { index: Arc::new(index), vectors: Some(Arc::new(space)), ..Texts::default() };
    View::new(snapshot, texts, [])
}

fn asked(view: &View, text: &str, vector: Option<[f32; 2]>, weights: FusionWeights) -> RecallResult {
    let config = RecallConfig::default().with_fusion(weights).unwrap();
    let query = RecallQuery {
        text: text.to_owned(),
        vector: vector.map(Vec::from),
        top_k: 200,
        ..RecallQuery::default()
    };
    recall(view, &query, &config, &mut Scratch::default()).unwrap()
}

fn ids(found: &RecallResult) -> Vec<&str> {
    found.hits.iter().map(|hit| hit.id.as_str()).collect()
}

fn scores(found: &RecallResult) -> Vec<(String, f32)> {
    found.hits.iter().map(|hit| (hit.id.clone(), hit.score)).collect()
}

const TURNS: [Turn; 5] = [
    ("a", "Ann: Where did you go?", 1),
    ("b", "Bob: To the harbour, last week", 2),
    ("c", "Ann: Nice", 3),
    ("d", "Bob: The harbour was cold", 4),
    ("e", "Ann: Bye", 9),
];

#[test]
fn neighbours_take_a_share_in_their_order() {
    let view = talk(&TURNS, &[], &[]);
    let bare = FusionWeights { time: 0.0, speaker: 0.0, ..FusionWeights::default() };
    let found = asked(&view, "harbours", None, bare);
    let of = |id: &str| scores(&found).into_iter().find(|(other, _)| other == id).map(|(_, score)| score);
    let [b, d] = ["b", "d"].map(|id| {
        let ranked = view.rank_by_text("harbours", 9, |_| true).ranked;
        let best = ranked[0].score;
        let own = ranked.iter().find(|ranked| view.graph().external_id(ranked.node) == id).unwrap();
        own.score / best
    });
    for (id, wanted) in
        [("a", 0.4 * b), ("b", b + 0.3 * d), ("c", 0.4 * (b + d)), ("d", d + 0.3 * b), ("e", 0.4 * d)]
    {
        assert!((of(id).unwrap() - wanted).abs() < 1e-6, "{id}: {:?} {wanted}", of(id));
    }
    let alone = asked(&view, "harbours", None, FusionWeights { neighbours: 0.0, ..bare });
    assert_eq!(ids(&alone).len(), 2);
}

/// Turns of one instant have no order of their own: it is that of their ids, whatever the order of insertion.
#[test]
fn turns_of_one_instant_are_no_sequence() {
    let same = TURNS.map(|(id, text, _)| (id, text, 7));
    assert_eq!(ids(&asked(&talk(&same, &[], &[]), "harbours", None, FusionWeights::default())).len(), 2);
    let tied = [("p", "one", 1), ("q", "two", 2), ("r", "three", 2), ("s", "four", 3)];
    let mut turned = tied;
    turned.reverse();
    for text in ["one", "two", "three", "four"] {
        let [found, other] = [tied, turned]
            .map(|turns| scores(&asked(&talk(&turns, &[], &[]), text, None, FusionWeights::default())));
        assert_eq!(found, other);
    }
}

#[test]
fn a_question_of_when_and_of_a_speaker_prefers_such_turns() {
    let view = talk(&TURNS, &[], &[]);
    let alone = FusionWeights { neighbours: 0.0, ..FusionWeights::default() };
    let score = |text: &str, id: &str| {
        let found = asked(&view, text, None, alone);
        scores(&found).into_iter().find(|(other, _)| other == id).unwrap().1
    };
    let ratio = |text: &str, plain: &str, id: &str| f64::from(score(text, id) / score(plain, id));
    assert!((ratio("when the harbour", "the harbour", "b") - 1.2).abs() < 1e-6, "last week");
    assert!((ratio("when the harbour", "the harbour", "d") - 1.0).abs() < 1e-6, "no time");
    let named = asked(&view, "what did bob say of the harbour", None, FusionWeights { text: 1.0, ..alone });
    assert!(["b", "d"].iter().all(|id| ids(&named)[..2].contains(id)));
}

/// An entity that everybody mentions is no seed, and changes nothing.
#[test]
fn a_hub_changes_no_order() {
    let texts: Vec<(String, String)> =
        (0..60).map(|n| (format!("m{n:02}"), format!("word{n} and word{} of the user", n % 7))).collect();
    let turns: Vec<Turn> =
        texts.iter().map(|(id, text)| (&*id.clone().leak(), &*text.clone().leak(), 0)).collect();
    let mentions: Vec<(&str, &str)> = texts.iter().map(|(id, _)| (id.as_str(), "user")).collect();
    let rare = [("m03", "Acme"), ("m44", "Acme")];
    let with: Vec<(&str, &str)> = mentions.iter().copied().chain(rare).collect();
    let [plain, hub] = [&rare[..], &with].map(|mentions| talk(&turns, mentions, &[]));
    for text in ["word3 of the user", "user, what of Acme and word5", "word1"] {
        let [without, with] = [&plain, &hub].map(|view| asked(view, text, None, FusionWeights::default()));
        let memories = |found: &RecallResult| -> Vec<String> {
            found.hits.iter().filter(|hit| hit.kind == "Memory").map(|hit| hit.id.clone()).collect()
        };
        assert_eq!(memories(&without), memories(&with), "{text}");
        assert!(with.seeds.iter().all(|seed| seed.id != "user"), "{text}");
    }
    let found = asked(&hub, "Acme", None, FusionWeights::default());
    assert!(ids(&found).contains(&"m44") && found.seeds[0].id == "Acme");
}

#[test]
fn vectors_find_what_words_do_not_and_all_of_them_are_hits() {
    let vectors = [("a", [1.0, 0.0]), ("c", [0.9, 0.1]), ("e", [0.0, 1.0])];
    let view = talk(&TURNS, &[], &vectors);
    let alone = FusionWeights { neighbours: 0.0, ..FusionWeights::default() };
    let found = asked(&view, "", Some([1.0, 0.05]), alone);
    assert_eq!(ids(&found), ["a", "c", "e"], "also the least similar");
    let both = asked(&view, "harbour", Some([1.0, 0.05]), alone);
    assert!(["a", "b", "d"].iter().all(|id| ids(&both).contains(id)));
    let none = asked(&view, "harbour", Some([1.0, 0.05]), FusionWeights { vectors: 0.0, ..alone });
    assert_eq!(scores(&none), scores(&asked(&view, "harbour", None, alone)), "a weight of 0 leaves them out");
}

/// As if the graph held them, but for what words, links and neighbours would give.
#[test]
fn memories_outside_the_graph_are_on_the_scale_of_all() {
    let vectors = [("a", [1.0, 0.0]), ("c", [0.6, 0.8]), ("e", [0.0, 1.0])];
    let view = talk(&TURNS, &[], &vectors);
    let config = RecallConfig::default();
    let ask = |outside: &[(&str, f32)]| {
        let outside = outside.iter().map(|(id, similarity)| ((*id).to_owned(), *similarity)).collect();
        let query = RecallQuery { vector: Some(vec![0.6, 0.8]), outside, ..RecallQuery::default() };
        recall(&view, &query, &config, &mut Scratch::default()).unwrap()
    };
    let alone = ask(&[]);
    assert!((alone.scale.score(1.0) - 1.0).abs() < 1e-6);
    let between = ask(&[("x", 0.7)]);
    assert_eq!(scores(&between), scores(&alone), "neither the least nor the greatest");
    assert!((0.0..0.2).contains(&between.scale.score(0.7)) && between.scale.score(0.7) > 0.0);
    assert_ne!(between.id, alone.id);
    let least = ask(&[("x", -0.5)]);
    assert!(least.scale.score(-0.5) < 0.001 && least.scale.score(0.6) > alone.scale.score(0.6));
    let none = RecallQuery { outside: vec![("x".to_owned(), 0.9)], ..RecallQuery::default() };
    let unweighed =
        RecallConfig::default().with_fusion(FusionWeights { vectors: 0.0, ..FusionWeights::default() });
    let found = recall(&view, &none, &unweighed.unwrap(), &mut Scratch::default()).unwrap();
    assert!(found.hits.is_empty() && found.scale.score(0.9) <= 0.0);
}

#[test]
fn memories_between_two_of_a_session_are_found_if_they_are_few() {
    let many: Vec<Turn> =
        ["a", "b", "c", "d", "e", "f", "g"].into_iter().zip(1..).map(|(id, at)| (id, "x", at)).collect();
    let view = talk(&many, &[], &[]);
    let node = |id: &str| view.graph().find(id).unwrap();
    let found = |ids: &[&str], filter: &Filter| -> Vec<String> {
        let nodes: Vec<_> = ids.iter().map(|id| node(id)).collect();
        let id = |node| view.graph().external_id(node);
        let found = between(&view, filter, &nodes).into_iter();
        found.map(|(at, from)| format!("{}{}", id(from), id(at))).collect()
    };
    let open = Filter::default();
    assert_eq!(found(&["d", "a", "f"], &open), ["de", "ab", "ac"]);
    assert_eq!(found(&["a", "f"], &open), ["ab", "ac", "ad", "ae"]);
    assert_eq!(found(&["a", "g"], &open), [""; 0], "five stand between them");
    let none = Filter { tiers: vec!["working".to_owned()], ..Filter::default() };
    assert_eq!(found(&["a", "c"], &none), [""; 0]);
}

#[test]
fn a_date_of_the_question_lifts_what_was_created_then() {
    let day = 24 * 60;
    let turns = [
        ("m1", "we went to the lake", 0),
        ("m2", "we went to the lake again and swam", 40 * day),
        ("m3", "nothing of that", 41 * day),
    ];
    let view = talk(&turns, &[], &[]);
    let weights = FusionWeights { neighbours: 0.0, ..FusionWeights::default() };
    let first = |text: &str, weights| asked(&view, text, None, weights).hits[0].id.clone();
    assert_eq!(first("who went to the lake", weights), "m1");
    assert_eq!(first("who went to the lake on 10 February 1970", weights), "m2");
    let unweighed = FusionWeights { date: 0.0, ..weights };
    assert_eq!(first("who went to the lake on 10 February 1970", unweighed), "m1");
    // A date is no filter.
    assert_eq!(asked(&view, "the lake on 10 February 1970", None, weights).hits.len(), 2);
    let scores = |weights| -> Vec<u32> {
        let found = asked(&view, "who went to the lake", None, weights);
        found.hits.iter().map(|hit| hit.score.to_bits()).collect()
    };
    assert_eq!(scores(weights), scores(unweighed));
}
