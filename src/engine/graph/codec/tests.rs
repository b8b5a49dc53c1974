//! Files against the graphs they were written from, intact and corrupted.

use super::{PARTS, SNAPSHOT_VERSION, read, write};
use crate::graph::builder::{Batch, EdgeRow, GraphBuilder, WeightRange};
use crate::graph::columns::NodeRow;
use crate::graph::csr::causal_of;
use crate::graph::index::Generation;
use crate::graph::kinds::{EdgeDirection, Kinds, NodeType};
use crate::graph::provenance::{Provenance, tests::origin};
use crate::graph::rows::GraphRows;
use crate::graph::snapshot::{SkippedCounts, Snapshot};
use crate::graph::tests::{Content, Step, arrays, build, content, steps};
use crate::graph::{Error, Graph};
use crate::mutated::{MANY, mutated};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

fn written(graph: Graph) -> String {
    let mut bytes = Vec::new();
    write(&Snapshot { graph, as_of: Some(7), skipped: SkippedCounts::default() }, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn read_back(file: &str) -> Result<Graph, Error> {
    let snapshot = read(file.as_bytes(), Kinds::default(), WeightRange::default())?;
    assert_eq!((snapshot.as_of, snapshot.skipped), (None, SkippedCounts::default()));
    Ok(snapshot.graph)
}

/// The fault of a file: its path and its reason.
#[track_caller]
fn fault(file: &Value) -> String {
    read_back(&in_order(file)).unwrap_err().to_string()
}

/// Strings of characters that a file must escape, and of others.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,6}", "\\PC{0,6}", "[\"\\\\/\u{0}-\u{1f}\u{7f}\u{2028}é𝄞]{0,4}"]
}

fn node_type() -> impl Strategy<Value = NodeType> {
    prop_oneof![
        (0_u16..17).prop_map(|code| NodeType::of_code(code).unwrap()),
        any::<u8>().prop_map(NodeType::Custom)
    ]
}

/// Finite numbers of a range, its ends and subnormal ones among them.
fn number(max: f32) -> impl Strategy<Value = f32> {
    let least = f32::from_bits(1);
    prop_oneof![6 => 0.0..max, 1 => Just(0.0), 1 => Just(-0.0), 1 => Just(max), 1 => Just(least), 1 => Just(f32::MIN_POSITIVE)]
}

fn instant() -> impl Strategy<Value = Option<i64>> {
    let exact = (1_i64 << 50) - 1;
    proptest::option::of(prop_oneof![
        4 => 1_600_000_000_000_i64..1_800_000_000_000,
        1 => -exact..exact,
        1 => (0_i64..4_000_000_000).prop_map(|seconds| seconds * 1_000),
        1 => (-9_000_000_000_000_000_i64..9_000_000_000_000_000).prop_map(|seconds| seconds * 1_000),
    ])
}

fn wild_content() -> impl Strategy<Value = Content> {
    let node = (
        (text(), text(), node_type()),
        proptest::collection::vec(text(), 0..9),
        instant(),
        number(f32::MAX),
        origin(text, 1..=u32::MAX),
    );
    let node = node.prop_map(
        |((external_id, label, node_type), tags, last_modified, change_frequency, provenance)| NodeRow {
            tags,
            last_modified,
            change_frequency,
            provenance,
            ..NodeRow::new(external_id, label, node_type)
        },
    );
    let nodes = proptest::collection::vec(node, 1..12).prop_map(|mut nodes| {
        nodes.sort_by(|a, b| a.external_id.cmp(&b.external_id));
        nodes.dedup_by(|a, b| a.external_id == b.external_id);
        nodes
    });
    nodes.prop_flat_map(|nodes| {
        let ids: Vec<String> = nodes.iter().map(|node| node.external_id.clone()).collect();
        let edge = (
            (0..ids.len(), 0..ids.len()),
            prop_oneof![text(), Just("CALLS".to_owned()), Just("HALL".to_owned())],
            number(4.0),
            any::<[bool; 2]>(),
            proptest::option::of((number(1.0), number(1.0))),
        );
        let edge = edge.prop_map(move |((source, target), relation, weight, [both, inhibitory], causal)| {
            let direction = if both { EdgeDirection::Bidirectional } else { EdgeDirection::Forward };
            let [source, target] = [source, target].map(|at| ids[at].clone());
            EdgeRow {
                source,
                target,
                relation,
                weight,
                direction,
                inhibitory,
                causal: causal.map(<[f32; 2]>::from),
            }
        });
        let edges = proptest::collection::vec(edge, 0..40);
        edges.prop_map(move |edges| Content { nodes: nodes.clone(), edges })
    })
}

/// The same content without attributes that files do not store.
fn exported(mut content: Content) -> Content {
    for node in &mut content.nodes {
        (node.tier, node.session, node.partial) = (None, None, false);
    }
    content
}

/// The graph that is read equals the written one, and is written as the same bytes.
fn comes_back(graph: Graph) -> Result<(), TestCaseError> {
    let before = arrays(&graph);
    let file = written(graph);
    let again = read_back(&file).unwrap();
    prop_assert_eq!(arrays(&again), before);
    prop_assert_eq!(written(again), file);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    /// A graph as plain values keeps everything, also what a file lacks.
    #[test]
    fn rows_come_back(content in prop_oneof![wild_content(), content(12, 40)]) {
        let graph = build(&content).with_generation(Generation(7));
        let rows: GraphRows = serde_json::from_slice(&serde_json::to_vec(&graph).unwrap()).unwrap();
        let again = rows.build(Kinds::default(), WeightRange::default()).unwrap();
        prop_assert_eq!(again.generation(), graph.generation());
        prop_assert_eq!(arrays(&again), arrays(&graph));
    }
}

#[test]
fn rows_that_fit_no_graph_are_refused() {
    let rows = |lengths: Value, slots: Value| {
        let node = |id: &str| serde_json::to_value(NodeRow::new(id, id, NodeType::MEMORY)).unwrap();
        let kinds = json!([["CALLS", "Forward", false]]);
        let rows = json!({"generation": 1, "nodes": [node("a"), node("b")], "kinds": kinds, "lengths": lengths, "slots": slots});
        let rows: GraphRows = serde_json::from_value(rows).unwrap();
        rows.build(Kinds::default(), WeightRange::default()).map(|graph| graph.slot_count())
    };
    assert_eq!(rows(json!([1, 0]), json!([[1, 0, 0.5, 0.5]])), Ok(1));
    for (lengths, slots) in [
        (json!([1]), json!([[1, 0, 0.5, 0.5]])),
        (json!([2, 0]), json!([[1, 0, 0.5, 0.5]])),
        (json!([u32::MAX, u32::MAX]), json!([[1, 0, 0.5, 0.5]])),
        (json!([1, 0]), json!([[2, 0, 0.5, 0.5]])),
        (json!([1, 0]), json!([[1, 1, 0.5, 0.5]])),
        (json!([1, 0]), json!([[1, 0, -0.5, 0.5]])),
        (json!([1, 0]), json!([[1, 0, 0.5, 1.5]])),
    ] {
        assert!(rows(lengths.clone(), slots.clone()).is_err(), "{lengths} {slots}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn snap_roundtrip(content in wild_content()) {
        comes_back(build(&content))?;
    }

    /// Batches can leave slots of bidirectional relationships whose other half is removed or different.
    #[test]
    fn snap_roundtrip_after_apply(content in content(12, 50), steps in steps()) {
        let mut graph = build(&exported(content));
        for Step { mut batch } in steps {
            batch.edges.retain(|edge| [&edge.source, &edge.target].iter().all(|end| graph.find(end).is_some()));
            batch.removed_nodes.clear();
            batch.nodes.clear();
            graph = graph.apply(&batch).unwrap();
        }
        comes_back(graph)?;
    }

    #[test]
    fn snap_order_free(content in wild_content(), seed: u64) {
        let graph = build(&content);
        let before = arrays(&graph);
        let mut file: Value = serde_json::from_str(&written(graph)).unwrap();
        let mut state = seed;
        for list in ["nodes", "edges"] {
            let list = file[list].as_array_mut().unwrap();
            for at in (1..list.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                list.swap(at, usize::try_from(state >> 33).unwrap() % (at + 1));
            }
        }
        let file = format!(r#"{{"version":3,"nodes":{},"edges":{}}}"#, file["nodes"], file["edges"]);
        prop_assert_eq!(arrays(&read_back(&file).unwrap()), before);
    }

    /// Every float that a file may hold, bit by bit.
    #[test]
    fn floats_roundtrip(bits in proptest::collection::vec(0..f32::INFINITY.to_bits(), 32)) {
        let content = Content {
            nodes: (0..).zip(bits).map(|(at, bits): (u32, u32)| NodeRow {
                change_frequency: f32::from_bits(bits),
                ..NodeRow::new(at.to_string(), "", NodeType::MEMORY)
            }).collect(),
            edges: Vec::new(),
        };
        let again = read_back(&written(build(&content))).unwrap();
        for node in &content.nodes {
            let read = again.change_frequency(again.find(&node.external_id).unwrap());
            prop_assert_eq!(read.to_bits(), node.change_frequency.to_bits());
        }
    }
}

fn hall(source: &str, target: &str, weight: f32) -> EdgeRow {
    EdgeRow {
        source: source.to_owned(),
        target: target.to_owned(),
        relation: "HALL".to_owned(),
        weight,
        direction: EdgeDirection::Bidirectional,
        ..EdgeRow::default()
    }
}

/// Two memories and a concept, with one edge of each kind: bidirectional, self-loop, forward, half, inhibitory.
fn small() -> Content {
    let memory = |id: &str, seconds: i64| NodeRow {
        tags: vec!["a \"tag\"".to_owned(), "b".to_owned()],
        last_modified: Some(seconds * 1_000 + 250),
        change_frequency: 0.1,
        provenance: Provenance {
            source_path: Some("src/lib.rs".to_owned()),
            line_start: Some(3),
            line_end: Some(9),
            excerpt: Some("é\n".to_owned()),
            namespace: Some("n".to_owned()),
            canonical: true,
        },
        ..NodeRow::new(id, format!("memory {id}"), NodeType::MEMORY)
    };
    let forward = |source: &str, target: &str, relation: &str, inhibitory| EdgeRow {
        relation: relation.to_owned(),
        direction: EdgeDirection::Forward,
        inhibitory,
        ..hall(source, target, 0.3)
    };
    Content {
        nodes: vec![memory("a", 1_700_000_000), memory("b", -5), NodeRow::new("c", "C", NodeType::Concept)],
        edges: vec![
            hall("a", "b", 0.5),
            hall("b", "b", 0.25),
            hall("b", "c", 0.5),
            EdgeRow { causal: Some([0.75; 2]), ..forward("c", "b", "HALL", false) },
            EdgeRow { direction: EdgeDirection::Forward, ..hall("c", "b", 0.75) },
            forward("a", "c", "CALLS", false),
            forward("c", "a", "SUPERSEDES", true),
        ],
    }
}

fn small_file() -> Value {
    let file: Value = serde_json::from_str(&written(build(&small()))).unwrap();
    json!({ "version": 3, "nodes": file["nodes"], "edges": file["edges"] })
}

/// The parts of a file in their order, which [`Value`] does not keep, then others.
fn in_order(file: &Value) -> String {
    let others = file.as_object().unwrap().keys().map(String::as_str).filter(|name| !PARTS.contains(name));
    let names = PARTS.into_iter().filter(|name| file.get(name).is_some()).chain(others);
    let parts: Vec<String> = names.map(|name| format!("{name:?}:{}", file[name])).collect();
    format!("{{{}}}", parts.join(","))
}

#[test]
fn the_small_file_has_an_edge_of_each_kind() {
    let file = small_file();
    let edges: Vec<String> = file["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| {
            let text = |name: &str| edge[name].as_str().unwrap().to_owned();
            let half = edge.get("half").map_or("", |_| " half");
            let [source, target, relation] = ["source_id", "target_id", "relation"].map(text);
            format!("{source} {relation} {target} {}{half}", edge["direction"])
        })
        .collect();
    assert_eq!(
        edges,
        ["a HALL b 1", "a CALLS c 0", "b HALL b 1", "b HALL c 0 half", "c SUPERSEDES a 0", "c HALL b 0"]
    );
    assert_eq!(arrays(&read_back(&in_order(&file)).unwrap()), arrays(&build(&small())));
}

/// The example in the docs is a valid file.
#[test]
fn the_documented_example_is_exact() {
    let docs = include_str!("../codec.rs");
    let example = docs.split("```json\n").nth(1).and_then(|rest| rest.split("\n//! ```").next()).unwrap();
    let lines: Vec<&str> = example.lines().map(|line| line.trim_start_matches("//! ")).collect();
    let example = lines.join("\n");
    assert_eq!(written(read_back(&example).unwrap()), example);
}

#[test]
fn the_checksum_covers_all_bytes_before_its_name() {
    let file = written(build(&small()));
    let (before, name) = file.split_at(file.rfind("\"checksum\"").unwrap());
    assert_eq!(name, format!("\"checksum\":\"{:016x}\"}}", xxh3_64(before.as_bytes())));
    // A file written by hand may have whitespace around its checksum; with an escaped name it has none.
    assert!(read_back(&file.replace("],\"checksum\":", "],\"checksum\" : ")).is_ok());
    let escaped = file.replace("\"checksum\"", "\"\\u0063hecksum\"");
    assert!(read_back(&escaped).unwrap_err().to_string().starts_with("checksum: "));
    assert_eq!(xxh3_64(b""), 0x2d06_8005_38d3_94c2);
}

#[test]
fn a_checksum_too_far_from_the_end_is_refused() {
    let file = written(build(&small()));
    let name = file.rfind("\"checksum\"").unwrap();
    let blanks = " ".repeat(128 * 1024);
    for given in [&file[name..], "\"checksum\":\"\"}"] {
        let why = read_back(&format!("{}{given}{blanks}", &file[..name])).unwrap_err().to_string();
        assert!(why.starts_with("checksum: "), "{why}");
    }
}

#[test]
fn snap_versions() {
    let mut file = small_file();
    for (version, found) in [
        (json!(2), "2"),
        (json!(4), "4"),
        (json!(99), "99"),
        (json!("3"), "\"3\""),
        (json!("three"), "\"three\""),
        (json!(-3), "-3"),
        (json!(3.5), "3.5"),
    ] {
        file["version"] = version;
        let why = read_back(&in_order(&file)).unwrap_err();
        assert_eq!(why, Error::UnsupportedVersion { found: found.to_owned(), supported: SNAPSHOT_VERSION });
    }
    for version in [json!(null), json!([3]), json!(true)] {
        file["version"] = version;
        assert!(fault(&file).starts_with("version: "), "{}", fault(&file));
    }
    // A later version may have any other content.
    assert!(matches!(read_back(r#"{"version":4,"graph":{}}"#), Err(Error::UnsupportedVersion { .. })));
}

#[test]
fn snap_nan_fields() {
    let numbers = [
        ("/nodes/0", "change_frequency"),
        ("/nodes/0", "last_modified"),
        ("/nodes/0/provenance", "line_start"),
        ("/nodes/0/provenance", "line_end"),
        ("/nodes/0", "node_type"),
        ("/edges/2", "weight"),
        ("/edges/2", "direction"),
        ("/edges/2", "causal_strength"),
    ];
    for (place, name) in numbers {
        let path =
            format!("{}.{name}", place[1..].replace("/0", "[0]").replace("/2", "[2]").replace('/', "."));
        for bad in
            ["null", "NaN", "Infinity", "-Infinity", "-1", "1e39", "1e400", "-1e39", "\"1\"", "true", "[]"]
        {
            // An instant may be before 1970.
            if name == "last_modified" && bad == "-1" {
                continue;
            }
            let mut file = small_file();
            file.pointer_mut(place).unwrap()[name] = json!("here");
            let file = in_order(&file).replace("\"here\"", bad);
            let why = read_back(&file).unwrap_err();
            let told = match &why {
                Error::NonFinite { field, owner } if bad == "null" => format!("{owner}.{field}"),
                Error::CorruptSnapshot { path, .. } => path.clone(),
                _ => panic!("{file}: {why}"),
            };
            assert_eq!(told, path, "{bad}: {why}");
        }
    }
    for (place, name, bad) in [
        ("/edges/0", "causal_strength", json!(1.5)),
        ("/edges/0", "direction", json!(2)),
        ("/nodes/1/provenance", "line_start", json!(0)),
        ("/nodes/1/provenance", "line_end", json!(1_u64 << 32)),
        ("/nodes/1", "last_modified", json!(i64::MAX)),
        ("/nodes/1", "last_modified", json!(u64::MAX)),
    ] {
        let mut file = small_file();
        file.pointer_mut(place).unwrap()[name] = bad;
        assert!(fault(&file).contains(name), "{}", fault(&file));
    }
    let mut zero = small_file();
    zero["edges"][0]["weight"] = json!(-0.0);
    let zero = read_back(&in_order(&zero)).unwrap();
    assert!(zero.nodes().flat_map(|node| zero.slots(node)).all(|slot| !zero.base(slot).is_sign_negative()));
}

#[test]
fn snap_flips_and_cuts() {
    let file = written(build(&small()));
    for end in 0..file.len() {
        let cut = read(&file.as_bytes()[..end], Kinds::default(), WeightRange::default());
        assert!(matches!(cut, Err(Error::CorruptSnapshot { .. })), "cut at {end}");
    }
    let mut bytes = file.clone().into_bytes();
    for at in 0..bytes.len() {
        let was = bytes[at];
        for bit in 0..8 {
            bytes[at] = was ^ 1 << bit;
            let flipped = read(bytes.as_slice(), Kinds::default(), WeightRange::default());
            assert!(flipped.is_err(), "bit {bit} of byte {at}: {}", String::from_utf8_lossy(&bytes));
        }
        bytes[at] = was;
    }
    assert!(read_back(&file).is_ok());
}

/// Nearly valid files are refused, or are valid.
#[test]
fn accepted_files_roundtrip() {
    let (summed, plain) = (written(build(&small())), in_order(&small_file()));
    let tiny = written(build(&Content {
        nodes: vec![NodeRow::new("a", "", NodeType::Cost)],
        edges: vec![hall("a", "a", 1.0)],
    }));
    let mut read_at_all = 0;
    for file in mutated(&[&summed, &plain, &tiny], 1).take(MANY) {
        if let Ok(graph) = read_back(&file) {
            read_at_all += 1;
            let before = arrays(&graph);
            assert_eq!(arrays(&read_back(&written(graph)).unwrap()), before, "{file}");
        }
    }
    assert!(read_at_all > MANY / 100, "{read_at_all}");
}

#[test]
fn self_loops_stay_one_slot() {
    let content =
        Content { nodes: vec![NodeRow::new("a", "", NodeType::Concept)], edges: vec![hall("a", "a", 0.5)] };
    let mut graph = build(&content);
    for _ in 0..5 {
        let file = written(graph);
        graph = read_back(&file).unwrap();
        assert_eq!(graph.slot_count(), 1);
        assert_eq!(arrays(&graph), arrays(&build(&content)));
        assert_eq!(written(read_back(&file).unwrap()), file);
    }
}

/// Learned weights are in another file: halves with different learned weights are written as one edge.
#[test]
fn learned_weights_are_not_in_the_file() {
    let content = small();
    let (plain, learned) = (build(&content), build(&content));
    let a = learned.find("a").unwrap();
    learned.write_weight(a, learned.slot(a, "HALL", learned.find("b").unwrap()).unwrap(), 2.0).unwrap();
    assert_eq!(written(learned), written(plain));
}

#[test]
fn halves_stay_halves() {
    let nodes = ["a", "b"].map(|id| NodeRow::new(id, "", NodeType::Concept));
    let mut builder = GraphBuilder::default();
    for node in nodes {
        builder.add_node(node).unwrap();
    }
    builder.add_slot(&hall("a", "b", 0.5)).unwrap();
    let graph = builder.finalize().unwrap();
    let before = arrays(&graph);
    let file = written(graph);
    assert!(file.contains(r#""direction":0,"half":true,"#), "{file}");
    let again = read_back(&file).unwrap();
    assert_eq!(arrays(&again), before);
    // With its other half it is one edge again, and is removed as one.
    let whole = again.apply(&Batch { edges: vec![hall("b", "a", 0.5)], ..Batch::default() }).unwrap();
    assert!(written(whole).contains(r#""direction":1,"inhibitory":false"#));
    let both = file.replace("\"direction\":0", "\"direction\":1");
    let both = both.split(",\"checksum\"").next().unwrap().to_owned() + "}";
    assert_eq!(read_back(&both).unwrap_err().to_string(), "edges[0]: a half has direction 0");
    // Without `half` it is a separate slot.
    let alone = read_back(&both.replace("\"direction\":1,\"half\":true", "\"direction\":0")).unwrap();
    let slot = alone.slots(alone.find("a").unwrap()).next().unwrap();
    assert_eq!((alone.slot_count(), alone.kind(slot).direction), (1, EdgeDirection::Forward));
}

#[test]
fn node_types_have_numbers_and_names() {
    let mut file = small_file();
    let mut read_as = |node_type: Value| {
        file["nodes"][0]["node_type"] = node_type;
        read_back(&in_order(&file)).map(|graph| graph.node_type(graph.find("a").unwrap()))
    };
    for number in 0..=300_u16 {
        let read = read_as(json!(number));
        match number {
            0..=16 => assert_eq!(read.unwrap().code(), number),
            100..=255 => assert_eq!(read.unwrap(), NodeType::Custom(u8::try_from(number - 100).unwrap())),
            _ => assert!(read.unwrap_err().to_string().starts_with("nodes[0].node_type: "), "{number}"),
        }
    }
    for n in 0..=u8::MAX {
        assert_eq!(read_as(json!(format!("custom:{n}"))).unwrap(), NodeType::Custom(n));
    }
    for bad in
        ["custom:256", "custom:-1", "custom:+1", "custom:01", "custom:", "custom: 1", "Custom:1", "9", ""]
    {
        assert!(read_as(json!(bad)).is_err(), "{bad}");
    }
    assert!(read_as(json!(9.0)).is_err());
}

#[test]
fn nothing_is_skipped() {
    let of = |change: fn(&mut Value)| {
        let mut file = small_file();
        change(&mut file);
        fault(&file)
    };
    let unknown = of(|file| file["comment"] = json!("x"));
    assert!(unknown.starts_with("the file: unknown field `comment`"), "{unknown}");
    let unknown = of(|file| file["nodes"][1]["tier"] = json!("working"));
    assert!(unknown.starts_with("nodes[1]: unknown field `tier`"), "{unknown}");
    let unknown = of(|file| file["nodes"][1]["provenance"]["line"] = json!(1));
    assert!(unknown.starts_with("nodes[1].provenance: unknown field `line`"), "{unknown}");
    let unknown = of(|file| file["edges"][3]["cost"] = json!(1));
    assert!(unknown.starts_with("edges[3]: unknown field `cost`"), "{unknown}");
    let twice = of(|file| file["nodes"][2] = file["nodes"][0].clone());
    assert_eq!(twice, "duplicate node a");
    let dangling = of(|file| file["edges"][0]["target_id"] = json!("z"));
    assert_eq!(dangling, "the relationship a -> z refers to node z, which does not exist");
    for (place, needed) in [("/nodes/0", 5), ("/nodes/0/provenance", 1), ("/edges/0", 7), ("", 3)] {
        let whole = small_file();
        let names: Vec<String> = whole.pointer(place).unwrap().as_object().unwrap().keys().cloned().collect();
        let missing = names.iter().filter(|name| {
            let mut file = whole.clone();
            file.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(*name);
            read_back(&in_order(&file)).is_err_and(|why| why.to_string().contains(&format!("{name} ")))
        });
        assert_eq!(missing.count(), needed, "{place}");
    }
    let plain = in_order(&small_file());
    for (from, to, told) in [
        ("\"label\":", "\"label\":\"\",\"label\":", "nodes[0].label: duplicate field"),
        ("\"version\":3,", "", "the file: nodes comes before version"),
        ("\"version\":3,", "\"version\":3,\"version\":3,", "the file: version is a duplicate"),
        ("\"nodes\":", "\"edges\":", "the file: edges comes before nodes"),
        ("{\"version\"", "[{\"version\"", "the file: invalid type: sequence"),
    ] {
        let why = read_back(&plain.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(why.starts_with(told), "{why}");
    }
    for text in
        ["", " ", "null", "{}", "3", "{\"version\":3}", &(plain.clone() + "x"), &(plain.clone() + "{}")]
    {
        assert!(matches!(read_back(text), Err(Error::CorruptSnapshot { .. })), "{text}");
    }
}

#[test]
fn instants_keep_their_milliseconds_for_35_000_years() {
    let edge = 1_i64 << 50;
    let of =
        |ms: i64| NodeRow { last_modified: Some(ms), ..NodeRow::new(ms.to_string(), "", NodeType::MEMORY) };
    let exact = [
        0,
        1,
        -1,
        999,
        -999,
        1_000,
        1_500,
        1_700_000_000_123,
        -62_135_596_800_000,
        253_402_300_799_999,
        edge,
        -edge,
    ];
    let rounded = [edge + 1, -edge - 1, i64::MAX, i64::MIN + 1];
    let content = Content { nodes: exact.into_iter().chain(rounded).map(of).collect(), edges: Vec::new() };
    let file = written(build(&content));
    let again = read_back(&file).unwrap();
    let read = |ms: i64| again.last_modified(again.find(&ms.to_string()).unwrap());
    for ms in exact {
        assert_eq!(read(ms), Some(ms));
    }
    for ms in rounded {
        assert_eq!(read(ms), Some(ms / 1_000 * 1_000));
    }
    assert_eq!(written(again), file);
    assert!(
        file.contains(r#""last_modified":1700000000.123,"#) && file.contains(r#""last_modified":-0.001,"#)
    );
}

#[test]
fn attributes_that_files_do_not_store() {
    let full = NodeRow {
        tier: Some("working".to_owned()),
        session: Some("s".to_owned()),
        partial: true,
        ..NodeRow::new("a", "", NodeType::MEMORY)
    };
    let graph = build(&Content { nodes: vec![full.clone()], edges: Vec::new() }).with_pagerank(vec![1.0]);
    let again = read_back(&written(graph)).unwrap();
    let node = again.find("a").unwrap();
    assert_eq!(again.row(node), NodeRow { tier: None, session: None, partial: false, ..full });
    assert_eq!((again.pagerank(node).to_bits(), again.generation().0), (0, 0));
}

#[test]
fn weights_are_capped_and_causal_strengths_are_read() {
    let mut file = small_file();
    file["edges"][0]["weight"] = json!(17);
    file["edges"][0]["causal_strength"] = json!(1);
    let graph = read_back(&in_order(&file)).unwrap();
    let a = graph.find("a").unwrap();
    let slot = graph.slot(a, "HALL", graph.find("b").unwrap()).unwrap();
    assert_eq!(
        (graph.base(slot).to_bits(), graph.causal(slot).to_bits()),
        (3.0_f32.to_bits(), 1.0_f32.to_bits())
    );
    assert!(causal_of(3.0, graph.kind(slot)) < 1.0);
    let range = WeightRange { floor: 0.0, cap: 3.0 };
    assert!(matches!(read("".as_bytes(), Kinds::default(), range), Err(Error::ParameterOutOfRange { .. })));
}

/// A failing reader and a failing writer report the I/O error.
#[test]
fn io_errors_differ_from_corrupt_files() {
    struct Gone;
    impl std::io::Read for Gone {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StaleNetworkFileHandle.into())
        }
    }
    let why = read(Gone, Kinds::default(), WeightRange::default()).unwrap_err();
    assert!(matches!(
        why,
        Error::UnreadableSnapshot { kind: std::io::ErrorKind::StaleNetworkFileHandle, .. }
    ));
    let snapshot = Snapshot::from(build(&small()));
    let mut small = [0; 100];
    assert_eq!(write(&snapshot, small.as_mut_slice()).unwrap_err().kind(), std::io::ErrorKind::WriteZero);
}

#[test]
fn a_number_that_is_not_finite_is_not_written() {
    // No builder makes such a graph: the numbers are put where a defect would leave them.
    let places: [fn(&mut Graph, f32); 3] = [
        |graph, bad| graph.columns.change_frequency[0] = bad,
        |graph, bad| Arc::make_mut(&mut graph.csr.slots).base[0] = bad,
        |graph, bad| {
            let count = graph.slot_count();
            Arc::make_mut(&mut graph.csr.slots).causal = Some(vec![bad; count]);
        },
    ];
    for place in places {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut graph = build(&small());
            place(&mut graph, bad);
            let refused = write(&Snapshot::from(graph), Vec::new()).unwrap_err();
            assert_eq!(refused.kind(), std::io::ErrorKind::InvalidData);
            assert!(refused.to_string().ends_with("has a number that is not finite"), "{refused}");
        }
    }
}

/// The causal relations of a configuration concern graphs built by it: a file keeps its strengths.
#[test]
fn a_file_keeps_the_causal_strengths_it_was_saved_with() {
    use crate::graph::kinds::CausalTable;
    let kinds =
        |causes: &[&str], caused_by: &[&str]| Kinds::new(CausalTable::new(causes, caused_by).unwrap());
    let mut builder = GraphBuilder::new(kinds(&["SPARKS=0.5"], &["STEMS_FROM"]), WeightRange::default());
    for id in ["a", "b", "c"] {
        builder.add_node(NodeRow::new(id, "", NodeType::Concept)).unwrap();
    }
    builder.relate("a", "SPARKS", "b", 0.5).unwrap();
    builder.relate("b", "STEMS_FROM", "c", 0.5).unwrap();
    let (mut file, graph) = (Vec::new(), builder.finalize().unwrap());
    write(&Snapshot::from(graph), &mut file).unwrap();
    for kinds in [Kinds::default(), kinds(&[], &[]), kinds(&["STEMS_FROM"], &["SPARKS"])] {
        let Snapshot { graph, .. } = read(file.as_slice(), kinds, WeightRange::default()).unwrap();
        let causal = |from: &str, relation: &str, to: &str| {
            let [from, to] = [from, to].map(|id| graph.find(id).unwrap());
            graph.slot(from, relation, to).map(|slot| graph.causal(slot).to_bits())
        };
        assert_eq!(causal("a", "SPARKS", "b"), Some(0.25_f32.to_bits()));
        assert_eq!(causal("b", "SPARKS", "a"), None);
        assert_eq!(causal("b", "STEMS_FROM", "c"), Some(0));
        assert_eq!(causal("c", "STEMS_FROM", "b"), Some(0.5_f32.to_bits()));
    }
}
