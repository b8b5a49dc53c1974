//! Scatters staged edges into rows, merges equal slots and computes degrees.
//!
//! Nothing is sorted: a table of all nodes marks the targets of a row with the number of the row, so that a second slot to
//! the same target is recognised when it is added, and so is a source that is also a target.

use super::PendingEdge;
use super::assemble::{Slot, Source, merged, relations, sum_up};
use crate::graph::csr::{SlotKind, causal_of};
use crate::graph::raw::{in_large_pages, prefetch};

/// How many edges ahead their destinations are prefetched.
const AHEAD: usize = 24;

/// Slots by source, in the ids and the order in which they were staged.
pub(super) struct Rows<'a> {
    kinds: &'a [SlotKind],
    /// Number of the relationship type of each kind.
    relations: Vec<u32>,
    begins: Vec<u32>,
    /// End of the remaining slots of each row.
    ends: Vec<u32>,
    /// Target, kind, bits of the weight.
    slots: Vec<[u32; 3]>,
    /// Causal strength of each slot; empty where all are those of their kinds, merged ones too.
    causal: Vec<f32>,
}

/// Staged edges, and how they become slots.
pub(super) struct Staging<'a> {
    pub(super) nodes: usize,
    pub(super) edges: Vec<PendingEdge>,
    /// Causal strengths by index of the edge, ascending.
    pub(super) causal: Vec<(usize, [f32; 2])>,
    pub(super) kinds: &'a [SlotKind],
    /// New number of each kind.
    pub(super) renamed: &'a [u32],
}

impl<'a> Rows<'a> {
    /// The rows of staged edges, and the degrees of the nodes. `both` is true for an edge that is two slots.
    pub(super) fn of(staging: Staging<'a>, both: impl Fn(&PendingEdge) -> bool) -> (Self, Vec<u32>) {
        let Staging { nodes, edges, causal, kinds, renamed } = staging;
        let (mut begins, mut back) = (vec![0_u32; nodes + 1], vec![0_u32; nodes + 1]);
        for edge in &edges {
            begins[edge.source as usize + 1] += 1;
            back[edge.target as usize + 1] += 1;
            if both(edge) {
                begins[edge.target as usize + 1] += 1;
                back[edge.source as usize + 1] += 1;
            }
        }
        sum_up(&mut begins);
        sum_up(&mut back);
        let total = begins[nodes] as usize;
        // Of merged slots of two kinds the lighter one may have the greater strength, which is then that of neither kind.
        let is_mixed = |a: &SlotKind, b: &SlotKind| {
            a.relation == b.relation && a.causal_share.to_bits() != b.causal_share.to_bits()
        };
        let deviates = !causal.is_empty() || kinds.windows(2).any(|two| is_mixed(&two[0], &two[1]));
        let mut rows = Self {
            kinds,
            relations: relations(kinds),
            ends: begins[..nodes].to_vec(),
            slots: in_large_pages(vec![[0; 3]; total]),
            causal: if deviates { vec![0.0; total] } else { Vec::new() },
            begins,
        };
        let (mut sources, mut next) = (in_large_pages(vec![0_u32; total]), back.clone());
        let mut deviating = causal.iter().peekable();
        for (at, edge) in edges.iter().enumerate() {
            if let Some(ahead) = edges.get(at + AHEAD) {
                prefetch(&rows.slots[rows.ends[ahead.source as usize] as usize..]);
                prefetch(&sources[next[ahead.target as usize] as usize..]);
            }
            let kind = renamed[edge.kind()];
            let own = deviating.next_if(|(of, _)| *of == at).map(|(_, causal)| *causal);
            let mut put = |source: u32, target: u32, against: usize| {
                let place = &mut rows.ends[source as usize];
                rows.slots[*place as usize] = [target, kind, edge.weight.to_bits()];
                if let Some(caused) = rows.causal.get_mut(*place as usize) {
                    let of_its_kind = || causal_of(edge.weight, &kinds[kind as usize]);
                    *caused = own.map_or_else(of_its_kind, |causal| causal[against]);
                }
                *place += 1;
                let place = &mut next[target as usize];
                sources[*place as usize] = source;
                *place += 1;
            };
            put(edge.source, edge.target, 0);
            if both(edge) {
                put(edge.target, edge.source, 1);
            }
        }
        drop((edges, next));
        let degrees = rows.merge_and_count(&back, &sources);
        (rows, degrees)
    }

