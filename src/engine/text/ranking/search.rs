//! The best memories for the words of a query, without reading what cannot be among them.
//!
//! Numbers are read in windows. In each, the blocks of a word bound what it can give to a memory. Words that together cannot lift a
//! memory to the worst of those that are kept are not read: they are only looked up for memories that the others found and that may
//! still get there (*MaxScore*: Turtle and Flood, 1995, with the bounds of Ding and Suel's *block-max indexes*, 2011). A window in
//! which all words together cannot is skipped.
//!
//! # Design notes
//! A score is the sum of its gains in the order of the words, in `f64`, whichever way a memory was found, so its bits are those of
//! reading everything. Bounds have a slack far above the rounding of a score to `f32`, so none is too low; of equal scores the
//! external id decides, so a bound that equals the worst score excludes nothing.
//!
//! Two lists are kept in one pass, of all memories and of those that pass a filter. What is excluded is below both.
//!
//! Invariant: the result is that of reading everything (held by `bm25_oracle` and `pruning_changes_no_result`).

use super::segment::{BLOCK, Posting, Segment};
use super::{B, Documents, K1, RankedMemory, Ranking};
use crate::graph::Graph;
use crate::graph::index::NodeId;
use crate::top_k::TopK;
use std::cmp::Reverse;

/// Numbers of a window, for a few words and for many: each word costs a step in each window.
const WINDOW: u32 = 256;
const WINDOW_OF_MANY: u32 = 4_096;
const FEW_WORDS: usize = 32;
/// Lengths whose saturation is computed once for a query.
const LENGTHS: u16 = 256;
/// Factor on bounds, above the rounding of a score.
const SLACK: f64 = 1.0 + 1e-6;

/// The gain of a memory from a word, by the formula of the ranking.
pub(super) struct Gain {
    /// Of the first lengths.
    saturations: Vec<f64>,
    length_mean: f64,
}

impl Gain {
    fn new(length_mean: f64) -> Self {
        let saturations = (0..LENGTHS).map(|length| saturation(length, length_mean)).collect();
        Self { saturations, length_mean }
    }

    pub(super) fn of(&self, rarity: f64, count: u16, length: u16) -> f64 {
        let known = self.saturations.get(usize::from(length));
        let saturation = known.copied().unwrap_or_else(|| saturation(length, self.length_mean));
        let count = f64::from(count);
        rarity * count * (K1 + 1.0) / (count + saturation)
    }
}

fn saturation(length: u16, length_mean: f64) -> f64 {
    K1 * (1.0 - B + B * f64::from(length) / length_mean)
}

/// A memory by the bits of its score and its rank: the greatest is the best.
type Place = (u32, Reverse<u32>, NodeId);

/// The postings of a word in one segment.
struct List<'a> {
    rarity: f64,
    postings: &'a [Posting],
    /// Place of the first posting in the segment.
    first: usize,
    /// The posting to be read next.
    at: usize,
    /// In the window: the greatest gain, whether all postings are read, and the end of those that were.
    gain_max: f64,
    is_read: bool,
    end: usize,
    /// The last block that was bounded, and its bound.
    bounded: (usize, f64),
}

impl List<'_> {
    fn number(&self) -> Option<u32> {
        self.postings.get(self.at).map(|posting| posting.number)
    }

    /// The index of the first posting of the next block after that of an index.
    const fn next_block(&self, at: usize) -> usize {
        ((self.first + at) / BLOCK + 1) * BLOCK - self.first
    }

    /// Bounds the gain of numbers below `to`.
    fn bound(&mut self, segment: &Segment, gain: &Gain, to: u32) {
        let (mut at, mut most) = (self.at, 0.0);
        while self.postings.get(at).is_some_and(|posting| posting.number < to) {
            let block = (self.first + at) / BLOCK;
            if self.bounded.0 != block {
                self.bounded = (block, self.rarity * segment.blocks()[block].gain_max(gain));
            }
            most = f64::max(most, self.bounded.1);
            at = self.next_block(at);
        }
        self.gain_max = most;
    }

    /// Advances to a number or the first after it: by blocks, then within one.
    fn seek(&mut self, number: u32) {
        loop {
            let next = self.next_block(self.at);
            if self.postings.get(next).is_none_or(|posting| posting.number >= number) {
                let block = &self.postings[self.at..next.min(self.postings.len())];
                self.at += block.partition_point(|posting| posting.number < number);
                return;
            }
            self.at = next;
        }
    }
}

/// A search in progress.
pub(super) struct Search<'a, P> {
    graph: &'a Graph,
    documents: &'a Documents,
    passes: P,
    gain: Gain,
    all: TopK<Place>,
    passing: TopK<Place>,
    /// Sums of the numbers of a window, and which of them have one.
    sums: Vec<f64>,
    touched: Vec<u64>,
    postings_read: u64,
}

impl<'a, P: Fn(NodeId) -> bool> Search<'a, P> {
    pub(super) fn new((graph, documents): (&'a Graph, &'a Documents), most: usize, passes: P) -> Self {
        Self {
            graph,
            documents,
            passes,
            gain: Gain::new(documents.length_mean),
            all: TopK::new(most),
            passing: TopK::new(most),
            sums: Vec::new(),
            touched: Vec::new(),
            postings_read: 0,
        }
    }

    /// The worst score that is still among the best of both lists.
    fn bar(&self) -> Option<f64> {
        let ((all, ..), (passing, ..)) = (self.all.threshold()?, self.passing.threshold()?);
        Some(f64::from(f32::from_bits(*all.min(passing))))
    }

