//! A graph as lists of plain values, for any format of serde: all that a graph holds, also what the [JSON
//! file](super::codec) lacks (tier, session, partial nodes, a causal strength of each slot).
//!
//! A [`Graph`] is written without a copy of it, and read as [`GraphRows`], which a builder turns into a graph: so each
//! row is checked, and the graph equals the one that was written, with base weights and without PageRank. The format
//! follows from the types: who stores it adds a version and a checksum.

use super::builder::{GraphBuilder, StagedKind, StagedNode, WeightRange};
use super::columns::NodeRow;
use super::index::{EdgeIdx, Generation, NodeId};
use super::kinds::{EdgeDirection, Kinds};
use super::{Error, Graph};
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// A graph as it was read.
#[derive(Debug, serde::Deserialize)]
pub struct GraphRows {
    generation: u64,
    nodes: Vec<NodeRow>,
    /// Type, direction and polarity of each kind of slots.
    kinds: Vec<(String, EdgeDirection, bool)>,
    /// Number of slots of each node.
    lengths: Vec<u32>,
    /// Target, kind, base weight and causal strength of each slot, by source.
    slots: Vec<(u32, u32, f32, f32)>,
}

/// A list that is written without being collected.
struct ListOf<I>(I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for ListOf<I> {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        into.collect_seq(self.0.clone())
    }
}

/// As [`GraphRows`].
impl Serialize for Graph {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        let upto = |count: usize| 0..u32::try_from(count).unwrap_or(u32::MAX);
        let nodes = upto(self.node_count()).map(|node| self.row(NodeId(node)));
        let kinds = self.csr.kinds.iter().map(|kind| (&kind.relation, kind.direction, kind.inhibitory));
        let slot = |slot: u32| {
            let at = EdgeIdx(slot);
            (self.target(at).0, self.csr.kind(at.at()), self.base(at), self.causal(at))
        };
        let mut rows = into.serialize_struct("GraphRows", 5)?;
        rows.serialize_field("generation", &self.generation.0)?;
        rows.serialize_field("nodes", &ListOf(nodes))?;
        rows.serialize_field("kinds", &ListOf(kinds))?;
        rows.serialize_field("lengths", &ListOf(self.csr.offsets.windows(2).map(|row| row[1] - row[0])))?;
        rows.serialize_field("slots", &ListOf(upto(self.slot_count()).map(slot)))?;
        rows.end()
    }
}

impl GraphRows {
    /// Builds the graph, of the generation it had, with effective weights in `range`. `kinds` are for later batches.
    ///
    /// # Errors
    /// Those of [`GraphBuilder`], and [`Error::CorruptSnapshot`] for a slot without its node or its kind.
    pub fn build(self, kinds: Kinds, range: WeightRange) -> Result<Graph, Error> {
        let Self { generation, nodes, kinds: slot_kinds, lengths, slots } = self;
        let corrupt = |path: &str, reason: &str| Error::CorruptSnapshot {
            path: path.to_owned(),
            reason: reason.to_owned(),
        };
        let total: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
        if lengths.len() != nodes.len() || total != slots.len() as u64 {
            return Err(corrupt("lengths", "they are not those of the nodes and slots"));
        }
        let mut builder = GraphBuilder::new(kinds, range.checked()?);
        let staged: Vec<StagedNode> =
            nodes.into_iter().map(|row| builder.add_node(row)).collect::<Result<_, Error>>()?;
        let staged_kinds: Vec<StagedKind> = slot_kinds
            .iter()
            .map(|(relation, direction, inhibitory)| builder.kind(relation, *direction, *inhibitory))
            .collect();
        let mut slots = slots.into_iter();
        for (source, length) in staged.iter().zip(lengths) {
            for (target, kind, weight, causal) in slots.by_ref().take(length as usize) {
                let (target, kind) = (staged.get(target as usize), staged_kinds.get(kind as usize));
                let (Some(target), Some(kind)) = (target, kind) else {
                    return Err(corrupt("slots", "a slot has no target or no kind"));
                };
                builder.connect_slot(*source, *target, *kind, weight, causal)?;
            }
        }
        Ok(builder.finalize()?.with_generation(Generation(generation)))
    }
}
