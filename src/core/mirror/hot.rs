//! Selection of the nodes to mirror when a scope exceeds its memory budget: the hottest that fit.
//!
//! Candidates are taken in the order of their heat: pinned memories, then by present energy, last expired ones by the length of
//! their text and the number of their accesses; of equals the lower key first. A page is the 1,000 hottest that are not taken yet, or fewer that cost
//! half of the remaining budget, so that neighbours have space however small the budget is. Each node of a page is
//! taken if it fits; then the neighbours of those taken, at most 100 of each, in the same order, as far as these fit. A
//! node that does not fit is skipped and the next one is tried, so a node that alone exceeds the budget excludes only
//! itself. Selection ends when no candidate fits any more, or none of a page did.
//!
//! # The budget
//! `mirror.max_bytes` is a peak: the memory of a scope while one generation answers queries and the next is loaded or
//! patched beside it, with temporary data (the census, rows, gathered words). So costs are those of a peak, about three
//! times the size of a generation at rest. The alternative, to drop the present generation before the next is loaded,
//! would hold more and answer no query during a load.
//!
//! The cost of a node is estimated from the census alone, from the length of its strings and its number of
//! relationships. Real costs depend on the contents: unique words take twice as much as usual ones. So a finished
//! generation is [measured](at_peak), the [`Density`] of its scope is updated, and a load that exceeds the budget is
//! dropped and repeated with a smaller selection. Factors were measured with a counting allocator over graphs of long
//! texts, short texts, unique words, many relationships and many entities; `cargo test --test budget` holds the peak of
//! each to 10 % of the budget.
//!
//! Not included: the memory of running queries, and indexes that only some queries need and the first of them builds
//! (co-occurrence, communities, co-change).
//!
//! # Design notes
//! The relationships of a node of a page are known, and cost when both ends are taken. Those of a neighbour are not
//! read yet: it reserves the cost of as many to other neighbours as it may have, at most 100, and nodes of later pages
//! use up that reserve.
//!
//! Invariant: the budget is kept, whatever fits is not excluded in favour of something colder of the same cost, and the
//! mirror is not empty while any node fits (held by `the_hottest_fit_is_taken`).

use crate::store::MirrorCandidate;
use std::collections::BTreeMap;

/// Nodes of one page.
pub const PAGE: usize = 1_000;
/// Neighbours taken with a node, and relationships to other neighbours whose cost it reserves.
pub const NEIGHBOURS_MAX: usize = 100;
/// Bytes of a node without its strings.
const NODE_BYTES: u64 = 1_400;
/// Bytes of a character of a node's label: its first [`LABEL_CHARS`] are in dictionaries and trigrams.
const LABEL_BYTES: u64 = 50;
const LABEL_CHARS: u64 = 200;
/// Bytes of a character that is only indexed by its word.
const TEXT_BYTES: u64 = 5;
/// Bytes of a relationship: a slot in each direction, with the reverse index and bounds.
const RELATIONSHIP_BYTES: u64 = 150;
/// Bytes of an embedding without its numbers, and of a number.
const EMBEDDING_BYTES: u64 = 80;
const NUMBER_BYTES: u64 = 2;
/// Peak of a reload, in generations at rest.
const PEAK: u64 = 3;

/// Peak of a scope with a generation of so many bytes at rest.
#[must_use]
pub const fn at_peak(at_rest: usize) -> u64 {
    PEAK * at_rest as u64
}

/// Bytes at rest of a scope with such a peak.
pub(super) const fn at_rest(at_peak: u64) -> u64 {
    at_peak / PEAK
}

/// A number of bytes times a factor.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of bytes, to the nearest of some"
)]
#[must_use]
pub(super) fn share_of(bytes: u64, factor: f64) -> u64 {
    (bytes as f64 * factor) as u64
}

/// Measured size of the nodes of a scope, divided by the estimate.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Density(f64);

impl Default for Density {
    fn default() -> Self {
        Self(1.0)
    }
}

impl Density {
    /// Ratio of measured to estimated bytes, limited to `0.1 ..= 10`: memories of few different words with relationships to anywhere
    /// take a quarter of the estimate.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    pub fn of(real: u64, estimated: u64) -> Self {
        Self((real.max(1) as f64 / estimated.max(1) as f64).clamp(0.1, 10.0))
    }

    /// Whether any were measured.
    #[must_use]
    pub fn is_measured(self) -> bool {
        self != Self::default()
    }

    /// That of more nodes: more of their relationships lead to one that is held.
    #[must_use]
    pub fn among_more(self) -> Self {
        Self((self.0 * 1.2).min(10.0))
    }

    /// Greatest estimate that keeps the measured size within a limit.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of bytes, to the nearest of some"
    )]
    pub fn room(self, bytes: u64) -> u64 {
        (bytes as f64 / self.0) as u64
    }

    /// Measured size of what is estimated at so many bytes.
    #[must_use]
    pub fn measured(self, estimated: u64) -> u64 {
        share_of(estimated, self.0)
    }

    /// Whether one and a half times this is still below another.
    #[must_use]
    pub fn is_much_less_than(self, other: Self) -> bool {
        self.0 * 1.5 < other.0
    }
}

