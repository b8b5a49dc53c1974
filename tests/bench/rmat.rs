//! R-MAT graphs: few nodes with many neighbours, many with few, as memories and code have them. Seeded, so that every run
//! on every machine sees the same edges.

use super::random::SplitMix64;
use ebb::graph::Graph;
use ebb::graph::builder::{Batch, EdgeRow, GraphBuilder, WeightRange};
use ebb::graph::columns::NodeRow;
use ebb::graph::kinds::{EdgeDirection, Kinds, NodeType};

/// A number in `[0, 1)`.
pub(crate) fn unit(random: &mut SplitMix64) -> f32 {
    (random.next() >> 40) as f32 / 16_777_216.0
}

/// An edge and its weight.
pub(crate) type Edge = (u32, u32, f32);

/// 16 edges a node of 2^scale, with the usual quarters .57, .19, .19, .05, over permuted ids; weights in `[0.05, 1)`.
pub(crate) fn edges(scale: u32) -> Vec<Edge> {
    let n = 1_u64 << scale;
    let mut random = SplitMix64(u64::from(scale) + 1);
    let mut name: Vec<u32> = (0..n as u32).collect();
    for at in (1..n as usize).rev() {
        name.swap(at, random.below(at as u64 + 1) as usize);
    }
    (0..n * 16)
        .map(|_| {
            let (mut source, mut target) = (0_usize, 0_usize);
            for _ in 0..scale {
                let roll = unit(&mut random);
                let (down, right) = if roll < 0.57 {
                    (0, 0)
                } else if roll < 0.76 {
                    (0, 1)
                } else if roll < 0.95 {
                    (1, 0)
                } else {
                    (1, 1)
                };
                (source, target) = (source * 2 + down, target * 2 + right);
            }
            (name[source], name[target], 0.05 + 0.95 * unit(&mut random))
        })
        .collect()
}

/// What a node is called.
pub(crate) fn name(node: u32) -> String {
    format!("n{node:07}")
}

/// All of it staged, with weights times a factor.
pub(crate) fn builder(edges: &[Edge], nodes: usize, factor: f32) -> GraphBuilder {
    let mut builder = GraphBuilder::new(Kinds::default(), WeightRange { floor: 0.01, cap: 3.0 });
    let staged: Vec<_> = (0..nodes as u32)
        .map(|node| builder.add_node(NodeRow::new(name(node), "", NodeType::Concept)).expect("a new node"))
        .collect();
    let kind = builder.kind("LEADS_TO", EdgeDirection::Forward, false);
    for (source, target, weight) in edges {
        builder
            .connect(staged[*source as usize], staged[*target as usize], kind, weight * factor)
            .expect("an edge");
    }
    builder
}

/// A finished one.
pub(crate) fn graph(edges: &[Edge], nodes: usize, factor: f32) -> Graph {
    builder(edges, nodes, factor).finalize().expect("a graph")
}

/// Changes: half of them new weights of edges that are there, half new edges.
pub(crate) fn batch(graph: &Graph, edges: &[Edge], count: usize) -> Batch {
    let mut random = SplitMix64(3);
    let nodes = graph.node_count() as u64;
    let edge = |source: u32, target: u32, weight: f32| EdgeRow {
        source: name(source),
        target: name(target),
        relation: "LEADS_TO".to_owned(),
        weight,
        direction: EdgeDirection::Forward,
        inhibitory: false,
        causal: None,
    };
    let mut one = |at: usize| {
        if at.is_multiple_of(2) {
            let (source, target, _) = edges[random.below(edges.len() as u64) as usize];
            edge(source, target, unit(&mut random))
        } else {
            edge(random.below(nodes) as u32, random.below(nodes) as u32, unit(&mut random))
        }
    };
    Batch { edges: (0..count).map(&mut one).collect(), ..Batch::default() }
}
