//! From rows to a graph, and from a graph and what changed to the next one: same content, same bytes.
//!
//! A graph under construction cannot be asked anything, and a finished one cannot be changed: [`GraphBuilder::finalize`]
//! consumes the one and makes the other, and [`Graph::apply`] makes a new one beside that which readers hold. Both end in
//! `assemble`, so what is patched and what is rebuilt cannot differ.
//!
//! # Design notes
//! Ids go by undirected degree, greatest first, then by the bytes of external ids: nodes that are often met lie side by
//! side, and no id depends on the order in which rows came. Slots with the same source, relation and target are merged to
//! the one with the larger base weight. Nothing here is sorted as a whole: slots are counted into rows, and rows are short.

mod apply;
mod assemble;
mod rows;

pub use apply::Batch;

use super::columns::{Columns, NodeRow, RowView, shared};
use super::csr::{SlotKind, causal_of};
use super::index::{nodes, slots};
use super::interner::StringInterner;
use super::kinds::{EdgeDirection, Kinds};
use super::number::check_amount;
use super::raw::prefetch;
use super::{Error, Graph};
use assemble::{Parts, assemble, canonical, len, ordered, places, ranked};
use rows::{Rows, Staging};
use std::collections::{BTreeMap, BTreeSet};

/// How many nodes ahead what they carry is asked for.
const AHEAD: usize = 8;

/// Between what effective weights lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightRange {
    /// The least, `0.01 ..= 1`.
    pub floor: f32,
    /// The greatest, `1 ..= 16`.
    pub cap: f32,
}

impl Default for WeightRange {
    fn default() -> Self {
        Self { floor: 0.05, cap: 3.0 }
    }
}

impl WeightRange {
    /// Checked.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::ParameterOutOfRange`].
    pub fn checked(self) -> Result<Self, Error> {
        within("WEIGHT_FLOOR", self.floor, 0.01, 1.0)?;
        within("WEIGHT_CAP", self.cap, 1.0, 16.0)?;
        Ok(self)
    }

    /// A weight that is effective.
    #[must_use]
    pub fn clamp(&self, weight: f32) -> f32 {
        weight.clamp(self.floor, self.cap)
    }
}

/// A number of a range; `name` stands in the error.
pub(crate) fn within(name: &'static str, value: f32, min: f64, max: f64) -> Result<f32, Error> {
    if !value.is_finite() {
        return Err(Error::NonFinite { field: name, owner: value.to_string() });
    }
    if !(min..=max).contains(&f64::from(value)) {
        return Err(Error::ParameterOutOfRange { name: name.to_owned(), value: f64::from(value), min, max });
    }
    Ok(value)
}

/// A relationship as it comes into a graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EdgeRow {
    /// The external id of the node it begins at.
    pub source: String,
    /// The external id of the node it leads to.
    pub target: String,
    /// Its type.
    pub relation: String,
    /// Its base weight, at least 0; more than the cap is the cap.
    pub weight: f32,
    /// Which ways it can be walked.
    pub direction: EdgeDirection,
    /// Whether it holds back.
    pub inhibitory: bool,
    /// How much of it is cause, `0 ..= 1`, where that is not what its kind says.
    pub causal: Option<f32>,
}

/// A node that is staged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Staged(u32);

/// A kind of slots that is staged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StagedKind(u32);

#[derive(Debug, Clone, Copy)]
struct PendingEdge {
    source: u32,
    target: u32,
    kind: u32,
    weight: f32,
}

/// Collects nodes and relationships.
#[derive(Debug)]
pub struct GraphBuilder {
    kinds: Kinds,
    range: WeightRange,
    ids: StringInterner,
    rows: Vec<NodeRow>,
    slot_kinds: Vec<SlotKind>,
    known_kinds: BTreeMap<(String, EdgeDirection, bool), u32>,
    edges: Vec<PendingEdge>,
    /// What an edge causes, where that is not what its kind says; by the place of the edge.
    causal: BTreeMap<usize, f32>,
    doubled: usize,
    /// Edges of which only the half as it stands is meant, by place.
    halves: BTreeSet<usize>,
}

