//! Writes a graph, node by node and slot by slot: needs memory for a buffer and one row only.

use super::checksum::SummedWriter;
use super::{EXACT_MS, SNAPSHOT_VERSION};
use crate::graph::Graph;
use crate::graph::index::{EdgeIdx, NodeId};
use crate::graph::kinds::{EdgeDirection, NodeType};
use crate::graph::metadata::Metadata;
use crate::graph::provenance::Provenance;
use crate::graph::snapshot::Snapshot;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::io::{self, BufWriter, Write};

/// Writes the graph of a snapshot. Same content, same bytes.
///
/// # Errors
/// I/O errors, and [`io::ErrorKind::InvalidData`] for a number that is not finite. An incomplete file is rejected when
/// read.
pub fn write(snapshot: &Snapshot, into: impl Write) -> io::Result<()> {
    let graph = &snapshot.graph;
    let mut out = BufWriter::with_capacity(64 * 1024, SummedWriter::new(into));
    write!(out, "{{\"version\":{SNAPSHOT_VERSION},\"nodes\":[")?;
    let mut separator = "\n";
    for node in graph.by_rank() {
        check_finite(&[graph.change_frequency(node)], || format!("the node {}", graph.external_id(node)))?;
        out.write_all(separator.as_bytes())?;
        serde_json::to_writer(&mut out, &Node(graph, node))?;
        separator = ",\n";
    }
    out.write_all(b"\n],\"edges\":[")?;
    separator = "\n";
    let mut row: Vec<EdgeIdx> = Vec::new();
    for source in graph.by_rank() {
        row.clear();
        row.extend(graph.slots(source));
        row.sort_unstable_by_key(|slot| (graph.rank(graph.target(*slot)), graph.relation(*slot)));
        for edge in row.iter().filter_map(|slot| Edge::of(graph, source, *slot)) {
            check_finite(&[edge.weight, edge.causal_strength], || {
                format!("the edge {} {} {}", edge.source_id, edge.relation, edge.target_id)
            })?;
            out.write_all(separator.as_bytes())?;
            serde_json::to_writer(&mut out, &edge)?;
            separator = ",\n";
        }
    }
    SummedWriter::finish(out)
}

/// Refuses numbers that JSON has no form for: they would be written as `null`, and the file would be rejected when read.
fn check_finite(numbers: &[f32], owner: impl Fn() -> String) -> io::Result<()> {
    if numbers.iter().all(|number| number.is_finite()) {
        return Ok(());
    }
    let reason = format!("{} has a number that is not finite", owner());
    Err(io::Error::new(io::ErrorKind::InvalidData, reason))
}

/// A node as an object of the file.
struct Node<'a>(&'a Graph, NodeId);

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(graph, node) = *self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("external_id", graph.external_id(node))?;
        map.serialize_entry("label", graph.label(node))?;
        match graph.node_type(node) {
            NodeType::Custom(n) => map.serialize_entry("node_type", &format_args!("custom:{n}"))?,
            named => map.serialize_entry("node_type", &named.code())?,
        }
        map.serialize_entry("tags", &graph.tags(node).collect::<Vec<_>>())?;
        match graph.last_modified(node) {
            Some(ms) if ms % 1_000 == 0 || ms.unsigned_abs() > EXACT_MS => {
                map.serialize_entry("last_modified", &(ms / 1_000))?;
            }
            #[expect(clippy::cast_precision_loss, reason = "at most 2^50")]
            Some(ms) => map.serialize_entry("last_modified", &(ms as f64 / 1_000.0))?,
            None => {}
        }
        map.serialize_entry("change_frequency", &graph.change_frequency(node))?;
        if let Some(known) = graph.provenance(node) {
            map.serialize_entry("provenance", &Origin(&known))?;
        }
        if let Some(metadata) = graph.metadata(node).map(Metadata::canonical) {
            map.serialize_entry("metadata", &metadata.fields())?;
        }
        map.end()
    }
}

/// The provenance of a node, without unknown fields.
struct Origin<'a>(&'a Provenance);

impl Serialize for Origin<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Provenance { source_path, line_start, line_end, excerpt, namespace, canonical } = self.0;
        let mut map = to.serialize_map(None)?;
        if let Some(source_path) = source_path {
            map.serialize_entry("source_path", source_path)?;
        }
        for (name, line) in [("line_start", line_start), ("line_end", line_end)] {
            if let Some(line) = line {
                map.serialize_entry(name, line)?;
            }
        }
        for (name, text) in [("excerpt", excerpt), ("namespace", namespace)] {
            if let Some(text) = text {
                map.serialize_entry(name, text)?;
            }
        }
        map.serialize_entry("canonical", canonical)?;
        map.end()
    }
}

#[derive(Serialize)]
struct Edge<'a> {
    source_id: &'a str,
    target_id: &'a str,
    relation: &'a str,
    weight: f32,
    direction: u8,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    half: bool,
    inhibitory: bool,
    causal_strength: f32,
}

impl<'a> Edge<'a> {
    /// The edge of a slot; `None` for the second of two slots that are written as one edge.
    fn of(graph: &'a Graph, source: NodeId, slot: EdgeIdx) -> Option<Self> {
        let (kind, target) = (graph.kind(slot), graph.target(slot));
        let both = kind.direction == EdgeDirection::Bidirectional;
        let mirrored = both && is_mirrored(graph, source, slot);
        if mirrored && graph.rank(target) < graph.rank(source) {
            return None;
        }
        Some(Self {
            source_id: graph.external_id(source),
            target_id: graph.external_id(target),
            relation: &kind.relation,
            weight: graph.base(slot),
            direction: u8::from(mirrored),
            half: both && !mirrored,
            inhibitory: kind.inhibitory,
            causal_strength: graph.causal(slot),
        })
    }
}

/// Whether the opposite slot has the same kind, weight and causal strength. A self-loop is its own opposite.
fn is_mirrored(graph: &Graph, source: NodeId, slot: EdgeIdx) -> bool {
    let csr = &graph.csr;
    let like =
        |slot: EdgeIdx| (csr.kind(slot.at()), csr.base[slot.at()].to_bits(), csr.causal(slot.at()).to_bits());
    // The reverse index is sorted by source, so a hub is not scanned for each of its neighbours.
    let back = csr.rev_offsets[source.at()] as usize..csr.rev_offsets[source.at() + 1] as usize;
    let (sources, slots) = (&csr.rev_sources[back.clone()], &csr.rev_edge_idx[back]);
    let target = graph.target(slot).0;
    let first = sources.partition_point(|other| *other < target);
    let from_target = sources[first..].iter().take_while(|other| **other == target);
    from_target.zip(&slots[first..]).any(|(_, other)| like(EdgeIdx(*other)) == like(slot))
}
