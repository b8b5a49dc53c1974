//! Assembles the arrays of a graph from those of the graph before it.
//!
//! Most rows only get other ids: they are copied with the new ids of their targets, and so are the rows of the reverse index,
//! whose slots move as a whole with the row that they are in. A row is rewritten, as a builder writes it, if slots are added to
//! it or removed from it, or if it is no longer sorted by its new weights and ids.
//!
//! Invariant: the arrays are those of a builder, byte for byte (held by `graph::tests::apply_equals_build`).

use super::super::assemble::{Arrays, Parts, Source, forget_unused, len, placed};
use super::{Change, Rest};
use crate::graph::columns::Columns;
use crate::graph::csr::{BOUND_BLOCK, Csr, WIDE};
use crate::graph::index::{Generation, NodeId};
use crate::graph::raw::{in_large_pages, prefetch};
use crate::graph::{Graph, Lineage};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

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
    let mut arrays = Arrays::of(&slot_kinds, range, order.len(), total);
    let mut copied = in_large_pages(vec![Copied { place: REWRITTEN, shift: 0 }; graph.node_count()]);
    let mut rewritten: Vec<Rewritten> = Vec::new();
    let mut is_reweighed = vec![false; order.len()];
    let strength = |bases: &[f32]| {
        let sum: f64 = bases.iter().map(|base| f64::from(range.clamp(*base))).sum();
        #[expect(clippy::cast_possible_truncation, reason = "rounded once; at most 2^32 weights of 16")]
        // An empty sum is -0.
        let sum = (sum + 0.0) as f32;
        sum
    };
    let mut row = Vec::new();
    for (at, (new, old)) in (0..).zip(&order).enumerate() {
        if let Some(ahead) = order.get(at + AHEAD) {
            rest.ahead(*ahead);
        }
        let first = arrays.csr.targets.len();
        if rest.has_same_slots(*old) && copy_row(&mut arrays, &rest.change, *old, &place) {
            let (begin, tail, _) = graph.csr.row(NodeId(*old));
            let reweighed = rest.change.reweighed(*old);
            for one in reweighed {
                is_reweighed[arrays.csr.targets[first + one.at as usize - begin] as usize] = true;
            }
            let known = graph.columns.out_strength[*old as usize];
            let exc = &arrays.csr.base[first..first + tail - begin];
            columns.out_strength.push(if reweighed.is_empty() { known } else { strength(exc) });
            let shift = len(&arrays.csr.targets[..first]).wrapping_sub(graph.csr.offsets[*old as usize]);
            copied[*old as usize] = Copied { place: new, shift };
            continue;
        }
        let exc = arrays.append(&mut rest, *old, &place, &mut row);
        columns.out_strength.push(strength(&arrays.csr.base[first..first + exc]));
        let slots = len(&arrays.csr.targets[..first])..;
        rewritten.extend(slots.zip(&row).map(|(slot, of)| (of.target, new, slot)));
    }
    drop(place);
    let mut csr = arrays.finish();
    csr.kinds = slot_kinds;
    forget_unused(&mut csr);
    rewritten.sort_unstable();
    let sources = Sources { graph, copied: &copied, rewritten: &rewritten, is_reweighed: &is_reweighed };
    sources.turn_round(&mut csr, &mut columns, &order);
    Graph {
        generation: Generation::default(),
        range,
        kinds,
        csr,
        columns,
        identity: Arc::default(),
        lineage: None,
    }
}

