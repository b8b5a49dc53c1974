//! Applies a batch of changes: builds the next graph while readers keep the present one.
//!
//! Only rows that the batch touches are recomputed; all others are copied with the new ids of their targets. Degrees,
//! and with them ids, change only where a pair of nodes becomes joined or no longer is, which the sorted reverse
//! index shows. So the computation grows with the batch, and the copying with the graph. Where no node and no slot is added or
//! removed, nothing moves, and what the batch leaves is shared.
//!
//! A relationship that decays has another weight in each generation. Many of these are given as [`Links`] between ids, which
//! need no look-up of names; where there is a slot already, it only gets its weight.

mod moved;
mod names;
mod patch;
mod reweigh;

use super::assemble::{Parts, Slot, Source, assemble, canonical, merged, places, ranked, relations};
use super::{
    EdgeRow, StagedKind, causal_parts, causal_strength, one_way, owned_key, part_of, stage_kind, within,
};
use crate::graph::columns::{Columns, NodeRow, RowView, shared};
use crate::graph::csr::{Relation, SlotKind, WIDE, causal_of};
use crate::graph::index::{NodeId, slots};
use crate::graph::kinds::EdgeDirection;
use crate::graph::raw::{in_large_pages, prefetch};
use crate::graph::{Error, Graph, Lineage};
use names::{Named, UNKNOWN};
use patch::patched;
use reweigh::reweighed;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Changes between two generations of a graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// External ids of nodes to remove with all their relationships; unknown ones are ignored.
    pub removed_nodes: Vec<String>,
    /// Relationships to remove, by source, type and target; unknown ones are ignored.
    pub removed_edges: Vec<(String, String, String)>,
    /// Nodes to add, or to replace the attributes of.
    pub nodes: Vec<NodeRow>,
    /// Relationships to add, or to replace the weights of; of duplicates in a batch the heaviest counts.
    pub edges: Vec<EdgeRow>,
    /// The same between nodes that the graph has and keeps.
    pub links: Vec<Links>,
}

/// Relationships of one type between nodes of a graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Links {
    /// Relationship type.
    pub relation: String,
    /// Directions in which they can be traversed.
    pub direction: EdgeDirection,
    /// Whether they are inhibitory.
    pub inhibitory: bool,
    /// The relationships.
    pub list: Vec<Link>,
}

/// A relationship by the ids of its ends; its numbers are as in an [`EdgeRow`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Its source.
    pub source: NodeId,
    /// Its target.
    pub target: NodeId,
    /// Base weight.
    pub weight: f32,
    /// Causal strengths.
    pub causal: Option<[f32; 2]>,
}

impl Graph {
    /// The graph after a batch, of the next generation: removals are applied first. It equals, byte for byte, the graph that a
    /// builder would make of the changed content, without learned weights.
    ///
    /// # Errors
    /// As [`GraphBuilder::add_node`](super::GraphBuilder::add_node) and
    /// [`GraphBuilder::add_edge`](super::GraphBuilder::add_edge); a node that exists is replaced.
    pub fn apply(&self, batch: &Batch) -> Result<Self, Error> {
        let change = Change::of(self, batch)?;
        if change.keeps_slots() {
            let order: Vec<u32> = self.nodes().map(|node| node.0).collect();
            let lineage = Some(change.lineage(&order));
            return Ok(Self { generation: self.generation.next(), lineage, ..reweighed(&change)? });
        }
        let (degrees, total) = change.degrees();
        let total = slots(total)? as usize;
        let by_rank = change.by_rank();
        let ranks = places(&by_rank, self.node_count() + change.added.len());
        let order = change.order(&degrees, &ranks);
        let columns = Columns::by_column(shared(change.rows_in_any_order())?, || {
            order.iter().map(|old| change.row(*old))
        })?;
        let lineage = change.lineage(&order);
        let parts = Parts {
            range: self.range,
            kinds: self.kinds.clone(),
            slot_kinds: change.slot_kinds.clone(),
            order,
            degrees,
            ranks,
            total,
        };
        let rest = Rest::of(change);
        let next =
            if rest.is_patch() { patched(parts, columns, rest) } else { assemble(parts, columns, rest) };
        Ok(Self { generation: self.generation.next(), lineage: Some(lineage), ..next })
    }
}

/// A slot that gets other numbers.
#[derive(Clone, Copy)]
struct Reweighed {
    at: u32,
    weight: f32,
    causal: f32,
}

/// A slot to remove or replace: its source, its target, the number of its relationship type.
type Gone = (u32, u32, u32);

