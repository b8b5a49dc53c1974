//! Top-k search among trigrams with early termination.
//!
//! Both vectors are normalised, so what a text can still gain from some windows of the query has two bounds: by Cauchy and
//! Schwarz, the norm of these windows in the query times the norm that the text has left for them; and the sum of their
//! contributions if the text had all of them, as often as it repeats any, divided by its own norm. A threshold rises with
//! the results: texts that cannot reach it are skipped.
//!
//! * The posting lists are sorted by length, so that the common windows, which weigh least, come last. Once the last lists
//!   together cannot lift a text to the threshold, they are only probed for texts that the others found (*MaxScore*: Turtle
//!   and Flood, 1995), and only if the signature of a text allows the window. How many it allows bounds a text before any is
//!   probed: by the most that so many lists can add.
//! * Texts are sorted by norm. A text much shorter or longer than the query cannot be similar to it. Texts of similar and
//!   greater norm come first, so that the threshold is high when the shorter are examined, and both ends are skipped where
//!   the bound allows.
//! * Scanned lists are summed in frames of 256 texts: constant memory, whatever the size of the index.
//!
//! # Design notes
//! The bound of a text uses its own norm, which is tighter than a maximum stored for a block of postings, and needs no
//! memory.
//!
//! Norms are stored as `f32`; bounds have a slack far above their rounding, so none is too low. A score is summed in
//! `f64` in the order of the lists, the shortest first, then by window, whichever way a text was found: content alone
//! decides its bits.

use super::{CharNgramIndex, Group, Marks, NgramMatch, count_of, each_window, narrow, rarity};
use crate::graph::raw::prefetch;
use crate::top_k::TopK;
use std::cmp::Reverse;

/// Number of texts summed at once.
const FRAME: usize = 256;
/// [`FRAME`] as a number of places.
const FRAME_PLACES: u32 = 256;
/// Groups up to this size are scanned in one pass.
const SMALL: usize = 4 * FRAME;
/// Texts from this share of the norm of the query on are scanned first.
const NEAR: f64 = 0.9;
/// Factor on bounds, far above rounding errors.
const SLACK: f64 = 1.0 + 1e-5;
/// Least ratio of a score to what it is rounded to: of texts with equal scores the first by index counts, whichever is found first.
const ROUNDED: f64 = 1.0 - 1e-7;
/// Greatest rounding error of a squared norm.
const SQUARE_SLACK: f64 = 1e-5;

/// A text weighted like the texts of an index, ready for comparison.
#[derive(Debug, Clone)]
pub struct NgramQuery<'a> {
    index: &'a CharNgramIndex,
    /// Posting lists of its windows, the shortest first.
    lists: Vec<List<'a>>,
    /// The bits of their windows in signatures.
    bits: Vec<u8>,
    /// Norm of its vector.
    length: f64,
    /// Count of its most frequent window.
    repeats: f64,
}

#[derive(Debug, Clone, Copy)]
struct List<'a> {
    /// Places of the texts with the window, and how often each has it.
    places: &'a [u32],
    counts: &'a [u8],
    rarity: f64,
    /// Weight of the window in the normalised query.
    weight: f64,
    /// Contribution to a text with the window once, times the norm of the text.
    reach: f64,
    /// Bit of the window in signatures.
    bit: u8,
}

/// Result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct NgramMatches {
    /// Matches, the most similar first, then by index.
    pub matches: Vec<NgramMatch>,
    /// Number of postings read.
    pub postings_read: u64,
}

impl CharNgramIndex {
    /// Weights a text for comparison with those of the index.
    #[must_use]
    pub fn query(&self, text: &str) -> NgramQuery<'_> {
        let mut windows = Vec::new();
        each_window(text, |window| windows.push(window));
        windows.sort_unstable();
        let (mut lists, mut square, mut repeats) = (Vec::new(), 0.0, 1.0_f64);
        for same in windows.chunk_by(|a, b| a == b) {
            let place = self.windows.binary_search(&same[0]);
            let range = place.map_or(0..0, |at| self.starts[at]..self.starts[at + 1]);
            let (places, counts) = (&self.postings[range.clone()], &self.counts[range]);
            let (count, rarity) = (f64::from(count_of(same)), rarity(self.texts(), places.len()));
            let weight = count * rarity;
            square += weight * weight;
            repeats = repeats.max(count);
            if !places.is_empty() {
                let bit = Marks::bit(same[0]);
                lists.push(List { places, counts, rarity, weight, reach: rarity, bit });
            }
        }
        let length = f64::sqrt(square);
        for list in &mut lists {
            list.weight /= length;
            list.reach *= list.weight;
        }
        // A stable sort: of equal lists the smaller window stays first.
        lists.sort_by_key(|list| list.places.len());
        let bits = lists.iter().map(|list| list.bit).collect();
        NgramQuery { index: self, lists, bits, length, repeats }
    }
}

