//! Data sets: generated, seeded, the same on every machine. Nothing is downloaded.
//!
//! A set is a list of edges, each with a number drawn from `[0, 1)`. What it weighs follows from that when a graph is built
//! of it: `0.05 + 0.95 u`, or with `u^4` for the skewed weights that a full scan likes less, times the scale of a query
//! class. Which edges hold back is drawn apart, so that 10 % of them are among the 50 %.

#![allow(dead_code, reason = "each program of this folder uses its own part")]
#![expect(clippy::cast_possible_truncation, reason = "sets have fewer than 2^32 of anything")]

use crate::random::SplitMix64;
use crate::record::DataSet;
use ebb_engine::graph::Graph;
use ebb_engine::graph::builder::{Batch, EdgeRow, GraphBuilder, WeightRange};
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::kinds::{EdgeDirection, Kinds, NodeType};
use xxhash_rust::xxh3::Xxh3;

/// Queries of a mix, and seeds of each.
pub(crate) const QUERIES: usize = 32;
pub(crate) const SEEDS: usize = 5;

/// An edge, and what its weight is made of.
#[derive(Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) source: u32,
    pub(crate) target: u32,
    pub(crate) unit: f32,
}

/// How a graph is made of a set.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// What all weights are multiplied by: the class of the queries.
    pub(crate) scale: f32,
    /// Which share of the edges holds back.
    pub(crate) inhibitory: f32,
    /// Whether weights go by `u^4`.
    pub(crate) skewed: bool,
}