/// Cost of a node with so many characters of strings, without its relationships.
#[must_use]
pub const fn bytes_of_node(chars: u64) -> u64 {
    let label = if chars < LABEL_CHARS { chars } else { LABEL_CHARS };
    NODE_BYTES + label * LABEL_BYTES + (chars - label) * TEXT_BYTES
}

/// Cost of a relationship of a node. Where facts have embeddings, each relationship counts as one: too much is measured afterwards.
const fn bytes_of_relationship(node: &MirrorCandidate) -> u64 {
    match node.numbers {
        0 => RELATIONSHIP_BYTES,
        numbers => RELATIONSHIP_BYTES + PEAK * (EMBEDDING_BYTES + NUMBER_BYTES * numbers),
    }
}

/// Greatest length of strings, in characters, of a node within this cost; `None` if no node fits.
#[must_use]
pub const fn chars_within(bytes: u64) -> Option<u64> {
    let Some(left) = bytes.checked_sub(NODE_BYTES) else { return None };
    let label = left / LABEL_BYTES;
    if label < LABEL_CHARS {
        return Some(label);
    }
    Some(LABEL_CHARS + (left - LABEL_CHARS * LABEL_BYTES) / TEXT_BYTES)
}

/// Most nodes within this cost.
#[must_use]
pub fn nodes_within(bytes: u64) -> usize {
    usize::try_from(bytes / NODE_BYTES).unwrap_or(usize::MAX)
}

/// Upper bound of the cost of all of these with the relationships between them.
#[must_use]
pub fn bytes_of_all(candidates: &[MirrorCandidate]) -> u64 {
    let of_ends = |node: &MirrorCandidate| node.degree.saturating_mul(bytes_of_relationship(node));
    let ends = candidates.iter().map(of_ends).fold(0, u64::saturating_add);
    let nodes = candidates.iter().map(|candidate| bytes_of_node(candidate.bytes)).sum::<u64>();
    nodes + ends.div_ceil(2)
}

/// A selection in progress. Candidates are identified by their indexes in its slice.
#[derive(Debug)]
pub struct Selection<'a> {
    candidates: &'a [MirrorCandidate],
    /// Indexes by heat, and the heat rank of each index.
    order: Vec<u32>,
    rank: Vec<u32>,
    taken: Vec<bool>,
    /// For a node that is not taken, its relationships to taken nodes of pages; for a taken neighbour, the part of its
    /// reserve that no other node has used up.
    ties: Vec<u32>,
    /// All candidates before this position in the order were tried.
    next: usize,
    bytes: u64,
    bytes_max: u64,
    ended: bool,
}

/// A node of a page, and the indexes of its neighbours, one for each relationship.
pub type Joined = (u32, Vec<u32>);

impl<'a> Selection<'a> {
    /// A selection that costs at most `bytes_max`.
    #[must_use]
    pub fn new(candidates: &'a [MirrorCandidate], bytes_max: u64) -> Self {
        let mut order: Vec<u32> = (0..u32::MAX).take(candidates.len()).collect();
        order.sort_unstable_by(|a, b| {
            MirrorCandidate::by_heat(&candidates[*a as usize], &candidates[*b as usize])
        });
        let mut rank = vec![0; candidates.len()];
        for (at, place) in (0..).zip(&order) {
            rank[*place as usize] = at;
        }
        let (taken, ties) = (vec![false; candidates.len()], vec![0; candidates.len()]);
        Self { candidates, order, rank, taken, ties, next: 0, bytes: 0, bytes_max, ended: false }
    }

    fn bytes_of(&self, place: u32) -> u64 {
        bytes_of_node(self.candidates[place as usize].bytes)
    }

    fn bytes_of_relationships(&self, place: u32, count: u64) -> u64 {
        count.saturating_mul(bytes_of_relationship(&self.candidates[place as usize]))
    }

    const fn remaining(&self) -> u64 {
        self.bytes_max - self.bytes
    }

    /// The indexes of the next page, the hottest first; empty when nothing more fits. No index is in two pages.
    #[must_use]
    pub fn page(&mut self) -> Vec<u32> {
        let (mut page, mut bytes) = (Vec::new(), 0);
        while page.len() < PAGE && !self.ended {
            let Some(place) = self.order.get(self.next).copied() else { break };
            let own = self.bytes_of(place);
            if !self.taken[place as usize] && own <= self.remaining() {
                if !page.is_empty() && bytes + own > self.remaining() / 2 {
                    break;
                }
                bytes += own;
                page.push(place);
            }
            self.next += 1;
        }
        page
    }