/// Appends a row of the graph before, with its new weights; does nothing and returns `false` if it would not be sorted, or has a
/// slot to a removed node.
fn copy_row(arrays: &mut Arrays, change: &Change<'_>, old: u32, place: &[u32]) -> bool {
    let from = &change.graph.csr;
    let (begin, tail, end) = from.row(NodeId(old));
    let reweighed = change.reweighed(old);
    let Arrays { csr, range, causes, causal, .. } = arrays;
    let first = csr.targets.len();
    csr.targets.extend(from.targets[begin..end].iter().map(|target| place[*target as usize]));
    csr.base.extend_from_slice(&from.base[begin..end]);
    for one in reweighed {
        csr.base[first + one.at as usize - begin] = one.weight;
    }
    let exc = first + tail - begin;
    let is_sorted = |range: Range<usize>| {
        let (base, targets) = (&csr.base[range.clone()], &csr.targets[range]);
        let pairs = base.windows(2).zip(targets.windows(2));
        pairs
            .into_iter()
            .all(|(base, targets)| base[0] > base[1] || base[0] >= base[1] && targets[0] <= targets[1])
    };
    let end_now = csr.targets.len();
    let is_left = change.removed.is_empty() || !csr.targets[first..].contains(&Lineage::REMOVED);
    if !is_left || !is_sorted(first..exc) || !is_sorted(exc..end_now) {
        csr.targets.truncate(first);
        csr.base.truncate(first);
        return false;
    }
    csr.kind.extend(from.kind[begin..end].iter().map(|kind| change.renamed_narrow[usize::from(*kind)]));
    let effective = |base: &f32| AtomicU32::new(range.clamp(*base).to_bits());
    csr.weights.extend(csr.base[first..].iter().map(effective));
    for part in [first..exc, exc..end_now] {
        csr.bounds.extend(csr.base[part].chunks(BOUND_BLOCK).map(|block| effective(&block[0])));
    }
    if from.causal.is_some() || !reweighed.is_empty() || !causal.is_empty() {
        let known = |slot: usize| {
            let at = reweighed.binary_search_by_key(&slot, |one| one.at as usize);
            at.map_or_else(|_| from.causal(slot), |at| reweighed[at].causal)
        };
        let deviates = |slot: &usize| {
            let now = first + slot - begin;
            known(*slot).to_bits() != (csr.base[now] * causes[usize::from(csr.kind[now])]).min(1.0).to_bits()
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
    fn turn_round(&self, csr: &mut Csr, columns: &mut Columns, order: &[u32]) {
        let (before, total) = (&self.graph.csr, csr.targets.len());
        csr.rev_offsets = Vec::with_capacity(order.len() + 1);
        csr.rev_offsets.push(0);
        csr.rev_sources = in_large_pages(Vec::with_capacity(total));
        csr.rev_edge_idx = in_large_pages(Vec::with_capacity(total));
        let (mut rest, mut pairs) = (self.rewritten, Vec::<(u32, u32)>::new());
        for (at, old) in order.iter().enumerate() {
            let first = csr.rev_sources.len();
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
                    csr.rev_sources.push(place);
                    csr.rev_edge_idx.push(slot.wrapping_add(shift));
                }
            }
            let more = rest.iter().take_while(|(target, ..)| *target as usize == at).count();
            let (own, others) = rest.split_at(more);
            rest = others;
            let is_sorted = csr.rev_sources[first..].is_sorted();
            let is_same = own.is_empty() && is_sorted && csr.rev_sources.len() - first == row.len();
            if !own.is_empty() || !is_sorted {
                pairs.clear();
                let kept = csr.rev_sources[first..].iter().zip(&csr.rev_edge_idx[first..]);
                pairs.extend(kept.map(|(source, slot)| (*source, *slot)));
                pairs.extend(own.iter().map(|(_, source, slot)| (*source, *slot)));
                // Two sorted runs mostly, which this merges.
                pairs.sort();
                csr.rev_sources.truncate(first);
                csr.rev_edge_idx.truncate(first);
                csr.rev_sources.extend(pairs.iter().map(|(source, _)| source));
                csr.rev_edge_idx.extend(pairs.iter().map(|(_, slot)| slot));
            }
            csr.rev_offsets.push(len(&csr.rev_sources));
            columns.in_strength[at] = match held && is_same && !self.is_reweighed[at] {
                true => self.graph.columns.in_strength[*old as usize],
                false => self.strength(csr, first),
            };
        }
    }

    /// Sum of the clamped base weights of the excitatory slots of the reverse index from one on.
    fn strength(&self, csr: &Csr, first: usize) -> f64 {
        let range = self.graph.range;
        let slots = csr.rev_sources[first..].iter().zip(&csr.rev_edge_idx[first..]);
        let excitatory = slots.filter(|(source, slot)| **slot < csr.exc_end[**source as usize]);
        // An empty sum is -0.
        excitatory.map(|(_, slot)| f64::from(range.clamp(csr.base[*slot as usize]))).sum::<f64>() + 0.0
    }
}
