//! Targets for the files of the engine.

use ebb_engine::View;
use ebb_engine::graph::Error;
use ebb_engine::graph::Graph;
use ebb_engine::graph::builder::{EdgeRow, GraphBuilder, WeightRange};
use ebb_engine::graph::codec::plasticity::{self, SynapticState};
use ebb_engine::graph::codec::{read_with_checksum, write};
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::graphml::{self, NodeData};
use ebb_engine::graph::kinds::{Kinds, NodeType};
use ebb_engine::graph::snapshot::Snapshot;
use ebb_engine::plasticity::{PlasticityConfig, Synapses};
use ebb_engine::recall::{RecallConfig, RecallQuery, recall};
use ebb_engine::scratch::Scratch;
use std::collections::BTreeSet;

/// The file of a graph. A graph that is read is the same after it was written and read again, an independent reader of XML
/// finds it in its GraphML, and it answers a query.
pub(crate) fn snapshot(bytes: &[u8]) {
    let snapshot = match read_with_checksum(bytes, Kinds::default(), WeightRange::default()) {
        Ok((snapshot, _)) => snapshot,
        Err(why) => return assert_is_of_content(&why),
    };
    let file = written(&snapshot);
    let (again, has_checksum) = read_with_checksum(file.as_slice(), Kinds::default(), WeightRange::default())
        .expect("a written graph is read");
    assert!(has_checksum);
    assert!(written(&again) == file, "a graph is the same after it was written and read");
    check_graphml(&snapshot.graph);
    let view = View::from_labels(snapshot).expect("a graph makes a view");
    let first = view.graph().nodes().next().map(|node| view.graph().label(node).chars().take(100).collect());
    let query = RecallQuery { text: first.unwrap_or_default(), ..RecallQuery::default() };
    let found = recall(&view, &query, &RecallConfig::default(), &mut Scratch::default());
    assert!(found.expect("a view answers a query").hits.iter().all(|hit| hit.score.is_finite()));
}

/// Bytes in memory can always be read, so an error is about their content.
fn assert_is_of_content(why: &Error) {
    assert!(!matches!(why, Error::UnreadableSnapshot { .. }), "{why}");
    assert!(!why.to_string().is_empty());
}

fn written(snapshot: &Snapshot) -> Vec<u8> {
    let mut file = Vec::new();
    write(snapshot, &mut file).expect("a file in memory");
    file
}

fn check_graphml(graph: &Graph) {
    let mut file = Vec::new();
    let data =
        |_| NodeData { kind: "Memory".into(), tier: None, energy: Some(0.5), created: None, last_used: None };
    graphml::write(graph, data, &mut file).expect("a file in memory");
    let text = String::from_utf8(file).expect("GraphML is UTF-8");
    let document = roxmltree::Document::parse(&text).unwrap_or_else(|why| panic!("{why}: {text}"));
    let count = |name| document.descendants().filter(|node| node.has_tag_name(name)).count();
    let name = |tag| ("http://graphml.graphdrawing.org/xmlns", tag);
    assert_eq!((count(name("node")), count(name("edge"))), (graph.node_count(), graph.slot_count()));
}

/// The file of learned weights. A state is the same after it was written and read again, and a graph that has its slots takes
/// it or refuses it with a reason.
pub(crate) fn learned(bytes: &[u8]) {
    let state = match plasticity::read(bytes) {
        Ok(state) => state,
        Err(why) => return assert_is_of_content(&why),
    };
    let mut file = Vec::new();
    plasticity::write(&state, &mut file).expect("a file in memory");
    assert_eq!(plasticity::read(file.as_slice()).as_ref(), Ok(&state));
    let Ok(graph) = graph_of(&state) else { return };
    let mut synapses = match Synapses::import(&graph, PlasticityConfig::default(), state) {
        Ok(synapses) => synapses,
        Err(why) => return assert!(!why.to_string().is_empty()),
    };
    synapses.write_weights(&graph).expect("the only writer");
    let exported = synapses.export(&graph).expect("the same graph");
    let again = Synapses::import(&graph, PlasticityConfig::default(), exported.clone());
    let again = again.expect("exported weights").export(&graph).expect("the same graph");
    assert_eq!(again, exported);
}

/// A graph with the slots of a state.
fn graph_of(state: &SynapticState) -> Result<Graph, Error> {
    let mut builder = GraphBuilder::default();
    let ends = state.synapses.iter().flat_map(|row| [&row.source_id, &row.target_id]);
    for id in ends.collect::<BTreeSet<_>>() {
        builder.add_node(NodeRow::new(id.as_str(), id.as_str(), NodeType::MEMORY))?;
    }
    for row in &state.synapses {
        builder.add_edge(&EdgeRow {
            source: row.source_id.clone(),
            target: row.target_id.clone(),
            relation: row.relation.clone(),
            weight: row.original_weight,
            ..EdgeRow::default()
        })?;
    }
    builder.finalize()
}
