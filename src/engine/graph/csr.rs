//! Adjacency arrays: forward rows sorted by weight, a reverse index, and bounds for early termination.
//!
//! A row holds its excitatory slots first, by base weight descending, then its inhibitory ones. Each block of sixteen slots
//! of either range has a bound: the greatest effective weight of this block and all later ones. A reader stops at the
//! first block whose bound cannot pass its threshold. Only cost depends on the order of a row, never correctness.
//!
//! Structure and base weights never change, so graphs share them where a batch leaves them. Effective weights and bounds are
//! those of one graph, and are updated in place by learning while others
//! read: a bound is raised before its weight, and stays valid when the weight is lowered. There is one writer at a time. One
//! more bound covers all slots: a signal that cannot pass over the heaviest of them needs no row.
//!
//! Until learning changes a weight of a row its weights descend, and a reader stops at the first that cannot pass. The bit that says
//! so is set before the weight is written, and a reader that stops looks at it again: a weight that was lowered meanwhile would hide
//! those behind it, which pass before and after.

use super::Error;
use super::builder::WeightRange;
use super::index::{EdgeIdx, NodeId};
use super::kinds::EdgeDirection;
use super::raw::{in_large_pages, prefetch};
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};

/// Slots of a block.
pub const BOUND_BLOCK: usize = 16;
/// Attempts of a compare-and-swap.
pub const CAS_RETRY_LIMIT: u32 = 64;

/// Attributes that all slots of one kind share.
#[derive(Debug, Clone, PartialEq)]
pub struct SlotKind {
    /// Relationship type.
    pub relation: String,
    /// Directions in which it can be traversed.
    pub direction: EdgeDirection,
    /// Whether it is inhibitory.
    pub inhibitory: bool,
    /// Causal share of the weight, `0 ..= 1`.
    pub causal_share: f32,
}

impl SlotKind {
    /// The sort key of a kind, unique among kinds.
    pub(super) fn key(&self) -> (&str, EdgeDirection, bool) {
        (&self.relation, self.direction, self.inhibitory)
    }
}

/// Handle of a relationship type in one graph: the numbers of its kinds, which are consecutive since kinds are sorted. Whether
/// a slot has the type is a comparison of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relation {
    begin: usize,
    end: usize,
}

impl Relation {
    /// The handle of a type among sorted kinds.
    pub(super) fn of(kinds: &[SlotKind], relation: &str) -> Option<Self> {
        let begin = kinds.partition_point(|kind| kind.relation.as_str() < relation);
        let end = begin + kinds[begin..].iter().take_while(|kind| kind.relation == relation).count();
        (begin < end).then_some(Self { begin, end })
    }

    /// One of its kinds.
    pub(super) const fn kind(self) -> usize {
        self.begin
    }

    /// Whether a kind is of this type.
    pub(super) fn has(self, kind: usize) -> bool {
        (self.begin..self.end).contains(&kind)
    }
}

/// Marks a slot whose kind is in `wide`.
pub(super) const WIDE: u8 = u8::MAX;

/// The structure of all slots, with their base weights.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// Row bounds.
    pub(super) offsets: Vec<u32>,
    /// Start of the inhibitory slots of each row.
    pub(super) exc_end: Vec<u32>,
    pub(super) targets: Vec<u32>,
    pub(super) base: Vec<f32>,
    pub(super) kind: Vec<u8>,
    /// Slots with kinds from 255 on.
    pub(super) wide: Vec<(u32, u32)>,
    /// Causal strengths, if some slot differs from its kind.
    pub(super) causal: Option<Vec<f32>>,
    /// Start of the blocks of each row, those of its excitatory slots first.
    pub(super) block_offsets: Vec<u32>,
    pub(super) rev_offsets: Vec<u32>,
    pub(super) rev_sources: Vec<u32>,
    pub(super) rev_edge_idx: Vec<u32>,
    pub(super) kinds: Vec<SlotKind>,
}

impl Clone for Slots {
    fn clone(&self) -> Self {
        Self {
            offsets: self.offsets.clone(),
            exc_end: self.exc_end.clone(),
            targets: copied(&self.targets),
            base: copied(&self.base),
            kind: copied(&self.kind),
            wide: self.wide.clone(),
            causal: self.causal.clone(),
            block_offsets: self.block_offsets.clone(),
            rev_offsets: self.rev_offsets.clone(),
            rev_sources: copied(&self.rev_sources),
            rev_edge_idx: copied(&self.rev_edge_idx),
            kinds: self.kinds.clone(),
        }
    }
}