impl NgramQuery<'_> {
    /// Similarity to a text of the index, `0 ..= 1`; 0 if the index has no such text.
    #[must_use]
    pub fn score(&self, text: u32) -> f32 {
        self.score_from(text, 0.0)
    }

    /// As [`Self::score`], but 0 if that is certainly less than `least`.
    #[must_use]
    pub fn score_from(&self, text: u32, least: f64) -> f32 {
        let Some(place) = self.index.places.get(text as usize) else { return 0.0 };
        let at = *place as usize;
        let (marks, length) = (&self.index.marks[at], f64::from(self.index.lengths[at]));
        let group = self.index.groups.iter().find(|group| at < group.end);
        let repeats = group.map_or(u8::MAX, |group| group.repeats);
        let possible = Possible::of(&self.bits, marks);
        let mut left = Left::of(possible.map(|list| &self.lists[list]), f64::from(repeats), length);
        let mut sum = 0.0;
        for list in possible.map(|list| &self.lists[list]) {
            if left.is_below(least - sum / length) {
                return 0.0;
            }
            let met = list.places.binary_search(place);
            let count = met.map_or(0.0, |at| f64::from(list.counts[at]));
            sum += list.reach * count;
            left.take(list, count);
        }
        score(sum, length)
    }

    /// The `most` texts most similar to it, above `least`.
    #[must_use]
    pub fn search(&self, least: f64, most: usize) -> NgramMatches {
        self.search_groups(least, most, |_| true)
    }

    /// The `most` names most similar to it, above `least`.
    #[must_use]
    pub fn search_names(&self, least: f64, most: usize) -> NgramMatches {
        self.search_groups(least, most, |group| group.are_names)
    }

    fn search_groups(&self, least: f64, most: usize, takes: impl Fn(&Group) -> bool) -> NgramMatches {
        let mut search = Search::of(self, least, most);
        if most > 0 && !self.lists.is_empty() {
            self.index.groups.iter().filter(|group| takes(group)).for_each(|group| search.group(*group));
        }
        let matches = search.best.into_sorted().into_iter();
        let matches =
            matches.map(|(score, Reverse(text))| NgramMatch { text, score: f32::from_bits(score) }).collect();
        NgramMatches { matches, postings_read: search.postings_read }
    }
}

/// The score of a text with this norm, `0 ..= 1`, from the sum of its contributions times its norm.
fn score(sum: f64, length: f64) -> f32 {
    // A text without windows has no norm, and no contributions.
    if sum > 0.0 { narrow((sum / length).min(1.0)) } else { 0.0 }
}

/// Lists whose windows a text may have, ascending: a query has at most 198.
#[derive(Debug, Clone, Copy)]
struct Possible([u64; 4]);

impl Possible {
    /// Those among lists with these bits, without a branch for each.
    fn of(bits: &[u8], marks: &Marks) -> Self {
        let mut words = [0; 4];
        for (word, bits) in words.iter_mut().zip(bits.chunks(64)) {
            *word = (0..).zip(bits).fold(0, |word, (at, bit)| word | marks.may_have(*bit) << at);
        }
        Self(words)
    }

    fn count(self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The results for each list.
    fn map<T>(self, of: impl Fn(usize) -> T) -> impl Iterator<Item = T> {
        (0..).step_by(64).zip(self.0).flat_map(ones).map(of)
    }
}

/// The numbers of the bits of a word, of which the first has this one, ascending.
fn ones((first, mut word): (usize, u64)) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        word &= word.checked_sub(1)?;
        Some(first + bit)
    })
}

/// For each number of lists what so many can add at most, whichever they are: the square of the norm of their weights in the query,
/// and their reach.
#[derive(Debug, Default)]
struct Most {
    /// The first of the lists.
    from: usize,
    gains: Vec<(f64, f64)>,
}

impl Most {
    fn of(lists: &[List<'_>], from: usize) -> Self {
        let sums = |number: fn(&List<'_>) -> f64| {
            let mut numbers: Vec<f64> = lists[from..].iter().map(number).collect();
            numbers.sort_unstable_by(|a, b| b.total_cmp(a));
            let add = |sum: &mut f64, number| Some(std::mem::replace(sum, *sum + number));
            numbers.into_iter().chain([0.0]).scan(0.0, add).collect::<Vec<f64>>()
        };
        let squares = sums(|list| list.weight * list.weight);
        Self { from, gains: squares.into_iter().zip(sums(|list| list.reach)).collect() }
    }
}

/// What a text can still gain from lists that its signature allows.
struct Left {
    /// Square of the norm of their weights in the query, and of what the text has left.
    query: f64,
    square: f64,
    reach: f64,
    repeats: f64,
    /// Norm of the text.
    length: f64,
}

impl Left {
    fn of<'a>(possible: impl Iterator<Item = &'a List<'a>>, repeats: f64, length: f64) -> Self {
        let (query, reach) = possible
            .fold((0.0, 0.0), |(query, reach), list| (query + list.weight * list.weight, reach + list.reach));
        Self { query, square: 1.0 + SQUARE_SLACK, reach, repeats, length }
    }

