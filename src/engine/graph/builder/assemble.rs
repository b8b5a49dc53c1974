//! Assembles the arrays of a graph from rows, both for a builder and for a batch.
//!
//! Slots are read a row at a time in the ids of their source, and written in the order and the ids of the new graph.

use super::WeightRange;
use crate::graph::Graph;
use crate::graph::columns::Columns;
use crate::graph::csr::{BOUND_BLOCK, SlotKind, Slots, WIDE};
use crate::graph::kinds::Kinds;
use crate::graph::raw::in_large_pages;
use std::sync::Arc;

/// A slot of a row, its target in the ids of its [`Source`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slot {
    pub(super) target: u32,
    pub(super) kind: u32,
    pub(super) weight: f32,
    pub(super) causal: f32,
}

/// A source of rows, with ids of its own.
pub(super) trait Source {
    /// Appends the slots of a node.
    fn fill(&mut self, node: u32, into: &mut Vec<Slot>);

    /// Prefetches the slots of a node.
    fn ahead(&self, node: u32);
}

/// Parts of a graph beside its columns and slots. `degrees` and `ranks` are by old ids.
pub(super) struct Parts {
    pub(super) range: WeightRange,
    pub(super) kinds: Kinds,
    pub(super) slot_kinds: Vec<SlotKind>,
    pub(super) order: Vec<u32>,
    pub(super) degrees: Vec<u32>,
    pub(super) ranks: Vec<u32>,
    pub(super) total: usize,
}

/// How many rows ahead slots are prefetched.
const AHEAD: usize = 12;

/// Writes rows in the order of the new ids.
pub(super) fn assemble(parts: Parts, mut columns: Columns, mut source: impl Source) -> Graph {
    let Parts { range, kinds, slot_kinds, order, degrees, ranks, total } = parts;
    let place = placed(&mut columns, &order, &degrees, &ranks);
    drop((degrees, ranks));
    let mut arrays = Arrays::of(&slot_kinds, order.len(), total);
    let mut row = Vec::new();
    for (at, old) in order.iter().enumerate() {
        if let Some(ahead) = order.get(at + AHEAD) {
            source.ahead(*ahead);
        }
        let exc = arrays.append(&mut source, *old, &place, &mut row);
        let mut strength = 0.0_f64;
        for slot in &row[..exc] {
            let weight = f64::from(range.clamp(slot.weight));
            strength += weight;
            columns.in_strength[slot.target as usize] += weight;
        }
        #[expect(clippy::cast_possible_truncation, reason = "rounded once; at most 2^32 weights of 16")]
        columns.out_strength.push(strength as f32);
    }
    // Release the staged rows before the reverse index is built.
    drop((source, place));
    let mut slots = arrays.finish();
    slots.kinds = slot_kinds;
    forget_unused(&mut slots);
    turn_round(&mut slots, order.len());
    Graph::of(kinds, range, Arc::new(slots), columns)
}

/// The forward arrays, filled row by row.
pub(super) struct Arrays {
    pub(super) slots: Slots,
    /// For each kind whether it is inhibitory, and its causal factor.
    inhibits: Vec<bool>,
    pub(super) causes: Vec<f32>,
    keys: Vec<u64>,
    sorted: Vec<Slot>,
    /// Causal strengths, from the first slot on that differs from its kind.
    pub(super) causal: Vec<f32>,
}

impl Arrays {
    pub(super) fn of(kinds: &[SlotKind], count: usize, total: usize) -> Self {
        let mut slots = Slots {
            offsets: Vec::with_capacity(count + 1),
            exc_end: Vec::with_capacity(count),
            targets: in_large_pages(Vec::with_capacity(total)),
            base: in_large_pages(Vec::with_capacity(total)),
            kind: in_large_pages(Vec::with_capacity(total)),
            block_offsets: Vec::with_capacity(count + 1),
            ..Slots::default()
        };
        slots.offsets.push(0);
        slots.block_offsets.push(0);
        Self {
            slots,
            inhibits: kinds.iter().map(|kind| kind.inhibitory).collect(),
            causes: kinds.iter().map(|kind| kind.causal_share).collect(),
            keys: Vec::new(),
            sorted: Vec::new(),
            causal: Vec::new(),
        }
    }

