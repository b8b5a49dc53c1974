//! Events and questions as files have them, and the graph that events make.

use ebb_core::clock::parse_rfc3339;
use ebb_engine::graph::builder::{EdgeRow, GraphBuilder};
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::kinds::{EdgeDirection, NodeType};
use ebb_engine::graph::snapshot::{SkippedCounts, Snapshot};
use ebb_engine::text::counts::WordCounts;
use ebb_engine::text::fold::cut;
use ebb_engine::text::ranking::{Content, TextIndex};
use ebb_engine::vectors::VectorIndex;
use ebb_engine::{Texts, View};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::sync::Arc;

/// What of a content is its label, in bytes.
const LABEL_BYTES: usize = 200;
/// When everything was made and asked: the set has one instant.
const AT: Option<i64> = Some(0);

/// A question, its class if it has one, and the ids of the memories that answer it together.
#[derive(Clone)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) class: String,
    pub(crate) gold: Vec<String>,
}

impl From<&Value> for Question {
    fn from(line: &Value) -> Self {
        let gold = texts(line, "gold").into_iter().map(str::to_owned).collect();
        Self { text: text(line, "question").to_owned(), class: text(line, "class").to_owned(), gold }
    }
}

/// The lines of a file of JSON objects.
pub(crate) fn lines(path: &str) -> Vec<Value> {
    let file = File::open(path).expect("the file");
    let parse = |line: std::io::Result<String>| serde_json::from_str(&line.expect("a line")).expect("JSON");
    BufReader::new(file).lines().map(parse).collect()
}

/// A text of an object; empty if it has none of this name.
pub(crate) fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_default()
}

fn texts<'a>(of: &'a Value, key: &str) -> Vec<&'a str> {
    of[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The view of these events; without what joins memories unless they are `joined`.
pub(crate) fn view(events: &[Value], joined: bool) -> View {
    view_with(&events.iter().collect::<Vec<_>>(), joined, None)
}

/// The view of these events with vectors of memories, by id.
pub(crate) fn view_of(events: &[&Value], vectors: Option<&[(String, Vec<f32>)]>) -> View {
    view_with(events, true, vectors)
}

fn view_with(events: &[&Value], joined: bool, vectors: Option<&[(String, Vec<f32>)]>) -> View {
    let of_kind =
        |kind: &'static str| events.iter().copied().filter(move |event| text(event, "kind") == kind);
    let memories: Vec<&Value> = of_kind("memory").collect();
    let observed: Vec<&Value> = of_kind("observe").filter(|_| joined).collect();
    let mut builder = GraphBuilder::default();
    for memory in &memories {
        let row =
            NodeRow::new(text(memory, "id"), cut(text(memory, "content"), LABEL_BYTES), NodeType::MEMORY);
        let session = memory["session"].as_str().map(str::to_owned);
        builder.add_node(NodeRow { session, last_modified: AT, ..row }).expect("a memory of its own");
    }
    let mentioned = memories.iter().filter(|_| joined).flat_map(|memory| texts(memory, "mentions"));
    let ends = observed.iter().flat_map(|event| [text(event, "from"), text(event, "to")]);
    let entities: BTreeSet<&str> = mentioned.chain(ends).collect();
    let taken: BTreeSet<&str> = memories.iter().map(|memory| text(memory, "id")).collect();
    let named = |name: &str| if taken.contains(name) { format!("Entity:{name}") } else { name.to_owned() };
    for name in entities {
        let row = NodeRow::new(named(name), name, NodeType::Concept);
        builder.add_node(NodeRow { last_modified: AT, ..row }).expect("an entity of its own");
    }
    let edge = |source: String, target: String, relation: &str, weight: f32| EdgeRow {
        source,
        target,
        relation: relation.to_owned(),
        weight,
        direction: EdgeDirection::Bidirectional,
        inhibitory: false,
        causal: None,
    };
    for memory in memories.iter().filter(|_| joined) {
        for name in texts(memory, "mentions") {
            let edge = edge(text(memory, "id").to_owned(), named(name), "MENTIONS", 0.5);
            builder.add_edge(&edge).expect("both are there");
        }
    }
    for event in &observed {
        let edge = edge(named(text(event, "from")), named(text(event, "to")), "RELATES_TO", 1.0);
        builder.add_edge(&edge).expect("both are there");
    }
    let graph = builder.finalize().expect("a graph");
    let (mut index, mut counts) = (TextIndex::default(), WordCounts::default());
    let contents = memories.iter().copied().map(|memory| Content {
        id: text(memory, "id"),
        text: text(memory, "content"),
        session: memory["session"].as_str(),
        at: parse_rfc3339(text(memory, "at")).ok().map(|at| at.millis()),
    });
    index.add(contents).expect("few memories");
    counts.add(memories.iter().map(|memory| text(memory, "content")));
    let end = |event: &Value, key: &str| graph.find(&named(text(event, key))).expect("an entity");
    let relations: Vec<_> =
        observed.iter().map(|event| (end(event, "from"), end(event, "to"), text(event, "type"))).collect();
    let snapshot = Snapshot { graph, as_of: AT, skipped: SkippedCounts::default() };
    let vectors = vectors.and_then(|rows| {
        let mut index = VectorIndex::new(rows.first()?.1.len()).expect("dimensions");
        index.add(rows.iter().map(|(id, row)| (id.as_str(), row.as_slice()))).expect("sound vectors");
        Some(Arc::new(index))
    });
    View::new(snapshot, Texts { index: Arc::new(index), counts: Arc::new(counts), vectors }, relations)
}
