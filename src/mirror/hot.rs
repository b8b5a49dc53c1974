//! Who is mirrored when not all of a scope fits: the hottest, each with its neighbourhood, page by page.
//!
//! Candidates stand in the order of their heat: pinned memories, then by what is alive in them, last the expired by their last
//! access; of equals the one whose key comes first. A page is the 1,000 hottest that are not in yet. After it come the
//! neighbours of its nodes, at most 100 of each, in the same order, so that a memory does not stand there without what it
//! speaks of. The first page that would go beyond the budget is left out, and ends the selection.
//!
//! # Design notes
//! What a node costs is what it takes in memory, near enough: 128 bytes, its strings, and the postings of its words, which are
//! about as many bytes again. A relationship costs two slots, whether or not it can be walked both ways, since it is not known
//! before it is read.
//!
//! Invariant: a budget of so many pages takes exactly those (held by `a_budget_of_k_pages_takes_k_pages`).

use crate::store::{Eligible, Heat};
use std::cmp::Ordering;

/// Nodes of one page.
pub const PAGE: usize = 1_000;
/// Neighbours that come with a node.
pub const NEIGHBOURS_MAX: usize = 100;
/// Bytes of a node apart from its strings and postings.
const NODE_BYTES: u64 = 128;
/// Bytes of a slot, with the way back and its bounds.
pub const SLOT_BYTES: u64 = 24;

/// The hotter first; of equals the one whose label and key come first.
fn by_heat(a: &Eligible, b: &Eligible) -> Ordering {
    let heat = match (a.heat, b.heat) {
        (Heat::Pinned, Heat::Pinned) => Ordering::Equal,
        (Heat::Pinned, _) => Ordering::Less,
        (_, Heat::Pinned) => Ordering::Greater,
        (Heat::Alive(a), Heat::Alive(b)) => b.total_cmp(&a),
        (Heat::Alive(_), Heat::Expired(_)) => Ordering::Less,
        (Heat::Expired(_), Heat::Alive(_)) => Ordering::Greater,
        (Heat::Expired(a), Heat::Expired(b)) => b.cmp(&a),
    };
    heat.then_with(|| (&a.key, a.label).cmp(&(&b.key, b.label)))
}

/// What a node takes, its relationships apart.
const fn bytes_of(candidate: &Eligible) -> u64 {
    bytes_of_node(candidate.bytes)
}

/// What a node with so many bytes of strings takes.
#[must_use]
pub const fn bytes_of_node(strings: u64) -> u64 {
    NODE_BYTES + 2 * strings
}

/// Bytes of so many relationships.
const fn bytes_of_relationships(count: u64) -> u64 {
    count * 2 * SLOT_BYTES
}

/// At most how many bytes it takes to mirror all of these.
#[must_use]
pub fn bytes_of_all(candidates: &[Eligible]) -> u64 {
    let ends: u64 = candidates.iter().map(|candidate| candidate.degree).sum();
    candidates.iter().map(bytes_of).sum::<u64>() + bytes_of_relationships(ends.div_ceil(2))
}

/// A selection on its way. Candidates are known by their places in the slice it began with.
#[derive(Debug)]
pub struct Selection<'a> {
    candidates: &'a [Eligible],
    /// Places by heat, and the heat of each place as its rank.
    order: Vec<u32>,
    rank: Vec<u32>,
    taken: Vec<bool>,
    /// How far into the order all are taken.
    next: usize,
    bytes: u64,
    bytes_max: u64,
    full: bool,
}

/// A node of a page, and the places of those it is joined to, once for each relationship.
pub type Joined = (u32, Vec<u32>);

impl<'a> Selection<'a> {
    /// One that takes up to `bytes_max`.
    #[must_use]
    pub fn new(candidates: &'a [Eligible], bytes_max: u64) -> Self {
        let mut order: Vec<u32> = (0..u32::MAX).take(candidates.len()).collect();
        order.sort_unstable_by(|a, b| by_heat(&candidates[*a as usize], &candidates[*b as usize]));
        let mut rank = vec![0; candidates.len()];
        for (at, place) in (0..).zip(&order) {
            rank[*place as usize] = at;
        }
        let taken = vec![false; candidates.len()];
        Self { candidates, order, rank, taken, next: 0, bytes: 0, bytes_max, full: false }
    }

    /// The places of the next page; empty when nothing is left or nothing more goes in.
    #[must_use]
    pub fn page(&self) -> Vec<u32> {
        if self.full {
            return Vec::new();
        }
        let left = self.order[self.next..].iter().copied();
        left.filter(|place| !self.taken[*place as usize]).take(PAGE).collect()
    }