/// A batch in the ids of the graph it changes; new nodes come after its own.
struct Change<'a> {
    graph: &'a Graph,
    /// New attributes of nodes; and for each node the index of its row from 1, or 0.
    rows: Vec<NodeRow>,
    row_of: Vec<u32>,
    /// Nodes with new attributes.
    given: Vec<u32>,
    /// New nodes by name, with their positions in the order of external ids.
    added: Vec<(&'a str, usize)>,
    /// Ascending.
    removed: Vec<u32>,
    slot_kinds: Vec<SlotKind>,
    /// New number of each kind of the graph, and by the new number that of the relationship type.
    renamed: Vec<u32>,
    /// The same of kinds below 255.
    renamed_narrow: Vec<u8>,
    relations: Vec<u32>,
    /// Sorted.
    gone: Vec<Gone>,
    /// Slots to add, by source.
    new: Vec<(u32, Slot)>,
    /// Slots that stay with other numbers, ascending; and the end of those of each node, if there are any.
    reweighed: Vec<Reweighed>,
    reweighed_ends: Vec<u32>,
}

impl<'a> Change<'a> {
    fn of(graph: &'a Graph, batch: &'a Batch) -> Result<Self, Error> {
        let named = Named::of(graph, batch)?;
        let mut slot_kinds = graph.csr.kinds.clone();
        let mut gone: Vec<(u32, u32, &str)> = Vec::new();
        let held = |node: u32| (node as usize) < graph.node_count();
        for ([source, target], (_, relation, _)) in named.removed_edges.iter().zip(&batch.removed_edges) {
            if !held(*source) || !held(*target) {
                continue;
            }
            gone.push((*source, *target, relation));
            let other_way = graph
                .slot(NodeId(*source), relation, NodeId(*target))
                .is_some_and(|slot| graph.kind(slot).direction == EdgeDirection::Bidirectional);
            if other_way {
                gone.push((*target, *source, relation));
            }
        }
        let mut known = (0..).zip(&slot_kinds).map(|(at, kind)| (owned_key(kind), at)).collect();
        let mut new = fresh(graph, batch, &named, (&mut slot_kinds, &mut known))?;
        let mut linked = linked(graph, batch, &named, (&mut slot_kinds, &mut known))?;
        let renamed = canonical(&mut slot_kinds);
        let slots = new.iter_mut().chain(&mut linked);
        slots.for_each(|(_, slot)| slot.kind = renamed[slot.kind as usize]);
        let relations = relations(&slot_kinds);
        let mut reweighed = found(
            graph,
            linked,
            &mut new,
            |kind| (renamed[kind], relations[renamed[kind] as usize]),
            &relations,
        );
        let cut = gone.into_iter().filter_map(|(source, target, relation)| {
            Some((source, target, relations[Relation::of(&slot_kinds, relation)?.kind()]))
        });
        let replaced = new.iter().map(|(source, slot)| (*source, slot.target, relations[slot.kind as usize]));
        let mut gone: Vec<Gone> = cut.chain(replaced).collect();
        gone.sort_unstable();
        gone.dedup();
        // Where a slot is removed or replaced as well, the link is another one that replaces it.
        reweighed.retain(|(_, source, slot)| {
            let key = (*source, slot.target, relations[slot.kind as usize]);
            let stays = gone.is_empty() || gone.binary_search(&key).is_err();
            new.extend((!stays).then_some((*source, *slot)));
            stays
        });
        let mut reweighed = heaviest(reweighed);
        reweighed.retain(|one| {
            let at = one.at as usize;
            let before = [graph.csr.base[at], graph.csr.causal(at)];
            before.map(f32::to_bits) != [one.weight, one.causal].map(f32::to_bits)
        });
        let mut change = Self {
            graph,
            rows: Vec::new(),
            row_of: Vec::new(),
            given: Vec::new(),
            added: named.added,
            removed: named.removed,
            new: merged_rows(new, &relations),
            reweighed,
            reweighed_ends: Vec::new(),
            slot_kinds,
            renamed_narrow: renamed.iter().map(|kind| u8::try_from(*kind).unwrap_or(WIDE)).collect(),
            renamed,
            relations,
            gone,
        };
        change.reweighed_ends = ends_by_node(graph, &change.reweighed);
        change.take_rows(batch, &named.rows)?;
        Ok(change)
    }

