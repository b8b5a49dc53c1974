//! Builds a graph, recalls from it, and learns from an outcome: `cargo run -p ebb-engine --example recall`.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use ebb_engine::View;
use ebb_engine::graph::builder::GraphBuilder;
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::kinds::NodeType;
use ebb_engine::plasticity::{PlasticityConfig, Synapses};
use ebb_engine::recall::{RecallConfig, RecallQuery, recall};
use ebb_engine::scratch::Scratch;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = GraphBuilder::default();
    builder.add_node(NodeRow::new("ruth", "Ruth", NodeType::Concept))?;
    builder.add_node(NodeRow::new("staging", "staging", NodeType::Concept))?;
    builder.add_node(NodeRow::new("m1", "Ruth reported that staging is down", NodeType::MEMORY))?;
    builder.add_node(NodeRow::new("m2", "The database is read-only on Fridays", NodeType::MEMORY))?;
    builder.add_node(NodeRow::new("m3", "A full disk had stopped the database", NodeType::MEMORY))?;
    for (memory, entity) in [("m1", "ruth"), ("m1", "staging"), ("m2", "staging"), ("m3", "staging")] {
        builder.relate(memory, "MENTIONS", entity, 0.5)?;
    }
    let view = View::from_labels(builder.finalize()?.into())?;

    // m2 and m3 share no word with the question: they are reached through what m1 mentions.
    let (config, mut scratch) = (RecallConfig::default(), Scratch::default());
    let query = RecallQuery { text: "what did Ruth report".to_owned(), ..RecallQuery::default() };
    let mut show = |when: &str| {
        let result = recall(&view, &query, &config, &mut scratch)?;
        println!("{when}");
        for hit in &result.hits {
            println!("  {:.3}  {}", hit.score, hit.label);
        }
        Ok::<_, ebb_engine::Error>(())
    };
    show("before")?;

    // m3 was useful: strengthen the path to it.
    let graph = view.graph();
    let path: Vec<_> = ["ruth", "m1", "staging", "m3"].iter().filter_map(|id| graph.find(id)).collect();
    let mut synapses = Synapses::bind(graph, PlasticityConfig::default(), 0, [])?;
    synapses.tick(graph, &path.iter().map(|node| (*node, 1.0)).collect::<Vec<_>>())?;
    synapses.write_weights(graph)?;
    show("after m3 was useful").map_err(Into::into)
}