    /// Removes a list, of which the text has the window so often.
    fn take(&mut self, list: &List<'_>, count: f64) {
        self.query -= list.weight * list.weight;
        let held = count * list.rarity / self.length;
        self.square -= held * held;
        self.reach -= list.reach;
    }

    /// Whether it is certainly less than this, by either bound. Products are compared: a quotient or a root takes longer than all
    /// else.
    fn is_below(&self, gain: f64) -> bool {
        let gain = gain - SQUARE_SLACK;
        gain * self.length > self.reach * self.repeats * SLACK
            || gain > 0.0 && gain * gain > (self.query * self.square).max(0.0) * SLACK * SLACK
    }
}

/// Position in a posting list.
#[derive(Debug, Clone, Copy, Default)]
struct Cursor {
    at: usize,
    /// Place of the posting at `at`; `u32::MAX` after the last one.
    place: u32,
}

/// Partial sums of the texts of a frame, times their norms.
struct Frame {
    scores: [f64; FRAME],
    /// Squared weights of the windows found in each text, times its squared norm.
    squares: [f64; FRAME],
    touched: [u64; FRAME / 64],
}

/// A search in progress.
struct Search<'a> {
    query: &'a NgramQuery<'a>,
    cursors: Vec<Cursor>,
    /// By number of lists skipped from the front: the norm of the other weights, and the sum of their reach.
    rest: Vec<(f64, f64)>,
    /// Of the lists that are not scanned.
    most: Most,
    frame: Frame,
    least: f64,
    /// Texts that cannot reach this are skipped.
    threshold: f64,
    best: TopK<(u32, Reverse<u32>)>,
    postings_read: u64,
}

impl<'a> Search<'a> {
    fn of(query: &'a NgramQuery<'a>, least: f64, most: usize) -> Self {
        let mut rest = vec![(0.0, 0.0); query.lists.len() + 1];
        for (place, list) in query.lists.iter().enumerate().rev() {
            let (square, reach) = rest[place + 1];
            rest[place] = (square + list.weight * list.weight, reach + list.reach);
        }
        rest.iter_mut().for_each(|(square, _)| *square = f64::sqrt(*square));
        Self {
            query,
            cursors: vec![Cursor::default(); query.lists.len()],
            rest,
            most: Most::of(&query.lists, query.lists.len()),
            frame: Frame { scores: [0.0; FRAME], squares: [0.0; FRAME], touched: [0; FRAME / 64] },
            least,
            threshold: least,
            best: TopK::new(most),
            postings_read: 0,
        }
    }

    fn length(&self, place: u32) -> f64 {
        f64::from(self.query.index.lengths[place as usize])
    }

    fn group(&mut self, group: Group) {
        let Group { begin, end, repeats, .. } = group;
        let lengths = &self.query.index.lengths[begin..end];
        let from = |length: f64| begin + lengths.partition_point(|other| f64::from(*other) < length);
        let near = if end - begin > SMALL { from(self.query.length * NEAR) } else { end };
        self.scan(near, end, f64::from(repeats));
        // A text gains at most its norm over that of the query, times the greatest count there.
        let short = from(self.threshold * self.query.length / self.query.repeats / SLACK);
        self.scan(short, near, f64::from(repeats));
    }

    /// Greatest gain of a text of this norm from all but the first `done` lists.
    fn gain_max(&self, done: usize, repeats: f64, length: f64) -> f64 {
        let (root, reach) = self.rest[done];
        root.min(reach * repeats / length) * SLACK
    }

    /// Searches the texts at these places, which are of one group.
    fn scan(&mut self, begin: usize, end: usize, repeats: f64) {
        let (Ok(begin), Ok(end)) = (u32::try_from(begin), u32::try_from(end)) else { return };
        for cursor in self.cursors.iter_mut().filter(|cursor| cursor.place > begin) {
            *cursor = Cursor::default();
        }
        let (mut from, mut scanned) = (begin, self.query.lists.len());
        while from < end {
            // Scan as many of the first lists as needed so that the others cannot lift a text to the threshold.
            let length = self.length(from);
            while scanned > 0 && self.gain_max(scanned - 1, repeats, length) < self.threshold {
                scanned -= 1;
            }
            for list in 0..scanned {
                self.seek(list, from);
            }
            let first = self.cursors[..scanned].iter().map(|cursor| cursor.place).min();
            let Some(first) = first.filter(|first| *first < end) else { break };
            from = first.saturating_add(FRAME_PLACES).min(end);
            for list in 0..scanned {
                self.sum_up(list, first, from);
            }
            self.examine(first, scanned, repeats);
        }
    }