    /// Stores the new attributes of nodes; of several rows of one node the last counts.
    fn take_rows(&mut self, batch: &Batch, ids: &[u32]) -> Result<(), Error> {
        if ids.is_empty() {
            return Ok(());
        }
        self.row_of = vec![0; self.graph.node_count() + self.added.len()];
        for (row, id) in batch.nodes.iter().zip(ids) {
            self.rows.push(row.clone().checked()?);
            self.row_of[*id as usize] = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        }
        self.given = ids.to_vec();
        self.given.sort_unstable();
        self.given.dedup();
        Ok(())
    }

    /// The attributes of all nodes after the change.
    fn rows_in_any_order(&self) -> impl Iterator<Item = RowView<'_>> {
        let count = u32::try_from(self.graph.node_count() + self.added.len()).unwrap_or(u32::MAX);
        (0..count).filter(|node| !self.is_removed(*node)).map(|node| self.row(node))
    }

    fn lineage(&self, order: &[u32]) -> Lineage {
        let places = places(order, self.graph.node_count() + self.added.len());
        let given = self.given.iter().map(|node| NodeId(places[*node as usize])).collect();
        let places = places[..self.graph.node_count()].to_vec();
        // A new node may have the place of a removed one.
        let keeps_ids = order.len() == places.len() && (0..).zip(order).all(|(at, old)| at == *old);
        let keeps_slots = keeps_ids && self.gone.is_empty();
        Lineage { before: Arc::clone(&self.graph.identity), places, given, keeps_ids, keeps_slots }
    }

    /// The slots of a node of the graph that get other numbers.
    fn reweighed(&self, node: u32) -> &[Reweighed] {
        let at = node as usize;
        let Some(end) = self.reweighed_ends.get(at) else { return &[] };
        let begin = at.checked_sub(1).map_or(0, |before| self.reweighed_ends[before]);
        &self.reweighed[begin as usize..*end as usize]
    }

    fn is_removed(&self, node: u32) -> bool {
        !self.removed.is_empty() && self.removed.binary_search(&node).is_ok()
    }

    fn row(&self, old: u32) -> RowView<'_> {
        self.new_row(old).map_or(RowView::Old(&self.graph.columns, old as usize), RowView::New)
    }

    /// The new attributes of a node.
    fn new_row(&self, old: u32) -> Option<&NodeRow> {
        let from_1 = self.row_of.get(old as usize)?;
        self.rows.get(from_1.checked_sub(1)? as usize)
    }

    fn is_gone(&self, source: u32, target: u32, kind: usize) -> bool {
        let relation = self.relations[self.renamed[kind] as usize];
        self.gone.binary_search(&(source, target, relation)).is_ok()
    }
}

/// Positions of kinds of slots.
type KnownKinds = BTreeMap<(String, EdgeDirection, bool), u32>;

/// The slots of the edges of a batch, by the kinds of the graph and new ones.
fn fresh(
    graph: &Graph,
    batch: &Batch,
    named: &Named<'_>,
    (slot_kinds, known): (&mut Vec<SlotKind>, &mut KnownKinds),
) -> Result<Vec<(u32, Slot)>, Error> {
    // Edges of one kind mostly come together.
    let mut last: Option<(&EdgeRow, u32)> = None;
    let mut fresh = Vec::with_capacity(batch.edges.len());
    for (edge, [source, target]) in batch.edges.iter().zip(&named.edges) {
        let dangling = |missing: &String| Error::DanglingEdge {
            source_id: edge.source.clone(),
            target_id: edge.target.clone(),
            missing: missing.clone(),
        };
        for (id, name) in [(source, &edge.source), (target, &edge.target)] {
            if *id == UNKNOWN {
                return Err(dangling(name));
            }
        }
        let weight = part_of("weight", edge.weight, f64::from(f32::MAX), edge)?.min(graph.range.cap) + 0.0;
        let key = |edge: &EdgeRow| (edge.direction, edge.inhibitory);
        let kind = match last {
            Some((of, kind)) if of.relation == edge.relation && key(of) == key(edge) => kind,
            _ => {
                let EdgeRow { relation, direction, inhibitory, .. } = edge;
                stage_kind(&graph.kinds, slot_kinds, known, relation, *direction, *inhibitory).0
            }
        };
        last = Some((edge, kind));
        let by_shares = || {
            let shares = one_way(&graph.kinds, &edge.relation, edge.direction);
            let of_its_kind = || [causal_of(weight, &slot_kinds[kind as usize]); 2];
            shares.map_or_else(of_its_kind, |shares| shares.map(|share| (weight * share).min(1.0)))
        };
        let [along, against] = causal_parts(edge)?.unwrap_or_else(by_shares);
        fresh.push((*source, Slot { target: *target, kind, weight, causal: along }));
        if edge.direction == EdgeDirection::Bidirectional && source != target {
            fresh.push((*target, Slot { target: *source, kind, weight, causal: against }));
        }
    }
    Ok(fresh)
}