    /// Reads the row of a node, with the new ids of its targets, and appends it. Returns its number of excitatory slots.
    pub(super) fn append(
        &mut self,
        source: &mut impl Source,
        old: u32,
        place: &[u32],
        row: &mut Vec<Slot>,
    ) -> usize {
        row.clear();
        source.fill(old, row);
        row.iter_mut().for_each(|slot| slot.target = place[slot.target as usize]);
        let exc = self.arrange(row);
        self.push(row, exc);
        exc
    }

    /// Sorts a row: excitatory slots first, then by weight descending, then by target, then by kind. Returns the number of
    /// excitatory slots.
    fn arrange(&mut self, row: &mut Vec<Slot>) -> usize {
        let inhibits = &self.inhibits;
        // Weights are not negative, so their inverted bits sort descending and leave the first bit free.
        let key = |slot: &Slot| {
            u32::from(inhibits[slot.kind as usize]) << 31 | !slot.weight.to_bits() & 0x7fff_ffff
        };
        // Numbers sort faster than slots: the key, and the index of its slot in the row.
        self.keys.clear();
        self.keys.extend(row.iter().zip(0_u64..).map(|(slot, at)| u64::from(key(slot)) << 32 | at));
        if !self.keys.is_sorted() {
            self.keys.sort_unstable();
            self.sorted.clear();
            self.sorted.extend(self.keys.iter().map(|key| row[(key & 0xffff_ffff) as usize]));
            std::mem::swap(row, &mut self.sorted);
        }
        let place = |slot: &Slot| (slot.target, slot.kind);
        for equal in row.chunk_by_mut(|a, b| key(a) == key(b)) {
            if !equal.is_sorted_by_key(place) {
                equal.sort_unstable_by_key(place);
            }
        }
        row.partition_point(|slot| !inhibits[slot.kind as usize])
    }

    /// Appends a sorted row.
    fn push(&mut self, row: &[Slot], exc: usize) {
        let Self { slots, causes, causal, .. } = self;
        let begin = slots.targets.len();
        slots.targets.extend(row.iter().map(|slot| slot.target));
        slots.base.extend(row.iter().map(|slot| slot.weight));
        slots.kind.extend(row.iter().map(|slot| u8::try_from(slot.kind).unwrap_or(WIDE)));
        if causes.len() > usize::from(WIDE) {
            let wide =
                (len(&slots.targets[..begin])..).zip(row).filter(|(_, slot)| slot.kind >= u32::from(WIDE));
            slots.wide.extend(wide.map(|(at, slot)| (at, slot.kind)));
        }
        let deviates = |slot: &Slot| {
            slot.causal.to_bits() != (slot.weight * causes[slot.kind as usize]).min(1.0).to_bits()
        };
        if !causal.is_empty() {
            causal.extend(row.iter().map(|slot| slot.causal));
        } else if let Some(first) = row.iter().position(deviates) {
            causal.extend(row[first..].iter().map(|slot| slot.causal));
        }
        self.end_row(begin + exc);
    }

    /// Ends a row whose slots are appended; `exc_end` is the end of the excitatory ones.
    pub(super) fn end_row(&mut self, exc_end: usize) {
        let slots = &mut self.slots;
        let begin = slots.offsets.last().map_or(0, |begin| *begin as usize);
        let blocks =
            (exc_end - begin).div_ceil(BOUND_BLOCK) + (slots.targets.len() - exc_end).div_ceil(BOUND_BLOCK);
        let before = slots.block_offsets.last().copied().unwrap_or(0);
        slots.block_offsets.push(before + u32::try_from(blocks).unwrap_or(0));
        slots.exc_end.push(u32::try_from(exc_end).unwrap_or(u32::MAX));
        slots.offsets.push(len(&slots.targets));
    }