    /// Adds the contributions of a list to the texts from `first` up to `end`.
    fn sum_up(&mut self, list: usize, first: u32, end: u32) {
        let Cursor { at, place } = self.cursors[list];
        if place >= end {
            return;
        }
        let List { places, counts, rarity, reach, .. } = self.query.lists[list];
        let (rest, marks) = (&places[at..], &self.query.index.marks);
        let mut read = 0;
        for (place, count) in rest.iter().zip(&counts[at..]).take_while(|(place, _)| **place < end) {
            let cell = (place - first) as usize;
            let count = f64::from(*count);
            let held = count * rarity;
            self.frame.scores[cell] += reach * count;
            self.frame.squares[cell] += held * held;
            self.frame.touched[cell / 64] |= 1 << (cell % 64);
            // Read when the frame is examined.
            prefetch(std::slice::from_ref(&marks[*place as usize]));
            read += 1;
        }
        self.postings_read += read as u64;
        self.cursors[list] = Cursor { at: at + read, place: rest.get(read).copied().unwrap_or(u32::MAX) };
    }

    /// Examines and clears the frame that begins at `first`.
    fn examine(&mut self, first: u32, scanned: usize, repeats: f64) {
        let gain_max = self.gain_max(scanned, repeats, self.length(first));
        if self.most.from != scanned {
            self.most = Most::of(&self.query.lists, scanned);
        }
        for (word, place) in (0..FRAME / 64).zip((first..).step_by(64)) {
            let mut touched = std::mem::take(&mut self.frame.touched[word]);
            while touched != 0 {
                let bit = touched.trailing_zeros();
                touched &= touched - 1;
                let cell = 64 * word + bit as usize;
                let sum = std::mem::take(&mut self.frame.scores[cell]);
                let square = std::mem::take(&mut self.frame.squares[cell]);
                if sum >= (self.threshold - gain_max) * self.length(place + bit) {
                    self.complete(place + bit, sum, square, scanned, repeats);
                }
            }
        }
    }

    /// Completes the score of a text, which has `sum` from the scanned lists, by probing the other lists, and adds it if it
    /// is among the best.
    fn complete(&mut self, place: u32, mut sum: f64, square: f64, scanned: usize, repeats: f64) {
        let query = self.query;
        let possible = Possible::of(&query.bits[scanned..], &query.index.marks[place as usize]);
        let length = self.length(place);
        let square = 1.0 + SQUARE_SLACK - square / (length * length);
        let (most, reach) = self.most.gains[possible.count()];
        if (Left { query: most, square, reach, repeats, length }).is_below(self.threshold - sum / length) {
            return;
        }
        let others = &query.lists[scanned..];
        let mut left = Left { square, ..Left::of(possible.map(|list| &others[list]), repeats, length) };
        for list in possible.map(|list| scanned + list) {
            let other = &query.lists[list];
            if left.is_below(self.threshold - sum / length) {
                return;
            }
            self.seek(list, place);
            let is_met = self.cursors[list].place == place;
            let count = if is_met { f64::from(other.counts[self.cursors[list].at]) } else { 0.0 };
            sum += other.reach * count;
            left.take(other, count);
        }
        if sum / length > self.least {
            let text = self.query.index.order[place as usize];
            self.best.push((score(sum, length).to_bits(), Reverse(text)));
            if let Some((worst, _)) = self.best.threshold() {
                self.threshold = self.threshold.max(f64::from(f32::from_bits(*worst)) * ROUNDED);
            }
        }
    }

    /// Advances in a list to a place or the first after it.
    fn seek(&mut self, list: usize, place: u32) {
        let cursor = self.cursors[list];
        if cursor.place < place || cursor.place == 0 {
            self.advance(list, place);
        }
    }

    /// As [`Self::seek`]: by exponential and binary search, or by binary search from the start.
    #[inline(never)]
    fn advance(&mut self, list: usize, place: u32) {
        let cursor = self.cursors[list];
        let rest = &self.query.lists[list].places[cursor.at..];
        let (mut low, mut high) = (0, if cursor.at == 0 { rest.len() } else { 1 });
        while high < rest.len() && rest[high] < place {
            (low, high) = (high, 2 * high);
            self.postings_read += 1;
        }
        high = high.min(rest.len());
        while low < high {
            let middle = low.midpoint(high);
            self.postings_read += 1;
            if rest[middle] < place {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.cursors[list] =
            Cursor { at: cursor.at + low, place: rest.get(low).copied().unwrap_or(u32::MAX) };
    }
}
