//! Assembles the arrays of a graph from those of the graph before it.
//!
//! Most rows only get other ids: they are copied with the new ids of their targets, and so are the rows of the reverse index,
//! whose slots move as a whole with the row that they are in. A row is rewritten, as a builder writes it, if slots are added to
//! it or removed from it, or if it is no longer sorted by its new weights and ids.
//!
//! Invariant: the arrays are those of a builder, byte for byte (held by `graph::tests::apply_equals_build`).

use super::super::assemble::{Arrays, Parts, Source, forget_unused, len, placed, strength};
use super::{Change, Rest};
use crate::graph::columns::Columns;
use crate::graph::csr::{Slots, WIDE};
use crate::graph::index::NodeId;
use crate::graph::raw::{in_large_pages, prefetch};
use crate::graph::{Graph, Lineage};
use std::sync::Arc;

/// Share of slots in changed rows from which on copying the others is not worth it.
const MUCH: usize = 4;
/// How many rows ahead the reverse index is prefetched.
const AHEAD: usize = 12;
/// Place of a row that was not copied.
const REWRITTEN: u32 = u32::MAX;

impl Rest<'_> {
    /// Whether most rows can be copied.
    pub(super) fn is_patch(&self) -> bool {
        let graph = self.change.graph;
        let held = |source: &u32| (*source as usize) < graph.node_count();
        let sources = self.change.gone.chunk_by(|a, b| a.0 == b.0).map(|of_source| of_source[0].0);
        let slots: usize = sources.filter(held).map(|source| graph.out_slots(NodeId(source))).sum();
        let has_few_kinds = graph.csr.wide.is_empty() && self.change.slot_kinds.len() <= usize::from(WIDE);
        has_few_kinds && slots <= graph.slot_count() / MUCH
    }
}

/// A row that was copied: the new id of its node, and how far its slots have moved.
#[derive(Clone, Copy)]
struct Copied {
    place: u32,
    shift: u32,
}

/// A slot of a rewritten row: its target, its source and its index, in the order of the reverse index.
type Rewritten = (u32, u32, u32);

/// Writes the rows in the order of the new ids.
pub(super) fn patched(parts: Parts, mut columns: Columns, mut rest: Rest<'_>) -> Graph {
    let Parts { range, kinds, slot_kinds, order, degrees, ranks, total } = parts;
    let place = placed(&mut columns, &order, &degrees, &ranks);
    drop((degrees, ranks));
    let graph = rest.change.graph;
    let mut arrays = Arrays::of(&slot_kinds, order.len(), total);
    let mut copied = in_large_pages(vec![Copied { place: REWRITTEN, shift: 0 }; graph.node_count()]);
    let mut rewritten: Vec<Rewritten> = Vec::new();
    let mut is_reweighed = vec![false; order.len()];
    let mut row = Vec::new();
    for (at, (new, old)) in (0..).zip(&order).enumerate() {
        if let Some(ahead) = order.get(at + AHEAD) {
            rest.ahead(*ahead);
        }
        let first = arrays.slots.targets.len();
        if rest.has_same_slots(*old) && copy_row(&mut arrays, &rest.change, *old, &place) {
            let (begin, tail, _) = graph.csr.row(NodeId(*old));
            let reweighed = rest.change.reweighed(*old);
            for one in reweighed {
                is_reweighed[arrays.slots.targets[first + one.at as usize - begin] as usize] = true;
            }
            let known = graph.columns.out_strength[*old as usize];
            let exc = &arrays.slots.base[first..first + tail - begin];
            columns.out_strength.push(if reweighed.is_empty() { known } else { strength(range, exc) });
            let shift = len(&arrays.slots.targets[..first]).wrapping_sub(graph.csr.offsets[*old as usize]);
            copied[*old as usize] = Copied { place: new, shift };
            continue;
        }
        let exc = arrays.append(&mut rest, *old, &place, &mut row);
        columns.out_strength.push(strength(range, &arrays.slots.base[first..first + exc]));
        let slots = len(&arrays.slots.targets[..first])..;
        rewritten.extend(slots.zip(&row).map(|(slot, of)| (of.target, new, slot)));
    }
    drop(place);
    let mut slots = arrays.finish();
    slots.kinds = slot_kinds;
    forget_unused(&mut slots);
    rewritten.sort_unstable();
    let sources = Sources { graph, copied: &copied, rewritten: &rewritten, is_reweighed: &is_reweighed };
    sources.turn_round(&mut slots, &mut columns, &order);
    Graph::of(kinds, range, Arc::new(slots), columns)
}