    /// Merges equal slots of each row; returns the degree of each node.
    fn merge_and_count(&mut self, back: &[u32], sources: &[u32]) -> Vec<u32> {
        let nodes = self.ends.len();
        // For each node the last row, from 1, that last_met it, and the index of the first slot to it.
        let mut last_met = in_large_pages(vec![(0_u32, 0_u32); nodes]);
        let mut degrees = vec![0; nodes];
        for (node, row) in (0..nodes).zip(1..) {
            let (begin, end) = (self.begins[node] as usize, self.ends[node] as usize);
            let (mut kept, mut joined, mut crossed) = (begin, 0, false);
            for at in begin..end {
                let target = self.slots[at][0] as usize;
                let (last, first) = last_met[target];
                if last == row {
                    if self.merges_into(first as usize, at) {
                        continue;
                    }
                    crossed = true;
                } else {
                    last_met[target] = (row, u32::try_from(kept).unwrap_or(u32::MAX));
                    joined += u32::from(target != node);
                }
                self.slots[kept] = self.slots[at];
                if !self.causal.is_empty() {
                    self.causal[kept] = self.causal[at];
                }
                kept += 1;
            }
            if crossed {
                kept = begin + self.merge(begin, kept);
            }
            self.ends[node] = u32::try_from(kept).unwrap_or(u32::MAX);
            for source in &sources[back[node] as usize..back[node + 1] as usize] {
                let last = &mut last_met[*source as usize].0;
                joined += u32::from(*last != row && *source as usize != node);
                *last = row;
            }
            degrees[node] = joined;
        }
        degrees
    }

    /// Whether a slot has the relation of an earlier slot to the same target; the earlier one becomes the heavier of both,
    /// with the greater causal strength.
    fn merges_into(&mut self, held: usize, at: usize) -> bool {
        let ([_, held_kind, held_weight], [_, kind, weight]) = (self.slots[held], self.slots[at]);
        let relation = |kind: u32| self.relations[kind as usize];
        if held_kind != kind && relation(held_kind) != relation(kind) {
            return false;
        }
        // Bits of non-negative numbers sort like the numbers.
        if held_weight.cmp(&weight).then(kind.cmp(&held_kind)).is_lt() {
            self.slots[held] = self.slots[at];
        }
        if !self.causal.is_empty() {
            self.causal[held] = self.causal[held].max(self.causal[at]);
        }
        true
    }

    /// Merges a row that has several relations to one target; returns how many slots are left.
    fn merge(&mut self, begin: usize, end: usize) -> usize {
        let mut row: Vec<Slot> = (begin..end).map(|at| self.slot(at)).collect();
        let kept = merged(&mut row, &self.relations);
        for (at, slot) in (begin..).zip(&row[..kept]) {
            self.slots[at] = [slot.target, slot.kind, slot.weight.to_bits()];
            if !self.causal.is_empty() {
                self.causal[at] = slot.causal;
            }
        }
        kept
    }

    fn slot(&self, at: usize) -> Slot {
        let [target, kind, weight] = self.slots[at];
        let weight = f32::from_bits(weight);
        let of_its_kind = || causal_of(weight, &self.kinds[kind as usize]);
        Slot { target, kind, weight, causal: self.causal.get(at).copied().unwrap_or_else(of_its_kind) }
    }

    /// Number of remaining slots.
    pub(super) fn len(&self) -> usize {
        self.begins.iter().zip(&self.ends).map(|(begin, end)| (end - begin) as usize).sum()
    }
}

impl Source for Rows<'_> {
    fn fill(&mut self, node: u32, into: &mut Vec<Slot>) {
        let row = self.begins[node as usize] as usize..self.ends[node as usize] as usize;
        into.extend(row.map(|at| self.slot(at)));
    }

    fn ahead(&self, node: u32) {
        prefetch(&self.slots[self.begins[node as usize] as usize..]);
    }
}
