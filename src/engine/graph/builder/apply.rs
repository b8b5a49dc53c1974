//! Applies a batch of changes: builds the next graph while readers keep the present one.
//!
//! Only rows that the batch touches are recomputed; all others are copied with the new ids of their targets. Degrees,
//! and with them ids, change only where a pair of nodes becomes joined or no longer is, which the sorted reverse
//! index shows. So the computation grows with the batch, and the copying with the graph.

mod moved;
mod names;

use super::assemble::{Parts, Slot, Source, assemble, canonical, merged, places, ranked, relations};
use super::{EdgeRow, causal_parts, one_way, owned_key, part_of, stage_kind};
use crate::graph::columns::{Columns, NodeRow, RowView, shared};
use crate::graph::csr::{Relation, SlotKind, causal_of};
use crate::graph::index::{NodeId, slots};
use crate::graph::kinds::EdgeDirection;
use crate::graph::raw::{in_large_pages, prefetch};
use crate::graph::{Error, Graph};
use names::{Named, UNKNOWN};
use std::collections::BTreeMap;

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
        let (degrees, total) = change.degrees();
        let total = slots(total)? as usize;
        let by_rank = change.by_rank();
        let ranks = places(&by_rank, self.node_count() + change.added.len());
        let order = change.order(&degrees, &ranks);
        let nodes = || order.iter().map(|old| change.row(*old));
        let columns = Columns::of(shared(nodes())?, nodes())?;
        let parts = Parts {
            range: self.range,
            kinds: self.kinds.clone(),
            slot_kinds: change.slot_kinds.clone(),
            order,
            degrees,
            ranks,
            total,
        };
        let mut next = assemble(parts, columns, Rest::of(change));
        next.generation = self.generation.next();
        Ok(next)
    }
}

/// A slot to remove or replace: its source, its target, the number of its relationship type.
type Gone = (u32, u32, u32);

/// A batch in the ids of the graph it changes; new nodes come after its own.
struct Change<'a> {
    graph: &'a Graph,
    /// New attributes of nodes; and for each node the index of its row from 1, or 0.
    rows: Vec<NodeRow>,
    row_of: Vec<u32>,
    added: Vec<&'a str>,
    /// Ascending.
    removed: Vec<u32>,
    slot_kinds: Vec<SlotKind>,
    /// New number of each kind of the graph, and by the new number that of the relationship type.
    renamed: Vec<u32>,
    relations: Vec<u32>,
    /// Sorted.
    gone: Vec<Gone>,
    /// Slots to add, by source.
    new: Vec<(u32, Slot)>,
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
        let mut new = fresh(graph, batch, &named, &mut slot_kinds)?;
        let renamed = canonical(&mut slot_kinds);
        new.iter_mut().for_each(|(_, slot)| slot.kind = renamed[slot.kind as usize]);
        let relations = relations(&slot_kinds);
        let cut = gone.into_iter().filter_map(|(source, target, relation)| {
            Some((source, target, relations[Relation::of(&slot_kinds, relation)?.kind()]))
        });
        let replaced = new.iter().map(|(source, slot)| (*source, slot.target, relations[slot.kind as usize]));
        let mut gone: Vec<Gone> = cut.chain(replaced).collect();
        gone.sort_unstable();
        gone.dedup();
        let mut change = Self {
            graph,
            rows: Vec::new(),
            row_of: Vec::new(),
            added: named.added,
            removed: named.removed,
            new: merged_rows(new, &relations),
            slot_kinds,
            renamed,
            relations,
            gone,
        };
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
        Ok(())
    }

    fn is_removed(&self, node: u32) -> bool {
        !self.removed.is_empty() && self.removed.binary_search(&node).is_ok()
    }

    fn row(&self, old: u32) -> RowView<'_> {
        let changed = self.row_of.get(old as usize).and_then(|from_1| from_1.checked_sub(1));
        match changed.and_then(|at| self.rows.get(at as usize)) {
            Some(row) => RowView::New(row),
            None => RowView::Old(&self.graph.columns, old as usize),
        }
    }

    fn is_gone(&self, source: u32, target: u32, kind: usize) -> bool {
        let relation = self.relations[self.renamed[kind] as usize];
        self.gone.binary_search(&(source, target, relation)).is_ok()
    }
}

/// The slots of the edges of a batch, by the kinds of the graph and new ones.
fn fresh(
    graph: &Graph,
    batch: &Batch,
    named: &Named<'_>,
    slot_kinds: &mut Vec<SlotKind>,
) -> Result<Vec<(u32, Slot)>, Error> {
    let mut known: BTreeMap<_, _> = (0..).zip(&*slot_kinds).map(|(at, kind)| (owned_key(kind), at)).collect();
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
                stage_kind(&graph.kinds, slot_kinds, &mut known, relation, *direction, *inhibitory).0
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
        for slot in begin..end {
            let (target, kind) = (csr.targets[slot], csr.kind(slot));
            if !goes(target, kind) {
                let (kind, weight) = (self.change.renamed[kind], csr.base[slot]);
                into.push(Slot { target, kind, weight, causal: csr.causal(slot) });
            }
        }
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