/// The slots of the links of a batch, by the kinds of the graph and new ones.
fn linked(
    graph: &Graph,
    batch: &Batch,
    named: &Named<'_>,
    (slot_kinds, known): (&mut Vec<SlotKind>, &mut KnownKinds),
) -> Result<Vec<(u32, Slot)>, Error> {
    let mut linked = Vec::with_capacity(batch.links.iter().map(|links| 2 * links.list.len()).sum());
    for Links { relation, direction, inhibitory, list } in &batch.links {
        if list.is_empty() {
            continue;
        }
        let StagedKind(kind) = stage_kind(&graph.kinds, slot_kinds, known, relation, *direction, *inhibitory);
        let shares = one_way(&graph.kinds, relation, *direction);
        for Link { source, target, weight, causal } in list {
            for end in [source, target] {
                if !graph.has_node(*end) || named.removed.binary_search(&end.0).is_ok() {
                    let [source_id, target_id, missing] =
                        [source, target, end].map(|node| node.0.to_string());
                    return Err(Error::DanglingEdge { source_id, target_id, missing });
                }
            }
            let weight = within("weight", *weight, 0.0, f64::from(f32::MAX))?.min(graph.range.cap) + 0.0;
            let [along, against] = match (causal, shares) {
                (Some([along, against]), _) => [causal_strength(*along)?, causal_strength(*against)?],
                (None, Some(shares)) => shares.map(|share| (weight * share).min(1.0)),
                (None, None) => [causal_of(weight, &slot_kinds[kind as usize]); 2],
            };
            linked.push((source.0, Slot { target: target.0, kind, weight, causal: along }));
            if *direction == EdgeDirection::Bidirectional && source != target {
                linked.push((target.0, Slot { target: source.0, kind, weight, causal: against }));
            }
        }
    }
    Ok(linked)
}

/// A slot of the graph with its source and its new numbers.
type Found = (u32, u32, Slot);

/// The slots that the graph has for links; the others are added to `new`. `kind_of` is the new number of a kind of the graph, and
/// that of its relationship type.
fn found(
    graph: &Graph,
    linked: Vec<(u32, Slot)>,
    new: &mut Vec<(u32, Slot)>,
    kind_of: impl Fn(usize) -> (u32, u32),
    relations: &[u32],
) -> Vec<Found> {
    let mut found = Vec::with_capacity(linked.len());
    for (source, slot) in linked {
        let relation = relations[slot.kind as usize];
        let mut held = graph.between(NodeId(source), NodeId(slot.target));
        let held = held.find(|held| kind_of(graph.csr.kind(held.at())).1 == relation);
        match held.filter(|held| kind_of(graph.csr.kind(held.at())).0 == slot.kind) {
            Some(held) => found.push((held.0, source, slot)),
            None => new.push((source, slot)),
        }
    }
    found
}

/// For each node of a graph the end of its slots among these, which are ascending; nothing without any.
fn ends_by_node(graph: &Graph, reweighed: &[Reweighed]) -> Vec<u32> {
    if reweighed.is_empty() {
        return Vec::new();
    }
    let mut end = 0;
    let mut end_below = |slot: u32| {
        end += reweighed[end..].iter().take_while(|one| one.at < slot).count();
        u32::try_from(end).unwrap_or(u32::MAX)
    };
    graph.csr.offsets.iter().skip(1).map(|slot| end_below(*slot)).collect()
}

/// Sorts by slot and keeps the greatest numbers of each.
fn heaviest(mut found: Vec<Found>) -> Vec<Reweighed> {
    found.sort_unstable_by_key(|(at, ..)| *at);
    let of_slot = found.chunk_by(|a, b| a.0 == b.0);
    let most = |of_slot: &[Found], number: fn(&Slot) -> f32| {
        of_slot.iter().map(|(.., slot)| number(slot)).fold(0.0, f32::max)
    };
    of_slot
        .map(|of_slot| Reweighed {
            at: of_slot[0].0,
            weight: most(of_slot, |slot| slot.weight),
            causal: most(of_slot, |slot| slot.causal),
        })
        .collect()
}