    /// Takes the nodes of a page that fit, and of their neighbours.
    pub fn offer(&mut self, page: &[Joined]) {
        let before = self.bytes;
        let mut coming: Vec<u32> = Vec::new();
        for (place, joined) in page {
            if !self.taken[*place as usize] && self.take_joined(*place, joined) {
                let mut near: Vec<u32> =
                    joined.iter().copied().filter(|near| !self.taken[*near as usize]).collect();
                near.sort_unstable_by_key(|near| self.rank[*near as usize]);
                near.dedup();
                coming.extend(near.into_iter().take(NEIGHBOURS_MAX));
            }
        }
        coming.sort_unstable_by_key(|place| self.rank[*place as usize]);
        coming.dedup();
        coming.into_iter().for_each(|place| self.take_neighbour(place));
        self.ended = self.bytes == before;
    }

    /// Takes a node with known relationships, if it fits.
    fn take_joined(&mut self, place: u32, joined: &[u32]) -> bool {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        joined.iter().for_each(|near| *counts.entry(*near).or_default() += 1);
        let is_taken = |near: u32| self.taken[near as usize] || near == place;
        let costly: u64 = counts
            .iter()
            .filter(|(near, _)| is_taken(**near))
            .map(|(near, count)| u64::from(count.saturating_sub(self.ties[*near as usize])))
            .sum();
        let bytes = self.bytes_of(place).saturating_add(self.bytes_of_relationships(place, costly));
        if bytes > self.remaining() {
            return false;
        }
        self.bytes += bytes;
        self.taken[place as usize] = true;
        // Both ends are known from here on: nothing is reserved.
        self.ties[place as usize] = 0;
        for (near, count) in counts.into_iter().filter(|(near, _)| *near != place) {
            let ties = &mut self.ties[near as usize];
            *ties = if self.taken[near as usize] { ties.saturating_sub(count) } else { *ties + count };
        }
        true
    }

    /// Takes a node with known relationships to nodes of pages only, if it fits.
    fn take_neighbour(&mut self, place: u32) {
        let known = u64::from(self.ties[place as usize]);
        let others = self.candidates[place as usize].degree.saturating_sub(known);
        let ahead = others.min(NEIGHBOURS_MAX as u64);
        let bytes = self.bytes_of(place).saturating_add(self.bytes_of_relationships(place, known + ahead));
        if !self.taken[place as usize] && bytes <= self.remaining() {
            self.bytes += bytes;
            self.taken[place as usize] = true;
            self.ties[place as usize] = u32::try_from(ahead).unwrap_or(u32::MAX);
        }
    }

