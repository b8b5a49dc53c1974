//! Rows into arrays: the one way in which a graph comes to be, built or applied.
//!
//! Slots come a row at a time, in the ids of whoever hands them over, and leave in the order and the ids of the next graph.

use super::WeightRange;
use crate::graph::Graph;
use crate::graph::columns::Columns;
use crate::graph::csr::{BOUND_BLOCK, Csr, SlotKind, WIDE, causal_of};
use crate::graph::index::Generation;
use crate::graph::kinds::Kinds;
use std::sync::atomic::AtomicU32;

/// A slot between two rows, its target in the ids of whoever hands it over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slot {
    pub(super) target: u32,
    pub(super) kind: u32,
    pub(super) weight: f32,
    pub(super) causal: f32,
}

/// What a graph is assembled of, beside its columns and slots. `degrees` and `ranks` are by the ids before.
pub(super) struct Parts {
    pub(super) range: WeightRange,
    pub(super) kinds: Kinds,
    pub(super) slot_kinds: Vec<SlotKind>,
    pub(super) order: Vec<u32>,
    pub(super) degrees: Vec<u32>,
    pub(super) ranks: Vec<u32>,
    pub(super) total: usize,
}

/// Puts rows in the order of the next ids into arrays. `fill` hands over the slots of a node, their targets in ids before.
pub(super) fn assemble(
    parts: Parts,
    mut columns: Columns,
    mut fill: impl FnMut(u32, &mut Vec<Slot>),
) -> Graph {
    let Parts { range, kinds, slot_kinds, order, degrees, ranks, total } = parts;
    let count = order.len();
    let place = placed(&mut columns, &order, &degrees, &ranks);
    let mut csr = Csr {
        offsets: Vec::with_capacity(count + 1),
        exc_end: Vec::with_capacity(count),
        targets: Vec::with_capacity(total),
        base: Vec::with_capacity(total),
        weights: Vec::with_capacity(total),
        kind: Vec::with_capacity(total),
        block_offsets: Vec::with_capacity(count + 1),
        bounds: Vec::with_capacity(total / BOUND_BLOCK + count),
        learned: (0..count.div_ceil(32)).map(|_| AtomicU32::new(0)).collect(),
        ..Csr::default()
    };
    csr.offsets.push(0);
    csr.block_offsets.push(0);
    let mut used = vec![false; slot_kinds.len()];
    let (mut row, mut causal, mut deviates) = (Vec::new(), Vec::new(), false);
    let mut bounds = Vec::new();
    for old in &order {
        row.clear();
        fill(*old, &mut row);
        for slot in &mut row {
            slot.target = place[slot.target as usize];
        }
        let key = |slot: &Slot| {
            let polarity = u64::from(slot_kinds[slot.kind as usize].inhibitory) << 63;
            (
                polarity | u64::from(!slot.weight.to_bits() & 0x7fff_ffff) << 32 | u64::from(slot.target),
                slot.kind,
            )
        };
        if !row.is_sorted_by_key(key) {
            row.sort_unstable_by_key(key);
        }
        let exc = row.partition_point(|slot| !slot_kinds[slot.kind as usize].inhibitory);
        let mut strength = 0.0_f64;
        for slot in &row[..exc] {
            let weight = f64::from(range.clamp(slot.weight));
            strength += weight;
            columns.in_strength[slot.target as usize] += weight;
        }
        #[expect(clippy::cast_possible_truncation, reason = "rounded once; at most 2^32 weights of 16")]
        columns.out_strength.push(strength as f32);
        let begin = csr.targets.len();
        for slot in &row {
            let kind = slot.kind as usize;
            used[kind] = true;
            deviates |= slot.causal.to_bits() != causal_of(slot.weight, &slot_kinds[kind]).to_bits();
            csr.kind.push(u8::try_from(kind).unwrap_or(WIDE));
            if kind >= usize::from(WIDE) {
                csr.wide.push((len(&csr.targets), slot.kind));
            }
            csr.targets.push(slot.target);
            csr.base.push(slot.weight);
            csr.weights.push(AtomicU32::new(range.clamp(slot.weight).to_bits()));
            if deviates {
                // From the first that deviates on; those before it are filled in at the end.
                causal.push(slot.causal);
            }
        }
        for part in [&row[..exc], &row[exc..]] {
            bounds.clear();
            // Base weights descend, so the greatest of a block and all later ones is its first.
            bounds.extend(part.chunks(BOUND_BLOCK).map(|block| range.clamp(block[0].weight)));
            csr.bounds.extend(bounds.iter().map(|bound| AtomicU32::new(bound.to_bits())));
        }
        csr.exc_end.push(u32::try_from(begin + exc).unwrap_or(u32::MAX));
        csr.offsets.push(len(&csr.targets));
        csr.block_offsets.push(len(&csr.bounds));
    }
    csr.bounds.shrink_to_fit();
    csr.kinds = slot_kinds;
    if deviates {
        let first = csr.targets.len() - causal.len();
        let before = (0..first).map(|slot| causal_of(csr.base[slot], &csr.kinds[csr.kind(slot)]));
        csr.causal = Some(before.chain(causal).collect());
    }
    forget_unused(&mut csr, &used);
    turn_round(&mut csr, count);
    Graph { generation: Generation::default(), range, kinds, csr, columns }
}