/// Sorts by source and target and keeps the heaviest of equal slots.
fn merged_rows(mut new: Vec<(u32, Slot)>, relations: &[u32]) -> Vec<(u32, Slot)> {
    new.sort_unstable_by_key(|(source, slot)| (*source, slot.target));
    let (mut kept, mut row) = (Vec::with_capacity(new.len()), Vec::new());
    for of_source in new.chunk_by(|a, b| a.0 == b.0) {
        row.clear();
        row.extend(of_source.iter().map(|(_, slot)| *slot));
        let left = merged(&mut row, relations);
        kept.extend(row[..left].iter().map(|slot| (of_source[0].0, *slot)));
    }
    kept
}

/// The rows of the graph after a change, one after the other.
struct Rest<'a> {
    change: Change<'a>,
    /// For each node the index of its changed row from 1, or 0.
    changed: Vec<u32>,
    /// For each changed row its range of `gone` and of `new`.
    parts: Vec<[std::ops::Range<usize>; 2]>,
    /// For each node the last changed row, from 1, that lost a slot to it.
    lost: Vec<u32>,
}

impl<'a> Rest<'a> {
    fn of(change: Change<'a>) -> Self {
        let count = change.graph.node_count() + change.added.len();
        let (mut changed, mut parts) = (in_large_pages(vec![0; count]), Vec::new());
        let mut begin = 0;
        let mut new = 0;
        // Every new slot is among those replaced, so the sources of `gone` include those of `new`.
        for of_source in change.gone.chunk_by(|a, b| a.0 == b.0) {
            let source = of_source[0].0;
            let more = change.new[new..].iter().take_while(|(of, _)| *of == source).count();
            parts.push([begin..begin + of_source.len(), new..new + more]);
            changed[source as usize] = u32::try_from(parts.len()).unwrap_or(u32::MAX);
            (begin, new) = (begin + of_source.len(), new + more);
        }
        Self { changed, parts, lost: in_large_pages(vec![0; count]), change }
    }

    /// Appends the slots of a row of the graph that stay.
    fn stay(&self, node: u32, into: &mut Vec<Slot>, goes: impl Fn(u32, usize) -> bool) {
        let csr = &self.change.graph.csr;
        let (begin, _, end) = csr.row(NodeId(node));
        let mut reweighed = self.change.reweighed(node).iter().peekable();
        for slot in begin..end {
            let (target, kind) = (csr.targets[slot], csr.kind(slot));
            let other = reweighed.next_if(|one| one.at as usize == slot);
            if !goes(target, kind) {
                let known = || (csr.base[slot], csr.causal(slot));
                let (weight, causal) = other.map_or_else(known, |one| (one.weight, one.causal));
                into.push(Slot { target, kind: self.change.renamed[kind], weight, causal });
            }
        }
    }

    /// Whether no slot of a row of the graph is added or removed, unless its target is.
    fn has_same_slots(&self, node: u32) -> bool {
        (node as usize) < self.change.graph.node_count() && self.changed[node as usize] == 0
    }
}

impl Source for Rest<'_> {
    /// Appends the slots of a row after the change, with targets in the ids before it.
    fn fill(&mut self, node: u32, into: &mut Vec<Slot>) {
        let row = self.changed[node as usize];
        let [gone, new] = row.checked_sub(1).map_or([0..0, 0..0], |at| self.parts[at as usize].clone());
        let mut lost = std::mem::take(&mut self.lost);
        for (_, target, _) in &self.change.gone[gone.clone()] {
            lost[*target as usize] = row;
        }
        if (node as usize) < self.change.graph.node_count() {
            let is_gone = |target: u32, kind: usize| {
                lost[target as usize] == row && self.change.is_gone(node, target, kind)
            };
            match (gone.is_empty(), self.change.removed.is_empty()) {
                (true, true) => self.stay(node, into, |_, _| false),
                (false, true) => self.stay(node, into, is_gone),
                (_, false) => self.stay(node, into, |target, kind| {
                    self.change.is_removed(target) || row > 0 && is_gone(target, kind)
                }),
            }
        }
        into.extend(self.change.new[new].iter().map(|(_, slot)| *slot));
        self.lost = lost;
    }

    fn ahead(&self, node: u32) {
        let graph = self.change.graph;
        if (node as usize) < graph.node_count() {
            let (begin, _, _) = graph.csr.row(NodeId(node));
            prefetch(&graph.csr.targets[begin..]);
            prefetch(&graph.csr.base[begin..]);
        }
    }
}