    pub(super) fn finish(self) -> Slots {
        let Self { mut slots, causes, causal, .. } = self;
        if !causal.is_empty() {
            let first = slots.targets.len() - causal.len();
            let before = (0..first).map(|slot| (slots.base[slot] * causes[slots.kind(slot)]).min(1.0));
            slots.causal = Some(before.chain(causal).collect());
        }
        slots
    }
}

/// The sum of the clamped base weights of a row.
pub(super) fn strength(range: WeightRange, bases: &[f32]) -> f32 {
    let sum: f64 = bases.iter().map(|base| f64::from(range.clamp(*base))).sum();
    #[expect(clippy::cast_possible_truncation, reason = "rounded once; at most 2^32 weights of 16")]
    // An empty sum is -0.
    let sum = (sum + 0.0) as f32;
    sum
}

/// Fills the columns that depend on the position of a node; returns the new id of each old one.
pub(super) fn placed(columns: &mut Columns, order: &[u32], degrees: &[u32], ranks: &[u32]) -> Vec<u32> {
    let place = places(order, ranks.len());
    columns.degree = order.iter().map(|old| degrees[*old as usize]).collect();
    columns.rank = order.iter().map(|old| ranks[*old as usize]).collect();
    columns.by_rank = vec![0; order.len()];
    for (new, rank) in (0..).zip(&columns.rank) {
        columns.by_rank[*rank as usize] = new;
    }
    columns.pagerank = vec![0.0; order.len()];
    columns.out_strength = Vec::with_capacity(order.len());
    columns.in_strength = vec![0.0; order.len()];
    place
}

/// Builds the reverse index: for each node the sources of its incoming slots, ascending, and the slots.
fn turn_round(slots: &mut Slots, count: usize) {
    let total = slots.targets.len();
    let mut offsets = vec![0_u32; count + 1];
    for target in &slots.targets {
        offsets[*target as usize + 1] += 1;
    }
    sum_up(&mut offsets);
    let mut next = offsets.clone();
    slots.rev_sources = in_large_pages(vec![0; total]);
    slots.rev_edge_idx = in_large_pages(vec![0; total]);
    for (source, row) in (0..).zip(slots.offsets.windows(2)) {
        for (slot, target) in (row[0]..).zip(&slots.targets[row[0] as usize..row[1] as usize]) {
            let place = &mut next[*target as usize];
            slots.rev_sources[*place as usize] = source;
            slots.rev_edge_idx[*place as usize] = slot;
            *place += 1;
        }
    }
    slots.rev_offsets = offsets;
}

/// Removes kinds without slots. The others keep their order, and so do the rows.
pub(super) fn forget_unused(slots: &mut Slots) {
    let mut used = vec![false; slots.kinds.len()];
    slots.kind.iter().filter(|kind| **kind != WIDE).for_each(|kind| used[usize::from(*kind)] = true);
    slots.wide.iter().for_each(|(_, kind)| used[*kind as usize] = true);
    if used.iter().all(|used| *used) {
        return;
    }
    let kinds: Vec<usize> = (0..slots.targets.len()).map(|slot| slots.kind(slot)).collect();
    let mut renamed = vec![0; used.len()];
    let mut kept = Vec::new();
    for (kind, of) in std::mem::take(&mut slots.kinds).into_iter().enumerate().filter(|(kind, _)| used[*kind])
    {
        renamed[kind] = kept.len();
        kept.push(of);
    }
    slots.kinds = kept;
    slots.wide.clear();
    for (slot, kind) in kinds.into_iter().map(|kind| renamed[kind]).enumerate() {
        slots.kind[slot] = u8::try_from(kind).unwrap_or(WIDE);
        if kind >= usize::from(WIDE) {
            slots
                .wide
                .push((u32::try_from(slot).unwrap_or(u32::MAX), u32::try_from(kind).unwrap_or(u32::MAX)));
        }
    }
}