/// Fills the columns that go by the place of a node; answers the next id of each by the one before.
fn placed(columns: &mut Columns, order: &[u32], degrees: &[u32], ranks: &[u32]) -> Vec<u32> {
    let mut place = vec![u32::MAX; ranks.len()];
    for (new, old) in (0..).zip(order) {
        place[*old as usize] = new;
    }
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

/// The way back: for each node who leads to it, ascending, and over which slot.
fn turn_round(csr: &mut Csr, count: usize) {
    let mut offsets = vec![0_u32; count + 1];
    for target in &csr.targets {
        offsets[*target as usize + 1] += 1;
    }
    sum_up(&mut offsets);
    let mut next = offsets.clone();
    csr.rev_sources = vec![0; csr.targets.len()];
    csr.rev_edge_idx = vec![0; csr.targets.len()];
    for source in 0..count {
        for slot in csr.offsets[source]..csr.offsets[source + 1] {
            let place = &mut next[csr.targets[slot as usize] as usize];
            csr.rev_sources[*place as usize] = u32::try_from(source).unwrap_or(u32::MAX);
            csr.rev_edge_idx[*place as usize] = slot;
            *place += 1;
        }
    }
    csr.rev_offsets = offsets;
}

/// Leaves out kinds of which no slot is left. The rest keep their order, so rows keep theirs.
fn forget_unused(csr: &mut Csr, used: &[bool]) {
    if used.iter().all(|used| *used) {
        return;
    }
    let kinds: Vec<usize> = (0..csr.targets.len()).map(|slot| csr.kind(slot)).collect();
    let mut renamed = vec![0; used.len()];
    let mut kept = Vec::new();
    for (kind, of) in std::mem::take(&mut csr.kinds).into_iter().enumerate().filter(|(kind, _)| used[*kind]) {
        renamed[kind] = kept.len();
        kept.push(of);
    }
    csr.kinds = kept;
    csr.wide.clear();
    for (slot, kind) in kinds.into_iter().map(|kind| renamed[kind]).enumerate() {
        csr.kind[slot] = u8::try_from(kind).unwrap_or(WIDE);
        if kind >= usize::from(WIDE) {
            csr.wide.push((u32::try_from(slot).unwrap_or(u32::MAX), u32::try_from(kind).unwrap_or(u32::MAX)));
        }
    }
}

/// Brings kinds into the order of their keys; answers what each is called now.
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

/// Makes one of those that share target and relation, the heaviest; answers how many are left, which stand first.
pub(super) fn merged(row: &mut [Slot], kinds: &[SlotKind]) -> usize {
    let relation = |slot: &Slot| &kinds[slot.kind as usize].relation;
    row.sort_unstable_by(|a, b| {
        let same = a.target.cmp(&b.target).then_with(|| {
            if a.kind == b.kind { std::cmp::Ordering::Equal } else { relation(a).cmp(relation(b)) }
        });
        same.then(b.weight.total_cmp(&a.weight)).then(a.kind.cmp(&b.kind)).then(b.causal.total_cmp(&a.causal))
    });
    let mut kept = 0;
    for at in 0..row.len() {
        let is_same = |other: &Slot| other.target == row[at].target && relation(other) == relation(&row[at]);
        if kept == 0 || !is_same(&row[kept - 1]) {
            row[kept] = row[at];
            kept += 1;
        }
    }
    kept
}

/// With how many others each node is joined, whichever way; rows are in the order of their targets.
pub(super) fn degrees<'a>(count: usize, row: &impl Fn(usize) -> &'a [Slot]) -> Vec<u32> {
    let mut begins = vec![0_u32; count + 1];
    for node in 0..count {
        row(node).iter().for_each(|slot| begins[slot.target as usize + 1] += 1);
    }
    sum_up(&mut begins);
    let (mut sources, mut next) = (vec![0_u32; begins[count] as usize], begins.clone());
    for node in 0..count {
        for slot in row(node) {
            let place = &mut next[slot.target as usize];
            sources[*place as usize] = u32::try_from(node).unwrap_or(u32::MAX);
            *place += 1;
        }
    }
    let joined = |node: usize| {
        let back = &sources[begins[node] as usize..begins[node + 1] as usize];
        let (mut out, mut back) =
            (row(node).iter().map(|slot| slot.target).peekable(), back.iter().copied().peekable());
        let (mut last, mut joined) = (None, 0);
        loop {
            let next = match (out.peek(), back.peek()) {
                (Some(a), Some(b)) if a <= b => out.next(),
                (_, Some(_)) => back.next(),
                (_, None) => out.next(),
            };
            let Some(next) = next else { return joined };
            if last != Some(next) && next as usize != node {
                joined += 1;
            }
            last = Some(next);
        }
    };
    (0..count).map(joined).collect()
}

/// The place of each by the bytes of its name.
pub(super) fn ranked<'a>(names: impl Iterator<Item = &'a str>) -> Vec<u32> {
    let names: Vec<&str> = names.collect();
    // The first eight bytes decide most comparisons, and they are a number.
    let head = |name: &str| {
        let mut first = [0; 8];
        let len = name.len().min(8);
        first[..len].copy_from_slice(&name.as_bytes()[..len]);
        u64::from_be_bytes(first)
    };
    let mut order: Vec<(u64, u32)> = (0..).zip(&names).map(|(at, name)| (head(name), at)).collect();
    order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| names[a.1 as usize].cmp(names[b.1 as usize])));
    let mut ranks = vec![0; names.len()];
    for (rank, (_, at)) in (0..).zip(order) {
        ranks[at as usize] = rank;
    }
    ranks
}

/// Nodes by degree, greatest first, then by rank.
pub(super) fn ordered(degrees: &[u32], ranks: &[u32]) -> Vec<u32> {
    let mut order: Vec<(u64, u32)> = (0..)
        .zip(degrees.iter().zip(ranks))
        .map(|(at, (degree, rank))| (u64::from(!degree) << 32 | u64::from(*rank), at))
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(_, at)| at).collect()
}

/// Counts become where each begins.
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
