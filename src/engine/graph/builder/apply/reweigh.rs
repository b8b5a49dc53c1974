//! Writes the graph after a batch that adds and removes no node and no slot: with other attributes and numbers only.
//!
//! Ids, bounds of rows and sources stay, and so do all slots where no number is another: they are shared. Else slots are copied as a
//! whole, and a row is sorted again where its new weights are out of order; the reverse index follows the slots that move.
//!
//! Invariant: the arrays are those of a builder, byte for byte (held by `graph::tests::apply_equals_build`).

use super::{Change, Reweighed};
use crate::graph::builder::assemble::strength;
use crate::graph::columns::{Columns, shared};
use crate::graph::csr::Slots;
use crate::graph::index::NodeId;
use crate::graph::{Error, Graph};
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

impl Change<'_> {
    /// Whether all nodes and slots stay.
    pub(super) fn keeps_slots(&self) -> bool {
        self.added.is_empty()
            && self.removed.is_empty()
            && self.gone.is_empty()
            && self.slot_kinds == self.graph.csr.kinds
            && self.graph.csr.wide.is_empty()
    }
}

/// The graph after a change that keeps all slots.
pub(super) fn reweighed(change: &Change<'_>) -> Result<Graph, Error> {
    let graph = change.graph;
    let mut columns = match change.given.is_empty() {
        true => graph.columns.clone(),
        false => {
            let given = change.given.iter().filter_map(|node| Some((*node as usize, change.new_row(*node)?)));
            Columns::after(&graph.columns, shared(change.rows_in_any_order())?, given)?
        }
    };
    columns.pagerank.fill(0.0);
    let mut slots = Arc::clone(&graph.csr.slots);
    if !change.reweighed.is_empty() {
        reweigh(Arc::make_mut(&mut slots), &mut columns, change);
    }
    Ok(Graph::of(graph.kinds.clone(), graph.range, slots, columns))
}

/// Sets the new numbers of slots, and what follows from them.
fn reweigh(slots: &mut Slots, columns: &mut Columns, change: &Change<'_>) {
    let range = change.graph.range;
    let mut is_target = vec![false; columns.len()];
    for one in &change.reweighed {
        slots.base[one.at as usize] = one.weight;
        is_target[slots.targets[one.at as usize] as usize] = true;
    }
    let deviates = |one: &Reweighed| !slots.is_of_kind(one.at as usize, one.causal);
    if slots.causal.is_some() || change.reweighed.iter().any(deviates) {
        let known = slots.causal.take();
        let mut causal =
            known.unwrap_or_else(|| (0..slots.targets.len()).map(|slot| slots.causal(slot)).collect());
        change.reweighed.iter().for_each(|one| causal[one.at as usize] = one.causal);
        let is_kept = causal.iter().enumerate().any(|(slot, causal)| !slots.is_of_kind(slot, *causal));
        slots.causal = is_kept.then_some(causal);
    }
    let mut row = Row::default();
    for node in change.graph.nodes().filter(|node| !change.reweighed(node.0).is_empty()) {
        let (begin, tail, end) = slots.row(node);
        row.sort(slots, node, begin..tail);
        row.sort(slots, node, tail..end);
        columns.out_strength[node.at()] = strength(range, &slots.base[begin..tail]);
    }
    // In the order of a builder, which decides the last digit of a sum.
    let sums = &mut columns.in_strength;
    sums.iter_mut().zip(&is_target).filter(|(_, is_target)| **is_target).for_each(|(sum, _)| *sum = 0.0);
    for (row, tail) in slots.offsets.windows(2).zip(&slots.exc_end) {
        let exc = row[0] as usize..*tail as usize;
        for (target, base) in slots.targets[exc.clone()].iter().zip(&slots.base[exc]) {
            if is_target[*target as usize] {
                sums[*target as usize] += f64::from(range.clamp(*base));
            }
        }
    }
}

/// Sorts the rows of a graph, with room that they share.
#[derive(Default)]
struct Row {
    /// Slots in their new order: weight descending, target, kind, and place in the row before.
    sorted: Vec<(Reverse<u32>, u32, u8, usize)>,
    causal: Vec<f32>,
    /// The new slot of each of the row.
    now: Vec<u32>,
    /// Targets whose slots have moved.
    moved: Vec<u32>,
}

impl Row {
    /// Sorts the excitatory or the inhibitory slots of a node.
    fn sort(&mut self, slots: &mut Slots, node: NodeId, part: Range<usize>) {
        if slots.is_sorted(part.clone()) {
            return;
        }
        let Self { sorted, causal, now, moved } = self;
        // Weights are not negative, so their bits sort like the numbers.
        let key =
            |slot: usize| (Reverse(slots.base[slot].to_bits()), slots.targets[slot], slots.kind[slot], slot);
        sorted.clear();
        sorted.extend(part.clone().map(key));
        sorted.sort_unstable();
        now.clear();
        now.resize(part.len(), 0);
        moved.clear();
        causal.clear();
        causal.extend(slots.causal.iter().flat_map(|causal| &causal[part.clone()]));
        for (slot, (Reverse(weight), target, kind, before)) in part.clone().zip(sorted.iter().copied()) {
            now[before - part.start] = u32::try_from(slot).unwrap_or(u32::MAX);
            if before != slot {
                moved.push(target);
            }
            slots.targets[slot] = target;
            slots.base[slot] = f32::from_bits(weight);
            slots.kind[slot] = kind;
            if let Some(column) = &mut slots.causal {
                column[slot] = causal[before - part.start];
            }
        }
        moved.sort_unstable();
        moved.dedup();
        for target in moved {
            let back = slots.rev_offsets[*target as usize] as usize
                ..slots.rev_offsets[*target as usize + 1] as usize;
            let sources = &slots.rev_sources[back.clone()];
            let first = sources.partition_point(|source| *source < node.0);
            let count = sources[first..].iter().take_while(|source| **source == node.0).count();
            let own = &mut slots.rev_edge_idx[back][first..first + count];
            let of_part = own.iter_mut().filter(|slot| part.contains(&(**slot as usize)));
            of_part.for_each(|slot| *slot = now[*slot as usize - part.start]);
            own.sort_unstable();
        }
    }
}