    /// Takes a page with the neighbours of its nodes, if it goes in.
    pub fn offer(&mut self, page: &[Joined]) {
        let mut coming: Vec<u32> = page.iter().map(|(place, _)| *place).collect();
        for (_, neighbours) in page {
            let mut near: Vec<u32> =
                neighbours.iter().copied().filter(|place| !self.taken[*place as usize]).collect();
            near.sort_unstable_by_key(|place| self.rank[*place as usize]);
            near.dedup();
            coming.extend(near.into_iter().take(NEIGHBOURS_MAX));
        }
        coming.sort_unstable();
        coming.dedup();
        let is_in = |place: &&u32| self.taken[**place as usize] || coming.binary_search(place).is_ok();
        let joined = page.iter().map(|(_, near)| near.iter().filter(is_in).count() as u64).sum();
        let nodes: u64 = coming.iter().map(|place| bytes_of(&self.candidates[*place as usize])).sum();
        let bytes = self.bytes + nodes + bytes_of_relationships(joined);
        if bytes > self.bytes_max {
            self.full = true;
            return;
        }
        self.bytes = bytes;
        for place in coming {
            self.taken[place as usize] = true;
        }
        while self.order.get(self.next).is_some_and(|place| self.taken[*place as usize]) {
            self.next += 1;
        }
    }

    /// Whether each candidate is taken, and about how many bytes they take.
    #[must_use]
    pub fn done(self) -> (Vec<bool>, u64) {
        (self.taken, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn candidate(key: usize, heat: Heat) -> Eligible {
        Eligible { label: 0, key: format!("n{key:06}"), element: "".into(), heat, bytes: 36, degree: 0 }
    }

    fn alive(count: usize) -> Vec<Eligible> {
        #[expect(clippy::cast_precision_loss, reason = "few")]
        let all = (0..count).map(|n| candidate(n, Heat::Alive(1e6 - n as f64))).collect();
        all
    }

    fn selected(candidates: &[Eligible], bytes_max: u64, near: impl Fn(u32) -> Vec<u32>) -> Vec<bool> {
        let mut selection = Selection::new(candidates, bytes_max);
        loop {
            let page = selection.page();
            if page.is_empty() {
                return selection.done().0;
            }
            selection.offer(&page.into_iter().map(|place| (place, near(place))).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_budget_of_k_pages_takes_k_pages() {
        let candidates = alive(5 * PAGE + 7);
        for pages in 0..=5 {
            let bytes = (pages * PAGE) as u64 * 200;
            let taken = selected(&candidates, bytes, |_| Vec::new());
            assert!(taken.iter().enumerate().all(|(at, taken)| *taken == (at < pages * PAGE)), "{pages}");
        }
        assert!(selected(&candidates, u64::MAX, |_| Vec::new()).iter().all(|taken| *taken));
        assert!(selected(&[], 0, |_| Vec::new()).is_empty());
    }

    #[test]
    fn a_hub_brings_its_hundred_hottest_neighbours() {
        let candidates = alive(100_001);
        let near = |place| if place == 0 { (1..100_001).rev().collect() } else { Vec::new() };
        let mut selection = Selection::new(&candidates, u64::MAX);
        selection.offer(&[(0, near(0))]);
        let (taken, _) = selection.done();
        assert!(taken.iter().enumerate().all(|(at, taken)| *taken == (at <= NEIGHBOURS_MAX)));
    }

    #[test]
    fn the_pinned_come_first_and_the_expired_last() {
        let heats = [Heat::Expired(9), Heat::Alive(0.0), Heat::Alive(2.0), Heat::Pinned, Heat::Expired(10)];
        let candidates: Vec<Eligible> =
            heats.into_iter().enumerate().map(|(key, heat)| candidate(key, heat)).collect();
        assert_eq!(Selection::new(&candidates, 0).order, [3, 2, 1, 4, 0]);
    }

    proptest! {
        /// Whatever is joined to what: nothing colder is taken as a page while something hotter is not.
        #[test]
        fn what_is_taken_keeps_to_the_budget(
            heats in prop::collection::vec(0_u8..9, 1..60),
            edges in prop::collection::vec((0_u32..60, 0_u32..60), 0..90),
            bytes_max in 0_u64..20_000,
        ) {
            let count = u32::try_from(heats.len()).unwrap();
            let candidates: Vec<Eligible> = heats.iter().enumerate()
                .map(|(key, heat)| candidate(key, Heat::Alive(f64::from(*heat)))).collect();
            let near = |place| edges.iter()
                .filter(|(a, b)| *a < count && *b < count)
                .flat_map(|(a, b)| [(*a, *b), (*b, *a)])
                .filter(|(a, _)| *a == place).map(|(_, b)| b).collect::<Vec<u32>>();
            let mut selection = Selection::new(&candidates, bytes_max);
            while !selection.page().is_empty() {
                let page: Vec<Joined> = selection.page().into_iter().map(|place| (place, near(place))).collect();
                selection.offer(&page);
            }
            let (taken, bytes) = selection.done();
            prop_assert!(bytes <= bytes_max);
            let nodes: u64 = candidates.iter().zip(&taken).filter(|(_, taken)| **taken).map(|(one, _)| bytes_of(one)).sum();
            prop_assert!(nodes <= bytes);
            // Fewer than a page: all or none.
            prop_assert!(taken.iter().all(|one| *one == taken[0]));
            prop_assert_eq!(taken[0], bytes > 0);
        }
    }
}