    /// Searches a segment for words with their rarities.
    pub(super) fn segment(&mut self, segment: &Segment, words: &[(u64, f64)]) {
        let list = |(word, rarity): &(u64, f64)| {
            let range = segment.range_of(*word);
            let (first, postings) = (range.start, segment.postings(range));
            let (rarity, bounded) = (*rarity, (usize::MAX, 0.0));
            List { rarity, postings, first, at: 0, gain_max: 0.0, is_read: false, end: 0, bounded }
        };
        let mut lists: Vec<List<'_>> =
            words.iter().map(list).filter(|list| !list.postings.is_empty()).collect();
        let window = if lists.len() <= FEW_WORDS { WINDOW } else { WINDOW_OF_MANY };
        self.sums.resize(window as usize, 0.0);
        self.touched.resize(window as usize / 64, 0);
        while let Some(from) = lists.iter().filter_map(List::number).min() {
            let to = from.saturating_add(window);
            lists.iter_mut().for_each(|list| list.bound(segment, &self.gain, to));
            let rest = self.choose(&mut lists);
            if lists.iter().any(|list| list.is_read) {
                lists.iter_mut().filter(|list| list.is_read).for_each(|list| self.read(list, from, to));
                self.examine(&mut lists, from, rest);
            }
            for list in &mut lists {
                if list.is_read { list.at = list.end } else { list.seek(to) }
            }
            lists.retain(|list| list.at < list.postings.len());
        }
    }

    /// Chooses the lists to read in a window: all but those that together give too little. Returns what these give at most.
    fn choose(&self, lists: &mut [List<'_>]) -> f64 {
        let Some(bar) = self.bar() else {
            lists.iter_mut().for_each(|list| list.is_read = true);
            return 0.0;
        };
        let all: f64 = lists.iter().map(|list| list.gain_max).sum();
        let mut order: Vec<&mut List<'_>> = lists.iter_mut().collect();
        // Without an order, all of them give too little as well.
        if all * SLACK >= bar {
            // To look up each of many words for each memory costs more than to read them.
            if order.len() > FEW_WORDS {
                order.iter_mut().for_each(|list| list.is_read = list.gain_max > 0.0);
                return 0.0;
            }
            order.sort_unstable_by(|a, b| a.gain_max.total_cmp(&b.gain_max));
        }
        let mut rest = 0.0;
        for list in order {
            list.is_read = (rest + list.gain_max) * SLACK >= bar;
            if !list.is_read {
                rest += list.gain_max;
            }
        }
        rest
    }

    /// Adds the gains of a list to the numbers of a window.
    fn read(&mut self, list: &mut List<'_>, from: u32, to: u32) {
        let rest = &list.postings[list.at..];
        let mut read = 0;
        for posting in rest.iter().take_while(|posting| posting.number < to) {
            let cell = (posting.number - from) as usize;
            self.sums[cell] += self.gain.of(list.rarity, posting.count, posting.length);
            self.touched[cell / 64] |= 1 << (cell % 64);
            read += 1;
        }
        self.postings_read += read as u64;
        list.end = list.at + read;
    }

    /// Examines and clears the window that begins at `from`; other lists than those that were read give at most `rest`.
    fn examine(&mut self, lists: &mut [List<'_>], from: u32, rest: f64) {
        let is_whole = lists.iter().all(|list| list.is_read || list.gain_max <= 0.0);
        for (word, number) in (0..self.touched.len()).zip((from..).step_by(64)) {
            let mut touched = std::mem::take(&mut self.touched[word]);
            while touched != 0 {
                let bit = touched.trailing_zeros();
                touched &= touched - 1;
                let sum = std::mem::take(&mut self.sums[64 * word + bit as usize]);
                if self.bar().is_some_and(|bar| (sum + rest) * SLACK < bar) {
                    continue;
                }
                let sum = if is_whole { sum } else { self.sum(lists, number + bit) };
                self.offer(number + bit, sum);
            }
        }
    }

    /// The score of a number, from all lists.
    fn sum(&mut self, lists: &mut [List<'_>], number: u32) -> f64 {
        let mut sum = 0.0;
        for list in lists.iter_mut().filter(|list| list.gain_max > 0.0) {
            list.seek(number);
            self.postings_read += 1;
            if let Some(posting) = list.postings.get(list.at).filter(|posting| posting.number == number) {
                sum += self.gain.of(list.rarity, posting.count, posting.length);
            }
        }
        sum
    }

    fn offer(&mut self, number: u32, score: f64) {
        let Some(node) = self.documents.node(number) else { return };
        #[expect(clippy::cast_possible_truncation, reason = "rounded once, far below the greatest f32")]
        let score = score as f32;
        let place = (score.to_bits(), Reverse(self.graph.rank(node)), node);
        self.all.push(place);
        // Checked last: most memories are not among the best.
        if self.passing.threshold().is_none_or(|bar| *bar < place) && (self.passes)(node) {
            self.passing.push(place);
        }
    }

    pub(super) fn ranking(self) -> Ranking {
        let ranked = |best: TopK<Place>| {
            let best = best.into_sorted().into_iter();
            best.map(|(score, _, node)| RankedMemory { node, score: f32::from_bits(score) }).collect()
        };
        let (ranked, passing) = (ranked(self.all), ranked(self.passing));
        Ranking { ranked, passing, postings_read: self.postings_read, ..Ranking::default() }
    }
}