impl Default for GraphBuilder {
    fn default() -> Self {
        Self::new(Kinds::default(), WeightRange::default())
    }
}

impl GraphBuilder {
    /// An empty one.
    #[must_use]
    pub fn new(kinds: Kinds, range: WeightRange) -> Self {
        Self {
            kinds,
            range,
            ids: StringInterner::default(),
            rows: Vec::new(),
            slot_kinds: Vec::new(),
            known_kinds: BTreeMap::new(),
            edges: Vec::new(),
            causal: BTreeMap::new(),
            doubled: 0,
            halves: BTreeSet::new(),
        }
    }

    /// Adds a node.
    ///
    /// # Errors
    /// [`Error::DuplicateNode`], [`Error::TooManyNodes`], and for a number that is none.
    pub fn add_node(&mut self, row: NodeRow) -> Result<Staged, Error> {
        let row = row.checked()?;
        nodes(self.rows.len() + 1)?;
        let handle = self.ids.intern(&row.external_id)?;
        if handle.at() < self.rows.len() {
            return Err(Error::DuplicateNode { external_id: row.external_id });
        }
        self.rows.push(row);
        Ok(Staged(handle.0))
    }

    /// The node of an external id.
    #[must_use]
    pub fn find(&self, external_id: &str) -> Option<Staged> {
        self.ids.find(external_id).map(|handle| Staged(handle.0))
    }

    /// The kind of slots of a relation that can be walked so.
    pub fn kind(&mut self, relation: &str, direction: EdgeDirection, inhibitory: bool) -> StagedKind {
        stage_kind(&self.kinds, &mut self.slot_kinds, &mut self.known_kinds, relation, direction, inhibitory)
    }

    /// Adds a relationship between nodes that are there.
    ///
    /// # Errors
    /// [`Error::DanglingEdge`] for a node that is not; [`Error::NonFinite`], [`Error::ParameterOutOfRange`] for a weight
    /// that is none; [`Error::TooManySlots`].
    pub fn add_edge(&mut self, edge: &EdgeRow) -> Result<(), Error> {
        let end = |name: &String| {
            self.find(name).ok_or_else(|| Error::DanglingEdge {
                source_id: edge.source.clone(),
                target_id: edge.target.clone(),
                missing: name.clone(),
            })
        };
        let (source, target) = (end(&edge.source)?, end(&edge.target)?);
        let causal = edge.causal.map(|causal| part_of("causal_strength", causal, 1.0, edge)).transpose()?;
        let weight = part_of("weight", edge.weight, f64::from(f32::MAX), edge)?;
        let kind = self.kind(&edge.relation, edge.direction, edge.inhibitory);
        self.connect(source, target, kind, weight)?;
        let at = self.edges.len() - 1;
        let of_its_kind = causal_of(self.edges[at].weight, &self.slot_kinds[kind.0 as usize]);
        if let Some(causal) = causal.filter(|causal| causal.to_bits() != of_its_kind.to_bits()) {
            self.causal.insert(at, causal);
        }
        Ok(())
    }

    /// Adds a relationship between nodes that are there, as the rule of its type says that it is walked.
    pub fn relate(&mut self, source: &str, relation: &str, target: &str, weight: f32) -> Result<(), Error> {
        let rule = self.kinds.of(relation);
        self.add_edge(&EdgeRow {
            source: source.to_owned(),
            target: target.to_owned(),
            relation: relation.to_owned(),
            weight,
            direction: rule.direction,
            inhibitory: rule.inhibitory,
            causal: None,
        })
    }

    /// Adds a relationship between staged nodes, of a weight that is at least 0.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::ParameterOutOfRange`], [`Error::TooManySlots`].
    pub fn connect(
        &mut self,
        source: Staged,
        target: Staged,
        kind: StagedKind,
        weight: f32,
    ) -> Result<(), Error> {
        let weight = within("weight", weight, 0.0, f64::from(f32::MAX))?.min(self.range.cap) + 0.0;
        if self.is_doubled(source.0, target.0, kind.0) {
            self.doubled += 1;
        }
        slots(self.edges.len() + 1 + self.doubled)?;
        self.edges.push(PendingEdge { source: source.0, target: target.0, kind: kind.0, weight });
        Ok(())
    }