/// A copy in large pages.
fn copied<T: Copy>(column: &[T]) -> Vec<T> {
    let mut copied = in_large_pages(Vec::with_capacity(column.len()));
    copied.extend_from_slice(column);
    copied
}

/// All slots of a graph, with their effective weights.
#[derive(Debug, Default)]
pub(super) struct Csr {
    pub(super) slots: Arc<Slots>,
    /// Bits of effective weights.
    weights: Vec<AtomicU32>,
    bounds: Vec<AtomicU32>,
    /// A bound of all effective weights: the greatest of `bounds`.
    bound: AtomicU32,
    /// One bit for each row: whether a weight in it was changed by learning.
    learned: Vec<AtomicU32>,
    /// Whether any slot is inhibitory: kinds, which have slots each, say so, but a spread needs it at every node.
    pub(super) inhibits: bool,
}

impl Deref for Csr {
    type Target = Slots;

    fn deref(&self) -> &Slots {
        &self.slots
    }
}

/// The excitatory or the inhibitory slots of a row.
#[derive(Debug, Clone, Copy)]
pub struct SlotRange<'a> {
    /// Targets.
    pub targets: &'a [u32],
    /// Bits of effective weights.
    pub weights: &'a [AtomicU32],
    /// For each block the greatest effective weight of it and all later ones.
    pub bounds: &'a [AtomicU32],
    /// Id of the first slot.
    pub first: EdgeIdx,
    /// Whether a weight in the row was changed by learning when the range was looked up: if not, effective weights descended
    /// as base weights do.
    pub learned: bool,
    /// The bits of several rows, and that of this one.
    mark: (&'a AtomicU32, u32),
}

impl SlotRange<'_> {
    /// Whether a weight in the row has been changed by learning, at the latest any that was read from it.
    #[must_use]
    pub fn is_learned_by_now(&self) -> bool {
        // With a weight that was read this makes visible what was written before it.
        fence(Ordering::Acquire);
        self.mark.0.load(Ordering::Relaxed) & self.mark.1 != 0
    }
}

/// Reads a weight.
#[must_use]
pub fn weight_of(cell: &AtomicU32) -> f32 {
    f32::from_bits(cell.load(Ordering::Relaxed))
}

/// Raises a cell to a weight of at least 0; returns whether it was lower.
///
/// # Errors
/// [`Error::CasRetryExhausted`], naming `slot`, after `limit` lost races.
pub fn atomic_max_weight(cell: &AtomicU32, weight: f32, slot: EdgeIdx, limit: u32) -> Result<bool, Error> {
    let mut seen = cell.load(Ordering::Relaxed);
    for _ in 0..limit {
        // Bits of non-negative numbers sort like the numbers.
        if seen >= weight.to_bits() {
            return Ok(false);
        }
        match cell.compare_exchange_weak(seen, weight.to_bits(), Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return Ok(true),
            Err(now) => seen = now,
        }
    }
    Err(Error::CasRetryExhausted { slot: slot.0, limit })
}

/// Stores a weight of at least 0 in a cell; returns whether it changed.
///
/// # Errors
/// [`Error::CasRetryExhausted`], naming `slot`, after `limit` lost races.
#[inline]
pub fn atomic_write_weight(cell: &AtomicU32, weight: f32, slot: EdgeIdx, limit: u32) -> Result<bool, Error> {
    let mut seen = cell.load(Ordering::Relaxed);
    for _ in 0..limit {
        if seen == weight.to_bits() {
            return Ok(false);
        }
        match cell.compare_exchange_weak(seen, weight.to_bits(), Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return Ok(true),
            Err(now) => seen = now,
        }
    }
    Err(Error::CasRetryExhausted { slot: slot.0, limit })
}

impl Slots {
    #[inline]
    pub(super) fn row(&self, node: NodeId) -> (usize, usize, usize) {
        let at = node.at();
        (self.offsets[at] as usize, self.exc_end[at] as usize, self.offsets[at + 1] as usize)
    }