    /// Whether each candidate is taken, and the cost of all.
    #[must_use]
    pub fn done(self) -> (Vec<bool>, u64) {
        (self.taken, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Heat;
    use proptest::prelude::*;

    const CHARS: u64 = 36;
    const COST: u64 = bytes_of_node(CHARS);

    fn candidate(key: usize, heat: Heat) -> MirrorCandidate {
        MirrorCandidate {
            label: 0,
            key: format!("n{key:06}"),
            elements: "".into(),
            heat,
            bytes: CHARS,
            degree: 0,
            numbers: 0,
        }
    }

    fn alive(count: usize) -> Vec<MirrorCandidate> {
        #[expect(clippy::cast_precision_loss, reason = "few")]
        let all = (0..count).map(|n| candidate(n, Heat::Alive(1e6 - n as f64))).collect();
        all
    }

    fn selected(
        candidates: &[MirrorCandidate],
        bytes_max: u64,
        near: impl Fn(u32) -> Vec<u32>,
    ) -> (Vec<bool>, u64) {
        let mut selection = Selection::new(candidates, bytes_max);
        loop {
            let page = selection.page();
            if page.is_empty() {
                return selection.done();
            }
            selection.offer(&page.into_iter().map(|place| (place, near(place))).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_budget_of_k_nodes_takes_the_k_hottest() {
        let candidates = alive(5 * PAGE + 7);
        for nodes in [0, 1, 2, 999, 1_000, 1_001, 4_321, 5_007, 9_999] {
            let bytes = nodes as u64 * COST + COST - 1;
            let (taken, _) = selected(&candidates, bytes, |_| Vec::new());
            assert!(taken.iter().enumerate().all(|(at, taken)| *taken == (at < nodes)), "{nodes}");
        }
        assert!(selected(&candidates, u64::MAX, |_| Vec::new()).0.iter().all(|taken| *taken));
        assert!(selected(&[], 0, |_| Vec::new()).0.is_empty());
    }

    #[test]
    fn a_node_that_is_too_large_leaves_out_nothing_but_itself() {
        let mut candidates = alive(3_000);
        for giant in candidates.iter_mut().take(1_500) {
            giant.bytes = 1 << 40;
        }
        let (taken, _) = selected(&candidates, 700 * COST, |_| Vec::new());
        assert!(taken.iter().enumerate().all(|(at, taken)| *taken == (1_500..2_200).contains(&at)));
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
        let heats =
            [Heat::Expired(9.0), Heat::Alive(0.0), Heat::Alive(2.0), Heat::Pinned, Heat::Expired(10.0)];
        let candidates: Vec<MirrorCandidate> =
            heats.into_iter().enumerate().map(|(key, heat)| candidate(key, heat)).collect();
        assert_eq!(Selection::new(&candidates, 0).order, [3, 2, 1, 4, 0]);
    }

    #[test]
    fn embeddings_of_facts_are_in_the_cost() {
        let degree = 2 * u64::try_from(NEIGHBOURS_MAX).unwrap();
        let cost =
            |numbers| bytes_of_all(&[MirrorCandidate { degree, numbers, ..candidate(0, Heat::Pinned) }]);
        assert_eq!(cost(0), COST + degree / 2 * RELATIONSHIP_BYTES);
        assert!(cost(384) - cost(0) >= degree / 2 * at_peak(2 * 384));
        let all: Vec<_> =
            alive(2).into_iter().map(|one| MirrorCandidate { degree: 1, numbers: 384, ..one }).collect();
        let near = |place: u32| vec![1 - place];
        assert_eq!(selected(&all, 2 * COST + RELATIONSHIP_BYTES, near).0, [true, false]);
        assert_eq!(selected(&all, bytes_of_all(&all), near), (vec![true, true], bytes_of_all(&all)));
    }

    #[test]
    fn strings_within_a_budget_are_those_that_cost_it() {
        for bytes in (0..3 * (NODE_BYTES + LABEL_CHARS * LABEL_BYTES)).step_by(7) {
            match chars_within(bytes) {
                None => assert!(bytes_of_node(0) > bytes),
                Some(chars) => {
                    assert!(bytes_of_node(chars) <= bytes && bytes_of_node(chars + 1) > bytes, "{bytes}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        /// Random graphs with random sizes of nodes.
        #[test]
        fn the_hottest_fit_is_taken(
            shapes in prop::collection::vec((0_u8..9, prop_oneof![0_u64..300, 0_u64..5_000]), 1..60),
            edges in prop::collection::vec((0_u32..60, 0_u32..60), 0..90),
            bytes_max in prop_oneof![0_u64..20_000, 0_u64..400_000],
        ) {
            let count = u32::try_from(shapes.len()).unwrap();
            let edges: Vec<(u32, u32)> =
                edges.into_iter().filter(|(a, b)| *a < count && *b < count && a != b).collect();
            let near = |place: u32| edges.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)])
                .filter(|(a, _)| *a == place).map(|(_, b)| b).collect::<Vec<u32>>();
            let candidates: Vec<MirrorCandidate> = shapes.iter().enumerate().map(|(key, (heat, bytes))| MirrorCandidate {
                bytes: *bytes,
                degree: near(u32::try_from(key).unwrap()).len() as u64,
                ..candidate(key, Heat::Alive(f64::from(*heat)))
            }).collect();
            let (taken, bytes) = selected(&candidates, bytes_max, near);
            let is_taken = |place: u32| taken[place as usize];
            let node = |place: u32| bytes_of_node(candidates[place as usize].bytes);

            // The budget is kept, and every mirrored node has a cost.
            prop_assert!(bytes <= bytes_max);
            let held: u64 = (0..count).filter(|place| is_taken(*place)).map(node).sum();
            let joined = edges.iter().filter(|(a, b)| is_taken(*a) && is_taken(*b)).count() as u64;
            prop_assert!(held + joined * RELATIONSHIP_BYTES <= bytes);
            // The mirror is not empty while any node fits.
            let cheapest = (0..count).map(node).min().unwrap();
            prop_assert_eq!(taken.contains(&true), cheapest <= bytes_max);
            // An excluded node costs more, with its relationships, than any colder one that was taken by its own heat.
            let order = Selection::new(&candidates, 0).rank;
            let colder = |a: u32, b: u32| order[a as usize] > order[b as usize];
            for out in (0..count).filter(|place| !is_taken(*place)) {
                let full = node(out) + near(out).len() as u64 * RELATIONSHIP_BYTES;
                let by_itself = |place: &u32| !near(*place).iter().any(|near| is_taken(*near) && colder(*place, *near));
                for held in (0..count).filter(|place| is_taken(*place) && colder(*place, out)).filter(by_itself) {
                    prop_assert!(node(held) < full, "{held} is taken, {out} is not");
                }
            }
        }
    }
}