/// Sorts kinds by their keys; returns the new number of each.
pub(super) fn canonical(kinds: &mut Vec<SlotKind>) -> Vec<u32> {
    let mut order: Vec<usize> = (0..kinds.len()).collect();
    order.sort_unstable_by(|a, b| kinds[*a].key().cmp(&kinds[*b].key()));
    let mut renamed = vec![0; kinds.len()];
    for (new, old) in (0..).zip(&order) {
        renamed[*old] = new;
    }
    *kinds = order.into_iter().map(|old| kinds[old].clone()).collect();
    renamed
}

/// The number of the relationship type of each kind: ascending, as sorted kinds are.
pub(super) fn relations(kinds: &[SlotKind]) -> Vec<u32> {
    let of_type = kinds.chunk_by(|a, b| a.relation == b.relation);
    (0..).zip(of_type).flat_map(|(number, of)| std::iter::repeat_n(number, of.len())).collect()
}

/// Merges slots with the same target and relationship type to the heaviest, with the greatest causal strength, at the front
/// of the row; returns how many are left. `relations` are the numbers of the types of the kinds.
pub(super) fn merged(row: &mut [Slot], relations: &[u32]) -> usize {
    let relation = |slot: &Slot| relations[slot.kind as usize];
    row.sort_unstable_by(|a, b| {
        let same = a.target.cmp(&b.target).then(relation(a).cmp(&relation(b)));
        same.then(b.weight.total_cmp(&a.weight)).then(a.kind.cmp(&b.kind))
    });
    let mut kept = 0;
    for at in 0..row.len() {
        let is_same = |other: &Slot| other.target == row[at].target && relation(other) == relation(&row[at]);
        if kept == 0 || !is_same(&row[kept - 1]) {
            row[kept] = row[at];
            kept += 1;
        } else {
            row[kept - 1].causal = row[kept - 1].causal.max(row[at].causal);
        }
    }
    kept
}

/// Indexes of names, sorted by the bytes of the names.
pub(crate) fn ranked<'a>(names: impl Iterator<Item = &'a str>) -> Vec<u32> {
    let names: Vec<&str> = names.collect();
    let mut order: Vec<(u64, u32)> = (0..).zip(&names).map(|(at, name)| (head_of(name), at)).collect();
    order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| names[a.1 as usize].cmp(names[b.1 as usize])));
    order.into_iter().map(|(_, at)| at).collect()
}

/// The first eight bytes of a name as a number, which decides most comparisons.
pub(crate) fn head_of(name: &str) -> u64 {
    let mut first = [0; 8];
    let len = name.len().min(8);
    first[..len].copy_from_slice(&name.as_bytes()[..len]);
    u64::from_be_bytes(first)
}

/// The position of each of `count` numbers in an order; `u32::MAX` for those that are not in it.
pub(super) fn places(order: &[u32], count: usize) -> Vec<u32> {
    let mut places = vec![u32::MAX; count];
    for (place, at) in (0..).zip(order) {
        places[*at as usize] = place;
    }
    places
}

/// Nodes by degree, greatest first, then by rank: a counting sort, since degrees are below the number of nodes.
pub(super) fn ordered(degrees: &[u32], by_rank: &[u32]) -> Vec<u32> {
    let most = degrees.iter().max().copied().unwrap_or(0);
    let mut next = vec![0_u32; most as usize + 2];
    for degree in degrees {
        next[(most - degree) as usize + 1] += 1;
    }
    sum_up(&mut next);
    let mut order = vec![0; degrees.len()];
    for node in by_rank {
        let place = &mut next[(most - degrees[*node as usize]) as usize];
        order[*place as usize] = *node;
        *place += 1;
    }
    order
}

/// Inclusive prefix sums in place.
pub(super) fn sum_up(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}

pub(super) fn len<T>(all: &[T]) -> u32 {
    u32::try_from(all.len()).unwrap_or(u32::MAX)
}