    pub(super) fn kind(&self, slot: usize) -> usize {
        match self.kind[slot] {
            WIDE => {
                let at = self.wide.partition_point(|(wide, _)| (*wide as usize) < slot);
                self.wide.get(at).map_or(0, |(_, kind)| *kind as usize)
            }
            kind => usize::from(kind),
        }
    }

    pub(super) fn causal(&self, slot: usize) -> f32 {
        match &self.causal {
            Some(column) => column[slot],
            None => causal_of(self.base[slot], &self.kinds[self.kind(slot)]),
        }
    }

    /// Whether a causal strength is that of a slot by its kind.
    pub(super) fn is_of_kind(&self, slot: usize, causal: f32) -> bool {
        causal.to_bits() == causal_of(self.base[slot], &self.kinds[self.kind(slot)]).to_bits()
    }

    /// Whether the excitatory or the inhibitory slots of a row are in their order: by base weight descending, then by target, then
    /// by kind.
    pub(super) fn is_sorted(&self, part: Range<usize>) -> bool {
        let place = |slot: usize| (self.targets[slot], self.kind[slot]);
        let (base, from) = (&self.base[part.clone()], part.start);
        let mut pairs = (from..).zip(base.windows(2));
        pairs.all(|(slot, base)| base[0] > base[1] || base[0] >= base[1] && place(slot) <= place(slot + 1))
    }

    fn bytes(&self) -> usize {
        let words = self.offsets.capacity()
            + self.exc_end.capacity()
            + self.targets.capacity()
            + self.base.capacity()
            + self.block_offsets.capacity()
            + self.rev_offsets.capacity()
            + self.rev_sources.capacity()
            + self.rev_edge_idx.capacity()
            + self.causal.as_ref().map_or(0, Vec::capacity);
        4 * words + self.kind.capacity() + 8 * self.wide.capacity()
    }
}

impl Csr {
    /// Slots whose effective weights are their base weights.
    pub(super) fn of(slots: Arc<Slots>, range: WeightRange) -> Self {
        let effective = |base: &f32| AtomicU32::new(range.clamp(*base).to_bits());
        let mut weights = in_large_pages(Vec::with_capacity(slots.base.len()));
        weights.extend(slots.base.iter().map(effective));
        let blocks = slots.block_offsets.last().map_or(0, |end| *end as usize);
        let mut bounds = Vec::with_capacity(blocks);
        for (row, tail) in slots.offsets.windows(2).zip(&slots.exc_end) {
            let [begin, tail, end] = [row[0], *tail, row[1]].map(|slot| slot as usize);
            for part in [begin..tail, tail..end] {
                // Base weights descend, so the greatest of a block and all later ones is its first.
                bounds.extend(slots.base[part].chunks(BOUND_BLOCK).map(|block| effective(&block[0])));
            }
        }
        let learned = (0..slots.exc_end.len().div_ceil(32)).map(|_| AtomicU32::new(0)).collect();
        // Bits of non-negative numbers sort like the numbers.
        let bound = bounds.iter_mut().map(|bound: &mut AtomicU32| *bound.get_mut()).max().unwrap_or(0).into();
        let inhibits = slots.kinds.iter().any(|kind| kind.inhibitory);
        Self { slots, weights, bounds, bound, learned, inhibits }
    }

    /// The bits of the rows among which that of a node is, and its own.
    #[inline]
    fn mark(&self, node: NodeId) -> (&AtomicU32, u32) {
        (&self.learned[node.at() / 32], 1 << (node.at() % 32))
    }