impl Shape {
    pub(crate) const PLAIN: Self = Self { scale: 1.0, inhibitory: 0.0, skewed: false };
    /// The classes of queries, by what they multiply weights by.
    pub(crate) const CLASSES: [(&'static str, f32); 3] = [("heavy", 1.0), ("medium", 0.6), ("light", 0.35)];

    pub(crate) fn weight(self, unit: f32) -> f32 {
        let square = unit * unit;
        let unit = if self.skewed { square * square } else { unit };
        (0.05 + 0.95 * unit) * self.scale
    }
}

/// A data set.
pub(crate) struct Set {
    pub(crate) name: String,
    /// What its generator began with.
    pub(crate) seed: u64,
    pub(crate) nodes: u32,
    /// Seeds of queries are drawn among the first so many.
    pub(crate) core: u32,
    pub(crate) edges: Vec<Edge>,
}

impl Set {
    /// The set of a name: `rmat-s12`, `sparse-s12`, `uniform-s12`, `grid-s12`, `code-1k`, `hub-star`, `chain`,
    /// `island-4x`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let scale = || name.rsplit_once("-s").and_then(|(_, scale)| scale.parse::<u32>().ok());
        let (seed, nodes, core, edges) = match name.split('-').next()? {
            "rmat" => {
                let seed = u64::from(scale()?) + 1;
                (seed, 1 << scale()?, None, rmat(seed, scale()?, 16))
            }
            "sparse" => {
                let seed = u64::from(scale()?) + 701;
                (seed, 1 << scale()?, None, rmat(seed, scale()?, 8))
            }
            "uniform" => {
                let (seed, nodes) = (u64::from(scale()?) + 101, 1 << scale()?);
                (seed, nodes, None, uniform(seed, 0..nodes))
            }
            "grid" => (u64::from(scale()?) + 201, 1 << scale()?, None, grid(scale()?)),
            "code" => {
                let thousands: u32 = name.strip_prefix("code-")?.strip_suffix('k')?.parse().ok()?;
                (301, thousands * 1_000, None, code(thousands * 50))
            }
            "hub" => (401, 4_096, None, alone(401, (1..4_096).map(|leaf| (0, leaf)))),
            "chain" => (402, 4_096, None, alone(402, (1..4_096).map(|node| (node - 1, node)))),
            "island" => {
                let times: u32 = name.strip_prefix("island-")?.strip_suffix('x')?.parse().ok()?;
                let nodes = 1_024 * (1 + times);
                let mut edges = rmat(11, 10, 16);
                edges.extend(uniform(501, 1_024..nodes));
                (501, nodes, Some(1_024), edges)
            }
            _ => return None,
        };
        Some(Self { name: name.to_owned(), seed, nodes, core: core.unwrap_or(nodes), edges })
    }

    /// As a file of results tells it.
    pub(crate) fn told(&self) -> DataSet {
        DataSet {
            name: self.name.clone(),
            seed: self.seed,
            checksum: self.checksum(),
            nodes: self.nodes.into(),
            edges: self.edges.len() as u64,
        }
    }

    /// Over all edges and their numbers, in the order they were drawn in.
    pub(crate) fn checksum(&self) -> String {
        let mut sum = Xxh3::new();
        for edge in &self.edges {
            sum.update(&edge.source.to_le_bytes());
            sum.update(&edge.target.to_le_bytes());
            sum.update(&edge.unit.to_bits().to_le_bytes());
        }
        format!("{:016x}", sum.digest())
    }

    /// Its nodes staged, and no edge yet.
    pub(crate) fn nodes_staged(&self) -> GraphBuilder {
        let mut builder = GraphBuilder::new(Kinds::default(), WeightRange { floor: 0.01, cap: 3.0 });
        for node in 0..self.nodes {
            builder.add_node(NodeRow::new(id(node), "", NodeType::Concept)).expect("a new node");
        }
        builder
    }

    /// Its edges staged too.
    pub(crate) fn connect(&self, builder: &mut GraphBuilder, shape: Shape) {
        let staged: Vec<_> = (0..self.nodes).map(|node| builder.find(&id(node)).expect("staged")).collect();
        let kinds = [("LEADS_TO", false), ("INHIBITS", true)]
            .map(|(relation, inhibits)| builder.kind(relation, EdgeDirection::Forward, inhibits));
        let mut lots = SplitMix64(self.seed ^ 0x1b);
        for edge in &self.edges {
            let kind = kinds[usize::from(lots.unit() < shape.inhibitory)];
            let ends = (staged[edge.source as usize], staged[edge.target as usize]);
            builder.connect(ends.0, ends.1, kind, shape.weight(edge.unit)).expect("an edge");
        }
    }

    pub(crate) fn builder(&self, shape: Shape) -> GraphBuilder {
        let mut builder = self.nodes_staged();
        self.connect(&mut builder, shape);
        builder
    }

    pub(crate) fn graph(&self, shape: Shape) -> Graph {
        self.builder(shape).finalize().expect("a graph")
    }

    /// Changes: half of them other weights of edges that are there, half new edges.
    pub(crate) fn batch(&self, count: usize) -> Batch {
        let mut random = SplitMix64(3);
        let edge = |source: u32, target: u32, weight: f32| EdgeRow {
            source: id(source),
            target: id(target),
            relation: "LEADS_TO".to_owned(),
            weight,
            direction: EdgeDirection::Forward,
            inhibitory: false,
            causal: None,
        };
        let mut one = |at: usize| {
            if at.is_multiple_of(2) {
                let known = self.edges[random.below(self.edges.len() as u64) as usize];
                edge(known.source, known.target, random.unit())
            } else {
                let mut node = || random.below(u64::from(self.nodes)) as u32;
                let (source, target) = (node(), node());
                edge(source, target, random.unit())
            }
        };
        Batch { edges: (0..count).map(&mut one).collect(), ..Batch::default() }
    }

    /// Queries of five seeds each, drawn by external id, so that every layout starts from the same nodes.
    pub(crate) fn queries(&self, graph: &Graph) -> Vec<Vec<(NodeId, f32)>> {
        let mut random = SplitMix64(11);
        let mut seed = || loop {
            let drawn = id(random.below(u64::from(self.core)) as u32);
            let node = graph.find(&drawn).expect("every node is there");
            if graph.out_slots(node) > 0 {
                return (node, 1.0);
            }
        };
        (0..QUERIES).map(|_| (0..SEEDS).map(|_| seed()).collect()).collect()
    }
}

/// What a node is called.
pub(crate) fn id(node: u32) -> String {
    format!("n{node:07}")
}

/// So many edges a node of 2^scale, with the usual quarters .57, .19, .19, .05, over permuted ids: few nodes with many
/// neighbours, many with few.
fn rmat(seed: u64, scale: u32, each: usize) -> Vec<Edge> {
    let mut random = SplitMix64(seed);
    let name = random.shuffled(1 << scale);
    let mut edge = |_| {
        let (mut source, mut target) = (0_usize, 0_usize);
        for _ in 0..scale {
            let roll = random.unit();
            let down = usize::from(roll >= 0.76);
            let right = usize::from((0.57..0.76).contains(&roll) || roll >= 0.95);
            (source, target) = (source * 2 + down, target * 2 + right);
        }
        Edge { source: name[source], target: name[target], unit: random.unit() }
    };
    (0..each << scale).map(&mut edge).collect()
}

/// 16 edges for each of these nodes, both ends by lot.
fn uniform(seed: u64, nodes: std::ops::Range<u32>) -> Vec<Edge> {
    let mut random = SplitMix64(seed);
    let count = nodes.end - nodes.start;
    let mut edge = |_| {
        let mut node = || nodes.start + random.below(u64::from(count)) as u32;
        let (source, target) = (node(), node());
        Edge { source, target, unit: random.unit() }
    };
    (0..count * 16).map(&mut edge).collect()
}

/// A square lattice: each node leads to its four neighbours.
fn grid(scale: u32) -> Vec<Edge> {
    let side = 1_u32 << (scale / 2);
    let neighbours = |node: u32| {
        let (x, y) = (node % side, node / side);
        let left = (x > 0).then(|| node - 1);
        let right = (x + 1 < side).then_some(node + 1);
        let above = (y > 0).then(|| node - side);
        let below = (y + 1 < side).then_some(node + side);
        [left, right, above, below].into_iter().flatten().map(move |other| (node, other))
    };
    alone(u64::from(scale) + 201, (0..side * side).flat_map(neighbours))
}

/// Modules of twenty functions: each calls six of its own module, and one of any other.
fn code(modules: u32) -> Vec<Edge> {
    let mut random = SplitMix64(301);
    let mut edges = Vec::new();
    for function in 0..modules * 20 {
        let own = function / 20 * 20;
        for call in 0..7 {
            let called = if call < 6 {
                own + random.below(20) as u32
            } else {
                random.below(u64::from(modules) * 20) as u32
            };
            edges.push(Edge { source: function, target: called, unit: random.unit() });
        }
    }
    edges
}

/// Edges that are given, each with a number by lot.
fn alone(seed: u64, edges: impl Iterator<Item = (u32, u32)>) -> Vec<Edge> {
    let mut random = SplitMix64(seed);
    edges.map(|(source, target)| Edge { source, target, unit: random.unit() }).collect()
}

/// Labels as code and people write them: one to four words, some of them common.
pub(crate) fn labels(count: usize) -> Vec<String> {
    let mut random = SplitMix64(601);
    let onsets: Vec<&str> = "b c d f g h j l m n p r s t v br cr st tr pl ch sh th gr".split(' ').collect();
    let (vowels, codas) =
        (["a", "e", "i", "o", "u", "ea", "io", "ou"], ["", "", "n", "r", "s", "t", "nd", "ck"]);
    let common = ["handler", "service", "manager", "index", "memory"];
    let mut pick = |below: usize| random.below(below as u64) as usize;
    let mut words: Vec<String> = Vec::new();
    for _ in 0..3_000 {
        let syllables = 2 + pick(2);
        words.push(
            (0..syllables).map(|_| [onsets[pick(24)], vowels[pick(8)], codas[pick(8)]].concat()).collect(),
        );
    }
    let mut label = |_| {
        let many = 1 + pick(4);
        let word = |pick: &mut dyn FnMut(usize) -> usize| match pick(4) {
            0 => common[pick(5)].to_owned(),
            // The product of two draws: early words are met often.
            _ => words[pick(55) * pick(55)].clone(),
        };
        let said: Vec<String> = (0..many).map(|_| word(&mut pick)).collect();
        said.join(if pick(2) == 0 { "_" } else { " " })
    };
    (0..count).map(&mut label).collect()
}

/// What is asked of labels: some of them whole, misspelt, and their beginnings.
pub(crate) fn cues(labels: &[String]) -> Vec<String> {
    let long = labels.iter().step_by((labels.len() / 100).max(1)).filter(|label| label.len() > 12);
    let asked = |label: &String| {
        let misspelt = label.chars().enumerate().filter(|(at, _)| *at != 4).map(|(_, c)| c).collect();
        [label.clone(), misspelt, label.chars().take(10).collect()]
    };
    long.flat_map(asked).collect()
}
