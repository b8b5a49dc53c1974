//! The graph of a view for other programs and for people.
//!
//! A mirror holds no energies: they are read from the store for an export, as of its instant, a page of memories at once.

use super::Error;
use crate::clock::rfc3339;
use crate::domain::ids::{MemoryKey, Scope};
use crate::domain::units::Timestamp;
use crate::service::Service;
use ebb_engine::View;
use ebb_engine::graph::graphml::NodeData;
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::kinds::NodeType;
use ebb_engine::graph::{codec, graphml, visit};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;

/// Memories that are read at once.
const PAGE: usize = 1_000;

/// Energies of memories by the names of their nodes.
pub type Energies = BTreeMap<String, f64>;

/// The hottest part of a graph: see [`hottest`].
#[derive(Debug, Clone, PartialEq)]
pub struct HottestPart {
    /// Memories by energy, then the nodes that most of these are connected with.
    pub nodes: Vec<HotNode>,
    /// Connected pairs, by their places among the nodes, each with the heaviest of its relationships.
    pub ties: Vec<Tie>,
    /// Number of nodes of the whole graph.
    pub of: usize,
}

/// A node of the hottest part.
#[derive(Debug, Clone, PartialEq)]
pub struct HotNode {
    /// Text for people, or its id if there is none.
    pub label: String,
    /// Name of its type, such as Memory.
    pub kind: String,
    /// Name of its tier, if it is a memory.
    pub tier: Option<String>,
    /// Energy, if it is a memory.
    pub energy: Option<f64>,
}

/// A connected pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tie {
    pub ends: (usize, usize),
    pub weight: f32,
    /// Whether all of its relationships inhibit.
    pub inhibits: bool,
}

/// Writes the graph of a view as a snapshot, JSON version 3.
pub fn export(view: &View, into: impl io::Write) -> io::Result<()> {
    codec::write(view.snapshot(), into)
}

/// Writes the graph of a view as GraphML 1.0, memories with these energies.
pub fn export_graphml(view: &View, energies: &Energies, into: impl io::Write) -> io::Result<()> {
    let graph = view.graph();
    let date = |ms: Option<i64>| ms.and_then(|ms| Timestamp::from_millis(ms).ok()).map(rfc3339);
    let data = |node: NodeId| NodeData {
        kind: view.kind(node),
        tier: graph.tier(node),
        energy: energies.get(graph.external_id(node)).copied(),
        created: date(view.created(node)),
        last_used: date(graph.last_modified(node)),
    };
    graphml::write(graph, data, into)
}

/// A drawing of the `nodes_max` nodes with the most neighbours, in the DOT language of GraphViz.
#[must_use]
pub fn dot(view: &View, nodes_max: usize) -> String {
    visit::dot(view.graph(), nodes_max)
}

/// At most `nodes_max` nodes for a picture: the memories of the most energy, up to three in five, and the other nodes that most of
/// these are connected with; where these are few, the nodes with the most neighbours.
#[must_use]
pub fn hottest(view: &View, energies: &Energies, nodes_max: usize) -> HottestPart {
    let graph = view.graph();
    let energy = |node: NodeId| energies.get(graph.external_id(node)).copied();
    let mut memories: Vec<(NodeId, f64)> =
        graph.nodes().filter_map(|node| Some((node, energy(node)?))).collect();
    memories.sort_by(|a, b| b.1.total_cmp(&a.1).then(graph.rank(a.0).cmp(&graph.rank(b.0))));
    memories.truncate(nodes_max * 3 / 5);
    let mut chosen: Vec<NodeId> = memories.into_iter().map(|(node, _)| node).collect();
    let mut connected: BTreeMap<NodeId, usize> = BTreeMap::new();
    for node in &chosen {
        for target in graph.slots(*node).map(|slot| graph.target(slot)) {
            *connected.entry(target).or_default() += 1;
        }
    }
    let mut others: Vec<(NodeId, usize)> =
        connected.into_iter().filter(|(node, _)| energy(*node).is_none()).collect();
    others.sort_by_key(|(node, count)| (Reverse(*count), graph.rank(*node)));
    chosen.extend(others.into_iter().map(|(node, _)| node).take(nodes_max - chosen.len()));
    for node in graph.nodes() {
        if chosen.len() >= nodes_max {
            break;
        }
        if !chosen.contains(&node) {
            chosen.push(node);
        }
    }
    HottestPart {
        ties: ties(view, &chosen),
        nodes: chosen.iter().map(|node| hot(view, *node, energy(*node))).collect(),
        of: graph.node_count(),
    }
}

fn hot(view: &View, node: NodeId, energy: Option<f64>) -> HotNode {
    let graph = view.graph();
    let label = if graph.label(node).trim().is_empty() { graph.external_id(node) } else { graph.label(node) };
    HotNode {
        label: label.to_owned(),
        kind: view.kind(node).into_owned(),
        tier: graph.tier(node).map(str::to_owned),
        energy,
    }
}

fn ties(view: &View, chosen: &[NodeId]) -> Vec<Tie> {
    let (graph, at) = (view.graph(), chosen.iter().copied().zip(0..).collect::<BTreeMap<NodeId, usize>>());
    let mut ties: BTreeMap<(usize, usize), (f32, bool)> = BTreeMap::new();
    for (node, from) in &at {
        for slot in graph.slots(*node) {
            let Some(to) = at.get(&graph.target(slot)).filter(|to| *to != from) else { continue };
            let (weight, inhibits) = (graph.base(slot), graph.kind(slot).inhibitory);
            let known = ties.entry((*from.min(to), *from.max(to))).or_insert((weight, inhibits));
            *known = (known.0.max(weight), known.1 && inhibits);
        }
    }
    ties.into_iter().map(|(ends, (weight, inhibits))| Tie { ends, weight, inhibits }).collect()
}

impl Service {
    /// The energies of the memories of a view, now.
    pub async fn energies(&self, scope: &Scope, view: &View) -> Result<Energies, Error> {
        let (at, tunables) = (self.instant(None).await?, self.store.tunables().await?);
        let graph = view.graph();
        let names = graph.nodes().filter(|node| graph.node_type(*node) == NodeType::MEMORY);
        let names: Vec<&str> = names.map(|node| graph.external_id(node)).collect();
        let mut energies = Energies::new();
        for page in names.chunks(PAGE) {
            let id = |name: &str| name.strip_prefix("Memory:").unwrap_or(name).to_owned();
            let by_id: BTreeMap<String, &str> = page.iter().map(|name| (id(name), *name)).collect();
            let keys: Vec<MemoryKey> = by_id.keys().map(|id| MemoryKey::of_row(scope.as_str(), id)).collect();
            for record in self.store.memories(&keys).await? {
                if let (Ok(life), Some(name)) = (record.life, by_id.get(&record.id)) {
                    energies.insert((*name).to_owned(), life.state.energy_now(at, &tunables).value());
                }
            }
        }
        Ok(energies)
    }
}