    #[inline]
    pub(super) fn excitatory(&self, node: NodeId) -> SlotRange<'_> {
        let (begin, tail, _) = self.row(node);
        let block = self.block_offsets[node.at()] as usize;
        self.part(node, begin, tail, block)
    }

    #[inline]
    pub(super) fn inhibitory(&self, node: NodeId) -> SlotRange<'_> {
        let (begin, tail, end) = self.row(node);
        let block = self.block_offsets[node.at()] as usize + (tail - begin).div_ceil(BOUND_BLOCK);
        self.part(node, tail, end, block)
    }

    #[inline]
    fn part(&self, node: NodeId, begin: usize, end: usize, block: usize) -> SlotRange<'_> {
        let mark = self.mark(node);
        SlotRange {
            targets: &self.targets[begin..end],
            weights: &self.weights[begin..end],
            bounds: &self.bounds[block..block + (end - begin).div_ceil(BOUND_BLOCK)],
            first: EdgeIdx(u32::try_from(begin).unwrap_or(u32::MAX)),
            learned: mark.0.load(Ordering::Relaxed) & mark.1 != 0,
            mark,
        }
    }

    /// Sets the effective weight of a slot. The caller is the only writer. Lowering a weight, as most decays do, costs one
    /// cell: its bounds are not read.
    #[inline]
    pub(super) fn write(&self, source: NodeId, slot: EdgeIdx, weight: f32) -> Result<(), Error> {
        let (learned, bit) = self.mark(source);
        if learned.load(Ordering::Relaxed) & bit == 0 {
            learned.fetch_or(bit, Ordering::Release);
        }
        let cell = &self.weights[slot.at()];
        if weight > weight_of(cell) {
            self.raise_bounds(source, slot, weight)?;
        }
        atomic_write_weight(cell, weight, slot, CAS_RETRY_LIMIT).map(drop)
    }

    /// Raises the bounds that cover a slot to its weight: that of all slots, and those from its own block to the first of
    /// the row.
    #[inline(never)]
    fn raise_bounds(&self, source: NodeId, slot: EdgeIdx, weight: f32) -> Result<(), Error> {
        atomic_max_weight(&self.bound, weight, slot, CAS_RETRY_LIMIT)?;
        let (begin, tail, _) = self.row(source);
        let part = if slot.at() < tail { self.excitatory(source) } else { self.inhibitory(source) };
        let from = if slot.at() < tail { begin } else { tail };
        for bound in part.bounds[..=(slot.at() - from) / BOUND_BLOCK].iter().rev() {
            if !atomic_max_weight(bound, weight, slot, CAS_RETRY_LIMIT)? {
                break;
            }
        }
        Ok(())
    }

    /// Prefetches the first slots of a row.
    pub(super) fn prefetch_row(&self, node: NodeId) {
        let begin = self.offsets[node.at()] as usize;
        prefetch(&self.targets[begin..]);
        prefetch(&self.weights[begin..]);
    }

    /// Prefetches the effective weight of a slot.
    pub(super) fn prefetch_weight(&self, slot: EdgeIdx) {
        prefetch(&self.weights[slot.at()..]);
    }

    /// A bound of all effective weights.
    pub(super) fn bound(&self) -> f32 {
        weight_of(&self.bound)
    }

    /// The effective weight of a slot.
    pub(super) fn weight(&self, slot: usize) -> f32 {
        weight_of(&self.weights[slot])
    }

    /// Size in bytes, with reverse index and bounds.
    pub(super) fn bytes(&self) -> usize {
        let own = self.weights.capacity() + self.bounds.capacity() + self.learned.capacity();
        self.slots.bytes() + 4 * own
    }
}

/// The causal strength of a slot by its kind.
pub(super) fn causal_of(base: f32, kind: &SlotKind) -> f32 {
    (base * kind.causal_share).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cas_max_wins() {
        let cell = AtomicU32::new(0.5_f32.to_bits());
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let cell = &cell;
                scope.spawn(move || {
                    for i in 0..1_000 {
                        #[expect(clippy::cast_precision_loss, reason = "small whole numbers")]
                        let weight = (i * 8 + thread) as f32 / 4_000.0;
                        while atomic_max_weight(cell, weight, EdgeIdx(0), CAS_RETRY_LIMIT).is_err() {}
                    }
                });
            }
        });
        assert_eq!(weight_of(&cell).to_bits(), (7_999.0_f32 / 4_000.0).to_bits());
        assert!(!atomic_max_weight(&cell, 0.1, EdgeIdx(0), CAS_RETRY_LIMIT).unwrap());
    }

    #[test]
    fn cas_exhausted() {
        let cell = AtomicU32::new(0);
        let max = atomic_max_weight(&cell, 1.0, EdgeIdx(7), 0);
        assert!(matches!(max, Err(Error::CasRetryExhausted { slot: 7, limit: 0 })));
        let write = atomic_write_weight(&cell, 1.0, EdgeIdx(7), 0);
        assert!(matches!(write, Err(Error::CasRetryExhausted { slot: 7, limit: 0 })));
        assert_eq!(weight_of(&cell).to_bits(), 0);
        assert!(atomic_write_weight(&cell, 1.0, EdgeIdx(7), 1).is_ok());
    }
}
