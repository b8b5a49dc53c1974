//! Postings of stems: which memories have a stem, how often, and how long these memories are.
//!
//! # Design notes
//! A posting has the length of its memory, so that its gain is computed without a look elsewhere; it would take the same 8 bytes
//! without. Of each 64 postings the greatest count and the least lengths are known, from which the greatest gain among them follows:
//! a bound that costs 6 bytes for 512, and is exact where no stem is in a memory more than twice. Blocks ignore where the postings
//! of a stem begin, so that they need no places of their own: at the ends of a list a bound may be that of the next list.

use super::search::Gain;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Number of postings of a block.
pub(super) const BLOCK: usize = 64;

/// Stems sorted by hash, with their postings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Segment {
    words: Vec<u64>,
    /// End of the postings of each word.
    ends: Vec<usize>,
    /// By number for each word.
    postings: Vec<Posting>,
    blocks: Vec<Block>,
}

/// A memory with a stem. The 64 KiB of a text that are indexed have fewer than 2^15 words.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Posting {
    pub(super) number: u32,
    /// How often the memory has the stem, and how many stems it has.
    pub(super) count: u16,
    pub(super) length: u16,
}

/// Bounds of the counts and lengths of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Block {
    /// Least length of the memories that have the stem once, and of the others; the greatest number for none.
    once: u16,
    often: u16,
    /// Greatest count.
    count: u16,
}

impl Block {
    fn of(postings: &[Posting]) -> Self {
        let mut block = Self { once: u16::MAX, often: u16::MAX, count: 0 };
        for posting in postings {
            let least = if posting.count > 1 { &mut block.often } else { &mut block.once };
            *least = posting.length.min(*least);
            block.count = posting.count.max(block.count);
        }
        block
    }

    /// The greatest gain of a posting of the block, of a word with a rarity of 1.
    pub(super) fn gain_max(self, gain: &Gain) -> f64 {
        f64::max(gain.of(1.0, 1, self.once), gain.of(1.0, self.count, self.often))
    }
}

impl Segment {
    pub(super) fn is_sound(&self, is_number: impl Fn(u32) -> bool) -> bool {
        self.words.len() == self.ends.len()
            && self.words.is_sorted_by(|a, b| a < b)
            && self.ends.is_sorted()
            && self.ends.last().copied().unwrap_or(0) == self.postings.len()
            && self.postings.iter().all(|posting| is_number(posting.number))
            && (0..self.words.len()).all(|place| self.at(place).is_sorted_by(|a, b| a.number < b.number))
            && self.postings.chunks(BLOCK).map(Block::of).eq(self.blocks.iter().copied())
    }

    pub(super) fn len(&self) -> usize {
        self.postings.len()
    }

    /// A segment of postings, sorted by word and number.
    pub(super) fn of(sorted: &[(u64, Posting)]) -> Self {
        let mut segment = Self::default();
        for of_word in sorted.chunk_by(|a, b| a.0 == b.0) {
            segment.push(of_word[0].0, of_word.iter().map(|(_, posting)| *posting));
        }
        segment
    }

    fn push(&mut self, word: u64, postings: impl Iterator<Item = Posting>) {
        let begin = self.postings.len();
        self.postings.extend(postings);
        if self.postings.len() > begin {
            self.words.push(word);
            self.ends.push(self.postings.len());
        }
    }

    /// Ends the construction of a segment.
    pub(super) fn finished(mut self) -> Self {
        self.words.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.postings.shrink_to_fit();
        self.blocks = self.postings.chunks(BLOCK).map(Block::of).collect();
        self
    }

    fn range(&self, place: usize) -> Range<usize> {
        let begin = if place == 0 { 0 } else { self.ends[place - 1] };
        begin..self.ends[place]
    }

    fn at(&self, place: usize) -> &[Posting] {
        &self.postings[self.range(place)]
    }

    /// Where the postings of a word are.
    pub(super) fn range_of(&self, word: u64) -> Range<usize> {
        self.words.binary_search(&word).map_or(0..0, |place| self.range(place))
    }

    pub(super) fn postings(&self, range: Range<usize>) -> &[Posting] {
        &self.postings[range]
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The words, each with its postings.
    pub(super) fn of_words(&self) -> impl Iterator<Item = (u64, &[Posting])> {
        self.words.iter().enumerate().map(|(place, word)| (*word, self.at(place)))
    }

    /// Merges it with a segment of later numbers, without replaced memories.
    pub(super) fn merged(&self, later: &Self, held: &[bool]) -> Self {
        let mut all = Self::default();
        all.postings.reserve(self.len() + later.len());
        let (mut a, mut b) = (0, 0);
        while a < self.words.len() || b < later.words.len() {
            let word = match (self.words.get(a), later.words.get(b)) {
                (Some(x), Some(y)) => *x.min(y),
                (x, y) => x.or(y).copied().unwrap_or_default(),
            };
            let mut own: &[Posting] = &[];
            let mut others: &[Posting] = &[];
            if self.words.get(a) == Some(&word) {
                own = self.at(a);
                a += 1;
            }
            if later.words.get(b) == Some(&word) {
                others = later.at(b);
                b += 1;
            }
            let both = own.iter().chain(others).copied();
            all.push(word, both.filter(|posting| held[posting.number as usize]));
        }
        all
    }

    pub(super) fn bytes(&self) -> usize {
        8 * (self.words.capacity() + self.ends.capacity())
            + size_of::<Posting>() * self.postings.capacity()
            + size_of::<Block>() * self.blocks.capacity()
    }
}
