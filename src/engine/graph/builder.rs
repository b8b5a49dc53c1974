//! Builds a graph from rows, and the next graph from a batch of changes: same content, same bytes.
//!
//! [`GraphBuilder::finalize`] consumes the builder and returns a graph; [`Graph::apply`] builds a new graph beside the one
//! that readers use. Both end in `assemble`, so a patched and a rebuilt graph cannot differ.
//!
//! # Design notes
//! Ids are assigned by undirected degree, greatest first, then by the bytes of external ids: nodes that are often
//! visited are adjacent in memory, and no id depends on the order in which rows were added. Slots with the same source,
//! relation and target are merged to the one with the larger base weight. There is no global sort: slots are counted
//! into rows, and rows are short.

mod apply;
mod assemble;
mod rows;

pub use apply::{Batch, Link, Links};
pub(crate) use assemble::{head_of, ranked};

use super::columns::{Columns, NodeRow, RowView, shared};
use super::csr::{SlotKind, causal_of};
use super::index::{nodes, slots};
use super::interner::StringInterner;
use super::kinds::{EdgeDirection, Kinds};
use super::number::check_amount;
use super::raw::prefetch;
use super::{Error, Graph};
use assemble::{Parts, assemble, canonical, len, ordered, places};
use rows::{Rows, Staging};
use std::collections::BTreeMap;

/// How many nodes ahead their attributes are prefetched.
const AHEAD: usize = 8;

/// Range of effective weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightRange {
    /// Least weight, `0.01 ..= 1`.
    pub floor: f32,
    /// Greatest weight, `1 ..= 16`.
    pub cap: f32,
}

impl Default for WeightRange {
    fn default() -> Self {
        Self { floor: 0.05, cap: 3.0 }
    }
}

impl WeightRange {
    /// Checks both bounds.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::ParameterOutOfRange`].
    pub fn checked(self) -> Result<Self, Error> {
        within("WEIGHT_FLOOR", self.floor, 0.01, 1.0)?;
        within("WEIGHT_CAP", self.cap, 1.0, 16.0)?;
        Ok(self)
    }

    /// Clamps a weight to the range.
    #[must_use]
    pub fn clamp(&self, weight: f32) -> f32 {
        weight.clamp(self.floor, self.cap)
    }
}

/// Checks that a number is finite and in its range; `name` is used in the error. Ends of the range are compared as the nearest
/// `f32`: 0.01 is one of them.
pub(crate) fn within(name: &'static str, value: f32, min: f64, max: f64) -> Result<f32, Error> {
    if !value.is_finite() {
        return Err(Error::NonFinite { field: name, owner: value.to_string() });
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most the greatest f32, rounded as a literal is")]
    let (least, greatest) = (min as f32, max as f32);
    if !(least..=greatest).contains(&value) {
        return Err(Error::ParameterOutOfRange { name: name.to_owned(), value: f64::from(value), min, max });
    }
    Ok(value)
}

/// Checks a causal strength; `-0.0` becomes `0.0`, so that equal strengths have equal bits.
fn causal_strength(value: f32) -> Result<f32, Error> {
    Ok(within("causal_strength", value, 0.0, 1.0)? + 0.0)
}

/// A relationship to add to a graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EdgeRow {
    /// External id of the source.
    pub source: String,
    /// External id of the target.
    pub target: String,
    /// Relationship type.
    pub relation: String,
    /// Base weight, at least 0; values above the cap become the cap.
    pub weight: f32,
    /// Directions in which it can be traversed.
    pub direction: EdgeDirection,
    /// Whether it is inhibitory.
    pub inhibitory: bool,
    /// Causal strengths, `0 ..= 1`, where they differ from those of its kind: in its direction, and against it.
    pub causal: Option<[f32; 2]>,
}

/// A node of a builder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StagedNode(u32);

/// A kind of slots of a builder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StagedKind(u32);

/// Marks an edge, in its kind, of which only one slot is added: a saved graph has a slot a row, many millions of them.
const HALF: u32 = 1 << 31;

#[derive(Debug, Clone, Copy)]
struct PendingEdge {
    source: u32,
    target: u32,
    kind: u32,
    weight: f32,
}

impl PendingEdge {
    const fn kind(&self) -> usize {
        (self.kind & !HALF) as usize
    }