/// Appends a row of the graph before, with its new weights; does nothing and returns `false` if it would not be sorted, or has a
/// slot to a removed node.
fn copy_row(arrays: &mut Arrays, change: &Change<'_>, old: u32, place: &[u32]) -> bool {
    let from = &change.graph.csr;
    let (begin, tail, end) = from.row(NodeId(old));
    let reweighed = change.reweighed(old);
    let Arrays { slots, causes, causal, .. } = arrays;
    let first = slots.targets.len();
    slots.targets.extend(from.targets[begin..end].iter().map(|target| place[*target as usize]));
    slots.base.extend_from_slice(&from.base[begin..end]);
    slots.kind.extend(from.kind[begin..end].iter().map(|kind| change.renamed_narrow[usize::from(*kind)]));
    for one in reweighed {
        slots.base[first + one.at as usize - begin] = one.weight;
    }
    let (exc, end_now) = (first + tail - begin, slots.targets.len());
    let is_left = change.removed.is_empty() || !slots.targets[first..].contains(&Lineage::REMOVED);
    if !is_left || !slots.is_sorted(first..exc) || !slots.is_sorted(exc..end_now) {
        slots.targets.truncate(first);
        slots.base.truncate(first);
        slots.kind.truncate(first);
        return false;
    }
    if from.causal.is_some() || !reweighed.is_empty() || !causal.is_empty() {
        let known = |slot: usize| {
            let at = reweighed.binary_search_by_key(&slot, |one| one.at as usize);
            at.map_or_else(|_| from.causal(slot), |at| reweighed[at].causal)
        };
        let deviates = |slot: &usize| {
            let now = first + slot - begin;
            known(*slot).to_bits()
                != (slots.base[now] * causes[usize::from(slots.kind[now])]).min(1.0).to_bits()
        };
        // Kept from the first slot on that differs from its kind.
        let from_here = if causal.is_empty() { (begin..end).find(deviates) } else { Some(begin) };
        causal.extend(from_here.into_iter().flat_map(|slot| slot..end).map(known));
    }
    arrays.end_row(exc);
    true
}

/// Sources of the slots to each node: of copied rows from the reverse index before, and those of rewritten ones.
struct Sources<'a> {
    graph: &'a Graph,
    copied: &'a [Copied],
    rewritten: &'a [Rewritten],
    /// For each node whether a copied slot to it has another weight.
    is_reweighed: &'a [bool],
}

impl Sources<'_> {
    /// Builds the reverse index and the sums of incoming weights.
    fn turn_round(&self, slots: &mut Slots, columns: &mut Columns, order: &[u32]) {
        let (before, total) = (&self.graph.csr, slots.targets.len());
        slots.rev_offsets = Vec::with_capacity(order.len() + 1);
        slots.rev_offsets.push(0);
        slots.rev_sources = in_large_pages(Vec::with_capacity(total));
        slots.rev_edge_idx = in_large_pages(Vec::with_capacity(total));
        let (mut rest, mut pairs) = (self.rewritten, Vec::<(u32, u32)>::new());
        for (at, old) in order.iter().enumerate() {
            let first = slots.rev_sources.len();
            let held = (*old as usize) < self.graph.node_count();
            let row = match held {
                true => {
                    before.rev_offsets[*old as usize] as usize..before.rev_offsets[*old as usize + 1] as usize
                }
                false => 0..0,
            };
            if let Some(ahead) =
                order.get(at + AHEAD).filter(|ahead| (**ahead as usize) < self.graph.node_count())
            {
                let begin = before.rev_offsets[*ahead as usize] as usize;
                prefetch(&before.rev_sources[begin..]);
                prefetch(&before.rev_edge_idx[begin..]);
            }
            for (source, slot) in
                before.rev_sources[row.clone()].iter().zip(&before.rev_edge_idx[row.clone()])
            {
                let Copied { place, shift } = self.copied[*source as usize];
                if place != REWRITTEN {
                    slots.rev_sources.push(place);
                    slots.rev_edge_idx.push(slot.wrapping_add(shift));
                }
            }
            let more = rest.iter().take_while(|(target, ..)| *target as usize == at).count();
            let (own, others) = rest.split_at(more);
            rest = others;
            let is_sorted = slots.rev_sources[first..].is_sorted();
            let is_same = own.is_empty() && is_sorted && slots.rev_sources.len() - first == row.len();
            if !own.is_empty() || !is_sorted {
                pairs.clear();
                let kept = slots.rev_sources[first..].iter().zip(&slots.rev_edge_idx[first..]);
                pairs.extend(kept.map(|(source, slot)| (*source, *slot)));
                pairs.extend(own.iter().map(|(_, source, slot)| (*source, *slot)));
                // Two sorted runs mostly, which this merges.
                pairs.sort();
                slots.rev_sources.truncate(first);
                slots.rev_edge_idx.truncate(first);
                slots.rev_sources.extend(pairs.iter().map(|(source, _)| source));
                slots.rev_edge_idx.extend(pairs.iter().map(|(_, slot)| slot));
            }
            slots.rev_offsets.push(len(&slots.rev_sources));
            columns.in_strength[at] = match held && is_same && !self.is_reweighed[at] {
                true => self.graph.columns.in_strength[*old as usize],
                false => self.strength(slots, first),
            };
        }
    }

    /// Sum of the clamped base weights of the excitatory slots of the reverse index from one on.
    fn strength(&self, slots: &Slots, first: usize) -> f64 {
        let range = self.graph.range;
        let own = slots.rev_sources[first..].iter().zip(&slots.rev_edge_idx[first..]);
        let excitatory = own.filter(|(source, slot)| **slot < slots.exc_end[**source as usize]);
        // An empty sum is -0.
        excitatory.map(|(_, slot)| f64::from(range.clamp(slots.base[*slot as usize]))).sum::<f64>() + 0.0
    }
}