    /// Adds one slot, of a relationship that can be walked both ways too: its other half is another call.
    pub fn add_slot(&mut self, edge: &EdgeRow) -> Result<(), Error> {
        let end = self.edges.len();
        self.add_edge(edge)?;
        let added = self.edges[end];
        if self.is_doubled(added.source, added.target, added.kind) {
            self.doubled -= 1;
            self.halves.insert(end);
        }
        Ok(())
    }

    fn is_doubled(&self, source: u32, target: u32, kind: u32) -> bool {
        source != target && self.slot_kinds[kind as usize].direction == EdgeDirection::Bidirectional
    }

    /// The graph of all that was added.
    ///
    /// # Errors
    /// [`Error::InternerFull`] beyond 4 GiB of names.
    pub fn finalize(mut self) -> Result<Graph, Error> {
        let renamed = canonical(&mut self.slot_kinds);
        let slot_kinds = self.slot_kinds.clone();
        let doubles: Vec<bool> = renamed
            .iter()
            .map(|kind| slot_kinds[*kind as usize].direction == EdgeDirection::Bidirectional)
            .collect();
        let halves = std::mem::take(&mut self.halves);
        let both = |at: usize, edge: &PendingEdge| {
            doubles[edge.kind as usize]
                && edge.source != edge.target
                && (halves.is_empty() || !halves.contains(&at))
        };
        let staging = Staging {
            nodes: self.rows.len(),
            edges: std::mem::take(&mut self.edges),
            causal: std::mem::take(&mut self.causal),
            kinds: &slot_kinds,
            renamed: &renamed,
        };
        let (rows, degrees) = Rows::of(staging, both);
        let by_rank = ranked(self.rows.iter().map(|row| row.external_id.as_str()));
        let order = ordered(&degrees, &by_rank);
        let shared = shared(self.rows.iter().map(RowView::New))?;
        let near = |node: &u32| &self.rows[*node as usize];
        let nodes = order.iter().enumerate().map(|(at, node)| {
            // Rows come in no order, and their names lie elsewhere again.
            if let Some(ahead) = order.get(at + 2 * AHEAD) {
                prefetch(std::slice::from_ref(near(ahead)));
            }
            if let Some(ahead) = order.get(at + AHEAD) {
                prefetch(near(ahead).external_id.as_bytes());
                prefetch(near(ahead).label.as_bytes());
            }
            RowView::New(near(node))
        });
        let columns = Columns::of(shared, nodes)?;
        let parts = Parts {
            range: self.range,
            kinds: self.kinds,
            slot_kinds: self.slot_kinds,
            ranks: places(&by_rank, by_rank.len()),
            total: rows.len(),
            order,
            degrees,
        };
        Ok(assemble(parts, columns, rows))
    }
}

fn owned_key(kind: &SlotKind) -> (String, EdgeDirection, bool) {
    (kind.relation.clone(), kind.direction, kind.inhibitory)
}

fn stage_kind(
    kinds: &Kinds,
    slot_kinds: &mut Vec<SlotKind>,
    known: &mut BTreeMap<(String, EdgeDirection, bool), u32>,
    relation: &str,
    direction: EdgeDirection,
    inhibitory: bool,
) -> StagedKind {
    let key = (relation.to_owned(), direction, inhibitory);
    StagedKind(*known.entry(key).or_insert_with(|| {
        let causal = kinds.of(relation).causal;
        slot_kinds.push(SlotKind { relation: relation.to_owned(), direction, inhibitory, causal });
        len(slot_kinds) - 1
    }))
}

/// A number of a relationship, `0 ..= max`.
fn part_of(name: &'static str, value: f32, max: f64, edge: &EdgeRow) -> Result<f32, Error> {
    let owner = || format!("{} -{}-> {}", edge.source, edge.relation, edge.target);
    check_amount(name, owner, f64::from(value), max)?;
    Ok(value + 0.0)
}