    /// Whether it becomes two slots, where `doubles` says so of a kind.
    fn is_both(&self, doubles: impl Fn(usize) -> bool) -> bool {
        self.kind & HALF == 0 && self.source != self.target && doubles(self.kind())
    }
}

/// Collects nodes and relationships for a [`Graph`].
#[derive(Debug)]
pub struct GraphBuilder {
    kinds: Kinds,
    range: WeightRange,
    ids: StringInterner,
    rows: Vec<NodeRow>,
    slot_kinds: Vec<SlotKind>,
    known_kinds: BTreeMap<(String, EdgeDirection, bool), u32>,
    edges: Vec<PendingEdge>,
    /// Causal shares by kind, where those of its two slots differ.
    one_way: Vec<Option<[f32; 2]>>,
    /// Causal strengths by index of the edge, ascending, where they differ from those of its kind.
    causal: Vec<(usize, [f32; 2])>,
    doubled: usize,
}

impl Default for GraphBuilder {
    fn default() -> Self {
        Self::new(Kinds::default(), WeightRange::default())
    }
}

impl GraphBuilder {
    /// An empty builder; the range of weights is checked by [`Self::finalize`].
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
            one_way: Vec::new(),
            causal: Vec::new(),
            doubled: 0,
        }
    }

    /// Adds a node.
    ///
    /// # Errors
    /// [`Error::DuplicateNode`], [`Error::TooManyNodes`], and for a number outside its range.
    pub fn add_node(&mut self, row: NodeRow) -> Result<StagedNode, Error> {
        let row = row.checked()?;
        nodes(self.rows.len() + 1)?;
        let handle = self.ids.intern(&row.external_id)?;
        if handle.at() < self.rows.len() {
            return Err(Error::DuplicateNode { external_id: row.external_id });
        }
        self.rows.push(row);
        Ok(StagedNode(handle.0))
    }

    /// The node with an external id.
    #[must_use]
    pub fn find(&self, external_id: &str) -> Option<StagedNode> {
        self.ids.find(external_id).map(|handle| StagedNode(handle.0))
    }

    /// The kind of slots of a relationship type with this direction and polarity.
    pub fn kind(&mut self, relation: &str, direction: EdgeDirection, inhibitory: bool) -> StagedKind {
        let kind = stage_kind(
            &self.kinds,
            &mut self.slot_kinds,
            &mut self.known_kinds,
            relation,
            direction,
            inhibitory,
        );
        for of in &self.slot_kinds[self.one_way.len()..] {
            self.one_way.push(one_way(&self.kinds, &of.relation, of.direction));
        }
        kind
    }

    /// Adds a relationship between nodes that were added before.
    ///
    /// # Errors
    /// [`Error::DanglingEdge`] for an unknown node; [`Error::NonFinite`], [`Error::ParameterOutOfRange`] for a weight outside
    /// its range; [`Error::TooManySlots`].
    pub fn add_edge(&mut self, edge: &EdgeRow) -> Result<(), Error> {
        self.add(edge, 0)
    }

    fn add(&mut self, edge: &EdgeRow, mark: u32) -> Result<(), Error> {
        let end = |name: &String| {
            self.find(name).ok_or_else(|| Error::DanglingEdge {
                source_id: edge.source.clone(),
                target_id: edge.target.clone(),
                missing: name.clone(),
            })
        };
        let (source, target) = (end(&edge.source)?, end(&edge.target)?);
        let causal = causal_parts(edge)?;
        let weight = part_of("weight", edge.weight, f64::from(f32::MAX), edge)?;
        let kind = self.kind(&edge.relation, edge.direction, edge.inhibitory);
        self.stage([source, target], kind, weight, causal, mark)
    }

    /// Adds a relationship between nodes, with the direction and polarity that [`Kinds`] has for its type.
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

    /// Adds a relationship of a weight of at least 0 between nodes of this builder.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::ParameterOutOfRange`], [`Error::TooManySlots`].
    pub fn connect(
        &mut self,
        source: StagedNode,
        target: StagedNode,
        kind: StagedKind,
        weight: f32,
    ) -> Result<(), Error> {
        self.connect_causal(source, target, kind, weight, None)
    }

    /// As [`Self::connect`], with causal strengths, `0 ..= 1`, where they differ from those of its kind: in its direction,
    /// and against it.
    ///
    /// # Errors
    /// As [`Self::connect`].
    pub fn connect_causal(
        &mut self,
        source: StagedNode,
        target: StagedNode,
        kind: StagedKind,
        weight: f32,
        causal: Option<[f32; 2]>,
    ) -> Result<(), Error> {
        self.stage([source, target], kind, weight, causal, 0)
    }

    fn stage(
        &mut self,
        [source, target]: [StagedNode; 2],
        kind: StagedKind,
        weight: f32,
        causal: Option<[f32; 2]>,
        mark: u32,
    ) -> Result<(), Error> {
        let weight = within("weight", weight, 0.0, f64::from(f32::MAX))?.min(self.range.cap) + 0.0;
        let causal = match causal {
            Some([along, against]) => Some([causal_strength(along)?, causal_strength(against)?]),
            None => None,
        };
        let edge = PendingEdge { source: source.0, target: target.0, kind: kind.0 | mark, weight };
        let doubles = |kind: usize| self.slot_kinds[kind].direction == EdgeDirection::Bidirectional;
        self.doubled += usize::from(edge.is_both(doubles));
        slots(self.edges.len() + 1 + self.doubled)?;
        let shares = self.one_way[kind.0 as usize];
        let by_shares = || shares.map(|shares| shares.map(|share| (weight * share).min(1.0)));
        if let Some(causal) = causal.or_else(by_shares) {
            let of_its_kind = causal_of(weight, &self.slot_kinds[kind.0 as usize]);
            if causal.iter().any(|causal| causal.to_bits() != of_its_kind.to_bits()) {
                self.causal.push((self.edges.len(), causal));
            }
        }
        self.edges.push(edge);
        Ok(())
    }

    /// Adds a single slot, also for a type that can be traversed both ways.
    pub fn add_slot(&mut self, edge: &EdgeRow) -> Result<(), Error> {
        self.add(edge, HALF)
    }

    /// As [`Self::add_slot`], between nodes of this builder, with its causal strength, `0 ..= 1`.
    ///
    /// # Errors
    /// As [`Self::connect`].
    pub fn connect_slot(
        &mut self,
        source: StagedNode,
        target: StagedNode,
        kind: StagedKind,
        weight: f32,
        causal: f32,
    ) -> Result<(), Error> {
        self.stage([source, target], kind, weight, Some([causal; 2]), HALF)
    }

    /// Builds the graph.
    ///
    /// # Errors
    /// As [`WeightRange::checked`] for the range of weights; [`Error::InternerFull`] beyond 4 GiB of names.
    pub fn finalize(mut self) -> Result<Graph, Error> {
        let range = self.range.checked()?;
        let renamed = canonical(&mut self.slot_kinds);
        let slot_kinds = self.slot_kinds.clone();
        let doubles: Vec<bool> = renamed
            .iter()
            .map(|kind| slot_kinds[*kind as usize].direction == EdgeDirection::Bidirectional)
            .collect();
        let both = |edge: &PendingEdge| edge.is_both(|kind| doubles[kind]);
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
            // Rows are in no order, and their names are stored elsewhere again.
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
            range,
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
        let causal_share = kinds.of(relation).causal_share(direction);
        slot_kinds.push(SlotKind { relation: relation.to_owned(), direction, inhibitory, causal_share });
        len(slot_kinds) - 1
    }))
}

/// Causal shares of a kind whose two slots differ in them.
fn one_way(kinds: &Kinds, relation: &str, direction: EdgeDirection) -> Option<[f32; 2]> {
    let [along, against] = kinds.of(relation).causal;
    let differs = direction == EdgeDirection::Bidirectional && along.to_bits() != against.to_bits();
    differs.then_some([along, against])
}

/// Causal strengths of a relationship, checked.
fn causal_parts(edge: &EdgeRow) -> Result<Option<[f32; 2]>, Error> {
    let Some([along, against]) = edge.causal else { return Ok(None) };
    let part = |causal| part_of("causal_strength", causal, 1.0, edge);
    Ok(Some([part(along)?, part(against)?]))
}

/// Checks a number of a relationship, `0 ..= max`.
fn part_of(name: &'static str, value: f32, max: f64, edge: &EdgeRow) -> Result<f32, Error> {
    let owner = || format!("{} -{}-> {}", edge.source, edge.relation, edge.target);
    check_amount(name, owner, f64::from(value), max)?;
    Ok(value + 0.0)
}
